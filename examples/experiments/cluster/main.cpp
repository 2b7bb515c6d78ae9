// SPDX-License-Identifier: MIT
// Bayes point machines of handwritten digits beyond one machine:
//   mpirun -np 4 cluster --draws 10
// Without mpirun, and where it was built without MPI, it is one process.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>

#include "bpm/core/errors.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/machine_info.hpp"
#include "common/mnist_data.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "job.hpp"
#include "options.hpp"
#include "report.hpp"
#include "training.hpp"

namespace {

using namespace bpm_examples;

/// How the load grows, from a draw on a quarter of the digits and the run.
CostReport predict_cost(const ClusterOptions& options, const ClusterReport& report,
                        const MeasuredRates& measured, const LoadSample& small) {
  CostReport cost;
  cost.measured = measured;
  cost.small = small;
  const auto m = static_cast<double>(report.train_size);
  const auto draws = static_cast<double>(std::max<std::uint64_t>(1, report.run.draws));
  TrainingLoad& load = cost.load;
  load.points = m;
  load.input_bytes = options.input == "byte" ? 784 : 4 * 784;
  load.draws = draws;
  // Mistakes of all classes over mistaken points: as good on a part as on all.
  load.updates_per_draw = static_cast<double>(report.run.mistakes) / draws;
  load.passes = 1.5 * report.run.passes_mean;  // The last class takes longer than the mean.
  // What the model takes for a run of this kind, solved for the events.
  const auto evaluations = static_cast<double>(report.run.kernel_evaluations);
  const auto ranks = static_cast<double>(report.ranks);
  if (options.sharded) {
    const auto group = std::min(m, static_cast<double>(default_group(report.ranks)));
    load.events_per_draw = evaluations / draws / (m + group / 2 + 128);
  } else {
    const double sharers = std::min(load.classes, std::max(1.0, std::floor(ranks / draws)));
    const double share = std::ceil(load.classes / sharers) / load.classes;
    load.events_per_draw = (evaluations - 20 * m * ranks) /
                           (m * draws * sharers * std::pow(share, load.class_exponent));
  }
  if (!(load.events_per_draw > 0)) load.events_per_draw = load.updates_per_draw;  // All kept.
  load.event_exponent = std::clamp(
      m > small.points ? std::log(load.events_per_draw / small.events) / std::log(m / small.points)
                       : load.event_exponent,
      0.1, 1.0);
  cost.this_run = options.sharded ? predict_sharded_points(measured.rates, load, report.ranks)
                                  : predict_spread_draws(measured.rates, load, report.ranks);
  return cost;
}

/// Collective.
ClusterReport run_rank(const ClusterOptions& options, const ClusterJob& job) {
  const bool first = job.rank() == 0;
  ClusterReport report;
  report.train_size = options.train;
  report.test_size = options.test;
  report.seed = options.common.seed;
  report.threads = options.common.threads;
  report.ranks = job.size();
  report.mpi = built_with_mpi;
  report.input = options.input;
  report.strategy = options.sharded ? "sharded" : "spread";

  const WallTimer timer;
  const Digits digits =
      load_digits(options.common.data, options.train, options.test, options.common.threads);
  report.read_seconds = timer.seconds();
  report.source = digits.source;
  report.data = digits.name();

  std::optional<MeasuredRates> measured;
  LoadSample small;
  if (options.cost) {
    measured = measure_rates(options, job, digits);
    if (first) {
      const auto quarter = std::max<Eigen::Index>(options.train / 4, 100);
      small = sample_load(options, digits, std::min(quarter, options.train));
    }
  }
  {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet || !first));
    report.run = train_on_cluster(options, job, digits, [&](const bpm::Progress& now) {
      bar(now);
      return !guard.interrupted();
    });
  }
  report.peak_memory_bytes = peak_resident_bytes();
  if (first && measured) report.cost = predict_cost(options, report, *measured, small);
  return report;
}

/// What the first rank alone does.
void publish(const ClusterOptions& options, const ClusterReport& report) {
  if (!options.common.quiet) {
    print_report(std::cout, report);
    std::cout << std::flush;
  }
  JsonFile(options.common.json).write(report_json(report));
  if (report.run.draws < options.draws) {
    throw Interrupted("stopped after " + std::to_string(report.run.draws) + " of " +
                      std::to_string(options.draws) + " draws; the results are theirs");
  }
}

void run(int argc, char** argv) {
  const ClusterJob job;
  ClusterOptions options;
  ClusterReport report;
  const auto work = [&] {
    options = parse_cluster_options(argc, argv, job.size());
    // A file that cannot be written is found before the work.
    if (job.rank() == 0) static_cast<void>(JsonFile(options.common.json));
    report = run_rank(options, job);
  };
  try {
    if (job.size() == 1) {
      work();
    } else {
      job.run(work, [](const std::string& message) {
        std::cerr << "cluster: " << one_line(message) << std::endl;
      });
    }
  } catch (...) {
    // All ranks failed alike; the first says so.
    if (job.rank() == 0) throw;
    return;
  }
  if (job.rank() == 0) publish(options, report);
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
