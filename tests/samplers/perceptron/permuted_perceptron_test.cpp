// SPDX-License-Identifier: MIT
// What the draws are: the textbook's, by whichever way of evaluating the kernel, on any threads.
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sample_version_space.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "catch.hpp"
#include "problems.hpp"

using namespace sampler_tests;
using bpm::PermutedPerceptron;

namespace {

using RowSpace = bpm::KernelVersionSpace<float>;
using WindowSpace = bpm::KernelVersionSpace<float>;

/// A user's own version space: nothing of the library's kernel values shows.
struct OwnSpace {
  using Scalar = float;
  using Scratch = bpm::detail::BlockScratch<float>;
  using Points = std::span<const bpm::PointIndex>;

  const bpm::KernelVersionSpace<float>* inside;
  bool in_memory;

  [[nodiscard]] std::ptrdiff_t size() const { return inside->size(); }
  [[nodiscard]] int label(std::ptrdiff_t i) const { return inside->label(i); }
  [[nodiscard]] double lambda(std::ptrdiff_t i) const { return inside->lambda(i); }
  [[nodiscard]] double diagonal(std::ptrdiff_t i) const { return inside->diagonal(i); }
  [[nodiscard]] std::span<const float> row(std::ptrdiff_t i, Scratch& scratch) const {
    return inside->row(i, scratch);
  }
  void block(Points rows, Points columns, float* values, std::ptrdiff_t ld,
             Scratch& scratch) const {
    inside->block(rows, columns, values, ld, scratch);
  }
  [[nodiscard]] bool rows_in_memory() const { return in_memory; }
  void add_row(std::ptrdiff_t i, double scale, std::span<double> outputs, Scratch& scratch) const {
    inside->add_row(i, scale, outputs, scratch);
  }
  [[nodiscard]] Eigen::MatrixXd outputs(const Eigen::MatrixXd& coefficients,
                                        Scratch& scratch) const {
    return inside->outputs(coefficients, scratch);
  }
};

/// The sizes at which windows of 256 points and blocks of 240 mistakes begin, end and repeat.
const std::vector<std::ptrdiff_t> window_sizes{239, 240, 241, 255, 256, 257, 480, 511, 512, 513};

}  // namespace

TEST_CASE("a draw is the textbook's kernel perceptron") {
  const std::ptrdiff_t m = GENERATE(1, 2, 3, 17, 100, 300);
  const bool soft = GENERATE(false, true);
  const double margin = GENERATE(0.0, 0.3);
  CAPTURE(m, soft, margin);
  const Inputs inputs = random_inputs(m, 5, 11);
  const Labels labels = random_labels(m, 11);
  const Lambda lambda = soft ? random_lambda(m, 11) : nullptr;
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Matrix matrix(on_demand);
  const Eigen::MatrixXd kernel = values_of(matrix);
  const bpm::RandomStreams streams{.seed = 42, .next = 3};
  const PermutedPerceptron sampler{.draws = 4, .margin = margin};

  const Outcome rows = run(sampler, RowSpace(matrix, labels, lambda), {}, streams);
  REQUIRE(rows.report.converged);
  REQUIRE(rows.draws.size() == 4);
  CHECK(rows.next == 7);
  std::uint64_t mistakes = 0;
  std::uint64_t passes = 0;
  for (std::size_t n = 0; n < rows.draws.size(); ++n) {
    const KeptDraw& draw = rows.draws[n];
    CHECK(draw.number == 3 + n);
    CHECK(draw.problem == 0);
    CHECK(draw.weight == 1);
    const Textbook textbook =
        textbook_perceptron(kernel, labels, lambda, order_of(m, streams, 3 + n), margin);
    CHECK(same_classifier(draw, textbook, labels));
    const Eigen::Map<const Eigen::VectorXd> outputs(draw.outputs.data(), m);
    CHECK(std::abs(draw.alpha().dot(outputs) - 1) < 1e-12);
    mistakes += textbook.mistakes;
    passes += textbook.passes;
  }
  CHECK(rows.report.draws == 4);
  CHECK(rows.report.perceptron->mistakes == mistakes);
  CHECK(rows.report.perceptron->passes == passes);
  CHECK(rows.report.perceptron->training_errors == 0);
  CHECK(rows.report.reason.empty());
  CHECK_FALSE(rows.report.stopped);
  CHECK(rows.report.kernel_evaluations == 0);

  const Outcome windows = run(sampler, WindowSpace(on_demand, labels, lambda), {}, streams);
  CHECK(windows.draws == rows.draws);
  CHECK(windows.report.perceptron->mistakes == mistakes);
  CHECK(windows.report.perceptron->passes == passes);
  CHECK(windows.report.kernel_evaluations > 0);
}

TEST_CASE("windowed evaluation gives the bits of whole rows at every small size") {
  bool same = true;
  for (std::ptrdiff_t m = 1; m <= 300; ++m) {
    const Inputs inputs = random_inputs(m, 5, static_cast<std::uint64_t>(m));
    const NarrowValues on_demand(narrow_gaussian, inputs);
    const Matrix matrix(on_demand);
    const Lambda lambda = m % 3 == 0 ? random_lambda(m, 1) : nullptr;
    const PermutedPerceptron sampler{
        .draws = 1, .max_passes = 10000, .margin = m % 2 == 0 ? 0 : 0.1};
    const Labels labels = random_labels(m, 5);
    const Outcome rows = run(sampler, RowSpace(matrix, labels, lambda));
    const Outcome windows = run(sampler, WindowSpace(on_demand, labels, lambda));
    const bool here = rows.report.converged && rows.draws == windows.draws;
    if (!here) {
      CAPTURE(m, rows.report.reason);
      CHECK(here);
    }
    same = same && here;
  }
  CHECK(same);
}

TEST_CASE("windowed evaluation gives the bits of whole rows around the window") {
  auto sizes = window_sizes;
  sizes.push_back(1000);
  for (const std::ptrdiff_t m : sizes) {
    CAPTURE(m);
    const Inputs inputs = random_inputs(m, 5, static_cast<std::uint64_t>(m));
    const NarrowValues on_demand(narrow_gaussian, inputs);
    const Matrix matrix(on_demand);
    const Lambda lambda = random_lambda(m, 2);
    std::vector<RowSpace> rows;
    std::vector<WindowSpace> windows;
    for (std::uint64_t c = 0; c < 3; ++c) {
      // One problem without a soft boundary: lambda may differ between problems.
      rows.emplace_back(matrix, random_labels(m, c), c == 0 ? nullptr : lambda);
      windows.emplace_back(on_demand, random_labels(m, c), c == 0 ? nullptr : lambda);
    }
    const PermutedPerceptron sampler{.draws = 2, .margin = 0.05};
    const Outcome by_rows = run_in_step(sampler, rows);
    const Outcome by_windows = run_in_step(sampler, windows);
    REQUIRE(by_rows.report.converged);
    CHECK(by_windows.draws == by_rows.draws);
    CHECK(by_windows.report.perceptron->mistakes == by_rows.report.perceptron->mistakes);
    CHECK(by_windows.report.perceptron->passes == by_rows.report.perceptron->passes);
  }
}

TEST_CASE("several problems in step are each the problem alone") {
  const std::ptrdiff_t m = GENERATE(30, 300, 600);
  CAPTURE(m);
  const Inputs inputs = random_inputs(m, 5, 9);
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Matrix matrix(on_demand);
  std::vector<RowSpace> rows;
  std::vector<WindowSpace> windows;
  // Problems of unlike difficulty, so that they end in different passes.
  std::vector<Labels> all{random_labels(m, 1), Labels(static_cast<std::size_t>(m), 1),
                          random_labels(m, 2)};
  for (std::ptrdiff_t i = 0; i < m / 2; ++i) all[2][static_cast<std::size_t>(i)] = -1;
  for (const Labels& labels : all) {
    rows.emplace_back(matrix, labels);
    windows.emplace_back(on_demand, labels);
  }
  const PermutedPerceptron sampler{.draws = 3, .max_passes = 10000};
  const Outcome together = run_in_step(sampler, rows);
  REQUIRE(together.report.converged);
  CHECK(run_in_step(sampler, windows).draws == together.draws);
  REQUIRE(together.draws.size() == 9);
  std::uint64_t mistakes = 0;
  std::uint64_t passes = 0;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    const Outcome alone = run(sampler, rows[c]);
    mistakes += alone.report.perceptron->mistakes;
    passes += alone.report.perceptron->passes;
    for (std::size_t n = 0; n < 3; ++n) {
      KeptDraw draw = together.draws[3 * n + c];
      CHECK(draw.problem == c);
      draw.problem = 0;
      CHECK(draw == alone.draws[n]);
    }
  }
  CHECK(together.report.perceptron->mistakes == mistakes);
  CHECK(together.report.perceptron->passes == passes);
}

TEST_CASE("the number of threads does not change the draws") {
  const std::ptrdiff_t m = 300;
  const Inputs inputs = random_inputs(m, 5, 3);
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Matrix matrix(on_demand);
  const Labels labels = random_labels(m, 3);
  const RowSpace rows(matrix, labels);
  const WindowSpace windows(on_demand, labels);
  for (const std::uint64_t draws : {1U, 2U, 5U, 12U}) {  // Fewer and more than threads.
    const PermutedPerceptron sampler{.draws = draws};
    const Outcome one = run(sampler, rows);
    REQUIRE(one.draws.size() == draws);
    for (const unsigned threads : {2U, 3U, 7U}) {
      CAPTURE(draws, threads);
      const Outcome several = run(sampler, rows, on_threads(threads));
      CHECK(several.draws == one.draws);
      CHECK(several.report.perceptron->mistakes == one.report.perceptron->mistakes);
      CHECK(several.report.perceptron->passes == one.report.perceptron->passes);
      CHECK(several.next == draws);
      CHECK(run(sampler, windows, on_threads(threads)).draws == one.draws);
    }
  }
}

TEST_CASE("no threads means one") {
  const Inputs inputs = random_inputs(20, 5, 3);
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const WindowSpace space(on_demand, random_labels(20, 3));
  const PermutedPerceptron sampler{.draws = 2};
  CHECK(run(sampler, space, on_threads(0)).draws == run(sampler, space).draws);
}

TEST_CASE("same seed, same draws; another seed, others; a run continues where one ended") {
  const Inputs inputs = random_inputs(100, 5, 8);
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Matrix matrix(on_demand);
  const RowSpace space(matrix, random_labels(100, 8));
  const Outcome ten = run(PermutedPerceptron{.draws = 10}, space);
  CHECK(run(PermutedPerceptron{.draws = 10}, space).draws == ten.draws);
  CHECK_FALSE(run(PermutedPerceptron{.draws = 10}, space, {}, {.seed = 2}).draws == ten.draws);

  bpm::RandomStreams streams;
  std::vector<KeptDraw> in_parts;
  const auto keep = [&](const bpm::Draw& draw) { in_parts.emplace_back(draw); };
  for (const std::uint64_t draws : {3U, 1U, 6U}) {
    (void)bpm::sample_version_space(PermutedPerceptron{.draws = draws}, space, streams, {}, keep);
  }
  CHECK(streams == bpm::RandomStreams{.seed = 1, .next = 10});
  CHECK(in_parts == ten.draws);
  // Draws of one run are not copies of each other.
  CHECK_FALSE(ten.draws[0].coefficients == ten.draws[1].coefficients);
}

TEST_CASE("a user's own version space gives the same draws, by rows and by windows") {
  const std::ptrdiff_t m = 600;
  const Inputs inputs = random_inputs(m, 5, 41);
  const NarrowValues values(narrow_gaussian, inputs);
  const Matrix matrix(values);
  std::vector<RowSpace> spaces;
  for (std::uint64_t c = 0; c < 2; ++c) {
    spaces.emplace_back(matrix, random_labels(m, c), c == 0 ? nullptr : random_lambda(m, c));
  }
  const PermutedPerceptron sampler{.draws = 2};
  const Outcome expected = run_in_step(sampler, spaces);
  for (const bool in_memory : {true, false}) {
    const std::vector<OwnSpace> own{{&spaces[0], in_memory}, {&spaces[1], in_memory}};
    CAPTURE(in_memory);
    CHECK(run_in_step(sampler, own).draws == expected.draws);
  }
}

TEST_CASE("draws are consistent and of norm 1 by kernel values computed afresh") {
  const std::ptrdiff_t m = 400;
  const Inputs inputs = random_inputs(m, 5, 21);
  const Labels labels = random_labels(m, 21);
  const Lambda lambda = GENERATE(false, true) ? random_lambda(m, 21) : nullptr;
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Outcome outcome =
      run(PermutedPerceptron{.draws = 5}, WindowSpace(on_demand, labels, lambda), on_threads(2));
  REQUIRE(outcome.draws.size() == 5);

  // In double, by another route.
  const bpm::RowMatrix<double> exact = inputs.cast<double>();
  const bpm::detail::OnDemandGram<bpm::Gaussian, bpm::RowMatrix<double>> fresh(narrow_gaussian,
                                                                               exact);
  const bpm::KernelVersionSpace<double> space(fresh, labels, lambda);
  bpm::detail::BlockScratch<double> scratch;
  for (const KeptDraw& draw : outcome.draws) {
    CHECK(space.contains(draw.alpha(), scratch));
    CHECK(space.margin(draw.alpha(), scratch) > 0);
    const Eigen::VectorXd outputs = space.outputs(draw.alpha(), scratch);
    CHECK(std::abs(draw.alpha().dot(outputs) - 1) < 1e-5);
    CHECK((outputs - Eigen::Map<const Eigen::VectorXd>(draw.outputs.data(), m))
              .cwiseAbs()
              .maxCoeff() < 1e-5);
    for (std::size_t s = 1; s < draw.support.size(); ++s) {
      CHECK(draw.support[s - 1] < draw.support[s]);
    }
  }
}

TEST_CASE("the bytes that a run holds grow with points, problems and threads") {
  const PermutedPerceptron sampler{.draws = 4};
  const std::size_t one = sampler.memory_need({1000, 1, 1, sizeof(float)}).bytes;
  // Outputs and counts by point, and a finished result, at the least.
  CHECK(one >= 1000 * (2 * sizeof(double) + sizeof(std::int32_t)));
  CHECK(sampler.memory_need({2000, 1, 1, sizeof(float)}).bytes > one);
  CHECK(sampler.memory_need({1000, 2, 1, sizeof(float)}).bytes > one);
  CHECK(sampler.memory_need({1000, 1, 2, sizeof(float)}).bytes > one);
  CHECK(sampler.memory_need({1000, 1, 1, sizeof(double)}).bytes > one);
  // No more draws are in progress than there are to make; a thread beyond that holds a block
  // and its lists of steps.
  const std::size_t block = std::size_t{256} * 128 * sizeof(float) + (std::size_t{1} << 17U);
  CHECK(sampler.memory_need({1000, 1, 9, 4}).bytes ==
        sampler.memory_need({1000, 1, 4, 4}).bytes + 5 * block);
  CHECK(sampler.memory_need({1000, 1, 4, 4}).bytes >
        sampler.memory_need({1000, 1, 3, 4}).bytes + block);
  // Fewer at once hold less: what one draw in progress and its result hold.
  const std::size_t draw = sampler.memory_need({1000, 1, 2, 4}).bytes - one - block;
  CHECK(sampler.memory_need({1000, 1, 4, 4, 0}).bytes == one + 3 * (draw + block));
  CHECK(sampler.memory_need({1000, 1, 4, 4, 9}).bytes ==
        sampler.memory_need({1000, 1, 4, 4}).bytes);
  CHECK(sampler.memory_need({1000, 1, 4, 4, 3}).bytes ==
        sampler.memory_need({1000, 1, 4, 4}).bytes - draw);
  CHECK(sampler.memory_need({1000, 1, 4, 4, 1}).bytes == one + 3 * block);
  CHECK(sampler.memory_need({1000, 1, 1, 4, 1}).bytes == one);
}

TEST_CASE("columns held: a window a draw, or as many as threads bring up to date together") {
  const PermutedPerceptron sampler{.draws = 4};
  const std::ptrdiff_t m = 100000;
  CHECK(sampler.memory_need({m, 1, 1, 4}).columns == 256);
  CHECK(sampler.memory_need({m, 1, 2, 4}).columns == 2 * 4 * 256);
  CHECK(sampler.memory_need({m, 1, 3, 4}).columns == 3 * 6 * 256);
  CHECK(sampler.memory_need({m, 1, 4, 4, 1}).columns == 8 * 256);
  CHECK(sampler.memory_need({m, 1, 4, 4, 2}).columns == 2 * 8 * 256);
  CHECK(sampler.memory_need({m, 1, 100, 4}).columns == 4 * 16 * 256);
  CHECK(sampler.memory_need({m, 1, 100, 4, 3}).columns == 3 * 16 * 256);
  // There are no more windows than points.
  CHECK(sampler.memory_need({700, 1, 4, 4, 2}).columns == 2 * 700);
  CHECK(sampler.memory_need({100, 1, 1, 4}).columns == 100);
}
