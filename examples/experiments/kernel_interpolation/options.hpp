// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.hpp"

/// \file
/// The command line of the kernel_interpolation program.

namespace bpm_examples {

/// What to compute beside the isotropic ensemble and the centroidal interpolator.
struct InterpolationParts {
  bool ep = true;        ///< Expectation propagation: log P_Y and centre-of-mass labels.
  bool nested = true;    ///< The nested estimate of log P_Y.
  bool billiard = true;  ///< Centre-of-mass labels by a billiard.
  bool exact = true;     ///< The exact posterior's ensemble.
};

struct InterpolationOptions {
  CommonOptions common;
  std::vector<Eigen::Index> sizes{50, 100, 200, 300, 500, 1000};
  int depth = 7;
  std::uint64_t voters = 100'000;
  double confidence = 0.99;
  std::uint64_t subsets = 1;
  Eigen::Index test = 10'000;
  std::uint64_t bounces = 2'000'000;
  InterpolationParts parts;
  bool study = false;
  bool bounds = false;
  Eigen::Index unlabelled = 20'000;  ///< Inputs without labels that the bounds look at.
};

/// The parts of a list such as ep,nested. Throws `std::invalid_argument`.
[[nodiscard]] inline InterpolationParts parse_parts(std::string_view text) {
  InterpolationParts parts{false, false, false, false};
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    if (name == "ep") {
      parts.ep = true;
    } else if (name == "nested") {
      parts.nested = true;
    } else if (name == "billiard") {
      parts.billiard = true;
    } else if (name == "exact") {
      parts.exact = true;
    } else if (name != "isotropic") {
      throw std::invalid_argument("'" + std::string(name) +
                                  "' is none of isotropic, ep, nested, billiard, exact");
    }
    if (comma == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(comma + 1);
  }
}

/// Reads the command line. Throws as `parse_options`.
[[nodiscard]] inline InterpolationOptions parse_interpolation_options(int argc,
                                                                      const char* const* argv) {
  InterpolationOptions options;
  CLI::App app{
      "\"Kernel interpolation as a Bayes point machine\" on the even and odd digits of MNIST: the "
      "centroidal and the centre-of-mass interpolator beside the Gibbs and Bayes classifiers of "
      "the Gaussian process posteriors, and what PAC-Bayes bounds say of them. Without MNIST at "
      "hand the program draws digits of its own and says so."};
  options_detail::add_parsed_option(
      app, "--sizes", options.sizes,
      "Numbers of training digits (default: 50,100,200,300,500,1000)",
      [](const std::string& text) { return parse_whole_list<Eigen::Index>(text, 2, 10'000); })
      ->type_name("N,N,...");
  add_whole_option(app, "--depth", options.depth, "Layers of the arc-cosine kernel (default: 7)", 1,
                   100);
  add_whole_option(app, "--voters", options.voters, "Voters of an ensemble (default: 100000)", 1,
                   100'000'000);
  add_real_option(app, "--confidence", options.confidence,
                  "With which the bounds hold, 0.5 to 0.999 (default: 0.99)", 0.5, 0.999);
  add_whole_option(app, "--subsets", options.subsets,
                   "Random training subsets of each size (default: 1)", 1, 10'000);
  add_whole_option(app, "--test", options.test, "Test digits (default: 10000)", 2, 10'000);
  add_whole_option(app, "--bounces", options.bounces, "Bounces of the billiard (default: 2000000)",
                   1000, 1'000'000'000'000);
  options_detail::add_parsed_option(
      app, "--parts", options.parts,
      "What to compute beside the isotropic ensemble: ep,nested,billiard,exact (default: all), or "
      "isotropic for nothing",
      parse_parts)
      ->type_name("PART,...");
  app.add_flag("--study", options.study,
               "Also vary noise, prior and depth on the first subset of each size");
  app.add_flag("--bounds", options.bounds,
               "Also bound the error of the centre of mass by a split prior, margins and digits "
               "held out");
  add_whole_option(app, "--unlabelled", options.unlabelled,
                   "Other training digits that --bounds looks at without their labels (default: "
                   "20000)",
                   2, 50'000);
  add_common_options(app, options.common,
                     {"kernel_interpolation --sizes 100,300 --plot figure.svg",
                      "kernel_interpolation --sizes 1000 --subsets 5 --json a.json"});
  parse_options(app, argc, argv);
  return options;
}

}  // namespace bpm_examples
