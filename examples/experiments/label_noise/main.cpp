// SPDX-License-Identifier: MIT
// Some training labels are wrong: the kernel Gibbs sampler with label noise (T. Graepel, R.
// Herbrich, "The kernel Gibbs sampler", NIPS 13, 2000) against a support vector machine with a soft
// margin.

#include <iostream>
#include <vector>

#include "common/figure.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "data.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const NoiseOptions options = parse_noise_options(argc, argv);
  const JsonFile json(options.common.json);
  const std::vector<NoiseSet> sets = find_noise_sets(options.common.data);
  if (!options.common.quiet && sets.size() < 3) {
    std::cout << "Of heart and banana, " << (sets.size() == 1 ? "neither" : "one only")
              << " was found; name a folder by --data or in BPM_DATA_DIR.\n"
              << std::flush;
  }
  std::vector<NoiseSetResult> results;
  {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet));
    results = run_noise(sets, options, [&](double fraction) {
      bar.update("splits", fraction);
      return !guard.interrupted();
    });
  }
  if (results.empty()) {
    throw Interrupted("stopped before the last split was finished: nothing was written");
  }
  if (!options.common.quiet) {
    print_noise(std::cout, results, options);
  }
  ChainCheck chains;
  for (const NoiseSetResult& set : results) {
    for (const NoiseResult& level : set.levels) chains.add(level.chains);
  }
  chains.print("label_noise", options.common.quiet ? nullptr : &std::cout);
  json.write(noise_json(results, options));
  if (!options.common.plot.empty()) {
    const int width = results.size() == 1 ? 620 : 450 * static_cast<int>(results.size());
    write_figure(noise_figure(results, options), width, 720, options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
