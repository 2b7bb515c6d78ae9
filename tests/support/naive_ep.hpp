// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "bpm/version_space/cone.hpp"

/// \file
/// Expectation propagation by the book (C. Rasmussen, C. Williams, "Gaussian Processes for Machine
/// Learning", algorithm 3.5 and equation (3.73)): on the covariance of the signed outputs, n x n, a
/// rank-one update a visit. Slow and plain; with places to do it wrong.

namespace ep_tests {

enum class Rule {
  right,
  cavity_of_the_wrong_sign,   ///< The site is added to the marginal instead of taken away.
  site_without_variance,      ///< The site has the precision of the tilted law itself.
  mean_without_site_variance  ///< The shift forgets that the variance changed.
};

struct NaiveEp {
  Eigen::MatrixXd prior;
  double noise = 0;
  Rule rule = Rule::right;
  Eigen::MatrixXd covariance{};
  Eigen::VectorXd mean{};
  Eigen::VectorXd precision{};
  Eigen::VectorXd shift{};

  /// Cavity, then the tilted mean and variance and log Phi(z), by their textbook formulas.
  struct Visit {
    double cavity_mean, cavity_variance, log_mass, mean, variance;
  };
  [[nodiscard]] Visit look(Eigen::Index i) const {
    const double sign = rule == Rule::cavity_of_the_wrong_sign ? -1.0 : 1.0;
    const double v = covariance(i, i);
    const double tau = 1 / v - sign * precision[i];
    Visit x{};
    x.cavity_mean = (mean[i] / v - sign * shift[i]) / tau;
    x.cavity_variance = 1 / tau;
    const double s = std::sqrt(x.cavity_variance + noise * noise);
    const double z = x.cavity_mean / s;
    const double mass = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    const double ratio = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) / mass;
    x.log_mass = std::log(mass);
    x.mean = x.cavity_mean + x.cavity_variance * ratio / s;
    x.variance =
        x.cavity_variance - x.cavity_variance * x.cavity_variance * ratio * (z + ratio) / (s * s);
    return x;
  }

  void run(int sweeps) {
    const Eigen::Index n = prior.rows();
    covariance = prior;
    mean = precision = shift = Eigen::VectorXd::Zero(n);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (Eigen::Index i = 0; i < n; ++i) {
        const Visit x = look(i);
        double tau = 1 / x.variance - 1 / x.cavity_variance;
        double nu = x.mean / x.variance - x.cavity_mean / x.cavity_variance;
        if (rule == Rule::site_without_variance) tau = 1 / x.variance;
        if (rule == Rule::mean_without_site_variance) nu = (x.mean - x.cavity_mean) / x.variance;
        const double more = tau - precision[i];
        precision[i] = tau;
        shift[i] = nu;
        const Eigen::VectorXd column = covariance.col(i);
        covariance -= more / (1 + more * column[i]) * column * column.transpose();
        mean = covariance * shift;
      }
    }
  }

  /// (3.73).
  [[nodiscard]] double log_evidence() const {
    const Eigen::Index n = prior.rows();
    Eigen::VectorXd site_mean(n);
    Eigen::MatrixXd sum = prior;
    double result = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      const Visit x = look(i);
      site_mean[i] = shift[i] / precision[i];
      sum(i, i) += 1 / precision[i];
      const double both = x.cavity_variance + 1 / precision[i];
      const double off = x.cavity_mean - site_mean[i];
      result += x.log_mass + 0.5 * std::log(both) + off * off / (2 * both);
    }
    const Eigen::PartialPivLU<Eigen::MatrixXd> lu(sum);
    return result - 0.5 * lu.matrixLU().diagonal().array().abs().log().sum() -
           0.5 * site_mean.dot(lu.solve(site_mean));
  }
};

/// The largest difference between a point's law with its likelihood in place of its site and the
/// Gaussian law, of means in units of the standard deviation and of relative variances. What makes
/// a fixed point, by textbook formulas, from marginals and sites alone.
template <class Numbers>
[[nodiscard]] double fixed_point_gap(const Numbers& means, const Numbers& variances,
                                     const Numbers& precision, const Numbers& shift, double noise) {
  const auto n = static_cast<Eigen::Index>(means.size());
  NaiveEp one{Eigen::MatrixXd::Zero(n, n), noise, Rule::right};
  one.mean = one.precision = one.shift = Eigen::VectorXd::Zero(n);
  one.covariance = one.prior;
  double worst = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    one.mean[i] = means.data()[k];
    one.covariance(i, i) = variances.data()[k];
    one.precision[i] = precision.data()[k];
    one.shift[i] = shift.data()[k];
    const auto x = one.look(i);
    const double variance = one.covariance(i, i);
    worst = std::max({worst, std::abs(x.mean - one.mean[i]) / std::sqrt(variance),
                      std::abs(x.variance / variance - 1)});
    if (!std::isfinite(x.mean + x.variance)) return INFINITY;
  }
  return worst;
}

/// <s_i, s_j>.
[[nodiscard]] inline Eigen::MatrixXd signed_covariance(const bpm::Cone& cone) {
  Eigen::MatrixXd products(cone.points(), cone.points());
  for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
    for (std::ptrdiff_t j = 0; j < cone.points(); ++j) {
      double sum = 0;
      for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) sum += cone.row(i)[k] * cone.row(j)[k];
      products(i, j) = sum;
    }
  }
  return products;
}

}  // namespace ep_tests
