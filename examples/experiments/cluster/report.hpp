// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "common/digest.hpp"
#include "common/json_file.hpp"
#include "cost_model.hpp"
#include "training.hpp"

namespace bpm_examples {

/// Predictions for clusters of machines like this one, and for the run at hand.
struct CostReport {
  MeasuredRates measured;
  TrainingLoad load;
  LoadSample small;
  CostPrediction this_run;
};

struct ClusterReport {
  std::string source;
  std::string data;
  std::int64_t train_size = 0;
  std::int64_t test_size = 0;
  std::uint64_t seed = 1;
  int threads = 1;
  int ranks = 1;
  bool mpi = false;
  std::string input;
  std::string strategy;  ///< "spread": draws over ranks; "sharded": points over ranks.
  double read_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< Of the first rank.
  ClusterRun run;
  std::optional<CostReport> cost;
};

inline constexpr std::array<double, 7> table_ranks{1, 4, 10, 40, 100, 400, 1000};
inline constexpr std::array<double, 5> table_points{1e4, 1e5, 1e6, 1e7, 1e8};

[[nodiscard]] inline CostPrediction predict(const CostReport& cost, double points, double ranks,
                                            bool sharded) {
  const TrainingLoad load = cost.load.scaled_to(points);
  return sharded ? predict_sharded_points(cost.measured.rates, load, ranks)
                 : predict_spread_draws(cost.measured.rates, load, ranks);
}

inline void print_cost(std::ostream& out, const ClusterReport& report) {
  const CostReport& cost = *report.cost;
  const ClusterRates& rates = cost.measured.rates;
  std::ostringstream text;
  text << std::setprecision(3) << "a rank here    " << rates.kernel_values_per_second
       << " kernel values/s, " << rates.additions_per_second << " additions/s, order "
       << 1e9 * rates.shuffle_seconds_per_point << " ns a point\n"
       << "a message      " << 1e6 * rates.latency_seconds << " us + bytes / "
       << rates.bytes_per_second / 1e9 << " GB/s ("
       << (cost.measured.messages_measured ? "measured between two ranks" : "assumed")
       << ")\nmistaken points a draw: " << std::setprecision(4) << cost.small.events << " of "
       << cost.small.points << " points, " << cost.load.events_per_draw << " of "
       << cost.load.points << ": they grow with m^" << std::setprecision(2)
       << cost.load.event_exponent << "\nthis run       predicted " << std::setprecision(3)
       << cost.this_run.seconds << " s, measured " << report.run.train_seconds << " s\n";
  for (const bool sharded : {false, true}) {
    text << "\npredicted seconds (GiB a rank), " << report.run.draws << " draws, "
         << (sharded ? "points sharded over ranks" : "draws spread over ranks") << "\n         m";
    for (const double ranks : table_ranks) {
      text << std::setw(20) << (std::to_string(static_cast<int>(ranks)) + " ranks");
    }
    text << '\n';
    for (const double points : table_points) {
      text << std::setw(10) << std::setprecision(0) << std::scientific << points
           << std::defaultfloat;
      for (const double ranks : table_ranks) {
        const CostPrediction one = predict(cost, points, ranks, sharded);
        std::ostringstream cell;
        cell << std::setprecision(3) << one.seconds << " (" << std::setprecision(2)
             << one.bytes_per_rank / (1 << 30) << ")";
        text << std::setw(20) << cell.str();
      }
      text << '\n';
    }
  }
  out << text.str();
}

inline void print_report(std::ostream& out, const ClusterReport& report) {
  std::ostringstream text;
  text << "data           " << report.source << ", " << report.train_size << " training and "
       << report.test_size << " test digits as " << report.input << "s\n"
       << "ranks          " << report.ranks << (report.mpi ? "" : " (built without MPI)") << ", "
       << report.threads << " thread(s) each, " << report.strategy << '\n'
       << std::fixed << std::setprecision(2) << "time           read " << report.read_seconds
       << " s, train " << report.run.train_seconds << " s, predict " << report.run.predict_seconds
       << " s\n"
       << "training       " << report.run.draws << " draws, " << report.run.mistakes
       << " mistakes, " << report.run.kernel_evaluations << " kernel values, " << report.run.support
       << " support points\n"
       << "peak memory    " << (report.peak_memory_bytes >> 20U) << " MiB of the first rank\n"
       << "test error     " << report.run.test_error_percent << " %\n"
       << "model digest   " << digest_text(report.run.model_digest) << '\n';
  out << text.str();
  if (report.cost) print_cost(out, report);
}

[[nodiscard]] inline Json report_json(const ClusterReport& report) {
  Json json;
  json["data"] = report.data;
  json["train_size"] = report.train_size;
  json["test_size"] = report.test_size;
  json["draws"] = report.run.draws;
  json["seed"] = report.seed;
  json["threads"] = report.threads;
  json["ranks"] = report.ranks;
  json["mpi"] = report.mpi;
  json["input"] = report.input;
  json["strategy"] = report.strategy;
  json["read_seconds"] = report.read_seconds;
  json["train_seconds"] = report.run.train_seconds;
  json["predict_seconds"] = report.run.predict_seconds;
  json["peak_memory_bytes"] = report.peak_memory_bytes;
  json["kernel_evaluations"] = report.run.kernel_evaluations;
  json["mistakes"] = report.run.mistakes;
  json["passes_mean"] = report.run.passes_mean;
  json["support_union"] = report.run.support;
  json["test_error_percent"] = report.run.test_error_percent;
  json["model_digest"] = report.run.model_digest.empty() ? Json() : Json(report.run.model_digest);
  if (report.cost) {
    const CostReport& cost = *report.cost;
    const ClusterRates& rates = cost.measured.rates;
    json["cost"] = {{"kernel_values_per_second", rates.kernel_values_per_second},
                    {"additions_per_second", rates.additions_per_second},
                    {"shuffle_seconds_per_point", rates.shuffle_seconds_per_point},
                    {"latency_seconds", rates.latency_seconds},
                    {"bytes_per_second", rates.bytes_per_second},
                    {"messages_measured", cost.measured.messages_measured},
                    {"events_per_draw", cost.load.events_per_draw},
                    {"event_exponent", cost.load.event_exponent},
                    {"predicted_seconds", cost.this_run.seconds},
                    {"measured_seconds", report.run.train_seconds},
                    {"predictions", Json::array()}};
    for (const bool sharded : {false, true}) {
      for (const double points : table_points) {
        for (const double ranks : table_ranks) {
          const CostPrediction one = predict(cost, points, ranks, sharded);
          json["cost"]["predictions"].push_back({{"strategy", sharded ? "sharded" : "spread"},
                                                 {"points", points},
                                                 {"ranks", ranks},
                                                 {"seconds", one.seconds},
                                                 {"bytes_per_rank", one.bytes_per_rank}});
        }
      }
    }
  }
  return json;
}

}  // namespace bpm_examples
