// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "bpm/core/check.hpp"
#include "bpm/decision/votes.hpp"

/// \file
/// The rates that section 3 of "Kernel interpolation as a Bayes point machine" is about, of any
/// ensemble, as means over given inputs. Labels are +1 and -1, one an input.

namespace bpm {

namespace detail {

inline void check_votes(const Votes& votes, std::string_view function) {
  check(votes.positive.size() > 0, function, "votes", "are of no input");
}

inline void check_signs(std::span<const signed char> labels, const Votes& votes,
                        std::string_view function) {
  check_votes(votes, function);
  check_size(function, "labels", labels.size(), votes.positive.size(), "one per input");
  for (std::size_t i = 0; i < labels.size(); ++i) {
    check(labels[i] == 1 || labels[i] == -1, function, "labels", "hold ", int{labels[i]},
          " at input ", i, ", must be 1 or -1");
  }
}

}  // namespace detail

/// The Gibbs error E_w E_x 1[sign f(x; w) != y]: the mean error of a classifier drawn at random.
/// \throws std::invalid_argument without inputs, if sizes disagree, on labels other than 1 and -1.
[[nodiscard]] inline double gibbs_error(const Votes& votes, std::span<const signed char> labels) {
  detail::check_signs(labels, votes, "gibbs_error");
  double sum = 0;
  for (Eigen::Index i = 0; i < votes.positive.size(); ++i) {
    sum += labels[static_cast<std::size_t>(i)] > 0 ? 1 - votes.positive[i] : votes.positive[i];
  }
  return sum / static_cast<double>(votes.positive.size());
}

/// The Bayes error E_x 1[majority != y]: the error of the ensemble's majority vote.
/// \throws as `gibbs_error`.
[[nodiscard]] inline double bayes_error(const Votes& votes, std::span<const signed char> labels) {
  detail::check_signs(labels, votes, "bayes_error");
  double errors = 0;
  for (Eigen::Index i = 0; i < votes.positive.size(); ++i) {
    errors += votes.majority(i) != labels[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  return errors / static_cast<double>(votes.positive.size());
}

/// The Gibbs agreement alpha = E_x [E_w sign f(x; w)]^2 (Lemma 5): two classifiers drawn at random
/// agree with probability (1 + alpha) / 2.
///
/// Votes of V classifiers drawn independently estimate E_w sign f with an error whose square would
/// add (1 - alpha) / V on average; where votes are 0 or 1 that is taken off without bias, input by
/// input, (V s^2 - 1) / (V - 1), and a mean below 0 is set to 0. Votes that are integrated have
/// less of it, which is left in: the value is then high by at most 1 / V.
/// \throws std::invalid_argument without inputs.
[[nodiscard]] inline double gibbs_agreement(const Votes& votes) {
  detail::check_votes(votes, "gibbs_agreement");
  double sum = 0;
  const auto voters = static_cast<double>(votes.voters);
  for (Eigen::Index i = 0; i < votes.positive.size(); ++i) {
    const double s = 2 * votes.positive[i] - 1;
    sum += votes.voters > 1 && !votes.integrated ? (voters * s * s - 1) / (voters - 1) : s * s;
  }
  return std::max(0.0, sum / static_cast<double>(votes.positive.size()));
}

/// Delta = E_x 1[f_BPM(x) != f_Bayes(x)], the BPM approximation error (Lemma 4): how often the sign
/// of the ensemble's mean, given by its outputs (0 counts as negative), is not the majority vote.
/// Inputs whose share lies within `doubt` of one half count as different: with finitely many
/// voters their majority may not be the ensemble's.
/// \throws std::invalid_argument without inputs, if sizes disagree, or if doubt is negative.
[[nodiscard]] inline double bpm_bayes_disagreement(const Votes& votes,
                                                   const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                                   double doubt = 0) {
  const char* const f = "bpm_bayes_disagreement";
  detail::check_votes(votes, f);
  detail::check_size(f, "outputs", outputs.size(), votes.positive.size(), "one per input");
  detail::check(doubt >= 0, f, "doubt", "is ", doubt, ", must not be negative");
  double differ = 0;
  for (Eigen::Index i = 0; i < votes.positive.size(); ++i) {
    const bool close = doubt > 0 && std::abs(votes.positive[i] - 0.5) <= doubt;
    differ += close || votes.majority(i) != (outputs[i] > 0 ? 1 : -1) ? 1 : 0;
  }
  return differ / static_cast<double>(votes.positive.size());
}

/// The error of a single classifier by its outputs; 0 counts as negative.
/// \throws std::invalid_argument without inputs, if sizes disagree.
[[nodiscard]] inline double error_of_outputs(const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                             std::span<const signed char> labels) {
  const char* const f = "error_of_outputs";
  detail::check(outputs.size() > 0, f, "outputs", "are of no input");
  detail::check_size(f, "labels", labels.size(), outputs.size(), "one per input");
  double errors = 0;
  for (Eigen::Index i = 0; i < outputs.size(); ++i) {
    errors += (outputs[i] > 0) != (labels[static_cast<std::size_t>(i)] > 0) ? 1 : 0;
  }
  return errors / static_cast<double>(outputs.size());
}

}  // namespace bpm
