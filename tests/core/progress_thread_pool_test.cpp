// SPDX-License-Identifier: MIT
#include "bpm/core/progress.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.hpp"

using bpm::detail::ThreadPool;

namespace {

void wait_until_idle(const ThreadPool& pool, unsigned count) {
  while (pool.idle() < count) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

}  // namespace

TEST_CASE("alone, a thread does all its pieces itself", "[detail]") {
  ThreadPool pool(1);
  CHECK(pool.idle() == 0);
  std::vector<int> done(100, 0);
  pool.share(7, 100, [&](unsigned worker, std::ptrdiff_t i) {
    CHECK(worker == 7);
    ++done[static_cast<std::size_t>(i)];
  });
  CHECK(std::count(done.begin(), done.end(), 1) == 100);
  pool.share(7, 0, [&](unsigned, std::ptrdiff_t) { FAIL("no piece to do"); });
  pool.leave();
  pool.help(7);  // Nobody is busy: ends at once.
}

TEST_CASE("idle threads take part, and every piece is done once", "[detail]") {
  constexpr unsigned helpers = 3;
  ThreadPool pool(1);
  std::vector<std::jthread> threads;
  for (unsigned worker = 1; worker <= helpers; ++worker) {
    threads.emplace_back([&pool, worker] { pool.help(worker); });
  }
  wait_until_idle(pool, helpers);
  // A piece that waits for all four threads can only be done if all four take part.
  std::atomic<unsigned> arrived{0};
  std::vector<unsigned> who(helpers + 1);
  pool.share(0, helpers + 1, [&](unsigned worker, std::ptrdiff_t i) {
    ++arrived;
    while (arrived < helpers + 1) std::this_thread::yield();
    who[static_cast<std::size_t>(i)] = worker;
  });
  CHECK(std::set<unsigned>(who.begin(), who.end()) == std::set<unsigned>{0, 1, 2, 3});
  for (int repeat = 0; repeat < 300; ++repeat) {
    std::vector<int> done(static_cast<std::size_t>(repeat % 17), 0);  // Each written by one thread.
    pool.share(0, std::ssize(done), [&](unsigned worker, std::ptrdiff_t i) {
      if (worker <= helpers) ++done[static_cast<std::size_t>(i)];
    });
    CHECK(std::count(done.begin(), done.end(), 1) == std::ssize(done));
  }
  pool.leave();
}

TEST_CASE("several threads share at the same time", "[detail]") {
  constexpr unsigned busy = 3;
  constexpr unsigned all = 5;
  ThreadPool pool(busy);
  std::atomic<long> total{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned worker = 0; worker < all; ++worker) {
      threads.emplace_back([&, worker] {
        if (worker < busy) {
          for (int repeat = 0; repeat < 200; ++repeat) {
            std::vector<long> pieces(8, 0);
            pool.share(worker, 8, [&](unsigned, std::ptrdiff_t i) {
              pieces[static_cast<std::size_t>(i)] += i + 1;
            });
            for (const long piece : pieces) total += piece;
          }
          pool.leave();
        }
        pool.help(worker);
      });
    }
  }
  CHECK(total == long{busy} * 200 * 36);
}

TEST_CASE("an exception of any thread comes back to the one that shares", "[detail]") {
  ThreadPool pool(1);
  std::vector<std::jthread> threads;
  for (unsigned worker = 1; worker <= 2; ++worker) {
    threads.emplace_back([&pool, worker] { pool.help(worker); });
  }
  wait_until_idle(pool, 2);
  // The caller's own piece.
  CHECK_THROWS_WITH(
      pool.share(0, 1, [](unsigned, std::ptrdiff_t) { throw std::runtime_error("a piece"); }),
      "a piece");
  // A helper's piece: the caller holds its first one until a helper has thrown.
  std::atomic<bool> thrown{false};
  CHECK_THROWS_WITH(pool.share(0, 50,
                               [&](unsigned worker, std::ptrdiff_t) {
                                 if (worker != 0) {
                                   thrown = true;
                                   throw std::runtime_error("a helper");
                                 }
                                 while (!thrown) std::this_thread::yield();
                               }),
                    "a helper");
  // It ends the hand-out, and the pool works on.
  std::atomic<long> pieces{0};
  CHECK_THROWS_AS(pool.share(0, 1000000,
                             [&](unsigned, std::ptrdiff_t) {
                               ++pieces;
                               throw std::logic_error("each");
                             }),
                  std::logic_error);
  CHECK(pieces <= 3);
  std::atomic<long> sum{0};
  pool.share(0, 10, [&](unsigned, std::ptrdiff_t i) { sum += i; });
  CHECK(sum == 45);
  pool.leave();
}

TEST_CASE("help ends when the last busy thread has left, those that entered later too",
          "[detail]") {
  ThreadPool pool(1);
  pool.enter();
  std::atomic<bool> ended{false};
  std::jthread helper([&] {
    pool.help(1);
    ended = true;
  });
  wait_until_idle(pool, 1);
  pool.leave();
  // One is busy still, and its work is helped with.
  long sum = 0;
  std::vector<long> pieces(20, 0);
  pool.share(0, 20, [&](unsigned, std::ptrdiff_t i) { pieces[static_cast<std::size_t>(i)] = i; });
  for (const long piece : pieces) sum += piece;
  CHECK(sum == 190);
  CHECK_FALSE(ended);
  pool.leave();
  helper.join();
  CHECK(ended);
}
