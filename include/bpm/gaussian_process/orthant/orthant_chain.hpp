// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/gaussian_process/orthant/dense_planes.hpp"
#include "bpm/gaussian_process/orthant/orthant_ball.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm::detail {

/// The law of values Upsilon ~ N(0, K) given their signs, y_i Upsilon_i > 0 for all i, prepared for
/// chains: "Kernel interpolation as a Bayes point machine" calls it Q_GP. Immutable; copies share
/// what they hold, and any number of chains on any threads may use one.
///
/// Cost: n^3 / 6 multiply-adds for the Cholesky factor. Memory: 2 n^2 doubles.
class OrthantLaw {
 public:
  /// \throws std::invalid_argument unless the covariance is square, not empty, finite, symmetric
  ///         and positive on its diagonal, and the signs are 1 or -1, one per row;
  ///         NotPositiveDefinite where the covariance is singular or indefinite.
  OrthantLaw(const Eigen::MatrixXd& covariance, std::span<const signed char> signs,
             std::string_view function = "OrthantLaw")
      : signs_(signs.begin(), signs.end()) {
    check_covariance(function, covariance);
    check_signs(function, signs, covariance.rows(), "one per row of the covariance");
    planes_ = std::make_shared<const OrthantPlanes>(dense_planes(function, covariance, signs));
  }

  /// The same for the training outputs of a version space: K + diag(lambda) and its labels.
  template <VersionSpace Space>
  explicit OrthantLaw(const Space& space)
      : OrthantLaw(sampling_covariance(space), labels_of(space)) {}

  /// n.
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return planes_->points; }
  [[nodiscard]] std::span<const signed char> signs() const noexcept { return signs_; }
  [[nodiscard]] const OrthantPlanes& planes() const noexcept { return *planes_; }

 private:
  std::vector<signed char> signs_;
  std::shared_ptr<const OrthantPlanes> planes_;
};

/// An exact sampler of an `OrthantLaw` in the space of values, by flights with reflections (A.
/// Pakman, L. Paninski, "Exact Hamiltonian Monte Carlo for truncated multivariate Gaussians", J.
/// Comput. Graph. Stat. 23(2), 2014).
///
/// The state is d_i = y_i Upsilon_i > 0. A trajectory takes a fresh velocity nu = y * (L z), z
/// normal, K = L L', independent of d and of the same covariance. The flight d cos t + nu sin t
/// keeps that joint law; it meets plane i at t_i = atan2(d_i, -nu_i) in (0, pi), so that the first
/// is the one of the largest -nu_i / d_i, and is reflected there by
///
///     nu <- nu - 2 (nu_c / K_cc) y_c y * K_c. ,
///
/// which keeps nu' K^{-1} nu. After the path length the next trajectory begins. There is no
/// accepting and no step size, and no error but that of starting somewhere: draws after a few
/// trajectories have the law, and successive ones are nearly independent.
///
/// Cost of a trajectory: n^2 multiply-adds for the velocity (made for 16 trajectories at once, as a
/// matrix product) and O(n) per bounce, together about 0.4 us per bounce at n = 1000 with AVX-512;
/// kernel matrices of digits take 0.4 to 0.7 n bounces. A value: copies go on in the same way, to
/// the bit.
class OrthantChain {
 public:
  /// From independent half normals of variances K_ii. `path_length` is the mean of a trajectory's
  /// in radians; each has its own, uniform within a half of the mean.
  /// \throws std::invalid_argument unless the path length is positive and at most 100.
  OrthantChain(OrthantLaw law, double path_length, RandomEngine engine)
      : law_(std::move(law)),
        ball_(law_.planes(), checked_path_length(path_length, "OrthantChain"), engine) {
    ball_.half_normals(law_.planes());
  }
  /// From values inside the orthant.
  /// \throws std::invalid_argument also unless there is a finite
  /// value of the right sign per point.
  OrthantChain(OrthantLaw law, double path_length, RandomEngine engine,
               std::span<const double> start)
      : law_(std::move(law)),
        ball_(law_.planes(), checked_path_length(path_length, "OrthantChain"), engine) {
    check_size("OrthantChain", "start", start.size(), points(), "one value per point");
    for (std::size_t i = 0; i < start.size(); ++i) {
      const double d = law_.signs()[i] * start[i];
      check(std::isfinite(d) && d > 0, "OrthantChain", "start", "at ", i, " is ", start[i],
            ", must be finite and of sign ", int{law_.signs()[i]});
      ball_.position()[i] = d;
    }
  }

  /// n.
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return law_.points(); }

  /// Flies one trajectory and writes where it ends: n values Upsilon_i, in the orthant.
  void next(double* values) {
    ball_.fly(law_.planes());
    current(values);
  }

  /// Flies `trajectories` trajectories: a burn-in.
  void skip(std::uint64_t trajectories) {
    for (; trajectories > 0; --trajectories) ball_.fly(law_.planes());
  }

  /// Where the chain stands: n values.
  void current(double* values) const {
    for (std::ptrdiff_t i = 0; i < points(); ++i) {
      values[i] = law_.signs()[i] * ball_.position()[i];
    }
  }

  /// Reflections so far.
  [[nodiscard]] std::uint64_t bounces() const noexcept { return ball_.bounces(); }
  /// Labels that rounding had put on or behind their plane at the end of a trajectory.
  [[nodiscard]] std::uint64_t repairs() const noexcept { return ball_.repairs(); }

 private:
  OrthantLaw law_;
  OrthantBall<> ball_;
};

}  // namespace bpm::detail
