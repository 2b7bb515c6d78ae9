// SPDX-License-Identifier: MIT
#include "bpm/storage/disk_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "catch.hpp"
#include "full_disk.hpp"
#include "message_of.hpp"
#include "temporary_folder.hpp"

using Catch::Matchers::ContainsSubstring;
using serialization_tests::FullDisk;
using test_support::message_of;
using test_support::TemporaryFolder;

namespace {

void write_one(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  const std::span<const std::byte> piece(bytes);
  bpm::detail::write_durably(path, std::span(&piece, 1));
}

std::vector<std::byte> bytes_in(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("a file is written whole or stays as it was") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "numbers";
  const std::vector<std::byte> small(1000, std::byte{1});
  const std::vector<std::byte> large(100'000, std::byte{2});
  write_one(file, small);
  CHECK(bytes_in(file) == small);
  {
    const FullDisk full(50'000);
    CHECK_THROWS_AS(write_one(file, large), bpm::CheckpointError);
    CHECK_THAT(message_of([&] { write_one(file, large); }),
               ContainsSubstring("numbers cannot be written: write: ") &&
                   ContainsSubstring("what was there before is whole"));
    CHECK(bytes_in(file) == small);
  }
  write_one(file, large);
  CHECK(bytes_in(file) == large);
  const std::array pieces{std::span<const std::byte>(small), std::span<const std::byte>(),
                          std::span<const std::byte>(large)};
  {
    const FullDisk full(50'000);
    CHECK_THROWS_AS(bpm::detail::write_durably(file, pieces), bpm::CheckpointError);
    CHECK(bytes_in(file) == large);
  }
  bpm::detail::write_durably(file, pieces);
  std::vector<std::byte> both = small;
  both.insert(both.end(), large.begin(), large.end());
  CHECK(bytes_in(file) == both);
  // Nothing is left beside it.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("files that cannot be opened or renamed") {
  const TemporaryFolder folder;
  CHECK_THAT(message_of([&] { write_one(folder.path() / "no" / "file", {}); }),
             ContainsSubstring("cannot be written: open: "));
  std::filesystem::create_directories(folder.path() / "taken" / "inside");
  CHECK_THAT(message_of([&] { write_one(folder.path() / "taken", {}); }),
             ContainsSubstring("taken cannot be written: rename: "));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file in the making is a new one, with the rights that the process gives its files") {
  const TemporaryFolder folder;
  const auto file = folder.write("there", "old");
  const auto text = [&] {
    std::ifstream in(file);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const int taken = bpm::detail::open_new(file);
  CHECK(taken == -1);
  if (taken >= 0) bpm::detail::close_file(taken);
  CHECK(text() == "old");
  const ::mode_t usual = ::umask(027);
  write_one(folder.path() / "new", {});
  ::umask(usual);
  const auto rights = std::filesystem::status(folder.path() / "new").permissions();
  CHECK(rights == static_cast<std::filesystem::perms>(0640));
}

TEST_CASE("what is no file is not replaced by one") {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(message_of([&] { write_one(pipe, {}); }) ==
        "save: " + pipe.string() + " is a device, a pipe or a socket, expected a file");
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("files are closed, whatever comes of them") {
  if (!std::filesystem::is_directory("/proc/self/fd")) return;
  const TemporaryFolder folder;
  const auto open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open();
  write_one(folder.path() / "file", std::vector<std::byte>(10));
  {
    const FullDisk full(5);
    CHECK_THROWS_AS(write_one(folder.path() / "file", std::vector<std::byte>(10)),
                    bpm::CheckpointError);
  }
  CHECK(open() == before);
}
