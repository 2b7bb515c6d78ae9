// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "common/mnist_data.hpp"
#include "common/options.hpp"
#include "common/program.hpp"

namespace bpm_examples {

struct ClusterOptions {
  CommonOptions common;
  Eigen::Index train = mnist_train_size;
  Eigen::Index test = mnist_test_size;
  std::uint64_t draws = 10;
  std::filesystem::path checkpoint;
  bool sharded = false;
  bool cost = false;
  std::string input = "float";
};

/// Reads the command line. Throws as `parse_options`. Of several ranks on one machine, which share
/// its processors, each takes its part of the threads unless --threads says otherwise.
[[nodiscard]] inline ClusterOptions parse_cluster_options(int argc, const char* const* argv,
                                                          int ranks) {
  ClusterOptions options;
  CLI::App app{
      "Bayes point machines on handwritten digits, trained by all ranks that mpirun starts: the "
      "model is the same, bit for bit, on any number of them. Kernel values are computed when "
      "needed. --cost predicts what larger clusters would take."};
  add_digit_count_options(app, options.train, options.test);
  add_whole_option(app, "--draws", options.draws, "Classifiers a class to draw (default: 10)", 1,
                   1'000'000'000);
  app.add_option("--checkpoint", options.checkpoint,
                 "Save the training in this folder as it goes on, and go on from one that is there")
      ->type_name("DIR")
      ->check(CLI::Validator(
          [](const std::string& name) { return name.empty() ? "the name is empty" : ""; }, ""));
  auto* sharded =
      app.add_flag("--sharded", options.sharded,
                   "Spread the digits over the ranks, not the draws: each trains on its part");
  sharded->excludes(app.get_option("--checkpoint"));
  app.add_flag("--cost", options.cost,
               "Measure this machine, predict 1 to 1000 ranks and 10^4 to 10^8 digits, and compare "
               "with this run");
  app.add_option("--input", options.input, "Pixels as numbers / 255 or as bytes (default: float)")
      ->check(CLI::IsMember({"float", "byte"}).description(""))
      ->type_name("float|byte");
  add_common_options(app, options.common,
                     {"mpirun -np 4 cluster --checkpoint draws", "cluster --train 10000 --cost"});
  parse_options(app, argc, argv);
  if (!options.common.plot.empty()) {
    throw UsageError("--plot: this program draws nothing");
  }
#ifndef BPM_CLUSTER_MPI
  if (options.sharded) {
    throw UsageError("--sharded needs MPI, which this program was built without");
  }
#endif
  if (app.get_option("--threads")->count() == 0) {
    options.common.threads = std::max(1, all_threads() / ranks);
  }
  return options;
}

}  // namespace bpm_examples
