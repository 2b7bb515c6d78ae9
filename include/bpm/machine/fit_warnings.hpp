// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/target.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// A warning of a fit about its classifier.
struct FitWarning {
  /// Kinds of warnings; each explains the numbers that come with it.
  enum class Kind {
    /// The Bayes point makes more than twice as many training errors as its draws on average: the
    /// draws are too far apart for their mean to be one of them.
    worse_than_its_draws,
    /// No training point is predicted to be of the class `label`.
    class_never_predicted,
    /// Always predicting the largest class is hardly worse: by the log loss out of fold, compared
    /// with that of the classes' shares, if lambda was chosen; else by the draws' errors on the
    /// training set.
    no_better_than_largest_class,
    /// The Gaussian's width `found` is more than 30 times the median distance `compared` of the
    /// fitted inputs, or less than a 30th of it; or more than 8 times, with another warning. The
    /// kernel values are then all nearly 1, or nearly 0.
    width_far_from_distances,
    /// The column `label` of dense inputs has a deviation `found` that is more than ten times the
    /// median one, `compared`: it dominates distances and inner products.
    columns_differ_in_scale,
    /// R-hat of the sampler's chains, `found`, is above `compared`: the chains, or their beginnings
    /// and ends, follow different laws, so that the centre is that of none (`ChainReport::r_hat`).
    chains_disagree,
    /// The inputs are `found` away from the kernel's origin, so far that the rounding of their
    /// inner products hides distances as small as `compared`: a Gaussian's width, or the distance
    /// of the inputs from their mean.
    far_from_origin,
  };
  Kind kind;            ///< Kind, which defines the other fields.
  double found = 0;     ///< Log loss, share of wrong binary decisions, or as the kind defines it.
  double compared = 0;  ///< Value to compare `found` with.
  double standard_error = 0;  ///< Standard error of `found`: a warning takes two.
  int label = 0;              ///< Class or column of the warning.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("kind", self.kind);
    visit("found", self.found);
    visit("compared", self.compared);
    visit("standard_error", self.standard_error);
    visit("label", self.label);
  }

  /// Returns the problem and its remedy, without the numbers.
  [[nodiscard]] constexpr std::string_view what() const {
    constexpr std::array<std::string_view, 7> names{
        "the Bayes point makes more training errors than its draws: make more draws, or harden the "
        "soft boundary",
        "a class is never predicted on the training set: give it a smaller lambda (class weights)",
        "hardly better than always saying the largest class: another kernel, or better features",
        "the Gaussian's width is far from the distances of the inputs that were fitted: take "
        "Gaussian::from_median of these inputs, where a machine standardises of "
        "Standardisation::of(inputs).apply(inputs)",
        "a column of the inputs varies more than ten times as much as most others, and decides "
        "alone: FitSettings::standardise brings them to one scale",
        "the sampler's chains tell of different laws: make more draws, or more steps from one to "
        "the next",
        "the inputs lie so far from the origin that rounding hides what tells them apart: take "
        "their mean off, by FitSettings::standardise for one, or give them as double"};
    return names[static_cast<std::size_t>(kind)];
  }
};

namespace detail {

/// Returns the candidate with the fit's boundary, if one was tried and is consistent; else null.
[[nodiscard]] inline const ChoiceCandidate* candidate_taken(const BoundaryChoice& boundary) {
  const ChoiceCandidate* taken = nullptr;
  for (const ChoiceCandidate& one : boundary.candidates) {
    const bool same =
        one.relative_lambda == boundary.relative_lambda && one.label_noise == boundary.label_noise;
    if (one.consistent && one.slope > 0 && same) taken = &one;
  }
  return taken;
}

/// Returns the warning about a choice that its out-of-fold loss implies, if any.
[[nodiscard]] inline std::optional<FitWarning> no_better_out_of_fold(const BoundaryChoice& choice) {
  const ChoiceCandidate* const taken = candidate_taken(choice);
  if (taken == nullptr || choice.loss_of_shares == 0) return std::nullopt;
  if (taken->loss + 2 * taken->standard_error <= choice.loss_of_shares) return std::nullopt;
  return FitWarning{FitWarning::Kind::no_better_than_largest_class, taken->loss,
                    choice.loss_of_shares, taken->standard_error};
}

/// Returns the warnings of a fit. `draw_errors`: training errors under the plain kernel, summed
/// over the binary subproblems, mean over draws; empty: unknown. `shifts`: numbers added to the
/// outputs before labels are computed; empty: none. `weighted`: whether there are class weights,
/// with which errors mean little.
[[nodiscard]] BPM_INLINE std::vector<FitWarning> fit_warnings(
    const Subproblems& problems, std::span<const DrawMean> means,
    std::span<const std::size_t> training_errors, std::optional<double> draw_errors,
    const std::optional<BoundaryChoice>& boundary, std::span<const int> labels,
    std::span<const double> shifts = {}, bool weighted = false);

/// Returns the width of a Gaussian, also of a `RuntimeKernel`; none for other kernels.
template <class Kernel>
[[nodiscard]] std::optional<double> gaussian_width(const Kernel& kernel) {
  if constexpr (std::same_as<Kernel, Gaussian>) {
    return 1 / std::sqrt(kernel.gamma());
  } else if constexpr (std::same_as<Kernel, RuntimeKernel>) {
    return kernel.visit([](const auto& one) { return gaussian_width(one); });
  }
  return std::nullopt;
}

/// Adds the warning of a width that does not fit the inputs, as the first, since it causes others.
/// Cost: `median_distance`.
template <class Kernel, class I>
void warn_of_width(const Kernel& kernel, const I& inputs, std::vector<FitWarning>& warnings) {
  if constexpr (DenseInputs<I> || SparseInputs<I>) {
    const std::optional<double> width = gaussian_width(kernel);
    if (!width || inputs.rows() < 2) return;
    const double distance = median_distance(inputs);
    constexpr double far = 30;
    constexpr double suspicious = 8;
    if (distance > 0 && (*width > far * distance || *width < distance / far ||
                         (*width > suspicious * distance && !warnings.empty()))) {
      warnings.insert(warnings.begin(), {.kind = FitWarning::Kind::width_far_from_distances,
                                         .found = *width,
                                         .compared = distance});
    }
  }
}

/// Adds the warnings of a column on another scale, and of inputs far from `origin`, the point that
/// the kernel subtracts. Cost: a pass over at most 2000 rows.
template <class Kernel, class I>
void warn_of_units(const Kernel& kernel, const I& inputs, std::span<const double> origin,
                   std::vector<FitWarning>& warnings) {
  if constexpr (ScalableInputs<I>) {
    constexpr Eigen::Index most = 2000;
    if (inputs.rows() < 2) return;
    const FeatureMoments moments(inputs, (inputs.rows() + most - 1) / most);
    std::vector<std::pair<double, int>> deviations;  // Without constant columns.
    double spread = 0;
    double size = 0;
    for (std::size_t c = 0; c < moments.mean.size(); ++c) {
      const double variance = moments.squares[c] / moments.count;
      const double mean = moments.mean[c] - (origin.empty() ? 0 : origin[c]);
      if (variance > 0) deviations.emplace_back(std::sqrt(variance), static_cast<int>(c));
      spread += variance;
      size += variance + mean * mean;
    }
    if (deviations.empty()) return;
    if constexpr (InnerProductKernel<Kernel>) {
      // Rounding error of inner products, which linear kernels add up in double.
      const double rounding =
          size * (linear_form(kernel) ? std::numeric_limits<double>::epsilon()
                                      : std::numeric_limits<kernel_scalar_t<I>>::epsilon());
      const std::optional<double> width = gaussian_width(kernel);
      const double wanted = width ? *width * *width : spread;
      if (rounding > 0.1 * wanted) {
        warnings.push_back({.kind = FitWarning::Kind::far_from_origin,
                            .found = std::sqrt(size),
                            .compared = std::sqrt(wanted)});
      }
    }
    if (deviations.size() < 2) return;
    std::sort(deviations.begin(), deviations.end());
    const double middle = deviations[(deviations.size() - 1) / 2].first;
    constexpr double far = 10;
    if (deviations.back().first > far * middle) {
      warnings.push_back({.kind = FitWarning::Kind::columns_differ_in_scale,
                          .found = deviations.back().first,
                          .compared = middle,
                          .label = deviations.back().second});
    }
  }
}

/// Adds the warning of chains that disagree: R-hat above 1.2, and above the value that it exceeds
/// once in 100 000 numbers if a draw is worth half an independent one. With h halves of n draws
/// R-hat^2 - 1 is then (2 X / (h - 1) - 1) / n, X of the chi-squared law, whose quantile is that of
/// E. Wilson and M. Hilferty (1931).
inline void warn_of_chains(const SamplerReport& report, std::vector<FitWarning>& warnings) {
  if (!report.chains || report.chains->r_hat == 0) return;
  const double freedom = 2.0 * report.chains->chains - 1;
  const double kept =
      std::min(512.0, static_cast<double>(report.draws) / report.chains->chains) / 2;
  const double part = 2 / (9 * freedom);
  const double quantile = std::pow(1 - part + 4.26 * std::sqrt(part), 3);
  const double most = std::max(1.2, std::sqrt(1 + (2 * quantile - 1) / kept));
  if (report.chains->r_hat <= most) return;
  warnings.push_back(
      {.kind = FitWarning::Kind::chains_disagree, .found = report.chains->r_hat, .compared = most});
}

#if BPM_BODIES

BPM_INLINE std::vector<FitWarning> fit_warnings(const Subproblems& problems,
                                                std::span<const DrawMean> means,
                                                std::span<const std::size_t> training_errors,
                                                std::optional<double> draw_errors,
                                                const std::optional<BoundaryChoice>& boundary,
                                                std::span<const int> labels,
                                                std::span<const double> shifts, bool weighted) {
  std::vector<FitWarning> warnings;
  const auto m = static_cast<double>(labels.size());
  const double decisions = m * static_cast<double>(problems.size());
  double own = 0;
  for (const std::size_t errors : training_errors) own += static_cast<double>(errors) / decisions;
  const double of_draws = draw_errors.value_or(0) / decisions;
  if (const double se = error_of_share(own, decisions);
      draw_errors && own > 2 * of_draws && own > of_draws + 2 * se) {
    warnings.push_back({FitWarning::Kind::worse_than_its_draws, own, of_draws, se});
  }

  std::vector<std::size_t> predicted(problems.classes.size(), 0);
  std::vector<std::size_t> counts(problems.classes.size(), 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto output = [&](std::ptrdiff_t of) {
      const auto p = static_cast<std::size_t>(of);
      const auto point = static_cast<std::ptrdiff_t>(i);
      return means[p].plain_output(point, problems.lambda_at(point)) +
             (p < shifts.size() ? shifts[p] : 0);
    };
    ++predicted[std::size_t(class_of_outputs(std::ssize(means), output))];
    const auto own_class =
        std::lower_bound(problems.classes.begin(), problems.classes.end(), labels[i]);
    ++counts[static_cast<std::size_t>(own_class - problems.classes.begin())];
  }
  for (std::size_t c = 0; c < predicted.size(); ++c) {
    if (predicted[c] > 0) continue;
    warnings.push_back({.kind = FitWarning::Kind::class_never_predicted,
                        .compared = static_cast<double>(counts[c]) / m,
                        .label = problems.classes[c]});
  }

  if (weighted) return warnings;
  if (boundary && candidate_taken(*boundary) != nullptr) {
    if (const auto warning = no_better_out_of_fold(*boundary)) warnings.push_back(*warning);
  } else if (draw_errors) {
    // Binary decisions: always predicting a subproblem's larger side errs on the smaller one.
    double naive = 0;
    for (const std::size_t of_class : counts) {
      const double share = static_cast<double>(of_class) / m;
      naive += std::min(share, 1 - share) / static_cast<double>(counts.size());
    }
    if (const double se = error_of_share(of_draws, decisions); of_draws + 2 * se > naive) {
      warnings.push_back({FitWarning::Kind::no_better_than_largest_class, of_draws, naive, se});
    }
  }
  return warnings;
}

#endif

}  // namespace detail
}}  // namespace bpm
