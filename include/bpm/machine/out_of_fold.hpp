// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/decision/certified_risk.hpp"
#include "bpm/decision/temperature.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/folds.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/precomputed_kernel.hpp"
#include "bpm/machine/run_sampler.hpp"

namespace bpm {

/// Outputs at training points of machines that did not see them: what slopes of probabilities and
/// choices are made of. No calibration data for `certify_risk`, which refuses them: all but one
/// part of these points trained each machine.
struct OutOfFold {
  Folds folds;
  std::vector<int> classes;           ///< Ascending.
  std::vector<PointIndex> points{};   ///< Those that were left out once, ascending.
  std::vector<int> labels{};          ///< Of these.
  Eigen::MatrixXd decision_values{};  ///< Of these, as `Classifier::decision_values`.

  /// Share of `points` that the machine without them gets wrong.
  [[nodiscard]] double error() const {
    double errors = 0;
    for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
      errors += predicted(i) != labels[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    return errors / static_cast<double>(points.size());
  }
  /// One slope for all folds, and its loss: see `fit_slope`.
  [[nodiscard]] FittedSlope slope() const { return fit_slope(decision_values, labels, classes); }
  /// The label that the output says.
  [[nodiscard]] int predicted(Eigen::Index i) const {
    if (decision_values.cols() == 1) return classes[decision_values(i, 0) > 0 ? 1 : 0];
    Eigen::Index best = 0;
    decision_values.row(i).maxCoeff(&best);
    return classes[static_cast<std::size_t>(best)];
  }
};

/// Training data as calibration data.
template <detail::Flags Correct = std::vector<bool>>
CertifiedRisk certify_risk(const OutOfFold&, const Correct&, double, double) = delete;

namespace detail {

/// What leaves one fold out: values of the training points, and of the others with these.
template <class Scalar>
struct FoldValues {
  std::vector<PointIndex> train;
  std::vector<PointIndex> left_out;
  RowMatrix<Scalar> gram;    ///< train x train.
  RowMatrix<Scalar> others;  ///< left_out x train.
  Eigen::VectorXd self;      ///< sqrt(k(x, x)) of those left out.
  std::vector<int> labels;   ///< Of those that train.

  FoldValues(const Eigen::MatrixXd& values, const Folds& folds, std::size_t k,
             std::span<const int> all)
      : train(folds.points(k, false)), left_out(folds.points(k, true)) {
    gram = values(train, train).template cast<Scalar>();
    others = values(left_out, train).template cast<Scalar>();
    self = values.diagonal()(left_out).cwiseSqrt();
    for (const PointIndex i : train) labels.push_back(all[i]);
  }
};

/// A matrix made here, which needs no look at its entries.
template <class Scalar>
struct OwnGram : MatrixGram<Scalar> {
  explicit OwnGram(const RowMatrix<Scalar>& values)
      : MatrixGram<Scalar>(values.data(), values.rows()) {}
  [[nodiscard]] std::size_t bytes() const noexcept { return 0; }
};

/// The outputs of those left out by a machine of the others; empty where no consistent classifier
/// was found, or the run was stopped. What the machine's draws are is the sampler's business.
template <class Sampler, class Scalar>
[[nodiscard]] std::optional<Eigen::MatrixXd> outputs_of_left_out(
    const FoldValues<Scalar>& fold, const Sampler& sampler, const SoftBoundary& boundary,
    const std::vector<int>& classes, std::uint64_t seed, const RunControl& control) {
  const OwnGram<Scalar> gram(fold.gram);
  Subproblems problems(classes, fold.labels);
  problems.resolve_lambda(gram, boundary, fold.labels);
  TrainingState<Sampler> state;
  state.means.assign(problems.size(), DrawMean(fold.gram.rows(), false, !sees_cones<Sampler>));
  state.states.resize(problems.size());
  state.streams.assign(problems.size(), RandomStreams{seed, 0});
  const SamplerReport report = run_sampler(sampler, gram, problems, control, state);
  if (!report.converged) return std::nullopt;
  Eigen::MatrixXd coefficients(fold.gram.rows(), std::ssize(state.means));
  for (Eigen::Index c = 0; c < coefficients.cols(); ++c) {
    for (Eigen::Index i = 0; i < coefficients.rows(); ++i) {
      coefficients(i, c) = state.means[static_cast<std::size_t>(c)].coefficient(i);
    }
  }
  Eigen::MatrixXd outputs = fold.others.template cast<double>() * coefficients;
  for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
    if (fold.self[i] > 0) outputs.row(i) /= fold.self[i];
  }
  return outputs;
}

/// What is known before any outputs: who is left out when.
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

/// Writes the rows of those that a fold leaves out; both lists ascend.
inline void put_outputs(OutOfFold& result, std::span<const PointIndex> left_out,
                        const Eigen::MatrixXd& outputs) {
  std::size_t row = 0;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    while (result.points[row] != left_out[i]) ++row;
    result.decision_values.row(static_cast<Eigen::Index>(row)) =
        outputs.row(static_cast<Eigen::Index>(i));
  }
}

/// All kernel values of the inputs, for as many machines as there are.
template <class Kernel, class I>
[[nodiscard]] Eigen::MatrixXd all_kernel_values(const Kernel& kernel, const I& inputs,
                                                const FitSettings& settings) {
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    return inputs.template cast<double>();
  } else {
    return kernel_matrix(kernel, inputs, {.threads = settings.threads, .memory = settings.memory});
  }
}

}  // namespace detail
}  // namespace bpm
