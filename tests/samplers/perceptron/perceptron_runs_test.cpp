// SPDX-License-Identifier: MIT
#include "bpm/samplers/perceptron/perceptron_runs.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.hpp"

using bpm::detail::OrderedDelivery;

TEST_CASE("results arrive in the order of their numbers") {
  OrderedDelivery<std::unique_ptr<int>> delivery(4, 4);
  std::vector<std::uint64_t> received;
  const auto receive = [&](std::uint64_t number, const std::unique_ptr<int>& result) {
    CHECK(*result == static_cast<int>(10 * number));
    received.push_back(number);
  };
  std::uint64_t number = 99;
  for (std::uint64_t n = 0; n < 4; ++n) {
    REQUIRE(delivery.take(number));
    CHECK(number == n);
  }
  CHECK_FALSE(delivery.take(number));

  delivery.deliver(2, std::make_unique<int>(20), receive);
  CHECK(received.empty());
  delivery.deliver(0, std::make_unique<int>(0), receive);
  CHECK(received == std::vector<std::uint64_t>{0});
  delivery.deliver(3, std::make_unique<int>(30), receive);
  CHECK(delivery.delivered() == 1);
  delivery.deliver(1, std::make_unique<int>(10), receive);
  CHECK(received == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK(delivery.delivered() == 4);
}

TEST_CASE("results from an end on are not wanted and not handed over") {
  OrderedDelivery<int> delivery(10, 10);
  std::vector<std::uint64_t> received;
  const auto receive = [&](std::uint64_t number, int) { received.push_back(number); };
  std::uint64_t number = 0;
  for (int n = 0; n < 7; ++n) REQUIRE(delivery.take(number));
  delivery.end_at(5);
  delivery.end_at(6);  // No news.
  CHECK_FALSE(delivery.take(number));
  CHECK(delivery.wanted(4));
  CHECK_FALSE(delivery.wanted(5));

  delivery.deliver(6, 0, receive);
  delivery.deliver(3, 0, receive);
  delivery.deliver(1, 0, receive);
  delivery.end_at(3);  // After 3 was finished, but before its turn.
  delivery.deliver(2, 0, receive);
  delivery.deliver(0, 0, receive);
  CHECK(received == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(delivery.delivered() == 3);
}

TEST_CASE("a thread that is too far ahead waits for its turn") {
  OrderedDelivery<int> delivery(3, 1);
  std::vector<std::uint64_t> received;
  const auto receive = [&](std::uint64_t number, int) { received.push_back(number); };
  std::atomic<bool> through{false};
  std::jthread ahead([&] {
    delivery.deliver(1, 0, receive);
    through = true;
  });
  std::this_thread::yield();
  CHECK_FALSE(through);  // Nothing but what follows lets it through.
  delivery.deliver(0, 0, receive);
  ahead.join();
  CHECK(through);
  CHECK(received == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("a waiting thread is let go when its result is not wanted any more") {
  OrderedDelivery<int> delivery(9, 1);
  bool received = false;
  std::jthread ahead([&] { delivery.deliver(8, 0, [&](std::uint64_t, int) { received = true; }); });
  delivery.end_at(2);
  ahead.join();
  CHECK_FALSE(received);
  CHECK(delivery.delivered() == 0);
}

TEST_CASE("a receiver that throws cancels what it has not received") {
  OrderedDelivery<int> delivery(9, 9);
  std::vector<std::uint64_t> received;
  const auto receive = [&](std::uint64_t number, int) {
    if (number == 1) throw std::runtime_error("enough");
    received.push_back(number);
  };
  delivery.deliver(2, 0, receive);
  delivery.deliver(1, 0, receive);
  CHECK_THROWS_AS(delivery.deliver(0, 0, receive), std::runtime_error);
  CHECK(received == std::vector<std::uint64_t>{0});
  CHECK(delivery.delivered() == 1);
  CHECK_FALSE(delivery.wanted(1));
  delivery.deliver(3, 0, receive);
  CHECK(received.size() == 1);
}

TEST_CASE("many threads: everything once, in order, few results held") {
  struct Counted {
    std::atomic<int>* live;
    std::uint64_t number;
    Counted(std::atomic<int>& counter, std::uint64_t n) : live(&counter), number(n) { ++*live; }
    Counted(Counted&& other) noexcept : live(other.live), number(other.number) { ++*live; }
    Counted(const Counted&) = delete;
    Counted& operator=(Counted&&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --*live; }
  };
  constexpr int threads = 7;
  constexpr int ahead = 3;
  constexpr std::uint64_t count = 2000;
  std::atomic<int> live{0};
  std::atomic<int> most{0};
  OrderedDelivery<Counted> delivery(count, ahead);
  std::vector<std::uint64_t> received;
  {
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t) {
      pool.emplace_back([&] {
        std::uint64_t number = 0;
        while (delivery.take(number)) {
          delivery.deliver(number, Counted(live, number), [&](std::uint64_t n, const Counted& c) {
            // One at a time: no atomics needed on what is received.
            received.push_back(n == c.number ? n : count);
            most = std::max<int>(most, live);
          });
        }
      });
    }
  }
  REQUIRE(received.size() == count);
  for (std::uint64_t n = 0; n < count; ++n) REQUIRE(received[n] == n);
  CHECK(live == 0);
  // Those waiting for their turn, and two for each thread that hands one in.
  CHECK(most <= ahead + 2 * threads);
}
