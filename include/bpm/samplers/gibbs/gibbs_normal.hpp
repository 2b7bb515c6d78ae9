// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"

/// \file
/// The normal law on an interval, accurate also far out in both tails, and the chi law.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// An interval under the standard normal law.
struct NormalPiece {
  double log_mass;  ///< log of its probability; -infinity when it is empty.
  double mean;      ///< E[x | low < x < high].
};

/// Computes mass and mean of the interval low < high; either bound may be infinite.
[[nodiscard]] inline NormalPiece normal_piece(double low, double high) {
  constexpr double log_root_two_pi = 0.91893853320467274178;
  if (!(low < high)) {
    return {-std::numeric_limits<double>::infinity(), low};
  }
  if (high <= 0) {
    const NormalPiece mirrored = normal_piece(-high, -low);
    return {mirrored.log_mass, -mirrored.mean};
  }
  const double width = high - low;
  const double centre = low + width / 2;
  if (width * std::max(1.0, std::abs(centre)) < 0.05) {
    // Differences of tails would cancel, and cost more. The series about the centre has Hermite
    // polynomials as coefficients; two terms leave an error of 1e-13.
    const double h = width * width / 4;
    const double c = centre * centre;
    const double mass = 1 + h * ((c - 1) / 6 + h * ((c - 6) * c + 3) / 120);
    return {std::log(width * mass) - c / 2 - log_root_two_pi,
            centre - centre * h * (1.0 / 3 + h * (c - 3) / 30) / mass};
  }
  if (low < 0) {
    const double mass =
        (std::erf(high / std::numbers::sqrt2) + std::erf(-low / std::numbers::sqrt2)) / 2;
    const double inverse_root = 1 / std::sqrt(2 * std::numbers::pi);
    return {std::log(mass),
            inverse_root * (std::exp(-low * low / 2) - std::exp(-high * high / 2)) / mass};
  }
  // All quantities are in units of phi(low).
  const double fall = width * (low + high) / 2;
  const double rest = std::exp(-fall);
  const double mass = mills_ratio(low) - (rest > 0 ? rest * mills_ratio(high) : 0.0);
  const double mean = -std::expm1(-fall) / mass;
  return {std::log(mass) - low * low / 2 - log_root_two_pi, std::clamp(mean, low, high)};
}

/// Draws a standard normal number given low < x < high, by rejection with a bounded mean number of
/// trials: C. Robert, "Simulation of truncated normal variables", Statistics and Computing 5, 1995.
[[nodiscard]] double truncated_normal(double low, double high, NormalDraws& normal,
                                      Random64 auto& engine) {
  if (high <= 0) {
    return -truncated_normal(-high, -low, normal, engine);
  }
  const double width = high - low;
  if (low < 0 && width > 2.5) {  // sqrt(2 pi): the normal law itself is the better proposal.
    while (true) {
      const double x = normal(engine);
      if (x > low && x < high) return x;
    }
  }
  const double least = std::max(low, 0.0);  // The density is largest here.
  const double rate = (least + std::sqrt(least * least + 4)) / 2;
  if (low < 0 || width * rate < 2) {
    while (true) {
      const double x = low + width * uniform_unit(engine);
      // This is (least^2 - x^2) / 2 without the cancellation.
      if (uniform_unit(engine) < std::exp((least - x) * (least + x) / 2)) return x;
    }
  }
  while (true) {  // Shifted exponential with Robert's best rate.
    const double x = low - std::log1p(-uniform_unit(engine)) / rate;
    if (x < high && uniform_unit(engine) < std::exp(-(x - rate) * (x - rate) / 2)) return x;
  }
}

/// Draws the norm of a standard normal vector in `dimension` dimensions, at O(1): sqrt(2
/// Gamma(r/2)) by G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", ACM
/// Trans. Math. Softw. 26(3), 2000.
[[nodiscard]] double chi_draw(std::ptrdiff_t dimension, NormalDraws& normal,
                              Random64 auto& engine) {
  if (dimension == 1) {
    return std::abs(normal(engine));
  }
  const double d = static_cast<double>(dimension) / 2 - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(engine);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = 1 - uniform_unit(engine);
    if (std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) {
      return std::sqrt(2 * d * v);
    }
  }
}

/// Places where a curve crosses the planes, sorted, with the change of training errors at each.
///
/// The last bit of a place stores the sign of the change, so that plain numbers are sorted. It is
/// cleared on reading: equal places are equal again.
class GibbsCuts {
 public:
  void clear() { marked_.clear(); }

  /// Adds a place where the number of errors rises by one (`up`) or falls by one.
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
