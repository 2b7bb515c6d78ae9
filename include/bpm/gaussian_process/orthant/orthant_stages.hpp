// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The log probability of an orthant by stages between independence and S; of the orthant given
/// that of its first points where the path leaves these as they are.
struct OrthantStagesResult {
  double value = 0;
  double variance = 0;
  double freedom = 0;  ///< Of the variance, by Welch and Satterthwaite.
};

/// One covariance on the way, and what its draws have told.
struct OrthantStage {
  double s = 1;
  TridiagonalFactor factor;
  Eigen::VectorXd start;     ///< The pilot's last position there.
  std::vector<double> up;    ///< log density ratio of the next stage to this one, a draw.
  std::vector<double> down;  ///< The same of the previous stage.
};

class OrthantStages {
 public:
  OrthantStages(const CovariancePath& path, double path_length, const RunControl& control)
      : path_(path), path_length_(path_length), control_(control) {}

  [[nodiscard]] std::size_t size() const noexcept { return stages_.size(); }
  [[nodiscard]] std::uint64_t bounces() const noexcept { return bounces_; }
  [[nodiscard]] std::size_t draws() const noexcept { return draws_; }

  /// Chooses the stages: from each the farthest whose log density ratio has a variance of at most
  /// `most_variance` over `count` draws. \throws Stopped.
  void choose(std::size_t count, std::size_t burn_in, double most_variance, RandomEngine engine) {
    OrthantPlanes planes(path_.points());
    OrthantBall ball(planes, path_length_, engine);
    RowMatrix<double> coordinates;
    for (double s = 1;;) {
      OrthantStage& stage = stages_.emplace_back();
      stage.s = s;
      stage.factor = path_.factor(s);
      path_.set_planes(s, stage.factor, planes);
      ball.forget_velocities();
      report("orthant pilot", 0, 0);
      for (std::size_t k = 0; !independent(s) && k < burn_in; ++k) ball.fly(planes);
      if (s > 0) coordinates = draw(stage, ball, planes, static_cast<std::ptrdiff_t>(count));
      stage.start = Eigen::VectorXd::Map(ball.position(), path_.stride());
      if (s == 0) {
        break;
      }
      s = next_s(s, [&](double to) {
        const Eigen::ArrayXd h = ratios(stage.factor, path_.factor(to), coordinates);
        const double squares = (h - h.mean()).square().sum();
        return !(squares / static_cast<double>(count - 1) <= most_variance);
      });
    }
    bounces_ += ball.bounces();
  }

  /// Makes draws at each stage until there are `count`; each stage by its own stream from `first`
  /// on, so that the result does not depend on the threads. \throws Stopped; the draws made before
  /// remain.
  void measure(std::size_t count, std::size_t burn_in, const RandomStreams& streams,
               std::uint64_t first, unsigned threads) {
    const auto total = static_cast<std::ptrdiff_t>(stages_.size());
    const auto workers = static_cast<std::size_t>(std::min<std::ptrdiff_t>(threads, total));
    while (planes_.size() < workers) {
      planes_.emplace_back(path_.points());
    }
    const std::size_t before = draws_;
    const bool fresh = balls_.empty();
    for (std::size_t k = 0; fresh && k < stages_.size(); ++k) {
      balls_.emplace_back(planes_.front(), path_length_, streams.stream(first + k));
      std::copy(stages_[k].start.begin(), stages_[k].start.end(), balls_[k].position());
    }
    std::vector<OrthantBall> balls = balls_;
    try {
      parallel_for(threads, total, [&](unsigned worker, std::ptrdiff_t i) {
        // The last stages bounce most: they come first.
        const auto k = static_cast<std::size_t>(total - 1 - i);
        measure_stage(k, count, fresh ? burn_in : 0, balls[k], planes_[worker]);
      });
    } catch (const Stopped&) {
      for (OrthantStage& stage : stages_) {
        stage.up.resize(std::min(before, stage.up.size()));
        stage.down.resize(std::min(before, stage.down.size()));
      }
      throw;
    }
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      bounces_ += balls[k].bounces() - balls_[k].bounces();
    }
    balls_ = std::move(balls);
    draws_ = count;
  }

  /// The sum over steps of log E_k[e^(h/2)] - log E_(k+1)[e^(-h/2)], from log 2^-n, n the points
  /// that are not given.
  [[nodiscard]] OrthantStagesResult result() const {
    OrthantStagesResult result;
    result.value = -static_cast<double>(path_.points() - path_.given()) * std::log(2.0);
    SumOfSpreads sum;
    Eigen::ArrayXd influence(draws_);
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      influence.setZero();
      if (k + 1 < stages_.size()) result.value += add_log_mean(stages_[k].up, 0.5, influence);
      if (k > 0) result.value += add_log_mean(stages_[k].down, -0.5, influence);
      sum.add(batch_variance({influence.data(), draws_}));
    }
    result.variance = sum.variance();
    result.freedom = sum.freedom();
    return result;
  }

 private:
  static constexpr std::size_t block = 32;  ///< Draws whose quadratic forms are made at once.

  /// Whether the coordinates are independent at s.
  [[nodiscard]] bool independent(double s) const noexcept { return s == 1 && path_.given() == 0; }

  /// h = log of the density of values' directions at `to` over that at `from`, times the ratio of
  /// the probabilities, for draws with these coordinates. The integral over the radius leaves the
  /// quadratic form to the power -n/2.
  [[nodiscard]] Eigen::ArrayXd ratios(const TridiagonalFactor& from, const TridiagonalFactor& to,
                                      const RowMatrix<double>& coordinates) const {
    return 0.5 * (from.log_determinant - to.log_determinant) +
           0.5 * static_cast<double>(path_.points()) *
               (CovariancePath::log_quadratic_forms(from, coordinates) -
                CovariancePath::log_quadratic_forms(to, coordinates));
  }

  /// The smallest s' in [0, s) that is not too far, to 1 % of s / s' or of 1 - s'.
  template <class TooFar>
  [[nodiscard]] static double next_s(double s, TooFar&& too_far) {
    if (!too_far(0.0)) {
      return 0;
    }
    double near = std::log(s);
    double far = near - 20;  // Eigenvalues below 1e-11 are not let in.
    for (int k = 0; k < 24; ++k) {
      const double middle = 0.5 * (near + far);
      (too_far(std::exp(middle)) ? far : near) = middle;
    }
    return std::exp(std::min(near, std::log(s) - 1e-6));
  }

  /// The coordinates of the ball's next `count` draws at a stage.
  [[nodiscard]] RowMatrix<double> draw(const OrthantStage& stage, OrthantBall& ball,
                                       const OrthantPlanes& planes, std::ptrdiff_t count) const {
    Eigen::MatrixXd positions(path_.stride(), count);
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      if (independent(stage.s)) {
        ball.half_normals(planes);  // Independent draws.
      } else {
        ball.fly(planes);
      }
      positions.col(j) = Eigen::VectorXd::Map(ball.position(), path_.stride());
    }
    return path_.coordinates(positions.data(), count);
  }

  void measure_stage(std::size_t k, std::size_t count, std::size_t burn_in, OrthantBall& ball,
                     OrthantPlanes& planes) {
    OrthantStage& stage = stages_[k];
    path_.set_planes(stage.s, stage.factor, planes);
    for (std::size_t j = 0; !independent(stage.s) && j < burn_in; ++j) ball.fly(planes);
    for (std::size_t done = draws_; done < count;) {
      const std::size_t few = std::min(block, count - done);
      const auto coordinates = draw(stage, ball, planes, static_cast<std::ptrdiff_t>(few));
      const auto add = [&](const OrthantStage& other, std::vector<double>& all) {
        const Eigen::ArrayXd h = ratios(stage.factor, other.factor, coordinates);
        all.insert(all.end(), h.begin(), h.end());
      };
      if (k + 1 < stages_.size()) add(stages_[k + 1], stage.up);
      if (k > 0) add(stages_[k - 1], stage.down);
      done += few;
      report("orthant stages", few, count * stages_.size());
    }
  }

  /// Returns +- log mean e^(part ratio), with the sign of `part`, and adds its influence values.
  static double add_log_mean(const std::vector<double>& ratios, double part,
                             Eigen::ArrayXd& influence) {
    const Eigen::ArrayXd h =
        std::abs(part) * Eigen::ArrayXd::Map(ratios.data(), std::ssize(ratios));
    const double largest = h.maxCoeff();
    const Eigen::ArrayXd weights = (h - largest).exp();
    const double sign = part > 0 ? 1 : -1;
    influence += sign / weights.mean() * weights;
    return sign * (largest + std::log(weights.mean()));
  }

  void report(const char* stage, std::uint64_t draws, std::uint64_t total) {
    const std::scoped_lock lock(mutex_);
    reported_ += draws;
    if (!control_.go_on({.stage = stage,
                         .fraction = total > 0 ? std::min(1.0, static_cast<double>(reported_) /
                                                                   static_cast<double>(total))
                                               : 0.0,
                         .draws = reported_,
                         .draws_total = total})) {
      throw Stopped("orthant_probability: stopped before it had an estimate");
    }
  }

  const CovariancePath& path_;
  double path_length_;
  const RunControl& control_;
  std::vector<OrthantStage> stages_;
  std::vector<OrthantBall> balls_;
  std::vector<OrthantPlanes> planes_;
  std::size_t draws_ = 0;
  std::uint64_t bounces_ = 0;
  std::uint64_t reported_ = 0;
  std::mutex mutex_;
};

}}}  // namespace bpm::detail
