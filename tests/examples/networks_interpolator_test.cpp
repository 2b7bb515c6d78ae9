// SPDX-License-Identifier: MIT
// The digits as inputs, the kernel interpolator and the scale of the labels.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "common/drawn_digits.hpp"
#include "networks/data.hpp"
#include "networks/interpolator.hpp"

using namespace bpm_examples;

namespace {

ParityDigits some_digits(std::uint32_t count) {
  auto drawn = draw_digits(count, 1, 0, 1);
  const bpm::LabelledData<bpm::RowMatrix<std::uint8_t>> digits{std::move(drawn.images),
                                                               std::move(drawn.labels)};
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return parity_digits(digits, all);
}

}  // namespace

TEST_CASE("Digits: standardised, of norm^2 784, even against odd", "[examples]") {
  bpm::LabelledData<bpm::RowMatrix<std::uint8_t>> digits;
  digits.inputs = bpm::RowMatrix<std::uint8_t>::Zero(3, 784);
  digits.inputs(1, 100) = 255;
  digits.labels = {7, 4, 0};
  const ParityDigits result = parity_digits(digits, std::vector<std::uint32_t>{2, 0, 1});
  CHECK(result.labels == Eigen::Vector3f(1, -1, 1));
  CHECK((result.inputs.rowwise().squaredNorm().array() - 784).abs().maxCoeff() < 1e-3F);
  // A black image is constant; the white pixel has (1 - 0.1307) / 0.1307 times a black one's size.
  CHECK((result.inputs.row(0).array() + 1).abs().maxCoeff() < 1e-6F);
  CHECK(std::abs(result.inputs(2, 100) / result.inputs(2, 0) + 0.8693F / 0.1307F) < 1e-4F);
}

TEST_CASE("Rows are chosen without repetition, sizes have their own streams", "[examples]") {
  const auto rows = choose_rows(50, 60, stream_of(1, 50, 0));
  CHECK(std::set<std::uint32_t>(rows.begin(), rows.end()).size() == 50);
  CHECK(*std::ranges::max_element(rows) < 60);
  CHECK(choose_rows(50, 60, stream_of(1, 50, 0)) == rows);
  CHECK(choose_rows(50, 60, stream_of(1, 51, 0)) != rows);
  CHECK(choose_rows(50, 60, stream_of(2, 50, 0)) != rows);
  CHECK_THROWS_WITH(choose_rows(61, 60, stream_of(1, 61, 0)),
                    "61 digits were asked for, there are 60");
}

TEST_CASE("The balanced kernel by its recursion", "[examples]") {
  const ParityDigits digits = some_digits(5);
  const bpm::RowMatrix<double> x = centre_rows(digits.inputs);
  CHECK(x.rowwise().mean().cwiseAbs().maxCoeff() < 1e-14);
  const Eigen::MatrixXd values = bpm::kernel_matrix(BalancedArcCosine(3), x);
  const double pi = std::acos(-1.0);
  Eigen::MatrixXd k = x * x.transpose();
  for (int layer = 1; layer < 3; ++layer) {
    const Eigen::MatrixXd old = k;
    for (Eigen::Index i = 0; i < 5; ++i) {
      for (Eigen::Index j = 0; j < 5; ++j) {
        const double length = std::sqrt(old(i, i) * old(j, j));
        const double t = std::min(1.0, old(i, j) / length);
        k(i, j) = length * ((std::sqrt(1 - t * t) + t * (pi - std::acos(t))) / pi - 1 / pi);
      }
    }
  }
  const double factor = std::pow(1 - 1 / pi, 2);
  CHECK((factor * values - k).cwiseAbs().maxCoeff() < 1e-6 * 784);
}

TEST_CASE("The interpolator meets its labels", "[examples]") {
  const ParityDigits digits = some_digits(40);
  const bpm::RowMatrix<double> x = digits.inputs.cast<double>();
  const auto model = interpolate(bpm::ArcCosine(4), x, digits.labels, 2);
  const Eigen::VectorXd labels = digits.labels.cast<double>();
  CHECK((model.classifier().decision_values(x).col(0) - labels).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("The label scale is |K|^(1/(2n))", "[examples]") {
  // a I + (1 - a) 1 1^T of inputs sqrt(a) e_i + sqrt(1 - a) e_0: its determinant is
  // a^(n-1) (a + n (1 - a)).
  constexpr int n = 30;
  constexpr double a = 0.3;
  bpm::RowMatrix<double> x = bpm::RowMatrix<double>::Zero(n, n + 1);
  x.col(0).setConstant(std::sqrt(1 - a));
  x.rightCols(n).diagonal().setConstant(std::sqrt(a));
  Eigen::VectorXf labels = Eigen::VectorXf::Ones(n);
  labels[0] = -1;
  const double log_determinant = (n - 1) * std::log(a) + std::log(a + n * (1 - a));
  CHECK(std::abs(label_scale(interpolate(bpm::Linear{}, x, labels, 1)) -
                 std::exp(log_determinant / (2 * n))) < 1e-13);
}

TEST_CASE("More than one block of outputs, whatever the threads", "[examples]") {
  const ParityDigits digits = some_digits(30);
  const bpm::RowMatrix<double> x = digits.inputs.cast<double>();
  const bpm::RowMatrix<double> many = x.replicate(20, 1);
  const Eigen::MatrixXd one =
      interpolate(bpm::ArcCosine(3), x, digits.labels, 1).classifier().decision_values(many);
  CHECK(one ==
        interpolate(bpm::ArcCosine(3), x, digits.labels, 3).classifier().decision_values(many));
  CHECK(std::abs(one(0, 0) - one(570, 0)) < 1e-9);
}

TEST_CASE("One image twice has no interpolator", "[examples]") {
  const bpm::RowMatrix<double> twice = bpm::RowMatrix<double>::Ones(2, 3);
  CHECK_THROWS_AS(interpolate(bpm::Linear{}, twice, Eigen::Vector2f(1, -1), 1), bpm::NotSeparable);
  const bpm::RowMatrix<double> line = Eigen::Vector2d(1, -2) * Eigen::RowVector3d(1, 2, 3);
  CHECK_THROWS_AS(interpolate(bpm::Linear{}, line, Eigen::Vector2f(1, -1), 1),
                  bpm::NotPositiveDefinite);
}
