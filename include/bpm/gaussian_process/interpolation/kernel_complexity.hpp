// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/interpolation/jittered_cholesky.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// The centre-of-mass values E[Upsilon], Upsilon ~ N(0, S) given the signs, of "Kernel
/// Interpolation as a Bayes Point Machine", section 4.1, from the centre of mass of version space:
///
///     E[Upsilon_i] = E[chi_r] <E[w], x_i>,   r the rank of S.
///
/// A normal vector of the r-dimensional span has a uniform direction, that given the signs is w,
/// and a norm independent of it, with mean E[chi_r]. What the paper calls intractable is one run of
/// a sampler.
/// \throws std::invalid_argument unless there are outputs and rank is 1 or more.
[[nodiscard]] inline Eigen::VectorXd centre_values(const CentreOfMass& centre,
                                                   std::ptrdiff_t rank) {
  check(!centre.outputs.empty(), "centre_values", "centre",
        "has no outputs, expected that of a run with draws");
  check_at_least("centre_values", "rank", rank, 1);
  return mean_chi(rank) * Eigen::VectorXd::Map(centre.outputs.data(), std::ssize(centre.outputs));
}

}  // namespace detail

/// Centre-of-mass values as a sampler has found them, for `KernelInterpolator::train`.
struct CentreValues {
  /// Runs a sampler that sees a cone (`Billiard`, `KernelGibbs`) on a version space and takes its
  /// centre of mass. (Expectation propagation has them, too: `EpPosterior::centre_values`.) With a
  /// soft boundary they belong to S = K + diag(lambda). With label noise they are those of that
  /// posterior, and may have other signs than the labels have.
  /// \throws what the sampler throws, NotSeparable where it finds no classifier without training
  ///         error, Stopped where it was stopped before the first draw.
  template <ConeSampler Sampler, VersionSpace Space>
  CentreValues(const Space& space, const Sampler& sampler, RandomStreams& streams,
               const RunControl& control = {}) {
    typename Sampler::State state;
    report = sample_version_space(
        sampler, space, streams, control, [](const Draw&) {}, state);
    if (report.draws == 0) {
      if (report.stopped) {
        throw Stopped("CentreValues: stopped before the first draw");
      }
      throw NotSeparable(detail::join("CentreValues: ", report.reason));
    }
    const CentreOfMass centre = state.centre();
    rank = space.size();
    if (report.chains) {
      rank = report.chains->rank;
      standard_error = report.chains->standard_error;
    }
    values = detail::centre_values(centre, rank);
  }

  Eigen::VectorXd values;  ///< E[Upsilon], one per point.
  /// Estimated angle of the centre to the true one, rad: their relative error in the norm of
  /// the span. Infinity where the run cannot tell.
  double standard_error = std::numeric_limits<double>::infinity();
  std::ptrdiff_t rank = 0;  ///< Of S; of a sampler that reports no chains the number of points.
  SamplerReport report{};
};

/// The complexity A(k, X, Y) = KL(Q_iso || P_GP) of the centroidal kernel interpolator, by its
/// terms ("Kernel Interpolation as a Bayes Point Machine", section 5 and lemma 8):
///
///     A = n (log 2 - 1/2) + det(K)^(1/n) ((1/2 - 1/pi) tr K^-1 + Y' K^-1 Y / pi),
///
/// which is at least log(1 / P_Y), P_Y the probability of the labels' orthant under N(0, K). It is
/// the same for K and for any multiple of K, and n log 2 for a diagonal one with equal entries.
/// det(K)^(1/n) and the terms that it multiplies are kept as logarithms: nothing overflows at n =
/// 5000.
struct KernelComplexity {
  /// From quantities that the caller has.
  /// \throws std::invalid_argument unless points is 1 or more, the logarithm finite, and the other
  ///         two positive and finite.
  KernelComplexity(std::ptrdiff_t count, double log_det, double inverse_trace, double label_norm)
      : points(count),
        log_determinant(log_det),
        trace_of_inverse(inverse_trace),
        label_norm_squared(label_norm) {
    const char* const f = "KernelComplexity";
    detail::check_at_least(f, "points", points, 1);
    detail::check(std::isfinite(log_determinant), f, "log_determinant", "is ", log_determinant,
                  ", must be finite");
    detail::check_positive(f, "trace_of_inverse", trace_of_inverse);
    detail::check_positive(f, "label_norm_squared", label_norm_squared);
  }

  /// From a Cholesky factor of K, which other parts share. Cost: n^3 / 3 multiply-adds for the
  /// trace.
  /// \throws std::invalid_argument if the factorisation failed, or unless signs are +1 or -1, one
  ///         a point.
  KernelComplexity(const Eigen::LLT<Eigen::MatrixXd>& factor, std::span<const signed char> signs) {
    const char* const f = "KernelComplexity";
    detail::check(
        factor.rows() > 0 && factor.info() == Eigen::Success, f, "factor",
        "is empty or has failed, expected a Cholesky factor of a positive definite matrix");
    detail::check_signs(f, signs, factor.rows(), "one per point");
    Eigen::VectorXd labels =
        Eigen::Map<const Eigen::Matrix<signed char, Eigen::Dynamic, 1>>(signs.data(), factor.rows())
            .cast<double>();
    factor.matrixL().solveInPlace(labels);
    *this = {factor.rows(), detail::log_determinant(factor), detail::inverse_diagonal(factor).sum(),
             labels.squaredNorm()};
  }

  /// From the kernel matrix. Cost: 2 n^3 / 3 multiply-adds.
  /// \throws std::invalid_argument as above and on what `JitteredCholesky` refuses,
  ///         NotPositiveDefinite where K has no factor without jitter: that of another matrix is
  ///         not added unasked.
  KernelComplexity(const Eigen::MatrixXd& kernel_matrix, std::span<const signed char> signs)
      : KernelComplexity(JitteredCholesky(kernel_matrix, {.largest_jitter = 0}).llt(), signs) {}

  std::ptrdiff_t points = 0;      ///< n.
  double log_determinant = 0;     ///< log det K.
  double trace_of_inverse = 0;    ///< tr K^-1.
  double label_norm_squared = 0;  ///< Y' K^-1 Y: the interpolator's squared RKHS norm.

  /// n (log 2 - 1/2).
  [[nodiscard]] double orthant_term() const {
    return static_cast<double>(points) * (std::numbers::ln2 - 0.5);
  }
  /// log det(K) / n: log of the variance of the isotropic posterior's values.
  [[nodiscard]] double log_scale() const { return log_determinant / static_cast<double>(points); }
  /// det(K)^(1/n) (1/2 - 1/pi) tr K^-1.
  [[nodiscard]] double trace_term() const {
    return (0.5 - std::numbers::inv_pi) * std::exp(log_scale() + std::log(trace_of_inverse));
  }
  /// det(K)^(1/n) Y' K^-1 Y / pi.
  [[nodiscard]] double label_term() const {
    return std::numbers::inv_pi * std::exp(log_scale() + std::log(label_norm_squared));
  }
  /// A(k, X, Y).
  [[nodiscard]] double value() const { return orthant_term() + trace_term() + label_term(); }
};

}}  // namespace bpm
