// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Stops a compiler that is not asked for C++20 before the errors by the thousand.

#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 201709L
#error "bpm needs C++20: compile with -std=c++20 (/std:c++20), or link bpm::bpm in CMake"
#include <bpm needs C++20>  // There is no such file: nothing after it is read.
#endif
