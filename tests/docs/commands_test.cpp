// SPDX-License-Identifier: MIT
// The commands of bpm that the documents show run as they stand, one after the other.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "child_process.hpp"
#include "page.hpp"
#include "temporary_folder.hpp"

namespace {

/// Two kinds of flowers that lie apart; with their names or without.
std::string flower_table(std::size_t count, bool labelled) {
  std::string text = std::string("length,width") + (labelled ? ",kind\n" : "\n");
  bpm::RandomEngine engine(1);
  for (std::size_t i = 0; i < count; ++i) {
    const bool rose = i % 2 == 0;
    text += std::to_string(bpm::uniform_unit(engine) + (rose ? 3 : 0)) + "," +
            std::to_string(bpm::uniform_unit(engine));
    if (labelled) text += rose ? ",rose" : ",tulip";
    text += '\n';
  }
  return text;
}

/// The lines of a page's ```sh blocks that call bpm.
std::vector<std::string> commands_of(const std::string& page) {
  std::ifstream file(docs_test::root / page);
  std::vector<std::string> commands;
  bool block = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      block = line == "```sh";
    } else if (block && line.starts_with("bpm ")) {
      commands.push_back(line);
    }
  }
  return commands;
}

}  // namespace

TEST_CASE("docs: the commands of bpm run as they stand") {
  for (const auto& [page, count] :
       {std::pair{"README.md", 3U}, std::pair{"docs/command-line.md", 6U}}) {
    const examples_test::TemporaryFolder folder;
    examples_test::write_text(folder.path() / "flowers.csv", flower_table(1500, true));
    examples_test::write_text(folder.path() / "more-flowers.csv", flower_table(300, true));
    examples_test::write_text(folder.path() / "unlabelled.csv", flower_table(20, false));
    const auto commands = commands_of(page);
    CHECK(commands.size() == count);
    for (const std::string& command : commands) {
      CAPTURE(command);
      examples_test::ChildProcess child(
          "/bin/sh", {"-c", "cd '" + folder.path().string() + "' && PATH='" + BPM_PROGRAMS +
                                "':\"$PATH\" && " + command});
      const int status = child.wait();
      CAPTURE(child.errors());
      CHECK(status == 0);
    }
    // Rows enough for a guarantee, and kinds far apart: all are accepted.
    examples_test::ChildProcess child(
        "/bin/sh", {"-c", "cd '" + folder.path().string() + "' && '" + BPM_PROGRAMS +
                              "/bpm' predict flowers.model unlabelled.csv --reject risk"});
    CHECK(child.wait() == 0);
    CHECK(child.out().find(",1\n") == std::string::npos);
    CHECK(child.out().find(",0\n") != std::string::npos);
  }
}
