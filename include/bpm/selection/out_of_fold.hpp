// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
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
  [[nodiscard]] double error(const FittedSlope& with = {}) const {
    double errors = 0;
    for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
      errors += predicted(i, with) != labels[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    return errors / static_cast<double>(points.size());
  }
  /// Returns one slope for all folds, with offsets on request, and its loss: see `fit_slope`.
  [[nodiscard]] FittedSlope slope(bool with_offsets = false) const {
    return fit_slope(decision_values, labels, classes, with_offsets);
  }
  /// Returns the label that the outputs of row i predict, with this slope and offsets.
  [[nodiscard]] int predicted(Eigen::Index i, const FittedSlope& with = {}) const {
    const auto output = [&](Eigen::Index c) {
      const double offset = with.offsets.empty() ? 0 : with.offsets[static_cast<std::size_t>(c)];
      return with.slope * decision_values(i, c) + offset;
    };
    return classes[std::size_t(detail::class_of_outputs(decision_values.cols(), output))];
  }
};

struct CertifiedRisk;
/// Deleted: training data are no calibration data.
template <class Correct = std::vector<bool>>
CertifiedRisk certify_risk(const OutOfFold&, const Correct&, double, double) = delete;

#if BPM_BODIES

namespace detail {

/// Returns the points of every class, each in a random order of this stream.
[[nodiscard]] inline std::map<int, std::vector<PointIndex>> shuffled_classes(
    std::span<const int> labels, RandomEngine engine) {
  std::vector<PointIndex> order(labels.size());
  random_permutation(std::span(order), engine);
  std::map<int, std::vector<PointIndex>> classes;
  for (const PointIndex i : order) classes[labels[std::size_t(i)]].push_back(i);
  return classes;
}

}  // namespace detail

BPM_INLINE Folds Folds::stratified(std::span<const int> labels, std::size_t count,
                                   std::uint64_t seed) {
  const char* const f = "Folds::stratified";
  detail::check(!labels.empty(), f, "labels", "is empty, must hold at least one label");
  Folds folds{.count = count, .of_point = std::vector<std::int32_t>(labels.size(), -1)};
  std::size_t dealt = 0;
  // Its own stream; the streams of draws begin at 0.
  for (const auto& [label, points] :
       detail::shuffled_classes(labels, RandomEngine(seed, ~std::uint64_t{0}))) {
    if (points.size() == 1) {
      ++folds.always_train;
      continue;
    }
    for (const PointIndex i : points) {
      if (count > 0) folds.of_point[std::size_t(i)] = static_cast<std::int32_t>(dealt % count);
      ++dealt;
    }
  }
  detail::check(count >= 2 && count <= dealt, f, "count", "is ", count,
                ", must be 2 or more and at most ", dealt,
                ", the points that are not alone in their class");
  return folds;
}

#endif

namespace detail {

/// Points of one fold.
struct Fold {
  std::vector<PointIndex> train;     ///< Points that train, ascending.
  std::vector<PointIndex> left_out;  ///< The other points, ascending.
  std::vector<int> labels;           ///< Labels of `train`.

  Fold(const Folds& folds, std::size_t k, std::span<const int> all)
      : train(folds.points(k, false)),
        left_out(folds.points(k, true)),
        labels(labels_at(all, train)) {}
};

/// Writes these rows and columns of the values, plus a number.
template <class Scalar>
void copy_values(const Gram<Scalar>& values, std::span<const PointIndex> rows,
                 std::span<const PointIndex> columns, Scalar added, Scalar* to) {
  BlockScratch<Scalar> scratch;
  for (const PointIndex i : rows) {
    const auto row = values.row(i, scratch);
    for (const PointIndex j : columns) *to++ = row[std::size_t(j)] + added;
  }
}

/// Returns the values of these points with each other, plus a number.
template <class Scalar>
[[nodiscard]] DenseGram<Scalar> part_of(const Gram<Scalar>& values,
                                        std::span<const PointIndex> points, Scalar added = 0) {
  Buffer<Scalar> part(std::ssize(points) * std::ssize(points));
  copy_values(values, points, points, added, part.data());
  return DenseGram<Scalar>(std::move(part), std::ssize(points));
}

/// Kernel values of one fold: among its training points, and of the points left out with these.
template <class Scalar>
struct FoldValues {
  DenseGram<Scalar> gram;    ///< Values, train x train.
  RowMatrix<Scalar> others;  ///< Values, left_out x train.
  Eigen::VectorXd self;      ///< sqrt(k(x, x)) of the points left out.

  /// `added`: number added to all values.
  FoldValues(const DenseGram<Scalar>& values, const Fold& fold, Scalar added = 0)
      : gram(part_of(values, fold.train, added)),
        others(std::ssize(fold.left_out), std::ssize(fold.train)),
        self(others.rows()) {
    copy_values(values, fold.left_out, fold.train, added, others.data());
    for (Eigen::Index i = 0; i < self.size(); ++i) {
      self[i] =
          std::sqrt(static_cast<double>(values.diagonal(fold.left_out[std::size_t(i)]) + added));
    }
  }
};

/// Returns the outputs at the points left out, of machines of a class against the rest or, with
/// `pairs`, of pairs of classes; none if no consistent classifier was found, or the run was
/// stopped. `labels`: of the training points. The sampler determines the machines' draws.
template <class Sampler, class Scalar>
[[nodiscard]] std::optional<Eigen::MatrixXd> outputs_of_left_out(
    const FoldValues<Scalar>& fold, std::span<const int> labels, const std::vector<int>& classes,
    const Sampler& sampler, const SoftBoundary& boundary, std::uint64_t seed,
    const RunControl& control, bool pairs) {
  const std::size_t machines =
      pairs ? pair_count(classes.size()) : subproblem_count(classes.size());
  RowMatrix<double> coefficients =
      RowMatrix<double>::Zero(fold.gram.size(), static_cast<Eigen::Index>(machines));
  Eigen::Index column = 0;
  // Fits machines of these classes to these points; returns false without a consistent classifier.
  const auto fit = [&](const Gram<Scalar>& gram, std::span<const PointIndex> points,
                       std::vector<int> separated) {
    const std::vector<int> of_points = labels_at(labels, points);
    Subproblems problems(std::move(separated), of_points);
    problems.resolve_lambda(gram, boundary, of_points);
    if (!admits_training_errors(sampler) && point_without_sign(gram, problems) >= 0) return false;
    auto state = no_draws<Sampler>(gram.size(), problems.size(), seed, false);
    if (!run_sampler(sampler, gram, problems, control, state).converged) return false;
    for (const DrawMean& mean : state.means) {
      const double unit = pairs ? output_unit(gram, problems, mean) : 1;
      for (std::size_t k = 0; k < points.size(); ++k) {
        coefficients(points[k], column) = mean.coefficient(static_cast<std::ptrdiff_t>(k)) / unit;
      }
      ++column;
    }
    return true;
  };
  bool consistent = true;
  if (pairs) {
    const auto points = points_of_pairs(classes, labels);
    for_each_pair(classes.size(), [&](std::size_t pair, std::size_t a, std::size_t b) {
      consistent = consistent && fit(part_of<Scalar>(fold.gram, points[pair]), points[pair],
                                     {classes[a], classes[b]});
    });
  } else {
    consistent = fit(fold.gram, first_points(fold.gram.size()), classes);
  }
  if (!consistent) return std::nullopt;
  RowMatrix<double> outputs(fold.others.rows(), coefficients.cols());
  Buffer<double> widened;
  PackedCoefficients(coefficients)
      .outputs(fold.others.data(), fold.others.rows(), fold.others.cols(), outputs.data(), widened);
  for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
    if (!(fold.self[i] > 0)) continue;
    for (Eigen::Index c = 0; c < outputs.cols(); ++c) outputs(i, c) /= fold.self[i];
  }
  if (pairs) return outputs_of_classes(outputs, classes.size());
  return outputs;
}

/// Returns folds and labels, with all outputs zero.
[[nodiscard]] inline OutOfFold empty_out_of_fold(std::span<const int> labels,
                                                 std::vector<int> classes, Folds folds) {
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

/// Writes the outputs of the points that a fold leaves out; both lists ascend.
inline void put_outputs(OutOfFold& result, std::span<const PointIndex> left_out,
                        const Eigen::MatrixXd& outputs) {
  Eigen::Index row = 0;
  for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
    while (result.points[std::size_t(row)] != left_out[std::size_t(i)]) ++row;
    for (Eigen::Index c = 0; c < outputs.cols(); ++c) {
      result.decision_values(row, c) = outputs(i, c);
    }
  }
}

/// Returns the kernel values of these points of the inputs with each other, computed as in a fit.
/// \throws std::invalid_argument on a user's matrix as `PrecomputedGram`.
template <class Kernel, class I>
[[nodiscard]] DenseGram<kernel_scalar_t<I>> kernel_values_of(const Kernel& kernel, const I& inputs,
                                                             std::span<const PointIndex> points,
                                                             unsigned threads) {
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    return part_of(*make_gram(kernel, inputs), points);
  } else {
    const auto chosen = select_inputs(inputs, points);
    return DenseGram<kernel_scalar_t<I>>(*make_gram(kernel, chosen), threads);
  }
}

}  // namespace detail
}}  // namespace bpm
