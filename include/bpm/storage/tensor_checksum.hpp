// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpm/core/target.hpp"
#include "bpm/machine/fingerprint.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A hash of what is in a file of arrays: their names, types, shapes and bytes, in any order, and
/// the strings. For damage, which it misses once in 10^19 times.
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
