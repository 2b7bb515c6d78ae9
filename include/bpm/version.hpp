// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The one version number of the library, read by CMake and by the package recipes. It follows
/// semantic versioning; while the first digit is 0, a new second digit may change interfaces.

// Macros, so that `#if` can compare them.
/// The first digit: 0 while interfaces may change with the second.
#define BPM_VERSION_MAJOR 0
/// The second digit: new where interfaces have changed or grown.
#define BPM_VERSION_MINOR 2
/// The third digit: new where only faults were mended.
#define BPM_VERSION_PATCH 0

namespace bpm {

/// The version of the headers that were compiled.
inline constexpr int version_major = BPM_VERSION_MAJOR;
inline constexpr int version_minor = BPM_VERSION_MINOR;  ///< The second digit of it.
inline constexpr int version_patch = BPM_VERSION_PATCH;  ///< The third digit of it.

}  // namespace bpm
