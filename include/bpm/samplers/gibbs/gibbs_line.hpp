// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/gibbs/gibbs_label_noise.hpp"
#include "bpm/samplers/gibbs/gibbs_loops.hpp"
#include "bpm/samplers/gibbs/gibbs_normal.hpp"

/// \file
/// The law of a Gibbs step along a training feature s in the flat space: of w = rho b, the
/// component a = <w, s> / norm(s) is replaced. Outputs on the line are rho d_i + (x - a) p_i /
/// norm(s) where d are those of b and p those of s.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A line in the flat space.
struct GibbsLine {
  double norm;     ///< norm(w) = rho.
  double at;       ///< a, where on the line w stands.
  double feature;  ///< norm(s).
};

/// A place on the line and the mean of its law.
struct LinePoint {
  double place;
  double mean;
};

/// Standard normal on the interval without errors; all d_i > 0. Since s is a plane's own normal,
/// the interval lies right of 0.
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

/// The line cut by all planes into pieces with a number of errors each.
class GibbsPieces {
 public:
  /// Cost: O(m log m).
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
    std::ptrdiff_t errors = 0;  // At -infinity.
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
      // Shorter pieces are rounding; see GibbsCircle.
      if (high - low > 1e-14 * (1 + std::min(std::abs(low), std::abs(high)))) {
        pieces_.push_back({low, high, errors, 0, 0, 0, 0});
      }
      if (k < cuts_.size()) errors += cuts_.change(k);
      low = high;
    }
  }

  /// Log weights. A piece weighs at most exp(-beta errors) times the density's fall to it, and its
  /// mass is evaluated only where that could matter beside the piece with the largest such bound.
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
