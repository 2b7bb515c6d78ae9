// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/labels.hpp"

/// \file
/// Named arrays of numbers and a map of strings in one block of bytes: the layout of safetensors.
/// The first eight bytes are the length of a header, little-endian; the header is a JSON object,
/// padded with spaces; the arrays follow, little-endian, row by row, without gaps, those with wide
/// elements first. The header describes each array by `{"dtype": "F64", "shape": [r, c],
/// "data_offsets": [begin, end]}`, counted from the end of the header; `"__metadata__"` is the map.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

using Json = nlohmann::json;

/// Returns the format's name of an element type; empty for types that this library never writes.
template <class T>
[[nodiscard]] constexpr std::string_view element_name() {
  if constexpr (std::same_as<T, double>) return "F64";
  if constexpr (std::same_as<T, float>) return "F32";
  if constexpr (std::same_as<T, std::uint8_t>) return "U8";
  if constexpr (std::same_as<T, std::int32_t>) return "I32";
  if constexpr (std::same_as<T, std::int64_t>) return "I64";
  if constexpr (std::same_as<T, std::uint64_t>) return "U64";
  return {};
}
/// Element types of arrays in this library.
template <class T>
concept TensorElement = !element_name<T>().empty();

/// Returns the bytes of an element; 0: no type of the format. It includes types that this library
/// never writes, so that files with such arrays are readable.
[[nodiscard]] inline std::size_t element_bytes(std::string_view name) {
  static const std::map<std::string_view, std::size_t> sizes{
      {"F64", 8}, {"I64", 8}, {"U64", 8},     {"F32", 4},     {"I32", 4},
      {"U32", 4}, {"F16", 2}, {"I16", 2},     {"BF16", 2},    {"U16", 2},
      {"I8", 1},  {"U8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BOOL", 1}};
  const auto found = sizes.find(name);
  return found == sizes.end() ? 0 : found->second;
}

/// Copies numbers to or from little-endian order: the same bytes except on big-endian machines.
template <class T>
void copy_little_endian(void* to, const void* from, std::size_t count) {
  if (count == 0) return;
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
    std::memcpy(to, from, count * sizeof(T));
  } else {
    const auto* source = static_cast<const std::byte*>(from);
    auto* target = static_cast<std::byte*>(to);
    for (std::size_t i = 0; i < count; ++i) {
      std::reverse_copy(source + i * sizeof(T), source + (i + 1) * sizeof(T),
                        target + i * sizeof(T));
    }
  }
}

/// An array of a file; its numbers are little-endian.
struct TensorArray {
  std::string type;
  std::vector<std::size_t> shape;
  std::span<const std::byte> bytes;
};

/// Returns a hash of the contents of a file of arrays: names, types, shapes and bytes of the
/// arrays, in any order, and the strings. It detects damage, all but one case in 10^19.
template <class NamedArrays>
[[nodiscard]] std::string tensor_checksum(const NamedArrays& arrays,
                                          const std::map<std::string, std::string>& strings) {
  const auto add_text = [](WordHash& hash, std::string_view text) {
    hash.add(std::uint64_t{text.size()});
    hash.add_bytes(text.data(), text.size());
  };
  std::uint64_t sum = 0;
  for (const auto& [name, array] : arrays) {
    WordHash hash;
    add_text(hash, name);
    add_text(hash, array.type);
    for (const std::size_t extent : array.shape) hash.add(std::uint64_t{extent});
    hash.add_bytes(array.bytes.data(), array.bytes.size());
    sum += hash.value();
  }
  WordHash hash;
  hash.add(sum);
  for (const auto& [key, value] : strings) {
    if (key == "checksum") continue;
    add_text(hash, key);
    add_text(hash, value);
  }
  const std::string digits = std::to_string(hash.value());
  return std::string(20 - digits.size(), '0') + digits;
}

/// Collects the arrays and strings of a file to be written. Arrays are lists, or row-major
/// matrices.
class TensorFileWriter {
 public:
  /// Takes over the values.
  template <class Values>
  void keep(std::string name, Values values) {
    refer(std::move(name), hold(std::move(values)));
  }
  /// Refers to the values, which must outlive the writer: `hold` extends their life.
  template <class Values>
  void refer(std::string name, const Values& values) {
    using T = std::remove_cvref_t<decltype(*values.data())>;
    const std::span<const T> numbers(values.data(), static_cast<std::size_t>(values.size()));
    TensorArray array{std::string(element_name<T>()), {numbers.size()}, std::as_bytes(numbers)};
    if constexpr (requires { requires !bool(Values::IsVectorAtCompileTime); }) {
      static_assert(Values::IsRowMajor);
      array.shape = {static_cast<std::size_t>(values.rows()),
                     static_cast<std::size_t>(values.cols())};
    }
    if constexpr (std::endian::native != std::endian::little && sizeof(T) > 1) {
      std::vector<std::byte> turned(numbers.size_bytes());
      copy_little_endian<T>(turned.data(), numbers.data(), numbers.size());
      array.bytes = hold(std::move(turned));
    }
    arrays_.emplace_back(std::move(name), std::move(array));
  }
  /// Keeps a value as long as the writer lives, for arrays added by `refer`.
  template <class Value>
  const Value& hold(Value value) {
    auto held = std::make_shared<const Value>(std::move(value));
    const Value& result = *held;
    held_.push_back(std::move(held));
    return result;
  }
  void set(const std::string& key, std::string value) { metadata_[key] = std::move(value); }

  /// Adds a checksum of all names, shapes, numbers and strings; nothing may be added after it.
  void seal() { set("checksum", tensor_checksum(arrays_, metadata_)); }

  /// Returns the whole file as pieces, which copy no array and are valid until the writer changes.
  [[nodiscard]] std::vector<std::span<const std::byte>> pieces() {
    std::vector<const NamedArray*> order;
    for (const std::size_t bytes : {sizeof(double), sizeof(float), sizeof(char)}) {
      for (const NamedArray& one : arrays_) {
        if (element_bytes(one.second.type) == bytes) order.push_back(&one);
      }
    }
    // It is written without `Json`, whose entries have another order than the arrays.
    std::string text = R"({"__metadata__":)" + Json(metadata_).dump();
    std::size_t end = 0;
    for (const auto* named : order) {
      const TensorArray& array = named->second;
      text += ',' + Json(named->first).dump();
      text += R"(:{"dtype":")" + array.type + R"(","shape":)" + Json(array.shape).dump();
      text += R"(,"data_offsets":)" + Json(std::vector{end, end + array.bytes.size()}).dump() + '}';
      end += array.bytes.size();
    }
    text += '}';
    text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
    const std::uint64_t length = text.size();
    head_.resize(sizeof length + text.size());
    copy_little_endian<std::uint64_t>(head_.data(), &length, 1);
    std::memcpy(head_.data() + sizeof length, text.data(), text.size());
    std::vector<std::span<const std::byte>> pieces{head_};
    for (const auto* named : order) pieces.push_back(named->second.bytes);
    return pieces;
  }

  /// Returns the whole file in one block.
  [[nodiscard]] std::vector<std::byte> bytes() {
    const auto all = pieces();
    std::size_t size = 0;
    for (const auto piece : all) size += piece.size();
    std::vector<std::byte> file;
    file.reserve(size);
    for (const auto piece : all) file.insert(file.end(), piece.begin(), piece.end());
    return file;
  }

 private:
  static constexpr std::size_t alignment = 64;  // Alignment of the first array, less eight bytes.
  using NamedArray = std::pair<std::string, TensorArray>;

  std::vector<NamedArray> arrays_;
  std::vector<std::shared_ptr<const void>> held_;
  std::map<std::string, std::string> metadata_;
  std::vector<std::byte> head_;
};

/// Parses JSON text in which no object has a key twice and nesting is at most 32 deep. \throws
/// DataError that begins with `where`.
[[nodiscard]] inline Json parse_json(std::string_view text, std::string_view where) {
  std::vector<std::set<std::string>> keys;
  const auto look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    ensure<DataError>(depth <= 32, where, " is nested deeper than 32");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      ensure<DataError>(keys.back().insert(parsed.get<std::string>()).second, where,
                        " names the key '", parsed.get<std::string>(), "' twice");
    }
    return true;
  };
  try {
    return Json::parse(text, look);
  } catch (const Json::exception& error) {
    throw DataError(join(where, " is no JSON: ", error.what()));
  }
}

/// Gives access to a file's arrays and strings by name. Refers to the bytes.
class TensorFile {
 public:
  /// Reads the header, not the arrays. `name`: the file's, for messages. \throws DataError on
  /// anything that the layout forbids; no number in the bytes determines an allocation before it is
  /// compared with their size.
  TensorFile(std::span<const std::byte> bytes, std::string name) : name_(std::move(name)) {
    std::uint64_t length = 0;
    ensure<DataError>(bytes.size() >= sizeof length, name_, " is no model: it has ", bytes.size(),
                      " bytes");
    copy_little_endian<std::uint64_t>(&length, bytes.data(), 1);
    const std::size_t rest = bytes.size() - sizeof length;
    ensure<DataError>(length <= rest, name_, " is no model, or ends too early: its header has ",
                      length, " bytes, the file ", rest, " after the first eight");
    data_ = bytes.subspan(sizeof length + static_cast<std::size_t>(length));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + sizeof length,
                                static_cast<std::size_t>(length));
    const Json header = parse_json(text, join(name_, ": the header"));
    ensure<DataError>(header.is_object(), name_, ": the header is no JSON object");
    for (const auto& [key, value] : header.items()) {
      if (key != "__metadata__") {
        read_array(key, value);
        continue;
      }
      ensure<DataError>(value.is_object(), name_, ": __metadata__ is no JSON object");
      for (const auto& [own_key, own] : value.items()) {
        ensure<DataError>(own.is_string(), name_, ": '", own_key, "' in __metadata__ is no string");
        metadata_[own_key] = own.get<std::string>();
      }
    }
    check_offsets();
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool has(const std::string& key) const { return metadata_.contains(key); }
  [[nodiscard]] bool has_array(const std::string& key) const { return arrays_.contains(key); }

  /// Returns the text of a key. \throws DataError if the map has no such key.
  [[nodiscard]] const std::string& text(const std::string& key) const {
    const auto found = metadata_.find(key);
    ensure<DataError>(found != metadata_.end(), name_, " has no '", key, "'");
    return found->second;
  }

  /// Returns the JSON of a key. \throws DataError if the map has no such key, or it is no JSON.
  [[nodiscard]] Json json(const std::string& key) const {
    return parse_json(text(key), join(name_, ": '", key, "'"));
  }
  /// Returns the JSON object of a key. \throws DataError also if it is none.
  [[nodiscard]] Json json_object(const std::string& key) const {
    Json object = json(key);
    ensure<DataError>(object.is_object(), name_, ": '", key, "' is no JSON object");
    return object;
  }

  /// Computes the checksum of the contents.
  [[nodiscard]] std::string checksum() const { return tensor_checksum(arrays_, metadata_); }

  struct Shape {
    std::size_t rows = 0;
    std::size_t columns = 1;
  };
  /// \throws DataError if there is no such array, or it has not one or two dimensions.
  [[nodiscard]] Shape shape(const std::string& key) const {
    const std::vector<std::size_t>& shape = array(key).shape;
    ensure<DataError>(shape.size() == 1 || shape.size() == 2, name_, ": the array '", key, "' has ",
                      shape.size(), " dimensions, must have 1 or 2");
    return {shape[0], shape.size() == 2 ? shape[1] : 1};
  }
  [[nodiscard]] std::string_view type(const std::string& key) const { return array(key).type; }

  /// Copies an array. \throws DataError if it is missing or not of this type.
  template <TensorElement T>
  void copy(const std::string& key, T* to) const {
    const std::span<const std::byte> from = bytes_of<T>(key);
    copy_little_endian<T>(to, from.data(), from.size() / sizeof(T));
  }
  /// Returns the address of an array. \throws DataError as `copy`, and if the numbers cannot be
  /// read in place.
  template <TensorElement T>
  [[nodiscard]] const T* place(const std::string& key) const {
    const std::byte* const bytes = bytes_of<T>(key).data();
    ensure<DataError>((std::endian::native == std::endian::little || sizeof(T) == 1) &&
                          reinterpret_cast<std::uintptr_t>(bytes) % alignof(T) == 0,
                      name_, ": the array '", key,
                      "' cannot be read in place: its numbers do not lie as this machine has them; "
                      "take load");
    return reinterpret_cast<const T*>(bytes);
  }
  template <TensorElement T>
  [[nodiscard]] std::vector<T> list(const std::string& key) const {
    const Shape size = shape(key);
    std::vector<T> values(size.rows * size.columns);
    copy(key, values.data());
    return values;
  }

 private:
  void read_array(const std::string& key, const Json& value) {
    const auto sound = [&](bool holds, const auto&... what) {
      ensure<DataError>(holds, name_, ": the array '", key, "' ", what...);
    };
    sound(value.is_object() && value.size() == 3 && value.contains("dtype") &&
              value.contains("shape") && value.contains("data_offsets"),
          "is not given by dtype, shape and data_offsets");
    sound(value["dtype"].is_string(), "has a dtype that is no string");
    TensorArray array{value["dtype"].get<std::string>(), {}, {}};
    const std::size_t bytes = element_bytes(array.type);
    sound(bytes > 0, "has the unknown dtype '", array.type, "'");
    sound(value["shape"].is_array() && value["shape"].size() <= 8, "has no shape");
    std::size_t size = bytes;
    for (const Json& extent : value["shape"]) {
      sound(extent.is_number_unsigned(), "has a shape of something else than counts");
      array.shape.push_back(extent.get<std::size_t>());
      const std::size_t count = array.shape.back();
      sound(std::in_range<std::ptrdiff_t>(count) &&
                (count == 0 || size <= std::numeric_limits<std::size_t>::max() / count),
            "has a shape beyond all memory");
      size *= count;
    }
    const Json& offsets = value["data_offsets"];
    sound(offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
              offsets[1].is_number_unsigned(),
          "has data_offsets that are no two counts");
    const auto begin = offsets[0].get<std::size_t>();
    const auto end = offsets[1].get<std::size_t>();
    sound(begin <= end && end <= data_.size(), "lies from byte ", begin, " to ", end, " of ",
          data_.size());
    sound(end - begin == size, "has ", end - begin, " bytes, its shape wants ", size);
    array.bytes = data_.subspan(begin, size);
    arrays_.emplace(key, std::move(array));
  }

  /// Checks that arrays leave no gaps, do not overlap, and end with the file.
  void check_offsets() const {
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (const auto& [key, array] : arrays_) {
      places.emplace_back(array.bytes.data() - data_.data(), array.bytes.size());
    }
    std::sort(places.begin(), places.end());
    std::size_t end = 0;
    for (const auto& [first, size] : places) {
      ensure<DataError>(first == end, name_, ": arrays overlap or leave a hole at byte ", end);
      end += size;
    }
    ensure<DataError>(end == data_.size(), name_, " has ", data_.size() - end,
                      " bytes behind its last array");
  }

  [[nodiscard]] const TensorArray& array(const std::string& key) const {
    const auto found = arrays_.find(key);
    ensure<DataError>(found != arrays_.end(), name_, " has no array '", key, "'");
    return found->second;
  }

  template <TensorElement T>
  [[nodiscard]] std::span<const std::byte> bytes_of(const std::string& key) const {
    const TensorArray& found = array(key);
    ensure<DataError>(found.type == element_name<T>(), name_, ": the array '", key, "' is of type ",
                      found.type, ", must be ", element_name<T>());
    return found.bytes;
  }

  std::string name_;
  std::span<const std::byte> data_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorArray> arrays_;
};

}}}  // namespace bpm::detail
