// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "bpm/random/draws.hpp"

namespace bpm::detail {

/// What makes the geodesic billiard's law the uniform one. A parameter so that tests can break it.
struct GeodesicLaw {
  /// The reflection v - reflection <v, n> n at a plane of unit normal n.
  static constexpr double reflection = 2;

  /// An isotropic vector of R^rank.
  template <class Engine>
  static void direction(Engine& engine, NormalDraws& normals, double* z, std::ptrdiff_t rank) {
    for (std::ptrdiff_t k = 0; k < rank; ++k) z[k] = normals(engine);
  }
};

}  // namespace bpm::detail
