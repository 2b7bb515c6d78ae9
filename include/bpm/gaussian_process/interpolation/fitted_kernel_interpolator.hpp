// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/gaussian_process/interpolation/jittered_cholesky.hpp"
#include "bpm/gaussian_process/interpolation/training_columns.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/coefficients.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/precomputed_kernel.hpp"

namespace bpm {

/// How a kernel interpolator is fitted. A plain value.
struct InterpolatorSettings {
  /// Added to the diagonal, in units of the kernel: a ridge, or the variance of noise on the
  /// labels. 0: the labels are interpolated.
  double noise_variance = 0;
  JitterSettings jitter{};  ///< What may be added beside, where the matrix has no factor.
  unsigned threads = 0;     ///< For kernel values; 0: as many as the machine runs.
  std::size_t memory = std::size_t{4} << 30U;  ///< Of a fit beside the inputs, in bytes.
};

namespace detail {

/// The kernel matrix and its factor; columns of values, and a block of the inverse.
[[nodiscard]] inline std::size_t interpolator_bytes(std::ptrdiff_t points, std::size_t classes) {
  const auto n = static_cast<std::size_t>(points);
  const std::size_t columns = classes > 2 ? classes : 1;
  return sizeof(double) * n * (2 * n + 4 * columns + 128);
}

}  // namespace detail

/// A fitted kernel interpolator. Made by `KernelInterpolator::fit`. It keeps all training inputs
/// and the factor of the kernel matrix; copies share them.
///
/// S below is K + (noise_variance + jitter) I. Columns: one for two classes, else one a class.
template <class Kernel, class Owned>
class FittedKernelInterpolator {
  // Dependent, so that expressions are compiled by those who use them.
  using Matrix = Eigen::MatrixXd;
  using Vector = Eigen::VectorXd;

 public:
  template <InputSet I>
  FittedKernelInterpolator(const Kernel& kernel, const InterpolatorSettings& settings,
                           const I& inputs, std::span<const int> labels, const Matrix* values,
                           const char* function)
      : settings_(settings),
        classes_(checked_classes(settings, inputs, labels, function)),
        columns_(kernel, inputs) {
    label_places_.reserve(labels.size());
    for (const int label : labels) {
      label_places_.push_back(static_cast<int>(
          std::lower_bound(classes_.begin(), classes_.end(), label) - classes_.begin()));
    }
    set_values(values, function);
    if (settings.noise_variance == 0) {
      check_equal_inputs(inputs, function);
    }
    Matrix matrix = detail::TrainingColumns<Kernel, Owned>::training_matrix(
        kernel, inputs, detail::thread_count(settings.threads), settings.memory, function);
    matrix.diagonal().array() += settings.noise_variance;
    factor_ = std::make_shared<const JitteredCholesky>(matrix, settings.jitter);
    coefficients_ = factor_->solve(values_);
    // A jitter may make a factor of a matrix that no function of the kernel's space agrees with.
    if (settings.noise_variance == 0 && residual() > 0.1 * values_.cwiseAbs().maxCoeff()) {
      throw NotSeparable(
          detail::join(function, ": no function passes through these values: with a jitter of ",
                       jitter(), " the best one misses them by up to ", residual(),
                       "; take a kernel that tells the inputs apart, or set noise_variance > 0"));
    }
  }

  /// f(x) of n inputs, n x columns(). Positive: the (positive) class. Cost: n times the training
  /// points in kernel evaluations, on all threads; an input's value is the same bits in a batch of
  /// any size. With a `PrecomputedKernel` a matrix of kernel values with all training points.
  /// \throws std::invalid_argument on another number of columns or numbers that are not finite.
  /// \throws KernelValueError on kernel values that are not finite or near overflow.
  template <class Inputs>
  [[nodiscard]] Matrix decision_values(const Inputs& inputs) const {
    const detail::PackedCoefficients coefficients(coefficients_);
    RowMatrix<double> result = RowMatrix<double>::Zero(input_rows(inputs), columns());
    columns_.for_each_block(
        inputs, false, detail::thread_count(settings_.threads),
        "FittedKernelInterpolator::decision_values",
        [&](unsigned, std::ptrdiff_t first, std::ptrdiff_t rows, const auto* values, const auto*) {
          detail::Buffer<double> widened;
          coefficients.outputs(values, rows, points(), result.data() + first * columns(), widened);
        });
    return result;
  }

  /// The class of each row of decision values: of two by the sign, 0 counting as negative, of more
  /// the one with the largest value, the first among equals.
  /// \throws std::invalid_argument unless there are columns() columns.
  [[nodiscard]] std::vector<int> labels_of(const Matrix& decision_values) const {
    detail::check_size("FittedKernelInterpolator::labels_of", "decision_values",
                       decision_values.cols(), columns(), "columns: as the machine gives them");
    std::vector<int> labels;
    for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
      labels.push_back(classes_[winner(decision_values, i)]);
    }
    return labels;
  }

  template <class Inputs>
  [[nodiscard]] std::vector<int> predict(const Inputs& inputs) const {
    return labels_of(decision_values(inputs));
  }

  /// K_xx - K_xX S^-1 K_Xx of n inputs: the variance of the Gaussian process given any values at
  /// the training inputs, the same for all classes, at least 0. Cost: n^2 / 2 multiply-adds an
  /// input. With a `PrecomputedKernel`, of `PrecomputedRows`.
  /// \throws as `decision_values`.
  template <class Inputs>
  [[nodiscard]] Vector variances(const Inputs& inputs) const {
    Vector result(input_rows(inputs));
    columns_.for_each_block(inputs, true, detail::thread_count(settings_.threads),
                            "FittedKernelInterpolator::variances",
                            [&](unsigned, std::ptrdiff_t first, std::ptrdiff_t rows,
                                const auto* values, const auto* selves) {
                              Matrix block(points(), rows);
                              for (std::ptrdiff_t r = 0; r < rows; ++r) {
                                for (std::ptrdiff_t j = 0; j < points(); ++j) {
                                  block(j, r) = static_cast<double>(values[r * points() + j]);
                                }
                              }
                              factor_->llt().matrixL().solveInPlace(block);
                              for (std::ptrdiff_t r = 0; r < rows; ++r) {
                                result[first + r] = std::max(0.0, static_cast<double>(selves[r]) -
                                                                      block.col(r).squaredNorm());
                              }
                            });
    return result;
  }

  /// f_(-i)(x_i), what the interpolator of all points but i gives at point i, n x columns(), by
  /// Upsilon_i - alpha_i / (S^-1)_ii. Cost: n^3 / 3 multiply-adds.
  [[nodiscard]] Matrix leave_one_out_outputs() const {
    return leave_one_out(factor_->inverse_diagonal());
  }
  /// The share of training points whose class the interpolator of the others gets wrong. The jitter
  /// is that of all points.
  [[nodiscard]] double leave_one_out_error() const {
    const Matrix outputs = leave_one_out_outputs();
    std::ptrdiff_t errors = 0;
    for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
      errors += winner(outputs, i) != static_cast<std::size_t>(label_places_[i]) ? 1 : 0;
    }
    return static_cast<double>(errors) / static_cast<double>(points());
  }

  /// f at the training inputs: Upsilon - (noise_variance + jitter) alpha, n x columns().
  [[nodiscard]] Matrix training_outputs() const {
    return values_ - (settings_.noise_variance + jitter()) * coefficients_;
  }
  /// Largest |f(x_i) - Upsilon_i|: 0 but for rounding where nothing was added to the diagonal.
  [[nodiscard]] double residual() const {
    return (settings_.noise_variance + jitter()) * coefficients_.cwiseAbs().maxCoeff();
  }

  [[nodiscard]] std::ptrdiff_t points() const noexcept { return values_.rows(); }
  /// 1 for two classes, else as many as classes.
  [[nodiscard]] std::ptrdiff_t columns() const noexcept { return values_.cols(); }
  /// Ascending; of two, the second is the positive one.
  [[nodiscard]] const std::vector<int>& classes() const noexcept { return classes_; }
  /// Upsilon, n x columns().
  [[nodiscard]] const Matrix& values() const noexcept { return values_; }
  /// alpha = S^-1 Upsilon, n x columns().
  [[nodiscard]] const Matrix& coefficients() const noexcept { return coefficients_; }
  /// The labels +1 and -1 of one column, as `kernel_complexity` takes them.
  /// \throws std::invalid_argument unless there is such a column.
  [[nodiscard]] std::vector<signed char> signs(std::ptrdiff_t column) const {
    detail::check(column >= 0 && column < columns(), "FittedKernelInterpolator::signs", "column",
                  "is ", column, ", must be one of ", columns());
    std::vector<signed char> result;
    for (const int place : label_places_) {
      result.push_back(place == positive_place(column) ? 1 : -1);
    }
    return result;
  }
  /// Upsilon' S^-1 Upsilon of each column: the squared RKHS norm of f where nothing was added.
  [[nodiscard]] Vector norms_squared() const {
    return values_.cwiseProduct(coefficients_).colwise().sum().transpose();
  }

  /// log det S.
  [[nodiscard]] double log_determinant() const { return factor_->log_determinant(); }
  /// What was added to the diagonal beside the noise, since S would have had no factor.
  [[nodiscard]] double jitter() const noexcept { return factor_->jitter(); }
  /// The factor of S, to share: `kernel_complexity(fitted.factor().llt(), fitted.signs(0))`.
  [[nodiscard]] const JitteredCholesky& factor() const noexcept { return *factor_; }
  [[nodiscard]] const InterpolatorSettings& settings() const noexcept { return settings_; }

 private:
  /// Checks all that can be checked before anything is computed.
  template <InputSet I>
  static std::vector<int> checked_classes(const InterpolatorSettings& settings, const I& inputs,
                                          std::span<const int> labels, const char* function) {
    detail::check(std::isfinite(settings.noise_variance) && settings.noise_variance >= 0, function,
                  "noise_variance", "is ", settings.noise_variance,
                  ", must be finite and not negative");
    std::vector<int> classes = detail::check_labels(input_count(inputs), labels, function);
    check_inputs(inputs, function);
    const std::size_t needed = detail::interpolator_bytes(input_count(inputs), classes.size());
    if (needed > settings.memory) {
      throw BudgetTooSmall(detail::join(function, ": memory is ", settings.memory, " bytes, ",
                                        input_count(inputs), " points and ", classes.size(),
                                        " classes need ", needed,
                                        "; raise memory or use fewer points"));
    }
    return classes;
  }

  /// The class that is positive in a column, by its place among the classes.
  [[nodiscard]] int positive_place(std::ptrdiff_t column) const noexcept {
    return classes_.size() == 2 ? 1 : static_cast<int>(column);
  }

  /// The place of the class that a row of outputs is for.
  [[nodiscard]] std::size_t winner(const Matrix& outputs, Eigen::Index row) const {
    if (classes_.size() == 2) {
      return outputs(row, 0) > 0 ? 1 : 0;
    }
    Eigen::Index largest = 0;
    outputs.row(row).maxCoeff(&largest);
    return static_cast<std::size_t>(largest);
  }

  void set_values(const Matrix* values, const char* function) {
    const auto n = static_cast<Eigen::Index>(label_places_.size());
    const auto count =
        static_cast<Eigen::Index>(classes_.size() == 2 ? std::size_t{1} : classes_.size());
    values_.resize(n, count);
    if (values != nullptr) {
      detail::check_size(function, "values", values->rows(), n, "rows: one per input");
      detail::check_size(function, "values", values->cols(), count,
                         "columns: one for two classes, else one per class");
    }
    for (Eigen::Index c = 0; c < count; ++c) {
      for (Eigen::Index i = 0; i < n; ++i) {
        const double sign = label_places_[i] == positive_place(c) ? 1 : -1;
        const double value = values == nullptr ? sign : (*values)(i, c);
        detail::check(std::isfinite(value) && sign * value > 0, function, "values", "at ", i, ", ",
                      c, " is ", value, ", must be finite and ", sign > 0 ? "positive" : "negative",
                      " as its label says");
        values_(i, c) = value;
      }
    }
  }

  /// Throws where equal inputs ask for different values.
  template <InputSet I>
  void check_equal_inputs([[maybe_unused]] const I& inputs,
                          [[maybe_unused]] const char* function) const {
    if constexpr (!std::same_as<Kernel, PrecomputedKernel>) {
      const std::vector<std::uint64_t> hashes = detail::input_hashes(inputs);
      for (const auto& group : detail::equal_groups(inputs, hashes)) {
        const PointIndex a = group.front();
        for (const PointIndex b : group) {
          if (label_places_[a] != label_places_[b]) {
            throw NotSeparable(
                detail::join(function, ": points ", a, " and ", b,
                             " are equal inputs with different labels, so no function has both; "
                             "set noise_variance > 0, or drop one of them"));
          }
          const double distance = (values_.row(a) - values_.row(b)).cwiseAbs().maxCoeff();
          detail::check(distance <= 1e-6 * values_.row(a).cwiseAbs().maxCoeff(), function, "values",
                        "at ", a, " and ", b, " differ by ", distance,
                        ", must be the same: the inputs are equal; or set noise_variance > 0");
        }
      }
    }
  }

  [[nodiscard]] Matrix leave_one_out(const Vector& inverse) const {
    return values_ - inverse.cwiseInverse().asDiagonal() * coefficients_;
  }

  template <class Inputs>
  [[nodiscard]] static std::ptrdiff_t input_rows(const Inputs& inputs) {
    if constexpr (InputSet<Inputs>) {
      return input_count(inputs);
    } else {
      return inputs.values.rows();  // PrecomputedRows.
    }
  }

  InterpolatorSettings settings_;
  std::vector<int> classes_;
  std::vector<int> label_places_;  ///< Of each point's class among the classes.
  detail::TrainingColumns<Kernel, Owned> columns_;
  Matrix values_;
  Matrix coefficients_;
  std::shared_ptr<const JitteredCholesky> factor_;
};

}  // namespace bpm
