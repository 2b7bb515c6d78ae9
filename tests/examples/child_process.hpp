// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

/// \file
/// Runs a program as its user would, with both outputs caught in files.

namespace examples_test {

class ChildProcess {
 public:
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    const std::string out = (folder_.path() / "out").string();
    const std::string errors = (folder_.path() / "errors").string();
    child_ = ::fork();
    if (child_ < 0) {
      throw std::runtime_error("no process can be made");
    }
    if (child_ == 0) {
      // A test runner may ignore Ctrl-C, and its children with it.
      ::signal(SIGINT, SIG_DFL);
      redirect(out, STDOUT_FILENO);
      redirect(errors, STDERR_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }

  /// What it has printed so far.
  [[nodiscard]] std::string out() const { return read_text(folder_.path() / "out"); }
  [[nodiscard]] std::string errors() const { return read_text(folder_.path() / "errors"); }

  void send(int signal) const { ::kill(child_, signal); }

  /// Waits for the end; returns the exit status, or 1000 + the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

 private:
  static void redirect(const std::string& file, int target) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ::dup2(fd, target) < 0) {
      ::_exit(127);
    }
    ::close(fd);
  }

  TemporaryFolder folder_;
  ::pid_t child_ = 0;
};

}  // namespace examples_test
