// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstddef>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/kernels/linear_form.hpp"
#include "bpm/machine/classifier_parts.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Weights are no bytes, and sums of floats would lose what floats hold.
template <InputSet I>
using WeightInputs =
    std::conditional_t<SparseInputs<I>, SparseRowMatrix<double>, RowMatrix<double>>;

/// The classifier of a linear kernel k(x, z) = f <x, z> + b with the rows w_c = sum_j alpha_jc x_j
/// for its support, each with the coefficient 1. A row of zeros has the rest of what multiplies
/// the constant b, sum_j alpha_jc - 1.
template <class Kernel, InputSet I>
[[nodiscard]] ClassifierParts<Kernel, WeightInputs<I>> weights_alone(
    const ClassifierParts<Kernel, I>& parts)
  requires may_be_linear<Kernel, I>
{
  const char* const f = "Classifier::with_weights_alone";
  const std::optional<LinearForm> form = linear_form(parts.kernel);
  check(form.has_value(), f, "kernel", "is not linear: its classifiers are no weights of features");
  check(!form->unit, f, "kernel",
        "scales inputs to norm 1, must take them as they are; scale them beforehand");
  const Eigen::Index columns = parts.coefficients.cols();
  const bool constant = form->constant + parts.bias != 0;
  const Eigen::Index rows = columns + (constant ? 1 : 0);
  WeightInputs<I> weights(rows, parts.inputs.cols());
  for (Eigen::Index c = 0; c < columns; ++c) {
    Eigen::RowVectorXd w = Eigen::RowVectorXd::Zero(parts.inputs.cols());
    for (Eigen::Index j = 0; j < parts.coefficients.rows(); ++j) {
      w += parts.coefficients(j, c) * parts.inputs.row(j).template cast<double>();
    }
    if constexpr (SparseInputs<I>) {
      for (Eigen::Index j = 0; j < w.size(); ++j) {
        if (w[j] != 0) weights.insert(c, j) = w[j];
      }
    } else {
      weights.row(c) = w;
    }
  }
  RowMatrix<double> coefficients = RowMatrix<double>::Zero(rows, columns);
  coefficients.topRows(columns).setIdentity();
  if (constant) {
    if constexpr (!SparseInputs<I>) weights.row(columns).setZero();
    coefficients.row(columns) = parts.coefficients.colwise().sum().array() - 1;
  }
  if constexpr (SparseInputs<I>) weights.makeCompressed();
  std::vector<PointIndex> support(static_cast<std::size_t>(rows));
  std::iota(support.begin(), support.end(), PointIndex{0});
  return {.kernel = parts.kernel,
          .inputs = std::move(weights),
          .support = std::move(support),
          .coefficients = std::move(coefficients),
          .classes = parts.classes,
          .divide_by_self = parts.divide_by_self,
          .standardisation = parts.standardisation,
          .bias = parts.bias,
          .threads = parts.threads,
          .mean_norms = parts.mean_norms,
          .training_margins = parts.training_margins,
          .training_errors = parts.training_errors,
          .class_names = parts.class_names,
          .feature_names = parts.feature_names,
          .encoding = parts.encoding,
          .slope = parts.slope,
          .offsets = parts.offsets,
          .offsets_move_labels = parts.offsets_move_labels,
          .probability_rows = parts.probability_rows,
          .rejection = parts.rejection,
          .inputs_made_by = parts.inputs_made_by,
          .seed = parts.seed,
          .boundary = parts.boundary,
          .warnings = parts.warnings,
          .report = parts.report,
          .forecast = parts.forecast,
          .training_seconds = parts.training_seconds};
}

}}}  // namespace bpm::detail
