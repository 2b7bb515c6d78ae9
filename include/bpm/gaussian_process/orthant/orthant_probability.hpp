// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/gaussian_process/orthant/orthant_stages.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/gibbs/log_evidence.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// An estimate of log P[sign f = Y], f ~ N(0, K).
struct OrthantProbability {
  /// Accuracy and cost of an estimate.
  struct Settings {
    /// Standard error of log P at which draws end; 0: exactly `draws` per stage.
    double standard_error = 0.25;
    std::size_t draws = 128;          ///< Least draws per stage; 64 or more.
    std::size_t most_draws = 65'536;  ///< Most draws per stage.
    std::size_t pilot_draws = 32;     ///< Draws per stage of the pilot run, 16 or more.
    std::size_t burn_in = 16;  ///< Trajectories before a stage's draws, pilot and measurement.
    /// Mean path length of a trajectory in radians; each has its own, uniform within a half of the
    /// mean. A quarter turn forgets the most for its cost: on a kernel matrix of 300 digits the
    /// same error costs 2.5 times as much at 0.5, 1.1 times at 1, 1.8 times at 2.5, and exponential
    /// lengths cost 1.8 times as much as uniform ones.
    double path_length = std::numbers::pi / 2;
    std::size_t most_bytes = 0;  ///< Most bytes of memory; 0: no limit.
    /// Number of first points whose signs are given: the result is the conditional probability of
    /// the other signs. The path then keeps the covariance of these points, so that the ratio log
    /// P(all) - log P(first) has its own standard error, smaller than that of the difference of two
    /// estimates. 0: no condition. At most n - 1.
    std::ptrdiff_t given = 0;

    /// Returns the most bytes that a run holds beside its argument. The number of stages is known
    /// once they are chosen; before that (0), it assumes 8 + 2 sqrt(n), more than kernel matrices
    /// of digits take. A run checks the budget both times.
    [[nodiscard]] std::size_t bytes_needed(std::ptrdiff_t points, unsigned threads,
                                           std::size_t known_stages = 0) const {
      const auto n = static_cast<std::size_t>(detail::padded<double>(points));
      // The path's three matrices, as many again during construction (and the factor of the given
      // points), two per thread; draws of a pilot; the chains, of which there are about sqrt(n);
      // two numbers per draw.
      const auto stage_count =
          known_stages != 0 ? known_stages
                            : static_cast<std::size_t>(8 + 2 * std::sqrt(static_cast<double>(n)));
      const auto first = static_cast<std::size_t>(given);
      const std::size_t matrices =
          std::max(n * n * 6 + first * first, n * n * (3 + 2 * std::size_t{threads}));
      // Vectors of draws grow by doubling.
      const std::size_t kept = 4 * stage_count * (standard_error > 0 ? most_draws : draws);
      return sizeof(double) * (matrices + 2 * n * (pilot_draws + 64 * std::size_t{threads}) +
                               stage_count * 80 * n + kept);
    }
  };

  /// Method that computed an orthant probability.
  enum class Method : std::uint8_t {
    exact,            ///< One point: 1/2.
    covariance_path,  ///< Draws from the orthant between independence and K.
    annealed_noise,   ///< `log_evidence` at noise 0, since K is singular to rounding.
  };

  double log_probability = 0;  ///< -infinity if no draw had these signs.
  double standard_error = 0;   ///< Of log P, by batch means; infinite without such draws.
  /// Degrees of freedom of the standard error (Welch, Satterthwaite); infinite where that is 0, 0
  /// where it is infinite.
  double degrees_of_freedom = std::numeric_limits<double>::infinity();
  Method method = Method::exact;  ///< Method that computed this one.
  std::size_t stages = 0;         ///< Number of covariances drawn from, both ends included.
  std::uint64_t draws = 0;        ///< Draws of all stages; by `annealed_noise` all steps.
  std::uint64_t bounces = 0;      ///< Bounces, with those of pilot and burn-in.
  bool reached = true;            ///< False if the standard error is above the requested one.
  bool stopped = false;           ///< Whether the run was stopped, after a first estimate.

  /// Returns an upper limit of log(1/P) at this confidence, by Student's t for the error of the
  /// standard error. The bounds of "Kernel interpolation as a Bayes point machine", Theorem 1, need
  /// such a limit in place of the estimate. It is as good as the error bar: that of
  /// `annealed_noise` on many points is too small, and the limit then no certificate.
  /// \throws std::invalid_argument unless the confidence lies in [0.5, 0.9995].
  [[nodiscard]] double upper_log_inverse(double confidence) const {
    detail::check(confidence >= 0.5 && confidence <= 0.9995,
                  "OrthantProbability::upper_log_inverse", "confidence", "is ", confidence,
                  ", must lie in [0.5, 0.9995]");
    if (standard_error == 0 || !std::isfinite(log_probability)) {
      return -log_probability;
    }
    return -log_probability +
           detail::student_quantile(confidence, std::max(5.0, degrees_of_freedom)) * standard_error;
  }
};

/// Returns P[y_i f_i > 0 for all i], f ~ N(0, K): the orthant probability, the share of the sphere
/// that version space covers.
///
/// **Path.** P does not depend on the scale of f_i; let K have ones on its diagonal. The laws
/// N(0, K_t), K_t = t K + (1 - t) I, lead from P = 2^-n at t = 0, where labels of the orthant are
/// independent half normals, to K at t = 1. With u drawn from the orthant under K_t and
/// Q_t(u) = u' K_t^{-1} u,
///
///     P(K_t') / P(K_t) = E_t[e^h],
///     h = (log|K_t| - log|K_t'|) / 2 + n/2 (log Q_t(u) - log Q_t'(u)) :
///
/// The orthant is a cone, so under K_t the direction of u has the density |K_t|^{-1/2} Q_t^{-n/2}
/// on it, up to P(K_t) and a constant, and h is the log ratio of two such densities. Without the
/// radius, which does not depend on the signs, h varies less than the ratio of the normal
/// densities. Both ends of a step combine by the geometric mean of their laws,
///
///     log P(K_t') / P(K_t) = log E_t[e^{h/2}] - log E_t'[e^{-h/2}],
///
/// also an identity. It has a finite variance where one end alone may not, and a smaller one.
///
/// **Error.** Close stages approach the integral of E_t[dh/dt], whose variance is Lambda^2 / (all
/// draws), Lambda the integral of the deviation of dh/dt: 0.6 to 1.3 sqrt(n) on kernel matrices of
/// digits from n = 100 to 2000. Halving nested cones (Gessner, Kanjilal, Hennig, AISTATS 2020)
/// takes log_2 1/P levels, a variance of (log_2 1/P)^2 / (all draws), and at each level a chain
/// that has to find its way into a cone of half the size. The number of stages does not matter for
/// the variance; a pilot run chooses them such that h has a variance of 1, and they are then fixed:
/// choosing them while measuring would bias the sum. Standard errors are batch means of the
/// influence values e^{h+/2} / mean - e^{h-/2} / mean of each stage's draws, in squares over the
/// stages.
///
/// **Cost.** 4/3 n^3 multiply-adds once: one tridiagonal form serves all K_t. Then about sqrt(n)
/// stages of `draws` trajectories, of flights with reflections, and 2 n^2 multiply-adds per draw.
/// If the standard error is above the requested one, the chains continue, up to `most_draws`.
/// Memory: `OrthantProbability::Settings::bytes_needed`. Threads work on different stages. Streams
/// from `streams.next` on serve the pilot (one) and the stages (one each).
///
/// **Given signs.** With K_11 the block of the given points the path is K_t = t K + (1 - t) B, B
/// with the blocks K_11 and I: from P(first) 2^-(n - given) at t = 0, where a chain makes the draws
/// as at all other stages, to P(all).
///
/// **Singular K.** Where an eigenvalue of the correlations is below 1e-11, `log_evidence` (default
/// settings; slower, also consistent) anneals the noise of labels instead, and `method` is
/// `annealed_noise`. It ignores `control`, and does not support given signs.
///
/// \throws std::invalid_argument unless the covariance is square, not empty, finite, symmetric and
///         positive on its diagonal, signs are 1 or -1, one per row, and settings in range;
///         NotPositiveDefinite if an eigenvalue of the correlations (in units of B) is below -1e-8,
///         and where signs are given, below 1e-11, or a squared pivot of the given points' Cholesky
///         factor is; BudgetTooSmall; Stopped if stopped before there is an estimate.
[[nodiscard]] inline OrthantProbability orthant_probability(
    const Eigen::MatrixXd& covariance, std::span<const signed char> signs,
    const OrthantProbability::Settings& settings, RandomStreams& streams,
    const RunControl& control = {}) {
  const char* const f = "orthant_probability";
  detail::check_covariance(f, covariance);
  detail::check_signs(f, signs, covariance.rows(), "one per row of the covariance");
  detail::check_not_negative(f, "standard_error", settings.standard_error);
  detail::check_at_least(f, "draws", settings.draws, 64);
  detail::check(settings.most_draws >= settings.draws, f, "most_draws", "is ", settings.most_draws,
                ", must not be below draws, ", settings.draws);
  detail::check_at_least(f, "pilot_draws", settings.pilot_draws, 16);
  detail::check_path_length(f, settings.path_length);
  OrthantProbability result;
  const Eigen::Index n = covariance.rows();
  detail::check(settings.given >= 0 && settings.given < n, f, "given", "is ", settings.given,
                ", must be at least 0 and below the number of points, ", n);
  if (n == 1) {
    result.log_probability = -std::numbers::ln2;
    return result;
  }
  const unsigned threads = detail::thread_count(control.threads, f);
  const std::size_t needed = settings.bytes_needed(n, threads);
  detail::ensure<BudgetTooSmall>(settings.most_bytes == 0 || needed <= settings.most_bytes, f,
                                 ": most_bytes is ", settings.most_bytes, ", ", n, " points on ",
                                 threads, " threads need ", needed);
  detail::ensure<Stopped>(control.go_on({.stage = "orthant factor"}), f,
                          ": stopped before it had an estimate");
  // Signed correlations make the orthant the positive one.
  Eigen::VectorXd scale(n);
  for (Eigen::Index i = 0; i < n; ++i)
    scale[i] = signs[std::size_t(i)] / std::sqrt(covariance(i, i));
  Eigen::MatrixXd correlation = scale.asDiagonal() * covariance * scale.asDiagonal();
  correlation.diagonal().setOnes();
  if (settings.given > 0) {
    const Eigen::LLT<Eigen::MatrixXd> first(
        correlation.topLeftCorner(settings.given, settings.given));
    detail::ensure<NotPositiveDefinite>(
        first.info() == Eigen::Success &&
            first.matrixLLT().diagonal().array().square().minCoeff() > 1e-11,
        f, ": covariance of the given points is singular to rounding; add to its diagonal");
  }
  const detail::CovariancePath path(correlation, settings.given);
  correlation.resize(0, 0);
  const std::ptrdiff_t negative = path.eigenvalues_below(-1e-8);
  detail::ensure<NotPositiveDefinite>(negative == 0, f, ": covariance has ", negative,
                                      " negative eigenvalues, below -1e-8 where its diagonal "
                                      "is scaled to 1; add to its diagonal");
  const auto reached = [&] {
    return settings.standard_error == 0 || result.standard_error <= settings.standard_error;
  };
  if (path.eigenvalues_below(1e-11) > 0) {
    detail::ensure<NotPositiveDefinite>(
        settings.given == 0, f,
        ": covariance is singular to rounding, and signs are given; add to its diagonal");
    const RowMatrix<double> values = covariance;
    const PrecomputedGram<double> gram(values);
    const KernelVersionSpace<double> space(gram, {signs.begin(), signs.end()});
    // The path's tolerance of zero.
    const LogEvidence evidence = log_evidence(Cone(space, 1e-11), 0.0, {}, streams);
    result.method = OrthantProbability::Method::annealed_noise;
    result.log_probability = evidence.value;
    result.standard_error = evidence.standard_error;
    result.degrees_of_freedom = evidence.degrees_of_freedom;
    result.stages = evidence.stages + 1;
    result.draws = evidence.steps;
    result.reached = reached();
    return result;
  }
  detail::OrthantStages stages(path, settings.path_length, control);
  stages.choose(settings.pilot_draws, settings.burn_in, 1.0, streams.stream(streams.next));
  const std::size_t more = settings.bytes_needed(n, threads, stages.size());
  detail::ensure<BudgetTooSmall>(settings.most_bytes == 0 || more <= settings.most_bytes, f,
                                 ": most_bytes is ", settings.most_bytes, ", ", n, " points in ",
                                 stages.size(), " stages on ", threads, " threads need ", more);
  const std::uint64_t first = streams.next + 1;
  result.method = OrthantProbability::Method::covariance_path;
  result.stages = stages.size();
  for (std::size_t count = settings.draws;;) {
    try {
      stages.measure(count, settings.burn_in, streams, first, threads);
    } catch (const Stopped&) {
      if (stages.draws() == 0) {
        throw;
      }
      result.stopped = true;
    }
    const detail::OrthantStagesResult found = stages.result();
    result.log_probability = found.value;
    result.standard_error = std::sqrt(found.variance);
    result.degrees_of_freedom = found.freedom;
    result.draws = stages.draws() * stages.size();
    result.bounces = stages.bounces();
    result.reached = reached();
    if (result.reached || result.stopped || count == settings.most_draws) {
      break;
    }
    const double excess = result.standard_error / settings.standard_error;
    const double wanted = std::ceil(1.1 * excess * excess * static_cast<double>(count));
    count = wanted < static_cast<double>(settings.most_draws) ? static_cast<std::size_t>(wanted)
                                                              : settings.most_draws;
  }
  streams.next = first + stages.size();
  return result;
}

/// Returns the orthant probability of a version space: K + diag(lambda) and its labels. Cost: n
/// rows of kernel values more.
template <VersionSpace Space>
[[nodiscard]] OrthantProbability orthant_probability(const Space& space,
                                                     const OrthantProbability::Settings& settings,
                                                     RandomStreams& streams,
                                                     const RunControl& control = {}) {
  return orthant_probability(detail::sampling_covariance(space), detail::labels_of(space), settings,
                             streams, control);
}

}}  // namespace bpm
