// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/version_space/soft_boundary.hpp"

/// \file
/// Settings of a fit, the soft boundary that it chose, the bias of its kernel.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Default grid of lambda / k(x, x).
inline const std::vector<double> default_relative_lambdas{0, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};

/// Default grid of label noise, in place of lambda.
inline const std::vector<double> default_label_noises{0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3};

}  // namespace detail

/// The search for a soft boundary: bpm/selection/automatic_boundary.hpp.
struct AutomaticBoundary;

/// A candidate of a choice, with its results. For expectation propagation, which chooses by the
/// evidence: `consistent` if it converged, `loss` is minus the log evidence per point, the rest is
/// unknown.
struct ChoiceCandidate {
  std::size_t kernel = 0;        ///< Index in the list of kernels.
  double relative_lambda = 0;    ///< lambda / k(x, x).
  double label_noise = 0;        ///< Label noise of samplers that take it; their lambda is 0.
  double bias = 0;               ///< `FitSettings::bias`, if `choose` tried several.
  bool one_against_one = false;  ///< Whether its machines are of pairs of classes (`OneVsOne`).
  /// Whether every fold's machine found a consistent classifier within the allowed work; only then
  /// are the members below valid.
  bool consistent = false;
  /// Whether it was far behind on the first fold and tried there alone: loss and error add the
  /// leader's difference between that fold and all. It cannot win. Not stored in model files.
  bool first_fold_alone = false;
  double loss = std::numeric_limits<double>::infinity();  ///< Out-of-fold log loss, in nats.
  double standard_error = 0;                              ///< Standard error of the loss.
  double slope = 0;                                       ///< Slope of the probabilities.
  std::vector<double> offsets{};  ///< Offsets: for three or more classes, or class weights.
  double error = 1;               ///< Out-of-fold share of errors of labels with slope and offsets.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("kernel", self.kernel);
    visit("relative_lambda", self.relative_lambda);
    visit("label_noise", self.label_noise);
    detail::visit_unless(0, "bias", self.bias, visit);
    detail::visit_unless(false, "one_against_one", self.one_against_one, visit);
    visit("consistent", self.consistent);
    visit("loss", self.loss);
    visit("standard_error", self.standard_error);
    visit("slope", self.slope);
    detail::visit_unless({}, "offsets", self.offsets, visit);
    visit("error", self.error);
  }
};

/// The choice of `SoftBoundary::automatic`: its lambda, or label noise, with all candidates.
struct BoundaryChoice {
  double relative_lambda = 0;  ///< lambda_i / k(x_i, x_i) of the fit.
  double label_noise = 0;      ///< Label noise of the fit in place of lambda, if samplers take it.
  /// Slope of the logistic, fitted to out-of-fold outputs of machines of `fold_rows` points and
  /// `fold_draws` draws at the chosen lambda (else the next smaller one tried). 0: unknown.
  double slope = 0;
  std::vector<double> offsets{};  ///< Offsets in log odds, beside the slope; see `ChoiceCandidate`.
  /// g in [0, 0.6]: the best slope grows with the number m of training points like m^g, estimated
  /// from slopes of machines of half as many points and of `fold_rows`. The slope of a fit of m
  /// points is multiplied by (m / fold_rows)^g.
  double growth = 0;
  /// v in [0, 1): share of 1/s^2 of a single draw that is chance; the mean of N draws has an Nth of
  /// it: s_N = s_1 / sqrt(1 - v (1 - 1/N)).
  double draw_chance = 0;
  double fold_rows = 0;          ///< Mean number of training points of a fold.
  std::uint64_t fold_draws = 0;  ///< Draws of a fold's machine.
  std::size_t points = 0;        ///< Points judged out of fold.
  double largest_class = 0;      ///< Share of the largest class where tried.
  double loss_of_shares = 0;     ///< Log loss of predicting the classes' shares; 0: unknown.
  std::vector<ChoiceCandidate> candidates{};  ///< All candidates, ascending.
  /// Number of raises beyond the choice, since the whole training set had no consistent classifier;
  /// for perceptrons, within 200 passes, unless their settings differ.
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
    detail::visit_unless(0, "loss_of_shares", self.loss_of_shares, visit);
    visit("candidates", self.candidates);
    visit("raised", self.raised);
  }

  /// Returns the slope of the mean of `draws` draws over that of one.
  [[nodiscard]] double slope_of_draws(std::uint64_t draws) const {
    const double n = draws > 1 ? static_cast<double>(draws) : 1;
    return 1 / std::sqrt(1 - draw_chance * (1 - 1 / n));
  }
  /// Returns the factor of the out-of-fold slope for a machine of so many points and the mean of
  /// `draws` draws.
  [[nodiscard]] double slope_factor(std::size_t points_of_fit, std::uint64_t draws) const {
    if (!(fold_rows > 0)) return 1;
    return std::pow(static_cast<double>(points_of_fit) / fold_rows, growth) *
           slope_of_draws(draws) / slope_of_draws(fold_draws);
  }
};

/// Source of a fit's kernel values. The model does not depend on it, except for `linear`, whose
/// sums round differently.
enum class Strategy {
  dense,        ///< The whole symmetric matrix in memory.
  windowed,     ///< Computed when needed; kernels on pairs keep the rows that fit.
  precomputed,  ///< A matrix that the user provides.
  linear,       ///< None: a linear kernel keeps w, one number per feature.
};

/// Returns the name in files and messages; "unknown" for an invalid strategy.
[[nodiscard]] constexpr std::string_view to_string(Strategy strategy) {
  constexpr std::array<std::string_view, 4> names{"dense", "windowed", "precomputed", "linear"};
  const auto place = static_cast<std::size_t>(strategy);
  return place < names.size() ? names[place] : "unknown";
}

/// Default bias: among 0, 0.1, 0.3, 1 and 3 the one with the smallest out-of-fold log loss, in the
/// mean of the papers' seven sets and three made ones (table in docs/benchmarks.md).
inline constexpr double default_bias = 1;

/// Settings of a fit, for any kernel and sampler. A plain value.
struct FitSettings {
  /// Soft boundary: automatic, so that the fit chooses lambda or the sampler's label noise, or a
  /// given lambda; `SoftBoundary::hard()` needs a separable training set. One given to the machine
  /// replaces it. The choice does not depend on memory and threads.
  SoftBoundary soft_boundary = SoftBoundary::automatic();
  /// A boundary found earlier, by `choose`: the fit starts from it, without a search, and softens
  /// it if the data are not separable.
  std::optional<BoundaryChoice> boundary_choice{};
  std::uint64_t seed = 1;  ///< Seed of random numbers: same seed, same model (see `Strategy`).
  unsigned threads = 0;    ///< Number of threads; 0: as many as the machine runs.
  /// Working memory of the fit beside the caller's inputs, in bytes. Perceptrons of a linear kernel
  /// keep w if a row has few numbers compared with the points. Else, within the memory, the fit
  /// keeps the whole matrix if points are few, values slow or draws many, and otherwise computes
  /// values when needed (kernels on pairs, whose values are slow, keep as many rows as fit), with
  /// fewer draws at a time if necessary; the model is the same. An automatic lambda needs at least
  /// 16 n^2 bytes, n the points of its search (`AutomaticBoundary::points`). Not counted are the
  /// classifier's support inputs, as they are and packed for prediction (and padded, where a row is
  /// not whole registers), and, with `keep_draws`, the draws.
  std::size_t memory = std::size_t{1} << 30U;
  /// Strategy to use instead of a choice; one that does not fit the memory is an error.
  std::optional<Strategy> strategy{};
  /// Constant added to the kernel, in units of the mean k(x, x) of the training set: one more
  /// constant feature, so that classifiers have a threshold. A relative lambda refers to k(x, x)
  /// with it. Absent: `default_bias`, but 0 for a matrix that the user provides.
  std::optional<double> bias{};
  /// Whether inputs are standardised: less the mean of their column and over its deviation, those
  /// of the training set; the classifier standardises its queries
  /// (`ClassifierParts::standardisation`). For dense rows of float or double, in `fit`, `choose`,
  /// `cross_validate` and `nested`. `memory` does not count the copy of the inputs.
  bool standardise = false;
  bool keep_draws = false;  ///< Whether to keep single draws, for vote fractions and Gibbs errors.
  bool chosen = false;      ///< Set by `choose`: data have chosen some settings, or the kernel.
};

/// Forecast of the working memory of a fit, in bytes beside the caller's inputs. Not counted: see
/// `FitSettings::memory`.
struct MemoryForecast {
  Strategy strategy = Strategy::windowed;  ///< Source of kernel values.
  std::size_t kernel_bytes = 0;   ///< Kernel values kept, and copies of inputs where they need one.
  std::size_t sampler_bytes = 0;  ///< Outputs and coefficients of the runs in progress.
  std::size_t model_bytes = 0;    ///< Labels, sums over draws, hashes of the inputs.
  /// Kernel values for the choice of lambda, released before the others are computed.
  std::size_t choosing_bytes = 0;
  std::size_t kept_rows = 0;   ///< Kernel rows that may be kept, counted in `kernel_bytes`.
  unsigned draws_at_once = 0;  ///< At most this many draws at once, to save memory; 0: no limit.
  unsigned threads = 0;        ///< Threads of the sampler, fewer to save memory.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("strategy", self.strategy);
    visit("kernel_bytes", self.kernel_bytes);
    visit("sampler_bytes", self.sampler_bytes);
    visit("model_bytes", self.model_bytes);
    visit("choosing_bytes", self.choosing_bytes);
    visit("kept_rows", self.kept_rows);
    visit("draws_at_once", self.draws_at_once);
    visit("threads", self.threads);
  }

  /// Returns the most bytes at a time: those of the choice are released before the fit.
  [[nodiscard]] std::size_t total() const noexcept {
    return model_bytes + std::max(choosing_bytes, kernel_bytes + sampler_bytes);
  }
};

namespace detail {

/// Returns `FitSettings::bias` in its units, or the default.
/// \throws std::invalid_argument unless it is finite and not negative, or if it is positive for a
/// matrix that the user provides.
template <class Kernel>
[[nodiscard]] double relative_bias(const FitSettings& settings, std::string_view function) {
  if (settings.bias) check_not_negative(function, "bias", *settings.bias);
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    check(settings.bias.value_or(0) == 0, function, "bias", "is ", settings.bias.value_or(0),
          ", must be 0 or left out with a PrecomputedKernel; add it to the matrix");
    return 0;
  } else {
    return settings.bias.value_or(default_bias);
  }
}

/// Returns the bias as a number to add to kernel values: times the mean k(x, x) of these inputs.
/// \throws KernelValueError as `kernel_diagonal`.
template <class Kernel, InputSet I>
[[nodiscard]] double absolute_bias(const Kernel& kernel, const FitSettings& settings,
                                   const I& inputs, std::string_view function) {
  const double factor = relative_bias<Kernel>(settings, function);
  if constexpr (!std::same_as<Kernel, PrecomputedKernel>) {
    if (factor > 0) {
      const auto diagonal = kernel_diagonal(kernel, PreparedInputs<I>(inputs));
      const std::ptrdiff_t m = input_count(inputs);
      double sum = 0;
      for (std::ptrdiff_t i = 0; i < m; ++i) sum += static_cast<double>(diagonal[i]);
      return factor * (sum / static_cast<double>(m));
    }
  }
  return 0;
}

/// Returns the kernel with its bias; a `PrecomputedKernel` unchanged.
template <class Kernel>
[[nodiscard]] auto with_bias(const Kernel& kernel, double bias) {
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    return kernel;
  } else {
    return Biased<Kernel>{kernel, bias};
  }
}

}  // namespace detail
}}  // namespace bpm
