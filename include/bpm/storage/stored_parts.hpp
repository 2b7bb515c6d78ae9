// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/storage/stored_members.hpp"
#include "bpm/storage/tensor_file.hpp"

/// \file
/// Inputs as arrays of a file and kernels as JSON, and what one's own need for it.

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

/// Storage of a kernel in model files: a name, and its parameters as a JSON object. Kernels of the
/// library and their compositions have it; for a kernel of one's own:
///
///     template <>
///     struct bpm::StoredKernel<MyKernel> {
///       static constexpr std::string_view name = "my-kernel";
///       static nlohmann::json parameters(const MyKernel& k) { return {{"width", k.width}}; }
///       static MyKernel make(const nlohmann::json& p) { return {p.at("width").get<double>()}; }
///     };
///
/// `make` may throw std::invalid_argument or errors of the JSON library, which become DataError.
template <class Kernel>
struct StoredKernel;

namespace detail {

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
    constexpr std::int64_t most = std::numeric_limits<typename Inputs::StorageIndex>::max();
    sound(features.size() == 1 && features[0] >= 0 && features[0] <= most,
          "have no number of features");
    sound(columns.size() == values.size() && std::ssize(columns) <= most,
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

/// Inputs as strings that the user's functions convert.
template <class Input>
  requires requires(const Input& input, std::string_view bytes) {
    { StoredInput<Input>::bytes(input) } -> std::convertible_to<std::string>;
    { StoredInput<Input>::make(bytes) } -> std::same_as<Input>;
  }
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

template <class Kernel>
concept StorableKernel = requires(const Kernel& kernel, const nlohmann::json& parameters) {
  { StoredKernel<Kernel>::name } -> std::convertible_to<std::string_view>;
  { StoredKernel<Kernel>::parameters(kernel) } -> std::convertible_to<nlohmann::json>;
  { StoredKernel<Kernel>::make(parameters) } -> std::same_as<Kernel>;
};

/// Returns {"name": ..., parameters}; for a `RuntimeKernel` those of its actual kernel.
template <class Kernel>
[[nodiscard]] nlohmann::json kernel_to_json(const Kernel& kernel) {
  if constexpr (std::same_as<Kernel, RuntimeKernel>) {
    return kernel.visit([](const auto& one) { return kernel_to_json(one); });
  } else {
    static_assert(StorableKernel<Kernel>,
                  "a model with a kernel of one's own is saved by a specialisation of "
                  "bpm::StoredKernel for it; see bpm/storage/stored_parts.hpp");
    nlohmann::json json = StoredKernel<Kernel>::parameters(kernel);
    json["name"] = StoredKernel<Kernel>::name;
    return json;
  }
}

template <class Kernel>
[[nodiscard]] Kernel kernel_from_json(const nlohmann::json& json, std::string_view where);

/// Reads the one of these kernels that has this name; returns none if there is none.
template <class... Kernels>
[[nodiscard]] std::optional<RuntimeKernel> kernel_named(
    std::type_identity<std::variant<Kernels...>>, const std::string& name,
    const nlohmann::json& json, std::string_view where) {
  std::optional<RuntimeKernel> found;
  const auto try_one = [&]<class Kernel>(std::type_identity<Kernel>) {
    if (name != StoredKernel<Kernel>::name) return;
    const Kernel kernel = kernel_from_json<Kernel>(json, where);
    // A composition may have too many parts.
    found = made_of_file(where, [&] { return RuntimeKernel(kernel); });
  };
  (try_one(std::type_identity<Kernels>{}), ...);
  return found;
}

/// Reads a kernel. \throws DataError that begins with `where` on another kernel, or parameters that
/// it refuses.
template <class Kernel>
[[nodiscard]] Kernel kernel_from_json(const nlohmann::json& json, std::string_view where) {
  ensure<DataError>(json.is_object() && json.contains("name") && json["name"].is_string(), where,
                    ": the kernel has no name");
  const std::string name = json["name"].get<std::string>();
  if constexpr (std::same_as<Kernel, RuntimeKernel>) {
    auto kernel = kernel_named(std::type_identity<SingleKernels>{}, name, json, where);
    using Composed = ComposedKernels<RuntimeKernel>;
    if (!kernel) kernel = kernel_named(std::type_identity<Composed>{}, name, json, where);
    ensure<DataError>(kernel.has_value(), where, ": the kernel is '", name,
                      "', which a RuntimeKernel cannot be");
    return *kernel;
  } else {
    static_assert(StorableKernel<Kernel>,
                  "a model with a kernel of one's own is loaded by a specialisation of "
                  "bpm::StoredKernel for it; see bpm/storage/stored_parts.hpp");
    ensure<DataError>(name == StoredKernel<Kernel>::name, where, ": the kernel is '", name,
                      "', expected '", StoredKernel<Kernel>::name, "'");
    try {
      return StoredKernel<Kernel>::make(json);
    } catch (const std::bad_alloc&) {  // Not an error of the file.
      throw;
    } catch (const std::exception& error) {
      throw DataError(join(where, ": the kernel '", name, "' cannot be made: ", error.what()));
    }
  }
}

/// Returns an integer parameter. \throws DataError on anything but an integer that fits.
[[nodiscard]] inline int whole_parameter(const nlohmann::json& parameters, const char* name) {
  int value = 0;
  from_json_value(parameters.at(name), value, name);
  return value;
}

/// Kernels without parameters.
template <class Kernel>
struct StoredPlainKernel {
  static nlohmann::json parameters(const Kernel&) { return nlohmann::json::object(); }
  static Kernel make(const nlohmann::json&) { return {}; }
};
/// Kernels of a width.
template <class Kernel>
struct StoredWidthKernel {
  static nlohmann::json parameters(const Kernel& k) { return {{"sigma", k.sigma()}}; }
  static Kernel make(const nlohmann::json& p) { return Kernel(p.at("sigma").get<double>()); }
};
/// Parameters of a kernel of another kernel.
template <class Kernel>
struct StoredOuterKernel {
  static nlohmann::json parameters(const Kernel& k) { return {{"inner", kernel_to_json(k.inner)}}; }
};

}  // namespace detail

template <>
struct StoredKernel<Linear> : detail::StoredPlainKernel<Linear> {
  static constexpr std::string_view name = "linear";
};
template <>
struct StoredKernel<Polynomial> {
  static constexpr std::string_view name = "polynomial";
  static nlohmann::json parameters(const Polynomial& k) {
    return {{"degree", k.degree()}, {"scale", k.scale()}, {"offset", k.offset()}};
  }
  static Polynomial make(const nlohmann::json& p) {
    return Polynomial(detail::whole_parameter(p, "degree"), p.at("scale").get<double>(),
                      p.at("offset").get<double>());
  }
};
template <>
struct StoredKernel<Gaussian> {
  static constexpr std::string_view name = "gaussian";
  static nlohmann::json parameters(const Gaussian& k) { return {{"gamma", k.gamma()}}; }
  static Gaussian make(const nlohmann::json& p) {
    return Gaussian::from_gamma(p.at("gamma").get<double>());
  }
};
template <>
struct StoredKernel<Laplacian> : detail::StoredWidthKernel<Laplacian> {
  static constexpr std::string_view name = "laplacian";
};
template <>
struct StoredKernel<Exponential> : detail::StoredWidthKernel<Exponential> {
  static constexpr std::string_view name = "exponential";
};
template <>
struct StoredKernel<ArcCosine> {
  static constexpr std::string_view name = "arc-cosine";
  static nlohmann::json parameters(const ArcCosine& k) { return {{"depth", k.depth()}}; }
  static ArcCosine make(const nlohmann::json& p) {
    return ArcCosine(detail::whole_parameter(p, "depth"));
  }
};
/// Kernel values come with each call, so the file has no parameters.
template <>
struct StoredKernel<PrecomputedKernel> : detail::StoredPlainKernel<PrecomputedKernel> {
  static constexpr std::string_view name = "precomputed";
};

template <class First, class Second, class Combine>
struct StoredKernel<detail::Combined<First, Second, Combine>> {
  using Kernel = detail::Combined<First, Second, Combine>;
  static constexpr std::string_view name = std::same_as<Combine, std::plus<>> ? "sum" : "product";
  static nlohmann::json parameters(const Kernel& k) {
    return {{"first", detail::kernel_to_json(k.first)},
            {"second", detail::kernel_to_json(k.second)}};
  }
  static Kernel make(const nlohmann::json& p) {
    return {detail::kernel_from_json<First>(p.at("first"), name),
            detail::kernel_from_json<Second>(p.at("second"), name)};
  }
};
template <class Inner, class Combine>
struct StoredKernel<detail::WithConstant<Inner, Combine>> {
  using Kernel = detail::WithConstant<Inner, Combine>;
  static constexpr bool adds = std::same_as<Combine, std::plus<>>;
  static constexpr std::string_view name = adds ? "biased" : "scaled";
  static nlohmann::json parameters(const Kernel& k) {
    return {{"constant", k.constant}, {"inner", detail::kernel_to_json(k.inner)}};
  }
  static Kernel make(const nlohmann::json& p) {
    auto inner = detail::kernel_from_json<Inner>(p.at("inner"), name);
    const double constant = p.at("constant").get<double>();
    if constexpr (adds) {
      return biased(std::move(inner), constant);
    } else {
      return scaled(std::move(inner), constant);
    }
  }
};
template <class Inner>
struct StoredKernel<detail::Normalised<Inner>>
    : detail::StoredOuterKernel<detail::Normalised<Inner>> {
  static constexpr std::string_view name = "normalised";
  static detail::Normalised<Inner> make(const nlohmann::json& p) {
    return normalised(detail::kernel_from_json<Inner>(p.at("inner"), name));
  }
};
template <class Inner>
struct StoredKernel<detail::UnitInputs<Inner>>
    : detail::StoredOuterKernel<detail::UnitInputs<Inner>> {
  static constexpr std::string_view name = "unit-inputs";
  static detail::UnitInputs<Inner> make(const nlohmann::json& p) {
    return on_unit_inputs(detail::kernel_from_json<Inner>(p.at("inner"), name));
  }
};

}}  // namespace bpm
