// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/gibbs/gibbs_line.hpp"
#include "bpm/version_space/cone.hpp"

/// \file
/// The step of a kernel Gibbs sampler: on a circle of the sphere, and the state that it moves.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

// Isotropic steps draw a tangent direction v at the position b: v = (z - <z, b> b) / |z - <z, b>
// b|. The circle b cos t + v sin t meets the m planes at 2 m angles, between which the number of
// errors is constant; an arc is drawn by its length times (q / (1 - q))^errors, a point in it
// uniformly. With q = 0 only the arc around b is left, and the extremes of nu_i / d_i are its ends.
// Every point of a circle leads to it with the same density, so that given the circle b has the law
// restricted to it, and a fresh draw from that restriction leaves the law as it is. The outputs are
// d of b and p of z, so plane i sees d_i cos t + (p_i - <z, b> d_i) / across sin t.

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

/// Returns the arc without errors around t = 0, all d_i > 0: plane i leaves |t - atan2(nu_i, d_i)|
/// < pi / 2, so that the extremes of nu_i / d_i give the ends.
[[nodiscard]] inline Arc free_arc(const double* d, const RandomDirections::Direction& z,
                                  std::ptrdiff_t points) {
  const Extremes ratios = ratio_extremes(z.outputs, d, points);
  constexpr double quarter = std::numbers::pi / 2;
  // Computes pi/2 - atan(x) without the cancellation at large x.
  const auto reach = [](double x) { return x > 1 ? std::atan(1 / x) : quarter - std::atan(x); };
  return {-reach((ratios.largest - z.along) / z.across),
          reach((z.along - ratios.smallest) / z.across)};
}

/// Distance of the mean of an arc of the unit circle from the circle's centre.
[[nodiscard]] inline double distance_of_mean(double length) {
  return length > 1e-6 ? 2 * std::sin(length / 2) / length : 1.0;
}

/// Draws a uniform point of an arc, and computes the arc's mean.
[[nodiscard]] CirclePoint point_of_arc(Arc arc, Random64 auto& engine) {
  const double length = arc.high - arc.low;
  const double t = arc.low + length * uniform_unit(engine);
  const double centre = arc.low + length / 2;
  const double mean = distance_of_mean(length);
  return {std::cos(t), std::sin(t), mean * std::cos(centre), mean * std::sin(centre)};
}

/// The circle cut by all planes into arcs with a constant number of errors each.
class GibbsCircle {
 public:
  /// Cuts the circle. Cost: O(m log m).
  void cut(const double* d, const RandomDirections::Direction& z, std::ptrdiff_t points) {
    cuts_.clear();
    std::ptrdiff_t errors = 0;
    std::ptrdiff_t always = 0;  // Errors at planes that do not cut this circle, on all of it.
    for (std::ptrdiff_t i = 0; i < points; ++i) {
      const double rise = z.outputs[i] - z.along * d[i];
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

  /// Draws a point of the circle with density proportional to the penalty; computes the exact mean.
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
  /// An arc that begins at `low` in [0, pi], and the opposite one.
  struct TwoArcs {
    double low;
    double length;
    std::ptrdiff_t errors;
    std::ptrdiff_t opposite_errors;
  };

  /// Adds an arc and its opposite, unless it is as short as the angles' rounding: planes through
  /// one point of the circle could open an arc with too few errors, the heaviest at a small q.
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

/// Target of a step and the mean of its law, as multiples of the position b and a vector z.
struct GibbsMove {
  double of_b;
  double of_z;
  double mean_b;
  double mean_z;
};

/// Computes out = a d + b p; returns the smallest entry.
inline double combine_smallest(double* out, double a, const double* d, double b, const double* p,
                               std::ptrdiff_t count) {
  double smallest = std::numeric_limits<double>::infinity();
  std::ptrdiff_t i = 0;
#if defined(BPM_DETAIL_VECTOR_TYPES)
  constexpr int width = lane_count<double>;
  if (count >= width) {
    using Unaligned = LanesType<double, width>::unaligned;
    Lanes<double> least = smallest - Lanes<double>{};
    for (; i + width <= count; i += width) {
      const Lanes<double> value = a * load_lanes(d + i) + b * load_lanes(p + i);
      *reinterpret_cast<Unaligned*>(out + i) = value;
      least = value < least ? value : least;
    }
    for (int l = 0; l < width; ++l) smallest = std::min<double>(smallest, least[l]);
  }
#endif
  for (; i < count; ++i) {
    out[i] = a * d[i] + b * p[i];
    smallest = std::min(smallest, out[i]);
  }
  return smallest;
}

/// Returns the number of d_i that are not positive.
[[nodiscard]] inline std::ptrdiff_t count_errors(const double* d, std::ptrdiff_t count) {
  std::ptrdiff_t errors = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) errors += d[i] > 0 ? 0 : 1;
  return errors;
}

/// Divides x by its norm, also where squares would overflow. Leaves x unchanged if its norm is 1.
inline void normalise(std::vector<double>& x) {
  if (std::abs(dot(x.data(), x.data(), std::ssize(x)) - 1) < 1e-14) {
    return;
  }
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  scale_by(x.data(), 1 / largest, std::ssize(x));
  scale_to_unit(x.data(), std::ssize(x));
}

/// A point x of the unit sphere with its outputs d, which are updated together. In a hard state (q
/// = 0) all d_i stay positive.
struct GibbsState {
  GibbsState() = default;  ///< For reading a file.
  GibbsState(const Cone& cone, std::span<const double> start, bool is_hard)
      : hard(is_hard), x(static_cast<std::size_t>(cone.stride()), 0.0) {
    std::copy_n(start.begin(), cone.rank(), x.begin());
    normalise(x);
    if (cone.rank() == 1) x[0] = std::copysign(1.0, x[0]);  // All chains share these two points.
    prepare(cone);
  }

  /// Computes the rest from x, which in a hard state lies inside.
  void prepare(const Cone& cone) {
    d.assign(static_cast<std::size_t>(cone.output_stride()), 0.0);
    cone.outputs(x.data(), d.data());
    next_d = d;
    remember();
  }

  /// Returns the next direction across x, r > 1. When a new block is made, x is scaled to norm 1
  /// and its outputs are recomputed.
  ///
  /// A z nearly along the position has a short part across, mostly rounding. This does not depend
  /// on where that part points, so that dropping such a z changes no law.
  [[nodiscard]] RandomDirections::Direction next_direction(const Cone& cone, RandomEngine& engine) {
    RandomDirections::Direction z{};
    do {
      if (directions.used_up()) {
        normalise(x);
        directions.make(cone, engine, x.data(), d.data());
        bring_inside(cone);
      }
      z = directions.take(cone, x.data());
    } while (!(z.across > 1e-3 * std::abs(z.along)));
    return z;
  }

  /// The step where r = 1 and there is no direction: stays at x (q = 0), or draws one of the two
  /// points of the sphere, x and -x, by their weights.
  [[nodiscard]] GibbsMove draw_of_two(const GibbsPenalty& penalty, RandomEngine& engine) const {
    if (hard) return {1, 0, 1, 0};
    std::ptrdiff_t more = 0;  // Errors of -x minus errors of x.
    for (const double value : d) more += (value > 0 ? 1 : 0) - (value < 0 ? 1 : 0);
    const double stays = 1 / (1 + std::exp(-penalty.beta() * static_cast<double>(more)));
    return {uniform_unit(engine) < stays ? 1.0 : -1.0, 0, 2 * stays - 1, 0};
  }

  /// Computes the outputs of the place that `to` = draw() leads to, p the outputs of z; x is
  /// unchanged. In a hard state rounding may put a point from the very end of its interval outside:
  /// then another is drawn. Returns false, with d unchanged, if none is inside.
  template <class DrawMove>
  bool try_outputs(std::ptrdiff_t points, const double* p, DrawMove&& draw, GibbsMove& to) {
    for (int trial = 0; trial < 20; ++trial) {
      to = draw();
      const double smallest =
          combine_smallest(next_d.data(), to.of_b, d.data(), to.of_z, p, points);
      if (!hard || smallest > 0) {
        d.swap(next_d);
        return true;
      }
    }
    ++repairs;
    return false;
  }

  /// Computes sum += of_x x + of_z z.
  void add_to(std::vector<double>& sum, double of_x, double of_z, const double* z) const {
    const std::ptrdiff_t length = std::ssize(sum);
    const double* from = x.data();
    double* to = sum.data();
    for (std::ptrdiff_t k = 0; k < length; ++k) to[k] += of_x * from[k] + of_z * z[k];
  }

  /// Moves to the opposite point.
  void flip() {
    for (double& value : x) value = -value;
    for (double& value : d) value = -value;
  }

  /// Recomputes norm and outputs from the coordinates.
  void settle(const Cone& cone) {
    normalise(x);
    cone.outputs(x.data(), d.data());
    bring_inside(cone);
  }

  /// Repairs a hard state with recomputed outputs: if drift has led it outside version space, moves
  /// it back, no further than needed, towards the last place known to be inside.
  void bring_inside(const Cone& cone) {
    if (!hard) {
      return;
    }
    const std::ptrdiff_t m = cone.points();
    if (count_errors(d.data(), m) > 0) {
      ++repairs;
      double share = 0x1p-52;
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        const double depth = -d[std::size_t(i)];
        if (depth >= 0) share = std::max(share, depth / (inside_d[std::size_t(i)] + depth));
      }
      do {
        share = std::min(1.0, 2 * share);
        combine(x.data(), 1 - share, x.data(), share, inside.data(), std::ssize(x));
        normalise(x);
        cone.outputs(x.data(), d.data());
      } while (share < 1 && count_errors(d.data(), m) > 0);
      if (share == 1) {
        x = inside;
        d = inside_d;
      }
    }
    remember();
  }

  /// Records this place as the last known to be inside.
  void remember() {
    inside = x;
    inside_d = d;
  }

  bool hard = false;
  std::uint64_t repairs = 0;
  RandomDirections directions{32};
  std::vector<double> x;  ///< `stride()` long.
  std::vector<double> d;  ///< `output_stride()` long.
  std::vector<double> next_d;
  std::vector<double> inside;
  std::vector<double> inside_d;
};

}}}  // namespace bpm::detail
