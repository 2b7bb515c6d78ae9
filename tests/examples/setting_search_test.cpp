// SPDX-License-Identifier: MIT
#include "common/setting_search.hpp"

#include <cmath>
#include <vector>

#include "bpm/core/points.hpp"
#include "catch.hpp"

namespace {

using bpm_examples::floats_suffice;

TEST_CASE("settings: widths double, and searches begin within them", "[examples]") {
  for (const bool choosing : {false, true}) {
    bpm_examples::SettingSearch search;
    search.choosing = choosing;
    const std::vector<double> widths = bpm_examples::widths_to_try(search);
    for (std::size_t k = 1; k < widths.size(); ++k) CHECK(widths[k] == 2 * widths[k - 1]);
    const std::size_t tried = widths.size() - search.narrower - search.wider;
    CHECK(tried == (choosing ? 4 : 1));
    CHECK(widths[search.narrower] == (choosing ? 0.25 : bpm_examples::usual_width));
  }
}

TEST_CASE("settings: few rows take more draws, where they cost little", "[examples]") {
  CHECK(bpm_examples::usual_draws(3000) == 30);
  CHECK(bpm_examples::usual_draws(3001) == 10);
  // Those are the rows that all judge.
  CHECK(bpm_examples::usual_boundary(3000).points == 3000);
  CHECK(bpm_examples::usual_boundary(1500).draws == 10);
  CHECK(bpm_examples::usual_boundary(1501).draws == bpm::AutomaticBoundary{}.draws);
}

TEST_CASE("settings: floats suffice for many rows that vary as much as they are large",
          "[examples]") {
  bpm::RowMatrix<double> rows(5000, 2);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    rows.row(i) << std::sin(static_cast<double>(i)), std::cos(static_cast<double>(i));
  }
  CHECK(floats_suffice(rows));
  CHECK_FALSE(floats_suffice(rows.topRows(4999)));
  // Ten deviations from the origin the mean is as far as is allowed: |mean|^2 <= 99 variances.
  const double deviation = 1;  // The columns together have this one.
  bpm::RowMatrix<double> far = rows;
  far.col(0).array() += 9.9 * deviation;
  CHECK(floats_suffice(far));
  far.col(0).array() += 0.1 * deviation;
  CHECK_FALSE(floats_suffice(far));
  CHECK_FALSE(floats_suffice((1e16 * rows).eval()));
}

}  // namespace
