// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <filesystem>
#include <fstream>
#include <ios>
#include <istream>
#include <memory>
#include <string>
#include <system_error>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"

/// \file
/// Where readers get their bytes from.

namespace bpm::detail {

/// The content of a file, and the name that begins messages about it.
struct OpenFile {
  std::unique_ptr<std::istream> stream;
  std::string name;
};

/// Opens a file for reading. Throws `DataError` where that fails.
[[nodiscard]] inline OpenFile open_file(const std::filesystem::path& path) {
  // A directory opens like a file on some systems and fails only when read.
  std::error_code ignored;
  ensure<DataError>(!std::filesystem::is_directory(path, ignored), path.string(),
                    ": is a directory, expected a file");
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  ensure<DataError>(!file->fail(), path.string(), ": cannot be opened for reading");
  return {std::move(file), path.string()};
}

/// What readers take in the place of a stream: a path, or `GzipFile`, which opens itself.
template <class F>
concept File = std::convertible_to<const F&, std::filesystem::path> || requires(const F& file) {
  { file.open() } -> std::same_as<OpenFile>;
};

template <File F>
[[nodiscard]] OpenFile open(const F& file) {
  if constexpr (std::convertible_to<const F&, std::filesystem::path>) {
    return open_file(file);
  } else {
    return file.open();
  }
}

}  // namespace bpm::detail
