// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/figure.hpp"
#include "common/json_file.hpp"

/// \file
/// What the peers program reports, as plain data, and its three forms: text, JSON and a plot.

namespace bpm_peers {

using bpm_examples::Json;

/// One run of a peer. Seconds are wall clock.
struct PeerRun {
  double error_percent = 0;
  std::optional<double> read_seconds;  ///< Absent: a part of the others.
  double train_seconds = 0;
  double predict_seconds = 0;
  std::optional<double> search_seconds;  ///< For a parameter; not a part of the total.
  std::size_t peak_memory = 0;           ///< bytes, of the larger of its programs

  [[nodiscard]] double total() const {
    return read_seconds.value_or(0) + train_seconds + predict_seconds;
  }
};

enum class PeerStatus { done, missing, failed, timed_out };

[[nodiscard]] constexpr std::string_view to_string(PeerStatus status) {
  switch (status) {
    case PeerStatus::done:
      return "done";
    case PeerStatus::missing:
      return "missing";
    case PeerStatus::failed:
      return "failed";
    case PeerStatus::timed_out:
      return "timeout";
  }
  return "unknown";
}

struct PeerRow {
  std::string key;
  std::string name;        ///< With the version and where it comes from.
  std::string parameters;  ///< Kernel and cost, in words.
  int threads = 1;
  PeerStatus status = PeerStatus::missing;
  std::string message;  ///< Why there is no result; how to install what is missing.
  std::string note;     ///< What was found on the way.
  std::vector<PeerRun> runs;

  /// The median of one number over the runs.
  [[nodiscard]] double median(const std::function<double(const PeerRun&)>& number) const {
    std::vector<double> values;
    for (const PeerRun& run : runs) values.push_back(number(run));
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
  }
  [[nodiscard]] double total() const {
    return median([](const PeerRun& run) { return run.total(); });
  }
};

struct PeersReport {
  std::string source;
  std::string data;  ///< "mnist" or "drawn"
  std::ptrdiff_t train_size = 0;
  std::ptrdiff_t test_size = 0;
  int threads = 0;
  int repeat = 1;
  /// Processes that wanted a processor in the minute before the run; negative: not known.
  double load = -1;
  std::vector<PeerRow> rows;

  /// The row that the others' times are divided by: the first of ours with exact inputs of bytes
  /// and unit norm, then with unit norm, then the rest. Null where none of ours is done.
  [[nodiscard]] const PeerRow* reference() const {
    for (const char* key :
         {"ours-byte-normalise", "ours-float-normalise", "ours-byte", "ours-float"}) {
      for (const PeerRow& row : rows) {
        if (row.key == key && row.status == PeerStatus::done) return &row;
      }
    }
    return nullptr;
  }
};

[[nodiscard]] inline Json report_json(const PeersReport& report) {
  Json json;
  json["data"] = report.data;
  json["train_size"] = report.train_size;
  json["test_size"] = report.test_size;
  json["threads"] = report.threads;
  json["repeat"] = report.repeat;
  json["load_average"] = report.load < 0 ? Json() : Json(report.load);
  const PeerRow* const reference = report.reference();
  json["reference"] = reference == nullptr ? Json() : Json(reference->key);
  json["peers"] = Json::array();
  for (const PeerRow& row : report.rows) {
    Json entry;
    entry["key"] = row.key;
    entry["name"] = row.name;
    entry["parameters"] = row.parameters;
    entry["threads"] = row.threads;
    entry["status"] = to_string(row.status);
    if (!row.message.empty()) entry["message"] = row.message;
    if (!row.note.empty()) entry["note"] = row.note;
    if (row.status == PeerStatus::done) {
      entry["error_percent"] = row.median([](const auto& run) { return run.error_percent; });
      entry["train_seconds"] = row.median([](const auto& run) { return run.train_seconds; });
      entry["predict_seconds"] = row.median([](const auto& run) { return run.predict_seconds; });
      entry["total_seconds"] = row.total();
      entry["peak_memory_bytes"] =
          row.median([](const auto& run) { return static_cast<double>(run.peak_memory); });
      entry["total_over_ours"] =
          reference == nullptr ? Json() : Json(row.total() / reference->total());
    }
    entry["runs"] = Json::array();
    for (const PeerRun& run : row.runs) {
      Json one;
      one["error_percent"] = run.error_percent;
      one["read_seconds"] = run.read_seconds ? Json(*run.read_seconds) : Json();
      one["train_seconds"] = run.train_seconds;
      one["predict_seconds"] = run.predict_seconds;
      one["total_seconds"] = run.total();
      if (run.search_seconds) one["search_seconds"] = *run.search_seconds;
      one["peak_memory_bytes"] = run.peak_memory;
      entry["runs"].push_back(std::move(one));
    }
    json["peers"].push_back(std::move(entry));
  }
  return json;
}

namespace report_detail {

[[nodiscard]] inline std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

[[nodiscard]] inline std::string seconds(double value) { return fixed(value, value < 10 ? 2 : 1); }

}  // namespace report_detail

/// The table and what stands below it.
inline void print_report(std::ostream& out, const PeersReport& report) {
  using report_detail::fixed;
  using report_detail::seconds;
  constexpr int first = 24;
  constexpr std::array<std::pair<const char*, int>, 7> columns{{{"error %", 9},
                                                                {"read s", 9},
                                                                {"train s", 10},
                                                                {"test s", 9},
                                                                {"total s", 10},
                                                                {"memory MiB", 12},
                                                                {"total / ours", 14}}};
  const PeerRow* const reference = report.reference();
  std::ostringstream text;
  text << report.source << "\n"
       << report.train_size << " training digits, " << report.test_size << " test digits"
       << (report.repeat > 1 ? ", medians of " + std::to_string(report.repeat) + " runs" : "")
       << "\n\n"
       << std::left << std::setw(first) << "peer" << std::right;
  for (const auto& [name, width] : columns) text << std::setw(width) << name;
  text << '\n';
  for (const PeerRow& row : report.rows) {
    text << std::left << std::setw(first) << row.key << std::right;
    if (row.status != PeerStatus::done) {
      text << "  " << to_string(row.status) << ": " << row.message << '\n';
      continue;
    }
    const bool read = row.runs.front().read_seconds.has_value();
    const std::array<std::string, 7> cells{
        fixed(row.median([](const auto& run) { return run.error_percent; }), 2),
        read ? seconds(row.median([](const auto& run) { return run.read_seconds.value_or(0); }))
             : "in train",
        seconds(row.median([](const auto& run) { return run.train_seconds; })),
        seconds(row.median([](const auto& run) { return run.predict_seconds; })),
        seconds(row.total()),
        fixed(row.median([](const auto& run) { return static_cast<double>(run.peak_memory); }) /
                  1048576,
              0),
        reference == nullptr ? "-" : fixed(row.total() / reference->total(), 2)};
    for (std::size_t i = 0; i < cells.size(); ++i) text << std::setw(columns[i].second) << cells[i];
    text << '\n';
  }
  text << '\n';
  for (const PeerRow& row : report.rows) {
    if (row.name.empty()) continue;
    text << std::left << std::setw(first) << row.key << row.name << "; " << row.parameters << "; "
         << (row.threads == 1 ? "one thread" : std::to_string(row.threads) + " threads")
         << (row.note.empty() ? "" : "; " + row.note) << '\n';
  }
  text << "\nread s: from files to memory. The tools of LIBSVM, LIBLINEAR and ThunderSVM read in "
          "each of their programs; their times hold that, and writing and reading the model.\n"
       << "total / ours: "
       << (reference == nullptr ? std::string("none of ours was run")
                                : "read, train and test over those of " + reference->key)
       << ".\n";
  if (report.load > 0.5) {
    text << "The machine was not idle when the run began (load average " << fixed(report.load, 1)
         << "): programs with several threads suffer most, those with OpenMP above all.\n";
  }
  out << text.str();
}

/// Times of the peers that are done, training and in all, with their errors beside them.
[[nodiscard]] inline bpm_examples::FigureScript report_figure(const PeersReport& report) {
  using bpm_examples::plot_detail::gnuplot_string;
  bpm_examples::FigureScript figure;
  std::ostream& out = figure.commands();
  std::vector<std::vector<double>> train;
  std::vector<std::vector<double>> total;
  std::string tics;
  int line = 0;
  for (const PeerRow& row : report.rows) {
    if (row.status != PeerStatus::done) continue;
    ++line;
    const double seconds = std::max(1e-3, row.total());
    train.push_back({std::max(1e-3, row.median([](const auto& run) { return run.train_seconds; })),
                     static_cast<double>(line)});
    total.push_back({seconds, static_cast<double>(line)});
    tics += (tics.empty() ? "" : ", ") + gnuplot_string(row.key) + ' ' + std::to_string(line);
    out << "set label "
        << gnuplot_string(report_detail::fixed(
                              row.median([](const auto& run) { return run.error_percent; }), 2) +
                          " %")
        << " at " << seconds << ',' << line << " offset 1,0\n";
  }
  if (total.empty()) {
    throw std::invalid_argument("there is nothing to plot: no peer is done");
  }
  out << "set title "
      << gnuplot_string((report.data == "mnist" ? "MNIST, " : "Drawn digits (not MNIST), ") +
                        std::to_string(report.train_size) + " training digits: time and error")
      << "\nset xlabel 'seconds'\nset logscale x\nset ytics (" << tics << ") noenhanced\n"
      << "set yrange [" << line
      << ".7:0.3]\nset rmargin 10\nset key outside bottom center horizontal\n"
      << "set border 3 linecolor rgb '#404040'\nset tics nomirror\n"
      << "set grid x linecolor rgb '#D0D0D0' linewidth 0.5\n"
      << "plot " << figure.add_data(train)
      << " using 1:2 with points pointtype 6 pointsize 0.9 linewidth 1.5 linecolor rgb '#0072B2' "
         "title 'training', "
      << figure.add_data(total)
      << " using 1:2 with points pointtype 7 pointsize 0.9 linecolor rgb '#D55E00' "
         "title 'reading, training and testing; error beside it'\n";
  return figure;
}

}  // namespace bpm_peers
