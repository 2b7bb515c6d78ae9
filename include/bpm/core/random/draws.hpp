// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "bpm/core/members.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Our own draws from a generator of 64 random bits. Those of the standard libraries differ from
/// one library to the next even with one seed; these do not.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// A generator of full-range 64-bit words, as all draws here need.
template <class G>
concept Random64 =
    std::uniform_random_bit_generator<G> && G::min() == 0 && G::max() == ~std::uint64_t{0};

}  // namespace detail

/// Uniform on [0, 1), a multiple of 2^-53.
[[nodiscard]] double uniform_unit(detail::Random64 auto& engine) {
  return static_cast<double>(engine() >> 11U) * 0x1.0p-53;
}

/// Uniform on the integers 0 .. bound - 1, without bias; bound > 0 (unchecked: inner loops use it).
/// Method: D. Lemire, "Fast random integer generation in an interval", ACM Trans. Model. Comput.
/// Simul. 29(1), 2019, with 32-bit words of the generator's upper half.
[[nodiscard]] std::uint32_t uniform_below(detail::Random64 auto& engine, std::uint32_t bound) {
  std::uint64_t product = (engine() >> 32U) * bound;
  if (auto low = static_cast<std::uint32_t>(product); low < bound) {
    const std::uint32_t threshold = (0U - bound) % bound;
    while (low < threshold) {
      product = (engine() >> 32U) * bound;
      low = static_cast<std::uint32_t>(product);
    }
  }
  return static_cast<std::uint32_t>(product >> 32U);
}

/// Standard normal draws by Marsaglia's polar method (G. Marsaglia, T. Bray, SIAM Review 6, 1964).
/// Draws come in pairs; the second is kept, so one object belongs to one generator.
class NormalDraws {
 public:
  [[nodiscard]] double operator()(detail::Random64 auto& engine) {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double u = 0;
    double v = 0;
    double s = 0;
    do {
      u = 2 * uniform_unit(engine) - 1;
      v = 2 * uniform_unit(engine) - 1;
      s = u * u + v * v;
    } while (s >= 1 || s == 0);
    const double factor = std::sqrt(-2 * std::log(s) / s);
    spare_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }

  /// What the next draws depend on, beside the generator: calls visit(name, member).
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("spare", self.spare_, detail::Bound::finite);
    visit("has_spare", self.has_spare_);
  }

 private:
  double spare_ = 0;
  bool has_spare_ = false;
};

/// Fills `values` with a uniformly random order of 0 .. values.size() - 1 (Fisher and Yates).
/// Cost: one bounded draw an element. `values.size()` must be below 2^32.
template <std::integral Integer>
void random_permutation(std::span<Integer> values, detail::Random64 auto& engine) {
  std::iota(values.begin(), values.end(), Integer{0});
  for (std::size_t i = values.size(); i > 1; --i) {
    const std::size_t j = uniform_below(engine, static_cast<std::uint32_t>(i));
    std::swap(values[i - 1], values[j]);
  }
}

}}  // namespace bpm
