// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/images/gradient_features.hpp"
#include "bpm/images/image_shape.hpp"
#include "bpm/storage/stored_members.hpp"
#include "bpm/storage/tensor_file.hpp"

/// \file
/// Features of images as a line of text and back, to be stored in models:
///
///     classifier.notes.inputs_made_by = bpm::describe(gradients);
///     bpm::save(classifier, "digits.safetensors");
///     const auto loaded = bpm::load<MyClassifier>("digits.safetensors");
///     const auto gradients = bpm::gradient_features_from(*loaded.notes.inputs_made_by);

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

inline constexpr std::string_view gradient_features_name = "gradient features";

}  // namespace detail

/// Returns the features' image and settings as a line of JSON with "name": "gradient features".
[[nodiscard]] inline std::string describe(const GradientFeatures& features) {
  nlohmann::json json = detail::to_json_value(features.settings());
  json["name"] = detail::gradient_features_name;
  json["image"] = detail::to_json_value(features.image());
  return json.dump();
}

/// Returns the features of a text by `describe`, equal to the original ones. \throws DataError that
/// names the fault of any other text.
[[nodiscard]] inline GradientFeatures gradient_features_from(std::string_view text) {
  const std::string name(detail::gradient_features_name);
  const nlohmann::json json = detail::parse_json(text, name);
  detail::ensure<DataError>(json.is_object() && json.contains("name") && json["name"] == name, name,
                            ": the text is of something else");
  ImageShape image;
  GradientSettings settings;
  detail::ensure<DataError>(json.contains("image"), name, ".image is missing");
  detail::from_json_value(json["image"], image, name + ".image");
  detail::from_json_value(json, settings, name);
  return detail::made_of_file(name, [&] { return GradientFeatures(image, std::move(settings)); });
}

}}  // namespace bpm
