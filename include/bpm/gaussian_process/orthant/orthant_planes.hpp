// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/samplers/billiard/facet_search.hpp"
#include "bpm/version_space/version_space.hpp"

/// \file
/// Planes of an orthant under a covariance matrix, velocities of flights, and the flights in it.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Matrices of a flight in an orthant under N(0, S): the rows of S, which reflections add, and the
/// rows of any F with S = F F', which make velocities F z. Rows are padded with zeros to whole
/// registers.
struct OrthantPlanes {
  explicit OrthantPlanes(std::ptrdiff_t n) : OrthantPlanes(n, n, n) {}

  /// Allocates rows of S for the `bounded` coordinates that have a plane, and an F of `latent`
  /// columns.
  OrthantPlanes(std::ptrdiff_t n, std::ptrdiff_t bounded, std::ptrdiff_t latent)
      : points(n),
        stride(padded<double>(n)),
        latent_points(latent),
        latent_stride(padded<double>(latent)),
        rows(RowMatrix<double>::Zero(bounded, stride)),
        factor(RowMatrix<double>::Zero(n, latent_stride)) {}

  [[nodiscard]] const double* row(std::ptrdiff_t i) const noexcept { return &rows(i, 0); }
  [[nodiscard]] double variance(std::ptrdiff_t i) const noexcept { return rows(i, i); }

  /// Computes velocities = F z for `count` vectors z, one every `latent_stride` numbers, and writes
  /// one every `stride` numbers, without their padding. Cost: count n^2 multiply-adds, half of it
  /// where F is triangular; each velocity has the same bits in any block.
  void make_velocities(const double* z, std::ptrdiff_t count, double* velocities) const {
    const auto vectors = row_pointers(z, count, latent_stride);
    const auto factors = row_pointers(factor.data(), points, latent_stride);
    const std::ptrdiff_t step = triangular ? std::ptrdiff_t{8} * tile_cols : points;
    for (std::ptrdiff_t i = 0; i < points; i += step) {
      const std::ptrdiff_t end = std::min(i + step, points);
      row_products<ProductTerm, double>(vectors.data(), count, factors.data() + i, end - i,
                                        triangular ? padded<double>(end) : latent_stride,
                                        velocities + i, stride);
    }
  }

  std::ptrdiff_t points;
  std::ptrdiff_t stride;
  std::ptrdiff_t latent_points;  ///< Number of columns of F.
  std::ptrdiff_t latent_stride;
  RowMatrix<double> rows;
  RowMatrix<double> factor;
  bool triangular = false;  ///< F has zeros above its diagonal.
};

/// Throws unless the matrix is square, not empty, finite, symmetric to 1e-8 of the diagonal,
/// and positive on its diagonal. Cost: one pass.
inline void check_covariance(std::string_view function, const Eigen::MatrixXd& covariance) {
  const char* const name = "covariance";
  const Eigen::Index n = covariance.rows();
  check(n > 0, function, name, "is empty, must have one row and one column per point");
  check(covariance.cols() == n, function, name, "is ", n, " x ", covariance.cols(),
        ", must be square");
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = 0; i < n; ++i) {
      check(std::isfinite(covariance(i, j)), function, name, "at (", i, ", ", j, ") is ",
            covariance(i, j), ", must be finite");
    }
    check(covariance(j, j) > 0, function, name, "at (", j, ", ", j, ") is ", covariance(j, j),
          ", must be positive");
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = 0; i < j; ++i) {
      const double tolerance = 1e-8 * std::sqrt(covariance(i, i)) * std::sqrt(covariance(j, j));
      check(std::abs(covariance(i, j) - covariance(j, i)) <= tolerance, function, name, "at (", i,
            ", ", j, ") is ", covariance(i, j), " but at (", j, ", ", i, ") ", covariance(j, i),
            ": must be symmetric");
    }
  }
}

/// Throws unless a mean path length is positive and at most 100 radians.
inline void check_path_length(std::string_view function, double path_length) {
  check(path_length > 0 && path_length <= 100, function, "path_length", "is ", path_length,
        ", must be positive and at most 100 radians");
}

/// Returns the planes of N(0, K) with signs: rows y_i y_j K_ij, velocities y * (L z), K = L L' by
/// Cholesky. Cost: n^3 / 6 multiply-adds. \throws NotPositiveDefinite where L has no digits left:
/// some L_ii^2 below 1e-12 K_ii.
[[nodiscard]] inline OrthantPlanes dense_planes(std::string_view function,
                                                const Eigen::MatrixXd& covariance,
                                                const Eigen::VectorXd& signs) {
  const Eigen::Index n = covariance.rows();
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
  const Eigen::MatrixXd& packed = cholesky.matrixLLT();
  const auto check_factor = [&](bool holds, const auto&... why) {
    ensure<NotPositiveDefinite>(holds, function,
                                ": covariance is not positive definite to rounding (", why...,
                                "); add to its diagonal");
  };
  check_factor(cholesky.info() == Eigen::Success, "it has no Cholesky factor");
  for (Eigen::Index i = 0; i < n; ++i) {
    check_factor(packed(i, i) * packed(i, i) >= 1e-12 * covariance(i, i), "row ", i,
                 " depends on those before it");
  }
  OrthantPlanes planes(n);
  planes.rows.leftCols(n) = signs.asDiagonal() * covariance * signs.asDiagonal();
  planes.factor.leftCols(n).triangularView<Eigen::Lower>() = signs.asDiagonal() * packed;
  planes.triangular = true;
  return planes;
}

/// Returns the signs of labels as doubles.
[[nodiscard]] inline Eigen::VectorXd sign_vector(std::span<const signed char> signs) {
  using Signs = Eigen::Matrix<signed char, Eigen::Dynamic, 1>;
  return Signs::Map(signs.data(), std::ssize(signs)).cast<double>();
}

/// Returns K + diag(lambda) of a version space, in double. Cost: n rows of kernel values.
template <VersionSpace Space>
[[nodiscard]] Eigen::MatrixXd sampling_covariance(const Space& space) {
  const auto n = static_cast<Eigen::Index>(space.size());
  Eigen::MatrixXd covariance(n, n);
  BlockScratch<typename Space::Scalar> scratch;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = space.row(i, scratch);
    for (Eigen::Index j = 0; j < n; ++j) covariance(i, j) = static_cast<double>(row[j]);
    covariance(i, i) = static_cast<double>(space.diagonal(i));
  }
  return covariance;
}

/// Velocities F z of flights with their path lengths, 16 at a time as one matrix product. A value.
class VelocityBlock {
 public:
  /// Path lengths are uniform within `spread` times their mean on either side of it.
  VelocityBlock(const OrthantPlanes& planes, double path_length, double spread)
      : path_length_(path_length),
        spread_(spread),
        velocities_(Eigen::MatrixXd::Zero(planes.stride, count)) {}

  /// Discards the remaining velocities, for use after the planes have changed.
  void forget() noexcept { left_ = 0; }

  /// Sets v to the next velocity, and returns its path length.
  double take(const OrthantPlanes& planes, RandomEngine& engine, Eigen::VectorXd& v) {
    if (left_ == 0) {
      Eigen::MatrixXd z = Eigen::MatrixXd::Zero(planes.latent_stride, count);
      for (std::ptrdiff_t k = 0; k < count; ++k) {
        Ziggurat::instance().fill(z.col(k).data(), planes.latent_points, engine);
        paths_[k] = path_length_ * (1 - spread_ + 2 * spread_ * uniform_unit(engine));
      }
      planes.make_velocities(z.data(), count, velocities_.data());
      left_ = count;
    }
    const std::ptrdiff_t k = count - left_--;
    v = velocities_.col(k);
    return paths_[k];
  }

 private:
  static constexpr std::ptrdiff_t count = 16;

  double path_length_;
  double spread_;
  Eigen::MatrixXd velocities_;
  double paths_[count] = {};
  std::ptrdiff_t left_ = 0;
};

/// An exact sampler of values Upsilon ~ N(0, K) given their signs y ("Kernel interpolation as a
/// Bayes point machine" calls this law Q_GP), by flights with reflections (A. Pakman, L. Paninski,
/// "Exact Hamiltonian Monte Carlo for truncated multivariate Gaussians", J. Comput. Graph. Stat.
/// 23(2), 2014).
///
/// The state is d_i = y_i Upsilon_i > 0, in the positive orthant under N(0, S), S_ij = y_i y_j
/// K_ij. A trajectory draws a fresh velocity nu = F z, z normal, S = F F', independent of d and of
/// the same covariance. The flight d cos t + nu sin t preserves that joint law; it reaches plane i
/// at t_i = atan2(d_i, -nu_i) in (0, pi), first the plane of the largest -nu_i / d_i, which
/// reflects it by
///
///     nu <- nu - 2 (nu_c / S_cc) S_c. ,
///
/// which preserves nu' S^{-1} nu. After the path length, uniform in (1 +- `spread`) times its mean,
/// the next trajectory begins. There is no acceptance step and no step size, and the only error is
/// that of the start: draws after a few trajectories have the law, and successive ones are nearly
/// independent.
///
/// Cost of a trajectory: n^2 multiply-adds for the velocity (16 trajectories at once, as a matrix
/// product) and O(n) per bounce, together about 0.4 us per bounce at n = 1000 with AVX-512; kernel
/// matrices of digits take 0.4 to 0.7 n bounces. A value: a copy continues with the same bits. Each
/// call takes the planes as an argument.
class OrthantBall {
 public:
  OrthantBall(const OrthantPlanes& planes, double path_length, RandomEngine engine,
              double spread = 0.5)
      : engine_(engine),
        d_(Eigen::VectorXd::Zero(planes.stride)),
        nu_(d_),
        velocities_(planes, path_length, spread) {}

  /// The position, signed outputs d_i > 0, `stride` long with zeros beyond the last point.
  [[nodiscard]] double* position() noexcept { return d_.data(); }
  [[nodiscard]] std::uint64_t bounces() const noexcept { return bounces_; }

  /// Discards prepared velocities, for use after the planes have changed.
  void forget_velocities() noexcept { velocities_.forget(); }

  /// Sets d to independent half normals: a start, and exact draws where S is diagonal.
  void half_normals(const OrthantPlanes& planes) {
    Ziggurat::instance().fill(d_.data(), planes.points, engine_);
    for (std::ptrdiff_t i = 0; i < planes.points; ++i) {
      d_[i] = std::abs(d_[i]) * std::sqrt(planes.variance(i));
    }
    keep_inside(planes);
  }

  /// Flies one trajectory with a fresh velocity.
  void fly(const OrthantPlanes& planes) {
    clock_.restart(velocities_.take(planes, engine_, nu_));
    Facet facet = fly_and_search(d_.data(), nu_.data(), nu_.data(), {}, planes.stride);
    while (true) {
      FacetArc arc = arc_to(facet);
      if (!(arc.speed > 0)) {
        break;  // The ball is in a corner and has no velocity.
      }
      if (clock_.reaches_stop(arc.cosine, arc.sine)) {
        combine(d_.data(), arc.cosine, d_.data(), arc.sine, nu_.data(), planes.stride);
        break;
      }
      clock_.turn(arc.cosine, arc.sine);
      fly_and_bounce(d_.data(), nu_.data(), planes.row(facet.index), arc, facet, planes.stride);
      ++bounces_;
    }
    keep_inside(planes);
  }

 private:
  /// Moves the ball just before each plane that rounding has made it reach or cross.
  void keep_inside(const OrthantPlanes& planes) {
    for (std::ptrdiff_t i = 0; i < planes.points; ++i) {
      if (!(d_[i] > 0)) [[unlikely]]
        d_[i] = 1e-15 * std::sqrt(planes.variance(i));
    }
  }

  RandomEngine engine_;
  Eigen::VectorXd d_;
  Eigen::VectorXd nu_;
  VelocityBlock velocities_;
  FlightClock clock_;
  std::uint64_t bounces_ = 0;
};

}}}  // namespace bpm::detail
