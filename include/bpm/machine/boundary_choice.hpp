// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/members.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// A candidate and what became of it. Of expectation propagation, which chooses by the evidence:
/// `consistent` where it converged, `loss` is minus the log evidence a point, the rest is not
/// known.
struct ChoiceCandidate {
  std::size_t kernel = 0;      ///< In the list of what was tried.
  double relative_lambda = 0;  ///< lambda over k(x, x).
  double label_noise = 0;      ///< Of samplers that take it; their lambda is 0.
  double bias = 0;             ///< As `FitSettings::bias`, where `choose` has tried several.
  /// Whether every fold's machine found a consistent classifier within the work allowed; all that
  /// follows is of those that did.
  bool consistent = false;
  double loss = std::numeric_limits<double>::infinity();  ///< Out-of-fold log loss, in nats.
  double standard_error = 0;                              ///< Of the loss.
  double slope = 0;                                       ///< Of the probabilities.
  std::vector<double> offsets{};  ///< Likewise: of three classes and more, or with class weights.
  double error = 1;  ///< Out-of-fold share of errors, of labels with these slope and offsets.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("kernel", self.kernel);
    visit("relative_lambda", self.relative_lambda);
    visit("label_noise", self.label_noise);
    detail::visit_unless(0, "bias", self.bias, visit);
    visit("consistent", self.consistent);
    visit("loss", self.loss);
    visit("standard_error", self.standard_error);
    visit("slope", self.slope);
    detail::visit_unless({}, "offsets", self.offsets, visit);
    visit("error", self.error);
  }
};

/// How `SoftBoundary::automatic` came to its lambda, or label noise, and beside which
/// alternatives.
struct BoundaryChoice {
  double relative_lambda = 0;  ///< What the fit took: lambda_i over k(x_i, x_i).
  double label_noise = 0;      ///< What it took in its place, of samplers that take label noise.
  /// Of probabilities, out of fold, at what the fit took or the nearest smaller one that was tried;
  /// 0: not known. Of machines of `fold_rows` points and `fold_draws` draws.
  double slope = 0;
  std::vector<double> offsets{};  ///< Beside the slope, in log odds; see `ChoiceCandidate`.
  /// g in [0, 0.6]: the best slope grows with the number m of training points like m^g, by the
  /// slopes of machines of half as many points and of `fold_rows`. A fit of m points has the slope
  /// times (m / fold_rows)^g.
  double growth = 0;
  /// v in [0, 1): a share v of 1/s^2 of a single draw is chance, of which the mean of N draws has
  /// the Nth part: s_N = s_1 / sqrt(1 - v (1 - 1/N)).
  double draw_chance = 0;
  double fold_rows = 0;                       ///< Points that train a fold, on average,
  std::uint64_t fold_draws = 0;               ///< and draws that its machine has.
  std::size_t points = 0;                     ///< On which the candidates were tried,
  double largest_class = 0;                   ///< and the share of the largest class among them.
  std::vector<ChoiceCandidate> candidates{};  ///< Ascending.
  /// How often it was raised beyond the choice, because no consistent classifier of the whole
  /// training set was found; by perceptrons within 200 passes, unless their settings say otherwise.
  unsigned raised = 0;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("relative_lambda", self.relative_lambda);
    visit("label_noise", self.label_noise);
    visit("slope", self.slope);
    detail::visit_unless({}, "offsets", self.offsets, visit);
    detail::visit_unless(0, "growth", self.growth, visit);
    detail::visit_unless(0, "draw_chance", self.draw_chance, visit);
    detail::visit_unless(0, "fold_rows", self.fold_rows, visit);
    detail::visit_unless(0, "fold_draws", self.fold_draws, visit);
    visit("points", self.points);
    visit("largest_class", self.largest_class);
    visit("candidates", self.candidates);
    visit("raised", self.raised);
  }

  /// The slope of the mean of `draws` draws over that of one.
  [[nodiscard]] double slope_of_draws(std::uint64_t draws) const {
    const double n = draws > 1 ? static_cast<double>(draws) : 1;
    return 1 / std::sqrt(1 - draw_chance * (1 - 1 / n));
  }
  /// What the slope found out of fold is to be multiplied by for a machine of so many points and
  /// the mean of `draws` draws.
  [[nodiscard]] double slope_factor(std::size_t points_of_fit, std::uint64_t draws) const {
    if (!(fold_rows > 0)) return 1;
    return std::pow(static_cast<double>(points_of_fit) / fold_rows, growth) *
           slope_of_draws(draws) / slope_of_draws(fold_draws);
  }
};

}}  // namespace bpm
