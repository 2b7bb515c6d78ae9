// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iomanip>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "data.hpp"
#include "experiment.hpp"
#include "options.hpp"

/// \file
/// `FitSettings::bias`, beside the alternatives.

namespace any_data {

/// One bias on one set, a number per split.
struct BiasResult {
  std::string name;
  std::size_t train_size = 0;
  double bias = 0;
  std::vector<double> loss{};   ///< Out of fold, of what `choose` chose: no test point is asked.
  std::vector<double> error{};  ///< On the test part.
};

/// All splits of one set, a result a bias of the options. \throws bpm::Stopped.
[[nodiscard]] std::vector<BiasResult> run_biases(const DataSet& set, const Options& options,
                                                 const Watch& watch);

[[nodiscard]] inline bpm_examples::Json bias_json(const std::vector<BiasResult>& results) {
  auto list = bpm_examples::Json::array();
  for (const BiasResult& result : results) {
    const Mean loss = mean_of(result.loss);
    const Mean error = mean_of(result.error);
    list.push_back({{"dataset", result.name},
                    {"bias", result.bias},
                    {"splits", result.loss.size()},
                    {"train_size", result.train_size},
                    {"out_of_fold_log_loss", loss.value},
                    {"out_of_fold_log_loss_se", loss.se},
                    {"chosen_error_percent", 100 * error.value},
                    {"chosen_se", 100 * error.se}});
  }
  return list;
}

inline void print_biases(std::ostream& out, const std::vector<BiasResult>& results) {
  std::ostringstream text;
  text << "set            bias   out-of-fold log loss   error %\n" << std::fixed;
  std::map<double, BiasResult> of_sets;
  const auto row = [&](const BiasResult& result) {
    text << std::left << std::setw(13) << result.name << std::right << std::setprecision(2)
         << std::setw(6) << result.bias << std::setprecision(4) << std::setw(23)
         << mean_of(result.loss).value << std::setprecision(2) << std::setw(10)
         << 100 * mean_of(result.error).value << '\n';
  };
  for (const BiasResult& result : results) {
    row(result);
    BiasResult& mean = of_sets[result.bias];
    mean.bias = result.bias;
    mean.loss.push_back(mean_of(result.loss).value);
    mean.error.push_back(mean_of(result.error).value);
  }
  for (auto& [bias, mean] : of_sets) {
    mean.name = "mean of " + std::to_string(mean.loss.size());
    row(mean);
  }
  out << text.str() << std::flush;
}

/// Losses by bias, a line per set.
[[nodiscard]] inline bpm_examples::Plot bias_plot(const std::vector<BiasResult>& results) {
  bpm_examples::Plot plot;
  plot.title = "Out-of-fold log loss by the bias";
  plot.x_label = "bias, in units of the mean k(x, x)";
  plot.y_label = "log loss of what was chosen";
  for (const BiasResult& result : results) {
    if (plot.series.empty() || plot.series.back().title != result.name) {
      plot.series.emplace_back().title = result.name;
    }
    plot.series.back().x.push_back(result.bias);
    plot.series.back().y.push_back(mean_of(result.loss).value);
  }
  return plot;
}

}  // namespace any_data
