// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bpm/core/random/streams.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm {

/// Numbers that tell whether two runs of a perceptron sampler make the same draws, part by part, so
/// that a message can say in what they differ. 64 bits each: a difference goes unnoticed once in
/// 10^19 times, a deliberate one is not looked for.
struct RunDigest {
  std::uint64_t format = 0;    ///< Byte order, size of the kernel values, version of the digest.
  std::uint64_t sizes = 0;     ///< Points and problems.
  std::uint64_t labels = 0;    ///< Of all problems.
  std::uint64_t lambda = 0;    ///< Soft boundaries.
  std::uint64_t kernel = 0;    ///< The diagonal and a part of the kernel matrix.
  std::uint64_t settings = 0;  ///< Seed and sampler, without the number of draws and the limits,
                               ///< which change no finished draw.

  static constexpr std::size_t part_count = 6;
  using Parts = std::array<std::uint64_t, part_count>;
  static constexpr std::array<const char*, part_count> part_names{
      "byte order or format", "sizes", "labels", "soft boundary", "inputs or kernel", "settings"};

  [[nodiscard]] Parts parts() const noexcept {
    return {format, sizes, labels, lambda, kernel, settings};
  }

  friend bool operator==(const RunDigest&, const RunDigest&) = default;
};

namespace detail {

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
    for (; size >= sizeof(std::uint64_t); size -= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, sizeof word);
      add(word);
      bytes += sizeof word;
    }
    if (size > 0) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, size);
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

/// The diagonal, the values of each point with the others of its group of 16, and those of all
/// points with four: what kernel and inputs are to the sampler, whatever they are, and the same
/// however the values are kept.
template <VersionSpace Space>
[[nodiscard]] std::uint64_t digest_of_kernel(const Space& space,
                                             BlockScratch<typename Space::Scalar>& scratch) {
  constexpr std::ptrdiff_t probes = 4;
  constexpr std::ptrdiff_t group = 16;
  constexpr std::ptrdiff_t most = probes + group;
  WordHash hash;
  std::array<typename Space::Scalar, most * group> values{};
  std::vector<PointIndex> points;
  std::vector<PointIndex> rows;
  for (std::ptrdiff_t begin = 0; begin < space.size(); begin += group) {
    const std::ptrdiff_t count = std::min(group, space.size() - begin);
    points.clear();
    for (std::ptrdiff_t i = begin; i < begin + count; ++i) {
      points.push_back(static_cast<PointIndex>(i));
      hash.add(space.diagonal(i));
    }
    rows = points;
    for (std::ptrdiff_t a = 0; a < probes; ++a) {
      rows.push_back(static_cast<PointIndex>(a * space.size() / probes));
    }
    space.block(rows, points, values.data(), count, scratch);
    hash.add_bytes(values.data(), rows.size() * points.size() * sizeof(values[0]));
  }
  return hash.value();
}

}  // namespace detail

/// The digest of a run of `sampler` on these problems with this seed.
/// Cost: a pass over the labels, and 20 m kernel values, counted in `scratch`.
template <VersionSpace Space>
[[nodiscard]] RunDigest run_digest(const PermutedPerceptron& sampler, std::span<const Space> spaces,
                                   const RandomStreams& streams,
                                   detail::BlockScratch<typename Space::Scalar>& scratch) {
  using detail::WordHash;
  RunDigest digest;
  WordHash format;
  constexpr std::array<unsigned char, 8> order{1, 2, 3, 4, 5, 6, 7, 8};
  format.add_bytes(order.data(), order.size());
  format.add(std::uint64_t{sizeof(typename Space::Scalar)});
  format.add(std::uint64_t{1});
  digest.format = format.value();

  WordHash sizes;
  sizes.add(static_cast<std::uint64_t>(spaces[0].size()));
  sizes.add(static_cast<std::uint64_t>(spaces.size()));
  digest.sizes = sizes.value();

  WordHash labels;
  WordHash lambda;
  for (const Space& space : spaces) {
    for (std::ptrdiff_t i = 0; i < space.size(); ++i) {
      labels.add(static_cast<std::uint64_t>(space.label(i)));
      lambda.add(static_cast<double>(space.lambda(i)));
    }
  }
  digest.labels = labels.value();
  digest.lambda = lambda.value();
  digest.kernel = detail::digest_of_kernel(spaces[0], scratch);

  WordHash settings;
  settings.add(streams.seed);
  settings.add(sampler.margin);
  settings.add(static_cast<std::uint64_t>(sampler.order));
  digest.settings = settings.value();
  return digest;
}

}  // namespace bpm
