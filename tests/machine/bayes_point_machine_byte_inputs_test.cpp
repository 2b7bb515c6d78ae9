// SPDX-License-Identifier: MIT
// Machines on bytes: the model of the same numbers as floats, and predictions of either kind.
#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

using namespace machine_tests;
using Bytes = bpm::RowMatrix<std::uint8_t>;
using Floats = bpm::RowMatrix<float>;

namespace {

/// The triangle's points as bytes, some of them zero, with columns of noise: 21 columns, so that
/// rows are copied, and products stay below 2^24, where floats are exact.
Bytes byte_points(Eigen::Index m, std::uint64_t seed, double spread = 0.4) {
  Bytes bytes(m, 21);
  bpm::RandomEngine engine(seed, 5);
  for (auto& value : bytes.reshaped()) {
    value =
        static_cast<std::uint8_t>(bpm::uniform_below(engine, 3) * bpm::uniform_below(engine, 9));
  }
  const Doubles points = (triangle(m, seed, spread).array() * 80 + 120).cwiseMax(0).cwiseMin(255);
  bytes.leftCols(2) = points.cast<std::uint8_t>();
  return bytes;
}

const bpm::Polynomial byte_kernel(3, 1.0 / 65025);

auto byte_machine(unsigned threads = 1) {
  return bpm::OneVsRest(bpm::BayesPointMachine(byte_kernel, bpm::PermutedPerceptron{.draws = 3},
                                               test_support::hard({.threads = threads})));
}

}  // namespace

TEST_CASE("a model of bytes is the model of the same floats") {
  const Bytes inputs = byte_points(150, 1);
  const Bytes others = byte_points(40, 2);
  const std::vector<int> labels = three_labels(150);
  const auto model = byte_machine().fit(inputs, labels);
  const auto floats = byte_machine().fit(Floats(inputs.cast<float>()), labels);
  // Inner products are whole numbers below 2^24: exact in both.
  CHECK(model.support() == floats.support());
  CHECK(model.coefficients() == floats.coefficients());
  const Eigen::MatrixXd values = floats.decision_values(Floats(others.cast<float>()));
  CHECK(model.decision_values(others) == values);
  CHECK(accuracy(model.predict(inputs), labels) == 1);
  // Either takes the other's inputs, of any storage.
  CHECK(model.decision_values(Floats(others.cast<float>())) == values);
  CHECK(model.decision_values(bpm::RowMatrix<int>(others.cast<int>())) == values);
  CHECK(floats.decision_values(others) == values);
  const Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic> columns = others;
  CHECK(model.decision_values(columns) == values);
  CHECK(floats.decision_values(columns) == values);
  CHECK(byte_machine().fit(inputs.leftCols(21), labels).decision_values(others) == values);
  const auto doubles = byte_machine().fit(Doubles(inputs.cast<double>()), labels);
  CHECK(doubles.decision_values(others) == doubles.decision_values(Doubles(others.cast<double>())));
}

TEST_CASE("a linear model of bytes, which keeps w, takes numbers too") {
  const Bytes inputs = byte_points(150, 1);
  const Bytes others = byte_points(40, 2);
  const bpm::OneVsRest machine(
      bpm::BayesPointMachine(bpm::Linear{}, bpm::PermutedPerceptron{.draws = 3},
                             {.soft_boundary = bpm::SoftBoundary::relative(0.1), .threads = 1}));
  const std::vector<int> labels = three_labels(150);
  const auto model = machine.fit(inputs, labels);
  const Eigen::MatrixXd values = model.decision_values(others);
  CHECK(model.decision_values(Floats(others.cast<float>())).isApprox(values, 1e-9));
  CHECK(machine.fit(Floats(inputs.cast<float>()), labels)
            .decision_values(others)
            .isApprox(values, 1e-9));
}

TEST_CASE("numbers between the bytes are predicted from a model of bytes as they are") {
  const Bytes inputs = byte_points(150, 1);
  const std::vector<int> labels = three_labels(150);
  const auto model = byte_machine().fit(inputs, labels);
  Floats others = byte_points(40, 2).cast<float>();
  others.array() += 0.37F;
  // By hand, in double.
  const Doubles support = bpm::detail::select_inputs(inputs, model.support()).cast<double>();
  const Doubles queries = others.cast<double>();
  const auto cube = [](const Doubles& products) {
    return Doubles((products.array() / 65025 + 1).cube());
  };
  Eigen::MatrixXd expected = cube(queries * support.transpose()) * model.coefficients();
  for (Eigen::Index i = 0; i < 40; ++i) {
    const double self = std::pow(queries.row(i).squaredNorm() / 65025 + 1, 3);
    expected.row(i) /= std::sqrt(self);
  }
  CHECK((model.decision_values(others) - expected).cwiseAbs().maxCoeff() <=
        1e-5 * (1 + expected.cwiseAbs().maxCoeff()));
}

TEST_CASE("bytes longer than floats hold exactly: the classifier is right all the same") {
  // 784 * 255^2 is above 2^24.
  Bytes inputs(60, 784);
  bpm::RandomEngine engine(4);
  for (Eigen::Index i = 0; i < 60; ++i) {
    for (Eigen::Index k = 0; k < 784; ++k) {
      const bool bright = k % 3 == i % 3;
      inputs(i, k) =
          static_cast<std::uint8_t>((bright ? 200 : 100) + bpm::uniform_below(engine, 56));
    }
  }
  const std::vector<int> labels = three_labels(60);
  const bpm::OneVsRest unit(bpm::BayesPointMachine(bpm::on_unit_inputs(bpm::Polynomial(5)),
                                                   bpm::PermutedPerceptron{.draws = 3},
                                                   test_support::hard()));
  const auto model = unit.fit(inputs, labels);
  const auto floats = unit.fit(Floats(inputs.cast<float>()), labels);
  CHECK(accuracy(model.predict(inputs), labels) == 1);
  CHECK(model.predict(Floats(inputs.cast<float>())) == labels);
  CHECK(floats.predict(inputs) == labels);
  CHECK((model.decision_values(inputs) - model.decision_values(Floats(inputs.cast<float>())))
            .cwiseAbs()
            .maxCoeff() <= 1e-4);
}

TEST_CASE("draws added on bytes, kept draws, equal bytes, another number of columns") {
  Bytes inputs = byte_points(90, 1);
  const std::vector<int> labels = two_labels(90);
  const auto train = [&](std::uint64_t draws) {
    return bpm::BayesPointMachine(byte_kernel, bpm::PermutedPerceptron{.draws = draws},
                                  test_support::hard({.threads = 2, .keep_draws = true}))
        .train(inputs, labels);
  };
  auto training = train(2);
  training.add_draws(2);
  const auto model = training.classifier();
  CHECK(model.coefficients() == train(4).classifier().coefficients());
  const Bytes others = byte_points(20, 2);
  CHECK(model.vote_fractions(others) == model.vote_fractions(Floats(others.cast<float>())));
  inputs(3, 3) ^= 1;
  CHECK_THROWS_AS(training.add_draws(1), std::invalid_argument);

  Bytes twice = inputs;
  twice.row(7) = twice.row(5);
  std::vector<int> unlike = labels;
  unlike[7] = unlike[5] == 7 ? -3 : 7;
  CHECK_THROWS_WITH(
      byte_machine().fit(twice, unlike),
      Catch::Matchers::ContainsSubstring("points 5 and 7 are equal inputs with different labels"));
  CHECK_THROWS_WITH(model.predict(Bytes(Bytes::Ones(3, 20))),
                    Catch::Matchers::ContainsSubstring("inputs has 20 entries, expected 21"));
  CHECK_THROWS_WITH(model.predict(Floats(Floats::Ones(3, 20))),
                    Catch::Matchers::ContainsSubstring("inputs has 20 entries, expected 21"));
  CHECK(model.decision_values(Bytes(0, 21)).size() == 0);
}
