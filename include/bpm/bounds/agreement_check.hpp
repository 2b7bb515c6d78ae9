// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "bpm/bounds/relative_entropy.hpp"
#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// How many draws of an ensemble agree with its centre, and whether that is as theory demands.
///
/// Lemma 2 of "Kernel Interpolation as a Bayes Point Machine" (B. Grünbaum 1960; A. Caplin,
/// B. Nalebuff 1991): whatever the input, at least 1 / e of a log-concave ensemble of
/// linear classifiers is on the side of its centre of mass. An ensemble that fails is not
/// log-concave, or its draws are not from it, or the centre is not its centre.
///
/// `outputs` has a row per point and a column per draw, `centre` the centre's output at each point.
/// A draw whose output is 0 stands on both sides. The threshold is the value that V independent
/// draws fall short of at any of the points with probability delta at most, by the Chernoff bound
/// and the sum over points: kl(threshold || 1 / e) = log(points / delta) / V. Draws of a chain are
/// worth fewer than V: a failure by little may then be chance.
struct AgreementCheck {
  /// \throws std::invalid_argument unless there are points and draws, the sizes agree, all is
  ///         finite, and delta lies between 0 and 1.
  AgreementCheck(const Eigen::MatrixXd& outputs, const Eigen::VectorXd& centre, double delta = 1e-6)
      : draws(outputs.cols()) {
    const char* const f = "AgreementCheck";
    detail::check(outputs.rows() > 0 && outputs.cols() > 0, f, "outputs", "is ", outputs.rows(),
                  " x ", outputs.cols(), ", expected one point and one draw or more");
    detail::check_size(f, "centre", centre.size(), outputs.rows(), "one per point");
    detail::check(outputs.allFinite(), f, "outputs", "holds a number that is not finite");
    detail::check(centre.allFinite(), f, "centre", "holds a number that is not finite");
    detail::check_delta(f, "delta", delta);
    const auto count = static_cast<double>(draws);
    double sum = 0;
    for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
      if (centre[i] == 0) {
        ++undecided;
        continue;
      }
      const double side = centre[i] > 0 ? 1 : -1;
      const double agree =
          static_cast<double>((side * outputs.row(i).array() >= 0).count()) / count;
      sum += agree;
      if (point < 0 || agree < smallest) {
        smallest = agree;
        point = i;
      }
    }
    if (point >= 0) {
      const auto decided = static_cast<double>(outputs.rows() - undecided);
      mean = sum / decided;
      threshold =
          detail::kl_lower_deviation(1 / std::numbers::e, std::log(decided / delta) / count);
    }
  }

  double smallest = 1;           ///< Share of draws that agree, at the point where fewest do.
  std::ptrdiff_t point = -1;     ///< That point; -1 where the centre is undecided at all of them.
  double mean = 1;               ///< Over the points.
  std::ptrdiff_t undecided = 0;  ///< Points where the centre's output is 0; not counted.
  std::ptrdiff_t draws;
  double threshold = 0;  ///< What `smallest` must reach.

  /// Whether every point has the agreement of 1 / e that a log-concave ensemble has, as far as the
  /// number of draws can tell.
  [[nodiscard]] bool holds() const noexcept { return smallest >= threshold; }
};

}}  // namespace bpm
