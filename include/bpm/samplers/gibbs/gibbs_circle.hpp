// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/tangent_directions.hpp"
#include "bpm/samplers/gibbs/gibbs_label_noise.hpp"
#include "bpm/samplers/gibbs/gibbs_loops.hpp"

/// \file
/// The law of a Gibbs step on the circle b cos t + v sin t, v = (z - <z, b> b) / |z - <z, b> b|.
/// The outputs are d of b and p of z, so plane i sees d_i cos t + (p_i - <z, b> d_i) / across sin
/// t.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A point on the circle and the mean of its law, both as multiples of b and v.
struct CirclePoint {
  double cosine;
  double sine;
  double mean_cosine;
  double mean_sine;
};

struct Arc {
  double low;
  double high;
};

/// The arc without errors around t = 0, all d_i > 0: plane i leaves |t - atan2(nu_i, d_i)| < pi /
/// 2, and the extremes of nu_i / d_i say the rest.
[[nodiscard]] inline Arc free_arc(const double* d, const double* p, std::ptrdiff_t points,
                                  DirectionNorms z) {
  const Extremes ratios = ratio_extremes(p, d, points);
  constexpr double quarter = std::numbers::pi / 2;
  // pi/2 - atan(x), without the cancellation at large x.
  const auto reach = [](double x) { return x > 1 ? std::atan(1 / x) : quarter - std::atan(x); };
  return {-reach((ratios.largest - z.along) / z.across),
          reach((z.along - ratios.smallest) / z.across)};
}

/// The mean of the points of an arc of the unit circle is so far from the circle's centre.
[[nodiscard]] inline double distance_of_mean(double length) {
  return length > 1e-6 ? 2 * std::sin(length / 2) / length : 1.0;
}

/// A uniform point of an arc and the arc's mean.
[[nodiscard]] CirclePoint point_of_arc(Arc arc, Random64 auto& engine) {
  const double length = arc.high - arc.low;
  const double t = arc.low + length * uniform_unit(engine);
  const double centre = arc.low + length / 2;
  const double mean = distance_of_mean(length);
  return {std::cos(t), std::sin(t), mean * std::cos(centre), mean * std::sin(centre)};
}

/// The circle cut by all planes into arcs with a number of errors each.
class GibbsCircle {
 public:
  /// Cost: O(m log m).
  void cut(const double* d, const double* p, std::ptrdiff_t points, DirectionNorms z) {
    cuts_.clear();
    std::ptrdiff_t errors = 0;
    std::ptrdiff_t always = 0;  // Errors at planes that do not see this circle: on both sides.
    for (std::ptrdiff_t i = 0; i < points; ++i) {
      const double rise = p[i] - z.along * d[i];
      errors += d[i] > 0 ? 0 : 1;
      if (d[i] == 0 && rise == 0) {
        ++always;
      } else {
        const bool up = d[i] > 0;
        cuts_.add(std::atan2(z.across * std::abs(d[i]), up ? -rise : rise), up);
      }
    }
    cuts_.sort();
    const auto seen = static_cast<std::ptrdiff_t>(cuts_.size());
    arcs_.clear();
    fewest_ = std::numeric_limits<std::ptrdiff_t>::max();
    for (std::size_t k = 0; k < cuts_.size(); ++k) {
      errors += cuts_.change(k);
      const double low = cuts_.place(k);
      const double high =
          k + 1 < cuts_.size() ? cuts_.place(k + 1) : cuts_.place(0) + std::numbers::pi;
      add_arc(low, high - low, errors, 2 * always + seen - errors);
    }
    if (cuts_.size() == 0) {
      add_arc(0, std::numbers::pi, errors, errors);
    }
  }

  /// Calls visit(errors, length) for every arc; the lengths sum to 2 pi.
  template <class Visit>
  void visit(Visit&& visit) const {
    for (const TwoArcs& arc : arcs_) {
      visit(arc.errors, arc.length);
      visit(arc.opposite_errors, arc.length);
    }
  }

  /// A point of the circle with density proportional to the penalty, and the exact mean.
  [[nodiscard]] CirclePoint draw(const GibbsPenalty& penalty, Random64 auto& engine) const {
    double total = 0;
    for (const TwoArcs& arc : arcs_) {
      total +=
          arc.length * (penalty(arc.errors - fewest_) + penalty(arc.opposite_errors - fewest_));
    }
    const double inside = uniform_unit(engine);
    double target = total * uniform_unit(engine);
    double angle = 0;
    for (const TwoArcs& arc : arcs_) {
      const double here = arc.length * penalty(arc.errors - fewest_);
      const double there = arc.length * penalty(arc.opposite_errors - fewest_);
      if (here > 0) angle = arc.low + arc.length * inside;
      if (target < here) break;
      target -= here;
      if (there > 0) angle = arc.low + arc.length * inside + std::numbers::pi;
      if (target < there) break;
      target -= there;
    }
    CirclePoint point{std::cos(angle), std::sin(angle), 0, 0};
    for (const TwoArcs& arc : arcs_) {
      const double difference =
          penalty(arc.errors - fewest_) - penalty(arc.opposite_errors - fewest_);
      const double weight = arc.length * difference / total;
      if (std::abs(weight) > 1e-18) {
        const double centre = arc.low + arc.length / 2;
        const double mean = distance_of_mean(arc.length);
        point.mean_cosine += weight * mean * std::cos(centre);
        point.mean_sine += weight * mean * std::sin(centre);
      }
    }
    return point;
  }

 private:
  /// An arc that begins at `low` in [0, pi] and the one opposite.
  struct TwoArcs {
    double low;
    double length;
    std::ptrdiff_t errors;
    std::ptrdiff_t opposite_errors;
  };

  /// Arcs as short as the angles' rounding are not there: planes through one point of the circle
  /// would otherwise open one with too few errors, and a small q would make it the heaviest.
  void add_arc(double low, double length, std::ptrdiff_t errors, std::ptrdiff_t opposite) {
    constexpr double shortest = 1e-14;
    if (length > shortest) {
      arcs_.push_back({low, length, errors, opposite});
      fewest_ = std::min({fewest_, errors, opposite});
    }
  }

  GibbsCuts cuts_;
  std::vector<TwoArcs> arcs_;
  std::ptrdiff_t fewest_ = 0;
};

}}}  // namespace bpm::detail
