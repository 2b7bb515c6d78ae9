// SPDX-License-Identifier: MIT
#include "bpm/bounds/bayes_bound.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bpm/bounds/c_bound.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "catch.hpp"

namespace {

/// A finite ensemble on finite inputs with labels, everything by enumeration: outputs of the
/// voters, their weights, the inputs' weights.
struct Ensemble {
  double gibbs = 0;         ///< Gibbs error.
  double bayes = 0;         ///< Error of the weighted vote.
  double centre = 0;        ///< Error of the sign of the mean output.
  double agreement = 0;     ///< alpha.
  double disagreement = 0;  ///< Delta.
};

Ensemble random_ensemble(std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  const int voters = 1 + static_cast<int>(6 * bpm::uniform_unit(engine));
  const int inputs = 1 + static_cast<int>(8 * bpm::uniform_unit(engine));
  const double skill = 3 * bpm::uniform_unit(engine);
  std::vector<double> weight(static_cast<std::size_t>(voters));
  double total = 0;
  for (double& w : weight) total += w = 0.01 + bpm::uniform_unit(engine);
  Ensemble e;
  double mass = 0;
  for (int i = 0; i < inputs; ++i) {
    const double share = 0.1 + bpm::uniform_unit(engine);
    const double y = bpm::uniform_unit(engine) < 0.5 ? -1 : 1;
    mass += share;
    double vote = 0;
    double mean = 0;
    for (const double w : weight) {
      const double output = y * skill + normal(engine) * std::exp(2 * normal(engine));
      vote += w / total * (output > 0 ? 1 : -1);
      mean += w / total * output;
    }
    e.gibbs += share * (1 - y * vote) / 2;
    e.bayes += share * (y * vote <= 0 ? 1 : 0);
    e.centre += share * (y * mean <= 0 ? 1 : 0);
    e.agreement += share * vote * vote;
    e.disagreement += share * ((vote > 0) != (mean > 0) ? 1 : 0);
  }
  // Rounding may leave [0, 1].
  e.gibbs = std::clamp(e.gibbs / mass, 0.0, 1.0);
  e.bayes /= mass;
  e.centre /= mass;
  e.agreement = std::clamp(e.agreement / mass, 0.0, 1.0);
  e.disagreement /= mass;
  return e;
}

}  // namespace

TEST_CASE("lemmas 1, 4, 5 and 6 on random ensembles, by enumeration") {
  int applicable = 0;
  int one_without_the_factor = 0;
  int four_without_delta = 0;
  int five_without_alpha = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const Ensemble e = random_ensemble(seed);
    CAPTURE(seed);
    REQUIRE(e.bayes <= bpm::bayes_bound(e.gibbs).value() + 1e-12);
    REQUIRE(e.centre <= bpm::centre_bound(e.bayes, e.disagreement).value() + 1e-12);
    one_without_the_factor += e.bayes > e.gibbs + 1e-9 ? 1 : 0;
    four_without_delta += e.centre > e.bayes + 1e-9 ? 1 : 0;
    const bpm::CBound vote = bpm::c_bound(e.gibbs, e.agreement);
    const bpm::CBound point = bpm::c_bound(e.gibbs, e.agreement, e.disagreement);
    REQUIRE(vote.consistent());
    REQUIRE(e.bayes <= vote.value() + 1e-9);
    REQUIRE(e.centre <= point.value() + 1e-9);
    if (vote.applies()) {
      ++applicable;
      const double root = std::sqrt(e.agreement);  // A wrong exponent, as a mutant.
      five_without_alpha +=
          e.bayes > 1 - (1 - 2 * e.gibbs) * (1 - 2 * e.gibbs) / (root * e.agreement * root) + 1e-9
              ? 1
              : 0;
    }
  }
  CHECK(applicable > 1000);
  // The checks would see a lemma without its factor or term.
  CHECK(one_without_the_factor > 10);
  CHECK(four_without_delta > 10);
  CHECK(five_without_alpha > 10);
}

TEST_CASE("bounds on the vote and on its Bayes point by hand") {
  CHECK(bpm::bayes_bound(0.2).value() == 0.4);
  CHECK_FALSE(bpm::bayes_bound(0.2).vacuous());
  CHECK(bpm::bayes_bound(0.5).vacuous());
  CHECK(bpm::centre_bound(0.2, 0.05).value() == Approx(0.25));
  CHECK_FALSE(bpm::centre_bound(0.2, 0.05).vacuous());
  CHECK(bpm::centre_bound(0.75, 0.25).vacuous());
}

TEST_CASE("arguments of the bounds on the vote are checked") {
  CHECK_THROWS_WITH(bpm::bayes_bound(1.5), "bayes_bound: gibbs_error is 1.5, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::centre_bound(-1, 0),
                    "centre_bound: bayes_error is -1, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::centre_bound(0, 2), "centre_bound: disagreement is 2, must lie in [0, 1]");
}
