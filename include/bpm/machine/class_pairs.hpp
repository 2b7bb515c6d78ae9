// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/labels.hpp"

/// \file
/// Pairs of classes: their points, and what machines of pairs say of the classes.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// How many pairs so many classes have.
[[nodiscard]] constexpr std::size_t pair_count(std::size_t classes) {
  return classes * (classes - 1) / 2;
}

/// Calls visit(pair, first, second) for every pair of classes by their places: (0, 1), (0, 2),
/// (1, 2), (0, 3), ...
template <class Visit>
void for_each_pair(std::size_t classes, Visit&& visit) {
  std::size_t pair = 0;
  for (std::size_t b = 1; b < classes; ++b) {
    for (std::size_t a = 0; a < b; ++a) visit(pair++, a, b);
  }
}

/// The points of every pair of classes, ascending. Cost: (C - 1) m.
[[nodiscard]] BPM_INLINE std::vector<std::vector<PointIndex>> points_of_pairs(
    const std::vector<int>& classes, std::span<const int> labels);

/// The mean decision value, of a machine of two classes, at its training points by the size of
/// their coefficients, the plain kernel's and positive where it is right:
/// sum_i alpha_i o_i / sqrt(k(x_i, x_i)) / sum_i |alpha_i|. The unit in which machines of different
/// pairs of classes are compared. 1 where there is none.
template <class T>
[[nodiscard]] double output_unit(const Gram<T>& gram, const Subproblems& problems,
                                 const DrawMean& mean) {
  double sum = 0;
  double sizes = 0;
  for (std::ptrdiff_t i = 0; i < gram.size(); ++i) {
    const double alpha = mean.coefficient(i);
    const auto self = static_cast<double>(gram.diagonal(i));
    if (alpha == 0 || !(self > 0)) continue;
    sum += alpha * mean.plain_output(i, problems.lambda_at(0, i)) / std::sqrt(self);
    sizes += std::abs(alpha);
  }
  return sum > 0 ? sum / sizes : 1;
}

/// What machines of pairs say of each class: the mean of tanh(f) over its pairs, f positive for the
/// class. Of outputs n x P, or n x (N P) of N draws: n x C, or n x (N C).
[[nodiscard]] BPM_INLINE Eigen::MatrixXd outputs_of_classes(const Eigen::MatrixXd& of_pairs,
                                                            std::size_t classes);

#if BPM_BODIES

BPM_INLINE std::vector<std::vector<PointIndex>> points_of_pairs(const std::vector<int>& classes,
                                                                std::span<const int> labels) {
  std::vector<std::vector<PointIndex>> of_class(classes.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto found = std::ranges::lower_bound(classes, labels[i]);
    of_class[static_cast<std::size_t>(found - classes.begin())].push_back(
        static_cast<PointIndex>(i));
  }
  std::vector<std::vector<PointIndex>> pairs(pair_count(classes.size()));
  for_each_pair(classes.size(), [&](std::size_t pair, std::size_t a, std::size_t b) {
    std::ranges::merge(of_class[a], of_class[b], std::back_inserter(pairs[pair]));
  });
  return pairs;
}

BPM_INLINE Eigen::MatrixXd outputs_of_classes(const Eigen::MatrixXd& of_pairs,
                                              std::size_t classes) {
  const auto pairs = static_cast<Eigen::Index>(pair_count(classes));
  const auto columns = static_cast<Eigen::Index>(classes);
  Eigen::MatrixXd result =
      Eigen::MatrixXd::Zero(of_pairs.rows(), of_pairs.cols() / pairs * columns);
  for (Eigen::Index n = 0; n < of_pairs.cols() / pairs; ++n) {
    for_each_pair(classes, [&](std::size_t pair, std::size_t a, std::size_t b) {
      // One by one: an input's values are the same bits in a batch of any size.
      for (Eigen::Index i = 0; i < of_pairs.rows(); ++i) {
        const double says = std::tanh(of_pairs(i, n * pairs + static_cast<Eigen::Index>(pair))) /
                            static_cast<double>(classes - 1);
        result(i, n * columns + static_cast<Eigen::Index>(b)) += says;
        result(i, n * columns + static_cast<Eigen::Index>(a)) -= says;
      }
    });
  }
  return result;
}

#endif

}}}  // namespace bpm::detail
