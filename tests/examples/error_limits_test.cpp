// SPDX-License-Identifier: MIT
#include "common/error_limits.hpp"

#include <cmath>

#include "catch.hpp"

TEST_CASE("error_limits: by hand, and from tables") {
  // No error in n: 1 - 0.025^(1/n). Clopper and Pearson's limits of 1 in 10.
  const bpm_examples::ErrorLimits none = bpm_examples::error_limits(0, 50);
  CHECK(none.low == 0);
  CHECK(none.high == Approx(1 - std::pow(0.025, 1.0 / 50)));
  const bpm_examples::ErrorLimits one = bpm_examples::error_limits(1, 10);
  CHECK(one.low == Approx(0.0025286).epsilon(1e-4));
  CHECK(one.high == Approx(0.4450161).epsilon(1e-5));
  CHECK(bpm_examples::error_limits(10, 10).high == 1);
  CHECK(bpm_examples::counted_text(1, 10) == "1 of 10, 0.25 to 44.50 % at 95 %");
}
