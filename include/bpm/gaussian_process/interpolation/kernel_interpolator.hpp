// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/interpolation/kernel_complexity.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/labels.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Settings of a kernel interpolator. A plain value.
struct InterpolatorSettings {
  /// Number added to the diagonal, in units of the kernel: a ridge, or the variance of noise on the
  /// values. 0: the function interpolates the values.
  double noise_variance = 0;
  /// Limits of a further addition to the diagonal, where the matrix has no factor.
  JitteredCholesky::Settings jitter{};
  unsigned threads = 0;  ///< Threads for kernel values; 0: as many as the machine runs.
  std::size_t memory = detail::four_gibibytes;  ///< Bytes for a fit beside the inputs.
};

namespace detail {

/// Returns K_XX in double. Errors name the points.
template <class Kernel, InputSet I>
[[nodiscard]] Eigen::MatrixXd interpolated_matrix(const Kernel& kernel, const I& inputs,
                                                  const InterpolatorSettings& settings,
                                                  std::string_view function) {
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    check_size(function, "inputs", inputs.cols(), inputs.rows(),
               "columns: the kernel matrix is square");
    return inputs.template cast<double>();
  } else {
    try {
      // Diagonal first: an error on an input without kernel values names it, not a pair.
      (void)kernel_diagonal_values(kernel, inputs);
      return kernel_matrix(kernel, inputs,
                           {.threads = settings.threads, .memory = settings.memory});
    } catch (const KernelValueError& error) {
      throw KernelValueError(join(function, ": ", error.what()));
    }
  }
}

/// Throws where equal inputs have different labels or values.
template <InputSet I>
void check_equal_inputs(const I& inputs, std::span<const int> labels, const Eigen::MatrixXd& values,
                        std::string_view function) {
  for (const auto& group : equal_groups(inputs, input_hashes(inputs))) {
    const PointIndex a = group.front();
    for (const PointIndex b : group) {
      ensure<NotSeparable>(labels[a] == labels[b], function, ": points ", a, " and ", b,
                           " are equal inputs with different labels, so no function has both; "
                           "set noise_variance > 0, or drop one of them");
      const double distance = (values.row(a) - values.row(b)).cwiseAbs().maxCoeff();
      check(distance <= 1e-6 * values.row(a).cwiseAbs().maxCoeff(), function, "values", "at ", a,
            " and ", b, " differ by ", distance,
            ", must be the same: the inputs are equal; or set noise_variance > 0");
    }
  }
}

}  // namespace detail

/// Results of kernel interpolation on a training set, with its classifier.
/// `KernelInterpolator::train` returns it. Copies share the factor of the kernel matrix.
///
/// S below is K + (noise_variance + jitter) I. Columns: one for two classes, else one per class.
template <class Kernel, InputSet Owned>
class InterpolatorTraining {
 public:
  /// Takes Upsilon, n x columns, with the signs of the labels; the factor of S; the classifier with
  /// coefficients S^-1 Upsilon, whose support is all n points.
  /// \throws std::invalid_argument without a factor, on sizes that disagree, values that are 0 or
  ///         not finite, a noise_variance that is negative or not finite.
  InterpolatorTraining(double noise_variance, Eigen::MatrixXd values,
                       std::shared_ptr<const JitteredCholesky> factor,
                       Classifier<Kernel, Owned> classifier)
      : noise_variance_(noise_variance),
        values_(std::move(values)),
        factor_(std::move(factor)),
        classifier_(std::move(classifier)) {
    const char* const f = "InterpolatorTraining";
    detail::check(factor_ != nullptr, f, "factor", "is missing");
    detail::check_not_negative(f, "noise_variance", noise_variance_);
    detail::check_size(f, "values", values_.rows(), classifier_.support().size(),
                       "rows: one per support point");
    detail::check_size(f, "values", values_.cols(), classifier_.columns(),
                       "columns: as the classifier");
    detail::check_size(f, "factor", factor_->size(), values_.rows(), "rows: one per support point");
    for (Eigen::Index c = 0; c < values_.cols(); ++c) {
      auto& column = signs_.emplace_back();
      for (Eigen::Index i = 0; i < values_.rows(); ++i) {
        detail::check(std::isfinite(values_(i, c)) && values_(i, c) != 0, f, "values", "at ", i,
                      ", ", c, " is ", values_(i, c), ", must be finite and not 0");
        column.push_back(values_(i, c) > 0 ? 1 : -1);
      }
    }
  }

  /// The classifier of f(x). All training points are its support, and outputs are not divided by
  /// sqrt(k(x, x)).
  [[nodiscard]] const Classifier<Kernel, Owned>& classifier() const noexcept { return classifier_; }

  /// Returns K_xx - K_xX S^-1 K_Xx of n inputs: the variance of the Gaussian process given any
  /// values at the training inputs, the same for all classes, at least 0. Cost: n^2 / 2
  /// multiply-adds per input. A `PrecomputedKernel` needs `PrecomputedRows`.
  /// \throws as `Classifier::decision_values`.
  template <class Queries>
  [[nodiscard]] Eigen::VectorXd variances(const Queries& inputs) const {
    const char* const f = "InterpolatorTraining::variances";
    if constexpr (std::same_as<Kernel, PrecomputedKernel> && InputSet<Queries>) {
      detail::fail(f, "inputs", "are kernel values without k(x, x), expected PrecomputedRows");
    } else {
      Eigen::VectorXd result(detail::query_count(inputs));
      classifier_.visit_values(inputs, f,
                               [&](unsigned, std::ptrdiff_t first, std::ptrdiff_t rows,
                                   const auto* values, const auto* selves) {
                                 using Scalar = std::remove_cvref_t<decltype(*values)>;
                                 Eigen::MatrixXd block = Eigen::Map<const Eigen::MatrixX<Scalar>>(
                                                             values, values_.rows(), rows)
                                                             .template cast<double>();
                                 factor_->llt().matrixL().solveInPlace(block);
                                 for (std::ptrdiff_t r = 0; r < rows; ++r) {
                                   result[first + r] =
                                       static_cast<double>(selves[r]) - block.col(r).squaredNorm();
                                 }
                               });
      detail::ensure<KernelValueError>(result.allFinite(), f, ": a variance is beyond double");
      return result.cwiseMax(0.0);
    }
  }

  /// Returns f_(-i)(x_i), the output at point i of the interpolator of all other points, n x
  /// columns: Upsilon_i - alpha_i / (S^-1)_ii. Cost: n^3 / 6 multiply-adds.
  [[nodiscard]] Eigen::MatrixXd leave_one_out_outputs() const {
    return values_ - factor_->inverse_diagonal().cwiseInverse().asDiagonal() * coefficients();
  }
  /// Returns the share of training points that the interpolator of all other points misclassifies.
  /// The jitter is that of all points.
  [[nodiscard]] double leave_one_out_error() const {
    const std::vector<int> left_out = classifier_.labels_of(leave_one_out_outputs());
    const std::vector<int> own =
        classifier_.labels_of(values_);  // Values have their labels' signs.
    std::ptrdiff_t errors = 0;
    for (std::size_t i = 0; i < own.size(); ++i) errors += left_out[i] != own[i] ? 1 : 0;
    return static_cast<double>(errors) / static_cast<double>(own.size());
  }

  /// Returns f at the training inputs: Upsilon - (noise_variance + jitter) alpha, n x columns.
  [[nodiscard]] Eigen::MatrixXd training_outputs() const {
    return values_ - (noise_variance_ + jitter()) * coefficients();
  }
  /// Returns the largest |f(x_i) - Upsilon_i|: 0 but for rounding without additions to K.
  [[nodiscard]] double residual() const {
    return (noise_variance_ + jitter()) * coefficients().cwiseAbs().maxCoeff();
  }
  /// Returns Upsilon' S^-1 Upsilon of each column: f's squared RKHS norm without additions to K.
  [[nodiscard]] Eigen::VectorXd norms_squared() const {
    return values_.cwiseProduct(coefficients()).colwise().sum().transpose();
  }

  /// The interpolated values Upsilon, n x columns.
  [[nodiscard]] const Eigen::MatrixXd& values() const noexcept { return values_; }
  /// The coefficients alpha = S^-1 Upsilon, n x columns.
  [[nodiscard]] const RowMatrix<double>& coefficients() const noexcept {
    return classifier_.coefficients();
  }
  /// The signs +1 and -1 of one column, an argument of `KernelComplexity`.
  /// \throws std::invalid_argument unless there is such a column.
  [[nodiscard]] const std::vector<signed char>& signs(std::size_t column = 0) const {
    detail::check(column < signs_.size(), "InterpolatorTraining::signs", "column", "is ", column,
                  ", must be one of ", signs_.size());
    return signs_[column];
  }

  /// Number that the settings add to the diagonal.
  [[nodiscard]] double noise_variance() const noexcept { return noise_variance_; }
  /// Returns log det S.
  [[nodiscard]] double log_determinant() const { return factor_->log_determinant(); }
  /// Number added to the diagonal beside the noise, without which S would have no factor.
  [[nodiscard]] double jitter() const noexcept { return factor_->jitter(); }
  /// The factor of S, to share: `KernelComplexity(training.factor().llt(), training.signs())`.
  [[nodiscard]] const JitteredCholesky& factor() const noexcept { return *factor_; }

 private:
  double noise_variance_;
  Eigen::MatrixXd values_;
  std::vector<std::vector<signed char>> signs_;
  std::shared_ptr<const JitteredCholesky> factor_;
  Classifier<Kernel, Owned> classifier_;
};

/// Kernel interpolation as a classifier: the function of least norm with given values Upsilon at
/// the training inputs,
///
///     f(x) = K_xX (K + noise_variance I)^-1 Upsilon,
///
/// and its sign ("Kernel Interpolation as a Bayes Point Machine", sections 1.1 and 4.1). With the
/// signs +-1 of the labels, the *centroid* of their orthant up to a factor, it is the Bayes point
/// of the Gaussian process with isotropic values; with the centre-of-mass values (`CentreValues`),
/// the Bayes point of the process conditioned on the signs. With more than two classes there is one
/// function per class against the rest, all from one factor; the largest value wins.
///
///     const bpm::KernelInterpolator machine(bpm::ArcCosine(7));
///     machine.fit(inputs, labels).predict(others);
///     const auto training = machine.train(inputs, labels);
///     training.leave_one_out_error();                // no refit: from the one factor
///     training.classifier().predict(others);
///
/// Cost: K once, and n^3 / 6 multiply-adds on one thread. Memory: 16 n^2 bytes, of which 8 n^2, the
/// factor, stay with the training.
template <class Kernel>
class KernelInterpolator {
  static_assert(detail::CanBeKernel<Kernel>,
                "a kernel needs double operator()(const Input&, const Input&) const, a function of "
                "two inputs of the training set; see bpm/kernels/kernel.hpp");

 public:
  /// Keeps kernel and settings; fits check the settings.
  explicit KernelInterpolator(Kernel kernel, InterpolatorSettings settings = {})
      : kernel_(std::move(kernel)), settings_(settings) {}

  /// Interpolates `values` at n inputs, one column for two classes, else one per class in ascending
  /// order; without values, the signs +-1. Labels are any integers, of two classes or more; with
  /// two, the larger is the positive one. Each value has the sign of its label: positive in the
  /// (positive) class's column, else negative.
  /// \throws std::invalid_argument on empty inputs, sizes that disagree, numbers that are not
  ///         finite, one class only (so, of one input), settings out of range, values that have
  ///         another sign, or differ at equal inputs.
  /// \throws NotSeparable, unless there is noise, on equal inputs with different labels, and where
  ///         the kernel does not tell the inputs apart, so that the best function with a jitter
  ///         misses a value by a tenth of the largest.
  /// \throws NotPositiveDefinite where no jitter on the ladder is enough (see `JitteredCholesky`).
  /// \throws KernelValueError on kernel values that are not finite or near overflow, such as those
  ///         of an input of norm 0 under `ArcCosine`.
  /// \throws BudgetTooSmall if `settings().memory` is below what is needed.
  template <InputSet I>
    requires detail::TrainableOn<Kernel, I>
  [[nodiscard]] InterpolatorTraining<Kernel, detail::owned_inputs_t<I>> train(
      const I& inputs, std::span<const int> labels,
      const std::optional<Eigen::MatrixXd>& values = {}) const {
    constexpr bool precomputed = std::same_as<Kernel, PrecomputedKernel>;
    const char* const f = "KernelInterpolator::train";
    detail::check_not_negative(f, "noise_variance", settings_.noise_variance);
    const std::ptrdiff_t n = detail::input_count(inputs);
    detail::Subproblems problems(detail::check_labels(n, labels, f), labels);
    detail::check_inputs(inputs, f);
    const std::size_t needed = bytes_needed(n, problems.classes.size());
    detail::ensure<BudgetTooSmall>(needed <= settings_.memory, f, ": memory is ", settings_.memory,
                                   " bytes, ", n, " points and ", problems.classes.size(),
                                   " classes need ", needed, "; raise memory or use fewer points");

    // Values are the signs, or the caller's values, whose signs must agree.
    Eigen::MatrixXd outputs(n, static_cast<Eigen::Index>(problems.size()));
    if (values) {
      detail::check_size(f, "values", values->rows(), n, "rows: one per input");
      detail::check_size(f, "values", values->cols(), outputs.cols(),
                         "columns: one for two classes, else one per class");
    }
    for (Eigen::Index c = 0; c < outputs.cols(); ++c) {
      for (Eigen::Index i = 0; i < n; ++i) {
        const double sign = problems.signs[std::size_t(c)][std::size_t(i)];
        const double value = values ? (*values)(i, c) : sign;
        detail::check(std::isfinite(value) && sign * value > 0, f, "values", "at ", i, ", ", c,
                      " is ", value, ", must be finite and ", sign > 0 ? "positive" : "negative",
                      " as its label says");
        outputs(i, c) = value;
      }
    }
    if constexpr (!precomputed) {
      if (settings_.noise_variance == 0) detail::check_equal_inputs(inputs, labels, outputs, f);
    }

    Eigen::MatrixXd matrix = detail::interpolated_matrix(kernel_, inputs, settings_, f);
    matrix.diagonal().array() += settings_.noise_variance;
    auto factor = std::make_shared<const JitteredCholesky>(matrix, settings_.jitter);
    matrix.resize(0, 0);
    std::vector<PointIndex> everyone = detail::first_points(n);
    auto support = [&] {
      if constexpr (precomputed) {
        return detail::owned_inputs_t<I>(0, inputs.rows());
      } else {
        return detail::select_inputs(inputs, everyone);
      }
    }();
    Classifier<Kernel, detail::owned_inputs_t<I>> classifier(
        {.kernel = kernel_,
         .inputs = std::move(support),
         .support = std::move(everyone),
         .coefficients = factor->solve(outputs),
         .classes = problems.classes,
         .divide_by_self = false,
         .origin = detail::origin_of(kernel_, inputs),
         .threads = settings_.threads});
    InterpolatorTraining training(settings_.noise_variance, std::move(outputs), std::move(factor),
                                  std::move(classifier));
    // With a jitter a matrix may have a factor although no function of the space has these values.
    detail::ensure<NotSeparable>(
        settings_.noise_variance != 0 ||
            !(training.residual() > 0.1 * training.values().cwiseAbs().maxCoeff()),
        f, ": no function passes through these values: with a jitter of ", training.jitter(),
        " the best one misses them by up to ", training.residual(),
        "; take a kernel that tells the inputs apart, or set noise_variance > 0");
    return training;
  }

  /// Returns the classifier alone: `train(inputs, labels).classifier()`, with values or without.
  template <InputSet I>
    requires detail::TrainableOn<Kernel, I>
  [[nodiscard]] Classifier<Kernel, detail::owned_inputs_t<I>> fit(
      const I& inputs, std::span<const int> labels,
      const std::optional<Eigen::MatrixXd>& values = {}) const {
    return train(inputs, labels, values).classifier();
  }

  /// Returns the bytes that a fit of n points needs beside the inputs.
  [[nodiscard]] static std::size_t bytes_needed(std::ptrdiff_t points, std::size_t classes) {
    // Kernel matrix and its factor; columns of values, and a block of the inverse.
    const auto n = static_cast<std::size_t>(points);
    return sizeof(double) * n * (2 * n + 4 * detail::subproblem_count(classes) + 128);
  }

  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }  ///< The kernel.
  /// The settings.
  [[nodiscard]] const InterpolatorSettings& settings() const noexcept { return settings_; }

 private:
  Kernel kernel_;
  InterpolatorSettings settings_;
};

}}  // namespace bpm
