// SPDX-License-Identifier: MIT
#include "bpm/bounds/vote_bound.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
    REQUIRE(e.bayes <= bpm::VoteBound::from_gibbs_error(e.gibbs).value() + 1e-12);
    REQUIRE(e.centre <= bpm::VoteBound(e.bayes, e.disagreement).value() + 1e-12);
    one_without_the_factor += e.bayes > e.gibbs + 1e-9 ? 1 : 0;
    four_without_delta += e.centre > e.bayes + 1e-9 ? 1 : 0;
    const bpm::CBound vote(e.gibbs, e.agreement);
    const bpm::CBound point(e.gibbs, e.agreement, e.disagreement);
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
  CHECK(bpm::VoteBound::from_gibbs_error(0.2).value() == 0.4);
  CHECK_FALSE(bpm::VoteBound::from_gibbs_error(0.2).vacuous());
  CHECK(bpm::VoteBound::from_gibbs_error(0.5).vacuous());
  CHECK(bpm::VoteBound(0.2, 0.05).value() == Approx(0.25));
  CHECK_FALSE(bpm::VoteBound(0.2, 0.05).vacuous());
  CHECK(bpm::VoteBound(0.75, 0.25).vacuous());
}

TEST_CASE("the bound by the vote, by hand") {
  // c.inputs = 0.01: 0.005 for the voters, 0.005 for the inputs.
  const bpm::Confidence thirds = bpm::Confidence::thirds(0.03);
  const bpm::GibbsBound gibbs(100, 1000, {.confidence = thirds});
  // sqrt(log(2 1000 / 0.005) / (2 20000)) = 0.01796: shares within it of one half differ.
  Eigen::VectorXd shares = Eigen::VectorXd::Constant(1000, 0.9);
  shares.head(20) << 0.517, 0.483, 0.519, 0.481, 0.1, Eigen::VectorXd::Constant(15, 0.9);
  const bpm::Votes votes{.positive = shares, .voters = 30'000};
  Eigen::VectorXd outputs = Eigen::VectorXd::Ones(1000);
  outputs[1] = outputs[3] = outputs[4] = -1;  // As the vote.
  outputs.segment(10, 4).setConstant(-0.5);   // Four that differ, beside the two in doubt.
  const auto bound = bpm::VoteBound::certified(gibbs, votes, outputs, 20'000);
  CHECK(bound.vote_error == 2 * gibbs.value());
  CHECK(bound.disagreement ==
        Approx(bpm::kl_upper_inverse(0.006, std::log(200.0) / 1000)).epsilon(1e-12));
  CHECK(bound.value() == bound.vote_error + bound.disagreement);
  CHECK(bound.delta == Approx(0.03));
  // By the definition: kl(0.006 || limit) = log(1 / 0.005) / 1000.
  const double p = bound.disagreement;
  CHECK(0.006 * std::log(0.006 / p) + 0.994 * std::log(0.994 / (1 - p)) ==
        Approx(-std::log(0.005) / 1000).epsilon(1e-10));
  // Exact shares: nothing is in doubt, and the inputs take all of 0.01.
  CHECK(bpm::VoteBound::certified(gibbs, votes, outputs, 0).disagreement ==
        Approx(bpm::kl_upper_inverse(0.004, std::log(100.0) / 1000)).epsilon(1e-12));
  // Twice a Gibbs bound of more than one half is one, and no more.
  const bpm::GibbsBound large(800, 1000, {.confidence = thirds});
  CHECK(bpm::VoteBound::certified(large, votes, outputs, 0).vote_error == 1);
}

TEST_CASE("the limit of the disagreement holds as often as it says; an estimate does not") {
  // 2000 samples of 100 inputs; a limit that fails in more than 10 % of all cases passes with a
  // probability below 0.5, one that fails in 13 % with 5e-5.
  constexpr int runs = 2000;
  constexpr double delta = 0.1;
  const bpm::GibbsBound gibbs(0, 1000, {.confidence = {0.01, 0, delta}});
  const auto missed = [&](double share, int voters, double differs, auto&& limit) {
    bpm::RandomEngine engine(17, static_cast<std::uint64_t>(voters));
    int count = 0;
    for (int run = 0; run < runs; ++run) {
      bpm::Votes votes{.positive = Eigen::VectorXd::Zero(100),
                       .voters = static_cast<std::uint64_t>(voters)};
      Eigen::VectorXd outputs(100);
      for (Eigen::Index i = 0; i < 100; ++i) {
        for (int v = 0; v < voters; ++v) {
          votes.positive[i] += bpm::uniform_unit(engine) < share ? 1.0 / voters : 0;
        }
        outputs[i] = bpm::uniform_unit(engine) < differs ? -1 : 1;  // The vote says +1.
      }
      count += limit(votes, outputs) < differs ? 1 : 0;
    }
    return count / double{runs};
  };
  const auto certified = [&](const bpm::Votes& votes, const Eigen::VectorXd& outputs) {
    return bpm::VoteBound::certified(gibbs, votes, outputs, votes.voters).disagreement;
  };
  const auto without_doubt = [&](const bpm::Votes& votes, const Eigen::VectorXd& outputs) {
    return bpm::VoteBound::certified(gibbs, votes, outputs, 0).disagreement;
  };
  const auto estimate = [](const bpm::Votes& votes, const Eigen::VectorXd& outputs) {
    return votes.disagreement(outputs);
  };
  CHECK(missed(0.95, 60, 0.1, certified) <= delta);
  CHECK(missed(0.95, 60, 0.1, estimate) > 2 * delta);
  // Shares so near to one half that the voters at hand do not know the vote.
  CHECK(missed(0.51, 20, 0.9, certified) <= delta);
  CHECK(missed(0.51, 20, 0.9, without_doubt) > 2 * delta);
}

TEST_CASE("the bound by the vote is kept by the classifier; without their difference it is not") {
  // Labels +1 on [0, 1). Voter k of eight is wrong on an interval of its own of length 0.02; the
  // posterior is the even law of those without an error on 40 training inputs. The classifier is
  // wrong on the last 0.3, where no voter is.
  constexpr int runs = 2000;
  const bpm::Confidence confidence{0.05, 0, 0.05};
  bpm::RandomEngine engine(23);
  int broken = 0;
  int broken_without_difference = 0;
  int possible = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<bool> right(8, true);
    for (int i = 0; i < 40; ++i) {
      const auto hit = static_cast<std::size_t>(bpm::uniform_unit(engine) / 0.02);
      if (hit < right.size()) right[hit] = false;
    }
    const auto left = std::count(right.begin(), right.end(), true);
    if (left == 0) continue;
    ++possible;
    const bpm::GibbsBound gibbs(-std::log(static_cast<double>(left) / 8), 40,
                                {.confidence = confidence, .theorem = bpm::PacBayes::realizable});
    bpm::Votes votes{.positive = Eigen::VectorXd::Ones(200)};
    Eigen::VectorXd outputs(200);
    for (Eigen::Index i = 0; i < 200; ++i) {
      const double x = bpm::uniform_unit(engine);
      const auto wrong = static_cast<std::size_t>(x / 0.02);
      if (wrong < right.size() && right[wrong])
        votes.positive[i] -= 1.0 / static_cast<double>(left);
      outputs[i] = x < 0.7 ? 1 : -1;
    }
    const auto bound = bpm::VoteBound::certified(gibbs, votes, outputs, 0);
    broken += bound.value() < 0.3 ? 1 : 0;
    broken_without_difference += bound.vote_error < 0.3 ? 1 : 0;
  }
  CHECK(possible > 0.9 * runs);
  CHECK(broken <= confidence.total() * possible);
  CHECK(broken_without_difference > 2 * confidence.total() * possible);
}

TEST_CASE("arguments of the bounds on the vote are checked") {
  CHECK_THROWS_WITH(bpm::VoteBound::from_gibbs_error(1.5),
                    "VoteBound: gibbs_error is 1.5, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::VoteBound(-1, 0), "VoteBound: vote_error is -1, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::VoteBound(0, 2), "VoteBound: disagreement is 2, must lie in [0, 1]");
  const bpm::Votes votes{.positive = Eigen::Vector2d(1, 0), .voters = 2};
  const Eigen::VectorXd outputs = Eigen::Vector2d(1, -1);
  const bpm::GibbsBound gibbs(10, 100, {.confidence = bpm::Confidence::thirds(0.1)});
  CHECK_THROWS_WITH(bpm::VoteBound::certified(bpm::GibbsBound(10, 100), votes, outputs, 0),
                    "VoteBound::certified: confidence.inputs is 0, must lie between 0 and 1");
  CHECK_THROWS_WITH(bpm::VoteBound::certified(gibbs, votes, outputs, 1),
                    "VoteBound::certified: independent_voters is 1, must be 0 or 2 or more");
  CHECK_THROWS_WITH(bpm::VoteBound::certified(gibbs, votes, outputs.head(1), 0),
                    "Votes::disagreement: outputs has 1 entries, expected 2 (one per input)");
}
