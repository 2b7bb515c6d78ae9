// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "bpm/bounds/relative_entropy.hpp"
#include "bpm/core/check.hpp"

namespace bpm {

/// How many draws of an ensemble agree with its centre, and whether that is as theory demands.
struct AgreementCheck {
  double smallest = 1;           ///< Share of draws that agree, at the point where fewest do.
  std::ptrdiff_t point = -1;     ///< That point; -1 where the centre is undecided at all of them.
  double mean = 1;               ///< Over the points.
  std::ptrdiff_t undecided = 0;  ///< Points where the centre's output is 0; not counted.
  std::ptrdiff_t draws = 0;
  double threshold = 0;  ///< What `smallest` must reach.

  /// Whether every point has the agreement of 1 / e that a log-concave ensemble has, as far as the
  /// number of draws can tell.
  [[nodiscard]] bool holds() const noexcept { return smallest >= threshold; }
};

/// Lemma 2 of "Kernel Interpolation as a Bayes Point Machine" (B. Grünbaum 1960; A. Caplin,
/// B. Nalebuff 1991) as a check: whatever the input, at least 1 / e of a log-concave ensemble of
/// linear classifiers is on the side of its centre of mass. An ensemble that fails is not
/// log-concave, or its draws are not from it, or the centre is not its centre.
///
/// `outputs` has a row a point and a column a draw, `centre` the centre's output at each point. A
/// draw whose output is 0 stands on both sides. The threshold is the value that V independent draws
/// fall short of at any of the points with probability delta at most, by the Chernoff bound and the
/// sum over points: kl(threshold || 1 / e) = log(points / delta) / V. Draws of a chain are worth
/// fewer than V: a failure by little may then be chance.
/// \throws std::invalid_argument unless there are points and draws, the sizes agree, all is finite,
///         and delta lies between 0 and 1.
[[nodiscard]] inline AgreementCheck agreement_check(const Eigen::MatrixXd& outputs,
                                                    const Eigen::VectorXd& centre,
                                                    double delta = 1e-6) {
  const char* const f = "agreement_check";
  detail::check(outputs.rows() > 0 && outputs.cols() > 0, f, "outputs", "is ", outputs.rows(),
                " x ", outputs.cols(), ", expected one point and one draw or more");
  detail::check_size(f, "centre", centre.size(), outputs.rows(), "one per point");
  detail::check(outputs.allFinite(), f, "outputs", "holds a number that is not finite");
  detail::check(centre.allFinite(), f, "centre", "holds a number that is not finite");
  detail::check_delta(delta, f, "delta");
  AgreementCheck result;
  result.draws = outputs.cols();
  const auto draws = static_cast<double>(outputs.cols());
  double sum = 0;
  std::ptrdiff_t decided = 0;
  for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
    if (centre[i] == 0) {
      ++result.undecided;
      continue;
    }
    const double side = centre[i] > 0 ? 1 : -1;
    std::ptrdiff_t same = 0;
    for (Eigen::Index j = 0; j < outputs.cols(); ++j) same += side * outputs(i, j) >= 0 ? 1 : 0;
    const double agree = static_cast<double>(same) / draws;
    sum += agree;
    ++decided;
    if (result.point < 0 || agree < result.smallest) {
      result.smallest = agree;
      result.point = i;
    }
  }
  if (decided > 0) {
    const auto points = static_cast<double>(decided);
    result.mean = sum / points;
    result.threshold = kl_lower_deviation(1 / std::numbers::e, std::log(points / delta) / draws);
  }
  return result;
}

}  // namespace bpm
