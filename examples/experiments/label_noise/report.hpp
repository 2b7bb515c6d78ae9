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
#include "experiment.hpp"

/// \file
/// The results in three forms: text, JSON and a figure.

namespace bpm_examples {

/// One entry per set and q. `p_value` is Student's distribution function at the paired t of SVM -
/// Gibbs: near 1, the Gibbs sampler is better.
[[nodiscard]] inline Json noise_json(const std::vector<NoiseSetResult>& sets,
                                     const NoiseOptions& options) {
  Json list = Json::array();
  for (const NoiseSetResult& set : sets) {
    for (const NoiseResult& level : set.levels) {
      list.push_back({{"dataset", set.name},
                      {"noise", level.noise},
                      {"splits", options.splits},
                      {"train_size", set.train_size},
                      {"test_size", set.test_size},
                      {"flipped", set.flipped},
                      {"gibbs_error_percent", level.error_percent.value},
                      {"gibbs_se", level.error_percent.standard_error},
                      {"svm_error_percent", set.svm_error_percent.value},
                      {"svm_se", set.svm_error_percent.standard_error},
                      {"svm_cost", set.svm_cost},
                      {"t", level.test.t},
                      {"p_value", level.test.p_value},
                      {"p_two_sided", level.test.p_two_sided},
                      {"training_errors_percent", 100 * level.training_errors},
                      {"log_evidence", level.log_evidence},
                      {"log_evidence_se", level.log_evidence_se},
                      {"evidence_splits", options.evidence_splits},
                      {"largest_evidence", &level == &set.levels[set.best]},
                      {"warnings", level.chains.warnings()}});
    }
  }
  return list;
}

/// A table a set.
inline void print_noise(std::ostream& out, const std::vector<NoiseSetResult>& sets,
                        const NoiseOptions& options) {
  std::ostringstream text;
  text << "Test errors in percent on labels that are not flipped, means over " << options.splits
       << " splits, standard errors in brackets.\n"
          "Gibbs: the centre of mass under label noise q. SVM: LIBSVM, C by five-fold "
          "cross-validation on the noisy labels.\n"
          "p: Student's distribution function at the paired t of SVM - Gibbs. Evidence: log, mean "
          "of "
       << options.evidence_splits << (options.evidence_splits == 1 ? " split" : " splits")
       << ", less the largest.\n";
  for (const NoiseSetResult& set : sets) {
    text << '\n'
         << set.name << ": " << set.train_size << " training points, " << set.flipped
         << " labels flipped (" << std::fixed << std::setprecision(1)
         << 100.0 * static_cast<double>(set.flipped) / static_cast<double>(set.train_size)
         << " %), " << set.test_size << " test points; SVM " << std::setprecision(2)
         << set.svm_error_percent.value << " (" << set.svm_error_percent.standard_error
         << "), median C " << std::defaultfloat << set.svm_cost << '\n'
         << std::setw(8) << "q" << std::setw(16) << "Gibbs" << std::setw(8) << "t" << std::setw(8)
         << "p" << std::setw(20) << "training errors %" << std::setw(20) << "evidence" << '\n';
    for (const NoiseResult& level : set.levels) {
      std::ostringstream error;
      error << std::fixed << std::setprecision(2) << level.error_percent.value << " ("
            << level.error_percent.standard_error << ')';
      std::ostringstream evidence;
      evidence << std::fixed << std::setprecision(1)
               << level.log_evidence - set.levels[set.best].log_evidence << " ("
               << level.log_evidence_se << ')';
      text << std::setw(8) << std::defaultfloat << level.noise << std::setw(16) << error.str()
           << std::fixed << std::setprecision(1) << std::setw(8) << level.test.t
           << std::setprecision(3) << std::setw(8) << level.test.p_value << std::setprecision(1)
           << std::setw(20) << 100 * level.training_errors << std::setw(20) << evidence.str()
           << (&level == &set.levels[set.best] ? "  largest" : "") << '\n';
    }
  }
  out << text.str() << std::flush;
}

/// Errors above, evidence below, one column a set.
[[nodiscard]] inline FigureScript noise_figure(const std::vector<NoiseSetResult>& sets,
                                               const NoiseOptions& options) {
  FigureScript figure;
  auto& out = figure.commands();
  out << "set multiplot layout 2," << sets.size() << " columnsfirst margins "
      << (sets.size() == 1 ? 0.15 : 0.065) << ",0.985,0.1,0.93 spacing 0.065,0.06\n"
      << "set border 3 linecolor rgb '#404040'\n"
      << "set tics nomirror\n"
      << "set grid ytics linecolor rgb '#DCDCDC' linewidth 0.6\n"
      << "set logscale x\nset xrange [0.008:0.25]\n"
      << "set xtics (";
  for (std::size_t k = 0; k < noise_levels.size(); ++k) {
    out << (k > 0 ? ", " : "") << '\'' << noise_levels[k] << "' " << noise_levels[k];
  }
  out << ")\n";
  if (options.flipped > 0) {
    out << "set arrow 1 from " << options.flipped << ",graph 0 to " << options.flipped
        << ",graph 1 nohead back dashtype 3 linewidth 1.5 linecolor rgb '#909090'\n";
  }
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const NoiseSetResult& set = sets[s];
    std::vector<std::vector<double>> errors;
    std::vector<std::vector<double>> evidence;
    double lowest = set.svm_error_percent.value - set.svm_error_percent.standard_error;
    double highest = set.svm_error_percent.value + set.svm_error_percent.standard_error;
    double least = 0;
    for (const NoiseResult& level : set.levels) {
      const SplitMean& error = level.error_percent;
      errors.push_back({level.noise, error.value, error.standard_error});
      lowest = std::min(lowest, error.value - error.standard_error);
      highest = std::max(highest, error.value + error.standard_error);
      const double below = level.log_evidence - set.levels[set.best].log_evidence;
      evidence.push_back({level.noise, below, level.log_evidence_se});
      least = std::min(least, below - level.log_evidence_se);
    }
    const double svm = set.svm_error_percent.value;
    const double se = set.svm_error_percent.standard_error;
    const std::string band =
        figure.add_data({{0.008, svm - se, svm + se}, {0.25, svm - se, svm + se}});
    const double room = std::max(0.1, highest - lowest);
    out << "set title " << plot_detail::gnuplot_string(set.name) << " font ',17'\n"
        << "set key " << (s == 0 ? "top right Left reverse samplen 2" : "off") << '\n'
        << "set format x ''\nset xlabel ''\n"
        << "set ylabel " << (s == 0 ? "'test error (%), one standard error'" : "''") << '\n'
        << "set yrange [" << std::max(0.0, lowest - 0.1 * room) << ':'
        << highest + (s == 0 ? 0.5 : 0.1) * room << "]\n"
        << "plot " << band
        << " using 1:2:3 with filledcurves fillstyle transparent solid 0.2 noborder linecolor rgb "
           "'#D55E00' notitle, "
        << svm << " with lines linewidth 1.8 linecolor rgb '#D55E00' title 'SVM, C by "
        << "cross-validation', " << figure.add_data(errors)
        << " using 1:2:3 with yerrorlines pointtype 7 pointsize 0.8 linewidth 1.6 linecolor rgb "
           "'#0072B2' title 'kernel Gibbs with noise q'";
    if (options.flipped > 0) {
      out << ", NaN with lines dashtype 3 linewidth 1.5 linecolor rgb '#909090' title 'labels "
             "flipped'";
    }
    out << '\n'
        << "set title ''\nset key off\n"
        << "set format x '%g'\nset xlabel 'q'\n"
        << "set ylabel " << (s == 0 ? "'log evidence, less the largest'" : "''") << '\n'
        << "set yrange [" << 1.08 * std::min(least, -1.0) << ':' << -0.08 * std::min(least, -1.0)
        << "]\n"
        << "plot " << figure.add_data(evidence)
        << " using 1:2:3 with yerrorlines pointtype 7 pointsize 0.8 linewidth 1.6 linecolor rgb "
           "'#009E73' notitle\n";
  }
  out << "unset multiplot\n";
  return figure;
}

}  // namespace bpm_examples
