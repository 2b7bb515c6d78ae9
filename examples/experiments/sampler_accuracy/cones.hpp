// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/data/table.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "common/mnist_data.hpp"

/// \file
/// Version spaces whose centres of mass are known from very long runs.

namespace bpm_examples {

inline constexpr std::array<std::string_view, 4> cone_names{"cone_12_5", "cone_60_5", "cone_60_40",
                                                            "cone_400_10"};

/// A version space and its centre.
struct ReferenceCone {
  std::string name;                 ///< The file's stem.
  bpm::RowMatrix<double> kernel;    ///< exp(-|x - x'|^2 / 2).
  std::vector<signed char> labels;  ///< 1 or -1.
  Eigen::VectorXd outputs;          ///< Of the centre, at norm 1: o_i = <w, x_i>.

  /// Angle in radians between sum_i alpha_i phi(x_i), of the given norm, and the centre.
  [[nodiscard]] double angle_to_centre(const std::vector<double>& alpha, double norm) const {
    const Eigen::Map<const Eigen::VectorXd> a(alpha.data(), std::ssize(alpha));
    return std::acos(std::min(1.0, std::max(-1.0, a.dot(outputs) / norm)));
  }
};

/// Reads a cone: on each line the features, the label, and the reference output.
/// \throws bpm::DataError on a file that is not there or holds something else.
[[nodiscard]] inline ReferenceCone read_cone(const std::filesystem::path& file) {
  const auto table =
      bpm::read_table<double>(file, {.label = bpm::TableSettings::LabelColumn::none}).inputs;
  if (table.cols() < 3) {
    throw bpm::DataError(file.string() + ": found " + std::to_string(table.cols()) +
                         " columns, expected features, label and reference output");
  }
  const Eigen::Index m = table.rows();
  ReferenceCone cone;
  cone.name = file.stem().string();
  const bpm::RowMatrix<double> inputs = table.leftCols(table.cols() - 2);
  const auto gaussian = bpm::Gaussian::from_sigma(1);
  cone.kernel.resize(m, m);
  for (Eigen::Index i = 0; i < m; ++i) {
    const double label = table(i, table.cols() - 2);
    if (label != 1 && label != -1) {
      throw bpm::DataError(file.string() + ": the label of point " + std::to_string(i) +
                           " is not 1 or -1");
    }
    if (!(label * table(i, table.cols() - 1) > 0)) {
      throw bpm::DataError(file.string() + ": the reference output of point " + std::to_string(i) +
                           " has not the sign of its label");
    }
    cone.labels.push_back(label > 0 ? 1 : -1);
    for (Eigen::Index j = 0; j <= i; ++j) {
      cone.kernel(i, j) = gaussian(inputs.row(i), inputs.row(j));
      cone.kernel(j, i) = cone.kernel(i, j);
    }
  }
  cone.outputs = table.rightCols<1>();
  return cone;
}

/// The four cones, from cones/ in a folder of `data_places(data)` or that folder itself.
/// \throws bpm::DataError where one is not there, and as `read_cone`.
[[nodiscard]] inline std::vector<ReferenceCone> read_cones(const std::filesystem::path& data) {
  std::vector<ReferenceCone> cones;
  for (const std::string_view name : cone_names) {
    const std::string file = std::string(name) + ".csv";
    std::filesystem::path found;
    std::string searched;
    for (const auto& place : data_places(data)) {
      for (const auto& folder : {place / "cones", place}) {
        std::error_code ignored;
        if (found.empty() && std::filesystem::is_regular_file(folder / file, ignored)) {
          found = folder / file;
        }
      }
      searched += (searched.empty() ? "" : ", ") + place.string();
    }
    if (found.empty()) {
      throw bpm::DataError(
          file + " was not found in: " + (searched.empty() ? "no folder known" : searched) +
          "; name the folder by --data or in the environment's BPM_DATA_DIR");
    }
    cones.push_back(read_cone(found));
  }
  return cones;
}

}  // namespace bpm_examples
