// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Kernels of vectors of numbers: linear, polynomial, arc-cosine, Gaussian, Laplacian, exponential;
/// and the median distance, a scale for their widths.

namespace bpm { inline namespace BPM_TARGET {

/// The linear kernel k(x, x') = <x, x'>. Its classifiers pass through the origin;
/// `biased(Linear{})` adds a constant feature.
struct Linear : detail::CalledOnPairs<Linear> {
  /// Returns xz itself, a block of <x, x'>: see `InnerProductKernel`.
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& /*xx*/,
                                          const Array& /*zz*/) const {
    return xz;
  }
};

/// The polynomial kernel k(x, x') = (scale <x, x'> + offset)^degree.
///
/// The default is the kernel of "Large Scale Bayes Point Machines", (5): degree 5, scale 1, offset
/// 1. Powers are computed by repeated multiplication, without pow(): the same bits everywhere.
class Polynomial : public detail::CalledOnPairs<Polynomial> {
 public:
  /// \throws std::invalid_argument unless 1 <= degree <= 64, scale > 0 and offset >= 0 (a negative
  ///         offset is not positive semi-definite), both finite.
  explicit Polynomial(int degree = 5, double scale = 1, double offset = 1)
      : degree_(degree), scale_(scale), offset_(offset) {
    detail::check(degree >= 1 && degree <= 64, "Polynomial", "degree", "is ", degree,
                  ", must be 1 to 64");
    detail::check_positive("Polynomial", "scale", scale);
    detail::check_not_negative("Polynomial", "offset", offset);
  }

  [[nodiscard]] int degree() const noexcept { return degree_; }   ///< Power, from 1 to 64.
  [[nodiscard]] double scale() const noexcept { return scale_; }  ///< Factor of <x, x'>.
  /// Constant added before taking the power.
  [[nodiscard]] double offset() const noexcept { return offset_; }

  /// Returns powers of a block of <x, x'>: see `InnerProductKernel`.
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& /*xx*/,
                                          const Array& /*zz*/) const {
    using Scalar = typename Array::Scalar;
    Array base = xz * static_cast<Scalar>(scale_) + static_cast<Scalar>(offset_);
    // Binary powering from the lowest bit; the first factor is copied, not multiplied by one.
    int rest = degree_;
    while (rest % 2 == 0) {
      base *= base;
      rest /= 2;
    }
    Array power = base;
    for (rest /= 2; rest > 0; rest /= 2) {
      base *= base;
      if (rest % 2 == 1) {
        power *= base;
      }
    }
    return power;
  }

 private:
  int degree_;
  double scale_;
  double offset_;
};

/// The arc-cosine kernel of a network with L layers of rectified linear units in the limit of
/// infinite width: k(x, x') = h o ... o h (L - 1 times) of the cosine t = <x, x'> / (|x| |x'|),
/// with
///
///     h(t) = (sqrt(1 - t^2) + t (pi - arccos t)) / pi,
///
/// as in "Kernel interpolation as a Bayes point machine" (there the inputs are scaled to
/// norm^2 = d, which is the same) after Y. Cho, L. Saul, "Kernel methods for deep learning",
/// NIPS 22, 2009. Depth 1 is the cosine itself; k(x, x) = 1 to rounding, at any depth.
/// Kernel values of an input of norm zero are not finite; their use is an error.
class ArcCosine : public detail::CalledOnPairs<ArcCosine> {
 public:
  /// \throws std::invalid_argument unless depth is from 1 to 1000: beyond, all inputs are alike.
  explicit ArcCosine(int depth = 2) : depth_(depth) {
    detail::check(depth >= 1 && depth <= 1000, "ArcCosine", "depth", "is ", depth,
                  ", must be from 1 to 1000");
  }

  [[nodiscard]] int depth() const noexcept { return depth_; }  ///< Number of layers L.

  /// Computes values from blocks of <x, x'>, <x, x> and <x', x'>: see `InnerProductKernel`.
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    using Scalar = typename Array::Scalar;
    constexpr auto pi = std::numbers::pi_v<Scalar>;
    // Two roots: the product of two squared norms leaves the range of float for inputs that do not.
    Array t = xz / (xx.sqrt() * zz.sqrt());
    for (int layer = 1; layer < depth_; ++layer) {
      // NaN (a zero norm) must survive the clamp, so comparisons select instead of min and max.
      t = (t > Scalar{1}).select(Scalar{1}, (t < Scalar{-1}).select(Scalar{-1}, t)).eval();
      t = (((Scalar{1} - t) * (Scalar{1} + t)).sqrt() + t * (pi - t.acos())) / pi;
    }
    return t;
  }

 private:
  int depth_;
};

/// The median of |x_i - x_j| over pairs i < j, a scale for the width of a kernel. Up to 64 inputs
/// over all pairs; beyond over 2 000 random pairs by the seed, with a standard error of some 3 % of
/// their standard deviation. Where the median is 0, since most inputs are equal, the median of the
/// distances above 0; 0 if there are none. Cost: 2 000 distances. \throws std::invalid_argument on
/// fewer than two inputs, or numbers that are not finite.
template <class I>
  requires DenseInputs<I> || SparseInputs<I>
[[nodiscard]] double median_distance(const I& inputs, std::uint64_t seed = 1) {
  const char* const f = "median_distance";
  detail::check(inputs.rows() >= 2, f, "inputs", "has ", inputs.rows(), " rows, must be 2 or more");
  detail::check_inputs(inputs, f);
  std::vector<double> distances;
  const auto add = [&](Eigen::Index i, Eigen::Index j) {
    if constexpr (SparseInputs<I>) {
      using Row = Eigen::SparseVector<double, Eigen::RowMajor>;
      const Row a = inputs.row(i).template cast<double>();
      const Row b = inputs.row(j).template cast<double>();
      distances.push_back((a - b).norm());
    } else {
      distances.push_back(
          (inputs.row(i).template cast<double>() - inputs.row(j).template cast<double>()).norm());
    }
  };
  if (inputs.rows() <= 64) {
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      for (Eigen::Index j = 0; j < i; ++j) add(i, j);
    }
  } else {
    RandomEngine engine(seed);
    const auto count = static_cast<std::uint32_t>(inputs.rows());
    while (distances.size() < 2000) {
      const std::uint32_t i = uniform_below(engine, count);
      const std::uint32_t j = uniform_below(engine, count);
      if (i != j) add(i, j);
    }
  }
  const auto median = [&] {
    const auto middle = distances.begin() + std::ssize(distances) / 2;
    std::nth_element(distances.begin(), middle, distances.end());
    return *middle;
  };
  const double of_all = median();
  if (of_all > 0) return of_all;
  std::erase(distances, 0.0);
  return distances.empty() ? 0 : median();
}

namespace detail {

/// x - x'|^2 from inner products; values that rounding takes below zero become zero.
template <class Array>
[[nodiscard]] Array squared_distances(const Array& xz, const Array& xx, const Array& zz) {
  using Scalar = typename Array::Scalar;
  return ((xx + zz) - Scalar{2} * xz).max(Scalar{0});
}

/// Returns exp(factor v) of the values v, or, given the squared norms, of the squared distances.
template <class Array>
[[nodiscard]] Array exponentials(typename Array::Scalar factor, const Array& values,
                                 const Array* xx = nullptr, const Array* zz = nullptr) {
#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
  if constexpr (std::same_as<typename Array::Scalar, float> && Array::SizeAtCompileTime % 16 == 0) {
    if (machine_fuses()) {
      Array out;
      const auto compute =
          __builtin_cpu_supports("avx512f") ? exponentials_avx512 : exponentials_avx2;
      compute(out.data(), factor, values.data(), xx != nullptr ? xx->data() : nullptr,
              xx != nullptr ? zz->data() : nullptr, out.size());
      return out;
    }
  }
#endif
  if (xx == nullptr) return (factor * values).exp();
  return (factor * squared_distances(values, *xx, *zz)).exp();
}

}  // namespace detail

/// The Gaussian (RBF) kernel k(x, x') = exp(-gamma |x - x'|^2).
///
/// Two conventions for a width are in use, so each constructor is named after its parameter:
///  - `from_sigma(s)`: exp(-|x - x'|^2 / (2 s^2)), s the standard deviation of a normal density;
///  - `from_width(w)`: exp(-|x - x'|^2 / w^2), the convention of "Robust Bayes Point Machines";
///  - `from_gamma(g)`: exp(-g |x - x'|^2), the convention of LIBSVM.
/// All throw std::invalid_argument unless the parameter is positive and finite.
///
/// The distance is computed from inner products, |x|^2 + |x'|^2 - 2 <x, x'>, with an error of the
/// rounding of |x|^2: centre inputs that are far from the origin compared with their spread (years,
/// kelvins), or give them in double.
class Gaussian : public detail::CalledOnPairs<Gaussian> {
 public:
  /// exp(-|x - x'|^2 / (2 sigma^2)).
  [[nodiscard]] static Gaussian from_sigma(double sigma) {
    detail::check_positive("Gaussian::from_sigma", "sigma", sigma);
    return Gaussian(0.5 / (sigma * sigma));
  }
  /// exp(-|x - x'|^2 / width^2).
  [[nodiscard]] static Gaussian from_width(double width) {
    detail::check_positive("Gaussian::from_width", "width", width);
    return Gaussian(1 / (width * width));
  }
  /// exp(-gamma |x - x'|^2).
  [[nodiscard]] static Gaussian from_gamma(double gamma) {
    detail::check_positive("Gaussian::from_gamma", "gamma", gamma);
    return Gaussian(gamma);
  }

  /// The width is `factor` times the median distance of the inputs. \throws std::invalid_argument
  /// if the width is 0, or `median_distance` throws.
  template <class I>
  [[nodiscard]] static Gaussian from_median(const I& inputs, double factor = 1) {
    return from_width(factor * median_distance(inputs));
  }

  static constexpr bool translation_invariant() { return true; }  ///< See `InnerProductKernel`.
  /// The factor g in exp(-g |x - x'|^2).
  [[nodiscard]] double gamma() const noexcept { return gamma_; }

  /// Computes values from blocks of <x, x'>, <x, x> and <x', x'>: see `InnerProductKernel`.
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    using Scalar = typename Array::Scalar;
    return detail::exponentials<Array>(static_cast<Scalar>(-gamma_), xz, &xx, &zz);
  }

 private:
  explicit Gaussian(double gamma) : gamma_(gamma) {
    detail::check_positive("Gaussian", "gamma, from the width given,", gamma);
  }

  double gamma_;
};

/// The Laplacian kernel k(x, x') = exp(-|x - x'|_1 / sigma), of the Manhattan distance.
class Laplacian {
 public:
  /// \throws std::invalid_argument unless sigma is positive and finite.
  explicit Laplacian(double sigma) : sigma_(sigma) {
    detail::check_positive("Laplacian", "sigma", sigma);
  }

  [[nodiscard]] double sigma() const noexcept { return sigma_; }  ///< In units of the inputs.

  /// Computes values from a block of distances |x - x'|_1: see `ManhattanKernel`.
  template <class Array>
  [[nodiscard]] Array from_manhattan_distances(const Array& distance) const {
    using Scalar = typename Array::Scalar;
    return detail::exponentials<Array>(static_cast<Scalar>(-1 / sigma_), distance);
  }

  /// Returns the value of one pair, in the precision of the inputs; in double for integers.
  template <detail::EigenVector X, detail::EigenVector Z>
  [[nodiscard]] auto operator()(const X& x, const Z& z) const {
    using Scalar = detail::pair_scalar_t<X>;
    const Scalar distance =
        (x.template cast<Scalar>() - z.template cast<Scalar>()).cwiseAbs().sum();
    return std::exp(static_cast<Scalar>(-1 / sigma_) * distance);
  }

 private:
  double sigma_;
};

/// The exponential kernel k(x, x') = exp(-|x - x'| / sigma), of the Euclidean distance (some
/// libraries call this one Laplacian).
class Exponential : public detail::CalledOnPairs<Exponential> {
 public:
  /// \throws std::invalid_argument unless sigma is positive and finite.
  explicit Exponential(double sigma) : sigma_(sigma) {
    detail::check_positive("Exponential", "sigma", sigma);
  }

  [[nodiscard]] double sigma() const noexcept { return sigma_; }  ///< In units of the inputs.
  static constexpr bool translation_invariant() { return true; }  ///< See `InnerProductKernel`.

  /// Computes values from blocks of <x, x'>, <x, x> and <x', x'>: see `InnerProductKernel`.
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    using Scalar = typename Array::Scalar;
    return detail::exponentials<Array>(static_cast<Scalar>(-1 / sigma_),
                                       detail::squared_distances(xz, xx, zz).sqrt());
  }

 private:
  double sigma_;
};

}}  // namespace bpm
