// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bpm/data/table.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "common/benchmark_sets.hpp"
#include "common/splits.hpp"

/// \file
/// Data sets, real and made, and their splits.

namespace any_data {

using Inputs = bpm::RowMatrix<float>;

struct DataSet {
  std::string name;
  Inputs inputs;
  std::vector<int> labels{};
  double train_fraction = 0.6;
  std::size_t train_limit = bpm_examples::no_limit;
  std::uint64_t draws = 10;  ///< Of the first fit.
  bool hard = false;         ///< Also to be fitted with a hard boundary.
  bool linear_hard = false;  ///< The same with the linear kernel, which separates nothing here.
  bool standardise = true;   ///< Features in one unit are taken as they are.
};

/// The names of the sets that `made_set` makes.
[[nodiscard]] const std::vector<std::string>& made_sets();

/// A set made by seed, one of `made_sets()`: see made_sets.cpp.
[[nodiscard]] DataSet made_set(const std::string& name, std::uint64_t seed);

/// One of the papers' sets by its name. \throws as `read_benchmark_set`.
[[nodiscard]] inline DataSet paper_set(const std::string& name,
                                       const std::filesystem::path& folder) {
  const bpm_examples::BenchmarkSet& set = *bpm_examples::find_benchmark_set(name);
  auto data = bpm_examples::read_benchmark_set(set, folder);
  return {.name = name,
          .inputs = data.inputs.cast<float>(),
          .labels = std::move(data.labels),
          .train_limit = set.train_limit};
}

/// A table of the user's own. \throws bpm::DataError.
[[nodiscard]] inline DataSet own_set(const std::filesystem::path& path) {
  auto table = bpm::read_table<float>(path);
  return {.name = path.stem().string(),
          .inputs = std::move(table.inputs),
          .labels = std::move(table.labels)};
}

/// A split; if the set asks for it standardised by the training part: columns of mean 0 and
/// deviation 1, constant ones 0.
struct Parts {
  Inputs train;
  Inputs test;
  std::vector<int> train_labels;
  std::vector<int> test_labels;
};

[[nodiscard]] inline Parts split(const DataSet& set, std::uint64_t seed, std::uint64_t number) {
  const auto rows = bpm_examples::random_split(set.labels.size(),
                                               {set.train_fraction, set.train_limit}, seed, number);
  Parts parts{set.inputs(rows.train, Eigen::all), set.inputs(rows.test, Eigen::all), {}, {}};
  for (const auto i : rows.train) parts.train_labels.push_back(set.labels[i]);
  for (const auto i : rows.test) parts.test_labels.push_back(set.labels[i]);
  if (!set.standardise) return parts;
  const auto scaling = bpm::Standardisation::of(parts.train);
  parts.train = scaling.apply(parts.train);
  parts.test = scaling.apply(parts.test);
  return parts;
}

}  // namespace any_data
