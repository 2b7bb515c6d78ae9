// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Dense rows of float or double: what can be scaled.
template <class I>
concept ScalableInputs = DenseInputs<I> && std::floating_point<typename I::Scalar>;

}  // namespace detail

/// The mean and the deviation of every feature of some inputs, and other inputs by them:
/// (x - mean) / deviation, column by column.
struct Standardisation {
  Eigen::RowVectorXd mean;
  /// sqrt(mean (x - mean)^2); 1 where a column is constant.
  Eigen::RowVectorXd deviation;
  std::vector<Eigen::Index> constant{};  ///< Columns that are: they become 0, of any input.

  /// Of these inputs, but for columns that are to stay as they are, such as the 0 and 1 of
  /// `TableEncoding::indicators`: these have mean 0 and deviation 1. Cost: two passes.
  /// \throws std::invalid_argument without an input, on numbers that are not finite, or on a column
  ///         to stay that there is not.
  template <detail::ScalableInputs I>
  [[nodiscard]] static Standardisation of(const I& inputs,
                                          std::span<const Eigen::Index> to_stay = {}) {
    const char* const f = "Standardisation::of";
    detail::check(inputs.rows() > 0, f, "inputs", "is empty, expected one input or more");
    detail::check_inputs(inputs, f);
    Standardisation result{Eigen::RowVectorXd::Zero(inputs.cols()),
                           Eigen::RowVectorXd::Ones(inputs.cols())};
    std::vector<bool> stays(static_cast<std::size_t>(inputs.cols()), false);
    for (const Eigen::Index c : to_stay) {
      detail::check(c >= 0 && c < inputs.cols(), f, "to_stay", "has ", c, ", must be below ",
                    inputs.cols());
      stays[static_cast<std::size_t>(c)] = true;
    }
    const auto rows = static_cast<double>(inputs.rows());
    for (Eigen::Index c = 0; c < inputs.cols(); ++c) {
      if (stays[static_cast<std::size_t>(c)]) continue;
      double sum = 0;
      double squares = 0;
      bool same = true;
      for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
        sum += static_cast<double>(inputs(i, c)) / rows;
        same = same && inputs(i, c) == inputs(0, c);
      }
      if (same) {
        result.mean[c] = static_cast<double>(inputs(0, c));
        result.constant.push_back(c);
        continue;
      }
      for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
        const double away = static_cast<double>(inputs(i, c)) - sum;
        squares += away * away / rows;
      }
      result.mean[c] = sum;
      result.deviation[c] = std::sqrt(squares);
    }
    return result;
  }

  /// In the precision of x, or another that is asked for (of bytes: float).
  /// \throws std::invalid_argument on another number of columns, or where the parts of this one
  ///         disagree.
  template <DenseInputs I, std::floating_point Scalar = detail::kernel_scalar_t<I>>
  [[nodiscard]] RowMatrix<Scalar> apply(const I& inputs) const {
    detail::check_size("Standardisation::apply", "inputs", inputs.cols(), mean.size(),
                       "columns: one per feature");
    detail::check_size("Standardisation::apply", "deviation", deviation.size(), mean.size(),
                       "one per feature");
    for (const Eigen::Index c : constant) {
      detail::check(c >= 0 && c < mean.size(), "Standardisation::apply", "constant",
                    "names column ", c, ", must be below ", mean.size());
    }
    RowMatrix<Scalar> scaled(inputs.rows(), inputs.cols());
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      for (Eigen::Index c = 0; c < inputs.cols(); ++c) {
        scaled(i, c) =
            static_cast<Scalar>((static_cast<double>(inputs(i, c)) - mean[c]) / deviation[c]);
      }
    }
    for (const Eigen::Index c : constant) scaled.col(c).setZero();
    return scaled;
  }
};

}}  // namespace bpm
