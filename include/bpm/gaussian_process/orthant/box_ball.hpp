// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/samplers/billiard/facet_search.hpp"

/// \file
/// Half spaces A x + b >= 0 as bounds of coordinates, the search for a point inside, and flights
/// between bounds.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Returns the planes of the coordinates y = (A (x - mean), x - mean) under N(mean, L L'): the
/// first m have a lower bound and a row of products each, the last n neither. L is lower
/// triangular, with zeros above. Cost: m n (m + 2 n) multiply-adds.
[[nodiscard]] inline OrthantPlanes half_space_planes(const Eigen::MatrixXd& normals,
                                                     const Eigen::MatrixXd& factor) {
  const Eigen::Index m = normals.rows();
  const Eigen::Index n = normals.cols();
  OrthantPlanes planes(m + n, m, n);
  const std::ptrdiff_t length = planes.latent_stride;
  // Sums whose bits do not depend on the number of threads.
  const auto products = [&](const RowMatrix<double>& a, const RowMatrix<double>& b, double* out,
                            std::ptrdiff_t stride) {
    row_products<ProductTerm, double>(row_pointers(a.data(), m, length).data(), m,
                                      row_pointers(b.data(), b.rows(), length).data(), b.rows(),
                                      length, out, stride);
  };
  RowMatrix<double> padded_normals = RowMatrix<double>::Zero(m, length);
  padded_normals.leftCols(n) = normals;
  RowMatrix<double> transposed = RowMatrix<double>::Zero(n, length);
  transposed.leftCols(n) = factor.transpose();
  products(padded_normals, transposed, planes.factor.data(), length);
  planes.factor.bottomLeftCorner(n, n) = factor;
  products(planes.factor, planes.factor, planes.rows.data(), planes.stride);
  return planes;
}

/// Returns a point w with <row_i, w> + at_zero_i > 0 for all i by at least a millionth of the row's
/// norm, or none if the search fails. Each pass projects onto the planes that are too close, one
/// after the other (S. Agmon, "The relaxation method for linear inequalities", Canad. J. Math. 6,
/// 1954). The margin is first a tenth of the norm, and ten times less after 200 passes without
/// success. Cost of a pass: m n multiply-adds.
[[nodiscard]] inline std::optional<Eigen::VectorXd> point_inside(
    const Eigen::Ref<const RowMatrix<double>, 0, Eigen::OuterStride<>>& rows,
    const Eigen::VectorXd& at_zero) {
  const Eigen::VectorXd norms = rows.rowwise().norm();
  Eigen::VectorXd w = Eigen::VectorXd::Zero(rows.cols());
  for (double kept = 0.1; kept > 0.9e-6; kept *= 0.1) {
    for (int pass = 0; pass < 200; ++pass) {
      bool moved = false;
      for (Eigen::Index i = 0; i < rows.rows(); ++i) {
        const double distance = (rows.row(i).dot(w) + at_zero[i]) / norms[i];
        if (distance >= kept) continue;
        w += (1.5 * kept - distance) / norms[i] * rows.row(i).transpose();
        moved = true;
      }
      if (!moved) return w;
    }
  }
  return std::nullopt;
}

/// Relative half width of the law of path lengths: longer or shorter paths forget less, and equal
/// ones might not reach all of a law.
inline constexpr double path_spread = 0.15;

/// The arc of a flight up to the nearest plane found on it so far; tau is the tangent of half its
/// angle, at most 1.
struct BoxArc {
  double tau = 1;
  double cosine = 0;
  double sine = 1;
  double slack = std::numbers::sqrt2 / 2;  ///< The cosine of half the angle.
  std::ptrdiff_t hit = -1;                 ///< Index of the nearest plane; -1: none.
  double level = 0;                        ///< Position of the nearest plane.

  void set_tau(double t) {
    const double scale = 1 / (1 + t * t);
    tau = t;
    cosine = (1 - t) * (1 + t) * scale;
    sine = 2 * t * scale;
    slack = std::sqrt(scale);
  }
};

inline constexpr std::ptrdiff_t box_block = 4 * lane_count<double>;  ///< Coordinates moved at once.

// Moves a block from `begin` to `end`, x <- a x + b v, v <- e v - f x + scale row, and returns
// whether the arc that follows may reach a bound there. Bounds are in padded rows, with infinities
// in the padding. It needs no root: a coordinate r cos(s - phase) that is above l at both ends of
// an arc of angle t, below half a turn, and below it in between has l < 0 and its least value -r <
// l there, no farther than t / 2 from one end, where it is at most -r cos(t / 2) < l cos(t / 2). So
// it stays above if both ends are above max(l, l cos(t / 2)).
#if defined(BPM_DETAIL_VECTOR_TYPES)

template <bool both>
[[gnu::always_inline]] BPM_DETAIL_FULL_WIDTH inline bool move_block(
    double* x, double* v, const double* row, const double* lower_bounds, const double* upper_bounds,
    const FlightStep& step, const BoxArc& arc, std::ptrdiff_t begin, std::ptrdiff_t end) {
  using Vector = Lanes<double>;
  Vector worst{};
  for (std::ptrdiff_t i = begin; i < end; i += lane_count<double>) {
    const Vector from = load_lanes(x + i);
    const Vector speed = load_lanes(v + i);
    const Vector here = step.a * from + step.b * speed;
    const Vector turned = step.e * speed - step.f * from + step.scale * load_lanes(row + i);
    store_lanes<double>(x + i, here);
    store_lanes<double>(v + i, turned);
    const Vector there = arc.cosine * here + arc.sine * turned;
    const auto take = [&](const Vector& distance) __attribute__((always_inline)) {
      worst = distance < worst ? distance : worst;
    };
    const Vector lower = load_lanes(lower_bounds + i);
    const Vector near = arc.slack * lower;
    take((here < there ? here : there) - (near > lower ? near : lower));
    if constexpr (both) {
      const Vector upper = load_lanes(upper_bounds + i);
      const Vector beneath = arc.slack * upper;
      take((beneath < upper ? beneath : upper) - (here > there ? here : there));
    }
  }
  return sum_lanes<double, lane_count<double>>(worst) < 0;  // No lane is positive.
}

#else

template <bool both>
inline bool move_block(double* x, double* v, const double* row, const double* lower_bounds,
                       const double* upper_bounds, const FlightStep& step, const BoxArc& arc,
                       std::ptrdiff_t begin, std::ptrdiff_t end) {
  bool met = false;
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    const double here = step.a * x[i] + step.b * v[i];
    const double turned = step.e * v[i] - step.f * x[i] + step.scale * row[i];
    x[i] = here;
    v[i] = turned;
    const double there = arc.cosine * here + arc.sine * turned;
    met = met || std::min(here, there) < std::max(lower_bounds[i], arc.slack * lower_bounds[i]) ||
          std::max(here, there) > std::min(upper_bounds[i], arc.slack * upper_bounds[i]);
  }
  return met;
}

#endif

/// The state of one chain of flights in the box lower <= x <= upper under N(0, S). Both bounds of a
/// coordinate without a row in the planes are infinite.
///
/// On the path x cos t + v sin t, with tau = tan(t / 2), coordinate i reaches u where
///
///     (u + x) tau^2 - 2 v tau + (u - x) = 0,
///
/// and its first positive root is (u - x) / (v + D) or, the same number, (v - D) / (u + x), with
/// D^2 = v^2 - (u - x) (u + x), without an inverse trigonometric function per plane. For a lower
/// bound l, turn the signs of x, v, l. Flights end after at most a quarter turn, tau <= 1.
///
/// Few planes need the root: one pass moves all coordinates and tests whether each is outside at
/// the end of the shortest arc found so far; only where one may be, it compares times. Cost of a
/// bounce: that pass, about 0.25 ns per coordinate with AVX-512.
class BoxBall {
 public:
  BoxBall(const OrthantPlanes& planes, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
          const Eigen::VectorXd& start, double path_length, RandomEngine engine)
      : engine_(engine),
        lower_(Eigen::VectorXd::Constant(planes.stride, -std::numeric_limits<double>::infinity())),
        upper_(-lower_),
        x_(Eigen::VectorXd::Zero(planes.stride)),
        v_(x_),
        velocities_(planes, path_length, path_spread) {
    x_.head(planes.points) = start;
    lower_.head(planes.points) = lower;
    upper_.head(planes.points) = upper;
    both_ = upper.size() > 0 && upper.minCoeff() < std::numeric_limits<double>::infinity();
  }

  /// The position x, `stride` long, with zeros beyond the last point.
  [[nodiscard]] double* position() noexcept { return x_.data(); }

  /// Flies one trajectory with a fresh velocity.
  void fly(const OrthantPlanes& planes) { both_ ? fly_in<true>(planes) : fly_in<false>(planes); }

 private:
  template <bool both>
  void fly_in(const OrthantPlanes& planes) {
    double left = velocities_.take(planes, engine_, v_);
    FlightStep step;  // The identity, for the first search.
    const double* row = v_.data();
    second_ = -1;
    std::ptrdiff_t bounced = -1;
    double level = 0;
    while (true) {
      const double angle = std::min(left, std::numbers::pi / 2);
      const BoxArc arc = search<both>(planes, row, step, angle);
      if (bounced >= 0) x_[bounced] = level;  // Exactly on the plane.
      const bool ends = arc.hit < 0 && angle == left;
      step = {arc.cosine, arc.sine, arc.cosine, arc.sine, 0};
      if (ends) {
        combine(x_.data(), arc.cosine, x_.data(), arc.sine, v_.data(), planes.stride);
        break;
      }
      bounced = arc.hit;
      if (arc.hit < 0) {
        left -= angle;
        row = v_.data();
        continue;
      }
      left = std::max(0.0, left - 2 * std::atan(arc.tau));
      row = planes.row(arc.hit);
      level = arc.level;
      const double speed = arc.cosine * v_[arc.hit] - arc.sine * x_[arc.hit];
      step.scale = -2 * speed / planes.variance(arc.hit);
    }
    x_ = x_.cwiseMax(lower_).cwiseMin(upper_);  // Removes rounding.
  }

  /// Moves by the step and returns the arc to the first plane within `angle` after it.
  template <bool both>
  [[nodiscard]] BoxArc search(const OrthantPlanes& planes, const double* row,
                              const FlightStep& step, double angle) {
    BoxArc arc;
    if (angle < std::numbers::pi / 2) arc.set_tau(std::tan(angle / 2));
    if (second_ >= 0) {  // A plane that was close is a good first guess.
      const std::ptrdiff_t i = std::exchange(second_, -1);
      meet<both>(i, step.a * x_[i] + step.b * v_[i],
                 step.e * v_[i] - step.f * x_[i] + step.scale * row[i], arc);
    }
    const double* const lower = lower_.data();
    const double* const upper = upper_.data();
    for (std::ptrdiff_t begin = 0; begin < planes.stride; begin += box_block) {
      const std::ptrdiff_t end = std::min(begin + box_block, planes.stride);
      if (move_block<both>(x_.data(), v_.data(), row, lower, upper, step, arc, begin, end))
          [[unlikely]] {
        for (std::ptrdiff_t i = begin; i < end; ++i) meet<both>(i, x_[i], v_[i], arc);
      }
    }
    return arc;
  }

  /// Shortens the arc to a bound of coordinate i if the flight reaches that earlier.
  template <bool both>
  void meet(std::ptrdiff_t i, double x, double v, BoxArc& arc) {
    const auto try_bound = [&](double t, double level) {
      if (!(t < arc.tau)) return;
      second_ = arc.hit;
      arc.hit = i;
      arc.level = level;
      arc.set_tau(t);
    };
    const double there = arc.cosine * x + arc.sine * v;
    if (std::min(x, there) < std::max(lower_[i], arc.slack * lower_[i])) {
      try_bound(meeting_time(-x, -v, -lower_[i]), lower_[i]);
    }
    if constexpr (both) {
      if (std::max(x, there) > std::min(upper_[i], arc.slack * upper_[i])) {
        try_bound(meeting_time(x, v, upper_[i]), upper_[i]);
      }
    }
  }

  /// Returns tau where x reaches u from below; infinity: not within half a turn.
  [[nodiscard]] static double meeting_time(double x, double v, double u) {
    const double gap = std::max(0.0, u - x);
    const double sum = u + x;
    const double squared = v * v - gap * sum;
    if (!(squared > 0)) {
      return std::numeric_limits<double>::infinity();
    }
    const double root = std::sqrt(squared);
    if (v > 0) {
      return gap / (v + root);
    }
    return sum < 0 ? (v - root) / sum : std::numeric_limits<double>::infinity();
  }

  RandomEngine engine_;
  bool both_ = true;  ///< Whether some upper bound is finite.
  Eigen::VectorXd lower_;
  Eigen::VectorXd upper_;
  Eigen::VectorXd x_;
  Eigen::VectorXd v_;
  VelocityBlock velocities_;
  std::ptrdiff_t second_ = -1;  ///< Index of the second nearest plane of the last search.
};

}}}  // namespace bpm::detail
