// SPDX-License-Identifier: MIT
#include <Eigen/Core>
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/one_vs_one.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "noisy_points.hpp"

/// \file
/// Fits of inputs that lie far from the origin: a city's coordinates, times of a clock.

namespace {

using bpm::BayesPointMachine;
using bpm::Gaussian;
using bpm::OneVsRest;

using Kind = bpm::FitWarning::Kind;

[[nodiscard]] std::ptrdiff_t count_warnings(const std::vector<bpm::FitWarning>& warnings,
                                            Kind kind) {
  return std::ranges::count(warnings, kind, &bpm::FitWarning::kind);
}

/// Numbers of few bits, of which none is lost where `offset` is added in the precision of T.
template <class T>
[[nodiscard]] bpm::RowMatrix<T> moved(const bpm::RowMatrix<float>& inputs, double offset) {
  const double unit = std::is_same_v<T, float> ? 1024 : 1 << 20;
  const Eigen::ArrayXXd whole = (unit * inputs.cast<double>()).array().round();
  return (whole / unit + offset).template cast<T>();
}

}  // namespace

TEMPLATE_TEST_CASE("a fit far from the origin is the fit near it", "[machine]", float, double) {
  const double offset = std::is_same_v<TestType, float> ? 4096 : 1 << 30;
  const auto [points, labels] = test_support::noisy_rings(120, 3, 0.05);
  const auto [others, truth] = test_support::noisy_rings(90, 3, 0.05, 7);
  const auto near = moved<TestType>(points, 0);
  const auto far = moved<TestType>(points, offset);
  const auto asked = moved<TestType>(others, offset);
  const bpm::RuntimeKernel kernel = Gaussian::from_median(near, 0.5);
  const BayesPointMachine machine(kernel);
  for (const bool pairs : {false, true}) {
    const auto fit = [&, &of_points = labels](const auto& inputs) {
      return pairs ? bpm::OneVsOne(machine).fit(inputs, of_points)
                   : OneVsRest(machine).fit(inputs, of_points);
    };
    const auto there = fit(far);
    const auto here = fit(near);
    CHECK(here.parts().origin.empty());
    CHECK(there.parts().origin == std::vector<double>{offset, offset});
    // The origin is the offset, so that all differences are the same numbers.
    CHECK(there.coefficients() == here.coefficients());
    CHECK(there.decision_values(asked) == here.decision_values(moved<TestType>(others, 0)));
    CHECK(there.parts().slope == here.parts().slope);
    CHECK(there.predict_probability(asked).allFinite());
    CHECK(count_warnings(there.notes.warnings, Kind::far_from_origin) == 0);
  }
}

TEST_CASE("numbers that were whole are moved as well", "[machine]") {
  const auto [points, labels] = test_support::noisy_rings(120, 2, 0.05);
  const bpm::RowMatrix<int> whole = (100 * points).array().round().cast<int>() + 1'000'000;
  const auto fitted = BayesPointMachine(Gaussian::from_width(100)).fit(whole, labels);
  CHECK(fitted.parts().origin.size() == 2);
  const auto predicted = fitted.predict(whole);
  int wrong = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) wrong += predicted[i] == labels[i] ? 0 : 1;
  CHECK(wrong < 24);  // Seen from zero half are wrong.
  // Asked by other numbers: bytes have no such offset, doubles are refused as ever.
  CHECK(fitted.decision_values(bpm::RowMatrix<float>(whole.cast<float>())) ==
        fitted.decision_values(whole));
}

TEST_CASE("what cannot be moved is said", "[machine]") {
  const auto [points, labels] = test_support::noisy_rings(80, 2, 0.05);
  const auto warned = [&, &labels = labels](const auto& kernel, const auto& inputs) {
    const auto fitted = BayesPointMachine(kernel).fit(inputs, labels);
    return count_warnings(fitted.notes.warnings, Kind::far_from_origin);
  };
  const bpm::Polynomial polynomial(2, 1e-16);
  CHECK(warned(polynomial, moved<double>(points, 1e8)) == 1);
  CHECK(warned(polynomial, moved<double>(points, 1e4)) == 0);
  CHECK(warned(bpm::Polynomial(2, 1e-8), moved<float>(points, 1e4)) == 1);
  // Two clusters, and a width that sees what is within one.
  bpm::RowMatrix<float> clusters = moved<float>(points, 0);
  for (std::size_t i = 0; i < labels.size(); i += 2) {
    clusters.row(static_cast<Eigen::Index>(i)).array() += 4000;
  }
  CHECK(warned(Gaussian::from_width(1), clusters) == 1);
  CHECK(warned(Gaussian::from_width(1), bpm::RowMatrix<double>(clusters.cast<double>())) == 0);
  CHECK(warned(Gaussian::from_width(1000), clusters) == 0);

  const bpm::FitWarning warning{.kind = Kind::far_from_origin};
  CHECK(warning.what() ==
        "the inputs lie so far from the origin that rounding hides what tells them apart: take "
        "their mean off, by FitSettings::standardise for one, or give them as double");
}

TEST_CASE("probabilities that an automatic boundary could not find are refused by that name",
          "[machine]") {
  // Labels that nothing tells of: the folds' machines say less than the classes' shares do.
  const auto [points, labels] = test_support::noisy_rings(60, 2, 0.05);
  const auto fitted = BayesPointMachine(Gaussian::from_width(1)).fit(points, labels);
  REQUIRE(fitted.notes.boundary.has_value());
  auto parts = fitted.parts();
  parts.slope = 0;
  parts.offsets.clear();
  CHECK_THROWS_WITH(bpm::Classifier(parts, fitted.notes).predict_probability(points),
                    "Classifier::probabilities: slope is not known: no machine of the automatic "
                    "soft boundary told anything of points left out (see the warnings); give one "
                    "by with_slope");
}
