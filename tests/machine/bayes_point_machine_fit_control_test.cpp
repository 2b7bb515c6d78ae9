// SPDX-License-Identifier: MIT
// Strategy, forecast, progress and stopping of a fit.
#include <Eigen/Core>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"
#include "sampler_list.hpp"

using namespace machine_tests;

namespace {

const bpm::Gaussian sharp_kernel = bpm::Gaussian::from_sigma(0.3);

}  // namespace

TEST_CASE("strategies have names") {
  CHECK(bpm::to_string(bpm::Strategy::dense) == "dense");
  CHECK(bpm::to_string(bpm::Strategy::windowed) == "windowed");
  CHECK(bpm::to_string(bpm::Strategy::precomputed) == "precomputed");
  CHECK(bpm::to_string(static_cast<bpm::Strategy>(9)) == "unknown");
}

TEST_CASE("the forecast adds up, and the budget chooses the strategy") {
  const bpm::RowMatrix<float> inputs = triangle(600, 1).cast<float>();
  bpm::FitSettings settings{.threads = 2};
  const auto forecast = [&] {
    return bpm::BayesPointMachine(sharp_kernel, bpm::PermutedPerceptron{},
                                  test_support::hard(settings))
        .forecast(inputs);
  };
  const bpm::MemoryForecast dense = forecast();
  CHECK(dense.strategy == bpm::Strategy::dense);
  CHECK(dense.total() == dense.kernel_bytes + dense.sampler_bytes + dense.model_bytes);
  CHECK(dense.kernel_bytes >= 600 * 600 * sizeof(float));
  settings.memory = dense.total();
  CHECK(forecast().strategy == bpm::Strategy::dense);
  // Without the matrix: inputs packed as columns, and no row kept.
  settings.memory = dense.total() - 1;
  CHECK(forecast().strategy != bpm::Strategy::dense);
  settings.strategy = bpm::Strategy::windowed;
  const bpm::MemoryForecast windowed = forecast();
  CHECK(windowed.strategy == bpm::Strategy::windowed);
  CHECK(windowed.kept_rows == 0);
  const std::size_t columns = bpm::detail::packed_bytes(
      inputs, bpm::PermutedPerceptron{}.memory_need({600, 1, 2, 4}).columns);
  // Of the matrix, each thread packs the columns of a tile.
  const std::size_t of_tiles = 2 * bpm::detail::packed_bytes(inputs, 256);
  CHECK(windowed.total() == dense.total() - 600 * 600 * sizeof(float) - of_tiles + columns);
  settings.memory = windowed.total();
  CHECK(forecast().strategy == bpm::Strategy::windowed);
  CHECK(forecast().draws_at_once == 0);
  // Then fewer draws at a time, fewer threads, and then nothing.
  settings.memory = windowed.total() - 1;
  const bpm::MemoryForecast one_draw = forecast();
  CHECK(one_draw.draws_at_once == 1);
  CHECK(one_draw.threads == 2);
  CHECK(one_draw.total() < windowed.total());
  settings.memory = one_draw.total() - 1;
  const bpm::MemoryForecast smallest = forecast();
  CHECK(smallest.threads == 1);
  CHECK(smallest.total() < one_draw.total());
  settings.memory = smallest.total();
  CHECK(forecast().total() == smallest.total());
  settings.memory = smallest.total() - 1;
  CHECK_THROWS_AS(forecast(), bpm::BudgetTooSmall);
  settings.strategy.reset();
  CHECK_THROWS_AS(forecast(), bpm::BudgetTooSmall);
  // Outputs grow with the number of classes.
  settings.memory = std::size_t{1} << 30U;
  const bpm::OneVsRest several(bpm::BayesPointMachine(sharp_kernel, bpm::PermutedPerceptron{},
                                                      test_support::hard(settings)));
  CHECK(several.forecast(inputs, 10).sampler_bytes > dense.sampler_bytes);
  CHECK(several.forecast(inputs, 1).total() == dense.total());
  // A matrix that the user brings costs nothing more.
  const bpm::BayesPointMachine precomputed(bpm::PrecomputedKernel{}, bpm::PermutedPerceptron{},
                                           test_support::hard(settings));
  CHECK(precomputed.forecast(Doubles(Doubles::Identity(600, 600))).kernel_bytes == 0);
  // What a user's own sampler says it holds is counted.
  const bpm::BayesPointMachine own(sharp_kernel, RandomStartPerceptron{},
                                   test_support::hard(settings));
  CHECK(own.forecast(inputs).sampler_bytes == 2 * sizeof(double) * 600);
}

TEST_CASE("every budget and number of threads: the same model of 600 points") {
  const bpm::RowMatrix<float> inputs = triangle(600, 1, 0.6).cast<float>();
  const bpm::RowMatrix<float> others = triangle(100, 2, 0.6).cast<float>();
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::relative(0.1), .threads = 1};
  const auto machine = [&] {
    return bpm::OneVsRest(bpm::BayesPointMachine(sharp_kernel, bpm::PermutedPerceptron{.draws = 5},
                                                 test_support::hard(settings)));
  };
  const auto model = machine().fit(inputs, three_labels(600));
  CHECK(model.forecast().strategy == bpm::Strategy::dense);
  for (const unsigned threads : {0U, 1U, 2U, 3U, 7U}) {
    for (const bool whole : {true, false}) {
      CAPTURE(threads, whole);
      settings.threads = threads;
      settings.memory = std::size_t{1} << 30U;
      if (!whole) settings.memory = machine().forecast(inputs, 3).total() - 1;
      const auto other = machine().fit(inputs, three_labels(600));
      CHECK((other.forecast().strategy == bpm::Strategy::dense) == whole);
      CHECK(other.coefficients() == model.coefficients());
      CHECK(other.support() == model.support());
      CHECK(other.decision_values(others) == model.decision_values(others));
      CHECK(other.report().perceptron->mistakes == model.report().perceptron->mistakes);
    }
  }
}

TEST_CASE("progress of a fit: the matrix, then the draws") {
  const Doubles inputs = triangle(600, 1);
  std::vector<std::string> stages;
  double last = 0;
  bool rising = true;
  const auto observer = [&](const bpm::Progress& progress) {
    if (stages.empty() || stages.back() != progress.stage) {
      stages.emplace_back(progress.stage);
      last = 0;
    }
    rising = rising && progress.fraction >= last && progress.fraction <= 1;
    last = progress.fraction;
  };
  const bpm::BayesPointMachine machine(sharp_kernel, bpm::PermutedPerceptron{},
                                       test_support::hard({.threads = 1}));
  (void)machine.fit(inputs, two_labels(600), observer);
  CHECK(stages == std::vector<std::string>{"kernel matrix", "draws"});
  CHECK(rising);
}

TEST_CASE("a fit that is stopped returns the Bayes point of the draws it has") {
  const Doubles inputs = triangle(60, 1);
  const std::vector<int> labels = two_labels(60);
  // The user's sampler asks before every draw.
  std::uint64_t limit = 3;
  const auto observer = [&](const bpm::Progress& progress) {
    return progress.stage == "kernel matrix" || progress.draws < limit;
  };
  const bpm::BayesPointMachine machine(sharp_kernel, RandomStartPerceptron{.draws = 10},
                                       test_support::hard());
  auto training = machine.train(inputs, labels, observer);
  const auto stopped = training.classifier();
  CHECK(stopped.report().stopped);
  CHECK_FALSE(stopped.report().converged);
  CHECK(stopped.report().reason == "stopped");
  CHECK(stopped.report().draws == 3);
  CHECK(stopped.report().draws == 3);
  const bpm::BayesPointMachine three(sharp_kernel, RandomStartPerceptron{.draws = 3},
                                     test_support::hard());
  CHECK(stopped.coefficients() == three.fit(inputs, labels).coefficients());
  // And goes on from there.
  training.add_draws(7);
  CHECK(training.report().converged);
  CHECK_FALSE(training.report().stopped);
  CHECK(training.classifier().coefficients() == machine.fit(inputs, labels).coefficients());

  const auto several = bpm::OneVsRest(machine).fit(inputs, three_labels(60), observer);
  CHECK(several.report().stopped);
  CHECK(several.report().draws == 3);
}

TEST_CASE("a stop token ends a fit between draws of the library's sampler too") {
  // A kernel that asks for the stop itself, once the fit is well under way.
  std::stop_source source;
  std::atomic<int> calls{0};
  std::atomic<int> limit{1 << 30};
  const auto slow = [&](const auto& x, const auto& z) {
    if (++calls == limit) source.request_stop();
    return std::exp(-(x - z).squaredNorm() / 0.1);
  };
  const Doubles inputs = triangle(100, 1);
  const std::vector<int> labels = two_labels(100);
  bpm::FitSettings settings{.threads = 1};
  const bpm::PermutedPerceptron sampler{.draws = 20};
  settings.strategy = bpm::Strategy::windowed;
  const bpm::BayesPointMachine machine(slow, sampler, test_support::hard(settings));
  const auto whole = machine.fit(inputs, labels);
  REQUIRE(whole.forecast().strategy == bpm::Strategy::windowed);
  limit = calls / 2;
  calls = 0;
  const auto half = machine.fit(inputs, labels, bpm::detail::IgnoreProgress{}, source.get_token());
  CHECK(half.report().stopped);
  CHECK(half.report().draws > 0);
  CHECK(half.report().draws < 20);
  limit = 1 << 30;
  const bpm::BayesPointMachine shorter(slow, bpm::PermutedPerceptron{.draws = half.report().draws},
                                       test_support::hard(settings));
  CHECK(shorter.fit(inputs, labels).coefficients() == half.coefficients());
}
