// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/core/random/ziggurat.hpp"

namespace bpm {

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
      : signs_(signs.begin(), signs.end()), deviation_(deviation), streams_(streams) {
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

  [[nodiscard]] Eigen::Index points() const noexcept { return std::ssize(signs_); }
  /// The deviation.
  [[nodiscard]] double unit() const noexcept { return deviation_; }

  /// Cost: one normal number per value.
  void fill(std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> values, unsigned /*threads*/) const {
    std::vector<double> normals(signs_.size());
    for (Eigen::Index v = 0; v < values.cols(); ++v) {
      RandomEngine engine = streams_.stream(streams_.next + first + static_cast<std::uint64_t>(v));
      detail::Ziggurat::instance().fill(normals.data(), std::ssize(normals), engine);
      for (Eigen::Index i = 0; i < points(); ++i) {
        values(i, v) = static_cast<float>(signs_[i] * std::abs(normals[i]));
      }
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

  std::vector<signed char> signs_;
  double deviation_;
  RandomStreams streams_;
};

}  // namespace bpm
