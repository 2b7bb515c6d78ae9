// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// A table whose columns hold numbers or words, before a `TableEncoding` makes inputs of it. All
/// columns are of one length.
struct MixedTable {
  enum class Kind { numbers, words };

  struct Column {
    std::string name{};  ///< Empty: none.
    Kind kind = Kind::numbers;
    std::vector<double> numbers{};     ///< Of each row; NaN: missing. Empty where these are words.
    std::vector<std::string> words{};  ///< The distinct ones, in ascending order.
    std::vector<int> word_of{};        ///< Of each row, a place in `words`; -1: missing.

    /// The length.
    [[nodiscard]] std::ptrdiff_t rows() const {
      return kind == Kind::words ? std::ssize(word_of) : std::ssize(numbers);
    }
  };
  std::vector<Column> columns{};

  [[nodiscard]] std::ptrdiff_t rows() const { return columns.empty() ? 0 : columns.front().rows(); }
};

}}  // namespace bpm
