// SPDX-License-Identifier: MIT
#pragma once

#include <svm.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/kernels/kernel.hpp"
#include "check.hpp"

/// \file
/// Support vector machines of LIBSVM (C.-C. Chang, C.-J. Lin, ACM Trans. Intell. Syst. Technol.
/// 2(3), 2011) on a kernel matrix: the peer that Bayes point machines are compared with.

namespace bpm_examples {

/// Which hyperplanes are looked at.
enum class SvmBias {
  /// f(x) = <w, x> + b: LIBSVM's C-SVC.
  free,
  /// f(x) = <w, x>: the centre of the largest ball in version space, where all k(x, x) are equal.
  /// The largest margin through the origin is the point nearest to it of the convex hull of the
  /// y_i phi(x_i), which is what LIBSVM's one-class machine finds on the matrix y_i y_j K_ij with
  /// nu = 1 / m (B. Schoelkopf, J. Platt, J. Shawe-Taylor, A. Smola, R. Williamson, Neural
  /// Computation 13(7), 2001, (3)). There is no cost: hard margins only.
  none,
};

struct SvmSettings {
  SvmBias bias = SvmBias::free;
  /// C, the price of a unit of slack (L1). Infinity: a hard margin; C = 1e6 / max_i K_ii stands for
  /// it, and `at_bound` tells where that was not enough. A hard margin on K + lambda I is a soft
  /// one on K with squared slack.
  double cost = std::numeric_limits<double>::infinity();
  double tolerance = 1e-3;  ///< LIBSVM's stopping criterion, in units of the margin.
};

/// A trained machine and how good it is.
struct SvmClassifier {
  Eigen::VectorXd
      coefficients;  ///< m dual coefficients, signed: w = sum_i coefficients_i phi(x_i).
  double bias = 0;   ///< b.
  std::size_t support_vectors = 0;
  std::size_t at_bound = 0;         ///< Support vectors with alpha_i = C.
  std::size_t training_errors = 0;  ///< Points with y_i f(x_i) <= 0.
  double norm = 0;                  ///< norm(w).
  double margin = 0;                ///< min_i y_i f(x_i) / norm(w); negative with training errors.
  /// No hyperplane of this kind has a larger margin: norm(w) / sum_i alpha_i, from the distance of
  /// convex hulls. At the hard margin's solution it equals `margin`.
  double margin_bound = 0;

  /// f at n inputs, from the n x m kernel values with the training points.
  [[nodiscard]] Eigen::VectorXd decision_values(const bpm::RowMatrix<double>& values) const {
    return (values * coefficients).array() + bias;
  }
};

namespace svm_detail {

inline constexpr double hard_cost = 1e6;

/// Differences of outputs below this part of the largest kernel value drown in LIBSVM's rounding of
/// kernel values to float.
inline constexpr double least_tolerance = 2e-7;

/// Rows as LIBSVM takes them: node 0 holds the number of the row, from 1, node j the value with
/// point j, the last ends the row.
class Problem {
 public:
  Problem(const bpm::RowMatrix<double>& kernel, std::span<const int> labels, bool fold_labels)
      : nodes_(static_cast<std::size_t>(kernel.rows() * (kernel.rows() + 2))),
        rows_(labels.size()),
        targets_(labels.size()) {
    const auto m = static_cast<std::size_t>(kernel.rows());
    for (std::size_t i = 0; i < m; ++i) {
      svm_node* row = nodes_.data() + i * (m + 2);
      row[0] = {0, static_cast<double>(i + 1)};
      for (std::size_t j = 0; j < m; ++j) {
        const double sign = fold_labels ? labels[i] * labels[j] : 1;
        const double value = kernel(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
        row[j + 1] = {static_cast<int>(j + 1), sign * value};
      }
      row[m + 1] = {-1, 0.0};
      rows_[i] = row;
      targets_[i] = fold_labels ? 1 : labels[i];
    }
    problem_ = {static_cast<int>(m), targets_.data(), rows_.data()};
  }

  [[nodiscard]] const svm_problem& get() const noexcept { return problem_; }

 private:
  std::vector<svm_node> nodes_;
  std::vector<svm_node*> rows_;
  std::vector<double> targets_;
  svm_problem problem_{};
};

struct FreeModel {
  void operator()(svm_model* model) const noexcept { svm_free_and_destroy_model(&model); }
};
using Model = std::unique_ptr<svm_model, FreeModel>;

[[nodiscard]] inline svm_parameter make_parameters(int type, double tolerance) {
  svm_parameter parameters{};
  parameters.svm_type = type;
  parameters.kernel_type = PRECOMPUTED;
  parameters.cache_size = 100;
  parameters.eps = tolerance;
  parameters.shrinking = 1;
  return parameters;
}

[[nodiscard]] inline Model train(const Problem& problem, const svm_parameter& parameters) {
  static std::once_flag silence;
  std::call_once(silence, [] { svm_set_print_string_function([](const char*) {}); });
  if (const char* error = svm_check_parameter(&problem.get(), &parameters)) {
    throw std::invalid_argument("train_svm: LIBSVM says: " + std::string(error));
  }
  return Model(svm_train(&problem.get(), &parameters));
}

/// The model's coefficients by training point; `sign` turns them where LIBSVM's first class is ours
/// with -1.
inline void take_coefficients(const svm_model& model, double sign, SvmClassifier& result) {
  for (int k = 0; k < model.l; ++k) {
    result.coefficients[model.sv_indices[k] - 1] = sign * model.sv_coef[0][k];
  }
}

inline void evaluate(const bpm::RowMatrix<double>& kernel, std::span<const int> labels,
                     double bound, SvmClassifier& result) {
  const Eigen::VectorXd outputs = kernel * result.coefficients;
  result.norm = std::sqrt(std::max(0.0, outputs.dot(result.coefficients)));
  result.support_vectors = 0;
  result.at_bound = 0;
  result.training_errors = 0;
  double smallest = std::numeric_limits<double>::infinity();
  double sum = 0;
  for (Eigen::Index i = 0; i < outputs.size(); ++i) {
    const double alpha = std::abs(result.coefficients[i]);
    result.support_vectors += alpha > 0 ? 1U : 0U;
    result.at_bound += alpha >= bound ? 1U : 0U;
    sum += alpha;
    const double output = labels[static_cast<std::size_t>(i)] * (outputs[i] + result.bias);
    result.training_errors += output > 0 ? 0U : 1U;
    smallest = std::min(smallest, output);
  }
  result.margin = smallest / result.norm;
  result.margin_bound = result.norm / sum;
}

[[nodiscard]] inline SvmClassifier train_free(const bpm::RowMatrix<double>& kernel,
                                              std::span<const int> labels,
                                              const SvmSettings& settings) {
  const double cost =
      std::isinf(settings.cost) ? hard_cost / kernel.diagonal().maxCoeff() : settings.cost;
  const Problem problem(kernel, labels, false);
  svm_parameter parameters = make_parameters(C_SVC, settings.tolerance);
  parameters.C = cost;
  const Model model = train(problem, parameters);
  SvmClassifier result;
  result.coefficients = Eigen::VectorXd::Zero(kernel.rows());
  const double sign = model->label[0];
  take_coefficients(*model, sign, result);
  result.bias = -sign * model->rho[0];
  evaluate(kernel, labels, cost, result);
  return result;
}

[[nodiscard]] inline SvmClassifier train_through_origin(const bpm::RowMatrix<double>& kernel,
                                                        std::span<const int> labels,
                                                        const SvmSettings& settings) {
  const Problem problem(kernel, labels, true);
  const double scale = kernel.diagonal().maxCoeff();
  svm_parameter parameters = make_parameters(ONE_CLASS, settings.tolerance * scale);
  parameters.nu = 1 / static_cast<double>(kernel.rows());
  SvmClassifier result;
  // The one-class machine stops by differences of signed outputs, whose scale, norm(w)^2, is known
  // after a first solution only.
  for (int round = 0; round < 8; ++round) {
    const Model model = train(problem, parameters);
    result.coefficients = Eigen::VectorXd::Zero(kernel.rows());
    take_coefficients(*model, 1, result);
    for (Eigen::Index i = 0; i < kernel.rows(); ++i) {
      result.coefficients[i] *= labels[static_cast<std::size_t>(i)];
    }
    evaluate(kernel, labels, std::numeric_limits<double>::infinity(), result);
    const double wanted =
        std::max(settings.tolerance * result.norm * result.norm, least_tolerance * scale);
    if (parameters.eps <= wanted) break;
    parameters.eps = wanted / 2;
  }
  return result;
}

}  // namespace svm_detail

/// Trains on the m x m kernel matrix and labels +1 and -1.
///
/// LIBSVM keeps kernel values in single precision and ends after 10^7 steps whether or not it is
/// done; `margin` and `margin_bound`, computed here in double precision, tell how far it came.
/// May be called from several threads at once.
/// Cost: LIBSVM's, at least m^2; memory 16 m^2 bytes and LIBSVM's cache.
/// \throws std::invalid_argument on a matrix that is not square, labels that are not +1 and -1 with
/// both among them, a cost or tolerance that is not positive, or a cost with `SvmBias::none`.
[[nodiscard]] inline SvmClassifier train_svm(const bpm::RowMatrix<double>& kernel,
                                             std::span<const int> labels,
                                             const SvmSettings& settings = {}) {
  check(kernel.rows() == kernel.cols(), "train_svm: kernel is ", kernel.rows(), " x ",
        kernel.cols(), ", must be square");
  check(kernel.allFinite(), "train_svm: kernel has values that are not finite");
  check(std::ssize(labels) == kernel.rows(), "train_svm: labels has ", labels.size(),
        " entries, expected ", kernel.rows(), " (one per training point)");
  for (const int label : labels) {
    check(label == 1 || label == -1, "train_svm: labels hold ", label, ", must be 1 or -1");
  }
  for (const int label : {1, -1}) {
    check(std::find(labels.begin(), labels.end(), label) != labels.end(),
          "train_svm: labels hold no point of class ", label);
  }
  check(settings.cost > 0, "train_svm: cost is ", settings.cost, ", must be positive");
  check(settings.tolerance > 0 && std::isfinite(settings.tolerance), "train_svm: tolerance is ",
        settings.tolerance, ", must be positive and finite");
  check(settings.bias == SvmBias::free || std::isinf(settings.cost), "train_svm: cost is ",
        settings.cost, ", must be infinite for hyperplanes through the origin");
  return settings.bias == SvmBias::free
             ? svm_detail::train_free(kernel, labels, settings)
             : svm_detail::train_through_origin(kernel, labels, settings);
}

}  // namespace bpm_examples
