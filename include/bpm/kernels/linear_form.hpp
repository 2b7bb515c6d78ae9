// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <type_traits>

#include "bpm/core/target.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/linear.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A kernel whose features are the inputs: k(x, z) = factor <x, z> + constant, with `unit` of
/// x / norm(x) and z / norm(z). Its classifiers can be kept as one number per feature.
struct LinearForm {
  double factor = 1;
  double constant = 0;
  bool unit = false;
};

/// `possible`: whether a kernel of this type can have such a form; of(kernel): the one it has.
template <class Kernel>
struct LinearFormOf {
  static constexpr bool possible = false;
};

template <>
struct LinearFormOf<Linear> {
  static constexpr bool possible = true;
  [[nodiscard]] static std::optional<LinearForm> of(const Linear& /*kernel*/) {
    return LinearForm{};
  }
};

template <class Inner, class Combine>
struct LinearFormOf<WithConstant<Inner, Combine>> {
  static constexpr bool possible = LinearFormOf<Inner>::possible;
  [[nodiscard]] static std::optional<LinearForm> of(const WithConstant<Inner, Combine>& kernel)
    requires possible
  {
    std::optional<LinearForm> form = LinearFormOf<Inner>::of(kernel.inner);
    if (form) {
      form->constant = Combine{}(form->constant, kernel.constant);
      if constexpr (std::is_same_v<Combine, std::multiplies<>>) form->factor *= kernel.constant;
    }
    return form;
  }
};

template <class Inner>
struct LinearFormOf<UnitInputs<Inner>> {
  static constexpr bool possible = LinearFormOf<Inner>::possible;
  [[nodiscard]] static std::optional<LinearForm> of(const UnitInputs<Inner>& kernel)
    requires possible
  {
    std::optional<LinearForm> form = LinearFormOf<Inner>::of(kernel.inner);
    if (form) form->unit = true;
    return form;
  }
};

template <class Inner>
struct LinearFormOf<Normalised<Inner>> {
  static constexpr bool possible = LinearFormOf<Inner>::possible;
  [[nodiscard]] static std::optional<LinearForm> of(const Normalised<Inner>& kernel)
    requires possible
  {
    const std::optional<LinearForm> form = LinearFormOf<Inner>::of(kernel.inner);
    if (!form || form->constant != 0) return std::nullopt;
    return LinearForm{.unit = true};
  }
};

/// A kernel that is chosen when the program runs.
template <VisitedKernel Kernel>
struct LinearFormOf<Kernel> {
  static constexpr bool possible = true;
  [[nodiscard]] static std::optional<LinearForm> of(const Kernel& kernel) {
    return kernel.visit([]<class One>(const One& one) -> std::optional<LinearForm> {
      if constexpr (LinearFormOf<One>::possible) {
        return LinearFormOf<One>::of(one);
      } else {
        return std::nullopt;
      }
    });
  }
};

/// The form of a kernel that is linear in its inputs, or nothing.
template <class Kernel>
[[nodiscard]] std::optional<LinearForm> linear_form(const Kernel& kernel) {
  if constexpr (LinearFormOf<Kernel>::possible) {
    return LinearFormOf<Kernel>::of(kernel);
  } else {
    return std::nullopt;
  }
}

}}}  // namespace bpm::detail
