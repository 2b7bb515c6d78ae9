// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "common/figure.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "distribution.hpp"
#include "experiment.hpp"

/// \file
/// The results in three forms: text, JSON and a figure.

namespace bpm_examples {

namespace report_detail {

inline constexpr int quantile_steps = 100;  ///< Quantiles 0.01, 0.02, ..., 0.99.

[[nodiscard]] inline std::vector<double> sorted(std::vector<double> values) {
  std::ranges::sort(values);
  return values;
}

/// Quantiles of both: {q, Gibbs, perceptron}.
[[nodiscard]] inline std::vector<std::vector<double>> quantile_rows(const SamplersResult& result) {
  const std::vector<double> gibbs = sorted(result.gibbs.percent);
  const std::vector<double> perceptron = sorted(result.perceptron.percent);
  std::vector<std::vector<double>> rows;
  for (int k = 1; k < quantile_steps; ++k) {
    const double q = static_cast<double>(k) / quantile_steps;
    rows.push_back({q, quantile(gibbs, q), quantile(perceptron, q)});
  }
  return rows;
}

}  // namespace report_detail

[[nodiscard]] inline ChainCheck check_chains(const SamplersResult& result) {
  ChainCheck chains = result.gibbs.chain_check;
  chains.add(result.billiard.chain_check);
  return chains;
}

/// The results under the keys that all runs share; the billiard's behind them.
[[nodiscard]] inline Json samplers_json(const SamplersResult& result, const TwoDigits& digits) {
  Json json;
  json["train_size"] = digits.train_labels.size();
  json["test_size"] = digits.test_labels.size();
  json["samples"] = result.gibbs.percent.size();
  json["gibbs_error_percent"] = result.gibbs.percent;
  json["perceptron_error_percent"] = result.perceptron.percent;
  json["ks_statistic"] = ks_statistic(result.gibbs.percent, result.perceptron.percent);
  json["quantiles"] = Json::array();
  for (const auto& row : report_detail::quantile_rows(result)) {
    json["quantiles"].push_back({{"q", row[0]}, {"gibbs", row[1]}, {"perceptron", row[2]}});
  }
  json["data"] = digits.drawn ? "drawn" : "mnist";
  json["billiard_error_percent"] = result.billiard.percent;
  json["ks_statistic_billiard"] = ks_statistic(result.gibbs.percent, result.billiard.percent);
  json["gibbs_correlation"] = result.gibbs.correlation();
  json["billiard_correlation"] = result.billiard.correlation();
  json["warnings"] = check_chains(result).warnings();
  return json;
}

/// What was done and how the three compare.
inline void print_samplers(std::ostream& out, const SamplersResult& result, const TwoDigits& digits,
                           const SamplersOptions& options) {
  std::ostringstream text;
  text << "data: " << digits.source << "\ndigits 1 and 2, " << digits.train_labels.size()
       << " training and " << digits.test_labels.size() << " test images, kernel (<x, x'> + 1)^5, "
       << result.gibbs.percent.size() << " classifiers each, " << options.steps_per_draw
       << " steps apart, rank " << result.gibbs.rank << "\n\n"
       << std::left << std::setw(14) << "test error %" << std::right << std::setw(8) << "mean"
       << std::setw(8) << "5 %" << std::setw(8) << "median" << std::setw(8) << "95 %"
       << std::setw(16) << "of their mean" << std::setw(14) << "correlation" << std::setw(10)
       << "seconds" << '\n'
       << std::fixed;
  const auto line = [&](const char* name, const SampledErrors& errors) {
    const std::vector<double> values = report_detail::sorted(errors.percent);
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    text << std::left << std::setw(14) << name << std::right << std::setprecision(2) << std::setw(8)
         << mean << std::setw(8) << quantile(values, 0.05) << std::setw(8) << quantile(values, 0.5)
         << std::setw(8) << quantile(values, 0.95) << std::setw(16) << errors.centre_percent
         << std::setw(14) << errors.correlation() << std::setprecision(1) << std::setw(10)
         << errors.seconds << '\n';
  };
  line("kernel Gibbs", result.gibbs);
  line("perceptron", result.perceptron);
  line("billiard", result.billiard);
  const std::size_t n = result.gibbs.percent.size();
  text << std::setprecision(3) << "\nKolmogorov-Smirnov, kernel Gibbs and perceptron: "
       << ks_statistic(result.gibbs.percent, result.perceptron.percent)
       << "; kernel Gibbs and billiard, which draw from one law: "
       << ks_statistic(result.gibbs.percent, result.billiard.percent)
       << "\n(independent draws of one law stay below " << ks_critical(n, n)
       << " in 95 of 100 cases)\n"
          "correlation: of the test errors of classifiers that follow each other in a chain\n";
  out << text.str() << std::flush;
}

namespace report_detail {

/// What the two histograms share: the commands before each, and its bars.
inline void plot_histogram(FigureScript& figure, const std::string& title,
                           const std::string& errors, const std::string& colour,
                           const std::string& more) {
  figure.commands() << "set title " << plot_detail::gnuplot_string(title) << '\n'
                    << "plot " << errors << " using 1:2 with boxes fillstyle solid 0.75 noborder "
                    << "linecolor rgb '" << colour << "' notitle" << more << '\n';
}

[[nodiscard]] inline std::vector<std::vector<double>> bars_of(const std::vector<double>& percent) {
  std::vector<std::vector<double>> rows;
  for (const Bar& bar : count_values(percent)) {
    rows.push_back({bar.value, static_cast<double>(bar.count)});
  }
  return rows;
}

}  // namespace report_detail

/// Figure 1 of the paper: (a) and (b) the histograms of test errors, (c) their quantiles against
/// each other. The test errors are multiples of 100 / test size; each has a bar of its own.
[[nodiscard]] inline FigureScript samplers_figure(const SamplersResult& result,
                                                  const TwoDigits& digits) {
  using report_detail::bars_of;
  FigureScript figure;
  const auto gibbs = bars_of(result.gibbs.percent);
  const auto perceptron = bars_of(result.perceptron.percent);
  const auto billiard = bars_of(result.billiard.percent);
  const double step = 100 / static_cast<double>(digits.test_labels.size());
  double least = 100;
  double most = 0;
  double tallest = 0;
  for (const auto* bars : {&gibbs, &perceptron, &billiard}) {
    least = std::min(least, bars->front()[0]);
    most = std::max(most, bars->back()[0]);
    for (const auto& bar : *bars) tallest = std::max(tallest, bar[1]);
  }
  least = std::max(-0.5 * step, least - 1.5 * step);
  most += 1.5 * step;
  std::vector<std::vector<double>> pairs;
  for (const auto& row : report_detail::quantile_rows(result)) pairs.push_back({row[1], row[2]});

  auto& out = figure.commands();
  out << "set multiplot layout 1,3 margins 0.055,0.985,0.13,0.83 spacing 0.065,0 title '"
      << (digits.drawn ? "Drawn digits (not MNIST)" : "MNIST")
      << ", 1 against 2: test errors of single classifiers from version space' font ',17'\n"
      << "set border 3 linecolor rgb '#404040'\n"
      << "set tics nomirror\n"
      << "set grid ytics linecolor rgb '#DCDCDC' linewidth 0.6\n"
      << "set key top right samplen 2\n"
      << "set boxwidth " << 0.8 * step << '\n'
      << "set xrange [" << least << ':' << most << "]\n"
      << "set yrange [0:" << 1.08 * tallest << "]\n"
      << "set xlabel 'test error (%)'\n"
      << "set ylabel 'classifiers' offset 0.5,0\n";
  report_detail::plot_histogram(
      figure, "(a) kernel Gibbs sampler", figure.add_data(gibbs), "#0072B2",
      ", " + figure.add_data(billiard) +
          " using 1:2 with points pointtype 6 pointsize 0.8 linewidth 1.5 linecolor rgb '#202020' "
          "title 'billiard, same law'");
  report_detail::plot_histogram(figure, "(b) permuted perceptron", figure.add_data(perceptron),
                                "#D55E00", "");
  out << "set title '(c) quantiles'\n"
      << "set grid xtics ytics linecolor rgb '#DCDCDC' linewidth 0.6\n"
      << "set xlabel 'kernel Gibbs sampler, test error (%)'\n"
      << "set ylabel 'permuted perceptron, test error (%)'\n"
      << "set yrange [" << least << ':' << most << "]\n"
      << "set key top left Left reverse\n"
      << "plot x with lines linewidth 1.2 linecolor rgb '#808080' title 'equal', "
      << figure.add_data(pairs)
      << " using 1:2 with points pointtype 7 pointsize 0.6 linecolor rgb '#009E73' title '1 % to "
         "99 %'\n"
      << "unset multiplot\n";
  return figure;
}

}  // namespace bpm_examples
