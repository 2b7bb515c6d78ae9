// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/samplers/gibbs/gibbs_annealing.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm {

/// What `log_evidence` found.
struct LogEvidence {
  struct Settings {
    std::uint64_t steps = 0;  ///< Steps a stage, 640 or more; 0: 10 000 + 200 r, r the rank.
    std::uint64_t pilot_steps = 500;  ///< Steps a stage of the run that chooses the stages.
    std::uint64_t burn_in = 0;        ///< Steps before each stage; 0: 100 + 2 r.
    double factor_tolerance = 0;      ///< As for `Cone`.
  };

  /// log Z. -infinity if q = 0 and no classifier without errors was met, however small the noise.
  double value = 0;
  double standard_error = 0;  ///< Of `value`, by batch means.
  std::uint64_t stages = 0;   ///< Values of the noise on the way, the last one not counted.
  std::uint64_t steps = 0;    ///< All steps, the pilot run and the burn-ins included.
};

/// The log evidence of label noise q,
///
///     Z(q) = E[ (1 - q)^#{i : d_i > 0} q^#{i : d_i <= 0} ],   w uniform on the unit sphere of R^r;
///
/// Z(0) is the share of the sphere that version space takes: the probability of an orthant under
/// N(0, S). Z(1/2) = 2^-m.
///
/// The noise is annealed from 1/2 down to q. With beta = log((1 - q) / q) and e errors, Z(q) =
/// (1 - q)^m E[exp(-beta e)], and the last factor is a product of stages
///
///     E_k[ exp(-(beta_(k+1) - beta_k) e) ],   E_k under the Gibbs sampler's law at beta_k.
///
/// Each step of the sampler contributes the exact mean over its whole circle, all arcs by length
/// and errors. Stages are chosen in a pilot run, such that one step's relative variance is 0.4, and
/// then frozen: choosing them while measuring would bias the product. The standard error takes the
/// largest that 8, 16, 32 or 64 batches tell; it is as right as a stage is long against the
/// sampler's memory. With hundreds of points and q near 0 that memory is long: on 300 digits 4000
/// steps a stage gave -135.7 +- 1.3 where -103.75 is right, and the default -105.9 +- 1.2. For q =
/// 0 and a kernel matrix that is not singular, `orthant_probability` (gaussian_process/orthant/) is
/// right in seconds.
///
/// Cost: about stages times (steps + pilot_steps) isotropic steps with noise; the number of stages
/// grows with the square root of m to log(1 / Z). Streams `next` and `next + 1` are used, and
/// `next` advances by two. With r = 1, and at q = 1/2, the value is exact and no step is made.
/// \throws std::invalid_argument unless 0 <= label_noise <= 1/2, steps is 0 or >= 640, pilot_steps
/// >= 50.
[[nodiscard]] inline LogEvidence log_evidence(const Cone& cone, double label_noise,
                                              const LogEvidence::Settings& settings,
                                              RandomStreams& streams) {
  const char* const f = "log_evidence";
  detail::check(label_noise >= 0 && label_noise <= 0.5, f, "label_noise", "is ", label_noise,
                ", must lie in [0, 1/2]");
  detail::check(settings.steps == 0 || settings.steps >= 640, f, "steps", "is ", settings.steps,
                ", must be 640 or more, or 0");
  detail::check(settings.pilot_steps >= 50, f, "pilot_steps", "is ", settings.pilot_steps,
                ", must be 50 or more");
  const RandomEngine pilot_engine = streams.stream(streams.next);
  const RandomEngine engine = streams.stream(streams.next + 1);
  streams.next += 2;
  const auto m = static_cast<double>(cone.points());
  LogEvidence result;
  result.value = m * std::log1p(-label_noise);
  const double share = label_noise / (1 - label_noise);  // exp(-beta).
  if (cone.rank() == 1) {
    result.value += detail::log_mean_of_two_points(cone, share);
    return result;
  }
  const auto r = static_cast<std::uint64_t>(cone.rank());
  const std::uint64_t burn_in = settings.burn_in != 0 ? settings.burn_in : 100 + 2 * r;
  const std::uint64_t steps = settings.steps != 0 ? settings.steps : 10'000 + 200 * r;

  std::vector<double> shares{1.0};
  detail::GibbsAnnealing pilot(cone, pilot_engine);
  while (shares.back() > share) {
    shares.push_back(pilot.next_share(shares.back(), share, burn_in, settings.pilot_steps));
    if (shares.back() < detail::GibbsAnnealing::smallest_share && share == 0) {
      shares.back() = 0;  // Nothing without errors: the last stage will say so, or find it.
    }
  }
  detail::GibbsAnnealing run(cone, engine);
  double variance = 0;
  for (std::size_t k = 0; k + 1 < shares.size(); ++k) {
    const detail::AnnealingStage stage = run.measure(shares[k], shares[k + 1], burn_in, steps);
    result.value += stage.log_ratio;
    variance += stage.relative_variance;
  }
  result.standard_error = std::sqrt(variance);
  result.stages = shares.size() - 1;
  result.steps = pilot.steps() + run.steps();
  return result;
}

/// The same for a version space.
template <VersionSpace Space>
[[nodiscard]] LogEvidence log_evidence(const Space& space, double label_noise,
                                       const LogEvidence::Settings& settings,
                                       RandomStreams& streams) {
  return log_evidence(Cone(space, settings.factor_tolerance), label_noise, settings, streams);
}

}  // namespace bpm
