// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/labels.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// An upper limit of a classifier's error that holds with probability 1 - delta over its training
/// set, without a labelled example beside it.
struct Certificate {
  double error = 1;               ///< The classifier errs at most at this rate, in [0, 1].
  double delta = 0;               ///< Probability that the limit fails.
  std::size_t mistaken = 0;       ///< k: points that the compression bound counts.
  std::size_t points = 0;         ///< N, points of the training set.
  std::size_t unlabelled = 0;     ///< Number of inputs without labels.
  std::size_t disagreements = 0;  ///< Inputs that the first draw classifies differently.

  /// Combines the limit of a compression to `mistaken` of N `points` and that of its
  /// `disagreements` with the final classifier on n inputs without labels, with half of delta each.
  /// \throws as `stable_compression_bound` and `binomial_upper_limit`.
  [[nodiscard]] static Certificate of_first_draw(std::size_t mistaken, std::size_t points,
                                                 std::size_t disagreements, std::size_t unlabelled,
                                                 double delta) {
    const double error = stable_compression_bound(mistaken, points, delta / 2) +
                         binomial_upper_limit(disagreements, unlabelled, delta / 2);
    return {std::min(1.0, error), delta, mistaken, points, unlabelled, disagreements};
  }

  /// Returns the certificate in words: theorem, numbers, delta, conditions.
  [[nodiscard]] std::string message() const {
    const std::string by =
        detail::join("error at most ", error, " with confidence ", 1 - delta,
                     ", by stable compression (Campi, Garatti, JMLR 24, 2023): ", mistaken, " of ",
                     points, " training points were mistaken");
    const std::string conditions =
        "; for independent examples of one source, inputs without labels included, and kernel, "
        "width, features, lambda and number of draws fixed beforehand";
    return unlabelled == 0
               ? by + " in some draw" + conditions
               : detail::join(by, " in the first draw, from which it differs on ", disagreements,
                              " of ", unlabelled, " inputs without labels", conditions);
  }
};

namespace detail {

/// Returns whether k(x, x) is the same number for every input, by the kernel's type.
template <class Kernel>
[[nodiscard]] bool has_one_diagonal(const Kernel& kernel) {
  if constexpr (std::same_as<Kernel, RuntimeKernel>) {
    return kernel.visit([](const auto& one) { return has_one_diagonal(one); });
  }
  return std::same_as<Kernel, Gaussian> || std::same_as<Kernel, Laplacian> ||
         std::same_as<Kernel, Exponential>;
}

/// Throws unless the known properties of a classifier allow a bound by compression.
template <class Kernel, InputSet Inputs>
void check_compression(const Classifier<Kernel, Inputs>& classifier) {
  const auto& parts = classifier.parts();
  const Notes& notes = classifier.notes;
  const char* const f = "certificate";
  const auto allow = [&](bool holds, const auto&... why) { check(holds, f, "classifier", why...); };
  allow(notes.training_points > 0 && notes.report.perceptron &&
            notes.report.mistaken_points.size() == notes.report.draws && notes.report.draws > 0,
        "is not of permuted perceptrons on one training set: no compression makes it");
  allow(!notes.report.stopped,
        "was stopped before the draws that were asked for; fix their number");
  allow(notes.report.perceptron->training_errors == 0, "has draws with training errors left");
  allow(!notes.boundary, "has a soft boundary that its training set chose; fix one beforehand");
  allow(!notes.chosen, "has settings that choose found; fix them beforehand");
  allow(!parts.standardisation,
        "has inputs standardised by the training set, whose means change when points go");
  if (notes.encoding) {
    for (const TableEncoding::Column& column : notes.encoding->columns) {
      allow(column.kind == MixedTable::Kind::numbers && !column.fill,
            "has words or missing values encoded by the training set, whose categories and means "
            "change when points go; encode by other rows, and certify before notes.encoding is "
            "set");
    }
  }
  allow(parts.offsets.empty() || !parts.offsets_move_labels,
        "has labels that offsets of its probabilities move");
  allow(parts.bias == 0 || has_one_diagonal(parts.kernel),
        "has a bias in units of the mean k(x, x), which changes when points go; set it to 0");
}

}  // namespace detail

/// Returns a limit of the error of a fit of permuted perceptrons, the mean of its draws, from its
/// training set alone: `stable_compression_bound` of the k points on which any draw made a mistake,
/// which alone would give the same fit. The first draw's error is at most
/// `stable_compression_bound(report().mistaken_points[0], N, delta)`.
///
/// Conditions. Checked: one training set, all requested draws made, no soft boundary chosen on it,
/// no settings found by `choose`, no standardising, no encoding of words or missing values, no bias
/// except with a kernel of distances, whose k(x, x) is 1, no offsets. The caller must ensure:
/// notes as the fit left them; independent examples of one source; kernel, width (not the median of
/// distances), features, lambda (no class weights from counts, no lambda by a point's index) and
/// number of draws fixed before these examples were seen, or delta divided by the number of
/// combinations that could have been chosen; no fit repeated because another failed
/// (`NotSeparable`) or for its certificate. \throws std::invalid_argument if a checked condition
/// fails, or unless 0 < delta < 1.
template <class Kernel, InputSet Inputs>
[[nodiscard]] Certificate certificate(const Classifier<Kernel, Inputs>& classifier, double delta) {
  detail::check_compression(classifier);
  Certificate result{.delta = delta,
                     .mistaken = classifier.support().size(),
                     .points = classifier.notes.training_points};
  result.error = stable_compression_bound(result.mistaken, result.points, delta);
  return result;
}

/// Returns a limit that also uses inputs without labels, independent of each other and of the
/// training set, from the same source, and is much smaller for many draws: the first draw's limit
/// at delta / 2, which counts fewer points, plus the limit at delta / 2 of the rate at which the
/// classifier differs from it (`binomial_upper_limit`). Needs kept draws
/// (`FitSettings::keep_draws`). Cost: two predictions of the inputs, one of all kept draws. \throws
/// std::invalid_argument as `certificate` of a classifier alone, without inputs, or as
/// `Classifier::draw_decision_values`.
template <class Kernel, InputSet Inputs, class Queries>
[[nodiscard]] Certificate certificate(const Classifier<Kernel, Inputs>& classifier,
                                      const Queries& unlabelled, double delta) {
  detail::check_compression(classifier);
  detail::check_delta("certificate", "delta", delta);
  const std::vector<int> of_all = classifier.predict(unlabelled);
  detail::check(!of_all.empty(), "certificate", "unlabelled", "are none, must be one or more");
  const Eigen::MatrixXd outputs = classifier.draw_decision_values(unlabelled);
  const std::vector<int> of_first = detail::labels_of_outputs(
      Eigen::MatrixXd(outputs.leftCols(classifier.columns())), classifier.classes());
  std::size_t disagreements = 0;
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    disagreements += of_all[i] != of_first[i] ? 1U : 0U;
  }
  return Certificate::of_first_draw(classifier.report().mistaken_points[0],
                                    classifier.notes.training_points, disagreements, of_all.size(),
                                    delta);
}

}}  // namespace bpm
