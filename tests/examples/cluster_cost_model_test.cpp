// SPDX-License-Identifier: MIT
#include "experiments/cluster/cost_model.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "message_of.hpp"

using Catch::Matchers::ContainsSubstring;
using test_support::message_of;

namespace {

bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

// Numbers that can be worked out by hand.
const bpm_examples::ClusterRates rates{.kernel_values_per_second = 1e6,
                                       .additions_per_second = 1e7,
                                       .shuffle_seconds_per_point = 1e-6,
                                       .latency_seconds = 1e-3,
                                       .bytes_per_second = 1e6};
const bpm_examples::TrainingLoad load{.points = 10'000,
                                      .input_bytes = 100,
                                      .classes = 10,
                                      .draws = 8,
                                      .events_per_draw = 500,
                                      .updates_per_draw = 600,
                                      .passes = 4,
                                      .event_exponent = 0.5,
                                      .class_exponent = 0.5};

}  // namespace

TEST_CASE("draws over ranks, by hand") {
  const bpm_examples::CostPrediction one = bpm_examples::predict_spread_draws(rates, load, 1);
  CHECK(close(one.kernel_seconds, 8 * 500 * 10'000 / 1e6));
  CHECK(close(one.addition_seconds, 8 * 600 * 10'000 / 1e7));
  CHECK(close(one.order_seconds, 0.08));
  CHECK(one.latency_seconds == 0);
  CHECK(one.bandwidth_seconds == 0);
  CHECK(close(one.seconds, 40 + 4.8 + 0.08));
  CHECK(close(one.bytes_per_rank, 10'000.0 * (100 + 290 + 240 + 28)));
  CHECK(one.busy_ranks == 1);

  const bpm_examples::CostPrediction four =
      bpm_examples::predict_spread_draws(rates, load, 4);  // Two rounds.
  CHECK(close(four.kernel_seconds, (2 * 500 + 20) * 10'000 / 1e6));
  CHECK(close(four.latency_seconds, 1e-3 * (2 * 8 + 3 * 2) * 2));
  CHECK(close(four.bandwidth_seconds, 8 * (8 * 10 * 10'000.0 + 12 * 600) / 1e6));
  CHECK(close(four.seconds, four.kernel_seconds + four.addition_seconds + four.order_seconds +
                                four.latency_seconds + four.bandwidth_seconds));

  // Five ranks a draw have two classes each; more than ten have no work.
  const bpm_examples::CostPrediction forty = bpm_examples::predict_spread_draws(rates, load, 40);
  CHECK(close(forty.kernel_seconds, (500 * std::sqrt(0.2) + 20) * 10'000 / 1e6));
  CHECK(forty.busy_ranks == 40);
  CHECK(bpm_examples::predict_spread_draws(rates, load, 1000).busy_ranks == 80);
}

TEST_CASE("points over ranks, by hand") {
  const bpm_examples::CostPrediction four =
      bpm_examples::predict_sharded_points(rates, load, 4, 1000);
  CHECK(close(four.kernel_seconds, 8 * 500.0 * (2500 + 500 + 128) / 1e6));
  CHECK(close(four.addition_seconds, 8 * 600.0 * (2500 + 500 + 128) / 1e7));
  CHECK(close(four.order_seconds, 0.08));
  // 4 passes of 10 groups, each with a mistake.
  CHECK(close(four.latency_seconds, 1e-3 * 8 * 2 * (6 * 40 + 2 * 40 / 64.0)));
  CHECK(close(four.bandwidth_seconds, 8 * (40 * 1000.0 * 202 + (500 * 112.0 + 8 * 600) * 2) / 1e6));
  CHECK(close(four.bytes_per_rank,
              2500.0 * (100 + 210 + 12) + 40'000 + 1000 * 202.0 + 2.0 / 3 * 50'000));
  CHECK(bpm_examples::predict_sharded_points(rates, load, 1, 1000).latency_seconds == 0);
  // Fewer mistakes than groups.
  bpm_examples::TrainingLoad easy = load;
  easy.events_per_draw = 7;
  CHECK(close(bpm_examples::predict_sharded_points(rates, easy, 4, 1000).latency_seconds,
              1e-3 * 8 * 2 * (6 * 7 + 2 * 40 / 64.0)));
  // A group is never longer than all points.
  CHECK(close(bpm_examples::predict_sharded_points(rates, load, 4, 1e9).kernel_seconds,
              8 * 500.0 * (2500 + 5000 + 128) / 1e6));
}

TEST_CASE("memory is what shards save, and time what more ranks save") {
  const bpm_examples::ClusterRates real{};
  const bpm_examples::TrainingLoad digits{};
  for (const double m : {1e4, 1e6, 1e8}) {
    const bpm_examples::TrainingLoad scaled = digits.scaled_to(m);
    double before = std::numeric_limits<double>::infinity();
    for (const double ranks : {1.0, 2.0, 5.0, 10.0}) {
      const double now = bpm_examples::predict_spread_draws(real, scaled, ranks).seconds;
      CHECK(now < before);
      before = now;
      CHECK(bpm_examples::predict_sharded_points(real, scaled, ranks).bytes_per_rank <
            bpm_examples::predict_sharded_points(real, scaled, 1).bytes_per_rank *
                    (1.2 / ranks + 0.1) +
                2e7);
    }
  }
  const bpm_examples::TrainingLoad larger = digits.scaled_to(240'000);
  CHECK(close(larger.events_per_draw, 11'000 * std::pow(4, 0.6)));
  CHECK(close(larger.updates_per_draw, 13'000 * std::pow(4, 0.6)));
  CHECK(larger.points == 240'000);
  CHECK(bpm_examples::default_group(1) == 256);
  CHECK(bpm_examples::default_group(4) == 1024);
  CHECK(bpm_examples::default_group(1000) == 16384);
}

TEST_CASE("rates and sizes that mean nothing are refused") {
  bpm_examples::ClusterRates bad = rates;
  bad.kernel_values_per_second = 0;
  CHECK_THAT(
      message_of([&] { static_cast<void>(bpm_examples::predict_spread_draws(bad, load, 4)); }),
      ContainsSubstring("predict_spread_draws: kernel_values_per_second is 0"));
  bpm_examples::ClusterRates late = rates;
  late.latency_seconds = -1;
  CHECK_THAT(
      message_of([&] { static_cast<void>(bpm_examples::predict_spread_draws(late, load, 4)); }),
      ContainsSubstring("latency_seconds is -1, must be finite and not negative"));
  bpm_examples::TrainingLoad none = load;
  none.points = std::nan("");
  CHECK_THAT(
      message_of([&] { static_cast<void>(bpm_examples::predict_sharded_points(rates, none, 4)); }),
      ContainsSubstring("predict_sharded_points: points is nan"));
  CHECK_THAT(
      message_of([&] { static_cast<void>(bpm_examples::predict_spread_draws(rates, load, 0)); }),
      ContainsSubstring("ranks is 0, must be finite and 1 or more"));
}
