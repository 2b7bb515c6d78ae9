// SPDX-License-Identifier: MIT
#include "bpm/bounds/vote_bound.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/decision/votes.hpp"
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

TEST_CASE("the bound by margins on any classifier, by enumeration; attained by one margin") {
  std::size_t of_a_margin = 0;
  int below_twice = 0;
  int without_margins = 0;  // e / t without the term of the margins: no bound.
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    bpm::RandomEngine engine(seed);
    const auto inputs = 1 + static_cast<Eigen::Index>(8 * bpm::uniform_unit(engine));
    const double skill = bpm::uniform_unit(engine);
    const double follows = bpm::uniform_unit(engine);  // How often the classifier is the vote.
    Eigen::VectorXd margins(inputs);
    double gibbs = 0;
    double error = 0;
    for (double& margin : margins) {
      const double y = bpm::uniform_unit(engine) < 0.5 ? -1 : 1;
      const double m = std::clamp(y * skill + 2 * bpm::uniform_unit(engine) - 1, -1.0, 1.0);
      const double vote = m > 0 ? 1 : -1;
      const double c = bpm::uniform_unit(engine) < follows ? vote : -vote;
      margin = c * m;
      gibbs += (1 - y * m) / 2 / static_cast<double>(inputs);
      error += c != y ? 1 / static_cast<double>(inputs) : 0;
    }
    CAPTURE(seed);
    const bpm::VoteMarginBound bound(std::min(1.0, gibbs), margins);
    REQUIRE(error <= bound.value() + 1e-12);
    REQUIRE(bound.value() <= 1);
    of_a_margin += bound.threshold < 1 ? 1 : 0;
    below_twice += bound.value() < 2 * gibbs - 1e-9 ? 1 : 0;
    without_margins += error > gibbs + 1e-9 ? 1 : 0;
  }
  CHECK(of_a_margin > 100);
  CHECK(below_twice > 100);
  CHECK(without_margins > 100);
  // Inputs that are wrong have the margin t, the others 1: the bound is the error.
  for (const double t : {0.2, 0.5, 0.85}) {
    Eigen::VectorXd margins = Eigen::VectorXd::Ones(100);
    margins.head(7).setConstant(t);
    const bpm::VoteMarginBound bound(0.07 * (1 + t) / 2, margins);
    CHECK(bound.value() == Approx(0.07).epsilon(1e-12));
    CHECK(bound.threshold == t);
    CHECK(bound.delta == 0);
    CHECK_FALSE(bound.vacuous());
  }
  CHECK(bpm::VoteMarginBound(0.5, Eigen::VectorXd::Zero(3)).vacuous());
}

TEST_CASE("the certified bound by margins, by hand") {
  const bpm::GibbsBound gibbs(400, 1000, {.confidence = bpm::Confidence::thirds(0.03)});
  const Eigen::VectorXd margins = Eigen::VectorXd::LinSpaced(2000, 0.1, 1);
  const bpm::VoteMarginBound exact = bpm::VoteMarginBound::certified(gibbs, margins, 0);
  CHECK(exact.delta == Approx(0.03));
  CHECK(exact.gibbs_error == gibbs.value());
  const double t = exact.threshold;
  const double least = -(1 - t) / (2 * t);
  const Eigen::ArrayXd g = (1 - margins.array() / t).max(0.0) - (1 - margins.array()) / (2 * t);
  const double limit =
      bpm::kl_upper_inverse((g.mean() - least) / (1 - least), std::log(10 / 0.01) / 2000);
  CHECK(exact.value() == Approx(gibbs.value() / t + least + (1 - least) * limit).epsilon(1e-12));
  CHECK(exact.value() > bpm::VoteMarginBound(gibbs.value(), margins).value());

  const bpm::VoteMarginBound voters = bpm::VoteMarginBound::certified(gibbs, margins, 5000);
  const double s = voters.threshold;
  const double low = -(1 - s) / (2 * s);
  const Eigen::ArrayXd h = (1 - margins.array() / s).max(0.0) - (1 - margins.array()) / (2 * s);
  const double of_inputs =
      bpm::kl_upper_inverse((h.mean() - low) / (1 - low), std::log(20 / 0.01) / 2000);
  CHECK(voters.value() == Approx(gibbs.value() / s + low + (1 - low) * of_inputs +
                                 std::sqrt(std::log(20 / 0.01) / 10'000) / s)
                              .epsilon(1e-12));
  // A Gibbs error that these margins cannot have: by the rates 0, of limits one has failed.
  const bpm::GibbsBound small(1, 1000, {.confidence = bpm::Confidence::thirds(0.03)});
  CHECK(bpm::VoteMarginBound(small.value(), Eigen::VectorXd::Zero(2000)).value() == 0);
  CHECK(bpm::VoteMarginBound::certified(small, Eigen::VectorXd::Constant(2000, 0.2), 0).value() ==
        1);
}

TEST_CASE("the limits of the bound by margins hold as often as they say; weaker ones do not",
          "[at length]") {
  const auto summand = [](double t, double b) {
    return std::max(0.0, 1 - b / t) - (1 - b) / (2 * t);
  };
  const bpm::GibbsBound free(400, 1000, {.confidence = {0.01, 0, 0.01}});
  const auto with_inputs = [&](double delta) {
    bpm::GibbsBound gibbs = free;
    gibbs.confidence.inputs = delta;
    return gibbs;
  };
  // What takes the place of E[summand] at the t that was best must not lie below it. Inputs alone:
  // margins -1 and 0.5, exact, of which t = 0.5 makes a coin. At 0.999 the limit's exponent is a
  // third of that at 0.01.
  constexpr double share = 0.1;
  int missed = 0;
  int missed_by_weaker = 0;
  constexpr int runs = 20'000;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    bpm::RandomEngine engine(seed, 1);
    Eigen::VectorXd margins(100);
    for (double& b : margins) b = bpm::uniform_unit(engine) < share ? -1.0 : 0.5;
    const auto misses = [&](double delta) {
      const auto bound = bpm::VoteMarginBound::certified(with_inputs(delta), margins, 0);
      const double t = bound.threshold;
      const double mean = share * summand(t, -1) + (1 - share) * summand(t, 0.5);
      return bound.value() < std::min(1.0, free.value() / t + mean) - 1e-12;
    };
    missed += misses(0.01) ? 1 : 0;
    missed_by_weaker += misses(0.999) ? 1 : 0;
  }
  CAPTURE(missed, missed_by_weaker);
  CHECK(missed <= runs / 100);
  CHECK(missed_by_weaker > runs / 100);
  // Voters alone: all inputs have one margin, the mean of ten voters. Without a limit for them.
  missed = 0;
  int missed_without = 0;
  constexpr double b = 0.2;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    bpm::RandomEngine engine(seed, 2);
    double mean = 0;
    for (int v = 0; v < 10; ++v) mean += bpm::uniform_unit(engine) < (1 + b) / 2 ? 0.1 : -0.1;
    const Eigen::VectorXd margins = Eigen::VectorXd::Constant(2000, mean);
    const auto misses = [&](std::uint64_t voters) {
      const auto bound = bpm::VoteMarginBound::certified(free, margins, voters);
      return bound.value() <
             std::min(1.0, free.value() / bound.threshold + summand(bound.threshold, b)) - 1e-12;
    };
    missed += misses(10) ? 1 : 0;
    missed_without += misses(0) ? 1 : 0;
  }
  CAPTURE(missed_without);
  CHECK(missed <= 20);
  CHECK(missed_without > 200);
}

TEST_CASE("arguments of the bound by margins are checked") {
  const bpm::GibbsBound exact(1, 10, {.confidence = bpm::Confidence::exact(0.1)});
  const Eigen::VectorXd margins = Eigen::VectorXd::Zero(2);
  CHECK_THROWS_WITH(bpm::VoteMarginBound(1.5, margins),
                    "VoteMarginBound: gibbs_error is 1.5, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::VoteMarginBound(0.5, Eigen::VectorXd()),
                    "VoteMarginBound: margins are none, must be one or more");
  CHECK_THROWS_WITH(bpm::VoteMarginBound(0.5, Eigen::VectorXd::Constant(1, -2)),
                    "VoteMarginBound: margins at 0 is -2, must lie in [-1, 1]");
  CHECK_THROWS_WITH(bpm::VoteMarginBound::certified(exact, margins, 0),
                    "VoteMarginBound: confidence.inputs is 0, must lie between 0 and 1");
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
  // sqrt(log(2 1000 / 0.005) / (2 20000)) = 0.01796: shares within it of one half differ. One side
  // alone, log(1000 / 0.005), would make it 0.01747, and the first two sure.
  Eigen::VectorXd shares = Eigen::VectorXd::Constant(1000, 0.9);
  shares.head(20) << 0.5178, 0.4822, 0.519, 0.481, 0.1, Eigen::VectorXd::Constant(15, 0.9);
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
  const bpm::Votes exact{.positive = shares};
  CHECK(bpm::VoteBound::certified(gibbs, exact, outputs, 0).disagreement ==
        Approx(bpm::kl_upper_inverse(0.004, std::log(100.0) / 1000)).epsilon(1e-12));
  // Twice a Gibbs bound of more than one half is one, and no more.
  const bpm::GibbsBound large(800, 1000, {.confidence = thirds});
  CHECK(bpm::VoteBound::certified(large, exact, outputs, 0).vote_error == 1);
}

TEST_CASE("the limit of the disagreement holds as often as it says; an estimate does not",
          "[at length]") {
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
  const auto without_doubt = [&](bpm::Votes votes, const Eigen::VectorXd& outputs) {
    votes.voters = 0;
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
  const auto of_more = GENERATE(0U, 3U);  // No shares of two voters are exact, or worth three.
  CHECK_THROWS_WITH(bpm::VoteBound::certified(gibbs, votes, outputs, of_more),
                    "VoteBound::certified: independent_voters is " + std::to_string(of_more) +
                        ", must be 2 to 2, the number of voters");
  CHECK_THROWS_WITH(bpm::VoteBound::certified(gibbs, votes, outputs.head(1), 2),
                    "Votes::disagreement: outputs has 1 entries, expected 2 (one per input)");
}

namespace {

/// Inputs whose share of voters for the first class is v^2, v even: alpha = E[(2 v^2 - 1)^2] =
/// 4 / 5 - 4 / 3 + 1.
constexpr double known_agreement = 4.0 / 5 - 4.0 / 3 + 1;

/// Mean over inputs of the squared mean sign of voters that are drawn anew at each input.
double measured_agreement(bpm::RandomEngine& engine, int inputs, int voters) {
  double sum = 0;
  for (int i = 0; i < inputs; ++i) {
    const double v = bpm::uniform_unit(engine);
    double mean = 0;
    for (int k = 0; k < voters; ++k) {
      mean += (v * v > bpm::uniform_unit(engine) ? 1.0 : -1.0) / voters;
    }
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
  const double raw = measured_agreement(engine, inputs, voters);
  const double se = 0.5 / std::sqrt(inputs);  // Values in [0, 1].
  CHECK(raw == Approx(known_agreement + (1 - known_agreement) / voters).margin(5 * se));
  CHECK(unbiased(raw, voters) == Approx(known_agreement).margin(7 * se));
  CHECK(std::abs(raw - known_agreement) > 5 * se);  // Uncorrected it fails the same check.
  CHECK(unbiased(1, 7) == 1);
  CHECK(unbiased(0.5, 2) == 0);
}

TEST_CASE("the upper limit of the agreement holds as often as it says; a mean does not") {
  bpm::RandomEngine engine(9);
  const double delta = 0.1;
  const int runs = 2000;
  const int voters = 3;
  int missed = 0;
  int missed_by_unbiased_mean = 0;
  for (int run = 0; run < runs; ++run) {
    const double mean = measured_agreement(engine, 40, voters);
    missed += bpm::kl_upper_inverse(mean, std::log(1 / delta) / 40) < known_agreement;
    missed_by_unbiased_mean += unbiased(mean, voters) < known_agreement;
  }
  CHECK(missed <= delta * runs);
  CHECK(missed_by_unbiased_mean > 2 * delta * runs);
}

TEST_CASE("a certified C-bound") {
  const bpm::Confidence third = bpm::Confidence::thirds(0.03);
  CHECK(third.sample == Approx(0.01));
  CHECK(third.estimate == Approx(0.01));
  CHECK(third.inputs == Approx(0.01));
  const bpm::GibbsBound gibbs(100, 1000, {third});
  const double limit = bpm::kl_upper_inverse(0.65, -std::log(third.inputs) / 5000);
  const bpm::CBound b = bpm::CBound::certified(gibbs, limit, 0.01);
  CHECK(b.delta == Approx(0.03));
  CHECK(b.gibbs_error == gibbs.value());
  CHECK(b.agreement == limit);
  const double rest = 1 - 2 * gibbs.value();
  CHECK(b.value() == Approx(1 - rest * rest / b.agreement + 0.01));
  CHECK_FALSE(b.vacuous());
  CHECK(b.value() > bpm::CBound(gibbs.value(), 0.65, 0.01).value());
  // A Gibbs bound of 1/2 or more certifies nothing.
  CHECK(bpm::CBound::certified(bpm::GibbsBound(800, 1000, {third}), limit).value() == 1);
  // Limits that cannot both hold: one has failed, and nothing is certain.
  const bpm::CBound failed = bpm::CBound::certified(bpm::GibbsBound(1, 10'000, {third}), 0.31);
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
  CHECK_THROWS_WITH(bpm::CBound::certified(bpm::GibbsBound(1, 100), 0.5),
                    "CBound: confidence.inputs is 0, must lie between 0 and 1");
  CHECK_THROWS_WITH(bpm::Confidence::thirds(1),
                    "Confidence::thirds: delta is 1, must lie between 0 and 1");
}
