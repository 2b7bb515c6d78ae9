// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"

/// \file
/// Covariances, orthants whose probability is known, and how far the mean of a chain is from the
/// truth in units of its standard error.

namespace orthant_tests {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// Correlation rho between all.
inline Eigen::MatrixXd equicorrelated(std::ptrdiff_t n, double rho) {
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Constant(n, n, rho);
  covariance.diagonal().setOnes();
  return covariance;
}

/// A A' / r + ridge I with a normal n x r matrix A.
inline Eigen::MatrixXd random_covariance(std::ptrdiff_t n, std::ptrdiff_t r, double ridge,
                                         std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 55);
  bpm::NormalDraws normal;
  Eigen::MatrixXd a(n, r);
  for (double& value : a.reshaped()) value = normal(engine);
  Eigen::MatrixXd covariance = a * a.transpose() / static_cast<double>(r);
  covariance.diagonal().array() += ridge;
  return covariance;
}

inline std::vector<signed char> random_signs(std::ptrdiff_t n, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 56);
  std::vector<signed char> signs;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    signs.push_back(static_cast<signed char>(bpm::uniform_below(engine, 2) == 0 ? -1 : 1));
  }
  return signs;
}

inline std::vector<signed char> ones(std::ptrdiff_t n) {
  return std::vector<signed char>(static_cast<std::size_t>(n), 1);
}

/// Means by chains: the largest distance of a component's mean over the columns of `values` from
/// the truth, in standard errors by 32 batches.
inline double worst_z(const Eigen::MatrixXd& values, const Eigen::VectorXd& truth) {
  constexpr Eigen::Index batches = 32;
  const Eigen::Index length = values.cols() / batches;
  double worst = 0;
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    Eigen::VectorXd means(batches);
    for (Eigen::Index b = 0; b < batches; ++b) {
      means[b] = values.row(i).segment(b * length, length).mean();
    }
    const double mean = means.mean();
    const double variance = (means.array() - mean).square().sum() / (batches * (batches - 1));
    worst = std::max(worst, std::abs(mean - truth[i]) / std::sqrt(variance));
  }
  return worst;
}

/// First and second moments of each column: x_i, then x_i x_j, i <= j.
inline Eigen::MatrixXd moments(const Eigen::MatrixXd& draws) {
  const Eigen::Index n = draws.rows();
  Eigen::MatrixXd all(n + n * (n + 1) / 2, draws.cols());
  all.topRows(n) = draws;
  Eigen::Index next = n;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = i; j < n; ++j) {
      all.row(next++) = draws.row(i).cwiseProduct(draws.row(j));
    }
  }
  return all;
}

/// The integral of f over the real line against the standard normal density, by the trapezoid rule.
template <class F>
double normal_mean(F&& f) {
  double sum = 0;
  constexpr int steps = 20'000;
  for (int k = 0; k <= steps; ++k) {
    const double x = -10 + 20.0 * k / steps;
    sum += f(x) * bpm::detail::normal_density(x);
  }
  return sum * 20.0 / steps;
}

}  // namespace orthant_tests
