// SPDX-License-Identifier: MIT
#include "bpm/core/points.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "catch.hpp"

TEST_CASE("a buffer is aligned to a cache line and holds what it was filled with", "[detail]") {
  for (const std::ptrdiff_t size : {1, 2, 17, 1000}) {
    bpm::detail::Buffer<double> buffer(size, 2.5);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
    CHECK(buffer.size() == size);
    CHECK(buffer.end() - buffer.begin() == size);
    CHECK(buffer.span().size() == static_cast<std::size_t>(size));
    CHECK(std::count(buffer.begin(), buffer.end(), 2.5) == size);
    buffer[size - 1] = 1;
    const auto& same = buffer;
    CHECK(same[size - 1] == 1);
    CHECK(same.span().back() == 1);
    CHECK(same.data() == buffer.data());
    CHECK(same.begin() + size == same.end());
  }
}

TEST_CASE("an empty buffer has nothing and costs nothing", "[detail]") {
  const bpm::detail::Buffer<float> none;
  const bpm::detail::Buffer<float> zero(0);
  CHECK(none.size() == 0);
  CHECK(none.data() == nullptr);
  CHECK(zero.data() == nullptr);
  CHECK(zero.begin() == zero.end());
}

TEST_CASE("a buffer moves with its memory", "[detail]") {
  bpm::detail::Buffer<int> first(3, 7);
  const int* const data = first.data();
  bpm::detail::Buffer<int> second(std::move(first));
  CHECK(second.data() == data);
  bpm::detail::Buffer<int> third;
  third = std::move(second);
  CHECK(third.data() == data);
  CHECK(third.size() == 3);
  CHECK(third[2] == 7);
}

TEST_CASE("a buffer's copy has memory of its own", "[detail]") {
  bpm::detail::Buffer<int> first(3, 7);
  bpm::detail::Buffer<int> copy(first);
  const int* const data = copy.data();
  CHECK(data != first.data());
  first[1] = 8;
  CHECK(copy[1] == 7);
  copy = first;  // Of equal size: in place.
  CHECK(copy.data() == data);
  CHECK(copy[1] == 8);
  copy = bpm::detail::Buffer<int>();
  CHECK(copy.size() == 0);
  copy = first;
  CHECK(copy.size() == 3);
  CHECK(copy[1] == 8);
}

TEST_CASE("reserve_discarding grows and never shrinks", "[detail]") {
  bpm::detail::Buffer<int> buffer(4, 1);
  const int* const data = buffer.data();
  buffer.reserve_discarding(2);
  CHECK(buffer.size() == 4);
  CHECK(buffer.data() == data);
  buffer.reserve_discarding(100);
  CHECK(buffer.size() == 100);
  buffer.fill(3);
  CHECK(std::count(buffer.begin(), buffer.end(), 3) == 100);
}
