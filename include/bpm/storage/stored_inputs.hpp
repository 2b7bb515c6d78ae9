// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/storage/tensor_file.hpp"

/// \file
/// Matrices and inputs as arrays of a file, and their readers.

namespace bpm { inline namespace BPM_TARGET {

/// Conversion of one's own input type to bytes in model files and back. Numbers and strings need
/// none; for a type of one's own:
///
///     template <>
///     struct bpm::StoredInput<Molecule> {
///       static std::string bytes(const Molecule& m) { return m.smiles(); }
///       static Molecule make(std::string_view bytes) { return Molecule(bytes); }
///     };
///
/// `make(bytes(input))` must have the kernel values of `input`. Its argument may be any bytes of a
/// file; it may throw std::invalid_argument, which `load` turns into DataError.
template <class Input>
struct StoredInput;

namespace detail {

/// Returns the shape of a matrix of the file. \throws DataError.
[[nodiscard]] inline TensorFile::Shape matrix_shape(const TensorFile& file,
                                                    const std::string& key) {
  const TensorFile::Shape shape = file.shape(key);
  ensure<DataError>(shape.columns <= std::numeric_limits<std::uint32_t>::max(), file.name(),
                    ": the array '", key, "' has ", shape.columns, " columns, which are too many");
  return shape;
}
/// Reads a matrix of the file. \throws DataError.
template <class Scalar>
[[nodiscard]] RowMatrix<Scalar> read_matrix(const TensorFile& file, const std::string& key) {
  const TensorFile::Shape shape = matrix_shape(file, key);
  RowMatrix<Scalar> matrix(static_cast<Eigen::Index>(shape.rows),
                           static_cast<Eigen::Index>(shape.columns));
  file.copy(key, matrix.data());
  return matrix;
}

/// Storage of a type of inputs in files. Writers refer to dense inputs without a copy.
template <class Inputs>
struct StoredInputs;

template <TensorElement Scalar>
struct StoredInputs<RowMatrix<Scalar>> {
  static constexpr std::string_view name = "dense";
  static void write(const auto& inputs, TensorFileWriter& file) { file.refer("inputs", inputs); }
  [[nodiscard]] static RowMatrix<Scalar> read(const TensorFile& file) {
    return read_matrix<Scalar>(file, "inputs");
  }
};

/// Dense inputs read in place.
template <TensorElement Scalar>
struct StoredInputs<Eigen::Map<const RowMatrix<Scalar>>> : StoredInputs<RowMatrix<Scalar>> {
  [[nodiscard]] static Eigen::Map<const RowMatrix<Scalar>> read(const TensorFile& file) {
    const TensorFile::Shape shape = matrix_shape(file, "inputs");
    return {file.place<Scalar>("inputs"), static_cast<Eigen::Index>(shape.rows),
            static_cast<Eigen::Index>(shape.columns)};
  }
};

/// Inputs that queries bring as kernel values: a matrix with a column per training point, whose
/// number alone is stored.
template <class Inputs>
struct StoredPointCount {
  static constexpr std::string_view name = "kernel values";
  static void write(const Inputs& inputs, TensorFileWriter& file) {
    file.keep("inputs.points", std::vector<std::int64_t>{inputs.cols()});
  }
  [[nodiscard]] static Inputs read(const TensorFile& file) {
    const auto points = file.list<std::int64_t>("inputs.points");
    ensure<DataError>(points.size() == 1 && std::in_range<PointIndex>(points[0]) && points[0] >= 0,
                      file.name(), ": the number of training points is missing");
    return Inputs(0, static_cast<Eigen::Index>(points[0]));
  }
};

/// Sparse inputs as compressed rows: ends of the rows, columns, values.
template <SparseInputs Inputs>
struct StoredInputs<Inputs> {
  using Scalar = typename Inputs::Scalar;
  static constexpr std::string_view name = "sparse";

  static void write(const Inputs& inputs, TensorFileWriter& file) {
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> columns;
    std::vector<Scalar> values;
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      for (typename Inputs::InnerIterator entry(inputs, i); entry; ++entry) {
        columns.push_back(entry.col());
        values.push_back(entry.value());
      }
      ends.push_back(std::ssize(columns));
    }
    file.keep("inputs.features", std::vector<std::int64_t>{inputs.cols()});
    file.keep("inputs.ends", std::move(ends));
    file.keep("inputs.columns", std::move(columns));
    file.keep("inputs.values", std::move(values));
  }

  [[nodiscard]] static Inputs read(const TensorFile& file) {
    const auto sound = [&](bool holds, std::string_view what) {
      ensure<DataError>(holds, file.name(), ": the sparse inputs ", what);
    };
    const auto features = file.list<std::int64_t>("inputs.features");
    const auto ends = file.list<std::int64_t>("inputs.ends");
    const auto columns = file.list<std::int64_t>("inputs.columns");
    const auto values = file.list<Scalar>("inputs.values");
    sound(features.size() == 1 && features[0] >= 0 &&
              features[0] <= std::numeric_limits<typename Inputs::StorageIndex>::max(),
          "have no number of features");
    sound(columns.size() == values.size() &&
              columns.size() <= static_cast<std::size_t>(
                                    std::numeric_limits<typename Inputs::StorageIndex>::max()),
          "have more or fewer columns than values, or too many");
    Inputs inputs(std::ssize(ends), features[0]);
    inputs.reserve(std::ssize(values));
    std::int64_t begin = 0;
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      sound(begin <= ends[i] && ends[i] <= std::ssize(columns), "have rows that do not ascend");
      inputs.startVec(i);
      for (std::int64_t k = begin; k < ends[i]; ++k) {
        sound(columns[k] >= (k == begin ? 0 : columns[k - 1] + 1) && columns[k] < features[0],
              "have columns that do not ascend, or beyond the last");
        inputs.insertBack(i, static_cast<Eigen::Index>(columns[k])) = values[k];
      }
      begin = ends[i];
    }
    sound(begin == std::ssize(columns), "have values behind the last row");
    inputs.finalize();
    return inputs;
  }
};

/// Strings as bytes, one string after the other, with the end of each.
template <>
struct StoredInputs<std::vector<std::string>> {
  static constexpr std::string_view name = "strings";
  static void write(const std::vector<std::string>& inputs, TensorFileWriter& file) {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> ends;
    for (const std::string& input : inputs) {
      bytes.insert(bytes.end(), input.begin(), input.end());
      ends.push_back(std::ssize(bytes));
    }
    file.keep("inputs.bytes", std::move(bytes));
    file.keep("inputs.ends", std::move(ends));
  }
  [[nodiscard]] static std::vector<std::string> read(const TensorFile& file) {
    const auto bytes = file.list<std::uint8_t>("inputs.bytes");
    std::vector<std::string> inputs;
    std::int64_t begin = 0;
    for (const std::int64_t end : file.list<std::int64_t>("inputs.ends")) {
      ensure<DataError>(begin <= end && end <= std::ssize(bytes), file.name(),
                        ": the strings do not ascend");
      inputs.emplace_back(bytes.begin() + begin, bytes.begin() + end);
      begin = end;
    }
    ensure<DataError>(begin == std::ssize(bytes), file.name(), ": bytes behind the last string");
    return inputs;
  }
};

template <class Input>
concept StorableInput = requires(const Input& input, std::string_view bytes) {
  { StoredInput<Input>::bytes(input) } -> std::convertible_to<std::string>;
  { StoredInput<Input>::make(bytes) } -> std::same_as<Input>;
};

/// Inputs as strings that the user's functions convert.
template <StorableInput Input>
struct StoredInputs<std::vector<Input>> {
  static constexpr std::string_view name = "own";
  static void write(const std::vector<Input>& inputs, TensorFileWriter& file) {
    std::vector<std::string> texts;
    for (const Input& input : inputs) texts.push_back(StoredInput<Input>::bytes(input));
    StoredInputs<std::vector<std::string>>::write(texts, file);
  }
  [[nodiscard]] static std::vector<Input> read(const TensorFile& file) {
    std::vector<Input> inputs;
    for (const std::string& bytes : StoredInputs<std::vector<std::string>>::read(file)) {
      try {
        inputs.push_back(StoredInput<Input>::make(bytes));
      } catch (const std::invalid_argument& error) {
        throw DataError(join(file.name(), ": input ", inputs.size(), ": ", error.what()));
      }
    }
    return inputs;
  }
};

}  // namespace detail
}}  // namespace bpm
