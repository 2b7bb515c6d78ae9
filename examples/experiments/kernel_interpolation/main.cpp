// SPDX-License-Identifier: MIT
// Kernel interpolators, Gaussian process ensembles and their bounds on even and odd digits:
// section 6.1 and Figure 2, left, of J. Bernstein, A. Farhang, Y. Yue, "Kernel interpolation as a
// Bayes point machine" (2021).

#include <algorithm>
#include <iostream>
#include <vector>

#include "bpm/core/errors.hpp"
#include "common/even_odd.hpp"
#include "common/figure.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "pictures.hpp"
#include "report.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const InterpolationOptions options = parse_interpolation_options(argc, argv);
  const JsonFile json(options.common.json);
  const EvenOdd digits =
      load_even_odd(options.common.data, *std::ranges::max_element(options.sizes), options.test,
                    options.common.threads);
  const bool quiet = options.common.quiet;
  if (!quiet) {
    print_head(std::cout, digits, options);
  }
  std::vector<InterpolationResult> results;
  try {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(quiet));
    results = run_interpolation(
        digits, options,
        [&](const bpm::Progress& now) {
          bar(now);
          return !guard.interrupted();
        },
        [&](const InterpolationResult& result) {
          if (!quiet) print_line(std::cout, result);
        });
  } catch (const bpm::Stopped&) {
    throw Interrupted("stopped before the last subset was done: nothing was written");
  }
  check_chains(results).print("kernel_interpolation", quiet ? nullptr : &std::cout);
  if (!quiet && options.bounds) print_bounds(std::cout, results, options);
  json.write(interpolation_json(results, digits));
  if (!options.common.plot.empty()) {
    write_figure(interpolation_figure(results, digits, options), 1500, 560, options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
