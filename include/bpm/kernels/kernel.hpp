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
/// What a kernel is. A kernel is a positive semi-definite function k(x, x') of two inputs: for any
/// inputs x_1 .. x_m the matrix K_ij = k(x_i, x_j) is symmetric with no negative eigenvalue.
/// The three kinds of inputs and what the library needs of each: how many there are, one of them,
/// a chosen few of them in memory of our own, and a check that every number is finite.

namespace bpm { inline namespace BPM_TARGET {

/// Sparse numbers with one input per row.
template <class Scalar>
using SparseRowMatrix = Eigen::SparseMatrix<Scalar, Eigen::RowMajor>;

/// One input a row of any dense Eigen expression. float and double are used as they are, bytes as
/// `ByteInputs` says; other integers are taken as float. Row-major rows of whole registers (bytes:
/// of a multiple of four) are read in place, anything else is copied once. Evaluate products
/// first: as with any expression of Eigen, X * W would be computed again whenever it is read.
template <class I>
concept DenseInputs =
    std::derived_from<I, Eigen::MatrixBase<I>> &&
    (std::same_as<typename I::Scalar, float> || std::same_as<typename I::Scalar, double> ||
     std::integral<typename I::Scalar>);

/// One input a row of a row-major `Eigen::SparseMatrix` of float or double.
template <class I>
concept SparseInputs = std::derived_from<I, Eigen::SparseCompressedBase<I>> &&
                       bool(I::IsRowMajor) && std::floating_point<typename I::Scalar>;

/// Any other random-access range: strings, graphs, structs of the user's own. A machine keeps
/// copies of elements: of a view or a pointer, the view or the pointer.
template <class I>
concept RangeInputs =
    !std::derived_from<I, Eigen::EigenBase<I>> && std::ranges::random_access_range<const I> &&
    std::ranges::sized_range<const I>;

/// Inputs of any kind. A column-major sparse matrix is refused: its rows cannot be walked.
template <class I>
concept InputSet = DenseInputs<I> || SparseInputs<I> || RangeInputs<I>;

namespace detail {

/// Dense inputs whose numbers are bytes, 0 to 255: images. Their inner products are exact integers,
/// four products an operation where the target has the instruction, and a quarter of the memory
/// passes by. Kernel values are float. To have pixels / 255 as inputs, give the kernel the scale
/// 1 / 255^2, `Polynomial(5, 1.0 / 65025)`; to have inputs of norm 1, `on_unit_inputs`.
template <class I>
concept ByteInputs = DenseInputs<I> && std::same_as<typename I::Scalar, std::uint8_t>;

template <class I>
struct InputTraits;

template <DenseInputs I>
struct InputTraits<I> {
  using Scalar = std::conditional_t<std::same_as<typename I::Scalar, double>, double, float>;
  using Owned = RowMatrix<typename I::Scalar>;

  static Owned select(const I& inputs, std::span<const PointIndex> chosen) {
    Owned result(static_cast<Eigen::Index>(chosen.size()), inputs.cols());
    for (Eigen::Index i = 0; i < result.rows(); ++i) {
      result.row(i) = inputs.row(chosen[i]);
    }
    return result;
  }
};

template <SparseInputs I>
struct InputTraits<I> {
  using Scalar = typename I::Scalar;
  using Owned = SparseRowMatrix<Scalar>;

  static Owned select(const I& inputs, std::span<const PointIndex> chosen) {
    Owned result(static_cast<Eigen::Index>(chosen.size()), inputs.cols());
    for (Eigen::Index i = 0; i < result.rows(); ++i) {
      result.startVec(i);
      for (typename I::InnerIterator entry(inputs, chosen[i]); entry; ++entry) {
        result.insertBack(i, entry.col()) = entry.value();
      }
    }
    result.finalize();
    return result;
  }
};

template <RangeInputs I>
struct InputTraits<I> {
  using Scalar = double;
  using Owned = std::vector<std::ranges::range_value_t<I>>;

  static Owned select(const I& inputs, std::span<const PointIndex> chosen) {
    Owned result;
    result.reserve(chosen.size());
    for (const PointIndex i : chosen) {
      result.push_back(std::ranges::begin(inputs)[i]);
    }
    return result;
  }
};

/// The type in which a fitted model keeps inputs of its own.
template <InputSet I>
using owned_inputs_t = typename InputTraits<I>::Owned;

/// The type of kernel values on these inputs: float for float and integer inputs, else double.
template <InputSet I>
using kernel_scalar_t = typename InputTraits<I>::Scalar;

/// How many inputs there are.
template <InputSet I>
[[nodiscard]] std::ptrdiff_t input_count(const I& inputs) {
  if constexpr (RangeInputs<I>) {
    return std::ranges::ssize(inputs);
  } else {
    return inputs.rows();
  }
}

/// Dense inputs that lie in memory of somebody else's: `Eigen::Map`, a block.
template <class I>
concept InputView = DenseInputs<I> && !std::same_as<I, typename I::PlainObject>;

/// The inputs `chosen`, in that order, copied.
template <InputSet I>
[[nodiscard]] owned_inputs_t<I> select_inputs(const I& inputs, std::span<const PointIndex> chosen) {
  return InputTraits<I>::select(inputs, chosen);
}

/// Throws std::invalid_argument, naming row and column, unless every number is finite, columns of
/// sparse rows ascend, and there are fewer than 2^31 inputs. Cost: one pass over the inputs. Ranges
/// of the user's own types are not looked into. `first`: what the number of the first row is.
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
        if (inputs.row(i).allFinite()) [[likely]] {
          continue;
        }
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

// Bytes from inputs of another type that hold nothing but bytes.

/// The byte that `value` is, times `scale`; -1 if it is none.
[[nodiscard]] inline int byte_of(double value, double scale) {
  const double number = value * scale;
  const double whole = std::nearbyint(number);
  // A quotient like 37 / 255 in float, times 255, is off by its rounding.
  const bool near = std::abs(number - whole) <= (scale == 1 ? 0 : 1e-4);
  return near && whole >= 0 && whole <= 255 ? static_cast<int>(whole) : -1;
}

}  // namespace detail

/// Whether every number, times `scale`, is a whole number from 0 to 255: with scale 255 for pixels
/// that were divided by 255, to 1e-4. Such inputs can be made `ByteInputs` by `to_bytes`, whose
/// products are exact and several times as fast. Cost: one pass.
template <DenseInputs I>
[[nodiscard]] bool are_bytes(const I& inputs, double scale = 1) {
  const auto is_byte = [&](auto number) {
    return detail::byte_of(static_cast<double>(number), scale) >= 0;
  };
  return inputs.unaryExpr(is_byte).all();
}

/// The inputs, times `scale`, as bytes. A kernel on them sees inner products scale^2 times as
/// large. \throws std::invalid_argument, naming row, column and value, where a number is no byte.
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
/// `Linear`, `Polynomial`, `Gaussian`, `Exponential`, `ArcCosine` and compositions. One that is a
/// function of |x - x'| alone may say so, `static constexpr bool translation_invariant() { return
/// true; }`: it then sees dense inputs from a point near their mean, where their products keep what
/// far from the origin they lose.
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

/// Whether k(x + a, x' + a) = k(x, x') for all a, as a kernel says of itself by a const member
/// `bool translation_invariant() const`; one that says nothing is not.
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
/// values k(x, x_i) between n inputs and all m training points, with k(x, x) where it is not one
/// for all inputs (`PrecomputedRows`): decision values are divided by its root, else by that of the
/// training points' mean.
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
