// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A path for a message: its bytes, on Windows in UTF-8. (There `path::string` may throw.)
[[nodiscard]] inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}}}  // namespace bpm::detail
