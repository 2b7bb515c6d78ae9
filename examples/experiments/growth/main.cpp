// SPDX-License-Identifier: MIT
// How time and memory of training grow with the number of training points.

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "growth/experiment.hpp"
#include "growth/options.hpp"
#include "growth/report.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const GrowthOptions options = parse_growth_options(argc, argv);
  const JsonFile json(options.common.json);
  if (!options.common.quiet) {
    std::cout << "drawn digits (NOT MNIST) as bytes, perceptron, " << options.draws
              << " draws of ten classes, kernel (<x, x'> + 1)^5, " << options.common.threads
              << " threads\n"
              << std::flush;
  }
  std::vector<GrowthResult> results;
  try {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet));
    results = run_growth(options, [&](std::int64_t size, const bpm::Progress& now) {
      bar.update(std::to_string(size) + " digits, " + std::string(now.stage), now.fraction);
      return !guard.interrupted();
    });
  } catch (const bpm::Stopped&) {
    throw Interrupted("stopped before the last size was done: nothing was written");
  }
  if (!options.common.quiet) {
    print_growth(std::cout, results);
  }
  json.write(growth_json(results, options));
  if (!options.common.plot.empty()) {
    write_plot(growth_plot(results), options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
