// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "common/options.hpp"
#include "common/plot.hpp"
#include "common/program.hpp"

/// \file
/// The command line of the decision_boundary program.

namespace bpm_examples {

/// What the command line says.
struct BoundaryOptions {
  CommonOptions common;
  std::ptrdiff_t train = 60;
  std::uint64_t bounces = 100000;
  std::filesystem::path plot_sphere;  ///< Empty: no file.
};

/// Reads the command line. Throws as `parse_options`, and `UsageError` where two files are one.
[[nodiscard]] inline BoundaryOptions parse_boundary_options(int argc, const char* const* argv) {
  BoundaryOptions options;
  CLI::App app{
      "Two pictures of what a Bayes point is: the decision boundaries of a support vector machine "
      "and of the Bayes point on two classes in the plane (R. Herbrich, T. Graepel, C. Campbell, "
      "\"Robust Bayes Point Machines\", figure 1), and a version space in three dimensions with "
      "the billiard's path on it."};
  add_whole_option(app, "--train", options.train, "Training points (default: 60)", 4, 2000);
  add_whole_option(app, "--bounces", options.bounces, "Bounces of each billiard (default: 100000)",
                   1000, 1'000'000'000);
  app.add_option("--plot-sphere", options.plot_sphere,
                 "Draw the version space into this file (needs gnuplot); --plot draws the "
                 "boundaries")
      ->type_name("FILE.svg");
  add_common_options(app, options.common,
                     {"decision_boundary --plot boundary.svg --plot-sphere sphere.svg",
                      "decision_boundary --train 200 --seed 3 --json a.json"});
  parse_options(app, argc, argv);
  return options;
}

}  // namespace bpm_examples
