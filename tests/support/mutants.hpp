// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/samplers/billiard/geodesic_chain.hpp"
#include "bpm/version_space/cone.hpp"

/// \file
/// Billiards with a wrong law, which the tests of law must find out.

namespace law_tests {

/// The reflection takes 1.9 of the normal part where it should take 2.
struct WeakReflection : bpm::detail::GeodesicLaw {
  static constexpr double reflection = 1.9;
};

/// New directions lean to the first coordinates.
struct ScaledRefresh : bpm::detail::GeodesicLaw {
  static void direction(bpm::RandomEngine& engine, double* z, std::ptrdiff_t rank) {
    bpm::detail::GeodesicLaw::direction(engine, z, rank);
    for (std::ptrdiff_t k = 0; 2 * k < rank; ++k) z[k] *= 3;
  }
};

/// New directions have uniform dual coefficients in [-1, 1].
struct UniformDualRefresh : bpm::detail::GeodesicLaw {
  static inline const bpm::Cone* cone = nullptr;

  static void direction(bpm::RandomEngine& engine, double* z, std::ptrdiff_t rank) {
    for (std::ptrdiff_t k = 0; k < rank; ++k) z[k] = 0;
    for (std::ptrdiff_t i = 0; i < cone->points(); ++i) {
      bpm::detail::add_scaled(z, 2 * bpm::uniform_unit(engine) - 1, cone->row(i), rank);
    }
  }
};

template <class Law>
using MutantChain = bpm::detail::BasicGeodesicChain<Law>;

}  // namespace law_tests
