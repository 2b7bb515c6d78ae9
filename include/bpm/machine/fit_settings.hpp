// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bpm/version_space/soft_boundary.hpp"

namespace bpm {

/// Where a fit takes its kernel values from. The model does not depend on it.
enum class Strategy {
  dense,          ///< The whole symmetric matrix in memory.
  windowed,       ///< Computed when needed, nothing kept.
  windowed_rows,  ///< Computed when needed; rows that fit the budget are kept for the next draws.
  precomputed,    ///< A matrix that the user brings.
};

[[nodiscard]] constexpr std::string_view to_string(Strategy strategy) {
  constexpr std::array<std::string_view, 4> names{"dense", "windowed", "windowed+rows",
                                                  "precomputed"};
  const auto place = static_cast<std::size_t>(strategy);
  return place < names.size() ? names[place] : "unknown";
}

/// How a machine is fitted, whatever its kernel and sampler. A plain value.
struct FitSettings {
  SoftBoundary soft_boundary{};  ///< lambda; none by default: the training set must be separable.
  std::uint64_t seed = 1;        ///< Same seed, same model, whatever the three settings below.
  unsigned threads = 0;          ///< 0: as many as the machine runs.
  /// Working memory of the fit beside the caller's inputs, in bytes. Within it the fit takes the
  /// whole matrix where points are few, values slow or draws many, rows kept where values are dear,
  /// else windows, and makes fewer draws at a time if it must; the model is the same. What the
  /// classifier keeps is not counted: the inputs that have a coefficient, as they are and packed
  /// for prediction (and padded, where a row is not whole registers), and, with `keep_draws`, the
  /// draws.
  std::size_t memory = std::size_t{1} << 30U;
  /// The strategy to take instead of choosing one; what does not fit the memory is an error.
  std::optional<Strategy> strategy{};
  bool keep_draws = false;  ///< Keep the single draws: for vote fractions and the Gibbs error.
};

/// The working memory that a fit will take, told before it takes it, in bytes beside the caller's
/// inputs. Not counted: see `FitSettings::memory`.
struct MemoryForecast {
  Strategy strategy = Strategy::windowed;
  std::size_t kernel_bytes = 0;   ///< Kernel values kept, and copies of inputs where they need one.
  std::size_t sampler_bytes = 0;  ///< Outputs and coefficients of the runs in progress.
  std::size_t model_bytes = 0;    ///< Labels, sums over draws, hashes of the inputs.
  std::size_t kept_rows = 0;      ///< Kernel rows that may be kept, counted in `kernel_bytes`.
  unsigned draws_at_once = 0;     ///< Draws in progress at a time, for lack of memory; 0: any.
  unsigned threads = 0;           ///< Threads of the sampler, fewer for lack of memory.

  [[nodiscard]] std::size_t total() const noexcept {
    return kernel_bytes + sampler_bytes + model_bytes;
  }
};

}  // namespace bpm
