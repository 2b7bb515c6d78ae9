// SPDX-License-Identifier: MIT
// Bayes point machines on files: train, choose, predict, evaluate, info.

#include <string>
#include <string_view>
#include <vector>

#include "bpm/version.hpp"
#include "commands.hpp"
#include "common/program.hpp"
#include "options.hpp"

namespace {

using namespace bpm_examples;

void run(int argc, char** argv) {
  const std::string_view name = argv[0];
  if (name.ends_with(" train")) return run_train(parse_train_options(argc, argv, false));
  if (name.ends_with(" choose")) return run_train(parse_train_options(argc, argv, true));
  if (name.ends_with(" predict")) return run_predict(parse_predict_options(argc, argv, false));
  if (name.ends_with(" evaluate")) return run_evaluate(parse_predict_options(argc, argv, true));
  if (name.ends_with(" info")) return run_info(parse_info_options(argc, argv));
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--help" || first == "-h" || first == "help") throw HelpRequested(overview());
  if (first == "--version") {
    throw HelpRequested("bpm " + std::to_string(bpm::version_major) + "." +
                        std::to_string(bpm::version_minor) + "." +
                        std::to_string(bpm::version_patch) + "\n");
  }
  throw UsageError(first.empty() ? "no command: train, choose, predict, evaluate or info"
                                 : "'" + std::string(first) +
                                       "' is none of train, choose, predict, evaluate and info");
}

}  // namespace

int main(int argc, char** argv) {
  // A command speaks in its own name, and has a --help of its own.
  std::vector<char*> words(argv, argv + argc);
  std::string name = argc > 0 ? argv[0] : "bpm";
  std::string help = "--help";
  if (argc == 3 && std::string_view(argv[1]) == "help") words = {argv[0], argv[2], help.data()};
  const std::string_view command = words.size() > 1 ? words[1] : "";
  for (const std::string_view known : {"train", "choose", "predict", "evaluate", "info"}) {
    if (command != known) continue;
    name += " " + std::string(command);
    words.erase(words.begin() + 1);
    break;
  }
  if (words.empty()) words.push_back(name.data());
  words[0] = name.data();
  const auto count = static_cast<int>(words.size());
  words.push_back(nullptr);
  return run_program(count, words.data(), run);
}
