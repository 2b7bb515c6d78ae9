// SPDX-License-Identifier: MIT
// Disks that are full, folders that take no file, pipes that nobody reads: for models and for
// draws.
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
#include "bpm/kernels/radial.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/draw_store.hpp"
#include "bpm/storage/durable_file.hpp"
#include "bpm/storage/model_file.hpp"
#include "catch.hpp"
#include "full_disk.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"
#include "temporary_folder.hpp"

namespace no_room_tests {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;

/// Makes a model, with its draws in a folder where one is named.
auto fit_with(const fs::path& draws) {
  const auto [inputs, labels] = test_support::noisy_rings(60, 2, 0);
  const bpm::Gaussian kernel = bpm::Gaussian::from_width(0.3);
  const bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::hard(), .threads = 1};
  const bpm::PermutedPerceptron plain{.draws = 3};
  return draws.empty()
             ? bpm::BayesPointMachine(kernel, plain, settings).fit(inputs, labels)
             : bpm::BayesPointMachine(kernel, bpm::CheckpointedPerceptron{plain, draws}, settings)
                   .fit(inputs, labels);
}

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
  const auto model = fit_with({});
  const test_support::TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  const std::string old_text = "what was there";
  folder.write("model", old_text);
  const auto is_old = [&] {
    return bpm::detail::read_bytes(path, 100).size() == old_text.size() &&
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
  const auto model = fit_with({});
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

TEST_CASE("draws in a folder that takes none are an error that names it, and a rerun goes on") {
  using namespace no_room_tests;
  const auto whole = fit_with({});
  const test_support::TemporaryFolder folder;
  folder.write("plain", "x");
  CHECK_THAT(message_of([&] { static_cast<void>(fit_with(folder.path() / "plain" / "draws")); }),
             ContainsSubstring("is no folder and cannot be made one"));
  if (const fs::path closed = closed_folder(); !closed.empty()) {
    CHECK_THAT(message_of([&] { static_cast<void>(fit_with(closed)); }),
               ContainsSubstring("cannot be written: open: "));
    CHECK_THAT(message_of([&] { static_cast<void>(fit_with(closed / "draws")); }),
               ContainsSubstring("is no folder and cannot be made one"));
  }
  const fs::path draws = folder.path() / "draws";
  fs::create_directory(draws);
  if (::geteuid() != 0) {
    const ReadOnly closed(draws);
    CHECK_THROWS_AS(static_cast<void>(fit_with(draws)), bpm::CheckpointError);
  }
  {
    const serialization_tests::FullDisk full(200);
    CHECK_THROWS_AS(static_cast<void>(fit_with(draws)), bpm::CheckpointError);
  }
  CHECK(fit_with(draws).coefficients() == whole.coefficients());
}
