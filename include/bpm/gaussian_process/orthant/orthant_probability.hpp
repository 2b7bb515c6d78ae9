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
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
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
  /// How exact an estimate is wanted, and what it may cost.
  struct Settings {
    /// Draws go on until the standard error of log P is this or less; 0: `draws` a stage and no
    /// more.
    double standard_error = 0.25;
    std::size_t draws = 128;          ///< A stage, at least; 64 or more.
    std::size_t most_draws = 65'536;  ///< A stage, at most.
    std::size_t pilot_draws = 32;     ///< A stage of the run that chooses the stages; 16 or more.
    std::size_t burn_in = 16;  ///< Trajectories before a stage's draws, pilot and measurement.
    /// Mean path length of a trajectory in radians; each has its own, uniform within a half of the
    /// mean. A quarter turn forgets the most for its cost: on a kernel matrix of 300 digits the
    /// same error costs 2.5 times as much at 0.5, 1.1 times at 1, 1.8 times at 2.5, and exponential
    /// lengths cost 1.8 times as much as uniform ones.
    double path_length = std::numbers::pi / 2;
    std::size_t most_bytes = 0;  ///< Memory that may be used; 0: no limit.
    /// The signs of the first `given` points are given: the probability is that of the others'
    /// signs on this condition. The path then leaves the covariance of these points as it is, so
    /// that the ratio log P(all) - log P(first) has its own standard error, a smaller one than the
    /// difference of two estimates. 0: of all signs. At most n - 1.
    std::ptrdiff_t given = 0;

    /// Bytes that a run holds at most, beside its argument. The number of stages is
    /// known once they are chosen; before that (0), 8 + 2 sqrt(n) are supposed, more than kernel
    /// matrices of digits take. The budget is checked both times.
    [[nodiscard]] std::size_t bytes_needed(std::ptrdiff_t points, unsigned threads,
                                           std::size_t known_stages = 0) const {
      const auto n = static_cast<std::size_t>(detail::padded<double>(points));
      // The path's three matrices, as many again while it is made (and the factor of the given
      // points), two per thread; draws of a pilot; the chains, of which there are about sqrt(n)
      // and each is kept twice while it runs; two numbers per draw.
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

  /// How an orthant probability was found.
  enum class Method : std::uint8_t {
    exact,            ///< One point: 1/2.
    covariance_path,  ///< Draws from the orthant between independence and K.
    annealed_noise,   ///< `log_evidence` at noise 0, since K is singular to rounding.
  };

  double log_probability = 0;  ///< -infinity if no draw with these signs was met.
  double standard_error = 0;   ///< Of it, by batch means; infinite where no draw was met.
  /// Of the standard error (Welch, Satterthwaite); infinite where that is 0, 0 where it is
  /// infinite.
  double degrees_of_freedom = std::numeric_limits<double>::infinity();
  Method method = Method::exact;  ///< How this one was found.
  std::size_t stages = 0;         ///< Covariances that were drawn from, both ends counted.
  std::uint64_t draws = 0;        ///< Of all stages; of `annealed_noise` every step.
  std::uint64_t bounces = 0;      ///< Pilot and burn-in included.
  bool reached = true;            ///< The standard error asked for is reached, or none was.
  bool stopped = false;           ///< From outside, after a first estimate.

  /// An upper limit of log(1/P) that holds with this confidence, by Student's t for the error of
  /// the standard error: a limit for the bounds of "Kernel interpolation as a Bayes point machine",
  /// Theorem 1, where the estimate itself is none. It is as good as the error bar: by
  /// `annealed_noise` on many points that is too small, and this no certificate.
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

/// P[y_i f_i > 0 for all i], f ~ N(0, K): the orthant probability, the share of the sphere that
/// version space takes.
///
/// **Path.** P does not depend on the scale of f_i; let K have ones on its diagonal. The laws
/// N(0, K_t), K_t = t K + (1 - t) I, lead from P = 2^-n at t = 0, where labels of the orthant are
/// independent half normals, to K at t = 1. With u drawn from the orthant under K_t and
/// Q_t(u) = u' K_t^{-1} u,
///
///     P(K_t') / P(K_t) = E_t[e^h],
///     h = (log|K_t| - log|K_t'|) / 2 + n/2 (log Q_t(u) - log Q_t'(u)) :
///
/// the orthant is a cone, so under K_t the direction of u has the density |K_t|^{-1/2} Q_t^{-n/2}
/// on it, up to P(K_t) and a constant, and h is the log ratio of two such densities. Without
/// the radius, which says nothing of the signs, h varies less than the ratio of the normal
/// densities. Both ends of a step meet in the geometric mean of their laws,
///
///     log P(K_t') / P(K_t) = log E_t[e^{h/2}] - log E_t'[e^{-h/2}],
///
/// an identity too, which has a finite variance where one end alone may not, and a smaller one.
///
/// **Error.** Close stages approach the integral of E_t[dh/dt], whose variance is Lambda^2 / (all
/// draws), Lambda the integral of the deviation of dh/dt: 0.6 to 1.3 sqrt(n) on kernel matrices of
/// digits from n = 100 to 2000, while halving nested cones (Gessner, Kanjilal, Hennig, AISTATS
/// 2020) takes log_2 1/P levels, in all a variance of (log_2 1/P)^2 / (all draws), and a chain a
/// level that has to find its way into a cone of half the size. The number of stages does not
/// matter for the variance; they are chosen in a pilot run such that h has a variance of 1, and
/// frozen: choosing them while measuring would bias the sum. Standard errors are batch means of the
/// influence values e^{h+/2} / mean - e^{h-/2} / mean of each stage's draws, in squares over the
/// stages.
///
/// **Cost.** 4/3 n^3 multiply-adds once: one tridiagonal form serves all K_t. Then about sqrt(n)
/// stages of `draws` trajectories, of flights with reflections, and 2 n^2 multiply-adds per draw.
/// When the standard error is not reached, the chains go on for as many draws as should do, up to
/// `most_draws`. Memory: `OrthantProbability::Settings::bytes_needed`. Threads work on different
/// stages. Streams from `streams.next` on are used: one for the pilot and one per stage.
///
/// **Given signs.** With K_11 the block of the given points the path is K_t = t K + (1 - t) B, B of
/// the blocks K_11 and I: from P(first) 2^-(n - given) at t = 0, whose draws are those of a chain
/// as at all other stages, to P(all).
///
/// **Singular K.** Where an eigenvalue of the correlations is below 1e-11, the noise of labels is
/// annealed instead (`log_evidence`, default settings; slower, and consistent too), and `method`
/// says so. It does not watch `control`, and knows no given signs.
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
  if (settings.most_bytes != 0 && needed > settings.most_bytes) {
    throw BudgetTooSmall(detail::join(f, ": most_bytes is ", settings.most_bytes, ", ", n,
                                      " points on ", threads, " threads need ", needed));
  }
  if (!control.go_on({.stage = "orthant factor"})) {
    throw Stopped(detail::join(f, ": stopped before it had an estimate"));
  }
  // Signed correlations: the orthant is the positive one.
  Eigen::VectorXd scale(n);
  for (Eigen::Index i = 0; i < n; ++i) scale[i] = signs[i] / std::sqrt(covariance(i, i));
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
  if (path.eigenvalues_below(-1e-8) > 0) {
    throw NotPositiveDefinite(detail::join(f, ": covariance has ", path.eigenvalues_below(-1e-8),
                                           " negative eigenvalues, below -1e-8 where its diagonal "
                                           "is scaled to 1; add to its diagonal"));
  }
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
    // At what is taken to be zero here.
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
  if (settings.most_bytes != 0 && more > settings.most_bytes) {
    throw BudgetTooSmall(detail::join(f, ": most_bytes is ", settings.most_bytes, ", ", n,
                                      " points in ", stages.size(), " stages on ", threads,
                                      " threads need ", more));
  }
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

/// The same for a version space: K + diag(lambda) and its labels. Cost: n rows of kernel values
/// more.
template <VersionSpace Space>
[[nodiscard]] OrthantProbability orthant_probability(const Space& space,
                                                     const OrthantProbability::Settings& settings,
                                                     RandomStreams& streams,
                                                     const RunControl& control = {}) {
  return orthant_probability(detail::sampling_covariance(space), detail::labels_of(space), settings,
                             streams, control);
}

}}  // namespace bpm
