// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
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

#include "bpm/decision/evaluation.hpp"
#include "common/chain_check.hpp"
#include "common/digest.hpp"
#include "common/error_limits.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "judged_digit.hpp"

/// \file
/// What the mnist program reports, as plain data, and its three forms: text, JSON and a plot.

namespace bpm_examples {

/// By which score of the outputs digits are rejected.
enum class RejectionScore { largest, gap };

/// One line of a rejection table, in percent.
struct RejectionRow {
  double rate_percent = 0;
  double error_percent = 0;  ///< Of the digits that are not rejected.
};

/// Figure 2 of R. Herbrich, T. Graepel, "Large Scale Bayes Point Machines": the error in percent at
/// rejection rates 0, 1, ..., 10 %.
inline constexpr std::array<double, 11> paper_errors{1.46, 1.10, 0.87, 0.67, 0.49, 0.37,
                                                     0.32, 0.26, 0.21, 0.14, 0.11};

/// Bytes of working memory, known before they are taken. The inputs come on top.
struct MemoryPlan {
  std::size_t budget = 0;
  std::size_t dense = 0;     ///< With the whole kernel matrix.
  std::size_t windowed = 0;  ///< With windowed evaluation.
  std::size_t inputs = 0;
};

/// What is guaranteed of digits that are accepted, and what the test digits did.
struct Guarantee {
  double risk_percent = 0;
  double delta = 0;
  std::optional<double> threshold;  ///< On the gap of the best two; absent: not with these digits.
  double calibration_coverage_percent = 0;
  double coverage_percent = 0;
  double error_percent = 0;  ///< Of the test digits accepted.
};

/// Settings and results of a run. Seconds are wall clock unless they say otherwise.
struct MnistReport {
  std::string source;          ///< For the screen: which files, or why drawn digits.
  std::string data = "mnist";  ///< "drawn" or "images" if it is not MNIST.
  bool even_odd = false;       ///< Two classes, in the place of the paper's ten.
  std::int64_t train_size = 0;
  std::int64_t test_size = 0;
  std::int64_t draws_wanted = 0;
  std::int64_t draws = 0;  ///< Fewer than wanted where the run was stopped.
  std::uint64_t seed = 0;
  int threads = 0;
  std::string sampler;
  std::string kernel;                ///< As on the command line.
  std::string kernel_formula;        ///< With its parameters.
  std::string input;                 ///< "float" or "byte"
  bool normalise = false;            ///< Inputs scaled to unit norm, else pixels / 255.
  std::string features;              ///< "pixels" or "gradient"
  bool slant_removal = false;        ///< Before anything else.
  std::int64_t feature_numbers = 0;  ///< An image.
  double features_seconds = 0;       ///< In `train_seconds` and `predict_seconds`.
  std::string copies_by;             ///< Of virtual examples; empty: none.
  std::int64_t virtual_copies = 0;   ///< A training image and draw.
  std::int64_t points_seen = 0;      ///< By a draw.
  std::optional<double> fresh_copies_error_percent;  ///< Of copies that no draw has seen.
  int fold = 0;                                      ///< Of training digits, in place of a test.
  std::optional<double> lambda;
  std::optional<double> lambda_relative;
  bool lambda_chosen = false;  ///< By folds.
  MemoryPlan memory;
  std::string strategy;  ///< "dense", "windowed", "linear"
  double read_seconds = 0;
  double train_seconds = 0;
  double kernel_seconds = 0;  ///< Thread-seconds over threads.
  double predict_seconds = 0;
  std::optional<double> digit_seconds;  ///< One digit from its image to its class; median.
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t kernel_evaluations = 0;
  std::uint64_t useful_evaluations = 0;
  std::uint64_t mistakes = 0;
  double passes_mean = 0;
  std::uint64_t support_union = 0;
  std::uint64_t mistakes_last_pass = 0;  ///< 0, or a draw did not end.
  std::uint64_t training_errors = 0;
  std::uint64_t bounces = 0;  ///< Billiard: after the burn-in, all classes.
  std::uint64_t steps = 0;    ///< Gibbs sampler: likewise.
  /// Chains: estimated angle between a Bayes point and the true one (rad), the worst class.
  double standard_error = 0;
  double chain_angle = 0;   ///< Chains: largest angle between the centres of two (rad).
  std::ptrdiff_t rank = 0;  ///< Chains: dimension of the space that was sampled.
  double test_error_percent = 0;
  std::optional<double> single_draw_error_percent;  ///< Absent where draws were not kept.
  std::vector<RejectionRow> rejection;              ///< At 0, 1, ..., 10 %, by the largest output.
  std::vector<RejectionRow> rejection_gap;          ///< By the gap between the best two outputs.
  std::vector<RejectionRow> curve;                  ///< At 0, 0.1, ..., 10 %, for the plot.
  std::vector<RejectionRow> curve_gap;
  /// Which of the two comes first on the screen and in the plot.
  RejectionScore leading = RejectionScore::largest;
  std::optional<double> floor_seconds;
  std::optional<double> predict_floor_seconds;
  bool floor_missing = false;  ///< A floor was asked for, and there is no library to measure it by.
  bool verified = false;       ///< `training_errors` were counted anew.
  std::optional<Guarantee> guarantee;
  std::vector<std::size_t> compression_sizes;  ///< Points with a mistake in a draw, draw by draw.
  std::optional<double> stable_compression_percent;  ///< Bound on the error of draw 1, 99 %.
  /// The same of all draws' mean, by how many test images, without labels, draw 1 reads otherwise.
  std::optional<double> mean_bound_percent;
  std::size_t first_draw_disagreements = 0;
  /// What may have been chosen on the same digits: the bounds divide delta by it.
  std::uint64_t bound_choices = 1;
  std::string model_digest;
  std::vector<JudgedDigit> pictures;  ///< Digits to be drawn.
};

/// The errors left at rejection rates 0 to 10 % in `steps` steps; `correct[i]` says whether test
/// digit i was recognised. Throws `std::invalid_argument` as `bpm::error_reject_curve`.
[[nodiscard]] inline std::vector<RejectionRow> rejection_rows(std::span<const double> scores,
                                                              const std::vector<bool>& correct,
                                                              std::size_t steps = 10) {
  std::vector<double> rates;
  for (std::size_t step = 0; step <= steps; ++step) {
    rates.push_back(static_cast<double>(step) / static_cast<double>(10 * steps));
  }
  std::vector<RejectionRow> rows;
  for (const auto& point : bpm::error_reject_curve(scores, correct, rates)) {
    const double tenths = static_cast<double>(rows.size()) / static_cast<double>(steps);
    rows.push_back({10 * tenths, 100 * point.error});
  }
  return rows;
}

/// Of the worst class.
[[nodiscard]] inline ChainCheck check_chains(const MnistReport& report) {
  ChainCheck chains;
  if (report.sampler != "perceptron") chains.add(report.standard_error);
  return chains;
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
  json["data"] = report.data;
  json["train_size"] = report.train_size;
  json["test_size"] = report.test_size;
  json["draws"] = report.draws;
  json["seed"] = report.seed;
  json["threads"] = report.threads;
  json["sampler"] = report.sampler;
  json["kernel"] = report.kernel;
  json["kernel_formula"] = report.kernel_formula;
  json["input"] = report.input;
  json["normalise"] = report.normalise;
  json["features"] = report.features;
  json["feature_numbers"] = report.feature_numbers;
  json["slant_removal"] = report.slant_removal;
  json["virtual_copies"] = report.virtual_copies;
  if (report.fold > 0) json["validate"] = report.fold;
  if (report.lambda) {
    json["lambda"] = *report.lambda;
  }
  if (report.lambda_relative) {
    json["lambda_relative"] = *report.lambda_relative;
  }
  json["strategy"] = report.strategy;
  json["read_seconds"] = report.read_seconds;
  json["train_seconds"] = report.train_seconds;
  json["kernel_seconds"] = report.kernel_seconds;
  json["predict_seconds"] = report.predict_seconds;
  json["features_seconds"] = report.features_seconds;
  if (report.digit_seconds) json["digit_seconds"] = *report.digit_seconds;
  json["peak_memory_bytes"] = report.peak_memory_bytes;
  json["kernel_evaluations"] = report.kernel_evaluations;
  json["useful_evaluations"] = report.useful_evaluations;
  json["mistakes"] = report.mistakes;
  json["passes_mean"] = report.passes_mean;
  json["support_union"] = report.support_union;
  json["points_seen"] = report.points_seen;
  json["passes"] = report.passes_mean;
  json["mistakes_last_pass"] = report.mistakes_last_pass;
  json["training_errors"] = report.training_errors;
  if (report.fresh_copies_error_percent) {
    json["fresh_copies_error_percent"] = *report.fresh_copies_error_percent;
  }
  json["bounces"] = report.bounces;
  json["steps"] = report.steps;
  json["standard_error"] = report.standard_error;
  json["warnings"] = check_chains(report).warnings();
  json["test_error_percent"] = report.test_error_percent;
  json["single_draw_error_percent"] =
      report.single_draw_error_percent ? Json(*report.single_draw_error_percent) : Json();
  json["rejection"] = rows(report.rejection);
  json["rejection_gap"] = rows(report.rejection_gap);
  if (report.guarantee) {
    const Guarantee& g = *report.guarantee;
    json["guaranteed"] = {{"risk_percent", g.risk_percent},
                          {"delta", g.delta},
                          {"threshold", g.threshold ? Json(*g.threshold) : Json()},
                          {"calibration_coverage_percent", g.calibration_coverage_percent},
                          {"coverage_percent", g.coverage_percent},
                          {"error_percent", g.error_percent}};
  }
  json["compression_sizes"] = report.compression_sizes;
  json["stable_compression_percent"] =
      report.stable_compression_percent ? Json(*report.stable_compression_percent) : Json();
  if (report.mean_bound_percent) {
    json["mean_bound_percent"] = *report.mean_bound_percent;
    json["first_draw_disagreements"] = report.first_draw_disagreements;
    json["bound_choices"] = report.bound_choices;
  }
  if (report.floor_seconds) {
    json["floor_seconds"] = *report.floor_seconds;
  }
  if (report.predict_floor_seconds) {
    json["predict_floor_seconds"] = *report.predict_floor_seconds;
  }
  json["model_digest"] = report.model_digest.empty() ? Json() : Json(report.model_digest);
  return json;
}

namespace report_detail {

/// 100 MiB, 13.4 GiB: three digits.
[[nodiscard]] inline std::string bytes_text(std::size_t bytes) {
  auto value = static_cast<double>(bytes);
  std::string unit = " bytes";
  for (const char* larger : {" KiB", " MiB", " GiB", " TiB"}) {
    if (value < 1000) {
      break;
    }
    value /= 1024;
    unit = larger;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(bytes < 1000 || value >= 99.95 ? 0 : 1) << value << unit;
  return text.str();
}

/// Whether the paper's errors are of the same task.
[[nodiscard]] inline bool of_paper(const MnistReport& report) {
  return report.data == "mnist" && !report.even_odd && report.fold == 0;
}

/// Whether the sizes are those of the paper.
[[nodiscard]] inline bool of_full_size(const MnistReport& report) {
  return report.train_size == 60000 && report.test_size == 10000;
}

/// A line of the screen: a name, then what there is to say.
inline std::ostream& line(std::ostream& out, const std::string& name) {
  return out << std::left << std::setw(16) << name << std::right;
}

/// The rows of both scores in the order in which they are shown, with their names.
struct ScoreRows {
  std::string name;
  const std::vector<RejectionRow>& rows;
};
[[nodiscard]] inline std::array<ScoreRows, 2> in_order(const MnistReport& report,
                                                       const std::vector<RejectionRow>& largest,
                                                       const std::vector<RejectionRow>& gap) {
  const ScoreRows first{"largest output", largest};
  const ScoreRows second{"gap of the best two", gap};
  return report.leading == RejectionScore::largest ? std::array{first, second}
                                                   : std::array{second, first};
}

}  // namespace report_detail

/// What is known before the run: data, sizes, method, memory.
inline void print_settings(std::ostream& out, const MnistReport& report) {
  using report_detail::bytes_text;
  using report_detail::line;
  std::ostringstream text;
  line(text, "data") << report.source << '\n';
  line(text, "sizes") << report.train_size << " training digits, " << report.test_size
                      << (report.fold > 0 ? " other training digits to judge by, "
                                          : " test digits, ");
  if (report.features == "gradient") {
    text << report.feature_numbers << " gradient features, ";
  }
  if (report.slant_removal) text << "slant removed, ";
  text << (report.normalise ? "scaled to unit norm" : "pixels / 255") << '\n';
  if (report.virtual_copies > 0) {
    line(text, "virtual") << report.virtual_copies << " copies of each training digit, "
                          << (report.copies_by == "shifts" ? "shifted, the same in all draws\n"
                                                           : "deformed, others in every draw\n");
  }
  line(text, "method") << report.sampler << ", " << report.draws_wanted << " draws a class, kernel "
                       << report.kernel_formula;
  if (report.lambda) {
    text << ", lambda " << *report.lambda;
  }
  if (report.lambda_relative) {
    text << ", lambda " << *report.lambda_relative << " k(x, x)";
  }
  text << ", " << report.input << " inputs, seed " << report.seed << ", threads " << report.threads
       << '\n';
  const MemoryPlan& memory = report.memory;
  line(text, "memory");
  if (report.virtual_copies > 0) text << "without copies ";
  text << bytes_text(memory.windowed) << " windowed, " << bytes_text(memory.dense)
       << " with the whole kernel matrix (dense); budget " << bytes_text(memory.budget) << ": "
       << report.strategy << "; beside it " << bytes_text(memory.inputs) << " of inputs\n";
  out << text.str() << std::flush;
}

/// The table of errors and rejection rates. The paper's column stands beside results on MNIST only.
inline void print_rejection(std::ostream& out, const MnistReport& report) {
  const auto scores = report_detail::in_order(report, report.rejection, report.rejection_gap);
  std::ostringstream text;
  using report_detail::of_paper;
  text << std::fixed << "rejected %   error % by " << scores[0].name << "   by " << scores[1].name
       << (of_paper(report) ? "   paper" : "") << '\n';
  for (std::size_t i = 0; i < scores[0].rows.size(); ++i) {
    text << std::setw(10) << std::setprecision(0) << scores[0].rows[i].rate_percent
         << std::setprecision(2) << std::setw(static_cast<int>(14 + scores[0].name.size()))
         << scores[0].rows[i].error_percent;
    if (i < scores[1].rows.size()) {
      text << std::setw(static_cast<int>(6 + scores[1].name.size()))
           << scores[1].rows[i].error_percent;
    }
    if (of_paper(report) && i < paper_errors.size()) {
      text << std::setw(8) << paper_errors[i];
    }
    text << '\n';
  }
  if (of_paper(report) && !report_detail::of_full_size(report)) {
    text << "The paper's errors are for 60000 training and 10000 test digits.\n";
  }
  out << text.str();
}

/// What is known after the run.
inline void print_results(std::ostream& out, const MnistReport& report) {
  using report_detail::line;
  std::ostringstream text;
  const auto percent = [](double value) {
    std::ostringstream number;
    number << std::fixed << std::setprecision(2) << value << " %";
    return number.str();
  };
  const auto bound = [&](double value) { return percent(std::ceil(100 * value) / 100); };
  const auto seconds = [](double value) {
    std::ostringstream number;
    number << std::fixed << std::setprecision(value < 10 ? 2 : 1) << value << " s";
    return number.str();
  };
  if (report.draws < report.draws_wanted) {
    line(text, "stopped") << "after " << report.draws << " of " << report.draws_wanted
                          << " draws; what follows is theirs\n";
  }
  line(text, "time") << "read " << seconds(report.read_seconds) << ", train "
                     << seconds(report.train_seconds) << " (kernel values "
                     << seconds(report.kernel_seconds) << ", " << report.strategy << "), predict "
                     << seconds(report.predict_seconds);
  if (report.digit_seconds) {
    text << std::fixed << std::setprecision(2) << " (one alone " << 1000 * *report.digit_seconds
         << " ms)" << std::defaultfloat << std::setprecision(6);
  }
  text << '\n';
  if (report.floor_seconds) {
    line(text, "floor") << "train " << seconds(*report.floor_seconds);
    if (report.predict_floor_seconds) {
      text << ", predict " << seconds(*report.predict_floor_seconds);
    }
    text << ", the time of the matrix products alone at their best rate\n";
  }
  if (report.floor_missing) {
    line(text, "floor") << "unknown: the program was built without oneDNN (Debian and Ubuntu: "
                           "libdnnl-dev), whose product of bytes it is measured by\n";
  }
  if (report.lambda_chosen) {
    line(text, "soft boundary") << "lambda " << report.lambda_relative.value_or(0)
                                << " k(x, x), chosen by folds\n";
  }
  if (report.features_seconds > 0) {
    line(text, "features") << seconds(report.features_seconds) << " of it\n";
  }
  line(text, "peak memory") << (report.peak_memory_bytes + (1U << 19U)) / (1U << 20U) << " MiB\n";
  line(text, "kernel values") << report.kernel_evaluations << " computed, for "
                              << report.useful_evaluations
                              << " pairs of a training and a support point\n";
  if (report.sampler == "perceptron") {
    line(text, "training") << report.mistakes << " mistakes in all, " << std::fixed
                           << std::setprecision(1) << report.passes_mean << " passes on average, "
                           << report.support_union << " support points, " << report.training_errors
                           << (report.verified ? " errors left, counted anew\n" : " errors left\n");
    if (report.virtual_copies > 0) {
      line(text, "virtual") << report.points_seen << " points a draw, " << report.mistakes_last_pass
                            << " mistakes in the last passes";
      if (report.fresh_copies_error_percent) {
        text << "; " << percent(*report.fresh_copies_error_percent)
             << " of copies that no draw has seen are wrong";
      }
      text << '\n';
    }
  } else {
    const bool billiard = report.sampler == "billiard";
    line(text, "training") << (billiard ? report.bounces : report.steps)
                           << (billiard ? " bounces" : " steps") << " in all, rank " << report.rank
                           << ", " << report.support_union << " support points\n";
    line(text, "Bayes points") << std::fixed << std::setprecision(3) << report.standard_error
                               << " rad from the true ones (estimated, the worst class), "
                               << report.chain_angle << " between two chains\n";
  }
  if (report.stable_compression_percent) {
    line(text, "bound") << "error of the first draw at most "
                        << bound(*report.stable_compression_percent) << ", by "
                        << report.compression_sizes[0]
                        << " training digits with a mistake and no test digit (99 % confidence"
                        << (report.bound_choices > 1
                                ? ", a thousand choices of features paid for)\n"
                                : ")\n");
  }
  if (report.mean_bound_percent) {
    line(text, "bound") << "error of the mean at most " << bound(*report.mean_bound_percent)
                        << ", by the first draw and the " << report.first_draw_disagreements
                        << " test images that it reads otherwise, without labels (99 %)\n";
  }
  const auto images = static_cast<std::uint64_t>(report.test_size);
  const auto wrong = static_cast<std::uint64_t>(
      std::lround(report.test_error_percent / 100 * static_cast<double>(images)));
  line(text, "test error") << percent(report.test_error_percent) << " of the Bayes points ("
                           << counted_text(wrong, images) << "), "
                           << (report.single_draw_error_percent
                                   ? percent(*report.single_draw_error_percent)
                                   : std::string("unknown (too many for the budget)"))
                           << " of single draws\n";
  if (report.guarantee) {
    const Guarantee& g = *report.guarantee;
    line(text, "guaranteed");
    if (g.threshold) {
      text << "at most " << std::defaultfloat << std::setprecision(6) << g.risk_percent
           << " % of those accepted are wrong, but for a chance of " << g.delta
           << ": of the test digits " << percent(g.coverage_percent) << " accepted, "
           << percent(g.error_percent) << " of these wrong\n";
    } else {
      text << "nothing: too few digits were set aside, or too many of them are wrong\n";
    }
  }
  line(text, "model digest") << digest_text(report.model_digest) << "\n\n";
  out << text.str();
  print_rejection(out, report);
}

/// Error against rejection rate, by both scores; on MNIST beside the paper's.
[[nodiscard]] inline Plot rejection_plot(const MnistReport& report) {
  Plot plot;
  plot.title = (report.data == "mnist"   ? "MNIST, "
                : report.data == "drawn" ? "Drawn digits (not MNIST), "
                                         : "Images, ") +
               std::to_string(report.train_size) + " training digits, " +
               std::to_string(report.draws) + " draws a class";
  plot.x_label = "rejection rate (%)";
  plot.y_label = "error of the accepted (%)";
  plot.y_from = 0;
  for (const auto& score : report_detail::in_order(report, report.curve, report.curve_gap)) {
    PlotSeries series;
    series.title = "rejected by " + score.name;
    series.marks = PlotMarks::line;
    for (const auto& row : score.rows) {
      series.x.push_back(row.rate_percent);
      series.y.push_back(row.error_percent);
    }
    plot.series.push_back(std::move(series));
  }
  if (report_detail::of_paper(report)) {
    PlotSeries paper;
    paper.title = "Herbrich and Graepel, by largest output";
    paper.title += report_detail::of_full_size(report) ? "" : ", 60000 digits";
    paper.reference = true;
    paper.marks = PlotMarks::points;
    for (std::size_t i = 0; i < paper_errors.size(); ++i) {
      paper.x.push_back(static_cast<double>(i));
      paper.y.push_back(paper_errors[i]);
    }
    plot.series.push_back(std::move(paper));
  }
  return plot;
}

}  // namespace bpm_examples
