// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/gibbs/gibbs_step.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Divides x by its norm, also where squares would overflow. Leaves x unchanged if its norm is 1.
inline void normalise(std::vector<double>& x) {
  if (std::abs(dot(x.data(), x.data(), std::ssize(x)) - 1) < 1e-14) {
    return;
  }
  const double largest = Eigen::Map<const Eigen::ArrayXd>(x.data(), std::ssize(x)).abs().maxCoeff();
  scale_by(x.data(), 1 / largest, std::ssize(x));
  scale_to_unit(x.data(), std::ssize(x));
}

/// Standard normal vectors of R^r, 32 at once, with outputs from one product that also recomputes
/// those of the position.
class GibbsDirections {
 public:
  using Direction = VectorBlock<32>::Direction;

  /// Returns the next direction across x, r > 1. When a new block is made, x is scaled to norm 1,
  /// its outputs `d` are recomputed, and `renewed()` is called.
  ///
  /// A z nearly along the position has a short part across, mostly rounding. This does not depend
  /// on where that part points, so that dropping such a z changes no law.
  template <class Renewed>
  [[nodiscard]] Direction next(const Cone& cone, std::vector<double>& x, double* d,
                               Random64 auto& engine, Renewed&& renewed) {
    Direction z{};
    do {
      if (block_.used_up()) {
        normalise(x);
        const auto fill = [&](double* v) { Ziggurat::instance().fill(v, cone.rank(), engine); };
        block_.make(cone, fill, x.data(), d);
        renewed();
      }
      z = block_.take(cone, x.data());
    } while (!(z.norms.across > 1e-3 * std::abs(z.norms.along)));
    return z;
  }

  /// Visits the vectors that were made and not yet used.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("block", self.block_);
  }
  [[nodiscard]] VectorBlock<32>& block() noexcept { return block_; }

 private:
  VectorBlock<32> block_;
};

/// A point x of the unit sphere with its outputs d, which are updated together. In a hard state (q
/// = 0) all d_i stay positive.
struct GibbsState {
  GibbsState() = default;  ///< For reading a file.
  GibbsState(const Cone& cone, std::span<const double> start, bool is_hard)
      : hard(is_hard),
        x(static_cast<std::size_t>(cone.stride()), 0.0),
        d(static_cast<std::size_t>(cone.output_stride()), 0.0),
        next_d(d) {
    std::copy_n(start.begin(), cone.rank(), x.begin());
    normalise(x);
    if (cone.rank() == 1) x[0] = std::copysign(1.0, x[0]);  // All chains share these two points.
    cone.outputs(x.data(), d.data());
  }

  /// Computes d = a d + b p for (a, b) = draw(); x is unchanged. In a hard state rounding may put a
  /// point from the very end of its interval outside: then another is drawn. Returns false, with d
  /// unchanged, if none is inside.
  template <class DrawMove>
  bool try_outputs(std::ptrdiff_t points, const double* p, DrawMove&& draw) {
    for (int trial = 0; trial < 20; ++trial) {
      const auto [of_d, of_p] = draw();
      const double smallest = combine_smallest(next_d.data(), of_d, d.data(), of_p, p, points);
      if (!hard || smallest > 0) {
        d.swap(next_d);
        return true;
      }
    }
    ++repairs;
    return false;
  }

  /// Moves to the opposite point.
  void flip() {
    for (double& value : x) value = -value;
    for (double& value : d) value = -value;
  }

  /// Recomputes norm and outputs from the coordinates.
  void settle(const Cone& cone) {
    normalise(x);
    cone.outputs(x.data(), d.data());
    bring_inside(cone);
  }

  /// Repairs a hard state with recomputed outputs: if drift has led it outside version space, moves
  /// it back, no further than needed, towards the last place known to be inside.
  void bring_inside(const Cone& cone) {
    if (!hard) {
      return;
    }
    const std::ptrdiff_t m = cone.points();
    if (count_errors(d.data(), m) > 0) {
      ++repairs;
      double share = 0x1p-52;
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        const double depth = -d[i];
        if (depth >= 0) share = std::max(share, depth / (inside_d[i] + depth));
      }
      do {
        share = std::min(1.0, 2 * share);
        combine(x.data(), 1 - share, x.data(), share, inside.data(), std::ssize(x));
        normalise(x);
        cone.outputs(x.data(), d.data());
      } while (share < 1 && count_errors(d.data(), m) > 0);
      if (share == 1) {
        x = inside;
        d = inside_d;
      }
    }
    remember();
  }

  /// Records this place as the last known to be inside.
  void remember() {
    inside = x;
    inside_d = d;
  }

  bool hard = false;
  std::uint64_t repairs = 0;
  std::vector<double> x;  ///< `stride()` long.
  std::vector<double> d;  ///< `output_stride()` long.
  std::vector<double> next_d;
  std::vector<double> inside;
  std::vector<double> inside_d;
};

}}}  // namespace bpm::detail
