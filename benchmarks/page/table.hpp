// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run.hpp"

/// \file
/// What the page says of a run: time over floor, growth between sizes, and how it compares with
/// another run.

namespace bpm_benchmarks {

/// How a benchmark compares with the same one of an older run.
struct Comparison {
  double old_seconds = 0;  ///< Median.
  double ratio = 0;        ///< New median over old median.
  /// "faster" or "slower" where the repetitions of the two runs do not overlap, "same" where they
  /// do, "unknown" where one of the runs has no repetitions and so no spread.
  std::string verdict;
};

struct TableRow {
  const Measured* measured = nullptr;
  std::optional<double> over_floor;  ///< Median over floor.
  /// log(t / t') / log(n / n'), t' and n' of the next smaller size of the series.
  std::optional<double> growth;
  std::optional<Comparison> comparison;
};

/// The benchmarks of one family, in the order in which the run has their series, by ascending size.
struct Family {
  std::string name;
  std::vector<TableRow> rows;
};

/// What two runs do not share.
struct Difference {
  std::vector<std::string> only_new;
  std::vector<std::string> only_old;
  /// Context that makes times hard to compare: name, new and old value.
  struct Context {
    std::string name;
    std::string now;
    std::string before;
  };
  std::vector<Context> context;
};

[[nodiscard]] inline Comparison compare(const Measured& now, const Measured& before) {
  Comparison result;
  result.old_seconds = before.median();
  result.ratio = now.median() / result.old_seconds;
  if (now.seconds.size() < 2 || before.seconds.size() < 2) {
    result.verdict = "unknown";
  } else if (now.seconds.front() > before.seconds.back()) {
    result.verdict = "slower";
  } else if (now.seconds.back() < before.seconds.front()) {
    result.verdict = "faster";
  } else {
    result.verdict = "same";
  }
  return result;
}

/// The families of the run, compared with `old` where it is given. The rows point into `run`.
[[nodiscard]] inline std::vector<Family> make_tables(const Run& run, const Run* old) {
  std::vector<Family> families;
  std::map<std::string, std::size_t> places;
  for (const Measured& measured : run.benchmarks) {
    const auto [place, fresh] = places.emplace(measured.family, families.size());
    if (fresh) families.push_back({measured.family, {}});
    families[place->second].rows.push_back({&measured, {}, {}, {}});
  }
  for (Family& family : families) {
    std::map<std::string, std::size_t> order;
    for (const TableRow& row : family.rows) order.emplace(row.measured->series, order.size());
    std::ranges::stable_sort(family.rows, {}, [&](const TableRow& row) {
      return std::pair(order.at(row.measured->series), row.measured->size.value_or(0));
    });
    const Measured* smaller = nullptr;
    for (TableRow& row : family.rows) {
      const Measured& measured = *row.measured;
      if (measured.seconds.empty()) continue;
      if (measured.floor_seconds && *measured.floor_seconds > 0) {
        row.over_floor = measured.median() / *measured.floor_seconds;
      }
      if (smaller != nullptr && smaller->series == measured.series && smaller->size &&
          measured.size && *measured.size > *smaller->size && smaller->median() > 0 &&
          measured.median() > 0) {
        row.growth = std::log(measured.median() / smaller->median()) /
                     std::log(*measured.size / *smaller->size);
      }
      smaller = &measured;
      const Measured* const before = old == nullptr ? nullptr : old->find(measured.name);
      if (before != nullptr && !before->seconds.empty() && before->median() > 0) {
        row.comparison = compare(measured, *before);
      }
    }
  }
  return families;
}

/// \throws RunError if the runs have no benchmark in common.
[[nodiscard]] inline Difference find_differences(const Run& now, const Run& before) {
  Difference result;
  bool common = false;
  for (const Measured& measured : now.benchmarks) {
    if (before.find(measured.name) == nullptr) {
      result.only_new.push_back(measured.name);
    } else {
      common = true;
    }
  }
  if (!common) {
    throw RunError("the two runs have no benchmark in common: the new one has '" +
                   now.benchmarks.front().name + "', the old one '" +
                   before.benchmarks.front().name + "'");
  }
  for (const Measured& measured : before.benchmarks) {
    if (now.find(measured.name) == nullptr) result.only_old.push_back(measured.name);
  }
  for (const char* name :
       {"host_name", "num_cpus", "mhz_per_cpu", "library_build_type", "cpu_scaling_enabled"}) {
    const auto value = [&](const Run& run) {
      for (const auto& [key, text] : run.context) {
        if (key == name) return text;
      }
      return std::string("not told");
    };
    if (value(now) != value(before)) {
      result.context.push_back({name, value(now), value(before)});
    }
  }
  return result;
}

/// The tables for programs: a list of objects, times in seconds.
[[nodiscard]] inline Json tables_json(const std::vector<Family>& families) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json list = Json::array();
  for (const Family& family : families) {
    for (const TableRow& row : family.rows) {
      const Measured& measured = *row.measured;
      Json entry;
      entry["name"] = measured.name;
      entry["repetitions"] = measured.seconds.size();
      if (!measured.error.empty()) entry["error"] = measured.error;
      if (!measured.seconds.empty()) {
        entry["seconds"] = measured.median();
        entry["seconds_min"] = measured.seconds.front();
        entry["seconds_max"] = measured.seconds.back();
      }
      entry["floor_seconds"] = optional(measured.floor_seconds);
      entry["over_floor"] = optional(row.over_floor);
      entry["growth"] = optional(row.growth);
      if (row.comparison) {
        entry["old_seconds"] = row.comparison->old_seconds;
        entry["new_over_old"] = row.comparison->ratio;
        entry["verdict"] = row.comparison->verdict;
      }
      list.push_back(std::move(entry));
    }
  }
  return list;
}

}  // namespace bpm_benchmarks
