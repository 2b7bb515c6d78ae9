// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bpm/core/buffer.hpp"
#include "bpm/kernel_values/byte_panels.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm::detail {

/// Rows of bytes, zero-padded to whole groups of four: read in place where they are row-major with
/// rows of a multiple of four bytes, else copied once.
template <ByteInputs I>
class PreparedInputs<I> {
 public:
  using Scalar = kernel_scalar_t<I>;
  using One = Eigen::Matrix<Scalar, 1, Eigen::Dynamic>;

  explicit PreparedInputs(const I& inputs)
      : size_(inputs.rows()), columns_(inputs.cols()), length_((columns_ + 3) / 4) {
    borrow(inputs);
    if (data_ == nullptr && size_ > 0) {
      stride_ = length_ * 4;
      copy_ = Buffer<std::uint8_t>(size_ * stride_, 0);
      for (std::ptrdiff_t i = 0; i < size_; ++i) {
        Eigen::Map<Eigen::Matrix<std::uint8_t, 1, Eigen::Dynamic>>(copy_.data() + i * stride_,
                                                                   columns_) = inputs.row(i);
      }
      data_ = copy_.data();
    }
    sums_ = Buffer<std::int64_t>(size_);
    norms_ = Buffer<Scalar>(size_);
    for (std::ptrdiff_t i = 0; i < size_; ++i) {
      std::int64_t sum = 0;
      std::int64_t squares = 0;
      const std::uint8_t* const x = bytes_of(i);
      for (std::ptrdiff_t begin = 0; begin < columns_; begin += part) {
        // 32 bits hold the sums of a part, and take half the registers.
        std::uint32_t part_sum = 0;
        std::uint32_t part_squares = 0;
        for (std::ptrdiff_t k = begin; k < std::min(columns_, begin + part); ++k) {
          const std::uint32_t byte = x[k];
          part_sum += byte;
          part_squares += byte * byte;
        }
        sum += part_sum;
        squares += part_squares;
      }
      sums_[i] = sum;
      norms_[i] = static_cast<Scalar>(squares);
    }
  }

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return size_; }
  [[nodiscard]] std::ptrdiff_t columns() const noexcept { return columns_; }
  /// Groups of four bytes a row.
  [[nodiscard]] std::ptrdiff_t length() const noexcept { return length_; }
  [[nodiscard]] const std::uint8_t* bytes_of(std::ptrdiff_t i) const noexcept {
    return data_ + i * stride_;
  }
  /// Row i by groups of four bytes.
  [[nodiscard]] const ByteUnit* row(std::ptrdiff_t i) const noexcept {
    return reinterpret_cast<const ByteUnit*>(bytes_of(i));
  }
  [[nodiscard]] One one(std::ptrdiff_t i) const {
    return Eigen::Map<const Eigen::Matrix<std::uint8_t, 1, Eigen::Dynamic>>(bytes_of(i), columns_)
        .template cast<Scalar>();
  }
  /// <x_i, x_i>, the exact integer rounded once, as the inner product of a block.
  [[nodiscard]] Scalar squared_norm(std::ptrdiff_t i) const noexcept { return norms_[i]; }
  /// The sum of the input's bytes.
  [[nodiscard]] std::int64_t sum(std::ptrdiff_t i) const noexcept { return sums_[i]; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(copy_.size()) +
           static_cast<std::size_t>(size_) * (sizeof(Scalar) + sizeof(std::int64_t));
  }
  [[nodiscard]] static std::size_t row_bytes(const I& inputs) {
    return static_cast<std::size_t>((inputs.cols() + 3) / 4 * 4);
  }
  [[nodiscard]] static std::size_t bytes_needed(const I& inputs) {
    const auto rows = static_cast<std::size_t>(inputs.rows());
    return (borrowable(inputs) ? 0 : rows * row_bytes(inputs)) +
           rows * (sizeof(Scalar) + sizeof(std::int64_t));
  }

 private:
  static constexpr std::ptrdiff_t part = 32768;

  [[nodiscard]] static bool borrowable(const I& inputs) {
    if constexpr ((int(I::Flags) & Eigen::DirectAccessBit) != 0 && bool(I::IsRowMajor)) {
      return inputs.innerStride() == 1 && inputs.cols() % 4 == 0 && inputs.outerStride() % 4 == 0 &&
             reinterpret_cast<std::uintptr_t>(inputs.derived().data()) % 4 == 0;
    } else {
      return false;
    }
  }

  void borrow(const I& inputs) {
    if constexpr ((int(I::Flags) & Eigen::DirectAccessBit) != 0) {
      if (borrowable(inputs)) {
        data_ = inputs.derived().data();
        stride_ = inputs.outerStride();
      }
    }
  }

  std::ptrdiff_t size_;
  std::ptrdiff_t columns_;
  std::ptrdiff_t length_;
  std::ptrdiff_t stride_ = 0;
  const std::uint8_t* data_ = nullptr;
  Buffer<std::uint8_t> copy_;
  Buffer<std::int64_t> sums_;
  Buffer<Scalar> norms_;
};

}  // namespace bpm::detail
