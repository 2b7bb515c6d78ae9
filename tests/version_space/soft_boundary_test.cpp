// SPDX-License-Identifier: MIT
#include "bpm/version_space/soft_boundary.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

#include "catch.hpp"

namespace {

const std::vector<int> point_classes{7, 3, 7, -1};
const std::vector<double> diagonal_values{1, 2, 4, 8};

std::vector<double> resolved(const bpm::SoftBoundary& boundary) {
  const auto diagonal = [](std::ptrdiff_t i) {
    return diagonal_values[static_cast<std::size_t>(i)];
  };
  return boundary.resolve(diagonal, point_classes);
}

}  // namespace

TEST_CASE("each kind of soft boundary gives one lambda a point", "[version_space]") {
  using bpm::SoftBoundary;
  using Values = std::vector<double>;
  CHECK(resolved(SoftBoundary::uniform(0.5)) == Values{0.5, 0.5, 0.5, 0.5});
  CHECK(resolved(SoftBoundary::relative(0.25)) == Values{0.25, 0.5, 1, 2});
  CHECK(resolved(SoftBoundary::per_point({1, 0, 3, 2})) == Values{1, 0, 3, 2});
  CHECK(resolved(SoftBoundary::per_class({{-1, 5}, {3, 6}, {7, 0.5}, {99, 1}})) ==
        Values{0.5, 6, 0.5, 5});
}

TEST_CASE("a hard boundary is no list of zeros", "[version_space]") {
  CHECK(resolved(bpm::SoftBoundary()).empty());
  CHECK(resolved(bpm::SoftBoundary::uniform(0)).empty());
}

TEST_CASE("which lambdas are those of any points", "[version_space]") {
  CHECK(bpm::SoftBoundary().works_on_subsets());
  CHECK(bpm::SoftBoundary::automatic().works_on_subsets());
  CHECK(bpm::SoftBoundary::relative(1).works_on_subsets());
  CHECK(bpm::SoftBoundary::per_class({{1, 1}}).works_on_subsets());
  CHECK_FALSE(bpm::SoftBoundary::per_point({1}).works_on_subsets());
  CHECK_FALSE(bpm::SoftBoundary::relative(1).with_class_weights({{1, 2.0}}).works_on_subsets());
}

TEST_CASE("lambdas are finite and not negative", "[version_space]") {
  using bpm::SoftBoundary;
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(SoftBoundary::uniform(-1), std::invalid_argument);
  CHECK_THROWS_WITH(SoftBoundary::uniform(-1),
                    "SoftBoundary::uniform: lambda is -1, must be finite and not negative");
  CHECK_THROWS_WITH(SoftBoundary::uniform(nan),
                    "SoftBoundary::uniform: lambda is nan, must be finite and not negative");
  CHECK_THROWS_WITH(SoftBoundary::relative(inf),
                    "SoftBoundary::relative: factor is inf, must be finite and not negative");
  CHECK_THROWS_WITH(SoftBoundary::per_point({0, 1, -2}),
                    "SoftBoundary::per_point: lambda is -2, must be finite and not negative");
  CHECK_THROWS_WITH(SoftBoundary::per_class({{0, 1}, {1, inf}}),
                    "SoftBoundary::per_class: lambda is inf, must be finite and not negative");
}

TEST_CASE("a class has one lambda", "[version_space]") {
  CHECK_THROWS_WITH(bpm::SoftBoundary::per_class({{0, 1}, {3, 2}, {0, 1}}),
                    "SoftBoundary::per_class: lambda has two values for label 0");
}

TEST_CASE("a lambda whose square would overflow is refused", "[version_space]") {
  using bpm::SoftBoundary;
  CHECK_THROWS_WITH(SoftBoundary::uniform(1e308),
                    "SoftBoundary::uniform: lambda is 1e+308, must be below 1e+100");
  const std::vector<int> two_labels{1, 2};
  CHECK_THROWS_WITH(
      SoftBoundary::relative(1e60).resolve([](std::ptrdiff_t) { return 1e50; }, two_labels),
      "SoftBoundary::relative: factor k(x, x) is 1e+110, must be below 1e+100");
}

TEST_CASE("lambdas that do not fit the training set are refused", "[version_space]") {
  CHECK_THROWS_AS(resolved(bpm::SoftBoundary::per_point({1, 2})), std::invalid_argument);
  CHECK_THROWS_WITH(
      resolved(bpm::SoftBoundary::per_point({1, 2})),
      "SoftBoundary::per_point: lambda has 2 entries, expected 4 (one per training point)");
  CHECK_THROWS_WITH(resolved(bpm::SoftBoundary::per_class({{7, 1}, {-1, 1}})),
                    "SoftBoundary::per_class: lambda has no value for label 3, which point 1 has");
}

TEST_CASE("signatures tell boundaries apart") {
  using bpm::SoftBoundary;
  const std::vector<SoftBoundary> all{SoftBoundary(),
                                      SoftBoundary::uniform(0.5),
                                      SoftBoundary::uniform(1),
                                      SoftBoundary::relative(0.5),
                                      SoftBoundary::per_point({0.5, 1}),
                                      SoftBoundary::per_class({{1, 0.5}, {2, 1}}),
                                      SoftBoundary::per_class({{1, 0.5}, {3, 1}}),
                                      SoftBoundary::relative(0.3).with_class_weights({{1, 0.5}})};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      CAPTURE(i, j);
      CHECK((all[i].signature() == all[j].signature()) == (i == j));
    }
  }
  // The numbers are those of stored trainings.
  CHECK(SoftBoundary::automatic().signature() == std::vector<double>{5, 0, 0, 0});
  CHECK(SoftBoundary::per_class({{1, 0.5}}).with_factor(2).signature() ==
        std::vector<double>{1, 2, 0, 1, 1, 1});
  // Points are each rank's own.
  CHECK(SoftBoundary::per_point({1}).signature() == SoftBoundary::per_point({2, 3}).signature());
}

TEST_CASE("class weights divide lambda, of chosen ones too", "[version_space]") {
  using bpm::SoftBoundary;
  const std::vector<int> of_points{7, 3, 7, 5};
  const auto lambda = [&](const SoftBoundary& boundary) {
    return boundary.resolve([](std::ptrdiff_t i) { return 1.0 + static_cast<double>(i); },
                            of_points);
  };
  const SoftBoundary weighted = SoftBoundary::automatic().with_class_weights({{7, 4.0}, {5, 0.5}});
  CHECK(weighted.is_automatic());
  CHECK(lambda(weighted.with_factor(2)) == std::vector<double>{0.5, 4, 1.5, 16});
  CHECK(lambda(SoftBoundary::uniform(2).with_class_weights({{3, 2.0}})) ==
        std::vector<double>{2, 1, 2, 2});
  CHECK(lambda(weighted.with_factor(0)).empty());
  CHECK(weighted.signature() != SoftBoundary::automatic().signature());
  // Lambdas a class keep their shares of a factor, again and again.
  const SoftBoundary classes = SoftBoundary::per_class({{7, 0.1}, {3, 0.4}, {5, 0.0}});
  CHECK(lambda(classes.with_factor(2)) == std::vector<double>{0.5, 4, 1.5, 0});
  CHECK(lambda(classes.with_factor(9).with_factor(2)) == std::vector<double>{0.5, 4, 1.5, 0});
  CHECK(lambda(SoftBoundary::per_class({{7, 0.0}, {3, 0.0}, {5, 0.0}}).with_factor(2)) ==
        std::vector<double>{2, 4, 6, 8});
  CHECK_THROWS_WITH(
      lambda(SoftBoundary::uniform(2).with_class_weights({{4, 2.0}})),
      "SoftBoundary::with_class_weights: weights have the label 4, which no point has");
  CHECK_THROWS_WITH(SoftBoundary::automatic().with_class_weights({{1, 0.0}}),
                    "SoftBoundary::with_class_weights: weight is 0, must be positive and finite");
  CHECK_THROWS_WITH(SoftBoundary::automatic().with_class_weights({{1, 1.0}, {1, 2.0}}),
                    "SoftBoundary::with_class_weights: weights has two values for label 1");
}
