// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/members.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The running sums of one chain at equally spaced draws, at most 64 of them: when there are more,
/// every other one is dropped. Their differences are batches, whose spread tells how far the mean
/// is from the truth (H. Flegal, G. Jones, Ann. Statist. 38(2), 2010). A value.
class BatchMeans {
 public:
  /// Whether the sum at draw number `draw` (1, 2, ...) is wanted.
  [[nodiscard]] bool wanted(std::uint64_t draw) const noexcept { return draw % spacing_ == 0; }

  void add(std::vector<double> sum, double weight) {
    sums_.push_back(std::move(sum));
    weights_.push_back(weight);
    if (sums_.size() == most) {
      for (std::size_t k = 1; k < most; k += 2) {
        sums_[k / 2] = std::move(sums_[k]);
        weights_[k / 2] = weights_[k];
      }
      sums_.resize(most / 2);
      weights_.resize(most / 2);
      spacing_ *= 2;
    }
  }

  /// Calls batch(difference of sums, difference of weights) for batches of about equal weight: at
  /// most `count` of them, from the first snapshot on (the way from the start to it included).
  template <class Batch>
  void for_each(std::size_t count, Batch&& batch) const {
    const std::size_t stride = (sums_.size() + count - 1) / (count == 0 ? 1 : count);
    std::vector<double> difference;
    for (std::size_t k = stride; stride > 0 && k <= sums_.size(); k += stride) {
      const bool first = k == stride;
      difference = sums_[k - 1];
      for (std::size_t j = 0; !first && j < difference.size(); ++j) {
        difference[j] -= sums_[k - stride - 1][j];
      }
      batch(difference, weights_[k - 1] - (first ? 0.0 : weights_[k - stride - 1]));
    }
  }

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("sums", self.sums_, Rows{Rows::Of::rank, -1});
    visit("weights", self.weights_);
    visit("spacing", self.spacing_, Between{1, Bound::counted.most});
  }
  void after_reading(std::ptrdiff_t /*points*/) const {
    check(sums_.size() < most && weights_.size() == sums_.size(), "chain", "batches", "have ",
          sums_.size(), " sums and ", weights_.size(), " weights, must be as many, and below ",
          most);
  }

 private:
  static constexpr std::size_t most = 64;

  std::vector<std::vector<double>> sums_;
  std::vector<double> weights_;
  std::uint64_t spacing_ = 1;
};

/// Variance of the mean of correlated values, with the degrees of freedom of that estimate.
struct BatchSpread {
  double variance = 0;
  double freedom = 7;
};

/// The largest variance that 8, 16, 32 or 64 batches of the values tell (H. Flegal, G. Jones, Ann.
/// Statist. 38(2), 2010, for one number of batches). Values that do not fill the batches are left
/// out at the beginning, and the mean is that of the batches: against another one, of all values,
/// divisor b (b - 1) would be too small. Needs 8 values.
[[nodiscard]] inline BatchSpread batch_spread(std::span<const double> values) {
  BatchSpread largest;
  for (std::size_t batches = 8; batches <= 64 && batches <= values.size(); batches *= 2) {
    const std::size_t length = values.size() / batches;
    const double* first = values.data() + (values.size() - batches * length);
    const auto count = static_cast<double>(batches);
    double means[64];
    double all = 0;
    for (std::size_t b = 0; b < batches; ++b) {
      means[b] = 0;
      for (std::size_t k = 0; k < length; ++k) means[b] += first[b * length + k];
      means[b] /= static_cast<double>(length);
      all += means[b] / count;
    }
    double squares = 0;
    for (std::size_t b = 0; b < batches; ++b) squares += (means[b] - all) * (means[b] - all);
    const double variance = squares / (count * (count - 1));
    if (variance > largest.variance) {
      largest = {variance, count - 1};
    }
  }
  return largest;
}

}}}  // namespace bpm::detail
