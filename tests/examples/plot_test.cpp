// SPDX-License-Identifier: MIT
#include "common/plot.hpp"

#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "temporary_folder.hpp"

using bpm_examples::gnuplot_script;
using bpm_examples::OutputError;
using bpm_examples::Plot;
using bpm_examples::write_plot;
using examples_test::read_text;
using examples_test::TemporaryFolder;

namespace {

Plot small_plot() {
  Plot plot;
  plot.title = "Error against rejection, Tom's \"x_1^2\" `id` $(id)";
  plot.x_label = "rejected (%)";
  plot.y_label = "error (%)";
  plot.series.push_back({"ours", {0, 1, 2}, {1.5, 0.25, 1e-3}, {}, false});
  plot.series.push_back({"with bars", {0, 1}, {2, 1}, {0.5, 0.25}, false});
  plot.series.push_back({"theirs", {0, 2}, {1.75, 0.5}, {}, true});
  return plot;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool gnuplot_is_there() { return !bpm_examples::plot_detail::find_program("gnuplot").empty(); }

}  // namespace

TEST_CASE("the gnuplot script holds the data, the labels and the styles", "[examples]") {
  Plot plot = small_plot();
  const std::string script = gnuplot_script(plot, "out/it's.svg");
  CAPTURE(script);
  CHECK(has(script, "set output 'out/it''s.svg'\n"));
  CHECK(has(script, "set title 'Error against rejection, Tom''s \"x_1^2\" `id` $(id)'\n"));
  CHECK(has(script, "set xlabel 'rejected (%)'\n"));
  CHECK(has(script, "set ylabel 'error (%)'\n"));
  CHECK(has(script, "set terminal svg noenhanced"));
  CHECK(has(script, "background rgb 'white'"));
  CHECK(has(script, "set grid"));
  CHECK(has(script, "$data0 << END\n0 1.5\n1 0.25\n2 0.001\nEND\n"));
  CHECK(has(script, "$data1 << END\n0 2 0.5\n1 1 0.25\nEND\n"));
  CHECK(has(script, "plot $data0 using 1:2 with linespoints"));
  CHECK(has(script, "$data1 using 1:2:3 with yerrorlines"));
  CHECK(has(script, "$data2 using 1:2 with lines dashtype 2"));
  CHECK(has(script, "title 'theirs'"));
  CHECK_FALSE(has(script, "logscale"));
  CHECK_FALSE(has(script, "yrange"));

  plot.series[0].marks = plot.series[2].marks = bpm_examples::PlotMarks::points;
  plot.series[1].marks = bpm_examples::PlotMarks::points;
  const std::string points = gnuplot_script(plot, "a.svg");
  CHECK(has(points, "plot $data0 using 1:2 with points pointtype 7"));
  CHECK(has(points, "$data1 using 1:2:3 with yerrorbars pointtype 5"));
  CHECK(has(points, "$data2 using 1:2 with points pointtype 6"));
  plot.series[0].marks = bpm_examples::PlotMarks::line;
  CHECK(has(gnuplot_script(plot, "a.svg"), "plot $data0 using 1:2 with lines pointtype 7"));

  plot.log_x = true;
  plot.y_from = 0;
  plot.series[0].x[0] = 5;
  plot.series[0].y[1] = std::numeric_limits<double>::quiet_NaN();
  plot.series[0].y[2] = -std::numeric_limits<double>::infinity();
  const std::string other = gnuplot_script(plot, "a.svg");
  CHECK(has(other, "set logscale x\n"));
  CHECK(has(other, "set yrange [0:*]\n"));
  CHECK(has(other, "$data0 << END\n5 1.5\n1 NaN\n2 NaN\nEND\n"));
}

TEST_CASE("plots that say nothing are refused", "[examples]") {
  Plot plot = small_plot();
  plot.title = "T";
  plot.series[1].y.pop_back();
  CHECK_THROWS_AS(gnuplot_script(plot, "a"), std::invalid_argument);
  CHECK_THROWS_WITH(gnuplot_script(plot, "a"),
                    "plot 'T', series 'with bars': x has 2 entries, y has 1");
  plot = small_plot();
  plot.title = "T";
  plot.series[1].error.push_back(1);
  CHECK_THROWS_WITH(gnuplot_script(plot, "a"),
                    "plot 'T', series 'with bars': error has 3 entries, x has 2");
  plot.series[1].error.clear();
  plot.series[1].y = {-1, 0};
  CHECK_NOTHROW(gnuplot_script(plot, "a"));
  plot.log_y = true;
  CHECK_THROWS_WITH(gnuplot_script(plot, "a"),
                    "plot 'T', series 'with bars': no point can be drawn");
  plot.series.clear();
  CHECK_THROWS_WITH(gnuplot_script(plot, "a"), "plot 'T': there is no series");
}

TEST_CASE("gnuplot draws the plot", "[examples]") {
  if (!gnuplot_is_there()) {
    WARN("gnuplot is not installed: not run");
    return;
  }
  const TemporaryFolder folder;
  const auto file = folder.path() / "it's a plot.svg";
  bpm_examples::check_plot(file);
  CHECK(folder.count() == 0);
  write_plot(small_plot(), file);
  const std::string svg = read_text(file);
  CHECK(folder.count() == 1);
  CHECK(has(svg, "<svg"));
  CHECK(has(svg, "</svg>"));
  CHECK(has(svg, "fill=\"#ffffff\""));  // White ground.
  CHECK(has(svg, "x_1^2"));             // Text as written, nothing interpreted,
  CHECK(has(svg, "`id` $(id)"));        // nothing run.
  for (const char* text : {"ours", "with bars", "theirs", "rejected (%)", "error (%)"}) {
    CHECK(has(svg, text));
  }
  CHECK(has(svg, "stroke-dasharray"));
  CHECK(has(svg, "rgb(  0, 114, 178)"));  // #0072B2
  Plot plot = small_plot();
  plot.log_y = true;
  write_plot(plot, file);
  CHECK(read_text(file) != svg);
}

TEST_CASE("gnuplot that is missing or fails is told in one line", "[examples]") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.svg";
  const std::string at = file.string();
  const auto bin = folder.path() / "bin";
  std::filesystem::create_directory(bin);
  {
    const examples_test::WithVariable path("PATH", bin.string());
    CHECK_THROWS_AS(bpm_examples::check_plot(file), OutputError);
    CHECK_THROWS_WITH(write_plot(small_plot(), file),
                      "cannot plot into '" + at +
                          "': gnuplot was not found on the PATH; install it, or ask for no plot");
  }
  // One that prints two lines and gives up, one that succeeds without a whole image.
  const auto fake = bin / "gnuplot";
  const auto make = [&](const std::string& body) {
    examples_test::write_text(fake, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  };
  const examples_test::WithVariable path("PATH", bin.string() + ":/usr/bin:/bin");
  make("echo 'line 1: bad'; echo command >&2; exit 1");
  CHECK_THROWS_WITH(write_plot(small_plot(), file),
                    "cannot plot into '" + at + "': gnuplot failed: line 1: bad command");
  make("echo half");
  CHECK_THROWS_WITH(write_plot(small_plot(), file),
                    "cannot plot into '" + at + "': gnuplot failed: half");
  CHECK_FALSE(std::filesystem::exists(file));
}
