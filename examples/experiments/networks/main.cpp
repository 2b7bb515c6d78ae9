// SPDX-License-Identifier: MIT
// Small-margin networks that vote, one network of large margin and the kernel interpolator: Figure
// 2, middle and right, of "Kernel interpolation as a Bayes point machine".

#include <iostream>
#include <vector>

#include "bpm/core/errors.hpp"
#include "common/figure.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "networks/experiment.hpp"
#include "networks/options.hpp"
#include "networks/report.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const NetworksOptions options = parse_networks_options(argc, argv);
  const JsonFile json(options.common.json);
  const Digits digits = load_parity_digits(options);
  if (!options.common.quiet) {
    print_task(std::cout, digits, options);
  }
  std::vector<NetworksResult> results;
  try {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet));
    results = run_networks(digits, options, [&](double fraction) {
      bar.update("networks", fraction);
      return !guard.interrupted();
    });
  } catch (const bpm::Stopped&) {
    throw Interrupted("stopped before the last network was trained: nothing was written");
  }
  if (!options.common.quiet) {
    print_networks(std::cout, results);
  }
  json.write(networks_json(results, digits, options));
  if (!options.common.plot.empty()) {
    write_figure(networks_figure(results, digits, options), 1250, 560, options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
