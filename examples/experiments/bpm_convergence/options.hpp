// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/program.hpp"
#include "data.hpp"

/// \file
/// The command line of the bpm_convergence program.

namespace bpm_examples {

/// What the command line says. The defaults are the experiments of the paper.
struct ConvergenceOptions {
  CommonOptions common;
  std::vector<int> tables{1, 2, 3, 4, 5, 6};
  std::uint64_t bounces = 50000;  ///< Rows with more are left out.
  int splits = 10;
  InputRange range = InputRange::symmetric;
};

/// Reads the command line. Throws as `parse_options`.
[[nodiscard]] inline ConvergenceOptions parse_convergence_options(int argc,
                                                                  const char* const* argv) {
  ConvergenceOptions options;
  CLI::App app{
      "How fast the billiard converges: the experiments of S. Basu, \"Empirical Results on the "
      "Generalization Capabilities and Convergence Properties of the Bayes Point Machine\", tables "
      "1 to 6 and figures 2 and 3, for the published and the geodesic flight."};
  options_detail::add_parsed_option(
      app, "--tables", options.tables, "Tables of the paper (default: 1,2,3,4,5,6)",
      [](const std::string& text) {
        auto tables = parse_whole_list<int>(text, 1, 6);
        std::sort(tables.begin(), tables.end());
        tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
        return tables;
      })
      ->type_name("N,N,...");
  add_whole_option(app, "--bounces", options.bounces,
                   "Leave out rows with more than N bounces, and end the figure there (default: "
                   "50000)",
                   50, 50000);
  add_whole_option(app, "--splits", options.splits,
                   "Splits into 60 training and 40 test points to average (default: 10)", 1, 10000);
  std::string range = "symmetric";
  app.add_option("--range", range,
                 "Range of the uniform data: [-1, 1] or [0, 1] (default: symmetric)")
      ->check(CLI::IsMember({"symmetric", "unit"}).description(""))
      ->type_name("symmetric|unit");
  add_common_options(app, options.common,
                     {"bpm_convergence --tables 1,3 --bounces 5000",
                      "bpm_convergence --json a.json --plot a.svg"});
  parse_options(app, argc, argv);
  options.range = range == "unit" ? InputRange::unit : InputRange::symmetric;
  return options;
}

}  // namespace bpm_examples
