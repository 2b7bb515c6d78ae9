// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/labels.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// A training set dealt into parts, each of which is left out in turn.
struct Folds {
  std::size_t count = 0;
  std::vector<std::int32_t> of_point;  ///< Below `count`; -1: the point always trains.
  std::size_t always_train = 0;        ///< How many do: each alone in its class.

  /// Deals the points of every class, in a random order of the seed, to the folds one after the
  /// other, and goes on where the class before ended: shares of classes and sizes of folds are
  /// equal but for one point. A class with fewer points than folds is in as many as it has points;
  /// a point that is alone in its class always trains.
  /// \throws std::invalid_argument without labels, or unless there are 2 folds or more, and at most
  ///         as many as points that can be left out.
  [[nodiscard]] static Folds stratified(std::span<const int> labels, std::size_t count,
                                        std::uint64_t seed = 1) {
    const char* const f = "Folds::stratified";
    detail::check(!labels.empty(), f, "labels", "is empty, must hold at least one label");
    Folds folds{.count = count, .of_point = std::vector<std::int32_t>(labels.size(), -1)};
    std::vector<PointIndex> order(labels.size());
    // A stream of its own: those of draws begin at 0.
    RandomEngine engine(seed, ~std::uint64_t{0});
    random_permutation(std::span(order), engine);
    std::stable_sort(order.begin(), order.end(),
                     [&](PointIndex a, PointIndex b) { return labels[a] < labels[b]; });
    std::size_t dealt = 0;
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      while (end < order.size() && labels[order[end]] == labels[order[begin]]) ++end;
      if (end - begin == 1) {
        ++folds.always_train;
        continue;
      }
      for (std::size_t i = begin; i < end; ++i) {
        if (count > 0) folds.of_point[order[i]] = static_cast<std::int32_t>(dealt % count);
        ++dealt;
      }
    }
    detail::check(count >= 2 && count <= dealt, f, "count", "is ", count,
                  ", must be 2 or more and at most ", dealt,
                  ", the points that are not alone in their class");
    return folds;
  }

  /// The points that fold `k` leaves out, or those that train then, ascending.
  [[nodiscard]] std::vector<PointIndex> points(std::size_t k, bool left_out) const {
    std::vector<PointIndex> chosen;
    for (std::size_t i = 0; i < of_point.size(); ++i) {
      if ((of_point[i] == static_cast<std::int32_t>(k)) == left_out) {
        chosen.push_back(static_cast<PointIndex>(i));
      }
    }
    return chosen;
  }
};

}}  // namespace bpm
