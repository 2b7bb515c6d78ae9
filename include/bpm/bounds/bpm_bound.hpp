// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <numbers>

#include "bpm/bounds/gibbs_bound.hpp"

namespace bpm {

/// An upper bound on the error of a Bayes point: e times that of the Gibbs error.
struct BpmBound {
  GibbsBound gibbs{};

  [[nodiscard]] double value() const { return std::numbers::e * gibbs.value(); }
  /// Whether it says nothing: 1 or more, that is a Gibbs bound of 1 / e or more.
  [[nodiscard]] bool vacuous() const { return value() >= 1; }
};

/// Lemma 3 of "Kernel Interpolation as a Bayes Point Machine": the centre of mass of an ensemble of
/// linear classifiers with a log-concave density on a convex set errs at most e times as often as
/// its members do on average, by Grünbaum's inequality.
[[nodiscard]] inline BpmBound bpm_bound(const GibbsBound& gibbs) { return {gibbs}; }

/// Theorem 1, in both forms: of the interpolator of the labels +-1 where `complexity` is
/// `KernelComplexity::value()`, of that of the centre-of-mass labels where it is log(1 / P_Y).
/// It holds for the exact centre; one that a sampler or an approximation has found is another
/// classifier.
/// \throws std::invalid_argument as `gibbs_bound`.
[[nodiscard]] inline BpmBound bpm_bound(double complexity, std::ptrdiff_t points,
                                        const GibbsBoundSettings& settings = {}) {
  return {gibbs_bound(complexity, points, settings)};
}

}  // namespace bpm
