// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "bpm/samplers/billiard/refresh_search.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm::detail {

/// The stages of a billiard's burn-in: settle; then, where the refresh length is to be chosen, race
/// for it and settle with the winner. A value.
class BilliardBurnIn {
 public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  /// `refresh_length`: 0: to be chosen. `bounces`: length of the burn-in; 0: as long as it takes.
  BilliardBurnIn(double refresh_length, std::uint64_t bounces)
      : chosen_(refresh_length != 0),
        refresh_length_(chosen_ ? refresh_length : RefreshSearch::candidates[1]),
        wanted_(bounces),
        end_(!chosen_       ? settling_bounces
             : bounces == 0 ? 8 * settling_bounces
                            : bounces) {}

  /// Bounces at which the stage ends; `never` when there is none left.
  [[nodiscard]] std::uint64_t stage_end() const noexcept { return end_; }
  [[nodiscard]] double refresh_length() const noexcept { return refresh_length_; }

  /// At the end of a stage that began with sums cleared: `bounces` and `total_path` since the
  /// start, `mean` fills in the mean position of the stage. The sums are to be cleared again.
  template <class Mean>
  void next_stage(const Cone& cone, std::uint64_t bounces, double total_path, Mean&& mean) {
    if (chosen_) {
      end_ = never;
      race_.reset();
      return;
    }
    if (!race_) {
      race_.emplace(cone.points(), cone.rank(), cone.stride(), race_bounces,
                    total_path / static_cast<double>(bounces));
    } else {
      std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
      mean(x.data());
      race_->add(x.data());
    }
    if (race_->done()) {
      refresh_length_ = race_->winner();
      chosen_ = true;
      end_ = std::max(bounces + settling_bounces, wanted_);
    } else {
      refresh_length_ = race_->refresh_length();
      end_ = bounces + race_->turn_bounces();
    }
  }

 private:
  static constexpr std::uint64_t settling_bounces = 1024;
  static constexpr std::uint64_t race_bounces = 2048;

  bool chosen_;
  double refresh_length_;
  std::uint64_t wanted_;
  std::uint64_t end_;
  std::optional<RefreshSearch> race_;
};

}  // namespace bpm::detail
