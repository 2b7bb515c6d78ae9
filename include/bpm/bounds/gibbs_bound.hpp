// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Bounds from n training points alone: PAC-Bayes bounds on the risk of a Gibbs classifier, with
/// the relative entropy of two coins (Bernoulli distributions), on which they rest; bounds on the
/// error of a classifier by compression and by complexity.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

// The relative entropy of two coins (Bernoulli distributions) and its inverses. They bound the
// tails of means of numbers in [0, 1].
//
// For a mean q of N independent numbers in [0, 1] with expectation p (Chernoff; Hoeffding 1963,
// theorem 1),
//
//     P(q <= p - t) <= exp(-N kl(p - t || p)),
//
// and likewise above p. With c = log(1 / delta) / N, `kl_upper_inverse(q, c)` is therefore an upper
// limit of p with confidence 1 - delta.

/// log(1 + u) - u, without the cancellation at small u.
[[nodiscard]] inline double log1p_minus(double u) {
  if (std::abs(u) > 0.1) {
    return std::log1p(u) - u;
  }
  double sum = 0;
  for (int k = 18; k >= 2; --k) sum = (k % 2 == 0 ? -1.0 : 1.0) / k + u * sum;
  return u * u * sum;
}

/// kl(q || q + d), from the distance d: accurate to rounding also for tiny d.
[[nodiscard]] inline double relative_entropy_at(double q, double d) {
  double sum = 0;
  if (q > 0) sum -= q * log1p_minus(d / q);
  if (q < 1) sum -= (1 - q) * log1p_minus(-d / (1 - q));
  return sum;
}

/// kl(q || p) for q and p inside (0, 1], accurate to rounding; q = 0 and p < 1 are valid, too.
[[nodiscard]] inline double relative_entropy(double q, double p) {
  if (std::abs(q - p) < 0.05 * q && std::abs(q - p) < 0.05 * (1 - q)) {
    return relative_entropy_at(q, p - q);  // p - q is exact here.
  }
  double sum = 0;
  if (q > 0) sum += q * std::log(q / p);
  if (q < 1) sum += (1 - q) * (std::log1p(-q) - std::log1p(-p));
  return sum;
}

/// The smallest x in [0, end] with `reached(x)`, which is false below some x and true from there
/// on; `end` where it is never true. Method: bisection over the doubles, with at most 64 calls.
template <class Predicate>
[[nodiscard]] double first_double(double end, Predicate&& reached) {
  // Doubles that are not negative are ordered like their bits.
  std::uint64_t low = 0;
  auto high = std::bit_cast<std::uint64_t>(end);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (reached(std::bit_cast<double>(middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::bit_cast<double>(high);
}

}  // namespace detail

/// kl(q || p) = q log(q / p) + (1 - q) log((1 - q) / (1 - p)), in nats; infinity where p is 0 or 1
/// and q is another number.
/// \throws std::invalid_argument unless both lie in [0, 1].
[[nodiscard]] inline double binary_relative_entropy(double q, double p) {
  const char* const f = "binary_relative_entropy";
  detail::check_probability(f, "q", q);
  detail::check_probability(f, "p", p);
  if (q == p) {
    return 0;
  }
  if (p == 0 || p == 1) {
    return std::numeric_limits<double>::infinity();
  }
  return detail::relative_entropy(q, p);
}

/// The largest p >= q with kl(q || p) <= c: 1 - exp(-c) for q = 0, and 1 for q = 1, to rounding.
/// \throws std::invalid_argument unless q lies in [0, 1] and c is not negative.
[[nodiscard]] inline double kl_upper_inverse(double q, double c) {
  const char* const f = "kl_upper_inverse";
  detail::check_probability(f, "q", q);
  detail::check(c >= 0, f, "c", "is ", c, ", must not be negative");
  if (q == 0) {
    return -std::expm1(-c);
  }
  if (q == 1 || c == 0) {
    return q;
  }
  const double distance =
      detail::first_double(1 - q, [&](double d) { return detail::relative_entropy_at(q, d) >= c; });
  return std::fmin(1.0, q + distance);
}

/// The PAC-Bayes theorem that gives a bound on the Gibbs error. Each holds for every posterior Q at
/// once; the first two for those that make no training error.
enum class PacBayes {
  /// kl(0 || e) = -log(1 - e) <= (KL + log(2 n / delta)) / (n - 1): J. Langford, M. Seeger, "Bounds
  /// for averaging classifiers", 2001, theorem 3, with empirical error 0. Lemma 7 of the paper.
  langford_seeger,
  /// -log(1 - e) <= (KL + log(1 / delta)) / n, which is always smaller. With e(h) the error of h
  /// and C the event that h makes no error on the n examples, P(C) = (1 - e(h))^n, so that
  /// E_P[1_C (1 - e(h))^-n] has expectation at most 1 over the sample and exceeds 1 / delta with
  /// probability at most delta (Markov). For Q inside C the change of measure gives
  /// n E_Q[-log(1 - e(h))] <= KL + log(1 / delta), and -log(1 - e) is convex (Jensen).
  realizable,
  /// kl(e' || e) <= (KL + log(2 sqrt(n) / delta)) / n with the Gibbs error e' on the n examples, n
  /// at least 8: A. Maurer, "A note on the PAC-Bayesian theorem", 2004, theorem 5.
  maurer,
};

/// Shares of a confidence delta: all statements of a bound hold at once with probability 1 -
/// total() over the sample, the estimates' random numbers and the inputs (union bound).
struct Confidence {
  double sample = 0.01;  ///< For the n training examples.
  double estimate = 0;   ///< For an estimate of the complexity; 0: it is exact.
  double inputs = 0;     ///< For measurements on inputs without labels; 0: there are none.

  /// Sum of the shares: the probability that any of the statements fails.
  [[nodiscard]] double total() const noexcept { return sample + estimate + inputs; }

  /// Gives delta to the sample alone. \throws std::invalid_argument unless it lies between 0 and 1.
  [[nodiscard]] static Confidence exact(double delta) {
    detail::check_delta("Confidence::exact", "delta", delta);
    return {delta};
  }
  /// Splits delta: the estimate gets the share `estimate_share`, the sample the rest.
  /// \throws std::invalid_argument unless both lie between 0 and 1.
  [[nodiscard]] static Confidence shared(double delta, double estimate_share = 0.5) {
    detail::check_delta("Confidence::shared", "delta", delta);
    detail::check_delta("Confidence::shared", "estimate_share", estimate_share);
    return {delta * (1 - estimate_share), delta * estimate_share};
  }
  /// Gives a third of delta each to the sample, the estimate and the inputs.
  /// \throws std::invalid_argument unless delta lies between 0 and 1.
  [[nodiscard]] static Confidence thirds(double delta) {
    detail::check_delta("Confidence::thirds", "delta", delta);
    return {delta / 3, delta / 3, delta / 3};
  }
};

/// An upper bound on the Gibbs error, and its terms: the e with kl(e' || e) = (C + selection +
/// confidence) / m, which is 1 - exp(-(C + selection + confidence) / m) if the Gibbs error e' on
/// the training examples is 0.
///
/// Lemma 7 of "Kernel Interpolation as a Bayes Point Machine": with probability 1 - delta over n
/// independent training examples, the mean error of classifiers drawn from Q, all of which classify
/// the training set right, is at most
///
///     1 - exp(-(C + log(2 n / delta)) / (n - 1)),
///
/// C = KL(Q || P) in nats: log(1 / P_Y) for the Gaussian process conditioned on the labels' signs,
/// `KernelComplexity::value()` for the isotropic posterior. If C itself is random, pass its upper
/// limit with confidence 1 - `confidence.estimate`. The kernel must not have been chosen on the
/// training data, except among the given number of `kernels`.
///
/// **Split prior.** If the first n1 of N examples determine the prior P, the bound uses the other n
/// = N - n1 examples. C = KL(Q || P) is log P(signs of the first n1) - log P(all signs) for exact
/// posteriors (`OrthantProbability::Settings::given`), and `relative_entropy` for those of
/// expectation propagation, with `PacBayes::maurer`, since these make training errors. n1 and the
/// order of the examples are fixed beforehand; a kernel may be chosen on the first n1 at no cost
/// (A. Ambroladze, E. Parrado-Hernández, J. Shawe-Taylor, "Tighter PAC-Bayes bounds", NIPS 19,
/// 2007).
struct GibbsBound {
  /// Settings of a bound, besides complexity and points.
  struct Settings {
    Confidence confidence{};  ///< Shares of delta.
    /// Number of kernels among which one was chosen on the same data. The bound adds its logarithm:
    /// the prior is then the uniform mixture of the kernels' priors. If the choice saw estimates of
    /// the complexity, the limit of the chosen one must hold with `estimate` over that number.
    std::uint64_t kernels = 1;
    PacBayes theorem = PacBayes::langford_seeger;  ///< The paper's; `realizable` is smaller.
    double empirical_error = 0;  ///< Q's Gibbs error on the n examples; 0 except for `maurer`.
  };

  /// \throws std::invalid_argument unless complexity is finite and not negative, points >= 2 (8 for
  /// `maurer`), the deltas in range, kernels >= 1, and empirical_error in [0, 1], where only
  /// `maurer` allows other values than 0.
  GibbsBound(double complexity_in_nats, std::ptrdiff_t training_points)
      : GibbsBound(complexity_in_nats, training_points, Settings{}) {}
  /// Bound with the given deltas, number of kernels and theorem.
  GibbsBound(double complexity_in_nats, std::ptrdiff_t training_points, const Settings& settings)
      : points(training_points),
        complexity(complexity_in_nats),
        selection_term(std::log(static_cast<double>(settings.kernels))),
        empirical_error(settings.empirical_error),
        confidence(settings.confidence) {
    const char* const f = "GibbsBound";
    detail::check_not_negative(f, "complexity", complexity);
    detail::check_at_least(f, "points", points, 2);
    detail::check_delta(f, "confidence.sample", confidence.sample);
    detail::check(confidence.estimate >= 0, f, "confidence.estimate", "is ", confidence.estimate,
                  ", must not be negative");
    detail::check(confidence.inputs >= 0, f, "confidence.inputs", "is ", confidence.inputs,
                  ", must not be negative");
    detail::check(confidence.total() < 1, f, "confidence", "is ", confidence.total(),
                  " in all, must be below 1");
    detail::check_at_least(f, "kernels", settings.kernels, 1);
    detail::check_probability(f, "empirical_error", empirical_error);
    const auto n = static_cast<double>(points);
    confidence_term = -std::log(confidence.sample);
    divisor = n;
    if (settings.theorem == PacBayes::maurer) {
      detail::check_at_least(f, "points", points, 8);
      confidence_term += std::log(2 * std::sqrt(n));
      return;
    }
    detail::check(empirical_error == 0, f, "empirical_error", "is ", empirical_error,
                  ", must be 0 but for PacBayes::maurer");
    const bool published = settings.theorem == PacBayes::langford_seeger;
    detail::check(published || settings.theorem == PacBayes::realizable, f, "theorem", "is ",
                  static_cast<int>(settings.theorem),
                  ", must be langford_seeger, realizable or maurer");
    if (published) {
      confidence_term = std::log(2 * n) - std::log(confidence.sample);
      divisor = n - 1;
    }
  }

  std::ptrdiff_t points;       ///< Number of training examples n.
  double complexity;           ///< Complexity C, or its upper limit, in nats.
  double selection_term;       ///< log(number of kernels tried).
  double empirical_error;      ///< Gibbs error e' on the examples, 0 except for `PacBayes::maurer`.
  double confidence_term = 0;  ///< log 1 / delta of the sample, plus log 2 n, 0 or log 2 sqrt(n).
  double divisor = 0;          ///< Divisor m: n - 1 or n.
  Confidence confidence;       ///< The bound holds with probability 1 - confidence.total().

  /// (C + log(kernels) + confidence term) / m, in nats.
  [[nodiscard]] double exponent() const noexcept {
    return (complexity + selection_term + confidence_term) / divisor;
  }
  /// Bound on the Gibbs error; 1 - exp(-exponent()) where e' = 0.
  [[nodiscard]] double value() const { return kl_upper_inverse(empirical_error, exponent()); }
  /// True if the bound is vacuous: 1/2 or more, which a fair coin achieves on balanced classes.
  [[nodiscard]] bool vacuous() const { return value() >= 0.5; }
};

/// An upper bound on the error of a Bayes point: e times that of the Gibbs error. Lemma 3 of
/// "Kernel Interpolation as a Bayes Point Machine": the centre of mass of an ensemble of linear
/// classifiers with a log-concave density on a convex set errs at most e times as often as its
/// members do on average, by Grünbaum's inequality. It holds for the exact centre; one that a
/// sampler or an approximation has found is another classifier.
struct BayesPointBound {
  /// Uses a bound on the Gibbs error of the ensemble whose centre of mass is the Bayes point.
  explicit BayesPointBound(const GibbsBound& gibbs_bound) : gibbs(gibbs_bound) {}
  /// Theorem 1, in both forms: bounds the interpolator of the signs if `complexity` is
  /// `KernelComplexity::value()`, that of the centre-of-mass values if it is log(1 / P_Y). \throws
  /// std::invalid_argument on arguments that `GibbsBound` refuses.
  BayesPointBound(double complexity, std::ptrdiff_t points,
                  const GibbsBound::Settings& settings = {})
      : gibbs(complexity, points, settings) {}

  GibbsBound gibbs;  ///< Bound on the mean error of the ensemble's members.

  /// Bound on the error of the Bayes point; it may exceed 1.
  [[nodiscard]] double value() const { return std::numbers::e * gibbs.value(); }
  /// True if the bound is vacuous: 1 or more, from a Gibbs bound of 1 / e or more.
  [[nodiscard]] bool vacuous() const { return value() >= 1; }
};

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
