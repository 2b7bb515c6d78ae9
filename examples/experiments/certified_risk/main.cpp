// SPDX-License-Identifier: MIT
// Whether a certified risk holds as often as it says, on a population whose risk is known.

#include <iostream>
#include <optional>
#include <string>

#include "bpm/core/errors.hpp"
#include "certified_risk/experiment.hpp"
#include "certified_risk/options.hpp"
#include "certified_risk/report.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const CertifiedRiskOptions options = parse_certified_risk_options(argc, argv);
  const JsonFile json(options.common.json);
  std::optional<CertifiedRiskResult> result;
  try {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet));
    result = run_certified_risk(options, [&](const bpm::Progress& now) {
      bar(now);
      return !guard.interrupted();
    });
  } catch (const bpm::Stopped&) {
    throw Interrupted("stopped before the last sample was drawn: nothing was written");
  }
  if (!options.common.quiet) {
    std::cout << (result->drawn ? "drawn digits (NOT MNIST)\n" : "MNIST\n");
    print_certified_risk(std::cout, *result, options);
  }
  json.write(certified_risk_json(*result, options));
  if (!options.common.plot.empty()) {
    write_plot(certified_risk_plot(*result), options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
