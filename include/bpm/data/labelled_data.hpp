// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "bpm/core/points.hpp"

namespace bpm {

/// Inputs, one a row, and the label of each: labels[i] belongs to row i. `labels` is empty where
/// the source holds none.
template <class Inputs>
struct LabelledData {
  Inputs inputs;
  std::vector<int> labels;
};

}  // namespace bpm
