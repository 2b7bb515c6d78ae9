// SPDX-License-Identifier: MIT
#include "bpm/kernels/vector_kernels.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cmath>
#include <cstdint>
#include <limits>

#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

TEST_CASE("the median distance of few inputs is that of all pairs", "[kernels]") {
  const bpm::RowMatrix<double> line{{0.0}, {1.0}, {3.0}, {7.0}};
  // Distances 1 2 3 4 6 7: of the two in the middle the larger.
  CHECK(bpm::median_distance(line) == 4);
  const bpm::RowMatrix<std::uint8_t> bytes{{0, 0}, {3, 4}};
  CHECK(bpm::median_distance(bytes) == 5);
  const bpm::SparseRowMatrix<float> sparse = line.cast<float>().sparseView();
  CHECK(bpm::median_distance(sparse) == 4);
  CHECK(bpm::Gaussian::from_median(line).gamma() == 1.0 / 16);
  CHECK(bpm::Gaussian::from_median(line, 0.5).gamma() == 1.0 / 4);
}

TEST_CASE("the median distance of many inputs is estimated, by seed", "[kernels]") {
  // Normal points of R^2: |x - x'|^2 / 4 is exponential, so that the median is sqrt(4 log 2). The
  // density of the distance there is 0.59: 2 000 pairs give a standard error of 0.019.
  bpm::RandomEngine engine(2);
  bpm::NormalDraws normal;
  bpm::RowMatrix<float> inputs(5000, 2);
  for (Eigen::Index i = 0; i < inputs.size(); ++i) {
    inputs.data()[i] = static_cast<float>(normal(engine));
  }
  CHECK(bpm::median_distance(inputs) == Approx(std::sqrt(4 * std::log(2.0))).margin(5 * 0.019));
  CHECK(bpm::median_distance(inputs, 3) == bpm::median_distance(inputs, 3));
  CHECK(bpm::median_distance(inputs, 3) != bpm::median_distance(inputs, 4));
}

TEST_CASE("where most inputs are equal it is the median of the others' distances", "[kernels]") {
  bpm::RowMatrix<double> mostly = bpm::RowMatrix<double>::Zero(40, 1);
  mostly(3, 0) = 2;
  mostly(7, 0) = -1;
  mostly(8, 0) = -1;  // 37 distances of 2, 74 of 1, two of 3; all other 667 are 0.
  CHECK(bpm::median_distance(mostly) == 1);
  CHECK(bpm::median_distance(bpm::RowMatrix<double>::Zero(40, 1)) == 0);
}

TEST_CASE("the median distance refuses what has none", "[kernels]") {
  CHECK(message_of([] { (void)bpm::median_distance(bpm::RowMatrix<float>(1, 2)); }) ==
        "median_distance: inputs has 1 rows, must be 2 or more");
  const bpm::RowMatrix<double> bad{{0.0}, {std::numeric_limits<double>::infinity()}};
  CHECK(message_of([&] { (void)bpm::median_distance(bad); }) ==
        "median_distance: inputs row 1, column 0 is inf, must be finite");
  CHECK(message_of([] {
          (void)bpm::Gaussian::from_median(bpm::RowMatrix<float>::Constant(3, 1, 2));
        }) == "Gaussian::from_width: width is 0, must be positive and finite");
}
