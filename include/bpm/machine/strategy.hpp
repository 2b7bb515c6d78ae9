// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/samplers/sampler.hpp"

/// \file
/// Kernel values of a fit, all that its samplers see of kernel and inputs: what they take of
/// memory, by which strategy, and where they are made.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Input of `forecast_memory` and `choose_strategy`: properties of sampler, kernel and inputs.
struct MemoryQuestion {
  std::ptrdiff_t points = 0;
  std::size_t problems = 1;
  std::size_t scalar_bytes = sizeof(double);  ///< Bytes of a kernel value.
  std::size_t choosing_bytes = 0;             ///< Bytes for the choice of the boundary; 0: given.
  std::uint64_t draws = 1;
  bool precomputed = false;       ///< The user provides the matrix.
  bool can_window = false;        ///< The sampler can do without kernel rows.
  bool pairwise = false;          ///< Kernel values are computed pair by pair.
  bool by_pairs = false;          ///< Kernel values are slow: rows are kept.
  bool bytes = false;             ///< Inputs are bytes.
  std::size_t inputs = 0;         ///< Bytes of the prepared inputs.
  std::size_t scatter_bytes = 0;  ///< Bytes of one sparse input, per thread.
  std::size_t features = 0;       ///< Length of w for a linear kernel; else 0.
  bool weights_pay = false;       ///< Keeping w is worth while.
  std::size_t pairs = 0;          ///< Pairs of classes to fit; 0: a class against the rest.
  /// Returns the bytes of so many inputs packed as columns.
  std::function<std::size_t(std::size_t)> packed_bytes{};
  std::function<MemoryNeed(const RunSize&)> need{};  ///< Memory need of the sampler.
};

/// Returns the strategy for a sampler that can do without kernel rows, if windowed evaluation fits.
///
/// The whole matrix costs m^2 / 2 kernel values and the memory; windows cost a row of values per
/// mistake, of every draw, class and pass. So: the matrix, if it fits, up to 20 000 points (8000
/// for bytes), for a callable, which computes values one by one, and for many draws or classes,
/// which read its rows repeatedly. Otherwise, values when needed, whose blocks are computed faster
/// than rows are written and read. The cost of windows depends on the number of mistakes, which is
/// unknown beforehand: with few, the matrix costs many times what windows would, but never more
/// than itself.
[[nodiscard]] inline Strategy choose_strategy(const MemoryQuestion& ask, bool dense_fits) {
  // Products of bytes are several times as fast as those of floats, memory is not.
  const std::ptrdiff_t few = ask.bytes ? 8'000 : 20'000;
  const std::uint64_t many = ask.bytes ? 200 : 100;
  const bool again = ask.draws >= many / ask.problems;
  return dense_fits && (ask.points <= few || ask.pairwise || again) ? Strategy::dense
                                                                    : Strategy::windowed;
}

/// Returns the memory and the strategy of a fit: the strategy of the settings; else w of a linear
/// kernel, for samplers that keep it, if kernel and inputs make it worth while (memory and threads
/// do not matter, since its sums round differently); else that of `choose_strategy` among those
/// that fit the memory; for samplers that need rows, the whole matrix. \throws BudgetTooSmall if
/// the budget holds neither the matrix nor windowed evaluation of one draw at a time, or not w, the
/// requested strategy or the choice of lambda. \throws std::invalid_argument on a strategy that
/// does not suit kernel, inputs or sampler.
[[nodiscard]] BPM_INLINE MemoryForecast forecast_memory(const MemoryQuestion& ask,
                                                        const FitSettings& settings,
                                                        std::string_view function);

/// Returns what kernel and inputs, which must outlive it, have to say to a question.
template <class Kernel, InputSet I>
[[nodiscard]] MemoryQuestion question_of(const Kernel& kernel, const I& inputs) {
  MemoryQuestion ask{.points = input_count(inputs),
                     .scalar_bytes = sizeof(kernel_scalar_t<I>),
                     .precomputed = std::same_as<Kernel, PrecomputedKernel>};
  if constexpr (!std::same_as<Kernel, PrecomputedKernel>) {
    ask.pairwise = !by_inner_products<Kernel, I> && !by_distances<Kernel, I>;
    ask.by_pairs = by_pairs<Kernel, I>;
    ask.bytes = ByteInputs<I>;
    ask.inputs = PreparedInputs<I>::bytes_needed(inputs, !origin_of(kernel, inputs).empty());
    if constexpr (SparseInputs<I>) ask.scatter_bytes = PreparedInputs<I>::scattered_bytes(inputs);
    ask.packed_bytes = [&](std::size_t count) { return packed_bytes(inputs, count); };
    if constexpr (may_be_linear<Kernel, I>) {
      if (linear_form(kernel)) {
        ask.features = static_cast<std::size_t>(LinearRows<I>::weight_length(inputs.cols()));
        ask.weights_pay = LinearRows<I>::worth(inputs);
      }
    }
  }
  return ask;
}

/// Returns the forecast for a sampler.
template <class Sampler>
[[nodiscard]] MemoryForecast forecast_memory(MemoryQuestion ask, const Sampler& sampler,
                                             const FitSettings& settings,
                                             std::string_view function) {
  ask.can_window = Sampler::traits.computes_blocks;
  if constexpr (Sampler::traits.computes_blocks) ask.draws = sampler.draws;
  ask.need = [&](const RunSize& run) { return sampler.memory_need(run); };
  return forecast_memory(ask, settings, function);
}

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

#if BPM_BODIES

BPM_INLINE MemoryForecast forecast_memory(const MemoryQuestion& ask, const FitSettings& settings,
                                          std::string_view function) {
  const std::size_t problems = ask.problems;
  const auto points = static_cast<std::size_t>(ask.points);
  const unsigned threads = thread_count(settings.threads);
  const auto need = [&](unsigned pool, unsigned at_once, std::size_t features = 0) {
    return ask.need({ask.points, problems, pool, ask.scalar_bytes, at_once, features});
  };
  const auto refuse = [&](const MemoryForecast& smallest, std::string_view what) {
    // A sampler of windows has been tried on one thread by then.
    throw BudgetTooSmall(join(
        function, ": memory is ", settings.memory, " bytes, ", ask.points, " points and ", problems,
        " problems need at least ", smallest.total(), what, " (outputs and sums ",
        smallest.sampler_bytes + smallest.model_bytes, ", kernel values ", smallest.kernel_bytes,
        "); ",
        ask.can_window && !ask.precomputed ? "raise memory" : "raise memory or use fewer threads"));
  };
  MemoryForecast forecast;
  if (ask.choosing_bytes > 0) {
    forecast.choosing_bytes = ask.choosing_bytes;
    if (ask.pairs > 0) forecast.choosing_bytes += forecast.choosing_bytes / 2;
    ensure<BudgetTooSmall>(forecast.choosing_bytes <= settings.memory, function, ": memory is ",
                           settings.memory, " bytes, ", ask.points, " points need ",
                           forecast.choosing_bytes,
                           " to choose the soft boundary; raise memory or give a soft boundary");
  }
  // Labels, sums over draws, hashes and indices of the inputs, lambda; coefficients of pairs.
  forecast.model_bytes = problems * (DrawMean::bytes_needed(ask.points) + points) +
                         points * (3 * sizeof(std::uint64_t) + ask.pairs * sizeof(double));
  forecast.threads = threads;
  forecast.sampler_bytes = need(threads, 0).bytes;
  if (ask.precomputed) {
    const Strategy asked = settings.strategy.value_or(Strategy::precomputed);
    check(asked == Strategy::precomputed, function, "strategy", "is ", to_string(asked),
          ", must be precomputed for a PrecomputedKernel");
    forecast.strategy = Strategy::precomputed;
    if (forecast.total() > settings.memory) refuse(forecast, "");
    return forecast;
  }
  check(settings.strategy != Strategy::precomputed, function, "strategy",
        "is precomputed, which is for a PrecomputedKernel; leave it out");
  check(to_string(settings.strategy.value_or(Strategy::dense)) != "unknown", function, "strategy",
        "is none that there is");
  const std::size_t base = ask.inputs + points * (ask.scalar_bytes + sizeof(PointIndex));
  MemoryForecast dense = forecast;
  dense.strategy = Strategy::dense;
  // Each thread packs a tile's columns.
  dense.kernel_bytes = base + points * points * ask.scalar_bytes + threads * ask.scatter_bytes +
                       threads * ask.packed_bytes(std::min<std::size_t>(points, 256));
  const bool dense_fits = dense.total() <= settings.memory;

  // Tries fewer and fewer draws at a time, then fewer threads, until the memory suffices.
  const auto shrink_to_fit = [&](MemoryForecast& tried, auto&& take) {
    for (unsigned step = 0; step < 2 * threads - 1; ++step) {
      const unsigned at_once = step < threads ? threads - step : 1;
      tried.threads = step < threads ? threads : 2 * threads - 1 - step;
      tried.draws_at_once = at_once == threads ? 0 : at_once;
      take(tried, at_once);
      if (tried.total() <= settings.memory) break;
    }
  };
  const bool possible = ask.features > 0 && need(1, 1, ask.features).keeps_weights;
  if (settings.strategy ? settings.strategy == Strategy::linear && possible
                        : possible && ask.weights_pay) {
    MemoryForecast linear = forecast;
    linear.strategy = Strategy::linear;
    linear.kernel_bytes = base + points * sizeof(double);
    shrink_to_fit(linear, [&](MemoryForecast& tried, unsigned at_once) {
      tried.sampler_bytes = need(tried.threads, at_once, ask.features).bytes;
    });
    if (linear.total() > settings.memory) {
      refuse(linear, settings.strategy ? " for strategy linear" : "");
    }
    return linear;
  }
  check(settings.strategy != Strategy::linear, function, "strategy",
        "is linear, which is for perceptrons of a linear kernel on numbers; leave it out");
  MemoryForecast windowed = forecast;
  windowed.strategy = Strategy::windowed;
  windowed.kernel_bytes = base;
  if (ask.can_window) {
    shrink_to_fit(windowed, [&](MemoryForecast& tried, unsigned at_once) {
      const MemoryNeed held = need(tried.threads, at_once);
      tried.sampler_bytes = held.bytes;
      tried.kernel_bytes =
          base + tried.threads * ask.scatter_bytes + ask.packed_bytes(held.columns);
    });
  }
  const bool windowed_fits = windowed.total() <= settings.memory;
  if (ask.can_window && ask.by_pairs) {
    const std::size_t noted = points * KeptRows<double>::point_bytes;
    const std::size_t row = points * ask.scalar_bytes;
    const std::size_t held = windowed.kernel_bytes + windowed.sampler_bytes + windowed.model_bytes;
    if (held + noted + row <= settings.memory) {
      windowed.kept_rows = std::min(points, (settings.memory - held - noted) / row);
      windowed.kernel_bytes += noted + windowed.kept_rows * row;
    }
  }
  if (!settings.strategy && !windowed_fits && !dense_fits) {
    // With few points and long inputs the matrix is the smaller of the two.
    refuse(dense.total() < windowed.total() ? dense : windowed, "");
  }
  Strategy strategy = dense_fits ? Strategy::dense : Strategy::windowed;
  if (ask.can_window && windowed_fits) strategy = choose_strategy(ask, dense_fits);
  strategy = settings.strategy.value_or(strategy);
  const MemoryForecast& chosen = strategy == Strategy::dense ? dense : windowed;
  if (chosen.total() > settings.memory) {
    refuse(chosen, join(" for strategy ", to_string(strategy)));
  }
  return chosen;
}

#endif

}}}  // namespace bpm::detail
