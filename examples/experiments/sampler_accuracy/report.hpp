// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/chain_check.hpp"
#include "common/figure.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "experiment.hpp"

/// \file
/// The results in three forms: text, JSON and a figure.

namespace bpm_examples {

/// What the best of volesti's walks reaches (commit 83d5e0da of 2024-10-15, the best of its walks
/// and settings on each cone): angle to the centre, median of 5 seeds, start not charged, CPU
/// seconds of one core, as the README of the cones tells. Measured once, on another day.
struct VolestiResult {
  std::string_view cone;
  std::string_view walk;
  std::array<double, 3> angles;
};
inline constexpr std::array<double, 3> volesti_seconds{0.3, 1, 3};
inline constexpr std::array<VolestiResult, 4> volesti_results{
    {{"cone_12_5", "exact Hamiltonian", {.0037, .0020, .0013}},
     {"cone_60_5", "billiard, L = 4", {.0176, .0115, .0065}},
     {"cone_60_40", "(accelerated) billiard", {.0089, .0053, .0030}},
     {"cone_400_10", "accelerated billiard, L = 2", {.125, .070, .040}}}};

/// Volesti's angle on the cone after that time; NaN where it is not known.
[[nodiscard]] inline double volesti_angle(std::string_view cone, double seconds) {
  for (const VolestiResult& result : volesti_results) {
    for (std::size_t k = 0; k < volesti_seconds.size(); ++k) {
      if (result.cone == cone && volesti_seconds[k] == seconds) {
        return result.angles[k];
      }
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Of `Billiard` as it is by default, whose error is known here. The other methods are here to show
/// theirs.
[[nodiscard]] inline ChainCheck check_chains(const std::vector<AccuracyRow>& rows) {
  ChainCheck chains;
  for (const AccuracyRow& row : rows) {
    if (row.method == accuracy_methods.front()) chains.add(row.angle_median);
  }
  return chains;
}

/// The rows under the keys that all runs share.
[[nodiscard]] inline Json accuracy_json(const std::vector<AccuracyRow>& rows) {
  Json list = Json::array();
  for (const AccuracyRow& row : rows) {
    list.push_back({{"cone", row.cone},
                    {"method", row.method},
                    {"seconds", row.seconds},
                    {"angle_median", row.angle_median},
                    {"angle_min", row.angle_min},
                    {"angle_max", row.angle_max},
                    {"steps_per_second", row.steps_per_second},
                    {"warnings", check_chains({row}).warnings()}});
  }
  return list;
}

namespace report_detail {

/// Radians with four decimals, or "none".
[[nodiscard]] inline std::string angle_text(double angle) {
  if (!std::isfinite(angle)) {
    return "none";
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(5) << angle;
  return text.str();
}

}  // namespace report_detail

/// A table a cone.
inline void print_accuracy(std::ostream& out, const std::vector<AccuracyRow>& rows,
                           const AccuracyOptions& options) {
  using report_detail::angle_text;
  std::ostringstream text;
  text << "Angle to the centre of version space (rad) after " << options.seconds
       << " CPU seconds of one core, median, least and largest of " << options.seeds
       << (options.seeds == 1 ? " seed" : " seeds")
       << ".\nThe start is not charged, the burn-in is; every setting is its default. Expectation "
          "propagation\nends by itself.\n";
  std::string cone;
  bool none = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const AccuracyRow& row = rows[i];
    if (row.cone != cone) {
      cone = row.cone;
      text << '\n'
           << std::left << std::setw(26) << cone << std::right << std::setw(10) << "median"
           << std::setw(10) << "least" << std::setw(10) << "largest" << std::setw(16)
           << "steps / second" << '\n';
    }
    text << "  " << std::left << std::setw(24) << row.method << std::right << std::setw(10)
         << angle_text(row.angle_median) << std::setw(10) << angle_text(row.angle_min)
         << std::setw(10) << angle_text(row.angle_max) << std::setw(16) << std::setprecision(3)
         << std::defaultfloat << row.steps_per_second << '\n';
    none = none || !std::isfinite(row.angle_max);
    if (i + 1 == rows.size() || rows[i + 1].cone != cone) {
      for (const VolestiResult& volesti : volesti_results) {
        if (volesti.cone == cone) {
          text << "  volesti's best walk: ";
          for (std::size_t k = 0; k < volesti_seconds.size(); ++k) {
            text << (k > 0 ? ", " : "") << angle_text(volesti.angles[k]).substr(0, 6) << " after "
                 << volesti_seconds[k] << " s";
          }
          text << " (" << volesti.walk << ")\n";
        }
      }
    }
  }
  if (none) {
    text << "\nnone: the time was over before the burn-in was\n";
  }
  out << text.str() << std::flush;
}

/// Medians with their ranges, methods side by side on each cone; volesti's where it is known.
[[nodiscard]] inline FigureScript accuracy_figure(const std::vector<AccuracyRow>& rows,
                                                  double seconds) {
  using plot_detail::gnuplot_string;
  constexpr std::array<std::string_view, accuracy_methods.size()> titles{
      "billiard, geodesic",      "billiard, never refreshed", "billiard, published",
      "kernel Gibbs, isotropic", "kernel Gibbs, inputs",      "expectation propagation"};
  FigureScript figure;
  auto& out = figure.commands();
  std::ostringstream title;
  title << "Angle to the centre of version space after " << seconds
        << (seconds == 1 ? " CPU second" : " CPU seconds");
  out << "set title " << gnuplot_string(title.str()) << " font ',16'\n"
      << "set ylabel 'angle (rad), median and range over the seeds'\n"
      << "set border 3 linecolor rgb '#404040'\n"
      << "set tics nomirror\nset xtics scale 0\n"
      << "set grid ytics linecolor rgb '#D8D8D8' linewidth 0.6\n"
      << "set logscale y\nset format y '%g'\nset yrange [*:2]\n"
      << "set key outside right center Left reverse samplen 1 spacing 1.3\n"
      << "set xrange [-0.5:" << static_cast<double>(cone_names.size()) - 0.5 << "]\nset xtics (";
  std::vector<std::vector<double>> volesti;
  for (std::size_t c = 0; c < cone_names.size(); ++c) {
    std::string name(cone_names[c].substr(5));
    name.replace(name.find('_'), 1, " points in ");
    out << (c > 0 ? ", " : "") << gnuplot_string(name + " dim.") << ' ' << c;
    const double angle = volesti_angle(cone_names[c], seconds);
    if (std::isfinite(angle)) {
      volesti.push_back({static_cast<double>(c) + 0.36, angle});
    }
  }
  out << ")\n";
  for (std::size_t c = 1; c < cone_names.size(); ++c) {
    const double x = static_cast<double>(c) - 0.5;
    out << "set arrow from " << x << ",graph 0 to " << x
        << ",graph 1 nohead linecolor rgb '#D8D8D8' linewidth 0.8\n";
  }
  out << "plot ";
  for (std::size_t k = 0; k < accuracy_methods.size(); ++k) {
    std::vector<std::vector<double>> points;
    for (const AccuracyRow& row : rows) {
      if (row.method == accuracy_methods[k]) {
        const auto x = static_cast<double>(points.size()) - 0.36 + 0.12 * static_cast<double>(k);
        points.push_back({x, row.angle_median, row.angle_min, row.angle_max});
      }
    }
    out << (k > 0 ? ", " : "") << figure.add_data(points)
        << " using 1:2:3:4 with yerrorbars pointtype " << plot_detail::point_types[k]
        << " pointsize 0.9 linewidth 1.6 linecolor rgb '" << plot_detail::colours[k] << "' title "
        << gnuplot_string(titles[k]);
  }
  if (!volesti.empty()) {
    out << ", " << figure.add_data(volesti)
        << " using 1:2 with points pointtype 6 pointsize 1.1 linewidth 1.8 linecolor rgb '#404040' "
           "title 'volesti, its best walk'";
  }
  out << '\n';
  return figure;
}

}  // namespace bpm_examples
