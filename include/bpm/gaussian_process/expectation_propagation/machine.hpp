// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/coefficients.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/machine/training.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/candidates.hpp"
#include "bpm/selection/out_of_fold.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// A classifier with the Gaussian posteriors of its latent outputs, one per column. Machines of
/// `ExpectationPropagation` return it.
template <class Kernel, InputSet Inputs>
class PosteriorClassifier : public Classifier<Kernel, Inputs> {
  using Base = Classifier<Kernel, Inputs>;

 public:
  /// `posteriors`: one per column, whose pivots are in the support.
  /// \throws std::invalid_argument on other numbers of them, sizes that disagree, numbers that are
  ///         not finite or out of range, pivots that the support lacks. Cost: some r^2 + 7 m
  ///         comparisons per column.
  PosteriorClassifier(Base classifier, std::vector<EpPosterior> posteriors)
      : Base(std::move(classifier)),
        posteriors_(std::make_shared<const std::vector<EpPosterior>>(std::move(posteriors))) {
    const char* const f = "PosteriorClassifier";
    detail::check_size(f, "posteriors", posteriors_->size(), this->columns(), "one per column");
    for (const EpPosterior& posterior : *posteriors_) {
      detail::check_posterior(posterior, f);
      for (const PointIndex pivot : posterior.pivots) {
        detail::check(std::binary_search(this->support().begin(), this->support().end(), pivot), f,
                      "posteriors", "have the pivot ", pivot, ", which the support lacks");
      }
    }
  }

  /// Returns P(class | x) for n inputs, n x C. For two classes, P(second class) = Phi(mean /
  /// sqrt(variance + noise + noise_deviation^2)) with the moments of `latent`. f is that of the
  /// plain kernel; a soft boundary is noise of the labels, of variance lambda at a training point
  /// and of k(x, x) times the mean of lambda / k(x_i, x_i) at others
  /// (`EpPosterior::relative_lambda`). It exceeds 1/2 exactly where the decision value is positive,
  /// unless mean / deviation is below rounding. For more classes, each class's probability against
  /// the rest, divided by their sum, with logarithms, so that ratios remain where every class is
  /// improbable; the most probable class need not be the predicted one, that of the largest mean.
  /// With a `PrecomputedKernel`, inputs are `PrecomputedRows`: k(x, x) is needed. Cost: as
  /// `decision_values`, and r^2 multiply-adds per input and column. Variances, unlike decision
  /// values, depend on the size of the batch by rounding. \throws as `decision_values`.
  template <class Queries>
  [[nodiscard]] Eigen::MatrixXd predict_probability(const Queries& inputs) const {
    const auto found = predictions(inputs, "PosteriorClassifier::predict_probability");
    if (found.size() == 1) {
      return found[0].probability;
    }
    Eigen::MatrixXd result(found[0].mean.size(), std::ssize(found));
    for (Eigen::Index c = 0; c < result.cols(); ++c) {
      for (Eigen::Index i = 0; i < result.rows(); ++i) {
        result(i, c) = detail::log_positive_probability(found[c].mean[i],
                                                        found[c].variance[i] + found[c].noise[i],
                                                        (*posteriors_)[c].noise_deviation);
      }
    }
    for (Eigen::Index i = 0; i < result.rows(); ++i) {
      result.row(i) = (result.row(i).array() - result.row(i).maxCoeff()).exp().eval();
      result.row(i) /= result.row(i).sum();
    }
    return result;
  }

  /// Returns mean and variance of the latent output f(x) of one column, in units of the kernel's
  /// outputs: f ~ N(0, k) a priori. Throws and costs as `predict_probability`.
  template <class Queries>
  [[nodiscard]] EpPosterior::Prediction latent(const Queries& inputs,
                                               std::size_t column = 0) const {
    (void)posterior(column);  // Throws before anything is computed.
    return predictions(inputs, "PosteriorClassifier::latent")[column];
  }

  /// Returns the log evidence of one column's training labels, log P_Y where there is no noise: the
  /// larger, the better kernel, lambda and noise_deviation fit the labels.
  [[nodiscard]] double log_evidence(std::size_t column = 0) const {
    return posterior(column).log_evidence;
  }
  /// Deleted: the probabilities are those of the posterior.
  PosteriorClassifier with_slope(double slope) const = delete;
  /// Returns a copy that standardises the inputs it predicts.
  [[nodiscard]] PosteriorClassifier with_standardisation(const Standardisation& scaling) const {
    return {Base::with_standardisation(scaling), *posteriors_};
  }
  /// Returns one column's posterior. \throws std::invalid_argument if there is no such column.
  [[nodiscard]] const EpPosterior& posterior(std::size_t column = 0) const {
    detail::check(column < posteriors_->size(), "PosteriorClassifier::posterior", "column", "is ",
                  column, ", must be below ", posteriors_->size());
    return (*posteriors_)[column];
  }

 private:
  /// Returns the predictions of every column. The sums are those of `decision_values` to the bit,
  /// so that the signs of both agree.
  template <class Queries>
  [[nodiscard]] std::vector<EpPosterior::Prediction> predictions(const Queries& inputs,
                                                                 std::string_view function) const {
    static_assert(!std::same_as<Kernel, PrecomputedKernel> || !InputSet<Queries>,
                  "the variances of a posterior need k(x, x): with a PrecomputedKernel ask by "
                  "PrecomputedRows{values, diagonal}");
    const std::ptrdiff_t count = detail::query_count(inputs);
    const std::vector<PointIndex>& support = this->support();
    const detail::PackedCoefficients packed(this->coefficients());
    const std::ptrdiff_t width = std::ssize(support);
    Eigen::MatrixXd mean(count, this->columns());
    Eigen::MatrixXd variance(count, this->columns());
    Eigen::VectorXd selves(count);
    this->visit_values(
        inputs, function,
        [&](unsigned, std::ptrdiff_t begin, std::ptrdiff_t rows, const auto* values,
            const auto* diagonal) {
          RowMatrix<double> sums = RowMatrix<double>::Zero(rows, this->columns());
          detail::Buffer<double> widened;
          packed.outputs(values, rows, width, sums.data(), widened);
          using Scalar = std::remove_cvref_t<decltype(*values)>;
          const Eigen::Map<const RowMatrix<Scalar>> kernel_values(values, rows, width);
          std::copy_n(diagonal, rows, selves.data() + begin);
          for (Eigen::Index c = 0; c < mean.cols(); ++c) {
            const EpPosterior& law = (*posteriors_)[c];
            Eigen::MatrixXd block(law.rank(), rows);
            for (Eigen::Index k = 0; k < block.rows(); ++k) {
              const auto place = std::lower_bound(support.begin(), support.end(), law.pivots[k]);
              block.row(k) =
                  kernel_values.col(place - support.begin()).template cast<double>().transpose();
            }
            variance.col(c).segment(begin, rows) =
                detail::conditional_variance(law.pivot_factor, law.precision_factor,
                                             std::move(block), selves.segment(begin, rows));
            mean.col(c).segment(begin, rows) = detail::mean_chi(law.rank()) * sums.col(c);
          }
        });
    detail::check_sums(mean, function);
    detail::ensure<KernelValueError>(variance.allFinite(), function,
                                     ": a variance is beyond double");
    std::vector<EpPosterior::Prediction> result;
    for (Eigen::Index c = 0; c < mean.cols(); ++c) {
      result.push_back((*posteriors_)[c].prediction(mean.col(c), variance.col(c), selves));
    }
    return result;
  }

  std::shared_ptr<const std::vector<EpPosterior>> posteriors_;
};

namespace detail {

/// The memory model of expectation propagation, which `forecast_memory` reads.
struct EpDemand {
  double noise_deviation = 0;
  static constexpr SamplerTraits traits{.sees = SamplerTraits::Sees::cone};
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    const auto m = static_cast<std::size_t>(padded<double>(run.points));
    // Rows, covariance, factor and its inverse, with a block's panels; making the cone takes fewer.
    // Each problem keeps two factors and some vectors.
    return {.bytes = sizeof(double) * m * (4 * m + 512 + run.problems * (2 * m + 16))};
  }
};

/// Returns whether the fit chooses lambda: only without noise.
[[nodiscard]] inline bool chooses_boundary(const EpDemand& demand, const FitSettings& settings) {
  return settings.soft_boundary.is_automatic() && demand.noise_deviation == 0;
}

/// Chooses lambda / k(x, x) by the largest evidence of a part of the points, summed over the binary
/// subproblems. A candidate's loss is minus the log evidence per point. \throws Stopped; as
/// `checked_values`.
template <class Kernel, class I>
[[nodiscard]] BoundaryChoice choose_boundary_by_evidence(
    const AutomaticBoundary& boundary, const Kernel& kernel, const ExpectationPropagation& method,
    const FitSettings& settings, const I& inputs, const std::vector<int>& classes,
    std::span<const int> labels, const RunControl& control, std::string_view function) {
  const ChoicePart part(labels, BoundarySearch<AutomaticBoundary>::points<EpDemand>(boundary),
                        settings.seed);
  BoundaryChoice choice{.points = part.points.size()};
  const auto values = kernel_values_of(kernel, inputs, part.points, control.threads);
  bool stopped = false;
  const auto go_on = [&](double fraction) {
    stopped =
        stopped || !control.go_on({.stage = "choosing the soft boundary", .fraction = fraction});
    return !stopped;
  };
  const std::vector<double>& lambdas = checked_values(boundary, false, function);
  for (const double lambda : lambdas) {
    const double done =
        static_cast<double>(choice.candidates.size()) / static_cast<double>(lambdas.size());
    ChoiceCandidate& candidate = choice.candidates.emplace_back();
    candidate.relative_lambda = lambda;
    Subproblems problems(classes, part.labels);
    problems.resolve_lambda(values, settings.soft_boundary.with_factor(lambda), part.labels);
    double evidence = 0;
    candidate.consistent = true;
    for (std::size_t p = 0; p < problems.size() && candidate.consistent; ++p) {
      const KernelVersionSpace space(values, problems.signs[p], problems.lambda);
      const EpOutcome outcome =
          run_expectation_propagation(Cone(space, method.factor_tolerance), method,
                                      [&](std::uint64_t, double) { return go_on(done); });
      candidate.consistent = outcome.posterior.has_value();
      if (outcome.posterior) evidence += outcome.posterior->log_evidence;
    }
    ensure<Stopped>(!stopped, function, ": stopped while choosing the soft boundary");
    if (candidate.consistent) candidate.loss = -evidence / static_cast<double>(part.points.size());
  }
  const auto best = best_candidate(choice.candidates);
  choice.relative_lambda = best ? choice.candidates[*best].relative_lambda : lambdas.back();
  return choice;
}

/// Fits a machine whose centre of mass is that of expectation propagation's posterior, which also
/// gives probabilities and the evidence of the labels. `fit` throws NotConverged where the sites
/// did not reach their tolerance, which implies nothing about the data; a stopped fit throws
/// Stopped and returns nothing.
template <>
struct Fitting<ExpectationPropagation> {
  template <class Kernel, class I>
  using Fitted = PosteriorClassifier<Kernel, training_inputs_t<Kernel, I>>;
  static constexpr bool makes_draws = false;

  [[nodiscard]] static EpDemand demand(const ExpectationPropagation& method) {
    return {method.noise_deviation};
  }

  template <class Kernel, class Boundary, InputSet I, class O>
  [[nodiscard]] static Fitted<Kernel, I> fit(
      const BayesPointMachine<Kernel, ExpectationPropagation, Boundary>& machine, bool any_number,
      const I& inputs, std::span<const int> labels, O& observer, StopToken stop,
      std::string_view function, std::optional<Standardisation> scaling) {
    const auto start = std::chrono::steady_clock::now();
    const ExpectationPropagation& method = machine.sampler();
    const FitSettings& settings = machine.settings();
    const std::vector<int> classes =
        check_labels(input_count(inputs), labels, function, any_number);
    method.check_settings();
    check(!settings.keep_draws, function, "keep_draws",
          "is true, must be false: expectation propagation makes no draws");
    check_inputs(inputs, function);
    const std::size_t count = subproblem_count(classes.size());
    const MemoryForecast forecast = forecast_of(machine, inputs, count, function);
    const double bias = absolute_bias(machine.kernel(), settings, inputs, function);
    const auto kernel = with_bias(machine.kernel(), bias);
    RunControl control = run_control(settings, observer, std::move(stop));
    control.threads = forecast.threads;
    std::optional<BoundaryChoice> choice;
    if constexpr (!BoundarySearch<Boundary>::searches) {
      check_given(settings, function);
    } else if (chooses_boundary(demand(method), settings)) {
      choice = settings.boundary_choice
                   ? begun_choice(*settings.boundary_choice, false, function)
                   : choose_boundary_by_evidence(machine.boundary(), kernel, method, settings,
                                                 inputs, classes, labels, control, function);
    }
    auto gram = make_gram(kernel, inputs, forecast.strategy);
    std::vector<std::vector<PointIndex>> equal;
    if (!(method.noise_deviation > 0)) {  // With noise, points may lie on the wrong side.
      equal = equal_groups<Kernel>(inputs, input_hashes(inputs));
    }
    Subproblems problems(classes, labels);
    std::vector<EpPosterior> posteriors;
    EpOutcome outcome;  // That of the last subproblem.
    const auto run = [&] {
      SamplerReport report;
      const auto go_on = [&](const Progress& now) {
        report.stopped = !control.go_on(now.of_part(posteriors.size(), count));
        return !report.stopped;
      };
      posteriors.clear();
      while (posteriors.size() < count && go_on({.stage = "factor"})) {
        const KernelVersionSpace space(std::as_const(*gram), problems.signs[posteriors.size()],
                                       problems.lambda);
        outcome = run_expectation_propagation(
            Cone(space, method.factor_tolerance), method, [&](std::uint64_t sweep, double change) {
              return go_on(
                  {.stage = "sweeps",
                   .fraction = static_cast<double>(sweep) / static_cast<double>(method.max_sweeps),
                   .passes = sweep,
                   .change = change});
            });
        if (!outcome.posterior) break;
        posteriors.push_back(*std::move(outcome.posterior));
      }
      report.reason = outcome.reason;
      report.converged = posteriors.size() == count;
      return report;
    };
    SamplerReport report;
    for (;;) {
      const double factor = choice ? choice->relative_lambda : 0;
      problems.resolve_lambda(*gram,
                              settings.soft_boundary.is_automatic()
                                  ? settings.soft_boundary.with_factor(factor)
                                  : settings.soft_boundary,
                              labels);
      const std::string why =
          method.noise_deviation > 0 ? "" : why_not_separable(*gram, equal, problems);
      if (why.empty()) {
        hold_values(gram, forecast, control);
        report = run_on_values(*gram, run);
        if (report.converged || report.stopped) break;
      }
      if (!choice || choice->raised >= most_raises) {
        ensure<NotSeparable>(why.empty(), function, ": ", why);
        break;
      }
      raise_boundary(*choice);
    }
    ensure<Stopped>(!report.stopped, function, ": stopped before the posterior was found");
    ensure<NotSeparable>(report.converged || !outcome.not_separable, function,
                         ": no classifier without training error was found: ", outcome.reason);
    ensure<NotConverged>(
        report.converged, function, ": ", outcome.reason,
        "; set a soft boundary lambda > 0 or noise_deviation > 0, or raise the limits");
    std::vector<DrawMean> means;
    std::vector<PointIndex> pivots;
    double lambda = 0;
    double diagonal = 0;
    for (std::ptrdiff_t i = 0; i < gram->size(); ++i) {
      lambda += problems.lambda_at(i);
      diagonal += static_cast<double>(gram->diagonal(i));
    }
    for (EpPosterior& posterior : posteriors) {
      posterior.relative_lambda = diagonal > 0 ? lambda / diagonal : 0;
      means.emplace_back(input_count(inputs), false, false).set_centre(posterior.centre_of_mass());
      pivots.insert(pivots.end(), posterior.pivots.begin(), posterior.pivots.end());
    }
    gram.reset();
    auto parts = parts_of_means(machine.kernel(), inputs, classes, means, &problems, pivots);
    parts.threads = settings.threads;
    parts.bias = bias;
    parts.standardisation = std::move(scaling);
    auto warnings =
        fit_warnings(problems, means, parts.training_errors, std::nullopt, choice, labels);
    Notes notes = notes_of_fit(settings, parts, inputs, std::move(choice), forecast,
                               std::move(report), std::move(warnings), seconds_since(start));
    notes.training_points = labels.size();
    return {Classifier(std::move(parts), std::move(notes)), std::move(posteriors)};
  }
};

}  // namespace detail
}}  // namespace bpm
