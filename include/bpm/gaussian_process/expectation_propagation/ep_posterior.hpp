// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_report.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Moments of a standard normal number u conditioned on u > -z, as functions of z alone. No formula
/// subtracts nearly equal numbers, so that all are right to rounding, at z = -30 and at z = -1e8.
struct TruncatedMoments {
  double log_mass;  ///< log Phi(z).
  double hazard;    ///< lambda = phi(z) / Phi(z): E[u].
  double excess;    ///< z + lambda: E[u + z] > 0; about 1 / -z far below zero.
  double variance;  ///< 1 - lambda (z + lambda): Var[u], in (0, 1); about 1 / z^2 far below zero.
};

[[nodiscard]] inline TruncatedMoments truncated_moments(double z) {
  TruncatedMoments result{log_normal_cdf(z), 0, 0, 0};
  if (z > -3) {
    result.hazard = normal_hazard(z);
    result.excess = z + result.hazard;
    result.variance = 1 - result.hazard * result.excess;
    return result;
  }
  // With x = -z, Laplace's continued fraction 1 / lambda = 1 / (x + 1 / (x + b)), b = 2 / (x + c).
  const double x = -z;
  const double c = laplace_fraction(x, 3, 60);
  const double b = 2 / (x + c);
  result.excess = 1 / (x + b);
  result.hazard = x + result.excess;
  // 1 - (x + a) / (x + b) = (b - a) / (x + b), where b - a is a sum of positive terms.
  const double left = (x + c) * (x + b);
  result.variance = (x + (2 * b - c)) / left / (x + b);
  return result;
}

/// A factor exp(shift d - precision d^2 / 2) of a Gaussian law of d.
struct GaussianSite {
  double precision = 0;  ///< tau >= 0.
  double shift = 0;      ///< nu: the precision times the mean.
};

/// One point's likelihood Phi(d / noise_deviation), or the step 1[d > 0] where that is 0, times its
/// cavity N(d; mean, variance).
struct TiltedLaw {
  double log_mass;    ///< log of the integral of the product.
  GaussianSite site;  ///< Site whose product with the cavity has the product's mean and variance.
};

/// Computes the moments by C. Rasmussen, C. Williams, "Gaussian Processes for Machine Learning",
/// MIT Press 2006, (3.58), (3.59), rewritten without differences: with s^2 = variance + noise^2, z
/// = mean / s, lambda the hazard, a = z + lambda, and v' = 1 - lambda a,
///
///     tau = lambda a / (noise^2 + variance v'),   nu = s lambda (v' + a^2) / (noise^2 + variance
///     v').
[[nodiscard]] inline TiltedLaw tilted_law(double mean, double variance, double noise_deviation) {
  const double noise_variance = noise_deviation * noise_deviation;
  const double s = std::sqrt(variance + noise_variance);
  const TruncatedMoments law = truncated_moments(mean / s);
  const double rest = noise_variance + variance * law.variance;
  return {law.log_mass,
          {law.hazard * law.excess / rest,
           s * law.hazard * (law.variance + law.excess * law.excess) / rest}};
}

/// Returns log of the integral of N(d; mean, variance) exp(shift d - precision d^2 / 2).
[[nodiscard]] inline double log_site_mass(double mean, double variance, GaussianSite site) {
  const double scale = 1 + site.precision * variance;
  const double exponent =
      2 * mean * site.shift + variance * site.shift * site.shift - mean * mean * site.precision;
  return 0.5 * (exponent / scale - std::log(scale));
}

/// Returns z with Phi(z) the probability of a positive label where the latent output is normal:
/// mean over deviation, infinite where the deviation is 0; 0 for 0 / 0.
[[nodiscard]] inline double standardised(double mean, double variance, double noise_deviation) {
  return mean == 0 ? 0.0 : mean / std::sqrt(variance + noise_deviation * noise_deviation);
}

/// Returns the probability of a positive label for a normal latent output.
[[nodiscard]] inline double positive_probability(double mean, double variance,
                                                 double noise_deviation) {
  return normal_cdf(standardised(mean, variance, noise_deviation));
}

/// Logarithm of `positive_probability`; at least -1e300, so that differences are numbers.
[[nodiscard]] inline double log_positive_probability(double mean, double variance,
                                                     double noise_deviation) {
  return std::max(-1e300, log_normal_cdf(standardised(mean, variance, noise_deviation)));
}

/// Returns k(x, x) - |a|^2 + |F^-1 a|^2 with a = L_p^-1 k(x_p, x), from `a` = k(x_p, x), see
/// `EpPosterior::predict`; not finite where it exceeds the range of double.
[[nodiscard]] inline Eigen::VectorXd conditional_variance(const Eigen::MatrixXd& pivot_factor,
                                                          const Eigen::MatrixXd& precision_factor,
                                                          Eigen::MatrixXd a,
                                                          const Eigen::VectorXd& diagonal) {
  pivot_factor.triangularView<Eigen::Lower>().solveInPlace(a);
  Eigen::VectorXd variance(a.cols());
  // The residual that the pivots do not explain; only rounding makes it negative.
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    variance[j] = std::max(0.0, diagonal[j] - a.col(j).squaredNorm());
  }
  precision_factor.triangularView<Eigen::Lower>().solveInPlace(a);
  for (Eigen::Index j = 0; j < a.cols(); ++j) variance[j] += a.col(j).squaredNorm();
  return variance;
}

}  // namespace detail

/// The Gaussian law by which expectation propagation approximates a Gaussian process's posterior,
/// in the coordinates of a cone: w has the precision I + sum_i tau_i s_i s_i' and the mean below.
/// d_i = <s_i, w> are signed outputs, y_i times the latent output. `expectation_propagation`
/// returns it. Memory: r^2 doubles twice and 5 m.
struct EpPosterior {
  /// The latent outputs f(x) of n inputs under a Gaussian posterior, and P(y = +1).
  struct Prediction {
    Eigen::VectorXd mean;         ///< E[f(x)].
    Eigen::VectorXd variance;     ///< Var[f(x)] >= 0.
    Eigen::VectorXd noise;        ///< Variance relative_lambda k(x, x) of the label's noise.
    Eigen::VectorXd probability;  ///< Phi(mean / sqrt(variance + noise + noise_deviation^2)).
  };

  /// Predictions for each training point by the posterior of all others.
  struct LeaveOneOut {
    Eigen::VectorXd mean;         ///< E[d_i] of the signed output without point i, m.
    Eigen::VectorXd variance;     ///< Var[d_i] without point i, m.
    Eigen::VectorXd probability;  ///< Probability of point i's own label, m.
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

  double noise_deviation = 0;  ///< Noise of the likelihood, in units of outputs; 0: the step.
  /// lambda / k(x, x) of the soft boundary. The step on K + lambda equals the probit of variance
  /// lambda on K, so labels of new inputs have the noise of training labels.
  double relative_lambda = 0;
  double log_evidence = 0;  ///< log P(all labels); for the step, log P_Y of the orthant, <= 0.

  std::vector<double> mean;            ///< E[w], r coordinates.
  std::vector<double> coefficients;    ///< Dual coefficients of w's mean, m; 0 off the pivots.
  std::vector<double> outputs;         ///< E[d_i], m. For the step, all are positive.
  std::vector<double> variances;       ///< Var[d_i], m.
  std::vector<double> site_precision;  ///< tau_i >= 0, m.
  std::vector<double> site_shift;      ///< nu_i, m.

  std::vector<PointIndex> pivots;    ///< r points that span the features.
  std::vector<signed char> signs;    ///< y_i, m.
  Eigen::MatrixXd precision_factor;  ///< F, lower triangular: F F' is the precision of w, r x r.
  Eigen::MatrixXd pivot_factor;      ///< L_p, lower triangular: L_p L_p' = S_pp, r x r.

  std::uint64_t sweeps = 0;  ///< Number of passes over all sites.
  double change = 0;   ///< Largest change of a site in the last sweep, as `tolerance` measures it.
  double damping = 1;  ///< Damping at the end.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("noise_deviation", self.noise_deviation);
    detail::visit_unless(0, "relative_lambda", self.relative_lambda, visit);
    visit("log_evidence", self.log_evidence);
    visit("sweeps", self.sweeps);
    visit("change", self.change);
    visit("damping", self.damping);
    visit("mean", self.mean);
    visit("coefficients", self.coefficients);
    visit("outputs", self.outputs);
    visit("variances", self.variances);
    visit("site_precision", self.site_precision);
    visit("site_shift", self.site_shift);
    visit("pivots", self.pivots);
    visit("signs", self.signs);
    visit("precision_factor", self.precision_factor);
    visit("pivot_factor", self.pivot_factor);
  }

  /// Dimension r of w.
  [[nodiscard]] std::ptrdiff_t rank() const noexcept { return std::ssize(mean); }

  /// Returns y_i E[d_i], the posterior mean of the latent outputs on the training set. For the step
  /// it approximates the centre-of-mass values, the mean of N(0, S) on the orthant of the labels
  /// ("Kernel interpolation as a Bayes point machine").
  [[nodiscard]] std::vector<double> centre_values() const {
    std::vector<double> values(outputs.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = signs[i] * outputs[i];
    return values;
  }

  /// Returns the mean of the uniform law on version space, E[w] / E[chi_r]: under the step
  /// likelihood the direction of w is uniform there and independent of its length, whose mean is
  /// E[chi_r]. With noise, where this does not hold, it is the same multiple of E[w].
  [[nodiscard]] CentreOfMass centre_of_mass() const {
    const double scale = 1 / detail::mean_chi(rank());
    CentreOfMass centre{coefficients, centre_values(), 0};
    for (double& value : centre.coefficients) value *= scale;
    for (double& value : centre.outputs) value *= scale;
    for (const double value : mean) centre.norm += value * value;
    centre.norm = scale * std::sqrt(centre.norm);
    return centre;
  }

  /// Returns mean, variance and the probability of the label +1 for n inputs. Column j of `values`
  /// (r x n) is k(x_p, x_j) for the pivots, in the order of `pivots`, without lambda; `diagonal` is
  /// k(x_j, x_j). With a = L_p^-1 k(x_p, x), the variance is k(x, x) - |a|^2 + |F^-1 a|^2. Cost:
  /// r^2 multiply-adds per input. \throws std::invalid_argument on sizes that disagree. \throws
  /// KernelValueError on variances that are not finite.
  [[nodiscard]] Prediction predict(const Eigen::Ref<const Eigen::MatrixXd>& values,
                                   const Eigen::VectorXd& diagonal) const {
    const char* const f = "EpPosterior::predict";
    detail::check_size(f, "values", values.rows(), rank(), "rows: one per pivot");
    detail::check_size(f, "diagonal", diagonal.size(), values.cols(), "one per input");
    Eigen::VectorXd means = Eigen::VectorXd::Zero(values.cols());
    for (Eigen::Index k = 0; k < rank(); ++k) {
      means += coefficients[std::size_t(pivots[std::size_t(k)])] * values.row(k).transpose();
    }
    const Eigen::VectorXd variance =
        detail::conditional_variance(pivot_factor, precision_factor, values, diagonal);
    detail::ensure<KernelValueError>(variance.allFinite(), f, ": a variance is beyond double");
    return prediction(means, variance, diagonal);
  }

  /// Returns the prediction for latent outputs of given means and variances; `diagonal` is k(x, x).
  [[nodiscard]] Prediction prediction(const Eigen::VectorXd& means,
                                      const Eigen::VectorXd& latent_variances,
                                      const Eigen::VectorXd& diagonal) const {
    Prediction result{means, latent_variances, relative_lambda * diagonal,
                      Eigen::VectorXd(means.size())};
    for (Eigen::Index j = 0; j < means.size(); ++j) {
      result.probability[j] = detail::positive_probability(
          means[j], latent_variances[j] + result.noise[j], noise_deviation);
    }
    return result;
  }

  /// Returns leave-one-out predictions of expectation propagation, at no cost: the cavities, that
  /// is, the approximate posterior without one site. The other sites stay as the left-out point has
  /// shaped them, so it is an approximation: for 30 points in a plane the probabilities were 0.1
  /// off at worst and 0.014 on average. It is worst where points contradict each other in a thin
  /// version space: for two of opposite labels and correlation 1 - 1e-12 the probability is 0.18;
  /// without the other site it is 5e-7. Source: C. Rasmussen, C. Williams, "Gaussian Processes for
  /// Machine Learning", MIT Press 2006, section 5.4.2; M. Opper, O. Winther, "Gaussian processes
  /// for classification: mean-field algorithms", Neural Computation 12, 2000.
  /// \throws std::invalid_argument if the posterior is empty, or a site leaves no cavity.
  [[nodiscard]] LeaveOneOut leave_one_out() const {
    const auto m = static_cast<Eigen::Index>(outputs.size());
    detail::check(m > 0, "EpPosterior::leave_one_out", "posterior", "is of no point");
    LeaveOneOut result{.mean = Eigen::VectorXd::Zero(m),
                       .variance = Eigen::VectorXd::Zero(m),
                       .probability = Eigen::VectorXd(m)};
    const auto count = static_cast<double>(m);
    for (Eigen::Index i = 0; i < m; ++i) {
      // A point without features has an output of zero, with or without the other points.
      if (variances[std::size_t(i)] > 0) {
        const double precision = 1 / variances[std::size_t(i)] - site_precision[std::size_t(i)];
        detail::check(precision > 0, "EpPosterior::leave_one_out", "site_precision", "at ", i,
                      " is ", site_precision[std::size_t(i)], ", must be below ",
                      1 / variances[std::size_t(i)]);
        result.variance[i] = 1 / precision;
        result.mean[i] =
            (outputs[std::size_t(i)] / variances[std::size_t(i)] - site_shift[std::size_t(i)]) /
            precision;
      }
      const double p =
          detail::positive_probability(result.mean[i], result.variance[i], noise_deviation);
      result.probability[i] = p;
      result.gibbs_error += (1 - p) / count;
      result.bayes_error += p > 0.5 ? 0.0 : 1 / count;
      result.agreement += (2 * p - 1) * (2 * p - 1) / count;
      result.log_score +=
          detail::log_positive_probability(result.mean[i], result.variance[i], noise_deviation) /
          count;
    }
    return result;
  }
};

/// Returns KL(q || p) in nats between two posteriors of one prior N(0, covariance), q of n points,
/// p of the first n1 <= n of them. It is the complexity of a PAC-Bayes bound with prior p
/// (`GibbsBound`: split prior), however good the sites are; exact where the cones' factors leave
/// nothing out (`Cone::residual` 0: rank m), and to rounding in double by default. With sites tau,
/// means mu = K alpha and precisions K^-1 + diag(tau), it is half of
///
///     sum_i (tau^p_i - tau^q_i) Var_q[d_i] + log|I + K tau^q| - log|I + K tau^p|
///         + (alpha_q - alpha_p)' (mu_q - mu_p) + sum_i tau^p_i (mu_q - mu_p)_i^2,
///
/// where tau^p and alpha_p are zero on the points that p has not seen. Cost: n^2 multiply-adds.
/// \throws std::invalid_argument on sizes that disagree, or if p's signs are not those of q's first
///         points.
[[nodiscard]] inline double relative_entropy(const EpPosterior& q, const EpPosterior& p,
                                             const Eigen::MatrixXd& covariance) {
  const char* const f = "relative_entropy";
  const auto n = static_cast<Eigen::Index>(q.outputs.size());
  const auto first = static_cast<Eigen::Index>(p.outputs.size());
  detail::check(first <= n, f, "p", "is of ", first, " points, must be of q's ", n, " at most");
  detail::check(covariance.rows() == n && covariance.cols() == n, f, "covariance", "is ",
                covariance.rows(), " x ", covariance.cols(),
                ", expected a row and a column for "
                "each of q's ",
                n, " points");
  detail::check(std::equal(p.signs.begin(), p.signs.end(), q.signs.begin()), f, "p",
                "has other signs than q's first points");
  Eigen::VectorXd coefficients = Eigen::VectorXd::Map(q.coefficients.data(), n);
  coefficients.head(first) -= Eigen::VectorXd::Map(p.coefficients.data(), first);
  const Eigen::VectorXd means = covariance * coefficients;
  double twice = coefficients.dot(means) + 2 * q.precision_factor.diagonal().array().log().sum() -
                 2 * p.precision_factor.diagonal().array().log().sum();
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double precision = i < first ? p.site_precision[k] : 0.0;
    twice += (precision - q.site_precision[k]) * q.variances[k] + precision * means[i] * means[i];
  }
  return std::max(0.0, twice / 2);  // Rounding can make it negative.
}

namespace detail {

/// Checks every member. \throws std::invalid_argument, in the name of `function`, without pivots,
/// on sizes that disagree, numbers not finite or out of range, factors without a positive diagonal.
inline void check_posterior(const EpPosterior& posterior, std::string_view function) {
  const std::size_t m = posterior.outputs.size();
  const auto check_list = [&](std::string_view name, const std::vector<double>& list,
                              std::size_t size, std::string_view why) {
    check_size(function, name, list.size(), size, why);
    for (std::size_t i = 0; i < size; ++i) {
      check(std::isfinite(list[i]), function, name, "at ", i, " is ", list[i], ", must be finite");
    }
  };
  check(!posterior.pivots.empty(), function, "pivots", "are none, must be one or more");
  for (const PointIndex pivot : posterior.pivots) {
    check(pivot >= 0 && static_cast<std::size_t>(pivot) < m, function, "pivots", "have the point ",
          pivot, ", must be below ", m);
  }
  check_list("mean", posterior.mean, posterior.pivots.size(), "one per pivot");
  const std::string_view each = "one per point";
  check_list("coefficients", posterior.coefficients, m, each);
  check_list("outputs", posterior.outputs, m, each);
  check_list("variances", posterior.variances, m, each);
  for (const double variance : posterior.variances) {
    check_not_negative(function, "variances", variance);
  }
  check_list("site_precision", posterior.site_precision, m, each);
  check_list("site_shift", posterior.site_shift, m, each);
  check_signs(function, posterior.signs, std::ssize(posterior.outputs), each);
  check_factor(function, "precision_factor", posterior.precision_factor, posterior.rank());
  check_factor(function, "pivot_factor", posterior.pivot_factor, posterior.rank());
  check_not_negative(function, "noise_deviation", posterior.noise_deviation);
  check_not_negative(function, "relative_lambda", posterior.relative_lambda);
  check(std::isfinite(posterior.log_evidence), function, "log_evidence", "is ",
        posterior.log_evidence, ", must be finite");
  check_not_negative(function, "change", posterior.change);
  check(posterior.damping > 0 && posterior.damping <= 1, function, "damping", "is ",
        posterior.damping, ", must be above 0 and at most 1");
}

}  // namespace detail

}}  // namespace bpm
