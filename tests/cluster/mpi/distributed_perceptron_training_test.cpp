// SPDX-License-Identifier: MIT
// Trainings of ranks, which one rank saves. The tests named after the kill are run by
// kill_a_rank.cmake.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "bpm/cluster/distributed_perceptron.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/storage/training_file.hpp"
#include "catch.hpp"
#include "full_disk.hpp"
#include "message_of.hpp"
#include "rank_problems.hpp"

using namespace rank_tests;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;

namespace {

/// Ranks with a disk in common: what the first has saved the others see.
template <class Training>
void save_of_first(const Training& training, const std::filesystem::path& file) {
  if (rank() == 0) bpm::save(training, file);
  meet();
}

}  // namespace

TEST_CASE("ranks go on from a training, whoever made it") {
  const Problem problem = make_problem();
  const SharedFolder folder("goes_on");
  if (rank() == 0) std::filesystem::create_directory(folder.path());
  const auto file = folder.path() / "training";
  const bpm::PermutedPerceptron one{.draws = 6};
  const auto alone = fit(one, problem);
  bpm::DistributedPerceptron sampler{{.draws = 2}};  // Fewer than ranks.
  const auto all = windowed_machine(kernel, sampler);
  save_of_first(all.train(problem.inputs, problem.labels), file);
  {
    auto training = bpm::resume(all, problem.inputs, problem.labels, file);
    CHECK(bits_of(training.classifier()) ==
          bits_of(fit(bpm::PermutedPerceptron{.draws = 2}, problem)));
    training.add_draws(3);
    CHECK(training.report().draws == 5);
    meet();
    save_of_first(training, file);
  }

  // Three ranks, and one process alone, make the rest.
  MPI_Comm some{};
  MPI_Comm_split(MPI_COMM_WORLD, rank() == 0 ? 0 : 1, rank(), &some);
  const auto rest_by = [&](const auto& machine) {
    auto training = bpm::resume(machine, problem.inputs, problem.labels, file);
    training.add_draws(1);
    CHECK(bits_of(training.classifier()) == bits_of(alone));
  };
  if (rank() == 0) {
    rest_by(windowed_machine(kernel, one));
  } else {
    rest_by(windowed_machine(kernel, bpm::DistributedPerceptron{one, some}));
  }
  MPI_Comm_free(&some);
  meet();

  // Other data are refused on all ranks.
  const std::string message = message_of([&] {
    Problem other = problem;
    other.labels[0] = other.labels[0] == 4 ? 5 : 4;
    static_cast<void>(bpm::resume(all, other.inputs, other.labels, file));
  });
  CHECK_THAT(message, ContainsSubstring("belongs to another run: other labels"));
  CHECK(same_text_on_all(message));
}

TEST_CASE("a disk of the first rank that fills leaves the training that was there") {
  const Problem problem = make_problem();
  const SharedFolder folder("full_disk");
  if (rank() == 0) std::filesystem::create_directory(folder.path());
  const auto file = folder.path() / "training";
  const auto machine = windowed_machine(kernel, bpm::DistributedPerceptron{{.draws = 4}});
  auto training = machine.train(problem.inputs, problem.labels);
  save_of_first(training, file);
  training.add_draws(4);
  if (rank() == 0) {
    const serialization_tests::FullDisk full(1000);
    CHECK_THROWS_AS(bpm::save(training, file), bpm::CheckpointError);
  }
  meet();
  auto again = bpm::resume(machine, problem.inputs, problem.labels, file);
  again.add_draws(4);
  CHECK(bits_of(again.classifier()) == bits_of(training.classifier()));
}

namespace {

/// 24 draws, saved after every four.
auto saved_fit(const Problem& problem) {
  const char* const folder = std::getenv("BPM_RANKS_FOLDER");
  REQUIRE(folder != nullptr);
  if (rank() == 0) std::filesystem::create_directories(folder);
  meet();
  const auto file = std::filesystem::path(folder) / "training";
  const auto machine = windowed_machine(kernel, bpm::DistributedPerceptron{{.draws = 4}});
  auto training = std::filesystem::exists(file)
                      ? bpm::resume(machine, problem.inputs, problem.labels, file)
                      : machine.train(problem.inputs, problem.labels);
  const std::uint64_t found = training.report().draws;
  while (training.report().draws < 24) {
    meet();
    save_of_first(training, file);
    training.add_draws(4, [&](const bpm::Progress& /*now*/) {
      const bool victim = std::getenv("BPM_RANKS_VICTIM") != nullptr;
      if (victim && rank() == 1 && training.report().draws >= 8) {
        ::kill(::getpid(), SIGKILL);
      }
    });
  }
  return std::pair(found, training.classifier());
}

}  // namespace

TEST_CASE("kill: rank 1 dies after some draws", "[.victim]") {
  ::setenv("BPM_RANKS_VICTIM", "1", 1);
  const auto [found, fitted] = saved_fit(make_problem(1500));
  FAIL("the job outlived its rank with " << fitted.report().draws << " draws");
}

TEST_CASE("kill: the rerun goes on and gives the uninterrupted model", "[.rerun]") {
  const Problem problem = make_problem(1500);
  const auto [found, fitted] = saved_fit(problem);
  CHECK(found >= 8);
  CHECK(found < 24);
  if (rank() == 0) {
    CHECK(bits_of(fitted) == bits_of(fit(bpm::PermutedPerceptron{.draws = 24}, problem)));
  }
}
