// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/machine/fitted_core.hpp"
#include "bpm/machine/labels.hpp"

namespace bpm {

/// A fitted multi-class machine: one Bayes point a class, all on one list of support points, so
/// that prediction evaluates each kernel value once. Made by `OneVsRest::fit`.
///
/// `Inputs` below as in `FittedBayesPointMachine`.
template <class Kernel, class Sampler, class Owned>
class FittedOneVsRest {
  using Core = detail::FittedCore<Kernel, Sampler, Owned>;

 public:
  template <InputSet I>
  FittedOneVsRest(const Kernel& kernel, const Sampler& sampler, const FitSettings& settings,
                  const I& inputs, std::span<const int> labels, const RunControl& control)
      : core_(kernel, sampler, settings, inputs, labels, one_vs_rest(input_count(inputs), labels),
              control, "OneVsRest::fit") {}

  /// f_c(x) = <E[w_c], x> / sqrt(k(x, x)) for n inputs and C classes, n x C, columns in the order
  /// of `classes()` ("Large Scale Bayes Point Machines", section 4).
  /// Cost: n times the support size in kernel evaluations, on all threads; an input's values are
  /// the same bits in a batch of any size.
  /// \throws std::invalid_argument on another number of columns or numbers that are not finite.
  /// \throws KernelValueError on kernel values that are not finite or near overflow.
  template <class Inputs>
  [[nodiscard]] Eigen::MatrixXd decision_values(const Inputs& inputs) const {
    return core_.outputs(inputs, "FittedOneVsRest::decision_values");
  }

  /// The class of the largest of each row's values; the first among equals.
  /// \throws std::invalid_argument unless there is a column a class.
  [[nodiscard]] std::vector<int> labels_of(const Eigen::MatrixXd& decision_values) const {
    detail::check_size("FittedOneVsRest::labels_of", "decision_values", decision_values.cols(),
                       classes().size(), "columns: one per class");
    std::vector<int> labels(static_cast<std::size_t>(decision_values.rows()));
    for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
      labels[i] = classes().data()[largest(decision_values, i, 0)];
    }
    return labels;
  }

  template <class Inputs>
  [[nodiscard]] std::vector<int> predict(const Inputs& inputs) const {
    return labels_of(decision_values(inputs));
  }

  /// The normalised outputs of the single draws, n x (draws C): column n C + c is draw n of class
  /// c. Needs `keep_draws`.
  template <class Inputs>
  [[nodiscard]] Eigen::MatrixXd draw_decision_values(const Inputs& inputs) const {
    return core_.draw_outputs(inputs, "FittedOneVsRest::draw_decision_values");
  }

  /// The weighted fraction of draws whose largest output is class c's, n x C. Draw n of all classes
  /// votes together, with the weight of its first class. Needs `keep_draws`.
  template <class Inputs>
  [[nodiscard]] Eigen::MatrixXd vote_fractions(const Inputs& inputs) const {
    return votes_of(draw_decision_values(inputs));
  }

  /// The Gibbs error: the weighted mean over draws of the fraction of inputs that a draw of all
  /// classes gets wrong. Needs `keep_draws`.
  template <class Inputs>
  [[nodiscard]] double gibbs_error(const Inputs& inputs, std::span<const int> labels) const {
    const Eigen::MatrixXd votes = vote_fractions(inputs);
    detail::check_size("FittedOneVsRest::gibbs_error", "labels", labels.size(), votes.rows(),
                       "one per input");
    double error = 0;
    for (Eigen::Index i = 0; i < votes.rows(); ++i) {
      const auto found = std::find(classes().begin(), classes().end(), labels[i]);
      error += found == classes().end() ? 1 : 1 - votes(i, found - classes().begin());
    }
    return error / static_cast<double>(std::max<Eigen::Index>(1, votes.rows()));
  }

  /// P(class c | x) for n inputs and C classes, n x C: each class's probability against the rest
  /// under the sampler's Gaussian posterior, as `FittedBayesPointMachine::predict_probability`,
  /// divided by their sum. Rows sum to one. Done with logarithms, so that an input that every class
  /// disowns has the ratios of its probabilities as well. The most probable class need not be the
  /// predicted one, that of the largest mean: classes differ in variance and in scale.
  /// Only with samplers that leave a posterior; cost: as `decision_values`, and r^2 multiply-adds
  /// an input and class.
  /// \throws as `decision_values`.
  template <class Inputs>
    requires detail::PosteriorSampler<Sampler>
  [[nodiscard]] Eigen::MatrixXd predict_probability(const Inputs& inputs) const {
    const detail::LatentOutputs moments =
        core_.latent(inputs, "FittedOneVsRest::predict_probability");
    Eigen::MatrixXd result(moments.mean.rows(), moments.mean.cols());
    std::vector<double> logs(classes().size());
    for (Eigen::Index i = 0; i < result.rows(); ++i) {
      for (std::size_t c = 0; c < logs.size(); ++c) {
        const auto column = static_cast<Eigen::Index>(c);
        logs[c] = log_positive_probability(moments.mean(i, column), moments.variance(i, column),
                                           core_.posterior(c).noise);
      }
      const double largest_log = *std::max_element(logs.begin(), logs.end());
      double sum = 0;
      for (double& value : logs) {
        value = std::exp(value - largest_log);
        sum += value;
      }
      for (std::size_t c = 0; c < logs.size(); ++c) {
        result(i, static_cast<Eigen::Index>(c)) = logs[c] / sum;
      }
    }
    return result;
  }

  /// The log evidence of class number c against the rest.
  [[nodiscard]] double log_evidence(std::size_t c) const
    requires detail::PosteriorSampler<Sampler>
  {
    return core_.posterior(class_number(c, "FittedOneVsRest::log_evidence")).log_evidence;
  }
  /// Everything that is known of its posterior.
  [[nodiscard]] const EpPosterior& posterior(std::size_t c) const
    requires detail::PosteriorSampler<Sampler>
  {
    return core_.posterior(class_number(c, "FittedOneVsRest::posterior"));
  }

  /// Makes `draws` more draws a class and takes them in: 5 draws and 5 more equal 10 at once, bit
  /// for bit. The training set must be the one the machine was fitted to (checked; of inputs that
  /// cannot be hashed, only number and labels). Throws as `fit` does, and
  /// is then unchanged.
  template <InputSet I, Observer O = IgnoreProgress>
  void add_draws(std::uint64_t draws, const I& inputs, std::span<const int> labels,
                 O&& observer = {}, std::stop_token stop = {}) {
    core_.add_draws(draws, inputs, labels,
                    detail::run_control(core_.settings(), observer, std::move(stop)),
                    "FittedOneVsRest::add_draws");
  }

  /// The distinct labels, ascending.
  [[nodiscard]] const std::vector<int>& classes() const noexcept {
    return core_.problems().classes;
  }
  [[nodiscard]] const SamplerReport& report() const noexcept { return core_.report(); }
  [[nodiscard]] Strategy strategy() const noexcept { return core_.forecast().strategy; }
  /// The memory, the strategy and the cost that were expected when the fit began.
  [[nodiscard]] const MemoryForecast& forecast() const noexcept { return core_.forecast(); }
  /// Seconds of wall clock that training took, added draws included: beside `forecast().cost`.
  [[nodiscard]] double training_seconds() const noexcept { return core_.training_seconds(); }
  [[nodiscard]] const Sampler& sampler() const noexcept { return core_.sampler(); }
  [[nodiscard]] const FitSettings& settings() const noexcept { return core_.settings(); }
  [[nodiscard]] const Kernel& kernel() const { return core_.expansion().kernel(); }
  [[nodiscard]] std::uint64_t draw_count() const { return core_.draw_count(0); }

  /// Training points with a coefficient in any class, ascending.
  [[nodiscard]] const std::vector<PointIndex>& support() const { return core_.support(); }
  /// Their coefficients in E[w_c], support x C.
  [[nodiscard]] const RowMatrix<double>& coefficients() const { return core_.coefficients(); }
  /// The draws of class number c; empty unless `keep_draws`.
  [[nodiscard]] const std::vector<KeptDraw>& draws(std::size_t c) const {
    return core_.draws(class_number(c, "FittedOneVsRest::draws"));
  }

  /// norm(E[w_c]), min_i y_i <w_c, x_i> / norm(w_c), and training errors of the Bayes point of
  /// class number c against the rest; the first two under the sampling kernel, the errors under the
  /// plain one.
  [[nodiscard]] double mean_norm(std::size_t c) const {
    return core_.mean_norm(class_number(c, "FittedOneVsRest::mean_norm"));
  }
  [[nodiscard]] double training_margin(std::size_t c) const {
    return core_.training_margin(class_number(c, "FittedOneVsRest::training_margin"));
  }
  [[nodiscard]] std::size_t plain_training_errors(std::size_t c) const {
    return core_.plain_training_errors(class_number(c, "FittedOneVsRest::plain_training_errors"));
  }

 private:
  [[nodiscard]] std::size_t class_number(std::size_t c, std::string_view function) const {
    detail::check(c < classes().size(), function, "c", "is ", c, ", must be below ",
                  classes().size());
    return c;
  }

  /// Which of the C values from column `begin` of a row is the largest, the first among equals.
  /// Plain loops here and below: Eigen's expressions of fixed type would be compiled by everyone
  /// who includes this header.
  [[nodiscard]] Eigen::Index largest(const Eigen::MatrixXd& values, Eigen::Index row,
                                     Eigen::Index begin) const {
    Eigen::Index best = 0;
    for (Eigen::Index c = 1; c < std::ssize(classes()); ++c) {
      if (values(row, begin + c) > values(row, begin + best)) {
        best = c;
      }
    }
    return best;
  }

  [[nodiscard]] Eigen::MatrixXd votes_of(const Eigen::MatrixXd& values) const {
    const auto count = static_cast<Eigen::Index>(classes().size());
    Eigen::MatrixXd votes(values.rows(), count);
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      for (Eigen::Index c = 0; c < count; ++c) votes(i, c) = 0;
      double total = 0;
      for (Eigen::Index n = 0; n < values.cols() / count; ++n) {
        const double weight = core_.draws(0).data()[n].weight;
        votes(i, largest(values, i, n * count)) += weight;
        total += weight;
      }
      for (Eigen::Index c = 0; c < count; ++c) votes(i, c) /= total;
    }
    return votes;
  }

  static detail::Problems one_vs_rest(std::ptrdiff_t inputs, std::span<const int> labels) {
    detail::Problems problems;
    problems.classes = detail::check_labels(inputs, labels, "OneVsRest::fit");
    for (const int label : problems.classes) {
      problems.signs.push_back(detail::one_against_rest(labels, label));
    }
    return problems;
  }

  Core core_;
};

}  // namespace bpm
