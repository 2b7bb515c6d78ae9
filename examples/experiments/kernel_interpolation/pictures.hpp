// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "common/figure.hpp"
#include "experiment.hpp"
#include "paper.hpp"

/// \file
/// Figure 2, left, of the paper with our curves beside the authors' points, and Gibbs error against
/// the margin.

namespace bpm_examples {

namespace picture_detail {

using Results = std::vector<InterpolationResult>;
using Read = std::function<double(const InterpolationResult&)>;

/// {n, mean over subsets in percent}; without what was not computed.
[[nodiscard]] inline std::vector<std::vector<double>> curve(const Results& results,
                                                            const Read& read) {
  std::map<Eigen::Index, std::pair<double, int>> sums;
  for (const InterpolationResult& result : results) {
    const double value = read(result);
    if (std::isnan(value)) continue;
    sums[result.n].first += 100 * value;
    ++sums[result.n].second;
  }
  std::vector<std::vector<double>> rows;
  for (const auto& [n, sum] : sums) {
    rows.push_back({static_cast<double>(n), sum.first / sum.second});
  }
  return rows;
}

/// A `plot` command of lines that are there.
class Lines {
 public:
  explicit Lines(FigureScript& figure) : figure_(figure) {}

  void add(const std::vector<std::vector<double>>& rows, const std::string& style,
           const std::string& title) {
    if (rows.empty()) return;
    text_ += (text_.empty() ? "plot " : ", ") + figure_.add_data(rows) + " using 1:2 with " +
             style + " title '" + title + "'";
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  FigureScript& figure_;
  std::string text_;
};

[[nodiscard]] inline std::vector<std::vector<double>> published(double PublishedRates::*member) {
  std::vector<std::vector<double>> rows;
  for (const PublishedRates& rates : published_rates) {
    rows.push_back({static_cast<double>(rates.n), rates.*member});
  }
  return rows;
}

}  // namespace picture_detail

[[nodiscard]] inline FigureScript interpolation_figure(
    const std::vector<InterpolationResult>& results, const EvenOdd& digits,
    const InterpolationOptions& options) {
  using namespace picture_detail;
  FigureScript figure;
  Lines bounds(figure);
  Lines errors(figure);
  const auto line = [](const char* colour, int dash = 1) {
    return std::string("linespoints pointtype 7 pointsize 0.4 linewidth 1.8 dashtype ") +
           std::to_string(dash) + " linecolor rgb '" + colour + "'";
  };
  const auto points = [](const char* colour, int type) {
    return std::string("points pointtype ") + std::to_string(type) +
           " pointsize 0.9 linewidth 1.4 linecolor rgb '" + colour + "'";
  };
  const char* const blue = "#0072B2";
  const char* const orange = "#D55E00";
  const char* const green = "#009E73";
  const char* const purple = "#CC79A7";
  const char* const grey = "#606060";
  bounds.add(curve(results, [](const auto& r) { return r.rademacher; }), line(grey), "Rademacher");
  bounds.add(curve(results, [](const auto& r) { return r.bpm_bound_a; }), line(orange, 2),
             "BPM, A");
  bounds.add(curve(results, [](const auto& r) { return r.bpm_bound_certified; }), line(orange),
             "BPM, log 1/P_Y, estimated");
  bounds.add(curve(results, [](const auto& r) { return r.bpm_bound_by_vote; }), line(green),
             "BPM, by the vote, estimated");
  bounds.add(curve(results, [](const auto& r) { return r.gibbs_bound_a; }), line(blue, 2),
             "Gibbs, A");
  bounds.add(curve(results, [](const auto& r) { return r.gibbs_bound_certified; }), line(blue),
             "Gibbs, log 1/P_Y, estimated");
  errors.add(curve(results, [](const auto& r) { return r.isotropic.gibbs_error; }), line(blue, 2),
             "Gibbs, isotropic");
  errors.add(curve(results, [](const auto& r) { return r.exact.gibbs_error; }), line(blue),
             "Gibbs, exact");
  errors.add(curve(results, [](const auto& r) { return r.exact.bayes_error; }), line(purple),
             "Bayes, exact");
  errors.add(curve(results, [](const auto& r) { return r.centre_error_billiard; }),
             points(purple, 8), "centre of mass");
  errors.add(curve(results, [](const auto& r) { return r.isotropic.bayes_error; }), line(green),
             "Bayes, isotropic");
  errors.add(curve(results, [](const auto& r) { return r.centroidal_error; }), points(green, 8),
             "centroidal");
  if (!digits.drawn && options.depth == 7) {
    bounds.add(published(&PublishedRates::rademacher), points(grey, 1), "as published");
    bounds.add(published(&PublishedRates::gibbs_bound), points(blue, 1), "as published");
    errors.add(published(&PublishedRates::gibbs), points(blue, 1), "as published");
    errors.add(published(&PublishedRates::interpolator), points(green, 1), "as published");
  }
  Lines at_margin(figure);
  const char* const shades[] = {"#9ECAE1", "#6BAED6", "#4292C6", "#2171B5", "#08519C", "#08306B"};
  std::vector<Eigen::Index> sizes;
  for (const InterpolationResult& result : results) {
    if (std::ranges::find(sizes, result.n) == sizes.end()) sizes.push_back(result.n);
  }
  for (std::size_t k = 0; k < std::min<std::size_t>(6, sizes.size()); ++k) {
    const std::size_t place = sizes.size() <= 6 ? k : k * (sizes.size() - 1) / 5;
    std::vector<std::vector<double>> rows;
    double interpolator = 0;
    for (std::size_t m = 0; m < margins().size(); ++m) {
      const auto mean = curve(results, [&](const InterpolationResult& r) {
        return r.n == sizes[place] ? r.gibbs_at_margin[m] : not_computed;
      });
      rows.push_back({margins()[m], mean.front()[1]});
    }
    interpolator = curve(results, [&](const InterpolationResult& r) {
                     return r.n == sizes[place] ? r.centroidal_error : not_computed;
                   }).front()[1];
    at_margin.add(rows, line(shades[k]), "n = " + std::to_string(sizes[place]));
    at_margin.add({{margins().front(), interpolator}, {margins().back(), interpolator}},
                  std::string("lines dashtype 3 linewidth 1 linecolor rgb '") + shades[k] + "'",
                  "");
  }

  auto& out = figure.commands();
  out << "set multiplot layout 1,3 margins 0.05,0.985,0.12,0.84 spacing 0.055,0 title '"
      << (digits.drawn ? "Drawn digits (not MNIST)" : "MNIST")
      << ", even against odd: kernel interpolators as Bayes point machines' font ',17'\n"
      << "set border 3 linecolor rgb '#404040'\nset tics nomirror\n"
      << "set grid linecolor rgb '#DCDCDC' linewidth 0.6\n"
      << "set key top right samplen 2 font ',11'\nset logscale y\n"
      << "set xlabel 'training digits'\nset ylabel '%' offset 1,0\n"
      << "set title 'bounds'\nset yrange [20:9000]\n"
      << "set ytics (20, 30, 50, 70, 100, 200, 500, 1000)\n"
      << bounds.text() << "\nset title 'test errors'\nset yrange [3:180]\n"
      << "set ytics (3, 4, 5, 7, 10, 15, 20, 30, 40)\n"
      << errors.text() << "\nset title 'Gibbs error of the NN-GP posterior at a margin'\n"
      << "set logscale x\nset xlabel 'normalised margin'\nset yrange [3:70]\n"
      << at_margin.text() << "\nunset multiplot\n";
  return figure;
}

}  // namespace bpm_examples
