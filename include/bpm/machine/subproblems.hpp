// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace bpm::detail {

/// How many binary subproblems, and columns of coefficients, so many classes have.
[[nodiscard]] constexpr std::size_t subproblem_count(std::size_t classes) {
  return classes == 2 ? 1 : classes;
}

/// The binary subproblems of one training set, in the order in which a sampler gets them: of two
/// classes the second against the first, of more each against the rest.
struct Subproblems {
  std::vector<int> classes;                                        ///< Ascending.
  std::vector<std::vector<signed char>> signs;                     ///< +1 or -1, m a subproblem.
  std::vector<std::shared_ptr<const std::vector<double>>> lambda;  ///< Likewise; empty: zero.

  Subproblems() = default;
  Subproblems(std::vector<int> all, std::span<const int> labels) : classes(std::move(all)) {
    for (std::size_t c = classes.size() == 2 ? 1 : 0; c < classes.size(); ++c) {
      signs.push_back(one_against_rest(labels, classes[c]));
    }
  }

  template <GramAccess Gram>
  void resolve_lambda(const Gram& gram, const SoftBoundary& boundary, std::span<const int> labels) {
    lambda.clear();
    for (const auto& side : signs) {
      lambda.push_back(
          !lambda.empty() && boundary.same_for_all_classes()
              ? lambda.front()
              : std::make_shared<const std::vector<double>>(boundary.resolve(
                    [&](std::ptrdiff_t i) { return gram.diagonal(i); }, labels, side)));
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return signs.size(); }
  [[nodiscard]] double lambda_at(std::size_t p, std::ptrdiff_t i) const {
    return lambda[p]->empty() ? 0.0 : (*lambda[p])[i];
  }
};

/// Throws NotSeparable where two points or one can be seen to rule out every classifier.
template <GramAccess Gram, InputSet I>
void check_separable(const Gram& gram, const I& inputs, std::span<const std::uint64_t> hashes,
                     const Subproblems& problems, std::string_view function) {
  for (std::size_t p = 0; p < problems.size(); ++p) {
    for (std::ptrdiff_t i = 0; i < gram.size(); ++i) {
      if (static_cast<double>(gram.diagonal(i)) + problems.lambda_at(p, i) <= 0) {
        throw NotSeparable(
            join(function, ": point ", i,
                 " has k(x, x) = 0, so no classifier gives "
                 "it a sign; add a bias to the kernel or a soft boundary lambda > 0"));
      }
    }
  }
  for (const auto& group : equal_groups(inputs, hashes)) {
    for (std::size_t p = 0; p < problems.size(); ++p) {
      PointIndex hard = -1;
      for (const PointIndex i : group) {
        if (problems.lambda_at(p, i) > 0) {
          continue;
        }
        if (hard >= 0 && problems.signs[p][i] != problems.signs[p][hard]) {
          throw NotSeparable(join(function, ": points ", hard, " and ", i,
                                  " are equal inputs with different labels, so no classifier "
                                  "separates them; set a soft boundary lambda > 0, or label noise "
                                  "with KernelGibbs"));
        }
        hard = i;
      }
    }
  }
}

}  // namespace bpm::detail
