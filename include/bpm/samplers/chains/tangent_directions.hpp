// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

#include "bpm/core/buffer.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/random/ziggurat.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/version_space/cone.hpp"

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

/// Random tangent directions with their outputs. The vectors are made a block at a time, so that
/// the outputs of all of them are one matrix product. A value.
template <class Law>
class TangentDirections {
 public:
  /// Makes v a random direction with <b, v> = 0 and norm 1, and nu its signed outputs, of which
  /// those of b, d, take part. Cost: O(m), and m r for a direction of a block.
  void next(const Cone& cone, RandomEngine& engine, const double* b, const double* d, double* v,
            double* nu) {
    const std::ptrdiff_t length = cone.stride();
    const std::ptrdiff_t ld = cone.output_stride();
    if (vectors_.size() == 0) {
      vectors_ = CopyableBuffer<double>(block * length, 0.0);
      outputs_ = CopyableBuffer<double>(block * ld, 0.0);
    }
    double squared = 0;
    double along = 0;
    const double* z = nullptr;
    const double* nu_z = nullptr;
    do {
      if (next_ == block) {
        for (std::ptrdiff_t k = 0; k < block; ++k) {
          Law::direction(engine, vectors_.data() + k * length, cone.rank());
        }
        cone.outputs(vectors_.data(), block, outputs_.data(), ld);
        next_ = 0;
      }
      z = vectors_.data() + next_ * length;
      nu_z = outputs_.data() + next_ * ld;
      ++next_;
      along = dot(b, z, length);
      squared = dot(z, z, length) - along * along;
      // The direction of the part across b does not depend on its length: short ones, which cancel,
      // are left out without harm.
    } while (!(squared > 1e-2 * along * along) || !(squared > 1e-12));
    const double scale = 1 / std::sqrt(squared);
    combine(v, scale, z, -scale * along, b, length);
    combine(nu, scale, nu_z, -scale * along, d, cone.points());
  }

 private:
  static constexpr std::ptrdiff_t block = 16;

  CopyableBuffer<double> vectors_;
  CopyableBuffer<double> outputs_;
  std::ptrdiff_t next_ = block;
};

}  // namespace bpm::detail
