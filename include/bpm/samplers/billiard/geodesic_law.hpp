// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "bpm/core/random/engine.hpp"
#include "bpm/core/random/ziggurat.hpp"

namespace bpm::detail {

/// What makes the geodesic billiard's law the uniform one. A parameter so that tests can break it.
struct GeodesicLaw {
  /// The reflection v - reflection <v, n> n at a plane of unit normal n.
  static constexpr double reflection = 2;

  /// An isotropic vector of R^rank.
  static void direction(RandomEngine& engine, double* z, std::ptrdiff_t rank) {
    Ziggurat::instance().fill(z, rank, engine);
  }
};

}  // namespace bpm::detail
