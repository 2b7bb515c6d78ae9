// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <cstdint>

#include "common/options.hpp"

/// \file
/// The command line of the model_selection program.

namespace bpm_examples {

struct SelectionOptions {
  CommonOptions common;
  Eigen::Index train = 300;
  Eigen::Index test = 10'000;
  std::uint64_t subsets = 5;
};

/// Reads the command line. Throws as `parse_options`.
[[nodiscard]] inline SelectionOptions parse_selection_options(int argc, const char* const* argv) {
  SelectionOptions options;
  CLI::App app{
      "Chooses a kernel for even against odd digits by figures of the training set alone, the log "
      "evidence and the C-bound of leave-one-out votes, on grids and by a derivative-free search, "
      "and compares the choices with held-out error. Without MNIST at hand the program draws "
      "digits of its own and says so."};
  add_whole_option(app, "--train", options.train, "Training digits (default: 300)", 10, 5000);
  add_whole_option(app, "--test", options.test, "Test digits (default: 10000)", 2, 10'000);
  add_whole_option(app, "--subsets", options.subsets, "Random training subsets (default: 5)", 1,
                   1000);
  add_common_options(app, options.common,
                     {"model_selection --plot figure.svg",
                      "model_selection --train 1000 --subsets 2 --json a.json"});
  parse_options(app, argc, argv);
  return options;
}

}  // namespace bpm_examples
