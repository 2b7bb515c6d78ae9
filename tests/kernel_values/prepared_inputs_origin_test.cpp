// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/prepared_inputs.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

namespace {

using bpm::detail::FeatureMoments;
using bpm::detail::is_translation_invariant;
using bpm::detail::origin_of;

/// exp(-gamma |x - z|^2) by differences in long double.
template <class Inputs>
Eigen::MatrixXd gaussian_by_differences(const Inputs& x, const Inputs& z, double gamma) {
  Eigen::MatrixXd result(x.rows(), z.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.rows(); ++j) {
      long double sum = 0;
      for (Eigen::Index c = 0; c < x.cols(); ++c) {
        const long double away =
            static_cast<long double>(x(i, c)) - static_cast<long double>(z(j, c));
        sum += away * away;
      }
      result(i, j) = static_cast<double>(std::exp(-gamma * sum));
    }
  }
  return result;
}

/// A kernel of a user's, which may say that it is a function of distances.
template <bool Says>
struct RationalQuadratic {
  static constexpr bool translation_invariant() { return Says; }
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    return (1 + (xx + zz - 2 * xz).max(typename Array::Scalar{0})).inverse();
  }
};

}  // namespace

TEST_CASE("moments of features, at once and in parts", "[kernels]") {
  bpm::RowMatrix<double> inputs = test_support::normal_inputs<double>(101, 3, 4);
  inputs.col(1).array() += 1e6;
  inputs.col(2).setConstant(0.1);
  const FeatureMoments all(inputs);
  CHECK(all.count == 101);
  for (Eigen::Index c = 0; c < 3; ++c) {
    const double mean = inputs.col(c).mean();
    const double squares = (inputs.col(c).array() - mean).square().sum();
    CHECK(all.mean[c] == Approx(mean).epsilon(1e-14).margin(1e-14));
    CHECK(all.squares[c] == Approx(squares).epsilon(1e-9).margin(1e-20));
  }
  CHECK(all.mean[2] == 0.1);
  CHECK(all.squares[2] == 0);

  FeatureMoments parts(inputs.topRows(30));
  const FeatureMoments rest(inputs.bottomRows(71));
  parts.append(rest.count, rest.mean, rest.squares);
  CHECK(parts.count == 101);
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(parts.mean[c] == Approx(all.mean[c]).epsilon(1e-14));
    CHECK(parts.squares[c] == Approx(all.squares[c]).epsilon(1e-9));
  }
  CHECK(parts.origin() == all.origin());

  const FeatureMoments third(inputs, 50);  // Rows 0, 50 and 100.
  CHECK(third.count == 3);
  CHECK(third.mean[0] == Approx((inputs(0, 0) + inputs(50, 0) + inputs(100, 0)) / 3));
}

TEST_CASE("the origin is the mean of features that lie far away, by powers of two", "[kernels]") {
  // Columns of +-3 about 11.9, 12.1 and -1000, and one that is constant: 4 deviations are 12.
  bpm::RowMatrix<double> inputs(4, 4);
  for (int i = 0; i < 4; ++i) {
    const double away = i % 2 == 0 ? 3 : -3;
    inputs.row(i) << 11.9 + away, 12.1 + away, away - 1000, 0.1;
  }
  CHECK(FeatureMoments(inputs).origin() == std::vector<double>{0, 12, -1000, 0.1});
  CHECK(FeatureMoments(inputs.leftCols(1)).origin().empty());
  CHECK(FeatureMoments(bpm::RowMatrix<double>::Zero(3, 2)).origin().empty());
}

TEST_CASE("the origin's unit is at most a deviation, and the mean is rounded to the nearest",
          "[kernels]") {
  // Columns of +-3 about 13.5, 14.5 and -13.5: units of 2, the power of two below 3, so that the
  // origin is within 1 of the mean, which a unit of 4 or rounding down would miss.
  bpm::RowMatrix<double> inputs(4, 3);
  for (int i = 0; i < 4; ++i) {
    const double away = i % 2 == 0 ? 3 : -3;
    inputs.row(i) << 13.5 + away, 14.5 + away, away - 13.5;
  }
  CHECK(FeatureMoments(inputs).origin() == std::vector<double>{14, 14, -14});
}

TEST_CASE("kernels say whether they are functions of differences", "[kernels]") {
  const auto gaussian = bpm::Gaussian::from_sigma(1);
  CHECK(is_translation_invariant(gaussian));
  CHECK(is_translation_invariant(bpm::Exponential(1)));
  CHECK(is_translation_invariant(bpm::biased(bpm::scaled(gaussian, 2), 1)));
  CHECK(is_translation_invariant(bpm::normalised(gaussian)));
  CHECK(is_translation_invariant(bpm::sum(gaussian, bpm::Exponential(2))));
  CHECK(is_translation_invariant(bpm::RuntimeKernel(gaussian)));
  CHECK(is_translation_invariant(bpm::biased(bpm::RuntimeKernel(gaussian), 1)));
  CHECK(is_translation_invariant(bpm::RuntimeKernel(
      bpm::product(bpm::RuntimeKernel(gaussian), bpm::RuntimeKernel(bpm::scaled(gaussian, 3))))));
  CHECK(is_translation_invariant(RationalQuadratic<true>{}));
  CHECK_FALSE(is_translation_invariant(RationalQuadratic<false>{}));
  CHECK_FALSE(is_translation_invariant(bpm::Linear{}));
  CHECK_FALSE(is_translation_invariant(bpm::Polynomial(2)));
  CHECK_FALSE(is_translation_invariant(bpm::ArcCosine(1)));
  CHECK_FALSE(is_translation_invariant(bpm::on_unit_inputs(gaussian)));
  CHECK_FALSE(is_translation_invariant(bpm::sum(gaussian, bpm::Linear{})));
  CHECK_FALSE(is_translation_invariant(bpm::product(bpm::Linear{}, gaussian)));
  CHECK_FALSE(is_translation_invariant(bpm::RuntimeKernel(bpm::Linear{})));
  CHECK_FALSE(is_translation_invariant([](double, double) { return 1.0; }));
}

TEST_CASE("an origin is for kernels of distances and dense numbers alone", "[kernels]") {
  const auto gaussian = bpm::Gaussian::from_sigma(1);
  const bpm::RowMatrix<double> far = test_support::normal_inputs<double>(20, 3, 1).array() + 100;
  REQUIRE(origin_of(gaussian, far).size() == 3);
  CHECK(origin_of(gaussian, bpm::RowMatrix<int>(far.cast<int>())).size() == 3);
  CHECK(origin_of(bpm::Polynomial(2), far).empty());
  CHECK(origin_of(bpm::Laplacian(1), far).empty());  // It takes differences.
  CHECK(origin_of(gaussian, bpm::RowMatrix<std::uint8_t>(far.cast<std::uint8_t>())).empty());
  CHECK(origin_of(gaussian, bpm::SparseRowMatrix<double>(far.sparseView())).empty());
  CHECK(origin_of([](int, int) { return 1.0; }, std::vector<int>{1, 2}).empty());
}

TEMPLATE_TEST_CASE("kernels of distances lose nothing far from the origin", "[kernels]", float,
                   double) {
  // Numbers of 12 bits below the unit of the last place at the offset: to be moved without
  // rounding.
  const double offset = std::is_same_v<TestType, float> ? 3000 : 1e9;
  const double unit = std::is_same_v<TestType, float> ? 4096 : 1 << 20;
  const auto rounded = [&](const bpm::RowMatrix<double>& at) {
    return bpm::RowMatrix<TestType>(
        (((at * unit).array().round() / unit) + offset).cast<TestType>());
  };
  const auto x = rounded(test_support::normal_inputs<double>(40, 5, 2));
  const auto z = rounded(test_support::normal_inputs<double>(30, 5, 3));
  const auto kernel = bpm::Gaussian::from_gamma(2);
  const double most = 40 * std::numeric_limits<TestType>::epsilon();
  const auto worst = [](const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return (a - b).cwiseAbs().maxCoeff();
  };
  const Eigen::MatrixXd right = gaussian_by_differences(x, z, 2);
  const Eigen::MatrixXd own = gaussian_by_differences(x, x, 2);
  CHECK(worst(bpm::kernel_matrix(kernel, x, z), right) < most);
  CHECK(worst(bpm::kernel_matrix(kernel, x), own) < most);
  CHECK(worst(bpm::kernel_matrix(bpm::RuntimeKernel(kernel), x, z), right) < most);
  CHECK(worst(bpm::kernel_matrix(RationalQuadratic<true>{}, x),
              (1 + -own.array().log() / 2).inverse()) < 4 * most);
  // The same inputs about zero: the same numbers are subtracted, so the same bits.
  const bpm::RowMatrix<TestType> near = x.array() - static_cast<TestType>(offset);
  CHECK(worst(bpm::kernel_matrix(kernel, near), own) < most);
  CHECK(bpm::check_kernel(kernel, x).smallest_eigenvalue > -1e-4);

  // A training set's values, and what they are without an origin.
  const bpm::detail::OnDemandGram gram(kernel, x);
  bpm::detail::BlockScratch<TestType> scratch;
  CHECK(gram.row(0, scratch)[1] == static_cast<TestType>(bpm::kernel_matrix(kernel, x)(0, 1)));
  const bpm::detail::OnDemandGram<bpm::Gaussian, bpm::RowMatrix<TestType>> from_zero(kernel, x, {});
  double lost = 0;
  for (Eigen::Index j = 0; j < x.rows(); ++j) {
    lost = std::max(lost, std::abs(from_zero.row(0, scratch)[j] - own(0, j)));
  }
  CHECK(lost > 0.1);
}

TEST_CASE("inputs within their spread keep their bits, and are read in place", "[kernels]") {
  const bpm::RowMatrix<float> inputs = test_support::normal_inputs<float>(30, 16, 5).array() + 2;
  const auto kernel = bpm::Gaussian::from_sigma(2);
  const bpm::detail::OnDemandGram gram(kernel, inputs);
  CHECK(gram.inputs().origin().empty());
  CHECK(gram.inputs().numbers(0) == inputs.data());
  const bpm::RowMatrix<float> far = inputs.array() + 98;
  const bpm::detail::OnDemandGram moved(kernel, far);
  CHECK(moved.inputs().origin().size() == 16);
  CHECK(moved.inputs().numbers(0) != far.data());
  CHECK(moved.inputs().bytes() ==
        bpm::detail::PreparedInputs<bpm::RowMatrix<float>>::bytes_needed(far, true));
}

TEST_CASE("sums and products keep the inner products of their other parts", "[kernels]") {
  const bpm::RowMatrix<double> far = test_support::normal_inputs<double>(20, 3, 6).array() + 50;
  const auto gaussian = bpm::Gaussian::from_sigma(1);
  const Eigen::MatrixXd inner = far * far.transpose();
  const Eigen::MatrixXd distances = gaussian_by_differences(far, far, 0.5);
  CHECK(bpm::kernel_matrix(bpm::sum(gaussian, bpm::Linear{}), far)
            .isApprox(inner + distances, 1e-13));
  CHECK(bpm::kernel_matrix(bpm::product(gaussian, bpm::Linear{}), far)
            .isApprox(inner.cwiseProduct(distances), 1e-11));
}
