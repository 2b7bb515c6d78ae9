// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/data/table.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/standardisation.hpp"
#include "common/benchmark_sets.hpp"
#include "common/check.hpp"
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
};

/// Points from normal distributions in 20 dimensions, one class on either side of a plane; a fifth
/// of the labels are flipped.
[[nodiscard]] inline DataSet flipped(std::uint64_t seed) {
  DataSet set{.name = "flipped",
              .inputs = Inputs(10'000, 20),
              .train_fraction = 0.5,
              .hard = true,
              .linear_hard = true};
  bpm::RandomEngine engine(seed, 1);
  bpm::NormalDraws normal;
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    for (float& value : set.inputs.row(i)) value = static_cast<float>(normal(engine));
    const bool positive = set.inputs.row(i).head(5).sum() > 0;
    set.labels.push_back(positive != (bpm::uniform_unit(engine) < 0.2) ? 1 : 0);
  }
  return set;
}

/// Points without any pattern, of 300 classes.
[[nodiscard]] inline DataSet noise_300(std::uint64_t seed) {
  DataSet set{.name = "noise_300", .inputs = Inputs(7'200, 10), .train_fraction = 6000.0 / 7200};
  bpm::RandomEngine engine(seed, 2);
  bpm::NormalDraws normal;
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    for (float& value : set.inputs.row(i)) value = static_cast<float>(normal(engine));
    set.labels.push_back(static_cast<int>(i % 300));
  }
  return set;
}

/// 26 classes of three normal clusters each; 16 features, rounded to whole numbers from 0 to 15.
[[nodiscard]] inline DataSet clusters_26(std::uint64_t seed) {
  constexpr int classes = 26;
  DataSet set{.name = "clusters_26",
              .inputs = Inputs(20'000, 16),
              .train_fraction = 0.75,
              .draws = 10,
              .hard = true};
  bpm::RandomEngine engine(seed, 3);
  bpm::NormalDraws normal;
  bpm::RowMatrix<double> centres(3 * classes, 16);
  for (double& value : centres.reshaped()) value = 7.5 + 2.7 * normal(engine);
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    const int label = static_cast<int>(i % classes);
    const auto cluster = static_cast<Eigen::Index>(3 * label + bpm::uniform_below(engine, 3U));
    for (Eigen::Index j = 0; j < 16; ++j) {
      const double value = std::round(centres(cluster, j) + 1.8 * normal(engine));
      set.inputs(i, j) = static_cast<float>(std::clamp(value, 0.0, 15.0));
    }
    set.labels.push_back(label);
  }
  return set;
}

/// Two classes, each from a normal distribution in 6 dimensions.
struct TwoNormals {
  double distance = 0;  ///< Between the means, in each feature.
  double scale = 1;     ///< Of the second class.
  double share = 0.5;   ///< Of the second class.
};

/// Points of them, of which 300 train.
[[nodiscard]] inline DataSet two_normals(const std::string& name, const TwoNormals& classes,
                                         std::uint64_t seed, std::uint64_t stream) {
  DataSet set{.name = name, .inputs = Inputs(2'300, 6), .train_limit = 300};
  bpm::RandomEngine engine(seed, stream);
  bpm::NormalDraws normal;
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    const bool second = bpm::uniform_unit(engine) < classes.share;
    for (float& value : set.inputs.row(i)) {
      const double draw = normal(engine);
      value = static_cast<float>(second ? classes.distance + classes.scale * draw : draw);
    }
    set.labels.push_back(second ? 1 : 0);
  }
  return set;
}

/// A set by its name. \throws as `read_benchmark_set`.
[[nodiscard]] inline DataSet named_set(const std::string& name, const std::filesystem::path& folder,
                                       std::uint64_t seed) {
  if (name == "flipped") return flipped(seed);
  if (name == "noise_300") return noise_300(seed);
  if (name == "clusters_26") return clusters_26(seed);
  if (name == "means") return two_normals(name, {.distance = 0.8}, seed, 4);
  if (name == "covariances") return two_normals(name, {.scale = 2}, seed, 5);
  if (name == "rare") return two_normals(name, {.distance = 0.8, .share = 0.15}, seed, 6);
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

/// A split, standardised by the training part: columns of mean 0 and deviation 1, constant ones 0.
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
  const auto scaling = bpm::Standardisation::of(parts.train);
  parts.train = scaling.apply(parts.train);
  parts.test = scaling.apply(parts.test);
  return parts;
}

}  // namespace any_data
