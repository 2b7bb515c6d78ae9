// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/gaussian_process/orthant/covariance_path.hpp"
#include "bpm/gaussian_process/orthant/orthant_ball.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/samplers/chains/batch_means.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm::detail {

/// What makes the identity of `orthant_probability`. A parameter so that tests can break it.
struct OrthantBridgeLaw {
  /// The radius integrates out to the power -n/2 of the quadratic form: n counts this often.
  static constexpr double dimensions = 1;
  /// Whether both ends of a step are used, or the broader one alone.
  static constexpr bool both_ends = true;
};

/// The log probability of an orthant by stages between independence and S.
struct OrthantStagesResult {
  double value = 0;
  double variance = 0;
  double freedom = 0;  ///< Of the variance, by Welch and Satterthwaite.
};

/// One covariance on the way, and what its draws have told.
struct OrthantStage {
  double s = 1;
  TridiagonalFactor factor;
  std::vector<double> start;  ///< The pilot's last position there.
  std::vector<double> up;     ///< log density ratio of the next stage to this one, a draw.
  std::vector<double> down;   ///< The same of the previous stage.
};

template <class Law = OrthantBridgeLaw, class FlightLaw = OrthantFlightLaw>
class OrthantStages {
 public:
  using Ball = OrthantBall<FlightLaw>;

  OrthantStages(const CovariancePath& path, double path_length, const RunControl& control)
      : path_(path), path_length_(path_length), control_(control) {}

  [[nodiscard]] std::size_t size() const noexcept { return stages_.size(); }
  [[nodiscard]] std::uint64_t bounces() const noexcept { return bounces_; }
  [[nodiscard]] double s(std::size_t k) const noexcept { return stages_[k].s; }
  [[nodiscard]] std::size_t draws() const noexcept { return draws_; }

  /// Chooses the stages: from each the farthest whose log density ratio has a variance of at most
  /// `most_variance` over `count` draws. \throws Stopped.
  void choose(std::size_t count, std::size_t burn_in, double most_variance, RandomEngine engine) {
    OrthantPlanes planes(path_.points());
    Ball ball(planes, path_length_, engine);
    const auto draws = static_cast<std::ptrdiff_t>(count);
    Buffer<double> positions(draws * path_.stride());
    Buffer<double> coordinates(draws * path_.points());
    std::vector<double> here(count);
    std::vector<double> there(count);
    for (double s = 1;;) {
      OrthantStage& stage = stages_.emplace_back();
      stage.s = s;
      stage.factor = path_.factor(s);
      path_.set_planes(s, stage.factor, planes);
      ball.forget_velocities();
      report("orthant pilot", 0, 0);
      if (s < 1) {
        for (std::size_t k = 0; k < burn_in; ++k) ball.fly(planes);
      }
      for (std::ptrdiff_t j = 0; s > 0 && j < draws; ++j) {
        next(ball, planes, s);
        std::copy_n(ball.position(), path_.stride(), positions.data() + j * path_.stride());
      }
      stage.start.assign(ball.position(), ball.position() + path_.stride());
      if (s == 0) {
        break;
      }
      path_.coordinates(positions.data(), draws, coordinates.data(), draws);
      path_.log_quadratic_forms(stage.factor, coordinates.data(), draws, draws, here.data());
      const auto too_far = [&](double to) {
        const TridiagonalFactor factor = path_.factor(to);
        path_.log_quadratic_forms(factor, coordinates.data(), draws, draws, there.data());
        for (std::size_t j = 0; j < count; ++j)
          there[j] = ratio(stage.factor, factor, here[j], there[j]);
        return !(variance(there) <= most_variance);
      };
      s = next_s(s, too_far);
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
      planes_.push_back(std::make_unique<OrthantPlanes>(path_.points()));
    }
    const std::size_t before = draws_;
    const bool fresh = balls_.empty();
    for (std::size_t k = 0; fresh && k < stages_.size(); ++k) {
      balls_.emplace_back(*planes_.front(), path_length_, streams.stream(first + k));
      std::copy(stages_[k].start.begin(), stages_[k].start.end(), balls_[k].position());
    }
    std::vector<Ball> balls = balls_;
    try {
      parallel_for(threads, total, [&](unsigned worker, std::ptrdiff_t i) {
        // The last stages bounce most: they come first.
        const auto k = static_cast<std::size_t>(total - 1 - i);
        measure_stage(k, count, fresh ? burn_in : 0, balls[k], *planes_[worker]);
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

  /// The sum over steps of log E_k[e^(h/2)] - log E_(k+1)[e^(-h/2)], from log 2^-n.
  [[nodiscard]] OrthantStagesResult result() const {
    OrthantStagesResult result;
    result.value = -static_cast<double>(path_.points()) * std::log(2.0);
    double satterthwaite = 0;
    std::vector<double> influence(draws_);
    const double part = Law::both_ends ? 0.5 : 1.0;
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      std::fill(influence.begin(), influence.end(), 0.0);
      if (k + 1 < stages_.size()) result.value += add_log_mean(stages_[k].up, part, influence);
      if (k > 0 && Law::both_ends) {
        result.value += add_log_mean(stages_[k].down, -part, influence);
      }
      const BatchSpread spread = batch_spread(influence);
      result.variance += spread.variance;
      satterthwaite += spread.variance * spread.variance / spread.freedom;
    }
    result.freedom = satterthwaite > 0 ? result.variance * result.variance / satterthwaite
                                       : std::numeric_limits<double>::infinity();
    return result;
  }

  /// Variances of the stages' parts and bounces: for tests and figures.
  [[nodiscard]] const std::vector<OrthantStage>& stages() const noexcept { return stages_; }

 private:
  static constexpr std::ptrdiff_t block = 32;  ///< Draws whose quadratic forms are made at once.

  /// h = log of the density of values' directions at `to` over that at `from`, times the ratio of
  /// the probabilities; values have quadratic forms e^q.
  [[nodiscard]] double ratio(const TridiagonalFactor& from, const TridiagonalFactor& to,
                             double q_from, double q_to) const {
    return 0.5 * (from.log_determinant - to.log_determinant) +
           0.5 * Law::dimensions * static_cast<double>(path_.points()) * (q_from - q_to);
  }

  [[nodiscard]] static double variance(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return squares / (count - 1);
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

  static void next(Ball& ball, const OrthantPlanes& planes, double s) {
    if (s == 1) {
      ball.half_normals(planes);  // Independent draws.
    } else {
      ball.fly(planes);
    }
  }

  void measure_stage(std::size_t k, std::size_t count, std::size_t burn_in, Ball& ball,
                     OrthantPlanes& planes) {
    OrthantStage& stage = stages_[k];
    path_.set_planes(stage.s, stage.factor, planes);
    for (std::size_t j = 0; stage.s < 1 && j < burn_in; ++j) ball.fly(planes);
    Buffer<double> positions(block * path_.stride());
    Buffer<double> coordinates(block * path_.points());
    double here[block];
    double there[block];
    for (std::size_t done = draws_; done < count;) {
      const auto few = std::min<std::ptrdiff_t>(block, static_cast<std::ptrdiff_t>(count - done));
      for (std::ptrdiff_t j = 0; j < few; ++j) {
        next(ball, planes, stage.s);
        std::copy_n(ball.position(), path_.stride(), positions.data() + j * path_.stride());
      }
      path_.coordinates(positions.data(), few, coordinates.data(), few);
      path_.log_quadratic_forms(stage.factor, coordinates.data(), few, few, here);
      const auto add = [&](const OrthantStage& other, std::vector<double>& ratios) {
        path_.log_quadratic_forms(other.factor, coordinates.data(), few, few, there);
        for (std::ptrdiff_t j = 0; j < few; ++j) {
          ratios.push_back(ratio(stage.factor, other.factor, here[j], there[j]));
        }
      };
      if (k + 1 < stages_.size()) add(stages_[k + 1], stage.up);
      if (k > 0) add(stages_[k - 1], stage.down);
      done += static_cast<std::size_t>(few);
      report("orthant stages", static_cast<std::uint64_t>(few), count * stages_.size());
    }
  }

  /// Returns +- log mean e^(part ratio), with the sign of `part`, and adds its influence values.
  static double add_log_mean(const std::vector<double>& ratios, double part,
                             std::vector<double>& influence) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const double h : ratios) largest = std::max(largest, std::abs(part) * h);
    double mean = 0;
    for (const double h : ratios) mean += std::exp(std::abs(part) * h - largest);
    mean /= static_cast<double>(ratios.size());
    const double sign = part > 0 ? 1 : -1;
    for (std::size_t j = 0; j < ratios.size(); ++j) {
      influence[j] += sign * std::exp(std::abs(part) * ratios[j] - largest) / mean;
    }
    return sign * (largest + std::log(mean));
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
  std::vector<Ball> balls_;
  std::vector<std::unique_ptr<OrthantPlanes>> planes_;
  std::size_t draws_ = 0;
  std::uint64_t bounces_ = 0;
  std::uint64_t reported_ = 0;
  std::mutex mutex_;
};

}  // namespace bpm::detail
