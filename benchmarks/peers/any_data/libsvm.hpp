// SPDX-License-Identifier: MIT
#pragma once

#include <svm.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/selection/out_of_fold.hpp"

/// \file
/// LIBSVM's machines on inputs: the Gaussian kernel, a bias, one against one.

namespace any_data {

/// Inputs and labels as LIBSVM takes them.
class SvmProblem {
 public:
  SvmProblem(const bpm::RowMatrix<float>& inputs, std::span<const int> labels)
      : labels_(labels.begin(), labels.end()) {
    // What is zero is left out, as in LIBSVM's files: images and words take it a fraction of the
    // time.
    nodes_.resize(labels.size() * (static_cast<std::size_t>(inputs.cols()) + 1));
    svm_node* next = nodes_.data();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      rows_.push_back(next);
      for (Eigen::Index j = 0; j < inputs.cols(); ++j) {
        const float value = inputs(static_cast<Eigen::Index>(i), j);
        if (value != 0) *next++ = {static_cast<int>(j + 1), value};
      }
      *next++ = {-1, 0};
    }
    problem_ = {static_cast<int>(labels.size()), labels_.data(), rows_.data()};
  }
  SvmProblem(const SvmProblem&) = delete;
  SvmProblem& operator=(const SvmProblem&) = delete;

  [[nodiscard]] const svm_problem& get() const noexcept { return problem_; }
  [[nodiscard]] const svm_node* row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }

 private:
  std::vector<svm_node> nodes_;
  std::vector<svm_node*> rows_;
  std::vector<double> labels_;
  svm_problem problem_{};
};

[[nodiscard]] inline svm_parameter svm_parameters(double width, double cost) {
  svm_parameter parameters{};
  parameters.svm_type = C_SVC;
  parameters.kernel_type = RBF;
  parameters.gamma = 1 / (width * width);
  parameters.C = cost;
  parameters.cache_size = 1024;
  parameters.eps = 1e-3;
  parameters.shrinking = 1;
  return parameters;
}

struct FreeSvm {
  void operator()(svm_model* model) const noexcept { svm_free_and_destroy_model(&model); }
};
using SvmModel = std::unique_ptr<svm_model, FreeSvm>;

/// The width and the cost with the fewest errors of five-fold cross-validation; of equals the
/// widest kernel, then the smallest cost: the smoothest machine, as `choose` takes it.
struct SvmChoice {
  double width = 0;
  double cost = 0;
};
[[nodiscard]] inline SvmChoice choose_svm(const bpm::RowMatrix<float>& inputs,
                                          const std::vector<int>& labels,
                                          std::vector<double> widths, std::uint64_t seed) {
  svm_set_print_string_function([](const char*) {});
  struct Part {
    std::unique_ptr<SvmProblem> train;
    std::unique_ptr<SvmProblem> left_out;
    std::vector<int> labels;
  };
  // The folds that `choose` takes.
  const bpm::Folds folds = bpm::Folds::stratified(labels, 5, seed);
  std::vector<Part> parts;
  for (std::size_t k = 0; k < folds.count; ++k) {
    Part& part = parts.emplace_back();
    const auto problem = [&](bool left_out, std::vector<int>& of_points) {
      const std::vector<bpm::PointIndex> points = folds.points(k, left_out);
      for (const bpm::PointIndex i : points) of_points.push_back(labels[i]);
      return std::make_unique<SvmProblem>(inputs(points, Eigen::all), of_points);
    };
    std::vector<int> of_train;
    part.train = problem(false, of_train);
    part.left_out = problem(true, part.labels);
  }
  std::ranges::sort(widths, std::greater<>());
  SvmChoice best;
  std::size_t fewest = labels.size() + 1;
  for (const double width : widths) {
    for (int power = -3; power <= 9; power += 2) {
      const svm_parameter parameters = svm_parameters(width, std::exp2(power));
      std::size_t errors = 0;
      for (const Part& part : parts) {
        const SvmModel model(svm_train(&part.train->get(), &parameters));
        for (std::size_t i = 0; i < part.labels.size(); ++i) {
          errors += svm_predict(model.get(), part.left_out->row(i)) != part.labels[i] ? 1 : 0;
        }
      }
      if (errors < fewest) {
        fewest = errors;
        best = {width, parameters.C};
      }
    }
  }
  return best;
}

/// Test errors, and probabilities by LIBSVM's `-b 1`, columns in the order of `classes`. Their
/// folds are those of `seed`, whatever was trained before.
struct SvmResult {
  double error = 0;
  Eigen::MatrixXd probabilities;
};
[[nodiscard]] inline SvmResult run_svm(const SvmProblem& train, const SvmProblem& test,
                                       std::span<const int> test_labels,
                                       std::span<const int> classes, const SvmChoice& choice,
                                       std::uint64_t seed) {
  svm_parameter parameters = svm_parameters(choice.width, choice.cost);
  parameters.probability = 1;
  std::srand(static_cast<unsigned>(seed));
  const SvmModel model(svm_train(&train.get(), &parameters));
  std::vector<int> order(classes.size());
  svm_get_labels(model.get(), order.data());
  SvmResult result{0, Eigen::MatrixXd(test.size(), classes.size())};
  std::vector<double> found(classes.size());
  for (std::size_t i = 0; i < test.size(); ++i) {
    result.error += svm_predict(model.get(), test.row(i)) != test_labels[i] ? 1 : 0;
    svm_predict_probability(model.get(), test.row(i), found.data());
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const auto place = std::lower_bound(classes.begin(), classes.end(), order[c]);
      result.probabilities(static_cast<Eigen::Index>(i), place - classes.begin()) = found[c];
    }
  }
  result.error /= static_cast<double>(test.size());
  return result;
}

}  // namespace any_data
