// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/labels.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A combination v = sum_i a_i u_i, a >= 0, sum a = 1, of the points u_i = y_i x_i / norm(x_i) in
/// feature space, which proves that no classifier separates them.
struct Inseparability {
  double margin_bound = 0;  ///< norm(v): no w of norm 1 has min_i <w, u_i> above it.
  std::size_t points = 0;   ///< Number of points with a weight.
};

/// Searches for a combination v with norm(v)^2 at most 1e-13, in double: every w of norm 1 has
/// min_i <w, u_i> <= sum_i a_i <w, u_i> = <w, v> <= norm(v) (Gordan's theorem where v = 0).
///
/// v is the shortest vector of the hull of the u_i, by the algorithm of B. Mitchell, V. Dem'yanov
/// and V. Malozemov (SIAM J. Control 12, 1974): weight moves from the point of largest <v, u_i>
/// among those with a weight to the point of smallest, as far as v gets shorter. Returns none if a
/// v with all <v, u_i> > 0 occurs, or after `max_steps`.
///
/// add_row(i, scale, outputs) adds scale k(x_i, x_j) for all j. Cost of a step: two rows of kernel
/// values and 5 m operations. Memory: 4 m doubles.
template <class AddRow>
[[nodiscard]] std::optional<Inseparability> find_inseparability(std::span<const signed char> signs,
                                                                std::span<const double> diagonal,
                                                                AddRow&& add_row,
                                                                std::uint64_t max_steps) {
  constexpr double vanishing = 1e-13;  // Bound of norm(v)^2: hundreds of rounding errors.
  const std::ptrdiff_t m = std::ssize(signs);
  std::vector<double> scale;  // y_i / norm(x_i).
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    if (!(diagonal[i] > 0)) return std::nullopt;
    scale.push_back(signs[i] / std::sqrt(diagonal[i]));
  }
  std::vector<double> weights(scale.size(), 0.0);  // a.
  std::vector<double> outputs(scale.size(), 0.0);  // <v, x_i>.
  std::vector<double> change(scale.size(), 0.0);   // <u_to - u_from, x_i>.
  weights[0] = 1;
  add_row(0, scale[0], outputs);
  for (std::uint64_t step = 0; step < max_steps; ++step) {
    std::ptrdiff_t to = 0;
    std::ptrdiff_t from = -1;
    double squared_norm = 0;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      const double output = scale[i] * outputs[i];
      squared_norm += weights[i] * output;
      if (output < scale[to] * outputs[to]) to = i;
      if (weights[i] > 0 && (from < 0 || output > scale[from] * outputs[from])) from = i;
    }
    const double smallest = scale[to] * outputs[to];
    const double largest = scale[from] * outputs[from];
    if (smallest > 0) return std::nullopt;
    if (squared_norm <= vanishing) {
      const auto points = std::ranges::count_if(weights, [](double a) { return a > 0; });
      return Inseparability{std::sqrt(std::max(0.0, squared_norm)),
                            static_cast<std::size_t>(points)};
    }
    std::ranges::fill(change, 0.0);
    add_row(to, scale[to], change);
    add_row(from, -scale[from], change);
    const double squared = scale[to] * change[to] - scale[from] * change[from];
    if (!(squared > 0 && largest > smallest)) return std::nullopt;  // Rounding alone is left.
    const double moved = std::min(weights[from], (largest - smallest) / squared);
    weights[to] += moved;
    weights[from] -= moved;
    for (std::ptrdiff_t i = 0; i < m; ++i) outputs[i] += moved * change[i];
  }
  return std::nullopt;
}

/// Throws NotSeparable if a combination of points proves that no classifier separates one of the
/// problems. Checks only hard boundaries, and kernels of inner products on numbers, whose values it
/// computes in double. Cost: about a second at most.
template <class Kernel, InputSet I>
void check_combinations(const Kernel& kernel, const I& inputs, const Subproblems& problems,
                        std::string_view function) {
  if constexpr (InnerProductKernel<Kernel> && (DenseInputs<I> || SparseInputs<I>)) {
    if (std::ranges::any_of(*problems.lambda, [](double lambda) { return lambda > 0; })) return;
    using Lanes = Eigen::Array<double, 8, 1>;
    const std::ptrdiff_t m = inputs.rows();
    const auto product = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
      return inputs.row(i).template cast<double>().dot(inputs.row(j).template cast<double>());
    };
    std::vector<double> squares;
    std::vector<double> diagonal;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      squares.push_back(product(i, i));
      const Lanes square = Lanes::Constant(squares.back());
      diagonal.push_back(Lanes(kernel.from_inner_products(square, square, square))[0]);
    }
    const auto add_row = [&](std::ptrdiff_t i, double scale, std::span<double> outputs) {
      const Lanes xx = Lanes::Constant(squares[i]);
      for (std::ptrdiff_t begin = 0; begin < m; begin += Lanes::SizeAtCompileTime) {
        const auto count = std::min<std::ptrdiff_t>(Lanes::SizeAtCompileTime, m - begin);
        Lanes xz = xx;
        Lanes zz = xx;
        for (std::ptrdiff_t l = 0; l < count; ++l) {
          xz[l] = product(i, begin + l);
          zz[l] = squares[begin + l];
        }
        const Lanes values = kernel.from_inner_products(xz, xx, zz);
        for (std::ptrdiff_t l = 0; l < count; ++l) outputs[begin + l] += scale * values[l];
      }
    };
    const double cost = 2.0 * static_cast<double>(m) * static_cast<double>(inputs.cols() + 10);
    const double all = 1e9 / (cost * static_cast<double>(problems.size()));
    const auto steps = static_cast<std::uint64_t>(std::min(1e5, all));
    for (std::size_t p = 0; p < problems.size(); ++p) {
      if (const auto found = find_inseparability(problems.signs[p], diagonal, add_row, steps)) {
        throw NotSeparable(join(function, ": no classifier separates the points",
                                problems.size() > 1 ? join(" of problem ", p) : std::string(),
                                ": a combination of ", found->points,
                                " of them shows that none has a margin above ", found->margin_bound,
                                "; set a soft boundary lambda > 0"));
      }
    }
  }
}

}}}  // namespace bpm::detail
