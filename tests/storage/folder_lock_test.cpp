// SPDX-License-Identifier: MIT
#include "bpm/storage/durable_file.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "bpm/core/errors.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "temporary_folder.hpp"

using bpm::detail::FolderLock;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;

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
