// SPDX-License-Identifier: MIT
// Perceptrons that keep w: on integers the bits of those by kernel values, elsewhere the same
// mistakes and outputs to rounding.
#include "bpm/samplers/perceptron/perceptron_passes.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "catch.hpp"
#include "problems.hpp"

using namespace sampler_tests;
using bpm::PermutedPerceptron;

namespace {

/// Whole numbers from -largest, or of bytes from 0, to largest, a third of them zero.
template <class I>
I whole_numbers(std::ptrdiff_t m, std::ptrdiff_t d, std::uint32_t largest, std::uint64_t seed) {
  using Number = typename I::Scalar;
  constexpr bool bytes = std::is_same_v<Number, std::uint8_t>;
  bpm::RandomEngine engine(seed);
  bpm::RowMatrix<Number> numbers(m, d);
  for (Number& number : numbers.reshaped()) {
    const auto drawn = static_cast<double>(bpm::uniform_below(engine, 3 * largest / 2 + 1));
    const double size = std::max(0.0, drawn - largest / 2);
    number = static_cast<Number>(bytes || bpm::uniform_unit(engine) < 0.5 ? size : -size);
  }
  if constexpr (std::is_same_v<I, bpm::SparseRowMatrix<Number>>) {
    return numbers.sparseView();
  } else {
    return numbers;
  }
}

/// Problems on the same kernel values, by a matrix in memory and by w.
template <class Kernel, class I>
struct BothWays {
  using Values = bpm::detail::OnDemandGram<Kernel, I>;
  using Matrix = bpm::detail::DenseGram<typename Values::Scalar>;

  I inputs;
  Values plain;
  Values linear;
  Matrix matrix;
  std::vector<bpm::KernelVersionSpace<typename Values::Scalar>> by_values;
  std::vector<bpm::KernelVersionSpace<typename Values::Scalar>> by_weights;

  BothWays(const Kernel& kernel, I given)
      : inputs(std::move(given)), plain(kernel, inputs), linear(kernel, inputs), matrix(plain) {
    linear.set_linear_inputs(std::make_shared<bpm::detail::LinearRows<I>>(
        bpm::detail::linear_form(kernel).value(), linear.inputs()));
  }
  BothWays(const BothWays&) = delete;

  void add(const Labels& labels, const Lambda& lambda) {
    by_values.emplace_back(matrix, labels, lambda);
    by_weights.emplace_back(linear, labels, lambda);
  }
  /// Random labels; lambdas from `unit` on, in quarters of it, so that each is a short binary
  /// number.
  void add_random(std::size_t problems, double unit) {
    for (std::uint64_t c = 0; c < problems; ++c) {
      Lambda lambda = random_lambda(plain.size(), c);
      auto values = std::make_shared<std::vector<double>>(*lambda);
      for (double& value : *values)
        value = unit * (1 + std::floor(4 * value) / 4) / (c % 2 == 0 ? 1 : 4);
      add(random_labels(plain.size(), c), values);
    }
  }
};

/// Draws with what they noted of points left out.
struct Noted {
  std::vector<KeptDraw> draws;
  std::vector<std::vector<bpm::PointIndex>> left_out;
  std::vector<std::vector<double>> left_out_outputs;
  bpm::SamplerReport report;
};

template <class Space>
Noted run_noted(const PermutedPerceptron& sampler, const std::vector<Space>& spaces,
                const bpm::RunControl& control) {
  Noted result;
  bpm::RandomStreams streams;
  result.report =
      sampler.sample(std::span<const Space>(spaces), streams, control, [&](const bpm::Draw& draw) {
        result.draws.emplace_back(draw);
        result.left_out.emplace_back(draw.left_out.begin(), draw.left_out.end());
        result.left_out_outputs.emplace_back(draw.left_out_outputs.begin(),
                                             draw.left_out_outputs.end());
      });
  return result;
}

void check_same(const Noted& found, const Noted& expected) {
  REQUIRE(expected.report.converged);
  CHECK(found.report.converged);
  CHECK(found.draws == expected.draws);
  CHECK(found.left_out == expected.left_out);
  CHECK(found.left_out_outputs == expected.left_out_outputs);
  CHECK(found.report.perceptron->mistakes == expected.report.perceptron->mistakes);
  CHECK(found.report.perceptron->passes == expected.report.perceptron->passes);
}

template <class I>
void check_whole_numbers(std::ptrdiff_t m, std::ptrdiff_t d, std::uint32_t largest,
                         std::size_t problems) {
  CAPTURE(m, d, problems);
  BothWays both(bpm::biased(bpm::scaled(bpm::Linear{}, 2), 16),
                whole_numbers<I>(m, d, largest, static_cast<std::uint64_t>(d)));
  both.add_random(problems, 8.0 * largest * largest);
  for (const double margin : {0.0, 300.0}) {
    for (const std::uint64_t staged : {0U, 2U}) {
      const PermutedPerceptron sampler{.draws = 3, .margin = margin};
      bpm::RunControl control;
      control.left_out_draws = staged;
      const Noted expected = run_noted(sampler, both.by_values, control);
      CHECK(expected.left_out[0].empty() == (staged == 0));
      for (const unsigned threads : {1U, 2U}) {
        CAPTURE(margin, staged, threads);
        control.threads = threads;
        const Noted found = run_noted(sampler, both.by_weights, control);
        check_same(found, expected);
        CHECK(found.report.kernel_evaluations == 0);
      }
    }
  }
}

}  // namespace

TEST_CASE("w on whole numbers: the bits of kernel values", "[linear]") {
  using Sparse = bpm::SparseRowMatrix<double>;
  check_whole_numbers<bpm::RowMatrix<std::uint8_t>>(60, 17, 255, 3);
  check_whole_numbers<bpm::RowMatrix<float>>(90, 8, 20, 2);
  check_whole_numbers<bpm::RowMatrix<float>>(50, 133, 20, 1);
  check_whole_numbers<bpm::RowMatrix<double>>(50, 75, 1000, 5);
  check_whole_numbers<bpm::SparseRowMatrix<float>>(70, 40, 9, 4);
  for (const std::size_t problems : {1U, 3U, 7U, 16U})
    check_whole_numbers<Sparse>(60, 30, 9, problems);
}

TEST_CASE("w without a soft boundary, and a problem that is done before the others", "[linear]") {
  using I = bpm::RowMatrix<double>;
  I inputs = whole_numbers<I>(120, 6, 50, 4);
  // The easy one is told by one column alone, which is far from zero.
  bpm::RandomEngine engine(9);
  Labels easy;
  Labels hard;
  for (Eigen::Index i = 0; i < 120; ++i) {
    const double shift = bpm::uniform_unit(engine) < 0.5 ? -400 : 400;
    inputs(i, 0) += shift;
    easy.push_back(shift > 0 ? 1 : -1);
    hard.push_back(inputs(i, 1) + inputs(i, 2) + 0.5 > 0 ? 1 : -1);
  }
  BothWays both(bpm::biased(bpm::Linear{}, 1), inputs);
  both.add(easy, nullptr);
  both.add(hard, nullptr);
  const PermutedPerceptron sampler{.draws = 2};
  const Noted expected = run_noted(sampler, both.by_values, {});
  check_same(run_noted(sampler, both.by_weights, {}), expected);
  // One by one, the bits are those in step.
  std::vector<KeptDraw> alone;
  std::uint64_t passes[2] = {};
  for (std::size_t c = 0; c < 2; ++c) {
    const Noted one = run_noted(sampler, std::vector{both.by_weights[c]}, {});
    passes[c] = one.report.perceptron->passes;
    for (KeptDraw draw : one.draws) {
      draw.problem = c;
      alone.push_back(draw);
    }
  }
  CHECK(passes[0] < passes[1]);
  std::ranges::sort(alone, {},
                    [](const KeptDraw& draw) { return std::pair(draw.number, draw.problem); });
  CHECK(alone == expected.draws);
}

TEST_CASE("w on any numbers: the same mistakes, outputs to rounding", "[linear]") {
  const std::ptrdiff_t m = 200;
  const auto check = [&](const auto& kernel, const auto& inputs) {
    BothWays both(kernel, inputs);
    both.add_random(3, 0.5);
    const PermutedPerceptron sampler{.draws = 3, .margin = 0.01};
    bpm::RunControl control;
    control.left_out_draws = 1;
    const Noted expected = run_noted(sampler, both.by_values, control);
    const Noted found = run_noted(sampler, both.by_weights, control);
    REQUIRE(found.draws.size() == expected.draws.size());
    CHECK(found.report.perceptron->mistakes == expected.report.perceptron->mistakes);
    double worst = 0;
    const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b) {
      REQUIRE(a.size() == b.size());
      for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    };
    for (std::size_t n = 0; n < found.draws.size(); ++n) {
      CHECK(found.draws[n].support == expected.draws[n].support);
      compare(found.draws[n].coefficients, expected.draws[n].coefficients);
      compare(found.draws[n].outputs, expected.draws[n].outputs);
      CHECK(found.left_out[n] == expected.left_out[n]);
      compare(found.left_out_outputs[n], expected.left_out_outputs[n]);
    }
    CHECK(worst < 1e-12);
  };
  const bpm::RowMatrix<double> numbers = random_inputs(m, 21, 3).cast<double>();
  const bpm::SparseRowMatrix<double> sparse = numbers.sparseView(0.6, 1);
  check(bpm::biased(bpm::Linear{}, 0.3), numbers);
  check(bpm::biased(bpm::Linear{}, 0.3), sparse);
  check(bpm::biased(bpm::on_unit_inputs(bpm::Linear{}), 0.7), numbers);
  check(bpm::scaled(bpm::normalised(bpm::Linear{}), 3), sparse);
  check(bpm::scaled(bpm::biased(bpm::on_unit_inputs(bpm::scaled(bpm::Linear{}, 2)), 0.7), 1.5),
        sparse);
}

TEST_CASE("w is refused, stopped and limited as other perceptrons are", "[linear]") {
  using I = bpm::SparseRowMatrix<double>;
  BothWays both(bpm::Linear{}, whole_numbers<I>(400, 5, 9, 2));
  both.add(random_labels(400, 1), nullptr);  // Nothing separates them.
  const PermutedPerceptron sampler{.draws = 1, .max_passes = 3};
  const Outcome expected = run_in_step(sampler, both.by_values);
  const Outcome found = run_in_step(sampler, both.by_weights);
  CHECK_FALSE(found.report.converged);
  CHECK(found.report.reason == expected.report.reason);
  CHECK(found.report.perceptron->training_errors == expected.report.perceptron->training_errors);
  bpm::RunControl control;
  int asked = 0;
  control.observer = [&](const bpm::Progress&) { return ++asked < 2; };
  const Outcome stopped = run_in_step(PermutedPerceptron{.draws = 4}, both.by_weights, control);
  CHECK(stopped.report.stopped);
  CHECK(stopped.report.reason == "stopped");
}
