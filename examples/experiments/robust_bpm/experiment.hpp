// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchmark_sets.hpp"
#include "common/chain_check.hpp"
#include "common/paired_t.hpp"
#include "options.hpp"

namespace bpm_examples {

/// Mean of test errors over splits, in percent, and the standard error of the mean.
struct MeanError {
  double percent = 0;
  double standard_error = 0;
  std::size_t splits = 0;  ///< Over which the mean goes.
};

/// One classifier on all splits.
struct ClassifierResult {
  MeanError error;
  /// Splits that it did not separate: without a Bayes point (these are not in the mean), or with
  /// training errors left (these are).
  std::size_t not_separated = 0;
};

/// A line of Table 1.
struct TableRow {
  const BenchmarkSet* set = nullptr;
  double width = 0;  ///< W of exp(-|x - x'|^2 / W^2).
  double lambda = 0;
  std::size_t splits = 0;
  std::size_t train_size = 0;
  std::size_t test_size = 0;
  ClassifierResult bpm;
  ClassifierResult svm;       ///< Through the origin.
  ClassifierResult svm_bias;  ///< With a bias.
  ClassifierResult perceptron;
  PairedTest test;            ///< SVM - BPM, on the splits where there is a Bayes point.
  double centre_error = 0;    ///< Median over splits of the billiard's standard error, radians.
  std::uint64_t bounces = 0;  ///< Of the billiard, the fewest of any split.
  ChainCheck chains;
  /// Test errors in percent, split by split; NaN where there is no Bayes point.
  std::vector<double> bpm_of_splits;
  std::vector<double> svm_of_splits;
  double seconds = 0;
};

/// A point of Figure 2.
struct FigurePoint {
  std::string dataset;
  double lambda = 0;
  ClassifierResult bpm;
  ClassifierResult svm;
  ChainCheck chains;
};

/// Is told of each finished split: which set, how many are done, of how many. False: stop.
using SplitObserver = std::function<bool(const std::string&, std::size_t, std::size_t)>;

/// One set of Table 1: the splits on all threads, one thread a split. The result depends on the
/// seed alone. Nothing where the observer stopped it.
[[nodiscard]] std::optional<TableRow> run_benchmark_set(const BenchmarkSet& set,
                                                        const BenchmarkData& data,
                                                        const RobustOptions& options,
                                                        const SplitObserver& observer);

/// The toy set's values of lambda, and heart's.
[[nodiscard]] std::vector<double> toy_lambdas();
[[nodiscard]] std::vector<double> heart_lambdas();

/// Figure 2, left: a linear kernel on two overlapping clouds in the plane, normal with unit
/// covariance around (1, 0) and (-1, 0), in equal parts; 20 training and 1000 test points, drawn
/// anew for each split. The best possible error is Phi(-1) = 15.87 %. The classes overlap, so
/// there is no version space at lambda = 0.
[[nodiscard]] std::optional<std::vector<FigurePoint>> run_toy(const RobustOptions& options,
                                                              const SplitObserver& observer);

/// Figure 2, right: heart with sigma = 10, on the splits of the table.
[[nodiscard]] std::optional<std::vector<FigurePoint>> run_heart(const BenchmarkData& data,
                                                                const RobustOptions& options,
                                                                const SplitObserver& observer);

}  // namespace bpm_examples
