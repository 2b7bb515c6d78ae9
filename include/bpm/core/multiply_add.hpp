// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

namespace bpm::detail {

/// a b + sum, rounded the same wherever it stands: once where the target has the instruction, twice
/// where it has not. Left to itself a compiler fuses the operations of one loop and not those of
/// another, or those of a loop's remainder only (GCC at -O3), and kernel values are then not the
/// same bits in every order.
template <class T>
[[nodiscard]] inline T multiply_add(T a, T b, T sum) {
#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__aarch64__)
  return std::fma(a, b, sum);
#else
  return a * b + sum;
#endif
}

}  // namespace bpm::detail
