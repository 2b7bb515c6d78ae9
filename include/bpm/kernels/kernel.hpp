// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "bpm/core/target.hpp"
#include "bpm/kernels/inputs.hpp"

/// \file
/// What a kernel is. A kernel is a positive semi-definite function k(x, x') of two inputs: for any
/// inputs x_1 .. x_m the matrix K_ij = k(x_i, x_j) is symmetric with no negative eigenvalue.

namespace bpm { inline namespace BPM_TARGET {

/// All a user's kernel needs: a const callable on two inputs of one type that returns a number.
/// Inputs are whatever the training set holds: Eigen rows, strings, graphs.
/// Satisfied by every kernel of this folder on Eigen vectors, and by any such lambda.
template <class K, class Input>
concept PairKernel = requires(const K& kernel, const Input& x) {
  { kernel(x, x) } -> std::convertible_to<double>;
};

/// A kernel that is an element-wise function of inner products and squared norms,
/// k(x, x') = f(<x, x'>, <x, x>, <x', x'>), says so by a const member template
///
///     template <class Array>
///     Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const;
///
/// on fixed-size `Eigen::Array<T, N, 1>` with T float or double. Dense inputs then get whole blocks
/// of inner products at matrix-product speed; sparse inputs one scatter per row and a walk per
/// value (of more than 2^20 columns, two walks). The function must be pointwise (element i of the
/// result depends on element i of the arguments only) and symmetric in xx and zz; `check_kernel`
/// tests both. By-value return, because an Eigen expression would refer to locals. Satisfied by
/// `Linear`, `Polynomial`, `Gaussian`, `Exponential`, `ArcCosine` and compositions.
template <class K>
concept InnerProductKernel = requires(const K& kernel, const Eigen::Array<float, 8, 1>& f,
                                      const Eigen::Array<double, 8, 1>& d) {
  { kernel.from_inner_products(f, f, f) } -> std::same_as<Eigen::Array<float, 8, 1>>;
  { kernel.from_inner_products(d, d, d) } -> std::same_as<Eigen::Array<double, 8, 1>>;
};

/// The same for functions of the Manhattan distance |x - x'|_1 = sum_k |x_k - x'_k|: a member
/// template `Array from_manhattan_distances(const Array& distance) const`. Satisfied by
/// `Laplacian`.
template <class K>
concept ManhattanKernel = requires(const K& kernel, const Eigen::Array<float, 8, 1>& f,
                                   const Eigen::Array<double, 8, 1>& d) {
  { kernel.from_manhattan_distances(f) } -> std::same_as<Eigen::Array<float, 8, 1>>;
  { kernel.from_manhattan_distances(d) } -> std::same_as<Eigen::Array<double, 8, 1>>;
};

namespace detail {

/// An input made of numbers in Eigen's terms: a dense or sparse vector expression.
template <class X>
concept EigenVector =
    requires { typename X::Scalar; } && (std::derived_from<X, Eigen::MatrixBase<X>> ||
                                         std::derived_from<X, Eigen::SparseMatrixBase<X>>);

/// The precision in which one pair is evaluated: the inputs' own, double for integers.
template <EigenVector X>
using pair_scalar_t =
    std::conditional_t<std::floating_point<typename X::Scalar>, typename X::Scalar, double>;

/// A kernel that is one of several when the program runs: visit(function) calls function with it.
template <class K>
concept VisitedKernel = requires { requires K::chosen_at_run_time; };

/// What an inner-product kernel inherits to be called on one pair as well.
template <class Kernel>
struct CalledOnPairs {
  template <EigenVector X, EigenVector Z>
  [[nodiscard]] pair_scalar_t<X> operator()(const X& x, const Z& z) const {
    using Scalar = pair_scalar_t<X>;
    using One = Eigen::Array<Scalar, 1, 1>;
    const auto product = [](const auto& a, const auto& b) {
      return One(a.template cast<Scalar>().dot(b.template cast<Scalar>()));
    };
    const One value = static_cast<const Kernel&>(*this).from_inner_products(
        product(x, z), product(x, x), product(z, z));
    return value(0);
  }
};

}  // namespace detail

/// Stands where a kernel stands when the user brings the kernel values. "Inputs" are then matrices
/// of type `RowMatrix<T>`: to fit, the m x m matrix K of the training set; to predict, the n x m
/// values k(x, x_i) between n inputs and all m training points, with k(x, x) where decision values
/// are to be normalised by it (`PrecomputedRows`).
struct PrecomputedKernel {};

/// Kernel values of n inputs with the m training points, and with themselves. Refers to both.
template <class T>
struct PrecomputedRows {
  const RowMatrix<T>& values;       ///< n x m.
  const Eigen::VectorXd& diagonal;  ///< n values k(x, x) > 0.
};

namespace detail {

/// How many inputs a classifier is asked about.
template <class Queries>
[[nodiscard]] std::ptrdiff_t query_count(const Queries& inputs) {
  if constexpr (InputSet<Queries>) {
    return input_count(inputs);
  } else {
    return inputs.values.rows();  // PrecomputedRows.
  }
}

}  // namespace detail
}}  // namespace bpm
