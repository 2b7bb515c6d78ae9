// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Version space of a two-class problem, for samplers: the classifiers w = sum_i alpha_i phi(x_i)
/// with d_i = y_i <w, x_i> > 0 for all m training points. It hides inputs and kernel.
///
/// Norms and outputs are those of the sampling kernel S = K + diag(lambda):
///
///  - `size()`: m; `label(i)`: y_i, +1 or -1; `lambda(i)`: lambda_i >= 0; `diagonal(i)`: S_ii;
///  - `row(i, scratch)` and `block(rows, cols, values, ld, scratch)`: values of K, *without*
///    lambda, as in `Gram` (all label vectors of one training set share them);
///    `rows_in_memory()`: whether a row costs no kernel evaluation;
///  - `add_row(i, scale, outputs, scratch)`: outputs += scale S_i.: the primitive of a sampler that
///    changes one coefficient at a time;
///  - `outputs(coefficients, scratch)`: S times a block of coefficients, m x n.
///
/// Const and safe to call from several threads, each with a scratch of its own.
/// Satisfied by `KernelVersionSpace`.
template <class V>
concept VersionSpace = requires(const V& space, std::ptrdiff_t i,
                                std::span<const PointIndex> points, typename V::Scalar* values,
                                std::span<double> outputs, const Eigen::MatrixXd& coefficients,
                                detail::BlockScratch<typename V::Scalar>& scratch) {
  { space.size() } -> std::convertible_to<std::ptrdiff_t>;
  { space.label(i) } -> std::convertible_to<int>;
  { space.lambda(i) } -> std::convertible_to<double>;
  { space.diagonal(i) } -> std::convertible_to<double>;
  { space.row(i, scratch) } -> std::convertible_to<std::span<const typename V::Scalar>>;
  space.block(points, points, values, i, scratch);
  { space.rows_in_memory() } -> std::convertible_to<bool>;
  space.add_row(i, 1.0, outputs, scratch);
  { space.outputs(coefficients, scratch) } -> std::convertible_to<Eigen::MatrixXd>;
};

namespace detail {

/// Labels y_i of all points.
template <VersionSpace Space>
[[nodiscard]] std::vector<signed char> labels_of(const Space& space) {
  std::vector<signed char> labels;
  for (std::ptrdiff_t i = 0; i < space.size(); ++i) {
    labels.push_back(static_cast<signed char>(space.label(i)));
  }
  return labels;
}

}  // namespace detail

/// Version space given by kernel values on the training set, labels and a soft boundary. Refers to
/// the kernel values, which must outlive it; several label vectors may share them. T is the type of
/// a kernel value.
template <class T>
class KernelVersionSpace {
 public:
  using Scalar = T;              ///< Type of a kernel value.
  using Gram = detail::Gram<T>;  ///< Kernel values of all training points.
  /// Scratch memory of one thread for rows and blocks.
  using Scratch = detail::BlockScratch<Scalar>;
  /// lambda_i of each point; empty: all zero. The classes of one-vs-rest share it.
  using Lambda = std::shared_ptr<const std::vector<double>>;

  /// \throws std::invalid_argument unless there is a point, labels are +1 or -1, one per point, and
  /// lambda is empty or has one finite value >= 0 per point.
  KernelVersionSpace(const detail::Gram<T>& gram, std::vector<signed char> labels,
                     Lambda lambda = nullptr)
      : gram_(&gram), labels_(std::move(labels)), lambda_(std::move(lambda)) {
    const char* const function = "KernelVersionSpace";
    gram.check_target();
    detail::check(gram.size() > 0, function, "gram", "has no points");
    detail::check_signs(function, labels_, gram.size(), "one per training point", "labels");
    if (lambda_ && lambda_->empty()) lambda_ = nullptr;
    if (lambda_) {
      detail::check_size(function, "lambda", lambda_->size(), gram.size(),
                         "one per training point");
      for (std::size_t i = 0; i < lambda_->size(); ++i) {
        detail::check(std::isfinite((*lambda_)[i]) && (*lambda_)[i] >= 0, function, "lambda", "at ",
                      i, " is ", (*lambda_)[i], ", must be finite and not negative");
      }
    }
  }

  /// Kernel matrix K, without labels and lambda; other version spaces may share it.
  [[nodiscard]] const Gram& gram() const noexcept { return *gram_; }
  /// Number of training points m.
  [[nodiscard]] std::ptrdiff_t size() const noexcept { return gram_->size(); }
  /// Label y_i, +1 or -1.
  [[nodiscard]] int label(std::ptrdiff_t i) const noexcept { return labels_[std::size_t(i)]; }
  /// lambda_i; 0 if none is given.
  [[nodiscard]] double lambda(std::ptrdiff_t i) const noexcept {
    return lambda_ ? (*lambda_)[std::size_t(i)] : 0.0;
  }
  /// Diagonal entry K_ii + lambda_i of S.
  [[nodiscard]] double diagonal(std::ptrdiff_t i) const noexcept {
    return gram_->diagonal(i) + lambda(i);
  }
  /// True if rows are read in place, without computing kernel values at each call.
  [[nodiscard]] bool rows_in_memory() const noexcept { return gram_->rows_in_memory(); }

  /// Row K_i. of kernel values, without lambda.
  [[nodiscard]] std::span<const Scalar> row(std::ptrdiff_t i, Scratch& scratch) const {
    return gram_->row(i, scratch);
  }

  /// Computes the block K_rows,columns, without lambda.
  void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns, Scalar* values,
             std::ptrdiff_t ld, Scratch& scratch) const {
    gram_->block(rows, columns, values, ld, scratch);
  }

  /// Computes outputs += scale (K_i. + lambda_i e_i), in double; K first, then lambda.
  void add_row(std::ptrdiff_t i, double scale, std::span<double> outputs, Scratch& scratch) const {
    const std::span<const Scalar> values = row(i, scratch);
    for (std::size_t j = 0; j < outputs.size(); ++j) {
      outputs[j] = detail::multiply_add<double>(scale, values[j], outputs[j]);
    }
    outputs[std::size_t(i)] += scale * lambda(i);
  }

  /// Computes (K + diag(lambda)) coefficients, m x n. Reads only rows of points with a nonzero
  /// coefficient. \throws std::invalid_argument unless coefficients has m rows.
  template <class Derived>
  [[nodiscard]] Eigen::MatrixXd outputs(const Eigen::MatrixBase<Derived>& coefficients,
                                        Scratch& scratch) const {
    detail::check_size("KernelVersionSpace::outputs", "coefficients", coefficients.rows(), size(),
                       "rows: one per training point");
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(size(), coefficients.cols());
    if (coefficients.cols() == 0) {
      return result;
    }
    std::vector<PointIndex> support;
    for (PointIndex i = 0; i < size(); ++i) {
      if ((coefficients.row(i).array() != 0).any()) support.push_back(i);
    }
    const std::vector<PointIndex> columns = detail::first_points(size());
    constexpr std::ptrdiff_t height = 64;
    RowMatrix<Scalar> values(std::min(height, std::ssize(support)), size());
    for (std::ptrdiff_t begin = 0; begin < std::ssize(support); begin += height) {
      const auto rows = std::span<const PointIndex>(support).subspan(
          std::size_t(begin), std::size_t(std::min(height, std::ssize(support) - begin)));
      block(rows, columns, values.data(), size(), scratch);
      for (std::ptrdiff_t a = 0; a < std::ssize(rows); ++a) {
        result.noalias() +=
            values.row(a).template cast<double>().transpose() * coefficients.row(rows[a]);
      }
    }
    for (std::ptrdiff_t i = 0; lambda_ && i < size(); ++i) {
      result.row(i) += lambda(i) * coefficients.row(i);
    }
    return result;
  }

  /// Computes d_i = y_i o_i for every point.
  [[nodiscard]] Eigen::VectorXd signed_outputs(const Eigen::VectorXd& coefficients,
                                               Scratch& scratch) const {
    Eigen::VectorXd d = outputs(coefficients, scratch);
    for (std::ptrdiff_t i = 0; i < size(); ++i) d[i] *= label(i);
    return d;
  }

  /// True if the classifier makes no training error: d_i > 0 for all i.
  [[nodiscard]] bool contains(const Eigen::VectorXd& coefficients, Scratch& scratch) const {
    return (signed_outputs(coefficients, scratch).array() > 0).all();
  }

  /// Computes min_i d_i / norm(w): positive inside version space, the distance to the nearest of
  /// its planes in units of the features. NaN for w = 0.
  [[nodiscard]] double margin(const Eigen::VectorXd& coefficients, Scratch& scratch) const {
    const Eigen::VectorXd d = signed_outputs(coefficients, scratch);
    double squared_norm = 0;
    for (std::ptrdiff_t i = 0; i < size(); ++i) squared_norm += label(i) * coefficients[i] * d[i];
    return squared_norm > 0 ? d.minCoeff() / std::sqrt(squared_norm)
                            : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  const Gram* gram_;
  std::vector<signed char> labels_;
  Lambda lambda_;
};

namespace detail {

/// Presents a user's version space as a `Gram`, for code that needs kernel values.
template <VersionSpace Space>
class SpaceGram final : public Gram<typename Space::Scalar> {
 public:
  using Scalar = typename Space::Scalar;
  using Gram<Scalar>::block;

  explicit SpaceGram(const Space& space) : Gram<Scalar>(space.size()), space_(space) {}

  [[nodiscard]] Scalar diagonal(std::ptrdiff_t i) const noexcept override {
    return static_cast<Scalar>(space_.diagonal(i) - space_.lambda(i));
  }
  [[nodiscard]] bool rows_in_memory() const noexcept override { return space_.rows_in_memory(); }
  [[nodiscard]] std::span<const Scalar> row(std::ptrdiff_t i,
                                            BlockScratch<Scalar>& scratch) const override {
    return space_.row(i, scratch);
  }
  void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns, Scalar* values,
             std::ptrdiff_t ld, BlockScratch<Scalar>& scratch) const override {
    space_.block(rows, columns, values, ld, scratch);
  }

 private:
  const Space& space_;
};

/// Calls use(spaces) with these version spaces converted to `KernelVersionSpace`s. They must share
/// their kernel values.
template <VersionSpace Space, class Use>
auto with_kernel_spaces(std::span<const Space> spaces, Use&& use) {
  using Scalar = typename Space::Scalar;
  if constexpr (std::same_as<Space, KernelVersionSpace<Scalar>>) {
    if (!spaces.empty()) spaces[0].gram().check_target();
    return use(spaces);
  } else {
    if (spaces.empty()) return use(std::span<const KernelVersionSpace<Scalar>>{});
    const SpaceGram<Space> gram(spaces[0]);
    std::vector<KernelVersionSpace<Scalar>> adapted;
    for (const Space& space : spaces) {
      auto lambda = std::make_shared<std::vector<double>>();
      for (std::ptrdiff_t i = 0; i < space.size(); ++i) lambda->push_back(space.lambda(i));
      adapted.emplace_back(gram, labels_of(space), std::move(lambda));
    }
    return use(std::span<const KernelVersionSpace<Scalar>>(adapted));
  }
}

}  // namespace detail
}}  // namespace bpm
