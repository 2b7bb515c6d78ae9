// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "bpm/core/vector_ops.hpp"
#include "bpm/samplers/chains/margin_active_set.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm {

/// The classifier of largest margin: the hard-margin support vector machine without offset.
struct LargestMargin {
  std::vector<double> position;      ///< Coordinates, `Cone::stride()` long, norm 1.
  std::vector<double> coefficients;  ///< Dual coefficients, m; y_i alpha_i >= 0.
  double margin = 0;                 ///< min_i d_i of the position; positive: inside version space.
  double upper_bound = 0;            ///< No classifier of norm 1 has a larger margin.
  std::uint64_t steps = 0;

  /// Maximises min_i d_i over norm(w) = 1, until the margin is at least `fraction` of its upper
  /// bound.
  ///
  /// Dual ascent on sum_i a_i - norm(sum_i a_i s_i)^2 / 2, a >= 0: first one coordinate at a time,
  /// the one that gains most, by exact steps (C. Hildreth, Naval Res. Logist. Q. 4, 1957; the
  /// greedy rule: J. Nutini et al., ICML 2015), which is fast where margins are wide; where that
  /// has not sufficed after 1000 + 20 m steps, by an active set, which is exact (see
  /// `detail::MarginActiveSet`). The margin of the current w / norm(w) is a lower bound, and
  /// norm(w) / sum_i a_i an upper one, because every w' of norm 1 has min_i d'_i <= sum_i a_i d'_i
  /// / sum_i a_i <= norm(w) / sum_i a_i.
  ///
  /// Where nothing separates the data the active set shows it, or the upper bound falls below
  /// `bound_tolerance` times the smallest norm(s_i), or `max_steps` (0: 1000 + 40 m) end the
  /// search. Cost: O(m) a step of the first kind with `Cone::form_products`, O(m r) without; O(m k
  /// + k^2) of the second, k the number of support vectors.
  [[nodiscard]] static LargestMargin find(const Cone& cone, double fraction = 0.5,
                                          std::uint64_t max_steps = 0,
                                          double bound_tolerance = 1e-9) {
    const std::ptrdiff_t m = cone.points();
    const std::ptrdiff_t length = cone.output_stride();
    const auto size = static_cast<std::size_t>(m);
    const std::uint64_t greedy_steps = 1000 + 20 * size;
    if (max_steps == 0) {
      max_steps = greedy_steps + 20 * size;
    }
    std::vector<double> a(size, 0.0);
    std::vector<double> d(static_cast<std::size_t>(length), 0.0);
    std::vector<double> column(static_cast<std::size_t>(length), 0.0);
    double shortest = std::numeric_limits<double>::infinity();  // No margin can be larger.
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      if (cone.row_norm(i) > 0) shortest = std::min(shortest, cone.row_norm(i));
    }

    LargestMargin result;
    result.upper_bound = shortest;
    std::optional<detail::MarginActiveSet> active;
    double norm = 0;
    for (;; ++result.steps) {
      // The best coordinate step, and both bounds on the way.
      std::ptrdiff_t best = -1;
      double best_gain = 0;
      double best_step = 0;
      double smallest = d[0];
      double squared_norm = 0;
      double total = 0;
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        const double di = d[i];
        smallest = std::min(smallest, di);
        squared_norm += a[i] * di;
        total += a[i];
        const double squared = cone.row_norm(i) * cone.row_norm(i);
        if (squared <= 0) {
          continue;
        }
        const double step = std::max((1 - di) / squared, -a[i]);
        const double gain = step * ((1 - di) - 0.5 * step * squared);
        if (gain > best_gain) {
          best = i;
          best_gain = gain;
          best_step = step;
        }
      }
      norm = std::sqrt(std::max(0.0, squared_norm));
      result.margin = norm > 0 ? smallest / norm : 0.0;
      if (total > 0) result.upper_bound = std::min(result.upper_bound, norm / total);
      if (best < 0 || result.steps >= max_steps || !(norm * shortest < 1e150) ||
          (norm > 0 && result.margin >= fraction * result.upper_bound) ||
          result.upper_bound < bound_tolerance * shortest) {
        break;
      }
      if (result.steps >= greedy_steps) {
        if (!active) {
          active.emplace(cone, a, d.data());
        } else {
          const auto step = active->step();
          if (step == detail::MarginActiveSet::Step::unbounded) result.upper_bound = 0;
          if (step != detail::MarginActiveSet::Step::improved) break;
        }
        continue;
      }
      a[best] += best_step;
      const double* products = nullptr;
      if (cone.has_products()) {
        products = cone.product_row(best);
      } else {
        cone.outputs(cone.row(best), column.data());
        products = column.data();
      }
      detail::add_scaled(d.data(), best_step, products, length);
    }
    result.position.assign(static_cast<std::size_t>(cone.stride()), 0.0);
    cone.add_rows(a.data(), result.position.data());
    norm = detail::scale_to_unit(result.position.data(), cone.stride());
    if (norm > 0) {
      // The margin of what is returned, not of sums that rounding has been at.
      result.margin = cone.smallest_output(result.position).first;
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        result.coefficients.push_back(cone.label(i) * a[i] / norm);
      }
    }
    return result;
  }
};

}  // namespace bpm
