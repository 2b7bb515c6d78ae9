// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/mnist_data.hpp"
#include "common/options.hpp"

/// \file
/// The command line of the networks program.

namespace bpm_examples {

/// The paper has depth 7, width 1000, 501 voters and sizes 50, 100, ..., 1000.
struct NetworksOptions {
  CommonOptions common;
  std::vector<Eigen::Index> sizes{50, 100, 200, 400, 700, 1000};
  Eigen::Index test = mnist_test_size;
  int depth = 7;
  Eigen::Index width = 128;
  std::size_t voters = 51;  ///< Small-margin networks.
  int epochs = 500;
  double rate = 0.01;  ///< Nero's, of the first epoch.
};

/// Reads the command line. \throws as `parse_options`.
[[nodiscard]] inline NetworksOptions parse_networks_options(int argc, const char* const* argv) {
  NetworksOptions options;
  CLI::App app{
      "Figure 2, middle and right, of \"Kernel interpolation as a Bayes point machine\": does one "
      "network that is trained to a large margin classify as the majority of many networks of "
      "small margin does, and as the interpolator of the kernel of infinitely wide networks? "
      "Digits of MNIST, even against odd; without MNIST at hand the program draws digits of its "
      "own and says so."};
  options_detail::add_parsed_option(app, "--sizes", options.sizes,
                                    "Sizes of the training sets (default: 50,100,200,400,700,1000)",
                                    [](const std::string& text) {
                                      return parse_whole_list<Eigen::Index>(text, 1,
                                                                            mnist_train_size);
                                    })
      ->type_name("n,n,...");
  add_whole_option(app, "--depth", options.depth, "Weight matrices (default: 7)", 2, 1000);
  add_whole_option(app, "--width", options.width, "Neurons of a hidden layer (default: 128)", 2,
                   100'000);
  add_whole_option(app, "--voters", options.voters,
                   "Networks of small margin, better odd: a tied vote is an error (default: 51)", 1,
                   1'000'000);
  add_whole_option(app, "--test", options.test, "Random test images (default: 10000, all)", 1,
                   mnist_test_size);
  add_whole_option(app, "--epochs", options.epochs, "Steps of the optimiser (default: 500)", 1,
                   1'000'000);
  add_real_option(app, "--rate", options.rate,
                  "Turn of a neuron in the first step; it falls to 1/150 of that (default: 0.01)",
                  1e-9, 0.5);
  add_common_options(app, options.common,
                     {"networks --plot networks.svg",
                      "networks --width 1000 --voters 501 --sizes 50,500,1000 --json a.json"});
  parse_options(app, argc, argv);
  return options;
}

}  // namespace bpm_examples
