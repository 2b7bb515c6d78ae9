// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Steps of a kernel Gibbs sampler along a line in the flat space: the normal law on an interval,
/// accurate also far out in both tails, the chi law, and the pieces between planes.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// An interval under the standard normal law.
struct NormalPiece {
  double log_mass;  ///< log of its probability; -infinity when it is empty.
  double mean;      ///< E[x | low < x < high].
};

/// Computes mass and mean of the interval low < high; either bound may be infinite.
[[nodiscard]] inline NormalPiece normal_piece(double low, double high) {
  constexpr double log_root_two_pi = 0.91893853320467274178;
  if (!(low < high)) {
    return {-std::numeric_limits<double>::infinity(), low};
  }
  if (high <= 0) {
    const NormalPiece mirrored = normal_piece(-high, -low);
    return {mirrored.log_mass, -mirrored.mean};
  }
  const double width = high - low;
  const double centre = low + width / 2;
  if (width * std::max(1.0, std::abs(centre)) < 0.05) {
    // Differences of tails would cancel, and cost more. The series about the centre has Hermite
    // polynomials as coefficients; two terms leave an error of 1e-13.
    const double h = width * width / 4;
    const double c = centre * centre;
    const double mass = 1 + h * ((c - 1) / 6 + h * ((c - 6) * c + 3) / 120);
    return {std::log(width * mass) - c / 2 - log_root_two_pi,
            centre - centre * h * (1.0 / 3 + h * (c - 3) / 30) / mass};
  }
  if (low < 0) {
    const double mass =
        (std::erf(high / std::numbers::sqrt2) + std::erf(-low / std::numbers::sqrt2)) / 2;
    const double inverse_root = 1 / std::sqrt(2 * std::numbers::pi);
    return {std::log(mass),
            inverse_root * (std::exp(-low * low / 2) - std::exp(-high * high / 2)) / mass};
  }
  // All quantities are in units of phi(low).
  const double fall = width * (low + high) / 2;
  const double rest = std::exp(-fall);
  const double mass = mills_ratio(low) - (rest > 0 ? rest * mills_ratio(high) : 0.0);
  const double mean = -std::expm1(-fall) / mass;
  return {std::log(mass) - low * low / 2 - log_root_two_pi, std::clamp(mean, low, high)};
}

/// Draws a standard normal number given low < x < high, by rejection with a bounded mean number of
/// trials: C. Robert, "Simulation of truncated normal variables", Statistics and Computing 5, 1995.
[[nodiscard]] double truncated_normal(double low, double high, NormalDraws& normal,
                                      Random64 auto& engine) {
  if (high <= 0) {
    return -truncated_normal(-high, -low, normal, engine);
  }
  const double width = high - low;
  if (low < 0 && width > 2.5) {  // sqrt(2 pi): the normal law itself is the better proposal.
    while (true) {
      const double x = normal(engine);
      if (x > low && x < high) return x;
    }
  }
  const double least = std::max(low, 0.0);  // The density is largest here.
  const double rate = (least + std::sqrt(least * least + 4)) / 2;
  if (low < 0 || width * rate < 2) {
    while (true) {
      const double x = low + width * uniform_unit(engine);
      // This is (least^2 - x^2) / 2 without the cancellation.
      if (uniform_unit(engine) < std::exp((least - x) * (least + x) / 2)) return x;
    }
  }
  while (true) {  // Shifted exponential with Robert's best rate.
    const double x = low - std::log1p(-uniform_unit(engine)) / rate;
    if (x < high && uniform_unit(engine) < std::exp(-(x - rate) * (x - rate) / 2)) return x;
  }
}

/// Draws the norm of a standard normal vector in `dimension` dimensions, at O(1): sqrt(2
/// Gamma(r/2)) by G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", ACM
/// Trans. Math. Softw. 26(3), 2000.
[[nodiscard]] double chi_draw(std::ptrdiff_t dimension, NormalDraws& normal,
                              Random64 auto& engine) {
  if (dimension == 1) {
    return std::abs(normal(engine));
  }
  const double d = static_cast<double>(dimension) / 2 - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(engine);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = 1 - uniform_unit(engine);
    if (std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) {
      return std::sqrt(2 * d * v);
    }
  }
}

/// Places where a curve crosses the planes, sorted, with the change of training errors at each.
///
/// The last bit of a place stores the sign of the change, so that plain numbers are sorted. It is
/// cleared on reading: equal places are equal again.
class GibbsCuts {
 public:
  void clear() { marked_.clear(); }

  /// Adds a place where the number of errors rises by one (`up`) or falls by one.
  void add(double place, bool up) {
    const auto bits = std::bit_cast<std::uint64_t>(place);
    marked_.push_back(std::bit_cast<double>((bits & ~std::uint64_t{1}) | (up ? 1U : 0U)));
  }

  void sort() { std::sort(marked_.begin(), marked_.end()); }

  [[nodiscard]] std::size_t size() const noexcept { return marked_.size(); }
  [[nodiscard]] double place(std::size_t k) const noexcept {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(marked_[k]) & ~std::uint64_t{1});
  }
  [[nodiscard]] std::ptrdiff_t change(std::size_t k) const noexcept {
    return (std::bit_cast<std::uint64_t>(marked_[k]) & 1U) != 0 ? 1 : -1;
  }

 private:
  std::vector<double> marked_;
};

/// Weights of errors: exp(-beta e) for e = 0 .. m, beta = log((1 - q) / q); q = 0 has 1, 0, 0, ...
class GibbsPenalty {
 public:
  GibbsPenalty() = default;
  GibbsPenalty(double beta, std::ptrdiff_t points) : beta_(beta) {
    for (std::ptrdiff_t e = 0; e <= points; ++e) {
      powers_.push_back(e == 0 ? 1.0 : std::exp(-beta * static_cast<double>(e)));
    }
  }

  [[nodiscard]] double beta() const noexcept { return beta_; }
  [[nodiscard]] double operator()(std::ptrdiff_t errors) const noexcept {
    return powers_[std::size_t(errors)];
  }

  /// log((1 - q) / q).
  [[nodiscard]] static double beta_of(double noise) { return std::log1p(-noise) - std::log(noise); }

 private:
  double beta_ = 0;
  std::vector<double> powers_;
};

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

// Steps along an input, of feature s, move in the flat space: w = rho b with rho of the chi law of
// r degrees, independent of b, is a standard normal vector weighted by its errors. On the line w +
// x s the component a = <w, s> / norm(s), which is replaced, is a standard normal number weighted
// by errors: one truncated normal law (q = 0), or one piece between two planes each. rho is drawn
// afresh for every step. The r pivots' features span R^r, so these lines reach everything. Outputs
// on the line are rho d_i + (x - a) p_i / norm(s) where d are those of b and p those of s:
// functions take a as `at`, and rho norm(s) as `scale`.

/// A drawn place on the line and the mean of its law.
struct LinePoint {
  double place;
  double mean;
};

/// Draws from the standard normal law on the interval without errors; all d_i > 0. Since s is the
/// normal of a plane, the interval lies right of 0.
[[nodiscard]] LinePoint point_of_free_line(const double* d, const double* p, std::ptrdiff_t points,
                                           double at, double scale, NormalDraws& normal,
                                           Random64 auto& engine) {
  const Extremes ratios = ratio_extremes(p, d, points);
  const double low = std::max(0.0, at - scale / ratios.largest);
  const double high =
      ratios.smallest < 0 ? at - scale / ratios.smallest : std::numeric_limits<double>::infinity();
  if (!(low < high)) {
    return {at, at};
  }
  return {truncated_normal(low, high, normal, engine), normal_piece(low, high).mean};
}

/// The line cut by all planes into pieces with a constant number of errors each.
class GibbsPieces {
 public:
  /// Draws a place. Cost: O(m log m).
  [[nodiscard]] LinePoint draw(const double* d, const double* p, std::ptrdiff_t points, double at,
                               double scale, const GibbsPenalty& penalty, NormalDraws& normal,
                               Random64 auto& engine) {
    cut(d, p, points, at, scale);
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

  void cut(const double* d, const double* p, std::ptrdiff_t points, double at, double scale) {
    cuts_.clear();
    std::ptrdiff_t errors = 0;  // Errors at -infinity.
    for (std::ptrdiff_t i = 0; i < points; ++i) {
      const double place = at - scale * (d[i] / p[i]);
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

}}}  // namespace bpm::detail
