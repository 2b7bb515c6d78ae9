// SPDX-License-Identifier: MIT
// Any data: first fits, chosen machines and tuned support vector machines, side by side.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <vector>

#include "bias.hpp"
#include "bpm/core/errors.hpp"
#include "common/benchmark_sets.hpp"
#include "common/figure.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "data.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const any_data::Options options = any_data::parse_any_data_options(argc, argv);
  const JsonFile json(options.common.json);
  std::vector<any_data::SetResult> results;
  std::vector<any_data::BiasResult> biases;
  try {
    const InterruptGuard guard;
    ProgressBar bar(progress_style(options.common.quiet));
    const auto watch = [&](const bpm::Progress& now) {
      bar(now);
      return !guard.interrupted();
    };
    // Adds to the last result.
    const auto run_set = [&](any_data::DataSet set) {
      set.train_limit = std::min(set.train_limit, options.train);
      if (options.biases.empty()) {
        any_data::run_set(set, options, watch, results.back());
        // A file holds what is done, should a long run end before it is all done.
        if (options.common.json != "-") json.write(any_data::any_data_json(results));
      } else {
        const auto of_set = any_data::run_biases(set, options, watch);
        biases.insert(biases.end(), of_set.begin(), of_set.end());
      }
    };
    for (const auto& name : options.datasets) {
      results.push_back({.name = name});
      if (find_benchmark_set(name) != nullptr) {
        run_set(any_data::paper_set(name, options.common.data));
        continue;
      }
      for (std::uint64_t k = 0; k < options.seeds; ++k) {
        run_set(any_data::made_set(name, options.common.seed + k));
      }
    }
    for (const auto& path : options.files) {
      results.push_back({.name = path.stem().string()});
      run_set(any_data::own_set(path));
    }
  } catch (const bpm::Stopped&) {
    throw Interrupted(
        "stopped before the last split was done: the file of --json holds what was done");
  }
  if (!options.biases.empty()) {
    if (!options.common.quiet) any_data::print_biases(std::cout, biases);
    json.write(any_data::bias_json(biases));
    if (!options.common.plot.empty()) {
      write_plot(any_data::bias_plot(biases), options.common.plot);
    }
    return;
  }
  if (!options.common.quiet) any_data::print_any_data(std::cout, results);
  json.write(any_data::any_data_json(results));
  if (!options.common.plot.empty()) {
    write_figure(any_data::any_data_figure(results), 900, 480, options.common.plot);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
