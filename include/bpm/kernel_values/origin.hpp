// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// The origin from which kernels of distances measure their inputs. |x - z|^2 = <x, x> - 2 <x, z> +
/// <z, z> loses digits if it is small compared with <x, x>; the same formula of x - o and z - o,
/// with o near the inputs, gives the same distance without that loss.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Number of inputs, and for each feature the mean and the sum of squared deviations from it. Can
/// be computed in parts, on several ranks.
struct FeatureMoments {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;

  FeatureMoments() = default;
  /// Moments of every `step`-th input, by B. P. Welford's recurrence (1962), which loses no digits
  /// far from zero and finds no deviation in a constant feature. Cost: one pass.
  template <DenseInputs I>
  explicit FeatureMoments(const I& inputs, Eigen::Index step = 1)
      : mean(static_cast<std::size_t>(inputs.cols()), 0.0), squares(mean) {
    for (Eigen::Index i = 0; i < inputs.rows(); i += step) {
      const double part = 1 / ++count;
      for (std::size_t c = 0; c < mean.size(); ++c) {
        const double away = static_cast<double>(inputs(i, static_cast<Eigen::Index>(c))) - mean[c];
        mean[c] += away * part;
        squares[c] += away * away * (1 - part);
      }
    }
  }

  /// Adds the moments of other inputs (Chan, Golub and LeVeque 1983).
  void append(double others, std::span<const double> their_mean,
              std::span<const double> their_squares) {
    const double all = count + others;
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double away = their_mean[c] - mean[c];
      mean[c] += away * (others / all);
      squares[c] += their_squares[c] + away * away * (count * others / all);
    }
    count = all;
  }

  /// Returns the mean of each feature whose mean is more than `far` deviations from zero, else 0;
  /// empty if all are 0. The mean is rounded to a multiple of a power of two of the size of the
  /// deviation, so that x - o is exact, and o does not depend on the order of the inputs.
  [[nodiscard]] std::vector<double> origin() const {
    constexpr double far = 4;
    std::vector<double> result(mean.size(), 0.0);
    bool any = false;
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double deviation = std::sqrt(squares[c] / count);
      if (!(std::abs(mean[c]) > far * deviation)) continue;
      any = true;
      const double unit = std::exp2(std::floor(std::log2(deviation)));  // 0 for a constant feature.
      const double units = std::nearbyint(mean[c] / unit);
      result[c] = std::isfinite(units) ? units * unit : mean[c];
    }
    if (!any) result.clear();
    return result;
  }
};

/// Returns the origin for kernel values of these inputs: that of their moments for
/// translation-invariant kernels of inner products on dense numbers; empty: zero. Inner products of
/// bytes are exact, and sparse rows must stay sparse. Cost: one pass.
template <class Kernel, InputSet I>
[[nodiscard]] std::vector<double> origin_of(const Kernel& kernel, const I& inputs) {
  if constexpr (DenseInputs<I> && !ByteInputs<I> && InnerProductKernel<Kernel>) {
    if (is_translation_invariant(kernel)) return FeatureMoments(inputs).origin();
  }
  return {};
}

}}}  // namespace bpm::detail
