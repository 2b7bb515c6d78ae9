// SPDX-License-Identifier: MIT
#include "bpm/bounds/gibbs_bound.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/decision/rejection.hpp"
#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

/// How often a bound is exceeded, over `runs` samples of n examples. The ensemble: classifiers with
/// known errors on disjoint parts of the input space, prior `prior`, Q the prior restricted to
/// those without training error; KL = -log P(those).
template <class Bound>
double violations(const std::vector<double>& errors, const std::vector<double>& prior, int n,
                  int runs, Bound&& bound) {
  bpm::RandomEngine engine(11);
  int exceeded = 0;
  for (int run = 0; run < runs; ++run) {
    double mass = 0;
    double gibbs = 0;
    for (std::size_t h = 0; h < errors.size(); ++h) {
      // Independent errors: each is a marginal of some distribution of the inputs.
      const bool consistent = bpm::uniform_unit(engine) < std::pow(1 - errors[h], n);
      mass += consistent ? prior[h] : 0;
      gibbs += consistent ? prior[h] * errors[h] : 0;
    }
    if (mass > 0 && gibbs / mass > bound(-std::log(mass))) ++exceeded;
  }
  return static_cast<double>(exceeded) / runs;
}

}  // namespace

TEST_CASE("the Gibbs bound by hand") {
  // 1 - exp(-(5 + log(2 * 101 / 0.02)) / 100).
  const bpm::GibbsBound b(5, 101, {bpm::Confidence::exact(0.02)});
  CHECK(b.confidence_term == Approx(std::log(10100.0)).epsilon(1e-14));
  CHECK(b.selection_term == 0);
  CHECK(b.divisor == 100);
  CHECK(b.value() == Approx(1 - std::exp(-(5 + std::log(10100.0)) / 100)).epsilon(1e-13));
  CHECK(b.points == 101);
  CHECK(b.complexity == 5);
  CHECK_FALSE(b.vacuous());
  // The realizable form: log(1 / delta) over n.
  const bpm::GibbsBound r(5, 101, {bpm::Confidence::exact(0.02), 1, bpm::PacBayes::realizable});
  CHECK(r.value() == Approx(1 - std::exp(-(5 + std::log(50.0)) / 101)).epsilon(1e-13));
}

TEST_CASE("the Gibbs bound of the paper's experiment") {
  // MNIST even or odd, arc-cosine kernel of depth 7, n = 1000, delta = 0.01: A = 513 gives 0.409
  // and, times e, 1.11; log(1 / P_Y) = 281.07 gives 0.254 and 0.69.
  const bpm::GibbsBound iso(513, 1000);
  CHECK(iso.value() == Approx(0.409).margin(0.0005));
  CHECK(bpm::BayesPointBound(iso).value() == Approx(1.11).margin(0.005));
  CHECK(bpm::BayesPointBound(iso).vacuous());
  const bpm::BayesPointBound centre(281.07, 1000);
  CHECK(centre.gibbs.value() == Approx(0.254).margin(0.0005));
  CHECK(centre.value() == Approx(0.69).margin(0.005));
  CHECK(centre.value() == std::numbers::e * centre.gibbs.value());
  CHECK_FALSE(centre.vacuous());
  CHECK_FALSE(iso.vacuous());
}

TEST_CASE("the Gibbs bound: monotone, and its limits") {
  const auto at = [](double complexity, std::ptrdiff_t n, double delta) {
    return bpm::GibbsBound(complexity, n, {bpm::Confidence::exact(delta)}).value();
  };
  CHECK(at(10, 100, 0.01) < at(11, 100, 0.01));
  CHECK(at(10, 100, 0.01) > at(10, 101, 0.01));
  CHECK(at(10, 100, 0.01) > at(10, 100, 0.02));
  CHECK(at(0, 100'000'000, 0.01) < 1e-6);
  CHECK(at(0, 100'000'000, 0.01) > 0);
  CHECK(at(1e300, 5000, 0.01) == 1);
  CHECK(bpm::GibbsBound(1e300, 5000).vacuous());
  // Vacuous exactly from 1/2 on: exponent log 2.
  const double edge = 99 * std::numbers::ln2 - std::log(200 / 0.01);
  CHECK(bpm::GibbsBound(edge + 1e-9, 100).vacuous());
  CHECK_FALSE(bpm::GibbsBound(edge - 1e-9, 100).vacuous());
  for (const std::ptrdiff_t n : {2, 10, 1000, 5000}) {
    for (const double c : {0.0, 1.0, 3000.0}) {
      bpm::GibbsBound::Settings settings;
      const double published = bpm::GibbsBound(c, n, settings).value();
      settings.theorem = bpm::PacBayes::realizable;
      const double realizable = bpm::GibbsBound(c, n, settings).value();
      CHECK((realizable < published || published == 1));
    }
  }
}

TEST_CASE("a kernel chosen among many, and a shared confidence") {
  bpm::GibbsBound::Settings settings{bpm::Confidence::exact(0.03)};
  settings.kernels = 20;
  const bpm::GibbsBound chosen(40, 500, settings);
  CHECK(chosen.selection_term == Approx(std::log(20.0)));
  // The same as a twentieth of delta each.
  CHECK(chosen.value() ==
        Approx(bpm::GibbsBound(40, 500, {bpm::Confidence::exact(0.03 / 20)}).value()));

  const bpm::Confidence half = bpm::Confidence::shared(0.02);
  CHECK(half.sample == Approx(0.01));
  CHECK(half.estimate == Approx(0.01));
  CHECK(half.total() == Approx(0.02));
  const bpm::Confidence most = bpm::Confidence::shared(0.02, 0.25);
  CHECK(most.sample == Approx(0.015));
  CHECK(most.estimate == Approx(0.005));
  const bpm::GibbsBound certified(40, 500, {most});
  CHECK(certified.value() == bpm::GibbsBound(40, 500, {bpm::Confidence::exact(0.015)}).value());
  CHECK(certified.confidence.total() == Approx(0.02));
}

TEST_CASE("both PAC-Bayes theorems hold as often as they say; without log(1 / delta) they do not") {
  // A few classifiers with some error, each now and then consistent by chance.
  const std::vector<double> errors{0.03, 0.04, 0.05, 0.08};
  const std::vector<double> prior{0.25, 0.25, 0.25, 0.25};
  const double delta = 0.1;
  const int n = 30;
  const auto bound = [&](bpm::PacBayes theorem) {
    return violations(errors, prior, n, 20'000, [&](double kl) {
      return bpm::GibbsBound(kl, n, {bpm::Confidence::exact(delta), 1, theorem}).value();
    });
  };
  CHECK(bound(bpm::PacBayes::langford_seeger) <= delta);
  CHECK(bound(bpm::PacBayes::realizable) <= delta);
  const double mutant =
      violations(errors, prior, n, 20'000, [&](double kl) { return -std::expm1(-kl / n); });
  CHECK(mutant > 2 * delta);
}

TEST_CASE("the realizable bound on half planes, whose version space and Gibbs error are known") {
  // Inputs uniform on the circle, labelled by the half plane of angle 0, the prior uniform on
  // angles. An input's line cuts the angles at some u in (0, pi) and at u - pi: version space is
  // the arc from max u - pi to min u, and a classifier at angle t errs |t| / pi.
  bpm::RandomEngine engine(12);
  for (const int n : {2, 3, 4, 5}) {
    int violations = 0;
    int without = 0;
    for (int run = 0; run < 1000; ++run) {
      double least = 1;
      double most = 0;
      for (int i = 0; i < n; ++i) {
        const double u = bpm::uniform_unit(engine);
        least = std::min(least, u);
        most = std::max(most, u);
      }
      const double right = least;  // In units of pi.
      const double left = 1 - most;
      const double complexity = -std::log((left + right) / 2);
      const double error = (left * left + right * right) / (2 * (left + right));
      const bpm::GibbsBound bound(complexity, n,
                                  {bpm::Confidence::exact(0.01), 1, bpm::PacBayes::realizable});
      violations += error > bound.value() ? 1 : 0;
      without += error > bpm::kl_upper_inverse(0, complexity / n) ? 1 : 0;
    }
    CAPTURE(n, violations, without);
    CHECK(violations <= 20);
    CHECK(without >= 50);  // Without log(1 / delta) it fails five times as often as it may.
  }
}

TEST_CASE("the realizable bound is nearly attained by one classifier") {
  // One classifier of error e is consistent with probability (1 - e)^n; where that is just above
  // delta the bound 1 - delta^(1/n) is just below e's largest value that could go unseen.
  const int n = 50;
  const double delta = 0.1;
  const double edge = 1 - std::pow(delta, 1.0 / n);
  CHECK(bpm::GibbsBound(0, n, {bpm::Confidence::exact(delta), 1, bpm::PacBayes::realizable})
            .value() == Approx(edge).epsilon(1e-12));
}

TEST_CASE("Maurer's bound allows training errors: its equation, and how often it holds") {
  const bpm::GibbsBound bound(12, 400,
                              {.confidence = bpm::Confidence::exact(0.05),
                               .theorem = bpm::PacBayes::maurer,
                               .empirical_error = 0.1});
  const double kl = bpm::binary_relative_entropy(0.1, bound.value());
  CHECK(400 * kl == Approx(12 + std::log(2 * 20 / 0.05)).epsilon(1e-12));
  CHECK(bound.confidence_term == Approx(std::log(2 * 20 / 0.05)).epsilon(1e-14));
  CHECK_FALSE(bound.vacuous());
  // Of one classifier (C = 0) the bound is one on a binomial rate, exactly summable.
  const double truth = 0.2;
  for (const std::uint64_t n : {8, 30, 200}) {
    double fails = 0;
    double without = 0;  // log(2 sqrt(n) / delta) left out but for log 2: no bound.
    for (std::uint64_t k = 0; k <= n; ++k) {
      const double chance =
          bpm::binomial_cdf(k, n, truth) - (k == 0 ? 0.0 : bpm::binomial_cdf(k - 1, n, truth));
      const double rate = static_cast<double>(k) / static_cast<double>(n);
      const bpm::GibbsBound of_k(0, static_cast<std::ptrdiff_t>(n),
                                 {.confidence = bpm::Confidence::exact(0.05),
                                  .theorem = bpm::PacBayes::maurer,
                                  .empirical_error = rate});
      fails += of_k.value() < truth ? chance : 0;
      without += bpm::kl_upper_inverse(rate, std::numbers::ln2 / static_cast<double>(n)) < truth
                     ? chance
                     : 0;
    }
    CAPTURE(n);
    CHECK(fails <= 0.05);
    CHECK(without > 0.05);
  }
}

TEST_CASE("arguments of the Gibbs bound are checked") {
  CHECK_THROWS_WITH(bpm::GibbsBound(-1, 10),
                    "GibbsBound: complexity is -1, must be finite and not negative");
  CHECK_THROWS_WITH(bpm::GibbsBound(std::numeric_limits<double>::infinity(), 10),
                    "GibbsBound: complexity is inf, must be finite and not negative");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 1), "GibbsBound: points is 1, must be 2 or more");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 10, {{0, 0}}),
                    "GibbsBound: confidence.sample is 0, must lie between 0 and 1");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 10, {{1, 0}}),
                    "GibbsBound: confidence.sample is 1, must lie between 0 and 1");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 10, {{0.1, -0.1}}),
                    "GibbsBound: confidence.estimate is -0.1, must not be negative");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 10, {{0.1, 0.1, -0.1}}),
                    "GibbsBound: confidence.inputs is -0.1, must not be negative");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 10, {{0.5, 0.5, 0.25}}),
                    "GibbsBound: confidence is 1.25 in all, must be below 1");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 10, {{}, 0}), "GibbsBound: kernels is 0, must be 1 or more");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 10, {{}, 1, static_cast<bpm::PacBayes>(7)}),
                    "GibbsBound: theorem is 7, must be langford_seeger, realizable or maurer");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 10, {.empirical_error = 0.1}),
                    "GibbsBound: empirical_error is 0.1, must be 0 but for PacBayes::maurer");
  CHECK_THROWS_WITH(
      bpm::GibbsBound(1, 10, {.theorem = bpm::PacBayes::maurer, .empirical_error = 1.5}),
      "GibbsBound: empirical_error is 1.5, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::GibbsBound(1, 7, {.theorem = bpm::PacBayes::maurer}),
                    "GibbsBound: points is 7, must be 8 or more");
  CHECK_THROWS_WITH(bpm::BayesPointBound(-1, 10), ContainsSubstring("complexity is -1"));
  CHECK_THROWS_WITH(bpm::Confidence::exact(1),
                    "Confidence::exact: delta is 1, must lie between 0 and 1");
  CHECK_THROWS_WITH(bpm::Confidence::shared(0),
                    "Confidence::shared: delta is 0, must lie between 0 and 1");
  CHECK_THROWS_WITH(bpm::Confidence::shared(0.1, 1),
                    "Confidence::shared: estimate_share is 1, must lie between 0 and 1");
}

TEST_CASE("the bound on a Bayes point says something up to a Gibbs bound of 1 / e") {
  // Exponent -log(1 - 1 / e).
  const double exponent = -std::log1p(-1 / std::numbers::e);
  const double edge = 999 * exponent - std::log(2000 / 0.01);
  CHECK(bpm::BayesPointBound(edge + 1e-6, 1000).vacuous());
  CHECK_FALSE(bpm::BayesPointBound(edge - 1e-6, 1000).vacuous());
  CHECK(bpm::BayesPointBound(edge, 1000).value() == Approx(1).epsilon(1e-12));
  CHECK(bpm::BayesPointBound(1e9, 1000).value() == Approx(std::numbers::e));
}

TEST_CASE("lemma 3 on Gaussian ensembles: at most e times the Gibbs error") {
  bpm::RandomEngine engine(3);
  bpm::NormalDraws normal;
  for (int trial = 0; trial < 200; ++trial) {
    // w ~ N(mu, A A'): the output at x is normal, its share of errors Phi(-y <mu, x> / |A' x|).
    const Eigen::Index d = 1 + trial % 5;
    Eigen::MatrixXd a(d, d);
    Eigen::VectorXd mu(d);
    for (Eigen::Index i = 0; i < a.size(); ++i) a.data()[i] = normal(engine);
    for (Eigen::Index i = 0; i < d; ++i) mu[i] = normal(engine);
    double gibbs = 0;
    double centre = 0;
    for (int i = 0; i < 30; ++i) {
      Eigen::VectorXd x(d);
      for (Eigen::Index j = 0; j < d; ++j) x[j] = normal(engine);
      const double y = bpm::uniform_unit(engine) < 0.3 ? -1 : 1;
      const double output = y * mu.dot(x);
      gibbs += bpm::detail::normal_cdf(-output / (a.transpose() * x).norm()) / 30;
      centre += output <= 0 ? 1.0 / 30 : 0.0;
    }
    CHECK(centre <=
          bpm::BayesPointBound(0, 10).value() / bpm::BayesPointBound(0, 10).gibbs.value() * gibbs);
    CHECK(centre <= 2 * gibbs + 1e-12);  // Symmetric: Bayes point and vote are one.
  }
}

TEST_CASE("lemma 3 is attained: the exponential law errs 1 / e where its centre errs") {
  // w has density exp(-w) on w > 0, centre 1. At the input (1, -t) the output w - t is positive
  // with probability exp(-t): for t = 1 from above the centre is wrong on a positive label, and so
  // are 1 - 1 / e of the ensemble; for t = 1 from below and a negative label 1 / e are.
  const double t = 1 - 1e-9;
  const double gibbs = std::exp(-t);    // Label -1: wrong where w > t.
  const double centre = 1 > t ? 1 : 0;  // The centre says +1.
  CHECK(centre <= std::numbers::e * gibbs);
  CHECK(centre == Approx(std::numbers::e * gibbs).epsilon(1e-8));
  // A law with a heavier tail, P(W > s) = (1 + s)^-3 and centre 1/2, breaks it: it is not
  // log-concave.
  const double heavy = std::pow(1.5, -3.0);
  CHECK(std::numbers::e * heavy < 1);
}
