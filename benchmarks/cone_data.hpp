// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/data/table.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm_benchmarks {

/// A version space under the kernel exp(-|x - x'|^2 / 2): the cone of that size among the data,
/// where BPM_DATA_DIR has it, else made in the same way: points uniform in [0, 1]^d, labels the
/// sign of a random kernel expansion.
struct ConeData {
  using Inputs = bpm::RowMatrix<double>;
  using Matrix = bpm::PrecomputedGram<double>;

  Inputs inputs;
  std::vector<signed char> labels;
  Inputs kernel;  ///< All values, symmetric.
  Matrix gram{kernel};
  bpm::Cone cone;
  std::vector<double> start;

  ConeData(std::ptrdiff_t points, std::ptrdiff_t features)
      : inputs(points, features),
        labels(static_cast<std::size_t>(points)),
        kernel(fill(points, features)),
        cone(bpm::Cone(bpm::KernelVersionSpace<double>(gram, labels))) {
    cone.form_products();
    start = bpm::LargestMargin::find(cone).position;
  }

 private:
  Inputs fill(std::ptrdiff_t points, std::ptrdiff_t features) {
    const bool read = read_file(points, features);
    bpm::RandomEngine engine(20, static_cast<std::uint64_t>(points));
    if (!read) {
      for (std::ptrdiff_t i = 0; i < inputs.size(); ++i) {
        inputs.data()[i] = bpm::uniform_unit(engine);
      }
    }
    Inputs matrix = bpm::kernel_matrix(bpm::Gaussian::from_sigma(1.0), inputs);
    if (!read) {
      // Expansions again until both classes have some points.
      bpm::NormalDraws normals;
      std::ptrdiff_t positive = 0;
      while (positive < 1 + points / 40 || positive > points - 1 - points / 40) {
        Eigen::VectorXd sums = Eigen::VectorXd::Zero(points);
        for (std::ptrdiff_t i = 0; i < points; ++i) {
          sums += normals(engine) * matrix.row(i).transpose();
        }
        positive = (sums.array() > 0).count();
        for (std::ptrdiff_t i = 0; i < points; ++i) {
          labels[static_cast<std::size_t>(i)] = sums[i] > 0 ? 1 : -1;
        }
      }
    }
    return matrix;
  }

  bool read_file(std::ptrdiff_t points, std::ptrdiff_t features) {
    const char* const folder = std::getenv("BPM_DATA_DIR");
    if (folder == nullptr) {
      return false;
    }
    const std::filesystem::path file =
        std::filesystem::path(folder) / "cones" /
        ("cone_" + std::to_string(points) + "_" + std::to_string(features) + ".csv");
    if (!std::filesystem::exists(file)) {
      return false;
    }
    // Features, label, reference output.
    const auto table =
        bpm::read_table<double>(file, {.label = bpm::TableSettings::LabelColumn::none});
    inputs = table.inputs.leftCols(features);
    for (std::ptrdiff_t i = 0; i < points; ++i) {
      labels[static_cast<std::size_t>(i)] = table.inputs(i, features) > 0 ? 1 : -1;
    }
    return true;
  }
};

}  // namespace bpm_benchmarks
