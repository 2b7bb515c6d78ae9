// SPDX-License-Identifier: MIT
#include "common/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"
#include "temporary_folder.hpp"

namespace checkpoint_tests {

using bpm_examples::fit_by_parts;
using bpm_examples::FitParts;
using bpm_examples::UsageError;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;
using Watch = std::function<bool(const bpm::Progress&)>;

const bpm::Gaussian kernel = bpm::Gaussian::from_width(0.3);

bool go_on(const bpm::Progress& /*now*/) { return true; }

template <class Sampler>
auto machine_with(const Sampler& sampler, const bpm::FitSettings& settings) {
  return bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler, settings));
}

/// Saves trainings as texts.
struct Saves {
  std::vector<std::string> texts{};
  template <class Training>
  void operator()(const Training& training) {
    std::ostringstream out;
    bpm::save(training, out);
    texts.push_back(out.str());
  }
};

template <class Machine>
auto by_parts(const Machine& machine, const test_support::LabelledPoints& points,
              const FitParts& parts, Saves& saves, const std::string& begun = {},
              const Watch& watch = go_on) {
  return fit_by_parts(machine, points.inputs, points.labels, parts, begun, watch,
                      [&](const auto& training) { saves(training); });
}

template <class Classifier>
std::vector<double> numbers_of(const Classifier& classifier) {
  const auto& parts = classifier.parts();
  std::vector<double> numbers(parts.coefficients.data(),
                              parts.coefficients.data() + parts.coefficients.size());
  for (const auto* more : {&parts.offsets, &parts.mean_norms, &parts.training_margins}) {
    numbers.insert(numbers.end(), more->begin(), more->end());
  }
  numbers.push_back(parts.slope);
  if (const auto& boundary = classifier.notes.boundary)
    numbers.push_back(boundary->relative_lambda);
  const auto& report = classifier.report();
  numbers.push_back(static_cast<double>(report.draws));
  if (report.perceptron) numbers.push_back(static_cast<double>(report.perceptron->mistakes));
  return numbers;
}

TEST_CASE("a fit by parts is that of one run, from whichever save it goes on", "[examples]") {
  const auto points = test_support::noisy_rings(90, 3, 0.05);
  for (const bool automatic : {false, true}) {
    bpm::FitSettings settings{.threads = 2};
    settings.soft_boundary =
        automatic ? bpm::SoftBoundary::automatic() : bpm::SoftBoundary::relative(0.1);
    const auto machine = machine_with(bpm::PermutedPerceptron{.draws = 7}, settings);
    const auto whole = numbers_of(machine.fit(points.inputs, points.labels));
    for (const double brief : {0.0, 1e9}) {
      Saves saves;
      const FitParts parts{.draws = 7, .first = 2, .brief = brief};
      CHECK(numbers_of(by_parts(machine, points, parts, saves)) == whole);
      CHECK(saves.texts.size() == (brief > 0 ? 3 : 4));  // 2, 4, 1 or 2, 2, 2, 1.
      for (const std::string& begun : saves.texts) {
        Saves more;
        CHECK(numbers_of(by_parts(machine, points, {.draws = 7, .first = 3}, more, begun)) ==
              whole);
        CHECK(more.texts.empty() == (begun == saves.texts.back()));
      }
    }
  }
}

TEST_CASE("chains by parts are those of one run", "[examples]") {
  const auto points = test_support::noisy_rings(40, 3, 0);
  const auto machine =
      machine_with(bpm::Billiard{.draws = 50}, {.soft_boundary = bpm::SoftBoundary::relative(0.1)});
  const auto whole = numbers_of(machine.fit(points.inputs, points.labels));
  Saves saves;
  CHECK(numbers_of(by_parts(machine, points, {.draws = 50, .first = 5}, saves)) == whole);
  REQUIRE(saves.texts.size() == 4);
  // One that is stopped goes on from the save before.
  Saves less;
  bool stops = false;
  const Watch watch = [&](const bpm::Progress&) {
    stops = stops || less.texts.size() == 2;
    return !stops;
  };
  static_cast<void>(by_parts(machine, points, {.draws = 50, .first = 5}, less, {}, watch));
  REQUIRE(less.texts.size() == 2);
  CHECK(numbers_of(by_parts(machine, points, {.draws = 50, .first = 7}, saves,
                            less.texts.back())) == whole);
}

TEST_CASE("a fit by parts searches for its boundary as its machine says", "[examples]") {
  const auto points = test_support::noisy_rings(90, 3, 0.05);
  const bpm::OneVsRest machine(bpm::BayesPointMachine(
      kernel, bpm::PermutedPerceptron{.draws = 4},
      bpm::AutomaticBoundary{.relative_lambdas = {0.2, 0.7}}, {.threads = 1}));
  const auto whole = machine.fit(points.inputs, points.labels);
  Saves saves;
  const auto fitted = by_parts(machine, points, {.draws = 4, .first = 2}, saves);
  CHECK(numbers_of(fitted) == numbers_of(whole));
  REQUIRE(fitted.notes.boundary);
  CHECK(fitted.notes.boundary->candidates.size() == 2);
}

TEST_CASE("a fit by parts that is stopped saves the draws it has", "[examples]") {
  const auto points = test_support::noisy_rings(90, 3, 0.05);
  const auto machine = machine_with(
      bpm::PermutedPerceptron{.draws = 300'000},  // Seconds: the watch is asked before.
      {.soft_boundary = bpm::SoftBoundary::relative(0.1), .threads = 2});
  Saves saves;
  const auto cut = by_parts(machine, points, {.draws = 300'000, .first = 200'000}, saves, {},
                            [](const bpm::Progress& now) { return now.draws < 5; });
  CHECK(cut.report().stopped);
  CHECK(cut.report().draws >= 5);
  REQUIRE(saves.texts.size() == 1);
  const std::uint64_t draws = cut.report().draws + 2;
  const auto fewer = machine_with(machine.sampler().with_draws(draws), machine.settings());
  CHECK(numbers_of(
            by_parts(fewer, points, {.draws = draws, .first = 2}, saves, saves.texts.front())) ==
        numbers_of(fewer.fit(points.inputs, points.labels)));
  CHECK(message_of([&] {
          static_cast<void>(
              by_parts(machine, points, {.draws = 1, .first = 1}, saves, saves.texts.back()));
        }) == "--checkpoint holds " + std::to_string(draws) +
                  " draws, more than the 1 of --draws: ask for as many, or name another folder");
}

TEST_CASE("a boundary that a later draw raises is raised for all draws", "[examples]") {
  const auto points = test_support::noisy_rings(120, 2, 0.1);
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::automatic(), .threads = 1};
  settings.boundary_choice = bpm::BoundaryChoice{.relative_lambda = 0.01};
  int raised = 0;
  for (std::uint64_t seed = 1; seed < 20 && raised < 2; ++seed) {
    settings.seed = seed;
    // Just enough passes for the first draw.
    const auto first = machine_with(bpm::PermutedPerceptron{.draws = 1}, settings)
                           .fit(points.inputs, points.labels);
    if (first.notes.boundary->raised > 0) continue;
    const std::uint64_t passes = first.report().perceptron->passes;
    const auto machine =
        machine_with(bpm::PermutedPerceptron{.draws = 4, .max_passes = passes}, settings);
    const auto whole = machine.fit(points.inputs, points.labels);
    if (whole.notes.boundary->raised == 0) continue;
    ++raised;
    Saves saves;
    CHECK(numbers_of(by_parts(machine, points, {.draws = 4, .first = 1, .brief = 0}, saves)) ==
          numbers_of(whole));
    CHECK(saves.texts.size() > 1);
    CHECK(numbers_of(by_parts(machine, points, {.draws = 4, .first = 1}, saves,
                              saves.texts.front())) == numbers_of(whole));
    settings.soft_boundary = bpm::SoftBoundary::relative(0.01);
    settings.boundary_choice.reset();
    const auto given = machine_with(machine.sampler(), settings);
    CHECK_THROWS_AS(by_parts(given, points, {.draws = 4, .first = 1}, saves), bpm::NotSeparable);
    settings.soft_boundary = bpm::SoftBoundary::automatic();
    settings.boundary_choice = bpm::BoundaryChoice{.relative_lambda = 0.01};
  }
  CHECK(raised == 2);
}

TEST_CASE("the folder of --checkpoint holds a training, or nothing", "[examples]") {
  namespace fs = std::filesystem;
  const examples_test::TemporaryFolder folder;
  const fs::path draws = folder.path() / "there" / "draws";
  const auto refusal = [&](const fs::path& path) {
    return message_of([&] { static_cast<void>(bpm_examples::read_training(path)); });
  };
  CHECK(bpm_examples::training_file(draws) == draws / "training");
  CHECK_FALSE(fs::exists(draws));
  CHECK(bpm_examples::read_training(draws).empty());
  CHECK(fs::is_directory(draws));
  // What a killed save leaves is in nobody's way.
  examples_test::write_text(folder.path() / "there/draws/training.partial-1-2-3", "cut");
  CHECK(bpm_examples::read_training(draws).empty());
  for (const char* old : {"draw-0-0-3.bpm", "lambda-0.1", "chains"}) {
    examples_test::write_text(draws / old, "x");
    CHECK(refusal(draws) ==
          "--checkpoint: '" + draws.string() + "' holds '" + old +
              "' and no training; draws in files of their own are not read any more: name another "
              "folder, and the run begins anew");
    CHECK_THROWS_AS(bpm_examples::training_file(draws), UsageError);
    fs::remove(draws / old);
  }
  examples_test::write_text(folder.path() / "there/draws/training", "of a run");
  CHECK(bpm_examples::read_training(draws) == "of a run");
  examples_test::write_text(folder.path() / "plain", "x");
  CHECK(refusal(folder.path() / "plain") ==
        "--checkpoint: '" + (folder.path() / "plain").string() + "' is no folder");
  CHECK_THAT(refusal(folder.path() / "plain" / "below"),
             ContainsSubstring("cannot be made a folder: "));

  // Nor is it a training of other data.
  const auto points = test_support::noisy_rings(30, 2, 0);
  const auto machine = machine_with(bpm::PermutedPerceptron{.draws = 2},
                                    {.soft_boundary = bpm::SoftBoundary::relative(0.1)});
  Saves saves;
  static_cast<void>(by_parts(machine, points, {.draws = 1, .first = 1}, saves));
  auto others = points;
  others.labels[3] = 1 - others.labels[3];
  CHECK_THROWS_AS(by_parts(machine, others, {.draws = 2, .first = 1}, saves, saves.texts.back()),
                  bpm::DataError);
  CHECK_THAT(
      message_of([&] {
        static_cast<void>(
            by_parts(machine, others, {.draws = 2, .first = 1}, saves, saves.texts.back()));
      }),
      ContainsSubstring("the training of --checkpoint belongs to another run: other labels"));
}

}  // namespace checkpoint_tests
