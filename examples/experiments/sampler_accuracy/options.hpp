// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "common/options.hpp"

/// \file
/// The command line of the sampler_accuracy program.

namespace bpm_examples {

struct AccuracyOptions {
  CommonOptions common;
  double seconds = 1;        ///< CPU time of a run.
  std::uint64_t seeds = 10;  ///< How many, from common.seed on.
};

/// Reads the command line. Throws as `parse_options`.
[[nodiscard]] inline AccuracyOptions parse_accuracy_options(int argc, const char* const* argv) {
  AccuracyOptions options;
  CLI::App app{
      "How near samplers come to the centre of mass of version space in a given time: four cones "
      "with known centres, CPU seconds of one core, the start not charged, the burn-in charged, "
      "the same default settings on every cone. Beside it what volesti's best walk reaches."};
  add_real_option(app, "--seconds", options.seconds, "CPU seconds of a run (default: 1)", 1e-3, 1e6)
      ->type_name("S");
  add_whole_option(app, "--seeds", options.seeds, "Seeds --seed .. --seed + N - 1 (default: 10)", 1,
                   1'000'000);
  add_common_options(app, options.common,
                     {"sampler_accuracy --data DIR --seconds 0.3",
                      "sampler_accuracy --seeds 5 --json a.json --plot a.svg"});
  CLI::Option* const threads = app.get_option("--threads");
  threads->description("Runs side by side, which may slow each other (default: 1)");
  parse_options(app, argc, argv);
  if (threads->count() == 0) {
    options.common.threads = 1;
  }
  return options;
}

}  // namespace bpm_examples
