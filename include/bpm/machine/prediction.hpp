// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/panels.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/coefficients.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// True if exactly one side is bytes, which are then converted to numbers.
template <class I, class Owned>
inline constexpr bool mixed_bytes =
    DenseInputs<I> && DenseInputs<Owned> && ByteInputs<I> != ByteInputs<Owned>;

/// Checks outputs. \throws KernelValueError if some are not finite.
template <class Matrix>
void check_sums(const Matrix& outputs, std::string_view function) {
  ensure<KernelValueError>(outputs.allFinite(), function,
                           ": a sum over the support points is beyond double; scale the inputs, or "
                           "normalise the kernel");
}

/// Kernel values of inputs with the support inputs of classifiers. Refers to the support.
template <class Kernel, class Inputs>
class SupportValues {
 public:
  using Scalar = kernel_scalar_t<Inputs>;

  /// `origin`: see `PreparedInputs`, for the support and the queries.
  SupportValues(const Kernel& kernel, double bias, const Inputs& inputs,
                std::span<const PointIndex> /*support*/, std::span<const double> origin,
                std::string_view source)
      : kernel_{kernel, bias},
        inputs_(inputs),
        origin_(origin),
        support_(inputs, packs<Inputs>, origin, source) {}

  /// Returns n x classifiers: sum_j coefficients(j, c) k(x_j, x), with `divide` over sqrt(k(x, x)),
  /// and 0 where k(x, x) = 0; by packed coefficients, or by w, without kernel values except k(x,
  /// x). An input's outputs have the same bits in a batch of any size.
  template <InputSet I, class By>
  [[nodiscard]] Eigen::MatrixXd outputs(const I& inputs, const By& by, bool divide,
                                        unsigned threads, std::string_view function) const {
    check_queries(inputs, function);
    if constexpr (mixed_bytes<I, Inputs> && ByteInputs<I>) {
      const RowMatrix<Scalar> numbers = inputs.template cast<Scalar>();
      return outputs_of(PreparedInputs<RowMatrix<Scalar>>(numbers, origin_), support_, by, divide,
                        threads, function);
    } else if constexpr (mixed_bytes<I, Inputs> && std::same_as<By, PackedCoefficients>) {
      const RowMatrix<Scalar> numbers = inputs.template cast<Scalar>();
      const RowMatrix<Scalar> others = inputs_.template cast<Scalar>();
      return outputs_of(PreparedInputs<RowMatrix<Scalar>>(numbers),
                        PackedSupport<RowMatrix<Scalar>>(others, packs<RowMatrix<Scalar>>, {}), by,
                        divide, threads, function);
    } else {
      static_assert(
          mixed_bytes<I, Inputs> || std::same_as<kernel_scalar_t<I>, kernel_scalar_t<Inputs>>,
          "both input sets must have the same precision: cast one of them");
      return outputs_of(PreparedInputs<I>(inputs, origin_), support_, by, divide, threads,
                        function);
    }
  }

  /// Returns whether so many classifiers use w: the kernel is linear, and w has at most 16 times as
  /// many numbers as the support.
  [[nodiscard]] bool has_weights(std::ptrdiff_t classifiers) const {
    if constexpr (may_be_linear<Kernel, Inputs>) {
      double numbers = static_cast<double>(inputs_.size());
      if constexpr (SparseInputs<Inputs>) numbers = static_cast<double>(inputs_.nonZeros());
      return linear_form(kernel_) &&
             static_cast<double>(classifiers) * static_cast<double>(inputs_.cols()) <= 16 * numbers;
    } else {
      return false;
    }
  }

  /// Returns w of classifiers of a linear kernel, one per column of coefficients. Cost: the numbers
  /// of the support for each. \throws as `PackedSupport::block`.
  [[nodiscard]] LinearWeights weights(const RowMatrix<double>& coefficients) const
    requires may_be_linear<Kernel, Inputs>
  {
    const LinearRows<Inputs> rows(linear_form(kernel_).value(), support_.inputs());
    LinearWeights result = rows.zero_weights(coefficients.cols());
    for (Eigen::Index j = 0; j < coefficients.rows(); ++j) {
      for (Eigen::Index c = 0; c < coefficients.cols(); ++c) {
        if (coefficients(j, c) != 0) rows.add(j, c, coefficients(j, c), result);
      }
    }
    return result;
  }

  /// Calls visit(worker, begin, rows, values, diagonal) for blocks of inputs, on several threads:
  /// `values` are k(x, x_j) of `rows` inputs from `begin` on with all support points, one row per
  /// input without gaps, and `diagonal` their k(x, x). `worker` is below `threads`. The values have
  /// the bits that `outputs` sums.
  template <InputSet I, class Visit>
  void visit_values(const I& inputs, unsigned threads, std::string_view function,
                    Visit&& visit) const {
    static_assert(!mixed_bytes<I, Inputs>,
                  "both input sets must be bytes, or none: cast one of them");
    check_queries(inputs, function);
    const PreparedInputs<I> x(inputs, origin_);
    const std::vector<PointIndex> all = first_points(x.size());
    const PackedSupport<Inputs>& z = support_;
    constexpr std::ptrdiff_t height = 96;
    struct Worker {
      BlockScratch<Scalar> scratch;
      Buffer<Scalar> values;
      std::vector<Scalar> diagonal;
    };
    std::vector<Worker> workers(threads);
    const auto evaluate = [&](unsigned number, std::ptrdiff_t chunk) {
      Worker& worker = workers[number];
      worker.values.reserve_discarding(height * z.size());
      const std::ptrdiff_t begin = chunk * height;
      const std::ptrdiff_t rows = std::min(height, x.size() - begin);
      const auto points = slice_of(all, begin, rows);
      for (std::ptrdiff_t b = 0; b < z.block_count(); ++b) {
        const ReadyColumns<Scalar>& columns = z.block(b);
        kernel_block(kernel_, x, points, z.prepared(), columns, 0, std::ssize(columns.points),
                     worker.values.data() + b * z.width, z.size(), worker.scratch);
      }
      worker.diagonal.assign(static_cast<std::size_t>(rows), Scalar{0});
      for (std::ptrdiff_t r = 0; r < rows; ++r) {
        worker.diagonal[r] = self_value(kernel_, x, points[r], worker.scratch);
      }
      visit(number, begin, rows, worker.values.data(), worker.diagonal.data());
    };
    guarded(function, [&] { parallel_for(threads, (x.size() + height - 1) / height, evaluate); });
  }

 private:
  template <class I>
  static constexpr bool packs = by_inner_products<Kernel, I> && !InputView<I>;

  template <InputSet I>
  void check_queries(const I& inputs, std::string_view function) const {
    if constexpr (!RangeInputs<I>) {
      check_size(function, "inputs", inputs.cols(), inputs_.cols(),
                 "columns: one per feature of the training set");
    }
    check_inputs(inputs, function);
  }

  template <class Work>
  static void guarded(std::string_view function, Work&& work) {
    try {
      work();
    } catch (const KernelValueError& error) {
      throw KernelValueError(
          join(function, ": of an input and itself or a support point, by number: ", error.what()));
    }
  }

  /// Computes outputs by chunks of inputs and blocks of support points. With fewer chunks than
  /// threads, threads share the blocks as well, and their sums are added afterwards.
  template <class I, class Right>
  [[nodiscard]] Eigen::MatrixXd outputs_of(const PreparedInputs<I>& x,
                                           const PackedSupport<Right>& z,
                                           const PackedCoefficients& coefficients, bool divide,
                                           unsigned threads, std::string_view function) const {
    const std::ptrdiff_t n = x.size();
    const std::vector<PointIndex> all = first_points(n);
    const std::ptrdiff_t classifiers = coefficients.classifiers();
    RowMatrix<double> result(n, classifiers);
    std::fill_n(result.data(), result.size(), 0.0);
    constexpr std::ptrdiff_t block = PackedSupport<Right>::width;
    constexpr std::ptrdiff_t tallest = 128;
    const std::ptrdiff_t share = n / (4 * static_cast<std::ptrdiff_t>(threads)) / panel_rows;
    const std::ptrdiff_t height =
        std::clamp(share * panel_rows, std::min<std::ptrdiff_t>(32, tallest), tallest);
    const std::ptrdiff_t chunks = (n + height - 1) / height;
    // Starting a thread takes time, so a part needs enough values.
    constexpr std::ptrdiff_t least_values = 16384;
    const std::ptrdiff_t worth = std::max<std::ptrdiff_t>(1, n * z.size() / least_values);
    const auto pool = static_cast<unsigned>(std::min<std::ptrdiff_t>(threads, worth));
    const bool shared = chunks < pool;
    const std::ptrdiff_t parts =
        shared ? std::min<std::ptrdiff_t>(z.block_count(), 2 * static_cast<std::ptrdiff_t>(pool))
               : 1;
    struct Worker {
      BlockScratch<Scalar> scratch;
      Buffer<Scalar> values;
      Buffer<double> widened;
    };
    std::vector<Worker> workers(pool);
    // Sums of each block, if threads share the blocks.
    Buffer<double> block_sums(shared ? z.block_count() * n * classifiers : 0);
    const auto evaluate = [&](unsigned number, std::ptrdiff_t job) {
      Worker& worker = workers[number];
      worker.values.reserve_discarding(height * block);
      const std::ptrdiff_t begin = job / parts * height;
      const std::ptrdiff_t rows = std::min(height, n - begin);
      const std::ptrdiff_t part = job % parts;
      const auto points = slice_of(all, begin, rows);
      for (std::ptrdiff_t b = z.block_count() * part / parts;
           b < z.block_count() * (part + 1) / parts; ++b) {
        const ReadyColumns<Scalar>& columns = z.block(b);
        const std::ptrdiff_t cols = std::ssize(columns.points);
        kernel_block(kernel_, x, points, z.prepared(), columns, 0, cols, worker.values.data(),
                     block, worker.scratch);
        double* const sums = (shared ? block_sums.data() + b * n * classifiers : result.data()) +
                             begin * classifiers;
        coefficients.add_outputs(worker.values.data(), rows, cols, block, b * block,
                                 !shared && b > 0, sums, worker.widened);
      }
      for (std::ptrdiff_t r = begin; divide && !shared && r < begin + rows; ++r) {
        scale_outputs(x, r, result, worker.scratch);
      }
    };
    guarded(function, [&] {
      parallel_for(pool, chunks * parts, evaluate);
      for (std::ptrdiff_t r = 0; shared && r < n; ++r) {
        for (std::ptrdiff_t b = 0; b < z.block_count(); ++b) {
          const double* const sums = block_sums.data() + (b * n + r) * classifiers;
          for (std::ptrdiff_t c = 0; c < classifiers; ++c) {
            result(r, c) = b == 0 ? sums[c] : result(r, c) + sums[c];
          }
        }
        if (divide) scale_outputs(x, r, result, workers[0].scratch);
      }
    });
    check_sums(result, function);
    return result;
  }

  template <class I>
  [[nodiscard]] Eigen::MatrixXd outputs_of(const PreparedInputs<I>& x,
                                           const PackedSupport<Inputs>& /*z*/,
                                           const LinearWeights& weights, bool divide,
                                           unsigned threads, std::string_view function) const {
    const LinearRows<I> rows(linear_form(kernel_).value(), x);
    const std::vector<PointIndex> all = first_points(weights.classifiers);
    RowMatrix<double> result(x.size(), weights.classifiers);
    constexpr std::ptrdiff_t height = 256;
    struct Worker {
      BlockScratch<Scalar> scratch;
      typename LinearRows<I>::Scratch row;
    };
    const std::ptrdiff_t chunks = (x.size() + height - 1) / height;
    const auto pool = static_cast<unsigned>(std::clamp<std::ptrdiff_t>(chunks, 1, threads));
    std::vector<Worker> workers(pool);
    guarded(function, [&] {
      parallel_for(pool, chunks, [&](unsigned number, std::ptrdiff_t chunk) {
        Worker& worker = workers[number];
        const std::ptrdiff_t end = std::min((chunk + 1) * height, x.size());
        for (std::ptrdiff_t r = chunk * height; r < end; ++r) {
          rows.outputs(r, weights, all, &result(r, 0), worker.row);
          if (divide) scale_outputs(x, r, result, worker.scratch);
        }
      });
    });
    check_sums(result, function);
    return result;
  }

  template <class I>
  void scale_outputs(const PreparedInputs<I>& x, std::ptrdiff_t r, RowMatrix<double>& result,
                     BlockScratch<Scalar>& scratch) const {
    const Scalar self = self_value(kernel_, x, static_cast<PointIndex>(r), scratch);
    const double scale = self > 0 ? 1 / std::sqrt(static_cast<double>(self)) : 0.0;
    double* const row = result.data() + r * result.cols();
    for (Eigen::Index c = 0; c < result.cols(); ++c) row[c] *= scale;
  }

  Biased<Kernel> kernel_;
  const Inputs& inputs_;
  std::span<const double> origin_;
  PackedSupport<Inputs> support_;
};

/// Support values of a `PrecomputedKernel`: the columns of the support among those of all training
/// points. `inputs` has these columns and no rows.
template <class T>
class SupportValues<PrecomputedKernel, RowMatrix<T>> {
 public:
  using Scalar = T;

  SupportValues(const PrecomputedKernel& /*kernel*/, double /*bias*/, const RowMatrix<T>& inputs,
                std::span<const PointIndex> support, std::span<const double> /*origin*/,
                std::string_view /*source*/)
      : points_(inputs.cols()), support_(support) {}

  /// Returns n x classifiers: sum_j coefficients(j, c) values(., support_j), without k(x, x).
  [[nodiscard]] Eigen::MatrixXd outputs(const RowMatrix<T>& values,
                                        const PackedCoefficients& coefficients, bool /*divide*/,
                                        unsigned /*threads*/, std::string_view function) const {
    RowMatrix<double> result = RowMatrix<double>::Zero(values.rows(), coefficients.classifiers());
    Buffer<double> widened;
    visit_columns(
        values, function, [&](std::ptrdiff_t begin, std::ptrdiff_t rows, const T* chosen) {
          coefficients.outputs(chosen, rows, std::ssize(support_), &result(begin, 0), widened);
        });
    check_sums(result, function);
    return result;
  }

  /// Returns the outputs, with `divide` over sqrt(k(x, x)).
  [[nodiscard]] Eigen::MatrixXd outputs(const PrecomputedRows<T>& rows,
                                        const PackedCoefficients& coefficients, bool divide,
                                        unsigned threads, std::string_view function) const {
    check_diagonal(rows, function);
    Eigen::MatrixXd result = outputs(rows.values, coefficients, divide, threads, function);
    for (Eigen::Index i = 0; divide && i < result.rows(); ++i) {
      result.row(i) /= std::sqrt(rows.diagonal[i]);
    }
    check_sums(result, function);
    return result;
  }

  /// Calls visit as for other kernels, but on this thread alone.
  template <class Visit>
  void visit_values(const PrecomputedRows<T>& rows, unsigned /*threads*/, std::string_view function,
                    Visit&& visit) const {
    check_diagonal(rows, function);
    visit_columns(rows.values, function,
                  [&](std::ptrdiff_t begin, std::ptrdiff_t count, const T* chosen) {
                    visit(0U, begin, count, chosen, rows.diagonal.data() + begin);
                  });
  }

 private:
  static void check_diagonal(const PrecomputedRows<T>& rows, std::string_view function) {
    check_size(function, "diagonal", rows.diagonal.size(), rows.values.rows(), "one per input");
    for (Eigen::Index i = 0; i < rows.diagonal.size(); ++i) {
      check(std::isfinite(rows.diagonal[i]) && rows.diagonal[i] > 0, function, "diagonal", "at ", i,
            " is ", rows.diagonal[i], ", must be positive and finite");
    }
  }

  template <class Visit>
  void visit_columns(const RowMatrix<T>& values, std::string_view function, Visit&& visit) const {
    check_size(function, "inputs", values.cols(), points_, "columns: one per training point");
    check_inputs(values, function);
    constexpr Eigen::Index height = 96;
    RowMatrix<T> chosen(height, std::ssize(support_));
    for (Eigen::Index begin = 0; begin < values.rows(); begin += height) {
      const Eigen::Index count = std::min(height, values.rows() - begin);
      for (Eigen::Index r = 0; r < count; ++r) {
        for (Eigen::Index s = 0; s < chosen.cols(); ++s) {
          chosen(r, s) = values(begin + r, support_[s]);
        }
      }
      visit(begin, count, chosen.data());
    }
  }

  std::ptrdiff_t points_;
  std::span<const PointIndex> support_;
};

}}}  // namespace bpm::detail
