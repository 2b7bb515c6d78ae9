// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numbers>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// The state of one chain of flights in the box lower <= x <= upper under N(0, S). Bounds have an
/// entry a point, may be infinite, and outlive the ball.
///
/// On the path x cos t + v sin t, with tau = tan(t / 2), coordinate i meets u where
///
///     (u + x) tau^2 - 2 v tau + (u - x) = 0,
///
/// and its first positive root is (u - x) / (v + D) or, the same number, (v - D) / (u + x), with
/// D^2 = v^2 - (u - x) (u + x): no inverse trigonometric function a plane. For a lower bound l,
/// turn the signs of x, v and l. Flights end after at most a quarter turn, tau <= 1.
class BoxBall {
 public:
  BoxBall(const OrthantPlanes& planes, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
          const Eigen::VectorXd& start, double path_length, RandomEngine engine)
      : lower_(lower),
        upper_(upper),
        path_length_(path_length),
        engine_(engine),
        x_(Eigen::VectorXd::Zero(planes.stride)),
        v_(x_) {
    x_.head(planes.points) = start;
  }

  [[nodiscard]] const double* position() const noexcept { return x_.data(); }

  /// One trajectory with a fresh velocity.
  void fly(const OrthantPlanes& planes) {
    Eigen::VectorXd z = Eigen::VectorXd::Zero(planes.stride);
    Ziggurat::instance().fill(z.data(), planes.points, engine_);
    double left = path_length_ * (0.5 + uniform_unit(engine_));
    planes.make_velocities(z.data(), 1, v_.data());
    while (left > 0) {
      // The first plane met within a quarter turn, and where.
      const double angle = std::min(left, std::numbers::pi / 2);
      double tau = std::tan(angle / 2);
      std::ptrdiff_t hit = -1;
      double level = 0;
      for (std::ptrdiff_t i = 0; i < planes.points; ++i) {
        const double above = meeting_time(x_[i], v_[i], upper_[i]);
        const double below = meeting_time(-x_[i], -v_[i], -lower_[i]);
        if (std::min(above, below) < tau) {
          tau = std::min(above, below);
          hit = i;
          level = below < above ? lower_[i] : upper_[i];
        }
      }
      const double cosine = (1 - tau) * (1 + tau) / (1 + tau * tau);
      const double sine = 2 * tau / (1 + tau * tau);
      z = x_;
      combine(x_.data(), cosine, z.data(), sine, v_.data(), planes.stride);
      combine(v_.data(), cosine, v_.data(), -sine, z.data(), planes.stride);
      if (hit < 0) {
        left = left > angle ? left - angle : 0;
        continue;
      }
      left -= 2 * std::atan(tau);
      x_[hit] = level;  // Exactly there.
      add_scaled(v_.data(), -2 * v_[hit] / planes.variance(hit), planes.row(hit), planes.stride);
    }
    x_.head(planes.points) = x_.head(planes.points).cwiseMax(lower_).cwiseMin(upper_);  // Rounding.
  }

 private:
  /// tau where x meets u from below; infinity: not within half a turn.
  [[nodiscard]] static double meeting_time(double x, double v, double u) {
    const double gap = std::max(0.0, u - x);
    const double sum = u + x;
    const double squared = v * v - gap * sum;
    if (!(squared > 0)) {
      return std::numeric_limits<double>::infinity();
    }
    const double root = std::sqrt(squared);
    if (v > 0) {
      return gap / (v + root);
    }
    return sum < 0 ? (v - root) / sum : std::numeric_limits<double>::infinity();
  }

  const Eigen::VectorXd& lower_;
  const Eigen::VectorXd& upper_;
  double path_length_;
  RandomEngine engine_;
  Eigen::VectorXd x_;
  Eigen::VectorXd v_;
};

}  // namespace detail

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
/// some 5 ns per coordinate. Memory: 2 n^2 doubles. Immutable.
class TruncatedNormal {
 public:
  /// How the chains run that make the draws.
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
      : mean_(mean), lower_(lower), upper_(upper), signs_(Eigen::VectorXd::Ones(mean.size())) {
    const char* const f = "TruncatedNormal";
    detail::check_covariance(f, covariance);
    const Eigen::Index n = covariance.rows();
    detail::check_size(f, "mean", mean.size(), n, "one per row of the covariance");
    detail::check_size(f, "lower", lower.size(), n, "one per row of the covariance");
    detail::check_size(f, "upper", upper.size(), n, "one per row of the covariance");
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
      orthant_ = orthant_ && (above || below);
      if (below) signs_[i] = -1;
    }
    if (!orthant_) signs_.setOnes();
    planes_ = detail::dense_planes(f, covariance, signs_);
  }

  /// n.
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return planes_.points; }
  /// Whether the box is an orthant with its corner at the mean.
  [[nodiscard]] bool is_orthant() const noexcept { return orthant_; }

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
    detail::check_path_length(f, settings.path_length);
    detail::check_at_least(f, "chains", settings.chains, 1);
    const unsigned threads = detail::thread_count(control.threads, f);
    Eigen::MatrixXd draws(points(), count);
    const std::uint64_t first = streams.next;
    streams.next += settings.chains;
    std::mutex mutex;
    std::uint64_t done = 0;
    const auto finished = [&](std::uint64_t more) {
      const std::scoped_lock lock(mutex);
      done += more;
      const auto total = static_cast<std::uint64_t>(count);
      if (!control.go_on(
              {.stage = "truncated normal",
               .fraction = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0.0,
               .draws = done,
               .draws_total = total})) {
        throw Stopped(detail::join(f, ": stopped after ", done, " of ", count, " draws"));
      }
    };
    const auto run = [&](std::ptrdiff_t chain, auto ball) {
      for (std::uint64_t k = 0; chain < count && k < settings.burn_in; ++k) {
        if (k % 16 == 0) finished(0);
        ball.fly(planes_);
      }
      for (std::ptrdiff_t j = chain; j < count; j += settings.chains) {
        for (std::uint64_t k = 0; k < settings.trajectories_per_draw; ++k) ball.fly(planes_);
        const auto from_mean = Eigen::VectorXd::Map(ball.position(), points());
        draws.col(j) = (mean_ + signs_.cwiseProduct(from_mean)).cwiseMax(lower_).cwiseMin(upper_);
        finished(1);
      }
    };
    // Zero, put inside: by a tenth of the deviation, or a quarter of the width where that is less.
    const Eigen::VectorXd below = lower_ - mean_;
    const Eigen::VectorXd above = upper_ - mean_;
    const Eigen::VectorXd off =
        (0.25 * (above - below)).cwiseMin(0.1 * planes_.rows.diagonal().cwiseSqrt());
    const Eigen::VectorXd start = (below + off).cwiseMax(0.0).cwiseMin(above - off);
    detail::parallel_for(threads, settings.chains, [&](unsigned /*worker*/, std::ptrdiff_t c) {
      const RandomEngine engine = streams.stream(first + static_cast<std::uint64_t>(c));
      if (orthant_) {
        detail::OrthantBall ball(planes_, settings.path_length, engine);
        ball.half_normals(planes_);
        run(c, std::move(ball));
      } else {
        run(c, detail::BoxBall(planes_, below, above, start, settings.path_length, engine));
      }
    });
    return draws;
  }

 private:
  Eigen::VectorXd mean_;
  Eigen::VectorXd lower_;
  Eigen::VectorXd upper_;
  Eigen::VectorXd signs_;  ///< Of an orthant; else ones.
  bool orthant_ = true;
  detail::OrthantPlanes planes_{0};
};

}}  // namespace bpm
