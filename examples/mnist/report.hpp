// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bpm/decision/error_reject_curve.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"

/// \file
/// What the mnist program reports, as plain data, and its three forms: text, JSON and a plot.

namespace bpm_examples {

/// One line of a rejection table, in percent.
struct RejectionRow {
  double rate_percent = 0;
  double error_percent = 0;  ///< Of the digits that are not rejected.
};

/// Figure 2 of R. Herbrich, T. Graepel, "Large Scale Bayes Point Machines": the error in percent at
/// rejection rates 0, 1, ..., 10 %.
inline constexpr std::array<double, 11> kPaperErrors{1.46, 1.10, 0.87, 0.67, 0.49, 0.37,
                                                     0.32, 0.26, 0.21, 0.14, 0.11};

/// The results of a run. Seconds are wall clock unless they say otherwise.
struct MnistReport {
  std::string source;  ///< For the screen: which files, or why drawn digits.
  bool drawn = false;  ///< Not MNIST.
  std::int64_t train_size = 0;
  std::int64_t test_size = 0;
  std::int64_t draws = 0;
  std::uint64_t seed = 0;
  int threads = 0;
  std::string sampler;
  std::string kernel;
  std::string input;     ///< "float" or "byte"
  std::string strategy;  ///< "dense", "windowed" or "windowed+rows"
  double read_seconds = 0;
  double train_seconds = 0;
  double kernel_seconds = 0;  ///< Thread-seconds over threads.
  double predict_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t kernel_evaluations = 0;
  std::uint64_t useful_evaluations = 0;
  std::uint64_t mistakes = 0;
  double passes_mean = 0;
  std::uint64_t support_union = 0;
  std::uint64_t training_errors = 0;
  double test_error_percent = 0;
  double single_draw_error_percent = 0;
  std::vector<RejectionRow> rejection;      ///< By the largest output.
  std::vector<RejectionRow> rejection_gap;  ///< By the gap between the best two outputs.
  std::optional<double> floor_seconds;
  std::optional<double> predict_floor_seconds;
  std::string model_digest;
};

/// The errors left at rejection rates 0, 1, ..., 10 %; `correct[i]` says whether test digit i was
/// recognised. Throws `std::invalid_argument` as `bpm::error_reject_curve`.
[[nodiscard]] inline std::vector<RejectionRow> rejection_rows(std::span<const double> scores,
                                                              const std::vector<bool>& correct) {
  std::vector<double> rates;
  for (std::size_t percent = 0; percent < kPaperErrors.size(); ++percent) {
    rates.push_back(static_cast<double>(percent) / 100);
  }
  std::vector<RejectionRow> rows;
  for (const auto& point : bpm::error_reject_curve(scores, correct, rates)) {
    rows.push_back({static_cast<double>(rows.size()), 100 * point.error});
  }
  return rows;
}

/// The report under the keys that all runs share.
[[nodiscard]] inline Json report_json(const MnistReport& report) {
  const auto rows = [](const std::vector<RejectionRow>& table) {
    Json list = Json::array();
    for (const auto& row : table) {
      list.push_back({{"rate_percent", row.rate_percent}, {"error_percent", row.error_percent}});
    }
    return list;
  };
  Json json;
  json["data"] = report.drawn ? "drawn" : "mnist";
  json["train_size"] = report.train_size;
  json["test_size"] = report.test_size;
  json["draws"] = report.draws;
  json["seed"] = report.seed;
  json["threads"] = report.threads;
  json["sampler"] = report.sampler;
  json["kernel"] = report.kernel;
  json["input"] = report.input;
  json["strategy"] = report.strategy;
  json["read_seconds"] = report.read_seconds;
  json["train_seconds"] = report.train_seconds;
  json["kernel_seconds"] = report.kernel_seconds;
  json["predict_seconds"] = report.predict_seconds;
  json["peak_memory_bytes"] = report.peak_memory_bytes;
  json["kernel_evaluations"] = report.kernel_evaluations;
  json["useful_evaluations"] = report.useful_evaluations;
  json["mistakes"] = report.mistakes;
  json["passes_mean"] = report.passes_mean;
  json["support_union"] = report.support_union;
  json["training_errors"] = report.training_errors;
  json["test_error_percent"] = report.test_error_percent;
  json["single_draw_error_percent"] = report.single_draw_error_percent;
  json["rejection"] = rows(report.rejection);
  json["rejection_gap"] = rows(report.rejection_gap);
  if (report.floor_seconds) {
    json["floor_seconds"] = *report.floor_seconds;
  }
  if (report.predict_floor_seconds) {
    json["predict_floor_seconds"] = *report.predict_floor_seconds;
  }
  json["model_digest"] = report.model_digest;
  return json;
}

/// The table of errors and rejection rates. The paper's column stands beside results on MNIST only.
inline void print_rejection(std::ostream& out, const MnistReport& report) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2);
  text << "rejected %   error % by largest output   by gap" << (report.drawn ? "" : "   paper")
       << '\n';
  for (std::size_t i = 0; i < report.rejection.size(); ++i) {
    text << std::setw(10) << std::setprecision(0) << report.rejection[i].rate_percent
         << std::setprecision(2) << std::setw(28) << report.rejection[i].error_percent;
    if (i < report.rejection_gap.size()) {
      text << std::setw(9) << report.rejection_gap[i].error_percent;
    }
    if (!report.drawn && i < kPaperErrors.size()) {
      text << std::setw(8) << kPaperErrors[i];
    }
    text << '\n';
  }
  if (!report.drawn && (report.train_size != 60000 || report.test_size != 10000)) {
    text << "The paper's errors are for 60000 training and 10000 test digits.\n";
  }
  out << text.str();
}

/// The whole report for the screen.
inline void print_report(std::ostream& out, const MnistReport& report) {
  std::ostringstream text;
  const auto percent = [](double value) {
    std::ostringstream number;
    number << std::fixed << std::setprecision(2) << value << " %";
    return number.str();
  };
  const auto seconds = [](double value) {
    std::ostringstream number;
    number << std::fixed << std::setprecision(value < 10 ? 2 : 1) << value << " s";
    return number.str();
  };
  const auto line = [&text](const std::string& name) -> std::ostream& {
    return text << std::left << std::setw(16) << name << std::right;
  };
  line("data") << report.source << '\n';
  line("sizes") << report.train_size << " training digits, " << report.test_size
                << " test digits\n";
  line("method") << report.sampler << ", " << report.draws << " draws a class, kernel "
                 << report.kernel << ", " << report.input << " inputs, seed " << report.seed
                 << ", threads " << report.threads << '\n';
  line("time") << "read " << seconds(report.read_seconds) << ", train "
               << seconds(report.train_seconds) << " (kernel values "
               << seconds(report.kernel_seconds) << ", " << report.strategy << "), predict "
               << seconds(report.predict_seconds) << '\n';
  if (report.floor_seconds) {
    line("floor") << "train " << seconds(*report.floor_seconds);
    if (report.predict_floor_seconds) {
      text << ", predict " << seconds(*report.predict_floor_seconds);
    }
    text << ", the time of the matrix products alone at their best rate\n";
  }
  line("peak memory") << (report.peak_memory_bytes + (1U << 19U)) / (1U << 20U) << " MiB\n";
  line("kernel values") << report.kernel_evaluations << ", of them useful "
                        << report.useful_evaluations << '\n';
  line("training") << report.mistakes << " mistakes in all, " << std::fixed << std::setprecision(1)
                   << report.passes_mean << " passes on average, " << report.support_union
                   << " support points, " << report.training_errors << " errors left\n";
  line("test error") << percent(report.test_error_percent) << " of the Bayes points, "
                     << percent(report.single_draw_error_percent) << " of single draws\n";
  line("model digest") << report.model_digest << "\n\n";
  out << text.str();
  print_rejection(out, report);
}

/// Error against rejection rate, by both scores; on MNIST beside the paper's.
[[nodiscard]] inline Plot rejection_plot(const MnistReport& report) {
  const auto series = [](std::string title, const std::vector<RejectionRow>& rows) {
    PlotSeries result;
    result.title = std::move(title);
    for (const auto& row : rows) {
      result.x.push_back(row.rate_percent);
      result.y.push_back(row.error_percent);
    }
    return result;
  };
  Plot plot;
  plot.title = (report.drawn ? "Drawn digits (not MNIST), " : "MNIST, ") +
               std::to_string(report.train_size) + " training digits, " +
               std::to_string(report.draws) + " draws a class";
  plot.x_label = "rejected test digits (%)";
  plot.y_label = "errors among the accepted (%)";
  plot.y_from = 0;
  plot.series.push_back(series("rejected by largest output", report.rejection));
  plot.series.push_back(series("rejected by gap of the best two", report.rejection_gap));
  if (!report.drawn) {
    PlotSeries paper;
    paper.title = "Herbrich and Graepel, largest output";
    paper.reference = true;
    for (std::size_t i = 0; i < kPaperErrors.size(); ++i) {
      paper.x.push_back(static_cast<double>(i));
      paper.y.push_back(kPaperErrors[i]);
    }
    plot.series.push_back(std::move(paper));
  }
  return plot;
}

}  // namespace bpm_examples
