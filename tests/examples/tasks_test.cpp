// SPDX-License-Identifier: MIT
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "catch.hpp"
#include "common/check.hpp"
#include "common/tasks.hpp"

using namespace bpm_examples;

TEST_CASE("Tasks are run once each, on any number of threads", "[examples]") {
  for (const int threads : {1, 2, 7}) {
    std::vector<int> runs(100, 0);
    run_tasks(threads, runs.size(), [&](std::size_t i) { ++runs[i]; });
    CHECK(runs == std::vector<int>(100, 1));
  }
  run_tasks(3, 0, [](std::size_t) { FAIL("there is no task"); });
}

TEST_CASE("A task that fails ends the others", "[examples]") {
  for (const int threads : {1, 3}) {
    CHECK_THROWS_WITH(run_tasks(threads, 1000,
                                [](std::size_t i) {
                                  if (i == 5) throw std::runtime_error("the fifth");
                                }),
                      "the fifth");
  }
}

TEST_CASE("An observer counts tasks and stops them", "[examples]") {
  std::vector<std::size_t> seen;
  CHECK(run_tasks(
      4, 20, [](std::size_t) {},
      [&](std::size_t done) {
        seen.push_back(done);
        return true;
      }));
  CHECK(seen.size() == 20);
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == i + 1);

  std::size_t begun = 0;
  CHECK_FALSE(run_tasks(
      1, 20, [&](std::size_t) { ++begun; }, [](std::size_t done) { return done < 3; }));
  CHECK(begun == 3);
}

TEST_CASE("Checks print their parts", "[examples]") {
  CHECK_NOTHROW(check(true, "never"));
  CHECK_THROWS_WITH(check(false, "f: n is ", 3, ", must be ", 4), "f: n is 3, must be 4");
}
