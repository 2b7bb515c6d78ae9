// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <string>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Returns log det(L L').
[[nodiscard]] inline double log_determinant(const Eigen::LLT<Eigen::MatrixXd>& factor) {
  return 2 * factor.matrixLLT().diagonal().array().log().sum();
}

/// Returns the diagonal of (L L')^-1: the squared norms of the columns of L^-1, which begin on the
/// diagonal. Cost: n^3 / 6 multiply-adds, and a block of columns in memory.
[[nodiscard]] inline Eigen::VectorXd inverse_diagonal(const Eigen::LLT<Eigen::MatrixXd>& factor) {
  const Eigen::Index n = factor.rows();
  constexpr Eigen::Index width = 128;
  Eigen::VectorXd diagonal(n);
  for (Eigen::Index first = 0; first < n; first += width) {
    const Eigen::Index rest = n - first;
    const Eigen::Index cols = std::min(width, rest);
    Eigen::MatrixXd block = Eigen::MatrixXd::Identity(rest, cols);
    factor.matrixLLT()
        .bottomRightCorner(rest, rest)
        .triangularView<Eigen::Lower>()
        .solveInPlace(block);
    diagonal.segment(first, cols) = block.colwise().squaredNorm();
  }
  return diagonal;
}

}  // namespace detail

/// The Cholesky factor S + jitter I = L L' of a symmetric matrix S, with the least jitter of a
/// ladder that suffices. `jitter()` returns it; all results are those of the matrix with the
/// jitter. Memory: n^2 doubles. Cost: n^3 / 6 multiply-adds per attempt, one where the matrix is
/// well conditioned.
class JitteredCholesky {
 public:
  /// Limits of the jitter, and of the condition number of a factor.
  struct Settings {
    /// Largest jitter, relative to the mean of the diagonal; 0: none. The ladder is 0, 1e-12,
    /// 1e-10, and so on by factors of 100, and ends with this value.
    double largest_jitter = 1e-6;
    /// Least reciprocal condition number (estimated, 1-norm) to accept, unless each pivot leaves
    /// its root or more of the diagonal entry: solutions have a relative error of about 1e-16 over
    /// it. Factors that exist only by rounding are below.
    double smallest_rcond = 1e-14;
  };

  /// \throws std::invalid_argument unless the matrix is square, not empty, finite, symmetric
  ///         to 1e-6 of its largest entry and with a positive mean on its diagonal, and the
  ///         settings are in range.
  /// \throws NotPositiveDefinite if no jitter on the ladder was enough.
  explicit JitteredCholesky(const Eigen::MatrixXd& matrix) : JitteredCholesky(matrix, Settings{}) {}
  /// Factors the matrix within these limits of jitter and condition; errors as for the defaults.
  JitteredCholesky(const Eigen::MatrixXd& matrix, const Settings& settings) {
    const char* const f = "JitteredCholesky";
    detail::check_probability(f, "largest_jitter", settings.largest_jitter);
    detail::check(settings.smallest_rcond >= 0 && settings.smallest_rcond < 1, f, "smallest_rcond",
                  "is ", settings.smallest_rcond, ", must be at least 0 and below 1");
    check_matrix(matrix, f);
    const double scale = matrix.diagonal().mean();
    detail::check(scale > 0, f, "matrix", "has a diagonal of mean ", scale, ", must be positive");
    for (double relative = 0;;) {
      const std::string failure = attempt(matrix, relative, scale, settings.smallest_rcond);
      if (failure.empty()) return;
      detail::ensure<NotPositiveDefinite>(
          relative < settings.largest_jitter, f, ": matrix (", matrix.rows(), " x ", matrix.rows(),
          ") with a jitter of ", relative * scale, " on its diagonal, ", relative,
          " of the mean there, ", failure,
          "; raise largest_jitter, add noise_variance to the diagonal, or take another kernel");
      const double next = relative == 0 ? 1e-12 : 100 * relative;
      // Tries the last rung once, not also a rounding error below it.
      relative = next < 0.99 * settings.largest_jitter ? next : settings.largest_jitter;
    }
  }

  /// Restores a factor from the lower triangle of its L and the figures that it reported: solutions
  /// have the same bits. Cost: some n^2 multiply-adds.
  /// \throws std::invalid_argument unless L is square, not empty and finite with a positive
  ///         diagonal, the jitters are finite and not negative, and rcond is from 0 to 1.
  [[nodiscard]] static JitteredCholesky from_factor(const Eigen::MatrixXd& factor, double jitter,
                                                    double relative_jitter, double rcond) {
    const char* const f = "JitteredCholesky::from_factor";
    detail::check(factor.rows() > 0, f, "factor", "is empty, must have one row or more");
    detail::check_factor(f, "factor", factor, factor.rows());
    detail::check_not_negative(f, "jitter", jitter);
    detail::check_not_negative(f, "relative_jitter", relative_jitter);
    detail::check_probability(f, "rcond", rcond);
    JitteredCholesky result;
    result.factor_ = Known(factor, rcond);
    result.jitter_ = jitter;
    result.relative_jitter_ = relative_jitter;
    result.rcond_ = rcond;
    return result;
  }

  /// Number of rows n of the matrix.
  [[nodiscard]] std::ptrdiff_t size() const noexcept { return factor_.rows(); }
  /// Number added to the diagonal; 0 in most cases.
  [[nodiscard]] double jitter() const noexcept { return jitter_; }
  /// Jitter over the mean of the diagonal.
  [[nodiscard]] double relative_jitter() const noexcept { return relative_jitter_; }
  /// Estimated reciprocal condition number.
  [[nodiscard]] double rcond() const noexcept { return rcond_; }
  /// Eigen's decomposition with L, for sharing.
  [[nodiscard]] const Eigen::LLT<Eigen::MatrixXd>& llt() const noexcept { return factor_; }

  /// Returns log det(S + jitter I).
  [[nodiscard]] double log_determinant() const { return detail::log_determinant(factor_); }
  /// Returns the diagonal of the inverse. Cost: n^3 / 6 multiply-adds.
  [[nodiscard]] Eigen::VectorXd inverse_diagonal() const {
    return detail::inverse_diagonal(factor_);
  }
  /// Returns (S + jitter I)^-1 times the columns.
  /// \throws std::invalid_argument unless there are n rows.
  [[nodiscard]] Eigen::MatrixXd solve(const Eigen::MatrixXd& columns) const {
    detail::check_size("JitteredCholesky::solve", "columns", columns.rows(), size(),
                       "rows: one per point");
    return factor_.solve(columns);
  }

 private:
  /// A decomposition restored from its factor: Eigen's constructors take only the matrix.
  struct Known : Eigen::LLT<Eigen::MatrixXd> {
    Known(const Eigen::MatrixXd& factor, double known_rcond) {
      m_matrix = factor;
      m_info = Eigen::Success;
      m_isInitialized = true;
      m_l1_norm = 1;
      // Makes `rcond()` return the known value.
      m_l1_norm = known_rcond > 0 ? rcond() / known_rcond : std::numeric_limits<double>::infinity();
    }
  };

  JitteredCholesky() = default;

  static void check_matrix(const Eigen::MatrixXd& matrix, const char* f) {
    detail::check(matrix.rows() > 0 && matrix.rows() == matrix.cols(), f, "matrix", "is ",
                  matrix.rows(), " x ", matrix.cols(), ", must be square and not empty");
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        detail::check(std::isfinite(matrix(i, j)), f, "matrix", "at ", i, ", ", j, " is ",
                      matrix(i, j), ", must be finite");
      }
    }
    const double largest = matrix.cwiseAbs().maxCoeff();
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      for (Eigen::Index i = j; i < matrix.rows(); ++i) {
        detail::check(std::abs(matrix(i, j) - matrix(j, i)) <= 1e-6 * largest, f, "matrix", "at ",
                      i, ", ", j, " is ", matrix(i, j), " and at ", j, ", ", i, " ", matrix(j, i),
                      ", must be symmetric");
      }
    }
  }

  /// Factors with one jitter; returns an empty text on success, else the cause of failure.
  [[nodiscard]] std::string attempt(const Eigen::MatrixXd& matrix, double relative, double scale,
                                    double smallest_rcond) {
    relative_jitter_ = relative;
    jitter_ = relative * scale;
    // An expression, which needs no second copy of the matrix.
    factor_.compute(matrix + jitter_ * Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols()));
    if (factor_.info() != Eigen::Success) {
      return "has no Cholesky factor: a pivot is not positive";
    }
    rcond_ = factor_.rcond();
    // Points of very different scales also make the condition number small, which does no harm; the
    // part of its diagonal entry that each pivot leaves does not depend on scales.
    const auto pivots = factor_.matrixLLT().diagonal().array().square();
    const double left = (pivots / (matrix.diagonal().array() + jitter_)).minCoeff();
    if (rcond_ >= smallest_rcond || left >= std::sqrt(smallest_rcond)) {
      return {};
    }
    return detail::join("has a reciprocal condition number of ", rcond_, ", below ", smallest_rcond,
                        " (smallest pivot ", pivots.minCoeff(), ")");
  }

  Eigen::LLT<Eigen::MatrixXd> factor_;
  double jitter_ = 0;
  double relative_jitter_ = 0;
  double rcond_ = 0;
};

/// Centre-of-mass values E[Upsilon], Upsilon ~ N(0, S) given the signs ("Kernel Interpolation as a
/// Bayes Point Machine", section 4.1), estimated by a sampler, for `KernelInterpolator::train`,
/// from the centre of mass of version space:
///
///     E[Upsilon_i] = E[chi_r] <E[w], x_i>,   r the rank of S.
///
/// A normal vector of the r-dimensional span has a norm with mean E[chi_r] and, independent of it,
/// a uniform direction; given the signs, w is this direction. One run of a sampler estimates what
/// the paper calls intractable.
struct CentreValues {
  /// Runs a cone sampler (`Billiard`, `KernelGibbs`) on a version space and computes the values
  /// from its centre of mass. (Expectation propagation has them, too:
  /// `EpPosterior::centre_values`.) With a soft boundary they belong to S = K + diag(lambda). With
  /// label noise they belong to that posterior, and their signs may differ from the labels.
  /// \throws the sampler's errors; NotSeparable if it finds no classifier without training error;
  /// Stopped if it was stopped before the first draw.
  template <ConeSampler Sampler, VersionSpace Space>
  CentreValues(const Space& space, const Sampler& sampler, RandomStreams& streams,
               const RunControl& control = {}) {
    typename Sampler::State state;
    report = sample_version_space(
        sampler, space, streams, control, [](const Draw&) {}, state);
    const bool found = report.draws > 0;
    detail::ensure<Stopped>(found || !report.stopped,
                            "CentreValues: stopped before the first draw");
    detail::ensure<NotSeparable>(found, "CentreValues: ", report.reason);
    const CentreOfMass centre = state.centre();
    rank = space.size();
    if (report.chains) {
      rank = report.chains->rank;
      standard_error = report.chains->standard_error;
    }
    detail::check(!centre.outputs.empty(), "centre_values", "centre",
                  "has no outputs, expected that of a run with draws");
    values = detail::mean_chi(rank) *
             Eigen::VectorXd::Map(centre.outputs.data(), std::ssize(centre.outputs));
  }

  Eigen::VectorXd values;  ///< E[Upsilon], one per point.
  /// Estimated angle between the estimated and the true centre, rad: the values' relative error in
  /// the norm of the span. Infinity where the run has no estimate of it.
  double standard_error = std::numeric_limits<double>::infinity();
  std::ptrdiff_t rank = 0;  ///< Rank of S; n for samplers without chains.
  SamplerReport report{};   ///< Report of the sampler's run.
};

/// The complexity A(k, X, Y) = KL(Q_iso || P_GP) of the centroidal kernel interpolator, term by
/// term ("Kernel Interpolation as a Bayes Point Machine", section 5 and lemma 8):
///
///     A = n (log 2 - 1/2) + det(K)^(1/n) ((1/2 - 1/pi) tr K^-1 + Y' K^-1 Y / pi),
///
/// which is at least log(1 / P_Y), P_Y the probability of the labels' orthant under N(0, K). It
/// does not change if K is multiplied by a number, and is n log 2 for a diagonal K with equal
/// entries. det(K)^(1/n) and its factors are stored as logarithms: nothing overflows at n = 5000.
struct KernelComplexity {
  /// Takes the four quantities from the caller.
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

  /// Computes the complexity from a Cholesky factor of K, which it does not keep. Cost: n^3 / 6
  /// multiply-adds for the trace.
  /// \throws std::invalid_argument if the factorisation failed, or unless signs are +1 or -1, one
  /// per point.
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

  /// Computes the complexity from the kernel matrix. Cost: n^3 / 3 multiply-adds. \throws
  /// std::invalid_argument as above and as `JitteredCholesky` does; NotPositiveDefinite where K has
  /// no factor without jitter, which would be the complexity of another matrix.
  KernelComplexity(const Eigen::MatrixXd& kernel_matrix, std::span<const signed char> signs)
      : KernelComplexity(JitteredCholesky(kernel_matrix, {.largest_jitter = 0}).llt(), signs) {}

  std::ptrdiff_t points = 0;      ///< Number of points n.
  double log_determinant = 0;     ///< log det K.
  double trace_of_inverse = 0;    ///< tr K^-1.
  double label_norm_squared = 0;  ///< Y' K^-1 Y: the interpolator's squared RKHS norm.

  /// Returns n (log 2 - 1/2).
  [[nodiscard]] double orthant_term() const {
    return static_cast<double>(points) * (std::numbers::ln2 - 0.5);
  }
  /// Returns log det(K) / n: log of the variance of the isotropic posterior's values.
  [[nodiscard]] double log_scale() const { return log_determinant / static_cast<double>(points); }
  /// Returns det(K)^(1/n) (1/2 - 1/pi) tr K^-1.
  [[nodiscard]] double trace_term() const {
    return (0.5 - std::numbers::inv_pi) * std::exp(log_scale() + std::log(trace_of_inverse));
  }
  /// Returns det(K)^(1/n) Y' K^-1 Y / pi.
  [[nodiscard]] double label_term() const {
    return std::numbers::inv_pi * std::exp(log_scale() + std::log(label_norm_squared));
  }
  /// Returns the complexity A(k, X, Y).
  [[nodiscard]] double value() const { return orthant_term() + trace_term() + label_term(); }
};

}}  // namespace bpm
