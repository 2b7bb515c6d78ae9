// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/options.hpp"

/// \file
/// The command line of the program truncated_normals.

namespace truncated_normals {

struct Options {
  bpm_examples::CommonOptions common{};
  double seconds = 10;
  /// Draws of a chain at least, however slow it is: the smallest of thousands of effective sizes is
  /// noise where each rests on a few hundred.
  std::ptrdiff_t draws = 1024;
  std::ptrdiff_t points = 0;  ///< Coordinates; 0: each problem's own number.
  std::vector<std::string> problems{"equicorrelated", "shifted", "digits_500", "digits_2000"};
  std::vector<std::string> samplers{"TruncatedNormal", "harmonic", "zigzag", "slice", "arc"};
};

/// Reads the command line. Throws as `parse_options`.
[[nodiscard]] inline Options parse(int argc, const char* const* argv) {
  Options options;
  const std::vector<std::string> problems = options.problems;
  const std::vector<std::string> samplers = options.samplers;
  CLI::App app{
      "Samplers of normal laws cut to an orthant, one core each: the smallest effective sample "
      "size a CPU second, over coordinates, their squares, the log density and the projections on "
      "both end eigenvectors. It says how far off moments are that are known, or else those of the "
      "first sampler."};
  const auto joined = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
  };
  bpm_examples::add_real_option(app, "--seconds", options.seconds,
                                "CPU time of a sampler on a problem at least, burn-in not counted "
                                "(default: 10)",
                                0.01, 1e5);
  bpm_examples::add_whole_option(app, "--draws", options.draws,
                                 "Its draws at least, whatever time they take (default: 1024)", 64,
                                 1'000'000'000);
  bpm_examples::add_whole_option(app, "--points", options.points,
                                 "Coordinates in the place of each problem's own number", 2, 5000);
  app.add_option("--problems", options.problems, "Some of: " + joined(problems))
      ->delimiter(',')
      ->type_name("A,B,...")
      ->check(CLI::IsMember(problems).description(""));
  app.add_option("--samplers", options.samplers, "Some of: " + joined(samplers))
      ->delimiter(',')
      ->type_name("A,B,...")
      ->check(CLI::IsMember(samplers).description(""));
  // Of the common options those that mean something here: a sampler has one thread.
  app.set_help_flag("--help,-h", "Print this and exit");
  app.add_option("--data", options.common.data,
                 "Folder of the data (default: the environment's BPM_DATA_DIR)")
      ->type_name("DIR");
  bpm_examples::add_seed_option(app, options.common);
  bpm_examples::add_json_option(app, options.common);
  app.add_flag("--quiet", options.common.quiet, "No report; errors only");
  app.footer(
      "Examples:\n  truncated_normals --seconds 5\n"
      "  truncated_normals --problems shifted --json shifted.json");
  bpm_examples::parse_options(app, argc, argv);
  return options;
}

}  // namespace truncated_normals
