// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bpm/bounds/classifier_bounds.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/certified_risk.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// An upper limit of a classifier's error that holds with probability 1 - delta over its training
/// set, without a labelled example beside it.
struct Certificate {
  double error = 1;               ///< The classifier errs at most at this rate, in [0, 1].
  double delta = 0;               ///< What it may fail with.
  std::size_t mistaken = 0;       ///< k: points that the bound by compression counts.
  std::size_t points = 0;         ///< N, of the training set.
  std::size_t unlabelled = 0;     ///< Inputs without labels that it looked at.
  std::size_t disagreements = 0;  ///< Those of them that the first draw classifies otherwise.

  /// In words, with what it holds for: theorem, numbers, delta, conditions.
  [[nodiscard]] std::string message() const {
    const std::string by =
        detail::join("error at most ", error, " with confidence ", 1 - delta,
                     ", by stable compression (Campi, Garatti, JMLR 24, 2023): ", mistaken, " of ",
                     points, " training points were mistaken");
    const std::string conditions =
        "; for independent examples of one source, kernel, width, features and lambda fixed "
        "beforehand";
    return unlabelled == 0
               ? by + " in some draw" + conditions
               : detail::join(by, " in the first draw, from which it differs on ", disagreements,
                              " of ", unlabelled, " inputs without labels", conditions);
  }
};

namespace detail {

/// Throws unless what can be seen of a classifier allows a bound by compression.
template <class Kernel, InputSet Inputs>
void check_compression(const ClassifierParts<Kernel, Inputs>& parts) {
  const char* const f = "certificate";
  const auto allow = [&](bool holds, const auto&... why) { check(holds, f, "classifier", why...); };
  allow(parts.training_points > 0 && parts.report.perceptron &&
            parts.report.mistaken_points.size() == parts.report.draws && parts.report.draws > 0,
        "is not of permuted perceptrons on one training set: no compression makes it");
  allow(parts.report.perceptron->training_errors == 0, "has draws with training errors left");
  allow(!parts.boundary, "has a soft boundary that its training set chose; fix one beforehand");
  allow(!parts.standardisation,
        "has inputs standardised by the training set, whose means change when points go");
  allow(parts.offsets.empty() || !parts.offsets_move_labels,
        "has labels that offsets of its probabilities move");
  if constexpr (!std::same_as<Kernel, PrecomputedKernel>) {
    if (parts.bias == 0) return;
    const Eigen::VectorXd self = kernel_diagonal_values(parts.kernel, parts.inputs);
    allow(self.maxCoeff() - self.minCoeff() <= 1e-5 * self.maxCoeff(),
          "has a bias in units of the mean k(x, x), which changes when points go; set it to 0 or "
          "take inputs of one k(x, x)");
  }
}

}  // namespace detail

/// A limit of the error of a fit of permuted perceptrons, the mean of its draws, from its training
/// set alone: `stable_compression_bound` of the k points on which any draw made a mistake, which
/// alone would have made it. Its first draw errs at most at the rate of
/// `stable_compression_bound(report().mistaken_points[0], N, delta)`.
///
/// Conditions. Checked: one training set, no soft boundary chosen on it, no standardising, no bias
/// that depends on its mean, no offsets. For the caller to keep: independent examples of one
/// source; kernel, width (not the median of distances), features, lambda and number of draws fixed
/// before these examples were seen; no fit repeated because another failed (`NotSeparable`) or for
/// its certificate. \throws std::invalid_argument where a condition is seen to fail, or unless 0 <
/// delta < 1.
template <class Kernel, InputSet Inputs>
[[nodiscard]] Certificate certificate(const Classifier<Kernel, Inputs>& classifier, double delta) {
  const auto& parts = classifier.parts();
  detail::check_compression(parts);
  Certificate result{
      .delta = delta, .mistaken = parts.support.size(), .points = parts.training_points};
  result.error = stable_compression_bound(result.mistaken, result.points, delta);
  return result;
}

/// The same by inputs that need no labels, independent of each other and of the training set, from
/// the same source, and much smaller for many draws: the first draw's limit at delta / 2, by fewer
/// points, and the limit at delta / 2 of how often the classifier differs from it
/// (`binomial_upper_limit`). Needs kept draws (`FitSettings::keep_draws`).
/// \throws std::invalid_argument likewise, without inputs, or as
/// `Classifier::draw_decision_values`.
template <class Kernel, InputSet Inputs, class Queries>
[[nodiscard]] Certificate certificate(const Classifier<Kernel, Inputs>& classifier,
                                      const Queries& unlabelled, double delta) {
  const auto& parts = classifier.parts();
  detail::check_compression(parts);
  detail::check_delta("certificate", "delta", delta);
  const std::vector<int> of_all = classifier.predict(unlabelled);
  detail::check(!of_all.empty(), "certificate", "unlabelled", "are none, must be one or more");
  const Eigen::MatrixXd outputs = classifier.draw_decision_values(unlabelled);
  const std::vector<int> of_first = detail::labels_of_outputs(
      Eigen::MatrixXd(outputs.leftCols(classifier.columns())), classifier.classes());
  Certificate result{.delta = delta,
                     .mistaken = parts.report.mistaken_points[0],
                     .points = parts.training_points,
                     .unlabelled = of_all.size()};
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    result.disagreements += of_all[i] != of_first[i] ? 1U : 0U;
  }
  result.error =
      std::min(1.0, stable_compression_bound(result.mistaken, result.points, delta / 2) +
                        binomial_upper_limit(result.disagreements, result.unlabelled, delta / 2));
  return result;
}

}}  // namespace bpm
