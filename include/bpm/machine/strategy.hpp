// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/kernel_values/dense_gram.hpp"
#include "bpm/kernel_values/prepared_columns.hpp"
#include "bpm/kernel_values/row_cache.hpp"
#include "bpm/machine/cost_forecast.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/precomputed_kernel.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm::detail {

/// Samplers that can do without kernel rows in memory.
template <class Sampler>
inline constexpr bool is_windowed = Sampler::traits.computes_blocks;

/// Seconds that work() takes, the smallest of a few times.
template <class Work>
[[nodiscard]] double least_seconds(int times, Work&& work) {
  double least = 1e300;
  for (int t = 0; t < times; ++t) {
    const auto start = std::chrono::steady_clock::now();
    work();
    least = std::min(
        least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

/// Measures what the strategies are made of, on blocks of these inputs. A few milliseconds, or as
/// long as a few kernel values take where these are slow. What cannot be measured within `memory`
/// bytes has typical values.
/// \throws KernelValueError on kernel values that are not finite or near overflow; it names points
///         by their numbers in the sample.
template <class Kernel, InputSet I>
[[nodiscard]] CostRates measure_rates(const Kernel& kernel, const I& inputs, std::size_t memory) {
  using Scalar = kernel_scalar_t<I>;
  CostRates rates;
  constexpr std::ptrdiff_t side = 256;
  const std::ptrdiff_t m = input_count(inputs);
  // The sample is copied, prepared and packed.
  const std::size_t point_bytes = 3 * PreparedColumns<I>::bytes_needed(inputs, 1) + 1;
  const std::ptrdiff_t sample_size = std::min(
      {m, 2 * side,
       std::max<std::ptrdiff_t>(16, static_cast<std::ptrdiff_t>(memory / 4 / point_bytes))});
  std::vector<PointIndex> chosen;
  for (std::ptrdiff_t i = 0; i < sample_size; ++i) {
    chosen.push_back(static_cast<PointIndex>(i * (m / sample_size)));
  }
  const auto sample = select_inputs(inputs, chosen);
  const PreparedInputs<owned_inputs_t<I>> prepared(sample);
  std::vector<PointIndex> points(chosen.size());
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = static_cast<PointIndex>(i);
  const std::span<const PointIndex> all(points);
  PreparedColumns<owned_inputs_t<I>> columns;
  BlockScratch<Scalar> scratch;
  Buffer<Scalar> values(side * side, Scalar{0});
  // Larger blocks until one takes long enough for the clock.
  for (std::size_t rows = 1, cols = 16;;
       rows = std::min<std::size_t>(4 * rows, side), cols = side) {
    rows = std::min(rows, points.size());
    cols = std::min(cols, points.size());
    const double seconds = least_seconds(rows > 16 ? 3 : 1, [&] {
      columns.assign(prepared, all.first(cols), by_inner_products<Kernel, I>);
      kernel_block(kernel, prepared, all.last(rows), columns, 0, static_cast<std::ptrdiff_t>(cols),
                   values.data(), side, scratch);
    });
    rates.value_seconds = seconds / static_cast<double>(rows * cols);
    if (seconds > 2e-3 || rows >= std::min<std::size_t>(side, points.size())) {
      break;
    }
  }
  // More than an allocator hands out again, pages that the process has not had before, and more
  // than most caches hold.
  constexpr std::ptrdiff_t bytes = std::ptrdiff_t{36} << 20U;
  if (memory < 2 * static_cast<std::size_t>(bytes)) {
    rates.touch_seconds = 3e-10;
    rates.read_seconds = 3e-9;
    rates.stream_seconds = 1e-10;
    return rates;
  }
  Buffer<float> fresh(bytes / std::ptrdiff_t{sizeof(float)});
  rates.touch_seconds = least_seconds(1, [&] { fresh.fill(1); }) / static_cast<double>(bytes);
  RandomEngine engine(1);
  constexpr int reads = 65536;
  std::vector<std::int32_t> places(reads);
  for (auto& place : places) {
    place =
        static_cast<std::int32_t>(uniform_below(engine, static_cast<std::uint32_t>(fresh.size())));
  }
  float sum = 0;
  rates.read_seconds = least_seconds(1,
                                     [&] {
                                       for (const std::int32_t place : places) sum += fresh[place];
                                     }) /
                       reads;
  float parts[16] = {};
  rates.stream_seconds = least_seconds(1,
                                       [&] {
                                         for (std::ptrdiff_t i = 0; i < fresh.size(); i += 16) {
                                           for (int l = 0; l < 16; ++l) parts[l] += fresh[i + l];
                                         }
                                       }) /
                         static_cast<double>(bytes);
  // Keeps the sums, which are positive.
  if (sum + parts[0] < 0) rates.read_seconds = 0;
  return rates;
}

/// What the fit will take, and by which strategy. Within the memory: for samplers that need rows
/// the whole matrix if it fits; for others, on small sets likewise, else what the cost model
/// expects to be the fastest.
/// \throws BudgetTooSmall where the budget does not even hold windowed evaluation of one draw at a
///         time, or not the strategy that the settings ask for.
template <class Kernel, class Sampler, InputSet I>
[[nodiscard]] MemoryForecast forecast_memory(const Kernel& kernel, const Sampler& sampler,
                                             const FitSettings& settings, const I& inputs,
                                             std::size_t problems, std::string_view function) {
  using Scalar = kernel_scalar_t<I>;
  const std::ptrdiff_t m = input_count(inputs);
  const auto points = static_cast<std::size_t>(m);
  const unsigned threads = thread_count(settings.threads);
  MemoryForecast forecast;
  // Labels, sums over draws, hashes and indices of the inputs, lambda.
  forecast.model_bytes =
      problems * (DrawMean::bytes_needed(m) + points) + points * 3 * sizeof(std::uint64_t);
  // A sampler of windows has been tried on one thread by then.
  constexpr std::string_view cure = is_windowed<Sampler> && !std::same_as<Kernel, PrecomputedKernel>
                                        ? "raise memory"
                                        : "raise memory or use fewer threads";
  const auto refuse = [&](const MemoryForecast& smallest, std::string_view what) {
    throw BudgetTooSmall(join(function, ": memory is ", settings.memory, " bytes, ", m,
                              " points and ", problems, " problems need at least ",
                              smallest.total(), what, " (outputs and sums ",
                              smallest.sampler_bytes + smallest.model_bytes, ", kernel values ",
                              smallest.kernel_bytes, "); ", cure));
  };
  const auto sampler_part = [&](unsigned crew, unsigned at_once) {
    return sampler.memory_need({m, problems, crew, sizeof(Scalar), at_once});
  };
  forecast.threads = threads;
  forecast.sampler_bytes = sampler_part(threads, 0).bytes;
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    const Strategy asked = settings.strategy.value_or(Strategy::precomputed);
    check(asked == Strategy::precomputed, function, "strategy", "is ", to_string(asked),
          ", must be precomputed for a PrecomputedKernel");
    forecast.strategy = Strategy::precomputed;
    if (forecast.total() > settings.memory) refuse(forecast, "");
    return forecast;
  } else {
    check(!settings.strategy || *settings.strategy != Strategy::precomputed, function, "strategy",
          "is precomputed, which is for a PrecomputedKernel; leave it out");
    check(to_string(settings.strategy.value_or(Strategy::dense)) != "unknown", function, "strategy",
          "is none that there is");
    check(is_windowed<Sampler> || settings.strategy != Strategy::windowed_rows, function,
          "strategy", "is windowed+rows, which this sampler has no use for; leave it out");
    const std::size_t base =
        PreparedInputs<I>::bytes_needed(inputs) + points * (sizeof(Scalar) + sizeof(PointIndex));
    MemoryForecast dense = forecast;
    dense.strategy = Strategy::dense;
    // A tile's columns are packed, by each thread.
    dense.kernel_bytes =
        base + DenseGram<Scalar>::bytes_needed(m) +
        threads * PreparedColumns<I>::bytes_needed(inputs, std::min<std::size_t>(points, 256));
    const bool dense_fits = dense.total() <= settings.memory;

    // Windowed evaluation, by as many draws at a time as fit, then by fewer threads.
    MemoryForecast windowed = forecast;
    windowed.strategy = Strategy::windowed;
    windowed.kernel_bytes = base;
    if constexpr (is_windowed<Sampler>) {
      for (unsigned step = 0; step < 2 * threads - 1; ++step) {
        const unsigned at_once = step < threads ? threads - step : 1;
        windowed.threads = step < threads ? threads : 2 * threads - 1 - step;
        windowed.draws_at_once = at_once == threads ? 0 : at_once;
        const MemoryNeed need = sampler_part(windowed.threads, at_once);
        windowed.sampler_bytes = need.bytes;
        windowed.kernel_bytes = base + PreparedColumns<I>::bytes_needed(inputs, need.columns);
        if (windowed.total() <= settings.memory) break;
      }
    }
    const bool windowed_fits = windowed.total() <= settings.memory;
    MemoryForecast rows = windowed;
    rows.strategy = Strategy::windowed_rows;
    if (windowed_fits && m > 0) {
      const std::size_t place_bytes = points * sizeof(std::int32_t);
      const std::size_t row_bytes = KeptRows<Scalar>::row_bytes(m);
      const std::size_t room = settings.memory - windowed.total();
      if (room >= place_bytes + row_bytes) {
        rows.kept_rows = std::min(points, (room - place_bytes) / row_bytes);
        rows.kernel_bytes += place_bytes + rows.kept_rows * row_bytes;
      }
    }
    if (settings.strategy) {
      const bool fits = *settings.strategy == Strategy::dense ? dense_fits : windowed_fits;
      const MemoryForecast& asked = *settings.strategy == Strategy::dense      ? dense
                                    : *settings.strategy == Strategy::windowed ? windowed
                                                                               : rows;
      if (!fits) refuse(asked, join(" for strategy ", to_string(*settings.strategy)));
      return asked;
    }
    if (!windowed_fits && !dense_fits) {
      // On few points with long inputs the matrix is the smaller of the two.
      refuse(dense.total() < windowed.total() ? dense : windowed, "");
    }
    // Up to here the matrix is a fraction of a second's work.
    constexpr std::ptrdiff_t small = 4096;
    if (!is_windowed<Sampler> || (dense_fits && m <= small)) {
      return dense_fits ? dense : windowed;
    }
    if (!windowed_fits) {
      return dense;
    }
    if (!dense_fits && rows.kept_rows == 0) {
      return windowed;
    }
    CostRates rates;
    try {
      rates = measure_rates(kernel, inputs, settings.memory);
    } catch (const KernelValueError&) {
      return windowed;  // The fit will meet it, and name the points.
    }
    const CostForecast cost =
        cost_forecast(rates, static_cast<double>(m), static_cast<double>(sampler.draws),
                      static_cast<double>(rows.kept_rows), windowed.threads, sizeof(Scalar));
    MemoryForecast* best = &windowed;
    double least = cost.windowed_seconds;
    // A model is not to be believed to the percent: what takes more memory should be clearly
    // faster.
    constexpr double clearly = 0.9;
    if (rows.kept_rows > 0 && cost.windowed_rows_seconds < clearly * least) {
      best = &rows;
      least = cost.windowed_rows_seconds;
    }
    if (dense_fits && cost.dense_seconds < clearly * least) {
      best = &dense;
    }
    best->cost = cost;
    return *best;
  }
}

}  // namespace bpm::detail
