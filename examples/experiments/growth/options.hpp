// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.hpp"
#include "common/program.hpp"

/// \file
/// The command line of the growth program.

namespace bpm_examples {

struct GrowthOptions {
  CommonOptions common;
  std::vector<Eigen::Index> sizes{10'000, 30'000, 100'000, 300'000, 1'000'000};
  Eigen::Index test = 10'000;
  std::uint64_t draws = 1;
  std::size_t memory = std::size_t{3} << 30U;
};

/// The sizes of "1000,3000,...". \throws std::invalid_argument unless each is from 100 to 99999999
/// and larger than the one before.
[[nodiscard]] inline std::vector<Eigen::Index> parse_growing_sizes(std::string_view text) {
  auto sizes = parse_whole_list<Eigen::Index>(text, 100, 99'999'999);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (sizes[i] <= sizes[i - 1]) {
      throw std::invalid_argument(std::to_string(sizes[i]) + " follows " +
                                  std::to_string(sizes[i - 1]) + ", sizes must grow");
    }
  }
  return sizes;
}

/// Reads the command line. \throws as `parse_options`.
[[nodiscard]] inline GrowthOptions parse_growth_options(int argc, const char* const* argv) {
  GrowthOptions options;
  CLI::App app{
      "How training grows with the size of the training set: permuted perceptrons of ten classes "
      "on drawn digits (not MNIST), as bytes, with time, memory and errors of each size and the "
      "exponents that fit them."};
  options_detail::add_parsed_option(
      app, "--sizes", options.sizes,
      "Sizes of the training sets (default: 10000,30000,100000,300000,1000000)",
      parse_growing_sizes)
      ->type_name("m,m,...");
  add_whole_option(app, "--test", options.test, "Test digits (default: 10000)", 1, 1'000'000);
  add_whole_option(app, "--draws", options.draws, "Classifiers a class to draw (default: 1)", 1,
                   1'000'000);
  add_bytes_option(app, "--memory", options.memory,
                   "Working memory beside the inputs, with k, M or G (default: 3G)");
  add_common_options(app, options.common,
                     {"growth --plot growth.svg", "growth --sizes 1000,2000,4000 --json a.json"});
  parse_options(app, argc, argv);
  return options;
}

}  // namespace bpm_examples
