// SPDX-License-Identifier: MIT
#include "bpm/cluster/byte_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"

using bpm::detail::ByteReader;
using bpm::detail::ByteWriter;

TEST_CASE("numbers come back in their order, and none that is not there") {
  ByteWriter writer;
  writer.put(std::uint32_t{0x01020304});
  writer.put_all(std::vector<double>{1, -2.5});
  writer.put('x');
  const auto bytes = writer.bytes();
  REQUIRE(bytes.size() == 4 + 16 + 1);
  ByteReader reader(bytes);
  std::uint32_t word = 0;
  std::vector<double> numbers;
  CHECK(reader.take(word));
  CHECK(word == 0x01020304);
  CHECK_FALSE(reader.take_all(numbers, 3));
  CHECK(reader.take_all(numbers, 2));
  CHECK(numbers == std::vector<double>{1, -2.5});
  CHECK_FALSE(reader.done());
  std::uint16_t two = 0;
  CHECK_FALSE(reader.take(two));  // There is one byte.
  char last = 0;
  CHECK(reader.take(last));
  CHECK(last == 'x');
  CHECK(reader.done());
  CHECK_FALSE(reader.take(last));
  // More than could be counted in bytes.
  CHECK_FALSE(reader.take_all(numbers, (~std::size_t{0} / 8) + 2));
}
