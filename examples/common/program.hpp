// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bpm_examples {

/// The command line is not understood; `what()` is one line without the program's name.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `--help` was asked for; `what()` is the text.
class HelpRequested : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run was stopped by Ctrl-C before the work was done; `what()` says how far it came.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr int exit_failure = 1;        ///< The work was not done.
inline constexpr int exit_usage = 2;          ///< The command line was not understood.
inline constexpr int exit_interrupted = 130;  ///< What shells report for Ctrl-C.
inline constexpr int exit_unread = 141;       ///< What they report where nobody reads on.

/// The text with every run of white space and control characters made one space.
[[nodiscard]] inline std::string one_line(std::string_view text) {
  std::string line;
  bool gap = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f) {
      gap = !line.empty();
    } else {
      line += gap ? " " : "";
      line += c;
      gap = false;
    }
  }
  return line;
}

/// Whether standard output is a pipe whose reader has gone, as that of `| head` does.
[[nodiscard]] inline bool reader_is_gone() {
  ::pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/// Runs `body(argc, argv)`, the whole of a program, and returns its exit status: 0 only when it
/// ended without an exception and everything printed was taken. An exception becomes one line on
/// `errors`, never a crash. A reader who has read enough gets no line: the status is that of a
/// program which ends by the signal.
[[nodiscard]] inline int run_program(int argc, char** argv,
                                     const std::function<void(int, char**)>& body,
                                     std::ostream& out = std::cout,
                                     std::ostream& errors = std::cerr) {
  std::string name = "program";
  const auto report = [&](std::string_view message) {
    errors << name << ": " << one_line(message) << '\n' << std::flush;
  };
#ifdef SIGPIPE
  std::signal(SIGPIPE, SIG_IGN);  // A reader that goes away is a failed write, not a sudden death.
#endif
  try {
    if (argc > 0 && argv[0] != nullptr && *argv[0] != '\0') {
      name = std::filesystem::path(argv[0]).filename().string();
    }
    try {
      body(argc, argv);
    } catch (const HelpRequested& help) {
      out << help.what();
    }
    if (!(out << std::flush)) {
      if (&out == &std::cout && reader_is_gone()) return exit_unread;
      report("standard output could not be written");
      return exit_failure;
    }
    return EXIT_SUCCESS;
  } catch (const UsageError& error) {
    report(std::string(error.what()) + " (" + name + " --help shows the options)");
    return exit_usage;
  } catch (const Interrupted& stop) {
    report(stop.what());
    return exit_interrupted;
  } catch (const std::bad_alloc&) {
    report("out of memory");
  } catch (const std::exception& error) {
    report(error.what());
  } catch (...) {
    report("an error of an unknown kind");
  }
  return exit_failure;
}

}  // namespace bpm_examples
