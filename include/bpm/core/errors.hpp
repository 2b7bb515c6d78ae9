// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

#include "bpm/core/target.hpp"

/// \file
/// What the library throws. A bad argument is a `std::invalid_argument` whose message names the
/// function, the argument and the value; everything else that can go wrong has a type below, so
/// that a caller can tell "your file is broken" from "your data cannot be separated".

namespace bpm { inline namespace BPM_TARGET {

/// A file or stream does not hold what its format demands. The message names the file, the line or
/// byte offset, and what was expected there.
struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// No classifier was found that makes no training error. The message says what was tried and names
/// the soft boundary lambda as the cure.
struct NotSeparable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A byte budget is below what the computation cannot do without. The message gives both numbers.
struct BudgetTooSmall : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A kernel returned a value that is not finite, or so large that sums of it could overflow. The
/// message names the pair of inputs and the value.
struct KernelValueError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A kernel matrix has no Cholesky factor, however much of the allowed jitter is added to its
/// diagonal. The message says how much was tried.
struct NotPositiveDefinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An iteration has not reached its tolerance within its limits. The message says how far it came,
/// and what was tried.
struct NotConverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A checkpoint or a model cannot be written, or what lies in a checkpoint is not this run's. The
/// message names the file and says what is wrong with it.
struct CheckpointError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A run was stopped from outside before it had anything to return.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}}  // namespace bpm
