// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "common/even_odd.hpp"

namespace bpm_examples {

/// One variation of the centre-of-mass interpolator, by expectation propagation.
struct StudyPoint {
  std::string what;         ///< "noise", "power" or "depth".
  double value = 0;         ///< Of what.
  double log_evidence = 0;  ///< Of the labels, under the varied prior.
  double centre_error = 0;
  double centroidal_error = 0;
  double jitter = 0;  ///< Relative, that the interpolators' factor needed.
};

/// Why the centre of mass errs more than the centroid, on one training set:
///
///  - "noise": a probit likelihood of deviation 0 .. 2 (k(x, x) = 1) in the place of the step;
///  - "power": labels drawn from the prior N(0, K^s), s = 0 .. 1.5, interpolated with K: 0 is the
///    isotropic posterior, whose centre are the centroidal labels, 1 the exact one;
///  - "depth": the kernel's depth, 1 .. 16.
///
/// The temperature of the posterior needs no run: on a cone it changes the labels' scale, which the
/// sign of their interpolator does not see.
[[nodiscard]] std::vector<StudyPoint> run_study(const EvenOdd& digits, const SignedDigits& train,
                                                int depth, unsigned threads);

}  // namespace bpm_examples
