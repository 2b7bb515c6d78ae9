// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/samplers/sampler.hpp"

/// \file
/// Kernel values on the training set of a fit: all that its samplers see of kernel and inputs.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Returns the kernel values on these inputs, which must outlive them: computed on request, with
/// the linear form of the kernel for `Strategy::linear`; or the matrix that the user provides.
/// \throws KernelValueError as `OnDemandGram`; std::invalid_argument as `PrecomputedGram`.
template <class Kernel, InputSet I>
[[nodiscard]] std::unique_ptr<Gram<kernel_scalar_t<I>>> make_gram(
    const Kernel& kernel, const I& inputs, Strategy strategy = Strategy::windowed) {
  using Scalar = kernel_scalar_t<I>;
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    static_assert(std::floating_point<typename I::Scalar>, "kernel values are float or double");
    if constexpr (std::same_as<I, RowMatrix<Scalar>>) {
      return std::make_unique<PrecomputedGram<Scalar>>(inputs);
    } else {  // Another storage order is copied.
      Buffer<Scalar> values(inputs.size());
      Eigen::Map<RowMatrix<Scalar>> copy(values.data(), inputs.rows(), inputs.cols());
      copy = inputs;
      PrecomputedGram<Scalar>::check(copy);
      return std::make_unique<DenseGram<Scalar>>(std::move(values), inputs.rows());
    }
  } else {
    auto values = std::make_unique<OnDemandGram<Kernel, I>>(kernel, inputs);
    if constexpr (may_be_linear<Kernel, I>) {
      if (strategy == Strategy::linear) {
        values->set_linear_inputs(
            std::make_shared<LinearRows<I>>(linear_form(kernel).value(), values->inputs()));
      }
    }
    return values;
  }
}

/// Replaces values that are computed on request by the whole matrix, if the forecast's strategy is
/// dense, or keeps rows, if it has room for some. If it is stopped, the matrix is not complete.
/// \throws KernelValueError.
template <class T>
void hold_values(std::unique_ptr<Gram<T>>& values, const MemoryForecast& forecast,
                 const RunControl& control) {
  if (forecast.strategy == Strategy::dense && !values->rows_in_memory()) {
    values = std::make_unique<DenseGram<T>>(*values, control.threads, [&](double fraction) {
      return control.go_on({.stage = "kernel matrix", .fraction = fraction});
    });
  } else if (forecast.kept_rows > 0 && values->kept_rows() == nullptr) {
    const std::ptrdiff_t m = values->size();
    values->set_kept_rows(
        std::make_shared<KeptRows<T>>(m, forecast.kept_rows * KeptRows<T>::row_bytes(m)));
  }
}

}}}  // namespace bpm::detail
