// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/version_space/cone.hpp"

/// \file
/// What a chain from a file is held against when it meets its cone.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Throws unless `outputs` are those of x, `stride()` long, but for what rounding may add up to.
inline void check_outputs(std::string_view name, const Cone& cone, const double* x,
                          const double* outputs) {
  const double norm = std::sqrt(dot(x, x, cone.stride()));
  std::vector<double> right(static_cast<std::size_t>(cone.points()));
  cone.outputs(x, right.data());
  for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
    const double expected = right[static_cast<std::size_t>(i)];
    check(std::abs(outputs[i] - expected) <= 1e-6 * norm * cone.row_norm(i), "chain", name, "at ",
          i, " is ", outputs[i], ", but the coordinates' is ", expected);
  }
}

/// Throws unless the norm of x is 1.
inline void check_unit(std::string_view name, std::span<const double> x) {
  const double squared = dot(x.data(), x.data(), std::ssize(x));
  check(std::abs(squared - 1) <= 1e-6, "chain", name, "has a square of ", squared, ", must be 1");
}

}}}  // namespace bpm::detail
