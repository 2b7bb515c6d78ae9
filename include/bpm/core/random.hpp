// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Random numbers: streams of bits by seed and stream number, and draws from them.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Mixes 64 bits, one to one, so that every output bit depends on all input bits (the finaliser of
/// SplitMix64, variant 13 of D. Stafford).
[[nodiscard]] constexpr std::uint64_t mixed_word(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

/// The increment of SplitMix64: words this far apart are well separated by `mixed_word`.
inline constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15ULL;

}  // namespace detail

/// xoshiro256++ (D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", ACM
/// Trans. Math. Softw. 47(4), 2021): 64 bits a call, period 2^256 - 1, 32 bytes of state.
///
/// The state is filled from a (seed, stream) pair by SplitMix64, so that streams of one seed are
/// unrelated and the same pair gives the same numbers with every compiler and library. A
/// `std::uniform_random_bit_generator`.
class RandomEngine {
 public:
  using result_type = std::uint64_t;  ///< Words of 64 random bits.

  /// Starts a stream; any two words are valid, also 0.
  constexpr explicit RandomEngine(std::uint64_t seed = 1, std::uint64_t stream = 0) noexcept {
    // Two rounds of mixing keep (seed, stream) pairs such as (1, 2) and (2, 1) apart.
    std::uint64_t mix = seed;
    std::uint64_t start = next_splitmix(mix);
    mix = start ^ (stream * 0xD1342543DE82EF95ULL + 0x2545F4914F6CDD1DULL);
    for (auto& word : state_) word = next_splitmix(mix);
  }

  /// Smallest value, 0.
  [[nodiscard]] static constexpr result_type min() noexcept { return 0; }
  /// Largest value, 2^64 - 1.
  [[nodiscard]] static constexpr result_type max() noexcept {
    return std::numeric_limits<result_type>::max();
  }

  /// Returns 64 random bits and advances the state by one step.
  constexpr result_type operator()() noexcept {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Equal engines give the same bits from here on.
  friend constexpr bool operator==(const RandomEngine&, const RandomEngine&) = default;

 private:
  static constexpr std::uint64_t next_splitmix(std::uint64_t& state) noexcept {
    state += detail::golden_step;
    return detail::mixed_word(state);
  }

  std::array<std::uint64_t, 4> state_{};
};

/// Random numbers for a sampler: a seed and the number of the next stream.
///
/// Draw n of perceptrons uses stream n alone, so that draws can be made in any order, on any number
/// of threads, in one run or in several; a Markov chain has a stream of its own. A sampler that
/// makes N draws advances `next` by N. With its state, a chain continues in the same way.
struct RandomStreams {
  std::uint64_t seed = 1;  ///< Any value; the clock is never used.
  std::uint64_t next = 0;  ///< Number of the stream of the next draw.

  /// Returns the engine of stream `index`; independent of `next`.
  [[nodiscard]] constexpr RandomEngine stream(std::uint64_t index) const noexcept {
    return RandomEngine(seed, index);
  }

  /// Visits `next` alone: the seed belongs to the settings.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("next", self.next, detail::Bound::counted);
  }

  /// Equal if the seeds and the next streams are.
  friend constexpr bool operator==(const RandomStreams&, const RandomStreams&) = default;
};

namespace detail {

// Draws from a generator of 64 random bits. Those of the standard libraries differ from one library
// to the next even with one seed; these do not.

/// A generator of full-range 64-bit words; all draws here need one.
template <class G>
concept Random64 =
    std::uniform_random_bit_generator<G> && G::min() == 0 && G::max() == ~std::uint64_t{0};

}  // namespace detail

/// Uniform draw from [0, 1), a multiple of 2^-53.
[[nodiscard]] double uniform_unit(detail::Random64 auto& engine) {
  return static_cast<double>(engine() >> 11U) * 0x1.0p-53;
}

/// Uniform draw from the integers 0 .. bound - 1, without bias; bound > 0 (unchecked: inner loops
/// use it). Method: D. Lemire, "Fast random integer generation in an interval", ACM Trans. Model.
/// Comput. Simul. 29(1), 2019, with 32-bit words of the generator's upper half.
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
  /// Returns a draw of mean 0 and variance 1.
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

  /// Visits the members on which the next draws depend: calls visit(name, member, bounds).
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
/// Cost: one bounded draw per element. `values.size()` must be below 2^32.
template <std::integral Integer>
void random_permutation(std::span<Integer> values, detail::Random64 auto& engine) {
  std::iota(values.begin(), values.end(), Integer{0});
  for (std::size_t i = values.size(); i > 1; --i) {
    const std::size_t j = uniform_below(engine, static_cast<std::uint32_t>(i));
    std::swap(values[i - 1], values[j]);
  }
}

namespace detail {

/// Standard normal draws in bulk, at a quarter of the cost of `NormalDraws`: a random direction in
/// R^r needs r of them, which would otherwise cost as much as their product with the cone.
///
/// The ziggurat of G. Marsaglia, W. Tsang, J. Stat. Software 5(8), 2000, with 256 layers of equal
/// area; layer, sign and place come from different bits of a word (J. Doornik, "An improved
/// ziggurat method to generate normal random samples", 2005).
class Ziggurat {
 public:
  [[nodiscard]] static const Ziggurat& instance() {
    static const Ziggurat tables;
    return tables;
  }

  template <Random64 Engine>
  void fill(double* values, std::ptrdiff_t count, Engine& engine) const {
    Engine local = engine;  // A copy that the compiler keeps in registers.
    for (std::ptrdiff_t i = 0; i < count; ++i) values[i] = draw(local);
    engine = local;
  }

 private:
  static constexpr std::size_t layers = 256;
  static constexpr double tail = 3.6541528853610088;  ///< Start of the lowest layer's tail.
  static constexpr double area = 0.00492867323399;    ///< Area of each layer.

  Ziggurat() {
    const auto density = [](double x) { return std::exp(-x * x / 2); };
    edge_[0] = area / density(tail);
    edge_[1] = tail;
    for (std::size_t i = 2; i < layers; ++i) {
      edge_[i] = std::sqrt(-2 * std::log(area / edge_[i - 1] + density(edge_[i - 1])));
    }
    edge_[layers] = 0;
    for (std::size_t i = 0; i <= layers; ++i) height_[i] = density(edge_[i]);
  }

  [[nodiscard]] double draw(Random64 auto& engine) const {
    while (true) {
      const std::uint64_t word = engine();
      const std::size_t i = word & 255U;
      // The upper 53 bits as a signed number.
      const double x =
          static_cast<double>(static_cast<std::int64_t>(word) >> 11) * 0x1.0p-52 * edge_[i];
      if (std::abs(x) < edge_[i + 1]) [[likely]] {
        return x;
      }
      if (i == 0) {
        return std::copysign(beyond_tail(engine), x);
      }
      const double low = height_[i];
      if (low + uniform_unit(engine) * (height_[i + 1] - low) < std::exp(-x * x / 2)) {
        return x;
      }
    }
  }

  /// Draws from the tail by G. Marsaglia's method: an exponential of rate `tail`, with rejection.
  [[nodiscard]] static double beyond_tail(Random64 auto& engine) {
    while (true) {
      const double x = -std::log1p(-uniform_unit(engine)) / tail;
      const double y = -std::log1p(-uniform_unit(engine));
      if (2 * y > x * x) {
        return tail + x;
      }
    }
  }

  std::array<double, layers + 1> edge_{};
  std::array<double, layers + 1> height_{};
};

}  // namespace detail
}}  // namespace bpm
