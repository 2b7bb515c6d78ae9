// SPDX-License-Identifier: MIT
#include "bpm/bounds/classifier_bounds.hpp"

#include <limits>

#include "catch.hpp"

TEST_CASE("the Rademacher bound by hand") {
  // K = I: Y' K^-1 Y = n, so 4 whatever n.
  CHECK(bpm::RademacherBound(250, 250).value() == 4);
  CHECK(bpm::RademacherBound(250, 250).vacuous());
  CHECK(bpm::RademacherBound(1, 64).value() == 0.5);
  CHECK_FALSE(bpm::RademacherBound(1, 64).vacuous());
  CHECK(bpm::RademacherBound(1, 64, 1, 0.25).value() == 0.75);
  CHECK(bpm::RademacherBound(1, 64, 1, 0.25).complexity_term == 0.5);
  CHECK(bpm::RademacherBound(1, 64, 1, 0.5).vacuous());
  // A multiple of the kernel changes nothing.
  CHECK(bpm::RademacherBound(1.0 / 4, 64, 4).value() == 0.5);
}

TEST_CASE("the Rademacher bound grows with the norm and falls with the points") {
  CHECK(bpm::RademacherBound(1.1, 64).value() > bpm::RademacherBound(1, 64).value());
  CHECK(bpm::RademacherBound(1, 65).value() < bpm::RademacherBound(1, 64).value());
}

TEST_CASE("arguments of the Rademacher bound are checked") {
  CHECK_THROWS_WITH(bpm::RademacherBound(0, 5),
                    "RademacherBound: label_norm_squared is 0, must be positive and finite");
  CHECK_THROWS_WITH(bpm::RademacherBound(std::numeric_limits<double>::infinity(), 5),
                    "RademacherBound: label_norm_squared is inf, must be positive and finite");
  CHECK_THROWS_WITH(bpm::RademacherBound(1, 0), "RademacherBound: points is 0, must be 1 or more");
  CHECK_THROWS_WITH(bpm::RademacherBound(1, 5, 0),
                    "RademacherBound: mean_diagonal is 0, must be positive and finite");
  CHECK_THROWS_WITH(bpm::RademacherBound(1, 5, 1, -1),
                    "RademacherBound: confidence_term is -1, must be finite and not negative");
}
