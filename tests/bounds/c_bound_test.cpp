// SPDX-License-Identifier: MIT
#include "bpm/bounds/c_bound.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/decision/votes.hpp"
#include "catch.hpp"

namespace {

/// Inputs whose share of voters for the first class is v^2, v even: alpha = E[(2 v^2 - 1)^2] =
/// 4 / 5 - 4 / 3 + 1.
constexpr double known_agreement = 4.0 / 5 - 4.0 / 3 + 1;

/// Mean over inputs of the squared mean sign: voters anew at each input, or (`shared`) one vector
/// of thresholds for all of them, voter k saying +1 where v^2 exceeds its threshold.
double measured_agreement(bpm::RandomEngine& engine, int inputs, int voters, bool shared) {
  std::vector<double> thresholds(static_cast<std::size_t>(voters));
  for (double& t : thresholds) t = bpm::uniform_unit(engine);
  double sum = 0;
  for (int i = 0; i < inputs; ++i) {
    const double v = bpm::uniform_unit(engine);
    if (!shared) {
      for (double& t : thresholds) t = bpm::uniform_unit(engine);
    }
    double mean = 0;
    for (const double t : thresholds) mean += (v * v > t ? 1.0 : -1.0) / voters;
    sum += mean * mean;
  }
  return std::min(1.0, sum / inputs);
}

/// What `Votes` make of an input whose mean sign has this square.
double unbiased(double square, int voters) {
  const double share = (1 + std::sqrt(square)) / 2;
  return bpm::Votes{.positive = Eigen::VectorXd::Constant(1, share),
                    .voters = static_cast<std::uint64_t>(voters)}
      .agreement();
}

}  // namespace

TEST_CASE("the C-bound by hand") {
  // 1 - 0.36 / 0.45.
  const bpm::CBound b(0.2, 0.45);
  CHECK(b.value() == Approx(0.2));
  CHECK(b.applies());
  CHECK(b.consistent());
  CHECK_FALSE(b.vacuous());
  CHECK(bpm::CBound(0.2, 0.45, 0.1).value() == Approx(0.3));
  CHECK(bpm::CBound(0.2, 0.45, 0.8).vacuous());
  // One classifier: alpha = 1, 1 - (1 - 2 e)^2 = 4 e (1 - e).
  CHECK(bpm::CBound(0.1, 1).value() == Approx(4 * 0.1 * 0.9));
  // A perfect vote of noisy voters: alpha = (1 - 2 e)^2.
  CHECK(bpm::CBound(0.45, 0.01).value() == Approx(0).margin(1e-12));
  // It grows with the error and with the agreement.
  CHECK(bpm::CBound(0.21, 0.45).value() > b.value());
  CHECK(bpm::CBound(0.2, 0.46).value() > b.value());
}

TEST_CASE("the C-bound where it says nothing, and where its numbers contradict each other") {
  CHECK_FALSE(bpm::CBound(0.5, 0.3).applies());
  CHECK(bpm::CBound(0.5, 0.3).value() == 1);
  CHECK(bpm::CBound(0.5, 0.3).vacuous());
  CHECK(bpm::CBound(0.9, 0.81).vacuous());  // The formula would say 0.21.
  CHECK(bpm::CBound(0.5, 0).vacuous());
  const bpm::CBound contradiction(0.1, 0.5);
  CHECK_FALSE(contradiction.consistent());
  CHECK(contradiction.value() == 0);
  CHECK(bpm::CBound(0.9, 0.5).consistent());
}

TEST_CASE("the C-bound of votes on labelled inputs") {
  Eigen::VectorXd votes(4);
  votes << 1, 0.5, -0.25, 0.5;
  const std::vector<signed char> signs{1, 1, -1, -1};
  const bpm::Votes shares{.positive = (votes.array() + 1) / 2};
  const bpm::CBound b(shares.gibbs_error(signs), shares.agreement(), 0.25);
  CHECK(b.gibbs_error == Approx((0 + 0.25 + 0.375 + 0.75) / 4));
  CHECK(b.agreement == Approx((1 + 0.25 + 0.0625 + 0.25) / 4));
  CHECK(b.disagreement == 0.25);
}

TEST_CASE("the agreement of finitely many voters is too large by (1 - alpha) / V") {
  bpm::RandomEngine engine(8);
  const int inputs = 60'000;
  const int voters = 5;
  const double raw = measured_agreement(engine, inputs, voters, false);
  const double se = 0.5 / std::sqrt(inputs);  // Values in [0, 1].
  CHECK(raw == Approx(known_agreement + (1 - known_agreement) / voters).margin(5 * se));
  CHECK(unbiased(raw, voters) == Approx(known_agreement).margin(7 * se));
  CHECK(std::abs(raw - known_agreement) > 5 * se);  // Uncorrected it fails the same check.
  CHECK(unbiased(1, 7) == 1);
  CHECK(unbiased(0.5, 2) == 0);
}

TEST_CASE("the upper limit of the agreement") {
  CHECK(bpm::AgreementSample{0.3, 400, 0}.upper_limit(0.05) ==
        bpm::kl_upper_inverse(0.3, std::log(20.0) / 400));
  CHECK(bpm::AgreementSample{0, 400, 0}.upper_limit(0.05) == Approx(1 - std::pow(0.05, 1.0 / 400)));
  CHECK(bpm::AgreementSample{1, 400, 0}.upper_limit(0.05) == 1);
  CHECK(bpm::AgreementSample{0.3, 400, 10'000}.upper_limit(0.05) ==
        Approx(bpm::kl_upper_inverse(0.3, std::log(40.0) / 400) +
               4 * std::sqrt(std::log(40.0) / 20'000)));
  CHECK(bpm::AgreementSample{0.3, 400, 2}.upper_limit(0.05) == 1);
  // Below Hoeffding's.
  CHECK(bpm::AgreementSample{0.05, 400, 0}.upper_limit(0.05) <
        0.05 + std::sqrt(std::log(20.0) / 800));
}

TEST_CASE("the upper limit of the agreement holds as often as it says; a mean does not") {
  bpm::RandomEngine engine(9);
  const double delta = 0.1;
  const int runs = 2000;
  for (const bool shared : {false, true}) {
    const int voters = shared ? 40 : 3;
    int missed = 0;
    int missed_by_unbiased_mean = 0;
    for (int run = 0; run < runs; ++run) {
      const double mean = measured_agreement(engine, 40, voters, shared);
      missed +=
          bpm::AgreementSample{mean, 40, shared ? voters : 0}.upper_limit(delta) < known_agreement;
      missed_by_unbiased_mean += unbiased(mean, voters) < known_agreement;
    }
    CAPTURE(shared);
    CHECK(missed <= delta * runs);
    CHECK(missed_by_unbiased_mean > 2 * delta * runs);
  }
}

TEST_CASE("a certified C-bound") {
  const bpm::Confidence third = bpm::Confidence::thirds(0.03);
  CHECK(third.sample == Approx(0.01));
  CHECK(third.estimate == Approx(0.01));
  CHECK(third.inputs == Approx(0.01));
  const bpm::GibbsBound gibbs(100, 1000, {third});
  const bpm::AgreementSample sample{0.65, 5000, 0};
  const bpm::CBound b = bpm::CBound::certified(gibbs, sample, 0.01);
  CHECK(b.delta == Approx(0.03));
  CHECK(b.gibbs_error == gibbs.value());
  CHECK(b.agreement == sample.upper_limit(third.inputs));
  const double rest = 1 - 2 * gibbs.value();
  CHECK(b.value() == Approx(1 - rest * rest / b.agreement + 0.01));
  CHECK_FALSE(b.vacuous());
  CHECK(b.value() > bpm::CBound(gibbs.value(), sample.mean, 0.01).value());
  // A Gibbs bound of 1/2 or more certifies nothing.
  CHECK(bpm::CBound::certified(bpm::GibbsBound(800, 1000, {third}), sample).value() == 1);
  // Limits that cannot both hold: one has failed, and nothing is certain.
  const bpm::CBound failed =
      bpm::CBound::certified(bpm::GibbsBound(1, 10'000, {third}), {0.3, 100'000, 0});
  CHECK_FALSE(failed.consistent());
  CHECK(failed.value() == 1);
  CHECK(failed.vacuous());
}

TEST_CASE("arguments of the C-bound are checked") {
  CHECK_THROWS_WITH(bpm::CBound(-0.1, 0.5), "CBound: gibbs_error is -0.1, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::CBound(0.1, 1.5), "CBound: agreement is 1.5, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::CBound(0.1, 0.8, 2), "CBound: disagreement is 2, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::CBound(0.1, 0),
                    "CBound: agreement is 0, must be positive: a vote that is tied everywhere has "
                    "Gibbs error 1/2, not 0.1");
  CHECK_THROWS_WITH((bpm::AgreementSample{2, 5, 0}.upper_limit(0.1)),
                    "AgreementSample: mean is 2, must lie in [0, 1]");
  CHECK_THROWS_WITH((bpm::AgreementSample{0.5, 0, 0}.upper_limit(0.1)),
                    "AgreementSample: inputs is 0, must be 1 or more");
  CHECK_THROWS_WITH((bpm::AgreementSample{0.5, 5, 1}.upper_limit(0.1)),
                    "AgreementSample: shared_voters is 1, must be 0 or 2 or more");
  CHECK_THROWS_WITH((bpm::AgreementSample{0.5, 5, 0}.upper_limit(1)),
                    "AgreementSample: delta is 1, must lie between 0 and 1");
  CHECK_THROWS_WITH(bpm::CBound::certified(bpm::GibbsBound(1, 100), {0.5, 5, 0}),
                    "AgreementSample: delta is 0, must lie between 0 and 1");
  CHECK_THROWS_WITH(bpm::Confidence::thirds(1),
                    "Confidence::thirds: delta is 1, must lie between 0 and 1");
}
