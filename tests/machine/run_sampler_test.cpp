// SPDX-License-Identifier: MIT
#include "bpm/machine/run_sampler.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/version_space/soft_boundary.hpp"
#include "catch.hpp"
#include "hard.hpp"

TEST_CASE("the report counts the points that made each draw", "[machine]") {
  const int classes = GENERATE(2, 3);
  bpm::RandomEngine engine(9);
  bpm::NormalDraws normal;
  bpm::RowMatrix<double> inputs(80, 2);
  std::vector<int> labels(80);
  for (int i = 0; i < 80; ++i) {
    inputs.row(i) << normal(engine), normal(engine);
    labels[i] = i % classes;
  }
  const bpm::OneVsRest machine(
      bpm::BayesPointMachine(bpm::Gaussian::from_width(0.5), bpm::PermutedPerceptron{.draws = 4},
                             test_support::hard({.threads = 3, .keep_draws = true})));
  auto training = machine.train(inputs, labels);
  training.add_draws(2);
  const auto fitted = training.classifier();
  const auto& counted = fitted.report().mistaken_points;
  REQUIRE(counted.size() == 6);
  // A perceptron adds to a coefficient at every mistake and never takes away: points with one are
  // those of the draws kept, in any class.
  const auto& draws = fitted.parts().draw_coefficients;
  for (std::size_t n = 0; n < counted.size(); ++n) {
    std::size_t points = 0;
    for (Eigen::Index s = 0; s < draws.rows(); ++s) {
      points += (draws.row(s)
                     .segment(static_cast<Eigen::Index>(n) * fitted.columns(), fitted.columns())
                     .array() != 0)
                    .any();
    }
    CHECK(counted[n] == points);
    CHECK(counted[n] > 0);
    CHECK(counted[n] < 80);
  }
}

namespace {

/// A user's sampler with trials: perceptrons that give up after so many passes; 0: 1000. It notes
/// the passes of every run.
struct Patient {
  std::uint64_t draws = 2;
  std::uint64_t passes = 0;
  std::vector<std::uint64_t>* runs = nullptr;

  static constexpr bpm::SamplerTraits traits{.name = "Patient", .has_trials = true};
  void check_settings() const {}
  [[nodiscard]] Patient with_draws(std::uint64_t count) const { return {count, passes, runs}; }
  [[nodiscard]] Patient trial(std::uint64_t count) const { return {count, 5, runs}; }
  void limit_as_trials() {
    if (passes == 0) passes = 5;
  }
  [[nodiscard]] bpm::MemoryNeed memory_need(const bpm::RunSize& run) const {
    return perceptron().memory_need(run);
  }
  template <bpm::VersionSpace Space, bpm::detail::DrawSink Sink>
  bpm::SamplerReport sample(std::span<const Space> spaces, bpm::RandomStreams& streams,
                            const bpm::RunControl& control, Sink&& sink) const {
    runs->push_back(passes);
    return perceptron().sample(spaces, streams, control, sink);
  }

 private:
  [[nodiscard]] bpm::PermutedPerceptron perceptron() const {
    return {.draws = draws, .max_passes = passes == 0 ? 1000 : passes};
  }
};

/// Points of a line, labelled by a threshold in it; `wrong`: one in the middle of the other class
/// as well.
struct Line {
  bpm::RowMatrix<double> inputs;
  std::vector<int> labels;

  explicit Line(int points, bool wrong = false) : inputs(points, 2), labels(inputs.rows()) {
    for (int i = 0; i < points; ++i) {
      inputs.row(i) << 1, (i + 0.5) / points;
      labels[static_cast<std::size_t>(i)] = 2 * i < points ? -1 : 1;
    }
    if (wrong) labels[inputs.rows() / 4] = 1;
  }
};

}  // namespace

TEST_CASE("candidates are tried, and an automatic boundary fitted, as a sampler's trials say",
          "[machine]") {
  const Line line(40, true);
  std::vector<std::uint64_t> runs;
  const bpm::FitSettings automatic{.soft_boundary = bpm::SoftBoundary::automatic()};
  (void)bpm::BayesPointMachine(bpm::Linear{}, Patient{.runs = &runs}, automatic)
      .fit(line.inputs, line.labels);
  CHECK(runs.size() >= 5);  // As many as folds.
  CHECK(std::ranges::count(runs, 5U) == std::ssize(runs));
  // Limits that are set hold for the fit; what is tried is tried by trials.
  runs.clear();
  (void)bpm::BayesPointMachine(bpm::Linear{}, Patient{.passes = 4, .runs = &runs}, automatic)
      .fit(line.inputs, line.labels);
  CHECK(runs.back() == 4);
  CHECK(std::ranges::count(runs, 5U) == std::ssize(runs) - std::ranges::count(runs, 4U));
  CHECK(std::ranges::count(runs, 5U) >= 5);
}
