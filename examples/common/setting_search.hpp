// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/kernels/compose.hpp"
#include "bpm/selection/automatic_boundary.hpp"

/// \file
/// What a fit with default settings chooses, on the command line and in Python: by folds of some
/// thousand rows, with few candidates, or with many where `choose` is asked for.

namespace bpm_examples {

/// What is chosen from. Empty lists: the default ones.
struct SettingSearch {
  std::vector<bpm::RuntimeKernel> kernels{};  ///< One where the kernel is known.
  std::size_t narrower = 0;                   ///< `bpm::ChoiceGrid::narrower`.
  std::size_t wider = 0;                      ///< `bpm::ChoiceGrid::wider`.
  std::vector<double> biases{};               ///< Empty: that of the settings.
  /// Soft boundaries, lambda / k(x, x).
  std::vector<double> relative_lambdas{};
  std::size_t folds = 0;
  bool one_against_one = false;  ///< Whether pairs of classes are tried too.
  bool by_error = false;         ///< The share of errors is made small, not the log loss.
  bool choosing = false;         ///< Whether `choose` was asked for.

  [[nodiscard]] bool has_candidates() const {
    return choosing || !biases.empty() || kernels.size() > 1;
  }
};

/// Biases to choose from.
inline const std::vector<double> usual_biases{0, 0.3, 1};

/// A width in units of the median distance: where one alone is tried, and where a search begins.
constexpr double usual_width = 0.7;

/// Draws of a fit by perceptrons. Of up to 3000 rows, all of which judge the candidates, most of
/// the time goes into judging, and three times as many draws cost little.
[[nodiscard]] constexpr std::uint64_t usual_draws(std::size_t rows) {
  return rows <= 3000 ? 30 : 10;
}

/// How a fit of so many rows chooses its soft boundary. Of few rows the losses of candidates differ
/// by less than what five draws leave to chance.
[[nodiscard]] inline bpm::AutomaticBoundary usual_boundary(std::size_t rows) {
  return {.draws = rows <= 1500 ? 10U : 5U};
}

/// Widths that double, in units of the median distance. `choose` begins with a quarter of it to
/// twice of it, other fits with the usual one, and both go on beyond an end that is best.
[[nodiscard]] inline std::vector<double> widths_to_try(SettingSearch& search) {
  std::vector<double> widths;
  for (int k = -5; k <= 4; ++k) {
    widths.push_back(std::ldexp(search.choosing ? 1 : usual_width, k));
  }
  search.narrower = search.choosing ? 3 : 5;
  search.wider = search.choosing ? 3 : 4;
  return widths;
}

/// Whether floats tell these rows apart as well as doubles: inner products lose no more than a
/// ten-thousandth of the distances to where the rows have their mean. Few rows stay doubles.
template <class Rows>
[[nodiscard]] bool floats_suffice(const Rows& rows) {
  constexpr Eigen::Index many = 5000;
  if (rows.rows() < many) return false;
  const Eigen::RowVectorXd mean = rows.colwise().mean();
  const double square = rows.squaredNorm() / static_cast<double>(rows.rows());
  constexpr double large = 1e15;  // Inner products of larger numbers may be beyond floats.
  return square <= 100 * (square - mean.squaredNorm()) && rows.cwiseAbs().maxCoeff() < large;
}

}  // namespace bpm_examples
