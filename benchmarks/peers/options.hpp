// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/mnist_data.hpp"
#include "common/options.hpp"

/// \file
/// The command line of the peers program.

namespace bpm_peers {

/// All peers, in the order of the table.
inline constexpr std::array<std::string_view, 12> peer_keys{"ours-float",
                                                            "ours-byte",
                                                            "ours-float-normalise",
                                                            "ours-byte-normalise",
                                                            "libsvm-polynomial",
                                                            "libsvm-gaussian",
                                                            "liblinear",
                                                            "liblinear-validated",
                                                            "sklearn-polynomial",
                                                            "sklearn-gaussian",
                                                            "thundersvm-polynomial",
                                                            "thundersvm-gaussian"};

struct PeersOptions {
  bpm_examples::CommonOptions common;
  Eigen::Index train = bpm_examples::mnist_train_size;
  Eigen::Index test = bpm_examples::mnist_test_size;
  std::filesystem::path libsvm;  ///< Empty: the installed one.
  std::filesystem::path mnist;   ///< Empty: the program built beside this one.
  std::vector<std::string> only;
  int repeat = 1;
  double timeout = 3600;

  /// Whether `--only` leaves this peer in: by its key, or by the first word of several keys.
  [[nodiscard]] bool wants(std::string_view key) const {
    return only.empty() || std::ranges::any_of(only, [&](const std::string& word) {
             const bool group = std::ranges::find(peer_keys, word) == peer_keys.end();
             return key == word || (group && key.substr(0, key.find('-')) == word);
           });
  }
};

/// Reads the command line. Throws as `bpm_examples::parse_options`, and `UsageError` for a peer
/// that there is not.
[[nodiscard]] inline PeersOptions parse_peers_options(int argc, const char* const* argv) {
  using namespace bpm_examples;
  PeersOptions options;
  CLI::App app{
      "Support vector machines of other libraries and Bayes point machines on the same digits, in "
      "one run: error, time, memory. A peer that is not installed is named with the way to install "
      "it."};
  add_digit_count_options(app, options.train, options.test);
  app.add_option("--libsvm", options.libsvm,
                 "Folder of LIBSVM's source, built here with OpenMP (default: the installed tools)")
      ->type_name("PATH");
  app.add_option("--mnist", options.mnist,
                 "Our program (default: mnist as it was built beside this one)")
      ->type_name("PATH");
  std::string only;
  std::string keys;
  for (const auto key : peer_keys) keys += (keys.empty() ? "" : ", ") + std::string(key);
  auto* only_option =
      app.add_option("--only", only,
                     "Only these peers, of " + keys + "; or ours, libsvm, sklearn, thundersvm")
          ->type_name("a,b,...");
  add_whole_option(app, "--repeat", options.repeat, "Runs of each; medians are shown (default: 1)",
                   1, 1000);
  add_real_option(app, "--timeout", options.timeout,
                  "Seconds that a program of a peer may run (default: 3600)", 0.01, 1e6);
  add_common_options(app, options.common,
                     {"peers --train 3000 --test 1000",
                      "peers --libsvm libsvm-3.36 --json peers.json --plot peers.svg"});
  parse_options(app, argc, argv);
  if (only_option->count() > 0) {
    std::string word;
    for (const char c : only + ",") {
      if (c != ',') {
        word += c;
        continue;
      }
      PeersOptions single;
      single.only = {word};
      if (word.empty() ||
          std::ranges::none_of(peer_keys, [&](auto key) { return single.wants(key); })) {
        throw UsageError("--only: there is no peer '" + word + "'; there are " + keys);
      }
      options.only.push_back(word);
      word.clear();
    }
  }
  return options;
}

}  // namespace bpm_peers
