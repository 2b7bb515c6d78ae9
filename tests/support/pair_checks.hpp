// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"
#include "sampler_list.hpp"

/// \file
/// What a machine must do with any kernel and any sampler. One kernel meets all samplers, and the
/// others one. A case has
///
///     static auto kernel();
///     static auto training();  // `training_size` inputs
///     static auto held_out();  // `held_out_size` more
///
/// of `data_sets.hpp`.

namespace machine_tests {

inline constexpr std::ptrdiff_t training_size = 60;
inline constexpr std::ptrdiff_t held_out_size = 90;

template <class Sampler>
inline constexpr bool is_chain_sampler = requires { typename Sampler::State; };

template <class Kernel>
inline constexpr bool is_precomputed = std::same_as<Kernel, bpm::PrecomputedKernel>;

/// Everything that a fit made, for comparison to the bit.
template <class Fitted, class Inputs>
void check_same_model(const Fitted& a, const Fitted& b, const Inputs& inputs) {
  REQUIRE(a.support() == b.support());
  CHECK(a.coefficients() == b.coefficients());
  CHECK(a.decision_values(inputs) == b.decision_values(inputs));
  CHECK(a.report().draws == b.report().draws);
  REQUIRE(a.report().perceptron.has_value() == b.report().perceptron.has_value());
  if (a.report().perceptron) {
    CHECK(a.report().perceptron->mistakes == b.report().perceptron->mistakes);
    CHECK(a.report().perceptron->passes == b.report().perceptron->passes);
  }
}

template <class Report>
void check_report(const Report& report, std::uint64_t draws) {
  CHECK(report.converged);
  CHECK_FALSE(report.stopped);
  CHECK(report.reason.empty());
  CHECK(report.draws == draws);
  if (!report.chains) {
    CHECK(report.perceptron->training_errors == 0);
    CHECK(report.perceptron->mistakes > 0);
    CHECK(report.perceptron->passes >= draws);
  } else {
    CHECK(report.chains->steps > draws);
    CHECK(report.chains->rank > 1);
    CHECK(report.chains->mean_norm > 0);
    CHECK(report.chains->start_margin > 0);
  }
}

/// Fits by every budget and number of threads; the model must not change.
template <class Fitted, class Kernel, class Fit, class Forecast, class Inputs>
void check_settings_do_not_matter(const Fitted& model, const bpm::FitSettings& settings, Fit&& fit,
                                  Forecast&& forecast, const Inputs& held_out) {
  for (const unsigned threads : {2U, 3U}) {
    bpm::FitSettings other = settings;
    other.threads = threads;
    check_same_model(fit(other), model, held_out);
    if (model.forecast().strategy == bpm::Strategy::linear) {
      // Whatever the memory: its sums have other roundings than those of kernel values.
      other.memory = forecast(other).total() - 1;
      const auto one_at_a_time = fit(other);
      CHECK(one_at_a_time.forecast().strategy == bpm::Strategy::linear);
      check_same_model(one_at_a_time, model, held_out);
    } else if constexpr (!is_precomputed<Kernel>) {
      CHECK(model.forecast().strategy == bpm::Strategy::dense);
      other.memory = forecast(other).total() - 1;
      CHECK(forecast(other).strategy != bpm::Strategy::dense);
      const auto windowed = fit(other);
      CHECK(windowed.forecast().strategy != bpm::Strategy::dense);
      check_same_model(windowed, model, held_out);
    }
  }
}

template <class Case, class Sampler>
void check_two_classes() {
  const auto inputs = Case::training();
  const auto held_out = Case::held_out();
  const std::vector<int> labels = two_labels(training_size);
  using Kernel = decltype(Case::kernel());
  const bpm::FitSettings settings{.seed = 5, .threads = 1, .keep_draws = true};
  auto sampler = short_runs_of<Sampler>();
  sampler.draws = 6;
  const auto machine_with = [&](const bpm::FitSettings& chosen) {
    return bpm::BayesPointMachine<Kernel, Sampler>(Case::kernel(), sampler,
                                                   test_support::hard(chosen));
  };
  const auto fit = [&](const bpm::FitSettings& chosen) {
    return machine_with(chosen).fit(inputs, labels);
  };
  const auto fitted = fit(settings);
  check_report(fitted.report(), 6);
  CHECK(fitted.classes() == std::vector<int>{-3, 7});
  CHECK(fitted.columns() == 1);
  CHECK(fitted.report().draws == 6);
  CHECK(fitted.parts().draw_numbers.size() == 6);
  CHECK(fitted.training_margin() > 0);
  CHECK(fitted.mean_norm() > 0);
  CHECK(fitted.mean_norm() < 1 + 1e-12);
  CHECK(fitted.training_errors() == 0);
  CHECK(fitted.predict(inputs) == labels);

  // Decision values: their sign is the label; they are the weighted mean of the draws'.
  const Eigen::VectorXd values = fitted.decision_values(held_out);
  const std::vector<int> predicted = fitted.predict(held_out);
  CHECK(predicted == fitted.labels_of(values));
  CHECK(accuracy(predicted, two_labels(held_out_size)) >= 0.9);
  const Eigen::MatrixXd single = fitted.draw_decision_values(held_out);
  REQUIRE(single.rows() == held_out_size);
  REQUIRE(single.cols() == 6);
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(held_out_size);
  Eigen::VectorXd votes = Eigen::VectorXd::Zero(held_out_size);
  double total = 0;
  for (std::size_t n = 0; n < 6; ++n) {
    const double weight = fitted.parts().draw_weights[n];
    const auto column = single.col(static_cast<Eigen::Index>(n));
    mean += weight * column;
    votes += weight * (column.array() > 0).template cast<double>().matrix();
    total += weight;
    CHECK(fitted.parts().draw_numbers[n] == n);
  }
  // The centre of chains is the mean of their path, not of six of its points.
  if constexpr (!is_chain_sampler<Sampler>) {
    CHECK((mean / total - values).cwiseAbs().maxCoeff() < 1e-6);
  }
  const Eigen::VectorXd fractions = fitted.vote_fractions(held_out);
  CHECK((votes / total - fractions).cwiseAbs().maxCoeff() < 1e-12);
  double gibbs = 0;
  const std::vector<int> truth = two_labels(held_out_size);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double positive = fractions[static_cast<Eigen::Index>(i)];
    gibbs += truth[i] == 7 ? 1 - positive : positive;
    CHECK(predicted[i] == (values[static_cast<Eigen::Index>(i)] > 0 ? 7 : -3));
  }
  CHECK(std::abs(fitted.gibbs_error(held_out, truth) - gibbs / held_out_size) < 1e-12);
  CHECK(fitted.gibbs_error(inputs, labels) == 0);

  // Rejection sorts by the decision values.
  const std::vector<double> scores = bpm::largest_output_scores(values);
  const auto rejected = bpm::rejected_indices(scores, 0.1);
  CHECK(rejected.size() == 9);
  const bpm::Rejector rejector{bpm::threshold_for_rate(scores, 0.1)};
  for (const std::size_t i : rejected) CHECK_FALSE(rejector.accepts(scores[i] - 1e-15));

  check_settings_do_not_matter<decltype(fitted), Kernel>(
      fitted, settings, fit,
      [&](const bpm::FitSettings& chosen) { return machine_with(chosen).forecast(inputs); },
      held_out);

  // Two draws and four more are six.
  sampler.draws = 2;
  auto training = machine_with(settings).train(inputs, labels);
  CHECK(training.report().draws == 2);
  CHECK_FALSE(training.classifier().decision_values(held_out) == values);
  training.add_draws(1);
  training.add_draws(3);
  const auto in_parts = training.classifier();
  check_same_model(in_parts, fitted, held_out);
  CHECK(in_parts.draw_decision_values(held_out) == single);
  check_report(in_parts.report(), 6);

  // A soft boundary holds what hard boundaries cannot: three wrong labels.
  std::vector<int> noisy = labels;
  for (const std::size_t i : {3U, 7U, 20U}) noisy[i] = noisy[i] == 7 ? -3 : 7;
  bpm::FitSettings soft = settings;
  soft.soft_boundary = bpm::SoftBoundary::relative(1.0);
  const auto robust = machine_with(soft).fit(inputs, noisy);
  CHECK(robust.report().converged);
  CHECK(robust.training_margin() > 0);
  CHECK(accuracy(robust.predict(held_out), two_labels(held_out_size)) >= 0.8);
}

template <class Case, class Sampler>
void check_one_vs_rest() {
  const auto inputs = Case::training();
  const auto held_out = Case::held_out();
  const std::vector<int> labels = three_labels(training_size);
  using Kernel = decltype(Case::kernel());
  const bpm::FitSettings settings{.seed = 5, .threads = 1, .keep_draws = true};
  auto sampler = short_runs_of<Sampler>();
  sampler.draws = 6;
  const auto machine_with = [&](const bpm::FitSettings& chosen) {
    return bpm::OneVsRest(bpm::BayesPointMachine<Kernel, Sampler>(Case::kernel(), sampler,
                                                                  test_support::hard(chosen)));
  };
  const auto fit = [&](const bpm::FitSettings& chosen) {
    return machine_with(chosen).fit(inputs, labels);
  };
  const auto fitted = fit(settings);
  check_report(fitted.report(), 6);
  CHECK(fitted.classes() == std::vector<int>{-3, 7, 40});
  CHECK(fitted.parts().draw_numbers == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
  CHECK(fitted.report().draws == 6);
  CHECK(fitted.predict(inputs) == labels);
  const Eigen::MatrixXd values = fitted.decision_values(held_out);
  REQUIRE(values.rows() == held_out_size);
  REQUIRE(values.cols() == 3);
  const std::vector<int> predicted = fitted.predict(held_out);
  CHECK(predicted == fitted.labels_of(values));
  CHECK(accuracy(predicted, three_labels(held_out_size)) >= 0.9);

  // Class by class, it is the two-class machine of that class against the rest.
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(fitted.training_margin(c) > 0);
    CHECK(fitted.training_errors(c) == 0);
    std::vector<int> against = labels;
    for (int& label : against) label = label == fitted.classes()[c] ? 1 : 0;
    const auto alone = bpm::BayesPointMachine<Kernel, Sampler>(Case::kernel(), sampler,
                                                               test_support::hard(settings))
                           .fit(inputs, against);
    CHECK(fitted.mean_norm(c) == alone.mean_norm());
    CHECK(fitted.training_margin(c) == alone.training_margin());
    std::map<bpm::PointIndex, double> coefficients;
    for (std::size_t s = 0; s < alone.support().size(); ++s) {
      coefficients[alone.support()[s]] = alone.coefficients()(static_cast<Eigen::Index>(s), 0);
    }
    for (std::size_t s = 0; s < fitted.support().size(); ++s) {
      const auto found = coefficients.find(fitted.support()[s]);
      CHECK(fitted.coefficients()(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(c)) ==
            (found == coefficients.end() ? 0.0 : found->second));
    }
    CHECK((values.col(static_cast<Eigen::Index>(c)) - alone.decision_values(held_out))
              .cwiseAbs()
              .maxCoeff() < 1e-12);
  }

  // Votes of whole draws.
  const Eigen::MatrixXd single = fitted.draw_decision_values(held_out);
  REQUIRE(single.cols() == 18);
  Eigen::MatrixXd votes = Eigen::MatrixXd::Zero(held_out_size, 3);
  double total = 0;
  for (Eigen::Index n = 0; n < 6; ++n) {
    const double weight = fitted.parts().draw_weights[static_cast<std::size_t>(3 * n)];
    for (Eigen::Index i = 0; i < held_out_size; ++i) {
      Eigen::Index best = 0;
      single.row(i).segment(3 * n, 3).maxCoeff(&best);
      votes(i, best) += weight;
    }
    total += weight;
  }
  const Eigen::MatrixXd fractions = fitted.vote_fractions(held_out);
  CHECK((fractions - votes / total).cwiseAbs().maxCoeff() < 1e-12);
  const double gibbs = fitted.gibbs_error(held_out, three_labels(held_out_size));
  CHECK(gibbs >= 0);
  CHECK(gibbs <= 0.2);

  CHECK(bpm::rejected_indices(bpm::gap_scores(values), 0.1).size() == 9);

  check_settings_do_not_matter<decltype(fitted), Kernel>(
      fitted, settings, fit,
      [&](const bpm::FitSettings& chosen) { return machine_with(chosen).forecast(inputs, 3); },
      held_out);

  sampler.draws = 1;
  auto training = machine_with(settings).train(inputs, labels);
  training.add_draws(5);
  const auto in_parts = training.classifier();
  check_same_model(in_parts, fitted, held_out);
  CHECK(in_parts.draw_decision_values(held_out) == single);

  std::vector<int> noisy = labels;
  for (const std::size_t i : {3U, 7U, 20U}) noisy[i] = class_of(static_cast<std::ptrdiff_t>(i) + 1);
  bpm::FitSettings soft = settings;
  soft.soft_boundary = bpm::SoftBoundary::relative(1.0);
  const auto robust = machine_with(soft).fit(inputs, noisy);
  CHECK(robust.report().converged);
  CHECK(accuracy(robust.predict(held_out), three_labels(held_out_size)) >= 0.8);
}

}  // namespace machine_tests
