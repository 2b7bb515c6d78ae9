// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"
#include "commands.hpp"
#include "common/error_limits.hpp"
#include "common/figure.hpp"
#include "common/json_file.hpp"
#include "common/machine_info.hpp"
#include "common/output_file.hpp"
#include "common/program.hpp"
#include "model.hpp"
#include "text.hpp"

namespace bpm_examples {

namespace {

/// The class of two that is said from a probability on.
struct Threshold {
  std::size_t place = 0;
  double probability = 0;
};

/// What a model says of rows.
struct Answers {
  const ModelFacts& facts;
  std::optional<Threshold> threshold;  ///< Else the labels are the model's own.
  Data data;
  Eigen::MatrixXd values{};
  Eigen::MatrixXd probabilities{};  ///< Empty where the model is not calibrated.
  std::vector<int> labels{};
  /// The gap of the best two outputs; with a threshold the certainty that `apply` sets.
  std::vector<double> scores{};
  std::vector<bool> rejected{};
  double read_seconds = 0;
  double seconds = 0;
};

/// As many of the least probable answers as bring the mean of what the probabilities expect of the
/// others to be wrong to `error`, or all.
[[nodiscard]] std::vector<bool> rejected_by_error(const Answers& answers, double error) {
  const std::size_t count = answers.scores.size();
  // Of the label that is said: with class weights it need not be the most probable one.
  std::vector<double> probability(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = std::ranges::lower_bound(answers.facts.classes, answers.labels[i]);
    probability[i] =
        answers.probabilities(static_cast<Eigen::Index>(i), at - answers.facts.classes.begin());
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return probability[a] != probability[b] ? probability[a] > probability[b]
                                            : answers.scores[a] > answers.scores[b];
  });
  std::size_t accepted = 0;
  double wrong = 0;
  for (std::size_t k = 0; k < count; ++k) {
    wrong += 1 - probability[order[k]];
    if (wrong <= error * static_cast<double>(k + 1)) accepted = k + 1;
  }
  std::vector<bool> rejected(count, true);
  for (std::size_t k = 0; k < accepted; ++k) rejected[order[k]] = false;
  return rejected;
}

/// Nothing where none is asked for: then the labels are the model's own.
[[nodiscard]] std::optional<Threshold> threshold_of(const ModelFacts& facts,
                                                    const ThresholdOption& asked) {
  if (!asked.probability && asked.costs.empty()) return std::nullopt;
  const std::string option = asked.probability ? "--threshold" : "--costs";
  const auto& names = facts.class_names;
  if (names.size() != 2) {
    throw UsageError(option + " is of two classes, the model has " + std::to_string(names.size()));
  }
  if (!facts.calibrated) {
    throw UsageError(option + ": the model has no probabilities; train it with --folds 5");
  }
  const auto place = [&](const std::string& name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      throw UsageError(option + ": the model has no class '" + name + "', it has " + names[0] +
                       " and " + names[1]);
    }
    return static_cast<std::size_t>(found - names.begin());
  };
  if (asked.probability) {
    return Threshold{asked.class_name.empty() ? 1 : place(asked.class_name), *asked.probability};
  }
  std::array<double, 2> costs{};
  for (const auto& [name, cost] : asked.costs) costs[place(name)] = cost;
  return Threshold{1, costs[1] / (costs[0] + costs[1])};
}

/// Says the class of the threshold, or the other, and how sure that is: 1 less the expected cost in
/// units of that at the threshold.
void apply(const Threshold& threshold, Answers& answers) {
  for (std::size_t i = 0; i < answers.labels.size(); ++i) {
    const double beyond = answers.probabilities(static_cast<Eigen::Index>(i),
                                                static_cast<Eigen::Index>(threshold.place)) -
                          threshold.probability;
    answers.labels[i] = answers.facts.classes[beyond >= 0 ? threshold.place : 1 - threshold.place];
    answers.scores[i] =
        beyond >= 0 ? beyond / (1 - threshold.probability) : -beyond / threshold.probability;
  }
}

[[nodiscard]] std::vector<bool> rejected_rows(const Answers& answers, const RejectOption& reject) {
  using By = RejectOption::By;
  std::vector<bool> rejected(answers.scores.size(), false);
  if (reject.by == By::rate) {
    for (const std::size_t i : bpm::rejected_indices(answers.scores, reject.value)) {
      rejected[i] = true;
    }
  } else if (reject.by == By::error) {
    if (!answers.facts.calibrated) {
      throw UsageError("--reject error=E: the model has no probabilities; train it with --folds 5");
    }
    return rejected_by_error(answers, reject.value);
  } else if (reject.by == By::risk) {
    if (!answers.facts.rejection) {
      throw UsageError(
          "--reject risk: the model has no threshold; train it with --risk R --held-out "
          "FILE|SHARE");
    }
    // Of one class: rows that are called another are all accepted.
    const std::string& score = answers.facts.rejection->score;
    const auto& names = answers.facts.class_names;
    const auto one = std::ranges::find_if(
        names, [&](const std::string& name) { return score == gap_of_class(name); });
    if (score != "gap" && one == names.end()) {
      throw UsageError("--reject risk: the model's threshold is of the score '" + score +
                       "', of which bpm knows nothing: it has the gap of the best two outputs");
    }
    for (std::size_t i = 0; i < rejected.size(); ++i) {
      const bool asked =
          one == names.end() ||
          answers.labels[i] == answers.facts.classes[static_cast<std::size_t>(one - names.begin())];
      rejected[i] = asked && !answers.facts.rejection->rejector.accepts(answers.scores[i]);
    }
  }
  return rejected;
}

[[nodiscard]] Model load(const PredictOptions& options) {
  Model model = load_model(options.model);
  if (options.threads_given) return finished(model, {.threads = options.common.threads});
  return model;
}

[[nodiscard]] ModelColumns columns_of(const ModelFacts& facts) {
  return {facts.features, facts.feature_names, facts.encoding, facts.positions};
}

/// `facts`, which must outlive what comes back, are the model's.
[[nodiscard]] Answers ask(const Model& model, const ModelFacts& facts, Data data,
                          const PredictOptions& options) {
  WallTimer timer;
  Answers answers{
      .facts = facts, .threshold = threshold_of(facts, options.threshold), .data = std::move(data)};
  const std::size_t before = answers.data.rows_before - answers.data.repeated;
  const auto said = [&] {
    const auto row = facts.standardised ? std::nullopt : zero_row(answers.data.inputs);
    return row ? "row " + std::to_string(before + static_cast<std::size_t>(*row) + 1) +
                     " is all zeros; where the model's kernel sees directions, leave it out"
               : std::string("larger numbers than those that trained?");
  };
  try {
    answers.values = decision_values(model, answers.data.inputs);
    answers.probabilities = class_probabilities(model, answers.data.inputs, answers.values);
  } catch (const bpm::KernelValueError& error) {
    throw bpm::DataError(in_words_of(answers.data.name, error.what(), before) +
                         " (here: " + said() + ")");
  }
  answers.labels = labels_of(model, answers.values);
  answers.scores = bpm::gap_scores(shifted_values(model, answers.values));
  if (answers.threshold) apply(*answers.threshold, answers);
  answers.seconds = timer.seconds();
  answers.rejected = rejected_rows(answers, options.reject);
  const double accepted = static_cast<double>(std::ranges::count(answers.rejected, false)) /
                          static_cast<double>(answers.rejected.size());
  if (options.reject.by == RejectOption::By::error && accepted < 0.5) {
    std::cerr << "bpm: note: --reject error accepts " << percent_text(accepted)
              << " of the rows; if bpm train made the model, one of bpm choose may accept more\n";
  }
  return answers;
}

/// A field of CSV, in quotes where it needs them.
[[nodiscard]] std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos &&
      (text.empty() || (text.front() != ' ' && text.back() != ' '))) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

/// A class that is named as a column of the predictions has another name for its own.
[[nodiscard]] std::string column_of(const std::string& name) {
  return name == "label" || name == "rejected" ? "P(" + name + ")" : name;
}

/// The first line of the predictions. A column that is kept has another name where an answer has
/// its own.
[[nodiscard]] std::string header_csv(const Answers& answers, bool rejections) {
  std::vector<std::string> names{"label"};
  if (answers.probabilities.rows() > 0) {
    for (const std::string& name : answers.facts.class_names) names.push_back(column_of(name));
  }
  if (rejections) names.emplace_back("rejected");
  std::string csv;
  for (const bpm::MixedTable::Column& column : answers.data.kept.columns) {
    const bool taken = std::ranges::find(names, column.name) != names.end();
    csv += field((taken ? "kept " : "") + column.name) + ",";
  }
  for (const std::string& name : names) csv += field(name) + ",";
  csv.back() = '\n';
  return csv;
}

/// A line for each row that no block before had.
[[nodiscard]] std::string predictions_csv(const Answers& answers, bool rejections) {
  std::vector<std::string> names;
  for (const std::string& name : answers.facts.class_names) names.push_back(field(name));
  std::string csv;
  const bool calibrated = answers.probabilities.rows() > 0;
  std::array<char, 32> digits{};
  for (std::size_t i = answers.data.repeated; i < answers.labels.size(); ++i) {
    for (const bpm::MixedTable::Column& column : answers.data.kept.columns) {
      const int word = column.word_of[i];
      if (word >= 0) csv += field(column.words[static_cast<std::size_t>(word)]);
      csv += ',';
    }
    const auto at = std::ranges::lower_bound(answers.facts.classes, answers.labels[i]);
    csv += names[static_cast<std::size_t>(at - answers.facts.classes.begin())];
    for (Eigen::Index c = 0; calibrated && c < answers.probabilities.cols(); ++c) {
      const double p = answers.probabilities(static_cast<Eigen::Index>(i), c);
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), p,
                                     std::chars_format::general, 6);
      csv += ',';
      csv.append(digits.data(), end.ptr);
    }
    if (rejections) csv += answers.rejected[i] ? ",1" : ",0";
    csv += '\n';
  }
  return csv;
}

/// How many rows, of those accepted how many are wrong.
struct Accepted {
  std::size_t count = 0;
  std::size_t wrong = 0;
};
[[nodiscard]] Accepted accepted_of(const std::vector<bool>& rejected,
                                   const std::vector<bool>& correct) {
  Accepted accepted;
  for (std::size_t i = 0; i < correct.size(); ++i) {
    if (rejected[i]) continue;
    ++accepted.count;
    accepted.wrong += correct[i] ? 0 : 1;
  }
  return accepted;
}
[[nodiscard]] std::optional<double> error_of(const Accepted& accepted) {
  if (accepted.count == 0) return std::nullopt;
  return static_cast<double>(accepted.wrong) / static_cast<double>(accepted.count);
}

/// Of rows that are called each class.
[[nodiscard]] std::vector<Accepted> accepted_of_classes(const Answers& answers,
                                                        const std::vector<bool>& rejected,
                                                        const std::vector<bool>& correct) {
  const auto& classes = answers.facts.classes;
  std::vector<Accepted> accepted(classes.size());
  for (std::size_t i = 0; i < correct.size(); ++i) {
    if (rejected[i]) continue;
    const auto at = std::ranges::lower_bound(classes, answers.labels[i]) - classes.begin();
    Accepted& one = accepted[static_cast<std::size_t>(at)];
    ++one.count;
    one.wrong += correct[i] ? 0 : 1;
  }
  return accepted;
}

/// What is accepted where the lowest scores are rejected.
struct AcceptedAbove {
  double threshold = 0;  ///< The lowest score that is accepted.
  Accepted all;
  std::vector<Accepted> of_class;
};

struct Evaluation {
  Accepted accepted;
  double coverage = 0;
  std::optional<double> accepted_error;  ///< Absent where nothing is accepted.
  double error = 0;
  std::optional<double> log_loss;
  std::optional<double> brier;
  std::optional<double> calibration_error;
  std::vector<bpm::ReliabilityBin> reliability;
  std::vector<bpm::ErrorRejectPoint> rejection;  ///< At 0, 1, ..., 10 %.
  std::vector<AcceptedAbove> thresholds;         ///< From all rows to few.
  std::size_t largest = 0;                       ///< The place of the class of most rows.
  double largest_error = 0;                      ///< Of who says it of all.
  std::optional<double> cost;                    ///< A row, where costs are given.
  bpm::ConfusionMatrix confusion;
  std::vector<bpm::ClassScores> classes;
  std::vector<bpm::RocPoint> roc;  ///< Of two classes, both of which there are.
  std::optional<double> auc;
  std::vector<bool> correct;
};

[[nodiscard]] Evaluation judge(const Answers& answers, const std::vector<int>& labels) {
  Evaluation result;
  result.correct = bpm::correct_predictions(labels, answers.labels);
  result.accepted = accepted_of(answers.rejected, result.correct);
  const auto count = static_cast<double>(labels.size());
  result.coverage = static_cast<double>(result.accepted.count) / count;
  result.accepted_error = error_of(result.accepted);
  result.error = bpm::error_rate(labels, answers.labels);
  if (answers.facts.calibrated) {
    const auto& classes = answers.facts.classes;
    result.log_loss = bpm::log_loss(answers.probabilities, labels, classes);
    result.brier = bpm::brier_score(answers.probabilities, labels, classes);
    result.reliability = bpm::reliability_diagram(answers.probabilities, labels, classes);
    result.calibration_error = bpm::calibration_error(result.reliability);
  }
  std::vector<double> rates;
  for (int percent = 0; percent <= 10; ++percent) rates.push_back(percent / 100.0);
  result.rejection = bpm::error_reject_curve(answers.scores, result.correct, rates);
  result.confusion = bpm::confusion_matrix(labels, answers.labels, answers.facts.classes);
  result.classes = bpm::class_scores(result.confusion);
  const auto largest = std::ranges::max_element(result.classes, {}, &bpm::ClassScores::inputs);
  result.largest = static_cast<std::size_t>(largest - result.classes.begin());
  result.largest_error = 1 - static_cast<double>(largest->inputs) / count;
  for (const double rate : {0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 0.9}) {
    std::vector<bool> out(labels.size(), false);
    for (const std::size_t i : bpm::rejected_indices(answers.scores, rate)) out[i] = true;
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!out[i]) lowest = std::min(lowest, answers.scores[i]);
    }
    result.thresholds.push_back({lowest, accepted_of(out, result.correct),
                                 accepted_of_classes(answers, out, result.correct)});
  }
  if (const auto& classes = answers.facts.classes; classes.size() == 2) {
    // Of outputs, which are never equal where probabilities end; a posterior has none of those.
    const Eigen::VectorXd output = answers.facts.slope > 0 || !answers.facts.calibrated
                                       ? answers.values.col(0)
                                       : answers.probabilities.col(1);
    const std::span<const double> scores(output.data(), labels.size());
    std::vector<bool> second(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) second[i] = labels[i] == classes[1];
    result.roc = bpm::roc_curve(scores, second);
    result.auc = bpm::area_under_roc(scores, second);
  }
  return result;
}

[[nodiscard]] Json evaluation_json(const Answers& answers, const Evaluation& found) {
  const auto number = [](const std::optional<double>& value, double factor = 1) {
    return value ? Json(factor * *value) : Json();
  };
  Json json;
  json["n"] = answers.labels.size();
  json["coverage_percent"] = 100 * found.coverage;
  json["accepted_error_percent"] = number(found.accepted_error, 100);
  json["error_percent"] = 100 * found.error;
  json["log_loss"] = number(found.log_loss);
  json["brier"] = number(found.brier);
  json["calibration_error"] = number(found.calibration_error);
  Json rows = Json::array();
  for (const bpm::ErrorRejectPoint& point : found.rejection) {
    rows.push_back(
        {{"rate_percent", std::round(100 * point.rate)}, {"error_percent", 100 * point.error}});
  }
  json["rejection_gap"] = std::move(rows);
  Json thresholds = Json::array();
  for (const AcceptedAbove& above : found.thresholds) {
    Json said = Json::array();
    for (std::size_t c = 0; c < above.of_class.size(); ++c) {
      said.push_back({{"label", answers.facts.class_names[c]},
                      {"accepted", above.of_class[c].count},
                      {"error_percent", number(error_of(above.of_class[c]), 100)}});
    }
    thresholds.push_back({{"accepted", above.all.count},
                          {"threshold", above.threshold},
                          {"error_percent", number(error_of(above.all), 100)},
                          {"said", std::move(said)}});
  }
  json["thresholds"] = std::move(thresholds);
  json["largest_class"] = {{"label", answers.facts.class_names[found.largest]},
                           {"error_percent", 100 * found.largest_error}};
  json["cost"] = number(found.cost);
  if (const auto& threshold = answers.threshold) {
    json["threshold"] = {{"class", answers.facts.class_names[threshold->place]},
                         {"probability", threshold->probability}};
  }
  Json counts = Json::array();
  for (Eigen::Index i = 0; i < found.confusion.counts.rows(); ++i) {
    Json row = Json::array();
    for (const std::int64_t count : found.confusion.counts.row(i)) row.push_back(count);
    counts.push_back(std::move(row));
  }
  Json classes = Json::array();
  for (std::size_t c = 0; c < found.classes.size(); ++c) {
    const bpm::ClassScores& one = found.classes[c];
    classes.push_back({{"label", answers.facts.class_names[c]},
                       {"precision", number(one.precision)},
                       {"recall", number(one.recall)},
                       {"f1", number(one.f1)},
                       {"support", one.inputs}});
  }
  json["per_class"] = std::move(classes);
  json["auc"] = number(found.auc);
  json["confusion"] = {{"classes", answers.facts.class_names}, {"counts", std::move(counts)}};
  json["read_seconds"] = answers.read_seconds;
  json["predict_seconds"] = answers.seconds;
  json["peak_memory_bytes"] = peak_resident_bytes();
  return json;
}

/// So many have columns of their own.
constexpr std::size_t few_classes = 5;

/// Errors of what is accepted, of all and, of few classes, of what is called each.
void print_thresholds(std::ostream& text, const Answers& answers, const Evaluation& found) {
  const auto& names = answers.facts.class_names;
  const bool few = names.size() <= few_classes;
  report_line(text, "accepted") << std::setw(11) << (answers.threshold ? "certainty" : "gap")
                                << std::setw(11) << "wrong";
  std::vector<int> widths;
  for (std::size_t c = 0; few && c < names.size(); ++c) {
    widths.push_back(static_cast<int>(std::max<std::size_t>(names[c].size() + 7, 11)));
    text << std::setw(widths[c]) << "said " + names[c];
  }
  text << '\n';
  const auto error = [&](const Accepted& accepted, int width) {
    const auto wrong = error_of(accepted);
    text << std::setw(width) << (wrong ? percent_text(*wrong) : "-");
  };
  bool starred = false;
  for (const AcceptedAbove& above : found.thresholds) {
    const double share =
        static_cast<double>(above.all.count) / static_cast<double>(answers.labels.size());
    const bool star = *error_of(above.all) >= found.largest_error;
    starred = starred || star;
    report_line(text, (star ? " * " : "   ") + percent_text(share))
        << std::setw(11) << number_text(above.threshold, 3);
    error(above.all, 11);
    for (std::size_t c = 0; few && c < names.size(); ++c) error(above.of_class[c], widths[c]);
    text << '\n';
  }
  text << (starred ? " * no better than" : "  ") << " saying " << names[found.largest]
       << " of every row: " << percent_text(found.largest_error) << " wrong\n";
}

void print_evaluation(std::ostream& out, const Answers& answers, const Evaluation& found,
                      bool rejections) {
  std::ostringstream text;
  report_line(text, "data") << answers.data.name << ": "
                            << count_text(answers.labels.size(), "row", "rows") << '\n';
  const std::uint64_t rows = answers.labels.size();
  const auto wrong = static_cast<std::uint64_t>(std::ranges::count(found.correct, false));
  if (const auto& threshold = answers.threshold) {
    report_line(text, "threshold")
        << "says " << answers.facts.class_names[threshold->place] << " from a probability of "
        << number_text(threshold->probability) << " on\n";
  }
  report_line(text, "error") << percent_text(found.error) << ": " << counted_text(wrong, rows)
                             << '\n';
  if (rejections) {
    report_line(text, "accepted") << percent_text(found.coverage);
    if (found.accepted_error) {
      text << ", of these wrong " << percent_text(*found.accepted_error) << ": "
           << counted_text(found.accepted.wrong, found.accepted.count);
    }
    text << '\n';
    const auto said = accepted_of_classes(answers, answers.rejected, found.correct);
    for (std::size_t c = 0; said.size() <= few_classes && c < said.size(); ++c) {
      if (said[c].count == 0) continue;
      report_line(text, "   said " + answers.facts.class_names[c])
          << " wrong " << percent_text(*error_of(said[c])) << ": "
          << counted_text(said[c].wrong, said[c].count) << '\n';
    }
  }
  if (found.log_loss) {
    report_line(text, "probabilities")
        << "log loss " << number_text(*found.log_loss) << ", Brier score "
        << number_text(*found.brier) << ", calibration error "
        << number_text(*found.calibration_error, 3) << '\n';
  }
  if (found.cost) report_line(text, "cost") << number_text(*found.cost) << " a row\n";
  if (found.auc) report_line(text, "ROC curve") << "area " << number_text(*found.auc) << '\n';
  const auto& names = answers.facts.class_names;
  std::size_t width = 6;
  for (const std::string& name : names) width = std::max(width, name.size());
  constexpr std::size_t most_lines = 30;
  if (names.size() <= most_lines) {
    const auto ratio = [&](const std::optional<double>& value) {
      text << std::setw(11) << (value ? percent_text(*value) : "-");
    };
    report_line(text, "class") << std::setw(11) << "precision" << std::setw(11) << "recall"
                               << std::setw(11) << "F1" << std::setw(8) << "rows" << '\n';
    for (std::size_t c = 0; c < names.size(); ++c) {
      report_line(text, "   " + names[c]);
      if (names[c].size() > 10) text << ' ';
      const bpm::ClassScores& one = found.classes[c];
      ratio(one.precision);
      ratio(one.recall);
      ratio(one.f1);
      text << std::setw(8) << one.inputs << '\n';
    }
  }
  print_thresholds(text, answers, found);
  if (names.size() <= 10) {
    const auto cell = static_cast<int>(width) + 2;
    report_line(text, "predicted");
    for (const std::string& name : names) text << std::setw(cell) << name;
    text << '\n';
    for (std::size_t i = 0; i < names.size(); ++i) {
      report_line(text, (i == 0 ? "of " : "   ") + names[i]);
      if (names[i].size() > 10) text << ' ';
      for (std::size_t j = 0; j < names.size(); ++j) {
        text << std::setw(cell)
             << found.confusion.counts(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      }
      text << '\n';
    }
  }
  out << text.str() << std::flush;
}

/// Panels: the error of the accepted against the rate of rejection; how often the most probable
/// class is right against its probability; precision, recall and F1 of every class; of two classes
/// the ROC curve.
void draw_evaluation(const Answers& answers, const Evaluation& found,
                     const std::filesystem::path& path) {
  FigureScript figure;
  std::vector<double> rates;
  for (int step = 0; step <= 100; ++step) rates.push_back(step / 200.0);
  std::vector<std::vector<double>> rows;
  for (const auto& point : bpm::error_reject_curve(answers.scores, found.correct, rates)) {
    rows.push_back({100 * point.rate, 100 * point.error});
  }
  const std::string curve = figure.add_data(rows);
  std::vector<std::vector<double>> bins;
  for (const bpm::ReliabilityBin& bin : found.reliability) {
    if (bin.inputs > 0) bins.push_back({bin.probability, bin.correct});
  }
  const std::string reliable = bins.empty() ? "" : figure.add_data(bins);
  std::vector<std::vector<double>> scores;
  for (std::size_t c = 0; c < found.classes.size(); ++c) {
    const bpm::ClassScores& one = found.classes[c];
    scores.push_back({static_cast<double>(c), one.precision.value_or(0), one.recall.value_or(0),
                      one.f1.value_or(0)});
  }
  const std::string classes = figure.add_data(scores);
  std::vector<std::vector<double>> rates_of_two;
  for (const bpm::RocPoint& point : found.roc) {
    rates_of_two.push_back({point.false_positive_rate, point.true_positive_rate});
  }
  const std::string roc = found.roc.empty() ? "" : figure.add_data(rates_of_two);
  const int panels = 2 + (bins.empty() ? 0 : 1) + (found.roc.empty() ? 0 : 1);
  std::ostream& out = figure.commands();
  out << "set border 3 linecolor rgb '#404040'\nset tics nomirror\n"
         "set grid linecolor rgb '#D0D0D0' linewidth 0.5\nunset key\n"
         "set multiplot layout 1,"
      << panels
      << "\nset xlabel 'rejected (%)'\nset ylabel 'error of the accepted (%)'\nset yrange [0:*]\n"
         "plot "
      << curve << " using 1:2 with lines linewidth 1.5 linecolor rgb '#0072B2'\n";
  if (!bins.empty()) {
    out << "set xlabel 'probability of the most probable class'\nset ylabel 'share that is right'\n"
           "set xrange [0:1]\nset yrange [0:1]\n"
           "plot x with lines dashtype 2 linecolor rgb '#606060', "
        << reliable
        << " using 1:2 with linespoints pointtype 7 linewidth 1.5 linecolor rgb '#0072B2'\n";
  }
  out << "set xlabel 'class'\nset ylabel 'precision, recall, F1'\nset xrange [-0.5:"
      << static_cast<double>(found.classes.size()) - 0.5
      << "]\nset yrange [0:1.02]\nset key bottom left\nset xtics noenhanced rotate by -45 (";
  // Names of many classes would lie across each other.
  const std::size_t step = 1 + (found.classes.size() - 1) / 20;
  for (std::size_t c = 0; c < found.classes.size(); c += step) {
    out << (c == 0 ? "" : ", ") << plot_detail::gnuplot_string(answers.facts.class_names[c]) << ' '
        << c;
  }
  out << ")\nplot " << classes
      << " using 1:2 with points pointtype 5 linecolor rgb '#0072B2' title 'precision', " << classes
      << " using 1:3 with points pointtype 7 linecolor rgb '#D55E00' title 'recall', " << classes
      << " using 1:4 with points pointtype 9 linecolor rgb '#009E73' title 'F1'\nunset key\n"
         "set xtics norotate autofreq\n";
  if (!found.roc.empty()) {
    out << "set xlabel 'found of the other class'\nset ylabel 'found of its own'\n"
           "set xrange [0:1]\nset yrange [0:1]\nset title 'area under the ROC curve "
        << number_text(*found.auc) << "'\nplot x with lines dashtype 2 linecolor rgb '#606060', "
        << roc << " using 1:2 with lines linewidth 1.5 linecolor rgb '#0072B2'\n";
  }
  out << "unset multiplot\n";
  write_figure(figure, 480 * panels, 420, path);
}

}  // namespace

void run_predict(const PredictOptions& options) {
  using By = RejectOption::By;
  const Model model = load(options);
  const ModelFacts facts = facts_of(model);
  const bool rejections = options.reject.by != By::nothing;
  const bool to_file = options.out != "-";
  std::string csv;
  std::set<std::string> noted;
  const auto take = [&](Data data) {
    for (const std::string& note : data.notes) {
      // Once, whatever its numbers are in later blocks.
      std::string words = note;
      std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
      const bool again = data.rows_before > 0 && noted.contains(words);
      if (!again) std::cerr << "bpm: note: " << note << '\n';
      noted.insert(words);
    }
    const bool first = data.rows_before == 0;
    const Answers answers = ask(model, facts, std::move(data), options);
    if (first) csv += header_csv(answers, rejections);
    csv += predictions_csv(answers, rejections);
    if (to_file) return true;
    std::cout << csv << std::flush;
    csv.clear();
    return static_cast<bool>(std::cout);
  };
  // A share of the rows is one of all of them.
  if (options.data == "-" && options.reject.by != By::rate && options.reject.by != By::error) {
    read_standard_input(options.read, columns_of(facts), take);
  } else {
    take(read_data(options.data, options.read, false, columns_of(facts)));
  }
  if (to_file) write_whole(options.out, csv);
}

void run_evaluate(const PredictOptions& options) {
  const JsonFile json(options.common.json);
  WallTimer timer;
  const Model model = load(options);
  const ModelFacts facts = facts_of(model);
  Data data = read_data(options.data, options.read, true, columns_of(facts));
  for (const std::string& note : data.notes) std::cerr << "bpm: note: " << note << '\n';
  const double read_seconds = timer.seconds();
  Answers answers = ask(model, facts, std::move(data), options);
  answers.read_seconds = read_seconds;
  Evaluation found = judge(answers, labels_for(facts, answers.data));
  for (const auto& [name, cost] : options.threshold.costs) {
    const auto at = std::ranges::find(facts.class_names, name) - facts.class_names.begin();
    const bpm::ClassScores& one = found.classes[static_cast<std::size_t>(at)];
    found.cost = found.cost.value_or(0) + cost * static_cast<double>(one.predicted - one.correct) /
                                              static_cast<double>(answers.labels.size());
  }
  if (!options.common.quiet) {
    print_evaluation(std::cout, answers, found, options.reject.by != RejectOption::By::nothing);
  }
  for (std::size_t c = 0; c < found.classes.size(); ++c) {
    const bpm::ClassScores& one = found.classes[c];
    if (one.inputs == 0 || one.correct > 0) continue;
    std::cerr << "bpm: warning: class " << answers.facts.class_names[c] << ": none of its "
              << count_text(static_cast<std::size_t>(one.inputs), "row", "rows")
              << " is found; train with --class-weights balanced\n";
  }
  json.write(evaluation_json(answers, found));
  if (!options.common.plot.empty()) draw_evaluation(answers, found, options.common.plot);
}

}  // namespace bpm_examples
