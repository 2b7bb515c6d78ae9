// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Catch2, version 3 where it is installed and version 2 otherwise. Tests use what both share.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR >= 3
using Catch::Approx;  // as version 2 has it
#else
#include <string>

// Version 3's name; its `Contains` asks for elements of a range.
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) { return Catch::Contains(text); }
}  // namespace Catch::Matchers
#endif
