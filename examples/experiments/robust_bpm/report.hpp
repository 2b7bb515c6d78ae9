// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "benchmark_sets.hpp"
#include "common/json_file.hpp"
#include "experiment.hpp"

/// \file
/// The results as JSON and on the screen.

namespace bpm_examples {

/// Whether the Bayes point errs no more than the paper's, up to one standard error of the
/// difference.
[[nodiscard]] inline bool reaches_paper(const TableRow& row) {
  const double room = std::hypot(row.bpm.error.standard_error, row.set->paper.bpm_se);
  return row.bpm.error.percent <= row.set->paper.bpm + room;
}

/// `p_value` is the t distribution's function at the paired t of SVM - BPM: near 1, BPM is better.
/// `svm` goes through the origin, as version space does; `svm_bias` has a bias. `..._not_separated`
/// counts splits: see `ClassifierResult`. `bounces` are those of the split that made fewest.
[[nodiscard]] inline Json table_json(const std::vector<TableRow>& rows) {
  Json list = Json::array();
  for (const TableRow& row : rows) {
    list.push_back({{"dataset", row.set->name},
                    {"sigma", row.set->sigma},
                    {"width", row.width},
                    {"lambda", row.lambda},
                    {"splits", row.splits},
                    {"train_size", row.train_size},
                    {"test_size", row.test_size},
                    {"bpm_error_percent", row.bpm.error.percent},
                    {"bpm_se", row.bpm.error.standard_error},
                    {"svm_error_percent", row.svm.error.percent},
                    {"svm_se", row.svm.error.standard_error},
                    {"svm_bias_error_percent", row.svm_bias.error.percent},
                    {"svm_bias_se", row.svm_bias.error.standard_error},
                    {"perceptron_error_percent", row.perceptron.error.percent},
                    {"perceptron_se", row.perceptron.error.standard_error},
                    {"t", row.test.t},
                    {"p_value", row.test.p_value},
                    {"p_two_sided", row.test.p_two_sided},
                    {"bpm_not_separated", row.bpm.not_separated},
                    {"svm_not_separated", row.svm.not_separated},
                    {"svm_bias_not_separated", row.svm_bias.not_separated},
                    {"perceptron_not_separated", row.perceptron.not_separated},
                    {"bounces", row.bounces},
                    {"centre_standard_error", row.centre_error},
                    {"warnings", row.chains.warnings()},
                    {"bpm_error_percent_of_splits", row.bpm_of_splits},
                    {"svm_error_percent_of_splits", row.svm_of_splits},
                    {"paper_bpm_error_percent", row.set->paper.bpm},
                    {"paper_bpm_se", row.set->paper.bpm_se},
                    {"paper_svm_error_percent", row.set->paper.svm},
                    {"paper_svm_se", row.set->paper.svm_se},
                    {"seconds", row.seconds}});
  }
  return list;
}

[[nodiscard]] inline Json figure_json(const std::vector<FigurePoint>& points) {
  Json list = Json::array();
  for (const FigurePoint& point : points) {
    list.push_back({{"dataset", point.dataset},
                    {"lambda", point.lambda},
                    {"bpm_error_percent", point.bpm.error.percent},
                    {"bpm_se", point.bpm.error.standard_error},
                    {"svm_error_percent", point.svm.error.percent},
                    {"svm_se", point.svm.error.standard_error},
                    {"bpm_not_separated", point.bpm.not_separated},
                    {"svm_not_separated", point.svm.not_separated},
                    {"warnings", point.chains.warnings()}});
  }
  return list;
}

namespace report_detail {

/// "22.83 (0.34)".
[[nodiscard]] inline std::string with_error(double percent, double standard_error) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << percent << " (" << standard_error << ')';
  return text.str();
}

[[nodiscard]] inline std::string with_error(const MeanError& error) {
  return error.splits == 0 ? "none" : with_error(error.percent, error.standard_error);
}

[[nodiscard]] inline std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

inline void note(std::ostream& out, const TableRow& row, const char* who,
                 const ClassifierResult& result, const char* what) {
  if (result.not_separated > 0) {
    out << "  " << row.set->name << ": " << who << ' ' << what << ' ' << result.not_separated
        << " of " << row.splits << " splits\n";
  }
}

}  // namespace report_detail

/// What the columns mean; before the first row.
inline void print_table_head(std::ostream& out, const RobustOptions& options) {
  out << "Test errors in percent, means over " << options.splits
      << " random splits, standard errors of the means in brackets.\n"
         "Kernel exp(-|x - x'|^2 / "
      << (options.convention == WidthConvention::sigma2 ? "sigma^2" : "(2 sigma^2)") << "), lambda "
      << options.lambda
      << ". BPM: billiard; SVM: LIBSVM, hard margin, through the origin; SVM+b: with a bias;\n"
         "PKP: permuted perceptrons; p: Student's distribution function at the paired t of SVM - "
         "BPM.\n\n"
      << std::left << std::setw(12) << "set" << std::right << std::setw(6) << "sigma"
      << std::setw(10) << "rows" << std::setw(14) << "SVM" << std::setw(14) << "BPM" << std::setw(8)
      << "t" << std::setw(8) << "p" << std::setw(14) << "SVM+b" << std::setw(14) << "PKP"
      << std::setw(15) << "paper's SVM" << std::setw(14) << "BPM" << std::setw(9) << "seconds"
      << '\n'
      << std::flush;
}

inline void print_table_row(std::ostream& out, const TableRow& row) {
  using report_detail::fixed;
  using report_detail::with_error;
  std::ostringstream text;
  const PaperResult& paper = row.set->paper;
  text << std::left << std::setw(12) << row.set->name << std::right << std::setw(6)
       << row.set->sigma << std::setw(10)
       << std::to_string(row.train_size) + "/" + std::to_string(row.test_size) << std::setw(14)
       << with_error(row.svm.error) << std::setw(14) << with_error(row.bpm.error) << std::setw(8)
       << fixed(row.test.t, 1) << std::setw(8) << fixed(row.test.p_value, 3) << std::setw(14)
       << with_error(row.svm_bias.error) << std::setw(14) << with_error(row.perceptron.error)
       << std::setw(15) << with_error(paper.svm, paper.svm_se) << std::setw(14)
       << with_error(paper.bpm, paper.bpm_se) << std::setw(9) << fixed(row.seconds, 1) << '\n';
  out << text.str() << std::flush;
}

/// How far the table agrees with the paper's, and which splits were not separated.
inline void print_table_end(std::ostream& out, const std::vector<TableRow>& rows) {
  std::ostringstream text;
  std::size_t reached = 0;
  std::size_t better = 0;
  for (const TableRow& row : rows) {
    reached += reaches_paper(row) ? 1U : 0U;
    better += row.test.p_value > 0.95 ? 1U : 0U;
  }
  text << "\nBPM at most the paper's + 1 standard error of the difference: " << reached << " of "
       << rows.size() << " sets; below the SVM, paired, p > 0.95: " << better << " of "
       << rows.size() << " sets\n";
  std::ostringstream notes;
  for (const TableRow& row : rows) {
    using report_detail::note;
    note(notes, row, "BPM", row.bpm, "found no version space and is left out in");
    note(notes, row, "PKP", row.perceptron, "found no version space and is left out in");
    note(notes, row, "SVM", row.svm, "ends with training errors in");
    note(notes, row, "SVM+b", row.svm_bias, "ends with training errors in");
  }
  if (!notes.str().empty()) {
    text << "Not separated:\n" << notes.str();
  }
  out << text.str() << std::flush;
}

inline void print_figure(std::ostream& out, const std::vector<FigurePoint>& points) {
  using report_detail::with_error;
  std::ostringstream text;
  std::string dataset;
  for (const FigurePoint& point : points) {
    if (point.dataset != dataset) {
      dataset = point.dataset;
      text << '\n'
           << dataset << ": test errors in percent, means over "
           << point.bpm.error.splits + point.bpm.not_separated
           << " splits, standard errors in brackets\n"
           << std::setw(10) << "lambda" << std::setw(14) << "SVM" << std::setw(14) << "BPM" << '\n';
    }
    text << std::setw(10) << point.lambda << std::setw(14) << with_error(point.svm.error)
         << std::setw(14) << with_error(point.bpm.error);
    if (point.bpm.not_separated > 0) {
      text << "   no version space found in " << point.bpm.not_separated << " splits";
    }
    if (point.svm.not_separated > 0) {
      text << "   SVM with training errors in " << point.svm.not_separated << " splits";
    }
    text << '\n';
  }
  out << text.str() << std::flush;
}

}  // namespace bpm_examples
