// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A hash of a sequence of words, four chains wide so that they overlap.
class WordHash {
 public:
  void add(std::uint64_t word) noexcept {
    std::uint64_t& chain = chains_[count_++ % chains_.size()];
    chain = (chain ^ word) * 0x9E3779B97F4A7C15ULL;
    chain ^= chain >> 29U;
  }
  void add(double number) noexcept { add(std::bit_cast<std::uint64_t>(number)); }

  /// The bytes in the machine's order, the last word filled up with zeros.
  void add_bytes(const void* data, std::size_t size) noexcept {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, std::min(size - at, sizeof word));
      add(word);
    }
  }

  [[nodiscard]] std::uint64_t value() const noexcept {
    std::uint64_t hash = count_;
    for (const std::uint64_t chain : chains_) {
      hash = (hash ^ chain) * 0xD1342543DE82EF95ULL;
      hash ^= hash >> 32U;
    }
    return hash;
  }

 private:
  std::array<std::uint64_t, 4> chains_{1, 2, 3, 4};
  std::uint64_t count_ = 0;
};

}}}  // namespace bpm::detail
