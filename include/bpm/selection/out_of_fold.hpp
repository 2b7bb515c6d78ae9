// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/coefficients.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/strategy.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Division of a training set into parts, each of which is left out in turn.
struct Folds {
  std::size_t count = 0;               ///< Number of parts.
  std::vector<std::int32_t> of_point;  ///< Part of each point, below `count`; -1: it always trains.
  std::size_t always_train = 0;        ///< Points that always train, each alone in its class.

  /// Deals the points of every class, in a random order of the seed, to the folds one after the
  /// other, and continues where the last class ended: shares of classes and sizes of folds are
  /// equal but for one point. A class with fewer points than folds is in as many folds as it has
  /// points; a point that is alone in its class always trains.
  /// \throws std::invalid_argument without labels, or unless there are 2 folds or more, and at most
  ///         as many as points that can be left out.
  [[nodiscard]] static Folds stratified(std::span<const int> labels, std::size_t count,
                                        std::uint64_t seed = 1);

  /// Returns the points that fold `k` leaves out, or the others, ascending.
  [[nodiscard]] std::vector<PointIndex> points(std::size_t k, bool left_out) const {
    std::vector<PointIndex> chosen;
    for (std::size_t i = 0; i < of_point.size(); ++i) {
      if ((of_point[i] == static_cast<std::int32_t>(k)) == left_out) {
        chosen.push_back(static_cast<PointIndex>(i));
      }
    }
    return chosen;
  }
};

/// Outputs at training points of machines that did not see them, which determine slopes of
/// probabilities and choices. They are no calibration data for `certify_risk`, which refuses them:
/// all but one part of these points trained each machine.
struct OutOfFold {
  Folds folds;                        ///< Points that each machine did not see.
  std::vector<int> classes;           ///< Class labels, ascending.
  std::vector<PointIndex> points{};   ///< Points that were left out once, ascending.
  std::vector<int> labels{};          ///< Labels of `points`.
  Eigen::MatrixXd decision_values{};  ///< `Classifier::decision_values` of `points`.

  /// Returns the share of `points` that machines without them misclassify, by slope and offsets.
  [[nodiscard]] double error(const FittedSlope& with = {}) const;
  /// Returns one slope for all folds, with offsets on request, and its loss: see `fit_slope`.
  [[nodiscard]] FittedSlope slope(bool with_offsets = false) const;
  /// Returns the label that the outputs of row i predict, with this slope and offsets.
  [[nodiscard]] int predicted(Eigen::Index i, const FittedSlope& with = {}) const;
};

struct CertifiedRisk;
/// Deleted: training data are no calibration data.
template <class Correct = std::vector<bool>>
CertifiedRisk certify_risk(const OutOfFold&, const Correct&, double, double) = delete;

#if BPM_BODIES

BPM_INLINE Folds Folds::stratified(std::span<const int> labels, std::size_t count,
                                   std::uint64_t seed) {
  const char* const f = "Folds::stratified";
  detail::check(!labels.empty(), f, "labels", "is empty, must hold at least one label");
  Folds folds{.count = count, .of_point = std::vector<std::int32_t>(labels.size(), -1)};
  std::vector<PointIndex> order(labels.size());
  // Its own stream; the streams of draws begin at 0.
  RandomEngine engine(seed, ~std::uint64_t{0});
  random_permutation(std::span(order), engine);
  std::stable_sort(order.begin(), order.end(),
                   [&](PointIndex a, PointIndex b) { return labels[a] < labels[b]; });
  std::size_t dealt = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && labels[order[end]] == labels[order[begin]]) ++end;
    if (end - begin == 1) {
      ++folds.always_train;
      continue;
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (count > 0) folds.of_point[order[i]] = static_cast<std::int32_t>(dealt % count);
      ++dealt;
    }
  }
  detail::check(count >= 2 && count <= dealt, f, "count", "is ", count,
                ", must be 2 or more and at most ", dealt,
                ", the points that are not alone in their class");
  return folds;
}

BPM_INLINE double OutOfFold::error(const FittedSlope& with) const {
  double errors = 0;
  for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
    errors += predicted(i, with) != labels[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  return errors / static_cast<double>(points.size());
}

BPM_INLINE FittedSlope OutOfFold::slope(bool with_offsets) const {
  return fit_slope(decision_values, labels, classes, with_offsets);
}

BPM_INLINE int OutOfFold::predicted(Eigen::Index i, const FittedSlope& with) const {
  const auto output = [&](Eigen::Index c) {
    const double offset = with.offsets.empty() ? 0 : with.offsets[static_cast<std::size_t>(c)];
    return with.slope * decision_values(i, c) + offset;
  };
  return classes[detail::class_of_outputs(decision_values.cols(), output)];
}

#endif

namespace detail {

/// Kernel values of one fold: among its training points, and of the points left out with these.
template <class Scalar>
struct FoldValues {
  std::vector<PointIndex> train;
  std::vector<PointIndex> left_out;
  Scalar added;              ///< Number added to every value.
  DenseGram<Scalar> gram;    ///< Values, train x train.
  RowMatrix<Scalar> others;  ///< Values, left_out x train.
  Eigen::VectorXd self;      ///< sqrt(k(x, x)) of `left_out`.
  std::vector<int> labels;   ///< Labels of `train`.

  /// `bias`: number added to the values, in units of the mean k(x, x) of `train`.
  FoldValues(const DenseGram<Scalar>& values, const Folds& folds, std::size_t k,
             std::span<const int> all, double bias = 0)
      : train(folds.points(k, false)),
        left_out(folds.points(k, true)),
        added(static_cast<Scalar>(bias * mean_diagonal(values, train))),
        gram(part_of(values, train, added)),
        others(std::ssize(left_out), std::ssize(train)),
        self(std::ssize(left_out)) {
    BlockScratch<Scalar> scratch;
    for (Eigen::Index i = 0; i < others.rows(); ++i) {
      const auto row = values.row(left_out[i], scratch);
      for (Eigen::Index j = 0; j < others.cols(); ++j) others(i, j) = row[train[j]] + added;
      self[i] = std::sqrt(static_cast<double>(row[left_out[i]] + added));
    }
    labels = labels_at(all, train);
  }

  [[nodiscard]] static double mean_diagonal(const DenseGram<Scalar>& values,
                                            std::span<const PointIndex> points) {
    double sum = 0;
    for (const PointIndex i : points) sum += static_cast<double>(values.diagonal(i));
    return sum / static_cast<double>(points.size());
  }

  /// Returns the values of these points with each other.
  [[nodiscard]] static DenseGram<Scalar> part_of(const Gram<Scalar>& values,
                                                 std::span<const PointIndex> points, Scalar added) {
    const std::ptrdiff_t m = std::ssize(points);
    Buffer<Scalar> part(m * m);
    BlockScratch<Scalar> scratch;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      const auto row = values.row(points[i], scratch);
      for (std::ptrdiff_t j = 0; j < m; ++j) part[i * m + j] = row[points[j]] + added;
    }
    return DenseGram<Scalar>(std::move(part), m);
  }
};

/// Returns the coefficients of a machine of the fold's training points, a column per subproblem;
/// none if no consistent classifier was found, or the run was stopped. The sampler determines the
/// machine's draws.
template <class Sampler, class Scalar>
[[nodiscard]] std::optional<RowMatrix<double>> coefficients_of_fold(
    const FoldValues<Scalar>& fold, const Sampler& sampler, const SoftBoundary& boundary,
    const std::vector<int>& classes, const FitSettings& settings, const RunControl& control) {
  Subproblems problems(classes, fold.labels);
  problems.resolve_lambda(fold.gram, boundary, fold.labels);
  const Gram<Scalar>& gram = fold.gram;
  if (!admits_training_errors(sampler) && point_without_sign(gram, problems) >= 0) {
    return std::nullopt;
  }
  auto state = no_draws<Sampler>(gram.size(), problems.size(), settings.seed, false);
  if (!run_sampler(sampler, gram, problems, control, state).converged) return std::nullopt;
  RowMatrix<double> coefficients(fold.gram.size(), std::ssize(state.means));
  for (Eigen::Index c = 0; c < coefficients.cols(); ++c) {
    for (Eigen::Index i = 0; i < coefficients.rows(); ++i) {
      coefficients(i, c) = state.means[static_cast<std::size_t>(c)].coefficient(i);
    }
  }
  return coefficients;
}

/// Returns coefficients of machines of pairs of classes, a column each, in units of `output_unit`.
template <class Sampler, class Scalar>
[[nodiscard]] std::optional<RowMatrix<double>> coefficients_of_pairs(
    const FoldValues<Scalar>& fold, const Sampler& sampler, const SoftBoundary& boundary,
    const std::vector<int>& classes, const FitSettings& settings, const RunControl& control) {
  const auto points = points_of_pairs(classes, fold.labels);
  RowMatrix<double> all = RowMatrix<double>::Zero(fold.gram.size(), std::ssize(points));
  bool converged = true;
  for_each_pair(classes.size(), [&](std::size_t pair, std::size_t a, std::size_t b) {
    if (!converged) return;
    const DenseGram<Scalar> values = FoldValues<Scalar>::part_of(fold.gram, points[pair], 0);
    const Gram<Scalar>& gram = values;
    const std::vector<int> labels = labels_at(fold.labels, points[pair]);
    Subproblems problems({classes[a], classes[b]}, labels);
    problems.resolve_lambda(gram, boundary, labels);
    converged = admits_training_errors(sampler) || point_without_sign(gram, problems) < 0;
    if (!converged) return;
    auto state = no_draws<Sampler>(gram.size(), 1, settings.seed, false);
    converged = run_sampler(sampler, gram, problems, control, state).converged;
    if (!converged) return;
    const double unit = output_unit(gram, problems, state.means[0]);
    for (std::size_t k = 0; k < points[pair].size(); ++k) {
      all(points[pair][k], static_cast<Eigen::Index>(pair)) =
          state.means[0].coefficient(static_cast<std::ptrdiff_t>(k)) / unit;
    }
  });
  if (!converged) return std::nullopt;
  return all;
}

/// Returns the outputs at the points left out, of machines of a class against the rest or, with
/// `pairs`, of pairs of classes; none as `coefficients_of_fold`.
template <class Sampler, class Scalar>
[[nodiscard]] std::optional<Eigen::MatrixXd> outputs_of_left_out(
    const FoldValues<Scalar>& fold, const Sampler& sampler, const SoftBoundary& boundary,
    const std::vector<int>& classes, const FitSettings& settings, const RunControl& control,
    bool pairs) {
  const auto coefficients =
      pairs ? coefficients_of_pairs(fold, sampler, boundary, classes, settings, control)
            : coefficients_of_fold(fold, sampler, boundary, classes, settings, control);
  if (!coefficients) return std::nullopt;
  RowMatrix<double> outputs(fold.others.rows(), coefficients->cols());
  Buffer<double> widened;
  PackedCoefficients(*coefficients)
      .outputs(fold.others.data(), fold.others.rows(), fold.others.cols(), outputs.data(), widened);
  for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
    if (fold.self[i] > 0) outputs.row(i) /= fold.self[i];
  }
  if (pairs) return outputs_of_classes(outputs, classes.size());
  return outputs;
}

/// Returns folds and labels, with all outputs zero.
[[nodiscard]] BPM_INLINE OutOfFold empty_out_of_fold(std::span<const int> labels,
                                                     std::vector<int> classes, Folds folds);

/// Writes the outputs of the points that a fold leaves out; both lists ascend.
BPM_INLINE void put_outputs(OutOfFold& result, std::span<const PointIndex> left_out,
                            const Eigen::MatrixXd& outputs);

/// Returns the kernel values of these points of the inputs with each other, computed as in a fit.
/// \throws std::invalid_argument on a user's matrix as `PrecomputedGram`.
template <class Kernel, class I>
[[nodiscard]] DenseGram<kernel_scalar_t<I>> kernel_values_of(const Kernel& kernel, const I& inputs,
                                                             std::span<const PointIndex> points,
                                                             unsigned threads) {
  using Scalar = kernel_scalar_t<I>;
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    return FoldValues<Scalar>::part_of(*make_gram(kernel, inputs), points, 0);
  } else {
    const auto chosen = select_inputs(inputs, points);
    return DenseGram<Scalar>(*make_gram(kernel, chosen), threads);
  }
}

#if BPM_BODIES

BPM_INLINE OutOfFold empty_out_of_fold(std::span<const int> labels, std::vector<int> classes,
                                       Folds folds) {
  OutOfFold result{.folds = std::move(folds), .classes = std::move(classes)};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (result.folds.of_point[i] < 0) continue;
    result.points.push_back(static_cast<PointIndex>(i));
    result.labels.push_back(labels[i]);
  }
  const auto columns = static_cast<Eigen::Index>(subproblem_count(result.classes.size()));
  result.decision_values.setZero(std::ssize(result.points), columns);
  return result;
}

BPM_INLINE void put_outputs(OutOfFold& result, std::span<const PointIndex> left_out,
                            const Eigen::MatrixXd& outputs) {
  std::size_t row = 0;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    while (result.points[row] != left_out[i]) ++row;
    result.decision_values.row(static_cast<Eigen::Index>(row)) =
        outputs.row(static_cast<Eigen::Index>(i));
  }
}

#endif

}  // namespace detail
}}  // namespace bpm
