// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/samplers/billiard/geodesic_chain.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "law.hpp"

/// \file
/// The law of a chain against the uniform law: each check runs a chain and returns how far it is
/// off, in standard errors of batch means. A right chain stays below `deviation_bound`; the same
/// checks at the same bound must find out a wrong one.

namespace law_tests {

/// A right chain exceeds it about once in ten thousand checks of ten statistics by 64 batches;
/// seeds are fixed.
inline constexpr double deviation_bound = 4.5;
inline constexpr int batch_count = 64;

struct Run {
  double refresh_length = 0;
  std::uint64_t bounces_per_draw = 10;
  int draws_per_batch = 200;
  std::uint64_t seed = 1;
};

struct Batches {
  std::vector<Numbers> draws;    ///< Mean of the statistics of a batch's draws.
  std::vector<Numbers> centres;  ///< Mean position of a batch, by the jumps.
  Numbers weights;
};

template <class Chain>
Chain started(const bpm::Cone& cone, const Run& run) {
  return Chain(cone,
               {.refresh_length = run.refresh_length, .bounces_per_draw = run.bounces_per_draw},
               bpm::LargestMargin::find(cone).position, bpm::RandomEngine(run.seed, 33));
}

/// `batch_count` batches after the burn-in; `statistic(x)` of each draw.
template <class Chain, class Statistic>
Batches run_batches(Chain& chain, const bpm::Cone& cone, const Run& run, Statistic&& statistic) {
  while (!chain.burn_in(cone, 1 << 20)) {
  }
  Batches result;
  Numbers before(static_cast<std::size_t>(cone.stride()), 0.0);
  double weight_before = 0;
  for (int batch = 0; batch < batch_count; ++batch) {
    Numbers sum;
    for (int n = 0; n < run.draws_per_batch; ++n) {
      while (!chain.advance(cone, 1 << 20)) {
      }
      const Numbers values = statistic(chain.position());
      sum.resize(values.size(), 0.0);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += values[k] / run.draws_per_batch;
    }
    result.draws.push_back(sum);
    Numbers now(before.size(), 0.0);
    chain.add_sum(cone, 1.0, now.data());
    const double weight = chain.weight() - weight_before;
    Numbers centre;
    for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      centre.push_back((now[at] - before[at]) / weight);
    }
    result.centres.push_back(centre);
    result.weights.push_back(weight);
    before = now;
    weight_before = chain.weight();
  }
  return result;
}

/// Draws and centre against a sample of the law.
template <class Chain>
double off_sample(const bpm::Cone& cone, const Sample& truth, const Run& run) {
  Chain chain = started<Chain>(cone, run);
  const Batches batches =
      run_batches(chain, cone, run, [&](auto x) { return statistics(cone, x); });
  const Moments law = moments_of(cone, truth);
  Moments centre = law;  // The coordinates come first.
  centre.mean.resize(truth.rank);
  centre.error.resize(truth.rank);
  return std::max(deviation(moments_of(batches.draws), law),
                  deviation(moments_of(batches.centres), centre));
}

/// The centre against E[w] in closed form.
template <class Chain>
double off_mean(const bpm::Cone& cone, const Numbers& mean, const Run& run) {
  Chain chain = started<Chain>(cone, run);
  const Batches batches = run_batches(chain, cone, run, [](auto x) { return Numbers{x[0]}; });
  return deviation(moments_of(batches.centres), exactly(mean));
}

/// The orthant in n dimensions: centre, second moments and E max_i w_i. By symmetry the mean of all
/// squares says nothing; those of the first half and of fixed pairs do.
template <class Chain>
double off_orthant(std::ptrdiff_t n, const Run& run) {
  const bpm::Cone cone = orthant(n);
  const auto size = static_cast<double>(n);
  const auto largest = [&](std::span<const double> x) {
    return *std::max_element(x.begin(), x.begin() + n);
  };
  bpm::RandomEngine engine(5, 34);
  bpm::NormalDraws normal;
  std::vector<Numbers> maxima;
  for (int sample = 0; sample < 20'000; ++sample) {
    Numbers z(static_cast<std::size_t>(n));
    for (double& value : z) value = std::abs(normal(engine));
    maxima.push_back({largest(unit(z))});
  }
  const Moments maximum = moments_of(maxima);
  Moments law = exactly({maximum.mean[0], 0.5, 2 / (std::numbers::pi * size), 1 / size});
  law.error[0] = maximum.error[0];

  Chain chain = started<Chain>(cone, run);
  const Batches batches = run_batches(chain, cone, run, [&](std::span<const double> x) {
    double half = 0;
    double pairs = 0;
    for (std::size_t k = 0; k + 1 < static_cast<std::size_t>(n); k += 2) {
      half += x[k] * x[k];
      pairs += 2 * x[k] * x[k + 1] / size;
    }
    return Numbers{largest(x), half, pairs, x[0] * x[0]};
  });
  const double mean = std::sqrt(2 / std::numbers::pi) / mean_normal_norm(size);
  return std::max(
      deviation(moments_of(batches.draws), law),
      deviation(moments_of(batches.centres), exactly(Numbers(static_cast<std::size_t>(n), mean))));
}

/// 20 000 draws after the burn-in.
template <class Chain>
std::vector<Numbers> draws_of(const bpm::Cone& cone, const Run& run) {
  Chain chain = started<Chain>(cone, run);
  while (!chain.burn_in(cone, 1 << 20)) {
  }
  std::vector<Numbers> draws;
  while (draws.size() < 20'000) {
    if (chain.advance(cone, 1 << 20)) {
      draws.emplace_back(chain.position().begin(), chain.position().end());
    }
  }
  return draws;
}

/// Kolmogorov-Smirnov of three projections, as a part of its bound 2.7.
inline double off_distribution(const bpm::Cone& cone, const std::vector<Numbers>& points,
                               const Sample& truth) {
  double worst = 0;
  for (std::uint64_t k = 0; k < 3; ++k) {
    bpm::RandomEngine engine(k, 35);
    bpm::NormalDraws normal;
    Numbers direction(static_cast<std::size_t>(cone.rank()));
    for (double& value : direction) value = normal(engine);
    worst = std::max(worst, kolmogorov_smirnov(thinned(projected(points, direction)),
                                               projected(truth.points, direction)) /
                                2.7);
  }
  return worst;
}

}  // namespace law_tests
