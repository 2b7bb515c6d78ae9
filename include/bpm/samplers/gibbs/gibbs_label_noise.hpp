// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Where a curve crosses the planes, sorted, and how the number of training errors changes there.
///
/// The sign of a change rides in the last bit of its place, so that plain numbers are sorted. The
/// bit is taken off afterwards: places equal before are equal again.
class GibbsCuts {
 public:
  void clear() { marked_.clear(); }

  /// Errors go up by one at `place`, or down.
  void add(double place, bool up) {
    const auto bits = std::bit_cast<std::uint64_t>(place);
    marked_.push_back(std::bit_cast<double>((bits & ~std::uint64_t{1}) | (up ? 1U : 0U)));
  }

  void sort() { std::sort(marked_.begin(), marked_.end()); }

  [[nodiscard]] std::size_t size() const noexcept { return marked_.size(); }
  [[nodiscard]] double place(std::size_t k) const noexcept {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(marked_[k]) & ~std::uint64_t{1});
  }
  [[nodiscard]] std::ptrdiff_t change(std::size_t k) const noexcept {
    return (std::bit_cast<std::uint64_t>(marked_[k]) & 1U) != 0 ? 1 : -1;
  }

 private:
  std::vector<double> marked_;
};

/// Weights of errors: exp(-beta e) for e = 0 .. m, beta = log((1 - q) / q); q = 0 has 1, 0, 0, ...
class GibbsPenalty {
 public:
  GibbsPenalty() = default;
  GibbsPenalty(double beta, std::ptrdiff_t points) : beta_(beta) {
    for (std::ptrdiff_t e = 0; e <= points; ++e) {
      powers_.push_back(e == 0 ? 1.0 : std::exp(-beta * static_cast<double>(e)));
    }
  }

  [[nodiscard]] double beta() const noexcept { return beta_; }
  [[nodiscard]] double operator()(std::ptrdiff_t errors) const noexcept { return powers_[errors]; }

  /// log((1 - q) / q).
  [[nodiscard]] static double beta_of(double noise) { return std::log1p(-noise) - std::log(noise); }

 private:
  double beta_ = 0;
  std::vector<double> powers_;
};

}}}  // namespace bpm::detail
