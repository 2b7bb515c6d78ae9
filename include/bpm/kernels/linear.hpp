// SPDX-License-Identifier: MIT
#pragma once

#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The linear kernel k(x, x') = <x, x'>. Its classifiers pass through the origin;
/// `biased(Linear{})` adds a constant feature.
struct Linear : detail::CalledOnPairs<Linear> {
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& /*xx*/,
                                          const Array& /*zz*/) const {
    return xz;
  }
};

}}  // namespace bpm
