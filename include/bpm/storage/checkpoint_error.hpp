// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

namespace bpm {

/// A checkpoint cannot be written, or what lies there is not this run's. The message names the file
/// and says what is wrong with it.
class CheckpointError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bpm
