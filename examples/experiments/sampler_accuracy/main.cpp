// SPDX-License-Identifier: MIT
// Angle to the known centres of four version spaces against CPU time, for every chain sampler.

#include <iostream>
#include <vector>

#include "common/figure.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "cones.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const AccuracyOptions options = parse_accuracy_options(argc, argv);
  const JsonFile json(options.common.json);
  const std::vector<ReferenceCone> cones = read_cones(options.common.data);
  std::vector<AccuracyRow> rows;
  {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet));
    rows = run_accuracy(cones, options, [&](double fraction) {
      bar.update("runs", fraction);
      return !guard.interrupted();
    });
  }
  if (rows.empty()) {
    throw Interrupted("stopped before the last run was finished: nothing was written");
  }
  if (!options.common.quiet) {
    print_accuracy(std::cout, rows, options);
  }
  check_chains(rows).print("sampler_accuracy", options.common.quiet ? nullptr : &std::cout);
  json.write(accuracy_json(rows));
  if (!options.common.plot.empty()) {
    write_figure(accuracy_figure(rows, options.seconds), 1100, 560, options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
