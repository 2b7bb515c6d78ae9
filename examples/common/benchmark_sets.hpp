// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/data/table.hpp"
#include "bpm/kernels/kernel.hpp"
#include "common/splits.hpp"

/// \file
/// The seven sets of Table 1, what the paper reports on them, and what is done to their inputs.

namespace bpm_examples {

/// Mean error in percent over 100 splits and the standard error of the mean, as Table 1 prints
/// them. (It calls the second a standard deviation; at 40 % of 208 rows single errors spread ten
/// times as much.)
struct PaperResult {
  double svm;
  double svm_se;
  double bpm;
  double bpm_se;
};

struct BenchmarkSet {
  std::string_view name;
  double sigma;      ///< Of the kernel exp(-|x - x'|^2 / sigma^2).
  bool standardise;  ///< By means and deviations of the training part.
  std::size_t train_limit;
  PaperResult paper;
};

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// In the order of the table. Banana and waveform are standardised as they come. Sonar and
/// ionosphere are taken as they are: standardised, sonar's kernel matrix at this width is all but
/// the identity. The 400 training rows are those of the collection of banana and waveform.
inline constexpr std::array<BenchmarkSet, 7> benchmark_sets{{
    {"heart", 10.0, true, no_limit, {25.4, 0.40, 22.8, 0.34}},
    {"thyroid", 3.0, true, no_limit, {5.3, 0.24, 4.4, 0.21}},
    {"diabetes", 5.0, true, no_limit, {33.1, 0.24, 32.0, 0.25}},
    {"waveform", 20.0, false, 400, {13.0, 0.10, 12.1, 0.09}},
    {"banana", 0.5, false, 400, {16.2, 0.15, 15.1, 0.14}},
    {"sonar", 1.0, false, no_limit, {15.4, 0.37, 15.9, 0.38}},
    {"ionosphere", 1.5, false, no_limit, {11.9, 0.25, 11.5, 0.25}},
}};

/// The set of that name; null where there is none.
[[nodiscard]] inline const BenchmarkSet* find_benchmark_set(std::string_view name) {
  const auto* const found = std::ranges::find(benchmark_sets, name, &BenchmarkSet::name);
  return found == benchmark_sets.end() ? nullptr : &*found;
}

using Inputs = bpm::RowMatrix<double>;

/// A whole set: inputs, one per row, and labels +1 or -1.
struct BenchmarkData {
  Inputs inputs;
  std::vector<int> labels;
};

/// Reads NAME.csv from the folder or from benchmarks/ in it; an empty folder stands for the
/// environment's BPM_DATA_DIR. \throws bpm::DataError where it is not there or is no such file.
[[nodiscard]] inline BenchmarkData read_benchmark_set(const BenchmarkSet& set,
                                                      std::filesystem::path folder) {
  const std::string file = std::string(set.name) + ".csv";
  if (folder.empty()) {
    const char* const named = std::getenv("BPM_DATA_DIR");
    if (named == nullptr || *named == '\0') {
      throw bpm::DataError("no folder with " + file +
                           ": name one by --data or in the environment's BPM_DATA_DIR");
    }
    folder = named;
  }
  for (const auto& candidate : {folder / file, folder / "benchmarks" / file}) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(candidate, ignored)) {
      continue;
    }
    auto read = bpm::read_table<double>(candidate);
    for (const int label : read.labels) {
      if (label != 1 && label != -1) {
        throw bpm::DataError(candidate.string() + ": found the label " + std::to_string(label) +
                             ", expected 1 or -1");
      }
    }
    return {std::move(read.inputs), std::move(read.labels)};
  }
  throw bpm::DataError("neither " + (folder / file).string() + " nor " +
                       (folder / "benchmarks" / file).string() + " is there");
}

/// Training and test parts.
struct InputSplit {
  Inputs train;
  Inputs test;
  std::vector<int> train_labels;
  std::vector<int> test_labels;
};

/// Subtracts the means of the training part from both parts and divides by its standard deviations
/// (over m - 1); a constant column is only shifted.
inline void standardise(InputSplit& split) {
  const auto freedom = static_cast<double>(std::max<Eigen::Index>(1, split.train.rows() - 1));
  for (Eigen::Index column = 0; column < split.train.cols(); ++column) {
    const double mean = split.train.col(column).mean();
    split.train.col(column).array() -= mean;
    split.test.col(column).array() -= mean;
    const double deviation = split.train.col(column).norm() / std::sqrt(freedom);
    if (deviation > 0) {
      split.train.col(column) /= deviation;
      split.test.col(column) /= deviation;
    }
  }
}

/// The rows of a split, in its order.
[[nodiscard]] inline InputSplit take_split(const BenchmarkData& data, const Split& split) {
  const auto take = [&](const std::vector<std::ptrdiff_t>& rows, Inputs& inputs,
                        std::vector<int>& labels) {
    inputs.resize(std::ssize(rows), data.inputs.cols());
    for (std::ptrdiff_t i = 0; i < std::ssize(rows); ++i) {
      const std::ptrdiff_t row = rows[static_cast<std::size_t>(i)];
      inputs.row(i) = data.inputs.row(row);
      labels.push_back(data.labels[static_cast<std::size_t>(row)]);
    }
  };
  InputSplit result;
  take(split.train, result.train, result.train_labels);
  take(split.test, result.test, result.test_labels);
  return result;
}

}  // namespace bpm_examples
