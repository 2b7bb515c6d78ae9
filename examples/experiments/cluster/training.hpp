// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bpm/core/progress.hpp"
#include "common/mnist_data.hpp"
#include "cost_model.hpp"
#include "job.hpp"
#include "options.hpp"

namespace bpm_examples {

/// What a training run of all ranks was like.
struct ClusterRun {
  std::uint64_t draws = 0;
  double train_seconds = 0;
  double predict_seconds = 0;
  std::uint64_t kernel_evaluations = 0;
  std::uint64_t mistakes = 0;
  double passes_mean = 0;
  std::size_t support = 0;
  double test_error_percent = 0;
  std::string model_digest;
};

/// Collective. Trains as the options say; the first rank predicts the test digits. `progress` is
/// told on each rank; false stops all.
[[nodiscard]] ClusterRun train_on_cluster(
    const ClusterOptions& options, const ClusterJob& job, const Digits& digits,
    const std::function<bool(const bpm::Progress&)>& progress);

/// What this machine and this job can do.
struct MeasuredRates {
  ClusterRates rates;
  bool messages_measured = false;  ///< Else latency and bandwidth are those of the defaults.
};

/// Collective. Kernel values and additions of all ranks at once, so that ranks that share a
/// processor share its rate; messages between the first two ranks.
[[nodiscard]] MeasuredRates measure_rates(const ClusterOptions& options, const ClusterJob& job,
                                          const Digits& digits);

/// One draw on the first digits by one process: how the load grows with their number.
struct LoadSample {
  double points = 0;
  double events = 0;  ///< Points at which some class erred, every time counted.
};
[[nodiscard]] LoadSample sample_load(const ClusterOptions& options, const Digits& digits,
                                     Eigen::Index points);

}  // namespace bpm_examples
