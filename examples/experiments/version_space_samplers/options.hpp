// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <cstdint>

#include "common/options.hpp"

/// \file
/// The command line of the version_space_samplers program.

namespace bpm_examples {

/// The defaults are the paper's.
struct SamplersOptions {
  CommonOptions common;
  Eigen::Index train = 188;
  Eigen::Index test = 453;
  std::uint64_t samples = 1000;         ///< Classifiers of each sampler.
  std::uint64_t steps_per_draw = 1000;  ///< Gibbs sampler.
};

/// Reads the command line. Throws as `parse_options`.
[[nodiscard]] inline SamplersOptions parse_samplers_options(int argc, const char* const* argv) {
  SamplersOptions options;
  CLI::App app{
      "Figure 1 of \"Large Scale Bayes Point Machines\": test errors of classifiers drawn from one "
      "version space by kernel Gibbs sampling and by permuted perceptrons, on the digits 1 and 2 "
      "of MNIST. A billiard, whose law is the Gibbs sampler's, checks it. Without MNIST at hand "
      "the program draws digits of its own and says so."};
  add_whole_option(app, "--train", options.train, "Training images (default: 188)", 2, 5000);
  add_whole_option(app, "--test", options.test, "Test images (default: 453)", 1, 2000);
  add_whole_option(app, "--samples", options.samples, "Classifiers of each sampler (default: 1000)",
                   4, 1'000'000);
  add_whole_option(app, "--steps", options.steps_per_draw,
                   "Gibbs steps between two classifiers, and as many bounces (default: 1000)", 1,
                   1'000'000'000);
  add_common_options(app, options.common,
                     {"version_space_samplers --plot figure.svg",
                      "version_space_samplers --samples 200 --seed 2 --json a.json"});
  parse_options(app, argc, argv);
  return options;
}

}  // namespace bpm_examples
