// SPDX-License-Identifier: MIT
#include "bpm/storage/tensor_file.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "catch.hpp"
#include "message_of.hpp"

namespace {

using bpm::detail::TensorFile;
using bpm::detail::TensorFileWriter;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;
using Bytes = std::vector<std::byte>;

/// A file of this header, not padded, and so many bytes of arrays.
Bytes file_of(const std::string& header, std::size_t data = 0) {
  Bytes bytes(8 + header.size() + data);
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = std::byte((header.size() >> (8 * i)) & 255U);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

std::string refusal(const Bytes& bytes) {
  return message_of([&] { const TensorFile file(bytes, "f"); });
}

}  // namespace

TEST_CASE("the layout, byte by byte") {
  TensorFileWriter writer;
  const std::vector<std::uint8_t> small{7, 8};
  const std::vector<double> wide{1.0, -2.0};
  writer.refer("small", small);
  writer.keep("wide", bpm::RowMatrix<double>{{1.0, -2.0}});
  writer.set("key", "value");
  const Bytes bytes = writer.bytes();
  const std::string header =
      R"({"__metadata__":{"key":"value"},"wide":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]},)"
      R"("small":{"dtype":"U8","shape":[2],"data_offsets":[16,18]}})";
  const std::size_t padded = (header.size() + 63) / 64 * 64;
  REQUIRE(bytes.size() == 8 + padded + 18);
  CHECK(std::to_integer<std::size_t>(bytes[0]) == padded);
  CHECK(std::string(reinterpret_cast<const char*>(bytes.data()) + 8, padded) ==
        header + std::string(padded - header.size(), ' '));
  // 1.0 is 3ff0000000000000, the low byte first.
  const std::byte* data = bytes.data() + 8 + padded;
  CHECK(data[6] == std::byte{0xf0});
  CHECK(data[7] == std::byte{0x3f});
  CHECK(data[15] == std::byte{0xc0});
  CHECK(data[16] == std::byte{7});
  CHECK(data[17] == std::byte{8});

  const TensorFile file(bytes, "f");
  CHECK(file.list<double>("wide") == wide);
  CHECK(file.list<std::uint8_t>("small") == small);
  CHECK(file.shape("wide").columns == 2);
  CHECK(file.text("key") == "value");
  CHECK(file.type("small") == "U8");
  CHECK_FALSE(file.has_array("key"));
  CHECK(message_of([&] { (void)file.list<float>("wide"); }) ==
        "f: the array 'wide' is of type F64, must be F32");
  CHECK(message_of([&] { (void)file.list<float>("none"); }) == "f has no array 'none'");
  CHECK(message_of([&] { (void)file.text("none"); }) == "f has no 'none'");
}

TEST_CASE("arrays that are kept or referred to make one file") {
  const std::vector<std::int32_t> list{1, -2, 3};
  const bpm::RowMatrix<float> matrix{{1, 2, 3}, {4, 5, 6}};
  TensorFileWriter kept;
  kept.keep("list", list);
  kept.keep("matrix", matrix);
  TensorFileWriter referred;
  referred.refer("list", list);
  referred.refer("matrix", matrix);
  CHECK(referred.bytes() == kept.bytes());
  const Bytes whole = kept.bytes();
  const TensorFile file(whole, "f");
  CHECK(file.shape("list").rows == 3);
  CHECK(file.shape("matrix").rows == 2);
  CHECK(file.shape("matrix").columns == 3);

  TensorFileWriter holding;
  const auto& held = holding.hold(std::vector<std::int32_t>(list));
  holding.refer("list", held);
  holding.keep("matrix", matrix);
  const TensorFileWriter moved = std::move(holding);
  CHECK(TensorFileWriter(moved).bytes() == kept.bytes());

  const auto pieces = referred.pieces();
  REQUIRE(pieces.size() == 3);
  Bytes joined;
  for (const auto piece : pieces) joined.insert(joined.end(), piece.begin(), piece.end());
  CHECK(joined == kept.bytes());
  if constexpr (std::endian::native == std::endian::little) {
    CHECK(static_cast<const void*>(pieces[1].data()) == list.data());
    CHECK(static_cast<const void*>(pieces[2].data()) == matrix.data());
  }
}

TEST_CASE("what the layout does not allow is refused, with its reason") {
  const std::string array = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  CHECK(refusal(file_of("{" + array + "}", 8)) == "nothing was thrown");
  CHECK(refusal({}) == "f is no model: it has 0 bytes");
  CHECK(refusal(Bytes(7)) == "f is no model: it has 7 bytes");
  Bytes far = file_of("{}");
  far[7] = std::byte{255};
  CHECK_THAT(refusal(far), ContainsSubstring("f is no model, or ends too early: its header has "));
  CHECK_THAT(refusal(file_of("{")), ContainsSubstring("f: the header is no JSON: "));
  CHECK(refusal(file_of("[]")) == "f: the header is no JSON object");
  CHECK(refusal(file_of("{" + array + "," + array + "}", 8)) ==
        "f: the header names the key 'a' twice");
  CHECK(refusal(file_of(R"({"__metadata__":{"k":"1","k":"2"}})")) ==
        "f: the header names the key 'k' twice");
  CHECK(refusal(file_of(std::string(40, '[') + std::string(40, ']'))) ==
        "f: the header is nested deeper than 32");
  CHECK(refusal(file_of(R"({"__metadata__":[]})")) == "f: __metadata__ is no JSON object");
  CHECK(refusal(file_of(R"({"__metadata__":{"k":1}})")) == "f: 'k' in __metadata__ is no string");

  const auto of_array = [](const std::string& value, std::size_t data) {
    return refusal(file_of("{\"a\":" + value + "}", data));
  };
  CHECK(of_array("1", 0) == "f: the array 'a' is not given by dtype, shape and data_offsets");
  CHECK(of_array(R"({"dtype":1,"shape":[2],"data_offsets":[0,8]})", 8) ==
        "f: the array 'a' has a dtype that is no string");
  CHECK(of_array(R"({"dtype":"F33","shape":[2],"data_offsets":[0,8]})", 8) ==
        "f: the array 'a' has the unknown dtype 'F33'");
  CHECK(of_array(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})", 8) ==
        "f: the array 'a' has no shape");
  CHECK(of_array(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})", 8) ==
        "f: the array 'a' has a shape of something else than counts");
  CHECK(of_array(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})", 8) ==
        "f: the array 'a' has a shape beyond all memory");
  CHECK(of_array(R"({"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]})", 0) ==
        "f: the array 'a' has a shape beyond all memory");
  CHECK(of_array(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})", 8) ==
        "f: the array 'a' has data_offsets that are no two counts");
  CHECK(of_array(R"({"dtype":"F32","shape":[2],"data_offsets":[0,16]})", 8) ==
        "f: the array 'a' lies from byte 0 to 16 of 8");
  CHECK(of_array(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", 8) ==
        "f: the array 'a' lies from byte 8 to 0 of 8");
  CHECK(of_array(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", 8) ==
        "f: the array 'a' has 8 bytes, its shape wants 12");
  CHECK(of_array(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 9) ==
        "f has 1 bytes behind its last array");
  CHECK(of_array(R"({"dtype":"F32","shape":[2],"data_offsets":[1,9]})", 9) ==
        "f: arrays overlap or leave a hole at byte 0");
  CHECK(refusal(file_of("{" + array + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[7,9]}})",
                        9)) == "f: arrays overlap or leave a hole at byte 8");
  const Bytes cube = file_of(R"({"a":{"dtype":"F32","shape":[1,1,1],"data_offsets":[0,4]}})", 4);
  CHECK(message_of([&] { (void)TensorFile(cube, "f").shape("a"); }) ==
        "f: the array 'a' has 3 dimensions, must have 1 or 2");
}

TEST_CASE("an array of a type that we do not write may lie beside ours") {
  const Bytes bytes = file_of(R"({"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})", 2);
  CHECK(TensorFile(bytes, "f").type("a") == "BF16");
}

TEST_CASE("the borders of what the layout allows") {
  // 32 lists in each other, the header's object around them among these, and one more.
  const auto nested = [](std::size_t lists) {
    return refusal(file_of("{\"a\":" + std::string(lists, '[') + std::string(lists, ']') + "}"));
  };
  CHECK(nested(32) == "f: the array 'a' is not given by dtype, shape and data_offsets");
  CHECK(nested(33) == "f: the header is nested deeper than 32");
  const auto of_array = [](const std::string& value, std::size_t data) {
    return refusal(file_of("{\"a\":" + value + "}", data));
  };
  // Eight dimensions; nothing beside dtype, shape and data_offsets.
  CHECK(of_array(R"({"dtype":"U8","shape":[1,1,1,1,1,1,1,2],"data_offsets":[0,2]})", 2) ==
        "nothing was thrown");
  CHECK(of_array(R"({"dtype":"U8","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,2]})", 2) ==
        "f: the array 'a' has no shape");
  CHECK(of_array(R"({"dtype":"U8","shape":[2],"data_offsets":[0,2],"more":1})", 2) ==
        "f: the array 'a' is not given by dtype, shape and data_offsets");
  CHECK(of_array(R"({"dtype":"U8","shape":[2],"data_offsets":[0,10]})", 2) ==
        "f: the array 'a' lies from byte 0 to 10 of 2");
  // Bytes of an element, by safetensors' list of its types.
  const std::vector<std::pair<std::string, std::size_t>> types{
      {"F64", 8}, {"F32", 4}, {"F16", 2},  {"BF16", 2},    {"I64", 8},
      {"I32", 4}, {"I16", 2}, {"I8", 1},   {"U64", 8},     {"U32", 4},
      {"U16", 2}, {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  for (const auto& [type, size] : types) {
    const std::string end = std::to_string(3 * size);
    CHECK(of_array(R"({"dtype":")" + type + R"(","shape":[3],"data_offsets":[0,)" + end + "]}",
                   3 * size) == "nothing was thrown");
  }
}

TEST_CASE("arrays begin at eight and a multiple of 64, whatever the header's length") {
  for (std::size_t length = 0; length < 130; ++length) {
    TensorFileWriter writer;
    writer.keep(std::string(length + 1, 'a'), std::vector{1.0});
    CHECK((writer.bytes().size() - sizeof(double)) % 64 == 8);
  }
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
  std::vector<std::pair<std::string, bpm::detail::TensorArray>> all;
  for (const NamedArray& one : arrays) {
    all.push_back({one.name, {one.type, one.shape, std::as_bytes(std::span(one.numbers))}});
  }
  return bpm::detail::tensor_checksum(all, strings);
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
