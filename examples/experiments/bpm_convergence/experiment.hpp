// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bpm/core/progress.hpp"
#include "data.hpp"
#include "options.hpp"

namespace bpm_examples {

/// The two ways of flying, in the order in which they are reported.
inline constexpr std::array<const char*, 2> flight_names{"published", "geodesic"};

/// Mean and standard deviation over the splits.
struct Spread {
  double mean = 0;
  double deviation = 0;  ///< With divisor n - 1; 0 for one split.
};

/// A row of a table for one flight.
struct ResultRow {
  TableSettings table{};
  std::uint64_t bounces = 0;
  std::string flight;
  Spread svm_accuracy;  ///< In percent.
  Spread bpm_accuracy;
  double d_svm = 0;
  double lambda_max = 0;
  double support_vectors = 0;
  double delta_alpha = 0;
};

/// The filtered change of alpha against the number of bounces, for one panel of the figures.
struct BouncePanel {
  TableSettings table{};
  std::size_t support_vectors = 0;
  std::vector<double> bounces;
  std::array<std::vector<double>, 2> delta_alpha;  ///< By flight.
};

/// The numbers of bounces of the paper's rows.
inline constexpr std::array<std::uint64_t, 7> paper_bounces{50, 100, 500, 1000, 5000, 10000, 50000};

/// Runs the tables of the options: for every row its own splits, for every split one SVM and two
/// billiards that start from it. The result depends on the seed only, not on the threads.
[[nodiscard]] std::vector<ResultRow> run_tables(
    const ConvergenceOptions& options, const std::function<void(const bpm::Progress&)>& progress);

/// Runs the four panels of figures 2 and 3.
[[nodiscard]] std::vector<BouncePanel> run_panels(
    const ConvergenceOptions& options, const std::function<void(const bpm::Progress&)>& progress);

}  // namespace bpm_examples
