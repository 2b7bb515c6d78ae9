// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "problems.hpp"

/// \file
/// The effective size of a chain's draws, by one estimator for all samplers.

namespace truncated_normals {

/// What one chain's draws tell, over all statistics.
struct ChainSummary {
  std::ptrdiff_t draws = 0;
  Eigen::VectorXd means;   ///< Of every statistic.
  Eigen::VectorXd errors;  ///< Standard errors of these.
  Eigen::VectorXd variances;
  Eigen::VectorXd effective;  ///< Effective sample sizes.
};

/// Of n coordinates, their squares, the log density, and the projections on both end eigenvectors:
/// 2 n + 3 statistics. Blocks of consecutive draws are averaged, at most 2048 of them (when there
/// are more, neighbours are joined), and the variance of the mean is that of the block means with
/// the initial monotone positive sequence of their autocovariances (C. Geyer, "Practical Markov
/// chain Monte Carlo", Stat. Sci. 7(4), 1992). Effective size: variance of a draw over variance of
/// the mean.
class ChainStatistics {
 public:
  explicit ChainStatistics(const Problem& problem)
      : problem_(problem),
        points_(problem.mean.size()),
        pending_(points_, 64),
        blocks_(2 * points_ + 3, most),
        sum_(Eigen::VectorXd::Zero(2 * points_ + 3)),
        squares_(sum_),
        block_(sum_) {}

  void add(const double* x) {
    pending_.col(held_++) = Eigen::VectorXd::Map(x, points_);
    if (held_ == pending_.cols()) flush();
  }

  [[nodiscard]] ChainSummary summary() {
    flush();
    ChainSummary result;
    result.draws = draws_;
    const auto count = static_cast<double>(draws_);
    result.means = (sum_ / count).eval();
    result.variances = squares_ / count - result.means.cwiseAbs2();
    result.means += origin_;
    result.errors.setConstant(sum_.size(), std::numeric_limits<double>::infinity());
    result.effective.setZero(sum_.size());
    if (filled_ < 16) return result;
    for (Eigen::Index s = 0; s < sum_.size(); ++s) {
      const double variance = mean_variance(blocks_.row(s).head(filled_).transpose());
      result.errors[s] = std::sqrt(variance);
      result.effective[s] = variance > 0 ? result.variances[s] / variance : 0;
    }
    return result;
  }

 private:
  static constexpr Eigen::Index most = 2048;

  void flush() {
    const auto held = pending_.leftCols(held_);
    Eigen::MatrixXd values(sum_.size(), held_);
    values.topRows(points_) = held;
    values.middleRows(points_, points_) = held.cwiseAbs2();
    Eigen::MatrixXd centred = held.colwise() - problem_.mean;
    problem_.factor.triangularView<Eigen::Lower>().solveInPlace(centred);
    values.row(2 * points_) = -0.5 * centred.colwise().squaredNorm();
    values.row(2 * points_ + 1) = problem_.largest.transpose() * held;
    values.row(2 * points_ + 2) = problem_.smallest.transpose() * held;
    held_ = 0;
    if (values.cols() == 0) return;
    // Sums are about the first draw: a small variance has its digits.
    if (draws_ == 0) origin_ = values.col(0);
    values.colwise() -= origin_;
    for (Eigen::Index j = 0; j < values.cols(); ++j) {
      sum_ += values.col(j);
      squares_ += values.col(j).cwiseAbs2();
      block_ += values.col(j);
      ++draws_;
      if (++in_block_ < length_) continue;
      blocks_.col(filled_++) = block_ / static_cast<double>(length_);
      block_.setZero();
      in_block_ = 0;
      if (filled_ < most) continue;
      for (Eigen::Index k = 0; k < most / 2; ++k) {
        blocks_.col(k) = (0.5 * (blocks_.col(2 * k) + blocks_.col(2 * k + 1))).eval();
      }
      filled_ = most / 2;
      length_ *= 2;
    }
  }

  static double mean_variance(const Eigen::VectorXd& series) {
    const Eigen::Index count = series.size();
    const Eigen::VectorXd x = series.array() - series.mean();
    const auto covariance = [&](Eigen::Index lag) {
      return x.head(count - lag).dot(x.tail(count - lag)) / static_cast<double>(count);
    };
    double sum = -covariance(0);
    double last = std::numeric_limits<double>::infinity();
    for (Eigen::Index lag = 0; lag + 1 < count; lag += 2) {
      const double pair = std::min(last, covariance(lag) + covariance(lag + 1));
      if (!(pair > 0)) break;
      sum += 2 * pair;
      last = pair;
    }
    return std::max(sum, 0.0) / static_cast<double>(count);
  }

  const Problem& problem_;
  Eigen::Index points_;
  Eigen::MatrixXd pending_;
  Eigen::MatrixXd blocks_;
  Eigen::VectorXd origin_;
  Eigen::VectorXd sum_;
  Eigen::VectorXd squares_;
  Eigen::VectorXd block_;
  Eigen::Index held_ = 0;
  Eigen::Index filled_ = 0;
  Eigen::Index length_ = 1;
  Eigen::Index in_block_ = 0;
  std::ptrdiff_t draws_ = 0;
};

}  // namespace truncated_normals
