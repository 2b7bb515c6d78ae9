// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "benchmark_sets.hpp"
#include "common/options.hpp"
#include "common/program.hpp"

/// \file
/// The command line of robust_bpm.

namespace bpm_examples {

/// What stands below |x - x'|^2 in the kernel, for the sigma of Table 1.
enum class WidthConvention {
  sigma2,      ///< sigma^2, the paper's formula.
  two_sigma2,  ///< 2 sigma^2, the other one in use.
};

struct RobustOptions {
  CommonOptions common;
  std::uint64_t splits = 100;
  std::vector<const BenchmarkSet*> sets;  ///< In the order asked for.
  WidthConvention convention = WidthConvention::sigma2;
  double lambda = 0;
  std::uint64_t bounces = 100'000;  ///< Of the billiard, a split.
  std::uint64_t draws = 10;         ///< Perceptrons a split.
  bool figure2 = false;

  /// W of exp(-|x - x'|^2 / W^2).
  [[nodiscard]] double width(double sigma) const {
    return convention == WidthConvention::sigma2 ? sigma : std::sqrt(2.0) * sigma;
  }
};

/// The sets of a list "a,b,...". \throws UsageError for a name that is none or stands there twice.
[[nodiscard]] inline std::vector<const BenchmarkSet*> parse_benchmark_sets(
    const std::string& list) {
  std::vector<const BenchmarkSet*> sets;
  std::istringstream names(list + ',');
  for (std::string name; std::getline(names, name, ',');) {
    const BenchmarkSet* const set = find_benchmark_set(name);
    if (set == nullptr) {
      std::string known;
      for (const BenchmarkSet& each : benchmark_sets) {
        known.append(known.empty() ? "' is none of " : ", ").append(each.name);
      }
      throw UsageError(std::string("--datasets: '").append(name).append(known));
    }
    if (std::ranges::find(sets, set) != sets.end()) {
      throw UsageError("--datasets: " + name + " stands there twice");
    }
    sets.push_back(set);
  }
  return sets;
}

/// Reads the command line. \throws as `parse_options`, and UsageError for options that do not go
/// together.
[[nodiscard]] inline RobustOptions parse_robust_options(int argc, const char* const* argv) {
  RobustOptions options;
  CLI::App app{
      "Bayes point machines by billiard against hard-margin support vector machines on seven "
      "benchmark sets: Table 1 of \"Robust Bayes Point Machines\", or its Figure 2."};
  add_whole_option(app, "--splits", options.splits, "Random 60:40 splits a set (default: 100)", 2,
                   1'000'000);
  std::string list;
  auto* datasets = app.add_option("--datasets", list, "Sets of the table (default: all seven)")
                       ->type_name("a,b,...");
  std::string convention = "sigma2";
  auto* width = app.add_option("--width-convention", convention,
                               "Below |x - x'|^2 in the kernel: sigma^2, as the paper writes, or "
                               "2 sigma^2 (default: sigma2)")
                    ->check(CLI::IsMember({"sigma2", "2sigma2"}).description(""))
                    ->type_name("sigma2|2sigma2");
  auto* lambda =
      add_real_option(app, "--lambda", options.lambda,
                      "Soft boundary: adds L to k(x, x) in training (default: 0)", 0, 1e6)
          ->type_name("L");
  add_whole_option(app, "--bounces", options.bounces,
                   "Bounces of the billiard a split (default: 100000)", 100, 1'000'000'000'000);
  add_whole_option(app, "--draws", options.draws, "Permuted perceptrons a split (default: 10)", 1,
                   1'000'000);
  app.add_flag("--figure2", options.figure2,
               "Figure 2 instead: error against lambda, for a toy set and for heart");
  add_common_options(app, options.common,
                     {"robust_bpm --datasets sonar,heart --splits 20",
                      "robust_bpm --figure2 --json figure2.json --plot figure2.svg"});
  parse_options(app, argc, argv);

  if (options.figure2) {
    for (const CLI::Option* option : {datasets, width, lambda}) {
      if (option->count() > 0) {
        throw UsageError(option->get_name() + " belongs to the table, not to --figure2");
      }
    }
  }
  if (datasets->count() > 0) {
    options.sets = parse_benchmark_sets(list);
  } else {
    for (const BenchmarkSet& set : benchmark_sets) options.sets.push_back(&set);
  }
  options.convention =
      convention == "sigma2" ? WidthConvention::sigma2 : WidthConvention::two_sigma2;
  return options;
}

}  // namespace bpm_examples
