// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
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

/// A fitted two-class machine: the Bayes point and what is needed to predict, to look into it, and
/// to go on. Made by `BayesPointMachine::fit`. It keeps the training inputs that have a
/// coefficient, not the others.
///
/// `Inputs` below are any inputs of the training set's kind and precision; for a
/// `PrecomputedKernel` a matrix of kernel values with all training points, or `PrecomputedRows`.
template <class Kernel, class Sampler, class Owned>
class FittedBayesPointMachine {
  using Core = detail::FittedCore<Kernel, Sampler, Owned>;

 public:
  template <InputSet I>
  FittedBayesPointMachine(const Kernel& kernel, const Sampler& sampler, const FitSettings& settings,
                          const I& inputs, std::span<const int> labels, const RunControl& control)
      : core_(kernel, sampler, settings, inputs, labels, two_classes(input_count(inputs), labels),
              control, "BayesPointMachine::fit") {}

  /// f(x) = <E[w], x> / sqrt(k(x, x)), the mean of the draws' normalised outputs ("Large Scale
  /// Bayes Point Machines", section 4), for n inputs. Positive: the positive class. Between -1 and
  /// 1 for lambda = 0. With a `PrecomputedKernel` and no diagonal, not divided by sqrt(k(x, x)).
  /// Cost: n times the support size in kernel evaluations, on all threads; an input's value is the
  /// same bits in a batch of any size.
  /// \throws std::invalid_argument on another number of columns or numbers that are not finite.
  /// \throws KernelValueError on kernel values that are not finite or near overflow.
  template <class Inputs>
  [[nodiscard]] Eigen::VectorXd decision_values(const Inputs& inputs) const {
    return core_.outputs(inputs, "FittedBayesPointMachine::decision_values").col(0);
  }

  /// The class of the sign of each decision value; 0 counts as negative.
  [[nodiscard]] std::vector<int> labels_of(const Eigen::VectorXd& decision_values) const {
    std::vector<int> labels(static_cast<std::size_t>(decision_values.size()));
    for (Eigen::Index i = 0; i < decision_values.size(); ++i) {
      labels[i] = decision_values[i] > 0 ? positive_class() : negative_class();
    }
    return labels;
  }

  template <class Inputs>
  [[nodiscard]] std::vector<int> predict(const Inputs& inputs) const {
    return labels_of(decision_values(inputs));
  }

  /// The normalised outputs of the single draws, n x draws. Needs `keep_draws`.
  template <class Inputs>
  [[nodiscard]] Eigen::MatrixXd draw_decision_values(const Inputs& inputs) const {
    return core_.draw_outputs(inputs, "FittedBayesPointMachine::draw_decision_values");
  }

  /// The weighted fraction of draws that vote for the positive class, for n inputs: an estimate of
  /// its posterior probability. Needs `keep_draws`.
  template <class Inputs>
  [[nodiscard]] Eigen::VectorXd vote_fractions(const Inputs& inputs) const {
    const Eigen::MatrixXd values = draw_decision_values(inputs);
    Eigen::VectorXd votes(values.rows());
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      double positive = 0;
      double total = 0;
      for (Eigen::Index n = 0; n < values.cols(); ++n) {
        const double weight = draws().data()[n].weight;
        positive += values(i, n) > 0 ? weight : 0.0;
        total += weight;
      }
      votes[i] = positive / total;
    }
    return votes;
  }

  /// The Gibbs error: the weighted mean over draws of the fraction of inputs that a draw gets
  /// wrong. Needs `keep_draws`.
  template <class Inputs>
  [[nodiscard]] double gibbs_error(const Inputs& inputs, std::span<const int> labels) const {
    const Eigen::VectorXd votes = vote_fractions(inputs);
    detail::check_size("FittedBayesPointMachine::gibbs_error", "labels", labels.size(),
                       votes.size(), "one per input");
    double error = 0;
    for (Eigen::Index i = 0; i < votes.size(); ++i) {
      const int label = labels[i];
      error += label == positive_class() ? 1 - votes[i] : label == negative_class() ? votes[i] : 1;
    }
    return error / static_cast<double>(std::max<Eigen::Index>(1, votes.size()));
  }

  /// P(positive class | x) under the sampler's Gaussian posterior, for n inputs: Phi(mean /
  /// sqrt(noise^2 + variance)) with the moments of `latent`, where f is taken under the plain
  /// kernel: lambda holds the boundary open at the training points, it is no noise of others. More
  /// than 1/2 exactly where the decision value is positive, unless mean / deviation is below
  /// rounding. Only with samplers that leave a posterior (`ExpectationPropagation`). With a
  /// `PrecomputedKernel`, inputs are `PrecomputedRows`: k(x, x) is needed.
  /// Cost: as `decision_values`, and r^2 multiply-adds an input. Variances, unlike decision values,
  /// depend on the size of the batch by rounding.
  /// \throws as `decision_values`.
  template <class Inputs>
    requires detail::PosteriorSampler<Sampler>
  [[nodiscard]] Eigen::VectorXd predict_probability(const Inputs& inputs) const {
    return latent_moments(inputs, "FittedBayesPointMachine::predict_probability").probability;
  }

  /// Mean and variance of the latent output f(x) under that posterior, in units of the kernel's
  /// outputs: f ~ N(0, k) before the labels were seen. Throws and costs as `predict_probability`.
  template <class Inputs>
    requires detail::PosteriorSampler<Sampler>
  [[nodiscard]] LatentPrediction latent(const Inputs& inputs) const {
    return latent_moments(inputs, "FittedBayesPointMachine::latent");
  }

  /// The log evidence of the training labels, log P_Y where there is no noise: the larger, the
  /// better the kernel and its parameters, lambda and noise included, go with the labels.
  [[nodiscard]] double log_evidence() const
    requires detail::PosteriorSampler<Sampler>
  {
    return core_.posterior(0).log_evidence;
  }
  /// Everything that is known of the posterior.
  [[nodiscard]] const EpPosterior& posterior() const
    requires detail::PosteriorSampler<Sampler>
  {
    return core_.posterior(0);
  }

  /// Makes `draws` more draws and takes them in: 5 draws and 5 more equal 10 at once, bit for bit.
  /// The training set must be the one the machine was fitted to (checked; of inputs that
  /// cannot be hashed, only number and labels). Throws as `fit` does, and is then
  /// unchanged.
  template <InputSet I, Observer O = IgnoreProgress>
  void add_draws(std::uint64_t draws, const I& inputs, std::span<const int> labels,
                 O&& observer = {}, std::stop_token stop = {}) {
    core_.add_draws(draws, inputs, labels,
                    detail::run_control(core_.settings(), observer, std::move(stop)),
                    "FittedBayesPointMachine::add_draws");
  }

  [[nodiscard]] int positive_class() const noexcept { return core_.problems().classes[1]; }
  [[nodiscard]] int negative_class() const noexcept { return core_.problems().classes[0]; }
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

  /// Training points with a coefficient, ascending, and their coefficients in E[w].
  [[nodiscard]] const std::vector<PointIndex>& support() const { return core_.support(); }
  [[nodiscard]] Eigen::VectorXd coefficients() const { return core_.coefficients().col(0); }
  /// Empty unless `keep_draws`.
  [[nodiscard]] const std::vector<KeptDraw>& draws() const { return core_.draws(0); }

  /// norm(E[w]) under the sampling kernel, at most 1: how much the draws agree.
  [[nodiscard]] double mean_norm() const { return core_.mean_norm(0); }
  /// min_i y_i <w, x_i> / norm(w) of the Bayes point, under the sampling kernel.
  [[nodiscard]] double training_margin() const { return core_.training_margin(0); }
  /// Training errors under the plain kernel; 0 unless there is a soft boundary.
  [[nodiscard]] std::size_t plain_training_errors() const { return core_.plain_training_errors(0); }

 private:
  template <class Inputs>
  [[nodiscard]] LatentPrediction latent_moments(const Inputs& inputs,
                                                std::string_view function) const {
    const detail::LatentOutputs moments = core_.latent(inputs, function);
    LatentPrediction result{moments.mean.col(0), moments.variance.col(0),
                            Eigen::VectorXd(moments.mean.rows())};
    for (Eigen::Index i = 0; i < result.mean.size(); ++i) {
      result.probability[i] =
          positive_probability(result.mean[i], result.variance[i], core_.posterior(0).noise);
    }
    return result;
  }

  static detail::Problems two_classes(std::ptrdiff_t inputs, std::span<const int> labels) {
    const char* const function = "BayesPointMachine::fit";
    std::vector<int> classes = detail::check_labels(inputs, labels, function);
    detail::check(classes.size() == 2, function, "labels", "have ", classes.size(),
                  " classes, expected two; use OneVsRest for more");
    auto signs = detail::one_against_rest(labels, classes[1]);
    return {std::move(classes), {std::move(signs)}};
  }

  Core core_;
};

}  // namespace bpm
