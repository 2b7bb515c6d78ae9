// SPDX-License-Identifier: MIT
// Where a fit takes its kernel values from: by budget, by request, always the same model.
#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"
#include "sampler_list.hpp"

using namespace machine_tests;
using bpm::FitSettings;
using bpm::MemoryForecast;
using bpm::PermutedPerceptron;
using bpm::Strategy;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using FloatInputs = bpm::RowMatrix<float>;

namespace {

const bpm::Gaussian narrow_kernel = bpm::Gaussian::from_sigma(0.3);

/// 600 points in three classes that overlap.
struct Data {
  FloatInputs inputs = triangle(600, 1, 0.6).cast<float>();
  FloatInputs others = triangle(40, 2, 0.6).cast<float>();
  std::vector<int> labels = three_labels(600);
};

auto narrow_machine(const FitSettings& settings, std::uint64_t draws = 3) {
  return bpm::OneVsRest(bpm::BayesPointMachine(narrow_kernel, PermutedPerceptron{.draws = draws},
                                               test_support::hard(settings)));
}

FitSettings soft(unsigned threads, std::optional<Strategy> strategy = {}) {
  return {
      .soft_boundary = bpm::SoftBoundary::relative(0.1), .threads = threads, .strategy = strategy};
}

template <class Fitted>
bool same_model(const Fitted& a, const Fitted& b, const Data& data) {
  return a.support() == b.support() && a.coefficients() == b.coefficients() &&
         a.decision_values(data.others) == b.decision_values(data.others) &&
         a.report().perceptron->mistakes == b.report().perceptron->mistakes;
}

/// The smallest budget that a forecast accepts, found by halving.
template <class Forecast>
std::size_t smallest_budget(Forecast&& forecast) {
  std::size_t refused = 0;
  std::size_t accepted = std::size_t{1} << 30U;
  while (accepted - refused > 1) {
    const std::size_t middle = refused + (accepted - refused) / 2;
    try {
      (void)forecast(middle);
      accepted = middle;
    } catch (const bpm::BudgetTooSmall&) {
      refused = middle;
    }
  }
  return accepted;
}

}  // namespace

TEST_CASE("a strategy that is asked for is taken, and the model is the same") {
  const Data data;
  const auto expected = narrow_machine(soft(1, Strategy::dense)).fit(data.inputs, data.labels);
  CHECK(expected.forecast().strategy == Strategy::dense);
  CHECK(expected.notes.training_seconds > 0);
  CHECK(expected.forecast().kept_rows == 0);
  for (const unsigned threads : {1U, 3U}) {
    auto training =
        narrow_machine(soft(threads, Strategy::windowed), 2).train(data.inputs, data.labels);
    const double before = training.classifier().notes.training_seconds;
    training.add_draws(1);
    const auto fitted = training.classifier();
    CHECK(before > 0);
    CHECK(fitted.notes.training_seconds > before);
    CHECK(fitted.forecast().strategy == Strategy::windowed);
    CHECK(fitted.forecast().kept_rows == 0);
    CHECK(same_model(fitted, expected, data));
  }
}

TEST_CASE("every budget from the smallest on: the same model, within the budget") {
  const Data data;
  for (const unsigned threads : {1U, 3U}) {
    FitSettings settings = soft(threads);
    const auto expected = narrow_machine(settings).fit(data.inputs, data.labels);
    const auto forecast = [&](std::size_t memory) {
      settings.memory = memory;
      return narrow_machine(settings).forecast(data.inputs, 3);
    };
    const std::size_t smallest = smallest_budget(forecast);
    CAPTURE(threads, smallest);
    // The message names it.
    settings.memory = smallest - 1;
    const MemoryForecast least = forecast(smallest);
    CHECK(least.total() == smallest);
    // What does not fit with all threads is done by fewer.
    CHECK(least.threads == 1);
    settings.memory = smallest - 1;
    CHECK_THROWS_WITH(
        narrow_machine(settings).fit(data.inputs, data.labels),
        Equals(bpm::detail::join("OneVsRest::fit: memory is ", smallest - 1,
                                 " bytes, 600 points and 3 problems need at least ", smallest,
                                 " (outputs and sums ", least.sampler_bytes + least.model_bytes,
                                 ", kernel values ", least.kernel_bytes, "); raise memory")));
    std::size_t budget = smallest;
    bool seen_fewer = false;
    bool seen_dense = false;
    unsigned last_at_once = 1;
    for (int step = 0; step < 20; ++step) {
      const auto fitted =
          narrow_machine((forecast(budget), settings)).fit(data.inputs, data.labels);
      CAPTURE(budget, bpm::to_string(fitted.forecast().strategy));
      const MemoryForecast& told = fitted.forecast();
      CHECK(told.total() <= budget);
      CHECK(same_model(fitted, expected, data));
      seen_fewer = seen_fewer || told.draws_at_once != 0;
      seen_dense = seen_dense || told.strategy == Strategy::dense;
      // The more memory, the more draws at once.
      const unsigned at_once = told.draws_at_once == 0 ? threads : told.draws_at_once;
      CHECK(at_once >= last_at_once);
      last_at_once = at_once;
      budget += budget / 8;
    }
    CHECK(seen_fewer == (threads > 1));
    CHECK(seen_dense);
  }
}

TEST_CASE("kept rows of a kernel on pairs take what the budget leaves, and no more") {
  const auto list = words(600, 1);
  constexpr std::size_t row = 600 * sizeof(double);
  constexpr std::size_t noted = 600 * bpm::detail::KeptRows<double>::point_bytes;
  FitSettings settings{.threads = 2, .strategy = Strategy::windowed};
  const auto forecast = [&](std::size_t memory) {
    settings.memory = memory;
    return bpm::BayesPointMachine(CommonPairs{}, PermutedPerceptron{}, test_support::hard(settings))
        .forecast(list);
  };
  const MemoryForecast all = forecast(std::size_t{1} << 30U);
  CHECK(all.kept_rows == 600);
  const std::size_t windowed = all.total() - noted - 600 * row;
  const auto rows_of = [&](std::size_t memory) {
    const MemoryForecast told = forecast(memory);
    CHECK(told.strategy == Strategy::windowed);
    CHECK(told.total() <= memory);
    CHECK(told.draws_at_once == 0);
    CHECK(told.total() == windowed + (told.kept_rows == 0 ? 0 : noted + told.kept_rows * row));
    return told.kept_rows;
  };
  CHECK(rows_of(windowed) == 0);
  CHECK(rows_of(windowed + noted) == 0);
  CHECK(rows_of(windowed + noted + row - 1) == 0);
  CHECK(rows_of(windowed + noted + row) == 1);
  CHECK(rows_of(windowed + noted + 10 * row + 5) == 10);
  CHECK(rows_of(windowed + noted + 600 * row) == 600);
  CHECK(rows_of(windowed + noted + 700 * row) == 600);
}

TEST_CASE("the rule by which a strategy is chosen, clause by clause") {
  using bpm::detail::choose_strategy;
  using bpm::detail::MemoryQuestion;
  // Few points: the matrix, where it fits.
  const MemoryQuestion few{.points = 20'000, .draws = 10};
  CHECK(choose_strategy(few, true) == Strategy::dense);
  CHECK(choose_strategy(few, false) == Strategy::windowed);
  MemoryQuestion other = few;
  other.points = 20'001;
  CHECK(choose_strategy(other, true) == Strategy::windowed);
  // Of bytes fewer are few.
  other.bytes = true;
  other.points = 8'001;
  CHECK(choose_strategy(other, true) == Strategy::windowed);
  other.points = 8'000;
  CHECK(choose_strategy(other, true) == Strategy::dense);
  // Many points: the matrix where many draws and classes ask for its rows, or values are slow.
  MemoryQuestion many{.points = 60'000, .draws = 10};
  CHECK(choose_strategy(many, true) == Strategy::windowed);
  many.problems = 9;
  CHECK(choose_strategy(many, true) == Strategy::windowed);
  many.problems = 10;
  CHECK(choose_strategy(many, true) == Strategy::dense);
  many.bytes = true;
  CHECK(choose_strategy(many, true) == Strategy::windowed);
  many.draws = 20;
  CHECK(choose_strategy(many, true) == Strategy::dense);
  many.bytes = false;
  CHECK(choose_strategy(many, false) == Strategy::windowed);
  many.draws = 1;
  many.pairwise = true;
  CHECK(choose_strategy(many, false) == Strategy::windowed);
  CHECK(choose_strategy(many, true) == Strategy::dense);
}

TEST_CASE("a forecast tells the rule what it knows") {
  const FloatInputs large = triangle(5000, 3).cast<float>();
  const auto chosen = [&](const auto& of, const auto& inputs, std::size_t memory) {
    return bpm::BayesPointMachine(of, PermutedPerceptron{},
                                  test_support::hard({.threads = 1, .memory = memory}))
        .forecast(inputs)
        .strategy;
  };
  constexpr std::size_t gigabyte = std::size_t{1} << 30U;
  CHECK(chosen(narrow_kernel, large, gigabyte) == Strategy::dense);
  CHECK(chosen(narrow_kernel, large, gigabyte / 16) == Strategy::windowed);
  CHECK(chosen(CommonPairs{}, words(5000, 1), gigabyte) == Strategy::dense);
  CHECK(chosen(CommonPairs{}, words(5000, 1), gigabyte / 16) == Strategy::windowed);
  const FloatInputs images = FloatInputs::Ones(5000, 784);
  CHECK(chosen(narrow_kernel, images, gigabyte / 16) == Strategy::windowed);
  const bpm::RowMatrix<std::uint8_t> bytes = bpm::RowMatrix<std::uint8_t>::Ones(9000, 784);
  CHECK(chosen(narrow_kernel, bytes, gigabyte) == Strategy::windowed);
  CHECK(chosen(narrow_kernel, FloatInputs(FloatInputs::Ones(9000, 20)), gigabyte) ==
        Strategy::dense);
}

TEST_CASE("a kernel value out of range is named by the points' own numbers") {
  FloatInputs large = triangle(5000, 3).cast<float>();
  large.row(900).setConstant(1e18F);
  const std::vector<int> labels = [] {
    std::vector<int> list(5000, 0);
    for (std::size_t i = 0; i < list.size(); i += 2) list[i] = 1;
    return list;
  }();
  const bpm::BayesPointMachine eighth(bpm::Polynomial(8), PermutedPerceptron{},
                                      test_support::hard(soft(2)));
  CHECK_THROWS_WITH(eighth.fit(large, labels), ContainsSubstring("k(x_900, x_900) is inf"));
}

TEST_CASE("strategies that cannot be: which one, and why") {
  const Data data;
  const auto refused = [&](Strategy strategy) { return narrow_machine(soft(1, strategy)); };
  CHECK_THROWS_AS(refused(Strategy::precomputed).fit(data.inputs, data.labels),
                  std::invalid_argument);
  CHECK_THROWS_WITH(refused(Strategy::precomputed).fit(data.inputs, data.labels),
                    "OneVsRest::fit: strategy is precomputed, which is for a PrecomputedKernel; "
                    "leave it out");
  CHECK_THROWS_WITH(refused(static_cast<Strategy>(9)).fit(data.inputs, data.labels),
                    "OneVsRest::fit: strategy is none that there is");
  CHECK(bpm::BayesPointMachine(narrow_kernel, RandomStartPerceptron{},
                               test_support::hard(soft(1, Strategy::windowed)))
            .forecast(data.inputs)
            .strategy == Strategy::windowed);
  const bpm::BayesPointMachine brought(bpm::PrecomputedKernel{}, PermutedPerceptron{},
                                       test_support::hard(soft(1, Strategy::dense)));
  CHECK_THROWS_WITH(brought.forecast(Doubles(Doubles::Identity(6, 6))),
                    "BayesPointMachine::forecast: strategy is dense, must be precomputed for a "
                    "PrecomputedKernel");
}

TEST_CASE("linear is for perceptrons of a linear kernel, which take it where rows are short") {
  const Data data;
  FitSettings settings = soft(1, Strategy::linear);
  const std::string refusal =
      "BayesPointMachine::forecast: strategy is linear, which is for perceptrons of a linear "
      "kernel "
      "on numbers; leave it out";
  const auto forecast = [&](const auto& kernel, const auto& sampler, const auto& inputs) {
    return bpm::BayesPointMachine(kernel, sampler, test_support::hard(settings)).forecast(inputs);
  };
  const bpm::RuntimeKernel polynomial = bpm::Polynomial(2);
  CHECK_THROWS_WITH(forecast(narrow_kernel, PermutedPerceptron{}, data.inputs), Equals(refusal));
  CHECK_THROWS_WITH(forecast(polynomial, PermutedPerceptron{}, data.inputs), Equals(refusal));
  CHECK_THROWS_WITH(forecast(bpm::Linear{}, RandomStartPerceptron{}, data.inputs), Equals(refusal));
  CHECK_THROWS_WITH(forecast(CommonPairs{}, PermutedPerceptron{}, words(20, 1)), Equals(refusal));
  // Wide rows: where it is asked for, alone.
  const FloatInputs wide = FloatInputs::Ones(40, 30);
  CHECK(forecast(bpm::Linear{}, PermutedPerceptron{}, wide).strategy == Strategy::linear);
  settings.strategy = {};
  CHECK(forecast(bpm::Linear{}, PermutedPerceptron{}, wide).strategy == Strategy::dense);
  const bpm::RuntimeKernel linear = bpm::on_unit_inputs(bpm::Linear{});
  CHECK(forecast(linear, PermutedPerceptron{}, data.inputs).strategy == Strategy::linear);
  CHECK(forecast(polynomial, PermutedPerceptron{}, data.inputs).strategy == Strategy::dense);
  CHECK(forecast(bpm::Linear{}, RandomStartPerceptron{}, data.inputs).strategy == Strategy::dense);
  // The smallest memory, and what the message says below it.
  const auto by_memory = [&](std::size_t memory) {
    settings.memory = memory;
    return forecast(bpm::Linear{}, PermutedPerceptron{}, data.inputs);
  };
  settings.threads = 3;
  const std::size_t smallest = smallest_budget(by_memory);
  CHECK(by_memory(smallest).strategy == Strategy::linear);
  CHECK(by_memory(smallest).threads == 1);
  CHECK_THROWS_WITH(by_memory(smallest - 1),
                    ContainsSubstring("need at least " + std::to_string(smallest) + " (outputs"));
}

TEST_CASE("a strategy that does not fit is refused, with the bytes it needs") {
  const Data data;
  for (const Strategy strategy : {Strategy::dense, Strategy::windowed}) {
    FitSettings settings = soft(2, strategy);
    const auto forecast = [&](std::size_t memory) {
      settings.memory = memory;
      return narrow_machine(settings).forecast(data.inputs, 3);
    };
    const std::size_t smallest = smallest_budget(forecast);
    const MemoryForecast least = forecast(smallest);
    CAPTURE(bpm::to_string(strategy));
    CHECK(least.strategy == strategy);
    CHECK(least.total() == smallest);
    settings.memory = smallest - 1;
    CHECK_THROWS_WITH(
        narrow_machine(settings).forecast(data.inputs, 3),
        Equals(bpm::detail::join("OneVsRest::forecast: memory is ", smallest - 1,
                                 " bytes, 600 points and 3 problems need at least ", smallest,
                                 " for strategy ", bpm::to_string(strategy), " (outputs and sums ",
                                 least.sampler_bytes + least.model_bytes, ", kernel values ",
                                 least.kernel_bytes, "); raise memory")));
  }
}

TEST_CASE("few points with long inputs: the smallest budget is what is named") {
  const FloatInputs inputs = FloatInputs::Ones(12, 3000);
  FitSettings settings{.threads = 2};
  const auto forecast = [&](std::size_t memory) {
    settings.memory = memory;
    return bpm::BayesPointMachine(narrow_kernel, PermutedPerceptron{}, test_support::hard(settings))
        .forecast(inputs);
  };
  const std::size_t smallest = smallest_budget(forecast);
  CHECK(forecast(smallest).total() == smallest);
  CHECK_THROWS_WITH(forecast(smallest - 1), Catch::Matchers::ContainsSubstring(bpm::detail::join(
                                                " need at least ", smallest, " (")));
}
