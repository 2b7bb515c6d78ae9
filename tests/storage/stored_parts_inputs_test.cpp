// SPDX-License-Identifier: MIT
#include "bpm/storage/stored_parts.hpp"

#include <Eigen/SparseCore>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bpm/kernels/kernel.hpp"
#include "bpm/storage/tensor_file.hpp"
#include "catch.hpp"
#include "message_of.hpp"

namespace stored_inputs_tests {

using bpm::detail::TensorFile;
using bpm::detail::TensorFileWriter;
using test_support::message_of;
using Sparse = bpm::SparseRowMatrix<double>;
using Words = std::vector<std::string>;

template <class Inputs>
Inputs read(TensorFileWriter& writer) {
  const std::vector<std::byte> bytes = writer.bytes();
  return bpm::detail::StoredInputs<Inputs>::read(TensorFile(bytes, "f"));
}

/// The arrays of a sparse matrix: 2 rows, 3 columns, (0, 1) and (0, 2) and (1, 0) are 4, 5, 6.
struct SparseArrays {
  std::vector<std::int64_t> features{3};
  std::vector<std::int64_t> ends{2, 3};
  std::vector<std::int64_t> columns{1, 2, 0};
  std::vector<double> values{4, 5, 6};

  [[nodiscard]] Sparse matrix() const {
    TensorFileWriter writer;
    writer.keep("inputs.features", features);
    writer.keep("inputs.ends", ends);
    writer.keep("inputs.columns", columns);
    writer.keep("inputs.values", values);
    return read<Sparse>(writer);
  }
};

std::string refusal_of_sparse(const SparseArrays& arrays) {
  return message_of([&] { (void)arrays.matrix(); });
}

Words words_of(const std::string& text, const std::vector<std::int64_t>& ends) {
  TensorFileWriter writer;
  writer.keep("inputs.bytes", std::vector<std::uint8_t>(text.begin(), text.end()));
  writer.keep("inputs.ends", ends);
  return read<Words>(writer);
}

TEST_CASE("sparse inputs are compressed rows") {
  const Eigen::MatrixXd expected{{0, 4, 5}, {6, 0, 0}};
  CHECK(Eigen::MatrixXd(SparseArrays{}.matrix()) == expected);
  TensorFileWriter writer;
  bpm::detail::StoredInputs<Sparse>::write(Sparse(expected.sparseView()), writer);
  const std::vector<std::byte> bytes = writer.bytes();
  const TensorFile file(bytes, "f");
  CHECK(file.list<std::int64_t>("inputs.features") == SparseArrays{}.features);
  CHECK(file.list<std::int64_t>("inputs.ends") == SparseArrays{}.ends);
  CHECK(file.list<std::int64_t>("inputs.columns") == SparseArrays{}.columns);
  CHECK(file.list<double>("inputs.values") == SparseArrays{}.values);
}

TEST_CASE("sparse inputs that are none are refused by a sentence") {
  const std::string number = "f: the sparse inputs have no number of features";
  CHECK(refusal_of_sparse({.features = {}}) == number);
  CHECK(refusal_of_sparse({.features = {3, 3}}) == number);
  CHECK(refusal_of_sparse({.features = {-1}}) == number);
  CHECK(refusal_of_sparse({.features = {std::int64_t{1} << 31U}}) == number);
  CHECK(refusal_of_sparse({.values = {4, 5}}) ==
        "f: the sparse inputs have more or fewer columns than values, or too many");
  const std::string rows = "f: the sparse inputs have rows that do not ascend";
  CHECK(refusal_of_sparse({.ends = {2, 1}}) == rows);
  CHECK(refusal_of_sparse({.ends = {-1, 3}}) == rows);
  CHECK(refusal_of_sparse({.ends = {2, 4}}) == rows);
  const std::string columns =
      "f: the sparse inputs have columns that do not ascend, or beyond the last";
  CHECK(refusal_of_sparse({.columns = {1, 1, 0}}) == columns);
  CHECK(refusal_of_sparse({.columns = {2, 1, 0}}) == columns);
  CHECK(refusal_of_sparse({.columns = {-1, 2, 0}}) == columns);
  CHECK(refusal_of_sparse({.columns = {1, 3, 0}}) == columns);
  CHECK(refusal_of_sparse({.ends = {2, 2}}) ==
        "f: the sparse inputs have values behind the last row");
}

TEST_CASE("strings lie one after the other, and end where the file says") {
  CHECK(words_of("abcde", {2, 2, 5}) == Words{"ab", "", "cde"});
  CHECK(words_of("", {}).empty());
  const auto refusal = [](const std::string& text, const std::vector<std::int64_t>& ends) {
    return message_of([&] { (void)words_of(text, ends); });
  };
  CHECK(refusal("abcde", {3, 2, 5}) == "f: the strings do not ascend");
  CHECK(refusal("abcde", {-1, 5}) == "f: the strings do not ascend");
  CHECK(refusal("abcde", {2, 6}) == "f: the strings do not ascend");
  CHECK(refusal("abcde", {2, 4}) == "f: bytes behind the last string");
  CHECK(refusal("abcde", {}) == "f: bytes behind the last string");
}

}  // namespace stored_inputs_tests
