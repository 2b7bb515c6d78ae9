// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "bpm/version_space/version_space.hpp"

namespace bpm::detail {

/// A combination v = sum_i a_i u_i, a >= 0, sum a = 1, of the points u_i = y_i x_i / norm(x_i) in
/// feature space which shows that no classifier separates them.
struct Inseparability {
  double largest_output = 0;  ///< The largest of all |<v, u_j>|.
  std::size_t points = 0;     ///< With a weight.
};

/// Looks for a combination v whose outputs vanish: |<v, u_j>| <= d at all points, d = 8e-9, or for
/// kernel values in float 8 times their precision. Were it zero, no w would have all <w, u_i> > 0
/// (Gordan's theorem); as it is, a classifier w = sum_j c_j u_j has
///
///     min_i <w, u_i> <= sum_i a_i <w, u_i> = <w, v> = sum_j c_j <v, u_j> <= d sum_j |c_j|,
///
/// by the kernel values at hand, however they are rounded; and by exact ones min_i <w, u_i> <=
/// norm(w) norm(v), with norm(v)^2 = sum_i a_i <v, u_i> <= d: in double no margin is above 9e-5.
///
/// v is the shortest of the hull of the u_i, by the algorithm of B. Mitchell, V. Dem'yanov and V.
/// Malozemov (SIAM J. Control 12, 1974): weight moves from the point of largest <v, u_i> among
/// those that have any to the point of smallest, as far as v gets shorter. Where a v with all
/// <v, u_i> > 0 turns up, or after `max_steps`, there is nothing.
///
/// Cost of a step: two rows of kernel values and 5 m operations. Memory: 4 m doubles.
template <VersionSpace Space>
[[nodiscard]] std::optional<Inseparability> find_inseparability(const Space& space,
                                                                std::uint64_t max_steps) {
  constexpr double vanishing =
      std::max(8e-9, 8.0 * std::numeric_limits<typename Space::Scalar>::epsilon());
  const std::ptrdiff_t m = space.size();
  std::vector<double> scale;  // y_i / norm(x_i).
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    if (!(space.diagonal(i) > 0)) return std::nullopt;
    scale.push_back(space.label(i) / std::sqrt(space.diagonal(i)));
  }
  BlockScratch<typename Space::Scalar> scratch;
  std::vector<double> weights(scale.size(), 0.0);  // a.
  std::vector<double> outputs(scale.size(), 0.0);  // <v, x_i>.
  weights[0] = 1;
  space.add_row(0, scale[0], outputs, scratch);
  for (std::uint64_t step = 0; step < max_steps; ++step) {
    std::ptrdiff_t to = 0;
    std::ptrdiff_t from = -1;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      const double output = scale[i] * outputs[i];
      if (output < scale[to] * outputs[to]) to = i;
      if (weights[i] > 0 && (from < 0 || output > scale[from] * outputs[from])) from = i;
    }
    const double smallest = scale[to] * outputs[to];
    const double largest = scale[from] * outputs[from];
    if (smallest > 0) return std::nullopt;
    if (smallest >= -vanishing) {
      double most = 0;
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        most = std::max(most, std::abs(scale[i] * outputs[i]));
      }
      if (most <= vanishing) {
        const auto points = std::ranges::count_if(weights, [](double a) { return a > 0; });
        return Inseparability{most, static_cast<std::size_t>(points)};
      }
    }
    std::vector<double> change(scale.size(), 0.0);  // <u_to - u_from, x_i>.
    space.add_row(to, scale[to], change, scratch);
    space.add_row(from, -scale[from], change, scratch);
    const double squared = scale[to] * change[to] - scale[from] * change[from];
    if (!(squared > 0 && largest > smallest)) return std::nullopt;  // Rounding alone is left.
    const double moved = std::min(weights[from], (largest - smallest) / squared);
    weights[to] += moved;
    weights[from] -= moved;
    for (std::ptrdiff_t i = 0; i < m; ++i) outputs[i] += moved * change[i];
  }
  return std::nullopt;
}

}  // namespace bpm::detail
