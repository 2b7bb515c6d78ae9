// SPDX-License-Identifier: MIT
// Windowed evaluation by any number of threads, with and without prepared columns, and rows of
// pairs: always the bits of whole rows.
#include "bpm/samplers/perceptron/perceptron_passes.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"
#include "problems.hpp"

using namespace sampler_tests;
using bpm::PermutedPerceptron;

namespace {

using FloatSpace = bpm::KernelVersionSpace<float>;
using FloatRows = bpm::detail::KeptRows<float>;

/// Kernel values that say nothing of columns or kept rows.
class PlainValues final : public bpm::detail::Gram<float> {
 public:
  using Gram::block;

  explicit PlainValues(const NarrowValues& values) : Gram(values.size()), values_(&values) {}

  [[nodiscard]] float diagonal(std::ptrdiff_t i) const noexcept override {
    return values_->diagonal(i);
  }
  [[nodiscard]] std::span<const float> row(std::ptrdiff_t i, Scratch& scratch) const override {
    return values_->row(i, scratch);
  }
  void block(std::span<const bpm::PointIndex> rows, std::span<const bpm::PointIndex> cols,
             float* values, std::ptrdiff_t ld, Scratch& scratch) const override {
    values_->block(rows, cols, values, ld, scratch);
  }

 private:
  const NarrowValues* values_;
};

/// Three problems of m points, by rows in memory and by windows.
struct Problems {
  Inputs inputs;
  NarrowValues values;
  PlainValues plain;
  Matrix matrix;
  std::vector<FloatSpace> rows;
  std::vector<FloatSpace> windows;
  std::vector<FloatSpace> plain_windows;

  explicit Problems(std::ptrdiff_t m)
      : inputs(random_inputs(m, 5, static_cast<std::uint64_t>(m))),
        values(narrow_gaussian, inputs),
        plain(values),
        matrix(values) {
    for (std::uint64_t c = 0; c < 3; ++c) {
      const Labels labels = random_labels(m, c);
      const Lambda lambda = c == 0 ? nullptr : random_lambda(m, c);
      rows.emplace_back(matrix, labels, lambda);
      windows.emplace_back(values, labels, lambda);
      plain_windows.emplace_back(plain, labels, lambda);
    }
  }
};

}  // namespace

TEST_CASE("threads that help in a draw do not change it", "[windowed][at length]") {
  // One window, and five, the last one of a single point.
  const std::ptrdiff_t m = GENERATE(200, 1025);
  CAPTURE(m);
  const Problems problems(m);
  for (const std::uint64_t draws : {1U, 2U}) {
    const PermutedPerceptron sampler{.draws = draws, .margin = 0.05};
    const Outcome expected = run_in_step(sampler, problems.rows);
    REQUIRE(expected.report.converged);
    for (const unsigned threads : {1U, 2U, 3U, 5U}) {
      CAPTURE(draws, threads);
      const Outcome windows = run_in_step(sampler, problems.windows, on_threads(threads));
      CHECK(windows.draws == expected.draws);
      CHECK(windows.report.perceptron->mistakes == expected.report.perceptron->mistakes);
      CHECK(windows.report.perceptron->passes == expected.report.perceptron->passes);
      CHECK(windows.report.converged);
      const Outcome plain = run_in_step(sampler, problems.plain_windows, on_threads(threads));
      CHECK(plain.draws == expected.draws);
    }
  }
}

TEST_CASE("kernel evaluations are counted: those of one window, row by row", "[windowed]") {
  // In a set of one window each mistake asks for one row of it, and nothing else is asked for.
  const std::ptrdiff_t m = 150;
  const Problems problems(m);
  const std::vector<FloatSpace> one(problems.windows.begin(), problems.windows.begin() + 1);
  const Outcome outcome = run_in_step(PermutedPerceptron{.draws = 2}, one);
  CHECK(outcome.report.kernel_evaluations ==
        outcome.report.perceptron->mistakes * static_cast<std::uint64_t>(m));
}

TEST_CASE("lambda, margins and problems that are done early, in doubles and on sparse rows",
          "[windowed]") {
  const std::ptrdiff_t m = 900;
  const bpm::RowMatrix<double> dense = random_inputs(m, 7, 5).cast<double>();
  const auto compare = [&](const auto& inputs, bool one_hard) {
    using I = std::remove_cvref_t<decltype(inputs)>;
    const bpm::detail::OnDemandGram<bpm::Gaussian, I> values(narrow_gaussian, inputs);
    const bpm::detail::DenseGram<double> matrix(values);
    std::vector<bpm::KernelVersionSpace<double>> rows;
    std::vector<bpm::KernelVersionSpace<double>> windows;
    for (std::uint64_t c = 0; c < 4; ++c) {
      // The first is the easiest by far: it is done many passes before the others.
      Labels labels = random_labels(m, c);
      if (c == 0) labels.assign(labels.size() - 1, 1), labels.push_back(-1);
      const Lambda lambda = c == 1 && one_hard ? nullptr : random_lambda(m, c);
      rows.emplace_back(matrix, labels, lambda);
      windows.emplace_back(values, labels, lambda);
    }
    for (const double margin : {0.0, 0.3}) {
      const PermutedPerceptron sampler{.draws = 3, .margin = margin};
      const Outcome expected = run_in_step(sampler, rows);
      REQUIRE(expected.report.converged);
      for (const unsigned threads : {1U, 3U}) {
        CAPTURE(margin, threads);
        CHECK(run_in_step(sampler, windows, on_threads(threads)).draws == expected.draws);
      }
    }
  };
  compare(dense, true);
  compare(bpm::SparseRowMatrix<double>(
              dense.unaryExpr([](double x) { return x > -0.5 ? x : 0.0; }).sparseView()),
          false);
}

TEST_CASE("a kernel on pairs computes a mistake's row once, and not again where it is kept",
          "[windowed]") {
  const std::ptrdiff_t m = 300;
  const Inputs inputs = random_inputs(m, 5, 9);
  std::atomic<std::uint64_t> calls{0};
  const auto pairs = [&calls](const auto& a, const auto& b) {
    ++calls;
    return std::exp(-4.0 * static_cast<double>((a - b).squaredNorm()));
  };
  bpm::detail::OnDemandGram<decltype(pairs), Inputs> values(pairs, inputs);
  const bpm::detail::DenseGram<float> matrix(values);
  const Labels labels = random_labels(m, 3);
  const FloatSpace by_row(matrix, labels);
  const FloatSpace by_pair(values, labels);
  const PermutedPerceptron sampler{.draws = 3};
  const Outcome expected = run(sampler, by_row);
  for (const unsigned threads : {1U, 4U}) {
    calls = 0;
    const Outcome found = run(sampler, by_pair, on_threads(threads));
    CHECK(found.draws == expected.draws);
    CHECK(calls == found.report.perceptron->mistakes * std::uint64_t(m));
    const auto rows =
        std::make_shared<FloatRows>(m, static_cast<std::size_t>(m) * FloatRows::row_bytes(m));
    values.set_kept_rows(rows);
    calls = 0;
    CHECK(run(sampler, by_pair, on_threads(threads)).draws == expected.draws);
    if (threads == 1) CHECK(calls == static_cast<std::uint64_t>(rows->kept() * m));
    calls = 0;
    CHECK(run(sampler, by_pair, on_threads(threads)).draws == expected.draws);
    if (threads == 1) CHECK(calls == 0);
    values.set_kept_rows(nullptr);
  }
}

TEST_CASE("fewer draws at once than threads: the same draws", "[windowed][at length]") {
  const std::ptrdiff_t m = 700;
  Problems problems(m);
  const PermutedPerceptron sampler{.draws = 6};
  const Outcome expected = run_in_step(sampler, problems.rows);
  for (const unsigned at_once : {0U, 1U, 2U, 4U, 9U}) {
    for (const unsigned threads : {1U, 3U, 5U}) {
      CAPTURE(at_once, threads);
      bpm::RunControl control = on_threads(threads);
      control.draws_at_once = at_once;
      CHECK(run_in_step(sampler, problems.windows, control).draws == expected.draws);
      CHECK(run_in_step(sampler, problems.rows, control).draws == expected.draws);
    }
  }
}

TEST_CASE("an observer that stops, on threads that help", "[windowed]") {
  const Problems problems(1300);
  const PermutedPerceptron sampler{.draws = 3};
  const Outcome expected = run_in_step(sampler, problems.rows);
  for (const unsigned threads : {1U, 2U, 5U}) {
    bpm::RunControl control = on_threads(threads);
    std::atomic<int> calls{0};
    control.observer = [&](const bpm::Progress&) { return ++calls < 2; };
    const Outcome stopped = run_in_step(sampler, problems.windows, control);
    // How far it comes depends on the clock; what is there is a beginning of the whole.
    REQUIRE(stopped.draws.size() <= expected.draws.size());
    CHECK(std::equal(stopped.draws.begin(), stopped.draws.end(), expected.draws.begin()));
    CHECK(stopped.draws.size() == 3 * stopped.report.draws);
  }
}

TEST_CASE("an error of a kernel ends a run on any number of threads", "[windowed]") {
  // Found by the thread that makes the draw, or by one that helps; while others have not begun.
  const Inputs inputs = random_inputs(600, 5, 3);
  const Labels labels = random_labels(600, 3);
  const auto bad = [](const auto& a, const auto& b) {
    return a(0) == b(0) ? 1.0F : std::numeric_limits<float>::quiet_NaN();
  };
  const bpm::detail::OnDemandGram<decltype(bad), Inputs> at_once(bad, inputs);
  const FloatSpace first(at_once, labels);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const auto threads = static_cast<unsigned>(1 + repeat % 8);
    CHECK_THROWS_AS(
        run(PermutedPerceptron{.draws = std::uint64_t(1 + repeat % 5)}, first, on_threads(threads)),
        bpm::KernelValueError);
  }
  // After a while only.
  std::atomic<int> calls{0};
  const auto later = [&](const auto& a, const auto& b) {
    const auto distance = static_cast<double>((a - b).squaredNorm());
    return ++calls > 300000 ? std::numeric_limits<double>::quiet_NaN() : std::exp(-4 * distance);
  };
  const bpm::detail::OnDemandGram<decltype(later), Inputs> values(later, inputs);
  const FloatSpace space(values, labels);
  for (const unsigned threads : {1U, 2U, 5U}) {
    calls = 0;
    CHECK_THROWS_AS(run(PermutedPerceptron{.draws = 3}, space, on_threads(threads)),
                    bpm::KernelValueError);
  }
}

TEST_CASE("a sink that throws ends a run on any number of threads", "[windowed]") {
  const Problems problems(600);
  for (const unsigned threads : {1U, 3U, 8U}) {
    bpm::RandomStreams streams;
    int draws = 0;
    CHECK_THROWS_WITH((bpm::sample_version_space(PermutedPerceptron{.draws = 6},
                                                 problems.windows[0], streams, on_threads(threads),
                                                 [&](const bpm::Draw&) {
                                                   if (++draws == 2)
                                                     throw std::runtime_error("enough");
                                                 })),
                      "enough");
    CHECK(draws == 2);
  }
}
