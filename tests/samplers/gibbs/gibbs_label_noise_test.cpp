// SPDX-License-Identifier: MIT
#include "bpm/samplers/gibbs/gibbs_normal.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/samplers/gibbs/gibbs_state.hpp"
#include "catch.hpp"

using namespace bpm::detail;

TEST_CASE("passes over outputs find what plain loops find, at every length") {
  for (std::ptrdiff_t m = 1; m <= 40; ++m) {
    CAPTURE(m);
    bpm::RandomEngine engine(static_cast<std::uint64_t>(m), 101);
    bpm::NormalDraws normal;
    std::vector<double> d;
    std::vector<double> p;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      d.push_back(0.1 + bpm::uniform_unit(engine));
      p.push_back(normal(engine));
    }
    std::vector<double> ratios;
    std::vector<double> sums;
    for (std::size_t i = 0; i < d.size(); ++i) {
      ratios.push_back(p[i] / d[i]);
      sums.push_back(0.5 * d[i] - 2.0 * p[i]);
    }
    const Extremes extremes = ratio_extremes(p.data(), d.data(), m);
    CHECK(extremes.smallest == *std::min_element(ratios.begin(), ratios.end()));
    CHECK(extremes.largest == *std::max_element(ratios.begin(), ratios.end()));
    CHECK(count_errors(sums.data(), m) ==
          std::count_if(sums.begin(), sums.end(), [](double x) { return !(x > 0); }));
  }
}

TEST_CASE("cuts are sorted with their changes, and equal places stay equal") {
  GibbsCuts cuts;
  const double third = 1.0 / 3;
  cuts.add(2.5, true);
  cuts.add(third, false);
  cuts.add(-1.5, true);
  cuts.add(third, true);
  cuts.add(0.0, false);
  cuts.sort();
  REQUIRE(cuts.size() == 5);
  CHECK(cuts.place(0) == -1.5);
  CHECK(cuts.change(0) == 1);
  CHECK(cuts.place(1) == 0);
  CHECK(cuts.change(1) == -1);
  CHECK(cuts.place(2) == cuts.place(3));
  CHECK(std::abs(cuts.place(2) - third) < 1e-15);
  CHECK(cuts.change(2) + cuts.change(3) == 0);
  CHECK(cuts.place(4) == 2.5);
}
