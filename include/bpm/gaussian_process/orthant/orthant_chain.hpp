// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/gaussian_process/orthant/covariance_checks.hpp"
#include "bpm/gaussian_process/orthant/dense_planes.hpp"
#include "bpm/gaussian_process/orthant/orthant_ball.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm {

/// The law of labels Upsilon ~ N(0, K) given their signs, y_i Upsilon_i > 0 for all i, prepared for
/// chains: "Kernel interpolation as a Bayes point machine" calls it Q_GP. Immutable; copies share
/// what they hold, and any number of chains on any threads may use one.
///
/// Cost: n^3 / 6 multiply-adds for the Cholesky factor. Memory: 2 n^2 doubles.
class OrthantLaw {
 public:
  /// \throws std::invalid_argument unless the covariance is square, not empty, finite, symmetric
  ///         and positive on its diagonal, and the signs are 1 or -1, one a row;
  ///         NotPositiveDefinite where the covariance is singular or indefinite.
  OrthantLaw(const Eigen::MatrixXd& covariance, std::span<const signed char> signs)
      : signs_(signs.begin(), signs.end()) {
    detail::check_covariance("OrthantLaw", covariance);
    detail::check_signs("OrthantLaw", signs, covariance.rows());
    planes_ = std::make_shared<const detail::OrthantPlanes>(
        detail::dense_planes("OrthantLaw", covariance, signs));
  }

  /// The same for the training outputs of a version space: K + diag(lambda) and its labels.
  template <VersionSpace Space>
  explicit OrthantLaw(const Space& space)
      : OrthantLaw(detail::sampling_covariance(space), detail::labels_of(space)) {}

  /// n.
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return planes_->points; }
  [[nodiscard]] std::span<const signed char> signs() const noexcept { return signs_; }
  [[nodiscard]] const detail::OrthantPlanes& planes() const noexcept { return *planes_; }

 private:
  std::vector<signed char> signs_;
  std::shared_ptr<const detail::OrthantPlanes> planes_;
};

struct OrthantChainSettings {
  /// Mean path length of a trajectory in radians; each has its own, uniform within a half of the
  /// mean. A quarter turn forgets the most for its cost: on a kernel matrix of 300 digits the same
  /// error costs 2.5 times as much at 0.5, 1.1 times at 1, 1.8 times at 2.5, and exponential
  /// lengths cost 1.8 times as much as uniform ones.
  double path_length = std::numbers::pi / 2;
};

/// An exact sampler of an `OrthantLaw` in label space, by flights with reflections (A. Pakman, L.
/// Paninski, "Exact Hamiltonian Monte Carlo for truncated multivariate Gaussians", J. Comput.
/// Graph. Stat. 23(2), 2014).
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
/// matrix product) and O(n) a bounce, together about 0.4 us a bounce at n = 1000 with AVX-512;
/// kernel matrices of digits take 0.4 to 0.7 n bounces. A value: copies go on in the same way, to
/// the bit.
class OrthantChain {
 public:
  /// From independent half normals of variances K_ii.
  /// \throws std::invalid_argument unless the path length is positive and at most 100.
  OrthantChain(OrthantLaw law, const OrthantChainSettings& settings, RandomEngine engine)
      : law_(std::move(law)), ball_(law_.planes(), checked(settings).path_length, engine) {
    ball_.half_normals(law_.planes());
  }
  /// From labels inside the orthant.
  /// \throws std::invalid_argument also unless there is a finite
  /// label of the right sign a point.
  OrthantChain(OrthantLaw law, const OrthantChainSettings& settings, RandomEngine engine,
               std::span<const double> start)
      : law_(std::move(law)), ball_(law_.planes(), checked(settings).path_length, engine) {
    detail::check_size("OrthantChain", "start", start.size(), points(), "one label a point");
    for (std::size_t i = 0; i < start.size(); ++i) {
      const double d = law_.signs()[i] * start[i];
      detail::check(std::isfinite(d) && d > 0, "OrthantChain", "start", "at ", i, " is ", start[i],
                    ", must be finite and of sign ", int{law_.signs()[i]});
      ball_.position()[i] = d;
    }
  }

  /// n.
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return law_.points(); }

  /// Flies one trajectory and writes where it ends: n labels Upsilon_i, in the orthant.
  void next(double* labels) {
    ball_.fly(law_.planes());
    current(labels);
  }

  /// Flies `trajectories` trajectories: a burn-in.
  void skip(std::uint64_t trajectories) {
    for (; trajectories > 0; --trajectories) ball_.fly(law_.planes());
  }

  /// Where the chain stands: n labels.
  void current(double* labels) const {
    for (std::ptrdiff_t i = 0; i < points(); ++i) {
      labels[i] = law_.signs().data()[i] * ball_.position()[i];
    }
  }

  /// Reflections so far.
  [[nodiscard]] std::uint64_t bounces() const noexcept { return ball_.bounces(); }
  /// Labels that rounding had put on or behind their plane at the end of a trajectory.
  [[nodiscard]] std::uint64_t repairs() const noexcept { return ball_.repairs(); }

 private:
  static const OrthantChainSettings& checked(const OrthantChainSettings& settings) {
    detail::check(settings.path_length > 0 && settings.path_length <= 100, "OrthantChain",
                  "path_length", "is ", settings.path_length,
                  ", must be positive and at most 100 radians");
    return settings;
  }

  OrthantLaw law_;
  detail::OrthantBall<> ball_;
};

}  // namespace bpm
