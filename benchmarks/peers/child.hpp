// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/machine_info.hpp"
#include "common/program.hpp"

/// \file
/// Other programs as children of this one: their time, their memory, and how they ended.

namespace bpm_peers {

/// A folder of our own, removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "bpm-peers-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no temporary folder '" + name + "' can be made");
    }
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

struct ChildCommand {
  std::vector<std::string> words;  ///< The program, found as a shell does, and its arguments.
  std::vector<std::pair<std::string, std::string>> environment;  ///< Beside the one we have.
  std::filesystem::path folder;  ///< Where what it prints is caught.
  double timeout = 0;            ///< Seconds until it is killed.
};

struct ChildOutcome {
  bool timed_out = false;
  int status = 0;  ///< What it exited with; 128 + the signal's number where a signal ended it.
  int signal = 0;
  double seconds = 0;           ///< Wall clock.
  std::size_t peak_memory = 0;  ///< Largest resident set, bytes.
  std::string out;
  std::string errors;

  [[nodiscard]] bool good() const noexcept { return !timed_out && status == 0; }
};

namespace child_detail {

[[nodiscard]] inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Runs between fork and exec: system calls only.
[[noreturn]] inline void become(char* const* argv, char* const* environment, const char* out,
                                const char* errors) {
  const auto redirect = [](const char* file, int flags, int target) {
    const int fd = ::open(file, flags, 0600);
    if (fd < 0 || ::dup2(fd, target) < 0) ::_exit(126);
    ::close(fd);
  };
  ::setpgid(0, 0);
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  redirect("/dev/null", O_RDONLY, STDIN_FILENO);
  redirect(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  redirect(errors, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  ::execve(argv[0], argv, environment);
  ::_exit(127);
}

[[nodiscard]] inline std::vector<std::string> environment_of(const ChildCommand& command) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto named = [&](const auto& pair) {
      return text.starts_with(pair.first) && text.substr(pair.first.size()).starts_with('=');
    };
    if (std::ranges::none_of(command.environment, named)) result.emplace_back(text);
  }
  for (const auto& [name, value] : command.environment) {
    std::string entry = name;
    entry += '=';
    entry += value;
    result.push_back(std::move(entry));
  }
  return result;
}

[[nodiscard]] inline std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace child_detail

/// Runs the program to its end, its limit, or until `stop` says so. The memory is the child's own:
/// Linux counts what the parent held when it forked, so hold little.
/// \throws bpm_examples::Interrupted where `stop` ended it, std::runtime_error where no process can
///         be made.
[[nodiscard]] inline ChildOutcome run_child(const ChildCommand& command,
                                            const std::function<bool()>& stop) {
  const std::string out = (command.folder / "child.out").string();
  const std::string errors = (command.folder / "child.err").string();
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = child_detail::environment_of(command);
  const std::vector<char*> argv = child_detail::pointers(words);
  const std::vector<char*> envp = child_detail::pointers(environment);
  const bpm_examples::WallTimer timer;
  const ::pid_t child = ::fork();
  if (child < 0) {
    throw std::runtime_error("no process can be made for " + words.front());
  }
  if (child == 0) {
    child_detail::become(argv.data(), envp.data(), out.c_str(), errors.c_str());
  }
  ::setpgid(child, child);
  ChildOutcome outcome;
  int status = 0;
  struct ::rusage usage = {};
  bool stopped = false;
  auto pause = std::chrono::microseconds(200);
  for (;;) {
    const ::pid_t ended = ::wait4(child, &status, WNOHANG, &usage);
    outcome.seconds = timer.seconds();
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    stopped = stop && stop();
    outcome.timed_out = outcome.seconds > command.timeout;
    if (stopped || outcome.timed_out) {
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);
      ::wait4(child, &status, 0, &usage);
      break;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(5000));
  }
  if (stopped) {
    throw bpm_examples::Interrupted("stopped while " +
                                    std::filesystem::path(words.front()).filename().string() +
                                    " ran: nothing was written");
  }
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + outcome.signal;
#ifdef __APPLE__
  outcome.peak_memory = static_cast<std::size_t>(usage.ru_maxrss);
#else
  outcome.peak_memory = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
#endif
  outcome.out = child_detail::read_file(out);
  outcome.errors = child_detail::read_file(errors);
  return outcome;
}

/// How the child ended, with the last line that it printed: "exit status 1: out of memory".
[[nodiscard]] inline std::string failure_text(const ChildOutcome& outcome) {
  std::string text = outcome.signal != 0 ? "ended by signal " + std::to_string(outcome.signal)
                                         : "exit status " + std::to_string(outcome.status);
  for (const std::string* printed : {&outcome.errors, &outcome.out}) {
    const std::size_t end = printed->find_last_not_of(" \t\r\n");
    if (end == std::string::npos) continue;
    const std::size_t start = printed->find_last_of('\n', end);
    std::string line = bpm_examples::one_line(
        std::string_view(*printed).substr(start == std::string::npos ? 0 : start + 1,
                                          end - (start == std::string::npos ? 0 : start + 1) + 1));
    if (line.size() > 300) line = line.substr(0, 300) + " ...";
    return text + ": " + line;
  }
  return text;
}

}  // namespace bpm_peers
