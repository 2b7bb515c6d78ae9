// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/stop_token.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/dense_gram.hpp"
#include "bpm/kernel_values/kept_rows.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/precomputed_gram.hpp"
#include "bpm/kernels/linear_form.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/precomputed_kernel.hpp"
#include "bpm/samplers/sampler.hpp"

/// \file
/// What every fit is made of, whatever comes between: kernel values and a look at the labels
/// before, a classifier after.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The control of a run from what a machine's caller gives. The observer must outlive it.
template <Observer O>
[[nodiscard]] RunControl run_control(const FitSettings& settings, O& observer, StopToken stop) {
  return {[&observer](const Progress& progress) { return notify(observer, progress); },
          std::move(stop), thread_count(settings.threads)};
}

/// The control of a fit whose observer is held to its word: where several processes compute alone
/// before they meet, one that wants to stop can only do so then.
template <class Sampler>
[[nodiscard]] RunControl lasting_control(RunControl control) {
  if constexpr (Sampler::traits.collective) {
    control.observer = [ask = std::move(control.observer),
                        stopped = std::make_shared<std::atomic<bool>>(false)](const Progress& now) {
      if (ask && !ask(now)) *stopped = true;
      return !*stopped;
    };
  }
  return control;
}

/// The control of what a process of several computes alone: it cannot be stopped there, or the
/// others would wait for it.
template <class Sampler>
[[nodiscard]] RunControl before_meeting(const RunControl& control) {
  RunControl result = control;
  if constexpr (Sampler::traits.collective) {
    result.stop = {};
    result.observer = [&control](const Progress& now) {
      static_cast<void>(control.observer(now));
      return true;
    };
  }
  return result;
}

/// Calls prepare(gram), and then run(gram) for its report, with kernel values on the training set
/// by the forecast's strategy; a matrix is made whole in between. Its cost joins the report.
/// \throws KernelValueError, and what the two throw.
template <class Kernel, InputSet I, class Prepare, class Run>
[[nodiscard]] SamplerReport with_kernel_values(const Kernel& kernel, const I& inputs,
                                               const MemoryForecast& forecast,
                                               const RunControl& control, Prepare&& prepare,
                                               Run&& run) {
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    static_assert(std::floating_point<typename I::Scalar>, "kernel values are float or double");
    // Another storage order than row-major is copied, and the copy lives as long as the name.
    const RowMatrix<typename I::Scalar>& values = inputs;
    const PrecomputedGram<typename I::Scalar> given(values);
    const Gram<typename I::Scalar>& gram = given;
    prepare(gram);
    return run(gram);
  } else {
    using Scalar = kernel_scalar_t<I>;
    OnDemandGram<Kernel, I> values(kernel, inputs);
    const Gram<Scalar>& any = values;
    if constexpr (may_be_linear<Kernel, I>) {
      if (forecast.strategy == Strategy::linear) {
        const LinearRows<I> rows(linear_form(kernel).value(), values.inputs());
        values.set_linear_inputs(&rows);
        prepare(any);
        return run(any);
      }
    }
    prepare(any);
    if (forecast.strategy != Strategy::dense) {
      KeptRows<Scalar> kept(values.size(),
                            forecast.kept_rows * KeptRows<Scalar>::row_bytes(values.size()),
                            values.by_pairs() ? 1 : 2);
      if (forecast.kept_rows > 0) values.set_kept_rows(&kept);
      ReadyColumns<Scalar> columns;
      if (forecast.packs_inputs) {
        values.prepare(values.points(), columns);
        values.set_all_columns(&columns);
      }
      return run(any);
    }
    const DenseGram<Scalar> gram(values, control.threads, [&](double fraction) {
      return control.go_on({.stage = "kernel matrix", .fraction = fraction});
    });
    const Gram<Scalar>& whole = gram;
    SamplerReport report;
    if (gram.complete()) {
      report = run(whole);
    } else {
      report.stopped = true;
      report.reason = "stopped";
    }
    report.kernel_evaluations += gram.evaluations();
    report.kernel_seconds += gram.seconds();
    return report;
  }
}

/// The classifier of each subproblem's mean, with the margins and errors of the training set: all
/// but report and forecast. `more` are points that the support has beside those with a coefficient.
template <class Kernel, InputSet I>
[[nodiscard]] ClassifierParts<Kernel, owned_inputs_t<I>> parts_of_means(
    const Kernel& kernel, const I& inputs, const Subproblems& problems,
    std::span<const DrawMean> means, std::span<const PointIndex> more = {}) {
  const std::ptrdiff_t m = input_count(inputs);
  const auto columns = static_cast<Eigen::Index>(problems.size());
  // Where each point of the support stands in it; -1: elsewhere.
  std::vector<Eigen::Index> place(static_cast<std::size_t>(m), -1);
  std::size_t kept = std::numeric_limits<std::size_t>::max();
  for (const PointIndex i : more) place[i] = 0;
  for (const DrawMean& mean : means) {
    kept = std::min(kept, mean.kept().size());
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      if (mean.coefficient(i) != 0) place[i] = 0;
    }
    for (const KeptDraw& draw : mean.kept()) {
      for (const PointIndex i : draw.support) place[i] = 0;
    }
  }
  std::vector<PointIndex> support;
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    if (place[i] < 0) continue;
    place[i] = std::ssize(support);
    support.push_back(static_cast<PointIndex>(i));
  }
  const Eigen::Index size = std::ssize(support);
  auto chosen = [&] {
    if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
      return owned_inputs_t<I>(0, m);
    } else {
      return select_inputs(inputs, support);
    }
  }();
  ClassifierParts<Kernel, owned_inputs_t<I>> parts{.kernel = kernel,
                                                   .inputs = std::move(chosen),
                                                   .support = std::move(support),
                                                   .coefficients = {size, columns},
                                                   .classes = problems.classes};
  for (Eigen::Index s = 0; s < size; ++s) {
    for (Eigen::Index c = 0; c < columns; ++c) {
      parts.coefficients(s, c) = means[c].coefficient(parts.support[s]);
    }
  }
  parts.draw_coefficients.setZero(size, static_cast<Eigen::Index>(kept) * columns);
  for (std::size_t n = 0; n < kept; ++n) {
    parts.draw_numbers.push_back(means[0].kept()[n].number);
    for (Eigen::Index c = 0; c < columns; ++c) {
      const KeptDraw& draw = means[c].kept()[n];
      parts.draw_weights.push_back(draw.weight);
      for (std::size_t s = 0; s < draw.support.size(); ++s) {
        parts.draw_coefficients(place[draw.support[s]],
                                static_cast<Eigen::Index>(n) * columns + c) = draw.coefficients[s];
      }
    }
  }
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const DrawMean& mean = means[p];
    const double norm = mean.norm();
    double smallest = std::numeric_limits<double>::infinity();
    std::size_t errors = 0;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      const double output = mean.output(i);
      const double plain = output - problems.lambda_at(p, i) * mean.coefficient(i);
      smallest = std::min(smallest, problems.signs[p][i] * output);
      errors += problems.signs[p][i] * plain <= 0 ? 1U : 0U;
    }
    parts.mean_norms.push_back(norm);
    parts.training_margins.push_back(smallest / norm);
    parts.training_errors.push_back(errors);
  }
  return parts;
}

}}}  // namespace bpm::detail
