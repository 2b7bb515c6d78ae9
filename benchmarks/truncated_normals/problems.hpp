// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "common/even_odd.hpp"

/// \file
/// Normal laws cut to the positive orthant, x >= 0, and what is known of them.

namespace truncated_normals {

/// Mean of a coordinate, and of its square, where all coordinates have the same law.
struct CoordinateMoments {
  double mean = 0;
  double square = 0;
};

/// N(mean, covariance) on x >= 0.
struct Problem {
  std::string name;
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
  /// Time of a zigzag trajectory, in largest deviations: of 1/50, 1/16, 1/8, 1/4, 1/2, 1 and 2 the
  /// one whose smallest effective size a second was largest in 256 draws and more, of those whose
  /// means were within five standard errors of the truth where that is known. Of 2000 digits those
  /// above 1/4 took too long to be measured; from 1/50 on they were the worse the longer.
  double zigzag_duration = 0;
  std::optional<CoordinateMoments> truth{};
  Eigen::MatrixXd factor{};   ///< L, covariance = L L'.
  Eigen::VectorXd largest{};  ///< Unit vectors close to the two end eigenvectors of the covariance.
  Eigen::VectorXd smallest{};
};

/// What the rivals are handed too, before the clock runs: the factor and the end eigenvectors, by
/// 300 steps of (inverse) iteration from random numbers.
inline void prepare(Problem& problem) {
  const Eigen::Index n = problem.mean.size();
  const Eigen::LLT<Eigen::MatrixXd> cholesky(problem.covariance);
  problem.factor = cholesky.matrixL();
  bpm::RandomEngine engine(1, 77);
  Eigen::VectorXd start(n);
  bpm::detail::Ziggurat::instance().fill(start.data(), n, engine);
  problem.largest = start.normalized();
  problem.smallest = problem.largest;
  for (int k = 0; k < 300; ++k) {
    problem.largest = (problem.covariance * problem.largest).normalized();
    problem.smallest = cholesky.solve(problem.smallest).normalized();
  }
}

/// Correlation rho, every mean -shift. Given z, x_i = sqrt(rho) z - shift + sqrt(1 - rho) e_i are
/// independent, so that moments are integrals over z alone, by the trapezoid rule.
[[nodiscard]] inline Problem equicorrelated(Eigen::Index n, double rho, double shift) {
  Problem problem{.name = shift == 0 ? "equicorrelated" : "equicorrelated, shifted",
                  .mean = Eigen::VectorXd::Constant(n, -shift),
                  .covariance = Eigen::MatrixXd::Constant(n, n, rho),
                  .zigzag_duration = 0.5};
  problem.covariance.diagonal().setOnes();
  const double own = std::sqrt(1 - rho);
  const auto log_weight = [&](double z) {
    const double scaled = (std::sqrt(rho) * z - shift) / own;
    return static_cast<double>(n) * bpm::detail::log_normal_cdf(scaled) - z * z / 2;
  };
  constexpr int steps = 200'000;
  const auto place = [](int k) { return -20 + 40.0 * k / steps; };
  double largest = -1e300;
  for (int k = 0; k <= steps; ++k) largest = std::max(largest, log_weight(place(k)));
  double sum = 0;
  CoordinateMoments moments;
  for (int k = 0; k <= steps; ++k) {
    const double weight = std::exp(log_weight(place(k)) - largest);
    const double m = std::sqrt(rho) * place(k) - shift;
    const double hazard = bpm::detail::normal_hazard(m / own);
    sum += weight;
    moments.mean += weight * (m + own * hazard);
    moments.square += weight * (m * m + own * own + m * own * hazard);
  }
  problem.truth = CoordinateMoments{moments.mean / sum, moments.square / sum};
  prepare(problem);
  return problem;
}

/// y_i f(x_i), f ~ N(0, K): even against odd digits, y their signs, K of the arc-cosine kernel of
/// depth 7.
[[nodiscard]] inline Problem digits(const bpm_examples::EvenOdd& pool, Eigen::Index n,
                                    std::uint64_t seed) {
  const bpm_examples::SignedDigits chosen =
      bpm_examples::random_subset(pool, n, bpm::RandomEngine(seed, 99));
  const Eigen::VectorXd labels = chosen.labels();
  const Eigen::MatrixXd kernel = bpm::kernel_matrix(bpm::ArcCosine(7), chosen.inputs);
  Problem problem{.name = std::string(pool.name()) + " " + std::to_string(n),
                  .mean = Eigen::VectorXd::Zero(n),
                  .covariance = labels.asDiagonal() * kernel * labels.asDiagonal(),
                  .zigzag_duration = n > 1000 ? 0.02 : 0.0625};
  prepare(problem);
  return problem;
}

}  // namespace truncated_normals
