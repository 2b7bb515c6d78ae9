// SPDX-License-Identifier: MIT
#include "bpm/storage/draw_store.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "full_disk.hpp"
#include "message_of.hpp"
#include "temporary_folder.hpp"

using Catch::Matchers::ContainsSubstring;
using serialization_tests::FullDisk;
using test_support::message_of;
using test_support::TemporaryFolder;

namespace {

bpm::detail::RunIdentity run_of(int points, double margin) {
  bpm::detail::RunIdentity run;
  run("number of points", points);
  run("labels", std::vector{1.0, 2.0});
  run("margin", margin);
  return run;
}
const bpm::detail::RunIdentity run_of_store = run_of(3, 0);

bpm::detail::FinishedPiece some_piece(std::uint64_t number, std::size_t first, std::size_t count) {
  bpm::detail::FinishedPiece piece{{number, first, count}, {}, {10 * number, 11, 12}};
  for (std::size_t c = 0; c < count; ++c) {
    const auto shift = static_cast<double>(first + c);
    piece.solutions.push_back({{0, 2}, {0.5 + shift, -1e-300}, {1.5 + shift, 0.0, -2.5}});
  }
  return piece;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("what is kept comes back, and pieces are listed in order") {
  const TemporaryFolder folder;
  const bpm::detail::DrawStore store(folder.path() / "made" / "here", run_of_store, 3);
  CHECK(store.list().empty());
  store.write(some_piece(11, 0, 2));
  store.write(some_piece(2, 1, 1));
  store.write(some_piece(2, 0, 1));
  put_bytes(store.folder() / "notes.txt", "of somebody else");
  put_bytes(store.folder() / "draw-3-0-1.bpm.partial", "what a killed process left");
  const std::vector<bpm::detail::DrawPiece> expected{{2, 0, 1}, {2, 1, 1}, {11, 0, 2}};
  CHECK(store.list() == expected);
  const bpm::detail::FinishedPiece back = store.read({11, 0, 2});
  const bpm::detail::FinishedPiece made = some_piece(11, 0, 2);
  CHECK(back.piece == made.piece);
  CHECK(back.counts.mistakes == 110);
  CHECK(back.counts.passes == 11);
  CHECK(back.counts.training_errors == 12);
  REQUIRE(back.solutions.size() == 2);
  for (std::size_t c = 0; c < 2; ++c) {
    CHECK(back.solutions[c].support == made.solutions[c].support);
    CHECK(back.solutions[c].coefficients == made.solutions[c].coefficients);
    CHECK(back.solutions[c].outputs == made.solutions[c].outputs);
  }
  CHECK_THAT(message_of([&] {
               static_cast<void>(store.read({4, 0, 2}));
             }),
             ContainsSubstring("draw-4-0-2.bpm cannot be read"));
}

TEST_CASE("a checkpoint of another run is refused, with what differs") {
  const TemporaryFolder folder;
  bpm::detail::DrawStore(folder.path(), run_of_store, 3).write(some_piece(0, 0, 1));
  bpm::detail::RunIdentity labels;
  labels("number of points", 3);
  labels("labels", std::vector{1.0, 3.0});
  labels("margin", 0.0);
  const std::vector<std::pair<bpm::detail::RunIdentity, std::string>> others{
      {run_of(4, 0), "number of points (3 there, 4 here); give another folder"},
      {labels, "labels; give another folder, or the data and settings of that run"},
      {run_of(3, 0.5), "margin (0.0 there, 0.5 here); give another folder"},
      {{}, "settings; give another folder"}};
  for (const auto& [other, what] : others) {
    const bpm::detail::DrawStore store(folder.path(), other, 3);
    CHECK_THROWS_AS(store.list(), bpm::CheckpointError);
    CHECK_THAT(message_of([&, &s = store] { static_cast<void>(s.list()); }),
               ContainsSubstring("belongs to another run: other " + what));
    CHECK_THAT(message_of([&, &s = store] {
                 static_cast<void>(s.read({0, 0, 1}));
               }),
               ContainsSubstring("belongs to another run"));
  }
}

TEST_CASE("damaged and foreign files are refused") {
  const TemporaryFolder folder;
  const bpm::detail::DrawStore store(folder.path(), run_of_store, 3);
  store.write(some_piece(7, 0, 2));
  const auto file = store.path_of({7, 0, 2});
  const std::string good = bytes_of(file);
  const auto listing = [&] { static_cast<void>(store.list()); };
  const auto reading = [&] { static_cast<void>(store.read({7, 0, 2})); };
  const auto with = [&](std::size_t place, char byte) {
    std::string bad = good;
    bad[place] = byte;
    return bad;
  };
  // Cut anywhere: never taken for whole.
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 20) {
    put_bytes(file, good.substr(0, size));
    CHECK_THAT(message_of(reading), ContainsSubstring("is damaged"));
  }
  put_bytes(file, good.substr(0, 40));
  CHECK_THAT(message_of(listing), ContainsSubstring("it ends within its head; remove it"));
  put_bytes(file, good.substr(0, good.size() - 1));
  CHECK_THAT(message_of(reading), ContainsSubstring("its checksum is wrong"));
  put_bytes(file, good + "x");
  CHECK_THAT(message_of(reading), ContainsSubstring("its checksum is wrong"));
  // A zero more where the body's last word is not full: its words are the same.
  auto odd = some_piece(9, 0, 1);
  odd.solutions[0] = {{1}, {2.5}, {1, 2, 3}};
  store.write(odd);
  const auto odd_file = store.path_of({9, 0, 1});
  std::string longer = bytes_of(odd_file);
  REQUIRE(longer.size() % 8 != 0);
  longer.insert(longer.size() - 8, 1, '\0');
  put_bytes(odd_file, longer);
  CHECK_THAT(message_of([&] {
               static_cast<void>(store.read({9, 0, 1}));
             }),
             ContainsSubstring("its checksum is wrong"));
  std::filesystem::remove(odd_file);
  for (const std::size_t place : {good.size() - 1, good.size() - 9, good.size() / 2}) {
    put_bytes(file, with(place, static_cast<char>(good[place] ^ 1)));
    CHECK_THAT(message_of(reading), ContainsSubstring("its checksum is wrong") &&
                                        ContainsSubstring("its draw is made again"));
  }
  put_bytes(file, with(0, 'X'));
  CHECK_THAT(message_of(listing), ContainsSubstring("is no checkpoint: it begins otherwise"));
  put_bytes(file, with(8, 9));
  CHECK_THAT(message_of(listing), ContainsSubstring("has format 9, expected 3"));
  std::string turned = good;
  std::reverse(turned.begin() + 12, turned.begin() + 16);
  put_bytes(file, turned);
  CHECK_THAT(message_of(listing), ContainsSubstring("was written in another byte order"));
  put_bytes(file, good);
  listing();
  std::filesystem::rename(file, folder.path() / "draw-8-0-2.bpm");
  CHECK_THAT(message_of(listing), ContainsSubstring("draw-8-0-2.bpm holds draw 7: it was renamed"));

  const auto plain = folder.path() / "plain_file";
  put_bytes(plain, "x");
  CHECK_THAT(message_of([&] { const bpm::detail::DrawStore other(plain, run_of_store, 3); }),
             ContainsSubstring("plain_file is no folder"));
}

TEST_CASE("a right checksum does not make a draw of a file") {
  const TemporaryFolder folder;
  const bpm::detail::DrawStore store(folder.path(), run_of_store, 3);
  const auto refusal = [&](const bpm::detail::PerceptronSolution& solution) {
    auto piece = some_piece(7, 0, 1);
    piece.solutions = {solution};
    store.write(piece);
    return message_of([&] { static_cast<void>(store.read({7, 0, 1})); });
  };
  CHECK(refusal({{0, 2}, {1, 2}, {1, 2, 3}}) == "nothing was thrown");
  CHECK(refusal({{}, {}, {1, 2, 3}}) == "nothing was thrown");
  const std::vector<std::vector<bpm::PointIndex>> wrong{{0, 3}, {-1, 2}, {2, 0}, {1, 1}};
  for (const auto& support : wrong) {
    CHECK_THAT(refusal({support, {1, 2}, {1, 2, 3}}),
               ContainsSubstring("is damaged: its support points do not ascend, or are none"));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THAT(refusal({{0, 2}, {1, nan}, {1, 2, 3}}),
             ContainsSubstring("is damaged: it has numbers that are not finite"));
  CHECK_THAT(refusal({{0, 2}, {1, 2}, {1, -infinity, 3}}),
             ContainsSubstring("is damaged: it has numbers that are not finite"));
}

TEST_CASE("a support may be of all points, and so may be what was left out at first") {
  const TemporaryFolder folder;
  const bpm::detail::DrawStore store(folder.path(), run_of_store, 3);
  auto piece = some_piece(7, 0, 1);
  const auto kept = [&](const bpm::detail::PerceptronSolution& solution) {
    piece.solutions = {solution};
    store.write(piece);
    return store.read({7, 0, 1}).solutions.at(0);
  };
  const auto all = kept({{0, 1, 2}, {1, 2, 3}, {4, 5, 6}, 0, {0, 1, 2}, {7, 8, -9}});
  CHECK(all.support == std::vector<bpm::PointIndex>{0, 1, 2});
  CHECK(all.coefficients == std::vector<double>{1, 2, 3});
  CHECK(all.outputs == std::vector<double>{4, 5, 6});
  CHECK(all.left_out == std::vector<bpm::PointIndex>{0, 1, 2});
  CHECK(all.left_out_outputs == std::vector<double>{7, 8, -9});
  const auto some = kept({{1}, {1}, {4, 5, 6}, 0, {2}, {0.5}});
  CHECK(some.left_out == std::vector<bpm::PointIndex>{2});
  CHECK(some.left_out_outputs == std::vector<double>{0.5});
}

TEST_CASE("nor does it make points that were left out, or numbers behind the last one") {
  const TemporaryFolder folder;
  const bpm::detail::DrawStore store(folder.path(), run_of_store, 3);
  const auto refusal = [&](const bpm::detail::PerceptronSolution& solution) {
    auto piece = some_piece(7, 0, 1);
    piece.solutions = {solution};
    store.write(piece);
    return message_of([&] { static_cast<void>(store.read({7, 0, 1})); });
  };
  const std::vector<std::vector<bpm::PointIndex>> wrong{{0, 3}, {-1, 2}, {2, 0}, {1, 1}};
  for (const auto& left_out : wrong) {
    CHECK_THAT(refusal({{0}, {1}, {1, 2, 3}, 0, left_out, {1, 2}}),
               ContainsSubstring("is damaged: its points left out do not ascend, or are none"));
  }
  CHECK_THAT(refusal({{0, 1, 2, 3}, {1, 1, 1, 1}, {1, 2, 3}}),
             ContainsSubstring("is damaged: it has too many support points"));
  CHECK_THAT(refusal({{0}, {1}, {1, 2, 3}, 0, {0, 1, 2, 3}, {1, 1, 1, 1}}),
             ContainsSubstring("is damaged: it leaves too many points out"));
  CHECK_THAT(refusal({{0}, {1}, {1, 2, 3}, 0, {2}, {std::numeric_limits<double>::infinity()}}),
             ContainsSubstring("is damaged: it has numbers that are not finite"));
  CHECK_THAT(refusal({{0}, {1}, {1, 2, 3}, 0, {2}, {1, 2}}),
             ContainsSubstring("is damaged: it is too long"));
}

TEST_CASE(
    "files of other names are left alone, and lambdas that differ have folders of their own") {
  const TemporaryFolder folder;
  const bpm::detail::DrawStore store(folder.path(), run_of_store, 3);
  store.write(some_piece(1, 0, 1));
  put_bytes(store.folder() / "model.bpm", "of somebody else");
  put_bytes(store.folder() / "draw-1-0-1.txt", "of somebody else");
  CHECK(store.list() == std::vector<bpm::detail::DrawPiece>{{1, 0, 1}});
  const double lambda = 0.1;
  const double next = std::nextafter(lambda, 1.0);
  const bpm::detail::DrawStore one(folder.path(), run_of_store, 3, lambda);
  const bpm::detail::DrawStore other(folder.path(), run_of_store, 3, next);
  CHECK(one.folder() == folder.path() / "lambda-0.1");
  CHECK(other.folder() == folder.path() / "lambda-0.10000000000000002");
  one.write(some_piece(4, 0, 1));
  CHECK(other.list().empty());
  CHECK(one.list().size() == 1);
  CHECK(store.list().size() == 1);
}

TEST_CASE("a disk that fills leaves what was there whole") {
  const TemporaryFolder folder;
  const bpm::detail::DrawStore store(folder.path(), run_of_store, 3);
  store.write(some_piece(0, 0, 1));
  {
    const FullDisk full(100);
    CHECK_THROWS_AS(store.write(some_piece(1, 0, 1)), bpm::CheckpointError);
    CHECK_THROWS_AS(store.write(some_piece(0, 0, 1)), bpm::CheckpointError);
    CHECK(store.list() == std::vector<bpm::detail::DrawPiece>{{0, 0, 1}});
    CHECK(store.read({0, 0, 1}).solutions.size() == 1);
  }
  store.write(some_piece(1, 0, 1));
  CHECK(store.list().size() == 2);
}
