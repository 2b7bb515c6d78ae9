// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/ziggurat.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/samplers/gibbs/gibbs_circle.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm::detail {

/// z against a position x of norm 1; `square` is <z, z>.
[[nodiscard]] inline GibbsDirectionNorms norms_against(const std::vector<double>& x,
                                                       const double* z, double square) {
  const double along = dot(z, x.data(), std::ssize(x));
  return {along, std::sqrt(std::max(0.0, square - along * along))};
}

/// Divides by the norm, also where squares would overflow. What has norm 1 already stays as it is.
inline void normalise(std::vector<double>& x) {
  if (std::abs(dot(x.data(), x.data(), std::ssize(x)) - 1) < 1e-14) {
    return;
  }
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  scale_by(x.data(), 1 / largest, std::ssize(x));
  const double norm = std::sqrt(dot(x.data(), x.data(), std::ssize(x)));
  scale_by(x.data(), 1 / norm, std::ssize(x));
}

/// Standard normal vectors of R^r, 32 at once so that their outputs come from one product, in which
/// the position's outputs are made afresh.
class GibbsDirections {
 public:
  struct Direction {
    const double* vector;   ///< z, `stride()` long.
    const double* outputs;  ///< S z.
    GibbsDirectionNorms norms;
  };

  /// The next direction across x, r > 1. Where a new block is made, x is scaled to norm 1 and has
  /// its outputs `d` written afresh, and `renewed()` is called.
  ///
  /// Of a z nearly along the position little is left, and that little is rounding. Whether it is
  /// does not depend on where the rest points, so that leaving it out changes no law.
  template <class Renewed>
  [[nodiscard]] Direction next(const Cone& cone, std::vector<double>& x, double* d,
                               Random64 auto& engine, Renewed&& renewed) {
    Direction z{};
    do {
      if (next_ == block) {
        make(cone, x, d, engine);
        renewed();
      }
      const double* vector = vectors_.data() + next_ * cone.stride();
      z = {vector, outputs_.data() + next_ * cone.output_stride(),
           norms_against(x, vector, dot(vector, vector, cone.stride()))};
      ++next_;
    } while (!(z.norms.across > 1e-3 * std::abs(z.norms.along)));
    return z;
  }

 private:
  static constexpr std::ptrdiff_t block = 32;

  /// Makes a new block, scales x to norm 1 and writes its outputs to `d`.
  void make(const Cone& cone, std::vector<double>& x, double* d, Random64 auto& engine) {
    const std::ptrdiff_t stride = cone.stride();
    const std::ptrdiff_t ld = cone.output_stride();
    vectors_.resize(static_cast<std::size_t>((block + 1) * stride), 0.0);
    outputs_.resize(static_cast<std::size_t>((block + 1) * ld), 0.0);
    for (std::ptrdiff_t k = 0; k < block; ++k) {
      Ziggurat::instance().fill(vectors_.data() + k * stride, cone.rank(), engine);
    }
    normalise(x);
    std::copy(x.begin(), x.end(), vectors_.begin() + block * stride);
    cone.outputs(vectors_.data(), block + 1, outputs_.data(), ld);
    std::copy_n(outputs_.data() + block * ld, cone.points(), d);
    next_ = 0;
  }

  std::vector<double> vectors_;  ///< At the end room for the position.
  std::vector<double> outputs_;
  std::ptrdiff_t next_ = block;
};

}  // namespace bpm::detail
