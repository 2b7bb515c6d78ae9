// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "bpm/gaussian_process/interpolation/fitted_kernel_interpolator.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/precomputed_kernel.hpp"

namespace bpm {

/// Kernel interpolation as a classifier: the function of least norm that has given values Upsilon
/// at the training inputs,
///
///     f(x) = K_xX (K + noise_variance I)^-1 Upsilon,
///
/// and its sign ("Kernel Interpolation as a Bayes Point Machine", sections 1.1 and 4.1). With the
/// labels +-1, the *centroid* of their orthant up to a factor, it is the Bayes point of the
/// Gaussian process with isotropic labels; with the centre-of-mass labels (`centre_of_mass_labels`)
/// that of the process conditioned on the labels' signs. For more than two classes one function a
/// class against the rest, all from one factor; the largest value wins.
///
///     const bpm::KernelInterpolator machine(bpm::ArcCosine(7));
///     const auto fitted = machine.fit(inputs, labels);
///     fitted.predict(others);
///     fitted.leave_one_out_error();                  // no refit: from the one factor
///
/// Cost: K once, and n^3 / 3 multiply-adds on one thread. Memory: 16 n^2 bytes, of which 8 n^2, the
/// factor, stay with what is fitted.
template <class Kernel>
class KernelInterpolator {
 public:
  explicit KernelInterpolator(Kernel kernel, InterpolatorSettings settings = {})
      : kernel_(std::move(kernel)), settings_(settings) {}

  /// Interpolates the labels +-1, of n inputs with two classes or more, any integers; with two, the
  /// larger is the positive one.
  /// \throws std::invalid_argument on empty inputs, sizes that disagree, numbers that are not
  ///         finite, one class only (so, of one input), settings out of range.
  /// \throws NotSeparable, unless there is noise, on equal inputs with different labels, and where
  ///         the kernel does not tell the inputs apart, so that the best function with a jitter
  ///         misses a value by a tenth of the largest.
  /// \throws NotPositiveDefinite where no jitter on the ladder is enough (see `JitterSettings`).
  /// \throws KernelValueError on kernel values that are not finite or near overflow, such as those
  ///         of an input of norm 0 under `ArcCosine`.
  /// \throws BudgetTooSmall if `settings().memory` is below what is needed.
  template <InputSet I>
    requires std::same_as<Kernel, PrecomputedKernel> || KernelOn<Kernel, I>
  [[nodiscard]] FittedKernelInterpolator<Kernel, owned_inputs_t<I>> fit(
      const I& inputs, std::span<const int> labels) const {
    return {kernel_, settings_, inputs, labels, nullptr, "KernelInterpolator::fit"};
  }

  /// Interpolates `values`, one column for two classes, else one a class in ascending order. Each
  /// has the sign of its label: positive in the (positive) class's column, else negative.
  /// \throws as `fit`, and std::invalid_argument on values that are not finite, have another sign,
  ///         or differ at equal inputs.
  template <InputSet I>
    requires std::same_as<Kernel, PrecomputedKernel> || KernelOn<Kernel, I>
  [[nodiscard]] FittedKernelInterpolator<Kernel, owned_inputs_t<I>> fit_values(
      const I& inputs, std::span<const int> labels, const Eigen::MatrixXd& values) const {
    return {kernel_, settings_, inputs, labels, &values, "KernelInterpolator::fit_values"};
  }

  /// The memory that a fit of n points needs beside the inputs, in bytes.
  [[nodiscard]] static std::size_t bytes_needed(std::ptrdiff_t points, std::size_t classes) {
    return detail::interpolator_bytes(points, classes);
  }

  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] const InterpolatorSettings& settings() const noexcept { return settings_; }

 private:
  Kernel kernel_;
  InterpolatorSettings settings_;
};

}  // namespace bpm
