// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/byte_panels.hpp"
#include "bpm/kernel_values/number_panels.hpp"
#include "bpm/kernel_values/panels.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Inputs prepared for blocks of kernel values. They refer to the caller's inputs, which must
/// outlive them, and copy only what cannot be read in place. And the origin that is subtracted from
/// them.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

template <InputSet I>
class PreparedInputs;

/// Tag: allocate, do not fill; `prepare` then fills the rows, some at a time.
struct AllocateOnly {};

/// Dense rows, zero-padded to whole units of a block: numbers to whole registers, bytes to groups
/// of four. They are read in place if they are row-major, begin and end with a unit, and have no
/// origin to subtract; else copied once. The origin of bytes is zero.
template <DenseInputs I>
class PreparedInputs<I> {
 public:
  using Scalar = kernel_scalar_t<I>;
  /// Type of a number in memory; and type that a block reads at a time.
  using Number = std::conditional_t<ByteInputs<I>, std::uint8_t, Scalar>;
  using Unit = std::conditional_t<ByteInputs<I>, ByteUnit, Scalar>;
  using One = std::conditional_t<ByteInputs<I>, Eigen::Matrix<Scalar, 1, Eigen::Dynamic>,
                                 Eigen::Map<const Eigen::Matrix<Scalar, 1, Eigen::Dynamic>>>;

  /// `origin` is subtracted from each row, see `origin_of`; empty: zero.
  explicit PreparedInputs(const I& inputs, std::span<const double> origin = {})
      : PreparedInputs(inputs, AllocateOnly{}, origin) {
    prepare(inputs, 0, size_);
  }
  /// Allocates only: reads no input and touches no memory.
  PreparedInputs(const I& inputs, AllocateOnly /*unused*/, std::span<const double> origin = {})
      : origin_(origin.begin(), origin.end()),
        size_(inputs.rows()),
        features_(inputs.cols()),
        length_(padded_features(inputs) / unit),
        stride_(padded_features(inputs)),
        sums_(ByteInputs<I> ? size_ : 0),
        norms_(size_) {
    if constexpr (direct) {
      if (borrowable(inputs) && origin_.empty()) {
        data_ = inputs.derived().data();
        stride_ = inputs.outerStride();
      }
    }
    if (data_ == nullptr) {
      copy_ = Buffer<Number>(size_ * stride_);
      data_ = copy_.data();
    }
  }

  /// Prepares `count` rows from `first` on; `inputs` are those given to the constructor.
  void prepare(const I& inputs, std::ptrdiff_t first, std::ptrdiff_t count) {
    const std::ptrdiff_t end = first + count;
    for (std::ptrdiff_t i = first; copy_.size() > 0 && i < end; ++i) {
      Number* const row = copy_.data() + i * stride_;
      Eigen::Map<Eigen::Matrix<Number, 1, Eigen::Dynamic>>(row, features_) =
          inputs.row(i).template cast<Number>();
      if constexpr (!ByteInputs<I>) {
        for (std::ptrdiff_t c = 0; c < std::ssize(origin_); ++c) {
          row[c] = static_cast<Number>(static_cast<double>(inputs(i, c)) - origin_[std::size_t(c)]);
        }
      }
      std::fill(row + features_, row + stride_, Number{0});
    }
    if constexpr (ByteInputs<I>) {
      for (std::ptrdiff_t i = first; i < end; ++i) find_sums(i);
    } else {
      for (std::ptrdiff_t i = first; i < end; ++i) find_norm(i);
    }
  }

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return size_; }
  /// Vector subtracted from each row; empty: zero.
  [[nodiscard]] std::span<const double> origin() const noexcept { return origin_; }
  /// Number of features.
  [[nodiscard]] std::ptrdiff_t features() const noexcept { return features_; }
  /// Number of units per row, with padding.
  [[nodiscard]] std::ptrdiff_t length() const noexcept { return length_; }
  [[nodiscard]] const Number* numbers(std::ptrdiff_t i) const noexcept {
    return data_ + i * stride_;
  }
  [[nodiscard]] const Unit* row(std::ptrdiff_t i) const noexcept {
    return reinterpret_cast<const Unit*>(numbers(i));
  }
  [[nodiscard]] One one(std::ptrdiff_t i) const {
    const Eigen::Map<const Eigen::Matrix<Number, 1, Eigen::Dynamic>> input(numbers(i), features_);
    return input.template cast<Scalar>();
  }
  /// <x_i, x_i>, with the same bits as the inner product of the input with itself in a block.
  [[nodiscard]] Scalar squared_norm(std::ptrdiff_t i) const noexcept { return norms_[i]; }
  /// Sum of the bytes of input i.
  [[nodiscard]] std::int64_t sum(std::ptrdiff_t i) const noexcept { return sums_[i]; }
  /// Bytes in use, without the caller's inputs.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return copy_.size() * sizeof(Number) + sums_.size() * sizeof(std::int64_t) +
           norms_.size() * sizeof(Scalar);
  }
  /// Bytes of a row, with padding.
  [[nodiscard]] static std::size_t row_bytes(const I& inputs) {
    return std::size_t(padded_features(inputs)) * sizeof(Number);
  }
  /// Bytes that preparing such inputs would use; `moved`: with an origin.
  [[nodiscard]] static std::size_t bytes_needed(const I& inputs, bool moved = false) {
    return std::size_t(inputs.rows()) *
           ((borrowable(inputs) && !moved ? 0 : row_bytes(inputs)) + sizeof(Scalar) +
            (ByteInputs<I> ? sizeof(std::int64_t) : 0));
  }

 private:
  /// True if the inputs lie in memory row by row, as the numbers that are read.
  static constexpr bool direct = (int(I::Flags) & Eigen::DirectAccessBit) != 0 &&
                                 bool(I::IsRowMajor) && std::same_as<typename I::Scalar, Number>;
  /// Numbers per unit.
  static constexpr std::ptrdiff_t unit = sizeof(Unit) / sizeof(Number);
  /// The length of a row must be a multiple of this.
  static constexpr std::ptrdiff_t multiple = ByteInputs<I> ? unit : lane_count<Scalar>;

  [[nodiscard]] static std::ptrdiff_t padded_features(const I& inputs) {
    return (inputs.cols() + multiple - 1) / multiple * multiple;
  }

  [[nodiscard]] static bool borrowable(const I& inputs) {
    if constexpr (direct) {
      return inputs.innerStride() == 1 && inputs.cols() % multiple == 0 &&
             inputs.outerStride() % unit == 0 &&
             reinterpret_cast<std::uintptr_t>(inputs.derived().data()) % sizeof(Unit) == 0;
    } else {
      return false;
    }
  }

  /// Computes the squared norm of input i, in the order of sums of panel_products.
  void find_norm(std::ptrdiff_t i) {
    norms_[i] = 0;
    for (std::ptrdiff_t k = 0; k < length_; k += longest_chain) {
      norms_[i] += number_tiles<Scalar>().squares(row(i) + k, std::min(longest_chain, length_ - k));
    }
  }

  /// Computes the sum of input i's bytes and the exact sum of their squares, which is rounded once.
  void find_sums(std::ptrdiff_t i) {
    std::int64_t sum = 0;
    std::int64_t squares = 0;
    for (std::ptrdiff_t begin = 0; begin < features_; begin += longest_byte_chain) {
      // 32 bits hold the sums of a part, and need half the registers.
      std::uint32_t part_sum = 0;
      std::uint32_t part_squares = 0;
      for (std::ptrdiff_t k = begin; k < std::min(features_, begin + longest_byte_chain); ++k) {
        const std::uint32_t byte = numbers(i)[k];
        part_sum += byte;
        part_squares += byte * byte;
      }
      sum += part_sum;
      squares += part_squares;
    }
    sums_[i] = sum;
    norms_[i] = static_cast<Scalar>(squares);
  }

  std::vector<double> origin_;
  std::ptrdiff_t size_;
  std::ptrdiff_t features_;
  std::ptrdiff_t length_;
  std::ptrdiff_t stride_;
  const Number* data_ = nullptr;
  Buffer<Number> copy_;
  Buffer<std::int64_t> sums_;
  Buffer<Scalar> norms_;
};

/// Sparse rows. Inner products scatter one row and walk the other, or walk both where rows are too
/// wide for that. Either way the terms of the common columns are added in the order of the columns,
/// so <x_i, x_j> and <x_j, x_i> have the same bits.
template <SparseInputs I>
class PreparedInputs<I> {
 public:
  using Scalar = kernel_scalar_t<I>;
  using One = Eigen::SparseVector<Scalar, Eigen::RowMajor>;

  /// Sparse inputs have the origin zero.
  explicit PreparedInputs(const I& inputs, std::span<const double> /*origin*/ = {})
      : inputs_(&inputs), norms_(inputs.rows()) {
    for (std::ptrdiff_t i = 0; i < size(); ++i) {
      Scalar sum = 0;
      for (typename I::InnerIterator entry(inputs, i); entry; ++entry) {
        sum = multiply_add(entry.value(), entry.value(), sum);
      }
      norms_[i] = sum;
    }
  }

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return inputs_->rows(); }
  [[nodiscard]] std::ptrdiff_t features() const noexcept { return inputs_->cols(); }
  [[nodiscard]] One one(std::ptrdiff_t i) const { return inputs_->row(i); }
  [[nodiscard]] Scalar squared_norm(std::ptrdiff_t i) const noexcept { return norms_[i]; }
  [[nodiscard]] std::size_t bytes() const noexcept { return norms_.size() * sizeof(Scalar); }
  [[nodiscard]] static std::size_t bytes_needed(const I& inputs, bool /*moved*/ = false) {
    return std::size_t(inputs.rows()) * sizeof(Scalar);
  }

  /// Largest number of columns of a scattered row. Without this limit the largest index in a file
  /// would determine the memory of each thread.
  static constexpr std::ptrdiff_t widest_scattered = std::ptrdiff_t{1} << 20;
  /// Bytes per thread for a scattered row.
  [[nodiscard]] static std::size_t scattered_bytes(const I& inputs) {
    return inputs.cols() <= widest_scattered ? std::size_t(inputs.cols()) * sizeof(Scalar) : 0;
  }

  /// Writes input i into a dense row of zeros; `clear` resets it to zeros.
  void scatter(std::ptrdiff_t i, Scalar* dense) const {
    for (typename I::InnerIterator entry(*inputs_, i); entry; ++entry) {
      dense[entry.col()] = entry.value();
    }
  }
  void clear(std::ptrdiff_t i, Scalar* dense) const {
    for (typename I::InnerIterator entry(*inputs_, i); entry; ++entry) dense[entry.col()] = 0;
  }
  /// Inner product of input i with a dense row.
  [[nodiscard]] Scalar product(std::ptrdiff_t i, const Scalar* dense) const {
    Scalar sum = 0;
    for (typename I::InnerIterator entry(*inputs_, i); entry; ++entry) {
      sum = multiply_add(entry.value(), dense[entry.col()], sum);
    }
    return sum;
  }
  /// Inner product of input i with input j of `other`, by walking both.
  template <SparseInputs J>
  [[nodiscard]] Scalar product(std::ptrdiff_t i, const PreparedInputs<J>& other,
                               std::ptrdiff_t j) const {
    Scalar sum = 0;
    typename I::InnerIterator a(*inputs_, i);
    for (typename J::InnerIterator b(other.inputs(), j); a && b;) {
      if (a.col() == b.col()) {
        sum = multiply_add(a.value(), b.value(), sum);
        ++a;
        ++b;
      } else if (a.col() < b.col()) {
        ++a;
      } else {
        ++b;
      }
    }
    return sum;
  }
  [[nodiscard]] const I& inputs() const noexcept { return *inputs_; }

 private:
  const I* inputs_;
  Buffer<Scalar> norms_;
};

/// Inputs of a user's type, without preparation.
template <RangeInputs I>
class PreparedInputs<I> {
 public:
  using Scalar = kernel_scalar_t<I>;
  using One = const std::ranges::range_value_t<I>&;

  explicit PreparedInputs(const I& inputs, std::span<const double> /*origin*/ = {})
      : inputs_(&inputs) {}

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return std::ranges::ssize(*inputs_); }
  [[nodiscard]] decltype(auto) one(std::ptrdiff_t i) const {
    return std::ranges::begin(*inputs_)[i];
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return 0; }
  [[nodiscard]] static std::size_t bytes_needed(const I& /*inputs*/, bool /*moved*/ = false) {
    return 0;
  }

 private:
  const I* inputs_;
};

// The origin from which kernels of distances measure their inputs. |x - z|^2 = <x, x> - 2 <x, z> +
// <z, z> loses digits if it is small compared with <x, x>; the same formula of x - o and z - o,
// with o near the inputs, gives the same distance without that loss.

/// Number of inputs, and for each feature the mean and the sum of squared deviations from it. Can
/// be computed in parts, on several ranks.
struct FeatureMoments {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;

  FeatureMoments() = default;
  /// Moments of every `step`-th input, by B. P. Welford's recurrence (1962), which loses no digits
  /// far from zero and finds no deviation in a constant feature. Cost: one pass.
  template <DenseInputs I>
  explicit FeatureMoments(const I& inputs, Eigen::Index step = 1)
      : mean(static_cast<std::size_t>(inputs.cols()), 0.0), squares(mean) {
    for (Eigen::Index i = 0; i < inputs.rows(); i += step) {
      const double part = 1 / ++count;
      for (std::size_t c = 0; c < mean.size(); ++c) {
        const double away = static_cast<double>(inputs(i, static_cast<Eigen::Index>(c))) - mean[c];
        mean[c] += away * part;
        squares[c] += away * away * (1 - part);
      }
    }
  }

  /// Adds the moments of other inputs (Chan, Golub and LeVeque 1983).
  void append(double others, std::span<const double> their_mean,
              std::span<const double> their_squares) {
    const double all = count + others;
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double away = their_mean[c] - mean[c];
      mean[c] += away * (others / all);
      squares[c] += their_squares[c] + away * away * (count * others / all);
    }
    count = all;
  }

  /// Returns the mean of each feature whose mean is more than `far` deviations from zero, else 0;
  /// empty if all are 0. The mean is rounded to a multiple of a power of two of the size of the
  /// deviation, so that x - o is exact, and o does not depend on the order of the inputs.
  [[nodiscard]] std::vector<double> origin() const {
    constexpr double far = 4;
    std::vector<double> result(mean.size(), 0.0);
    bool any = false;
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double deviation = std::sqrt(squares[c] / count);
      if (!(std::abs(mean[c]) > far * deviation)) continue;
      any = true;
      const double unit = std::exp2(std::floor(std::log2(deviation)));  // 0 for a constant feature.
      const double units = std::nearbyint(mean[c] / unit);
      result[c] = std::isfinite(units) ? units * unit : mean[c];
    }
    if (!any) result.clear();
    return result;
  }
};

/// Returns the origin for kernel values of these inputs: that of their moments for
/// translation-invariant kernels of inner products on dense numbers; empty: zero. Inner products of
/// bytes are exact, and sparse rows must stay sparse. Cost: one pass.
template <class Kernel, InputSet I>
[[nodiscard]] std::vector<double> origin_of(const Kernel& kernel, const I& inputs) {
  if constexpr (DenseInputs<I> && !ByteInputs<I> && InnerProductKernel<Kernel>) {
    if (is_translation_invariant(kernel)) return FeatureMoments(inputs).origin();
  }
  return {};
}

}}}  // namespace bpm::detail
