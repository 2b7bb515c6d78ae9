// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "bpm/core/check.hpp"
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"

namespace bpm {

/// What the posterior of all other training points says of each one.
struct LeaveOneOut {
  Eigen::VectorXd mean;         ///< E[d_i] of the signed output without point i, m.
  Eigen::VectorXd variance;     ///< Var[d_i] without point i, m.
  Eigen::VectorXd probability;  ///< Of point i's own label, m.
  /// Mean of 1 - probability: the Gibbs error of the posterior.
  double gibbs_error = 0;
  /// Part of the points whose own label has a probability of at most 1/2: the error of the Bayes
  /// classifier, and of the Bayes point, which agree for Gaussian laws.
  double bayes_error = 0;
  /// Mean of (2 probability - 1)^2: the Gibbs agreement.
  double agreement = 0;
  /// Mean of log probability.
  double log_score = 0;
};

/// Leave-one-out predictions of expectation propagation, at no cost: they are the cavities, the
/// approximate posterior with one site taken out. The other sites stay as the point had shaped
/// them, so it is an approximation: of 30 points in a plane the probabilities were 0.1 off at worst
/// and 0.014 on average. It is worst where points contradict each other in a thin version space: of
/// two of opposite labels and correlation 1 - 1e-12 the probability is 0.18, where without the
/// other site it is 5e-7. Source: C. Rasmussen, C.
/// Williams, "Gaussian Processes for Machine Learning", MIT Press 2006, section 5.4.2; M. Opper, O.
/// Winther, "Gaussian processes for classification: mean-field algorithms", Neural Computation 12,
/// 2000.
/// \throws std::invalid_argument if the posterior is empty.
[[nodiscard]] inline LeaveOneOut leave_one_out(const EpPosterior& posterior) {
  const auto m = static_cast<Eigen::Index>(posterior.outputs.size());
  detail::check(m > 0, "leave_one_out", "posterior", "is of no point");
  LeaveOneOut result{.mean = Eigen::VectorXd(m),
                     .variance = Eigen::VectorXd(m),
                     .probability = Eigen::VectorXd(m)};
  const auto count = static_cast<double>(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    const auto k = static_cast<std::size_t>(i);
    // A point without features has an output of zero, with the others and without.
    const bool known = posterior.variances[k] > 0;
    const double precision = 1 / posterior.variances[k] - posterior.site_precision[k];
    const double shift = posterior.outputs[k] / posterior.variances[k] - posterior.site_shift[k];
    result.variance[i] = known ? 1 / precision : 0;
    result.mean[i] = known ? shift / precision : 0;
    const double p = positive_probability(result.mean[i], result.variance[i], posterior.noise);
    result.probability[i] = p;
    result.gibbs_error += (1 - p) / count;
    result.bayes_error += p > 0.5 ? 0.0 : 1 / count;
    result.agreement += (2 * p - 1) * (2 * p - 1) / count;
    result.log_score +=
        log_positive_probability(result.mean[i], result.variance[i], posterior.noise) / count;
  }
  return result;
}

}  // namespace bpm
