// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Inputs, one per row, and the label of each: labels[i] belongs to row i. `labels` is empty where
/// the source holds none, the names where it has none.
template <class Inputs>
struct LabelledData {
  Inputs inputs;
  std::vector<int> labels;
  std::vector<std::string> class_names = {};    ///< class_names[k]: what label k stands for.
  std::vector<std::string> feature_names = {};  ///< One a column of the inputs.
  /// What the reader took for granted and its user should know, a sentence each.
  std::vector<std::string> notes = {};
};

}}  // namespace bpm
