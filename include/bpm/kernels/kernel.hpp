// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Kernels and their inputs. A kernel is a positive semi-definite function k(x, x') of two inputs:
/// for any inputs x_1 .. x_m the matrix K_ij = k(x_i, x_j) is symmetric with no negative
/// eigenvalue. For each of the three kinds of inputs: their number, copies of chosen ones in memory
/// of our own, and a check that every number is finite.

namespace bpm { inline namespace BPM_TARGET {

/// A sparse matrix with one input per row.
template <class Scalar>
using SparseRowMatrix = Eigen::SparseMatrix<Scalar, Eigen::RowMajor>;

/// Any dense Eigen expression with one input per row. float and double are used as they are, bytes
/// as `ByteInputs` describes; other integers are converted to float. Row-major rows of whole
/// registers (bytes: of a multiple of four) are read in place, anything else is copied once.
/// Evaluate products first: an expression such as X * W is computed again at every read.
template <class I>
concept DenseInputs =
    std::derived_from<I, Eigen::MatrixBase<I>> &&
    (std::same_as<typename I::Scalar, float> || std::same_as<typename I::Scalar, double> ||
     std::integral<typename I::Scalar>);

/// A row-major `Eigen::SparseMatrix` of float or double with one input per row.
template <class I>
concept SparseInputs = std::derived_from<I, Eigen::SparseCompressedBase<I>> &&
                       bool(I::IsRowMajor) && std::floating_point<typename I::Scalar>;

/// Any other random-access range of inputs: strings, graphs, a user's structs. A machine keeps
/// copies of the elements; if an element is a view or a pointer, it keeps the view or pointer.
template <class I>
concept RangeInputs =
    !std::derived_from<I, Eigen::EigenBase<I>> && std::ranges::random_access_range<const I> &&
    std::ranges::sized_range<const I>;

/// Inputs of any kind. A column-major sparse matrix is refused: it gives no access by rows.
template <class I>
concept InputSet = DenseInputs<I> || SparseInputs<I> || RangeInputs<I>;

namespace detail {

/// Inputs of the same one of these kinds.
template <class I, class J>
concept SameKind = (DenseInputs<I> && DenseInputs<J>) || (SparseInputs<I> && SparseInputs<J>) ||
                   (RangeInputs<I> && RangeInputs<J>);

/// Dense inputs of bytes, 0 to 255: images. Inner products are exact integers, with four products
/// per operation where the target has the instruction, and need a quarter of the memory traffic.
/// Kernel values are float. For pixels / 255 as inputs, give the kernel the scale 1 / 255^2,
/// `Polynomial(5, 1.0 / 65025)`; for inputs of norm 1, `on_unit_inputs`.
template <class I>
concept ByteInputs = DenseInputs<I> && std::same_as<typename I::Scalar, std::uint8_t>;

template <class I>
struct InputTraits;
template <DenseInputs I>
struct InputTraits<I> {
  using Scalar = std::conditional_t<std::same_as<typename I::Scalar, double>, double, float>;
  using Owned = RowMatrix<typename I::Scalar>;
};
template <SparseInputs I>
struct InputTraits<I> {
  using Scalar = typename I::Scalar;
  using Owned = SparseRowMatrix<Scalar>;
};
template <RangeInputs I>
struct InputTraits<I> {
  using Scalar = double;
  using Owned = std::vector<std::ranges::range_value_t<I>>;
};

/// Type in which a fitted model keeps its own copies of inputs.
template <InputSet I>
using owned_inputs_t = typename InputTraits<I>::Owned;

/// Type of kernel values on these inputs: float for float and integer inputs, else double.
template <InputSet I>
using kernel_scalar_t = typename InputTraits<I>::Scalar;

/// Number of inputs.
template <InputSet I>
[[nodiscard]] std::ptrdiff_t input_count(const I& inputs) {
  if constexpr (RangeInputs<I>) {
    return std::ranges::ssize(inputs);
  } else {
    return inputs.rows();
  }
}

/// Dense inputs that refer to another object's memory: `Eigen::Map`, a block.
template <class I>
concept InputView = DenseInputs<I> && !std::same_as<I, typename I::PlainObject>;

/// Copies the inputs `chosen`, in that order.
template <InputSet I>
[[nodiscard]] owned_inputs_t<I> select_inputs(const I& inputs, std::span<const PointIndex> chosen) {
  if constexpr (RangeInputs<I>) {
    owned_inputs_t<I> result;
    result.reserve(chosen.size());
    for (const PointIndex i : chosen) result.push_back(std::ranges::begin(inputs)[i]);
    return result;
  } else {
    owned_inputs_t<I> result(static_cast<Eigen::Index>(chosen.size()), inputs.cols());
    for (Eigen::Index i = 0; i < result.rows(); ++i) {
      if constexpr (SparseInputs<I>) {
        result.startVec(i);
        for (typename I::InnerIterator entry(inputs, chosen[std::size_t(i)]); entry; ++entry) {
          result.insertBack(i, entry.col()) = entry.value();
        }
      } else {
        result.row(i) = inputs.row(chosen[std::size_t(i)]);
      }
    }
    if constexpr (SparseInputs<I>) result.finalize();
    return result;
  }
}

/// Throws std::invalid_argument, naming row and column, unless every number is finite, columns of
/// sparse rows ascend, and there are fewer than 2^31 inputs. Elements of ranges are not checked.
/// The message counts rows from `first`. Cost: one pass over the inputs.
template <InputSet I>
void check_inputs(const I& inputs, std::string_view function, Eigen::Index first = 0) {
  check(std::in_range<PointIndex>(input_count(inputs)), function, "inputs", "has ",
        input_count(inputs), " entries, must be fewer than 2^31");
  [[maybe_unused]] const auto refuse = [&](auto row, auto column, auto value) {
    fail(function, "inputs", "row ", first + row, ", column ", column, " is ", value,
         ", must be finite");
  };
  if constexpr (DenseInputs<I>) {
    if constexpr (std::floating_point<typename I::Scalar>) {
      for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
        if (inputs.row(i).allFinite()) continue;
        for (Eigen::Index j = 0; j < inputs.cols(); ++j) {
          if (!std::isfinite(inputs(i, j))) refuse(i, j, inputs(i, j));
        }
      }
    }
  } else if constexpr (SparseInputs<I>) {
    for (Eigen::Index i = 0; i < inputs.outerSize(); ++i) {
      Eigen::Index last = -1;
      for (typename I::InnerIterator entry(inputs, i); entry; ++entry) {
        check(entry.col() > last, function, "inputs", "row ", first + i, " has column ",
              entry.col(), " after ", last, ", must ascend");
        last = entry.col();
        if (!std::isfinite(entry.value())) refuse(i, entry.col(), entry.value());
      }
    }
  }
}

// Conversion to bytes of inputs of another type whose values are all bytes.

/// Returns value * scale as a byte, or -1 if it is not a whole number from 0 to 255.
[[nodiscard]] inline int byte_of(double value, double scale) {
  const double number = value * scale;
  const double whole = std::nearbyint(number);
  // A quotient like 37 / 255 in float, times 255, is off by its rounding.
  const bool near = std::abs(number - whole) <= (scale == 1 ? 0 : 1e-4);
  return near && whole >= 0 && whole <= 255 ? static_cast<int>(whole) : -1;
}

}  // namespace detail

/// True if every number, times `scale`, is a whole number from 0 to 255; use scale 255 for pixels
/// that were divided by 255 (tolerance 1e-4). `to_bytes` converts such inputs to `ByteInputs`,
/// whose products are exact and several times as fast. Cost: one pass.
template <DenseInputs I>
[[nodiscard]] bool are_bytes(const I& inputs, double scale = 1) {
  const auto is_byte = [&](auto number) {
    return detail::byte_of(static_cast<double>(number), scale) >= 0;
  };
  return inputs.unaryExpr(is_byte).all();
}

/// Converts the inputs, times `scale`, to bytes. Their inner products are scale^2 times as large.
/// \throws std::invalid_argument, naming row, column and value, where a number is no byte.
template <DenseInputs I>
[[nodiscard]] RowMatrix<std::uint8_t> to_bytes(const I& inputs, double scale = 1) {
  detail::check_positive("to_bytes", "scale", scale);
  RowMatrix<std::uint8_t> bytes(inputs.rows(), inputs.cols());
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    for (Eigen::Index j = 0; j < inputs.cols(); ++j) {
      const auto number = static_cast<double>(inputs(i, j));
      const int byte = detail::byte_of(number, scale);
      detail::check(byte >= 0, "to_bytes", "inputs", "row ", i, ", column ", j, " is ", number,
                    ", times ", scale,
                    " it is no whole number from 0 to 255; leave the inputs as they are");
      bytes(i, j) = static_cast<std::uint8_t>(byte);
    }
  }
  return bytes;
}

/// A user's kernel: a const callable on two inputs of one type that returns a number. Inputs are
/// the elements of the training set: Eigen rows, strings, graphs. Satisfied by every kernel of this
/// folder on Eigen vectors, and by any such lambda.
template <class K, class Input>
concept PairKernel = requires(const K& kernel, const Input& x) {
  { kernel(x, x) } -> std::convertible_to<double>;
};

/// A kernel that is an element-wise function of inner products and squared norms, k(x, x') = f(<x,
/// x'>, <x, x>, <x', x'>). It has a const member template
///
///     template <class Array>
///     Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const;
///
/// on fixed-size `Eigen::Array<T, N, 1>` with T float or double. Kernel values are then computed
/// from blocks of inner products: of dense inputs at matrix-product speed; of sparse inputs by one
/// scatter per row and one walk per value (two beyond 2^20 columns). The function must be pointwise
/// (element i of the result depends on element i of the arguments only) and symmetric in xx and zz;
/// `check_kernel` tests both. By-value return, because an Eigen expression would refer to locals.
/// Satisfied by `Linear`, `Polynomial`, `Gaussian`, `Exponential`, `ArcCosine` and compositions. A
/// function of
/// x - x'| alone may have `static constexpr bool translation_invariant() { return true; }`: dense
/// inputs are then shifted by a point near their mean, which saves digits far from the origin.
template <class K>
concept InnerProductKernel = requires(const K& kernel, const Eigen::Array<float, 8, 1>& f,
                                      const Eigen::Array<double, 8, 1>& d) {
  { kernel.from_inner_products(f, f, f) } -> std::same_as<Eigen::Array<float, 8, 1>>;
  { kernel.from_inner_products(d, d, d) } -> std::same_as<Eigen::Array<double, 8, 1>>;
};

/// A kernel that is an element-wise function of the Manhattan distance |x - x'|_1 = sum_k |x_k -
/// x'_k|. It has a const member template `Array from_manhattan_distances(const Array& distance)
/// const`. Satisfied by `Laplacian`.
template <class K>
concept ManhattanKernel = requires(const K& kernel, const Eigen::Array<float, 8, 1>& f,
                                   const Eigen::Array<double, 8, 1>& d) {
  { kernel.from_manhattan_distances(f) } -> std::same_as<Eigen::Array<float, 8, 1>>;
  { kernel.from_manhattan_distances(d) } -> std::same_as<Eigen::Array<double, 8, 1>>;
};

namespace detail {

/// An input that is a dense or sparse vector expression of Eigen.
template <class X>
concept EigenVector =
    requires { typename X::Scalar; } && (std::derived_from<X, Eigen::MatrixBase<X>> ||
                                         std::derived_from<X, Eigen::SparseMatrixBase<X>>);

/// Precision in which one pair is evaluated: that of the inputs, double for integers.
template <EigenVector X>
using pair_scalar_t =
    std::conditional_t<std::floating_point<typename X::Scalar>, typename X::Scalar, double>;

/// A kernel chosen at run time among several: visit(function) calls function with the chosen one.
template <class K>
concept VisitedKernel = requires { requires K::chosen_at_run_time; };

/// True if k(x + a, x' + a) = k(x, x') for all a, as the kernel's const member `bool
/// translation_invariant() const` returns; false for a kernel without this member.
template <class K>
[[nodiscard]] constexpr bool is_translation_invariant(const K& kernel) {
  if constexpr (requires { kernel.translation_invariant(); }) {
    return kernel.translation_invariant();
  } else if constexpr (VisitedKernel<K>) {
    return kernel.visit([](const auto& one) { return is_translation_invariant(one); });
  } else {
    return false;
  }
}

/// Base class that lets an inner-product kernel be called on one pair.
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

/// Replaces the kernel when the user provides kernel values. "Inputs" are then matrices of type
/// `RowMatrix<T>`: for a fit, the m x m matrix K of the training set; for predictions, the n x m
/// values k(x, x_i) between n inputs and all m training points, with k(x, x) unless it is the same
/// for all inputs (`PrecomputedRows`). Decision values are divided by the root of k(x, x), else by
/// the root of its mean over the training points.
struct PrecomputedKernel {};

/// Refers to the kernel values of n inputs with the m training points, and with themselves.
template <class T>
struct PrecomputedRows {
  const RowMatrix<T>& values;       ///< n x m.
  const Eigen::VectorXd& diagonal;  ///< The n values k(x, x) > 0.
};

namespace detail {

/// Number of inputs of a query to a classifier.
template <class Queries>
[[nodiscard]] std::ptrdiff_t query_count(const Queries& inputs) {
  if constexpr (InputSet<Queries>) {
    return input_count(inputs);
  } else {
    return inputs.values.rows();  // The query is a PrecomputedRows.
  }
}

}  // namespace detail
}}  // namespace bpm
