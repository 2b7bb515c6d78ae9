// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/check.hpp"
#include "bpm/core/members.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/random/ziggurat.hpp"
#include "bpm/core/target.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A vector z beside a position b of norm 1: <z, b>, and the norm of what is left of z without it.
struct DirectionNorms {
  double along;
  double across;
};

/// `square` is <z, z>.
[[nodiscard]] inline DirectionNorms norms_against(const double* b, const double* z, double square,
                                                  std::ptrdiff_t length) {
  const double along = dot(b, z, length);
  return {along, std::sqrt(std::max(0.0, square - along * along))};
}

/// Random vectors made `count` at a time, so that the outputs of all of them are one matrix
/// product. A value.
template <std::ptrdiff_t count>
class VectorBlock {
 public:
  struct Direction {
    const double* vector;   ///< z, `stride()` long.
    const double* outputs;  ///< S z.
    DirectionNorms norms;
  };

  [[nodiscard]] bool used_up() const noexcept { return next_ == count; }

  /// New vectors, each filled in by fill(z). Where x is given, always or never, the same product
  /// writes its outputs afresh to `d`.
  template <class Fill>
  void make(const Cone& cone, Fill&& fill, const double* x = nullptr, double* d = nullptr) {
    const std::ptrdiff_t ld = cone.output_stride();
    if (vectors_.size() == 0) {
      vectors_ = Buffer<double>(count * cone.stride(), 0.0);
      outputs_ = Buffer<double>((count + (x != nullptr ? 1 : 0)) * ld, 0.0);
    }
    std::vector<const double*> vectors;
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      fill(vectors_.data() + k * cone.stride());
      vectors.push_back(vectors_.data() + k * cone.stride());
    }
    if (x != nullptr) vectors.push_back(x);
    cone.outputs(vectors, outputs_.data(), ld);
    if (x != nullptr) std::copy_n(outputs_.data() + count * ld, cone.points(), d);
    next_ = 0;
  }

  /// The next one, seen from b.
  [[nodiscard]] Direction take(const Cone& cone, const double* b) {
    const double* z = vectors_.data() + next_ * cone.stride();
    const double* outputs = outputs_.data() + next_++ * cone.output_stride();
    return {z, outputs, norms_against(b, z, dot(z, z, cone.stride()), cone.stride())};
  }

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("vectors", self.vectors_, Rows{Rows::Of::rank, count, true, true});
    visit("next", self.next_, Between{0, count});
  }
  void after_reading(std::ptrdiff_t /*points*/) {
    if (vectors_.size() == 0) next_ = count;  // None was made yet.
  }
  /// Makes the outputs; `with_position`: with room for those of a position.
  void take_up(const Cone& cone, bool with_position) {
    if (vectors_.size() == 0) return;
    outputs_ = Buffer<double>((count + (with_position ? 1 : 0)) * cone.output_stride(), 0.0);
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      cone.outputs(vectors_.data() + k * cone.stride(), outputs_.data() + k * cone.output_stride());
    }
  }

 private:
  Buffer<double> vectors_;
  Buffer<double> outputs_;
  std::ptrdiff_t next_ = count;
};

/// Random tangent directions with their outputs. A value.
class TangentDirections {
 public:
  /// Makes v a random direction with <b, v> = 0 and norm 1, and nu its signed outputs, of which
  /// those of b, d, take part. Cost: O(m), and m r for a direction of a block.
  void next(const Cone& cone, RandomEngine& engine, const double* b, const double* d, double* v,
            double* nu) {
    VectorBlock<16>::Direction z{};
    do {
      if (block_.used_up()) {
        block_.make(cone, [&](double* x) { Ziggurat::instance().fill(x, cone.rank(), engine); });
      }
      z = block_.take(cone, b);
      // The direction of the part across b does not depend on its length: short ones, which cancel,
      // are left out without harm.
    } while (!(z.norms.across > std::max(1e-6, 0.1 * std::abs(z.norms.along))));
    const double scale = 1 / z.norms.across;
    combine(v, scale, z.vector, -scale * z.norms.along, b, cone.stride());
    combine(nu, scale, z.outputs, -scale * z.norms.along, d, cone.points());
  }

  /// Those that are made and not yet taken.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("block", self.block_);
  }
  [[nodiscard]] VectorBlock<16>& block() noexcept { return block_; }

 private:
  VectorBlock<16> block_;
};

}}}  // namespace bpm::detail
