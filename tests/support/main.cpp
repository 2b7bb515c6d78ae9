// SPDX-License-Identifier: MIT
// The entry point of every test program.

#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "catch.hpp"

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "data.hpp"

namespace {

int skipped_tests = 0;

#ifdef BPM_NAME_CASES
// A sanitizer ends the program before Catch says in which case.
#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR >= 3
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif
struct NameCases : Listener {
  using Listener::Listener;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    std::cerr << "case: " << info.name << '\n';
  }
};
CATCH_REGISTER_LISTENER(NameCases)
#endif

}  // namespace

void test_support::skip_without_data(const std::string& test) {
  ++skipped_tests;
  std::cerr << "SKIPPED (no data): " << test << '\n';
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--list")) {
      return Catch::Session().run(argc, argv) >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
  }
  // Catch counts failures in its exit code; here every failure is 1, so that none reads as a skip.
  if (Catch::Session().run(argc, argv) != 0) {
    return EXIT_FAILURE;
  }
  return skipped_tests > 0 ? test_support::skip_exit_code : EXIT_SUCCESS;
}
