// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/dot_product.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/radial.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

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
