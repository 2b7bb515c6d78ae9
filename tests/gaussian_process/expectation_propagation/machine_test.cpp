// SPDX-License-Identifier: MIT
// The machine with expectation propagation in the place of a sampler.
#include "bpm/gaussian_process/expectation_propagation/machine.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

using namespace machine_tests;
using bpm::ExpectationPropagation;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

const bpm::Gaussian ep_kernel = bpm::Gaussian::from_sigma(0.7);
const bpm::BayesPointMachine ep_machine(ep_kernel, ExpectationPropagation{.tolerance = 1e-8},
                                        test_support::hard());
const Doubles triangle_inputs = triangle(60, 1);
const Doubles triangle_held_out = triangle(90, 2, 0.6);
const std::vector<int> triangle_labels = two_labels(60);

double gaussian_by_hand(const Doubles& x, Eigen::Index i, const Doubles& z, Eigen::Index j) {
  return std::exp(-(x.row(i) - z.row(j)).squaredNorm() / (2 * 0.49));
}

/// The Gaussian process's latent mean and variance by the book, from the sites alone: dense
/// matrices, (3.58) ff. of Rasmussen and Williams, on S = K + diag(lambda).
void check_latent(const bpm::EpPosterior& p, double lambda,
                  const bpm::EpPosterior::Prediction& found) {
  Eigen::MatrixXd s(60, 60);
  Eigen::VectorXd site_mean(60);
  for (Eigen::Index i = 0; i < 60; ++i) {
    for (Eigen::Index j = 0; j < 60; ++j)
      s(i, j) = gaussian_by_hand(triangle_inputs, i, triangle_inputs, j);
    const auto k = static_cast<std::size_t>(i);
    s(i, i) += lambda + 1 / p.site_precision[k];
    site_mean[i] = p.signs[k] * p.site_shift[k] / p.site_precision[k];
  }
  const Eigen::LLT<Eigen::MatrixXd> cholesky(s);
  const Eigen::VectorXd weights = cholesky.solve(site_mean);
  for (Eigen::Index n = 0; n < 90; ++n) {
    Eigen::VectorXd cross(60);
    for (Eigen::Index i = 0; i < 60; ++i)
      cross[i] = gaussian_by_hand(triangle_inputs, i, triangle_held_out, n);
    const double variance = 1 - cross.dot(cholesky.solve(cross));
    CHECK(found.mean[n] == Approx(cross.dot(weights)).epsilon(1e-5).margin(1e-6));
    CHECK(found.variance[n] == Approx(variance).epsilon(1e-5).margin(1e-6));
    const double z =
        cross.dot(weights) / std::sqrt(variance + lambda + p.noise_deviation * p.noise_deviation);
    CHECK(found.probability[n] == Approx(0.5 * std::erfc(-z / std::sqrt(2.0))).margin(1e-5));
  }
}

template <class Error, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace

TEST_CASE("EP in the machine: its model is the posterior's mean, on the pivots") {
  const auto fitted = ep_machine.fit(triangle_inputs, triangle_labels);
  const bpm::EpPosterior& p = fitted.posterior();
  CHECK(fitted.report().converged);
  CHECK(p.sweeps >= 2);
  CHECK_FALSE(fitted.report().perceptron);
  CHECK_FALSE(fitted.report().chains);
  CHECK(fitted.log_evidence() == p.log_evidence);
  CHECK(fitted.log_evidence() < 0);

  std::vector<bpm::PointIndex> pivots = p.pivots;
  std::sort(pivots.begin(), pivots.end());
  CHECK(fitted.support() == pivots);
  const bpm::CentreOfMass centre = p.centre_of_mass();
  CHECK(fitted.mean_norm() == Approx(centre.norm).epsilon(1e-9));
  CHECK(fitted.mean_norm() < 1);
  CHECK(fitted.training_margin() > 0);
  CHECK(fitted.training_errors() == 0);
  CHECK(fitted.predict(triangle_inputs) == triangle_labels);
  CHECK(accuracy(fitted.predict(triangle(90, 2)), two_labels(90)) >= 0.95);

  // The centre is near the billiard's.
  const auto billiard =
      bpm::BayesPointMachine(ep_kernel, bpm::Billiard{.bounces = 400'000}, test_support::hard())
          .fit(triangle_inputs, triangle_labels);
  const Eigen::VectorXd a = fitted.decision_values(triangle_held_out);
  const Eigen::VectorXd b = billiard.decision_values(triangle_held_out);
  CHECK((a - b).norm() < 0.1 * b.norm());
}

TEST_CASE("EP in the machine: probabilities, latent moments, and agreement of signs") {
  const auto fitted = ep_machine.fit(triangle_inputs, triangle_labels);
  check_latent(fitted.posterior(), 0, fitted.latent(triangle_held_out));
  const Eigen::VectorXd probability = fitted.predict_probability(triangle_held_out);
  CHECK(probability == fitted.latent(triangle_held_out).probability);
  const Eigen::VectorXd values = fitted.decision_values(triangle_held_out);
  const double chi = bpm::detail::mean_chi(fitted.posterior().rank());
  for (Eigen::Index i = 0; i < 90; ++i) {
    CHECK((probability[i] > 0.5) == (values[i] > 0));
    // k(x, x) = 1.
    CHECK(fitted.latent(triangle_held_out).mean[i] == Approx(chi * values[i]).epsilon(1e-12));
  }
  // More inputs than a block, and one alone: means to the bit, the rest to rounding.
  const Doubles many = triangle(250, 4, 0.8);
  const bpm::EpPosterior::Prediction all = fitted.latent(many);
  for (const Eigen::Index i : {0, 95, 96, 200, 249}) {
    const bpm::EpPosterior::Prediction one = fitted.latent(Doubles(many.row(i)));
    CHECK(one.mean[0] == all.mean[i]);
    CHECK(one.variance[0] == Approx(all.variance[i]).epsilon(1e-9));
    CHECK(one.probability[0] == Approx(all.probability[i]).epsilon(1e-9));
  }
  CHECK(fitted.latent(Doubles(0, 2)).mean.size() == 0);
  // Far away the prior is back.
  const bpm::EpPosterior::Prediction far = fitted.latent(Doubles(Doubles::Constant(1, 2, 50.0)));
  CHECK(far.variance[0] == Approx(1).epsilon(1e-12));
  CHECK(far.probability[0] == Approx(0.5).epsilon(1e-9));
}

TEST_CASE("EP in the machine: noise and a soft boundary hold wrong labels") {
  std::vector<int> noisy = triangle_labels;
  for (const std::size_t i : {3U, 7U, 20U}) noisy[i] = noisy[i] == 7 ? -3 : 7;
  const auto by_noise =
      bpm::BayesPointMachine(ep_kernel,
                             ExpectationPropagation{.noise_deviation = 0.5, .tolerance = 1e-8},
                             test_support::hard())
          .fit(triangle_inputs, noisy);
  check_latent(by_noise.posterior(), 0, by_noise.latent(triangle_held_out));
  bpm::FitSettings settings;
  settings.soft_boundary = bpm::SoftBoundary::uniform(0.25);
  const auto by_lambda =
      bpm::BayesPointMachine(ep_kernel, ExpectationPropagation{.tolerance = 1e-8},
                             test_support::hard(settings))
          .fit(triangle_inputs, noisy);
  check_latent(by_lambda.posterior(), 0.25, by_lambda.latent(triangle_held_out));
  // The same model twice: the step on K + 1/4 is the probit on K with deviation 1/2.
  CHECK(by_noise.log_evidence() == Approx(by_lambda.log_evidence()).epsilon(1e-8));
  const bpm::EpPosterior::Prediction a = by_noise.latent(triangle_held_out);
  const bpm::EpPosterior::Prediction b = by_lambda.latent(triangle_held_out);
  CHECK((a.mean - b.mean).cwiseAbs().maxCoeff() < 1e-5);
  CHECK((a.variance - b.variance).cwiseAbs().maxCoeff() < 1e-5);
  // Of a label that bears noise, whichever way it is said.
  CHECK((a.probability - b.probability).cwiseAbs().maxCoeff() < 1e-5);
  CHECK((b.noise.array() - 0.25).abs().maxCoeff() < 1e-15);
  CHECK(accuracy(by_noise.predict(triangle(90, 2)), two_labels(90)) >= 0.8);
  CHECK(by_noise.training_errors() > 0);
  CHECK(by_lambda.training_errors() > 0);
  CHECK(by_lambda.training_margin() > 0);
}

TEST_CASE("EP in the machine: probabilities of classes that overlap are those of their labels",
          "[at length]") {
  // Normal clouds whose centres are two deviations apart: 16 to 25 % of the labels are chance. A
  // probability without the noise that the evidence finds has a log loss above 1.
  const std::size_t classes = GENERATE(2, 3);
  CAPTURE(classes);
  const auto draw = [&](Eigen::Index count, std::uint64_t seed) {
    bpm::RandomEngine engine(seed);
    bpm::NormalDraws normal;
    Doubles points(count, 2);
    std::vector<int> labels;
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto c = static_cast<std::size_t>(i) % classes;
      const double angle = 2 * std::numbers::pi * static_cast<double>(c) / 3;
      points(i, 0) = 1.155 * std::cos(angle) + normal(engine);
      points(i, 1) = 1.155 * std::sin(angle) + normal(engine);
      labels.push_back(static_cast<int>(c));
    }
    return std::pair{points, labels};
  };
  const auto [points, labels] = draw(240, 1);
  const auto [others, truth] = draw(3000, 2);
  const auto fitted = bpm::OneVsRest(bpm::BayesPointMachine(bpm::Gaussian::from_sigma(1.5),
                                                            ExpectationPropagation{}))
                          .fit(points, labels);
  REQUIRE(fitted.notes.boundary);
  CHECK(fitted.posterior().relative_lambda ==
        Approx(fitted.notes.boundary->relative_lambda).epsilon(1e-12));
  const Eigen::MatrixXd p = fitted.predict_probability(others);
  // What the densities themselves say.
  Eigen::MatrixXd best(3000, static_cast<Eigen::Index>(classes));
  for (Eigen::Index i = 0; i < 3000; ++i) {
    for (Eigen::Index c = 0; c < best.cols(); ++c) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(c) / 3;
      best(i, c) = std::exp(-(std::pow(others(i, 0) - 1.155 * std::cos(angle), 2) +
                              std::pow(others(i, 1) - 1.155 * std::sin(angle), 2)) /
                            2);
    }
    best.row(i) /= best.row(i).sum();
  }
  const double least = bpm::log_loss(best, truth, fitted.classes());
  CHECK(bpm::log_loss(p, truth, fitted.classes()) < least + 0.03);
  CHECK(bpm::calibration_error(bpm::reliability_diagram(p, truth, fitted.classes())) < 0.05);
}

TEST_CASE("EP in one-vs-rest: class by class, probabilities that sum to one") {
  const std::vector<int> classes = three_labels(60);
  const auto fitted = bpm::OneVsRest(ep_machine).fit(triangle_inputs, classes);
  CHECK(fitted.report().converged);
  CHECK(fitted.predict(triangle_inputs) == classes);
  const Eigen::MatrixXd probability = fitted.predict_probability(triangle_held_out);
  REQUIRE(probability.rows() == 90);
  REQUIRE(probability.cols() == 3);
  Eigen::MatrixXd single(90, 3);
  std::uint64_t sweeps = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<int> against = classes;
    for (int& label : against) label = label == fitted.classes()[c] ? 1 : 0;
    const auto alone = ep_machine.fit(triangle_inputs, against);
    CHECK(fitted.log_evidence(c) == alone.log_evidence());
    CHECK(fitted.posterior(c).mean == alone.posterior().mean);
    CHECK(fitted.mean_norm(c) == alone.mean_norm());
    single.col(static_cast<Eigen::Index>(c)) = alone.predict_probability(triangle_held_out);
    sweeps += alone.posterior().sweeps;
  }
  CHECK(fitted.posterior(0).sweeps + fitted.posterior(1).sweeps + fitted.posterior(2).sweeps ==
        sweeps);
  for (Eigen::Index i = 0; i < 90; ++i) {
    CHECK(probability.row(i).sum() == Approx(1).epsilon(1e-12));
    CHECK((probability.row(i) - single.row(i) / single.row(i).sum()).cwiseAbs().maxCoeff() < 1e-9);
  }
  Eigen::Index best = 0;
  std::vector<int> probable;
  for (Eigen::Index i = 0; i < 90; ++i) {
    probability.row(i).maxCoeff(&best);
    probable.push_back(fitted.classes()[static_cast<std::size_t>(best)]);
  }
  CHECK(accuracy(probable, three_labels(90)) >= 0.9);
  CHECK_THROWS_WITH(fitted.log_evidence(3),
                    Equals("PosteriorClassifier::posterior: column is 3, must be below 3"));
  CHECK_THROWS_WITH(fitted.posterior(3),
                    Equals("PosteriorClassifier::posterior: column is 3, must be below 3"));
}

TEST_CASE("EP in the machine: threads and budget do not matter, nor does the seed") {
  const auto fitted = ep_machine.fit(triangle_inputs, triangle_labels);
  bpm::FitSettings settings{.seed = 77, .threads = 3};
  settings.memory = ep_machine.forecast(triangle_inputs).total() - 1;
  const bpm::BayesPointMachine other(ep_kernel, ep_machine.sampler(), test_support::hard(settings));
  const auto windowed = other.fit(triangle_inputs, triangle_labels);
  CHECK(windowed.forecast().strategy == bpm::Strategy::windowed);
  CHECK(windowed.coefficients() == fitted.coefficients());
  CHECK(windowed.log_evidence() == fitted.log_evidence());
  CHECK(windowed.predict_probability(triangle_held_out) ==
        fitted.predict_probability(triangle_held_out));
  // The posteriors are in the forecast: two factors a problem.
  const auto one = bpm::OneVsRest(ep_machine).forecast(triangle_inputs, 2).sampler_bytes;
  const auto three = bpm::OneVsRest(ep_machine).forecast(triangle_inputs, 3).sampler_bytes;
  CHECK(three - one >= 2 * 2 * 60 * 60 * sizeof(double));
  settings.memory = 1000;
  CHECK_THROWS_AS(
      bpm::BayesPointMachine(ep_kernel, ep_machine.sampler(), test_support::hard(settings))
          .fit(triangle_inputs, triangle_labels),
      bpm::BudgetTooSmall);
}

TEST_CASE("EP in the machine: there are no draws to keep") {
  CHECK_THROWS_WITH(
      bpm::BayesPointMachine(ep_kernel, ep_machine.sampler(),
                             test_support::hard({.keep_draws = true}))
          .fit(triangle_inputs, triangle_labels),
      Equals("BayesPointMachine::fit: keep_draws is true, must be false: expectation propagation "
             "makes no draws"));
  const auto fitted = ep_machine.fit(triangle_inputs, triangle_labels);
  const auto copy = fitted;
  CHECK(copy.predict_probability(triangle_held_out) ==
        fitted.predict_probability(triangle_held_out));
  CHECK(&copy.posterior() == &fitted.posterior());  // Shared.
}

TEST_CASE("EP in the machine: what does not converge, is stopped, or cannot be separated") {
  const auto hasty = bpm::BayesPointMachine(
      ep_kernel, ExpectationPropagation{.tolerance = 1e-9, .max_sweeps = 2}, test_support::hard());
  CHECK_THAT(
      message_of<bpm::NotConverged>([&] { (void)hasty.fit(triangle_inputs, triangle_labels); }),
      ContainsSubstring("BayesPointMachine::fit: the sites have not converged after 2 "
                        "sweeps with damping 1, where a site still changes by ") &&
          ContainsSubstring("; set a soft boundary lambda > 0 or noise_deviation > 0, or raise the "
                            "limits"));
  CHECK_THAT(message_of<bpm::NotConverged>(
                 [&] { (void)bpm::OneVsRest(hasty).fit(triangle_inputs, three_labels(60)); }),
             ContainsSubstring("OneVsRest::fit: the sites have not converged"));
  // On a line, three labels in turn: no classifier separates them.
  Doubles line(3, 1);
  line << 1, 2, 3;
  const bpm::BayesPointMachine linear(bpm::Linear{}, ExpectationPropagation{},
                                      test_support::hard());
  CHECK_THAT(message_of<bpm::NotConverged>([&] {
               (void)linear.fit(line, std::vector<int>{0, 1, 0});
             }),
             ContainsSubstring("version space is empty, or thinner than can be told"));
  Doubles twice = triangle_inputs;
  twice.row(7) = twice.row(3);
  CHECK_THROWS_AS(ep_machine.fit(twice, triangle_labels), bpm::NotSeparable);
  CHECK_NOTHROW(bpm::BayesPointMachine(ep_kernel, ExpectationPropagation{.noise_deviation = 0.3},
                                       test_support::hard())
                    .fit(twice, triangle_labels));
  CHECK_THROWS_WITH(
      bpm::BayesPointMachine(ep_kernel, ExpectationPropagation{.noise_deviation = -1},
                             test_support::hard())
          .fit(triangle_inputs, triangle_labels),
      Equals("ExpectationPropagation: noise_deviation is -1, must be at least 0 and below 1e100"));

  int asked = 0;
  const std::string stopped = "BayesPointMachine::fit: stopped before the posterior was found";
  CHECK(message_of<bpm::Stopped>([&] {
          (void)ep_machine.fit(triangle_inputs, triangle_labels,
                               [&](const bpm::Progress& progress) {
                                 asked += progress.stage == "sweeps" ? 1 : 0;
                                 return asked < 3;
                               });
        }) == stopped);
  CHECK(asked == 3);
  CHECK(message_of<bpm::Stopped>([&] {
          (void)ep_machine.fit(triangle_inputs, triangle_labels, [](const bpm::Progress& progress) {
            return progress.stage != "factor";
          });
        }) == stopped);
}

TEST_CASE("EP with kernel values that the user brings") {
  const auto values = [](const Doubles& x, const Doubles& z) {
    Doubles result(x.rows(), z.rows());
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      for (Eigen::Index j = 0; j < z.rows(); ++j) result(i, j) = gaussian_by_hand(x, i, z, j);
    }
    return result;
  };
  const bpm::BayesPointMachine by_matrix(bpm::PrecomputedKernel{}, ep_machine.sampler(),
                                         test_support::hard());
  const auto fitted = by_matrix.fit(values(triangle_inputs, triangle_inputs), triangle_labels);
  const auto expected = ep_machine.fit(triangle_inputs, triangle_labels);
  CHECK(fitted.log_evidence() == Approx(expected.log_evidence()).epsilon(1e-9));
  const Doubles cross = values(triangle_held_out, triangle_inputs);
  const Eigen::VectorXd diagonal = Eigen::VectorXd::Ones(90);
  const bpm::PrecomputedRows<double> rows{cross, diagonal};
  CHECK((fitted.predict_probability(rows) - expected.predict_probability(triangle_held_out))
            .cwiseAbs()
            .maxCoeff() < 1e-6);
  const Eigen::VectorXd wrong = -diagonal;
  CHECK_THROWS_WITH(
      fitted.predict_probability(bpm::PrecomputedRows<double>{cross, wrong}),
      Equals("PosteriorClassifier::predict_probability: diagonal at 0 is -1, must be positive "
             "and finite"));
  const auto several =
      bpm::OneVsRest(by_matrix).fit(values(triangle_inputs, triangle_inputs), three_labels(60));
  CHECK(several.predict_probability(rows).rows() == 90);
}

TEST_CASE("EP: predictions check their inputs") {
  const auto fitted = ep_machine.fit(triangle_inputs, triangle_labels);
  CHECK_THROWS_WITH(fitted.predict_probability(Doubles::Ones(4, 3)),
                    Equals("PosteriorClassifier::predict_probability: inputs has 3 entries, "
                           "expected 2 (columns: one per feature of the training set)"));
  Doubles bad = triangle_held_out;
  bad(3, 1) = std::nan("");
  CHECK_THROWS_WITH(fitted.latent(bad),
                    Equals("PosteriorClassifier::latent: inputs row 3, column 1 is nan, must "
                           "be finite"));
}

TEST_CASE("EP: a classifier takes one posterior a column, with pivots of its support") {
  const auto fitted = ep_machine.fit(triangle_inputs, triangle_labels);
  const bpm::Classifier<bpm::Gaussian, Doubles>& plain = fitted;
  const auto refusal = [&](const std::vector<bpm::EpPosterior>& posteriors) {
    return message_of<std::invalid_argument>(
        [&] { (void)bpm::PosteriorClassifier<bpm::Gaussian, Doubles>(plain, posteriors); });
  };
  bpm::EpPosterior posterior = fitted.posterior();
  CHECK(refusal({posterior}) == "nothing thrown");
  CHECK(refusal({}) ==
        "PosteriorClassifier: posteriors has 0 entries, expected 1 (one per column)");
  CHECK(refusal({posterior, posterior}) ==
        "PosteriorClassifier: posteriors has 2 entries, expected 1 (one per column)");
  // Of one point more than there is.
  for (auto* list : {&posterior.coefficients, &posterior.outputs, &posterior.variances,
                     &posterior.site_precision, &posterior.site_shift}) {
    list->push_back(1);
  }
  posterior.signs.push_back(1);
  posterior.pivots.back() = 60;
  CHECK(refusal({posterior}) ==
        "PosteriorClassifier: posteriors have the pivot 60, which the support lacks");
}

TEST_CASE("EP chooses its soft boundary by the evidence") {
  std::vector<int> noisy = triangle_labels;
  for (std::size_t i = 0; i < noisy.size(); i += 9) noisy[i] = noisy[i] == 7 ? -3 : 7;
  const auto fitted = bpm::BayesPointMachine(ep_kernel, ExpectationPropagation{}, {.seed = 2})
                          .fit(triangle_inputs, noisy);
  REQUIRE(fitted.notes.boundary);
  const bpm::BoundaryChoice& choice = *fitted.notes.boundary;
  CHECK(choice.relative_lambda > 0);
  CHECK(choice.points == noisy.size());
  // All points are the part, so that the candidates are fits of their own.
  for (const bpm::ChoiceCandidate& one : choice.candidates) {
    if (!one.consistent) continue;
    CAPTURE(one.relative_lambda);
    const auto alone =
        bpm::BayesPointMachine(
            ep_kernel, ExpectationPropagation{},
            {.soft_boundary = bpm::SoftBoundary::relative(one.relative_lambda), .seed = 2})
            .fit(triangle_inputs, noisy);
    CHECK(one.loss ==
          Approx(-alone.log_evidence() / static_cast<double>(noisy.size())).epsilon(1e-6));
    if (one.relative_lambda == choice.relative_lambda) {
      CHECK(fitted.log_evidence() == Approx(alone.log_evidence()).epsilon(1e-9));
    }
  }
  // With noise no boundary is needed, and none is chosen.
  CHECK_FALSE(bpm::BayesPointMachine(ep_kernel, ExpectationPropagation{.noise_deviation = 0.5})
                  .fit(triangle_inputs, noisy)
                  .notes.boundary);
}
