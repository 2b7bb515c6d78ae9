// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "child_process.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "temporary_folder.hpp"

/// \file
/// What the tests of whole programs share.

namespace examples_test {

using bpm_examples::Json;
using Catch::Matchers::ContainsSubstring;

[[nodiscard]] inline bool draws_plots() {
  return !bpm_examples::plot_detail::find_program("gnuplot").empty();
}

/// A folder for a test's files, and no data anywhere.
struct Alone {
  TemporaryFolder folder;
  WithVariable data{"BPM_DATA_DIR", std::nullopt};
  WithVariable cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder.path() / name).string();
  }
};

/// The program ends with this status, prints nothing, and its message has this part.
inline void check_refused(const std::string& program, int status,
                          const std::vector<std::string>& words, const std::string& part) {
  ChildProcess child(program, words);
  CHECK(child.wait() == status);
  CHECK(child.out().empty());
  CHECK_THAT(child.errors(), ContainsSubstring(part));
}

}  // namespace examples_test
