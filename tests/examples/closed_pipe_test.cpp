// SPDX-License-Identifier: MIT
// Standard output that nobody reads: a program ends, and says nothing; that is full: it says so.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "common/program.hpp"

namespace closed_pipe_tests {

/// What becomes of a program that prints to this file: its exit status, or 1000 + the signal that
/// ended it.
int status_of_printing_to(int file) {
  std::cout << std::flush;
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::dup2(file, STDOUT_FILENO);
    std::string name = "digits";
    std::array<char*, 2> arguments{name.data(), nullptr};
    std::ostringstream errors;
    const int status = bpm_examples::run_program(
        1, arguments.data(),
        [](int, char**) { std::cout << std::string(100'000, 'x') << std::flush; }, std::cout,
        errors);
    const std::string line =
        status == bpm_examples::exit_unread ? "" : "digits: standard output could not be written\n";
    ::_exit(errors.str() == line ? status : 99);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace closed_pipe_tests

TEST_CASE("a program whose output nobody reads ends, one whose output nothing takes says so",
          "[examples]") {
  using closed_pipe_tests::status_of_printing_to;
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  ::close(ends[0]);
  CHECK(status_of_printing_to(ends[1]) == bpm_examples::exit_unread);
  ::close(ends[1]);
  if (std::filesystem::exists("/dev/full")) {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    CHECK(status_of_printing_to(full) == bpm_examples::exit_failure);
    ::close(full);
  }
}
