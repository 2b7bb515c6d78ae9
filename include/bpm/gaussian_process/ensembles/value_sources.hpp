// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/core/random/ziggurat.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/orthant/orthant_ball.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Draws of values Upsilon in R^n for the training points, voter by voter: `fill(first,
/// values, threads)` writes those of voters first, first + 1, ... to the columns of an n x count
/// matrix, in multiples of `unit()`, so that floats hold them whatever the scale of the kernel. It
/// is asked for all voters in order, each once, in blocks.
template <class S>
concept ValueSource =
    requires(S& source, std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> values, unsigned threads) {
      { source.points() } -> std::convertible_to<Eigen::Index>;
      { source.unit() } -> std::convertible_to<double>;
      source.fill(first, values, threads);
    };

}  // namespace detail

/// Values of the isotropic posterior Q_iso ("Kernel interpolation as a Bayes point machine",
/// section 5): y_i times independent half normals of deviation det(K)^(1/(2n)).
class IsotropicValues {
 public:
  /// Voter v uses stream (seed, streams.next + v). The caller's streams do not move on, since the
  /// number of voters is not known: give another source others.
  /// \throws std::invalid_argument without points, on signs other than 1 and -1, or unless the
  ///         deviation is positive and finite.
  IsotropicValues(std::span<const signed char> signs, double deviation, RandomStreams streams)
      : signs_(detail::sign_vector(signs)), deviation_(deviation), streams_(streams) {
    const char* const f = "IsotropicValues";
    detail::check(!signs.empty(), f, "signs", "are empty, expected one per training point");
    detail::check_signs(f, signs, points(), "one per training point");
    detail::check_positive(f, "deviation", deviation);
  }

  /// The same with the posterior's own deviation, by a Cholesky factor of K.
  /// \throws std::invalid_argument also unless there is a factor, with a row a sign.
  IsotropicValues(const Eigen::LLT<Eigen::MatrixXd>& factor, std::span<const signed char> signs,
                  RandomStreams streams)
      : IsotropicValues(signs, deviation_of(factor, signs), streams) {}

  [[nodiscard]] Eigen::Index points() const noexcept { return signs_.size(); }
  /// The deviation.
  [[nodiscard]] double unit() const noexcept { return deviation_; }

  /// Cost: one normal number per value.
  void fill(std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> values, unsigned /*threads*/) const {
    Eigen::VectorXd normals(points());
    for (Eigen::Index v = 0; v < values.cols(); ++v) {
      RandomEngine engine = streams_.stream(streams_.next + first + static_cast<std::uint64_t>(v));
      detail::Ziggurat::instance().fill(normals.data(), points(), engine);
      values.col(v) = signs_.cwiseProduct(normals.cwiseAbs()).cast<float>();
    }
  }

 private:
  static double deviation_of(const Eigen::LLT<Eigen::MatrixXd>& factor,
                             std::span<const signed char> signs) {
    detail::check(factor.rows() > 0, "IsotropicValues", "factor", "is empty");
    detail::check_size("IsotropicValues", "signs", signs.size(), factor.rows(),
                       "one per training point");
    // By logarithms: the determinant would leave the range of a double.
    return std::exp(factor.matrixLLT().diagonal().array().log().mean());
  }

  Eigen::VectorXd signs_;
  double deviation_;
  RandomStreams streams_;
};

/// Values of the exact posterior Q_GP = N(0, K | sign Upsilon = Y) ("Kernel interpolation as a
/// Bayes point machine", section 4.1), by chains. Voters of a chain follow each other and are
/// slightly dependent, which makes no bias.
///
/// Cost per voter: a trajectory of flights with reflections, about 0.5 ms at n = 1000 on kernel
/// matrices of digits. Memory: 2 n^2 doubles, and about 20 n a chain.
class OrthantValues {
 public:
  struct Settings {
    /// Independent chains; voter v is of chain v mod chains. More of them use more threads.
    std::size_t chains = 8;
    std::uint64_t burn_in = 50;  ///< Trajectories of each chain before its first voter.
    /// Mean of a trajectory, in radians, one of which lies between two voters of a chain.
    double path_length = std::numbers::pi / 2;
  };

  /// Chain c uses stream (seed, streams.next + c); as for `IsotropicValues`, the caller's streams
  /// do not move on. Cost: n^3 / 6 multiply-adds for the Cholesky factor. Memory: 2 n^2 doubles.
  /// \throws std::invalid_argument unless the covariance is square, not empty, finite, symmetric
  ///         and positive on its diagonal, the signs are 1 or -1, one per row, chains >= 1, and the
  ///         path length is positive and at most 100; NotPositiveDefinite where the covariance is
  ///         singular or indefinite.
  OrthantValues(const Eigen::MatrixXd& covariance, std::span<const signed char> signs,
                const RandomStreams& streams)
      : OrthantValues(covariance, signs, streams, Settings{}) {}
  OrthantValues(const Eigen::MatrixXd& covariance, std::span<const signed char> signs,
                const RandomStreams& streams, const Settings& settings)
      : signs_(detail::sign_vector(signs)), burn_in_(settings.burn_in) {
    const char* const f = "OrthantValues";
    detail::check_covariance(f, covariance);
    detail::check_signs(f, signs, covariance.rows(), "one per row of the covariance");
    planes_ = detail::dense_planes(f, covariance, signs_);
    unit_ = std::sqrt(covariance.diagonal().maxCoeff());
    detail::check_at_least(f, "chains", settings.chains, 1);
    detail::check_path_length(f, settings.path_length);
    for (std::size_t c = 0; c < settings.chains; ++c) {
      chains_.emplace_back(planes_, settings.path_length, streams.stream(streams.next + c))
          .half_normals(planes_);
    }
  }

  [[nodiscard]] Eigen::Index points() const noexcept { return signs_.size(); }
  /// The largest prior deviation of a value.
  [[nodiscard]] double unit() const noexcept { return unit_; }

  /// \throws std::invalid_argument unless voters are asked for in order.
  void fill(std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> values, unsigned threads) {
    detail::check(first == next_, "OrthantValues::fill", "first", "is ", first,
                  ", must be the voter that follows, ", next_);
    detail::check_size("OrthantValues::fill", "values", values.rows(), points(),
                       "rows: one per training point");
    const auto count = static_cast<std::uint64_t>(values.cols());
    const auto chains = static_cast<std::uint64_t>(chains_.size());
    detail::parallel_for(threads, std::ssize(chains_), [&](unsigned, std::ptrdiff_t c) {
      detail::OrthantBall& ball = chains_[c];
      for (std::uint64_t k = 0; first == 0 && k < burn_in_; ++k) ball.fly(planes_);
      const auto own = static_cast<std::uint64_t>(c);
      // The first voter of this chain from `first` on.
      for (std::uint64_t v = first + (own + chains - first % chains) % chains; v < first + count;
           v += chains) {
        ball.fly(planes_);
        const auto d = Eigen::VectorXd::Map(ball.position(), points());
        values.col(static_cast<Eigen::Index>(v - first)) =
            (signs_.cwiseProduct(d) / unit_).cast<float>();
      }
    });
    next_ = first + count;
  }

  /// Reflections of all chains so far.
  [[nodiscard]] std::uint64_t bounces() const noexcept {
    std::uint64_t sum = 0;
    for (const detail::OrthantBall& ball : chains_) sum += ball.bounces();
    return sum;
  }

 private:
  Eigen::VectorXd signs_;
  std::uint64_t burn_in_;
  double unit_ = 0;
  std::uint64_t next_ = 0;
  detail::OrthantPlanes planes_{0};
  std::vector<detail::OrthantBall> chains_;
};

}}  // namespace bpm
