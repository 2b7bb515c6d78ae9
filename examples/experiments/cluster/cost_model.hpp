// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

/// \file
/// What training takes on 1 to 1000 ranks, predicted from operations, latency and bandwidth. Needs
/// no MPI.

namespace bpm_examples {

/// What one rank can do, and what a message costs. Measure them on the machine in question.
struct ClusterRates {
  double kernel_values_per_second = 1e9;    ///< Of one rank with its threads, at the load's inputs.
  double additions_per_second = 2e9;        ///< outputs += row, in cache, of one rank.
  double shuffle_seconds_per_point = 1e-8;  ///< Making a random order.
  double latency_seconds = 2e-6;            ///< Of a message.
  double bytes_per_second = 1e10;           ///< Of a message, of one rank.
};

/// Permuted perceptrons on m points, C classes in step. The counts per draw come from a run of
/// another size, see `scaled_to`.
struct TrainingLoad {
  double points = 60'000;
  double input_bytes = 784;  ///< Of one input, as it is kept and sent.
  double classes = 10;
  double draws = 10;
  double events_per_draw = 11'000;   ///< Points at which some class errs, every time counted.
  double updates_per_draw = 13'000;  ///< Mistakes, of all classes.
  double passes = 20;                ///< Until the last class makes no mistake.
  double event_exponent = 0.6;       ///< events ~ m^this: measure it.
  /// Events of c classes alone ~ (c / C)^this of those of all, which share many.
  double class_exponent = 0.8;

  /// The same load with another number of points.
  [[nodiscard]] TrainingLoad scaled_to(double other_points) const {
    TrainingLoad load = *this;
    const double factor = std::pow(other_points / points, event_exponent);
    load.points = other_points;
    load.events_per_draw *= factor;
    load.updates_per_draw *= factor;
    return load;
  }
};

struct CostPrediction {
  double seconds = 0;            ///< All of the following.
  double kernel_seconds = 0;     ///< Kernel values.
  double addition_seconds = 0;   ///< outputs += row.
  double order_seconds = 0;      ///< Random orders.
  double latency_seconds = 0;    ///< Messages: how many,
  double bandwidth_seconds = 0;  ///< and how long.
  double bytes_per_rank = 0;     ///< Memory, inputs included.
  double busy_ranks = 1;         ///< Ranks that have work.

  void add_up() {
    seconds =
        kernel_seconds + addition_seconds + order_seconds + latency_seconds + bandwidth_seconds;
  }
};

/// Points that one rank visits at a time where points are sharded, as `ShardedOneVsRest` has it.
[[nodiscard]] inline std::ptrdiff_t default_group(int ranks) {
  return std::clamp<std::ptrdiff_t>(std::ptrdiff_t{256} * ranks, 256, 16384);
}

inline void check_cost_arguments(const ClusterRates& rates, const TrainingLoad& load, double ranks,
                                 const std::string& function) {
  const auto check = [&](double value, bool holds, const char* name, const char* must) {
    if (std::isfinite(value) && holds) return;
    std::ostringstream text;
    text << function << ": " << name << " is " << value << ", must be " << must;
    throw std::invalid_argument(text.str());
  };
  const auto positive = [&](double value, const char* name) {
    check(value, value > 0, name, "positive and finite");
  };
  positive(rates.kernel_values_per_second, "kernel_values_per_second");
  positive(rates.additions_per_second, "additions_per_second");
  positive(rates.bytes_per_second, "bytes_per_second");
  positive(load.points, "points");
  positive(load.classes, "classes");
  positive(load.draws, "draws");
  positive(load.events_per_draw, "events_per_draw");
  const auto not_negative = [&](double value, const char* name) {
    check(value, value >= 0, name, "finite and not negative");
  };
  not_negative(rates.shuffle_seconds_per_point, "shuffle_seconds_per_point");
  not_negative(rates.latency_seconds, "latency_seconds");
  not_negative(load.input_bytes, "input_bytes");
  not_negative(load.updates_per_draw, "updates_per_draw");
  not_negative(load.passes, "passes");
  not_negative(load.class_exponent, "class_exponent");
  check(ranks, ranks >= 1, "ranks", "finite and 1 or more");
}

/// Draws spread over ranks (`DistributedPerceptron`), windowed evaluation. With N draws, R ranks,
/// E events and U updates a draw, v kernel values and a additions a second, latency l, bandwidth b:
///
///     rounds   = ceil(N / R)
///     kernel   = (rounds E + 20) m / v        the 20 m are the digest of the data, if R > 1
///     addition = rounds U m / a
///     order    = rounds m s                   s: shuffle_seconds_per_point
///     latency  = l (2 g N + 3 rounds) log2 R  g: ranks that share a draw, below
///     bytes    = 8 C m N + 12 N U             each finished draw goes to all
///
/// Where R > N each draw is shared by g = min(C, floor(R / N)) ranks of ceil(C / g) = c classes:
/// E (c / C)^class_exponent and U c / C in the place of E and U. On one rank nothing is sent.
/// \throws std::invalid_argument on rates or sizes that are out of range.
[[nodiscard]] inline CostPrediction predict_spread_draws(const ClusterRates& rates,
                                                         const TrainingLoad& load, double ranks) {
  check_cost_arguments(rates, load, ranks, "predict_spread_draws");
  const double m = load.points;
  const double rounds = std::ceil(load.draws / ranks);
  const double sharers = std::min(load.classes, std::max(1.0, std::floor(ranks / load.draws)));
  const double share = std::ceil(load.classes / sharers) / load.classes;
  const double events = load.events_per_draw * std::pow(share, load.class_exponent);
  const double log_ranks = std::log2(ranks);
  CostPrediction cost;
  cost.busy_ranks = std::min(ranks, load.draws * sharers);
  cost.kernel_seconds =
      (rounds * events + (ranks > 1 ? 20 : 0)) * m / rates.kernel_values_per_second;
  cost.addition_seconds = rounds * load.updates_per_draw * share * m / rates.additions_per_second;
  cost.order_seconds = rounds * m * rates.shuffle_seconds_per_point;
  if (ranks > 1) {
    cost.latency_seconds =
        rates.latency_seconds * (2 * sharers * load.draws + 3 * rounds) * log_ranks;
    cost.bandwidth_seconds =
        load.draws * (8 * load.classes * m + 12 * load.updates_per_draw) / rates.bytes_per_second;
  }
  // Inputs; outputs, counts, signs and order of a run; two finished draws; sums and messages;
  // hashes.
  cost.bytes_per_rank =
      m * (load.input_bytes + load.classes * share * (13 + 16) + load.classes * 24 + 4 + 24);
  cost.add_up();
  return cost;
}

/// Points sharded (`ShardedOneVsRest`), `group` points visited at a time (0: `default_group`). With
/// P passes, B = m / group groups a pass, of which W = min(P B, E) in all hold a mistake:
///
///     kernel    = N E (m / R + group / 2 + 128) / v    a rank's points, and the visits, one rank's
///     addition  = N U (m / R + group / 2 + 128) / a
///     order     = N m s                                 s: shuffle_seconds_per_point
///     latency   = l N log2 R (6 W + 2 P B / 64)         groups without a mistake: 64 at a time
///     bytes     = N (W group (input + 9 C + 12) + E (input + 12 + 8 U / E) log2 R)
///
/// \throws std::invalid_argument on rates or sizes that are out of range.
[[nodiscard]] inline CostPrediction predict_sharded_points(const ClusterRates& rates,
                                                           const TrainingLoad& load, double ranks,
                                                           double group = 0) {
  check_cost_arguments(rates, load, ranks, "predict_sharded_points");
  const double m = load.points;
  if (group <= 0) group = static_cast<double>(default_group(static_cast<int>(ranks)));
  group = std::min(group, m);
  const double events = load.events_per_draw;
  const double groups = std::ceil(m / group);
  const double walked = std::min(load.passes * groups, events);
  const double visited = m / ranks + group / 2 + 128;
  const double log_ranks = std::log2(ranks);
  CostPrediction cost;
  cost.busy_ranks = ranks;
  cost.kernel_seconds = load.draws * events * visited / rates.kernel_values_per_second;
  cost.addition_seconds = load.draws * load.updates_per_draw * visited / rates.additions_per_second;
  cost.order_seconds = load.draws * m * rates.shuffle_seconds_per_point;
  if (ranks > 1) {
    cost.latency_seconds = rates.latency_seconds * load.draws * log_ranks *
                           (6 * walked + 2 * load.passes * groups / 64);
    cost.bandwidth_seconds =
        load.draws *
        (walked * group * (load.input_bytes + 9 * load.classes + 12) +
         (events * (load.input_bytes + 12) + 8 * load.updates_per_draw) * log_ranks) /
        rates.bytes_per_second;
  }
  // Inputs, outputs, counts, signs, sums, positions of a rank's points; the order of all; a group;
  // mistakes of a pass (two thirds are made in the first).
  cost.bytes_per_rank = m / ranks * (load.input_bytes + load.classes * 21 + 12) + 4 * m +
                        group * (load.input_bytes + 9 * load.classes + 12) +
                        2.0 / 3 * events * load.input_bytes;
  cost.add_up();
  return cost;
}

}  // namespace bpm_examples
