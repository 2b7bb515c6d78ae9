// SPDX-License-Identifier: MIT
#pragma once

namespace test_support {

/// The classifier with notes that set(notes) changes.
template <class Classifier, class Set>
[[nodiscard]] Classifier noted(Classifier classifier, const Set& set) {
  set(classifier.notes);
  return classifier;
}

}  // namespace test_support
