// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <map>
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

namespace bpm_examples {

[[nodiscard]] inline Json selection_json(const SelectionResult& result, const EvenOdd& digits,
                                         const SelectionOptions& options) {
  const auto entry = [](const ScoredKernel& k) {
    return Json{{"family", k.kernel.family},
                {"parameter", k.kernel.parameter},
                {"subset", k.subset},
                {"log_evidence", k.score.failure.empty() ? Json(k.score.log_evidence) : Json()},
                {"c_bound", k.score.c_bound},
                {"leave_one_out_gibbs_error", k.score.gibbs_error},
                {"leave_one_out_bayes_error", k.score.bayes_error},
                {"leave_one_out_agreement", k.score.agreement},
                {"centre_of_mass_error", k.centre_error},
                {"centroidal_error", k.centroidal_error},
                {"failure", k.score.failure}};
  };
  Json json;
  json["data"] = digits.name();
  json["train_size"] = options.train;
  json["test_size"] = digits.test.signs.size();
  json["seconds"] = result.seconds;
  json["kernels"] = Json::array();
  for (const ScoredKernel& kernel : result.kernels) json["kernels"].push_back(entry(kernel));
  json["choices"] = Json::array();
  for (const Choice& choice : result.choices) {
    Json one = entry(choice.chosen);
    one["criterion"] = choice.criterion;
    one["search"] = choice.search;
    one["evaluations"] = choice.evaluations;
    json["choices"].push_back(std::move(one));
  }
  return json;
}

namespace selection_report {

/// Means over subsets of one kernel of the grid.
struct Row {
  KernelChoice kernel;
  double log_evidence = 0;
  double c_bound = 0;
  double left_out = 0;
  double centre = 0;
  double centroidal = 0;
};

[[nodiscard]] inline std::vector<Row> means(const SelectionResult& result) {
  std::vector<Row> rows;
  std::size_t per_subset = 0;
  while (per_subset < result.kernels.size() && result.kernels[per_subset].subset == 0) ++per_subset;
  const auto subsets =
      static_cast<double>(result.kernels.size() / std::max<std::size_t>(1, per_subset));
  for (std::size_t k = 0; k < result.kernels.size(); ++k) {
    const ScoredKernel& one = result.kernels[k];
    if (k < per_subset) rows.push_back({.kernel = one.kernel});
    Row& row = rows[k % per_subset];
    row.log_evidence += one.score.log_evidence / subsets;
    row.c_bound += one.score.c_bound / subsets;
    row.left_out += one.score.bayes_error / subsets;
    row.centre += one.centre_error / subsets;
    row.centroidal += one.centroidal_error / subsets;
  }
  return rows;
}

}  // namespace selection_report

/// The grid's means over subsets, then what each criterion chose.
inline void print_selection(std::ostream& out, const SelectionResult& result, const EvenOdd& digits,
                            const SelectionOptions& options) {
  std::ostringstream text;
  text << "data: " << digits.source << "\neven against odd, " << options.train << " training and "
       << digits.test.signs.size() << " test digits, means over " << options.subsets
       << " subsets; errors in %\n\n"
       << "kernel      parameter  log evidence  C-bound  left out   centre of mass  centroidal\n"
       << std::fixed;
  for (const auto& row : selection_report::means(result)) {
    text << std::left << std::setw(12) << row.kernel.family << std::right << std::setw(9)
         << std::setprecision(2) << row.kernel.parameter << std::setw(14) << std::setprecision(1)
         << row.log_evidence << std::setw(9) << std::setprecision(3) << row.c_bound
         << std::setprecision(2) << std::setw(10) << 100 * row.left_out << std::setw(17)
         << 100 * row.centre << std::setw(12) << 100 * row.centroidal << '\n';
  }
  text << "\nchosen by    search   held-out error of the centre of mass: mean, each (kernel)\n";
  for (const auto& [criterion, search] :
       {std::pair{"evidence", "grid"}, std::pair{"c-bound", "grid"}, std::pair{"evidence", "nlopt"},
        std::pair{"c-bound", "nlopt"}, std::pair{"held-out", "grid"}}) {
    std::ostringstream each;
    double mean = 0;
    std::size_t evaluations = 0;
    each << std::fixed;
    for (const Choice& choice : result.choices) {
      if (choice.criterion != criterion || choice.search != search) continue;
      mean += choice.chosen.centre_error / static_cast<double>(options.subsets);
      evaluations += choice.evaluations;
      each << "  " << std::setprecision(2) << 100 * choice.chosen.centre_error << " ("
           << choice.chosen.kernel.family << ' ' << choice.chosen.kernel.parameter << ')';
    }
    text << std::left << std::setw(13) << criterion << std::setw(7) << search << std::right
         << std::setprecision(2) << std::setw(7) << 100 * mean << "   " << each.str() << "  "
         << evaluations << " evaluations\n";
  }
  text << std::setprecision(1) << result.seconds << " s\n";
  out << text.str() << std::flush;
}

/// Criteria against held-out error, a panel each; criteria as differences from the best on the same
/// subset, since subsets differ in both.
[[nodiscard]] inline FigureScript selection_figure(const SelectionResult& result,
                                                   const EvenOdd& digits) {
  FigureScript figure;
  std::map<std::uint64_t, bpm::KernelScore> best;
  for (const ScoredKernel& kernel : result.kernels) {
    bpm::KernelScore& score = best[kernel.subset];
    score.log_evidence = std::max(score.log_evidence, kernel.score.log_evidence);
    score.c_bound = std::min(score.c_bound, kernel.score.c_bound);
  }
  std::vector<std::vector<double>> points[2];
  for (const ScoredKernel& kernel : result.kernels) {
    if (!kernel.score.failure.empty()) continue;
    const bpm::KernelScore& score = best[kernel.subset];
    points[kernel.kernel.family == "gaussian" ? 0 : 1].push_back(
        {score.log_evidence - kernel.score.log_evidence, kernel.score.c_bound - score.c_bound,
         100 * kernel.centre_error});
  }
  const std::string gaussian = figure.add_data(points[0]);
  const std::string arc_cosine = figure.add_data(points[1]);
  auto& out = figure.commands();
  out << "set multiplot layout 1,2 margins 0.07,0.98,0.14,0.84 spacing 0.09,0 title '"
      << (digits.drawn ? "Drawn digits (not MNIST)" : "MNIST")
      << ", even against odd: what the training set tells, and the test error' font ',17'\n"
      << "set border 3 linecolor rgb '#404040'\nset tics nomirror\n"
      << "set grid linecolor rgb '#DCDCDC' linewidth 0.6\n"
      << "set ylabel 'test error of the centre of mass (%)' offset 0.5,0\n";
  for (const auto& [column, label] : {std::pair{1, "log evidence, below the best"},
                                      std::pair{2, "C-bound, leave one out, above the best"}}) {
    out << "set xlabel '" << label << "'\nset key top right\nset offsets 0,0,2,0"
        << "\nplot " << gaussian << " using " << column
        << ":3 with points pointtype 7 pointsize 0.6 linecolor rgb '#0072B2' title 'Gaussian', "
        << arc_cosine << " using " << column
        << ":3 with points pointtype 9 pointsize 0.8 linecolor rgb '#D55E00' title 'arc-cosine'\n";
  }
  out << "unset multiplot\n";
  return figure;
}

}  // namespace bpm_examples
