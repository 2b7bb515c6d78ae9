// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The factor L D L' of the tridiagonal matrix t T + s I, t = 1 - s.
struct TridiagonalFactor {
  Eigen::VectorXd pivots;
  Eigen::VectorXd below;  ///< L's entries (k + 1, k); the last is 0.
  double log_determinant = 0;
};

/// The covariances S_s = (1 - s) S + s B between a correlation matrix S (s = 0) and B (s = 1), the
/// correlation of independent points, except for the first `given` ones, whose block is that of S.
/// With one tridiagonal form L^-1 S L^-T = Q T Q', B = L L', a factor, a determinant and quadratic
/// forms of S_s cost O(n) each at any s, where a Cholesky factor of S_s would cost n^3 / 6.
///
/// Cost: 4/3 n^3 multiply-adds once, and 2 n `given`^2. Memory: 3 n^2 doubles, 5 n^2 and given^2
/// while it is made.
class CovariancePath {
 public:
  explicit CovariancePath(const Eigen::MatrixXd& correlation, std::ptrdiff_t given = 0)
      : points_(correlation.rows()),
        given_(given),
        stride_(padded<double>(points_)),
        correlation_(correlation),
        basis_(correlation),
        diagonal_(Eigen::VectorXd::Ones(points_)),
        off_(Eigen::VectorXd::Zero(points_)) {
    Eigen::LLT<Eigen::MatrixXd> first;
    if (given_ > 0) {
      first.compute(correlation.topLeftCorner(given_, given_));
      first.matrixL().solveInPlace(basis_.topRows(given_));
      first.matrixU().solveInPlace<Eigen::OnTheRight>(basis_.leftCols(given_));
    }
    if (points_ > 1) {
      const Eigen::Tridiagonalization<Eigen::MatrixXd> form(basis_);
      diagonal_ = form.diagonal();
      off_.head(points_ - 1) = form.subDiagonal();
      // Eigen forms Q in place without a matrix product, so its bits do not depend on the number of
      // threads that the user's program gives Eigen.
      basis_ = form.packedMatrix();
      const Eigen::VectorXd coefficients = form.householderCoefficients();
      basis_ = Eigen::HouseholderSequence<Eigen::MatrixXd, Eigen::VectorXd>(basis_, coefficients)
                   .setLength(points_ - 1)
                   .setShift(1);
    }
    transposed_.setZero(points_, stride_);
    transposed_.leftCols(points_) = basis_.transpose();
    if (given_ > 0) {  // The products Q' L^-1 and L Q.
      first.matrixL().solveInPlace<Eigen::OnTheRight>(transposed_.leftCols(given_));
      constexpr Eigen::Index part = 64;
      for (Eigen::Index begin = 0; begin < points_; begin += part) {
        auto some = basis_.block(0, begin, given_, std::min(part, points_ - begin));
        some = (first.matrixL() * some).eval();
      }
    }
  }

  [[nodiscard]] std::ptrdiff_t points() const noexcept { return points_; }
  [[nodiscard]] std::ptrdiff_t stride() const noexcept { return stride_; }
  /// Number of points whose block of B is that of S; 0: B is the identity.
  [[nodiscard]] std::ptrdiff_t given() const noexcept { return given_; }

  /// Returns the number of eigenvalues of L^-1 S L^-T below x (Sylvester's law of inertia on T - x
  /// I); without given points, those of S. Cost: O(n).
  [[nodiscard]] std::ptrdiff_t eigenvalues_below(double x) const {
    std::ptrdiff_t count = 0;
    double pivot = 1;
    double coupling = 0;
    for (Eigen::Index k = 0; k < points_; ++k) {
      pivot = diagonal_[k] - x - coupling * coupling / pivot;
      if (pivot == 0) pivot = 1e-300;
      count += pivot < 0 ? 1 : 0;
      coupling = off_[k];
    }
    return count;
  }

  /// Returns the factor at s, with log det S_s - log det B. S_s must be positive definite.
  [[nodiscard]] TridiagonalFactor factor(double s) const {
    TridiagonalFactor result{Eigen::VectorXd(points_), Eigen::VectorXd(points_)};
    double carried = 0;
    for (Eigen::Index k = 0; k < points_; ++k) {
      const double pivot = (1 - s) * diagonal_[k] + s - carried;
      const double coupling = (1 - s) * off_[k];
      result.pivots[k] = pivot;
      result.below[k] = coupling / pivot;
      carried = coupling * result.below[k];
      result.log_determinant += std::log(pivot);
    }
    return result;
  }

  /// Sets the planes to those of S_s. Cost: O(n^2).
  void set_planes(double s, const TridiagonalFactor& factor, OrthantPlanes& planes) const {
    const Eigen::VectorXd root = factor.pivots.cwiseSqrt();
    const Eigen::VectorXd below = factor.below.cwiseProduct(root).head(points_ - 1);
    planes.rows.leftCols(points_) = (1 - s) * correlation_;
    planes.rows.topLeftCorner(given_, given_) = correlation_.topLeftCorner(given_, given_);
    planes.rows.diagonal().setOnes();
    planes.factor.leftCols(points_) = basis_ * root.asDiagonal();
    planes.factor.leftCols(points_ - 1) += basis_.rightCols(points_ - 1) * below.asDiagonal();
  }

  /// Returns Q' L^-1 d in columns for `count` vectors d, one every `stride` numbers. Cost: count
  /// n^2 multiply-adds.
  [[nodiscard]] RowMatrix<double> coordinates(const double* d, std::ptrdiff_t count) const {
    RowMatrix<double> result(points_, count);
    row_products<ProductTerm, double>(row_pointers(transposed_.data(), points_, stride_).data(),
                                      points_, row_pointers(d, count, stride_).data(), count,
                                      stride_, result.data(), count);
    return result;
  }

  /// Returns log d' S_s^{-1} d for vectors in these `coordinates`. Cost: O(n) each.
  [[nodiscard]] static Eigen::ArrayXd log_quadratic_forms(const TridiagonalFactor& factor,
                                                          const RowMatrix<double>& coordinates) {
    Eigen::ArrayXd z = Eigen::ArrayXd::Zero(coordinates.cols());
    Eigen::ArrayXd sums = z;
    double below = 0;
    for (Eigen::Index k = 0; k < coordinates.rows(); ++k) {
      z = coordinates.row(k).transpose().array() - below * z;
      sums += 1 / factor.pivots[k] * z * z;
      below = factor.below[k];
    }
    return sums.log();
  }

 private:
  std::ptrdiff_t points_;
  std::ptrdiff_t given_;
  std::ptrdiff_t stride_;
  RowMatrix<double> correlation_;
  Eigen::MatrixXd basis_;         ///< L Q.
  RowMatrix<double> transposed_;  ///< Q' L^-1, in padded rows.
  Eigen::VectorXd diagonal_;      ///< Diagonal of T.
  Eigen::VectorXd off_;
};

/// Estimate of the log probability of an orthant by stages between independence and S; with given
/// points, of the conditional probability given their signs.
struct OrthantStagesResult {
  double value = 0;
  double variance = 0;
  double freedom = 0;  ///< Degrees of freedom of the variance (Welch, Satterthwaite).
};

/// One covariance of the path, with the results of its draws.
struct OrthantStage {
  double s = 1;
  TridiagonalFactor factor;
  Eigen::VectorXd start;     ///< Last position of the pilot at this stage.
  std::vector<double> up;    ///< Log density ratio of the next stage to this one, per draw.
  std::vector<double> down;  ///< Log density ratio of the previous stage to this one, per draw.
};

class OrthantStages {
 public:
  OrthantStages(const CovariancePath& path, double path_length, const RunControl& control)
      : path_(path), path_length_(path_length), control_(control) {}

  [[nodiscard]] std::size_t size() const noexcept { return stages_.size(); }
  [[nodiscard]] std::uint64_t bounces() const noexcept { return bounces_; }
  [[nodiscard]] std::size_t draws() const noexcept { return draws_; }

  /// Chooses the stages: each next one is the farthest whose log density ratio to the last has a
  /// variance of at most `most_variance` over `count` draws. \throws Stopped.
  void choose(std::size_t count, std::size_t burn_in, double most_variance, RandomEngine engine) {
    OrthantPlanes planes(path_.points());
    OrthantBall ball(planes, path_length_, engine);
    RowMatrix<double> coordinates;
    for (double s = 1;;) {
      OrthantStage& stage = stages_.emplace_back();
      stage.s = s;
      stage.factor = path_.factor(s);
      path_.set_planes(s, stage.factor, planes);
      ball.forget_velocities();
      report("orthant pilot", 0, 0);
      for (std::size_t k = 0; !independent(s) && k < burn_in; ++k) ball.fly(planes);
      if (s > 0) coordinates = draw(stage, ball, planes, static_cast<std::ptrdiff_t>(count));
      stage.start = Eigen::VectorXd::Map(ball.position(), path_.stride());
      if (s == 0) {
        break;
      }
      s = next_s(s, [&](double to) {
        const Eigen::ArrayXd h = ratios(stage.factor, path_.factor(to), coordinates);
        const double squares = (h - h.mean()).square().sum();
        return !(squares / static_cast<double>(count - 1) <= most_variance);
      });
    }
    pilot_bounces_ = ball.bounces();
  }

  /// Makes draws at each stage until there are `count`. Each stage has its own stream, from `first`
  /// on, so that the result does not depend on the threads. \throws Stopped; the result is then
  /// that of earlier calls, and no call may follow.
  void measure(std::size_t count, std::size_t burn_in, const RandomStreams& streams,
               std::uint64_t first, unsigned threads) {
    const auto total = static_cast<std::ptrdiff_t>(stages_.size());
    std::vector<OrthantPlanes> planes(std::min<std::size_t>(threads, stages_.size()),
                                      OrthantPlanes(path_.points()));
    const bool fresh = balls_.empty();
    for (std::size_t k = 0; fresh && k < stages_.size(); ++k) {
      balls_.emplace_back(planes.front(), path_length_, streams.stream(first + k));
      std::copy(stages_[k].start.begin(), stages_[k].start.end(), balls_[k].position());
    }
    parallel_for(threads, total, [&](unsigned worker, std::ptrdiff_t i) {
      // The last stages bounce most, so they run first.
      const auto k = static_cast<std::size_t>(total - 1 - i);
      measure_stage(k, count, fresh ? burn_in : 0, balls_[k], planes[worker]);
    });
    bounces_ = pilot_bounces_;
    for (const OrthantBall& ball : balls_) bounces_ += ball.bounces();
    draws_ = count;
  }

  /// Returns the sum over steps of log E_k[e^(h/2)] - log E_(k+1)[e^(-h/2)], plus log 2^-n, n the
  /// number of points that are not given.
  [[nodiscard]] OrthantStagesResult result() const {
    OrthantStagesResult result;
    result.value = -static_cast<double>(path_.points() - path_.given()) * std::log(2.0);
    SumOfSpreads sum;
    Eigen::ArrayXd influence(draws_);
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      influence.setZero();
      if (k + 1 < stages_.size()) result.value += add_log_mean(stages_[k].up, 0.5, influence);
      if (k > 0) result.value += add_log_mean(stages_[k].down, -0.5, influence);
      sum.add(batch_variance({influence.data(), draws_}));
    }
    result.variance = sum.variance();
    result.freedom = sum.freedom();
    return result;
  }

 private:
  static constexpr std::size_t block = 32;  ///< Number of draws per product of coordinates.

  /// Returns whether the coordinates are independent at s.
  [[nodiscard]] bool independent(double s) const noexcept { return s == 1 && path_.given() == 0; }

  /// Returns h of each draw, given its coordinates: the log ratio of the directions' density at
  /// `to` to that at `from`, times the ratio of the probabilities. The integral over the radius
  /// leaves the quadratic form to the power -n/2.
  [[nodiscard]] Eigen::ArrayXd ratios(const TridiagonalFactor& from, const TridiagonalFactor& to,
                                      const RowMatrix<double>& coordinates) const {
    return 0.5 * (from.log_determinant - to.log_determinant) +
           0.5 * static_cast<double>(path_.points()) *
               (CovariancePath::log_quadratic_forms(from, coordinates) -
                CovariancePath::log_quadratic_forms(to, coordinates));
  }

  /// Returns the smallest s' in [0, s) that is not too far, to 1 % of s / s' or of 1 - s'.
  template <class TooFar>
  [[nodiscard]] static double next_s(double s, TooFar&& too_far) {
    if (!too_far(0.0)) {
      return 0;
    }
    double near = std::log(s);
    double far = near - 20;  // Eigenvalues are 1e-11 or more.
    for (int k = 0; k < 24; ++k) {
      const double middle = 0.5 * (near + far);
      (too_far(std::exp(middle)) ? far : near) = middle;
    }
    return std::exp(std::min(near, std::log(s) - 1e-6));
  }

  /// Returns the coordinates of the ball's next `count` draws at a stage.
  [[nodiscard]] RowMatrix<double> draw(const OrthantStage& stage, OrthantBall& ball,
                                       const OrthantPlanes& planes, std::ptrdiff_t count) const {
    Eigen::MatrixXd positions(path_.stride(), count);
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      if (independent(stage.s)) {
        ball.half_normals(planes);  // Exact independent draws.
      } else {
        ball.fly(planes);
      }
      positions.col(j) = Eigen::VectorXd::Map(ball.position(), path_.stride());
    }
    return path_.coordinates(positions.data(), count);
  }

  void measure_stage(std::size_t k, std::size_t count, std::size_t burn_in, OrthantBall& ball,
                     OrthantPlanes& planes) {
    OrthantStage& stage = stages_[k];
    path_.set_planes(stage.s, stage.factor, planes);
    for (std::size_t j = 0; !independent(stage.s) && j < burn_in; ++j) ball.fly(planes);
    for (std::size_t done = draws_; done < count;) {
      const std::size_t few = std::min(block, count - done);
      const auto coordinates = draw(stage, ball, planes, static_cast<std::ptrdiff_t>(few));
      const auto add = [&](const OrthantStage& other, std::vector<double>& all) {
        const Eigen::ArrayXd h = ratios(stage.factor, other.factor, coordinates);
        all.insert(all.end(), h.begin(), h.end());
      };
      if (k + 1 < stages_.size()) add(stages_[k + 1], stage.up);
      if (k > 0) add(stages_[k - 1], stage.down);
      done += few;
      report("orthant stages", few, count * stages_.size());
    }
  }

  /// Returns +- log mean e^(|part| ratio) of the draws, with the sign of `part`, and adds its
  /// influence values.
  static double add_log_mean(const std::vector<double>& ratios, double part,
                             Eigen::ArrayXd& influence) {
    const Eigen::ArrayXd h = std::abs(part) * Eigen::ArrayXd::Map(ratios.data(), influence.size());
    const double largest = h.maxCoeff();
    const Eigen::ArrayXd weights = (h - largest).exp();
    const double sign = part > 0 ? 1 : -1;
    influence += sign / weights.mean() * weights;
    return sign * (largest + std::log(weights.mean()));
  }

  void report(const char* stage, std::uint64_t draws, std::uint64_t total) {
    const std::scoped_lock lock(mutex_);
    reported_ += draws;
    const double fraction =
        total > 0 ? std::min(1.0, static_cast<double>(reported_) / static_cast<double>(total))
                  : 0.0;
    ensure<Stopped>(
        control_.go_on(
            {.stage = stage, .fraction = fraction, .draws = reported_, .draws_total = total}),
        "orthant_probability: stopped before it had an estimate");
  }

  const CovariancePath& path_;
  double path_length_;
  const RunControl& control_;
  std::vector<OrthantStage> stages_;
  std::vector<OrthantBall> balls_;
  std::size_t draws_ = 0;
  std::uint64_t pilot_bounces_ = 0;
  std::uint64_t bounces_ = 0;
  std::uint64_t reported_ = 0;
  std::mutex mutex_;
};

}}}  // namespace bpm::detail
