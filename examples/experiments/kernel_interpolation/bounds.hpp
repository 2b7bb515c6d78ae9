// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>

#include "bpm/core/random.hpp"
#include "bpm/samplers/sampler.hpp"
#include "common/even_odd.hpp"

/// \file
/// What can be said of the Bayes point's error before a test: the sign of the mean outputs under
/// expectation propagation, after all n training digits.

namespace bpm_examples {

/// One bound and the terms that it is made of; what it does not have is not a number.
struct Bound {
  double value = std::numeric_limits<double>::quiet_NaN();
  Eigen::Index prior_points = 0;  ///< n1: digits that made the prior, or that were not held out.
  double complexity = std::numeric_limits<double>::quiet_NaN();  ///< In nats, or its upper limit.
  double gibbs = std::numeric_limits<double>::quiet_NaN();       ///< Bound on the Gibbs error.
  double threshold = std::numeric_limits<double>::quiet_NaN();   ///< t of the margins.
  double rate = std::numeric_limits<double>::quiet_NaN();        ///< Errors among those held out.
  double disagreement = std::numeric_limits<double>::quiet_NaN();
};

/// Each holds with the same confidence. The inputs without labels are other training digits.
struct Bounds {
  Eigen::Index unlabelled = 0;
  double delta = 0;
  Bound margin;                 ///< By log 1/P_Y and the margins, with error bars.
  Bound split;                  ///< By the probability of the other signs given the first half's.
  Bound split_certified;        ///< By the relative entropy of two posteriors, without an estimate.
  Bound held_out;               ///< On the machine of seven tenths, by the errors on the others.
  Bound held_out_disagreement;  ///< On the machine of all, by how often the two differ.
  double error = std::numeric_limits<double>::quiet_NaN();  ///< On the test digits.
  double seconds = 0;
};

/// `train`: n digits in a random order, of which `gram` has the kernel values; `test_values` are
/// those of test x training. \throws bpm::Stopped.
[[nodiscard]] Bounds bounds_of(const EvenOdd& digits, const SignedDigits& train,
                               const Eigen::MatrixXd& gram, const Eigen::MatrixXd& test_values,
                               const SignedDigits& unlabelled, int depth, std::uint64_t voters,
                               double delta, bpm::RandomStreams streams,
                               const bpm::RunControl& control);

}  // namespace bpm_examples
