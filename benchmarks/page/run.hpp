// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/json_file.hpp"
#include "common/program.hpp"

/// \file
/// The JSON that Google Benchmark writes (`--benchmark_out`), as plain data.

namespace bpm_benchmarks {

using bpm_examples::Json;

/// A file is no result of a run of benchmarks; `what()` names it.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One benchmark with all its repetitions. Names are family/series/size, such as
/// kernel_block/linear/float/240; series and size may be missing.
struct Measured {
  std::string name;
  std::string family;
  std::string series;
  std::optional<double> size;
  std::vector<double> seconds;          ///< An iteration of each repetition, ascending.
  std::optional<double> floor_seconds;  ///< The median of the repetitions' counters.
  std::string error;                    ///< Why it was skipped; empty: it was not.

  [[nodiscard]] double median() const {
    const std::size_t middle = seconds.size() / 2;
    return seconds.size() % 2 == 1 ? seconds[middle]
                                   : 0.5 * (seconds[middle - 1] + seconds[middle]);
  }
};

struct Run {
  std::vector<std::pair<std::string, std::string>> context;  ///< Names and values, as text.
  std::vector<Measured> benchmarks;                          ///< In the order of the file.

  [[nodiscard]] const Measured* find(std::string_view name) const {
    const auto found = std::ranges::find(benchmarks, name, &Measured::name);
    return found == benchmarks.end() ? nullptr : &*found;
  }
};

namespace run_detail {

/// Whether a part of a name tells how the benchmark is run and not what it is.
[[nodiscard]] inline bool is_modifier(std::string_view part) {
  return part == "real_time" || part == "process_time" || part == "manual_time" ||
         part.find(':') != std::string_view::npos;
}

inline void split_name(Measured& measured) {
  std::vector<std::string> parts{""};
  for (const char c : measured.name) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  while (parts.size() > 1 && is_modifier(parts.back())) parts.pop_back();
  if (parts.size() > 1) {
    const std::string& last = parts.back();
    double value = 0;
    const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), value);
    if (error == std::errc() && end == last.data() + last.size() && value > 0) {
      measured.size = value;
      parts.pop_back();
    }
  }
  measured.family = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    measured.series += (i > 1 ? "/" : "") + parts[i];
  }
}

/// Google Benchmark writes NaN and Infinity, which JSON has no words for, where a deviation is over
/// zero: here they become null. What stands in quotes stays.
[[nodiscard]] inline std::string without_nan(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      result += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      const std::string_view rest = std::string_view(text).substr(i);
      bool replaced = false;
      for (const std::string_view word : {"-NaN", "NaN", "-Infinity", "Infinity"}) {
        if (!replaced && rest.starts_with(word)) {
          result += "null";
          i += word.size() - 1;
          replaced = true;
        }
      }
      if (replaced) continue;
    }
    result += text[i];
  }
  return result;
}

[[nodiscard]] inline double seconds_in(const std::string& unit, const std::string& where) {
  static const std::map<std::string, double> units{
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}};
  const auto found = units.find(unit);
  if (found == units.end()) {
    throw RunError(where + ": found the time unit '" + unit + "', expected ns, us, ms or s");
  }
  return found->second;
}

[[nodiscard]] inline std::string text_of(const Json& entry, const char* key,
                                         const std::string& where) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_string()) {
    throw RunError(where + ": found no text '" + key + "'");
  }
  return found->get<std::string>();
}

[[nodiscard]] inline double number_of(const Json& entry, const char* key,
                                      const std::string& where) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number()) {
    throw RunError(where + ": found no number '" + key + "'");
  }
  const double value = found->get<double>();
  if (!(std::isfinite(value) && value >= 0)) {
    throw RunError(where + ": '" + key + "' is " + found->dump() +
                   ", must be finite and not negative");
  }
  return value;
}

inline void read_entry(const Json& entry, const std::string& where, Run& run,
                       std::map<std::string, std::vector<double>>& floors) {
  if (!entry.is_object()) {
    throw RunError(where + ": found no object");
  }
  // Of repetitions the single ones are read; means and medians of them are made here.
  if (const auto type = entry.find("run_type"); type != entry.end() && *type != "iteration") {
    return;
  }
  const std::string name = text_of(entry, entry.contains("run_name") ? "run_name" : "name", where);
  auto found = std::ranges::find(run.benchmarks, name, &Measured::name);
  if (found == run.benchmarks.end()) {
    Measured fresh;
    fresh.name = name;
    split_name(fresh);
    run.benchmarks.push_back(std::move(fresh));
    found = std::prev(run.benchmarks.end());
  }
  if (entry.value("error_occurred", false)) {
    found->error = entry.value("error_message", std::string("failed without a message"));
    return;
  }
  const bool wall = (name + "/").find("/real_time/") != std::string::npos;
  found->seconds.push_back(number_of(entry, wall ? "real_time" : "cpu_time", where) *
                           seconds_in(text_of(entry, "time_unit", where), where));
  if (entry.contains("floor_seconds")) {
    floors[name].push_back(number_of(entry, "floor_seconds", where));
  }
}

}  // namespace run_detail

/// The run in the text. The time of a benchmark is what Google Benchmark goes by: the thread's
/// processor time, or the clock's where the name says real_time.
/// \throws RunError, naming `source`, for anything but results of Google Benchmark.
[[nodiscard]] inline Run parse_run(const std::string& text, const std::string& source) {
  Json json;
  try {
    json = Json::parse(run_detail::without_nan(text));
  } catch (const Json::parse_error& error) {
    throw RunError(source + ": no JSON: " + bpm_examples::one_line(error.what()));
  }
  if (!json.is_object() || !json.contains("benchmarks") || !json["benchmarks"].is_array()) {
    throw RunError(source + ": found no list 'benchmarks', expected a file of --benchmark_out");
  }
  Run run;
  if (const auto context = json.find("context"); context != json.end() && context->is_object()) {
    for (const auto& [key, value] : context->items()) {
      if (!value.is_structured()) {
        run.context.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
      }
    }
  }
  std::map<std::string, std::vector<double>> floors;
  std::size_t number = 0;
  for (const Json& entry : json["benchmarks"]) {
    const std::string where = source + ": benchmark " + std::to_string(++number);
    try {
      run_detail::read_entry(entry, where, run, floors);
    } catch (const Json::exception& error) {
      throw RunError(where + ": " + bpm_examples::one_line(error.what()));
    }
  }
  if (run.benchmarks.empty()) {
    throw RunError(source + ": found no benchmark: the run measured none");
  }
  for (Measured& measured : run.benchmarks) {
    std::ranges::sort(measured.seconds);
    if (const auto found = floors.find(measured.name); found != floors.end()) {
      Measured middle;
      middle.seconds = found->second;
      std::ranges::sort(middle.seconds);
      measured.floor_seconds = middle.median();
    }
  }
  return run;
}

/// The run in the file. \throws RunError as `parse_run` and where the file cannot be read.
[[nodiscard]] inline Run read_run(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw RunError(path.string() + ": there is no such file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw RunError(path.string() + ": cannot be read");
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse_run(text, path.string());
}

}  // namespace bpm_benchmarks
