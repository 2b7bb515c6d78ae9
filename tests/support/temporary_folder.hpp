// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace test_support {

/// A fresh folder, removed with all that is in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto base = std::filesystem::temp_directory_path();
    do {  // test programs run side by side: the first to create a name has it
      const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
      path_ = base / ("bpm_test_" + std::to_string(now));
    } while (!std::filesystem::create_directory(path_));
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Writes a file and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    const auto file = path_ / name;
    std::ofstream(file, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace test_support
