// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"

/// \file
/// Compositions of kernels: sum, product, scaling, bias, normalisation, unit inputs. Each accepts
/// any input type that its parts accept, and works on blocks where its parts use inner products.
/// Their linear forms, and a kernel chosen at run time.

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

namespace detail {

/// Form of a kernel whose features are the inputs: k(x, z) = factor <x, z> + constant; with `unit`,
/// x and z are divided by their norms. Its classifiers need only one number per feature.
struct LinearForm {
  double factor = 1;
  double constant = 0;
  bool unit = false;
};

/// True if a kernel of this type can be linear.
template <class Kernel>
inline constexpr bool can_be_linear = std::same_as<Kernel, Linear> || VisitedKernel<Kernel>;
template <class Inner, class Combine>
inline constexpr bool can_be_linear<WithConstant<Inner, Combine>> = can_be_linear<Inner>;
template <class Inner>
inline constexpr bool can_be_linear<UnitInputs<Inner>> = can_be_linear<Inner>;
template <class Inner>
inline constexpr bool can_be_linear<Normalised<Inner>> = can_be_linear<Inner>;

/// Returns the form of a kernel that is linear in its inputs, or nothing.
template <class Kernel>
[[nodiscard]] std::optional<LinearForm> linear_form(const Kernel& kernel) {
  if constexpr (std::same_as<Kernel, Linear>) {
    return LinearForm{};
  } else if constexpr (VisitedKernel<Kernel>) {
    return kernel.visit([](const auto& one) { return linear_form(one); });
  } else {
    return std::nullopt;
  }
}
template <class Inner, class Combine>
[[nodiscard]] std::optional<LinearForm> linear_form(const WithConstant<Inner, Combine>& kernel) {
  std::optional<LinearForm> form = linear_form(kernel.inner);
  if (form) {
    form->constant = Combine{}(form->constant, kernel.constant);
    if constexpr (std::is_same_v<Combine, std::multiplies<>>) form->factor *= kernel.constant;
  }
  return form;
}
template <class Inner>
[[nodiscard]] std::optional<LinearForm> linear_form(const UnitInputs<Inner>& kernel) {
  std::optional<LinearForm> form = linear_form(kernel.inner);
  if (form) form->unit = true;
  return form;
}
template <class Inner>
[[nodiscard]] std::optional<LinearForm> linear_form(const Normalised<Inner>& kernel) {
  const std::optional<LinearForm> form = linear_form(kernel.inner);
  if (!form || form->constant != 0) return std::nullopt;
  return LinearForm{.unit = true};
}

/// The kernels of inner products that are not composed.
using SingleKernels = std::variant<Linear, Polynomial, Gaussian, Exponential, ArcCosine>;
/// The compositions of kernels of type Part.
template <class Part>
using ComposedKernels = std::variant<Sum<Part, Part>, Product<Part, Part>, Scaled<Part>,
                                     Biased<Part>, Normalised<Part>, UnitInputs<Part>>;

template <class Kernel, class Kernels>
inline constexpr bool is_one_of = false;
template <class Kernel, class... Kernels>
inline constexpr bool is_one_of<Kernel, std::variant<Kernels...>> =
    (std::same_as<Kernel, Kernels> || ...);

}  // namespace detail

/// A kernel of inner products that is chosen at run time, by an option or from a file: one compiled
/// machine serves all of them.
///
///     bpm::RuntimeKernel kernel = bpm::Linear{};
///     if (degree > 1) kernel = bpm::Polynomial(degree);
///     if (unit) kernel = bpm::on_unit_inputs(kernel);
///
/// Holds `Linear`, `Polynomial`, `Gaussian`, `Exponential`, `ArcCosine`, or a composition of these
/// by `sum`, `product`, `scaled`, `biased`, `normalised` and `on_unit_inputs`; not `Laplacian`,
/// which is no function of inner products.
///
/// Cost: a branch for each row of a block of kernel values (of a composition under a bias, also a
/// reference count), and in a composition one for each part and 16 to 64 values. Values of a single
/// kernel are its own to the bit, those of a composition to rounding. Copies share the parts of a
/// composition.
class RuntimeKernel : public detail::CalledOnPairs<RuntimeKernel> {
 public:
  /// Holds a kernel that is not composed.
  template <class Kernel>
    requires detail::is_one_of<Kernel, detail::SingleKernels>
  explicit(false) RuntimeKernel(Kernel kernel) : single_(std::move(kernel)) {}

  /// Holds the sum or product of two kernels, which this type can hold. \throws
  /// std::invalid_argument where a value would need more than `most_steps`.
  template <class First, class Second, class Combine>
  explicit(false) RuntimeKernel(const detail::Combined<First, Second, Combine>& kernel) {
    const RuntimeKernel first = kernel.first;
    const RuntimeKernel second = kernel.second;
    compose(first.steps_ + second.steps_,
            detail::Combined<RuntimeKernel, RuntimeKernel, Combine>{first, second});
  }
  /// Holds a `scaled` or `biased` kernel. \throws std::invalid_argument beyond `most_steps`.
  template <class Inner, class Combine>
  explicit(false) RuntimeKernel(const detail::WithConstant<Inner, Combine>& kernel) {
    const RuntimeKernel inner = kernel.inner;
    compose(inner.steps_, detail::WithConstant<RuntimeKernel, Combine>{inner, kernel.constant});
  }
  /// A `normalised` kernel, counted thrice. \throws std::invalid_argument beyond `most_steps`.
  template <class Inner>
  explicit(false) RuntimeKernel(const detail::Normalised<Inner>& kernel) {
    const RuntimeKernel inner = kernel.inner;
    compose(3 * inner.steps_, normalised(inner));
  }
  /// Holds a kernel `on_unit_inputs`. \throws std::invalid_argument beyond `most_steps`.
  template <class Inner>
  explicit(false) RuntimeKernel(const detail::UnitInputs<Inner>& kernel) {
    const RuntimeKernel inner = kernel.inner;
    compose(inner.steps_, on_unit_inputs(inner));
  }

  /// Largest number of kernels and compositions evaluated for one value; a part that is evaluated
  /// several times counts as often.
  static constexpr int most_steps = 100;

  /// Marks a kernel that evaluation accesses by `visit`.
  static constexpr bool chosen_at_run_time = true;

  /// Calls function(kernel) with the kernel held; the parts of a composition are RuntimeKernels.
  template <class Function>
  auto visit(Function&& function) const -> std::invoke_result_t<Function&, const Linear&>;

  /// Returns the values of the kernel held: see `InnerProductKernel`.
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    return visit(
        [&](const auto& kernel) -> Array { return kernel.from_inner_products(xz, xx, zz); });
  }

 private:
  struct Composition;

  template <class Kernel>
  void compose(int steps, Kernel kernel);

  detail::SingleKernels single_;
  std::shared_ptr<const Composition> composed_;  // If set, this is used instead of `single_`.
  int steps_ = 1;
};

struct RuntimeKernel::Composition {
  detail::ComposedKernels<RuntimeKernel> kernel;
};

template <class Function>
auto RuntimeKernel::visit(Function&& function) const
    -> std::invoke_result_t<Function&, const Linear&> {
  return composed_ ? std::visit(function, composed_->kernel) : std::visit(function, single_);
}

template <class Kernel>
void RuntimeKernel::compose(int steps, Kernel kernel) {
  steps_ = steps + 1;
  detail::check(steps_ <= most_steps, "RuntimeKernel", "kernel", "takes ", steps_,
                " steps a value, must take at most ", most_steps);
  composed_ = std::make_shared<const Composition>(Composition{std::move(kernel)});
}

}}  // namespace bpm
