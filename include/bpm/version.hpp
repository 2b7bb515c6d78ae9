// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The only version number of the library, read by CMake and by the package recipes. It follows
/// semantic versioning; while the first number is 0, a new second number may change interfaces.

// Macros, which `#if` can compare.
/// First number: 0 while interfaces may change with the second.
#define BPM_VERSION_MAJOR 0
/// Second number: increased when interfaces have changed or grown.
#define BPM_VERSION_MINOR 2
/// Third number: increased when only faults were corrected.
#define BPM_VERSION_PATCH 0

namespace bpm {

/// First number of the version of the compiled headers.
inline constexpr int version_major = BPM_VERSION_MAJOR;
inline constexpr int version_minor = BPM_VERSION_MINOR;  ///< Second number of the version.
inline constexpr int version_patch = BPM_VERSION_PATCH;  ///< Third number of the version.

}  // namespace bpm
