// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"

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

  /// Adds the bytes in the machine's order, the last word padded with zeros.
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

template <class I>
concept HashableInputs = !RangeInputs<I> || requires(const std::ranges::range_value_t<I>& x) {
  { std::hash<std::ranges::range_value_t<I>>{}(x) } -> std::convertible_to<std::size_t>;
  { x == x } -> std::convertible_to<bool>;
};

/// Returns a hash per input, equal for equal inputs; an empty list for types that cannot be hashed.
/// Cost: one pass over the inputs.
template <InputSet I>
[[nodiscard]] std::vector<std::uint64_t> input_hashes(const I& inputs) {
  std::vector<std::uint64_t> hashes;
  if constexpr (HashableInputs<I>) {
    hashes.resize(static_cast<std::size_t>(input_count(inputs)));
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const auto row = static_cast<std::ptrdiff_t>(i);
      WordHash hash;
      // Equal numbers have equal words: -0 counts as 0.
      [[maybe_unused]] const auto add_number = [&](double number) {
        hash.add(number == 0 ? 0.0 : number);
      };
      if constexpr (DenseInputs<I>) {
        for (Eigen::Index j = 0; j < inputs.cols(); ++j) {
          add_number(static_cast<double>(inputs(row, j)));
        }
      } else if constexpr (SparseInputs<I>) {
        for (typename I::InnerIterator entry(inputs, row); entry; ++entry) {
          if (entry.value() != 0) {
            hash.add(static_cast<std::uint64_t>(entry.col()));
            add_number(static_cast<double>(entry.value()));
          }
        }
      } else {
        const auto& input = std::ranges::begin(inputs)[row];
        hash.add(std::uint64_t{std::hash<std::remove_cvref_t<decltype(input)>>{}(input)});
      }
      hashes[i] = hash.value();
    }
  }
  return hashes;
}

template <InputSet I>
[[nodiscard]] bool equal_inputs(const I& inputs, std::ptrdiff_t i, std::ptrdiff_t j) {
  if constexpr (DenseInputs<I>) {
    return (inputs.row(i).array() == inputs.row(j).array()).all();
  } else if constexpr (SparseInputs<I>) {
    return (inputs.row(i) - inputs.row(j)).squaredNorm() == 0;
  } else if constexpr (HashableInputs<I>) {
    return std::ranges::begin(inputs)[i] == std::ranges::begin(inputs)[j];
  } else {
    return i == j;
  }
}

/// Returns the groups of two or more equal inputs, each ascending.
template <InputSet I>
[[nodiscard]] std::vector<std::vector<PointIndex>> equal_groups(
    const I& inputs, std::span<const std::uint64_t> hashes) {
  std::vector<PointIndex> order = first_points(std::ssize(hashes));
  std::sort(order.begin(), order.end(), [&](PointIndex a, PointIndex b) {
    return std::pair(hashes[a], a) < std::pair(hashes[b], b);
  });
  std::vector<std::vector<PointIndex>> groups;
  for (std::size_t begin = 0; begin < order.size();) {
    std::vector<PointIndex> group{order[begin]};
    std::size_t end = begin + 1;
    for (; end < order.size() && hashes[order[end]] == hashes[order[begin]]; ++end) {
      if (equal_inputs(inputs, order[begin], order[end])) {
        group.push_back(order[end]);
      }
    }
    if (group.size() > 1) {
      groups.push_back(std::move(group));
    }
    begin = end;
  }
  return groups;
}

/// Returns the groups of equal inputs of a kernel; none for a matrix of kernel values.
template <class Kernel, InputSet I>
[[nodiscard]] std::vector<std::vector<PointIndex>> equal_groups_of(
    const I& inputs, std::span<const std::uint64_t> hashes) {
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    return {};
  } else {
    return equal_groups(inputs, hashes);
  }
}

/// Returns a hash of a training set, which detects another one.
[[nodiscard]] inline std::uint64_t fingerprint(std::span<const std::uint64_t> hashes,
                                               std::span<const int> labels) {
  WordHash hash;
  for (const std::uint64_t word : hashes) hash.add(word);
  for (const int label : labels) hash.add(static_cast<std::uint64_t>(label));
  return hash.value();
}

}}}  // namespace bpm::detail
