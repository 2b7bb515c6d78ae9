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
#include "bpm/core/members.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/version_space/soft_boundary.hpp"

/// \file
/// What a fit is asked for: settings, the soft boundary that it chose, the bias of its kernel.

namespace bpm { inline namespace BPM_TARGET {

/// A candidate and what became of it. Of expectation propagation, which chooses by the evidence:
/// `consistent` where it converged, `loss` is minus the log evidence a point, the rest is not
/// known.
struct ChoiceCandidate {
  std::size_t kernel = 0;        ///< In the list of what was tried.
  double relative_lambda = 0;    ///< lambda over k(x, x).
  double label_noise = 0;        ///< Of samplers that take it; their lambda is 0.
  double bias = 0;               ///< As `FitSettings::bias`, where `choose` has tried several.
  bool one_against_one = false;  ///< As `FitSettings::one_against_one`.
  /// Whether every fold's machine found a consistent classifier within the work allowed; all that
  /// follows is of those that did.
  bool consistent = false;
  /// Far behind on the first fold, and tried there alone: loss and error are its own there and the
  /// leader's difference between that fold and all. It is not taken. Not in model files.
  bool first_fold_alone = false;
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
    detail::visit_unless(false, "one_against_one", self.one_against_one, visit);
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
  double fold_rows = 0;          ///< Points that train a fold, on average,
  std::uint64_t fold_draws = 0;  ///< and draws that its machine has.
  std::size_t points = 0;        ///< Left out once, by which candidates are judged,
  double largest_class = 0;      ///< the share of the largest class where tried,
  double loss_of_shares = 0;     ///< and the log loss of saying all classes' shares; 0: not known.
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
    detail::visit_unless(0, "loss_of_shares", self.loss_of_shares, visit);
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

/// Where a fit takes its kernel values from. The model does not depend on it, but for `linear`,
/// whose sums have other roundings.
enum class Strategy {
  dense,        ///< The whole symmetric matrix in memory.
  windowed,     ///< Computed when needed. Of kernels on pairs the rows that fit are kept.
  precomputed,  ///< A matrix that the user brings.
  linear,       ///< None: of a linear kernel w is kept, one number per feature.
};

/// As files and messages say it; "unknown" of a number that is no strategy.
[[nodiscard]] constexpr std::string_view to_string(Strategy strategy) {
  constexpr std::array<std::string_view, 4> names{"dense", "windowed", "precomputed", "linear"};
  const auto place = static_cast<std::size_t>(strategy);
  return place < names.size() ? names[place] : "unknown";
}

/// Of 0, 0.1, 0.3, 1 and 3 the one with the smallest out-of-fold log loss, in the mean of the
/// papers' seven sets and three made ones: the table is in docs/benchmarks.md.
inline constexpr double default_bias = 1;

/// How a machine is fitted, whatever its kernel and sampler. A plain value.
struct FitSettings {
  /// lambda, or the sampler's label noise, chosen by the fit; or a lambda of one's own:
  /// `SoftBoundary::hard()` asks for a training set
  /// that is separable. The same is chosen whatever memory and threads.
  SoftBoundary soft_boundary = SoftBoundary::automatic();
  /// What an automatic boundary begins with instead of choosing, raised where that does not
  /// suffice: `choose` leaves it in the machine it gives.
  std::optional<BoundaryChoice> boundary_choice{};
  std::uint64_t seed = 1;  ///< Same seed, same model, whatever the next three are (but `linear`).
  unsigned threads = 0;    ///< 0: as many as the machine runs.
  /// Working memory of the fit beside the caller's inputs, in bytes. Perceptrons of a linear kernel
  /// keep w where a row has few numbers beside the points. Else, within the memory, the fit takes
  /// the whole matrix where points are few, values slow or draws many, else values when they are
  /// needed (of kernels on pairs, whose values are dear, as many rows are kept as the memory
  /// holds), and makes fewer draws at a time if it must; the model is the same. An automatic lambda
  /// asks for at least 16 n^2 bytes, n the 3000 points or fewer on which it is chosen. What the
  /// classifier keeps is not counted: the inputs that have a coefficient, as they are and packed
  /// for prediction (and padded, where a row is not whole registers), and, with `keep_draws`, the
  /// draws.
  std::size_t memory = std::size_t{1} << 30U;
  /// The strategy to take instead of choosing one; what does not fit the memory is an error.
  std::optional<Strategy> strategy{};
  /// A constant beside the kernel, in units of the mean k(x, x) of the training set: one constant
  /// feature more, so that classifiers have a threshold. It is part of the k(x, x) that a relative
  /// lambda is in units of. Left out: `default_bias`, but nothing beside a matrix that the user
  /// brings.
  std::optional<double> bias{};
  /// Three classes and more by a machine for every pair of classes instead of one for each class
  /// against the rest: see `OneVsRest`.
  bool one_against_one = false;
  /// Inputs are taken less the mean of their column and over its deviation, those of the training
  /// set; the classifier does the same to what it is asked (`ClassifierParts::standardisation`).
  /// For dense rows of float or double, and for `fit`, `choose`, `cross_validate` and `nested`.
  /// The copy of the inputs is beside `memory`.
  bool standardise = false;
  bool keep_draws = false;  ///< Keep the single draws: for vote fractions and the Gibbs error.
  bool chosen = false;      ///< Set by `choose`: data have chosen some of these, or the kernel.
};

/// The working memory that a fit will take, told before it takes it, in bytes beside the caller's
/// inputs. Not counted: see `FitSettings::memory`.
struct MemoryForecast {
  Strategy strategy = Strategy::windowed;  ///< Where kernel values come from.
  std::size_t kernel_bytes = 0;   ///< Kernel values kept, and copies of inputs where they need one.
  std::size_t sampler_bytes = 0;  ///< Outputs and coefficients of the runs in progress.
  std::size_t model_bytes = 0;    ///< Labels, sums over draws, hashes of the inputs.
  /// Kernel values to choose lambda by, which are gone before the others come.
  std::size_t choosing_bytes = 0;
  std::size_t kept_rows = 0;   ///< Kernel rows that may be kept, counted in `kernel_bytes`.
  unsigned draws_at_once = 0;  ///< Draws in progress at a time, for lack of memory; 0: any.
  unsigned threads = 0;        ///< Threads of the sampler, fewer for lack of memory.

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

  /// The most bytes at a time: what lambda is chosen by is gone before the rest comes.
  [[nodiscard]] std::size_t total() const noexcept {
    return model_bytes + std::max(choosing_bytes, kernel_bytes + sampler_bytes);
  }
};

namespace detail {

/// `FitSettings::bias` in its units: what was given, or the default.
/// \throws std::invalid_argument unless it is finite and not negative, or if it is positive where
///         the user brings the matrix.
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

/// The same as a number to add to kernel values: times the mean k(x, x) of these inputs.
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

/// The kernel with its bias; a matrix as it is.
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
