// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"
#include "common/published_billiard.hpp"

namespace bpm_examples {

namespace {

using Gram = bpm::PrecomputedGram<double>;
using Space = bpm::KernelVersionSpace<double>;

/// CPU seconds of the calling thread.
double thread_seconds() {
  struct ::timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Stops a run when its time is over. The clock starts at the first call, which samplers make
/// before the burn-in and after all that they prepare.
class Stopwatch {
 public:
  explicit Stopwatch(double limit) : limit_(limit) {}

  bool operator()(const bpm::Progress& now) {
    const double time = thread_seconds();
    begin_ = begin_.value_or(time);
    if (now.stage == "draws") {
      burnt_ = burnt_.value_or(time);
      if (now.mistakes != steps_) {
        steps_ = now.mistakes;
        last_ = time;
      }
    }
    return time - *begin_ < limit_;
  }

  /// Of the whole rounds after the burn-in.
  [[nodiscard]] double steps_per_second() const {
    return steps_ > 0 ? static_cast<double>(steps_) / (last_ - *burnt_) : 0;
  }

 private:
  double limit_;
  std::optional<double> begin_;
  std::optional<double> burnt_;
  double last_ = 0;
  std::uint64_t steps_ = 0;
};

struct Measurement {
  double angle = std::numeric_limits<double>::infinity();
  double steps_per_second = 0;
};

/// A run that goes on until its time is over.
template <class Sampler>
Measurement measure(Sampler sampler, const ReferenceCone& cone, const std::vector<double>& start,
                    double seconds, std::uint64_t seed) {
  constexpr double endless = 1e9;
  sampler.seconds = endless;
  sampler.start_coefficients = start;
  const Gram gram(cone.kernel);
  const Space space(gram, cone.labels);
  bpm::RandomStreams streams{.seed = seed};
  Stopwatch watch(seconds);
  const bpm::RunControl control{.observer = [&](const bpm::Progress& now) { return watch(now); }};
  typename Sampler::State state;
  static_cast<void>(bpm::sample_version_space(
      sampler, space, streams, control, [](const bpm::Draw&) {}, state));
  Measurement result;
  if (!state.empty() && state.centre().norm > 0) {
    result.angle = cone.angle_to_centre(state.centre().coefficients, state.centre().norm);
    result.steps_per_second = watch.steps_per_second();
  }
  return result;
}

/// Expectation propagation has no clock and no seed: it ends when it has converged.
Measurement measure_propagation(const ReferenceCone& cone) {
  const Gram gram(cone.kernel);
  const double begin = thread_seconds();
  const bpm::EpPosterior posterior = bpm::expectation_propagation(Space(gram, cone.labels));
  const double seconds = thread_seconds() - begin;
  const bpm::CentreOfMass centre = posterior.centre_of_mass();
  return {.angle = cone.angle_to_centre(centre.coefficients, centre.norm),
          .steps_per_second = static_cast<double>(posterior.sweeps) / std::max(1e-9, seconds)};
}

Measurement measure(std::string_view method, const ReferenceCone& cone,
                    const std::vector<double>& start, double seconds, std::uint64_t seed) {
  if (method == "expectation_propagation") {
    return measure_propagation(cone);
  }
  if (method.starts_with("kernel_gibbs")) {
    bpm::KernelGibbs gibbs;
    gibbs.directions = method == "kernel_gibbs_input" ? bpm::KernelGibbs::Direction::input
                                                      : bpm::KernelGibbs::Direction::isotropic;
    return measure(gibbs, cone, start, seconds, seed);
  }
  if (method == "published") {
    return measure(PublishedBilliard{}, cone, start, seconds, seed);
  }
  bpm::Billiard billiard;
  if (method == "geodesic_unrefreshed") {
    billiard.refresh_length = std::numeric_limits<double>::infinity();
  }
  return measure(billiard, cone, start, seconds, seed);
}

std::vector<double> find_start(const ReferenceCone& cone) {
  const Gram gram(cone.kernel);
  bpm::Cone coordinates = bpm::Cone(Space(gram, cone.labels));
  coordinates.form_products();
  const bpm::LargestMargin found = bpm::LargestMargin::find(coordinates);
  if (!(found.margin > 0)) {
    throw bpm::DataError(cone.name + ": no classifier separates the points");
  }
  return found.coefficients;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

AccuracyRow row_of(const ReferenceCone& cone, std::string_view method, double seconds,
                   const std::vector<Measurement>& runs) {
  std::vector<double> angles;
  std::vector<double> rates;
  for (const Measurement& run : runs) {
    angles.push_back(run.angle);
    rates.push_back(run.steps_per_second);
  }
  return {.cone = cone.name,
          .method = std::string(method),
          .seconds = seconds,
          .angle_median = median(angles),
          .angle_min = *std::ranges::min_element(angles),
          .angle_max = *std::ranges::max_element(angles),
          .steps_per_second = median(rates)};
}

}  // namespace

std::vector<AccuracyRow> run_accuracy(const std::vector<ReferenceCone>& cones,
                                      const AccuracyOptions& options,
                                      const AccuracyProgress& progress) {
  std::vector<std::vector<double>> starts;
  starts.reserve(cones.size());
  for (const ReferenceCone& cone : cones) starts.push_back(find_start(cone));
  const std::size_t seeds = options.seeds;
  const std::size_t cells = cones.size() * accuracy_methods.size();
  std::vector<std::vector<Measurement>> runs(cells, std::vector<Measurement>(seeds));
  const bool finished = run_tasks(
      options.common.threads, cells * seeds,
      [&](std::size_t task) {
        const std::size_t cell = task / seeds;
        const std::size_t run = task % seeds;
        const std::size_t cone = cell / accuracy_methods.size();
        runs[cell][run] = measure(accuracy_methods[cell % accuracy_methods.size()], cones[cone],
                                  starts[cone], options.seconds, options.common.seed + run);
      },
      [&](std::size_t done) {
        return progress(static_cast<double>(done) / static_cast<double>(cells * seeds));
      });
  std::vector<AccuracyRow> rows;
  for (std::size_t cell = 0; cell < cells && finished; ++cell) {
    rows.push_back(row_of(cones[cell / accuracy_methods.size()],
                          accuracy_methods[cell % accuracy_methods.size()], options.seconds,
                          runs[cell]));
  }
  return rows;
}

}  // namespace bpm_examples
