// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/benchmark_sets.hpp"
#include "common/options.hpp"
#include "data.hpp"

/// \file
/// The command line of the any_data program.

namespace any_data {

using bpm_examples::CommonOptions;

struct Options {
  CommonOptions common{};
  std::vector<std::string> datasets;
  std::vector<std::filesystem::path> files;
  std::uint64_t splits = 20;
  std::uint64_t first_split = 1;
  std::uint64_t seeds = 1;     ///< Of made sets, each with all splits.
  std::vector<double> biases;  ///< To be compared, in the place of all else; empty: none.
  std::size_t train = bpm_examples::no_limit;  ///< Points of a split's training part, at most.
};

/// Reads the command line. Throws as `parse_options`.
[[nodiscard]] inline Options parse_any_data_options(int argc, const char* const* argv) {
  Options options;
  options.common.threads = 1;
  CLI::App app{
      "Fits whatever data with the defaults, with what `choose` chooses, and with support vector "
      "machines (LIBSVM) tuned by cross-validation on a grid of the same widths; compares errors "
      "on held-out points, paired by split, seconds and log losses. Inputs are standardised for "
      "both, except pixels and words, whose features have one unit. LIBSVM has one thread."};
  std::string names;
  for (const auto& set : bpm_examples::benchmark_sets) names += std::string(set.name) + " ";
  for (const std::string& set : made_sets()) names += set + " ";
  app.add_option("--datasets", options.datasets,
                 "Sets, separated by commas (default: the first seven): " + names)
      ->delimiter(',')
      ->type_name("A,B,...");
  app.add_option("--files", options.files, "Tables of your own: numbers, label last")
      ->type_name("F.csv...");
  bpm_examples::add_whole_option(app, "--splits", options.splits, "Random splits (default: 20)", 1,
                                 10'000);
  bpm_examples::add_whole_option(app, "--first-split", options.first_split,
                                 "Number of the first of them (default: 1)", 1, 1'000'000'000);
  bpm_examples::add_whole_option(app, "--seeds", options.seeds,
                                 "Times that a set made by seed is made, from --seed on (default: "
                                 "1); others are what they are",
                                 1, 1000);
  app.add_option("--bias", options.biases,
                 "Compare these biases instead, separated by commas, in units of the mean k(x, x): "
                 "the out-of-fold log loss of what `choose` chooses with each, and its error")
      ->delimiter(',')
      ->type_name("B,B,...")
      ->check(CLI::Range(0.0, 1e6).description(""));
  bpm_examples::add_whole_option(app, "--train", options.train,
                                 "Training points of a split at most, the others test (default: no "
                                 "limit beside the sets' own)",
                                 1, bpm_examples::no_limit);
  bpm_examples::add_common_options(
      app, options.common,
      {"any_data --datasets heart,sonar --splits 5", "any_data --files mine.csv --json mine.json"});
  bpm_examples::parse_options(app, argc, argv);
  for (const std::string& name : options.datasets) {
    if (bpm_examples::find_benchmark_set(name) == nullptr &&
        std::ranges::find(made_sets(), name) == made_sets().end()) {
      throw bpm_examples::UsageError("--datasets: '" + name + "' is none of: " + names);
    }
  }
  if (options.datasets.empty() && options.files.empty()) {
    for (const auto& set : bpm_examples::benchmark_sets) options.datasets.emplace_back(set.name);
  }
  return options;
}

}  // namespace any_data
