// SPDX-License-Identifier: MIT
#include "common/options.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "temporary_folder.hpp"

using bpm_examples::CommonOptions;
using bpm_examples::HelpRequested;
using bpm_examples::parse_bytes;
using bpm_examples::UsageError;

namespace {

/// The command line of a program with the common options and one of its own.
struct Parsed {
  CommonOptions common;
  std::size_t memory = 7;
  double share = 0.25;
};

Parsed parse_common(std::vector<std::string> words) {
  Parsed parsed;
  CLI::App app{"A program for tests."};
  bpm_examples::add_common_options(app, parsed.common,
                                   {"digits --seed 2", "digits --json out.json --quiet"});
  bpm_examples::add_bytes_option(app, "--memory", parsed.memory, "Memory to use");
  bpm_examples::add_real_option(app, "--share", parsed.share, "A share", 0, 0.5);
  std::vector<const char*> argv{"digits"};
  for (const auto& word : words) {
    argv.push_back(word.c_str());
  }
  bpm_examples::parse_options(app, static_cast<int>(argv.size()), argv.data());
  return parsed;
}

struct Outcome {
  int status = 0;
  std::string out;
  std::string errors;
};

Outcome run(const std::function<void(int, char**)>& body) {
  std::ostringstream out;
  std::ostringstream errors;
  std::string name = "bin/digits";
  char* argv[] = {name.data(), nullptr};
  const int status = bpm_examples::run_program(1, argv, body, out, errors);
  return {status, out.str(), errors.str()};
}

}  // namespace

TEST_CASE("byte sizes are read in multiples of 1024", "[examples]") {
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("1k") == 1024);
  CHECK(parse_bytes("3K") == 3072);
  CHECK(parse_bytes("512M") == std::size_t{512} << 20U);
  CHECK(parse_bytes("2m") == std::size_t{2} << 20U);
  CHECK(parse_bytes("2G") == std::size_t{2} << 30U);
  CHECK(parse_bytes("010g") == std::size_t{10} << 30U);
  CHECK(parse_bytes("18446744073709551615") == std::numeric_limits<std::size_t>::max());
  CHECK(parse_bytes("17179869183G") == (((std::size_t{1} << 34U) - 1) << 30U));
}

TEST_CASE("what is no byte size is refused", "[examples]") {
  for (const std::string text : {"", "k", "-1", "+1", "1.5G", "1 G", "1GB", "1T", "0x10", "G1"}) {
    CHECK_THROWS_WITH(parse_bytes(text),
                      "'" + text +
                          "' is no number of bytes: write digits and then k, M, G or nothing, "
                          "such as 512M");
  }
  for (const std::string text :
       {"18446744073709551616", "99999999999999999999999", "17179869184G"}) {
    CHECK_THROWS_WITH(parse_bytes(text), "'" + text + "' is no number of bytes: it is too large");
  }
  CHECK_THROWS_AS(parse_bytes("x"), std::invalid_argument);
}

TEST_CASE("whole numbers are decimal and in their range", "[examples]") {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  CHECK(bpm_examples::parse_whole<std::uint64_t>("18446744073709551615", 0, most) == most);
  CHECK(bpm_examples::parse_whole("010", 0, 100) == 10);
  CHECK(bpm_examples::parse_whole("-3", -3, 3) == -3);
  for (const std::string text :
       {"", "-4", "4", "+1", " 1", "1 ", "1.0", "0x1", "1e0", "one", "99999999999999999999"}) {
    CHECK_THROWS_WITH(bpm_examples::parse_whole(text, -3, 3),
                      "'" + text + "' is no whole number from -3 to 3");
  }
  CHECK_THROWS_WITH(bpm_examples::parse_whole<std::uint64_t>("18446744073709551616", 0, most),
                    "'18446744073709551616' is no whole number from 0 to 18446744073709551615");
}

TEST_CASE("real numbers are finite and in their range", "[examples]") {
  CHECK(bpm_examples::parse_real("0.5", 0, 1) == 0.5);
  CHECK(bpm_examples::parse_real("-1e-3", -1, 1) == -1e-3);
  CHECK(bpm_examples::parse_real("7", 0, 1e300) == 7);
  for (const std::string text :
       {"", "nan", "inf", "1e999", "2", "-0.1", "0,5", "0.5x", " 1", "1 "}) {
    CHECK_THROWS_WITH(bpm_examples::parse_real(text, 0, 1),
                      "'" + text + "' is no number from 0 to 1");
  }
}

TEST_CASE("the common options have their defaults", "[examples]") {
  const Parsed parsed = parse_common({});
  CHECK(parsed.common.data.empty());
  CHECK(parsed.common.seed == 1);
  CHECK(parsed.common.threads == bpm_examples::all_threads());
  CHECK(parsed.common.threads >= 1);
  CHECK(parsed.common.json.empty());
  CHECK(parsed.common.plot.empty());
  CHECK_FALSE(parsed.common.quiet);
  CHECK(parsed.memory == 7);
}

TEST_CASE("the common options are read", "[examples]") {
  const examples_test::TemporaryFolder folder;
  const std::string json = (folder.path() / "a.json").string();
  const Parsed parsed =
      parse_common({"--data", "some/where", "--seed", "18446744073709551615", "--threads=3",
                    "--json", json, "--quiet", "--memory", "2k", "--share", "5e-2"});
  CHECK(parsed.common.data == "some/where");
  CHECK(parsed.common.seed == std::numeric_limits<std::uint64_t>::max());
  CHECK(parsed.common.threads == 3);
  CHECK(parsed.common.json == json);
  CHECK(parsed.common.quiet);
  CHECK(parsed.memory == 2048);
  CHECK(parsed.share == 0.05);
  CHECK(folder.count() == 0);
}

TEST_CASE("help names every option and two examples", "[examples]") {
  std::string help;
  try {
    parse_common({"--help"});
  } catch (const HelpRequested& requested) {
    help = requested.what();
  }
  for (const std::string word :
       {"A program for tests.", "--help", "--data DIR", "--seed S", "--threads T", "--json FILE",
        "--plot FILE.svg", "--quiet", "--memory BYTES", "Examples:\n  digits --seed 2\n",
        "  digits --json out.json --quiet\n"}) {
    CAPTURE(word, help);
    CHECK(help.find(word) != std::string::npos);
  }
  CHECK_THROWS_AS(parse_common({"-h"}), HelpRequested);
}

TEST_CASE("a wrong command line is one line", "[examples]") {
  const auto message = [](const std::vector<std::string>& words) {
    try {
      parse_common(words);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no UsageError");
  };
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--unknown"}, {"stray"}, {"--seed"}, {"--seed", "1", "--seed", "2"}}) {
    const std::string text = message(words);
    CAPTURE(text);
    CHECK(text != "no UsageError");
    CHECK(text.find(words.front()) != std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
  }
  CHECK(message({"--threads", "0"}) == "--threads: '0' is no whole number from 1 to 1024");
  CHECK(message({"--threads", "1025"}) == "--threads: '1025' is no whole number from 1 to 1024");
  CHECK(message({"--seed=-1"}) == "--seed: '-1' is no whole number from 0 to 18446744073709551615");
  CHECK(message({"--share", "2"}) == "--share: '2' is no number from 0 to 0.5");
  CHECK(message({"--memory", "1T"}) ==
        "--memory: '1T' is no number of bytes: write digits and then k, M, G or nothing, such as "
        "512M");
  CHECK(message({"--json", ""}) == "--json: the name is empty");
  CHECK(message({"--data", ""}) == "--data: the name is empty");
  CHECK(message({"--json", "a", "--plot", "./a"}) == "--json and --plot name the same file, 'a'");
}

TEST_CASE("files that cannot be written are found before the work", "[examples]") {
  const examples_test::TemporaryFolder folder;
  const std::string none = (folder.path() / "none" / "file").string();
  CHECK_THROWS_AS(parse_common({"--json", none}), bpm_examples::OutputError);
  CHECK_THROWS_AS(parse_common({"--plot", none}), bpm_examples::OutputError);
  const examples_test::WithVariable path("PATH", folder.path().string());
  const std::string plot = (folder.path() / "a.svg").string();
  CHECK_THROWS_WITH(parse_common({"--plot", plot}),
                    "cannot plot into '" + plot +
                        "': gnuplot was not found on the PATH; install it, or ask for no plot");
}

TEST_CASE("a program ends with a status and at most one line", "[examples]") {
  const Outcome good = run([](int count, char** values) {
    CHECK(count == 1);
    CHECK(std::string(values[0]) == "bin/digits");
  });
  CHECK(good.status == 0);
  CHECK(good.errors.empty());

  const Outcome help = run([](int, char**) { throw HelpRequested("the help\n"); });
  CHECK(help.status == 0);
  CHECK(help.out == "the help\n");
  CHECK(help.errors.empty());

  const Outcome usage = run([](int, char**) { throw UsageError("no such option"); });
  CHECK(usage.status == 2);
  CHECK(usage.errors == "digits: no such option (digits --help shows the options)\n");

  const Outcome failed = run([](int, char**) { throw std::runtime_error("two\n  lines\n"); });
  CHECK(failed.status == 1);
  CHECK(failed.errors == "digits: two lines\n");

  const Outcome memory = run([](int, char**) { throw std::bad_alloc(); });
  CHECK(memory.status == 1);
  CHECK(memory.errors == "digits: out of memory\n");

  const Outcome stopped =
      run([](int, char**) { throw bpm_examples::Interrupted("stopped early"); });
  CHECK(stopped.status == 130);
  CHECK(stopped.errors == "digits: stopped early\n");
  const Outcome strange = run([](int, char**) { throw 3; });
  CHECK(strange.status == 1);
  CHECK(strange.errors == "digits: an error of an unknown kind\n");
}

TEST_CASE("output that is not taken is a failure", "[examples]") {
  std::ostringstream errors;
  std::ostream out(nullptr);  // Every write fails.
  std::string name = "digits";
  char* argv[] = {name.data(), nullptr};
  CHECK(bpm_examples::run_program(
            1, argv, [&](int, char**) { out << "text"; }, out, errors) == 1);
  CHECK(errors.str() == "digits: standard output could not be written\n");
}

TEST_CASE("a program without a name still reports", "[examples]") {
  std::ostringstream out;
  std::ostringstream errors;
  char* argv[] = {nullptr};
  CHECK(bpm_examples::run_program(
            0, argv, [](int, char**) { throw std::runtime_error("bad"); }, out, errors) == 1);
  CHECK(errors.str() == "program: bad\n");
}

TEST_CASE("one_line joins white space and control characters", "[examples]") {
  CHECK(bpm_examples::one_line(" a\n\t b\x1b[c \r\n") == "a b [c");
  CHECK(bpm_examples::one_line("").empty());
  CHECK(bpm_examples::one_line("\xC3\xA9t\xC3\xA9") == "\xC3\xA9t\xC3\xA9");
}
