// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Chooses the refresh length of a billiard in its burn-in, by a race at equal cost.
///
/// Where the planes are nearly orthogonal, the billiard without refreshes is nearly integrable and
/// only new directions mix it; where version space is long and thin, new directions turn straight
/// travel along it into a random walk. Only the error itself shows which holds. So every candidate
/// flies for the same modelled time in each of a few rounds. The winner is the one whose means of
/// the rounds are nearest to the mean of all, in squared distance.
class RefreshSearch {
 public:
  static constexpr std::array<double, 4> candidates{2, 8, 32, 128};
  static constexpr int rounds = 4;

  /// `free_path`: measured path between bounces. A turn has at most `bounces` bounces.
  RefreshSearch(std::ptrdiff_t points, std::ptrdiff_t rank, std::ptrdiff_t stride,
                std::uint64_t bounces, double free_path)
      : means_(stride, rounds * std::ssize(candidates)) {
    // In nanoseconds on one machine; only the ratio matters.
    const auto m = static_cast<double>(points);
    const auto r = static_cast<double>(rank);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const double bounces_between = candidates[c] / free_path;
      const double bounce = 30 + 0.85 * m;
      const double refresh =
          12 * r + 0.08 * m * r + 0.15 * r * std::min(m, std::max(1.0, bounces_between));
      turns_[c] = std::max<std::uint64_t>(
          16, static_cast<std::uint64_t>(static_cast<double>(bounces) * bounce /
                                         (bounce + refresh / bounces_between)));
    }
  }

  [[nodiscard]] bool done() const noexcept { return turn_ == means_.cols(); }
  [[nodiscard]] double refresh_length() const noexcept { return candidates[candidate()]; }
  [[nodiscard]] std::uint64_t turn_bounces() const noexcept { return turns_[candidate()]; }

  /// Adds the mean position of the turn that has ended, `stride` coordinates.
  void add(const double* mean) {
    means_.col(turn_++) = Eigen::Map<const Eigen::VectorXd>(mean, means_.rows());
  }

  /// Returns the winner, once `done`; the first of equal ones.
  [[nodiscard]] double winner() const {
    const Eigen::VectorXd centre = means_.rowwise().mean();
    std::array<double, candidates.size()> errors{};
    for (int t = 0; t < turn_; ++t) {
      errors[static_cast<std::size_t>(t) % candidates.size()] +=
          (means_.col(t) - centre).squaredNorm();
    }
    return candidates[std::min_element(errors.begin(), errors.end()) - errors.begin()];
  }

 private:
  [[nodiscard]] std::size_t candidate() const noexcept {
    return static_cast<std::size_t>(turn_) % candidates.size();
  }

  std::array<std::uint64_t, candidates.size()> turns_{};
  int turn_ = 0;
  Eigen::MatrixXd means_;  ///< Mean positions, one per column.
};

/// Stages of a billiard's burn-in: settle; then, if the refresh length is to be chosen, race for it
/// and settle with the winner. A copyable value.
class BilliardBurnIn {
 public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  /// `refresh_length` 0: choose it. `bounces`: at least so many; 0: 8192, or as the choice needs.
  BilliardBurnIn(double refresh_length, std::uint64_t bounces)
      : chosen_(refresh_length != 0),
        refresh_length_(chosen_ ? refresh_length : RefreshSearch::candidates[1]),
        wanted_(bounces),
        end_(!chosen_       ? settling_bounces
             : bounces == 0 ? 8 * settling_bounces
                            : bounces) {}

  /// Visits the members of a burn-in that has ended.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("refresh_length", self.refresh_length_,
          Between{1e-3, std::numeric_limits<double>::infinity()});
  }
  void after_reading(std::ptrdiff_t /*points*/) {
    chosen_ = true;
    end_ = never;
    race_.reset();
  }

  /// Number of bounces at which the stage ends; `never` if none is left.
  [[nodiscard]] std::uint64_t stage_end() const noexcept { return end_; }
  [[nodiscard]] double refresh_length() const noexcept { return refresh_length_; }

  /// Ends a stage that began with cleared sums. `bounces` and `total_path` count from the start;
  /// `mean` writes the mean position of the stage. The caller then clears the sums again.
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
  double refresh_length_;  ///< At least 0.001.
  std::uint64_t wanted_;
  std::uint64_t end_;
  std::optional<RefreshSearch> race_;
};

}}}  // namespace bpm::detail
