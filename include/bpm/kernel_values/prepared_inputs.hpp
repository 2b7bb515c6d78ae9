// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>

#include "bpm/core/buffer.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/multiply_add.hpp"
#include "bpm/kernel_values/block_scratch.hpp"
#include "bpm/kernel_values/panels.hpp"
#include "bpm/kernels/inputs.hpp"

/// \file
/// Inputs made ready for blocks of kernel values. They refer to the caller's inputs, which must
/// outlive them, and copy only what cannot be read in place.

namespace bpm::detail {

template <InputSet I>
class PreparedInputs;

/// Dense rows, zero-padded to whole registers.
template <DenseInputs I>
  requires(!ByteInputs<I>)
class PreparedInputs<I> {
 public:
  using Scalar = kernel_scalar_t<I>;
  using One = Eigen::Map<const Eigen::Matrix<Scalar, 1, Eigen::Dynamic>>;

  explicit PreparedInputs(const I& inputs) : size_(inputs.rows()), columns_(inputs.cols()) {
    constexpr std::ptrdiff_t width = lane_count<Scalar>;
    length_ = (columns_ + width - 1) / width * width;
    if (!borrow(inputs)) {
      stride_ = length_;
      copy_ = Buffer<Scalar>(size_ * length_);
      for (std::ptrdiff_t i = 0; i < size_; ++i) {
        Scalar* row = copy_.data() + i * length_;
        Eigen::Map<Eigen::Matrix<Scalar, 1, Eigen::Dynamic>>(row, columns_) =
            inputs.row(i).template cast<Scalar>();
        std::fill(row + columns_, row + length_, Scalar{0});
      }
      data_ = copy_.data();
    }
    norms_ = Buffer<Scalar>(size_);
    for (std::ptrdiff_t i = 0; i < size_; i += 16) {
      find_norms(i, std::min<std::ptrdiff_t>(16, size_ - i));
    }
  }

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return size_; }
  [[nodiscard]] std::ptrdiff_t columns() const noexcept { return columns_; }
  /// Numbers a row with its padding.
  [[nodiscard]] std::ptrdiff_t length() const noexcept { return length_; }
  [[nodiscard]] const Scalar* row(std::ptrdiff_t i) const noexcept { return data_ + i * stride_; }
  [[nodiscard]] One one(std::ptrdiff_t i) const { return One(row(i), columns_); }
  /// <x_i, x_i>, the same bits as the inner product of the input with itself in a block.
  [[nodiscard]] Scalar squared_norm(std::ptrdiff_t i) const noexcept { return norms_[i]; }
  /// Bytes held beside the caller's inputs.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(copy_.size() + norms_.size()) * sizeof(Scalar);
  }
  /// Bytes of a row with its padding.
  [[nodiscard]] static std::size_t row_bytes(const I& inputs) {
    constexpr std::ptrdiff_t width = lane_count<Scalar>;
    return static_cast<std::size_t>((inputs.cols() + width - 1) / width * width) * sizeof(Scalar);
  }
  /// Bytes that preparing `rows` inputs like these would hold.
  [[nodiscard]] static std::size_t bytes_needed(const I& inputs) {
    const auto rows = static_cast<std::size_t>(inputs.rows());
    return (borrowable(inputs) ? 0 : rows * row_bytes(inputs)) + rows * sizeof(Scalar);
  }

 private:
  [[nodiscard]] static bool borrowable(const I& inputs) {
    constexpr bool direct = (int(I::Flags) & Eigen::DirectAccessBit) != 0;
    if constexpr (direct && bool(I::IsRowMajor) && std::same_as<typename I::Scalar, Scalar>) {
      return inputs.innerStride() == 1 && inputs.cols() % lane_count<Scalar> == 0;
    } else {
      return false;
    }
  }

  /// Squared norms of up to 16 inputs, by the chain of sums that panel_products makes.
  void find_norms(std::ptrdiff_t first, std::ptrdiff_t count) {
    for (std::ptrdiff_t begin = 0; begin == 0 || begin < length_; begin += longest_chain) {
      const std::ptrdiff_t end = std::min(length_, begin + longest_chain);
      Scalar sums[16] = {};
      for (std::ptrdiff_t k = begin; k < end; ++k) {
        for (std::ptrdiff_t i = 0; i < count; ++i) {
          const Scalar x = row(first + i)[k];
          sums[i] = multiply_add(x, x, sums[i]);
        }
      }
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        norms_[first + i] = begin == 0 ? sums[i] : norms_[first + i] + sums[i];
      }
    }
  }

  bool borrow(const I& inputs) {
    if (!borrowable(inputs)) {
      return false;
    }
    if constexpr ((int(I::Flags) & Eigen::DirectAccessBit) != 0 &&
                  std::same_as<typename I::Scalar, Scalar>) {
      data_ = inputs.derived().data();
      stride_ = inputs.outerStride();
    }
    return true;
  }

  std::ptrdiff_t size_;
  std::ptrdiff_t columns_;
  std::ptrdiff_t length_ = 0;
  std::ptrdiff_t stride_ = 0;
  const Scalar* data_ = nullptr;
  Buffer<Scalar> copy_;
  Buffer<Scalar> norms_;
};

/// Sparse rows. Inner products scatter one row and walk the other: the terms of the common columns
/// are added in the order of the columns, so <x_i, x_j> and <x_j, x_i> are the same bits.
template <SparseInputs I>
class PreparedInputs<I> {
 public:
  using Scalar = kernel_scalar_t<I>;
  using One = Eigen::SparseVector<Scalar, Eigen::RowMajor>;

  explicit PreparedInputs(const I& inputs) : inputs_(&inputs), norms_(inputs.rows()) {
    for (std::ptrdiff_t i = 0; i < size(); ++i) {
      Scalar sum = 0;
      for (typename I::InnerIterator entry(inputs, i); entry; ++entry) {
        sum = multiply_add(entry.value(), entry.value(), sum);
      }
      norms_[i] = sum;
    }
  }

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return inputs_->rows(); }
  [[nodiscard]] std::ptrdiff_t columns() const noexcept { return inputs_->cols(); }
  [[nodiscard]] One one(std::ptrdiff_t i) const { return inputs_->row(i); }
  [[nodiscard]] Scalar squared_norm(std::ptrdiff_t i) const noexcept { return norms_[i]; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(norms_.size()) * sizeof(Scalar);
  }
  [[nodiscard]] static std::size_t bytes_needed(const I& inputs) {
    return static_cast<std::size_t>(inputs.rows()) * sizeof(Scalar);
  }

  /// Writes input i into a dense row of zeros, or takes it out again.
  void scatter(std::ptrdiff_t i, Scalar* dense) const {
    for (typename I::InnerIterator entry(*inputs_, i); entry; ++entry) {
      dense[entry.col()] = entry.value();
    }
  }
  void clear(std::ptrdiff_t i, Scalar* dense) const {
    for (typename I::InnerIterator entry(*inputs_, i); entry; ++entry) {
      dense[entry.col()] = 0;
    }
  }
  /// The inner product of input i with a dense row.
  [[nodiscard]] Scalar product(std::ptrdiff_t i, const Scalar* dense) const {
    Scalar sum = 0;
    for (typename I::InnerIterator entry(*inputs_, i); entry; ++entry) {
      sum = multiply_add(entry.value(), dense[entry.col()], sum);
    }
    return sum;
  }

 private:
  const I* inputs_;
  Buffer<Scalar> norms_;
};

/// Inputs of the user's own type: nothing to prepare.
template <RangeInputs I>
class PreparedInputs<I> {
 public:
  using Scalar = kernel_scalar_t<I>;
  using One = const std::ranges::range_value_t<I>&;

  explicit PreparedInputs(const I& inputs) : inputs_(&inputs) {}

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return std::ranges::ssize(*inputs_); }
  [[nodiscard]] decltype(auto) one(std::ptrdiff_t i) const {
    return std::ranges::begin(*inputs_)[i];
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return 0; }
  [[nodiscard]] static std::size_t bytes_needed(const I& /*inputs*/) { return 0; }

 private:
  const I* inputs_;
};

}  // namespace bpm::detail
