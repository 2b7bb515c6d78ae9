// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/precomputed_kernel.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// `FitSettings::bias` in its units: what was given, or the default.
/// \throws std::invalid_argument unless it is finite and not negative, or if it is positive where
///         the user brings the matrix.
template <class Kernel>
[[nodiscard]] double relative_bias(const FitSettings& settings, std::string_view function) {
  if (settings.bias) check_not_negative(function, "bias", *settings.bias);
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    check(settings.bias.value_or(0) == 0, function, "bias", "is ", settings.bias.value_or(0),
          ", must be 0 or left out with a PrecomputedKernel; add it to the matrix");
    return 0;
  } else {
    return settings.bias.value_or(default_bias);
  }
}

/// The same as a number to add to kernel values: times the mean k(x, x) of these inputs.
/// \throws KernelValueError as `kernel_diagonal`.
template <class Kernel, InputSet I>
[[nodiscard]] double absolute_bias(const Kernel& kernel, const FitSettings& settings,
                                   const I& inputs, std::string_view function) {
  const double factor = relative_bias<Kernel>(settings, function);
  if constexpr (!std::same_as<Kernel, PrecomputedKernel>) {
    if (factor > 0) {
      const auto diagonal = kernel_diagonal(kernel, PreparedInputs<I>(inputs));
      const std::ptrdiff_t m = input_count(inputs);
      double sum = 0;
      for (std::ptrdiff_t i = 0; i < m; ++i) sum += static_cast<double>(diagonal[i]);
      return factor * (sum / static_cast<double>(m));
    }
  }
  return 0;
}

/// The kernel with its bias; a matrix as it is.
template <class Kernel>
[[nodiscard]] auto with_bias(const Kernel& kernel, double bias) {
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    return kernel;
  } else {
    return Biased<Kernel>{kernel, bias};
  }
}

}}}  // namespace bpm::detail
