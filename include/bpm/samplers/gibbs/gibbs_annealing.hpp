// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/samplers/chains/batch_means.hpp"
#include "bpm/samplers/gibbs/gibbs_circle.hpp"
#include "bpm/samplers/gibbs/gibbs_directions.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm::detail {

/// Lengths of a circle by errors, from `fewest` on.
struct ErrorLengths {
  std::ptrdiff_t fewest = 0;
  std::vector<double> lengths;

  void take(const GibbsCircle& circle, std::ptrdiff_t points) {
    lengths.assign(static_cast<std::size_t>(points) + 1, 0.0);
    circle.visit([&](std::ptrdiff_t errors, double length) { lengths[errors] += length; });
    const auto first = std::find_if(lengths.begin(), lengths.end(), [](double x) { return x > 0; });
    fewest = first - lengths.begin();
    lengths.erase(lengths.begin(), first);
    while (lengths.back() == 0) lengths.pop_back();
  }

  /// sum_e length_e share^(e - fewest) by Horner's rule.
  [[nodiscard]] double sum(double share) const {
    double total = 0;
    for (std::size_t e = lengths.size(); e-- > 0;) total = total * share + lengths[e];
    return total;
  }

  /// The mean over the circle, under weights from^e, of (to / from)^e.
  [[nodiscard]] double ratio(double from, double to) const {
    return std::pow(to / from, static_cast<double>(fewest)) * sum(to) / sum(from);
  }
};

/// One factor of the evidence.
struct AnnealingStage {
  double log_ratio = 0;
  double relative_variance = 0;  ///< Of the ratio as estimated.
};

/// log of E[share^errors] on the two points of a sphere in one dimension.
[[nodiscard]] inline double log_mean_of_two_points(const Cone& cone, double share) {
  double here = 0;
  double there = 0;
  for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
    here += cone.row(i)[0] > 0 ? 0 : 1;
    there += cone.row(i)[0] < 0 ? 0 : 1;
  }
  const double fewer = std::min(here, there);
  const double log_share = fewer > 0 ? fewer * std::log(share) : 0.0;
  return log_share + std::log(std::pow(share, std::max(here, there) - fewer) + 1) - std::log(2.0);
}

/// A Gibbs sampler whose noise changes: weights share^errors, share = q / (1 - q) from 1 to 0. Its
/// rank is 2 or more.
class GibbsAnnealing {
 public:
  /// Below it no stage is chosen any more: what has errors then has them for good.
  static constexpr double smallest_share = 1e-12;

  /// Starts uniformly on the sphere, the law of share 1.
  GibbsAnnealing(const Cone& cone, RandomEngine engine)
      : cone_(cone),
        engine_(engine),
        x_(static_cast<std::size_t>(cone.stride()), 0.0),
        d_(static_cast<std::size_t>(cone.output_stride()), 0.0) {
    Ziggurat::instance().fill(x_.data(), cone.rank(), engine_);
  }

  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

  /// The share, at least `target`, to go to from `share` such that one step's estimate of the ratio
  /// has a relative variance of 0.4 or less.
  [[nodiscard]] double next_share(double share, double target, std::uint64_t burn_in,
                                  std::uint64_t count) {
    set(share);
    go(burn_in);
    std::vector<ErrorLengths> circles(static_cast<std::size_t>(count));
    for (ErrorLengths& circle : circles) {
      step();
      circle.take(circle_, cone_.points());
    }
    const auto variance = [&](double to) {
      double sum = 0;
      double squares = 0;
      for (const ErrorLengths& circle : circles) {
        const double ratio = circle.ratio(share, to);
        sum += ratio;
        squares += ratio * ratio;
      }
      return sum > 0 ? squares * static_cast<double>(count) / (sum * sum) - 1
                     : std::numeric_limits<double>::infinity();
    };
    if (variance(target) <= most_variance) {
      return target;
    }
    double low = std::max(target, 1e-3 * share);  // Hardly any stage: too far in one step.
    double high = share;
    for (int bisection = 0; bisection < 20; ++bisection) {
      const double middle = std::sqrt(low * high);
      (variance(middle) <= most_variance ? high : low) = middle;
    }
    return high;
  }

  /// E[(to / from)^errors] under the law of `from`.
  [[nodiscard]] AnnealingStage measure(double from, double to, std::uint64_t burn_in,
                                       std::uint64_t count) {
    set(from);
    go(burn_in);
    std::vector<double> ratios(static_cast<std::size_t>(count));
    ErrorLengths circle;
    double mean = 0;
    for (double& ratio : ratios) {
      step();
      circle.take(circle_, cone_.points());
      ratio = circle.ratio(from, to);
      mean += ratio / static_cast<double>(count);
    }
    return {std::log(mean), mean > 0 ? batch_spread(ratios).variance / (mean * mean) : 0.0};
  }

 private:
  static constexpr double most_variance = 0.4;

  void set(double share) { penalty_ = GibbsPenalty(-std::log(share), cone_.points()); }

  void go(std::uint64_t steps) {
    for (; steps > 0; --steps) step();
  }

  void step() {
    const auto z = directions_.next(cone_, x_, d_.data(), engine_, [] {});
    circle_.cut(d_.data(), z.outputs, cone_.points(), z.norms);
    const CirclePoint point = circle_.template draw<GibbsLaw>(penalty_, engine_);
    const double of_z = point.sine / z.norms.across;
    const double of_b = point.cosine - of_z * z.norms.along;
    combine(x_.data(), of_b, x_.data(), of_z, z.vector, std::ssize(x_));
    combine(d_.data(), of_b, d_.data(), of_z, z.outputs, cone_.points());
    ++steps_;
  }

  const Cone& cone_;
  RandomEngine engine_;
  GibbsPenalty penalty_;
  GibbsCircle circle_;
  GibbsDirections directions_;
  std::vector<double> x_;
  std::vector<double> d_;
  std::uint64_t steps_ = 0;
};

}  // namespace bpm::detail
