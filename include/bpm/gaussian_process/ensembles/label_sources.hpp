// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/core/random/ziggurat.hpp"

namespace bpm {

/// Draws of label vectors Upsilon in R^n for the training points, voter by voter: `fill(first,
/// labels, threads)` writes those of voters first, first + 1, ... to the columns of an n x count
/// matrix, in multiples of `unit()`, so that floats hold them whatever the scale of the kernel. It
/// is asked for all voters in order, each once, in blocks.
template <class S>
concept LabelSource =
    requires(S& source, std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> labels, unsigned threads) {
      { source.points() } -> std::convertible_to<Eigen::Index>;
      { source.unit() } -> std::convertible_to<double>;
      source.fill(first, labels, threads);
    };

/// log det(K)^(1/(2n)) of a Cholesky factor, in logarithms: the deviation of the isotropic
/// posterior's labels. `Factor` is an Eigen::LLT, or anything with `matrixLLT()`.
template <class Factor>
[[nodiscard]] double log_isotropic_deviation(const Factor& factor) {
  const auto& lower = factor.matrixLLT();
  detail::check(lower.rows() > 0, "log_isotropic_deviation", "factor", "is empty");
  double sum = 0;
  for (Eigen::Index i = 0; i < lower.rows(); ++i) sum += std::log(lower(i, i));
  return sum / static_cast<double>(lower.rows());
}

/// Labels of the isotropic posterior Q_iso ("Kernel interpolation as a Bayes point machine",
/// section 5): y_i times independent half normals of deviation det(K)^(1/(2n)).
class IsotropicLabels {
 public:
  /// Voter v uses stream (seed, streams.next + v). The caller's streams do not move on, since the
  /// number of voters is not known: give another source others.
  /// \throws std::invalid_argument without points, on signs other than 1 and -1, or unless the
  ///         deviation is positive and finite.
  IsotropicLabels(std::span<const signed char> signs, double deviation, RandomStreams streams)
      : signs_(signs.begin(), signs.end()), deviation_(deviation), streams_(streams) {
    const char* const f = "IsotropicLabels";
    detail::check(!signs.empty(), f, "signs", "are empty, expected one per training point");
    for (std::size_t i = 0; i < signs.size(); ++i) {
      detail::check(signs[i] == 1 || signs[i] == -1, f, "signs", "hold ", int{signs[i]},
                    " at point ", i, ", must be 1 or -1");
    }
    detail::check(deviation > 0 && std::isfinite(deviation), f, "deviation", "is ", deviation,
                  ", must be positive and finite");
  }

  [[nodiscard]] Eigen::Index points() const noexcept { return std::ssize(signs_); }
  /// The deviation.
  [[nodiscard]] double unit() const noexcept { return deviation_; }

  /// Cost: one normal number a label.
  void fill(std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> labels, unsigned /*threads*/) const {
    std::vector<double> normals(signs_.size());
    for (Eigen::Index v = 0; v < labels.cols(); ++v) {
      RandomEngine engine = streams_.stream(streams_.next + first + static_cast<std::uint64_t>(v));
      Ziggurat::instance().fill(normals.data(), std::ssize(normals), engine);
      for (Eigen::Index i = 0; i < points(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        labels(i, v) = static_cast<float>(signs_[k] * std::abs(normals[k]));
      }
    }
  }

 private:
  std::vector<signed char> signs_;
  double deviation_;
  RandomStreams streams_;
};

}  // namespace bpm
