// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Compositions of kernels: sum, product, scaling, bias, normalisation, unit inputs. Each accepts
/// any input type that its parts accept, and works on blocks where its parts use inner products.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Converts a kernel value to a real number: division of the integers of some kernels truncates.
template <class Value>
[[nodiscard]] constexpr auto real_value(Value value) {
  if constexpr (std::floating_point<Value>) {
    return value;
  } else {
    return static_cast<double>(value);
  }
}

/// A kernel whose values combine those of two kernels.
template <class First, class Second, class Combine>
struct Combined {
  First first;
  Second second;

  [[nodiscard]] constexpr bool translation_invariant() const {
    return is_translation_invariant(first) && is_translation_invariant(second);
  }

  template <class Array>
    requires InnerProductKernel<First> && InnerProductKernel<Second>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    const Array left = first.from_inner_products(xz, xx, zz);
    const Array right = second.from_inner_products(xz, xx, zz);
    return Combine{}(left, right);
  }

  template <class X, class Z>
  [[nodiscard]] auto operator()(const X& x, const Z& z) const {
    return Combine{}(real_value(first(x, z)), real_value(second(x, z)));
  }
};

/// A kernel whose values combine those of another kernel with a constant.
template <class Inner, class Combine>
struct WithConstant {
  Inner inner;
  double constant;

  [[nodiscard]] constexpr bool translation_invariant() const {
    return is_translation_invariant(inner);
  }

  static constexpr bool chosen_at_run_time = VisitedKernel<Inner>;
  template <class Function>
    requires VisitedKernel<Inner>
  auto visit(Function&& function) const {
    return inner.visit([&](const auto& one) {
      return function(WithConstant<std::remove_cvref_t<decltype(one)>, Combine>{one, constant});
    });
  }

  template <class Array>
    requires InnerProductKernel<Inner>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    const Array value = inner.from_inner_products(xz, xx, zz);
    return Combine{}(value, static_cast<typename Array::Scalar>(constant));
  }

  template <class Array>
    requires ManhattanKernel<Inner>
  [[nodiscard]] Array from_manhattan_distances(const Array& distance) const {
    const Array value = inner.from_manhattan_distances(distance);
    return Combine{}(value, static_cast<typename Array::Scalar>(constant));
  }

  template <class X, class Z>
  [[nodiscard]] auto operator()(const X& x, const Z& z) const {
    const auto value = real_value(inner(x, z));
    return Combine{}(value, static_cast<decltype(value)>(constant));
  }
};

template <class First, class Second>
using Sum = Combined<First, Second, std::plus<>>;
template <class First, class Second>
using Product = Combined<First, Second, std::multiplies<>>;
template <class Inner>
using Scaled = WithConstant<Inner, std::multiplies<>>;
template <class Inner>
using Biased = WithConstant<Inner, std::plus<>>;

/// The kernel that `normalised` returns.
template <class Inner>
struct Normalised {
  Inner inner;

  [[nodiscard]] constexpr bool translation_invariant() const {
    return is_translation_invariant(inner);
  }

  template <class Array>
    requires InnerProductKernel<Inner>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    const Array value = inner.from_inner_products(xz, xx, zz);
    const Array left = inner.from_inner_products(xx, xx, xx);
    const Array right = inner.from_inner_products(zz, zz, zz);
    // Two roots: the product of two large kernel values could overflow.
    return value / (left.sqrt() * right.sqrt());
  }

  template <class X, class Z>
  [[nodiscard]] auto operator()(const X& x, const Z& z) const {
    using std::sqrt;
    return real_value(inner(x, z)) /
           (sqrt(real_value(inner(x, x))) * sqrt(real_value(inner(z, z))));
  }
};

/// The kernel that `on_unit_inputs` returns.
template <InnerProductKernel Inner>
struct UnitInputs : CalledOnPairs<UnitInputs<Inner>> {
  Inner inner;

  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    using Scalar = typename Array::Scalar;
    const Array cosine = xz / (xx.sqrt() * zz.sqrt());
    const Array one = Array::Constant(Scalar{1});
    return inner.from_inner_products(cosine, one, one);
  }
};

}  // namespace detail

/// k = k1 + k2: has the features of both kernels.
template <class First, class Second>
[[nodiscard]] detail::Sum<First, Second> sum(First first, Second second) {
  return {std::move(first), std::move(second)};
}

/// k = k1 k2: its features are all products of a feature of k1 and a feature of k2.
template <class First, class Second>
[[nodiscard]] detail::Product<First, Second> product(First first, Second second) {
  return {std::move(first), std::move(second)};
}

/// k = factor k1. \throws std::invalid_argument unless factor is positive and finite.
template <class Inner>
[[nodiscard]] detail::Scaled<Inner> scaled(Inner inner, double factor) {
  detail::check_positive("scaled", "factor", factor);
  return {std::move(inner), factor};
}

/// k = k1 + bias: adds a constant feature, so that classifiers have a threshold. \throws
/// std::invalid_argument unless bias is finite and not negative.
template <class Inner>
[[nodiscard]] detail::Biased<Inner> biased(Inner inner, double bias = 1) {
  detail::check_not_negative("biased", "bias", bias);
  return {std::move(inner), bias};
}

/// k(x, x') / sqrt(k(x, x) k(x', x')): features of norm 1. Values of an input with k(x, x) = 0 are
/// not finite; their use is an error.
template <class Inner>
[[nodiscard]] detail::Normalised<Inner> normalised(Inner inner) {
  return {std::move(inner)};
}

/// k1 on inputs scaled to unit norm, k1(x / |x|, x' / |x'|). Values of an input of norm zero are
/// not finite; their use is an error.
template <InnerProductKernel Inner>
[[nodiscard]] detail::UnitInputs<Inner> on_unit_inputs(Inner inner) {
  return {{}, std::move(inner)};
}

}}  // namespace bpm
