// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bpm/version_space/soft_boundary.hpp"

namespace bpm {

/// How a machine is fitted, whatever its kernel and sampler. A plain value.
struct FitSettings {
  SoftBoundary soft_boundary{};  ///< lambda; none by default: the training set must be separable.
  std::uint64_t seed = 1;        ///< Same seed, same model, whatever the two settings below.
  unsigned threads = 0;          ///< 0: as many as the machine runs.
  /// Working memory of the fit beside the caller's inputs, in bytes. It chooses between the whole
  /// kernel matrix and windowed evaluation; the model is the same. What the fitted machine keeps at
  /// the end is not counted: copies of the inputs that have a coefficient (padded once more where a
  /// row is not whole registers) and, with `keep_draws`, the draws.
  std::size_t memory = std::size_t{1} << 30U;
  bool keep_draws = false;  ///< Keep the single draws: for vote fractions and the Gibbs error.
};

/// Where a fit takes its kernel values from.
enum class Strategy {
  dense,        ///< The whole symmetric matrix in memory.
  windowed,     ///< Computed when needed, nothing kept.
  precomputed,  ///< A matrix that the user brings.
};

[[nodiscard]] constexpr std::string_view to_string(Strategy strategy) {
  switch (strategy) {
    case Strategy::dense:
      return "dense";
    case Strategy::windowed:
      return "windowed";
    case Strategy::precomputed:
      return "precomputed";
  }
  return "unknown";
}

/// The working memory that a fit will take, told before it takes it, in bytes beside the caller's
/// inputs. Not counted: see `FitSettings::memory`.
struct MemoryForecast {
  Strategy strategy = Strategy::windowed;
  std::size_t kernel_bytes = 0;   ///< Kernel values kept, and copies of inputs where they need one.
  std::size_t sampler_bytes = 0;  ///< Outputs and coefficients of the runs in progress.
  std::size_t model_bytes = 0;    ///< Labels, sums over draws, hashes of the inputs.

  [[nodiscard]] std::size_t total() const noexcept {
    return kernel_bytes + sampler_bytes + model_bytes;
  }
};

}  // namespace bpm
