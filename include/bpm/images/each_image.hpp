// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "bpm/core/parallel.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Images take microseconds: threads fetch them in blocks of so many.
inline constexpr Eigen::Index image_block = 64;

[[nodiscard]] constexpr Eigen::Index image_blocks(Eigen::Index count) {
  return (count + image_block - 1) / image_block;
}

/// The threads that work on `count` images when `wanted` are asked for of `function` (0: as many as
/// the machine runs). \throws std::invalid_argument as `thread_count`.
[[nodiscard]] inline unsigned image_workers(unsigned wanted, Eigen::Index count,
                                            std::string_view function) {
  return static_cast<unsigned>(
      std::clamp<Eigen::Index>(image_blocks(count), 1, thread_count(wanted, function)));
}

/// Calls use(worker, i) for each of `count` images on up to `threads` threads.
template <class Use>
void for_each_image(unsigned threads, Eigen::Index count, Use&& use) {
  parallel_for(threads, image_blocks(count), [&](unsigned worker, std::ptrdiff_t b) {
    const Eigen::Index end = std::min(count, (b + 1) * image_block);
    for (Eigen::Index i = b * image_block; i < end; ++i) use(worker, i);
  });
}

}}}  // namespace bpm::detail
