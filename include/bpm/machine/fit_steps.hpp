// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/dot_product.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/candidates.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Number of held-out outputs that suffice for a slope and an offset per class.
inline constexpr std::size_t enough_left_out = 3000;

/// Returns the number of draws that hold out the last tenth of their permutation for calibration:
/// enough for about 3000 outputs, at most 2. 0 below 6000 points, where folds calibrate. It depends
/// on the number of points alone, so that a draw does not depend on when it is made. docs/theory.md
/// compares alternatives.
[[nodiscard]] constexpr std::uint64_t left_out_draws(std::size_t points) {
  constexpr std::size_t twice_the_part = 6000;
  constexpr std::size_t most = 2;
  const std::size_t tenth = points / 10;
  if (points < twice_the_part) return 0;
  return std::min(most, (enough_left_out + tenth - 1) / tenth);
}

/// Returns the factor of offsets found on so many outputs of one or two draws: with fewer outputs,
/// more of an offset is chance. 1 with class weights, whose deliberate shift of the boundary the
/// offsets must undo completely.
[[nodiscard]] inline double share_of_offsets(std::size_t outputs, const SoftBoundary& boundary) {
  if (boundary.has_class_weights()) return 1;
  return std::sqrt(std::min(1.0, static_cast<double>(outputs) / enough_left_out));
}

/// Held-out outputs of the draws of all subproblems, a row per draw and point, without draws for
/// which a subproblem has none.
struct OutputsLeftOut {
  Eigen::MatrixXd decision_values;  ///< Outputs, rows x subproblems.
  std::vector<int> labels;          ///< Labels of the rows.

  OutputsLeftOut(std::span<const DrawMean> means, std::span<const int> all);
};

/// Returns the control of a run with these settings. The observer must outlive it.
template <Observer O>
[[nodiscard]] RunControl run_control(const FitSettings& settings, O& observer, StopToken stop) {
  return {[&observer](const Progress& progress) { return notify(observer, progress); },
          std::move(stop), thread_count(settings.threads)};
}

/// Returns a control that, once its observer has asked to stop, keeps asking: processes that
/// compute alone can stop only when they communicate next.
template <class Sampler>
[[nodiscard]] RunControl lasting_control(RunControl control) {
  if constexpr (Sampler::traits.collective) {
    control.observer = [ask = std::move(control.observer),
                        stopped = std::make_shared<std::atomic<bool>>(false)](const Progress& now) {
      if (ask && !ask(now)) *stopped = true;
      return !*stopped;
    };
  }
  return control;
}

/// Returns the control for work that one of several processes does alone: nothing stops it there,
/// since the others would wait for it.
template <class Sampler>
[[nodiscard]] RunControl without_stop(const RunControl& control) {
  RunControl result = control;
  if constexpr (Sampler::traits.collective) {
    result.stop = {};
    result.observer = [&control](const Progress& now) {
      static_cast<void>(control.observer(now));
      return true;
    };
  }
  return result;
}

/// Returns the mean k(x, x) of the points of a user's matrix of kernel values, else 0.
template <class Kernel, InputSet I>
[[nodiscard]] double mean_diagonal_of(const I& inputs) {
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    return inputs.diagonal().template cast<double>().mean();
  } else {
    return 0;
  }
}

/// Returns the parts given by kernel, inputs and means, with the margins and errors of the training
/// set; the caller adds bias, slope, report and the rest. `more`: see `MeanNumbers`.
template <class Kernel, InputSet I>
[[nodiscard]] ClassifierParts<Kernel, owned_inputs_t<I>> parts_of_means(
    const Kernel& kernel, const I& inputs, const Subproblems& problems,
    std::span<const DrawMean> means, std::span<const PointIndex> more = {}) {
  MeanNumbers numbers(problems, means, more);
  auto chosen = [&] {
    if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
      return owned_inputs_t<I>(0, input_count(inputs));
    } else {
      return select_inputs(inputs, numbers.support);
    }
  }();
  return {.kernel = kernel,
          .inputs = std::move(chosen),
          .support = std::move(numbers.support),
          .coefficients = std::move(numbers.coefficients),
          .classes = problems.classes,
          .mean_diagonal = mean_diagonal_of<Kernel>(inputs),
          .origin = origin_of(kernel, inputs),
          .draw_coefficients = std::move(numbers.draw_coefficients),
          .draw_numbers = std::move(numbers.draw_numbers),
          .draw_weights = std::move(numbers.draw_weights),
          .mean_norms = std::move(numbers.mean_norms),
          .training_margins = std::move(numbers.training_margins),
          .training_errors = std::move(numbers.training_errors)};
}

/// Slope and offsets of a fit's probabilities, fields of `ClassifierParts`: from the held-out
/// outputs of its own draws, if these are enough; else from the out-of-fold outputs of the choice
/// of the boundary, of machines of fewer points, whose outputs have another scale.
struct FitProbabilities {
  double slope = 0;
  std::vector<double> offsets{};
  std::size_t rows = 0;

  /// `given`: the boundary of the settings.
  FitProbabilities(const BoundaryChoice& choice, const SoftBoundary& given,
                   std::span<const DrawMean> means, std::span<const int> labels,
                   const std::vector<int>& classes);
};

#if BPM_BODIES

BPM_INLINE FitProbabilities::FitProbabilities(const BoundaryChoice& choice,
                                              const SoftBoundary& given,
                                              std::span<const DrawMean> means,
                                              std::span<const int> labels,
                                              const std::vector<int>& classes) {
  const std::uint64_t draws = means[0].count();
  const OutputsLeftOut noted(means, labels);
  if (noted.labels.size() >= 500) {
    rows = noted.labels.size();
    FittedSlope fitted = fit_slope(noted.decision_values, noted.labels, classes,
                                   wants_offsets(given, classes.size()));
    const double factor = choice.slope_of_draws(draws);  // Outputs of single draws.
    slope = factor * fitted.slope;
    const double share = factor * share_of_offsets(rows, given);
    for (const double offset : fitted.offsets) offsets.push_back(share * offset);
  } else if (choice.slope > 0) {
    slope = choice.slope * choice.slope_factor(labels.size(), draws);
    offsets = choice.offsets;
    rows = choice.points;
  }
}

BPM_INLINE OutputsLeftOut::OutputsLeftOut(std::span<const DrawMean> means,
                                          std::span<const int> all) {
  std::vector<std::vector<const KeptDraw*>> draws;  // By draw and subproblem.
  for (const KeptDraw& first : means[0].left_out()) {
    std::vector<const KeptDraw*> one;
    for (const DrawMean& mean : means) {
      const auto& noted = mean.left_out();
      const auto found = std::lower_bound(
          noted.begin(), noted.end(), first.number,
          [](const KeptDraw& draw, std::uint64_t number) { return draw.number < number; });
      if (found != noted.end() && found->number == first.number &&
          found->support == first.support) {
        one.push_back(&*found);
      }
    }
    if (one.size() < means.size()) continue;
    for (const PointIndex i : first.support) labels.push_back(all[static_cast<std::size_t>(i)]);
    draws.push_back(std::move(one));
  }
  decision_values.resize(std::ssize(labels), std::ssize(means));
  Eigen::Index row = 0;
  for (const auto& draw : draws) {
    const auto rows = std::ssize(draw[0]->coefficients);
    for (std::size_t c = 0; c < draw.size(); ++c) {
      decision_values.col(static_cast<Eigen::Index>(c)).segment(row, rows) =
          Eigen::Map<const Eigen::VectorXd>(draw[c]->coefficients.data(), rows);
    }
    row += rows;
  }
}

#endif

}}}  // namespace bpm::detail
