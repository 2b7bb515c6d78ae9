// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "growth/experiment.hpp"
#include "growth/options.hpp"

/// \file
/// What the growth program reports: text, JSON and a plot.

namespace bpm_examples {

/// y = factor x^exponent.
struct PowerLaw {
  double factor = 0;
  double exponent = 0;
};

/// Least squares in logarithms; absent for fewer than two points or a value that is not positive.
[[nodiscard]] inline std::optional<PowerLaw> fit_power_law(const std::vector<double>& x,
                                                           const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0 && y[i] > 0)) return std::nullopt;
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    xx += dx * dx;
    xy += dx * (std::log(y[i]) - mean_y);
  }
  if (!(xx > 0)) return std::nullopt;
  const double exponent = xy / xx;
  return PowerLaw{std::exp(mean_y - exponent * mean_x), exponent};
}

/// The law of one number of the results as the size grows.
template <class Value>
[[nodiscard]] std::optional<PowerLaw> growth_of(const std::vector<GrowthResult>& results,
                                                Value&& value) {
  std::vector<double> x;
  std::vector<double> y;
  for (const GrowthResult& result : results) {
    x.push_back(static_cast<double>(result.points));
    y.push_back(static_cast<double>(value(result)));
  }
  return fit_power_law(x, y);
}

[[nodiscard]] inline Json growth_json(const std::vector<GrowthResult>& results,
                                      const GrowthOptions& options) {
  Json list = Json::array();
  for (const GrowthResult& result : results) {
    list.push_back({{"data", "drawn"},
                    {"train_size", result.points},
                    {"test_size", options.test},
                    {"draws", options.draws},
                    {"seed", options.common.seed},
                    {"threads", options.common.threads},
                    {"input", "byte"},
                    {"strategy", result.strategy},
                    {"train_seconds", result.train_seconds},
                    {"predict_seconds", result.predict_seconds},
                    {"kernel_evaluations", result.kernel_evaluations},
                    {"mistakes", result.mistakes},
                    {"passes_mean", result.passes_mean},
                    {"support_union", result.support},
                    {"forecast_bytes", result.forecast_bytes},
                    {"input_bytes", result.input_bytes},
                    {"peak_memory_bytes", result.peak_memory_bytes},
                    {"test_error_percent", result.test_error_percent}});
  }
  return list;
}

inline void print_growth(std::ostream& out, const std::vector<GrowthResult>& results) {
  std::ostringstream text;
  text << std::setw(10) << "digits" << std::setw(11) << "train s" << std::setw(11) << "predict s"
       << std::setw(14) << "values" << std::setw(10) << "mistakes" << std::setw(8) << "passes"
       << std::setw(10) << "support" << std::setw(14) << "forecast MiB" << std::setw(12)
       << "inputs MiB" << std::setw(10) << "peak MiB" << std::setw(10) << "error %" << '\n'
       << std::fixed;
  constexpr double mib = 1024.0 * 1024.0;
  for (const GrowthResult& result : results) {
    text << std::setw(10) << result.points << std::setprecision(2) << std::setw(11)
         << result.train_seconds << std::setw(11) << result.predict_seconds << std::scientific
         << std::setw(14) << static_cast<double>(result.kernel_evaluations) << std::fixed
         << std::setw(10) << result.mistakes << std::setprecision(1) << std::setw(8)
         << result.passes_mean << std::setw(10) << result.support << std::setprecision(0)
         << std::setw(14) << static_cast<double>(result.forecast_bytes) / mib << std::setw(12)
         << static_cast<double>(result.input_bytes) / mib << std::setw(10)
         << static_cast<double>(result.peak_memory_bytes) / mib << std::setprecision(2)
         << std::setw(10) << result.test_error_percent << '\n';
  }
  const auto law = [&](const std::string& name, const std::optional<PowerLaw>& fitted) {
    if (fitted) {
      text << name << " grows as m^" << std::setprecision(2) << fitted->exponent << '\n';
    }
  };
  law("training time", growth_of(results, [](const auto& r) { return r.train_seconds; }));
  law("number of kernel values",
      growth_of(results, [](const auto& r) { return r.kernel_evaluations; }));
  law("number of mistakes", growth_of(results, [](const auto& r) { return r.mistakes; }));
  law("support", growth_of(results, [](const auto& r) { return r.support; }));
  out << text.str() << std::flush;
}

[[nodiscard]] inline Plot growth_plot(const std::vector<GrowthResult>& results) {
  Plot plot;
  plot.title = "Drawn digits (not MNIST): training time";
  plot.x_label = "training digits";
  plot.y_label = "seconds";
  plot.log_x = true;
  plot.log_y = true;
  PlotSeries measured;
  measured.title = "measured";
  measured.marks = PlotMarks::points;
  PlotSeries fitted;
  fitted.reference = true;
  fitted.marks = PlotMarks::line;
  const auto law = growth_of(results, [](const auto& r) { return r.train_seconds; });
  for (const GrowthResult& result : results) {
    const auto m = static_cast<double>(result.points);
    measured.x.push_back(m);
    measured.y.push_back(result.train_seconds);
    if (law) {
      fitted.x.push_back(m);
      fitted.y.push_back(law->factor * std::pow(m, law->exponent));
    }
  }
  plot.series.push_back(std::move(measured));
  if (law) {
    std::ostringstream title;
    title << "m^" << std::fixed << std::setprecision(2) << law->exponent;
    fitted.title = title.str();
    plot.series.push_back(std::move(fitted));
  }
  return plot;
}

}  // namespace bpm_examples
