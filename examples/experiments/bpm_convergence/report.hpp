// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "common/figure.hpp"
#include "common/json_file.hpp"
#include "experiment.hpp"
#include "paper.hpp"

/// \file
/// The results in three forms: text, JSON and a figure.

namespace bpm_examples {

/// The rows under the keys that all runs share; accuracies in percent.
[[nodiscard]] inline Json results_json(const std::vector<ResultRow>& rows) {
  Json list = Json::array();
  for (const ResultRow& row : rows) {
    list.push_back({{"table", row.table.number},
                    {"dimension", row.table.dimension},
                    {"distribution", row.table.distribution()},
                    {"kernel", row.table.kernel()},
                    {"bounces", row.bounces},
                    {"svm_accuracy", row.svm_accuracy.mean},
                    {"svm_sd", row.svm_accuracy.deviation},
                    {"bpm_accuracy", row.bpm_accuracy.mean},
                    {"bpm_sd", row.bpm_accuracy.deviation},
                    {"d_svm", row.d_svm},
                    {"lambda_max", row.lambda_max},
                    {"n_support_vectors", row.support_vectors},
                    {"delta_alpha", row.delta_alpha},
                    {"flight", row.flight}});
  }
  return list;
}

namespace report_detail {

/// "uniform data in 5 dimensions, kernel <x, x'> + 1"
[[nodiscard]] inline std::string describe(const TableSettings& table) {
  return table.distribution() + " data in " + std::to_string(table.dimension) +
         " dimensions, kernel " + (table.gaussian ? "exp(-|x - x'|^2 / 2)" : "<x, x'> + 1");
}

/// One line: a name, the accuracies, then four numbers.
inline void print_line(std::ostream& out, const std::string& name, const Spread& svm,
                       const Spread& bpm, const std::array<double, 4>& numbers) {
  const auto accuracy = [&out](const Spread& spread) {
    out << std::fixed << std::setprecision(2) << std::setw(9) << spread.mean << " +- "
        << std::setw(5) << spread.deviation;
  };
  out << "  " << std::left << std::setw(10) << name << std::right;
  accuracy(svm);
  accuracy(bpm);
  out << std::setprecision(4) << std::setw(9) << numbers[0] << std::setw(11) << numbers[1]
      << std::setprecision(1) << std::setw(7) << numbers[2] << std::scientific
      << std::setprecision(1) << std::setw(11) << numbers[3] << '\n';
}

}  // namespace report_detail

/// The paper's tables, its numbers beside ours: one line for the paper, one a flight.
inline void print_tables(std::ostream& out, const std::vector<ResultRow>& rows) {
  std::ostringstream text;
  int table = 0;
  std::uint64_t bounces = 0;
  for (const ResultRow& row : rows) {
    if (row.table.number != table) {
      text << (table == 0 ? "" : "\n") << "Table " << row.table.number << ": "
           << report_detail::describe(row.table) << "\n   bounces             SVM %"
           << "             BPM %    d_svm lambda_max    SVs delta_alpha\n";
    }
    if (row.table.number != table || row.bounces != bounces) {
      text << std::setw(10) << row.bounces << '\n';
      if (const auto paper = find_paper_row(row.table.number, row.bounces)) {
        report_detail::print_line(
            text, "paper", {paper->svm_accuracy, paper->svm_deviation},
            {paper->bpm_accuracy, paper->bpm_deviation},
            {paper->d_svm, paper->lambda_max, paper->support_vectors, paper->delta_alpha});
      }
    }
    table = row.table.number;
    bounces = row.bounces;
    report_detail::print_line(text, row.flight, row.svm_accuracy, row.bpm_accuracy,
                              {row.d_svm, row.lambda_max, row.support_vectors, row.delta_alpha});
  }
  out << text.str();
}

/// Figures 2 and 3 of the paper in one: the change of alpha against the number of bounces, on a
/// logarithmic scale, both flights in each of four panels.
[[nodiscard]] inline FigureScript convergence_figure(const std::vector<BouncePanel>& panels) {
  FigureScript figure;
  auto& out = figure.commands();
  out << "set multiplot layout 2,2 margins 0.085,0.98,0.085,0.95 spacing 0.075,0.11\n"
      << "set border 3 linecolor rgb '#404040' linewidth 1\n"
      << "set tics nomirror\n"
      << "set grid linecolor rgb '#DCDCDC' linewidth 0.6\n"
      << "set logscale y\n"
      << "set format y '10^{%T}'\n"
      << "set format x '%.0s%c'\n"
      << "set xtics autofreq\n";
  double low = 1;
  double high = 1e-12;
  for (const BouncePanel& panel : panels) {
    for (const auto& line : panel.delta_alpha) {
      for (const double value : line) {
        if (value > 0) {
          low = std::min(low, value);
          high = std::max(high, value);
        }
      }
    }
  }
  // One scale for all panels, whole powers of ten.
  out << "set yrange [" << std::pow(10.0, std::floor(std::log10(low))) << ':'
      << std::pow(10.0, std::ceil(std::log10(high))) << "]\n";
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const BouncePanel& panel = panels[p];
    out << "set title "
        << plot_detail::gnuplot_string(std::to_string(panel.table.dimension) + " dimensions, " +
                                       (panel.table.gaussian ? "exp(-|x−x′|²/2)" : "⟨x,x′⟩ + 1") +
                                       ", " + std::to_string(panel.support_vectors) +
                                       " support vectors of 60")
        << " noenhanced font ',14' offset 0,-0.4\n"
        << "set xlabel " << (p >= 2 ? "'bounces'" : "''") << '\n'
        << "set ylabel " << (p % 2 == 0 ? "'change of α a bounce'" : "''") << '\n'
        << (p == 0 ? "set key top right Left reverse samplen 2 font ',13'\n" : "unset key\n");
    std::array<std::string, 2> lines;
    for (std::size_t f = 0; f < lines.size(); ++f) {
      std::vector<std::vector<double>> points;
      for (std::size_t i = 0; i < panel.bounces.size(); ++i) {
        points.push_back({panel.bounces[i], panel.delta_alpha[f][i]});
      }
      lines[f] = figure.add_data(points) + " using 1:2 with lines linewidth 1.6 linecolor rgb '" +
                 std::string(plot_detail::colours[f == 0 ? 1 : 0]) + "' title '" + flight_names[f] +
                 " flight'";
    }
    out << "plot " << lines[0] << ", " << lines[1] << '\n';
  }
  out << "unset multiplot\n";
  return figure;
}

}  // namespace bpm_examples
