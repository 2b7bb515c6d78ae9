// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numbers>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/gaussian_process/orthant/box_ball.hpp"
#include "bpm/gaussian_process/orthant/dense_planes.hpp"
#include "bpm/gaussian_process/orthant/orthant_ball.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm {

/// The normal law N(mean, covariance) cut to the box lower_i <= x_i <= upper_i, bounds finite or
/// not, and exact draws from it: flights x cos t + v sin t of x - mean with reflections at the
/// bounds (A. Pakman, L. Paninski, "Exact Hamiltonian Monte Carlo for truncated multivariate
/// Gaussians", J. Comput. Graph. Stat. 23(2), 2014). Nothing is rejected, so a box far out in the
/// tails costs bounces, not draws.
///
/// An orthant with its corner at the mean (every coordinate bounded by its mean on one side, and
/// not at all on the other) is drawn from by the flights of an orthant, which have no root a
/// plane.
///
/// Cost: n^3 / 6 multiply-adds for the Cholesky factor; n^2 per trajectory, and O(n) per bounce,
/// some 5 ns a coordinate. Memory: 2 n^2 doubles. Immutable.
class TruncatedNormal {
 public:
  struct Settings {
    std::uint64_t burn_in = 50;  ///< Trajectories of each chain that are thrown away first.
    std::uint64_t trajectories_per_draw = 1;    ///< Trajectories from one draw to the next.
    double path_length = std::numbers::pi / 2;  ///< Mean of a trajectory, in radians.
    unsigned chains = 4;  ///< Chains that share the draws; they run on up to `threads` threads.
  };

  /// \throws std::invalid_argument unless the covariance is square, not empty, finite, symmetric
  ///         and positive on its diagonal, the mean finite, and lower_i < upper_i, none of them not
  ///         a number, all of n entries, no side narrower than 1e-6 deviations or farther than 1e6
  ///         from the mean (flights there would hardly end); NotPositiveDefinite where the
  ///         covariance is singular or indefinite.
  TruncatedNormal(const Eigen::VectorXd& mean, const Eigen::MatrixXd& covariance,
                  const Eigen::VectorXd& lower, const Eigen::VectorXd& upper)
      : mean_(mean), lower_(lower), upper_(upper) {
    const char* const f = "TruncatedNormal";
    detail::check_covariance(f, covariance);
    const Eigen::Index n = covariance.rows();
    detail::check_size(f, "mean", mean.size(), n, "one per row of the covariance");
    detail::check_size(f, "lower", lower.size(), n, "one per row of the covariance");
    detail::check_size(f, "upper", upper.size(), n, "one per row of the covariance");
    bool orthant = true;
    std::vector<signed char> signs;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (Eigen::Index i = 0; i < n; ++i) {
      detail::check(std::isfinite(mean[i]), f, "mean", "at ", i, " is ", mean[i],
                    ", must be finite");
      detail::check(lower[i] < upper[i] && lower[i] < infinity && upper[i] > -infinity, f, "lower",
                    "at ", i, " is ", lower[i], ", must be below upper, ", upper[i]);
      const double deviation = std::sqrt(covariance(i, i));
      detail::check(upper[i] - lower[i] >= 1e-6 * deviation, f, "upper", "at ", i, " is ",
                    upper[i] - lower[i],
                    " above lower, must be at least a millionth of the "
                    "coordinate's deviation, ",
                    deviation, ": give it to the condition instead");
      detail::check(lower[i] - mean[i] <= 1e6 * deviation && mean[i] - upper[i] <= 1e6 * deviation,
                    f, "lower", "at ", i, " is ", lower[i], " and upper ", upper[i],
                    ", must be within 1e6 deviations of the mean, ", mean[i]);
      const bool above = lower[i] == mean[i] && upper[i] == infinity;
      const bool below = upper[i] == mean[i] && lower[i] == -infinity;
      orthant = orthant && (above || below);
      signs.push_back(below ? -1 : 1);
    }
    if (orthant) {
      signs_ = std::move(signs);
    }
    planes_ =
        std::make_shared<const detail::OrthantPlanes>(detail::dense_planes(f, covariance, signs_));
  }

  /// n.
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return planes_->points; }
  /// Whether the box is an orthant with its corner at the mean.
  [[nodiscard]] bool is_orthant() const noexcept { return !signs_.empty(); }

  /// `count` draws, the columns of an n x count matrix: chain c makes columns c, c + chains, ... by
  /// stream `streams.next + c`, and `next` advances by the chains. Chains start at the mean, put
  /// inside. The same draws on any number of threads.
  /// \throws std::invalid_argument on settings out of range or a negative count; Stopped if stopped
  ///         before every draw is made.
  [[nodiscard]] Eigen::MatrixXd sample(std::ptrdiff_t count, const Settings& settings,
                                       RandomStreams& streams,
                                       const RunControl& control = {}) const {
    const char* const f = "TruncatedNormal::sample";
    detail::check(count >= 0, f, "count", "is ", count, ", must not be negative");
    detail::check_at_least(f, "trajectories_per_draw", settings.trajectories_per_draw, 1);
    (void)detail::checked_path_length(settings.path_length, f);
    detail::check_at_least(f, "chains", settings.chains, 1);
    Eigen::MatrixXd draws(points(), count);
    const std::uint64_t first = streams.next;
    streams.next += settings.chains;
    std::mutex mutex;
    std::uint64_t done = 0;
    detail::parallel_for(
        detail::thread_count(control.threads), settings.chains,
        [&](unsigned /*worker*/, std::ptrdiff_t c) {
          const RandomEngine engine = streams.stream(first + static_cast<std::uint64_t>(c));
          const auto finished = [&](std::uint64_t more) {
            const std::scoped_lock lock(mutex);
            done += more;
            const auto total = static_cast<std::uint64_t>(count);
            if (!control.go_on(
                    {.stage = "truncated normal",
                     .fraction =
                         total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0.0,
                     .draws = done,
                     .draws_total = total})) {
              throw Stopped(detail::join(f, ": stopped after ", done, " of ", count, " draws"));
            }
          };
          if (is_orthant()) {
            detail::OrthantBall<> ball(*planes_, settings.path_length, engine);
            ball.half_normals(*planes_);
            run(ball, settings, c, draws, finished,
                [&](std::ptrdiff_t i, double d) { return mean_[i] + signs_[i] * d; });
          } else {
            const Eigen::VectorXd below = lower_ - mean_;
            const Eigen::VectorXd above = upper_ - mean_;
            const Eigen::VectorXd start = inside(below, above);
            detail::BoxBall<> ball(*planes_, below.data(), above.data(), start.data(),
                                   settings.path_length, engine);
            run(ball, settings, c, draws, finished,
                [&](std::ptrdiff_t i, double x) { return mean_[i] + x; });
          }
        });
    return draws;
  }

 private:
  /// Zero, put inside: by a tenth of the deviation, or a quarter of the width where that is less.
  [[nodiscard]] Eigen::VectorXd inside(const Eigen::VectorXd& below,
                                       const Eigen::VectorXd& above) const {
    Eigen::VectorXd x(points());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const double off =
          std::min(0.25 * (above[i] - below[i]), 0.1 * std::sqrt(planes_->variance(i)));
      x[i] = std::clamp(0.0, below[i] + off, above[i] - off);
    }
    return x;
  }

  template <class Ball, class Finished, class Value>
  void run(Ball& ball, const Settings& settings, std::ptrdiff_t chain, Eigen::MatrixXd& draws,
           Finished&& finished, Value&& value) const {
    if (chain >= draws.cols()) {
      return;
    }
    for (std::uint64_t k = 0; k < settings.burn_in; ++k) {
      if (k % 16 == 0) finished(0);
      ball.fly(*planes_);
    }
    for (std::ptrdiff_t j = chain; j < draws.cols(); j += settings.chains) {
      for (std::uint64_t k = 0; k < settings.trajectories_per_draw; ++k) ball.fly(*planes_);
      for (Eigen::Index i = 0; i < draws.rows(); ++i) {
        draws(i, j) = std::clamp(value(i, ball.position()[i]), lower_[i], upper_[i]);
      }
      finished(1);
    }
  }

  Eigen::VectorXd mean_;
  Eigen::VectorXd lower_;
  Eigen::VectorXd upper_;
  std::vector<signed char> signs_;  ///< Where the box is an orthant.
  std::shared_ptr<const detail::OrthantPlanes> planes_;
};

}  // namespace bpm
