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

/// log det of L L'.
[[nodiscard]] inline double log_determinant(const Eigen::LLT<Eigen::MatrixXd>& factor) {
  return 2 * factor.matrixLLT().diagonal().array().log().sum();
}

/// The diagonal of (L L')^-1, that is the squared norms of the columns of L^-1, which begin on the
/// diagonal: n^3 / 6 multiply-adds and a block of columns in memory.
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

/// The Cholesky factor of a symmetric matrix, with as little added to the diagonal as it takes:
/// S + jitter I = L L'. It says how much that is; everything it computes belongs to the matrix with
/// the jitter. Memory: n^2 doubles. Cost: n^3 / 6 multiply-adds per attempt, one where the matrix
/// is well conditioned.
class JitteredCholesky {
 public:
  /// What may be added to the diagonal of a matrix that has no Cholesky factor.
  struct Settings {
    /// Largest jitter, relative to the mean of the diagonal; 0: none. Tried are 0, 1e-12, 1e-10,
    /// and so on by factors of 100, and this at last.
    double largest_jitter = 1e-6;
    /// Smallest reciprocal condition number (1-norm, as estimated) of a factor to believe, unless
    /// each pivot leaves its root or more of the diagonal entry: solutions have a relative error of
    /// about 1e-16 over it. A factor that rounding has kept alive is below.
    double smallest_rcond = 1e-14;
  };

  /// \throws std::invalid_argument unless the matrix is square, not empty, finite, symmetric
  ///         to 1e-6 of its largest entry and with a positive mean on its diagonal, and the
  ///         settings are in range.
  /// \throws NotPositiveDefinite if no jitter on the ladder was enough.
  explicit JitteredCholesky(const Eigen::MatrixXd& matrix) : JitteredCholesky(matrix, Settings{}) {}
  /// Likewise, with these limits of jitter and condition.
  JitteredCholesky(const Eigen::MatrixXd& matrix, const Settings& settings) {
    const char* const f = "JitteredCholesky";
    detail::check_probability(f, "largest_jitter", settings.largest_jitter);
    detail::check(settings.smallest_rcond >= 0 && settings.smallest_rcond < 1, f, "smallest_rcond",
                  "is ", settings.smallest_rcond, ", must be at least 0 and below 1");
    check_matrix(matrix, f);
    const double scale = matrix.diagonal().mean();
    detail::check(scale > 0, f, "matrix", "has a diagonal of mean ", scale, ", must be positive");
    std::string failure;
    for (double relative = 0;;) {
      failure = attempt(matrix, relative, scale, settings.smallest_rcond);
      if (failure.empty()) {
        return;
      }
      if (relative >= settings.largest_jitter) {
        throw NotPositiveDefinite(detail::join(
            f, ": matrix (", matrix.rows(), " x ", matrix.rows(), ") with a jitter of ",
            relative * scale, " on its diagonal, ", relative, " of the mean there, ", failure,
            "; raise largest_jitter, add noise_variance to the diagonal, or take another kernel"));
      }
      const double next = relative == 0 ? 1e-12 : 100 * relative;
      // The last rung once, not also a rounding error below it.
      relative = next < 0.99 * settings.largest_jitter ? next : settings.largest_jitter;
    }
  }

  /// As it was when it said these numbers of itself, from the lower triangle of its L: solutions
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

  /// n, rows of the matrix.
  [[nodiscard]] std::ptrdiff_t size() const noexcept { return factor_.rows(); }
  /// What was added to the diagonal; 0 in most cases.
  [[nodiscard]] double jitter() const noexcept { return jitter_; }
  /// The same over the mean of the diagonal.
  [[nodiscard]] double relative_jitter() const noexcept { return relative_jitter_; }
  /// Reciprocal condition number, as estimated.
  [[nodiscard]] double rcond() const noexcept { return rcond_; }
  /// L, for whoever shares it.
  [[nodiscard]] const Eigen::LLT<Eigen::MatrixXd>& llt() const noexcept { return factor_; }

  /// log det(S + jitter I).
  [[nodiscard]] double log_determinant() const { return detail::log_determinant(factor_); }
  /// The diagonal of the inverse. Cost: n^3 / 6 multiply-adds.
  [[nodiscard]] Eigen::VectorXd inverse_diagonal() const {
    return detail::inverse_diagonal(factor_);
  }
  /// (S + jitter I)^-1 times the columns.
  /// \throws std::invalid_argument unless there are n rows.
  [[nodiscard]] Eigen::MatrixXd solve(const Eigen::MatrixXd& columns) const {
    check_rows(columns, "JitteredCholesky::solve");
    return factor_.solve(columns);
  }
  /// L^-1 times the columns: the squared norm of one is c' (S + jitter I)^-1 c.
  /// \throws std::invalid_argument unless there are n rows.
  [[nodiscard]] Eigen::MatrixXd half_solve(const Eigen::MatrixXd& columns) const {
    check_rows(columns, "JitteredCholesky::half_solve");
    return factor_.matrixL().solve(columns);
  }

 private:
  /// A decomposition that was made elsewhere: Eigen's has no way in but by its matrix.
  struct Known : Eigen::LLT<Eigen::MatrixXd> {
    Known(const Eigen::MatrixXd& factor, double known_rcond) {
      m_matrix = factor;
      m_info = Eigen::Success;
      m_isInitialized = true;
      m_l1_norm = 1;
      // So that `rcond` is the one that is known.
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

  void check_rows(const Eigen::MatrixXd& columns, const char* f) const {
    detail::check_size(f, "columns", columns.rows(), size(), "rows: one per point");
  }

  /// Empty if it worked, else why not.
  [[nodiscard]] std::string attempt(const Eigen::MatrixXd& matrix, double relative, double scale,
                                    double smallest_rcond) {
    relative_jitter_ = relative;
    jitter_ = relative * scale;
    // As an expression: no second copy of the matrix.
    factor_.compute(matrix + jitter_ * Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols()));
    if (factor_.info() != Eigen::Success) {
      return "has no Cholesky factor: a pivot is not positive";
    }
    rcond_ = factor_.rcond();
    // Points of very different scale make a small number too, which does no harm: what each pivot
    // leaves of its diagonal entry does not depend on scales.
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
  SamplerReport report{};   ///< What the sampler did on the way.
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

  /// From a Cholesky factor of K, which other parts share. Cost: n^3 / 6 multiply-adds for the
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

  /// From the kernel matrix. Cost: n^3 / 3 multiply-adds.
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
