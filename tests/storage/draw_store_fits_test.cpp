// SPDX-License-Identifier: MIT
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/storage/draw_store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/radial.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/candidates.hpp"
#include "catch.hpp"
#include "full_disk.hpp"
#include "message_of.hpp"
#include "problems.hpp"
#include "temporary_folder.hpp"

using Catch::Matchers::ContainsSubstring;
using serialization_tests::FullDisk;
using test_support::message_of;
using test_support::TemporaryFolder;
using namespace sampler_tests;

namespace {

// One folder holds the draws of one machine, not of many pairs of classes.
static_assert(!bpm::detail::fits_pairs<bpm::CheckpointedPerceptron>);

using Space = bpm::KernelVersionSpace<float>;
static_assert(bpm::KernelSampler<bpm::CheckpointedPerceptron, Space>);

/// Three label vectors on 150 points.
struct Spaces {
  explicit Spaces(std::uint64_t seed = 1)
      : inputs(random_inputs(150, 5, seed)), values(narrow_gaussian, inputs) {
    for (std::uint64_t c = 0; c < 3; ++c) spaces.emplace_back(values, random_labels(150, seed + c));
  }
  Inputs inputs;
  NarrowValues values;
  std::vector<Space> spaces;
};

struct Run {
  std::vector<KeptDraw> draws;
  bpm::SamplerReport report;
  std::uint64_t next = 0;
};

template <class Sampler>
Run run(const Sampler& sampler, const Spaces& problem, unsigned threads = 1, std::uint64_t next = 0,
        std::stop_token stop = {}, std::uint64_t stop_at = 0) {
  Run outcome;
  bpm::RandomStreams streams{4, next};
  const bpm::RunControl control{
      [&](const bpm::Progress& now) { return stop_at == 0 || now.draws < stop_at; }, stop, threads};
  outcome.report = sampler.sample(std::span<const Space>(problem.spaces), streams, control,
                                  [&](const bpm::Draw& draw) { outcome.draws.emplace_back(draw); });
  outcome.next = streams.next;
  return outcome;
}

bool same_draws(const Run& a, const Run& b) {
  bool same = a.draws.size() == b.draws.size() && a.next == b.next;
  for (std::size_t i = 0; same && i < a.draws.size(); ++i) {
    same = a.draws[i].number == b.draws[i].number && a.draws[i].problem == b.draws[i].problem &&
           a.draws[i].support == b.draws[i].support &&
           a.draws[i].coefficients == b.draws[i].coefficients &&
           a.draws[i].outputs == b.draws[i].outputs;
  }
  return same && a.report.perceptron->mistakes == b.report.perceptron->mistakes &&
         a.report.perceptron->passes == b.report.perceptron->passes &&
         a.report.draws == b.report.draws && a.report.converged == b.report.converged;
}

}  // namespace

TEST_CASE("a folder of draws takes one fit at a time") {
  const Spaces problem;
  const TemporaryFolder folder;
  const bpm::CheckpointedPerceptron sampler{{.draws = 1}, folder.path()};
  {
    const bpm::detail::FolderLock lock(folder.path());
    CHECK_THROWS_AS(run(sampler, problem), bpm::CheckpointError);
  }
  CHECK(run(sampler, problem).report.converged);
}

TEST_CASE("a run that goes on from a checkpoint gives the draws of an uninterrupted one") {
  const Spaces problem;
  const bpm::PermutedPerceptron plain{.draws = 9};
  const Run whole = run(plain, problem);
  REQUIRE(whole.report.converged);
  const std::uint64_t digest_cost = 20 * 150;
  for (const unsigned threads : {1U, 3U}) {
    const TemporaryFolder folder;
    bpm::CheckpointedPerceptron sampler{plain, folder.path() / "draws"};
    // Four draws; then nine, of which one got lost in between and one is new in any case.
    sampler.draws = 4;
    const Run part = run(sampler, problem, threads);
    CHECK(part.report.converged);
    CHECK(part.draws.size() == 12);
    std::filesystem::remove(folder.path() / "draws" / "draw-1-0-3.bpm");
    sampler.draws = 9;
    const Run rest = run(sampler, problem, threads);
    CHECK(same_draws(rest, whole));
    CHECK(rest.report.kernel_evaluations < whole.report.kernel_evaluations * 3 / 4);
    CHECK(rest.report.perceptron->training_errors == 0);
    // All is there now.
    const Run again = run(sampler, problem, threads);
    CHECK(same_draws(again, whole));
    CHECK(again.report.kernel_evaluations < 2 * digest_cost);
    // Draws added later have numbers of their own.
    sampler.draws = 2;
    const Run more = run(sampler, problem, threads, 9);
    CHECK(same_draws(more, run(bpm::PermutedPerceptron{.draws = 2}, problem, 1, 9)));
  }
  // One problem alone is the same sampler.
  const TemporaryFolder folder;
  bpm::RandomStreams streams{4, 0};
  std::vector<KeptDraw> draws;
  const bpm::CheckpointedPerceptron sampler{{.draws = 2}, folder.path()};
  CHECK(bpm::sample_version_space(sampler, problem.spaces[1], streams, bpm::RunControl{},
                                  [&](const bpm::Draw& draw) { draws.emplace_back(draw); })
            .converged);
  REQUIRE(draws.size() == 2);
  CHECK(draws[1].coefficients == whole.draws[4].coefficients);
}

TEST_CASE("a stopped run keeps what it has finished") {
  const Spaces problem;
  const TemporaryFolder folder;
  const bpm::CheckpointedPerceptron sampler{{.draws = 2000}, folder.path()};
  const Run part = run(sampler, problem, 2, 0, {}, 5);
  CHECK(part.report.stopped);
  CHECK_FALSE(part.report.converged);
  CHECK(part.report.reason == "stopped");
  CHECK(part.report.draws >= 5);
  CHECK(part.next == part.report.draws);
  CHECK(part.draws.size() == 3 * part.report.draws);
  const bpm::PermutedPerceptron as_many{.draws = part.report.draws};
  const Run whole = run(as_many, problem);
  CHECK(part.draws.back().coefficients == whole.draws.back().coefficients);
  const Run again = run(bpm::CheckpointedPerceptron{as_many, folder.path()}, problem);
  CHECK(same_draws(again, whole));
  CHECK(again.report.kernel_evaluations < 2 * 20 * 150);

  std::stop_source stop;
  stop.request_stop();
  const TemporaryFolder other;
  CHECK(run(bpm::CheckpointedPerceptron{{.draws = 2000}, other.path()}, problem, 1, 0,
            stop.get_token())
            .report.stopped);
}

TEST_CASE("errors: settings, other data, a disk that fills, no consistent classifier") {
  const Spaces problem;
  const TemporaryFolder folder;
  bpm::CheckpointedPerceptron sampler{{.draws = 2}, folder.path()};
  CHECK(run(sampler, problem).report.converged);
  CHECK_THAT(message_of([&] { run(sampler, Spaces(2)); }),
             ContainsSubstring("belongs to another run: other labels"));
  sampler.margin = 0.125;
  CHECK_THAT(message_of([&] { run(sampler, problem); }),
             ContainsSubstring("belongs to another run: other margin (0.0 there, 0.125 here)"));
  sampler.margin = -1;
  CHECK_THAT(message_of([&] { run(sampler, problem); }), ContainsSubstring("margin is -1"));
  sampler.margin = 0;
  {
    const FullDisk full(2000);
    sampler.draws = 5;
    CHECK_THROWS_AS(run(sampler, problem), bpm::CheckpointError);
  }
  CHECK(same_draws(run(sampler, problem), run(bpm::PermutedPerceptron{.draws = 5}, problem)));
  CHECK_THAT(message_of([&] {
               run(bpm::CheckpointedPerceptron{{.draws = 2}, {}}, problem);
             }),
             ContainsSubstring("checkpoint is empty, expected the name of a folder"));
  CHECK_THAT(message_of([&] {
               bpm::RandomStreams streams;
               static_cast<void>(sampler.sample(std::span<const Space>(), streams,
                                                bpm::RunControl{}, [](const bpm::Draw&) {}));
             }),
             ContainsSubstring("spaces is empty"));
  const Inputs fewer = random_inputs(20, 5, 3);
  const NarrowValues fewer_values(narrow_gaussian, fewer);
  const std::vector<Space> uneven{problem.spaces[0], Space(fewer_values, random_labels(20, 1))};
  CHECK_THAT(message_of([&] {
               bpm::RandomStreams streams;
               static_cast<void>(sampler.sample(std::span(uneven), streams, bpm::RunControl{},
                                                [](const bpm::Draw&) {}));
             }),
             ContainsSubstring("as the first problem has"));

  const TemporaryFolder other;
  const bpm::PermutedPerceptron hopeless{.draws = 3, .max_passes = 1};
  const Run plain = run(hopeless, problem);
  const Run kept = run(bpm::CheckpointedPerceptron{hopeless, other.path()}, problem);
  CHECK_FALSE(kept.report.converged);
  CHECK_FALSE(kept.report.stopped);
  CHECK(kept.report.reason == plain.report.reason);
  CHECK(kept.report.perceptron->training_errors == plain.report.perceptron->training_errors);
  CHECK(kept.draws.empty());
}

TEST_CASE("an automatic soft boundary is chosen beside the folder, which keeps the fit's draws") {
  const Inputs inputs = random_inputs(100, 5, 3);
  std::vector<int> labels;
  for (const signed char sign : random_labels(100, 3)) labels.push_back(sign);
  const TemporaryFolder folder;
  const bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::automatic()};
  const bpm::Gaussian kernel = bpm::Gaussian::from_width(3);
  const auto plain = bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{.draws = 3}, settings)
                         .fit(inputs, labels);
  for (int time = 0; time < 2; ++time) {  // Made, then read.
    const bpm::CheckpointedPerceptron sampler{{.draws = 3}, folder.path() / "draws"};
    const auto kept = bpm::BayesPointMachine(kernel, sampler, settings).fit(inputs, labels);
    CHECK(kept.coefficients() == plain.coefficients());
    CHECK(kept.notes.boundary->relative_lambda == plain.notes.boundary->relative_lambda);
  }
}

TEST_CASE("a chosen boundary that is raised goes on from its own draws") {
  // Classes 0 and 1 lie apart from each other and from the rest, of which labels are random: their
  // subproblems' draws are finished, and kept, when those of the others fail.
  bpm::RowMatrix<double> inputs = random_inputs(120, 2, 3).cast<double>();
  std::vector<int> labels;
  for (const signed char sign : random_labels(120, 3)) labels.push_back(sign > 0 ? 2 : 3);
  for (int i = 0; i < 40; ++i) {
    labels[i] = i % 2;
    inputs.row(i) *= 0.1;
    inputs.row(i).array() += i % 2 == 0 ? 30 : -30;
  }
  const TemporaryFolder folder;
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::automatic(), .threads = 1};
  settings.boundary_choice = bpm::BoundaryChoice{};  // Hard, to begin with.
  const bpm::Gaussian kernel = bpm::Gaussian::from_width(5);
  const auto fit = [&](const auto& sampler) {
    return bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler, settings)).fit(inputs, labels);
  };
  const auto plain = fit(bpm::PermutedPerceptron{.draws = 2});
  REQUIRE(plain.notes.boundary->raised > 0);
  std::uint64_t mistakes = 0;
  for (int time = 0; time < 2; ++time) {  // Made, then read.
    const auto kept = fit(bpm::CheckpointedPerceptron{{.draws = 2}, folder.path()});
    CHECK(kept.coefficients() == plain.coefficients());
    CHECK(kept.notes.boundary->raised == plain.notes.boundary->raised);
    const auto files = std::filesystem::recursive_directory_iterator(folder.path());
    const auto draws = std::count_if(begin(files), end(files), [](const auto& entry) {
      return entry.path().extension() == ".bpm";
    });
    CHECK(draws >= 2);
    if (time == 1) CHECK(kept.report().perceptron->mistakes == mistakes);
    mistakes = kept.report().perceptron->mistakes;
  }
}

TEST_CASE("the kernel values that tell a run from others are counted, its files are foreseen") {
  const Spaces problem;
  const TemporaryFolder folder;
  const bpm::PermutedPerceptron plain{.draws = 2};
  const bpm::CheckpointedPerceptron sampler{plain, folder.path()};
  run(sampler, problem);
  // Of draws that are all there: each group of 16 points with itself and four more.
  CHECK(run(sampler, problem).report.kernel_evaluations == 9 * 20 * 16 + 10 * 6);
  // A file in the making and its copy for the disk, where every point has a coefficient.
  const std::size_t m = 10'000;
  const bpm::detail::DrawStore store(folder.path() / "full", {}, m);
  bpm::detail::FinishedPiece piece{{0, 0, 3}, {}, {}};
  piece.solutions.resize(3);
  for (auto& solution : piece.solutions) {
    solution.support.resize(m);
    solution.coefficients.resize(m);
    solution.outputs.resize(m);
  }
  store.write(piece);
  const std::size_t file = std::filesystem::file_size(store.path_of(piece.piece));
  for (const unsigned at_once : {1U, 2U}) {
    const bpm::RunSize size{.points = m, .problems = 3, .threads = at_once};
    const std::size_t more = sampler.memory_need(size).bytes - plain.memory_need(size).bytes;
    CHECK(more >= 2 * at_once * (file - 1000));
    CHECK(more <= 2 * at_once * file + 1000);
  }
}
