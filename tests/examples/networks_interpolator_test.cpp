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
#include "bpm/core/random/engine.hpp"
#include "bpm/kernels/arc_cosine.hpp"
#include "catch.hpp"
#include "common/drawn_digits.hpp"
#include "networks/data.hpp"
#include "networks/interpolator.hpp"

using namespace bpm_examples;
using Catch::Matchers::ContainsSubstring;

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

TEST_CASE("Kernel values are those of the pair kernel", "[examples]") {
  const ParityDigits digits = some_digits(6);
  const bpm::ArcCosine kernel(7);
  const Eigen::MatrixXd values = kernel_values(kernel, digits.inputs.topRows(2), digits.inputs);
  const bpm::RowMatrix<double> x = digits.inputs.cast<double>();
  for (Eigen::Index i = 0; i < 2; ++i) {
    for (Eigen::Index j = 0; j < 6; ++j) {
      CHECK(std::abs(values(i, j) - kernel(x.row(i), x.row(j))) < 1e-7);  // acos near 1.
    }
  }
}

TEST_CASE("The balanced kernel by its recursion", "[examples]") {
  const ParityDigits digits = some_digits(5);
  const bpm::RowMatrix<double> x = centre_rows(digits.inputs);
  CHECK(x.rowwise().mean().cwiseAbs().maxCoeff() < 1e-14);
  const Eigen::MatrixXd values = kernel_values(BalancedArcCosine(3), x, x);
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
  const bpm::ArcCosine kernel(4);
  const Eigen::MatrixXd k = kernel_values(kernel, digits.inputs, digits.inputs);
  const Eigen::VectorXd labels = digits.labels.cast<double>();
  const Interpolator model = interpolate(k, labels);
  CHECK((interpolator_outputs(kernel, model, digits.inputs, digits.inputs, 2) - labels)
            .cwiseAbs()
            .maxCoeff() < 1e-6);
}

TEST_CASE("The label scale is |K|^(1/(2n))", "[examples]") {
  // |a I + (1 - a) 1 1^T| = a^(n-1) (a + n (1 - a)).
  constexpr int n = 30;
  constexpr double a = 0.3;
  const Eigen::MatrixXd k =
      a * Eigen::MatrixXd::Identity(n, n) + (1 - a) * Eigen::MatrixXd::Ones(n, n);
  const double log_determinant = (n - 1) * std::log(a) + std::log(a + n * (1 - a));
  CHECK(std::abs(interpolate(k, Eigen::VectorXd::Ones(n)).label_scale -
                 std::exp(log_determinant / (2 * n))) < 1e-13);
}

TEST_CASE("More than one block of outputs, whatever the threads", "[examples]") {
  const ParityDigits digits = some_digits(30);
  const bpm::ArcCosine kernel(3);
  const Interpolator model = interpolate(kernel_values(kernel, digits.inputs, digits.inputs),
                                         digits.labels.cast<double>());
  const bpm::RowMatrix<float> many = digits.inputs.replicate(20, 1);
  const Eigen::VectorXd one = interpolator_outputs(kernel, model, many, digits.inputs, 1);
  CHECK(one == interpolator_outputs(kernel, model, many, digits.inputs, 3));
  CHECK(std::abs(one[0] - one[570]) < 1e-9);
}

TEST_CASE("One image twice has no interpolator", "[examples]") {
  Eigen::MatrixXd k = Eigen::MatrixXd::Ones(2, 2);
  CHECK_THROWS_AS(interpolate(k, Eigen::Vector2d(1, -1)), bpm::NotPositiveDefinite);
  CHECK_THROWS_WITH(interpolate(k, Eigen::Vector2d(1, -1)),
                    ContainsSubstring("2 training images has no Cholesky factor"));
}
