// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bpm/core/target.hpp"
#include "bpm/machine/boundary_choice.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Where a fit takes its kernel values from. The model does not depend on it, but for `linear`,
/// whose sums have other roundings.
enum class Strategy {
  dense,        ///< The whole symmetric matrix in memory.
  windowed,     ///< Computed when needed. Of kernels on pairs the rows that fit are kept.
  precomputed,  ///< A matrix that the user brings.
  linear,       ///< None: of a linear kernel w is kept, one number per feature.
};

[[nodiscard]] constexpr std::string_view to_string(Strategy strategy) {
  constexpr std::array<std::string_view, 4> names{"dense", "windowed", "precomputed", "linear"};
  const auto place = static_cast<std::size_t>(strategy);
  return place < names.size() ? names[place] : "unknown";
}

/// Of 0, 0.1, 0.3, 1 and 3 the one with the smallest out-of-fold log loss, in the mean of the
/// papers' seven sets and three made ones: the table is in docs/benchmarks.md.
inline constexpr double default_bias = 1;

/// How a machine is fitted, whatever its kernel and sampler. A plain value.
struct FitSettings {
  /// lambda, or the sampler's label noise, chosen by the fit; or a lambda of one's own:
  /// `SoftBoundary::hard()` asks for a training set
  /// that is separable. The same is chosen whatever memory and threads.
  SoftBoundary soft_boundary = SoftBoundary::automatic();
  /// What an automatic boundary begins with instead of choosing, raised where that does not
  /// suffice: `choose` leaves it in the machine it gives.
  std::optional<BoundaryChoice> boundary_choice{};
  std::uint64_t seed = 1;  ///< Same seed, same model, whatever the three settings below.
  unsigned threads = 0;    ///< 0: as many as the machine runs.
  /// Working memory of the fit beside the caller's inputs, in bytes. Perceptrons of a linear kernel
  /// keep w where a row has few numbers beside the points. Else, within the memory, the fit takes
  /// the whole matrix where points are few, values slow or draws many, else values when they are
  /// needed (of kernels on pairs, whose values are dear, as many rows are kept as the memory
  /// holds), and makes fewer draws at a time if it must; the model is the same. An automatic lambda
  /// asks for at least 16 n^2 bytes, n the 3000 points or fewer on which it is chosen. What the
  /// classifier keeps is not counted: the inputs that have a coefficient, as they are and packed
  /// for prediction (and padded, where a row is not whole registers), and, with `keep_draws`, the
  /// draws.
  std::size_t memory = std::size_t{1} << 30U;
  /// The strategy to take instead of choosing one; what does not fit the memory is an error.
  std::optional<Strategy> strategy{};
  /// A constant beside the kernel, in units of the mean k(x, x) of the training set: one constant
  /// feature more, so that classifiers have a threshold. It is part of the k(x, x) that a relative
  /// lambda is in units of. Left out: `default_bias`, but nothing beside a matrix that the user
  /// brings.
  std::optional<double> bias{};
  bool keep_draws = false;  ///< Keep the single draws: for vote fractions and the Gibbs error.
};

/// The working memory that a fit will take, told before it takes it, in bytes beside the caller's
/// inputs. Not counted: see `FitSettings::memory`.
struct MemoryForecast {
  Strategy strategy = Strategy::windowed;
  std::size_t kernel_bytes = 0;   ///< Kernel values kept, and copies of inputs where they need one.
  std::size_t sampler_bytes = 0;  ///< Outputs and coefficients of the runs in progress.
  std::size_t model_bytes = 0;    ///< Labels, sums over draws, hashes of the inputs.
  /// Kernel values to choose lambda by, which are gone before the others come.
  std::size_t choosing_bytes = 0;
  std::size_t kept_rows = 0;   ///< Kernel rows that may be kept, counted in `kernel_bytes`.
  unsigned draws_at_once = 0;  ///< Draws in progress at a time, for lack of memory; 0: any.
  unsigned threads = 0;        ///< Threads of the sampler, fewer for lack of memory.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("strategy", self.strategy);
    visit("kernel_bytes", self.kernel_bytes);
    visit("sampler_bytes", self.sampler_bytes);
    visit("model_bytes", self.model_bytes);
    visit("choosing_bytes", self.choosing_bytes);
    visit("kept_rows", self.kept_rows);
    visit("draws_at_once", self.draws_at_once);
    visit("threads", self.threads);
  }

  [[nodiscard]] std::size_t total() const noexcept {
    return model_bytes + std::max(choosing_bytes, kernel_bytes + sampler_bytes);
  }
};

}}  // namespace bpm
