// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <cstddef>

#include "common/mnist_data.hpp"
#include "common/options.hpp"

/// \file
/// The command line of the certified_risk program.

namespace bpm_examples {

struct CertifiedRiskOptions {
  CommonOptions common;
  Eigen::Index train = mnist_train_size;
  Eigen::Index test = mnist_test_size;
  std::size_t samples = 100'000;
  std::size_t sample_size = 5'000;
};

/// Reads the command line. \throws as `parse_options`.
[[nodiscard]] inline CertifiedRiskOptions parse_certified_risk_options(int argc,
                                                                       const char* const* argv) {
  CertifiedRiskOptions options;
  CLI::App app{
      "Whether a certified risk holds as often as it says: the test digits, classified by permuted "
      "perceptrons, are a population whose risk above any threshold is known. Samples of it, drawn "
      "with replacement, set a threshold each, by `certify_risk` and by their own error alone; "
      "counted is how often the population's risk is above what was asked for."};
  add_digit_count_options(app, options.train, options.test);
  add_whole_option(app, "--samples", options.samples, "Samples to draw (default: 100000)", 1,
                   1'000'000'000);
  add_whole_option(app, "--size", options.sample_size, "Digits of a sample (default: 5000)", 1,
                   1'000'000'000);
  add_common_options(
      app, options.common,
      {"certified_risk --samples 10000", "certified_risk --size 2000 --json a.json"});
  parse_options(app, argc, argv);
  return options;
}

}  // namespace bpm_examples
