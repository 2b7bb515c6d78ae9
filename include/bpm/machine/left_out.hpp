// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// How many outputs left out say enough of a slope and an offset per class.
inline constexpr std::size_t enough_left_out = 3000;

/// How many draws of a fit with probabilities leave a tenth of its points out at first: as many as
/// give some 3000 outputs there, and at most two, since each costs some 4 % of ten draws' time. It
/// depends on the number of points alone, so that draws are the same whenever they are made. Up to
/// twice the part on which a boundary is chosen (3000 points), what that found out of fold says
/// more: it is of means of draws. docs/theory.md says what else was tried.
[[nodiscard]] constexpr std::uint64_t left_out_draws(std::size_t points) {
  constexpr std::size_t twice_the_part = 6000;
  constexpr std::size_t most = 2;
  const std::size_t tenth = points / 10;
  if (points < twice_the_part) return 0;
  return std::min(most, (enough_left_out + tenth - 1) / tenth);
}

/// What offsets found on so many outputs of one or two draws are multiplied by: the fewer there
/// are, the more of an offset is the chance of these draws and points. 1 with class weights: they
/// shift a boundary on purpose, and all of that is to be undone.
[[nodiscard]] inline double share_of_offsets(std::size_t outputs, const SoftBoundary& boundary) {
  if (boundary.has_class_weights()) return 1;
  return std::sqrt(std::min(1.0, static_cast<double>(outputs) / enough_left_out));
}

/// What the draws of all subproblems noted of points that they left out, a row per draw and point;
/// draws of which a subproblem noted nothing are left away.
struct OutputsLeftOut {
  Eigen::MatrixXd decision_values;  ///< Rows x subproblems.
  std::vector<int> labels;          ///< Of the rows.

  OutputsLeftOut(std::span<const DrawMean> means, std::span<const int> all) {
    std::vector<std::vector<const KeptDraw*>> draws;  // Each of all subproblems.
    for (const KeptDraw& first : means[0].left_out()) {
      std::vector<const KeptDraw*> one;
      for (const DrawMean& mean : means) {
        const auto& noted = mean.left_out();
        const auto found = std::ranges::lower_bound(noted, first.number, {}, &KeptDraw::number);
        if (found != noted.end() && found->number == first.number &&
            found->support == first.support) {
          one.push_back(&*found);
        }
      }
      if (one.size() < means.size()) continue;
      for (const PointIndex i : first.support) labels.push_back(all[static_cast<std::size_t>(i)]);
      draws.push_back(std::move(one));
    }
    decision_values.resize(std::ssize(labels), std::ssize(means));
    Eigen::Index row = 0;
    for (const auto& draw : draws) {
      const auto rows = std::ssize(draw[0]->coefficients);
      for (std::size_t c = 0; c < draw.size(); ++c) {
        decision_values.col(static_cast<Eigen::Index>(c)).segment(row, rows) =
            Eigen::Map<const Eigen::VectorXd>(draw[c]->coefficients.data(), rows);
      }
      row += rows;
    }
  }
};

}}}  // namespace bpm::detail
