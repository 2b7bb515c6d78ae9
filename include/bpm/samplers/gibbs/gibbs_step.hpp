// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/gibbs/gibbs_normal.hpp"

/// \file
/// The step of a kernel Gibbs sampler: passes over the outputs; steps along a line in the flat
/// space, and on a circle of the sphere.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

// Passes over the m outputs in a Gibbs step.

struct Extremes {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();

  void include(double value) {
    smallest = value < smallest ? value : smallest;
    largest = value > largest ? value : largest;
  }
};

/// Returns the extremes of p_i / d_i, i < count; all d_i > 0.
[[nodiscard]] inline Extremes ratio_extremes(const double* p, const double* d,
                                             std::ptrdiff_t count) {
  Extremes result;
  std::ptrdiff_t i = 0;
#if defined(BPM_DETAIL_VECTOR_TYPES)
  constexpr int width = lane_count<double>;
  if (count >= width) {
    Lanes<double> smallest = load_lanes(p) / load_lanes(d);
    Lanes<double> largest = smallest;
    for (i = width; i + width <= count; i += width) {
      const Lanes<double> ratio = load_lanes(p + i) / load_lanes(d + i);
      smallest = ratio < smallest ? ratio : smallest;
      largest = ratio > largest ? ratio : largest;
    }
    for (int l = 0; l < width; ++l) {
      result.include(smallest[l]);
      result.include(largest[l]);
    }
  }
#endif
  for (; i < count; ++i) result.include(p[i] / d[i]);
  return result;
}

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

// The law of a Gibbs step along a training feature s in the flat space: of w = rho b, the
// component a = <w, s> / norm(s) is replaced. Outputs on the line are rho d_i + (x - a) p_i /
// norm(s) where d are those of b and p those of s.

/// A line in the flat space.
struct GibbsLine {
  double norm;     ///< norm(w) = rho.
  double at;       ///< a, the position of w on the line.
  double feature;  ///< norm(s).
};

/// A drawn place on the line and the mean of its law.
struct LinePoint {
  double place;
  double mean;
};

/// Draws from the standard normal law on the interval without errors; all d_i > 0. Since s is the
/// normal of a plane, the interval lies right of 0.
[[nodiscard]] LinePoint point_of_free_line(const double* d, const double* p, std::ptrdiff_t points,
                                           GibbsLine line, NormalDraws& normal,
                                           Random64 auto& engine) {
  const Extremes ratios = ratio_extremes(p, d, points);
  const double scale = line.norm * line.feature;
  const double low = std::max(0.0, line.at - scale / ratios.largest);
  const double high = ratios.smallest < 0 ? line.at - scale / ratios.smallest
                                          : std::numeric_limits<double>::infinity();
  if (!(low < high)) {
    return {line.at, line.at};
  }
  return {truncated_normal(low, high, normal, engine), normal_piece(low, high).mean};
}

/// The line cut by all planes into pieces with a constant number of errors each.
class GibbsPieces {
 public:
  /// Draws a place. Cost: O(m log m).
  [[nodiscard]] LinePoint draw(const double* d, const double* p, std::ptrdiff_t points,
                               GibbsLine line, const GibbsPenalty& penalty, NormalDraws& normal,
                               Random64 auto& engine) {
    cut(d, p, points, line);
    weigh(penalty);
    double total = 0;
    double mean = 0;
    for (Piece& piece : pieces_) {
      piece.weight = std::exp(piece.log_weight - heaviest_);
      total += piece.weight;
      mean += piece.weight * piece.mean;
    }
    double target = total * uniform_unit(engine);
    const Piece* chosen = pieces_.data();
    for (const Piece& piece : pieces_) {
      if (piece.weight > 0) chosen = &piece;
      if (target < piece.weight) break;
      target -= piece.weight;
    }
    return {truncated_normal(chosen->low, chosen->high, normal, engine), mean / total};
  }

 private:
  struct Piece {
    double low;
    double high;
    std::ptrdiff_t errors;
    double penalty;
    double log_weight;
    double mean;
    double weight;
  };

  void cut(const double* d, const double* p, std::ptrdiff_t points, GibbsLine line) {
    cuts_.clear();
    std::ptrdiff_t errors = 0;  // Errors at -infinity.
    const double scale = line.norm * line.feature;
    for (std::ptrdiff_t i = 0; i < points; ++i) {
      const double place = line.at - scale * (d[i] / p[i]);
      if (std::isfinite(place)) {
        cuts_.add(place, p[i] < 0);
        errors += p[i] > 0 ? 1 : 0;
      } else {
        errors += d[i] > 0 ? 0 : 1;  // Parallel to the line.
      }
    }
    cuts_.sort();
    pieces_.clear();
    double low = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k <= cuts_.size(); ++k) {
      const double high =
          k < cuts_.size() ? cuts_.place(k) : std::numeric_limits<double>::infinity();
      // Shorter pieces are rounding errors; see GibbsCircle.
      if (high - low > 1e-14 * (1 + std::min(std::abs(low), std::abs(high)))) {
        pieces_.push_back({low, high, errors, 0, 0, 0, 0});
      }
      if (k < cuts_.size()) errors += cuts_.change(k);
      low = high;
    }
  }

  /// Computes log weights. A piece weighs at most exp(-beta errors) times the density's fall to it;
  /// its mass is evaluated only if that matters compared with the piece of the largest bound.
  void weigh(const GibbsPenalty& penalty) {
    std::ptrdiff_t fewest = std::numeric_limits<std::ptrdiff_t>::max();
    for (const Piece& piece : pieces_) fewest = std::min(fewest, piece.errors);
    Piece* first = pieces_.data();
    for (Piece& piece : pieces_) {
      const double nearest = piece.low > 0 ? piece.low : std::min(piece.high, 0.0);
      piece.penalty = penalty.beta() * static_cast<double>(piece.errors - fewest);
      piece.log_weight = -piece.penalty - nearest * nearest / 2;
      if (piece.log_weight > first->log_weight) first = &piece;
    }
    heaviest_ = -std::numeric_limits<double>::infinity();
    evaluate(*first);
    for (Piece& piece : pieces_) {
      if (&piece != first) evaluate(piece);
    }
  }

  void evaluate(Piece& piece) {
    constexpr double negligible = 45;
    if (piece.log_weight < heaviest_ - negligible) {
      piece.log_weight = -std::numeric_limits<double>::infinity();
      return;
    }
    const NormalPiece normal = normal_piece(piece.low, piece.high);
    piece.log_weight = normal.log_mass - piece.penalty;
    piece.mean = normal.mean;
    heaviest_ = std::max(heaviest_, piece.log_weight);
  }

  GibbsCuts cuts_;
  std::vector<Piece> pieces_;
  double heaviest_ = 0;
};

// The law of a Gibbs step on the circle b cos t + v sin t, v = (z - <z, b> b) / |z - <z, b> b|.
// The outputs are d of b and p of z, so plane i sees d_i cos t + (p_i - <z, b> d_i) / across sin
// t.

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
[[nodiscard]] inline Arc free_arc(const double* d, const double* p, std::ptrdiff_t points,
                                  DirectionNorms z) {
  const Extremes ratios = ratio_extremes(p, d, points);
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
  void cut(const double* d, const double* p, std::ptrdiff_t points, DirectionNorms z) {
    cuts_.clear();
    std::ptrdiff_t errors = 0;
    std::ptrdiff_t always = 0;  // Errors at planes that do not cut this circle, on all of it.
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

}}}  // namespace bpm::detail
