// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/gaussian_process/expectation_propagation/tilted_moments.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm::detail {

/// The state of expectation propagation on a cone: a site a point, and the Gaussian law of w that
/// the sites and the prior N(0, I) make,
///
///     precision P = I + sum_i tau_i s_i s_i',   mean = P^-1 sum_i nu_i s_i.
///
/// A sweep visits the points in their order, and each visit sees all sites before it. Within a
/// block of points the marginal means and covariances of the block alone are brought up to date, by
/// updates of rank one on a small matrix; the large covariance follows once a block, by an update
/// of the block's rank. That is the same as updating it at every point, at the speed of matrix
/// products.
///
/// Of Eigen's products only those that never start threads of their own are used: symmetric and
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
        sites_(static_cast<std::size_t>(cone.points())),
        log_scales_(static_cast<std::size_t>(cone.points()), 0.0),
        mean_(Vector::Zero(cone.rank())),
        covariance_(Matrix::Identity(cone.rank(), cone.rank())) {}

  /// Visits every point once and takes `damping` of each change. The covariance must be up to date.
  void sweep(double damping) {
    change_ = 0;
    refused_ = 0;
    for (Eigen::Index begin = 0; begin < cone_.points() && thin_ < 0; begin += block_) {
      sweep_block(begin, std::min<Eigen::Index>(block_, cone_.points() - begin), damping);
    }
  }

  /// Makes precision, its factor, and the mean from the sites, free of what rounding has left in
  /// the course of a sweep. False where the precision has no factor.
  [[nodiscard]] bool factorise() {
    const Eigen::Index r = cone_.rank();
    factor_.setIdentity(r, r);
    Matrix scaled;
    constexpr Eigen::Index width = 256;
    for (Eigen::Index begin = 0; begin < cone_.points(); begin += width) {
      const Eigen::Index count = std::min(width, cone_.points() - begin);
      scaled = rows_.middleCols(begin, count);
      for (Eigen::Index k = 0; k < count; ++k)
        scaled.col(k) *= std::sqrt(site(begin + k).precision);
      factor_.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    }
    const Eigen::LLT<Eigen::Ref<Matrix>, Eigen::Lower> cholesky(factor_);
    if (cholesky.info() != Eigen::Success || !factor_.diagonal().allFinite()) {
      return false;
    }
    mean_.setZero();
    for (Eigen::Index i = 0; i < cone_.points(); ++i) mean_ += site(i).shift * rows_.col(i);
    const auto lower = factor_.triangularView<Eigen::Lower>();
    lower.solveInPlace(mean_);
    log_gaussian_ = 0.5 * mean_.squaredNorm() - factor_.diagonal().array().log().sum();
    lower.adjoint().solveInPlace(mean_);
    return true;
  }

  /// The covariance from the factor of the precision: F^-T F^-1 for P = F F', by blocks, so that
  /// the zeros of a triangle cost nothing. Cost: r^3 / 3 multiply-adds.
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

  /// The means and variances of all d_i under the law that was factorised, and with the cavities
  /// that they give, the log evidence. Cost: m r^2 / 2 multiply-adds.
  void evaluate(std::vector<double>& means, std::vector<double>& variances) {
    means.clear();
    variances.clear();
    constexpr Eigen::Index width = 256;
    Matrix solved;
    for (Eigen::Index begin = 0; begin < cone_.points(); begin += width) {
      const Eigen::Index count = std::min(width, cone_.points() - begin);
      solved = rows_.middleCols(begin, count);
      for (Eigen::Index k = 0; k < count; ++k) means.push_back(solved.col(k).dot(mean_));
      factor_.triangularView<Eigen::Lower>().solveInPlace(solved);
      for (Eigen::Index k = 0; k < count; ++k) variances.push_back(solved.col(k).squaredNorm());
    }
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      const double precision = 1 / variances[i] - sites_[i].precision;
      if (variances[i] > 0 && precision > 0) {
        const double cavity_mean = (means[i] / variances[i] - sites_[i].shift) / precision;
        log_scales_[i] = log_scale(cavity_mean, 1 / precision, sites_[i]);
      }
    }
  }

  /// The log evidence of the sites: by the cavities at the last visits, or those of `evaluate`.
  [[nodiscard]] double log_evidence() const {
    double sum = log_gaussian_;
    for (const double scale : log_scales_) sum += scale;
    return sum;
  }

  /// The largest difference between a point's tilted and its Gaussian law in the last sweep, before
  /// damping: of the precisions times the variance, of the shifts times its root.
  [[nodiscard]] double change() const noexcept { return change_; }
  /// Visits of the last sweep that changed nothing since the cavity had no positive variance.
  [[nodiscard]] std::ptrdiff_t refused() const noexcept { return refused_; }
  /// A point whose output has hardly any variance left, which ends a sweep; -1: none.
  [[nodiscard]] std::ptrdiff_t thin() const noexcept { return thin_; }
  [[nodiscard]] const GaussianSite& site(std::ptrdiff_t i) const noexcept { return sites_[i]; }
  [[nodiscard]] const Vector& mean() const noexcept { return mean_; }
  /// F, lower triangular, F F' = P; what stands above the diagonal is not part of it.
  [[nodiscard]] const Matrix& factor() const noexcept { return factor_; }

 private:
  void sweep_block(Eigen::Index begin, Eigen::Index count, double damping) {
    const auto rows = rows_.middleCols(begin, count);
    const auto covariance = covariance_.selfadjointView<Eigen::Lower>();
    directions_.noalias() = covariance * rows;
    start_.resize(count, count);
    start_.triangularView<Eigen::Lower>() = rows.adjoint() * directions_;
    start_.triangularView<Eigen::StrictlyUpper>() = start_.adjoint();
    now_ = start_;
    outputs_.noalias() = rows.adjoint() * mean_;
    // Covariance now = covariance before - D U D', mean now = mean before + D t, D the directions.
    update_.setZero(count, count);
    shift_.setZero(count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const GaussianSite before = site(begin + k);
      visit(begin + k, outputs_[k], now_(k, k), damping);
      if (thin_ >= 0) {
        return;
      }
      const double more = site(begin + k).precision - before.precision;
      const double shift = site(begin + k).shift - before.shift;
      if (more == 0 && shift == 0) {
        continue;
      }
      const double scale = 1 / (1 + more * now_(k, k));
      const double step = (shift - more * outputs_[k]) * scale;
      combination_.noalias() = -(update_.selfadjointView<Eigen::Lower>() * start_.col(k));
      combination_[k] += 1;
      column_ = now_.col(k);
      outputs_ += step * column_;
      shift_ += step * combination_;
      now_.noalias() -= (more * scale * column_) * column_.adjoint();
      update_.selfadjointView<Eigen::Lower>().rankUpdate(combination_, more * scale);
    }
    mean_.noalias() += directions_ * shift_;
    weighted_.noalias() = update_.selfadjointView<Eigen::Lower>() * directions_.adjoint();
    covariance_.triangularView<Eigen::Lower>() -= directions_ * weighted_;
  }

  /// Moves site i towards what the tilted law of the point asks for. `mean` and `variance` are
  /// those of d_i now.
  void visit(std::ptrdiff_t i, double mean, double variance, double damping) {
    const double norm = cone_.row_norm(i);
    GaussianSite& site = sites_[i];
    if (norm == 0) {
      log_scales_[i] = log_normal_cdf(0);  // d_i = 0 whatever w is.
      return;
    }
    if (!(variance > smallest_variance * norm * norm)) {
      thin_ = i;
      return;
    }
    const double precision = 1 / variance - site.precision;
    if (!(precision > 0)) {
      ++refused_;
      return;
    }
    const double cavity_mean = (mean / variance - site.shift) / precision;
    const TiltedLaw tilted = tilted_law(cavity_mean, 1 / precision, noise_deviation_);
    if (!std::isfinite(tilted.site.precision) || !std::isfinite(tilted.site.shift)) {
      ++refused_;
      return;
    }
    const double more = tilted.site.precision - site.precision;
    const double shift = tilted.site.shift - site.shift;
    change_ = std::max({change_, std::abs(more) * variance, std::abs(shift) * std::sqrt(variance)});
    site.precision += damping * more;
    site.shift += damping * shift;
    log_scales_[i] = tilted.log_mass - log_site_mass(cavity_mean, 1 / precision, site);
  }

  [[nodiscard]] double log_scale(double cavity_mean, double cavity_variance,
                                 GaussianSite site) const {
    return tilted_law(cavity_mean, cavity_variance, noise_deviation_).log_mass -
           log_site_mass(cavity_mean, cavity_variance, site);
  }

  /// An output's posterior variance over its prior one, below which version space is as good as
  /// empty: an angle of 1e-10, far below what kernel values in double can tell.
  static constexpr double smallest_variance = 1e-20;

  const Cone& cone_;
  double noise_deviation_;
  std::ptrdiff_t block_;
  /// s_i in columns, as the cone stores them.
  Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>> rows_;
  std::vector<GaussianSite> sites_;
  std::vector<double> log_scales_;
  double log_gaussian_ = 0;
  double change_ = 0;
  std::ptrdiff_t refused_ = 0;
  std::ptrdiff_t thin_ = -1;
  Vector mean_;
  Matrix covariance_;  ///< Its lower triangle.
  Matrix factor_;
  Matrix directions_;  ///< A block's covariance with w, r x block.
  Matrix start_;       ///< Covariance of the block's outputs before it and now.
  Matrix now_;
  Matrix update_;
  Matrix weighted_;
  Vector outputs_;
  Vector column_;
  Vector combination_;
  Vector shift_;
};

}  // namespace bpm::detail
