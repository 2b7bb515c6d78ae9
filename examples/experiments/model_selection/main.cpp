// SPDX-License-Identifier: MIT
// Choosing a kernel by the evidence and by the C-bound: the third suggestion of J. Bernstein, A.
// Farhang, Y. Yue, "Kernel interpolation as a Bayes point machine" (2021), section 7.

#include <iostream>

#include "bpm/core/errors.hpp"
#include "common/even_odd.hpp"
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
  const SelectionOptions options = parse_selection_options(argc, argv);
  const JsonFile json(options.common.json);
  const EvenOdd digits =
      load_even_odd(options.common.data, options.train, options.test, options.common.threads);
  SelectionResult result;
  try {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet));
    result = run_selection(digits, options, [&](const bpm::Progress& now) {
      bar(now);
      return !guard.interrupted();
    });
  } catch (const bpm::Stopped&) {
    throw Interrupted("stopped before the last subset was done: nothing was written");
  }
  if (!options.common.quiet) {
    print_selection(std::cout, result, digits, options);
  }
  json.write(selection_json(result, digits, options));
  if (!options.common.plot.empty()) {
    write_figure(selection_figure(result, digits), 1100, 480, options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
