// SPDX-License-Identifier: MIT
// Checkpoints of ranks. The tests named after the kill are run by kill_a_rank.cmake.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bpm/cluster/distributed_perceptron.hpp"
#include "bpm/storage/draw_store.hpp"
#include "catch.hpp"
#include "full_disk.hpp"
#include "message_of.hpp"
#include "rank_problems.hpp"

using namespace rank_tests;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;

namespace {

constexpr std::uint64_t digest_cost = 4 * 20 * 240;

}  // namespace

TEST_CASE("ranks go on from finished draws, whoever made them") {
  const Problem problem = make_problem();
  const SharedFolder folder("goes_on");
  const bpm::PermutedPerceptron one{.draws = 6};
  const auto alone = fit(one, problem);
  bpm::DistributedPerceptron sampler{one, MPI_COMM_WORLD, folder.path()};
  sampler.draws = 2;  // Fewer than ranks: parts of draws are kept.
  CHECK(bits_of(fit(sampler, problem)) ==
        bits_of(fit(bpm::PermutedPerceptron{.draws = 2}, problem)));
  meet();
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 4);
  sampler.draws = 6;
  const auto fitted = fit(sampler, problem);
  CHECK(bits_of(fitted) == bits_of(alone));
  CHECK(fitted.report().kernel_evaluations <
        alone.report().kernel_evaluations * 5 / 6 + digest_cost);

  // Three ranks, and then one process alone, find all of it.
  meet();
  MPI_Comm some{};
  MPI_Comm_split(MPI_COMM_WORLD, rank() == 0 ? 0 : 1, rank(), &some);
  if (rank() != 0) {
    const auto again = fit(bpm::DistributedPerceptron{one, some, folder.path()}, problem);
    CHECK(bits_of(again) == bits_of(alone));
    CHECK(again.report().kernel_evaluations <= digest_cost);
  }
  MPI_Comm_free(&some);
  meet();
  if (rank() == 0) {
    const auto again = fit(bpm::CheckpointedPerceptron{one, folder.path()}, problem);
    CHECK(bits_of(again) == bits_of(alone));
    CHECK(again.report().kernel_evaluations <= digest_cost);
  }
  meet();

  // Other data are refused on all ranks.
  const std::string message = message_of([&] {
    Problem other = problem;
    other.labels[0] = other.labels[0] == 4 ? 5 : 4;
    static_cast<void>(fit(sampler, other));
  });
  CHECK_THAT(message, ContainsSubstring("belongs to another run: other labels"));
  CHECK(same_text_on_all(message));
}

TEST_CASE("each rank may keep its draws on a disk of its own, which may fill") {
  const Problem problem = make_problem();
  const SharedFolder folder("own_disks");
  const bpm::PermutedPerceptron one{.draws = 8};
  bpm::DistributedPerceptron sampler{one, MPI_COMM_WORLD, folder.path() / std::to_string(rank())};
  sampler.draws = 4;
  static_cast<void>(fit(sampler, problem));
  sampler.draws = 8;
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(sampler.checkpoint), {});
  };
  CHECK(files() == 1);
  {
    const serialization_tests::FullDisk full(rank() == 1 ? 1000 : 100'000'000);
    const auto call = [&] { static_cast<void>(fit(sampler, problem)); };
    CHECK_THROWS_AS(call(), bpm::CheckpointError);
    meet();
    const std::string message = message_of(call);
    CHECK_THAT(message, ContainsSubstring("cannot be written: write: ") &&
                            ContainsSubstring("what was there before is whole"));
    CHECK(same_text_on_all(message));
    CHECK((rank() != 1 || files() == 1));
  }
  meet();
  CHECK(bits_of(fit(sampler, problem)) == bits_of(fit(one, problem)));
}

namespace {

bpm::DistributedPerceptron sampler_to_kill() {
  const char* const folder = std::getenv("BPM_RANKS_FOLDER");
  REQUIRE(folder != nullptr);
  return {{.draws = 24}, MPI_COMM_WORLD, folder};
}

}  // namespace

TEST_CASE("kill: rank 1 dies after some draws", "[.victim]") {
  const Problem problem = make_problem(1500);
  const bpm::DistributedPerceptron sampler = sampler_to_kill();
  const auto fitted = windowed_machine(kernel, sampler)
                          .fit(problem.inputs, problem.labels, [](const bpm::Progress& now) {
                            if (rank() == 1 && now.draws >= 4) ::kill(::getpid(), SIGKILL);
                          });
  FAIL("the job outlived its rank with " << fitted.report().draws << " draws");
}

TEST_CASE("kill: the rerun goes on and gives the uninterrupted model", "[.rerun]") {
  const Problem problem = make_problem(1500);
  const bpm::DistributedPerceptron sampler = sampler_to_kill();
  const auto fitted = fit(sampler, problem);
  if (rank() == 0) {
    const auto alone = fit(bpm::PermutedPerceptron{.draws = 24}, problem);
    CHECK(bits_of(fitted) == bits_of(alone));
    CHECK(fitted.report().kernel_evaluations < alone.report().kernel_evaluations * 21 / 24);
  }
}
