// SPDX-License-Identifier: MIT
#include "bpm/gaussian_process/interpolation/kernel_complexity.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

/// B B' / n + ridge I, B with normal entries.
Eigen::MatrixXd random_matrix(Eigen::Index n, double ridge, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  Eigen::MatrixXd b(n, n);
  for (Eigen::Index i = 0; i < b.size(); ++i) b.data()[i] = normal(engine);
  Eigen::MatrixXd k = b * b.transpose() / static_cast<double>(n);
  k = (0.5 * (k + k.transpose())).eval();
  k.diagonal().array() += ridge;
  return k;
}

std::vector<signed char> coin_signs(Eigen::Index n, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 1);
  std::vector<signed char> signs;
  for (Eigen::Index i = 0; i < n; ++i) signs.push_back(bpm::uniform_unit(engine) < 0.5 ? -1 : 1);
  return signs;
}

struct Textbook {
  long double log_det = 0;
  long double trace = 0;  ///< Of the inverse.
  long double norm = 0;   ///< y' K^-1 y.
};

/// Gauss and Jordan, row by row: pivots to ones, (K | I) to (I | K^-1).
Textbook textbook(const Eigen::MatrixXd& k, const std::vector<signed char>& signs) {
  const auto n = signs.size();
  std::vector<std::vector<long double>> rows(n, std::vector<long double>(2 * n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      rows[i][j] = k(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
    rows[i][n + i] = 1;
  }
  Textbook result;
  for (std::size_t p = 0; p < n; ++p) {
    const long double pivot = rows[p][p];
    result.log_det += std::log(pivot);
    for (long double& value : rows[p]) value /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      const long double factor = i == p ? 0 : rows[i][p];
      for (std::size_t j = 0; j < 2 * n && factor != 0; ++j) rows[i][j] -= factor * rows[p][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    result.trace += rows[i][n + i];
    for (std::size_t j = 0; j < n; ++j) result.norm += signs[i] * signs[j] * rows[i][n + j];
  }
  return result;
}

}  // namespace

TEST_CASE("complexity of multiples of the identity is n log 2") {
  for (const double scale : {1.0, 1e-9, 1e9}) {
    const Eigen::MatrixXd k = scale * Eigen::MatrixXd::Identity(7, 7);
    const bpm::KernelComplexity a(k, coin_signs(7, 1));
    CHECK(a.value() == Approx(7 * std::numbers::ln2).epsilon(1e-14));
    CHECK(a.log_scale() == Approx(std::log(scale)).margin(1e-14));
    CHECK(a.orthant_term() == Approx(7 * (std::numbers::ln2 - 0.5)));
    CHECK(a.trace_term() == Approx(7 * (0.5 - 1 / std::numbers::pi)).epsilon(1e-14));
    CHECK(a.label_term() == Approx(7 / std::numbers::pi).epsilon(1e-14));
  }
}

TEST_CASE("complexity of two points by hand, and above log(1 / P_Y)") {
  // K = (1 r; r 1): det 1 - r^2, tr K^-1 = 2 / (1 - r^2), y' K^-1 y = 2 / (1 + r y_1 y_2).
  for (const double r : {-0.9, -0.3, 0.0, 0.5, 0.99}) {
    Eigen::MatrixXd k(2, 2);
    k << 1, r, r, 1;
    for (const int y : {1, -1}) {
      const std::vector<signed char> signs{1, static_cast<signed char>(y)};
      const bpm::KernelComplexity a(k, signs);
      const double root = std::sqrt(1 - r * r);
      const double expected =
          2 * (std::numbers::ln2 - 0.5) + root * ((0.5 - 1 / std::numbers::pi) * 2 / (1 - r * r) +
                                                  2 / (1 + r * y) / std::numbers::pi);
      CHECK(a.value() == Approx(expected).epsilon(1e-12));
      // Sheppard: P(both signs as y) = 1/4 + arcsin(r y) / (2 pi).
      const double orthant = 0.25 + std::asin(r * y) / (2 * std::numbers::pi);
      CHECK(a.value() >= -std::log(orthant) - 1e-12);
    }
  }
}

TEST_CASE("complexity against a textbook's elimination in long double") {
  for (const double ridge : {1.0, 1e-3, 1e-6}) {
    const Eigen::Index n = 40;
    const Eigen::MatrixXd k = random_matrix(n, ridge, 3);
    const auto signs = coin_signs(n, 4);
    const Textbook t = textbook(k, signs);
    const long double long_pi = std::numbers::pi_v<long double>;
    const long double expected =
        n * (std::numbers::ln2_v<long double> - 0.5L) +
        std::exp(t.log_det / n) * ((0.5L - 1 / long_pi) * t.trace + t.norm / long_pi);
    const bpm::KernelComplexity a(k, signs);
    CAPTURE(ridge);
    CHECK(a.log_determinant == Approx(static_cast<double>(t.log_det)).epsilon(1e-9));
    CHECK(a.trace_of_inverse == Approx(static_cast<double>(t.trace)).epsilon(1e-7));
    CHECK(a.label_norm_squared == Approx(static_cast<double>(t.norm)).epsilon(1e-7));
    CHECK(a.value() == Approx(static_cast<double>(expected)).epsilon(1e-7));
    // Of a shared factor: the same bits.
    const bpm::KernelComplexity shared(Eigen::LLT<Eigen::MatrixXd>(k), signs);
    CHECK(shared.value() == a.value());
    // Of a multiple: the same but for rounding.
    CHECK(bpm::KernelComplexity(Eigen::MatrixXd(1e-12 * k), signs).value() ==
          Approx(a.value()).epsilon(1e-7));
  }
}

TEST_CASE("complexity across blocks of the inverse's diagonal") {
  const Eigen::Index n = 300;  // Blocks of 128, the last one short.
  const Eigen::MatrixXd k = random_matrix(n, 0.1, 5);
  const bpm::KernelComplexity a(k, coin_signs(n, 6));
  CHECK(a.trace_of_inverse ==
        Approx(static_cast<double>(textbook(k, coin_signs(n, 6)).trace)).epsilon(1e-10));
}

TEST_CASE("complexity at n = 5000 stays in range where the determinant does not") {
  // K diagonal, half a, half b: everything in closed form. det = (a b)^2500 = 1e-30000.
  const double a = 1e-2;
  const double b = 1e-10;
  const std::ptrdiff_t n = 5000;
  const double inverse = 2500 / a + 2500 / b;
  const bpm::KernelComplexity c(n, 2500 * (std::log(a) + std::log(b)), inverse, inverse);
  // sqrt(a b) (1 / a + 1 / b) / 2 = (1e4 + 1e-4) / 2 ; trace and labels together one half of n.
  const double expected = 5000 * (std::numbers::ln2 - 0.5) + 0.5 * 5000 * (1e4 + 1e-4) / 2;
  CHECK(c.value() == Approx(expected).epsilon(1e-12));
  // det^(1/n) alone would leave the range of double: 1e-400 times 1e300.
  const bpm::KernelComplexity far(n, -5000 * 400 * std::numbers::ln10, 1e300, 1e300);
  CHECK(far.value() == Approx(5000 * (std::numbers::ln2 - 0.5)));
  CHECK(far.trace_term() == Approx((0.5 - 1 / std::numbers::pi) * 1e-100).epsilon(1e-9));
}

TEST_CASE("arguments of the complexity are checked") {
  const std::vector<signed char> two{1, -1};
  const std::vector<signed char> bad{1, 0};
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(2, 2);
  CHECK_THROWS_WITH(bpm::KernelComplexity(identity, std::vector<signed char>{1}),
                    "KernelComplexity: signs has 1 entries, expected 2 (one per point)");
  CHECK_THROWS_WITH(bpm::KernelComplexity(identity, bad),
                    "KernelComplexity: signs at 1 is 0, must be 1 or -1");
  CHECK_THROWS_WITH(bpm::KernelComplexity(Eigen::LLT<Eigen::MatrixXd>(), two),
                    ContainsSubstring("KernelComplexity: factor is empty or has failed, expected a "
                                      "Cholesky factor of a positive definite matrix"));
  CHECK_THROWS_WITH(bpm::KernelComplexity(Eigen::LLT<Eigen::MatrixXd>(-identity), two),
                    ContainsSubstring("KernelComplexity: factor is empty or has failed, expected a "
                                      "Cholesky factor of a positive definite matrix"));
  Eigen::MatrixXd singular = Eigen::MatrixXd::Ones(2, 2);
  CHECK_THROWS_AS(bpm::KernelComplexity(singular, two), bpm::NotPositiveDefinite);
  CHECK_THROWS_WITH(bpm::KernelComplexity(0, 0.0, 1, 1),
                    "KernelComplexity: points is 0, must be 1 or more");
  CHECK_THROWS_WITH(bpm::KernelComplexity(2, std::numeric_limits<double>::infinity(), 1, 1),
                    "KernelComplexity: log_determinant is inf, must be finite");
  CHECK_THROWS_WITH(bpm::KernelComplexity(2, 0.0, 0, 1),
                    "KernelComplexity: trace_of_inverse is 0, must be positive and finite");
  CHECK_THROWS_WITH(bpm::KernelComplexity(2, 0.0, 1, -1),
                    "KernelComplexity: label_norm_squared is -1, must be positive and finite");
}
