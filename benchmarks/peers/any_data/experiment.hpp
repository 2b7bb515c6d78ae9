// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bpm/core/progress.hpp"
#include "data.hpp"
#include "options.hpp"

namespace any_data {

/// A mean over splits and its standard error.
struct Mean {
  double value = 0;
  double se = 0;
};
[[nodiscard]] Mean mean_of(const std::vector<double>& values);

/// Of one set, a number per split; errors and losses on the test part, shares of it and nats.
struct SetResult {
  std::string name;
  std::size_t train_size = 0;
  std::size_t test_size = 0;
  std::size_t features = 0;
  std::size_t classes = 0;
  std::size_t refused = 0;  ///< First fits that threw.
  std::vector<double> first{};
  std::vector<double> first_seconds{};
  std::vector<double> first_lambda{};
  std::vector<double> chosen{};
  std::vector<double> choose_seconds{};
  std::vector<double> chosen_fit_seconds{};
  std::vector<double> libsvm{};  ///< Empty where LIBSVM was left out.
  std::vector<double> libsvm_seconds{};
  std::vector<double> libsvm_fit_seconds{};
  std::vector<double> loss_calibrated{};
  std::vector<double> loss_votes{};
  std::vector<double> loss_libsvm{};
  std::vector<double> calibration_error{};
  std::vector<double> libsvm_calibration_error{};
  std::vector<double> loss_largest_class{};
  std::vector<double> slope_ratio{};   ///< Slope fitted on the test part, over the out-of-fold one.
  std::vector<double> hard_seconds{};  ///< Of sets that are also fitted with a hard boundary.
  std::vector<double> hard{};
  std::vector<double> linear_hard_seconds{};  ///< Of sets that the linear kernel does not separate.
  bool linear_hard_refused = true;            ///< Each of these fits threw.
  /// Errors of the first fit's kernel at each lambda of the default grid; fewer where a fit threw.
  std::vector<std::vector<double>> of_lambda{};

  /// Of the best lambda of the grid, known only afterwards. None: none fitted every split.
  [[nodiscard]] std::optional<double> grid_best() const;
};

/// Told of progress; false: stop.
using Watch = std::function<bool(const bpm::Progress&)>;

/// Adds all splits of a set to `result`. \throws bpm::Stopped.
void run_set(const DataSet& set, const Options& options, const Watch& watch, SetResult& result);

}  // namespace any_data
