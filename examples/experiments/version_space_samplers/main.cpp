// SPDX-License-Identifier: MIT
// Test errors of classifiers that kernel Gibbs sampling and permuted perceptrons draw from one
// version space: Figure 1 of R. Herbrich, T. Graepel, "Large Scale Bayes Point Machines" (NIPS 13,
// 2001).

#include <iostream>

#include "bpm/core/errors.hpp"
#include "common/figure.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const SamplersOptions options = parse_samplers_options(argc, argv);
  const JsonFile json(options.common.json);
  const TwoDigits digits = make_two_digits(options);
  SamplersResult result;
  try {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet));
    result = run_samplers(digits, options, [&](const bpm::Progress& now) {
      bar(now);
      return !guard.interrupted();
    });
  } catch (const bpm::Stopped&) {
    throw Interrupted("stopped before the last classifier was drawn: nothing was written");
  }
  if (!options.common.quiet) {
    print_samplers(std::cout, result, digits, options);
  }
  check_chains(result).print("version_space_samplers", options.common.quiet ? nullptr : &std::cout);
  json.write(samplers_json(result, digits));
  if (!options.common.plot.empty()) {
    write_figure(samplers_figure(result, digits), 1350, 500, options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
