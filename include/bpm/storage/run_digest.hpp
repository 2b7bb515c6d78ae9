// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// What the numbers of a `RunDigest` are made of.
inline constexpr std::array<const char*, 6> run_digest_parts{
    "byte order or format",  // And the size of the kernel values.
    "sizes",                 // Points and problems.
    "labels",                // Of all problems.
    "soft boundary",
    "inputs or kernel",  // The diagonal and a part of the kernel matrix.
    "settings",          // Seed and sampler, without the number of draws and the limits, which
                         // change no finished draw.
};

/// Numbers that tell whether two runs of a perceptron sampler make the same draws, part by part, so
/// that a message can say in what they differ. 64 bits each: a difference goes unnoticed once in
/// 10^19 times, a deliberate one is not looked for.
using RunDigest = std::array<std::uint64_t, run_digest_parts.size()>;

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

/// The digest of a run of `sampler` on these problems with this seed, whose draws below
/// `left_out_draws` leave points out at first.
/// Cost: a pass over the labels, and 20 m kernel values, counted in `scratch`.
template <VersionSpace Space>
[[nodiscard]] RunDigest run_digest(const PermutedPerceptron& sampler, std::span<const Space> spaces,
                                   const RandomStreams& streams,
                                   BlockScratch<typename Space::Scalar>& scratch,
                                   std::uint64_t left_out_draws = 0) {
  WordHash format;
  constexpr std::array<unsigned char, 8> order{1, 2, 3, 4, 5, 6, 7, 8};
  format.add_bytes(order.data(), order.size());
  format.add(std::uint64_t{sizeof(typename Space::Scalar)});
  format.add(std::uint64_t{1});
  WordHash sizes;
  sizes.add(static_cast<std::uint64_t>(spaces[0].size()));
  sizes.add(static_cast<std::uint64_t>(spaces.size()));
  WordHash labels;
  WordHash lambda;
  for (const Space& space : spaces) {
    for (std::ptrdiff_t i = 0; i < space.size(); ++i) {
      labels.add(static_cast<std::uint64_t>(space.label(i)));
      lambda.add(static_cast<double>(space.lambda(i)));
    }
  }
  WordHash settings;
  settings.add(streams.seed);
  settings.add(sampler.margin);
  settings.add(static_cast<std::uint64_t>(sampler.order));
  if (left_out_draws > 0) settings.add(left_out_draws);
  return {format.value(),
          sizes.value(),
          labels.value(),
          lambda.value(),
          digest_of_kernel(spaces[0], scratch),
          settings.value()};
}

}}}  // namespace bpm::detail
