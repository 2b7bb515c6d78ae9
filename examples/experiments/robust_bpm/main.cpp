// SPDX-License-Identifier: MIT
// Bayes points by billiard against hard-margin support vector machines: Table 1 and Figure 2 of R.
// Herbrich, T. Graepel, C. Campbell, "Robust Bayes Point Machines" (ESANN 2000).

#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "benchmark_sets.hpp"
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

[[noreturn]] void stop() {
  throw Interrupted("stopped before the last split was finished: nothing was written");
}

void run_table(const RobustOptions& options, const JsonFile& json) {
  // All files are read first: a missing one is known before the work begins.
  std::vector<BenchmarkData> data;
  data.reserve(options.sets.size());
  for (const BenchmarkSet* set : options.sets) {
    data.push_back(read_benchmark_set(*set, options.common.data));
  }
  if (!options.common.quiet) {
    print_table_head(std::cout, options);
  }
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < options.sets.size(); ++i) {
    std::optional<TableRow> row;
    {
      const InterruptGuard guard;
      ProgressBar bar(progress_style(options.common.quiet));
      row =
          run_benchmark_set(*options.sets[i], data[i], options,
                            [&](const std::string& name, std::size_t done, std::size_t of) {
                              bar.update(name, static_cast<double>(done) / static_cast<double>(of));
                              return !guard.interrupted();
                            });
    }
    if (!row) {
      stop();
    }
    rows.push_back(*row);
    if (!options.common.quiet) {
      print_table_row(std::cout, rows.back());
    }
  }
  if (!options.common.quiet) {
    print_table_end(std::cout, rows);
  }
  ChainCheck chains;
  for (const TableRow& row : rows) chains.add(row.chains);
  chains.print("robust_bpm", options.common.quiet ? nullptr : &std::cout);
  json.write(table_json(rows));
  if (!options.common.plot.empty()) {
    write_figure(table_picture(rows), 900, 560, options.common.plot);
  }
}

void run_figure2(const RobustOptions& options, const JsonFile& json) {
  const BenchmarkData heart = read_benchmark_set(*find_benchmark_set("heart"), options.common.data);
  std::vector<FigurePoint> points;
  {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet));
    const SplitObserver observer = [&](const std::string& name, std::size_t done, std::size_t of) {
      bar.update(name, static_cast<double>(done) / static_cast<double>(of));
      return !guard.interrupted();
    };
    const auto take = [&](std::optional<std::vector<FigurePoint>> more) {
      if (!more) {
        stop();
      }
      points.insert(points.end(), more->begin(), more->end());
    };
    take(run_toy(options, observer));
    take(run_heart(heart, options, observer));
  }
  if (!options.common.quiet) {
    print_figure(std::cout, points);
  }
  ChainCheck chains;
  for (const FigurePoint& point : points) chains.add(point.chains);
  chains.print("robust_bpm", options.common.quiet ? nullptr : &std::cout);
  json.write(figure_json(points));
  if (!options.common.plot.empty()) {
    write_figure(lambda_picture(points), 1200, 560, options.common.plot);
  }
}

void run(int argc, char** argv) {
  const RobustOptions options = parse_robust_options(argc, argv);
  const JsonFile json(options.common.json);
  if (options.figure2) {
    run_figure2(options, json);
  } else {
    run_table(options, json);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
