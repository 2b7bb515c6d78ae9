// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/figure.hpp"
#include "common/plot.hpp"
#include "experiment.hpp"

/// \file
/// What --plot draws.

namespace bpm_examples {

namespace pictures_detail {

inline constexpr const char* bpm_colour = "#0072B2";
inline constexpr const char* svm_colour = "#D55E00";

inline void set_up(FigureScript& figure) {
  figure.commands() << "set border 3 linecolor rgb '#404040'\n"
                       "set tics nomirror\n"
                       "set grid ytics linecolor rgb '#D0D0D0' linewidth 0.5\n"
                       "set key top right Left reverse\n";
}

}  // namespace pictures_detail

/// Table 1 as a picture: errors of both classifiers, ours filled, the paper's open, two standard
/// errors to each side.
[[nodiscard]] inline FigureScript table_picture(const std::vector<TableRow>& rows) {
  using plot_detail::gnuplot_string;
  FigureScript figure;
  std::vector<std::vector<double>> svm;
  std::vector<std::vector<double>> bpm;
  std::vector<std::vector<double>> paper_svm;
  std::vector<std::vector<double>> paper_bpm;
  std::string names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto x = static_cast<double>(i);
    const TableRow& row = rows[i];
    const PaperResult& paper = row.set->paper;
    svm.push_back({x - 0.24, row.svm.error.percent, 2 * row.svm.error.standard_error});
    paper_svm.push_back({x - 0.10, paper.svm, 2 * paper.svm_se});
    bpm.push_back({x + 0.10, row.bpm.error.percent, 2 * row.bpm.error.standard_error});
    paper_bpm.push_back({x + 0.24, paper.bpm, 2 * paper.bpm_se});
    names += i == 0 ? "" : ", ";
    names += gnuplot_string(std::string(row.set->name)) + ' ' + std::to_string(i);
  }
  pictures_detail::set_up(figure);
  const auto series = [](const std::string& data, int shape, const char* colour,
                         const std::string& title) {
    return data + " using 1:2:3 with yerrorbars pointtype " + std::to_string(shape) +
           " pointsize 0.9 linewidth 1.5 linecolor rgb '" + colour + "' title " +
           gnuplot_string(title);
  };
  using pictures_detail::bpm_colour;
  using pictures_detail::svm_colour;
  const std::string data_svm = figure.add_data(svm);
  const std::string data_paper_svm = figure.add_data(paper_svm);
  const std::string data_bpm = figure.add_data(bpm);
  const std::string data_paper_bpm = figure.add_data(paper_bpm);
  figure.commands() << "set title 'Hard margin and centre of version space: test errors'\n"
                    << "set ylabel 'test error (%), bars: two standard errors'\n"
                    << "set yrange [0:*]\n"
                    << "set xrange [-0.6:" << static_cast<double>(rows.size()) - 0.4 << "]\n"
                    << "set xtics (" << names << ")\n"
                    << "plot " << series(data_svm, 5, svm_colour, "SVM") << ", "
                    << series(data_paper_svm, 4, svm_colour, "SVM, paper") << ", "
                    << series(data_bpm, 7, bpm_colour, "BPM") << ", "
                    << series(data_paper_bpm, 6, bpm_colour, "BPM, paper") << '\n';
  return figure;
}

/// Figure 2: error against lambda, one panel a set, side by side. lambda = 0 has no place on the
/// axis; its errors are the dashed lines.
[[nodiscard]] inline FigureScript lambda_picture(const std::vector<FigurePoint>& points) {
  using pictures_detail::bpm_colour;
  using pictures_detail::svm_colour;
  struct Panel {
    std::string name;
    std::string svm;
    std::string bpm;
    const FigurePoint* hard = nullptr;
  };
  FigureScript figure;
  std::vector<Panel> panels;
  for (std::size_t begin = 0; begin < points.size();) {
    std::vector<std::vector<double>> svm;
    std::vector<std::vector<double>> bpm;
    Panel panel;
    panel.name = points[begin].dataset;
    for (; begin < points.size() && points[begin].dataset == panel.name; ++begin) {
      const FigurePoint& point = points[begin];
      if (point.lambda == 0) {
        panel.hard = &point;
        continue;
      }
      svm.push_back({point.lambda, point.svm.error.percent, point.svm.error.standard_error});
      bpm.push_back({point.lambda, point.bpm.error.percent, point.bpm.error.standard_error});
    }
    panel.svm = figure.add_data(svm);
    panel.bpm = figure.add_data(bpm);
    panels.push_back(panel);
  }
  pictures_detail::set_up(figure);
  figure.commands() << "set logscale x\nset format x '10^{%T}'\nset xlabel 'lambda'\n"
                       "set ylabel 'test error (%), bars: one standard error'\n"
                    << "set multiplot layout 1," << panels.size() << '\n';
  for (const Panel& panel : panels) {
    const auto series = [&](const std::string& data, int shape, const char* colour,
                            const char* title) {
      figure.commands() << data << " using 1:2:3 with yerrorlines pointtype " << shape
                        << " pointsize 0.8 linewidth 1.5 linecolor rgb '" << colour << "' title '"
                        << title << "'";
    };
    figure.commands() << "set title " << plot_detail::gnuplot_string(panel.name) << "\nplot ";
    series(panel.svm, 5, svm_colour, "SVM on K + lambda");
    figure.commands() << ", ";
    series(panel.bpm, 7, bpm_colour, "BPM on K + lambda");
    if (panel.hard != nullptr) {
      figure.commands() << ", " << panel.hard->svm.error.percent
                        << " with lines dashtype 2 linecolor rgb '" << svm_colour
                        << "' title 'SVM, lambda = 0', " << panel.hard->bpm.error.percent
                        << " with lines dashtype 2 linecolor rgb '" << bpm_colour
                        << "' title 'BPM, lambda = 0'";
    }
    figure.commands() << '\n';
  }
  figure.commands() << "unset multiplot\n";
  return figure;
}

}  // namespace bpm_examples
