// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <iomanip>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "common/figure.hpp"
#include "common/json_file.hpp"
#include "common/mnist_data.hpp"
#include "common/plot.hpp"
#include "networks/experiment.hpp"
#include "networks/options.hpp"
#include "networks/paper.hpp"

/// \file
/// The results in three forms: text, JSON and a figure.

namespace bpm_examples {

/// One entry a size; the keys that all runs share come first.
[[nodiscard]] inline Json networks_json(const std::vector<NetworksResult>& results,
                                        const Digits& digits, const NetworksOptions& options) {
  Json list = Json::array();
  for (const NetworksResult& result : results) {
    list.push_back(
        {{"n", result.size},
         {"depth", options.depth},
         {"width", options.width},
         {"voters", options.voters},
         {"network_gibbs_error", result.gibbs_error},
         {"network_bayes_error", result.bayes_error},
         {"large_margin_error", result.large_margin_error},
         {"kernel_interpolator_error", result.interpolator_error},
         {"seconds", result.seconds},
         {"data", digits.name()},
         {"test_size", options.test},
         {"seed", options.common.seed},
         {"epochs", options.epochs},
         {"rate", options.rate},
         {"network_bayes_error_half_voters", result.half_bayes_error},
         {"balanced_kernel_interpolator_error", result.balanced_interpolator_error},
         {"large_margin_kernel_disagreement", result.large_margin_interpolator_disagreement},
         {"large_margin_balanced_kernel_disagreement", result.large_margin_balanced_disagreement},
         {"label_scale", result.label_scale},
         {"voters_without_training_error", result.fitted},
         {"voter_training_error", result.training_error},
         {"voter_relative_loss", result.relative_loss},
         {"voter_relative_loss_worst", result.worst_relative_loss},
         {"large_margin_training_error", result.large_margin.errors},
         {"large_margin_loss", result.large_margin.loss},
         {"large_margin_mean_margin", result.large_margin.mean_margin},
         {"large_margin_least_margin", result.large_margin.least_margin},
         {"large_margin_bayes_disagreement", result.large_margin_disagreement},
         {"kernel_interpolator_bayes_disagreement", result.interpolator_disagreement}});
  }
  return list;
}

/// What is going to be done.
inline void print_task(std::ostream& out, const Digits& digits, const NetworksOptions& options) {
  out << "data: " << digits.source << "\neven against odd digits, " << options.test
      << " test images; networks of depth " << options.depth << " and width " << options.width
      << ", " << options.voters << " voters, " << options.epochs << " steps of Nero\n"
      << std::flush;
}

/// Errors, and how well the networks fit what they were trained on.
inline void print_networks(std::ostream& out, const std::vector<NetworksResult>& results) {
  std::ostringstream text;
  text << "\nTest errors in percent. Gibbs: mean of the small-margin networks; vote: of their "
          "majority; half: of the majority of half as many;\ndiffer: test images on which a "
          "classifier and the vote disagree; balanced: interpolator of the kernel of networks with "
          "balanced neurons.\n"
       << std::setw(6) << "n" << std::setw(9) << "Gibbs" << std::setw(9) << "vote" << std::setw(9)
       << "half" << std::setw(14) << "large margin" << std::setw(10) << "differ" << std::setw(14)
       << "interpolator" << std::setw(10) << "differ" << std::setw(10) << "balanced"
       << std::setw(10) << "seconds" << '\n'
       << std::fixed;
  for (const NetworksResult& result : results) {
    text << std::setprecision(2) << std::setw(6) << result.size << std::setw(9)
         << 100 * result.gibbs_error << std::setw(9) << 100 * result.bayes_error << std::setw(9)
         << 100 * result.half_bayes_error << std::setw(14) << 100 * result.large_margin_error
         << std::setw(10) << 100 * result.large_margin_disagreement << std::setw(14)
         << 100 * result.interpolator_error << std::setw(10)
         << 100 * result.interpolator_disagreement << std::setw(10)
         << 100 * result.balanced_interpolator_error << std::setprecision(1) << std::setw(10)
         << result.seconds << '\n';
  }
  text << "\nOn the training images. Small margin: scale of the labels, networks without an error, "
          "loss over that of f = 0, the worst of these.\n"
          "Large margin: training errors in percent, mean and least margin y f (labels: 100).\n"
       << std::setw(6) << "n" << std::setw(10) << "scale" << std::setw(14) << "without %"
       << std::setw(10) << "loss" << std::setw(10) << "worst" << std::setw(14) << "errors %"
       << std::setw(10) << "mean" << std::setw(10) << "least" << '\n';
  for (const NetworksResult& result : results) {
    text << std::setw(6) << result.size << std::setprecision(4) << std::setw(10)
         << result.label_scale << std::setprecision(1) << std::setw(14) << 100 * result.fitted
         << std::setprecision(4) << std::setw(10) << result.relative_loss << std::setw(10)
         << result.worst_relative_loss << std::setprecision(1) << std::setw(14)
         << 100 * result.large_margin.errors << std::setprecision(3) << std::setw(10)
         << result.large_margin.mean_margin << std::setw(10) << result.large_margin.least_margin
         << '\n';
  }
  out << text.str() << std::flush;
}

/// Left: small-margin networks, their majority and the large-margin network, beside the authors'.
/// Right: the large-margin network and the kernel interpolator, beside the authors'.
[[nodiscard]] inline FigureScript networks_figure(const std::vector<NetworksResult>& results,
                                                  const Digits& digits,
                                                  const NetworksOptions& options) {
  FigureScript figure;
  std::vector<std::vector<double>> ours;
  for (const NetworksResult& result : results) {
    ours.push_back({static_cast<double>(result.size), 100 * result.gibbs_error,
                    100 * result.bayes_error, 100 * result.large_margin_error,
                    100 * result.interpolator_error});
  }
  std::ranges::sort(ours);
  std::vector<std::vector<double>> theirs;
  for (const PaperSize& size : paper_sizes) {
    theirs.push_back({static_cast<double>(size.n), size.network_gibbs, size.network_bayes,
                      size.large_margin, size.interpolator});
  }
  const double widest = std::max(1000.0, ours.back()[0]);
  double least = 4;
  double most = 50;
  for (const auto& row : ours) {
    for (auto column = std::next(row.begin()); column != row.end(); ++column) {
      if (*column > 0) least = std::min(least, *column);
      most = std::max(most, *column);
    }
  }
  const std::string mine = figure.add_data(ours);
  const std::string paper = figure.add_data(theirs);
  auto& out = figure.commands();
  const auto curve = [&](int column, const char* colour, const char* title) {
    out << mine << " using 1:" << column
        << " with linespoints pointtype 7 pointsize 0.8 linewidth 1.8 linecolor rgb '" << colour
        << "' title '" << title << "', " << paper << " using 1:" << column
        << " with points pointtype 6 pointsize 0.9 linewidth 1.4 linecolor rgb '" << colour
        << "' notitle";
  };
  out << "set multiplot layout 1,2 margins 0.065,0.985,0.13,0.83 spacing 0.075,0 title '"
      << (digits.drawn ? "Drawn digits (not MNIST)" : "MNIST") << ", even against odd: depth "
      << options.depth << ", width " << options.width << ", " << options.voters
      << " voters; circles: the paper, depth 7, width 1000, 501 voters' font ',16'\n"
      << "set border 3 linecolor rgb '#404040'\n"
      << "set tics nomirror\n"
      << "set grid ytics linecolor rgb '#DCDCDC' linewidth 0.6\n"
      << "set logscale y\n"
      << "set ytics (0.5, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50)\n"
      << "set xrange [0:" << 1.03 * widest << "]\n"
      << "set yrange [" << 0.9 * least << ':' << 1.1 * most << "]\n"
      << "set xlabel 'training images'\n"
      << "set key top right Left reverse samplen 2\n"
      << "set title 'small-margin networks and one of large margin'\n"
      << "set ylabel 'test error (%)'\n"
      << "plot ";
  curve(2, "#909090", "small margin, mean (Gibbs)");
  out << ", ";
  curve(3, "#0072B2", "their majority (Bayes)");
  out << ", ";
  curve(4, "#D55E00", "large margin");
  out << "\nset title 'large margin and infinite width'\nset ylabel ''\nplot ";
  curve(4, "#D55E00", "large-margin network");
  out << ", ";
  curve(5, "#009E73", "kernel interpolator");
  out << "\nunset multiplot\n";
  return figure;
}

}  // namespace bpm_examples
