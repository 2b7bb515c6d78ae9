// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>

#include "bpm/core/parallel.hpp"

namespace bpm::detail {

/// Calls use(worker, i) for each of `count` images on up to `threads` threads: images take
/// microseconds, so threads fetch them in blocks.
template <class Use>
void for_each_image(unsigned threads, Eigen::Index count, Use&& use) {
  constexpr Eigen::Index block = 64;
  parallel_for(threads, (count + block - 1) / block, [&](unsigned worker, std::ptrdiff_t b) {
    const Eigen::Index end = std::min(count, (b + 1) * block);
    for (Eigen::Index i = b * block; i < end; ++i) use(worker, i);
  });
}

}  // namespace bpm::detail
