// SPDX-License-Identifier: MIT
#include <bpm/version.hpp>

#include "catch.hpp"

TEST_CASE("The version's constants are its macros") {
  STATIC_REQUIRE(bpm::version_major == BPM_VERSION_MAJOR);
  STATIC_REQUIRE(bpm::version_minor == BPM_VERSION_MINOR);
  STATIC_REQUIRE(bpm::version_patch == BPM_VERSION_PATCH);
}
