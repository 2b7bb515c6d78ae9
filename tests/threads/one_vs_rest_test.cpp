// SPDX-License-Identifier: MIT
// The whole machine on several threads: what the thread sanitizer looks at, and one model whatever
// their number.
#include <Eigen/Core>
#include <atomic>
#include <cstddef>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "hard.hpp"

namespace {

struct Data {
  bpm::RowMatrix<float> inputs{600, 10};
  std::vector<int> labels;

  Data() {
    bpm::RandomEngine engine(7);
    for (int i = 0; i < 600; ++i) {
      labels.push_back(static_cast<int>(bpm::uniform_below(engine, 3)));
      for (int j = 0; j < 10; ++j) {
        inputs(i, j) = static_cast<float>(bpm::uniform_unit(engine) - 0.5) +
                       (j == labels.back() ? 1.2F : 0.0F);
      }
    }
  }
};

auto fit(const Data& data, unsigned threads, std::size_t memory) {
  bpm::FitSettings settings;
  settings.threads = threads;
  settings.memory = memory;
  settings.keep_draws = true;
  std::atomic<int> calls{0};
  auto training = bpm::OneVsRest(bpm::BayesPointMachine(bpm::Polynomial(3), {.draws = 7},
                                                        test_support::hard(settings)))
                      .train(data.inputs, data.labels, [&](const bpm::Progress&) { ++calls; });
  training.add_draws(4);
  CHECK(calls > 0);
  return training.classifier();
}

}  // namespace

TEST_CASE("fit, continue and predict on three threads: the same model and values as on one") {
  const Data data;
  constexpr std::size_t plenty = std::size_t{1} << 30U;
  constexpr std::size_t tight = std::size_t{1} << 20U;
  const auto expected = fit(data, 1, plenty);
  for (const std::size_t memory : {plenty, tight}) {
    const auto fitted = fit(data, 3, memory);
    CHECK((fitted.forecast().strategy == bpm::Strategy::dense) == (memory == plenty));
    CHECK(fitted.support() == expected.support());
    CHECK((fitted.coefficients().array() == expected.coefficients().array()).all());
    CHECK((fitted.decision_values(data.inputs).array() ==
           expected.decision_values(data.inputs).array())
              .all());
    CHECK(
        (fitted.vote_fractions(data.inputs).array() == expected.vote_fractions(data.inputs).array())
            .all());
  }
}
