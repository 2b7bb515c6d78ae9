// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "certified_risk/calibration.hpp"
#include "certified_risk/experiment.hpp"
#include "certified_risk/options.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"

/// \file
/// What the certified_risk program reports: text, JSON and a plot.

namespace bpm_examples {

[[nodiscard]] inline Json certified_risk_json(const CertifiedRiskResult& result,
                                              const CertifiedRiskOptions& options) {
  Json list = Json::array();
  for (std::size_t l = 0; l < risk_levels.size(); ++l) {
    const auto [risk, delta] = risk_levels[l];
    const auto certified = summary_of(result.population, result.levels[l].certified, risk);
    const auto naive = summary_of(result.population, result.levels[l].naive, risk);
    list.push_back({{"data", result.drawn ? "drawn" : "mnist"},
                    {"train_size", options.train},
                    {"test_size", options.test},
                    {"test_error_percent", 100 * result.population.risk(result.population.size())},
                    {"sample_size", options.sample_size},
                    {"samples", options.samples},
                    {"seed", options.common.seed},
                    {"threads", options.common.threads},
                    {"risk_percent", 100 * risk},
                    {"delta", delta},
                    {"violated_allowed", violations_allowed(delta, options.samples)},
                    {"returned", certified.returned},
                    {"violated", certified.violated},
                    {"coverage_percent", 100 * certified.coverage},
                    {"naive_returned", naive.returned},
                    {"naive_violated", naive.violated},
                    {"naive_coverage_percent", 100 * naive.coverage},
                    {"seconds", result.seconds}});
  }
  return list;
}

inline void print_certified_risk(std::ostream& out, const CertifiedRiskResult& result,
                                 const CertifiedRiskOptions& options) {
  const Population& population = result.population;
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << options.test << " test digits, "
       << 100 * population.risk(population.size()) << " % wrong; " << options.samples
       << " samples of " << options.sample_size << ", " << result.seconds << " s\n\n"
       << "                        samples that have            population\n"
       << "risk %  delta           a threshold  a larger risk   accepted %\n";
  const auto row = [&](const std::string& name, const ThresholdSummary& summary) {
    text << std::left << std::setw(18) << name << std::right << std::setprecision(5)
         << std::setw(15) << summary.returned << std::setw(15) << summary.violated
         << std::setprecision(2) << std::setw(13) << 100 * summary.coverage;
  };
  for (std::size_t l = 0; l < risk_levels.size(); ++l) {
    const auto [risk, delta] = risk_levels[l];
    std::ostringstream level;
    level << std::fixed << std::setprecision(2) << std::setw(6) << 100 * risk << std::setw(7)
          << delta;
    row(level.str(), summary_of(population, result.levels[l].certified, risk));
    text << "   allowed: " << std::setprecision(5) << violations_allowed(delta, options.samples)
         << '\n';
    row("  by the error", summary_of(population, result.levels[l].naive, risk));
    text << '\n';
  }
  out << text.str() << std::flush;
}

/// Distribution functions of the population's risk above the thresholds.
[[nodiscard]] inline Plot certified_risk_plot(const CertifiedRiskResult& result) {
  Plot plot;
  plot.title = std::string(result.drawn ? "Drawn digits (not MNIST)" : "MNIST") +
               ": risk above a sample's threshold";
  plot.x_label = "risk of the population's accepted (%)";
  plot.y_label = "share of samples with no larger risk";
  plot.y_from = 0;
  constexpr std::size_t points = 200;
  for (std::size_t l = 0; l < risk_levels.size(); ++l) {
    std::ostringstream asked;
    asked << 100 * risk_levels[l].risk << " % asked for";
    for (const auto& [name, accepted] : {std::pair{"certified", &result.levels[l].certified},
                                         std::pair{"by the error", &result.levels[l].naive}}) {
      std::vector<double> risks;
      for (const std::size_t count : *accepted) {
        risks.push_back(100 * result.population.risk(count));
      }
      std::ranges::sort(risks);
      PlotSeries series;
      series.title = std::string(name) + ", " + asked.str();
      series.marks = PlotMarks::line;
      for (std::size_t k = 0; k <= points; ++k) {
        series.x.push_back(risks[(risks.size() - 1) * k / points]);
        series.y.push_back(static_cast<double>(k) / points);
      }
      plot.series.push_back(std::move(series));
    }
    PlotSeries limit;
    limit.title = asked.str();
    limit.reference = true;
    limit.marks = PlotMarks::line;
    limit.x.assign(2, 100 * risk_levels[l].risk);
    limit.y = {0, 1};
    plot.series.push_back(std::move(limit));
  }
  return plot;
}

}  // namespace bpm_examples
