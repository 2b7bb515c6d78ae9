// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/version_space/cone.hpp"

/// \file
/// Agreement of chains: split R-hat and bulk effective sample size of rank-normalised draws (A.
/// Vehtari, A. Gelman, D. Simpson, B. Carpenter, P. Bürkner, "Rank-normalization, folding, and
/// localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16, 2021).

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Values of one quantity along chains: one row per chain, all of one length.
using ChainValues = std::vector<std::vector<double>>;

/// Splits each chain into its first and last half; of an odd number of values the middle one is
/// dropped.
[[nodiscard]] inline ChainValues split_chains(const ChainValues& chains) {
  ChainValues halves;
  for (const auto& chain : chains) {
    const auto half = std::ssize(chain) / 2;
    halves.emplace_back(chain.begin(), chain.begin() + half);
    halves.emplace_back(chain.end() - half, chain.end());
  }
  return halves;
}

/// Replaces each of the S values by z = Phi^-1((rank - 3/8) / (S + 1/4)), with mean ranks for equal
/// values.
[[nodiscard]] inline ChainValues rank_normalised(const ChainValues& chains) {
  struct Place {
    double value;
    double* at;
  };
  ChainValues z = chains;
  std::vector<Place> places;
  for (auto& chain : z) {
    for (double& value : chain) places.push_back({value, &value});
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.value < b.value; });
  const auto count = static_cast<double>(places.size());
  for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    while (end < places.size() && places[end].value == places[begin].value) ++end;
    const double rank = 0.5 * static_cast<double>(begin + 1 + end);
    for (std::size_t k = begin; k < end; ++k) {
      *places[k].at = normal_quantile((rank - 0.375) / (count + 0.25));
    }
  }
  return z;
}

/// Means and variances of chains of n values.
struct ChainMoments {
  double within = 0;  ///< W, the mean of the chains' variances.
  double pooled = 0;  ///< var+ = (n - 1) / n W + (variance of the chains' means).

  explicit ChainMoments(const ChainValues& chains) {
    const auto count = static_cast<double>(chains.size());
    const auto n = static_cast<double>(chains[0].size());
    std::vector<double> means;
    for (const auto& chain : chains) {
      const double mean = std::accumulate(chain.begin(), chain.end(), 0.0) / n;
      double squares = 0;
      for (const double value : chain) squares += (value - mean) * (value - mean);
      within += squares / (n - 1) / count;
      means.push_back(mean);
    }
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / count;
    double between = 0;
    for (const double of_chain : means) between += (of_chain - mean) * (of_chain - mean);
    pooled = (n - 1) / n * within + between / (count - 1);
  }
};

/// Returns the larger R-hat = sqrt(var+ / W) of the values, rank-normalised in halves, and of their
/// distances from the median, which detect different scales. 1 if all values are equal. Needs two
/// values per half or more.
[[nodiscard]] inline double split_r_hat(const ChainValues& chains) {
  ChainValues halves = split_chains(chains);
  const auto of = [](const ChainValues& values) {
    const ChainMoments moments(rank_normalised(values));
    if (!(moments.pooled > 0)) return 1.0;
    return std::sqrt(moments.pooled / moments.within);  // Infinite where no chain moves.
  };
  const double plain = of(halves);
  std::vector<double> all;
  for (const auto& half : halves) all.insert(all.end(), half.begin(), half.end());
  const auto middle = all.begin() + std::ssize(all) / 2;
  std::nth_element(all.begin(), middle, all.end());
  double median = *middle;
  if (all.size() % 2 == 0) median = (median + *std::max_element(all.begin(), middle)) / 2;
  for (auto& half : halves) {
    for (double& value : half) value = std::abs(value - median);
  }
  return std::max(plain, of(halves));
}

/// Number of independent draws that would estimate the middle of the law as well as these: S / tau
/// of the rank-normalised halves, tau the sum of the autocorrelations by C. Geyer's initial
/// monotone sequence (Statist. Sci. 7, 1992), at most S log10 S. S if all values are equal.
[[nodiscard]] inline double bulk_effective_draws(const ChainValues& chains) {
  const ChainValues z = rank_normalised(split_chains(chains));
  const ChainMoments moments(z);
  const std::size_t n = z[0].size();
  const auto total = static_cast<double>(z.size() * n);
  if (!(moments.pooled > 0)) return total;
  std::vector<double> means;
  for (const auto& chain : z) {
    means.push_back(std::accumulate(chain.begin(), chain.end(), 0.0) / static_cast<double>(n));
  }
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;  // Autocovariances with divisor n, averaged over the chains.
    for (std::size_t c = 0; c < z.size(); ++c) {
      for (std::size_t k = 0; k + lag < n; ++k) {
        sum += (z[c][k] - means[c]) * (z[c][k + lag] - means[c]);
      }
    }
    const auto count = static_cast<double>(n);
    const double unbiased = sum / total * count / (count - 1);
    return 1 - (moments.within - unbiased) / moments.pooled;
  };
  double tau = -1;
  double last = std::numeric_limits<double>::infinity();
  for (std::size_t lag = 0; lag + 1 < n; lag += 2) {
    const double pair = std::min(last, (lag == 0 ? 1.0 : correlation(lag)) + correlation(lag + 1));
    if (!(pair > 0)) break;
    tau += 2 * pair;
    last = pair;
  }
  return total / std::max(tau, 1 / std::log10(total));
}

/// Outputs of one chain's draws at some points, equally spaced, at most 512 draws: beyond that,
/// every other one is dropped. A copyable value.
class OutputSeries {
 public:
  /// Returns the points whose outputs are kept, at most 20 of m, random but equal for equal m.
  [[nodiscard]] static std::vector<std::ptrdiff_t> points_of(std::ptrdiff_t m) {
    std::vector<std::ptrdiff_t> all(static_cast<std::size_t>(m));
    std::iota(all.begin(), all.end(), std::ptrdiff_t{0});
    RandomEngine engine(20);
    random_permutation(std::span(all), engine);
    all.resize(std::min<std::size_t>(all.size(), 20));
    return all;
  }

  /// Largest number of values in a series of m points.
  [[nodiscard]] static std::size_t most_numbers(std::ptrdiff_t m) noexcept {
    return most * static_cast<std::size_t>(std::min<std::ptrdiff_t>(m, 20));
  }

  /// Adds draw number `draw` (1, 2, ...) of the chain if the spacing selects it.
  void add(std::uint64_t draw, const Cone& cone, const double* position,
           std::span<const std::ptrdiff_t> points) {
    if (draw % spacing_ != 0) return;
    for (const std::ptrdiff_t i : points) {
      values_.push_back(dot(cone.row(i), position, cone.stride()));
    }
    if (values_.size() < most * points.size()) return;
    for (std::size_t k = 1; k < most; k += 2) {
      std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(k * points.size()), points.size(),
                  values_.begin() + static_cast<std::ptrdiff_t>(k / 2 * points.size()));
    }
    values_.resize(most / 2 * points.size());
    spacing_ *= 2;
  }

  /// Number of kept draws, of `points` outputs each.
  [[nodiscard]] std::size_t size(std::size_t points) const noexcept {
    return values_.size() / points;
  }
  /// Spacing of the kept draws.
  [[nodiscard]] std::uint64_t spacing() const noexcept { return spacing_; }
  /// Output j of kept draw k.
  [[nodiscard]] double at(std::size_t k, std::size_t j, std::size_t points) const {
    return values_[k * points + j];
  }

  [[nodiscard]] bool operator==(const OutputSeries&) const = default;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("values", self.values_);
    visit("spacing", self.spacing_, Between{1, Bound::counted.most});
  }
  void after_reading(std::ptrdiff_t points) const {
    const auto each = static_cast<std::size_t>(std::min<std::ptrdiff_t>(points, 20));
    check(values_.size() % each == 0 && values_.size() < most * each, "chain", "series", "has ",
          values_.size(), " values, must be a multiple of ", each, " below ", most * each);
  }

 private:
  static constexpr std::size_t most = 512;

  std::vector<double> values_;
  std::uint64_t spacing_ = 1;
};

/// Largest split R-hat of the outputs, and the smallest number of bulk effective draws.
struct ChainAgreement {
  double r_hat = 0;
  double effective_draws = 0;
};

/// Computes the agreement from equally spaced series of all chains, from their last draws if some
/// have more; returns the defaults if a chain has fewer than 16 draws.
[[nodiscard]] inline ChainAgreement agreement_of(std::span<const OutputSeries> series,
                                                 std::size_t points) {
  ChainAgreement result;
  std::size_t count = std::numeric_limits<std::size_t>::max();
  std::uint64_t spacing = 1;
  for (const OutputSeries& chain : series) spacing = std::max(spacing, chain.spacing());
  const auto step = [&](const OutputSeries& chain) { return spacing / chain.spacing(); };
  for (const OutputSeries& chain : series) {
    count = std::min<std::size_t>(count, chain.size(points) / step(chain));
  }
  if (series.empty() || count < 16) return result;
  result.r_hat = 0;
  result.effective_draws = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < points; ++j) {
    ChainValues values;
    for (const OutputSeries& chain : series) {
      auto& mine = values.emplace_back();
      const std::size_t kept = chain.size(points) / step(chain);
      for (std::size_t k = kept - count; k < kept; ++k) {
        mine.push_back(chain.at((k + 1) * step(chain) - 1, j, points));
      }
    }
    result.r_hat = std::max(result.r_hat, split_r_hat(values));
    result.effective_draws = std::min(result.effective_draws, bulk_effective_draws(values));
  }
  return result;
}

}}}  // namespace bpm::detail
