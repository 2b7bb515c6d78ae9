// SPDX-License-Identifier: MIT
#include "bpm/storage/durable_file.hpp"

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

using bpm::detail::FolderLock;
using Catch::Matchers::ContainsSubstring;
using serialization_tests::FullDisk;
using test_support::message_of;
using test_support::TemporaryFolder;

TEST_CASE("a file is written whole or stays as it was") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "numbers";
  const std::vector<std::byte> small(1000, std::byte{1});
  const std::vector<std::byte> large(100'000, std::byte{2});
  bpm::detail::write_durably(file, small);
  CHECK(bpm::detail::read_bytes(file, 1'000'000) == small);
  CHECK(bpm::detail::read_bytes(file, 10).size() == 10);
  {
    const FullDisk full(50'000);
    CHECK_THROWS_AS(bpm::detail::write_durably(file, large), bpm::CheckpointError);
    CHECK_THAT(message_of([&] { bpm::detail::write_durably(file, large); }),
               ContainsSubstring("numbers cannot be written: write: ") &&
                   ContainsSubstring("what was there before is whole"));
    CHECK(bpm::detail::read_bytes(file, 1'000'000) == small);
  }
  bpm::detail::write_durably(file, large);
  CHECK(bpm::detail::read_bytes(file, 1'000'000) == large);
  const std::array pieces{std::span<const std::byte>(small), std::span<const std::byte>(),
                          std::span<const std::byte>(large)};
  {
    const FullDisk full(50'000);
    CHECK_THROWS_AS(bpm::detail::write_pieces_durably(file, pieces, "f", ""), bpm::CheckpointError);
    CHECK(bpm::detail::read_bytes(file, 1'000'000) == large);
  }
  bpm::detail::write_pieces_durably(file, pieces, "f", "");
  std::vector<std::byte> both = small;
  both.insert(both.end(), large.begin(), large.end());
  CHECK(bpm::detail::read_bytes(file, 1'000'000) == both);
  // Nothing is left beside it.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("files that cannot be opened, renamed or read") {
  const TemporaryFolder folder;
  CHECK_THAT(message_of([&] { bpm::detail::write_durably(folder.path() / "no" / "file", {}); }),
             ContainsSubstring("cannot be written: open: "));
  std::filesystem::create_directories(folder.path() / "taken" / "inside");
  CHECK_THAT(message_of([&] { bpm::detail::write_durably(folder.path() / "taken", {}); }),
             ContainsSubstring("taken cannot be written: rename: "));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK_THAT(message_of([&] {
               static_cast<void>(bpm::detail::read_bytes(folder.path() / "missing", 10));
             }),
             ContainsSubstring("missing cannot be read"));
}

TEST_CASE("a folder has one owner at a time, who is named") {
  const test_support::TemporaryFolder folder;
  {
    const FolderLock lock(folder.path());
    CHECK_THROWS_AS(FolderLock(folder.path()), bpm::CheckpointError);
    CHECK_THAT(message_of([&] { const FolderLock other(folder.path()); }),
               ContainsSubstring("checkpoint: " + folder.path().string() +
                                 " is in use by process " + std::to_string(::getpid()) + " on ") &&
                   ContainsSubstring("; wait for it, or give another folder"));
  }
  CHECK(message_of([&] { const FolderLock again(folder.path()); }) == "nothing was thrown");
}

TEST_CASE("the name of an owner who has gone does not stay behind a shorter one") {
  const test_support::TemporaryFolder folder;
  std::ofstream(folder.path() / "draws.lock") << std::string(200, 'x');
  const FolderLock lock(folder.path());
  std::ifstream in(folder.path() / "draws.lock");
  const std::string owner{std::istreambuf_iterator<char>(in), {}};
  CHECK_THAT(owner, Catch::Matchers::StartsWith("process " + std::to_string(::getpid()) + " on ") &&
                        !ContainsSubstring("x" + std::string(100, 'x')));
  CHECK(owner.size() < 200);
}

TEST_CASE("a folder that is not there is not locked, and says nothing") {
  const test_support::TemporaryFolder folder;
  CHECK(message_of([&] { const FolderLock lock(folder.path() / "none"); }) == "nothing was thrown");
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
  bpm::detail::write_durably(folder.path() / "new", {});
  ::umask(usual);
  const auto rights = std::filesystem::status(folder.path() / "new").permissions();
  CHECK(rights == static_cast<std::filesystem::perms>(0640));
}

TEST_CASE("what is no file is not replaced by one") {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(message_of([&] { bpm::detail::write_durably(pipe, {}); }) ==
        "checkpoint: " + pipe.string() + " is a device, a pipe or a socket, expected a file");
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("no lock is written through a link") {
  const TemporaryFolder folder;
  const auto file = folder.write("of-somebody-else", "old");
  std::filesystem::create_directory(folder.path() / "draws");
  std::filesystem::create_symlink(file, folder.path() / "draws" / "draws.lock");
  const FolderLock lock(folder.path() / "draws");
  CHECK(std::filesystem::file_size(file) == 3);
}

TEST_CASE("files are closed, whatever comes of them") {
  if (!std::filesystem::is_directory("/proc/self/fd")) return;
  const TemporaryFolder folder;
  const auto open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open();
  bpm::detail::write_durably(folder.path() / "file", std::vector<std::byte>(10));
  {
    const FullDisk full(5);
    CHECK_THROWS_AS(bpm::detail::write_durably(folder.path() / "file", std::vector<std::byte>(10)),
                    bpm::CheckpointError);
  }
  {
    const FolderLock lock(folder.path());
    CHECK_THROWS_AS(FolderLock(folder.path()), bpm::CheckpointError);
  }
  CHECK(open() == before);
}
