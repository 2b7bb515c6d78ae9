// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"
#include "common/tasks.hpp"

/// \file
/// Thresholds from many samples of a population, and the population's risk above them.

namespace bpm_examples {

/// Inputs that are all there is: the risk above a threshold is a count.
class Population {
 public:
  /// \throws std::invalid_argument if there is no score, one is not finite, or sizes differ.
  Population(const std::vector<double>& scores, const std::vector<bool>& correct) {
    if (scores.empty() || scores.size() != correct.size() ||
        !std::ranges::all_of(scores, [](double score) { return std::isfinite(score); })) {
      throw std::invalid_argument(
          "Population: expected finite scores, as many as are correct or not");
    }
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return scores[i]; });
    for (const std::size_t i : order) {
      scores_.push_back(scores[i]);
      correct_.push_back(correct[i]);
    }
    for (std::size_t i = size(), errors = 0; i-- > 0;) {
      errors += correct_[i] ? 0 : 1;
      errors_.push_back(errors);
    }
  }

  [[nodiscard]] std::size_t size() const { return scores_.size(); }
  /// By ascending score.
  [[nodiscard]] double score(std::size_t i) const { return scores_[i]; }
  [[nodiscard]] bool correct(std::size_t i) const { return correct_[i]; }

  [[nodiscard]] std::size_t accepted(const bpm::Rejector& rejector) const {
    return static_cast<std::size_t>(
        scores_.end() - std::lower_bound(scores_.begin(), scores_.end(), rejector.threshold));
  }
  /// Of the so many highest scores; 0 of none.
  [[nodiscard]] double risk(std::size_t accepted) const {
    return accepted == 0
               ? 0
               : static_cast<double>(errors_[accepted - 1]) / static_cast<double>(accepted);
  }

 private:
  std::vector<double> scores_;
  std::vector<bool> correct_;
  std::vector<std::size_t> errors_;  ///< Element k: among the k + 1 highest scores.
};

/// What is asked for.
struct RiskLevel {
  double risk = 0;
  double delta = 0;
};
inline constexpr std::array<RiskLevel, 2> risk_levels{{{0.01, 0.05}, {0.005, 0.01}}};

/// Of every sample, how much of the population its threshold accepts; 0: it gave none.
using AcceptedCounts = std::vector<std::size_t>;

struct Thresholds {
  AcceptedCounts certified;  ///< By `certify_risk`.
  AcceptedCounts naive;      ///< The lowest at which the sample's own error is no larger.
};

/// Samples of `size`, drawn with replacement, sample s by stream s of the seed: the same on any
/// number of threads. One entry a level. \throws bpm::Stopped where `watch` says false.
[[nodiscard]] inline std::array<Thresholds, risk_levels.size()> draw_thresholds(
    const Population& population, std::size_t samples, std::size_t size, std::uint64_t seed,
    int threads, const std::function<bool(const bpm::Progress&)>& watch) {
  struct Sample {
    std::vector<std::size_t> times;
    std::vector<double> scores;
    std::vector<bool> correct;
  };
  std::array<Thresholds, risk_levels.size()> results;
  for (Thresholds& result : results) {
    result.certified.resize(samples);
    result.naive.resize(samples);
  }
  const auto run = [&](Sample& sample, std::size_t number) {
    // By counts, as the order of a sample means nothing, and sorted scores are soon sorted again.
    bpm::RandomEngine engine = bpm::RandomStreams{.seed = seed}.stream(number);
    sample.times.assign(population.size(), 0);
    for (std::size_t i = 0; i < size; ++i) {
      ++sample.times[bpm::uniform_below(engine, population.size())];
    }
    sample.scores.clear();
    sample.correct.clear();
    for (std::size_t i = 0; i < population.size(); ++i) {
      sample.scores.insert(sample.scores.end(), sample.times[i], population.score(i));
      sample.correct.insert(sample.correct.end(), sample.times[i], population.correct(i));
    }
    for (std::size_t l = 0; l < risk_levels.size(); ++l) {
      const auto [risk, delta] = risk_levels[l];
      const auto certified = bpm::certify_risk(sample.scores, sample.correct, risk, delta);
      results[l].certified[number] = population.accepted(certified.rejector());
      const auto naive = bpm::threshold_for_error(sample.scores, sample.correct, risk);
      results[l].naive[number] = naive ? population.accepted({naive->threshold}) : 0;
    }
  };
  constexpr std::size_t block = 1000;  // Between looks at the watch.
  const std::size_t blocks = (samples + block - 1) / block;
  const auto go_on = [&](std::size_t done) {
    return watch(
        {.stage = "samples", .fraction = static_cast<double>(done) / static_cast<double>(blocks)});
  };
  const auto run_block = [&](std::size_t b) {
    Sample sample;
    for (std::size_t s = b * block; s < std::min(samples, (b + 1) * block); ++s) run(sample, s);
  };
  if (!go_on(0) || !run_tasks(threads, blocks, run_block, go_on)) throw bpm::Stopped("stopped");
  return results;
}

/// What one kind of threshold did, as shares of the samples.
struct ThresholdSummary {
  double returned = 0;  ///< There was a threshold,
  double violated = 0;  ///< above which the population's risk is larger than asked for.
  double coverage = 0;  ///< Share of the population accepted, in the mean.
};

[[nodiscard]] inline ThresholdSummary summary_of(const Population& population,
                                                 const AcceptedCounts& accepted, double risk) {
  std::size_t returned = 0;
  std::size_t violated = 0;
  std::size_t sum = 0;
  for (const std::size_t count : accepted) {
    returned += count > 0 ? 1 : 0;
    violated += population.risk(count) > risk ? 1 : 0;
    sum += count;
  }
  const auto samples = static_cast<double>(accepted.size());
  return {static_cast<double>(returned) / samples, static_cast<double>(violated) / samples,
          static_cast<double>(sum) / (samples * static_cast<double>(population.size()))};
}

/// The most violations that chance leaves to a guarantee that holds: delta and three standard
/// errors of a share of so many samples.
[[nodiscard]] inline double violations_allowed(double delta, std::size_t samples) {
  return delta + 3 * std::sqrt(delta * (1 - delta) / static_cast<double>(samples));
}

}  // namespace bpm_examples
