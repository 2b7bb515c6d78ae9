// SPDX-License-Identifier: MIT
// Makes one page of tables and plots from the results of bpm_benchmarks, and compares two runs.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/json_file.hpp"
#include "common/output_file.hpp"
#include "common/plot.hpp"
#include "common/program.hpp"
#include "html.hpp"
#include "plots.hpp"
#include "run.hpp"
#include "table.hpp"

namespace {

using namespace bpm_benchmarks;
using bpm_examples::HelpRequested;
using bpm_examples::JsonFile;
using bpm_examples::OutputError;
using bpm_examples::UsageError;

struct PageOptions {
  std::filesystem::path run;
  std::filesystem::path old;
  std::filesystem::path out;
  std::filesystem::path json;
  bool plots = true;
};

PageOptions parse_page_options(int argc, char** argv) {
  PageOptions options;
  CLI::App app{
      "One page of tables and plots from the results of bpm_benchmarks (its --benchmark_out, with "
      "--benchmark_repetitions), and a comparison with another run."};
  bool no_plots = false;
  app.set_help_flag("--help,-h", "Print this and exit");
  app.add_option("run", options.run, "Results of the run")->required()->type_name("RUN.json");
  app.add_option("--compare", options.old, "Results of an older run to compare with")
      ->type_name("OLD.json");
  app.add_option("--out", options.out, "The page to write")->required()->type_name("PAGE.html");
  app.add_option("--json", options.json, "Write the tables to this file as well")
      ->type_name("FILE");
  app.add_flag("--no-plots", no_plots, "Tables only: gnuplot is not needed");
  app.footer(
      "Examples:\n  benchmark_page run.json --out page.html\n"
      "  benchmark_page run.json --compare old.json --out page.html");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.help());
  } catch (const CLI::ParseError& error) {
    throw UsageError(bpm_examples::one_line(error.what()));
  }
  options.plots = !no_plots;
  if (app.count("--compare") > 0 && options.old.empty()) {
    throw UsageError("--compare: the name is empty");
  }
  bpm_examples::check_writable(options.out);
  if (options.plots && bpm_examples::plot_detail::find_program("gnuplot").empty()) {
    throw OutputError("gnuplot was not found on the PATH: install it or give --no-plots");
  }
  return options;
}

void run(int argc, char** argv) {
  const PageOptions options = parse_page_options(argc, argv);
  const JsonFile json(options.json);
  const Run now = read_run(options.run);
  std::optional<Run> before;
  std::optional<Difference> difference;
  if (!options.old.empty()) {
    before = read_run(options.old);
    difference = find_differences(now, *before);
  }
  const std::vector<Family> families = make_tables(now, before ? &*before : nullptr);
  Page page{now, families, {}, difference};
  if (options.plots) {
    std::size_t number = 0;
    for (const Family& family : families) {
      auto& images = page.plots.emplace_back();
      for (const auto& plot : family_plots(family)) {
        images.push_back(draw_inline(plot, ++number));
      }
    }
  }
  bpm_examples::write_whole(options.out, page_text(page));
  json.write(tables_json(families));
}

}  // namespace

int main(int argc, char** argv) { return bpm_examples::run_program(argc, argv, run); }
