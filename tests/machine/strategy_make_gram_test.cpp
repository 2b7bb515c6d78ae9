// SPDX-License-Identifier: MIT
#include "bpm/machine/strategy.hpp"

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "hard.hpp"

using bpm::Strategy;
using bpm::detail::hold_values;
using bpm::detail::make_gram;

namespace {

/// A kernel on numbers that counts its values.
struct Counting {
  std::shared_ptr<int> count = std::make_shared<int>(0);
  double operator()(double x, double z) const {
    ++*count;
    return 1 + x * z;
  }
};

/// Points of a line whose labels have a threshold in their middle; `wrong`: and one wrong label.
std::vector<double> line(int points) {
  std::vector<double> inputs;
  for (int i = 0; i < points; ++i) inputs.push_back((i + 0.5) / points);
  return inputs;
}
std::vector<int> sides(int points, bool wrong = false) {
  std::vector<int> labels;
  for (int i = 0; i < points; ++i) labels.push_back(2 * i < points ? -1 : 1);
  if (wrong) labels[static_cast<std::size_t>(points / 4)] = 1;
  return labels;
}

}  // namespace

TEST_CASE("values are held in memory as the plan says", "[machine]") {
  const Counting kernel;
  const std::vector<double> inputs = line(20);
  auto values = make_gram(kernel, inputs);
  CHECK(*kernel.count == 20);  // The diagonal.
  CHECK_FALSE(values->rows_in_memory());

  hold_values(values, {.strategy = Strategy::windowed}, {});
  CHECK_FALSE(values->rows_in_memory());
  CHECK(values->kept_rows() == nullptr);
  hold_values(values, {.strategy = Strategy::windowed, .kept_rows = 3}, {});
  REQUIRE(values->kept_rows() != nullptr);
  CHECK(values->kept_rows()->capacity() == 3);
  const auto* const kept = values->kept_rows();
  hold_values(values, {.strategy = Strategy::windowed, .kept_rows = 3}, {});
  CHECK(values->kept_rows() == kept);
  CHECK(*kernel.count == 20);

  hold_values(values, {.strategy = Strategy::dense}, {});
  CHECK(values->rows_in_memory());
  CHECK(values->complete());
  CHECK(values->evaluations() == 400);
  CHECK(*kernel.count == 420);
  bpm::detail::BlockScratch<double> scratch;
  CHECK(values->row(3, scratch)[7] == 1 + inputs[3] * inputs[7]);
  hold_values(values, {.strategy = Strategy::dense}, {});
  CHECK(*kernel.count == 420);
}

TEST_CASE("a matrix that is stopped is not complete, and the report says so", "[machine]") {
  const std::vector<double> inputs = line(20);
  auto values = make_gram(Counting{}, inputs);
  hold_values(values, {.strategy = Strategy::dense},
              {.observer = [](const bpm::Progress&) { return false; }});
  CHECK_FALSE(values->complete());
  bool ran = false;
  const bpm::SamplerReport report = bpm::detail::run_on_values(*values, [&] {
    ran = true;
    return bpm::SamplerReport{};
  });
  CHECK_FALSE(ran);
  CHECK(report.stopped);
  CHECK(report.reason == "stopped");
  CHECK(report.kernel_evaluations == values->evaluations());
}

TEST_CASE("a softer boundary is tried on the values that are there", "[machine]") {
  const Counting kernel;
  const std::vector<double> inputs = line(20);
  const std::vector<int> labels = sides(20, true);
  const bpm::PermutedPerceptron sampler{.draws = 2, .max_passes = 50};
  bpm::detail::DrawFit<bpm::PermutedPerceptron> fit(sampler, {}, labels, {-1, 1},
                                                    {.strategy = Strategy::dense, .threads = 1});
  fit.take_boundary({.relative_lambda = 0});
  auto values = make_gram(kernel, inputs);
  CHECK(bpm::detail::train(values, {}, fit, {}, "test").empty());
  CHECK(fit.boundary->raised > 0);
  CHECK(fit.boundary->relative_lambda > 0);
  CHECK(fit.state.means[0].count() == 2);
  CHECK(*kernel.count == 420);
  CHECK(fit.state.report.kernel_evaluations == 400);
}

TEST_CASE("a user's matrix is the same in either order of storage", "[machine]") {
  const std::vector<double> inputs = line(30);
  const Eigen::Map<const Eigen::VectorXd> x(inputs.data(), 30);
  const Eigen::MatrixXd by_columns = ((x * x.transpose()).array() + 1).matrix();
  const bpm::RowMatrix<double> by_rows = by_columns;
  const bpm::BayesPointMachine machine(bpm::PrecomputedKernel{}, bpm::PermutedPerceptron{},
                                       test_support::hard({.bias = 0}));
  const auto one = machine.fit(by_rows, sides(30));
  const auto other = machine.fit(by_columns, sides(30));
  CHECK(one.coefficients() == other.coefficients());
  CHECK(one.support() == other.support());
  Eigen::MatrixXd wrong = by_columns;
  wrong(2, 1) += 1;
  CHECK_THROWS_WITH(machine.fit(wrong, sides(30)),
                    Catch::Matchers::ContainsSubstring("must be symmetric"));
}

TEST_CASE("many passes under a hard boundary end in a model", "[machine]") {
  const bpm::BayesPointMachine machine(Counting{}, bpm::PermutedPerceptron{.draws = 1},
                                       test_support::hard({.bias = 0}));
  std::vector<double> inputs = line(100);
  for (double& x : inputs) x += 40;  // Far from the origin the margin is narrow.
  const auto fitted = machine.fit(inputs, sides(100));
  CHECK(fitted.report().perceptron->passes > 200);
  CHECK(fitted.training_errors() == 0);
  CHECK_THROWS_WITH(machine.fit(inputs, sides(100, true)),
                    Catch::Matchers::ContainsSubstring("in pass 50000 "));
}
