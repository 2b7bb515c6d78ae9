// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "common/benchmark_sets.hpp"
#include "common/program.hpp"
#include "common/splits.hpp"
#include "robust_bpm/options.hpp"
#include "temporary_folder.hpp"

using namespace bpm_examples;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using examples_test::TemporaryFolder;
using examples_test::WithVariable;
using examples_test::write_text;

namespace {

RobustOptions parse_robust(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "robust_bpm");
  return parse_robust_options(static_cast<int>(arguments.size()), arguments.data());
}

void refused(const std::vector<const char*>& arguments, const std::string& message) {
  CHECK_THROWS_AS(parse_robust(arguments), UsageError);
  CHECK_THROWS_WITH(parse_robust(arguments), ContainsSubstring(message));
}

}  // namespace

TEST_CASE("robust_bpm: the options and their defaults", "[examples]") {
  const RobustOptions plain = parse_robust({});
  CHECK(plain.splits == 100);
  CHECK(plain.sets.size() == 7);
  CHECK(plain.lambda == 0);
  CHECK_FALSE(plain.figure2);
  CHECK(plain.width(3) == 3);

  const RobustOptions other =
      parse_robust({"--splits", "7", "--datasets", "sonar,heart", "--lambda", "0.5",
                    "--width-convention", "2sigma2", "--seed", "9"});
  CHECK(other.splits == 7);
  REQUIRE(other.sets.size() == 2);
  CHECK(other.sets[0]->name == "sonar");
  CHECK(other.sets[1]->name == "heart");
  CHECK(other.lambda == 0.5);
  CHECK(std::abs(other.width(3) * other.width(3) - 18) <= 1e-12);
  CHECK(other.common.seed == 9);

  refused({"--splits", "1"}, "'1' is no whole number from 2");
  refused({"--datasets", "heart,iris"}, "'iris' is none of heart, thyroid");
  refused({"--datasets", ""}, "'' is none of");
  refused({"--datasets", "heart,sonar,heart"}, "heart stands there twice");
  refused({"--lambda", "-1"}, "'-1' is no number from 0");
  refused({"--width-convention", "sigma"}, "sigma");
  refused({"--figure2", "--lambda", "1"}, "--lambda belongs to the table, not to --figure2");
  refused({"--figure2", "--datasets", "heart"}, "--datasets belongs to the table");
}

TEST_CASE("robust_bpm: a set is found and read", "[examples]") {
  const TemporaryFolder folder;
  const WithVariable none("BPM_DATA_DIR", std::nullopt);
  const BenchmarkSet& heart = *find_benchmark_set("heart");
  CHECK(find_benchmark_set("iris") == nullptr);
  CHECK_THROWS_AS(read_benchmark_set(heart, ""), bpm::DataError);
  CHECK_THROWS_WITH(read_benchmark_set(heart, ""), ContainsSubstring("no folder with heart.csv"));
  CHECK_THROWS_WITH(read_benchmark_set(heart, folder.path()), EndsWith("is there"));

  write_text(folder.path() / "benchmarks" / "heart.csv", "1,2.5,+1\n-3,4,-1\n");
  const BenchmarkData inside = read_benchmark_set(heart, folder.path());
  CHECK(inside.labels == std::vector<int>{1, -1});
  CHECK(inside.inputs(0, 1) == 2.5);
  CHECK(inside.inputs(1, 0) == -3);
  const BenchmarkData direct = read_benchmark_set(heart, folder.path() / "benchmarks");
  CHECK(direct.inputs == inside.inputs);
  const WithVariable named("BPM_DATA_DIR", folder.path().string());
  CHECK(read_benchmark_set(heart, "").inputs == inside.inputs);

  write_text(folder.path() / "heart.csv", "1,2.5,2\n-3,4,-1\n");
  CHECK_THROWS_AS(read_benchmark_set(heart, folder.path()), bpm::DataError);
  CHECK_THROWS_WITH(read_benchmark_set(heart, folder.path()),
                    ContainsSubstring("found the label 2, expected 1 or -1"));
}

TEST_CASE("robust_bpm: inputs are standardised by the training part alone", "[examples]") {
  BenchmarkData data;
  data.inputs.resize(6, 2);
  data.inputs << 1, 5, 2, 5, 3, 5, 10, 7, 20, 5, 30, 5;
  data.labels = {1, -1, 1, -1, 1, -1};
  InputSplit split = take_split(data, Split{{2, 0, 1}, {3, 5}});
  CHECK(split.train_labels == std::vector<int>{1, 1, -1});
  CHECK(split.test_labels == std::vector<int>{-1, -1});
  CHECK(split.train(0, 0) == 3);
  CHECK(split.test(1, 0) == 30);
  standardise(split);
  // Mean 2 and deviation 1; the second column is constant there and only shifted.
  CHECK(split.train(0, 0) == 1);
  CHECK(split.train(1, 0) == -1);
  CHECK(split.test(0, 0) == 8);
  CHECK(split.test(1, 0) == 28);
  CHECK(split.train(2, 1) == 0);
  CHECK(split.test(0, 1) == 2);
}
