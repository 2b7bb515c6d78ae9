// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "bpm/core/target.hpp"

/// \file
/// Conversion of numbers to consecutive bytes, in this machine's order, for messages.

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

}}}  // namespace bpm::detail
