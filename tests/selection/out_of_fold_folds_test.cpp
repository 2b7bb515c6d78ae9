// SPDX-License-Identifier: MIT
#include "bpm/selection/out_of_fold.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using bpm::Folds;
using test_support::message_of;

namespace {

std::vector<int> labels_of(const std::vector<std::pair<int, int>>& counts) {
  std::vector<int> labels;
  for (const auto& [label, count] : counts) labels.insert(labels.end(), count, label);
  return labels;
}

}  // namespace

TEST_CASE("folds have equal shares of every class", "[selection]") {
  const auto labels = labels_of({{3, 53}, {-1, 21}, {8, 26}});
  const auto folds = Folds::stratified(labels, 5, 7);
  CHECK(folds.count == 5);
  CHECK(folds.always_train == 0);
  std::map<std::pair<int, int>, int> of_class;
  std::vector<int> size(5);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    REQUIRE(folds.of_point[i] >= 0);
    REQUIRE(folds.of_point[i] < 5);
    ++of_class[{labels[i], folds.of_point[i]}];
    ++size[folds.of_point[i]];
  }
  for (const auto& [place, count] : of_class) {
    const int whole = place.first == 3 ? 10 : place.first == -1 ? 4 : 5;
    CHECK((count == whole || count == whole + 1));
  }
  CHECK(of_class.size() == 15);
  for (const int count : size) CHECK(count == 20);
  const auto left_out = folds.points(2, true);
  const auto train = folds.points(2, false);
  CHECK(left_out.size() == 20);
  CHECK(train.size() == 80);
  CHECK(std::is_sorted(train.begin(), train.end()));
  for (const auto i : left_out) CHECK(folds.of_point[i] == 2);
}

TEST_CASE("folds are by seed, and random", "[selection]") {
  const std::vector<int> labels = labels_of({{0, 60}, {1, 60}});
  CHECK(Folds::stratified(labels, 4, 1).of_point == Folds::stratified(labels, 4, 1).of_point);
  CHECK(Folds::stratified(labels, 4, 1).of_point != Folds::stratified(labels, 4, 2).of_point);
  // A quarter of the points is in the first fold, whichever half of a class they lie in: of 30
  // points 7.5 with a deviation of 1.9, and 2 400 over 320 seeds with one of 35.
  int first = 0;
  for (std::uint64_t seed = 0; seed < 320; ++seed) {
    const auto folds = Folds::stratified(labels, 4, seed);
    first += static_cast<int>(std::count(folds.of_point.begin(), folds.of_point.begin() + 30, 0));
  }
  CHECK(std::abs(first - 2400) < 5 * 35);
}

TEST_CASE("folds are dealt in an order that no draw has", "[selection]") {
  // Of one class, so that the order of the dealing is the permutation itself.
  const std::vector<int> labels(60, 1);
  const auto dealt = Folds::stratified(labels, 4, 3).of_point;
  for (std::uint64_t draw = 0; draw < 10; ++draw) {
    bpm::RandomEngine engine(3, draw);
    std::vector<bpm::PointIndex> order(60);
    bpm::random_permutation(std::span(order), engine);
    std::vector<std::int32_t> as_the_draw(60);
    for (std::size_t i = 0; i < 60; ++i) as_the_draw[order[i]] = static_cast<std::int32_t>(i % 4);
    CAPTURE(draw);
    CHECK(dealt != as_the_draw);
  }
}

TEST_CASE("rare classes are in fewer folds, single points in none", "[selection]") {
  const auto labels = labels_of({{0, 12}, {1, 2}, {2, 1}});
  const auto folds = Folds::stratified(labels, 5);
  CHECK(folds.always_train == 1);
  CHECK(folds.of_point[14] == -1);
  CHECK(folds.of_point[12] != folds.of_point[13]);
  for (std::size_t k = 0; k < 5; ++k) {
    const auto train = folds.points(k, false);
    // Of every class something is left to train with.
    CHECK(std::find(train.begin(), train.end(), 14) != train.end());
    CHECK(std::count_if(train.begin(), train.end(), [](auto i) { return i == 12 || i == 13; }) > 0);
  }
}

TEST_CASE("folds refuse what cannot be dealt", "[selection]") {
  const std::vector<int> labels{1, 1, 2};
  CHECK(message_of([&] { (void)Folds::stratified(labels, 3); }) ==
        "Folds::stratified: count is 3, must be 2 or more and at most 2, the points that are not "
        "alone in their class");
  CHECK(message_of([&] { (void)Folds::stratified(labels, 0); }) ==
        "Folds::stratified: count is 0, must be 2 or more and at most 2, the points that are not "
        "alone in their class");
  CHECK(message_of([&] { (void)Folds::stratified({}, 2); }) ==
        "Folds::stratified: labels is empty, must hold at least one label");
}
