// SPDX-License-Identifier: MIT
// The paper's recipe: what is drawn can be learned without a mistake.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"
#include "bpm_convergence/data.hpp"
#include "catch.hpp"

using namespace bpm_examples;

TEST_CASE("bpm_convergence: the recipe's data are separable and of two classes", "[examples]") {
  for (const TableSettings& table : paper_tables) {
    for (const InputRange range : {InputRange::symmetric, InputRange::unit}) {
      CAPTURE(table.number, static_cast<int>(range));
      const SeparableData data = make_separable_data(table, range, bpm::RandomEngine(5));
      CHECK(data.inputs.cols() == table.dimension);
      REQUIRE(data.inputs.rows() == data_size);
      REQUIRE(data.labels.size() == 100);
      const auto positive = std::count(data.labels.begin(), data.labels.end(), 1);
      CHECK(std::count(data.labels.begin(), data.labels.end(), -1) == 100 - positive);
      CHECK(positive >= fewest_of_a_class);
      CHECK(positive <= 100 - fewest_of_a_class);

      const bpm::PrecomputedGram<double> gram(data.kernel);
      const bpm::KernelVersionSpace space(gram, {data.labels.begin(), data.labels.end()});
      bpm::Cone cone = bpm::Cone(space);
      cone.form_products();
      CHECK(bpm::LargestMargin::find(cone, 0.1).margin > 0);
    }
  }
}

TEST_CASE("bpm_convergence: ranges, stretch and kernels are what they say", "[examples]") {
  const auto widest = [](const auto& column) {
    return std::pair{column.minCoeff(), column.maxCoeff()};
  };
  const auto symmetric =
      make_separable_data(paper_tables[2], InputRange::symmetric, bpm::RandomEngine(1));
  CHECK(symmetric.inputs.minCoeff() < -0.99);
  CHECK(symmetric.inputs.minCoeff() >= -1);
  CHECK(symmetric.inputs.maxCoeff() > 0.99);
  CHECK(symmetric.inputs.maxCoeff() < 1);
  CHECK(std::abs(symmetric.kernel(3, 7) - symmetric.inputs.row(3).dot(symmetric.inputs.row(7)) -
                 1) <= 1e-12);
  const auto unit = make_separable_data(paper_tables[3], InputRange::unit, bpm::RandomEngine(1));
  CHECK(unit.inputs.minCoeff() >= 0);
  CHECK(unit.inputs.maxCoeff() > 0.99);
  const double squared = (unit.inputs.row(3) - unit.inputs.row(7)).squaredNorm();
  CHECK(std::abs(unit.kernel(3, 7) - std::exp(-squared / 2)) <= 1e-12);

  // Stretched data: the same draw, all but the first coordinate ten times as narrow.
  const TableSettings plain{3, 40, false, true};
  const TableSettings stretched{6, 40, true, true};
  const auto before = make_separable_data(plain, InputRange::symmetric, bpm::RandomEngine(2));
  const auto after = make_separable_data(stretched, InputRange::symmetric, bpm::RandomEngine(2));
  CHECK(after.labels == before.labels);
  CHECK(after.inputs.col(0) == before.inputs.col(0));
  CHECK((10 * after.inputs.rightCols(39) - before.inputs.rightCols(39)).cwiseAbs().maxCoeff() <=
        1e-15);
  CHECK(widest(after.inputs.col(0)).second > 0.9);
  CHECK(after.kernel(3, 7) > before.kernel(3, 7));
}

TEST_CASE("bpm_convergence: a split takes every point once", "[examples]") {
  const PointSplit split = make_split(bpm::RandomEngine(3));
  CHECK(split.train.size() == 60);
  CHECK(split.test.size() == 40);
  std::vector<Eigen::Index> all = split.train;
  all.insert(all.end(), split.test.begin(), split.test.end());
  CHECK_FALSE(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i] == static_cast<Eigen::Index>(i));
  }
}
