// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <vector>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The cells of a `GradientFeatures`: rows x columns of them cover the image but for a margin.
struct FeatureGrid {
  Eigen::Index rows = 4;
  Eigen::Index columns = 4;
  Eigen::Index margin = 2;  ///< In pixels; what lies there counts for the cells beside it.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("rows", self.rows);
    visit("columns", self.columns);
    visit("margin", self.margin);
  }

  friend bool operator==(const FeatureGrid&, const FeatureGrid&) = default;
};

/// How `GradientFeatures` looks at an image. A plain value.
struct GradientSettings {
  std::vector<FeatureGrid> grids{{}};  ///< Their features one after the other.
  int orientations = 8;                ///< Directions of the gradient: 4, 8, 12 or 16.
  /// Classes by how edges bend, from a curvature of -1/3 a pixel to 1/3: 3, 5, 7, 9, or 1: one.
  int bends = 5;
  int smoothing = 1;  ///< Passes of the filter [1 2 1] in both directions: 0 to 2.
  int norm = 700;     ///< Euclidean norm of a row of features, but for rounding.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("grids", self.grids);
    visit("orientations", self.orientations);
    visit("bends", self.bends);
    visit("smoothing", self.smoothing);
    visit("norm", self.norm);
  }

  friend bool operator==(const GradientSettings&, const GradientSettings&) = default;
};

}}  // namespace bpm
