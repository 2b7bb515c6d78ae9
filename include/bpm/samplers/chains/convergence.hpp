// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/version_space/cone.hpp"

/// \file
/// Series that chains keep of their draws, and the agreement of chains by them: split R-hat and
/// bulk effective sample size of rank-normalised draws (A. Vehtari, A. Gelman, D. Simpson, B.
/// Carpenter, P. Bürkner, "Rank-normalization, folding, and localization: an improved R-hat for
/// assessing convergence of MCMC", Bayesian Analysis 16, 2021).

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Values of one quantity along chains: one row per chain, all of one length.
using ChainValues = std::vector<std::vector<double>>;

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
  std::vector<double> means;  ///< Of each chain.
  double within = 0;          ///< W, the mean of the chains' variances.
  double pooled = 0;          ///< var+ = (n - 1) / n W + (variance of the chains' means).

  explicit ChainMoments(const ChainValues& chains) {
    const auto count = static_cast<double>(chains.size());
    const auto n = static_cast<double>(chains[0].size());
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

  /// sqrt(var+ / W); infinity where no chain moves, 1 if all values are equal.
  [[nodiscard]] double r_hat() const { return pooled > 0 ? std::sqrt(pooled / within) : 1.0; }
};

/// How far chains agree, and what they are worth.
struct ChainAgreement {
  double r_hat = 0;            ///< Split R-hat.
  double effective_draws = 0;  ///< Bulk effective sample size.
};

/// Computes the agreement of one quantity from halves of the chains; of an odd number of values the
/// middle one is dropped. Needs two values per half or more.
///
/// R-hat is the larger of that of the values, rank-normalised, and that of their distances from the
/// median, which detect different scales. The effective draws are the number of independent draws
/// that would estimate the middle of the law as well: S / tau, tau the sum of the autocorrelations
/// by C. Geyer's initial monotone sequence (Statist. Sci. 7, 1992), at most S log10 S; S if all
/// values are equal.
[[nodiscard]] inline ChainAgreement agreement_of(const ChainValues& chains) {
  ChainValues halves;
  std::vector<double> all;
  for (const auto& chain : chains) {
    const auto half = std::ssize(chain) / 2;
    halves.emplace_back(chain.begin(), chain.begin() + half);
    halves.emplace_back(chain.end() - half, chain.end());
  }
  for (const auto& half : halves) all.insert(all.end(), half.begin(), half.end());
  const ChainValues z = rank_normalised(halves);
  const ChainMoments moments(z);
  const auto middle = all.begin() + std::ssize(all) / 2;
  std::nth_element(all.begin(), middle, all.end());
  double median = *middle;
  if (all.size() % 2 == 0) median = (median + *std::max_element(all.begin(), middle)) / 2;
  for (auto& half : halves) {
    for (double& value : half) value = std::abs(value - median);
  }
  const double folded = ChainMoments(rank_normalised(halves)).r_hat();
  const std::size_t n = z[0].size();
  const auto total = static_cast<double>(z.size() * n);
  ChainAgreement result{std::max(moments.r_hat(), folded), total};
  if (!(moments.pooled > 0)) return result;
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;  // Autocovariances with divisor n, averaged over the chains.
    for (std::size_t c = 0; c < z.size(); ++c) {
      for (std::size_t k = 0; k + lag < n; ++k) {
        sum += (z[c][k] - moments.means[c]) * (z[c][k + lag] - moments.means[c]);
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
  result.effective_draws = total / std::max(tau, 1 / std::log10(total));
  return result;
}

/// Drops the first of rows of `width` entries, and every other one after it.
template <class T>
void drop_every_other(std::vector<T>& rows, std::ptrdiff_t width = 1) {
  const std::ptrdiff_t kept = std::ssize(rows) / width / 2;
  for (std::ptrdiff_t k = 0; k < kept; ++k) {
    const auto from = rows.begin() + (2 * k + 1) * width;
    std::move(from, from + width, rows.begin() + k * width);
  }
  rows.resize(static_cast<std::size_t>(kept * width));
}

/// Running sums of one chain at equally spaced draws, at most 64: beyond that, every other one is
/// dropped. Their differences are batches, whose spread estimates the error of the mean (J. Flegal,
/// G. Jones, Ann. Statist. 38(2), 2010). A copyable value.
class BatchMeans {
 public:
  /// True if the sum at draw number `draw` (1, 2, ...) is to be added.
  [[nodiscard]] bool wanted(std::uint64_t draw) const noexcept { return draw % spacing_ == 0; }

  void add(std::vector<double> sum, double weight) {
    sums_.push_back(std::move(sum));
    weights_.push_back(weight);
    if (sums_.size() < most) return;
    drop_every_other(sums_);
    drop_every_other(weights_);
    spacing_ *= 2;
  }

  /// Calls batch(difference of sums, difference of weights) for `count` batches, or as many as
  /// there are sums, of nearly equal numbers of draws, from the start to the last sum, after which
  /// at most one draw in 32 follows. Batches that left more out would make the mean seem less exact
  /// than it is.
  template <class Batch>
  void for_each(std::size_t count, Batch&& batch) const {
    count = std::min(count, sums_.size());
    std::vector<double> difference;
    std::size_t begin = 0;
    for (std::size_t k = 1; k <= count; ++k) {
      const std::size_t end = k * sums_.size() / count;
      difference = sums_[end - 1];
      for (std::size_t j = 0; begin > 0 && j < difference.size(); ++j) {
        difference[j] -= sums_[begin - 1][j];
      }
      batch(difference, weights_[end - 1] - (begin > 0 ? weights_[begin - 1] : 0.0));
      begin = end;
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
    drop_every_other(values_, std::ssize(points));
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

/// Computes the largest R-hat and the smallest number of effective draws of the outputs, from
/// equally spaced series of all chains, from their last draws if some have more; returns the
/// defaults if a chain has fewer than 16 draws.
[[nodiscard]] inline ChainAgreement agreement_of(std::span<const OutputSeries> series,
                                                 std::size_t points) {
  std::size_t count = std::numeric_limits<std::size_t>::max();
  std::uint64_t spacing = 1;
  for (const OutputSeries& chain : series) spacing = std::max(spacing, chain.spacing());
  const auto step = [&](const OutputSeries& chain) { return spacing / chain.spacing(); };
  for (const OutputSeries& chain : series) {
    count = std::min<std::size_t>(count, chain.size(points) / step(chain));
  }
  if (series.empty() || count < 16) return {};
  ChainAgreement result{0, std::numeric_limits<double>::infinity()};
  for (std::size_t j = 0; j < points; ++j) {
    ChainValues values;
    for (const OutputSeries& chain : series) {
      auto& mine = values.emplace_back();
      const std::size_t kept = chain.size(points) / step(chain);
      for (std::size_t k = kept - count; k < kept; ++k) {
        mine.push_back(chain.at((k + 1) * step(chain) - 1, j, points));
      }
    }
    const ChainAgreement one = agreement_of(values);
    result.r_hat = std::max(result.r_hat, one.r_hat);
    result.effective_draws = std::min(result.effective_draws, one.effective_draws);
  }
  return result;
}

}}}  // namespace bpm::detail
