// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bounds.hpp"
#include "bpm/core/progress.hpp"
#include "common/even_odd.hpp"
#include "options.hpp"
#include "study.hpp"

namespace bpm_examples {

inline constexpr double not_computed = std::numeric_limits<double>::quiet_NaN();

/// Rates of one ensemble.
struct EnsembleRates {
  double gibbs_error = not_computed;
  double bayes_error = not_computed;
  double agreement = not_computed;
  double c_bound_empirical = not_computed;
  double c_bound_certified = not_computed;
  double bpm_bayes_disagreement = not_computed;
};

/// One training subset. Errors and bounds are fractions; what was not computed is not a number.
struct InterpolationResult {
  Eigen::Index n = 0;
  std::uint64_t subset = 0;
  double jitter = 0;  ///< Relative, that the factor needed.

  double complexity = not_computed;
  double log_inverse_ep = not_computed;
  double log_inverse_nested = not_computed;
  double log_inverse_nested_se = not_computed;

  double gibbs_bound_a = not_computed;
  double bpm_bound_a = not_computed;
  double gibbs_bound_p = not_computed;  ///< By the nested estimate.
  double bpm_bound_p = not_computed;
  double gibbs_bound_certified = not_computed;
  double bpm_bound_certified = not_computed;
  double bpm_bound_realizable = not_computed;  ///< Certified, with log(1/delta) / n.
  double bpm_bound_by_vote = not_computed;     ///< Certified, by Lemmas 1 and 4.
  double rademacher = not_computed;

  double centroidal_error = not_computed;
  double leave_one_out_error = not_computed;
  double centre_error_ep = not_computed;
  double centre_error_billiard = not_computed;
  double label_distance = not_computed;           ///< |EP's labels - billiard's| / |billiard's|.
  double billiard_standard_error = not_computed;  ///< Angle, radians.

  EnsembleRates isotropic;
  EnsembleRates exact;
  /// NN-GP posterior at margins `margins()`: Gibbs errors.
  std::vector<double> gibbs_at_margin;
  std::vector<StudyPoint> study;  ///< Empty unless asked for.
  std::optional<Bounds> bounds;   ///< Likewise.

  double seconds = 0;
  double ep_seconds = not_computed;
  double nested_seconds = not_computed;
  double billiard_seconds = not_computed;
  double isotropic_seconds = not_computed;
  double exact_seconds = not_computed;
};

/// Normalised margins gamma / sigma^L of the curve.
[[nodiscard]] const std::vector<double>& margins();

/// Told of progress; false: stop.
using InterpolationObserver = std::function<bool(const bpm::Progress&)>;

/// All sizes and subsets, one after the other; `done` gets each as it is finished. Throws
/// `bpm::Stopped` if stopped.
[[nodiscard]] std::vector<InterpolationResult> run_interpolation(
    const EvenOdd& digits, const InterpolationOptions& options,
    const InterpolationObserver& observer,
    const std::function<void(const InterpolationResult&)>& done);

}  // namespace bpm_examples
