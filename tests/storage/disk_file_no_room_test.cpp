// SPDX-License-Identifier: MIT
// Disks that are full, folders that take no file, pipes that nobody reads: for models and for
// trainings.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <type_traits>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/disk_file.hpp"
#include "bpm/storage/model_file.hpp"
#include "bpm/storage/training_file.hpp"
#include "catch.hpp"
#include "full_disk.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"
#include "temporary_folder.hpp"

namespace no_room_tests {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;

const test_support::LabelledPoints& points() {
  static const auto made = test_support::noisy_rings(60, 2, 0);
  return made;
}

auto machine_of(std::uint64_t draws) {
  return bpm::BayesPointMachine(bpm::Gaussian::from_width(0.3),
                                bpm::PermutedPerceptron{.draws = draws},
                                {.soft_boundary = bpm::SoftBoundary::hard(), .threads = 1});
}

auto some_model() { return machine_of(3).fit(points().inputs, points().labels); }

/// Within its scope nothing can be made in the folder; root can all the same.
class ReadOnly {
 public:
  explicit ReadOnly(const fs::path& folder) : folder_(folder) {
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  }
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;
  ~ReadOnly() { fs::permissions(folder_, fs::perms::owner_all); }

 private:
  fs::path folder_;
};

/// A folder that takes no file, not of root either; empty where the system has none.
fs::path closed_folder() {
  return fs::is_directory("/proc/self/fdinfo") ? "/proc/self/fdinfo" : "";
}

}  // namespace no_room_tests

TEST_CASE("a model on a disk that fills, or in a folder that takes none, leaves the old one") {
  using namespace no_room_tests;
  const auto model = some_model();
  const test_support::TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  const std::string old_text = "what was there";
  folder.write("model", old_text);
  const auto is_old = [&] {
    return fs::file_size(path) == old_text.size() &&
           std::distance(fs::directory_iterator(folder.path()), {}) == 1;
  };
  {
    const serialization_tests::FullDisk full(1000);
    CHECK_THROWS_AS(bpm::save(model, path), bpm::CheckpointError);
    CHECK_THAT(message_of([&] { bpm::save(model, path); }),
               ContainsSubstring("model cannot be written: write: "));
    CHECK(is_old());
  }
  if (::geteuid() != 0) {
    const ReadOnly closed(folder.path());
    CHECK_THROWS_AS(bpm::save(model, path), bpm::CheckpointError);
    CHECK(is_old());
  }
  CHECK_THAT(message_of([&] { bpm::save(model, path / "below a file"); }),
             ContainsSubstring("cannot be written: open: "));
  CHECK(is_old());
  if (const fs::path closed = closed_folder(); !closed.empty()) {
    CHECK_THAT(message_of([&] { bpm::save(model, closed / "model"); }),
               ContainsSubstring("cannot be written: open: "));
  }
  // Nor is a device replaced by a file.
  if (fs::exists("/dev/full")) {
    CHECK_THAT(message_of([&] { bpm::save(model, "/dev/full"); }),
               ContainsSubstring("/dev/full is a device, a pipe or a socket, expected a file"));
    CHECK(fs::is_character_file("/dev/full"));
  }
  const test_support::TemporaryFolder other;
  const fs::path named_pipe = other.path() / "pipe";
  REQUIRE(::mkfifo(named_pipe.c_str(), 0600) == 0);
  CHECK_THAT(message_of([&] { bpm::save(model, named_pipe); }),
             ContainsSubstring("is a device, a pipe or a socket, expected a file"));
  CHECK(fs::is_fifo(named_pipe));
  bpm::save(model, path);
  CHECK(bpm::model_bytes(bpm::load<std::remove_const_t<decltype(model)>>(path)) ==
        bpm::model_bytes(model));
}

TEST_CASE("a stream that takes no more, or that nobody reads, is a failure of the save") {
  using namespace no_room_tests;
  const auto model = some_model();
  if (fs::exists("/dev/full")) {
    std::ofstream full("/dev/full", std::ios::binary);
    REQUIRE(full);
    CHECK_THROWS_AS(bpm::save(model, full), std::ios_base::failure);
  }
  if (fs::exists("/dev/fd")) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    std::ofstream pipe("/dev/fd/" + std::to_string(ends[1]), std::ios::binary);
    ::close(ends[0]);
    ::close(ends[1]);
    REQUIRE(pipe);
    auto* const handler = ::signal(SIGPIPE, SIG_IGN);  // As programs do that write to pipes.
    CHECK_THROWS_AS(bpm::save(model, pipe), std::ios_base::failure);
    ::signal(SIGPIPE, handler);
  }
}

TEST_CASE("a training where there is no room is an error that names it, and goes on") {
  using namespace no_room_tests;
  const auto& [inputs, labels] = points();
  const auto machine = machine_of(1);
  auto training = machine.train(inputs, labels);
  const test_support::TemporaryFolder folder;
  const fs::path file = folder.path() / "training";
  CHECK_THAT(message_of([&] { bpm::save(training, folder.path() / "none" / "training"); }),
             ContainsSubstring("training cannot be written: open: "));
  if (const fs::path closed = closed_folder(); !closed.empty()) {
    CHECK_THAT(message_of([&] { bpm::save(training, closed / "training"); }),
               ContainsSubstring("cannot be written: open: "));
  }
  bpm::save(training, file);
  training.add_draws(1);
  if (::geteuid() != 0) {
    const ReadOnly closed(folder.path());
    CHECK_THROWS_AS(bpm::save(training, file), bpm::CheckpointError);
  }
  {
    const serialization_tests::FullDisk full(200);
    CHECK_THROWS_AS(bpm::save(training, file), bpm::CheckpointError);
    CHECK_THAT(message_of([&] { bpm::save(training, file); }),
               ContainsSubstring("training cannot be written: write: ") &&
                   ContainsSubstring("what was there before is whole"));
  }
  // What did not fit is made again, from the last save.
  auto again = bpm::resume(machine, inputs, labels, file);
  CHECK(again.report().draws == 1);
  again.add_draws(2);
  bpm::save(again, file);
  CHECK(again.classifier().coefficients() == some_model().coefficients());
}
