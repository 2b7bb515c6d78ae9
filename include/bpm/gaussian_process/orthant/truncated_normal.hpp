// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/orthant/box_ball.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The normal law N(mean, covariance) truncated to the box lower_i <= x_i <= upper_i, bounds finite
/// or not, or to half spaces A x + b >= 0, with exact draws: flights x cos t + v sin t of x - mean
/// with reflections at the planes (A. Pakman, L. Paninski, "Exact Hamiltonian Monte Carlo for
/// truncated multivariate Gaussians", J. Comput. Graph. Stat. 23(2), 2014). Nothing is rejected, so
/// a box far out in the tails costs bounces, not draws.
///
///     const bpm::TruncatedNormal box(mean, covariance, lower, upper);
///     const bpm::TruncatedNormal cut(mean, covariance, {.normals = A, .offsets = b});
///     const Eigen::MatrixXd draws = cut.sample(1000, {}, streams);
///
/// An orthant with its corner at the mean (each coordinate has one finite bound, its mean) uses the
/// flights of an orthant, which compare planes without a root. Half spaces are bounds of the
/// coordinates A (x - mean), which move along with those of x: there may be more of them than
/// coordinates, and each redundant plane adds to the cost of a bounce.
///
/// Cost, with m = 0 for a box: n^3 / 6 multiply-adds for the Cholesky factor and
/// m n (m + 2 n) for products of planes; n^2 / 2 per trajectory, with half spaces n^2 + m n, made
/// for 16 as a matrix product, and one pass over n + m numbers per bounce, some 0.25 ns each with
/// AVX-512. Memory: 2 n^2 doubles, with half spaces (n + m)^2 + m n. Immutable.
class TruncatedNormal {
 public:
  /// Settings of the chains that make the draws.
  struct Settings {
    std::uint64_t burn_in = 50;               ///< Trajectories of each chain before its first draw.
    std::uint64_t trajectories_per_draw = 1;  ///< Trajectories from one draw to the next.
    /// Mean length of a trajectory, in radians; each has its own, within 15 % of it. Without planes
    /// a quarter turn forgets most; with planes a little more does.
    double path_length = 1.7;
    unsigned chains = 4;  ///< Number of chains that share the draws, on up to `threads` threads.
  };

  /// The half spaces A x + b >= 0.
  struct HalfSpaces {
    Eigen::MatrixXd normals;  ///< A, m x n.
    Eigen::VectorXd offsets;  ///< b, m numbers.
    /// A point inside, where chains start, n numbers; empty: the mean, or else one is searched.
    Eigen::VectorXd start{};
  };

  /// Result of `probability`.
  struct Probability {
    double log_probability = 0;  ///< -infinity if no draw of a level is within the next.
    /// Standard error of log P, by batch means of each chain's draws; where one side of a level has
    /// fewer draws than batches, as for independent draws with one more on each side. Infinite
    /// where P is 0. An interval needs one below 1, where log P is about normal.
    double standard_error = std::numeric_limits<double>::infinity();
    double degrees_of_freedom = 0;  ///< Degrees of freedom (Welch, Satterthwaite); P = 0: 0.
    std::size_t levels = 0;         ///< Number of regions, with the whole space.
    std::uint64_t draws = 0;        ///< Number of draws of all levels, without the pilot's.
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
    check_mean(mean, n);
    detail::check_size(f, "lower", lower.size(), n, "one per row of the covariance");
    detail::check_size(f, "upper", upper.size(), n, "one per row of the covariance");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (Eigen::Index i = 0; i < n; ++i) {
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
      // Flights have one-sided bounds as lower ones, whose test is cheaper.
      const bool below = lower[i] == -infinity && upper[i] < infinity;
      if (below) signs_[i] = -1;
      orthant_ =
          orthant_ && (below ? upper[i] == mean[i] : lower[i] == mean[i] && upper[i] == infinity);
    }
    planes_ = detail::dense_planes(f, covariance, signs_);
    least_ = signs_.cwiseProduct(lower_ - mean_).cwiseMin(signs_.cwiseProduct(upper_ - mean_));
    most_ = signs_.cwiseProduct(lower_ - mean_).cwiseMax(signs_.cwiseProduct(upper_ - mean_));
    // Starts at the mean, moved inside by a tenth of the deviation, or a quarter of the width where
    // that is less.
    const Eigen::VectorXd off =
        (0.25 * (most_ - least_)).cwiseMin(0.1 * covariance.diagonal().cwiseSqrt());
    start_ = (least_ + off).cwiseMax(0.0).cwiseMin(most_ - off);
  }

  /// Truncates N(mean, covariance) to A x + b >= 0. Planes may be redundant, or exceed coordinates.
  /// \throws std::invalid_argument unless covariance and mean are as above, A has rows of n numbers
  /// and b one number per row, all finite, no row of A zero, no plane farther than 1e6 deviations
  /// of its A_i x from the mean on the wrong side, and the start inside by 1e-6 such deviations,
  /// or, without a start, if none is found; NotPositiveDefinite as above.
  TruncatedNormal(const Eigen::VectorXd& mean, const Eigen::MatrixXd& covariance,
                  const HalfSpaces& half_spaces)
      : mean_(mean), normals_(half_spaces.normals), signs_(Eigen::VectorXd::Ones(mean.size())) {
    const char* const f = "TruncatedNormal";
    detail::check_covariance(f, covariance);
    const Eigen::Index n = covariance.rows();
    check_mean(mean, n);
    const Eigen::Index m = normals_.rows();
    const Eigen::VectorXd& start = half_spaces.start;
    detail::check(m > 0, f, "normals", "has no rows, must have at least one");
    detail::check(normals_.cols() == n, f, "normals", "has ", normals_.cols(),
                  " columns, expected ", n, " (one per row of the covariance)");
    detail::check_size(f, "offsets", half_spaces.offsets.size(), m, "one per row of the normals");
    if (start.size() > 0) {
      detail::check_size(f, "start", start.size(), n, "one per row of the covariance");
      check_finite("start", start);
    }
    for (Eigen::Index i = 0; i < m; ++i) {
      detail::check(normals_.row(i).allFinite(), f, "normals", "row ", i, " is not finite");
    }
    check_finite("offsets", half_spaces.offsets);
    planes_ = detail::half_space_planes(
        normals_, detail::dense_planes(f, covariance, signs_).factor.leftCols(n));
    const Eigen::VectorXd slack = normals_ * mean_ + half_spaces.offsets;
    const auto deviation = [&](Eigen::Index i) { return std::sqrt(planes_.variance(i)); };
    for (Eigen::Index i = 0; i < m; ++i) {
      detail::check(deviation(i) > 0, f, "normals", "row ", i, " is zero");
      detail::check(slack[i] >= -1e6 * deviation(i), f, "offsets", "at ", i, " puts the mean ",
                    -slack[i] / deviation(i), " deviations outside, must be 1e6 at most");
    }
    Eigen::VectorXd from_mean = Eigen::VectorXd::Zero(n);
    if (start.size() > 0) {
      from_mean = start - mean_;
      for (Eigen::Index i = 0; i < m; ++i) {
        const double inside = normals_.row(i).dot(from_mean) + slack[i];
        detail::check(inside >= 1e-6 * deviation(i), f, "start", "is ", inside,
                      " inside half space ", i, ", must be at least a millionth of its deviation, ",
                      deviation(i));
      }
    } else {
      const auto found = detail::point_inside(planes_.factor.topLeftCorner(m, n), slack);
      detail::ensure<std::invalid_argument>(
          found.has_value(), f,
          ": no point inside all half spaces was found; there may be none, or give a start");
      from_mean = planes_.factor.bottomLeftCorner(n, n) * *found;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    orthant_ = false;
    lower_.setConstant(n, -infinity);
    upper_.setConstant(n, infinity);
    least_.setConstant(m + n, -infinity);
    least_.head(m) = -slack;
    most_.setConstant(m + n, infinity);
    start_.resize(m + n);
    start_ << normals_ * from_mean, from_mean;
  }

  /// Dimension n.
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return mean_.size(); }
  /// Returns whether the region is an orthant with its corner at the mean.
  [[nodiscard]] bool is_orthant() const noexcept { return orthant_; }

  /// Returns `count` draws, an n x count matrix: chain c makes columns c, c + chains, ... with
  /// stream `streams.next + c`, and `next` advances by the chains. Chains start at one point, in a
  /// box the mean moved inside; in an orthant at half normals. Threads do not change the bits.
  /// \throws std::invalid_argument on settings out of range or a negative count; Stopped if stopped
  ///         before every draw is made.
  [[nodiscard]] Eigen::MatrixXd sample(std::ptrdiff_t count, const Settings& settings,
                                       RandomStreams& streams,
                                       const RunControl& control = {}) const {
    return draw("TruncatedNormal::sample", count, settings, streams, control);
  }

  /// Estimates log P[x in the box or half spaces], x ~ N(mean, covariance) not truncated, by nested
  /// regions (A. Gessner, O. Kanjilal, P. Hennig, "Integrals over Gaussians under linear domain
  /// constraints", AISTATS 2020). A level moves all bounds out by gamma deviations of the bounded
  /// quantity; with gamma falling from infinity to 0,
  ///
  ///     P = product over levels of P[within gamma_(k+1) | within gamma_k],
  ///
  /// each factor the share of a level's draws. A pilot run chooses the levels such that shares are
  /// about a half, and they are then fixed: choosing them while measuring would bias the product.
  /// There may be more half spaces than coordinates. The variance for independent draws is about
  /// (log_2 1/P) / draws; for an orthant with its corner at the mean, `orthant_probability` has a
  /// smaller one.
  ///
  /// Cost: about log_2 1/P levels, each of 64 + `draws` draws and twice the burn-in of `sample`,
  /// and m n per draw to compare it with the bounds. Memory: that of the law once more, and a
  /// level's draws. The observer receives the part of the levels that is measured.
  /// \throws std::invalid_argument on fewer than 64 draws, if the mean is more than 100 deviations
  /// outside a bound (7000 levels for one bound), and as `sample`; Stopped.
  [[nodiscard]] Probability probability(std::ptrdiff_t draws, const Settings& settings,
                                        RandomStreams& streams,
                                        const RunControl& control = {}) const {
    const char* const f = "TruncatedNormal::probability";
    detail::check(draws >= 64, f, "draws", "is ", draws, ", must be 64 or more");
    const double outside = distances_of(mean_).front();
    detail::check(outside <= 100, f, "bounds", "leave the mean ", outside,
                  " deviations outside, must be at most 100");
    RunControl part = control;
    const auto distances = [&](double shift, std::ptrdiff_t count) {
      try {
        return distances_of(moved_out(shift).draw(f, count, settings, streams, part));
      } catch (const Stopped&) {
        throw Stopped(detail::join(f, ": stopped before every level was measured"));
      }
    };
    part.observer = [&](const Progress&) { return control.go_on({.stage = "levels"}); };
    constexpr std::ptrdiff_t pilot_draws = 64;
    std::vector<double> shifts{std::numeric_limits<double>::infinity()};
    while (shifts.back() > 0) {
      std::vector<double> far = distances(shifts.back(), pilot_draws);
      std::nth_element(far.begin(), far.begin() + pilot_draws / 2, far.end());
      shifts.push_back(std::max(0.0, far[pilot_draws / 2]));
    }
    Probability result{.levels = shifts.size() - 1};
    std::size_t level = 0;
    part.observer = [&](const Progress& now) {
      return control.go_on(now.of_part(level, result.levels));
    };
    detail::SumOfSpreads sum;
    const auto all = static_cast<double>(draws);
    for (; level < result.levels; ++level) {
      // Each chain's draws in sequence, since neighbours depend on each other: they share a batch.
      const std::vector<double> far = distances(shifts[level], draws);
      std::vector<double> values;
      values.reserve(far.size());
      for (std::size_t chain = 0; chain < settings.chains; ++chain) {
        for (std::size_t j = chain; j < far.size(); j += settings.chains) {
          values.push_back(far[j] <= shifts[level + 1] ? 1 : 0);
        }
      }
      const auto within = static_cast<double>(std::count(values.begin(), values.end(), 1.0));
      const double share = within / all;
      const bool few = std::min(within, all - within) < detail::variance_batches;  // For batches.
      const double variance = few ? (all - within) / (std::max(1.0, within) * all)
                                  : detail::batch_variance(values) / (share * share);
      sum.add(few ? (all - within + 1) / ((within + 1) * all) : variance);
      // The share has no bias; its logarithm is too small by half of the share's relative variance.
      result.log_probability += std::log(share) + variance / 2;
      result.draws += static_cast<std::uint64_t>(draws);
    }
    if (std::isfinite(result.log_probability)) {
      result.standard_error = std::sqrt(sum.variance());
      result.degrees_of_freedom = sum.freedom();
    }
    return result;
  }

 private:
  /// Makes the draws of `sample`, with errors in the name of function f.
  [[nodiscard]] Eigen::MatrixXd draw(const char* f, std::ptrdiff_t count, const Settings& settings,
                                     RandomStreams& streams, const RunControl& control) const {
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
      const double fraction =
          total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0.0;
      detail::ensure<Stopped>(control.go_on({.stage = "truncated normal",
                                             .fraction = fraction,
                                             .draws = done,
                                             .draws_total = total}),
                              f, ": stopped after ", done, " of ", count, " draws");
    };
    const auto run = [&](std::ptrdiff_t chain, auto ball) {
      std::uint64_t flown = 0;
      const auto from_mean = [&] {
        return Eigen::VectorXd::Map(ball.position() + normals_.rows(), points());
      };
      const auto fly = [&] {
        ball.fly(planes_);
        // Keeps x and A x together, which rounding would separate.
        if (++flown % 16 == 0 && normals_.size() > 0) {
          Eigen::VectorXd::Map(ball.position(), normals_.rows()) = normals_ * from_mean();
        }
      };
      for (std::uint64_t k = 0; chain < count && k < settings.burn_in; ++k) {
        if (k % 16 == 0) finished(0);
        fly();
      }
      for (std::ptrdiff_t j = chain; j < count; j += settings.chains) {
        for (std::uint64_t k = 0; k < settings.trajectories_per_draw; ++k) fly();
        draws.col(j) = (mean_ + signs_.cwiseProduct(from_mean())).cwiseMax(lower_).cwiseMin(upper_);
        finished(1);
      }
    };
    detail::parallel_for(threads, settings.chains, [&](unsigned /*worker*/, std::ptrdiff_t c) {
      const RandomEngine engine = streams.stream(first + static_cast<std::uint64_t>(c));
      if (orthant_) {
        detail::OrthantBall ball(planes_, settings.path_length, engine, detail::path_spread);
        ball.half_normals(planes_);
        run(c, std::move(ball));
      } else {
        run(c, detail::BoxBall(planes_, least_, most_, start_, settings.path_length, engine));
      }
    });
    return draws;
  }

  /// Returns the law with all bounds moved out by `shift` deviations of the bounded quantity.
  [[nodiscard]] TruncatedNormal moved_out(double shift) const {
    TruncatedNormal other = *this;
    for (Eigen::Index i = 0; i < bounds(); ++i) {
      const double distance = shift * std::sqrt(planes_.variance(i));
      other.least_[i] -= distance;
      other.most_[i] += distance;
    }
    other.lower_.setConstant(-std::numeric_limits<double>::infinity());
    other.upper_.setConstant(std::numeric_limits<double>::infinity());
    other.orthant_ = false;
    return other;
  }

  /// Returns each column's distance outside its farthest bound, in deviations; negative inside.
  [[nodiscard]] std::vector<double> distances_of(const Eigen::MatrixXd& draws) const {
    std::vector<double> result;
    for (Eigen::Index j = 0; j < draws.cols(); ++j) {
      const Eigen::VectorXd from_mean = signs_.cwiseProduct(draws.col(j) - mean_);
      const Eigen::VectorXd values =
          normals_.size() > 0 ? Eigen::VectorXd(normals_ * from_mean) : from_mean;
      double& farthest = result.emplace_back(-std::numeric_limits<double>::infinity());
      for (Eigen::Index i = 0; i < bounds(); ++i) {
        farthest = std::max(farthest, std::max(least_[i] - values[i], values[i] - most_[i]) /
                                          std::sqrt(planes_.variance(i)));
      }
    }
    return result;
  }

  /// Returns the number of bounded coordinates: those of the box, or of A (x - mean).
  [[nodiscard]] Eigen::Index bounds() const noexcept {
    return normals_.size() > 0 ? normals_.rows() : points();
  }

  static void check_finite(const char* name, const Eigen::VectorXd& values) {
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      detail::check(std::isfinite(values[i]), "TruncatedNormal", name, "at ", i, " is ", values[i],
                    ", must be finite");
    }
  }
  static void check_mean(const Eigen::VectorXd& mean, Eigen::Index n) {
    detail::check_size("TruncatedNormal", "mean", mean.size(), n, "one per row of the covariance");
    check_finite("mean", mean);
  }

  Eigen::VectorXd mean_;
  Eigen::VectorXd lower_;  ///< Bound of x; infinite with half spaces.
  Eigen::VectorXd upper_;
  Eigen::MatrixXd normals_;  ///< A of the half spaces.
  Eigen::VectorXd signs_;    ///< -1 where a box has an upper bound alone; else 1.
  bool orthant_ = true;
  detail::OrthantPlanes planes_{0};
  // Bounds and start of flights, in the coordinates of the planes.
  Eigen::VectorXd least_;
  Eigen::VectorXd most_;
  Eigen::VectorXd start_;
};

}}  // namespace bpm
