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
/// The point from which kernels of distances see their inputs. |x - z|^2 = <x, x> - 2 <x, z> +
/// <z, z> loses what is small beside <x, x>; the same of x - o and z - o, with o near the inputs,
/// does not, and is the same distance.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// How many inputs there are, and of each feature their mean and their squared distances from it.
/// Made a part at a time, on several ranks.
struct FeatureMoments {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;

  FeatureMoments() = default;
  /// Of every `step`-th input, by B. P. Welford's recurrence (1962), which loses nothing far from
  /// zero and finds no deviation in a constant feature. Cost: one pass.
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

  /// A feature whose mean is more than `far` deviations from zero has its mean there, else 0; empty
  /// where all are 0. The mean is rounded to a power of two of the size of the deviation, so that
  /// x - o is exact, and the same o is found whatever the order of the inputs.
  [[nodiscard]] std::vector<double> origin() const {
    constexpr double far = 4;
    std::vector<double> result(mean.size(), 0.0);
    bool any = false;
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double deviation = std::sqrt(squares[c] / count);
      if (!(std::abs(mean[c]) > far * deviation)) continue;
      any = true;
      const double unit = std::exp2(std::floor(std::log2(deviation)));  // 0 where it is constant.
      const double units = std::nearbyint(mean[c] / unit);
      result[c] = std::isfinite(units) ? units * unit : mean[c];
    }
    if (!any) result.clear();
    return result;
  }
};

/// What kernel values of these inputs are measured from: the origin of their moments for kernels of
/// distances that are made of inner products, on dense numbers; empty: from zero. Inner products of
/// bytes are exact, columns of sparse rows stay sparse. Cost: one pass.
template <class Kernel, InputSet I>
[[nodiscard]] std::vector<double> origin_of(const Kernel& kernel, const I& inputs) {
  if constexpr (DenseInputs<I> && !ByteInputs<I> && InnerProductKernel<Kernel>) {
    if (is_translation_invariant(kernel)) return FeatureMoments(inputs).origin();
  }
  return {};
}

}}}  // namespace bpm::detail
