// SPDX-License-Identifier: MIT
#include "bpm/storage/stored_features.hpp"

#include <string>

#include "bpm/core/errors.hpp"
#include "bpm/images/gradient_features.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/model_file.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "model_mutants.hpp"
#include "noisy_points.hpp"
#include "noted.hpp"

namespace {

using test_support::message_of;

const bpm::GradientFeatures& odd_features() {
  static const bpm::GradientFeatures features(
      {17, 23}, {.grids = {{3, 2, 1}, {1, 1, 0}}, .orientations = 12, .bends = 3, .smoothing = 2});
  return features;
}

std::string refusal_of(const std::string& text) {
  return message_of([&] { (void)bpm::gradient_features_from(text); });
}

/// The text of `odd_features` with one part of it replaced.
std::string refusal_with(const std::string& old, const std::string& now) {
  std::string text = bpm::describe(odd_features());
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return refusal_of(text.replace(at, old.size(), now));
}

}  // namespace

TEST_CASE("features come back from their text as they were") {
  CHECK(bpm::gradient_features_from(bpm::describe(odd_features())) == odd_features());
  const bpm::GradientFeatures plain({28, 28});
  CHECK(bpm::gradient_features_from(bpm::describe(plain)) == plain);
  CHECK_FALSE(bpm::gradient_features_from(bpm::describe(plain)) == odd_features());
}

TEST_CASE("a model's file keeps what its inputs are made by") {
  const auto [inputs, labels] = test_support::noisy_rings(30, 2, 0.05);
  const auto fitted = bpm::BayesPointMachine(bpm::Linear()).fit(inputs, labels);
  const auto made_by = [&, &fitted = fitted](const std::string& how) {
    return test_support::noted(fitted, [&](bpm::Notes& notes) { notes.inputs_made_by = how; });
  };
  const auto with = made_by(bpm::describe(odd_features()));
  const auto back = test_support::through_bytes(with);
  REQUIRE(back.notes.inputs_made_by);
  CHECK(bpm::gradient_features_from(*back.notes.inputs_made_by) == odd_features());
  CHECK_FALSE(test_support::through_bytes(fitted).notes.inputs_made_by);
  CHECK(message_of([&] { (void)bpm::model_bytes(made_by("\xff")); }) ==
        "save: names, words, rejection.score or inputs_made_by are not in UTF-8, must be");
  const auto bytes =
      test_support::with_text(bpm::model_bytes(made_by("a b c")), R"(\"a b c\")", R"([ \"x\" ])");
  CHECK(message_of([&] { (void)bpm::load<std::remove_cvref_t<decltype(fitted)>>(bytes, "m"); }) ==
        "m: model.inputs_made_by is no string");
}

TEST_CASE("a text of other features is refused") {
  CHECK_THAT(refusal_of("edges"), Catch::Matchers::StartsWith("gradient features is no JSON: "));
  const std::string other = "gradient features: the text is of something else";
  CHECK(refusal_of("3") == other);
  CHECK(refusal_of("{}") == other);
  CHECK(refusal_with("gradient features", "fourier features") == other);
  CHECK(refusal_with(R"("image")", R"("shape")") == "gradient features.image is missing");
  CHECK(refusal_with(R"("grids")", R"("grid")") == "gradient features.grids is missing");
  CHECK(refusal_with(R"("rows":17)", R"("rows":1.5)") ==
        "gradient features.image.rows is no whole number");
  CHECK(refusal_with(R"("rows":17)", R"("rows":5000)") ==
        "gradient features: GradientFeatures: shape is 5000 x 23, must be 1 to 4096 rows and "
        "columns");
  CHECK(refusal_with(R"("norm":700)", R"("norm":0)") ==
        "gradient features: GradientFeatures: norm is 0, must be 1 to 4000");
  CHECK_THROWS_AS(bpm::gradient_features_from("{}"), bpm::DataError);
}
