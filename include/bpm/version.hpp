// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The one version number of the library, read by CMake and by the package recipes. It follows
/// semantic versioning; while the first digit is 0, a new second digit may change interfaces.

// Macros, so that `#if` can compare them.
#define BPM_VERSION_MAJOR 0
#define BPM_VERSION_MINOR 2
#define BPM_VERSION_PATCH 0

namespace bpm {

/// The version of the headers that were compiled.
inline constexpr int version_major = BPM_VERSION_MAJOR;
inline constexpr int version_minor = BPM_VERSION_MINOR;
inline constexpr int version_patch = BPM_VERSION_PATCH;

}  // namespace bpm
