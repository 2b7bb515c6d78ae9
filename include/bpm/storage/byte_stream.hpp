// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bpm/core/target.hpp"
#include "bpm/machine/fingerprint.hpp"

/// \file
/// Conversion of numbers to consecutive bytes, in this machine's order, for files and messages.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    put_all(std::span(&value, 1));
  }
  template <class Values>
  void put_all(const Values& values) {
    const auto bytes = std::as_bytes(std::span(values));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads values from the front; returns false if too few bytes are left.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  bool take(T& value) {
    return take_all(std::span(&value, 1));
  }
  template <class T>
  bool take_all(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (values.size_bytes() > bytes_.size()) return false;
    if (!values.empty()) std::memcpy(values.data(), bytes_.data(), values.size_bytes());
    bytes_ = bytes_.subspan(values.size_bytes());
    return true;
  }
  /// Reads the next `count` values into a vector, which it resizes.
  template <class T>
  bool take_all(std::vector<T>& values, std::size_t count) {
    if (count > bytes_.size() / sizeof(T)) return false;
    values.resize(count);
    return take_all(std::span(values));
  }
  [[nodiscard]] bool done() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

/// A hash of the contents of a file of arrays: names, types, shapes and bytes of the arrays, in any
/// order, and the strings. It detects damage, all but one case in 10^19.
class TensorChecksum {
 public:
  void add(std::string_view name, std::string_view type, const std::vector<std::size_t>& shape,
           std::span<const std::byte> bytes) {
    WordHash hash;
    for (const std::string_view text : {name, type}) add_text(hash, text);
    for (const std::size_t extent : shape) hash.add(std::uint64_t{extent});
    hash.add_bytes(bytes.data(), bytes.size());
    sum_ += hash.value();
  }
  [[nodiscard]] std::string of(const std::map<std::string, std::string>& strings) const {
    WordHash hash;
    hash.add(sum_);
    for (const auto& [key, value] : strings) {
      if (key == "checksum") continue;
      add_text(hash, key);
      add_text(hash, value);
    }
    const std::string digits = std::to_string(hash.value());
    return std::string(20 - digits.size(), '0') + digits;
  }

 private:
  static void add_text(WordHash& hash, std::string_view text) {
    hash.add(std::uint64_t{text.size()});
    hash.add_bytes(text.data(), text.size());
  }
  std::uint64_t sum_ = 0;
};

}}}  // namespace bpm::detail
