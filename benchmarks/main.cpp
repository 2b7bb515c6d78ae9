// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>

#include "rates.hpp"

// The rates are measured before the first benchmark and stand in the context of the results.

namespace {

std::string rate_text(double rate, const char* unit) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << rate / 1e9 << ' ' << unit;
  return text.str();
}

void add_rates() {
  const bpm_benchmarks::Rates& rates = bpm_benchmarks::rates();
  const auto add = [](const std::string& name, const std::string& value) {
    benchmark::AddCustomContext("rate of " + name, value);
  };
  for (const auto& stream : rates.streams) {
    // Names come out in alphabetical order: blanks in front keep sizes in theirs.
    std::ostringstream size;
    size << std::setw(6) << stream.working_set / 1024;
    add("a stream through " + size.str() + " KiB", rate_text(stream.bytes_per_second, "GB/s"));
  }
  add("a float product", rate_text(rates.float_operations, "Gop/s"));
  add("a double product", rate_text(rates.double_operations, "Gop/s"));
  add("a byte product", rates.byte_operations
                            ? rate_text(*rates.byte_operations, "Gop/s")
                            : "not measured: built without oneDNN, so that benchmarks on bytes "
                              "have no floor");
}

}  // namespace

int main(int argc, char** argv) {
  bool lists = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    lists = lists || word.starts_with("--benchmark_list_tests") || word == "--help";
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (!lists) add_rates();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
