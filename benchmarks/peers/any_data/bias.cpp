// SPDX-License-Identifier: MIT
#include "bias.hpp"

#include <cstdint>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/selection/choose.hpp"

namespace any_data {

std::vector<BiasResult> run_biases(const DataSet& set, const Options& options, const Watch& watch) {
  std::vector<BiasResult> results;
  for (const double bias : options.biases) results.push_back({.name = set.name, .bias = bias});
  for (std::uint64_t s = 0; s < options.splits; ++s) {
    if (!watch({.stage = set.name,
                .fraction = static_cast<double>(s) / static_cast<double>(options.splits)})) {
      throw bpm::Stopped("stopped");
    }
    const Parts parts = split(set, options.common.seed, options.first_split + s);
    for (BiasResult& result : results) {
      const bpm::OneVsRest machine(
          bpm::BayesPointMachine(bpm::Gaussian::from_median(parts.train), bpm::PermutedPerceptron{},
                                 {.seed = options.common.seed,
                                  .threads = static_cast<unsigned>(options.common.threads),
                                  .bias = result.bias}));
      const auto choice = bpm::choose(machine, parts.train, parts.train_labels);
      const auto chosen = choice.fit(parts.train, parts.train_labels);
      result.train_size = parts.train_labels.size();
      result.loss.push_back(choice.selection_score);
      result.error.push_back(bpm::error_rate(parts.test_labels, chosen.predict(parts.test)));
    }
  }
  return results;
}

}  // namespace any_data
