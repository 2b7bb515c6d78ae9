// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/figure.hpp"
#include "common/json_file.hpp"
#include "experiment.hpp"

/// \file
/// The results as text, JSON and a figure.

namespace any_data {

using bpm_examples::Json;

/// Differences chosen - LIBSVM, paired by split, in percent.
[[nodiscard]] inline Mean difference(const SetResult& set) {
  std::vector<double> differences;
  for (std::size_t s = 0; s < set.libsvm.size(); ++s) {
    differences.push_back(100 * (set.chosen[s] - set.libsvm[s]));
  }
  return mean_of(differences);
}

[[nodiscard]] inline Json any_data_json(const std::vector<SetResult>& sets) {
  Json list = Json::array();
  for (const SetResult& set : sets) {
    const auto mean = [](const std::vector<double>& values, double factor = 1) {
      return values.empty() ? Json() : Json(factor * mean_of(values).value);
    };
    const auto se = [](const std::vector<double>& values) {
      return values.empty() ? Json() : Json(100 * mean_of(values).se);
    };
    const auto best = set.grid_best();
    list.push_back(
        {{"dataset", set.name},
         {"train_size", set.train_size},
         {"test_size", set.test_size},
         {"features", set.features},
         {"classes", set.classes},
         {"first_error_percent", mean(set.first, 100)},
         {"first_se", se(set.first)},
         {"first_seconds", mean(set.first_seconds)},
         {"first_lambda_relative", mean(set.first_lambda)},
         {"grid_best_error_percent", best ? Json(100 * *best) : Json()},
         {"chosen_error_percent", mean(set.chosen, 100)},
         {"chosen_se", se(set.chosen)},
         {"choose_seconds", mean(set.choose_seconds)},
         {"chosen_fit_seconds", mean(set.chosen_fit_seconds)},
         {"libsvm_error_percent", mean(set.libsvm, 100)},
         {"libsvm_se", se(set.libsvm)},
         {"libsvm_choose_seconds", mean(set.libsvm_seconds)},
         {"libsvm_fit_seconds", mean(set.libsvm_fit_seconds)},
         {"difference_percent", set.libsvm.empty() ? Json() : Json(difference(set).value)},
         {"difference_se", set.libsvm.empty() ? Json() : Json(difference(set).se)},
         {"log_loss_calibrated", mean(set.loss_calibrated)},
         {"log_loss_votes", mean(set.loss_votes)},
         {"log_loss_libsvm", mean(set.loss_libsvm)},
         {"log_loss_largest_class", mean(set.loss_largest_class)},
         {"calibration_error", mean(set.calibration_error)},
         {"libsvm_calibration_error", mean(set.libsvm_calibration_error)},
         {"slope_ratio", mean(set.slope_ratio)},
         {"hard_error_percent", mean(set.hard, 100)},
         {"hard_seconds", mean(set.hard_seconds)},
         {"linear_hard_seconds", mean(set.linear_hard_seconds)},
         {"linear_hard_refused",
          set.linear_hard_seconds.empty() ? Json() : Json(set.linear_hard_refused)},
         {"refused", set.refused}});
  }
  return list;
}

/// A line per set, and the mean of those that LIBSVM was tried on.
inline void print_any_data(std::ostream& out, const std::vector<SetResult>& sets) {
  std::ostringstream text;
  text << "errors in %, seconds a split; best: of the grid of lambda, known only afterwards\n\n"
       << "set           train   first  best   s    chosen   LIBSVM   difference    s / s     "
          "log loss: slope  votes  LIBSVM  slope out / in\n"
       << std::fixed;
  Json means;
  double difference_sum = 0;
  double variance_sum = 0;
  double chosen_seconds = 0;
  double libsvm_seconds = 0;
  double regret = 0;
  double slope_loss = 0;
  double libsvm_loss = 0;
  double ratio_sum = 0;
  double worst_ratio = 0;
  double compared = 0;
  const auto number = [&](double value, int width, int digits) {
    text << std::setw(width) << std::setprecision(digits);
    if (std::isfinite(value)) {
      text << value;
    } else {
      text << '-';
    }
  };
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (const SetResult& set : sets) {
    const auto mean = [](const std::vector<double>& values) {
      return values.empty() ? none : mean_of(values).value;
    };
    const Mean apart = difference(set);
    const bool both = !set.libsvm.empty();
    text << std::left << std::setw(13) << set.name << std::right << std::setw(6) << set.train_size;
    number(100 * mean(set.first), 8, 2);
    number(100 * set.grid_best().value_or(none), 7, 2);
    number(mean(set.first_seconds), 6, 2);
    number(100 * mean(set.chosen), 8, 2);
    number(100 * mean(set.libsvm), 8, 2);
    number(both ? apart.value : none, 9, 2);
    number(both ? apart.se : none, 6, 2);
    number(mean(set.choose_seconds), 8, 2);
    number(mean(set.libsvm_seconds), 7, 2);
    number(mean(set.loss_calibrated), 12, 3);
    number(mean(set.loss_votes), 8, 3);
    number(mean(set.loss_libsvm), 8, 3);
    number(mean(set.slope_ratio), 8, 2);
    if (set.refused > 0) text << "   refused " << set.refused;
    if (!set.hard_seconds.empty()) {
      text << "   hard ";
      number(100 * mean(set.hard), 0, 2);
      text << " %, ";
      number(mean(set.hard_seconds), 0, 2);
      text << " s";
    }
    if (!set.linear_hard_seconds.empty()) {
      text << "   linear, hard: " << (set.linear_hard_refused ? "refused" : "NOT REFUSED")
           << " after ";
      number(mean(set.linear_hard_seconds), 0, 2);
      text << " s";
    }
    text << '\n';
    if (!both) continue;
    ++compared;
    difference_sum += apart.value;
    variance_sum += apart.se * apart.se;
    chosen_seconds += mean(set.choose_seconds);
    libsvm_seconds += mean(set.libsvm_seconds);
    regret += 100 * (mean(set.first) - set.grid_best().value_or(none));
    slope_loss += mean(set.loss_calibrated);
    libsvm_loss += mean(set.loss_libsvm);
    const double ratio = mean(set.loss_calibrated) / mean(set.loss_libsvm);
    ratio_sum += ratio;
    worst_ratio = std::max(worst_ratio, ratio);
  }
  if (compared > 0) {
    text << std::setprecision(3) << "\nmean of " << std::setprecision(0) << compared
         << std::setprecision(3) << " sets: first - best " << regret / compared
         << ", chosen - LIBSVM " << difference_sum / compared << " (standard error "
         << std::sqrt(variance_sum) / compared << "), log loss " << slope_loss / compared
         << " and LIBSVM's " << libsvm_loss / compared << ", ratios " << ratio_sum / compared
         << " and at most " << worst_ratio
         << ";\ntime of choosing, summed: " << chosen_seconds / libsvm_seconds << " of LIBSVM's\n";
  }
  out << text.str() << std::flush;
}

/// Differences of errors with two standard errors, a set a row.
[[nodiscard]] inline bpm_examples::FigureScript any_data_figure(
    const std::vector<SetResult>& sets) {
  bpm_examples::FigureScript figure;
  std::vector<std::vector<double>> rows;
  std::ostringstream tics;
  for (const SetResult& set : sets) {
    if (set.libsvm.empty()) continue;
    const Mean apart = difference(set);
    tics << (rows.empty() ? "" : ", ") << '\''
         << (set.name.find('\'') == std::string::npos ? set.name : "a set") << "' " << rows.size();
    rows.push_back({static_cast<double>(rows.size()), apart.value, 2 * apart.se});
  }
  const std::string data = figure.add_data(rows);
  figure.commands() << "set title 'Errors beside tuned support vector machines'\n"
                    << "set ylabel 'chosen - LIBSVM (points of error), two standard errors'\n"
                    << "set xtics (" << tics.str() << ") noenhanced\nset grid ytics\nset key off\n"
                    << "set offsets 0.5,0.5,0,0\nplot 0 linecolor rgb '#404040', " << data
                    << " using 1:2:3 with yerrorbars pointtype 7 linecolor rgb '#0072B2'\n";
  return figure;
}

}  // namespace any_data
