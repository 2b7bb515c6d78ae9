// SPDX-License-Identifier: MIT
// Bytes of models, changed; and models after a way through bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/storage/model_file.hpp"
#include "bpm/storage/tensor_file.hpp"
#include "catch.hpp"

namespace test_support {

/// The model after a way through bytes, which it has again.
template <class Model>
Model through_bytes(const Model& model) {
  const std::vector<std::byte> bytes = bpm::model_bytes(model);
  Model back = bpm::load<Model>(bytes);
  CHECK(bpm::model_bytes(back) == bytes);
  return back;
}

/// The bytes with one piece of text put in the place of another of the same length.
inline std::vector<std::byte> with_text(std::vector<std::byte> bytes, std::string_view old,
                                        std::string_view text) {
  REQUIRE(old.size() == text.size());
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto found = all.find(old);
  REQUIRE(found != std::string_view::npos);
  std::memcpy(bytes.data() + found, text.data(), text.size());
  return bytes;
}

/// Where the arrays begin.
inline std::size_t header_end(const std::vector<std::byte>& bytes) {
  std::uint64_t length = 0;
  REQUIRE(bytes.size() >= sizeof length);
  std::memcpy(&length, bytes.data(), sizeof length);
  REQUIRE(length < bytes.size() - sizeof length);
  return sizeof length + length;
}

/// The bytes with another text, filled up with spaces, in the place of one of `__metadata__`.
inline std::vector<std::byte> with_metadata_text(const std::vector<std::byte>& bytes,
                                                 const std::string& key, const std::string& text) {
  const auto in_header = [&](const std::string& value) {
    return nlohmann::json(key).dump() + ":" + nlohmann::json(value).dump();
  };
  const std::string old = in_header(bpm::detail::TensorFile(bytes, "m").text(key));
  const std::string now = in_header(text);
  REQUIRE(now.size() <= old.size());
  return with_text(bytes, old, in_header(text + std::string(old.size() - now.size(), ' ')));
}

/// The bytes whose array `key` begins with another number.
template <class T>
std::vector<std::byte> with_first_number(std::vector<std::byte> bytes, const std::string& key,
                                         T first) {
  const std::size_t arrays = header_end(bytes);
  const auto header = nlohmann::json::parse(
      std::string(reinterpret_cast<const char*>(bytes.data()) + 8, arrays - 8));
  const std::size_t begin = header.at(key).at("data_offsets").at(0);
  std::memcpy(bytes.data() + arrays + begin, &first, sizeof first);
  return bytes;
}

/// Calls `look` with the models in `rounds` versions of the bytes with up to three changes each,
/// most of them in the header, half of them to characters that mean something there. What is
/// refused is so by a DataError; at least one in twelve is, and one in twelve loads.
template <class Model, class Look>
void load_mutants(const std::vector<std::byte>& bytes, std::uint64_t seed, int rounds,
                  const Look& look) {
  const std::string_view meant = "0123456789-+.eE{}[]\",:\\ntf";
  const std::size_t header = header_end(bytes);
  bpm::RandomEngine engine(seed);
  const auto below = [&](std::size_t bound) {
    return bpm::uniform_below(engine, static_cast<std::uint32_t>(bound));
  };
  int refused = 0;
  int loaded = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::byte> other = bytes;
    for (std::uint32_t changes = 1 + below(3); changes > 0; --changes) {
      std::byte& place = other[below(below(4) != 0 ? header : other.size())];
      place = static_cast<std::byte>(below(2) == 0 ? meant[below(meant.size())] : below(256));
    }
    CAPTURE(round);
    try {
      const auto model = bpm::load<Model>(other);
      ++loaded;
      look(model);
    } catch (const bpm::DataError&) {
      ++refused;
    }
  }
  CHECK(refused > rounds / 12);
  CHECK(loaded > rounds / 12);
}

}  // namespace test_support
