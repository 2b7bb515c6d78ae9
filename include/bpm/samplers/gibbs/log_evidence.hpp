// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/gibbs/gibbs_line.hpp"
#include "bpm/samplers/gibbs/gibbs_step.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

#if BPM_BODIES
namespace detail {

/// Lengths of a circle's arcs by number of errors, from `fewest` on.
struct ErrorLengths {
  std::ptrdiff_t fewest = 0;
  std::vector<double> lengths;

  void take(const GibbsCircle& circle, std::ptrdiff_t points) {
    lengths.assign(static_cast<std::size_t>(points) + 1, 0.0);
    circle.visit(
        [&](std::ptrdiff_t errors, double length) { lengths[std::size_t(errors)] += length; });
    const auto first = std::find_if(lengths.begin(), lengths.end(), [](double x) { return x > 0; });
    fewest = first - lengths.begin();
    lengths.erase(lengths.begin(), first);
    while (lengths.back() == 0) lengths.pop_back();
  }

  /// Computes sum_e length_e share^(e - fewest) by Horner's rule.
  [[nodiscard]] double sum(double share) const {
    double total = 0;
    for (std::size_t e = lengths.size(); e-- > 0;) total = total * share + lengths[e];
    return total;
  }

  /// Computes the mean over the circle, under weights from^e, of (to / from)^e.
  [[nodiscard]] double ratio(double from, double to) const {
    return std::pow(to / from, static_cast<double>(fewest)) * sum(to) / sum(from);
  }
};

/// Computes log E[share^errors] over the two points of a sphere in one dimension.
[[nodiscard]] inline double log_mean_of_two_points(const Cone& cone, double share) {
  double here = 0;
  double there = 0;
  for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
    here += cone.row(i)[0] > 0 ? 0 : 1;
    there += cone.row(i)[0] < 0 ? 0 : 1;
  }
  const double fewer = std::min(here, there);
  const double log_share = fewer > 0 ? fewer * std::log(share) : 0.0;
  return log_share + std::log(std::pow(share, std::max(here, there) - fewer) + 1) - std::log(2.0);
}

/// A Gibbs sampler with changing noise: weights share^errors, share = q / (1 - q) from 1 to 0. Its
/// rank is 2 or more.
class GibbsAnnealing {
 public:
  /// Below this share no stage is chosen any more: a state with errors then keeps them for good.
  static constexpr double smallest_share = 1e-12;

  /// Starts uniformly on the sphere, the law of share 1.
  GibbsAnnealing(const Cone& cone, RandomEngine engine) : cone_(cone), engine_(engine) {
    std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
    Ziggurat::instance().fill(x.data(), cone.rank(), engine_);
    state_ = GibbsState(cone, x, false);
  }

  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

  /// Calls visit(circle) for the circles of `count` steps under the law of `share`, after `burn_in`
  /// steps under it.
  template <class Visit>
  void for_each_circle(double share, std::uint64_t burn_in, std::uint64_t count, Visit&& visit) {
    penalty_ = GibbsPenalty(-std::log(share), cone_.points());
    for (std::uint64_t n = 0; n < burn_in; ++n) step();
    ErrorLengths circle;
    for (std::uint64_t n = 0; n < count; ++n) {
      step();
      circle.take(circle_, cone_.points());
      visit(circle);
    }
  }

  /// Returns the next share, at least `target`, such that one step's estimate of the ratio has a
  /// relative variance of 0.4 or less.
  [[nodiscard]] double next_share(double share, double target, std::uint64_t burn_in,
                                  std::uint64_t count) {
    std::vector<ErrorLengths> circles;
    for_each_circle(share, burn_in, count,
                    [&](const ErrorLengths& circle) { circles.push_back(circle); });
    const auto variance = [&](double to) {
      double sum = 0;
      double squares = 0;
      for (const ErrorLengths& circle : circles) {
        const double ratio = circle.ratio(share, to);
        sum += ratio;
        squares += ratio * ratio;
      }
      return sum > 0 ? squares * static_cast<double>(count) / (sum * sum) - 1
                     : std::numeric_limits<double>::infinity();
    };
    if (variance(target) <= most_variance) {
      return target;
    }
    double low = std::max(target, 1e-3 * share);  // Limits a step that is too long.
    double high = share;
    for (int bisection = 0; bisection < 20; ++bisection) {
      const double middle = std::sqrt(low * high);
      (variance(middle) <= most_variance ? high : low) = middle;
    }
    return high;
  }

 private:
  static constexpr double most_variance = 0.4;

  void step() {
    const auto z = state_.next_direction(cone_, engine_);
    circle_.cut(state_.d.data(), z, cone_.points());
    const CirclePoint point = circle_.draw(penalty_, engine_);
    const double of_z = point.sine / z.across;
    const double of_b = point.cosine - of_z * z.along;
    combine(state_.x.data(), of_b, state_.x.data(), of_z, z.vector, cone_.stride());
    combine(state_.d.data(), of_b, state_.d.data(), of_z, z.outputs, cone_.points());
    ++steps_;
  }

  const Cone& cone_;
  RandomEngine engine_;
  GibbsPenalty penalty_;
  GibbsCircle circle_;
  GibbsState state_;
  std::uint64_t steps_ = 0;
};

}  // namespace detail
#endif

/// Result of `log_evidence`.
struct LogEvidence {
  /// Lengths of the stages.
  struct Settings {
    std::uint64_t steps = 0;  ///< Steps per stage, 640 or more; 0: 10 000 + 200 r, r the rank.
    std::uint64_t pilot_steps = 500;  ///< Steps per stage of the run that chooses the stages.
    std::uint64_t burn_in = 0;        ///< Steps before each stage; 0: 100 + 2 r.
    double factor_tolerance = 0;      ///< Tolerance of the `Cone`.
  };

  /// log Z. -infinity if q = 0 and no step found a classifier without errors at any noise.
  double value = 0;
  /// Standard error of `value`, by batch means; infinite if no step found one without errors.
  double standard_error = 0;
  /// Degrees of freedom of the standard error (Welch, Satterthwaite); infinite if that is 0, 0 if
  /// it is infinite.
  double degrees_of_freedom = std::numeric_limits<double>::infinity();
  std::uint64_t stages = 0;  ///< Number of noise levels on the way, without the last.
  std::uint64_t steps = 0;   ///< Number of all steps, with the pilot run and the burn-ins.
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
/// then fixed: choosing them while measuring would bias the product. The standard error uses 16
/// batches of each stage; it is accurate if a stage is long compared with the sampler's memory.
/// With hundreds of points and q near 0 that memory is long: on 300 digits 4000 steps a stage gave
/// -134.9 +- 1.3, where -103.75 is right, and the default -105.2 +- 1.2. For q = 0 and a kernel
/// matrix that is not singular, `orthant_probability` (gaussian_process/orthant/) is accurate in
/// seconds.
///
/// Cost: about stages times (steps + pilot_steps) isotropic steps with noise; the number of stages
/// grows with the square root of m to log(1 / Z). Streams `next` and `next + 1` are used, and
/// `next` advances by two. With r = 1, and at q = 1/2, the value is exact and no step is made.
/// \throws std::invalid_argument unless 0 <= label_noise <= 1/2, steps is 0 or >= 640, pilot_steps
/// >= 50.
[[nodiscard]] BPM_INLINE LogEvidence log_evidence(const Cone& cone, double label_noise,
                                                  const LogEvidence::Settings& settings,
                                                  RandomStreams& streams);

/// Computes the log evidence for a version space, as for its cone.
template <VersionSpace Space>
[[nodiscard]] LogEvidence log_evidence(const Space& space, double label_noise,
                                       const LogEvidence::Settings& settings,
                                       RandomStreams& streams) {
  return log_evidence(Cone(space, settings.factor_tolerance), label_noise, settings, streams);
}

#if BPM_BODIES

BPM_INLINE LogEvidence log_evidence(const Cone& cone, double label_noise,
                                    const LogEvidence::Settings& settings, RandomStreams& streams) {
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
      shares.back() = 0;  // No classifier without errors yet: the last stage decides.
    }
  }
  detail::GibbsAnnealing run(cone, engine);
  detail::SumOfSpreads sum;
  for (std::size_t k = 0; k + 1 < shares.size(); ++k) {
    // E[(to / from)^errors] under the law of `from`.
    std::vector<double> ratios;
    double mean = 0;
    run.for_each_circle(shares[k], burn_in, steps, [&](const detail::ErrorLengths& circle) {
      ratios.push_back(circle.ratio(shares[k], shares[k + 1]));
      mean += ratios.back() / static_cast<double>(steps);
    });
    result.value += std::log(mean);
    if (mean > 0) sum.add(detail::batch_variance(ratios) / (mean * mean));
  }
  if (std::isfinite(result.value)) {
    // The means are unbiased; their logarithms are too small by half of their variance.
    result.value += sum.variance() / 2;
    result.standard_error = std::sqrt(sum.variance());
    result.degrees_of_freedom = sum.freedom();
  } else {  // No step found a classifier without errors; there may be some.
    result.standard_error = std::numeric_limits<double>::infinity();
    result.degrees_of_freedom = 0;
  }
  result.stages = shares.size() - 1;
  result.steps = pilot.steps() + run.steps();
  return result;
}

#endif

}}  // namespace bpm
