// SPDX-License-Identifier: MIT
#include "bpm/decision/scores.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

namespace {

Eigen::MatrixXd three_by_three() {
  Eigen::MatrixXd values(3, 3);
  values << 0.5, -1.0, 0.25,  //
      -3.0, -1.0, -1.5,       //
      2.0, 2.0, -7.0;
  return values;
}

}  // namespace

TEST_CASE("scores of a hand-made matrix", "[decision]") {
  const Eigen::MatrixXd values = three_by_three();
  CHECK(bpm::largest_output_scores(values) == std::vector<double>{0.5, -1.0, 2.0});
  CHECK(bpm::gap_scores(values) == std::vector<double>{0.25, 0.5, 0.0});
}

TEST_CASE("a column of signed outputs scores by its absolute value", "[decision]") {
  const Eigen::VectorXd outputs = Eigen::Vector3d(-2.0, 0.0, 0.5);
  const std::vector<double> expected{2.0, 0.0, 0.5};
  CHECK(bpm::largest_output_scores(outputs) == expected);
  CHECK(bpm::gap_scores(outputs) == expected);

  // As two classes with the outputs d and -d: the same largest output, twice the gap.
  Eigen::MatrixXd both(3, 2);
  both << outputs, -outputs;
  CHECK(bpm::largest_output_scores(both) == expected);
  CHECK(bpm::gap_scores(both) == std::vector<double>{4.0, 0.0, 1.0});
}

TEST_CASE("scores are the first, and the first less the second, of each sorted row", "[decision]") {
  bpm::RandomEngine engine(3);
  for (int repeat = 0; repeat < 50; ++repeat) {
    const auto rows = static_cast<Eigen::Index>(1 + bpm::uniform_below(engine, 8));
    const auto classes = static_cast<Eigen::Index>(2 + bpm::uniform_below(engine, 9));
    Eigen::MatrixXd values(rows, classes);
    for (auto& value : values.reshaped()) {
      value = static_cast<double>(bpm::uniform_below(engine, 12)) - 6;  // Ties are common.
    }
    const auto largest = bpm::largest_output_scores(values);
    const auto gaps = bpm::gap_scores(values);
    for (Eigen::Index i = 0; i < rows; ++i) {
      std::vector<double> row(static_cast<std::size_t>(classes));
      for (Eigen::Index j = 0; j < classes; ++j) {
        row[static_cast<std::size_t>(j)] = values(i, j);
      }
      std::sort(row.begin(), row.end(), std::greater<>());
      CHECK(largest[static_cast<std::size_t>(i)] == row[0]);
      CHECK(gaps[static_cast<std::size_t>(i)] == row[0] - row[1]);
    }
  }
}

TEST_CASE("scores refuse what is not a matrix of finite outputs", "[decision]") {
  CHECK_THROWS_AS(bpm::gap_scores(Eigen::MatrixXd(0, 3)), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::largest_output_scores(Eigen::MatrixXd(0, 3)),
                    "largest_output_scores: decision_values is 0 x 3, must have at least one row "
                    "(input) and one column (class)");
  CHECK_THROWS_WITH(bpm::gap_scores(Eigen::MatrixXd(2, 0)),
                    "gap_scores: decision_values is 2 x 0, must have at least one row (input) and "
                    "one column (class)");
  Eigen::MatrixXd values = three_by_three();
  values(1, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(bpm::largest_output_scores(values),
                    "largest_output_scores: decision_values(1, 2) is nan, must be finite");
  values(1, 2) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(bpm::gap_scores(values),
                    "gap_scores: decision_values(1, 2) is inf, must be finite");
}
