// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

/// \file
/// Where the real data lies, for the tests that need it. A test that does not find it says so and
/// returns:
///
///     const auto data = test_support::data_dir();
///     if (!data) return test_support::skip_without_data("reads MNIST");
///
/// Its program then ends with `skip_exit_code`, which ctest shows as "Skipped", unless a check of
/// another test failed.

namespace test_support {

/// Exit code of a test program in which nothing failed and a test was skipped.
inline constexpr int skip_exit_code = 77;

/// Prints "SKIPPED (no data): <test>" on standard error and remembers it. In main.cpp.
void skip_without_data(const std::string& test);

/// The folder named by BPM_DATA_DIR, if it is there.
inline std::optional<std::filesystem::path> data_dir() {
  const char* named = std::getenv("BPM_DATA_DIR");
  if (named == nullptr || *named == '\0' || !std::filesystem::is_directory(named)) {
    return std::nullopt;
  }
  return std::filesystem::path(named);
}

}  // namespace test_support
