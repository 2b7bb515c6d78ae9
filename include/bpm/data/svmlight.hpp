// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <istream>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"
#if BPM_BODIES
#include "bpm/data/text.hpp"
#endif

/// \file
/// The text format of SVMlight and LIBSVM: a line is `label index:value index:value ...`, indices
/// counting from 1 and ascending, absent values 0, comments from '#' to the end of the line.
/// (T. Joachims, SVMlight; C.-C. Chang, C.-J. Lin, LIBSVM.)

namespace bpm { inline namespace BPM_TARGET {

#if BPM_BODIES
namespace detail {

/// Entries of a file in the SVMlight format: row i has entries starts[i] .. starts[i + 1] - 1.
template <class Scalar>
struct SvmlightEntries {
  std::vector<int> labels;
  std::vector<std::size_t> starts{0};
  std::vector<int> columns;  ///< Column of each entry, from 0.
  std::vector<Scalar> values;
  Eigen::Index width = 0;
  std::vector<std::string> notes;  ///< Notes for `LabelledData::notes`.
};

template <class Scalar>
[[nodiscard]] SvmlightEntries<Scalar> read_svmlight_entries(std::istream& stream,
                                                            std::string_view name,
                                                            Eigen::Index columns) {
  constexpr int limit = std::numeric_limits<int>::max();
  check(columns >= 0 && columns <= limit, "read_svmlight", "columns", "is ", columns,
        ", must be 0 (as in the file) or a number of columns below 2^31");
  const int largest = columns > 0 ? static_cast<int>(columns) : limit;
  std::size_t beyond = 0;
  SvmlightEntries<Scalar> entries;
  Lines lines(stream, name);
  while (lines.next()) {
    std::string_view rest = lines.text();
    rest = trim(rest.substr(0, rest.find('#')));
    if (rest.empty()) {
      continue;
    }
    const auto next_token = [&rest] {
      const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
      const std::string_view token = rest.substr(0, end);
      rest = trim(rest.substr(end));
      return token;
    };
    entries.labels.push_back(parse_label(next_token(), name, ":", lines.number(), ": "));
    int previous = 0;
    bool first = true;
    while (!rest.empty()) {
      const std::string_view token = next_token();
      const std::size_t colon = token.find(':');
      ensure<DataError>(colon != std::string_view::npos, name, ":", lines.number(), ": found ",
                        Quoted{token}, ", expected index:value");
      if (std::exchange(first, false) && token.substr(0, colon) == "qid") {
        continue;
      }
      const std::optional<int> index = parse_number<int>(token.substr(0, colon));
      ensure<DataError>(index && *index >= 1, name, ":", lines.number(), ": found index ",
                        Quoted{token.substr(0, colon)}, ", expected an integer from 1 to ", limit);
      ensure<DataError>(*index > previous, name, ":", lines.number(), ": found index ", *index,
                        " after ", previous, ", expected ascending indices");
      previous = *index;
      // The comparison is also false for NaN.
      const auto value = parse_number<double>(token.substr(colon + 1));
      ensure<DataError>(value && std::abs(*value) <= double{std::numeric_limits<Scalar>::max()},
                        name, ":", lines.number(), ": index ", *index, ": found ",
                        Quoted{token.substr(colon + 1)}, ", expected a finite number");
      const auto rounded = static_cast<Scalar>(*value);  // Tiny values become 0, and no errors.
      if (*index > largest) {
        ++beyond;
      } else if (rounded != Scalar{0}) {
        entries.columns.push_back(*index - 1);
        entries.values.push_back(rounded);
      }
    }
    entries.width = std::max<Eigen::Index>(entries.width, previous);
    entries.starts.push_back(entries.values.size());
  }
  ensure<DataError>(!entries.labels.empty(), name, ":", lines.number(),
                    ": found the end, expected a line of data");
  if (columns > 0) {
    entries.width = columns;
  }
  if (beyond > 0) {
    entries.notes.push_back(join(name, ": ", beyond, beyond == 1 ? " value is" : " values are",
                                 " of features beyond the ", columns, " expected, and ignored"));
  }
  return entries;
}

}  // namespace detail
#endif

/// Reads a file in the SVMlight format into a dense matrix. It skips a `qid:` pair after the label
/// (ranking groups), which classification does not use.
///
/// `columns`: number of columns of the result; 0: the largest index in the file. A test set needs
/// the number of its training set, since its last columns may all be 0; further features, unknown
/// in training, are ignored, and a note reports their number.
/// Cost: one pass, O(entries) memory while reading, then rows x columns for the result, `limit`
/// bytes at most.
/// \throws DataError that names the line where a label is not an integer, a pair is not
/// index:value, an index is not from 1 to 2^31 - 1 or does not ascend, or a value is
/// not finite; where there is no line of data; and where the result is larger than the limit.
/// \throws std::invalid_argument where columns is negative or not below 2^31.
template <class Scalar = double>
[[nodiscard]] LabelledData<RowMatrix<Scalar>> read_svmlight_dense(
    std::istream& stream, std::string_view name = "SVMlight stream", Eigen::Index columns = 0,
    std::size_t limit = detail::default_limit);

/// Reads a dense matrix from a file: a path or `GzipFile`.
template <class Scalar = double, detail::File File>
[[nodiscard]] LabelledData<RowMatrix<Scalar>> read_svmlight_dense(
    const File& file, Eigen::Index columns = 0, std::size_t limit = detail::default_limit) {
  const detail::OpenFile opened = detail::open(file);
  return read_svmlight_dense<Scalar>(*opened.stream, opened.name, columns, limit);
}

/// Reads a file in the SVMlight format into a compressed sparse matrix with fewer than 2^31
/// entries. It does not store entries written as 0. Otherwise as read_svmlight_dense; memory is
/// O(rows + entries), twice that while reading.
template <class Scalar = double>
[[nodiscard]] LabelledData<Eigen::SparseMatrix<Scalar, Eigen::RowMajor>> read_svmlight_sparse(
    std::istream& stream, std::string_view name = "SVMlight stream", Eigen::Index columns = 0);

/// Reads a sparse matrix from a file: a path or `GzipFile`.
template <class Scalar = double, detail::File File>
[[nodiscard]] LabelledData<Eigen::SparseMatrix<Scalar, Eigen::RowMajor>> read_svmlight_sparse(
    const File& file, Eigen::Index columns = 0) {
  const detail::OpenFile opened = detail::open(file);
  return read_svmlight_sparse<Scalar>(*opened.stream, opened.name, columns);
}

#if BPM_BODIES

template <class Scalar>
LabelledData<RowMatrix<Scalar>> read_svmlight_dense(std::istream& stream, std::string_view name,
                                                    Eigen::Index columns, std::size_t limit) {
  auto entries = detail::read_svmlight_entries<Scalar>(stream, name, columns);
  const auto width = static_cast<std::size_t>(entries.width);
  detail::ensure<DataError>(width == 0 || entries.labels.size() <= limit / sizeof(Scalar) / width,
                            name, ": found ", entries.labels.size(), " rows of ", width,
                            " columns, which dense take more than ", limit,
                            " bytes, the limit; read them sparse, or give a larger one");
  LabelledData<RowMatrix<Scalar>> data;
  data.inputs.setZero(std::ssize(entries.labels), entries.width);
  for (Eigen::Index row = 0; row < data.inputs.rows(); ++row) {
    for (std::size_t e = entries.starts[row]; e < entries.starts[row + 1]; ++e) {
      data.inputs(row, entries.columns[e]) = entries.values[e];
    }
  }
  data.labels = std::move(entries.labels);
  data.notes = std::move(entries.notes);
  return data;
}

template <class Scalar>
LabelledData<Eigen::SparseMatrix<Scalar, Eigen::RowMajor>> read_svmlight_sparse(
    std::istream& stream, std::string_view name, Eigen::Index columns) {
  using Matrix = Eigen::SparseMatrix<Scalar, Eigen::RowMajor>;
  auto entries = detail::read_svmlight_entries<Scalar>(stream, name, columns);
  detail::ensure<DataError>(std::ssize(entries.values) <= std::numeric_limits<int>::max(), name,
                            ": found ", entries.values.size(),
                            " entries, expected fewer than 2^31");
  // Fills the arrays of a matrix in its place: Eigen's copy of a view takes memory for twice the
  // columns, and its sparse matrices are copied, not moved; a copy that lacks memory loses its
  // source.
  LabelledData<Matrix> data{Matrix(std::ssize(entries.labels), entries.width),
                            std::move(entries.labels)};
  data.inputs.resizeNonZeros(std::ssize(entries.values));
  std::copy(entries.starts.begin(), entries.starts.end(), data.inputs.outerIndexPtr());
  std::copy(entries.columns.begin(), entries.columns.end(), data.inputs.innerIndexPtr());
  std::copy(entries.values.begin(), entries.values.end(), data.inputs.valuePtr());
  data.notes = std::move(entries.notes);
  return data;
}

#endif

}}  // namespace bpm
