// SPDX-License-Identifier: MIT
#include "bpm/storage/durable_file.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "catch.hpp"
#include "full_disk.hpp"
#include "message_of.hpp"
#include "temporary_folder.hpp"

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
