// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "common/options.hpp"

/// \file
/// The command line of the label_noise program.

namespace bpm_examples {

struct NoiseOptions {
  CommonOptions common;
  double flipped = 0.05;              ///< Part of the training labels that is flipped.
  std::size_t splits = 20;            ///< Of each set.
  std::size_t evidence_splits = 3;    ///< Splits whose evidence is worked out.
  std::size_t train = 150;            ///< At most so many training points.
  std::size_t steps = 3000;           ///< Gibbs steps of a classifier, all chains.
  std::size_t evidence_steps = 1500;  ///< Gibbs steps of a stage of the evidence.
};

/// Reads the command line. Throws as `parse_options`.
[[nodiscard]] inline NoiseOptions parse_noise_options(int argc, const char* const* argv) {
  NoiseOptions options;
  CLI::App app{
      "Learning from labels of which some are wrong: kernel Gibbs sampling with label noise q "
      "against a support vector machine with a soft margin chosen by cross-validation; and what "
      "the evidence says about q. A drawn set, and heart and banana of the benchmarks where they "
      "are found."};
  add_real_option(app, "--flipped", options.flipped,
                  "Part of the training labels to flip (default: 0.05)", 0, 0.5);
  add_whole_option(app, "--splits", options.splits, "Random splits of each set (default: 20)", 2,
                   100'000);
  add_whole_option(app, "--evidence", options.evidence_splits,
                   "Splits whose evidence is worked out (default: 3)", 1, 100'000);
  add_whole_option(app, "--train", options.train, "Most training points (default: 150)", 20, 5000);
  add_whole_option(app, "--steps", options.steps,
                   "Gibbs steps of a classifier after the burn-in (default: 3000)", 100,
                   1'000'000'000);
  add_whole_option(app, "--evidence-steps", options.evidence_steps,
                   "Gibbs steps of a stage of the evidence (default: 1500)", 640, 1'000'000'000);
  add_common_options(app, options.common,
                     {"label_noise --plot noise.svg",
                      "label_noise --data DIR --splits 100 --evidence 10 --json a.json"});
  parse_options(app, argc, argv);
  if (options.evidence_splits > options.splits) {
    throw UsageError("--evidence is " + std::to_string(options.evidence_splits) +
                     ", must be at most --splits, " + std::to_string(options.splits));
  }
  return options;
}

}  // namespace bpm_examples
