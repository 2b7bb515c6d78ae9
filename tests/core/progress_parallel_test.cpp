// SPDX-License-Identifier: MIT
#include "bpm/core/progress.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"

TEST_CASE("thread_count: as many as wanted, 0 for what the machine runs", "[detail]") {
  CHECK(bpm::detail::thread_count(1) == 1);
  CHECK(bpm::detail::thread_count(7) == 7);
  CHECK(bpm::detail::thread_count(0) >= 1);
  CHECK(bpm::detail::thread_count(4096) == 4096);
  const std::string what =
      ": threads is 4097, must be from 1 to 4096, or 0 for as many as there are";
  CHECK_THROWS_WITH(bpm::detail::thread_count(4097), "settings" + what);
  CHECK_THROWS_WITH(bpm::detail::thread_count(4097, "f"), "f" + what);
}

TEST_CASE("parallel_for does every index once, each worker one at a time", "[detail]") {
  for (const unsigned threads : {0U, 1U, 2U, 3U, 8U}) {
    for (const std::ptrdiff_t count : {0, 1, 2, 5, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      std::vector<std::atomic<int>> busy(std::max(threads, 1U));
      std::atomic<bool> overlapped{false};
      bpm::detail::parallel_for(threads, count, [&](unsigned worker, std::ptrdiff_t i) {
        if (worker >= busy.size() || busy[worker]++ != 0) overlapped = true;
        ++done[static_cast<std::size_t>(i)];
        --busy[worker % busy.size()];
      });
      CHECK_FALSE(overlapped);
      for (const auto& times : done) REQUIRE(times == 1);
    }
  }
}

TEST_CASE("one thread works in order on the caller's own thread", "[detail]") {
  std::vector<std::ptrdiff_t> order;
  const auto caller = std::this_thread::get_id();
  bool here = true;
  bpm::detail::parallel_for(1, 10, [&](unsigned worker, std::ptrdiff_t i) {
    here = here && worker == 0 && std::this_thread::get_id() == caller;
    order.push_back(i);
  });
  CHECK(here);
  CHECK(order == std::vector<std::ptrdiff_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("an exception ends the hand-out of work and comes back to the caller", "[detail]") {
  for (const unsigned threads : {1U, 2U, 4U}) {
    std::atomic<int> calls{0};
    const auto run = [&] {
      bpm::detail::parallel_for(threads, 1000000, [&](unsigned, std::ptrdiff_t i) {
        ++calls;
        if (i == 10) throw std::runtime_error("index 10");
      });
    };
    CHECK_THROWS_WITH(run(), "index 10");
    CHECK(calls < 1000000);
    CHECK(calls >= 11);
  }
}

TEST_CASE("when every thread throws, one exception comes back", "[detail]") {
  const auto run = [] {
    bpm::detail::parallel_for(
        4, 100, [](unsigned, std::ptrdiff_t) { throw std::invalid_argument("each"); });
  };
  CHECK_THROWS_AS(run(), std::invalid_argument);
}
