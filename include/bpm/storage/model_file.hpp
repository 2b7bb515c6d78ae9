// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <istream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/storage/durable_file.hpp"
#include "bpm/storage/json_fields.hpp"
#include "bpm/storage/stored_kernel.hpp"
#include "bpm/storage/tensor_file.hpp"
#include "bpm/version.hpp"

namespace bpm {

namespace detail {

inline constexpr int model_format = 1;
inline constexpr std::string_view model_kind = "bpm classifier";

/// The parts that are no arrays.
template <class Parts, class Visit>
void visit_model(Parts& parts, Visit&& visit) {
  visit("classes", parts.classes);
  visit("divide_by_self", parts.divide_by_self);
  visit("bias", parts.bias);
  visit("draw_numbers", parts.draw_numbers);
  visit("draw_weights", parts.draw_weights);
  visit("mean_norms", parts.mean_norms);
  visit("training_margins", parts.training_margins);
  visit("training_errors", parts.training_errors);
  visit("class_names", parts.class_names);
  visit("slope", parts.slope);
  visit("boundary", parts.boundary);
  visit("warnings", parts.warnings);
  visit("report", parts.report);
  visit("forecast", parts.forecast);
  visit("training_seconds", parts.training_seconds);
}

template <class Matrix>
[[nodiscard]] std::span<const typename Matrix::Scalar> values_of_matrix(const Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.size())};
}
template <class Matrix>
[[nodiscard]] std::vector<std::size_t> shape_of(const Matrix& matrix) {
  return {static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols())};
}

/// A matrix of the file. \throws DataError.
template <class Scalar>
[[nodiscard]] RowMatrix<Scalar> read_matrix(const TensorFile& file, const std::string& key) {
  const TensorFile::Shape shape = file.shape(key);
  ensure<DataError>(shape.columns <= std::numeric_limits<std::uint32_t>::max(), file.name(),
                    ": the array '", key, "' has ", shape.columns, " columns, which are too many");
  RowMatrix<Scalar> matrix(static_cast<Eigen::Index>(shape.rows),
                           static_cast<Eigen::Index>(shape.columns));
  file.copy(key, matrix.data());
  return matrix;
}

/// How inputs of a kind lie in a file.
template <class Inputs>
struct StoredInputs {
  static constexpr bool known = false;
};

template <TensorElement Scalar>
struct StoredInputs<RowMatrix<Scalar>> {
  using Inputs = RowMatrix<Scalar>;
  static constexpr bool known = true;
  static constexpr std::string_view name = "dense";
  static void write(const Inputs& inputs, TensorFileWriter& file) {
    file.add("inputs", shape_of(inputs), values_of_matrix(inputs));
  }
  [[nodiscard]] static Inputs read(const TensorFile& file) {
    return read_matrix<Scalar>(file, "inputs");
  }
};

/// Compressed rows: where they end, columns, values.
template <SparseInputs Inputs>
struct StoredInputs<Inputs> {
  using Scalar = typename Inputs::Scalar;
  static constexpr bool known = true;
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
    const std::int64_t features = inputs.cols();
    file.add<std::int64_t>("inputs.features", {1}, std::span(&features, 1));
    file.add<std::int64_t>("inputs.ends", {ends.size()}, ends);
    file.add<std::int64_t>("inputs.columns", {columns.size()}, columns);
    file.add<Scalar>("inputs.values", {values.size()}, values);
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
          "have as many columns as values, or too many");
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

/// Bytes, one string after the other, and where each ends.
template <>
struct StoredInputs<std::vector<std::string>> {
  static constexpr bool known = true;
  static constexpr std::string_view name = "strings";
  static void write(const std::vector<std::string>& inputs, TensorFileWriter& file) {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> ends;
    for (const std::string& input : inputs) {
      bytes.insert(bytes.end(), input.begin(), input.end());
      ends.push_back(std::ssize(bytes));
    }
    file.add<std::uint8_t>("inputs.bytes", {bytes.size()}, bytes);
    file.add<std::int64_t>("inputs.ends", {ends.size()}, ends);
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

template <class C>
inline constexpr bool is_classifier = false;
template <class K, class I>
inline constexpr bool is_classifier<Classifier<K, I>> = true;

}  // namespace detail

/// A classifier as the bytes of a model file: docs/model-files.md says what they are. Everything
/// that `ClassifierParts` holds, but for the number of threads. Cost: the parts, twice.
template <class Kernel, InputSet Inputs>
[[nodiscard]] std::vector<std::byte> model_bytes(const Classifier<Kernel, Inputs>& classifier) {
  using Stored = detail::StoredInputs<Inputs>;
  static_assert(Stored::known || std::same_as<Kernel, PrecomputedKernel>,
                "models are saved with dense, sparse or string inputs: these are others");
  const auto& parts = classifier.parts();
  detail::TensorFileWriter file;
  file.set("kind", std::string(detail::model_kind));
  file.set("format", std::to_string(detail::model_format));
  file.set("library", detail::join(version_major, ".", version_minor, ".", version_patch));
  try {
    file.set("kernel", detail::kernel_to_json(parts.kernel).dump());
  } catch (const nlohmann::json::exception& error) {
    detail::fail("save", "kernel", "cannot be written: ", error.what());
  }
  nlohmann::json model = nlohmann::json::object();
  detail::visit_model(parts, [&](const char* name, const auto& field) {
    if constexpr (detail::is_optional<std::remove_cvref_t<decltype(field)>>) {
      if (field) model[name] = detail::to_json_value(*field);
    } else {
      model[name] = detail::to_json_value(field);
    }
  });
  try {
    file.set("model", model.dump());
  } catch (const nlohmann::json::exception&) {  // The only strings of a user's in it.
    detail::fail("save", "class_names", "are not in UTF-8, must be");
  }
  const std::vector<std::int64_t> support(parts.support.begin(), parts.support.end());
  file.add<std::int64_t>("support", {support.size()}, support);
  file.add("coefficients", detail::shape_of(parts.coefficients),
           detail::values_of_matrix(parts.coefficients));
  if (!parts.draw_numbers.empty()) {
    file.add("draw_coefficients", detail::shape_of(parts.draw_coefficients),
             detail::values_of_matrix(parts.draw_coefficients));
  }
  if (parts.standardisation) {
    const Standardisation& scaling = *parts.standardisation;
    file.add("standardisation.mean", {static_cast<std::size_t>(scaling.mean.size())},
             detail::values_of_matrix(scaling.mean));
    file.add("standardisation.deviation", {static_cast<std::size_t>(scaling.deviation.size())},
             detail::values_of_matrix(scaling.deviation));
    const std::vector<std::int64_t> constant(scaling.constant.begin(), scaling.constant.end());
    file.add<std::int64_t>("standardisation.constant", {constant.size()}, constant);
  }
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    file.set("inputs", "kernel values");
    const std::int64_t points = parts.inputs.cols();
    file.add<std::int64_t>("inputs.points", {1}, std::span(&points, 1));
  } else {
    file.set("inputs", std::string(Stored::name));
    Stored::write(parts.inputs, file);
  }
  return file.bytes();
}

/// The classifier in the bytes of a model file, which may be any bytes. Bit for bit what was saved:
/// in the same program it predicts the same numbers. `name` stands in messages.
/// \throws DataError on bytes that are no model, or one of another kernel, kind of inputs or later
///         format; no more memory is taken than a small multiple of the bytes.
template <class C>
  requires detail::is_classifier<C>
[[nodiscard]] C load(std::span<const std::byte> bytes, const std::string& name = "the model") {
  using Parts = typename C::Parts;
  using Kernel = std::remove_cvref_t<decltype(std::declval<Parts>().kernel)>;
  using Inputs = std::remove_cvref_t<decltype(std::declval<Parts>().inputs)>;
  using Stored = detail::StoredInputs<Inputs>;
  constexpr bool brought = std::same_as<Kernel, PrecomputedKernel>;
  static_assert(Stored::known || brought,
                "models are loaded with dense, sparse or string inputs: these are others");
  const detail::TensorFile file(bytes, name);
  detail::ensure<DataError>(file.has("kind") && file.text("kind") == detail::model_kind, name,
                            " is no model of this library");
  const std::string& format = file.text("format");
  detail::ensure<DataError>(format == std::to_string(detail::model_format), name, " is of format ",
                            format, ", this library reads format ", detail::model_format,
                            "; take the library's version that wrote it, ", file.text("library"));
  const std::string_view wanted = brought ? std::string_view("kernel values") : Stored::name;
  detail::ensure<DataError>(file.text("inputs") == wanted, name, " has inputs of the kind '",
                            file.text("inputs"), "', expected '", wanted, "'");
  const auto json = [&](const char* key) {
    return detail::parse_json(file.text(key), detail::join(name, ": '", key, "'"));
  };
  Parts parts{detail::kernel_from_json<Kernel>(json("kernel"), name), {}, {}, {}, {}};
  const nlohmann::json model = json("model");
  detail::ensure<DataError>(model.is_object(), name, ": 'model' is no JSON object");
  detail::visit_model(parts, [&](const char* key, auto& field) {
    const auto found = model.find(key);
    const std::string where = detail::join(name, ": model.", key);
    if constexpr (detail::is_optional<std::remove_cvref_t<decltype(field)>>) {
      if (found != model.end()) detail::from_json_value(*found, field.emplace(), where);
    } else {
      detail::ensure<DataError>(found != model.end(), where, " is missing");
      detail::from_json_value(*found, field, where);
    }
  });
  for (const std::int64_t point : file.list<std::int64_t>("support")) {
    detail::ensure<DataError>(std::in_range<PointIndex>(point), name, ": the support point ", point,
                              " is out of range");
    parts.support.push_back(static_cast<PointIndex>(point));
  }
  parts.coefficients = detail::read_matrix<double>(file, "coefficients");
  if (!parts.draw_numbers.empty()) {
    parts.draw_coefficients = detail::read_matrix<double>(file, "draw_coefficients");
  }
  if (file.has_array("standardisation.mean")) {
    Standardisation scaling;
    scaling.mean = detail::read_matrix<double>(file, "standardisation.mean").reshaped().transpose();
    scaling.deviation =
        detail::read_matrix<double>(file, "standardisation.deviation").reshaped().transpose();
    for (const std::int64_t column : file.list<std::int64_t>("standardisation.constant")) {
      scaling.constant.push_back(static_cast<Eigen::Index>(column));
    }
    parts.standardisation = std::move(scaling);
  }
  if constexpr (brought) {
    const auto points = file.list<std::int64_t>("inputs.points");
    detail::ensure<DataError>(
        points.size() == 1 && std::in_range<PointIndex>(points[0]) && points[0] >= 0, name,
        ": the number of training points is missing");
    parts.inputs.resize(0, static_cast<Eigen::Index>(points[0]));
  } else {
    parts.inputs = Stored::read(file);
  }
  try {
    return C(std::move(parts));
  } catch (const std::invalid_argument& error) {
    throw DataError(detail::join(name, ": ", error.what()));
  }
}

/// Writes a model file: to a file beside it, to the disk, then under its name, so that the name
/// stands for a whole file at any moment. \throws CheckpointError where that cannot be done; what
/// was there before is whole.
template <class Kernel, InputSet Inputs>
void save(const Classifier<Kernel, Inputs>& classifier, const std::filesystem::path& path) {
  detail::write_durably(path, model_bytes(classifier), "model", "");
}
/// \throws std::ios_base::failure unless the stream takes all.
template <class Kernel, InputSet Inputs>
void save(const Classifier<Kernel, Inputs>& classifier, std::ostream& out) {
  const std::vector<std::byte> bytes = model_bytes(classifier);
  out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  if (!out.flush()) throw std::ios_base::failure("save: the stream did not take the model");
}

/// To the stream's end. \throws DataError as above.
template <class C>
  requires detail::is_classifier<C>
[[nodiscard]] C load(std::istream& in, const std::string& name = "the model") {
  std::vector<std::byte> bytes;
  std::array<char, 1 << 16> block;
  while (in.read(block.data(), block.size()), in.gcount() > 0) {
    const auto* begin = reinterpret_cast<const std::byte*>(block.data());
    bytes.insert(bytes.end(), begin, begin + in.gcount());
  }
  detail::ensure<DataError>(!in.bad(), name, " cannot be read");
  return load<C>(std::span<const std::byte>(bytes), name);
}

/// \throws DataError as above; where the file cannot be read.
template <class C>
  requires detail::is_classifier<C>
[[nodiscard]] C load(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  detail::ensure<DataError>(in && !std::filesystem::is_directory(path), path.string(),
                            " cannot be read");
  return load<C>(in, path.string());
}
}  // namespace bpm
