// SPDX-License-Identifier: MIT
// Draws that leave the last tenth of their permutation out until they are consistent on the rest.
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "problems.hpp"

using namespace sampler_tests;
using bpm::PermutedPerceptron;

namespace {

using RowSpace = bpm::KernelVersionSpace<float>;
using WindowSpace = bpm::KernelVersionSpace<float>;

bpm::RunControl leaving_out(std::uint64_t draws, unsigned threads = 1) {
  bpm::RunControl control = on_threads(threads);
  control.left_out_draws = draws;
  return control;
}

}  // namespace

TEST_CASE("a draw that leaves points out is the textbook's, on a part and then on all") {
  const std::ptrdiff_t m = GENERATE(10, 37, 300, 700);
  const bool soft = GENERATE(false, true);
  CAPTURE(m, soft);
  const Inputs inputs = random_inputs(m, 5, 3);
  const Labels labels = random_labels(m, 3);
  const Lambda lambda = soft ? random_lambda(m, 3) : nullptr;
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Matrix matrix(on_demand);
  const Eigen::MatrixXd kernel = values_of(matrix);
  const bpm::RandomStreams streams{.seed = 9, .next = 1};
  const PermutedPerceptron sampler{.draws = 3};

  // Draws are numbered 1, 2, 3: two of them are below 3.
  const Outcome rows = run(sampler, RowSpace(matrix, labels, lambda), leaving_out(3), streams);
  REQUIRE(rows.report.converged);
  REQUIRE(rows.draws.size() == 3);
  for (const KeptDraw& draw : rows.draws) {
    const std::vector<int> order = order_of(m, streams, draw.number);
    if (draw.number == 3) {
      CHECK(draw.left_out.empty());
      CHECK(same_classifier(draw, textbook_perceptron(kernel, labels, lambda, order), labels));
      continue;
    }
    const auto seen = static_cast<std::size_t>(m - m / 10);
    const std::vector<int> part(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(seen));
    std::vector<bpm::PointIndex> others(order.begin() + static_cast<std::ptrdiff_t>(seen),
                                        order.end());
    std::ranges::sort(others);
    const Textbook first = textbook_perceptron(kernel, labels, lambda, part);
    CHECK(draw.left_out == others);
    const double norm = std::sqrt(first.alpha(labels).dot(first.outputs));
    REQUIRE(draw.left_out_outputs.size() == others.size());
    for (std::size_t i = 0; i < others.size(); ++i) {
      CHECK(draw.left_out_outputs[i] == Approx(first.outputs[others[i]] / norm).margin(1e-12));
    }
    CHECK(same_classifier(draw, textbook_perceptron_from(first, kernel, labels, lambda, order),
                          labels));
  }
  const Outcome windows =
      run(sampler, WindowSpace(on_demand, labels, lambda), leaving_out(3), streams);
  CHECK(windows.draws == rows.draws);
  // Draws made later are those made at once.
  const Outcome later =
      run(sampler.with_draws(1), RowSpace(matrix, labels, lambda), leaving_out(3), {9, 2});
  CHECK(later.draws[0] == rows.draws[1]);
}

TEST_CASE("problems in step leave points out each by itself") {
  const std::ptrdiff_t m = GENERATE(50, 520);
  const unsigned threads = GENERATE(1U, 3U);
  CAPTURE(m, threads);
  const Inputs inputs = random_inputs(m, 5, 7);
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Matrix matrix(on_demand);
  std::vector<RowSpace> rows;
  std::vector<WindowSpace> windows;
  for (std::uint64_t c = 0; c < 3; ++c) {
    // The first is all of one side: it is consistent after two passes, the others are not.
    const Labels labels = c == 0 ? Labels(static_cast<std::size_t>(m), 1) : random_labels(m, c);
    rows.emplace_back(matrix, labels, random_lambda(m, c));
    windows.emplace_back(on_demand, labels, random_lambda(m, c));
  }
  const PermutedPerceptron sampler{.draws = 2};
  const Outcome together = run_in_step(sampler, windows, leaving_out(2, threads));
  REQUIRE(together.report.converged);
  for (std::size_t c = 0; c < rows.size(); ++c) {
    const Outcome alone = run(sampler, rows[c], leaving_out(2));
    for (KeptDraw draw : together.draws) {
      if (draw.problem != c) continue;
      draw.problem = 0;
      CHECK(draw == alone.draws[draw.number]);
      CHECK(draw.left_out.size() == static_cast<std::size_t>(m / 10));
    }
  }
}

TEST_CASE("each stage has the whole limit of passes, and the first may miss it") {
  const std::ptrdiff_t m = 200;
  const Inputs inputs = random_inputs(m, 5, 5);
  const Labels labels = random_labels(m, 5);
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Matrix matrix(on_demand);
  const RowSpace space(matrix, labels, nullptr);
  const auto passes_of = [&](std::uint64_t left_out) {
    return run(PermutedPerceptron{.draws = 1}, space, leaving_out(left_out))
        .report.perceptron->passes;
  };
  const std::uint64_t plain = passes_of(0);
  REQUIRE(plain > 3);
  // As many passes as the plain draw takes are enough, though both stages together take more.
  CHECK(passes_of(1) > plain);
  const PermutedPerceptron limited{.draws = 1, .max_passes = plain};
  CHECK(run(limited, space, leaving_out(1)).report.converged);
  // A first stage that ends by its limit notes nothing and fails nothing: there is such a limit,
  // since the second stage goes on from where the first has come.
  bool missed = false;
  for (std::uint64_t limit = 2; limit < plain && !missed; ++limit) {
    const PermutedPerceptron hurried{.draws = 1, .max_passes = limit};
    const Outcome outcome = run(hurried, space, leaving_out(1));
    missed = outcome.report.converged && outcome.draws[0].left_out.empty();
  }
  CHECK(missed);
}
