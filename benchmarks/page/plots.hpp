// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "common/figure.hpp"
#include "common/plot.hpp"
#include "table.hpp"

/// \file
/// Time against size, a plot for some series of a family, with their floors.

namespace bpm_benchmarks {

namespace plots_detail {

inline constexpr std::size_t most_series = 6;

/// What a plot shows: the series and, by the same index, their floors (none: no points).
struct Curves {
  std::string title;
  std::vector<bpm_examples::PlotSeries> times;
  std::vector<bpm_examples::PlotSeries> floors;
};

/// Series of two sizes or more, those whose name ends alike together where a family has many.
[[nodiscard]] inline std::vector<Curves> collect(const Family& family) {
  std::vector<std::string> names;
  std::map<std::string, std::pair<bpm_examples::PlotSeries, bpm_examples::PlotSeries>> found;
  for (const TableRow& row : family.rows) {
    const Measured& measured = *row.measured;
    if (!measured.size || measured.seconds.empty() || measured.median() <= 0) continue;
    if (!found.contains(measured.series)) names.push_back(measured.series);
    auto& [time, floor] = found[measured.series];
    time.title = measured.series.empty() ? family.name : measured.series;
    time.x.push_back(*measured.size);
    time.y.push_back(measured.median());
    if (measured.floor_seconds && *measured.floor_seconds > 0) {
      floor.x.push_back(*measured.size);
      floor.y.push_back(*measured.floor_seconds);
    }
  }
  std::erase_if(names, [&](const std::string& name) { return found[name].first.x.size() < 2; });
  const bool many = names.size() > most_series;
  std::vector<Curves> plots;
  for (const std::string& name : names) {
    const std::size_t slash = name.rfind('/');
    const std::string end = many && slash != std::string::npos ? name.substr(slash + 1) : "";
    const std::string title = family.name + (end.empty() ? "" : ", " + end);
    auto place = std::ranges::find_if(plots, [&](const Curves& plot) {
      return plot.title == title && plot.times.size() < most_series;
    });
    if (place == plots.end()) {
      plots.push_back({title, {}, {}});
      place = std::prev(plots.end());
    }
    place->times.push_back(found[name].first);
    place->floors.push_back(found[name].second);
  }
  return plots;
}

}  // namespace plots_detail

/// The plots of a family; none where no series has two sizes. Floors that are the same for all
/// series of a plot are drawn once.
[[nodiscard]] inline std::vector<bpm_examples::Plot> family_plots(const Family& family) {
  std::vector<bpm_examples::Plot> plots;
  for (auto& curves : plots_detail::collect(family)) {
    bpm_examples::Plot plot;
    plot.title = curves.title;
    plot.x_label = "size";
    plot.y_label = "time";
    plot.log_x = true;
    plot.log_y = true;
    std::vector<bpm_examples::PlotSeries> floors;
    for (std::size_t i = 0; i < curves.floors.size(); ++i) {
      auto floor = curves.floors[i];
      const bool drawn = std::ranges::any_of(
          floors, [&](const auto& other) { return other.x == floor.x && other.y == floor.y; });
      if (floor.x.size() < 2 || drawn) continue;
      floor.reference = true;
      floor.title = "floor of " + curves.times[i].title;
      floors.push_back(std::move(floor));
    }
    if (floors.size() == 1) floors.front().title = "floor";
    plot.series = std::move(curves.times);
    for (auto& floor : floors) plot.series.push_back(std::move(floor));
    plots.push_back(std::move(plot));
  }
  return plots;
}

/// An SVG file's text as an element of a page: without what stands before <svg>, and with every
/// name that it gives to one of its parts begun by `prefix`, so that two images can stand in one
/// page.
[[nodiscard]] inline std::string inline_svg(const std::string& svg, const std::string& prefix) {
  const std::size_t start = svg.find("<svg");
  std::string text = svg.substr(start == std::string::npos ? 0 : start);
  text = std::regex_replace(text, std::regex("\\bid=(['\"])"), "id=$1" + prefix);
  text = std::regex_replace(text, std::regex("href=(['\"])#"), "href=$1#" + prefix);
  return std::regex_replace(text, std::regex("url\\(#"), "url(#" + prefix);
}

/// The plot as a gnuplot program: as `bpm_examples::write_plot` draws it, but with the legend where
/// growing curves leave room, and seconds with their units.
[[nodiscard]] inline bpm_examples::FigureScript plot_script(const bpm_examples::Plot& plot) {
  using bpm_examples::plot_detail::gnuplot_string;
  bpm_examples::plot_detail::check(plot);
  bpm_examples::FigureScript script;
  std::ostream& out = script.commands();
  out << "set title " << gnuplot_string(plot.title) << " noenhanced\n"
      << "set xlabel " << gnuplot_string(plot.x_label) << "\n"
      << "set key top left reverse Left noenhanced\n"
      << "set border 3 linecolor rgb '#404040'\nset tics nomirror\n"
      << "set grid linecolor rgb '#D0D0D0' linewidth 0.5\n"
      << "set logscale xy\nset format y '%.0s %cs'\nplot ";
  std::size_t colour = 0;
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    const auto& series = plot.series[s];
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < series.x.size(); ++i) rows.push_back({series.x[i], series.y[i]});
    out << (s == 0 ? "" : ", ") << script.add_data(rows) << " using 1:2"
        << bpm_examples::plot_detail::drawing_style(series, colour) << " title "
        << gnuplot_string(series.title);
    colour += series.reference ? 0U : 1U;
  }
  out << '\n';
  return script;
}

/// The plot, drawn by gnuplot, as an element of a page. \throws bpm_examples::OutputError where
/// gnuplot fails.
[[nodiscard]] inline std::string draw_inline(const bpm_examples::Plot& plot, std::size_t number) {
  const bpm_examples::plot_detail::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "page.svg";
  bpm_examples::write_figure(plot_script(plot), 800, 520, path);
  std::ifstream file(path, std::ios::binary);
  const std::string svg{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return inline_svg(svg, "p" + std::to_string(number) + "_");
}

}  // namespace bpm_benchmarks
