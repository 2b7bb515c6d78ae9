// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ios>
#include <limits>
#include <locale>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include "output_file.hpp"
#include "plot.hpp"
#include "program.hpp"

/// \file
/// The options every program has. A program reads
///
///     int main(int argc, char** argv) {
///       return bpm_examples::run_program(argc, argv, [](int count, char** values) {
///         CLI::App app{"What it does."};
///         bpm_examples::CommonOptions common;
///         bpm_examples::add_common_options(app, common, {"name --seed 2", "name --json a.json"});
///         app.add_option(...);
///         bpm_examples::parse_options(app, count, values);
///         ...
///       });
///     }

namespace bpm_examples {

/// All hardware threads, at least one.
[[nodiscard]] inline int all_threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// What the common options hold.
struct CommonOptions {
  std::filesystem::path data;  ///< Empty: not given.
  std::uint64_t seed = 1;
  int threads = all_threads();
  std::filesystem::path json;  ///< Empty: no file.
  std::filesystem::path plot;  ///< Empty: no file.
  bool quiet = false;
};

/// Two command lines for the end of `--help`.
struct Examples {
  std::string_view first;
  std::string_view second;
};

inline constexpr int most_threads = 1024;

/// A number of bytes: digits with nothing, k, M or G behind them, in multiples of 1024.
/// Throws `std::invalid_argument` for anything else and for what does not fit `std::size_t`.
[[nodiscard]] inline std::size_t parse_bytes(std::string_view text) {
  const auto fail = [text](const std::string& why) {
    throw std::invalid_argument("'" + std::string(text) + "' is no number of bytes: " + why);
  };
  std::size_t shift = 0;
  std::string_view digits = text;
  if (!digits.empty()) {
    switch (digits.back()) {
      case 'k':
      case 'K':
        shift = 10;
        break;
      case 'm':
      case 'M':
        shift = 20;
        break;
      case 'g':
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
    digits.remove_suffix(shift == 0 ? 0 : 1);
  }
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t value = 0;
  if (digits.empty()) {
    fail("write digits and then k, M, G or nothing, such as 512M");
  }
  for (const char c : digits) {
    if (c < '0' || c > '9') {
      fail("write digits and then k, M, G or nothing, such as 512M");
    }
    const auto digit = static_cast<std::size_t>(c - '0');
    if (value > (most - digit) / 10) {
      fail("it is too large");
    }
    value = 10 * value + digit;
  }
  if (value > most >> shift) {
    fail("it is too large");
  }
  return value << shift;
}

/// The whole number that the text is, decimal digits with an optional minus. Throws
/// `std::invalid_argument` for anything else and for a number outside `low` .. `high`.
template <std::integral Integer>
[[nodiscard]] Integer parse_whole(std::string_view text, Integer low, Integer high) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw std::invalid_argument("'" + std::string(text) + "' is no whole number from " +
                                std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

/// The whole numbers of a list such as 50,100,200, each as by `parse_whole`.
template <std::integral Integer>
[[nodiscard]] std::vector<Integer> parse_whole_list(std::string_view text, Integer low,
                                                    Integer high) {
  std::vector<Integer> numbers;
  while (true) {
    const std::size_t comma = text.find(',');
    numbers.push_back(parse_whole<Integer>(text.substr(0, comma), low, high));
    if (comma == std::string_view::npos) {
      return numbers;
    }
    text.remove_prefix(comma + 1);
  }
}

/// The finite number that the text is, in plain or scientific notation. Throws
/// `std::invalid_argument` for anything else and for a number outside `low` .. `high`.
[[nodiscard]] inline double parse_real(std::string_view text, double low, double high) {
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> std::noskipws >> value) ||
      stream.peek() != std::istringstream::traits_type::eof() || !std::isfinite(value) ||
      value < low || value > high) {
    std::ostringstream message;
    message.imbue(std::locale::classic());
    message << "'" << text << "' is no number from " << low << " to " << high;
    throw std::invalid_argument(message.str());
  }
  return value;
}

namespace options_detail {

/// Adds an option whose text `parse` turns into the value.
template <class Value, class Parse>
CLI::Option* add_parsed_option(CLI::App& app, const std::string& name, Value& value,
                               const std::string& description, Parse parse) {
  return app.add_option_function<std::string>(
      name,
      [&value, name, parse](const std::string& text) {
        try {
          value = parse(text);
        } catch (const std::invalid_argument& error) {
          throw CLI::ValidationError(name, error.what());
        }
      },
      description);
}

}  // namespace options_detail

/// Adds an option whose value is a number of bytes (`parse_bytes`).
inline CLI::Option* add_bytes_option(CLI::App& app, const std::string& name, std::size_t& bytes,
                                     const std::string& description) {
  return options_detail::add_parsed_option(app, name, bytes, description, parse_bytes)
      ->type_name("BYTES");
}

/// Adds an option whose value is a whole number from `low` to `high`. The parser's own conversion
/// is not used: it takes -1 for 2^64 - 1, 010 for 8, and what is too large for the largest.
template <std::integral Integer>
CLI::Option* add_whole_option(CLI::App& app, const std::string& name, Integer& value,
                              const std::string& description, std::type_identity_t<Integer> low,
                              std::type_identity_t<Integer> high) {
  return options_detail::add_parsed_option(
             app, name, value, description,
             [low, high](const std::string& text) { return parse_whole<Integer>(text, low, high); })
      ->type_name("N");
}

/// --train and --test of the programs that take the first so many digits.
template <std::integral Integer>
void add_digit_count_options(CLI::App& app, Integer& train, Integer& test) {
  constexpr auto most_digits = Integer{999'999'999};
  add_whole_option(app, "--train", train,
                   "The first N training digits (default: 60000, all of MNIST)", 1, most_digits);
  add_whole_option(app, "--test", test, "The first N test digits (default: 10000, all of MNIST)", 1,
                   most_digits);
}

/// Adds an option whose value is a finite number from `low` to `high`.
inline CLI::Option* add_real_option(CLI::App& app, const std::string& name, double& value,
                                    const std::string& description, double low, double high) {
  return options_detail::add_parsed_option(
             app, name, value, description,
             [low, high](const std::string& text) { return parse_real(text, low, high); })
      ->type_name("X");
}

inline void add_seed_option(CLI::App& app, CommonOptions& options) {
  add_whole_option(app, "--seed", options.seed, "Seed of all random numbers (default: 1)", 0,
                   std::numeric_limits<std::uint64_t>::max())
      ->type_name("S");
}
inline void add_threads_option(CLI::App& app, CommonOptions& options) {
  const bool all = options.threads == all_threads();
  add_whole_option(app, "--threads", options.threads,
                   std::string("Threads to use (default: ") + (all ? "all)" : "1)"), 1,
                   most_threads)
      ->type_name("T");
}
inline void add_json_option(CLI::App& app, CommonOptions& options) {
  app.add_option_function<std::filesystem::path>(
         "--json",
         [&options](const std::filesystem::path& file) {
           options.json = file;
           if (file == "-") options.quiet = true;  // Nothing else on standard output.
         },
         "Write the results to this file; - for standard output, without a report")
      ->type_name("FILE");
}
inline void add_plot_option(CLI::App& app, CommonOptions& options) {
  app.add_option("--plot", options.plot, "Draw the results into this file (needs gnuplot)")
      ->type_name("FILE.svg");
}

/// Adds `--data --seed --threads --json --plot --quiet --help`; `options` must outlive the parse.
inline void add_common_options(CLI::App& app, CommonOptions& options, const Examples& examples) {
  app.set_help_flag("--help,-h", "Print this and exit");
  app.add_option(
         "--data", options.data,
         "Folder of the data (default: the environment's BPM_DATA_DIR; digits also ~/.cache/bpm)")
      ->type_name("DIR");
  add_seed_option(app, options);
  add_threads_option(app, options);
  add_json_option(app, options);
  add_plot_option(app, options);
  app.add_flag("--quiet", options.quiet, "No progress, no report");
  std::string footer = "Examples:\n  ";
  footer += examples.first;
  footer += "\n  ";
  footer += examples.second;
  app.footer(footer);
}

/// Parses the command line and looks at the files that are to be written, so that a run never
/// fails at its end for a reason known at its start.
/// Throws `UsageError`, `HelpRequested`, and `OutputError` for a file that cannot be written.
inline void parse_options(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.help());
  } catch (const CLI::ParseError& error) {
    throw UsageError(one_line(error.what()));
  }
  // Files are known by the names of their options; not every program has all.
  std::map<std::filesystem::path, const CLI::Option*> files;
  for (const std::string name : {"--data", "--json", "--plot", "--plot-sphere", "--pictures"}) {
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr || option->count() == 0) continue;
    const std::string& given = option->results().front();
    if (given.empty()) throw UsageError(name + ": the name is empty");
    if (name == "--data") continue;
    const auto [other, is_new] =
        files.emplace(std::filesystem::absolute(given).lexically_normal(), option);
    if (!is_new) {
      throw UsageError(other->second->get_name() + " and " + name + " name the same file, '" +
                       other->second->results().front() + "'");
    }
  }
  for (const auto& [path, option] : files) {
    const std::string& given = option->results().front();
    if (option->get_name() != "--json") {
      check_plot(given);
    } else if (given != "-") {
      check_writable(given);
    }
  }
}

}  // namespace bpm_examples
