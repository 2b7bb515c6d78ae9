// SPDX-License-Identifier: MIT
// Ranks that fail together or alone. The last test is run by abort.cmake, the job must end there.
#include "bpm/cluster/communicator.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bpm/core/errors.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "rank_problems.hpp"

using Catch::Matchers::ContainsSubstring;
using rank_tests::rank;
using rank_tests::same_text_on_all;
using test_support::message_of;

namespace {

/// Before `main`, and so before MPI runs.
const std::string without_mpi =
    message_of([] { const bpm::detail::Communicator none(MPI_COMM_WORLD); });

}  // namespace

TEST_CASE("without a session there are no ranks") {
  CHECK(without_mpi ==
        "Communicator: communicator is of an MPI that is not running: make an MpiSession first");
}

TEST_CASE("numbers of a message come back in their order") {
  bpm::detail::ByteWriter writer;
  writer.number(std::uint32_t{0x01020304});
  writer.list(std::vector<double>{1, -2.5});
  writer.number('x');
  writer.list(std::vector<int>{});
  REQUIRE(writer.bytes.size() == 4 + 8 + 16 + 1 + 8);
  bpm::detail::ByteReader reader{writer.bytes};
  std::uint32_t word = 0;
  std::vector<double> numbers{7};
  char last = 0;
  std::vector<int> none{7};
  reader.number(word);
  reader.list(numbers);
  reader.number(last);
  reader.list(none);
  CHECK(word == 0x01020304);
  CHECK(numbers == std::vector<double>{1, -2.5});
  CHECK(last == 'x');
  CHECK(none.empty());
  CHECK(reader.bytes.empty());
}

TEST_CASE("a session within a session leaves MPI running") {
  {
    const bpm::MpiSession inner;
    CHECK(inner.rank() == rank());
    CHECK(inner.size() == 4);
  }
  rank_tests::meet();
}

TEST_CASE("collective operations on spans and vectors") {
  const bpm::detail::Communicator ranks(MPI_COMM_WORLD);
  REQUIRE(ranks.size() == 4);
  CHECK(ranks.all_gather(10 * rank()) == std::vector<int>{0, 10, 20, 30});
  const std::vector<double> mine(static_cast<std::size_t>(rank()), rank());
  CHECK(ranks.all_gather_all(std::span<const double>(mine)) ==
        std::vector<double>{1, 2, 2, 3, 3, 3});
  std::vector<int> values{rank(), 5};
  ranks.broadcast(std::span(values), 2);
  CHECK(values == std::vector<int>{2, 5});
  CHECK(ranks.broadcast_all(std::string(rank() == 1 ? "one" : ""), 1) == "one");
  CHECK(ranks.broadcast_all(std::string(), 0).empty());
  CHECK(ranks.broadcast_all(mine, 3) == std::vector<double>{3, 3, 3});
  CHECK(ranks.reduce(std::array<double, 2>{1, static_cast<double>(rank())}, MPI_SUM) ==
        std::array<double, 2>{4, 6});
  CHECK(ranks.reduce(std::array<std::int64_t, 2>{rank(), -rank()}, MPI_MIN) ==
        std::array<std::int64_t, 2>{0, -3});
  CHECK_THAT(
      message_of([] { static_cast<void>(bpm::detail::Communicator::count_of(1ULL << 31U)); }),
      ContainsSubstring("a message of 2147483648 items is too long"));
  CHECK_THAT(message_of([] { const bpm::detail::Communicator none(MPI_COMM_NULL); }),
             ContainsSubstring("is MPI_COMM_NULL"));
}

TEST_CASE("an error of one rank becomes the same error of all, with its type") {
  const bpm::detail::Communicator ranks(MPI_COMM_WORLD);
  bpm::detail::together(ranks, [] {});
  const auto all_throw = [&](auto error, const std::string& text) {
    const auto call = [&] {
      bpm::detail::together(ranks, [&] {
        if (rank() >= 2) throw error;
      });
    };
    CHECK_THROWS_AS(call(), decltype(error));
    CHECK(message_of(call) == text);
  };
  all_throw(std::invalid_argument("a"), "a");
  all_throw(bpm::DataError("b"), "b");
  all_throw(bpm::NotSeparable("c"), "c");
  all_throw(bpm::BudgetTooSmall("d"), "d");
  all_throw(bpm::KernelValueError("e"), "e");
  all_throw(bpm::Stopped("f"), "f");
  all_throw(bpm::CheckpointError("g"), "g");
  const auto other = [&](auto error) {
    return message_of([&] {
      bpm::detail::together(ranks, [&] {
        if (rank() == 3) throw error;
      });
    });
  };
  CHECK(other(std::runtime_error("h")) == "rank 3: h");
  CHECK(other(std::bad_alloc()) == "rank 3: out of memory");
  CHECK(other(7) == "rank 3: an error of an unknown type");
}

TEST_CASE("what all ranks throw passes through a session") {
  const bpm::MpiSession mpi;
  std::string reported;
  const auto report = [&](const std::string& text) { reported = text; };
  CHECK(message_of([&] { mpi.run([] { throw bpm::DataError("no digits"); }, report); }) ==
        "no digits");
  mpi.run([] { rank_tests::meet(); }, report);
  CHECK(reported.empty());
}

TEST_CASE("abort: rank 2 alone throws, and the job ends", "[.abort]") {
  const bpm::MpiSession mpi;
  mpi.run(
      [] {
        if (rank() == 2) throw std::bad_alloc();
        rank_tests::meet();
      },
      [](const std::string& text) { std::cerr << text << std::endl; },
      std::chrono::milliseconds(200));
}
