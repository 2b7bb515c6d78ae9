// SPDX-License-Identifier: MIT
#include "bpm/bounds/vote_bound.hpp"

#include <cmath>
#include <numbers>

#include "bpm/core/random.hpp"
#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

/// Outputs w - t of `draws` numbers w at the inputs t just below the mean: as many as possible on
/// the wrong side of it. `inverse` is the quantile function of w.
template <class Inverse>
Eigen::MatrixXd outputs_below(double mean, Eigen::Index draws, Inverse&& inverse) {
  bpm::RandomEngine engine(21);
  Eigen::MatrixXd outputs(3, draws);
  for (Eigen::Index k = 0; k < draws; ++k) {
    const double w = inverse(bpm::uniform_unit(engine));
    outputs(0, k) = w;
    outputs(1, k) = w - 0.999 * mean;
    outputs(2, k) = 1.001 * mean - w;
  }
  return outputs;
}

}  // namespace

TEST_CASE("the agreement of draws with a centre by hand") {
  Eigen::MatrixXd outputs(3, 4);
  outputs << 1, 2, -1, 3,  //
      1, -1, -1, 0,        //
      5, -5, 5, -5;
  Eigen::VectorXd centre(3);
  centre << 1, -0.25, 0;
  const bpm::AgreementCheck check(outputs, centre);
  CHECK(check.smallest == 0.75);  // At both: 0 stands on both sides.
  CHECK(check.point == 0);
  CHECK(check.mean == 0.75);
  CHECK(check.undecided == 1);
  CHECK(check.draws == 4);
  CHECK(check.holds());
  CHECK(check.threshold == 0);  // Four draws tell nothing at 1e-6.
  const bpm::AgreementCheck nothing(outputs, Eigen::VectorXd::Zero(3));
  CHECK(nothing.undecided == 3);
  CHECK(nothing.point == -1);
  CHECK(nothing.holds());
}

TEST_CASE("the threshold tends to 1 / e with the number of draws, from below") {
  const Eigen::VectorXd centre = Eigen::VectorXd::Ones(2);
  double before = 0;
  for (const Eigen::Index draws : {100, 1000, 10'000, 100'000}) {
    const bpm::AgreementCheck check(Eigen::MatrixXd::Ones(2, draws), centre);
    CHECK(check.threshold > before);
    CHECK(check.threshold < 1 / std::numbers::e);
    CHECK(bpm::binary_relative_entropy(check.threshold, 1 / std::numbers::e) ==
          Approx(std::log(2e6) / static_cast<double>(draws)).epsilon(1e-9));
    before = check.threshold;
  }
  CHECK(before == Approx(1 / std::numbers::e).margin(0.01));
}

TEST_CASE("an exponential ensemble just passes, a heavier tail fails") {
  const Eigen::Index draws = 20'000;
  Eigen::VectorXd centre(3);
  centre << 1, 1, 1;  // The signs of the mean's outputs.
  // Density exp(-w): P(w > mean) = 1 / e.
  const bpm::AgreementCheck exponential(
      outputs_below(1, draws, [](double u) { return -std::log1p(-u); }), centre);
  CHECK(exponential.holds());
  CHECK(exponential.smallest == Approx(1 / std::numbers::e).margin(0.02));
  CHECK(exponential.point == 1);
  // P(W > s) = (1 + s)^-3, mean 1/2: 0.296 of the draws are above it.
  const bpm::AgreementCheck heavy(
      outputs_below(0.5, draws, [](double u) { return std::pow(1 - u, -1.0 / 3) - 1; }), centre);
  CHECK_FALSE(heavy.holds());
  CHECK(heavy.smallest == Approx(std::pow(1.5, -3.0)).margin(0.02));
  // Nor does a centre that is not the ensemble's.
  const bpm::AgreementCheck wrong(outputs_below(1, draws, [](double u) { return -std::log1p(-u); }),
                                  -centre);
  CHECK_FALSE(wrong.holds());
}

TEST_CASE("lemma 2 on Gaussian ensembles in several dimensions") {
  bpm::RandomEngine engine(4);
  bpm::NormalDraws normal;
  const Eigen::Index d = 4;
  Eigen::MatrixXd w(d, 3000);
  for (Eigen::Index i = 0; i < w.size(); ++i) w.data()[i] = normal(engine);
  w = (Eigen::MatrixXd::Random(d, d) * w).eval();
  const Eigen::VectorXd mu = Eigen::VectorXd::Constant(d, 0.05);
  w.colwise() += mu;
  Eigen::MatrixXd x(40, d);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = normal(engine);
  const bpm::AgreementCheck check(x * w, x * mu);
  CHECK(check.holds());
  CHECK(check.smallest >= 0.45);  // A symmetric law: one half.
}

TEST_CASE("arguments of the agreement check are checked") {
  const Eigen::MatrixXd outputs = Eigen::MatrixXd::Ones(2, 3);
  const Eigen::VectorXd centre = Eigen::VectorXd::Ones(2);
  CHECK_THROWS_WITH(bpm::AgreementCheck(Eigen::MatrixXd(0, 3), centre),
                    "AgreementCheck: outputs is 0 x 3, expected one point and one draw or more");
  CHECK_THROWS_WITH(bpm::AgreementCheck(Eigen::MatrixXd(2, 0), centre),
                    "AgreementCheck: outputs is 2 x 0, expected one point and one draw or more");
  CHECK_THROWS_WITH(bpm::AgreementCheck(outputs, Eigen::VectorXd::Ones(3)),
                    "AgreementCheck: centre has 3 entries, expected 2 (one per point)");
  Eigen::MatrixXd bad = outputs;
  bad(1, 1) = std::nan("");
  CHECK_THROWS_WITH(bpm::AgreementCheck(bad, centre),
                    "AgreementCheck: outputs holds a number that is not finite");
  CHECK_THROWS_WITH(bpm::AgreementCheck(outputs, bad.col(1)),
                    "AgreementCheck: centre holds a number that is not finite");
  CHECK_THROWS_WITH(bpm::AgreementCheck(outputs, centre, 1),
                    "AgreementCheck: delta is 1, must lie between 0 and 1");
}
