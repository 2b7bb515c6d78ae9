// SPDX-License-Identifier: MIT
#include "bpm/core/progress.hpp"

#include <string>

#include "catch.hpp"

namespace {

struct Silent {
  void operator()(const bpm::Progress& /*progress*/) {}
};
struct Stopping {
  bool operator()(const bpm::Progress& progress) { return progress.draws < 2; }
};
struct SaysText {
  std::string operator()(const bpm::Progress& /*progress*/) { return {}; }
};
struct WantsNumber {
  void operator()(int /*number*/) {}
};
struct ChangesProgress {
  void operator()(bpm::Progress& /*progress*/) {}
};

}  // namespace

TEST_CASE("Observer: a callable on Progress that returns nothing or a bool",
          "[progress][concepts]") {
  STATIC_REQUIRE(bpm::Observer<Silent>);
  STATIC_REQUIRE(bpm::Observer<Stopping>);
  STATIC_REQUIRE(bpm::Observer<bpm::detail::IgnoreProgress>);
  STATIC_REQUIRE(bpm::Observer<const bpm::detail::IgnoreProgress>);
  const auto lambda = [](const bpm::Progress&) { return true; };
  STATIC_REQUIRE(bpm::Observer<decltype(lambda)>);

  STATIC_REQUIRE_FALSE(bpm::Observer<int>);
  STATIC_REQUIRE_FALSE(bpm::Observer<SaysText>);         // Not a bool.
  STATIC_REQUIRE_FALSE(bpm::Observer<WantsNumber>);      // Not called on Progress.
  STATIC_REQUIRE_FALSE(bpm::Observer<ChangesProgress>);  // Progress is const.
  STATIC_REQUIRE_FALSE(bpm::Observer<const Stopping>);   // Not callable when const.
}

TEST_CASE("notify goes on unless the observer says no", "[progress]") {
  Silent silent;
  CHECK(bpm::detail::notify(silent, bpm::Progress{}));
  bpm::detail::IgnoreProgress ignore;
  CHECK(bpm::detail::notify(ignore, bpm::Progress{}));
  Stopping stopping;
  bpm::Progress progress;
  progress.draws = 1;
  CHECK(bpm::detail::notify(stopping, progress));
  progress.draws = 2;
  CHECK_FALSE(bpm::detail::notify(stopping, progress));
}

TEST_CASE("notify hands the observer what it was given", "[progress]") {
  bpm::Progress seen;
  auto observer = [&](const bpm::Progress& progress) { seen = progress; };
  bpm::Progress sent;
  sent.stage = "draws";
  sent.fraction = 0.25;
  sent.draws = 1;
  sent.draws_total = 4;
  sent.passes = 12;
  sent.mistakes = 99;
  CHECK(bpm::detail::notify(observer, sent));
  CHECK(seen.stage == "draws");
  CHECK(seen.fraction == 0.25);
  CHECK(seen.draws == 1);
  CHECK(seen.draws_total == 4);
  CHECK(seen.passes == 12);
  CHECK(seen.mistakes == 99);
}
