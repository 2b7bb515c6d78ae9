// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Classifiers of a linear kernel as one number per feature, w = sum_i alpha_i phi(x_i). An output
/// costs one pass over the numbers of a row, and no kernel value.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// True if a kernel of this type can be linear in inputs of this type.
template <class Kernel, class I>
inline constexpr bool may_be_linear = can_be_linear<Kernel> && !RangeInputs<I>;

/// Weights w of some classifiers: their numbers, in an order that depends on the kind of inputs,
/// and the sum of each classifier's coefficients, which the kernel's constant multiplies.
struct LinearWeights {
  std::ptrdiff_t classifiers = 0;
  Buffer<double> numbers;
  std::vector<double> sums;

  LinearWeights() = default;
  /// All weights are zero. `length`: numbers of one w, from `LinearRows::weight_length`.
  LinearWeights(std::ptrdiff_t length, std::ptrdiff_t count)
      : classifiers(count), numbers(length * count), sums(static_cast<std::size_t>(count)) {
    clear();
  }
  void clear() {
    numbers.fill(0);
    std::fill(sums.begin(), sums.end(), 0.0);
  }
};

/// Weights w of the classifiers of a linear kernel, computed at the first request of any thread.
class KeptWeights {
 public:
  template <class Make>
  [[nodiscard]] const LinearWeights& get(Make&& make) const {
    const std::lock_guard lock(mutex_);
    if (!weights_) weights_ = make();
    return *weights_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<LinearWeights> weights_;
};

/// Inputs of a linear kernel, the interface for perceptrons that update w. Everything is computed
/// in double, each classifier's numbers in the same way for any set of classifiers: on integers the
/// sums are exact, as long as they are below 2^53.
template <class T>
class LinearInputs {
 public:
  /// Scratch memory of a thread for outputs.
  struct Scratch {
    Buffer<double> widened;
  };

  virtual ~LinearInputs() = default;

  /// Returns w = 0 for the given number of classifiers.
  [[nodiscard]] virtual LinearWeights zero_weights(std::ptrdiff_t classifiers) const = 0;
  /// Adds times phi(x_i) to w_c. Cost: the numbers of the row.
  virtual void add(std::ptrdiff_t i, std::ptrdiff_t c, double times,
                   LinearWeights& weights) const = 0;
  /// Computes outputs[c] = <w_c, phi(x_i)> for the classifiers c of an ascending list. Cost: the
  /// numbers of the row for each.
  virtual void outputs(std::ptrdiff_t i, const LinearWeights& weights,
                       std::span<const PointIndex> classifiers, double* outputs,
                       Scratch& scratch) const = 0;
  /// Prefetches row i into the cache.
  virtual void prefetch(std::ptrdiff_t i) const = 0;
};

/// Linear inputs from prepared inputs; refers to them.
///
/// Dense rows: one w after the other, so that inner products run along the registers. Sparse rows:
/// all classifiers' numbers of a feature are adjacent, so that a nonzero reads them together.
template <InputSet I>
class LinearRows final : public LinearInputs<kernel_scalar_t<I>> {
 public:
  using Scalar = kernel_scalar_t<I>;
  using Scratch = typename LinearInputs<Scalar>::Scratch;

  /// The constant and the factor of the form are rounded as in the kernel.
  LinearRows(const LinearForm& form, const PreparedInputs<I>& inputs)
      : inputs_(&inputs),
        factor_(static_cast<Scalar>(form.factor)),
        constant_(static_cast<Scalar>(form.constant)) {
    for (std::ptrdiff_t i = 0; form.unit && i < inputs.size(); ++i) {
      const double squared = squared_norm(i);
      scales_.push_back(squared > 0 ? 1 / std::sqrt(squared) : 0.0);
    }
  }

  /// True if updating w is cheaper than kernel values: for about as many passes as a tenth of the
  /// points make mistakes in. A matrix of kernel values costs less than passes over long dense
  /// rows, up to the number of points where the matrix is used; values of sparse rows, and of
  /// windows, never do. w must also not be long compared with a fit's memory per point. The inputs
  /// alone decide, since the sums round differently.
  [[nodiscard]] static bool worth(const I& inputs) {
    const auto m = static_cast<double>(inputs.rows());
    const auto features = static_cast<double>(inputs.cols());
    if constexpr (SparseInputs<I>) {
      return 4 * static_cast<double>(inputs.nonZeros()) <= m * m && features <= 100 * m;
    } else {
      return (inputs.rows() > 20'000 ? 1 : 16) * features <= m;
    }
  }

  /// Number of entries of w.
  [[nodiscard]] static std::ptrdiff_t weight_length(std::ptrdiff_t features) {
    return SparseInputs<I> ? features : padded<double>(features);
  }
  [[nodiscard]] LinearWeights zero_weights(std::ptrdiff_t classifiers) const override {
    return {weight_length(inputs_->features()), classifiers};
  }

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return inputs_->size(); }

  void add(std::ptrdiff_t i, std::ptrdiff_t c, double times,
           LinearWeights& weights) const override {
    weights.sums[static_cast<std::size_t>(c)] += times;
    const double scale = times * scale_of(i);
    if constexpr (SparseInputs<I>) {
      double* const numbers = weights.numbers.data() + c;
      const std::ptrdiff_t stride = weights.classifiers;
      const auto row = nonzeros(i);
      for (std::ptrdiff_t k = 0; k < row.count; ++k) {
        double& number = numbers[row.features[k] * stride];
        number = multiply_add(scale, static_cast<double>(row.values[k]), number);
      }
    } else {
      const auto* const row = inputs_->numbers(i);
      double* const numbers = weights.numbers.data() + c * weight_length(inputs_->features());
      for (std::ptrdiff_t k = 0; k < inputs_->features(); ++k) {
        numbers[k] = multiply_add(scale, static_cast<double>(row[k]), numbers[k]);
      }
    }
  }

  void outputs(std::ptrdiff_t i, const LinearWeights& weights,
               std::span<const PointIndex> classifiers, double* outputs,
               Scratch& scratch) const override {
    if constexpr (SparseInputs<I>) {
      const auto row = nonzeros(i);
      for (std::size_t at = 0; at < classifiers.size();) {
        // Blocks of neighbouring classifiers, up to eight at once.
        const std::ptrdiff_t first = classifiers[at];
        std::ptrdiff_t run = 1;
        while (run < 8 && at + std::size_t(run) < classifiers.size() &&
               classifiers[at + std::size_t(run)] == first + run) {
          ++run;
        }
        if (run == 8) {
          products<8>(row, weights, first, outputs);
        } else if (run >= 4) {
          products<4>(row, weights, first, outputs);
        } else if (run >= 2) {
          products<2>(row, weights, first, outputs);
        } else {
          products<1>(row, weights, first, outputs);
        }
        at += std::bit_floor(static_cast<std::size_t>(run));
      }
    } else {
      const std::ptrdiff_t length = weight_length(inputs_->features());
      const double* const row = doubles(i, length, scratch.widened);
      const auto column = [&](std::size_t at) {
        return weights.numbers.data() + classifiers[at] * length;
      };
      std::size_t at = 0;
      for (; at + 2 <= classifiers.size(); at += 2) {
        double both[2];
        products<2>(row, {column(at), column(at + 1)}, length, both);
        outputs[classifiers[at]] = both[0];
        outputs[classifiers[at + 1]] = both[1];
      }
      if (at < classifiers.size()) {
        products<1>(row, {column(at)}, length, outputs + classifiers[at]);
      }
    }
    const double scale = factor_ * scale_of(i);
    for (const PointIndex c : classifiers) {
      outputs[c] =
          multiply_add(constant_, weights.sums[static_cast<std::size_t>(c)], scale * outputs[c]);
    }
  }

  void prefetch(std::ptrdiff_t i) const override {
    if constexpr (SparseInputs<I>) {
      const auto row = nonzeros(i);
      fetch(row.values, row.count);
      fetch(row.features, row.count);
    } else {
      fetch(inputs_->numbers(i), inputs_->features());
    }
  }

 private:
  /// The nonzero entries of a sparse row.
  template <class Index>
  struct Nonzeros {
    const Scalar* values;
    const Index* features;
    std::ptrdiff_t count;
  };

  [[nodiscard]] auto nonzeros(std::ptrdiff_t i) const
    requires SparseInputs<I>
  {
    const I& inputs = inputs_->inputs();
    const auto first = static_cast<std::ptrdiff_t>(inputs.outerIndexPtr()[i]);
    const auto count = inputs.isCompressed()
                           ? static_cast<std::ptrdiff_t>(inputs.outerIndexPtr()[i + 1]) - first
                           : static_cast<std::ptrdiff_t>(inputs.innerNonZeroPtr()[i]);
    return Nonzeros<typename I::StorageIndex>{inputs.valuePtr() + first,
                                              inputs.innerIndexPtr() + first, count};
  }

  [[nodiscard]] double scale_of(std::ptrdiff_t i) const {
    return scales_.empty() ? 1.0 : scales_[static_cast<std::size_t>(i)];
  }

  [[nodiscard]] double squared_norm(std::ptrdiff_t i) const {
    double squared = 0;
    const auto add_square = [&squared](double x) { squared = multiply_add(x, x, squared); };
    if constexpr (SparseInputs<I>) {
      const auto row = nonzeros(i);
      for (std::ptrdiff_t k = 0; k < row.count; ++k) add_square(row.values[k]);
    } else {
      const auto* const row = inputs_->numbers(i);
      for (std::ptrdiff_t k = 0; k < inputs_->features(); ++k) add_square(row[k]);
    }
    return squared;
  }

  /// Inner products of a sparse row with `Count` neighbouring classifiers from `first` on. Four
  /// chains of sums, so that none waits for another.
  template <std::ptrdiff_t Count, class Row>
  static void products(const Row& row, const LinearWeights& weights, std::ptrdiff_t first,
                       double* out) {
    constexpr std::ptrdiff_t chains = 4;
    const double* const numbers = weights.numbers.data() + first;
    const std::ptrdiff_t stride = weights.classifiers;
    double sums[std::size_t(chains)][std::size_t(Count)] = {};
    const auto add = [&](std::ptrdiff_t k, double(&sum)[std::size_t(Count)]) {
      const double x = row.values[k];
      const double* const column = numbers + row.features[k] * stride;
      for (std::ptrdiff_t c = 0; c < Count; ++c) sum[c] = multiply_add(x, column[c], sum[c]);
    };
    std::ptrdiff_t k = 0;
    for (; k + chains <= row.count; k += chains) {
      add(k, sums[0]);
      add(k + 1, sums[1]);
      add(k + 2, sums[2]);
      add(k + 3, sums[3]);
    }
    for (std::ptrdiff_t chain = 0; k < row.count; ++k, ++chain) add(k, sums[chain]);
    for (std::ptrdiff_t c = 0; c < Count; ++c) {
      out[first + c] = (sums[0][c] + sums[1][c]) + (sums[2][c] + sums[3][c]);
    }
  }

  /// Inner products of a dense row with `Count` classifiers, `length` whole registers of each. Four
  /// chains of sums, so that none waits for another.
  template <std::size_t Count>
  static void products(const double* row, const std::array<const double*, Count>& columns,
                       std::ptrdiff_t length, double* out) {
    constexpr std::ptrdiff_t width = lane_count<double>;
    constexpr std::ptrdiff_t chains = 4;
    Lanes<double> sums[Count][chains] = {};
    std::ptrdiff_t k = 0;
    for (; k + chains * width <= length; k += chains * width) {
#pragma GCC unroll 4
      for (std::ptrdiff_t chain = 0; chain < chains; ++chain) {
        const Lanes<double> x = load_lanes(row + k + chain * width);
#pragma GCC unroll 2
        for (std::size_t c = 0; c < Count; ++c) {
          sums[c][chain] = lanes_multiply_add<double>(x, load_lanes(columns[c] + k + chain * width),
                                                      sums[c][chain]);
        }
      }
    }
    for (; k < length; k += width) {
      const Lanes<double> x = load_lanes(row + k);
      for (std::size_t c = 0; c < Count; ++c) {
        sums[c][0] = lanes_multiply_add<double>(x, load_lanes(columns[c] + k), sums[c][0]);
      }
    }
    for (std::size_t c = 0; c < Count; ++c) {
      out[c] = sum_lanes<double, width>((sums[c][0] + sums[c][1]) + (sums[c][2] + sums[c][3]));
    }
  }

  /// Returns a dense row as doubles, with zeros up to `length`: in place, or converted.
  [[nodiscard]] const double* doubles(std::ptrdiff_t i, std::ptrdiff_t length,
                                      Buffer<double>& widened) const {
    const auto* const row = inputs_->numbers(i);
    if constexpr (std::same_as<Scalar, double>) {
      return row;
    } else {
      widened.reserve_discarding(length);
      std::copy_n(row, inputs_->features(), widened.data());
      std::fill(widened.data() + inputs_->features(), widened.data() + length, 0.0);
      return widened.data();
    }
  }

  template <class T>
  static void fetch([[maybe_unused]] const T* from, [[maybe_unused]] std::ptrdiff_t count) {
#if defined(__GNUC__)
    constexpr std::ptrdiff_t most_lines = 16;
    constexpr std::ptrdiff_t line = 64 / std::ptrdiff_t{sizeof(T)};
    for (std::ptrdiff_t k = 0; k < std::min(count, most_lines * line); k += line) {
      __builtin_prefetch(from + k);
    }
#endif
  }

  const PreparedInputs<I>* inputs_;
  double factor_;
  double constant_;
  std::vector<double> scales_;  ///< 1 / norm(x_i) where inputs have unit norm; else empty.
};

}}}  // namespace bpm::detail
