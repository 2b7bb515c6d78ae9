// SPDX-License-Identifier: MIT
// Orthant probabilities against closed forms, and their error bars against the truth.
#include "bpm/gaussian_process/orthant/orthant_probability.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"
#include "mutants/few_dimensions.hpp"
#include "mutants/independent_given.hpp"
#include "mutants/one_end.hpp"
#include "orthant_problems.hpp"

using namespace orthant_tests;
using OrthantMethod = bpm::OrthantProbability::Method;
using bpm::OrthantProbability;
using OrthantSettings = bpm::OrthantProbability::Settings;
using bpm::RandomStreams;

namespace {

OrthantProbability probability(const Eigen::MatrixXd& covariance,
                               const std::vector<signed char>& signs,
                               const OrthantSettings& settings = {}, std::uint64_t seed = 1) {
  RandomStreams streams{.seed = seed};
  return bpm::orthant_probability(covariance, signs, settings, streams);
}

/// Within 5 standard errors, which are as small as stated.
void check_value(const OrthantProbability& found, double truth, double most_error) {
  CAPTURE(found.log_probability, truth, found.standard_error, found.stages);
  CHECK(std::abs(found.log_probability - truth) < 5 * found.standard_error);
  CHECK(found.standard_error < most_error);
  CHECK(found.standard_error > 0);
}

/// log P for correlation rho >= 0 between all: given the shared part the rest is independent.
double log_equicorrelated(const std::vector<signed char>& signs, double rho) {
  const double slope = std::sqrt(rho / (1 - rho));
  return std::log(normal_mean([&](double g) {
    double sum = 0;
    for (const signed char y : signs) sum += bpm::detail::log_normal_cdf(y * slope * g);
    return std::exp(sum);
  }));
}

/// Stages that may be wrong, with so many draws each.
template <class Stages>
bpm::detail::OrthantStagesResult run_stages(const bpm::detail::CovariancePath& path,
                                            std::size_t draws) {
  const bpm::RunControl control;
  const RandomStreams streams;
  Stages stages(path, std::numbers::pi / 2, control);
  stages.choose(64, 16, 1.0, streams.stream(0));
  stages.measure(draws, 16, streams, 1, 1);
  return stages.result();
}

/// The percentage of intervals of 95 % that hold the truth, and of upper limits of 99 % above it.
struct Coverage {
  double two_sided = 0;
  double upper = 0;
  double of_a_third = 0;  ///< Likewise of limits at 1 - 0.01 / 3, which a bound at 99 % takes.
};

constexpr OrthantSettings few{.standard_error = 0, .draws = 64};

/// On equicorrelated points, where P = 1 / (n + 1), by an identity that may be wrong; of the given
/// signs of settings.given points likewise.
template <class Stages>
Coverage coverage(std::ptrdiff_t n, const OrthantSettings& settings = few,
                  std::uint64_t runs = 50) {
  const bpm::detail::CovariancePath path(equicorrelated(n, 0.5), settings.given);
  const bpm::RunControl control;
  Coverage held;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    Stages stages(path, settings.path_length, control);
    const RandomStreams streams{.seed = seed};
    stages.choose(settings.pilot_draws, settings.burn_in, 1.0, streams.stream(0));
    stages.measure(settings.draws, settings.burn_in, streams, 1, 1);
    const bpm::detail::OrthantStagesResult result = stages.result();
    OrthantProbability found;
    found.log_probability = result.value;
    found.standard_error = std::sqrt(result.variance);
    found.degrees_of_freedom = result.freedom;
    const double truth =
        std::log((static_cast<double>(n) + 1) / (static_cast<double>(settings.given) + 1));
    const double reach = found.upper_log_inverse(0.975) + found.log_probability;
    const double share = 100 / static_cast<double>(runs);
    held.two_sided += std::abs(found.log_probability + truth) <= reach ? share : 0;
    held.upper += found.upper_log_inverse(0.99) >= truth ? share : 0;
    held.of_a_third += found.upper_log_inverse(1 - 0.01 / 3) >= truth ? share : 0;
  }
  return held;
}

}  // namespace

TEST_CASE("orthant probability: one point and independent points are exact") {
  const OrthantProbability one = probability(Eigen::MatrixXd::Constant(1, 1, 7.0), {-1});
  CHECK(one.log_probability == -std::numbers::ln2);
  CHECK(one.standard_error == 0);
  CHECK(one.method == OrthantMethod::exact);
  CHECK(one.upper_log_inverse(0.99) == std::numbers::ln2);
  const Eigen::VectorXd variances = Eigen::VectorXd::LinSpaced(11, 0.5, 3);
  const OrthantProbability found = probability(variances.asDiagonal(), random_signs(11, 1));
  CHECK(found.log_probability == Approx(-11 * std::numbers::ln2).epsilon(1e-14));
  CHECK(found.standard_error < 1e-14);
  CHECK(found.upper_log_inverse(0.99) == Approx(11 * std::numbers::ln2).epsilon(1e-13));
  CHECK(found.method == OrthantMethod::covariance_path);
  CHECK(found.stages == 2);
}

TEST_CASE("orthant probability: of coin labels it is not too large by 1e-9 of its logarithm") {
  // New coins are wrong half of the time, whatever is learnt from K = I, and every set of labels
  // costs C = n log 2: without log(1 / delta) the bound on the Gibbs error is 1/2, attained, and
  // any understatement of C violates it on every training set.
  for (const Eigen::Index n : {1, 5, 40, 200}) {
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
    const double cost = -probability(identity, random_signs(n, 7), few, 1).log_probability;
    const auto bound = [&](double c) {
      return bpm::kl_upper_inverse(0, c / static_cast<double>(n));
    };
    CAPTURE(n, cost);
    CHECK(bound(cost) >= 0.5 - 1e-14);
    CHECK(bound(cost - 1e-9) < 0.5 - 1e-14);
  }
}

TEST_CASE("orthant probability: the upper limit takes Student's quantile, not the normal one") {
  OrthantProbability found{.log_probability = -10, .standard_error = 2, .degrees_of_freedom = 7};
  // From tables: t(0.99, 7) = 2.99795, t(0.99, 5) = 3.36493, t(0.99, 30) = 2.45726.
  CHECK(found.upper_log_inverse(0.99) == Approx(10 + 2 * 2.99795).epsilon(5e-4));
  found.degrees_of_freedom = 30;
  CHECK(found.upper_log_inverse(0.99) == Approx(10 + 2 * 2.45726).epsilon(5e-4));
  found.degrees_of_freedom = 5;
  const double five = found.upper_log_inverse(0.99);
  CHECK(five == Approx(10 + 2 * 3.36493).epsilon(2e-3));
  found.degrees_of_freedom = 2;  // The expansion is for five and more.
  CHECK(found.upper_log_inverse(0.99) == five);
  found.degrees_of_freedom = infinite;
  CHECK(found.upper_log_inverse(0.99) == Approx(10 + 2 * 2.3263479).epsilon(1e-8));
  CHECK(found.upper_log_inverse(0.5) == Approx(10).epsilon(1e-12));
}

TEST_CASE("orthant probability: two and three points are known by arcsines") {
  const auto pair = [](double rho) { return 0.25 + std::asin(rho) / (2 * std::numbers::pi); };
  const double rho = GENERATE(-0.99, -0.5, 0.3, 0.9999);
  Eigen::MatrixXd two(2, 2);
  two << 4, 2 * rho, 2 * rho, 1;
  const OrthantSettings precise{.standard_error = 0.01};
  check_value(probability(two, {1, 1}, precise), std::log(pair(rho)), 0.0101);
  check_value(probability(two, {1, -1}, precise), std::log(pair(-rho)), 0.0101);
  const double a = 0.3;
  const double b = -0.5;
  const double c = 0.6;
  Eigen::MatrixXd three(3, 3);
  three << 1, a, b, a, 1, c, b, c, 1;
  const int signs = GENERATE(0, 1, 2, 3);
  std::vector<signed char> y{1, 1, 1};
  if (signs > 0) y[static_cast<std::size_t>(signs - 1)] = -1;
  const double sum =
      y[0] * y[1] * std::asin(a) + y[0] * y[2] * std::asin(b) + y[1] * y[2] * std::asin(c);
  check_value(probability(three, y, precise), std::log(0.125 + sum / (4 * std::numbers::pi)),
              0.0101);
}

TEST_CASE("orthant probability: nearly singular correlations") {
  const double rho = 1 - GENERATE(1e-4, 1e-7);
  const double angle = std::asin(rho);
  const OrthantProbability all = probability(equicorrelated(3, rho), ones(3));
  check_value(all, std::log(0.125 + 3 * angle / (4 * std::numbers::pi)), 0.25);
  const OrthantProbability mixed = probability(equicorrelated(3, rho), {1, -1, 1});
  // 1/8 - asin(rho) / (4 pi), without the difference of equals.
  const double gap = std::atan2(std::sqrt((1 - rho) * (1 + rho)), rho);
  check_value(mixed, std::log(gap / (4 * std::numbers::pi)), 0.25);
  CHECK(mixed.method == OrthantMethod::covariance_path);
}

TEST_CASE("orthant probability: equal correlations, by quadrature") {
  const double rho = GENERATE(0.2, 0.5, 0.8);
  const std::ptrdiff_t n = 40;
  CAPTURE(rho);
  check_value(probability(equicorrelated(n, rho), ones(n)), log_equicorrelated(ones(n), rho), 0.25);
  const std::vector<signed char> signs = random_signs(n, 2);
  check_value(probability(equicorrelated(n, rho), signs), log_equicorrelated(signs, rho), 0.25);
}

TEST_CASE("orthant probability: three hundred points with correlation one half", "[at length]") {
  const OrthantProbability found = probability(equicorrelated(300, 0.5), ones(300));
  check_value(found, -std::log(301.0), 0.25);
  CHECK(found.reached);
  CHECK(found.bounces > 0);
}

TEST_CASE("orthant probability: intervals hold the truth as often as they say", "[at length]") {
  // 2000 runs: three standard errors of a share of 95 % are 1.5 points.
  const std::ptrdiff_t n = GENERATE(2, 20);
  const std::ptrdiff_t given = GENERATE_COPY(0, n / 2);
  OrthantSettings settings = few;
  settings.given = given;
  const Coverage held = coverage<bpm::detail::OrthantStages>(n, settings, 2000);
  CAPTURE(n, given, held.two_sided, held.upper, held.of_a_third);
  CHECK(held.two_sided >= 93.5);
  CHECK(held.two_sided <= 96.5);
  CHECK(held.upper >= 98.4);
  // Of 99.67, three standard errors are 0.39. Of two points and the fewest draws one stage is all
  // there is, and its mean is not normal so far out.
  CHECK(held.of_a_third >= (n == 2 ? 99.0 : 99.28));
}

TEST_CASE("orthant probability: limits hold where the error itself ends the run", "[at length]") {
  // As bounds ask for it, and near what the first draws reach: 2000 runs, as above.
  const Eigen::MatrixXd points = equicorrelated(20, 0.5);
  int above = 0;
  int of_a_third = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    RandomStreams streams{.seed = seed};
    const OrthantProbability found =
        bpm::orthant_probability(points, ones(20), {.standard_error = 0.1}, streams);
    above += found.upper_log_inverse(0.99) >= std::log(21.0) ? 1 : 0;
    of_a_third += found.upper_log_inverse(1 - 0.01 / 3) >= std::log(21.0) ? 1 : 0;
  }
  CHECK(above >= 0.984 * 2000);
  CHECK(of_a_third >= 0.9928 * 2000);
}

TEST_CASE("orthant probability: where no draw has the signs, nothing is known of P") {
  // Two points are the same, and have different signs.
  Eigen::MatrixXd twins(3, 3);
  twins << 1, 1, 0.5, 1, 1, 0.5, 0.5, 0.5, 1;
  const OrthantProbability found = probability(twins, {1, -1, 1});
  CHECK(found.method == OrthantMethod::annealed_noise);
  CHECK(found.log_probability == -infinite);
  CHECK(found.standard_error == infinite);
  CHECK_FALSE(found.reached);
  CHECK(found.upper_log_inverse(0.5) == infinite);
  CHECK(found.upper_log_inverse(0.99) == infinite);
}

TEST_CASE("orthant probability: wrong intervals are found out") {
  // A weight without all dimensions, and a chain that hardly moves.
  CHECK(coverage<bpm::detail::few_dimensions_OrthantStages>(20).two_sided < 60);
  OrthantSettings slow = few;
  slow.path_length = 0.02;
  CHECK(coverage<bpm::detail::OrthantStages>(20, slow).two_sided < 60);
}

TEST_CASE("orthant probability given the signs of the first points") {
  // Equal correlations of one half: P = 1 / (n + 1).
  const auto given = [](std::ptrdiff_t n, std::ptrdiff_t first) {
    return probability(equicorrelated(n, 0.5), ones(n), {.standard_error = 0.05, .given = first});
  };
  check_value(given(2, 1), std::log(2.0 / 3), 0.0501);
  check_value(given(40, 20), std::log(21.0 / 41), 0.0501);
  check_value(given(40, 39), std::log(40.0 / 41), 0.0501);
  // The order says which are given, and their signs and scales count as ever.
  const std::vector<signed char> signs = random_signs(30, 3);
  const std::vector<signed char> some(signs.begin(), signs.begin() + 12);
  const Eigen::VectorXd scale = Eigen::VectorXd::LinSpaced(30, 0.2, 4);
  const Eigen::MatrixXd k = scale.asDiagonal() * equicorrelated(30, 0.4) * scale.asDiagonal();
  check_value(probability(k, signs, {.standard_error = 0.1, .given = 12}),
              log_equicorrelated(signs, 0.4) - log_equicorrelated(some, 0.4), 0.101);
  // What the path leaves alone costs nothing: a smaller error for the same draws a stage.
  const Eigen::MatrixXd many = equicorrelated(100, 0.5);
  const OrthantProbability all = probability(many, ones(100), few);
  const OrthantProbability last =
      probability(many, ones(100), {.standard_error = 0, .draws = 64, .given = 90});
  CHECK(last.stages < all.stages);
  CHECK(last.standard_error < 0.8 * all.standard_error);
}

TEST_CASE("orthant probability given signs: the first stage draws from the given points' law",
          "[at length]") {
  // Half normals in their place are found out.
  const std::vector<signed char> signs = random_signs(40, 2);
  const std::vector<signed char> some(signs.begin(), signs.begin() + 20);
  const Eigen::VectorXd sign = bpm::detail::sign_vector(signs);
  const bpm::detail::CovariancePath path(
      sign.asDiagonal() * equicorrelated(40, 0.8) * sign.asDiagonal(), 20);
  const double truth = log_equicorrelated(signs, 0.8) - log_equicorrelated(some, 0.8);
  const auto deviations = [&](const bpm::detail::OrthantStagesResult& found) {
    return std::abs(found.value - truth) / std::sqrt(found.variance);
  };
  CHECK(deviations(run_stages<bpm::detail::OrthantStages>(path, 8'000)) < 4);
  CHECK(deviations(run_stages<bpm::detail::independent_given_OrthantStages>(path, 8'000)) > 8);
}

TEST_CASE("orthant probability: one end alone is an identity too, and a worse one") {
  const bpm::detail::CovariancePath path(equicorrelated(20, 0.5));
  const auto one = run_stages<bpm::detail::one_end_OrthantStages>(path, 2'000);
  const auto both = run_stages<bpm::detail::OrthantStages>(path, 2'000);
  CHECK(std::abs(one.value + std::log(21.0)) < 5 * std::sqrt(one.variance));
  CHECK(std::abs(one.value - both.value) < 5 * std::sqrt(one.variance + both.variance));
  CHECK(both.variance < one.variance);
}

TEST_CASE("orthant probability is at least that of the isotropic law's bound, Lemma 8") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const std::ptrdiff_t n = 12 * static_cast<std::ptrdiff_t>(seed);
    const Eigen::MatrixXd k = random_covariance(n, n, 0.3, seed);
    const std::vector<signed char> signs = random_signs(n, seed);
    Eigen::VectorXd y(n);
    for (Eigen::Index i = 0; i < n; ++i) y[i] = signs[static_cast<std::size_t>(i)];
    const Eigen::LLT<Eigen::MatrixXd> cholesky(k);
    const double log_det = 2 * Eigen::MatrixXd(cholesky.matrixL()).diagonal().array().log().sum();
    const double trace = cholesky.solve(Eigen::MatrixXd::Identity(n, n)).trace();
    const auto m = static_cast<double>(n);
    const double a = m * (std::numbers::ln2 - 0.5) +
                     std::exp(log_det / m) * ((0.5 - std::numbers::inv_pi) * trace +
                                              std::numbers::inv_pi * y.dot(cholesky.solve(y)));
    const OrthantProbability found = probability(k, signs);
    CAPTURE(n, a, found.log_probability);
    CHECK(-found.log_probability - 5 * found.standard_error <= a);
    CHECK(found.upper_log_inverse(0.99) > -found.log_probability);
  }
}

TEST_CASE("orthant probability: scales of the outputs do not matter, to the bit") {
  const Eigen::MatrixXd k = random_covariance(15, 15, 0.1, 3);
  const Eigen::VectorXd scale =
      Eigen::VectorXd::LinSpaced(15, -7, 7).unaryExpr([](double e) { return std::exp2(e); });
  const Eigen::MatrixXd scaled = scale.asDiagonal() * k * scale.asDiagonal();
  const OrthantProbability a = probability(k, random_signs(15, 3));
  const OrthantProbability b = probability(scaled, random_signs(15, 3));
  CHECK(a.log_probability == b.log_probability);
  CHECK(a.standard_error == b.standard_error);
}

TEST_CASE("orthant probability: one seed, one value, whatever the threads") {
  const Eigen::MatrixXd k = random_covariance(30, 30, 0.2, 4);
  const std::vector<signed char> signs = random_signs(30, 4);
  RandomStreams streams{.seed = 3, .next = 5};
  const OrthantSettings settings{.standard_error = 0.1, .draws = 64};
  const OrthantProbability one = bpm::orthant_probability(k, signs, settings, streams);
  CHECK(streams.next == 6 + one.stages);
  CHECK(one.draws > 64 * one.stages);  // It had to go on.
  CHECK(one.reached);
  CHECK(one.standard_error <= 0.1);
  const OrthantProbability other = bpm::orthant_probability(k, signs, settings, streams);
  streams.next = 5;
  bpm::RunControl control;
  control.threads = 3;
  const OrthantProbability three = bpm::orthant_probability(k, signs, settings, streams, control);
  CHECK(one.log_probability == three.log_probability);
  CHECK(one.standard_error == three.standard_error);
  CHECK(one.bounces == three.bounces);
  CHECK(one.log_probability != other.log_probability);
}

TEST_CASE("orthant probability of a version space has its soft boundary") {
  const bpm::RowMatrix<float> values =
      random_covariance(8, 8, 0, 5).cast<float>().selfadjointView<Eigen::Lower>();
  const bpm::PrecomputedGram<float> gram(values);
  const auto lambda = std::make_shared<const std::vector<double>>(8, 0.25);
  const bpm::KernelVersionSpace<float> space(gram, random_signs(8, 5), lambda);
  Eigen::MatrixXd k = values.cast<double>();
  k.diagonal().array() += 0.25;
  RandomStreams streams;
  const OrthantProbability found = bpm::orthant_probability(space, {}, streams);
  CHECK(found.log_probability == probability(k, random_signs(8, 5)).log_probability);
}

TEST_CASE("orthant probability: a singular covariance is annealed by noise") {
  // Three planes through the origin of the plane, 40 degrees apart: the cone is 100 degrees wide.
  Eigen::MatrixXd normals(3, 2);
  for (Eigen::Index i = 0; i < 3; ++i) {
    const double angle = static_cast<double>(i) * 40 * std::numbers::pi / 180;
    normals.row(i) << std::cos(angle), std::sin(angle);
  }
  const OrthantProbability cone = probability(normals * normals.transpose(), ones(3));
  CHECK(cone.method == OrthantMethod::annealed_noise);
  check_value(cone, std::log(100.0 / 360), 0.25);
  CHECK(cone.draws > 0);
  const OrthantProbability line = probability(Eigen::MatrixXd::Constant(4, 4, 2.0), ones(4));
  CHECK(line.log_probability == Approx(-std::numbers::ln2));
  const OrthantProbability none = probability(Eigen::MatrixXd::Constant(2, 2, 2.0), {1, -1});
  CHECK(none.log_probability == -infinite);
  CHECK(none.upper_log_inverse(0.9) == infinite);
}

TEST_CASE("orthant probability: a run can be stopped, before and after there is an estimate") {
  const Eigen::MatrixXd k = equicorrelated(10, 0.5);
  bpm::RunControl control;
  RandomStreams streams;
  const std::string where = GENERATE("orthant factor", "orthant pilot", "orthant stages");
  control.observer = [&](const bpm::Progress& progress) { return progress.stage != where; };
  CHECK_THROWS_AS(bpm::orthant_probability(k, ones(10), {}, streams, control), bpm::Stopped);
  CHECK_THROWS_WITH(bpm::orthant_probability(k, ones(10), {}, streams, control),
                    "orthant_probability: stopped before it had an estimate");
  // The first round, then a bit of the second.
  const OrthantProbability first = probability(k, ones(10), few);
  control.observer = [&](const bpm::Progress& progress) {
    return progress.draws <= first.draws + 40;
  };
  streams = {};
  const OrthantProbability found = bpm::orthant_probability(
      k, ones(10), {.standard_error = 1e-3, .draws = 64}, streams, control);
  CHECK(found.stopped);
  CHECK(!found.reached);
  CHECK(found.log_probability == first.log_probability);
  CHECK(found.standard_error == first.standard_error);
  CHECK(found.draws == first.draws);
}

TEST_CASE("orthant probability: it says what it has not reached") {
  const OrthantProbability found = probability(
      equicorrelated(10, 0.5), ones(10), {.standard_error = 1e-3, .draws = 64, .most_draws = 100});
  CHECK(!found.reached);
  CHECK(!found.stopped);
  CHECK(found.draws == 100 * found.stages);
}

TEST_CASE("orthant probability: errors name what is wrong") {
  using Catch::Matchers::ContainsSubstring;
  const Eigen::MatrixXd k = equicorrelated(3, 0.5);
  const auto fails = [&](const Eigen::MatrixXd& covariance, const std::vector<signed char>& signs,
                         const OrthantSettings& settings, const std::string& text) {
    RandomStreams streams;
    CHECK_THROWS_WITH(bpm::orthant_probability(covariance, signs, settings, streams),
                      ContainsSubstring(text));
    CHECK(streams.next == 0);
  };
  Eigen::MatrixXd bad = k;
  bad(2, 2) = 0;
  fails(bad, ones(3), {}, "orthant_probability: covariance at (2, 2) is 0, must be positive");
  bad(2, 2) = infinite;
  fails(bad, ones(3), {}, "covariance at (2, 2) is inf, must be finite");
  fails(k, ones(2), {}, "orthant_probability: signs has 2 entries, expected 3");
  fails(k, {1, 1, 3}, {}, "orthant_probability: signs at 2 is 3, must be 1 or -1");
  fails(k, ones(3), {.standard_error = -1}, "standard_error is -1, must be finite");
  fails(k, ones(3), {.draws = 63}, "draws is 63, must be 64 or more");
  fails(k, ones(3), {.most_draws = 127}, "most_draws is 127, must not be below draws, 128");
  fails(k, ones(3), {.pilot_draws = 15}, "pilot_draws is 15, must be 16 or more");
  fails(k, ones(3), {.path_length = 0}, "path_length is 0, must be positive");
  fails(k, ones(3), {.given = -1},
        "given is -1, must be at least 0 and below the number of points, 3");
  fails(k, ones(3), {.given = 3},
        "given is 3, must be at least 0 and below the number of points, 3");
  const Eigen::MatrixXd flat = Eigen::MatrixXd::Ones(3, 3);
  fails(flat, ones(3), {.given = 2},
        "orthant_probability: covariance of the given points is singular to rounding; add to its "
        "diagonal");
  fails(flat, ones(3), {.given = 1},
        "orthant_probability: covariance is singular to rounding, and signs are given; add to its "
        "diagonal");
  bad << 1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1;
  fails(bad, ones(3), {}, "covariance has 1 negative eigenvalues");
  RandomStreams streams;
  CHECK_THROWS_AS(bpm::orthant_probability(bad, ones(3), {}, streams), bpm::NotPositiveDefinite);
  OrthantSettings small;
  small.most_bytes = small.bytes_needed(3, 1) - 1;
  CHECK_THROWS_AS(bpm::orthant_probability(k, ones(3), small, streams), bpm::BudgetTooSmall);
  fails(k, ones(3), small,
        "most_bytes is " + std::to_string(small.most_bytes) + ", 3 points on 1 threads need " +
            std::to_string(small.most_bytes + 1));
  CHECK_THROWS_WITH(bpm::orthant_probability(k, ones(3), {}, streams, {.threads = 4097}),
                    ContainsSubstring("orthant_probability: threads is 4097, must be from 1"));
  small.most_bytes += 1;
  CHECK(probability(k, ones(3), small).reached);
  CHECK_THROWS_WITH(
      OrthantProbability{}.upper_log_inverse(0.4),
      ContainsSubstring("upper_log_inverse: confidence is 0.4, must lie in [0.5, 0.9995]"));
}
