// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "output_file.hpp"

namespace bpm_examples {

/// Keys in the order in which they are set.
using Json = nlohmann::ordered_json;

/// The file of `--json`, "-" for standard output; without a path it does nothing.
class JsonFile {
 public:
  /// Throws `OutputError` if the file cannot be written: make it before the work begins.
  explicit JsonFile(std::filesystem::path path) : path_(std::move(path)) {
    if (!path_.empty() && path_ != "-") {
      check_writable(path_);
    }
  }

  /// Writes the value, indented by two, whole or not at all. Numbers that JSON has no word for
  /// (NaN, infinities) become null, bytes that are not UTF-8 the replacement character.
  void write(const Json& value) const {
    if (path_.empty()) return;
    const std::string text = value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (path_ == "-") {
      std::cout << text << std::flush;
    } else {
      write_whole(path_, text);
    }
  }

 private:
  std::filesystem::path path_;
};

}  // namespace bpm_examples
