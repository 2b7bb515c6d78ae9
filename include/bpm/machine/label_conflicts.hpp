// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/machine/labels.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Throws NotSeparable where two points or one can be seen to rule out every classifier.
template <class T, InputSet I>
void check_separable(const Gram<T>& gram, const I& inputs, std::span<const std::uint64_t> hashes,
                     const Subproblems& problems, std::string_view function) {
  for (std::size_t p = 0; p < problems.size(); ++p) {
    for (std::ptrdiff_t i = 0; i < gram.size(); ++i) {
      ensure<NotSeparable>(static_cast<double>(gram.diagonal(i)) + problems.lambda_at(p, i) > 0,
                           function, ": point ", i,
                           " has k(x, x) = 0, so no classifier gives it a sign; add a bias to the "
                           "kernel or a soft boundary lambda > 0");
    }
  }
  for (const auto& group : equal_groups(inputs, hashes)) {
    for (std::size_t p = 0; p < problems.size(); ++p) {
      PointIndex hard = -1;
      for (const PointIndex i : group) {
        if (problems.lambda_at(p, i) > 0) {
          continue;
        }
        ensure<NotSeparable>(hard < 0 || problems.signs[p][i] == problems.signs[p][hard], function,
                             ": points ", hard, " and ", i,
                             " are equal inputs with different labels, so no classifier separates "
                             "them; set a soft boundary lambda > 0, or label noise with "
                             "KernelGibbs");
        hard = i;
      }
    }
  }
}

}}}  // namespace bpm::detail
