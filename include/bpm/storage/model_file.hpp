// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ios>
#include <istream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/storage/disk_file.hpp"
#include "bpm/storage/stored_members.hpp"
#include "bpm/storage/stored_parts.hpp"
#include "bpm/storage/tensor_file.hpp"
#include "bpm/version.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

inline constexpr int model_format = 1;
inline constexpr int training_format = 2;
inline constexpr std::string_view model_kind = "bpm classifier";
inline constexpr std::string_view training_kind = "bpm training";

/// Whether `map` supports a classifier: dense numbers only, since files store others differently.
template <class C>
inline constexpr bool is_mappable = false;
template <class K, TensorElement T>
inline constexpr bool is_mappable<Classifier<K, RowMatrix<T>>> =
    !std::same_as<K, PrecomputedKernel>;

/// Checks kind and format. Every kind but trainings has a classifier's parts, and so is one, too.
/// \throws DataError unless it is a model of this kind, of a format that this library reads.
inline void check_model(const TensorFile& file, std::string_view wanted = model_kind) {
  const std::string& name = file.name();
  const std::string kind = file.has("kind") ? file.text("kind") : "";
  ensure<DataError>(kind.starts_with("bpm "), name, " is no model of this library");
  ensure<DataError>(kind == wanted || (wanted == model_kind && kind != training_kind), name,
                    " is a ", kind, ", expected a ", wanted);
  const std::string& format = file.text("format");
  const int known = wanted == training_kind ? training_format : model_format;
  ensure<DataError>(format == std::to_string(known), name, " is of format ", format,
                    ", this library reads format ", known,
                    "; take the library's version that wrote it, ", file.text("library"));
}

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

/// Storage of a classifier's inputs.
template <class Kernel, class Inputs>
using StoredInputsOf = std::conditional_t<std::same_as<Kernel, PrecomputedKernel>,
                                          StoredPointCount<Inputs>, StoredInputs<Inputs>>;

/// Reads a classifier. `memory`: the mapped file whose inputs are read in place; without, it copies
/// the bytes. \throws DataError as `load`.
template <class C, class Memory = std::nullptr_t>
[[nodiscard]] C read_classifier(const TensorFile& file, Memory memory = {}) {
  using Parts = typename C::Parts;
  using Kernel = std::remove_cvref_t<decltype(std::declval<Parts>().kernel)>;
  using Inputs = std::remove_cvref_t<decltype(std::declval<Parts>().inputs)>;
  using Stored = StoredInputsOf<Kernel, Inputs>;
  static_assert(!InputView<Inputs> || !std::same_as<Memory, std::nullptr_t>,
                "load reads models into memory of their own: one whose inputs stay in the file is "
                "opened by map");
  static_assert(
      requires { Stored::name; },
      "models are loaded with numbers, strings, or a type that has a bpm::StoredInput");
  const std::string& name = file.name();
  ensure<DataError>(file.text("inputs") == Stored::name, name, " has inputs of the kind '",
                    file.text("inputs"), "', expected '", Stored::name, "'");
  Parts parts{kernel_from_json<Kernel>(file.json("kernel"), name), Stored::read(file), {}, {}, {}};
  const Json model = file.json_object("model");
  MemberReader(name + ": ").read_members(model, parts, "model.");
  Notes notes;
  MemberReader(name + ": ").read_members(model, notes, "model.");
  for (const std::int64_t point : file.list<std::int64_t>("support")) {
    ensure<DataError>(std::in_range<PointIndex>(point), name, ": the support point ", point,
                      " is out of range");
    parts.support.push_back(static_cast<PointIndex>(point));
  }
  // A separate name prevents older libraries from reading pairs of classes as classes.
  parts.one_against_one = file.has_array("coefficients.of_pairs");
  parts.coefficients =
      read_matrix<double>(file, parts.one_against_one ? "coefficients.of_pairs" : "coefficients");
  if (!parts.draw_numbers.empty()) {
    parts.draw_coefficients = read_matrix<double>(file, "draw_coefficients");
  }
  if (file.has_array("standardisation.mean")) {
    Standardisation scaling;
    scaling.mean = read_matrix<double>(file, "standardisation.mean").reshaped().transpose();
    scaling.deviation =
        read_matrix<double>(file, "standardisation.deviation").reshaped().transpose();
    for (const std::int64_t column : file.list<std::int64_t>("standardisation.constant")) {
      scaling.constant.push_back(static_cast<Eigen::Index>(column));
    }
    parts.standardisation = std::move(scaling);
  }
  if (memory != nullptr) parts.source = name;
  parts.memory = std::move(memory);
  return made_of_file(name, [&] { return C(std::move(parts), std::move(notes)); });
}

/// Reads the alternative with the inputs of the file. \throws DataError as `load_any`.
template <class... Classifiers>
[[nodiscard]] std::variant<Classifiers...> read_any(
    const TensorFile& file, std::type_identity<std::variant<Classifiers...>>) {
  const std::string& kind = file.text("inputs");
  const std::string key = kind == "sparse" ? "inputs.values" : "inputs";
  const std::string_view type = file.has_array(key) ? file.type(key) : "none";
  std::optional<std::variant<Classifiers...>> found;
  const auto take = [&]<class C>(std::type_identity<C>) {
    using Inputs = std::remove_cvref_t<decltype(std::declval<typename C::Parts>().inputs)>;
    if (kind != StoredInputs<Inputs>::name || type != element_name<typename Inputs::Scalar>()) {
      return false;
    }
    found = read_classifier<C>(file);
    return true;
  };
  static_cast<void>((take(std::type_identity<Classifiers>{}) || ...));
  ensure<DataError>(found.has_value(), file.name(), " has inputs of the kind '", kind,
                    "', their values of type ", type, ": only load reads it");
  return *std::move(found);
}

/// Writes a classifier's contents, without kind and format.
template <class Kernel, InputSet Inputs>
void write_classifier(const Classifier<Kernel, Inputs>& classifier, TensorFileWriter& file) {
  using Stored = StoredInputsOf<Kernel, Inputs>;
  static_assert(
      requires { Stored::name; },
      "models are saved with numbers, strings, or a type that has a bpm::StoredInput");
  const auto& parts = file.hold(classifier).parts();  // Shared, not copied.
  check_notes(classifier.notes, parts.classes.size(), columns_of(parts.inputs), "save");
  try {
    file.set("kernel", kernel_to_json(parts.kernel).dump());
  } catch (const nlohmann::json::exception& error) {
    fail("save", "kernel", "cannot be written: ", error.what());
  }
  Json model = to_json_value(parts);
  model.update(to_json_value(classifier.notes));
  try {
    file.set("model", model.dump());
  } catch (const nlohmann::json::exception&) {  // Caused by strings of the user.
    fail("save", "names, words, rejection.score or inputs_made_by", "are not in UTF-8, must be");
  }
  file.keep("support", std::vector<std::int64_t>(parts.support.begin(), parts.support.end()));
  file.refer(parts.one_against_one ? "coefficients.of_pairs" : "coefficients", parts.coefficients);
  if (!parts.draw_numbers.empty()) file.refer("draw_coefficients", parts.draw_coefficients);
  if (parts.standardisation) {
    const Standardisation& scaling = *parts.standardisation;
    file.refer("standardisation.mean", scaling.mean);
    file.refer("standardisation.deviation", scaling.deviation);
    file.keep("standardisation.constant",
              std::vector<std::int64_t>(scaling.constant.begin(), scaling.constant.end()));
  }
  file.set("inputs", std::string(Stored::name));
  Stored::write(parts.inputs, file);
}

/// Storage of a model type in files: the text of `kind`, `write` and `read`. Types other than
/// classifiers specialise it in their own headers.
template <class Model>
struct StoredModel;
template <class Model>
concept StorableModel = requires { StoredModel<Model>::kind; };

template <class Kernel, InputSet Inputs>
struct StoredModel<Classifier<Kernel, Inputs>> {
  using C = Classifier<Kernel, Inputs>;
  static constexpr std::string_view kind = model_kind;
  static void write(const C& classifier, TensorFileWriter& file) {
    write_classifier(classifier, file);
  }
  [[nodiscard]] static C read(const TensorFile& file) { return read_classifier<C>(file); }
};

/// Returns a writer with the contents of a model.
template <class Model>
[[nodiscard]] TensorFileWriter model_writer(const Model& model) {
  static_assert(StorableModel<Model>,
                "models on disk are classifiers, and with bpm/storage/gaussian_process_file.hpp "
                "what expectation propagation and interpolators leave, with "
                "bpm/storage/training_file.hpp trainings: this is another, or lacks the header");
  TensorFileWriter file;
  file.set("kind", std::string(StoredModel<Model>::kind));
  file.set("format", std::to_string(StoredModel<Model>::kind == training_kind ? training_format
                                                                              : model_format));
  file.set("library", join(version_major, ".", version_minor, ".", version_patch));
  StoredModel<Model>::write(model, file);
  return file;
}

}  // namespace detail

/// Returns a model as the bytes of a file, whose format docs/model-files.md defines. They contain
/// the whole model, except the number of threads. A model is a `Classifier`; with
/// storage/gaussian_process_file.hpp also a `PosteriorClassifier` and an `InterpolatorTraining`,
/// with storage/training_file.hpp a `Training`.
/// \throws std::invalid_argument on strings that are not in UTF-8, and numbers that no model holds:
///         NaN and minus infinity.
template <class Model>
[[nodiscard]] std::vector<std::byte> model_bytes(const Model& model) {
  return detail::model_writer(model).bytes();
}

/// Writes a model file: under another name, to the disk, then renames it, so that the name refers
/// to a whole file at any moment. Arrays are written from the model without a copy; those of sparse
/// inputs, of strings and of an interpolator are made once. \throws CheckpointError if that fails;
/// an earlier file stays whole. \throws std::invalid_argument as `model_bytes`.
template <class Model>
void save(const Model& model, const std::filesystem::path& path) {
  auto file = detail::model_writer(model);
  detail::write_durably(path, file.pieces());
}
/// Writes a model to a stream. \throws std::ios_base::failure unless the stream accepts all.
template <class Model>
void save(const Model& model, std::ostream& out) {
  auto file = detail::model_writer(model);
  for (const auto piece : file.pieces()) {
    out.write(reinterpret_cast<const char*>(piece.data()), std::ssize(piece));
  }
  if (!out.flush()) throw std::ios_base::failure("save: the stream did not take the model");
}

/// Returns the model in the bytes of a file, which may be any bytes. It is bit for bit the saved
/// one: in the same program it predicts the same numbers. A `Classifier` is read from a model of
/// any kind but trainings. `name` is the model's in messages. \throws DataError on bytes that are
/// no model, or one of another kind, kernel, kind of inputs or later format; memory is limited to a
/// small multiple of the bytes.
template <detail::StorableModel C>
[[nodiscard]] C load(std::span<const std::byte> bytes, const std::string& name = "the model") {
  const detail::TensorFile file(bytes, name);
  detail::check_model(file, detail::StoredModel<C>::kind);
  return detail::StoredModel<C>::read(file);
}
/// Reads a model up to the stream's end. \throws DataError as for bytes.
template <detail::StorableModel C>
[[nodiscard]] C load(std::istream& in, const std::string& name = "the model") {
  const std::string bytes = detail::read_all(in, name);
  return load<C>(std::as_bytes(std::span(bytes)), name);
}
/// Reads a model file. \throws DataError as for bytes, and if the file cannot be read.
template <detail::StorableModel C>
[[nodiscard]] C load(const std::filesystem::path& path) {
  const detail::OpenFile file = detail::open_file(path);
  return load<C>(*file.stream, file.name);
}

/// The type that `map` returns for a classifier of dense inputs, whose inputs are in the file.
template <class C>
using Mapped = Classifier<
    std::remove_cvref_t<decltype(std::declval<typename C::Parts>().kernel)>,
    Eigen::Map<const std::remove_cvref_t<decltype(std::declval<typename C::Parts>().inputs)>>>;

/// Returns the classifier in a model file, whose support inputs stay in the file: queries read them
/// there, and the first one checks them, block by block, so that a model of any size is ready at
/// once, and processes share its pages. Rows that blocks of kernel values cannot read in place
/// (their length is no multiple of a register, or of 4 for bytes) are copied when they are first
/// read. Everything else is read now, as by `load`. Predictions are those of a loaded classifier,
/// bit for bit; single queries, whose blocks a loaded one has packed, take a little longer. `save`
/// may replace the file meanwhile, but nothing may write into it or truncate it. \throws DataError
/// as `load`, also on numbers in another byte order than the machine's and arrays that are not
/// aligned; on inputs that are not finite in the first query that reads them.
template <class C>
  requires detail::is_mappable<C>
[[nodiscard]] Mapped<C> map(const std::filesystem::path& path) {
  const auto memory = std::make_shared<const detail::MappedFile>(path);
  const detail::TensorFile file(memory->bytes(), memory->name());
  detail::check_model(file);
  return detail::read_classifier<Mapped<C>>(file, memory);
}

/// A classifier of any kernel of inner products on numbers of any kind.
using AnyClassifier = std::variant<Classifier<RuntimeKernel, RowMatrix<float>>,
                                   Classifier<RuntimeKernel, RowMatrix<double>>,
                                   Classifier<RuntimeKernel, RowMatrix<std::uint8_t>>,
                                   Classifier<RuntimeKernel, SparseRowMatrix<float>>,
                                   Classifier<RuntimeKernel, SparseRowMatrix<double>>>;

/// Returns the classifier in a model file, for programs that learn its kernel and its kind of
/// inputs from the file: kernels that a `RuntimeKernel` can be, dense and sparse numbers.
///
///     std::visit([&](const auto& model) { ... model.predict(inputs) ... }, bpm::load_any(path));
/// \throws DataError as `load`, and on any other model.
[[nodiscard]] inline AnyClassifier load_any(std::span<const std::byte> bytes,
                                            const std::string& name = "the model") {
  const detail::TensorFile file(bytes, name);
  detail::check_model(file);
  return detail::read_any(file, std::type_identity<AnyClassifier>{});
}
/// Reads a model up to the stream's end; `name` is the model's in messages. \throws as for bytes.
[[nodiscard]] inline AnyClassifier load_any(std::istream& in,
                                            const std::string& name = "the model") {
  const std::string bytes = detail::read_all(in, name);
  return load_any(std::as_bytes(std::span(bytes)), name);
}
/// Reads a model file. \throws as for bytes, and if it cannot be read.
[[nodiscard]] inline AnyClassifier load_any(const std::filesystem::path& path) {
  const detail::OpenFile file = detail::open_file(path);
  return load_any(*file.stream, file.name);
}

}}  // namespace bpm
