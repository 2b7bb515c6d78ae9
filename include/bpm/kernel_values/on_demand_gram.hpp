// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/prepared_columns.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Kernel values computed when asked for: no matrix, O(m) memory. Refers to the inputs.
template <class Kernel, InputSet I>
  requires KernelOn<Kernel, I>
class OnDemandGram : public Gram<kernel_scalar_t<I>> {
 public:
  using Scalar = kernel_scalar_t<I>;

  /// Prepares the inputs and computes the diagonal.
  /// \throws KernelValueError if k(x_i, x_i) is not finite, near overflow or negative.
  OnDemandGram(Kernel kernel, const I& inputs)
      : OnDemandGram(std::move(kernel), PreparedInputs<I>(inputs)) {}

  [[nodiscard]] Scalar diagonal(std::ptrdiff_t i) const noexcept override { return diagonal_[i]; }
  [[nodiscard]] bool by_pairs() const noexcept override { return detail::by_pairs<Kernel, I>; }

  /// Cost: m kernel evaluations.
  [[nodiscard]] std::span<const Scalar> row(std::ptrdiff_t i,
                                            BlockScratch<Scalar>& scratch) const override {
    scratch.values.reserve_discarding(this->size());
    block(std::span(points_).subspan(i, 1), points_, scratch.values.data(), this->size(), scratch);
    return scratch.values.span().first(this->size());
  }

  /// Cost: one kernel evaluation a value. `values` must not lie in the scratch's own buffers,
  /// except `scratch.values`.
  void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns, Scalar* values,
             std::ptrdiff_t ld, BlockScratch<Scalar>& scratch) const override {
    const TimeSpent timed(scratch);
    kernel_block(kernel_, inputs_, rows, inputs_, columns, values, ld, scratch);
  }

  /// Cost: a copy of the points' inputs, for kernels of inner products.
  void prepare(std::span<const PointIndex> points, ReadyColumns<Scalar>& columns) const override {
    make_ready(inputs_, points, by_inner_products<Kernel, I>, columns);
  }

  void block(std::span<const PointIndex> rows, const ReadyColumns<Scalar>& columns,
             std::ptrdiff_t first, std::ptrdiff_t count, Scalar* values, std::ptrdiff_t ld,
             BlockScratch<Scalar>& scratch) const override {
    const TimeSpent timed(scratch);
    kernel_block(kernel_, inputs_, rows, inputs_, columns, first, count, values, ld, scratch);
  }

  void prefetch([[maybe_unused]] std::ptrdiff_t i) const override {
#if defined(__GNUC__)
    if constexpr (DenseInputs<I>) {
      const auto* const first = reinterpret_cast<const char*>(inputs_.numbers(i));
      const auto* const end =
          reinterpret_cast<const char*>(inputs_.numbers(i) + inputs_.features());
      for (const char* at = first; at < end; at += 64) __builtin_prefetch(at, 0, 2);
    }
#endif
  }

  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] const PreparedInputs<I>& inputs() const noexcept { return inputs_; }
  /// The numbers of all points.
  [[nodiscard]] std::span<const PointIndex> points() const noexcept { return points_; }

 private:
  /// Adds its life to the scratch's seconds.
  class TimeSpent {
   public:
    explicit TimeSpent(BlockScratch<Scalar>& scratch) : scratch_(scratch) {}
    TimeSpent(const TimeSpent&) = delete;
    TimeSpent& operator=(const TimeSpent&) = delete;
    ~TimeSpent() {
      scratch_.seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

   private:
    BlockScratch<Scalar>& scratch_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };

  OnDemandGram(Kernel&& kernel, PreparedInputs<I>&& inputs)
      : Gram<Scalar>(inputs.size()),
        kernel_(std::move(kernel)),
        inputs_(std::move(inputs)),
        diagonal_(kernel_diagonal(kernel_, inputs_)),
        points_(first_points(inputs_.size())) {}

  Kernel kernel_;
  PreparedInputs<I> inputs_;
  Buffer<Scalar> diagonal_;
  std::vector<PointIndex> points_;
};

template <class Kernel, InputSet I>
OnDemandGram(Kernel, const I&) -> OnDemandGram<Kernel, I>;

}}}  // namespace bpm::detail
