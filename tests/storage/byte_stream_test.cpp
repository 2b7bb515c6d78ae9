// SPDX-License-Identifier: MIT
#include "bpm/storage/byte_stream.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"

using bpm::detail::ByteReader;
using bpm::detail::ByteWriter;
using bpm::detail::TensorChecksum;

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

namespace {

struct NamedArray {
  std::string name;
  std::string type = "U8";
  std::vector<std::size_t> shape{4};
  std::vector<std::uint8_t> numbers{1, 2, 3, 4};
};
using Strings = std::map<std::string, std::string>;

std::string checksum_of(const std::vector<NamedArray>& arrays, const Strings& strings) {
  TensorChecksum sum;
  for (const NamedArray& one : arrays) {
    sum.add(one.name, one.type, one.shape, std::as_bytes(std::span(one.numbers)));
  }
  return sum.of(strings);
}

}  // namespace

TEST_CASE("a checksum tells names, types, shapes, bytes and strings of a file apart") {
  const std::vector<NamedArray> plain{{"a"}, {"b", "U8", {2}, {5, 6}}};
  const Strings strings{{"key", "value"}};
  std::set<std::string> seen{checksum_of(plain, strings)};
  const auto is_new = [&](const std::vector<NamedArray>& arrays, const Strings& with) {
    return seen.insert(checksum_of(arrays, with)).second;
  };
  for (const std::size_t which : {0U, 1U}) {
    CAPTURE(which);
    const auto with = [&](auto change) {
      std::vector<NamedArray> other = plain;
      change(other[which]);
      return is_new(other, strings);
    };
    CHECK(with([](NamedArray& one) { one.name = "c"; }));
    CHECK(with([](NamedArray& one) { one.type = "I8"; }));
    CHECK(with([](NamedArray& one) { one.shape = {2, 2}; }));
    CHECK(with([](NamedArray& one) { one.numbers[1] ^= 1U; }));
  }
  CHECK(is_new({plain[0]}, strings));
  CHECK(is_new({plain[1]}, strings));
  CHECK(is_new({}, strings));
  CHECK(is_new(plain, {}));
  CHECK(is_new(plain, {{"key", "valuf"}}));
  CHECK(is_new(plain, {{"kez", "value"}}));
  CHECK(is_new(plain, {{"key", "value"}, {"more", ""}}));
  // Strings that hold the same words one after the other.
  CHECK(is_new(plain, {{"eightlet", "key"}}));
  CHECK(is_new(plain, {{"eightletkey", ""}}));
  CHECK(is_new(plain, {{std::string("key\0", 4), "value"}}));
}

TEST_CASE("a checksum is the same in any order of arrays and beside any checksum, in 20 digits") {
  const NamedArray one{"a"};
  const NamedArray other{"b", "F32", {1}, {0, 0, 0, 1}};
  CHECK(checksum_of({one, other}, {}) == checksum_of({other, one}, {}));
  CHECK(checksum_of({one}, {{"key", "value"}}) ==
        checksum_of({one}, {{"checksum", "x"}, {"key", "value"}}));
  for (int i = 0; i < 200; ++i) {  // Every tenth has a digit less.
    const std::string sum = checksum_of({one}, {{"key", std::to_string(i)}});
    CHECK(sum.size() == 20);
    CHECK(
        std::all_of(sum.begin(), sum.end(), [](unsigned char c) { return std::isdigit(c) != 0; }));
  }
}
