// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <numbers>

#include "bpm/bounds/gibbs_bound.hpp"

namespace bpm {

/// An upper bound on the error of a Bayes point: e times that of the Gibbs error. Lemma 3 of
/// "Kernel Interpolation as a Bayes Point Machine": the centre of mass of an ensemble of linear
/// classifiers with a log-concave density on a convex set errs at most e times as often as its
/// members do on average, by Grünbaum's inequality. It holds for the exact centre; one that a
/// sampler or an approximation has found is another classifier.
struct BayesPointBound {
  explicit BayesPointBound(const GibbsBound& gibbs_bound) : gibbs(gibbs_bound) {}
  /// Theorem 1, in both forms: of the interpolator of the signs where `complexity` is
  /// `KernelComplexity::value()`, of that of the centre-of-mass values where it is log(1 / P_Y).
  /// \throws std::invalid_argument as `GibbsBound`.
  BayesPointBound(double complexity, std::ptrdiff_t points, const GibbsBoundSettings& settings = {})
      : gibbs(complexity, points, settings) {}

  GibbsBound gibbs;

  [[nodiscard]] double value() const { return std::numbers::e * gibbs.value(); }
  /// Whether it says nothing: 1 or more, that is a Gibbs bound of 1 / e or more.
  [[nodiscard]] bool vacuous() const { return value() >= 1; }
};

}  // namespace bpm
