// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numbers>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "common/benchmark_sets.hpp"
#include "common/mnist_data.hpp"
#include "common/splits.hpp"
#include "options.hpp"

/// \file
/// The sets of the label_noise program: a drawn one, and those of the benchmarks that are found.

namespace bpm_examples {

/// A set and the width of its kernel exp(-|x - x'|^2 / width^2).
struct NoiseSet {
  std::string name;
  double width = 1;
  const BenchmarkSet* benchmark = nullptr;  ///< Null: drawn.
  BenchmarkData data{};                     ///< Of a benchmark.
};

/// One split as kernel machines see it. The training labels are noisy, the test labels are not.
struct NoisySplit {
  bpm::RowMatrix<double> train_kernel;
  bpm::RowMatrix<double> test_kernel;
  std::vector<int> train_labels;
  std::vector<int> test_labels;
  std::size_t flipped = 0;
};

inline constexpr std::size_t wave_test_size = 2000;

/// Points uniform on [-1, 1]^2; the label is on which side of a wave they lie.
inline void draw_waves(std::size_t count, bpm::RandomEngine& engine, Inputs& inputs,
                       std::vector<int>& labels) {
  inputs.resize(static_cast<Eigen::Index>(count), 2);
  labels.clear();
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    inputs(i, 0) = 2 * bpm::uniform_unit(engine) - 1;
    inputs(i, 1) = 2 * bpm::uniform_unit(engine) - 1;
    const double wave = 0.5 * std::sin(std::numbers::pi * inputs(i, 0));
    labels.push_back(inputs(i, 1) > wave ? 1 : -1);
  }
}

/// Flips round(part * size) labels, chosen at random; the number.
inline std::size_t flip_labels(std::vector<int>& labels, double part, bpm::RandomEngine& engine) {
  std::vector<std::size_t> order(labels.size());
  bpm::random_permutation(std::span(order), engine);
  const auto count =
      static_cast<std::size_t>(std::llround(part * static_cast<double>(labels.size())));
  for (std::size_t k = 0; k < count; ++k) labels[order[k]] *= -1;
  return count;
}

/// The drawn set, then heart and banana where they are found. Throws as `data_places` and
/// `read_benchmark_set`.
[[nodiscard]] inline std::vector<NoiseSet> find_noise_sets(const std::filesystem::path& data) {
  std::vector<NoiseSet> sets{{.name = "waves", .width = 0.7}};
  for (const char* name : {"heart", "banana"}) {
    const BenchmarkSet* const benchmark = find_benchmark_set(name);
    for (const auto& place : data_places(data)) {
      const std::string file = std::string(name) + ".csv";
      std::error_code ignored;
      if (std::filesystem::is_regular_file(place / file, ignored) ||
          std::filesystem::is_regular_file(place / "benchmarks" / file, ignored)) {
        sets.push_back({name, benchmark->sigma, benchmark, read_benchmark_set(*benchmark, place)});
        break;
      }
    }
  }
  return sets;
}

/// Split `number` of the set under the options' seed: the same whatever else is done.
[[nodiscard]] inline NoisySplit make_noisy_split(const NoiseSet& set, const NoiseOptions& options,
                                                 std::uint64_t number) {
  constexpr std::uint64_t streams_for_splits = std::uint64_t{1} << 32U;
  bpm::RandomEngine engine(options.common.seed, streams_for_splits + number);
  InputSplit inputs;
  if (set.benchmark == nullptr) {
    draw_waves(options.train, engine, inputs.train, inputs.train_labels);
    draw_waves(wave_test_size, engine, inputs.test, inputs.test_labels);
  } else {
    inputs =
        take_split(set.data, random_split(set.data.labels.size(), {.train_limit = options.train},
                                          options.common.seed, number));
    if (set.benchmark->standardise) {
      standardise(inputs);
    }
  }
  NoisySplit split;
  split.flipped = flip_labels(inputs.train_labels, options.flipped, engine);
  const auto kernel = bpm::Gaussian::from_width(set.width);
  // One thread: splits share out the others.
  split.train_kernel = bpm::kernel_matrix(kernel, inputs.train, {.threads = 1});
  split.test_kernel = bpm::kernel_matrix(kernel, inputs.test, inputs.train, {.threads = 1});
  split.train_labels = std::move(inputs.train_labels);
  split.test_labels = std::move(inputs.test_labels);
  return split;
}

}  // namespace bpm_examples
