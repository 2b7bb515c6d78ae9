// SPDX-License-Identifier: MIT
// How many bounces a billiard needs: the experiments of S. Basu, "Empirical Results on the
// Generalization Capabilities and Convergence Properties of the Bayes Point Machine" (MIT Media
// Laboratory, 1999), with its flight and with ours.
#include <iomanip>
#include <iostream>
#include <vector>

#include "bpm/core/progress.hpp"
#include "common/figure.hpp"
#include "common/json_file.hpp"
#include "common/machine_info.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const ConvergenceOptions options = parse_convergence_options(argc, argv);
  const JsonFile json(options.common.json);
  const WallTimer timer;
  std::vector<ResultRow> rows;
  std::vector<BouncePanel> panels;
  {
    ProgressBar bar(progress_style(options.common.quiet));
    const auto progress = [&](const bpm::Progress& now) { bar(now); };
    rows = run_tables(options, progress);
    if (!options.common.plot.empty()) {
      panels = run_panels(options, progress);
    }
  }
  if (!options.common.quiet) {
    std::cout << "100 points, uniform on "
              << (options.range == InputRange::unit ? "[0, 1]" : "[-1, 1]")
              << " in each coordinate, one data set a table; " << options.splits
              << " splits 60/40 a row; seed " << options.common.seed << "\n\n";
    print_tables(std::cout, rows);
    std::cout << "\ndelta_alpha falls as 1 / bounces for any walk: it tells how far a bounce moves "
                 "the centre,\nnot how far the centre is from the true one.\n"
              << std::fixed << std::setprecision(1) << timer.seconds() << " s\n"
              << std::flush;
  }
  json.write(results_json(rows));
  if (!panels.empty()) {
    write_figure(convergence_figure(panels), 1000, 760, options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
