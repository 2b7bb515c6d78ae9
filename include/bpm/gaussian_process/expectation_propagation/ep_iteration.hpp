// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "bpm/core/normal.hpp"
#include "bpm/core/target.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Moments of a standard normal number u conditioned on u > -z, as functions of z alone. No formula
/// subtracts nearly equal numbers, so that all are right to rounding, at z = -30 and at z = -1e8.
struct TruncatedMoments {
  double log_mass;  ///< log Phi(z).
  double hazard;    ///< lambda = phi(z) / Phi(z): E[u].
  double excess;    ///< z + lambda: E[u + z] > 0; about 1 / -z far below zero.
  double variance;  ///< 1 - lambda (z + lambda): Var[u], in (0, 1); about 1 / z^2 far below zero.
};

[[nodiscard]] inline TruncatedMoments truncated_moments(double z) {
  TruncatedMoments result{log_normal_cdf(z), 0, 0, 0};
  if (z > -3) {
    result.hazard = normal_hazard(z);
    result.excess = z + result.hazard;
    result.variance = 1 - result.hazard * result.excess;
    return result;
  }
  // With x = -z, Laplace's continued fraction 1 / lambda = 1 / (x + 1 / (x + b)), b = 2 / (x + c).
  const double x = -z;
  const double c = laplace_fraction(x, 3, 60);
  const double b = 2 / (x + c);
  result.excess = 1 / (x + b);
  result.hazard = x + result.excess;
  // 1 - (x + a) / (x + b) = (b - a) / (x + b), where b - a is a sum of positive terms.
  const double left = (x + c) * (x + b);
  result.variance = (x + (2 * b - c)) / left / (x + b);
  return result;
}

/// A factor exp(shift d - precision d^2 / 2) of a Gaussian law of d.
struct GaussianSite {
  double precision = 0;  ///< tau >= 0.
  double shift = 0;      ///< nu: the precision times the mean.
};

/// One point's likelihood Phi(d / noise_deviation), or the step 1[d > 0] where that is 0, times its
/// cavity N(d; mean, variance).
struct TiltedLaw {
  double log_mass = 0;  ///< log of the integral of the product.
  double mean = 0;      ///< Mean of d under the normalised product.
  double variance = 0;  ///< Variance of d under the normalised product; positive.
  GaussianSite site{};  ///< Gaussian site whose product with the cavity has this mean and variance.
};

/// Computes the moments by C. Rasmussen, C. Williams, "Gaussian Processes for Machine Learning",
/// MIT Press 2006, (3.58), (3.59), rewritten without differences: with s^2 = variance + noise^2, z
/// = mean / s, lambda the hazard, a = z + lambda, and v' = 1 - lambda a,
///
///     tau = lambda a / (noise^2 + variance v'),   nu = s lambda (v' + a^2) / (noise^2 + variance
///     v').
[[nodiscard]] inline TiltedLaw tilted_law(double mean, double variance, double noise_deviation) {
  const double noise_variance = noise_deviation * noise_deviation;
  const double total = variance + noise_variance;
  const double s = std::sqrt(total);
  const TruncatedMoments law = truncated_moments(mean / s);
  const double rest = noise_variance + variance * law.variance;
  TiltedLaw result;
  result.log_mass = law.log_mass;
  // Equals mean + variance lambda / s, without a difference of nearly equal numbers.
  result.mean = (mean / s * noise_variance + variance * law.excess) / s;
  result.variance = variance * rest / total;
  result.site.precision = law.hazard * law.excess / rest;
  result.site.shift = s * law.hazard * (law.variance + law.excess * law.excess) / rest;
  return result;
}

/// Returns log of the integral of N(d; mean, variance) exp(shift d - precision d^2 / 2).
[[nodiscard]] inline double log_site_mass(double mean, double variance, GaussianSite site) {
  const double scale = 1 + site.precision * variance;
  const double exponent =
      2 * mean * site.shift + variance * site.shift * site.shift - mean * mean * site.precision;
  return 0.5 * (exponent / scale - std::log(scale));
}

/// The state of expectation propagation on a cone: one site per point, and the Gaussian law of w
/// that is the product of the sites and the prior N(0, I),
///
///     precision P = I + sum_i tau_i s_i s_i',   mean = P^-1 sum_i nu_i s_i.
///
/// A sweep visits the points in their order, and each visit sees all sites before it. Within a
/// block of points, updates of rank one keep the marginal means and covariances of the block alone
/// up to date, on a small matrix; after each block one update of the block's rank corrects the
/// large covariance. The result is that of updating it at every point, at the speed of matrix
/// products.
///
/// The code uses only those products of Eigen that never start threads of their own: symmetric and
/// triangular ones.
class EpIteration {
 public:
  using Matrix = Eigen::MatrixXd;
  using Vector = Eigen::VectorXd;

  EpIteration(const Cone& cone, double noise_deviation, std::ptrdiff_t block = 64)
      : cone_(cone),
        noise_deviation_(noise_deviation),
        block_(block),
        rows_(cone.row(0), cone.rank(), cone.points(), Eigen::OuterStride<>(cone.stride())),
        precision_(Vector::Zero(cone.points())),
        shift_(precision_),
        log_scales_(precision_),
        mean_(Vector::Zero(cone.rank())),
        covariance_(Matrix::Identity(cone.rank(), cone.rank())) {}

  /// Visits every point once and makes `damping` of each change. The covariance must be up to date.
  void sweep(double damping) {
    change_ = 0;
    refused_ = 0;
    for (Eigen::Index begin = 0; begin < cone_.points() && thin_ < 0; begin += block_) {
      sweep_block(begin, std::min<Eigen::Index>(block_, cone_.points() - begin), damping);
    }
  }

  /// Computes precision, its factor, and the mean from the sites, free of the rounding errors that
  /// a sweep accumulates. Returns false where the precision has no Cholesky factor.
  [[nodiscard]] bool factorise() {
    factor_.setIdentity(cone_.rank(), cone_.rank());
    const Matrix scaled = rows_ * precision_.cwiseSqrt().asDiagonal();
    factor_.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    const Eigen::LLT<Eigen::Ref<Matrix>, Eigen::Lower> cholesky(factor_);
    if (cholesky.info() != Eigen::Success || !factor_.diagonal().allFinite()) {
      return false;
    }
    mean_.noalias() = rows_ * shift_;
    const auto lower = factor_.triangularView<Eigen::Lower>();
    lower.solveInPlace(mean_);
    log_gaussian_ = 0.5 * mean_.squaredNorm() - factor_.diagonal().array().log().sum();
    lower.adjoint().solveInPlace(mean_);
    return true;
  }

  /// Computes the covariance from the factor of the precision, F^-T F^-1 for P = F F', by blocks,
  /// so that the zeros of a triangle cost nothing. Cost: r^3 / 3 multiply-adds.
  void invert() {
    const Eigen::Index r = cone_.rank();
    Matrix inverse = Matrix::Zero(r, r);
    constexpr Eigen::Index width = 128;
    for (Eigen::Index begin = 0; begin < r; begin += width) {
      const Eigen::Index count = std::min(width, r - begin);
      auto columns = inverse.block(begin, begin, r - begin, count);
      columns.diagonal().setOnes();
      factor_.bottomRightCorner(r - begin, r - begin)
          .triangularView<Eigen::Lower>()
          .solveInPlace(columns);
    }
    covariance_.setZero();
    for (Eigen::Index begin = 0; begin < r; begin += width) {
      const Eigen::Index count = std::min(width, r - begin);
      const Eigen::Index end = begin + count;
      covariance_.topLeftCorner(end, end).selfadjointView<Eigen::Lower>().rankUpdate(
          inverse.block(begin, 0, count, end).adjoint());
    }
  }

  /// Computes the means and variances of all d_i under the factorised law and, with the cavities
  /// that follow, the terms of the log evidence. Cost: m r^2 / 2 multiply-adds.
  void evaluate(Vector& means, Vector& variances) {
    means.noalias() = rows_.adjoint() * mean_;
    Matrix solved = rows_;
    factor_.triangularView<Eigen::Lower>().solveInPlace(solved);
    variances = solved.colwise().squaredNorm();
    for (Eigen::Index i = 0; i < cone_.points(); ++i) {
      const double precision = 1 / variances[i] - precision_[i];
      if (variances[i] > 0 && precision > 0) {
        const double cavity_mean = (means[i] / variances[i] - shift_[i]) / precision;
        log_scales_[i] = tilted_law(cavity_mean, 1 / precision, noise_deviation_).log_mass -
                         log_site_mass(cavity_mean, 1 / precision, site(i));
      }
    }
  }

  /// Log evidence of the sites, by the cavities at the last visits or those of `evaluate`.
  [[nodiscard]] double log_evidence() const { return log_gaussian_ + log_scales_.sum(); }

  /// Largest change of a site in the last sweep, before damping: changes of precision times the
  /// variance, changes of shift times its root.
  [[nodiscard]] double change() const noexcept { return change_; }
  /// Number of visits in the last sweep that left their site as it was, since the cavity had no
  /// positive variance.
  [[nodiscard]] std::ptrdiff_t refused() const noexcept { return refused_; }
  /// Index of a point whose output has hardly any variance left, which ends a sweep; -1: none.
  [[nodiscard]] std::ptrdiff_t thin() const noexcept { return thin_; }
  [[nodiscard]] GaussianSite site(std::ptrdiff_t i) const { return {precision_[i], shift_[i]}; }
  [[nodiscard]] const Vector& mean() const noexcept { return mean_; }
  /// F, lower triangular, F F' = P; entries above the diagonal are not part of it.
  [[nodiscard]] const Matrix& factor() const noexcept { return factor_; }

 private:
  void sweep_block(Eigen::Index begin, Eigen::Index count, double damping) {
    const auto rows = rows_.middleCols(begin, count);
    // Covariance of the block's outputs with w; `start` and `now` are the outputs' own covariance.
    const Matrix directions = covariance_.selfadjointView<Eigen::Lower>() * rows;
    Matrix start(count, count);
    start.triangularView<Eigen::Lower>() = rows.adjoint() * directions;
    start.triangularView<Eigen::StrictlyUpper>() = start.adjoint();
    Matrix now = start;
    Vector outputs = rows.adjoint() * mean_;
    // Covariance now = covariance before - D U D', mean now = mean before + D t, D the directions.
    Matrix update = Matrix::Zero(count, count);
    Vector steps = Vector::Zero(count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const GaussianSite before = site(begin + k);
      visit(begin + k, outputs[k], now(k, k), damping);
      if (thin_ >= 0) {
        return;
      }
      const double more = precision_[begin + k] - before.precision;
      const double shift = shift_[begin + k] - before.shift;
      if (more == 0 && shift == 0) {
        continue;
      }
      const double scale = 1 / (1 + more * now(k, k));
      const double step = (shift - more * outputs[k]) * scale;
      Vector combination = -(update.selfadjointView<Eigen::Lower>() * start.col(k));
      combination[k] += 1;
      const Vector column = now.col(k);
      outputs += step * column;
      steps += step * combination;
      now.noalias() -= (more * scale * column) * column.adjoint();
      update.selfadjointView<Eigen::Lower>().rankUpdate(combination, more * scale);
    }
    mean_.noalias() += directions * steps;
    const Matrix weighted = update.selfadjointView<Eigen::Lower>() * directions.adjoint();
    covariance_.triangularView<Eigen::Lower>() -= directions * weighted;
  }

  /// Moves site i towards the site of the point's tilted law. `mean` and `variance` are those of
  /// d_i now.
  void visit(std::ptrdiff_t i, double mean, double variance, double damping) {
    const double norm = cone_.row_norm(i);
    if (norm == 0) {
      log_scales_[i] = log_normal_cdf(0);  // d_i = 0 whatever w is.
      return;
    }
    if (!(variance > smallest_variance * norm * norm)) {
      thin_ = i;
      return;
    }
    const double precision = 1 / variance - precision_[i];
    const double cavity_mean = (mean / variance - shift_[i]) / precision;
    const TiltedLaw tilted = tilted_law(cavity_mean, 1 / precision, noise_deviation_);
    if (!(precision > 0) || !std::isfinite(tilted.site.precision) ||
        !std::isfinite(tilted.site.shift)) {
      ++refused_;
      return;
    }
    const double more = tilted.site.precision - precision_[i];
    const double shift = tilted.site.shift - shift_[i];
    change_ = std::max({change_, std::abs(more) * variance, std::abs(shift) * std::sqrt(variance)});
    precision_[i] += damping * more;
    shift_[i] += damping * shift;
    log_scales_[i] = tilted.log_mass - log_site_mass(cavity_mean, 1 / precision, site(i));
  }

  /// Least ratio of an output's posterior variance to its prior variance. Below it version space
  /// counts as empty: an angle of 1e-10, far below the resolution of kernel values in double.
  static constexpr double smallest_variance = 1e-20;

  const Cone& cone_;
  double noise_deviation_;
  std::ptrdiff_t block_;
  /// s_i in columns, as the cone stores them.
  Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>> rows_;
  Vector precision_;  ///< tau_i.
  Vector shift_;      ///< nu_i.
  Vector log_scales_;
  double log_gaussian_ = 0;
  double change_ = 0;
  std::ptrdiff_t refused_ = 0;
  std::ptrdiff_t thin_ = -1;
  Vector mean_;
  Matrix covariance_;  ///< Lower triangle of the covariance of w.
  Matrix factor_;
};

}}}  // namespace bpm::detail
