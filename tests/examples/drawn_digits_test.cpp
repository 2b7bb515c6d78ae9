// SPDX-License-Identifier: MIT
#include "common/drawn_digits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

using bpm_examples::draw_digit;
using bpm_examples::draw_digits;
using bpm_examples::DrawnDigits;

TEST_CASE("drawn digits depend on the seed and the index alone") {
  const DrawnDigits whole = draw_digits(300, 7);
  CHECK(draw_digits(300, 7).images == whole.images);
  CHECK(draw_digits(300, 7).labels == whole.labels);
  // A prefix, a part, several threads, a single image.
  CHECK(draw_digits(120, 7).images == whole.images.topRows(120));
  const DrawnDigits part = draw_digits(100, 7, 150);
  CHECK(part.images == whole.images.middleRows(150, 100));
  CHECK(part.labels == std::vector<int>(whole.labels.begin() + 150, whole.labels.begin() + 250));
  for (const int threads : {2, 3, 7}) {
    CHECK(draw_digits(300, 7, 0, threads).images == whole.images);
    CHECK(draw_digits(300, 7, 0, threads).labels == whole.labels);
  }
  CHECK(draw_digits(2, 7, 0, 5).images == whole.images.topRows(2));
  std::array<std::uint8_t, bpm_examples::digit_pixels> one{};
  CHECK(draw_digit(7, 211, one) == whole.labels[211]);
  CHECK(std::equal(one.begin(), one.end(), whole.images.row(211).data()));
}

TEST_CASE("drawn digits differ between seeds and between images") {
  CHECK(draw_digits(50, 1).labels != draw_digits(50, 2).labels);
  const DrawnDigits digits = draw_digits(2000, 1);
  std::set<std::string> distinct;
  for (Eigen::Index i = 0; i < digits.images.rows(); ++i) {
    const std::uint8_t* row = digits.images.row(i).data();
    distinct.emplace(row, row + digits.images.cols());
  }
  CHECK(distinct.size() == 2000);
}

TEST_CASE("drawn digits show every class about equally often") {
  constexpr int n = 20000;
  const DrawnDigits digits = draw_digits(n, 3);
  for (int digit = 0; digit < 10; ++digit) {
    const auto count = std::count(digits.labels.begin(), digits.labels.end(), digit);
    // Five standard deviations of a binomial count.
    CHECK(std::abs(static_cast<double>(count) - n / 10.0) < 5 * 42.5);
  }
}

TEST_CASE("drawn digits are bright strokes on black, about in the middle") {
  const DrawnDigits digits = draw_digits(2000, 5);
  REQUIRE(digits.images.rows() == 2000);
  REQUIRE(digits.images.cols() == 784);
  for (Eigen::Index i = 0; i < digits.images.rows(); ++i) {
    const auto image = digits.images.row(i).cast<double>().eval();
    const double inked = (image.array() > 0).cast<double>().mean();
    REQUIRE(inked > 0.02);
    REQUIRE(inked < 0.5);
    REQUIRE(image.maxCoeff() > 128);
    double x = 0;
    double y = 0;
    for (Eigen::Index p = 0; p < 784; ++p) {
      x += image[p] * static_cast<double>(p % 28);
      y += image[p] * static_cast<double>(p / 28);
    }
    REQUIRE(std::abs(x / image.sum() - 13.5) < 7);
    REQUIRE(std::abs(y / image.sum() - 13.5) < 7);
  }
}

TEST_CASE("digits of one class look alike") {
  // The mean image of each class in one set is nearest to that of the same class in another.
  const auto means = [](std::uint64_t seed) {
    const DrawnDigits digits = draw_digits(5000, seed);
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(10, 784);
    Eigen::VectorXd counts = Eigen::VectorXd::Zero(10);
    for (Eigen::Index i = 0; i < digits.images.rows(); ++i) {
      const int label = digits.labels[static_cast<std::size_t>(i)];
      sums.row(label) += digits.images.row(i).cast<double>();
      counts[label] += 1;
    }
    return (counts.cwiseInverse().asDiagonal() * sums).eval();
  };
  const Eigen::MatrixXd a = means(1);
  const Eigen::MatrixXd b = means(2);
  for (Eigen::Index digit = 0; digit < 10; ++digit) {
    Eigen::Index nearest = -1;
    (b.rowwise() - a.row(digit)).rowwise().squaredNorm().minCoeff(&nearest);
    CHECK(nearest == digit);
  }
}

TEST_CASE("draw_digits refuses impossible arguments") {
  CHECK(draw_digits(0, 1).images.rows() == 0);
  CHECK_THROWS_WITH(draw_digits(-1, 1), "draw_digits: n is -1, must be 0 or more");
  CHECK_THROWS_WITH(draw_digits(1, 1, 0, 0), "draw_digits: threads is 0, must be 1 or more");
}
