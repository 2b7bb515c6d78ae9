// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// An upper bound on the error of a classifier that depends on only k of its N training points,
/// without test data: with probability 1 - delta over the training set the error is at most this
/// epsilon, the solution in (k/N, 1) of
///
///     (delta / N) sum_{m=k}^{N-1} [binom(m, k) / binom(N, k)] (1 - epsilon)^{-(N-m)} = 1,
///
/// and 1 for k = N (Campi, Garatti, "Compression, generalization and learning", JMLR 24, 2023).
/// Rounded up.
///
/// It holds for stable compressions: the points are independent and from one source, and the
/// training gives the same result without any of the points outside the k. A run of a permuted
/// perceptron is one, with k the points on which it made a mistake in any pass (in any class, where
/// several run in step): points without a mistake change nothing. Its order must not depend on the
/// data (each point has a random key of its own), it must have ended by a pass without a mistake,
/// and the kernel's width, lambda and the bias must be absolute numbers fixed beforehand, since a
/// median of distances or a mean of k(x, x) changes when points are removed.
///
/// If the same data chose among n draws or candidates (kernels, lambdas), use delta / n; a draw
/// that was named beforehand needs no correction. For the mean of several draws, k counts the
/// points on which any of them made a mistake.
///
/// Proof: let phi be the chance that one more point would be a mistake in some pass. It is at least
/// the error, since a point that the classifier gets wrong is a mistake of the last pass. Among m
/// points the run keeps any given k of them, and no other, with probability
/// E[(1 - phi)^{m-k}; k points that all count], hence sum_k binom(m, k) E_k[(1 - phi)^{m-k}] = 1
/// for every m. The weights delta / N on m = 0 .. N - 1 add these up to delta, and where
/// phi > epsilon(k) the sum's terms exceed those of P(phi > epsilon(k)) = sum_k binom(N, k)
/// E_k[(1 - phi)^{N-k}; phi > epsilon(k)]: that is the equation above.
///
/// Cost: 64 N exponentials at most.
/// \throws std::invalid_argument without points, if k exceeds N, or unless 0 < delta < 1.
[[nodiscard]] inline double stable_compression_bound(std::uint64_t k, std::uint64_t N,
                                                     double delta) {
  const char* const f = "stable_compression_bound";
  detail::check(N > 0, f, "N", "is 0, must be at least 1");
  detail::check(k <= N, f, "k", "is ", k, ", must be at most N, ", N);
  detail::check_delta(f, "delta", delta);
  if (k == N) {
    return 1;
  }
  // Element j - 1: log binom(N - j, k) / binom(N, k), j = 1 .. N - k.
  std::vector<double> ratios(N - k);
  double ratio = 0;
  for (std::uint64_t j = 1; j <= N - k; ++j) {
    const auto more = static_cast<double>(N - j + 1);
    ratio += std::log((more - static_cast<double>(k)) / more);
    ratios[j - 1] = ratio;
  }
  const double wanted = std::log(static_cast<double>(N) / delta);
  return detail::first_double(1, [&](double epsilon) {
    const double step = -std::log1p(-epsilon);
    double largest = -wanted;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      largest = std::max(largest, ratios[i] + static_cast<double>(i + 1) * step);
    }
    if (largest >= wanted) return true;
    double sum = 0;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      sum += std::exp(ratios[i] + static_cast<double>(i + 1) * step - largest);
    }
    return largest + std::log(sum) >= wanted;
  });
}

/// The Rademacher bound on the error of the interpolator of the signs, for comparison: 4 sqrt(Y'
/// K^-1 Y / n), by section 6.1 of "Kernel Interpolation as a Bayes Point Machine", after P.
/// Bartlett, S. Mendelson, "Rademacher and Gaussian complexities", JMLR 3, 2002, theorem 21, for
/// k(x, x) = 1; for another diagonal times sqrt(tr K / n), so that a multiple of K gives the same
/// value. The paper neglects the confidence term; without one, the bound holds with no known
/// probability. The caller may add one.
struct RademacherBound {
  /// \throws std::invalid_argument unless points is 1 or more, the norm and the diagonal positive,
  ///         the term not negative, and all finite.
  RademacherBound(double label_norm_squared, std::ptrdiff_t points, double mean_diagonal = 1,
                  double added = 0)
      : confidence_term(added) {
    const char* const f = "RademacherBound";
    detail::check_positive(f, "label_norm_squared", label_norm_squared);
    detail::check_at_least(f, "points", points, 1);
    detail::check_positive(f, "mean_diagonal", mean_diagonal);
    detail::check_not_negative(f, "confidence_term", confidence_term);
    complexity_term =
        4 * std::sqrt(label_norm_squared * mean_diagonal / static_cast<double>(points));
  }

  double complexity_term = 0;  ///< 4 sqrt(Y' K^-1 Y tr K) / n.
  double confidence_term;      ///< Term that the caller added.

  /// Bound on the error, with the confidence of `confidence_term`; it may exceed 1.
  [[nodiscard]] double value() const { return complexity_term + confidence_term; }
  /// True if the bound is vacuous: 1 or more.
  [[nodiscard]] bool vacuous() const { return value() >= 1; }
};

}}  // namespace bpm
