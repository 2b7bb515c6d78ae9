// SPDX-License-Identifier: MIT
#include "bpm/storage/stored_members.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/samplers/sampler.hpp"
#include "catch.hpp"
#include "message_of.hpp"

namespace stored_members_tests {

using bpm::detail::Bound;
using bpm::detail::Json;
using bpm::detail::MemberReader;
using bpm::detail::MemberWriter;
using bpm::detail::Rows;
using test_support::message_of;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Inner {
  std::vector<double> numbers;
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("numbers", self.numbers);
  }
};
struct Drawn {
  bpm::RandomEngine engine{1, 2};
  Eigen::VectorXd vector;
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("engine", self.engine);
    visit("vector", self.vector);
  }
};
/// One of each.
struct All {
  std::uint64_t count = 0;
  double place = 0;
  std::ptrdiff_t point = 0;
  std::ptrdiff_t rank = 1;
  std::vector<double> outputs;            ///< Of three points.
  std::vector<double> coordinates;        ///< Of the rank, in whole registers.
  std::vector<std::vector<double>> sums;  ///< Likewise.
  std::vector<int> points;
  std::optional<Drawn> perhaps;
  std::vector<Inner> list{Inner{{9}}};
  std::vector<Inner> problems = std::vector<Inner>(2);
  std::string word;
  bool made = false;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("count", self.count, Bound::counted);
    visit("place", self.place, Bound::positive);
    visit("point", self.point, bpm::detail::PointNumbers{});
    visit("rank", self.rank, bpm::detail::ConeRank{});
    visit("outputs", self.outputs, Bound::per_point);
    visit("coordinates", self.coordinates, Bound::per_coordinate);
    visit("sums", self.sums, Rows{Rows::Of::rank, -1});
    visit("points", self.points, bpm::detail::PointNumbers{});
    visit("perhaps", self.perhaps);
    visit("list", self.list);
    visit("problems", self.problems, bpm::detail::PerProblem{});
    visit("word", self.word);
  }
  void after_reading(std::ptrdiff_t of) { made = of == 3; }
};

constexpr std::ptrdiff_t stride = bpm::detail::padded<double>(2);

All some() {
  All all{7, 0.1, 2, 2, {1, 2, 3}, std::vector<double>(stride, 0.0), {}, {0, 2}, {}, {}, {}, "w"};
  all.coordinates[1] = 5;
  all.sums.assign(2, all.coordinates);
  all.perhaps = Drawn{bpm::RandomEngine(3, 4), Eigen::VectorXd::LinSpaced(3, 0, 1)};
  all.list = {Inner{{}}, Inner{{4}}};
  all.problems = {Inner{{1}}, Inner{{2}}};
  return all;
}

/// Through a file of three points; or what it is refused by.
All through(const All& all) {
  bpm::detail::TensorFileWriter file;
  Json object = Json::object();
  All::visit_members(all, MemberWriter(object, &file));
  const auto bytes = file.bytes();
  const bpm::detail::TensorFile back(bytes, "f");
  All read;
  MemberReader("f: ", &back, 3).read_members(object, read, "");
  return read;
}
template <class Change>
std::string refusal(const Change& change) {
  All all = some();
  change(all);
  return message_of([&] { (void)through(all); });
}

TEST_CASE("members of every type come back") {
  const All all = some();
  const All back = through(all);
  CHECK(back.count == 7);
  CHECK(back.place == 0.1);
  CHECK(back.point == 2);
  CHECK(back.rank == 2);
  CHECK(back.outputs == all.outputs);
  CHECK(back.coordinates == all.coordinates);
  CHECK(back.sums == all.sums);
  CHECK(back.points == all.points);
  REQUIRE(back.perhaps.has_value());
  CHECK(back.perhaps->vector == all.perhaps->vector);
  CHECK(back.perhaps->engine == bpm::RandomEngine(3, 4));
  REQUIRE(back.list.size() == 2);
  CHECK(back.list[1].numbers == std::vector<double>{4});
  CHECK(back.problems[1].numbers == std::vector<double>{2});
  CHECK(back.word == "w");
  CHECK(back.made);
  All none = all;
  none.perhaps.reset();
  CHECK_FALSE(through(none).perhaps.has_value());
  // Without a file of arrays the same in one text, where nothing is of engines and Eigen's.
  All text;
  bpm::detail::from_json_value(bpm::detail::to_json_value(none), text, "here");
  CHECK(text.sums == all.sums);
  CHECK(text.list[1].numbers == std::vector<double>{4});
  CHECK_FALSE(text.made);
}

TEST_CASE("what is read is held against its bounds") {
  CHECK(refusal([](All&) {}) == "nothing was thrown");
  CHECK(refusal([](All& a) { a.count = std::uint64_t{1} << 63U; }) ==
        "f: count is 9223372036854775808, which nothing has counted");
  CHECK(refusal([](All& a) { a.place = 0; }) == "f: place is 0, must be positive and finite");
  CHECK(refusal([](All& a) { a.place = std::numeric_limits<double>::infinity(); }) ==
        "f: place is inf, must be positive and finite");
  CHECK(refusal([](All& a) { a.point = 3; }) == "f: point is 3, must be from 0 to 2");
  CHECK(refusal([](All& a) { a.rank = 4; }) == "f: rank is 4, must be from 1 to 3");
  CHECK(refusal([](All& a) {
          a.points = {0, 3};
        }) == "f: points hold a point that is out of range");
  CHECK(refusal([](All& a) {
          a.points = {1, 1};
        }) == "f: points hold a point that is out of range");
  CHECK(refusal([](All& a) { a.perhaps->vector[1] = nan; }) ==
        "f: perhaps.vector at 1 is nan, must be finite");
  CHECK(refusal([](All& a) { a.list[1].numbers[0] = nan; }) ==
        "f: list.1.numbers at 0 is nan, must be finite");
  CHECK(refusal([](All& a) { a.problems.pop_back(); }) == "f: problems has 1 entries, expected 2");
  const std::string why = " (rows in whole registers of this program)";
  CHECK(refusal([](All& a) { a.outputs.pop_back(); }) ==
        "f: outputs has 2 entries, expected 3" + why);
  CHECK(refusal([](All& a) { a.coordinates.push_back(0); }) ==
        "f: coordinates has " + std::to_string(stride + 1) + " entries, expected " +
            std::to_string(stride) + why);
  CHECK(refusal([](All& a) {
          for (auto& row : a.sums) row.pop_back();
        }) == "f: sums has " + std::to_string(2 * stride - 2) + " entries, expected " +
                  std::to_string(stride) + why);
  CHECK(refusal([](All& a) { a.sums[1].pop_back(); }) ==
        "save: sums has rows of different length, or of none");
  // Behind the end of a row are zeros.
  All all = some();
  all.coordinates.back() = 9;
  CHECK(through(all).coordinates.back() == (stride > 2 ? 0 : 9));
}

TEST_CASE("a kept draw has a coefficient a point") {
  bpm::detail::TensorFileWriter file;
  const bpm::detail::KeptDraw draw{4, 1, {0, 2}, {1}};
  Json object = Json::object();
  bpm::detail::KeptDraw::visit_members(draw, MemberWriter(object, &file, "draw."));
  const auto bytes = file.bytes();
  const bpm::detail::TensorFile back(bytes, "f");
  bpm::detail::KeptDraw read;
  CHECK(message_of([&] { MemberReader("f: ", &back, 3).read(object, read, "draw"); }) ==
        "KeptDraw: coefficients has 1 entries, expected 2 (one a support point)");
}

/// A member that is no number, list or word, and one that files may lack.
struct Odd {
  double number = 0;
  Eigen::MatrixXd factor;
  std::vector<double> perhaps_rows;
  std::optional<std::string> reason;
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("number", self.number);
    visit("factor", self.factor);
    visit("perhaps_rows", self.perhaps_rows, Rows{Rows::Of::points, 1, false, true});
    visit("reason", self.reason);
  }
};
struct Numbers {
  double place = 0;
  std::optional<std::string> reason;
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("place", self.place, Bound::positive);
    visit("reason", self.reason);
  }
  void after_reading(std::ptrdiff_t /*points*/) const {
    throw std::invalid_argument("asked of the members of a run alone");
  }
};

TEST_CASE("infinity is null, left out is none, and what is no number is not written") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Json json = bpm::detail::to_json_value(Numbers{infinity, {}});
  CHECK(json == Json{{"place", nullptr}});
  Numbers back{1, "what was there"};
  bpm::detail::from_json_value(json, back, "here");
  CHECK(back.place == infinity);
  CHECK_FALSE(back.reason.has_value());
  for (const double number : {nan, -infinity}) {
    CHECK(message_of([&] {
            (void)bpm::detail::to_json_value(Numbers{number, {}});
          }).starts_with("save: the classifier has the number "));
  }
  // Bounds are those of a run, of which nothing is believed: a model's parts check themselves.
  bpm::detail::from_json_value(Json{{"place", -1}}, back, "here");
  CHECK(back.place == -1);
  const auto numbers = [](std::ptrdiff_t points) {
    bpm::detail::TensorFileWriter file;
    file.keep("numbers", std::vector<double>{1, nan});
    const auto bytes = file.bytes();
    const bpm::detail::TensorFile of(bytes, "f");
    Inner inner;
    MemberReader("f: ", &of, points).read_members(Json::object(), inner, "");
    return inner.numbers;
  };
  CHECK(std::isnan(numbers(-1).at(1)));
  CHECK(message_of([&] { (void)numbers(3); }) == "f: numbers at 1 is nan, must be finite");
}

TEST_CASE("a factor is kept as its lower triangle, and rows that may be empty are") {
  Odd odd;
  odd.number = 0.5;
  odd.factor = Eigen::MatrixXd{{1, 7}, {2, 3}};
  const auto read = [&](std::ptrdiff_t points) {
    bpm::detail::TensorFileWriter file;
    Json object = Json::object();
    Odd::visit_members(std::as_const(odd), MemberWriter(object, &file));
    const auto bytes = file.bytes();
    const bpm::detail::TensorFile back(bytes, "f");
    Odd found;
    found.reason = "what was there";
    MemberReader("f: ", &back, points).read_members(object, found, "");
    return found;
  };
  CHECK(read(3).factor == Eigen::MatrixXd{{1, 0}, {2, 3}});
  CHECK(read(3).perhaps_rows.empty());
  CHECK_FALSE(read(3).reason.has_value());
  odd.perhaps_rows = {1, nan, 3};
  CHECK(message_of([&] { (void)read(3); }) == "f: perhaps_rows at 1 is nan, must be finite");
  odd.perhaps_rows = {1, 2};
  CHECK(
      message_of([&] { (void)read(3); }).starts_with("f: perhaps_rows has 2 entries, expected 3"));
}

TEST_CASE("runs are refused at the borders of ranks, points and engines") {
  All odd = some();
  odd.rank = 1;  // A row of one number and what fills its register.
  odd.coordinates.assign(static_cast<std::size_t>(bpm::detail::padded<double>(1)), 9);
  odd.sums.clear();
  const std::vector<double> row = through(odd).coordinates;
  CHECK(row[0] == 9);
  CHECK(std::all_of(row.begin() + 1, row.end(), [](double x) { return x == 0; }));
  CHECK(refusal([](All& a) { a.rank = 0; }) == "f: rank is 0, must be from 1 to 3");
  CHECK(refusal([](All& a) { a.point = -1; }) == "f: point is -1, must be from 0 to 2");
  CHECK(refusal([](All& a) {
          a.points = {-1, 2};
        }) == "f: points hold a point that is out of range");
  CHECK(refusal([](All& a) {
          a.outputs.clear();
        }).starts_with("f: outputs has 0 entries, expected 3"));
  const auto engine_of = [](const std::vector<std::uint64_t>& words) {
    bpm::detail::TensorFileWriter file;
    file.keep("engine", words);
    file.keep("vector", std::vector<double>{1});
    const auto bytes = file.bytes();
    const bpm::detail::TensorFile back(bytes, "f");
    Drawn read;
    return message_of(
        [&] { MemberReader("f: ", &back, 3).read_members(Json::object(), read, ""); });
  };
  const std::string none = "f: the array 'engine' is no state of a random engine";
  CHECK(engine_of({0, 0, 0, 1}) == "nothing was thrown");
  CHECK(engine_of({0, 0, 0, 0}) == none);
  CHECK(engine_of({1, 2, 3}) == none);
  CHECK(engine_of({1, 2, 3, 4, 5}) == none);
}

TEST_CASE("the words of enums are the names that they have in the code") {
  const auto is = [](auto value, const char* word) {
    const Json json = MemberWriter::json_of(value, nullptr, "");
    CHECK(json == word);
    auto back = static_cast<decltype(value)>(0);
    bpm::detail::from_json_value(Json(word), back, "here");
    CHECK(back == value);
  };
  using Warning = bpm::FitWarning::Kind;
  is(Warning::worse_than_its_draws, "worse_than_its_draws");
  is(Warning::class_never_predicted, "class_never_predicted");
  is(Warning::no_better_than_largest_class, "no_better_than_largest_class");
  is(Warning::width_far_from_distances, "width_far_from_distances");
  is(Warning::columns_differ_in_scale, "columns_differ_in_scale");
  is(Warning::chains_disagree, "chains_disagree");
  is(Warning::far_from_origin, "far_from_origin");
  is(bpm::MixedTable::Kind::numbers, "numbers");
  is(bpm::MixedTable::Kind::words, "words");
  is(bpm::SamplerReport::Advice::soften_or_raise_limits, "soften_or_raise_limits");
  is(bpm::SamplerReport::Advice::in_reason, "in_reason");
  is(bpm::Strategy::dense, "dense");
  is(bpm::Strategy::windowed, "windowed");
  is(bpm::Strategy::precomputed, "precomputed");
  is(bpm::Strategy::linear, "linear");
}

}  // namespace stored_members_tests
