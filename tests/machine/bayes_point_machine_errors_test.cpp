// SPDX-License-Identifier: MIT
// What is refused, with which message; and that nothing is half done.
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

using namespace machine_tests;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using Labels = std::vector<int>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

const bpm::BayesPointMachine square_machine(bpm::Polynomial(2), bpm::PermutedPerceptron{.draws = 3},
                                            test_support::hard());
const bpm::OneVsRest one_vs_rest{square_machine};

/// A sampler whose one draw is of a subproblem, and of a point, that do not exist.
struct Broken {
  std::uint64_t draws = 1;
  std::size_t problem = 0;
  bpm::PointIndex point = 0;

  static constexpr bpm::SamplerTraits traits{};
  void check_settings() const {}
  [[nodiscard]] Broken with_draws(std::uint64_t count) const { return {count, problem, point}; }
  [[nodiscard]] bpm::MemoryNeed memory_need(const bpm::RunSize& /*run*/) const { return {}; }
  template <bpm::VersionSpace Space, class Sink>
  bpm::SamplerReport sample(std::span<const Space> spaces, bpm::RandomStreams& /*streams*/,
                            const bpm::RunControl& /*control*/, Sink&& sink) const {
    const std::vector<double> outputs(static_cast<std::size_t>(spaces[0].size()), 1.0);
    const double one = 1;
    sink(bpm::Draw{
        .problem = problem, .support = {&point, 1}, .coefficients = {&one, 1}, .outputs = outputs});
    return {.draws = 1, .converged = true};
  }
};

/// The message of the error that `call` throws; its type must be `Error`.
template <class Error, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

template <class Inputs>
std::string refusal_of_fit(const Inputs& inputs, const Labels& labels) {
  return message_of<std::invalid_argument>([&] { (void)square_machine.fit(inputs, labels); });
}

}  // namespace

TEST_CASE("empty inputs, one class, too many classes, sizes that disagree") {
  CHECK(refusal_of_fit(Doubles(0, 2), {}) ==
        "BayesPointMachine::fit: inputs is empty, expected one input or more of each class");
  CHECK(refusal_of_fit(triangle(3, 1), {4, 4, 4}) ==
        "BayesPointMachine::fit: labels are all 4, expected two classes or more");
  CHECK(refusal_of_fit(triangle(3, 1), {1, 2, 3}) ==
        "BayesPointMachine::fit: labels have 3 classes, expected two; use OneVsRest for more");
  CHECK(refusal_of_fit(triangle(4, 1), {1, 2, 1}) ==
        "BayesPointMachine::fit: labels has 3 entries, expected 4 (one per input)");
  CHECK(refusal_of_fit(triangle(1, 1), {1}) ==
        "BayesPointMachine::fit: labels are all 1, expected two classes or more");

  CHECK_THROWS_WITH(one_vs_rest.fit(Doubles(0, 2), Labels{}),
                    Equals("OneVsRest::fit: inputs is empty, expected one input or more of each "
                           "class"));
  CHECK_THROWS_WITH(one_vs_rest.fit(triangle(3, 1), Labels{-1, -1, -1}),
                    Equals("OneVsRest::fit: labels are all -1, expected two classes or more"));
  CHECK_THROWS_WITH(one_vs_rest.fit(triangle(3, 1), Labels{1, 2, 3, 4}),
                    Equals("OneVsRest::fit: labels has 4 entries, expected 3 (one per input)"));
}

TEST_CASE("numbers that are not finite, by row and column") {
  Doubles inputs = triangle(6, 1);
  const Labels labels = two_labels(6);
  inputs(4, 1) = not_a_number;
  CHECK(refusal_of_fit(inputs, labels) ==
        "BayesPointMachine::fit: inputs row 4, column 1 is nan, must be finite");
  inputs(2, 0) = -inf;  // The first one is named.
  CHECK(refusal_of_fit(inputs, labels) ==
        "BayesPointMachine::fit: inputs row 2, column 0 is -inf, must be finite");
  CHECK_THROWS_WITH(one_vs_rest.fit(inputs, three_labels(6)),
                    Equals("OneVsRest::fit: inputs row 2, column 0 is -inf, must be finite"));

  const auto fitted = square_machine.fit(triangle(30, 1), two_labels(30));
  CHECK_THROWS_WITH(fitted.predict(inputs),
                    Equals("Classifier::decision_values: inputs row 2, column 0 is "
                           "-inf, must be finite"));
  CHECK_THROWS_WITH(one_vs_rest.fit(triangle(30, 1), three_labels(30)).predict(inputs),
                    Equals("Classifier::decision_values: inputs row 2, column 0 is -inf, "
                           "must be finite"));
}

TEST_CASE("another number of columns than the training set had") {
  const auto fitted = square_machine.fit(triangle(30, 1), two_labels(30));
  CHECK_THROWS_WITH(fitted.decision_values(Doubles::Ones(4, 3)),
                    Equals("Classifier::decision_values: inputs has 3 entries, "
                           "expected 2 (columns: one per feature of the training set)"));
}

TEST_CASE("equal inputs with different labels: the error names lambda as the cure") {
  Doubles inputs = triangle(12, 1);
  Labels labels = two_labels(12);
  inputs.row(7) = inputs.row(3);
  labels[7] = -3;
  labels[3] = 7;
  const std::string expected =
      "BayesPointMachine::fit: points 3 and 7 are equal inputs with different labels, so no "
      "classifier separates them; set a soft boundary lambda > 0, or label noise with KernelGibbs";
  const auto message = [&](const auto& data) {
    return message_of<bpm::NotSeparable>([&] { (void)square_machine.fit(data, labels); });
  };
  CHECK(message(inputs) == expected);
  CHECK(message(bpm::SparseRowMatrix<double>(inputs.sparseView())) == expected);
  std::vector<std::string> strings = words(12, 1);
  strings[7] = strings[3];
  CHECK(
      message_of<bpm::NotSeparable>([&] {
        (void)bpm::BayesPointMachine(CommonPairs{}, {}, test_support::hard()).fit(strings, labels);
      }) == expected);

  // Equal inputs with equal labels are no problem, nor are a zero and a negative zero.
  labels[7] = labels[3];
  CHECK_NOTHROW(square_machine.fit(inputs, labels));
  Doubles zeros = triangle(12, 1);
  zeros.row(3) << 0.0, 1.0;
  zeros.row(7) << -0.0, 1.0;
  labels[7] = -3;
  CHECK(message_of<bpm::NotSeparable>([&] { (void)square_machine.fit(zeros, labels); }) ==
        expected);

  // lambda at one of the two is enough.
  std::vector<double> lambda(12, 0.0);
  lambda[7] = 5.0;
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::per_point(lambda)};
  CHECK_NOTHROW(bpm::BayesPointMachine(bpm::Polynomial(9), bpm::PermutedPerceptron{.draws = 3},
                                       test_support::hard(settings))
                    .fit(inputs, labels));
}

TEST_CASE("an input without any feature: the error names the cures") {
  Doubles inputs = triangle(12, 1);
  inputs.row(5).setZero();
  const bpm::BayesPointMachine linear(bpm::Linear{}, {}, test_support::hard());
  CHECK(message_of<bpm::NotSeparable>([&] { (void)linear.fit(inputs, two_labels(12)); }) ==
        "BayesPointMachine::fit: point 5 has k(x, x) = 0, so no classifier gives it a sign; add a "
        "bias to the kernel or a soft boundary lambda > 0");
}

TEST_CASE("a budget too small: both numbers, and where they come from") {
  const Doubles inputs = triangle(100, 1);
  const bpm::FitSettings settings{.threads = 1, .memory = 1000};
  const bpm::BayesPointMachine small(bpm::Polynomial(2), bpm::PermutedPerceptron{},
                                     test_support::hard(settings));
  const auto message =
      message_of<bpm::BudgetTooSmall>([&] { (void)small.fit(inputs, two_labels(100)); });
  CHECK_THAT(message, ContainsSubstring("BayesPointMachine::fit: memory is 1000 bytes, 100 points "
                                        "and 1 problems need at least ") &&
                          Catch::Matchers::EndsWith("); raise memory"));
  CHECK_THAT(message_of<bpm::BudgetTooSmall>([&] { (void)small.forecast(inputs); }),
             ContainsSubstring("BayesPointMachine::forecast: memory is 1000 bytes"));
  const bpm::OneVsRest several{small};
  CHECK_THAT(message_of<bpm::BudgetTooSmall>([&] { (void)several.fit(inputs, three_labels(100)); }),
             ContainsSubstring("OneVsRest::fit: memory is 1000 bytes, 100 points and 3 problems"));
  CHECK_THAT(message_of<bpm::BudgetTooSmall>([&] { (void)several.forecast(inputs, 3); }),
             ContainsSubstring("OneVsRest::forecast: memory is"));
}

TEST_CASE("kernel values that are not finite or near overflow") {
  const auto broken = [](const auto& x, const auto& z) {
    return x(0) == z(0) ? 1.0 : not_a_number;
  };
  const Labels labels = two_labels(6);
  CHECK_THAT(
      message_of<bpm::KernelValueError>([&] {
        (void)bpm::BayesPointMachine(broken, {}, test_support::hard()).fit(triangle(6, 1), labels);
      }),
      ContainsSubstring("kernel: k(x_") && ContainsSubstring("is nan"));
  CHECK_THAT(message_of<bpm::KernelValueError>([&] {
               (void)bpm::BayesPointMachine(bpm::Polynomial(64), {}, test_support::hard())
                   .fit(Doubles(triangle(6, 1) * 1e6), labels);
             }),
             ContainsSubstring("must be finite and below"));
}

TEST_CASE("kernel values that are not finite in prediction: the function and the pair") {
  const Doubles inputs = triangle(30, 1);
  const auto fitted =
      bpm::BayesPointMachine(bpm::normalised(bpm::Linear{}), {}, test_support::hard())
          .fit(inputs, two_labels(30));
  Doubles others = inputs.topRows(3);
  others.row(1).setZero();
  const std::string message =
      message_of<bpm::KernelValueError>([&] { (void)fitted.predict(others); });
  CHECK_THAT(message,
             ContainsSubstring("Classifier::decision_values: ") && ContainsSubstring("k(x_1, "));
}

TEST_CASE("labels that no classifier separates: the limits are named, and lambda") {
  // Points on a line, labels alternating, a linear kernel.
  Doubles inputs(4, 1);
  inputs << 1, 2, 3, 4;
  const Labels labels{1, 2, 1, 2};
  const bpm::BayesPointMachine limited(
      bpm::Linear{}, bpm::PermutedPerceptron{.draws = 2, .max_passes = 50}, test_support::hard());
  CHECK_THAT(
      message_of<bpm::NotSeparable>([&] { (void)limited.fit(inputs, labels); }),
      ContainsSubstring("BayesPointMachine::fit: no classifier without training error was "
                        "found: draw 0 still made ") &&
          ContainsSubstring("in pass 50 ") &&
          ContainsSubstring("set a soft boundary lambda > 0, or raise the sampler's limits"));
  CHECK_THAT(message_of<bpm::NotSeparable>([&] {
               (void)bpm::OneVsRest(limited).fit(inputs, Labels{1, 2, 1, 3});
             }),
             ContainsSubstring("OneVsRest::fit: no classifier") && ContainsSubstring("problem "));
}

TEST_CASE("settings of the sampler are checked by fit") {
  const bpm::BayesPointMachine none(bpm::Polynomial(2), bpm::PermutedPerceptron{.draws = 0},
                                    test_support::hard());
  CHECK_THROWS_WITH(none.fit(triangle(6, 1), two_labels(6)),
                    Equals("PermutedPerceptron: draws is 0, must be 1 or more"));
}

TEST_CASE("counts that were negative are refused with their value") {
  const auto message = [](auto sampler, bpm::FitSettings settings) {
    return message_of<std::invalid_argument>([&] {
      settings.soft_boundary = bpm::SoftBoundary::hard();
      (void)bpm::BayesPointMachine(bpm::Polynomial(2), sampler, settings)
          .fit(triangle(6, 1), two_labels(6));
    });
  };
  const auto minus_one = static_cast<std::uint64_t>(-1);
  const std::string was = "is 18446744073709551615, must be below 2^63: was it negative?";
  CHECK(message(bpm::PermutedPerceptron{.draws = minus_one}, {}) ==
        "PermutedPerceptron: draws " + was);
  CHECK(message(bpm::Billiard{.bounces = minus_one}, {}) == "Billiard: bounces " + was);
  CHECK(message(bpm::Billiard{.burn_in = minus_one}, {}) == "Billiard: burn_in " + was);
  CHECK(message(bpm::KernelGibbs{.draws = minus_one}, {}) == "KernelGibbs: draws " + was);
  CHECK(message(bpm::KernelGibbs{.burn_in = minus_one}, {}) == "KernelGibbs: burn_in " + was);
  CHECK(message(bpm::KernelGibbs{.steps_per_draw = minus_one}, {}) ==
        "KernelGibbs: steps_per_draw " + was);
  CHECK(message(bpm::PermutedPerceptron{}, {.threads = static_cast<unsigned>(-1)}) ==
        "settings: threads is 4294967295, must be from 1 to 4096, or 0 for as many as there are");
}

TEST_CASE("draws of a user's own sampler are checked") {
  const Doubles inputs = triangle(6, 1);
  const Labels labels = two_labels(6);
  const auto message = [&](std::size_t problem, bpm::PointIndex point) {
    return message_of<std::invalid_argument>([&] {
      (void)bpm::BayesPointMachine(bpm::Polynomial(2), Broken{1, problem, point},
                                   test_support::hard())
          .fit(inputs, labels);
    });
  };
  CHECK(message(0, 5) == "nothing thrown");
  CHECK(message(1, 5) == "sampler: draw 0 is of problem 1, must be below 1");
  CHECK(message(0, 6) == "sampler: draw 0 has the support point 6 after -1, must ascend below 6");
}

TEST_CASE("stopped before the first draw") {
  const Doubles inputs = triangle(30, 1);
  const Labels labels = two_labels(30);
  const std::string expected = "BayesPointMachine::fit: stopped before the first draw was finished";
  CHECK(message_of<bpm::Stopped>([&] {
          (void)square_machine.fit(inputs, labels, [](const bpm::Progress&) { return false; });
        }) == expected);
  std::stop_source source;
  source.request_stop();
  CHECK(message_of<bpm::Stopped>([&] {
          (void)square_machine.fit(inputs, labels, bpm::detail::IgnoreProgress{},
                                   source.get_token());
        }) == expected);
  CHECK(message_of<bpm::Stopped>([&] {
          (void)one_vs_rest.fit(inputs, three_labels(30), bpm::detail::IgnoreProgress{},
                                source.get_token());
        }) == "OneVsRest::fit: stopped before the first draw was finished");
}

TEST_CASE("single draws need keep_draws") {
  const auto fitted = square_machine.fit(triangle(30, 1), two_labels(30));
  CHECK(fitted.parts().draw_numbers.empty());
  const std::string expected =
      "Classifier::draw_decision_values: keep_draws was false when the machine was "
      "fitted, must be true for single draws";
  const Doubles others = triangle(3, 2);
  CHECK_THROWS_WITH(fitted.draw_decision_values(others), Equals(expected));
  CHECK_THROWS_WITH(fitted.vote_fractions(others), Equals(expected));
  CHECK_THROWS_WITH(fitted.gibbs_error(others, two_labels(3)), Equals(expected));
}

TEST_CASE("the Gibbs error needs a label per input") {
  const bpm::BayesPointMachine keeping(bpm::Polynomial(2), bpm::PermutedPerceptron{},
                                       test_support::hard({.keep_draws = true}));
  const auto fitted = keeping.fit(triangle(30, 1), two_labels(30));
  CHECK_THROWS_WITH(fitted.gibbs_error(triangle(3, 2), two_labels(4)),
                    Equals("Classifier::gibbs_error: labels has 4 entries, expected "
                           "3 (one per input)"));
  CHECK(fitted.gibbs_error(triangle(3, 2), Labels{5, 5, 5}) == 1);
}
