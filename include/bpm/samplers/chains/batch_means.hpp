// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bpm::detail {

/// The running sums of one chain at equally spaced draws, at most 64 of them: when there are more,
/// every other one is dropped. Their differences are batches, whose spread tells how far the mean
/// is from the truth (H. Flegal, G. Jones, Ann. Statist. 38(2), 2010). A value.
class BatchMeans {
 public:
  /// Whether the sum at draw number `draw` (1, 2, ...) is wanted.
  [[nodiscard]] bool wanted(std::uint64_t draw) const noexcept { return draw % spacing_ == 0; }

  void add(std::vector<double> sum, double weight) {
    snapshots_.push_back({std::move(sum), weight});
    if (snapshots_.size() == most) {
      for (std::size_t k = 1; k < most; k += 2) snapshots_[k / 2] = std::move(snapshots_[k]);
      snapshots_.resize(most / 2);
      spacing_ *= 2;
    }
  }

  /// Calls batch(difference of sums, difference of weights) for batches of about equal weight: at
  /// most `count` of them, from the first snapshot on (the way from the start to it included).
  template <class Batch>
  void for_each(std::size_t count, Batch&& batch) const {
    const std::size_t stride = (snapshots_.size() + count - 1) / (count == 0 ? 1 : count);
    std::vector<double> difference;
    const Snapshot* before = nullptr;
    for (std::size_t k = stride; stride > 0 && k <= snapshots_.size(); k += stride) {
      const Snapshot& now = snapshots_[k - 1];
      difference = now.sum;
      for (std::size_t j = 0; before != nullptr && j < difference.size(); ++j) {
        difference[j] -= before->sum[j];
      }
      batch(difference, now.weight - (before != nullptr ? before->weight : 0.0));
      before = &now;
    }
  }

 private:
  static constexpr std::size_t most = 64;

  struct Snapshot {
    std::vector<double> sum;
    double weight = 0;
  };

  std::vector<Snapshot> snapshots_;
  std::uint64_t spacing_ = 1;
};

}  // namespace bpm::detail
