// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <locale>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "output_file.hpp"
#include "program.hpp"

/// \file
/// Line plots as SVG files, drawn by gnuplot as a child process.

namespace bpm_examples {

/// How the values of a series are marked.
enum class PlotMarks { line_and_points, line, points };

/// One line of a plot. A point with a value that is not finite is left out and breaks the line.
struct PlotSeries {
  std::string title;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> error;  ///< Half length of the error bar at each point; empty: no bars.
  bool reference = false;     ///< Grey, a dashed line or open circles: what others report.
  PlotMarks marks = PlotMarks::line_and_points;
};

/// A plot of one or more lines with a legend, a grid and labelled axes.
struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<PlotSeries> series;
  bool log_x = false;
  bool log_y = false;
  std::optional<double> y_from;  ///< Lower end of the axis; absent: from the data.
};

namespace plot_detail {

/// Colours that people with any kind of colour vision tell apart on white (M. Okabe, K. Ito,
/// "Color Universal Design", 2008), without the yellow, which is too faint for lines.
inline constexpr std::array<std::string_view, 7> colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                         "#E69F00", "#56B4E9", "#000000"};

/// Circle, square, triangle, diamond, ...: series differ by shape as well as by colour.
inline constexpr std::array<int, 7> point_types{7, 5, 9, 13, 11, 6, 4};

/// A gnuplot string that means the text and nothing else.
[[nodiscard]] inline std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char c : one_line(text)) {
    result += c;
    if (c == '\'') {
      result += c;
    }
  }
  return result + "'";
}

/// One word of a shell command.
[[nodiscard]] inline std::string shell_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

inline void print_number(std::ostream& out, double value) {
  if (std::isfinite(value)) {
    out << value;
  } else {
    out << "NaN";
  }
}

/// How gnuplot is to draw the series; `number` chooses the colour and the shape of the points.
[[nodiscard]] inline std::string drawing_style(const PlotSeries& series, std::size_t number) {
  if (series.reference) {
    return series.marks == PlotMarks::points
               ? " with points pointtype 6 pointsize 1 linewidth 1.5 linecolor rgb '#404040'"
               : " with lines dashtype 2 linewidth 1.5 linecolor rgb '#606060'";
  }
  const bool bars = !series.error.empty();
  std::string style = " with ";
  switch (series.marks) {
    case PlotMarks::line_and_points:
      style += bars ? "yerrorlines" : "linespoints";
      break;
    case PlotMarks::line:
      style += bars ? "yerrorlines" : "lines";
      break;
    case PlotMarks::points:
      style += bars ? "yerrorbars" : "points";
      break;
  }
  // Where colours begin again, each has another shape.
  const std::size_t shape = number + number / colours.size();
  style += " pointtype " + std::to_string(point_types[shape % point_types.size()]);
  style += " pointsize 0.7 linewidth 1.5 linecolor rgb '";
  style += colours[number % colours.size()];
  return style + "'";
}

inline void check(const Plot& plot) {
  if (plot.series.empty()) {
    throw std::invalid_argument("plot '" + plot.title + "': there is no series");
  }
  for (const auto& series : plot.series) {
    const auto fail = [&](const std::string& what) {
      throw std::invalid_argument("plot '" + plot.title + "', series '" + series.title +
                                  "': " + what);
    };
    if (series.x.size() != series.y.size()) {
      fail("x has " + std::to_string(series.x.size()) + " entries, y has " +
           std::to_string(series.y.size()));
    }
    if (!series.error.empty() && series.error.size() != series.x.size()) {
      fail("error has " + std::to_string(series.error.size()) + " entries, x has " +
           std::to_string(series.x.size()));
    }
    const auto drawn = [](double value, bool log) {
      return std::isfinite(value) && (!log || value > 0);
    };
    bool any = false;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      any = any || (drawn(series.x[i], plot.log_x) && drawn(series.y[i], plot.log_y));
    }
    if (!any) {
      fail("no point can be drawn");
    }
  }
}

/// Makes a folder for the plot's parts and removes it with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "bpm-plot-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw OutputError("no temporary folder '" + name + "' can be made for the plot");
    }
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// The program's path, searched for as a shell does; empty where there is none.
[[nodiscard]] inline std::filesystem::path find_program(std::string_view name) {
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable == nullptr ? "" : variable);
  for (std::string folder; std::getline(folders, folder, ':');) {
    auto candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(candidate, ignored) &&
        ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return {};
}

[[nodiscard]] inline std::filesystem::path require_gnuplot(const std::filesystem::path& target) {
  auto program = find_program("gnuplot");
  if (program.empty()) {
    throw OutputError("cannot plot into '" + target.string() +
                      "': gnuplot was not found on the PATH; install it, or ask for no plot");
  }
  return program;
}

/// Runs gnuplot on the text of script(image) and moves that image to `path`, whole or not at all.
template <class Script>
void draw_svg(const std::filesystem::path& path, const Script& script) {
  const auto program = require_gnuplot(path);
  const TemporaryFolder folder;
  const auto commands = folder.path() / "plot.gnuplot";
  const auto image = folder.path() / "plot.svg";
  write_whole(commands, script(image));
  const std::string command =
      shell_word(program.string()) + " -d " + shell_word(commands.string()) + " 2>&1 </dev/null";
  std::FILE* child = ::popen(command.c_str(), "r");
  if (child == nullptr) {
    throw OutputError("cannot plot into '" + path.string() + "': gnuplot could not be started");
  }
  std::string messages;
  std::array<char, 512> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), child)) {
    messages.append(buffer.data(), count);
  }
  const int status = ::pclose(child);
  std::ifstream file(image, std::ios::binary);
  const std::string svg{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // gnuplot does not notice a full disk: an image without its end is no image.
  if (status != 0 || svg.find("</svg>") == std::string::npos) {
    throw OutputError("cannot plot into '" + path.string() +
                      "': gnuplot failed: " + one_line(messages));
  }
  write_whole(path, svg);
}

}  // namespace plot_detail

/// The gnuplot program that draws the plot into the file `output`, the data within.
/// Throws `std::invalid_argument` for a plot without a series, a series whose sizes disagree, or
/// one without a point to draw.
[[nodiscard]] inline std::string gnuplot_script(const Plot& plot,
                                                const std::filesystem::path& output) {
  using plot_detail::gnuplot_string;
  plot_detail::check(plot);
  std::ostringstream script;
  script.imbue(std::locale::classic());
  script.precision(10);
  script << "set encoding utf8\n"
         << "set terminal svg noenhanced size 800,560 font 'sans-serif,15' linewidth 1.5 "
            "background rgb 'white'\n"
         << "set output " << gnuplot_string(output.string()) << '\n'
         << "set title " << gnuplot_string(plot.title) << '\n'
         << "set xlabel " << gnuplot_string(plot.x_label) << '\n'
         << "set ylabel " << gnuplot_string(plot.y_label) << '\n'
         << "set key top right Left reverse\n"
         << "set border 3 linecolor rgb '#404040'\n"
         << "set tics nomirror\n"
         << "set grid linecolor rgb '#D0D0D0' linewidth 0.5\n";
  if (plot.log_x) {
    script << "set logscale x\n";
  }
  if (plot.log_y) {
    script << "set logscale y\n";
  }
  if (plot.y_from) {
    script << "set yrange [" << *plot.y_from << ":*]\n";
  }
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    const auto& series = plot.series[s];
    script << "$data" << s << " << END\n";
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      plot_detail::print_number(script, series.x[i]);
      script << ' ';
      plot_detail::print_number(script, series.y[i]);
      if (!series.error.empty()) {
        script << ' ';
        plot_detail::print_number(script, series.error[i]);
      }
      script << '\n';
    }
    script << "END\n";
  }
  script << "plot ";
  std::size_t colour = 0;
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    const auto& series = plot.series[s];
    script << (s == 0 ? "" : ", ") << "$data" << s << " using 1:2"
           << (series.error.empty() ? "" : ":3");
    script << plot_detail::drawing_style(series, colour);
    colour += series.reference ? 0U : 1U;
    script << " title " << gnuplot_string(series.title);
  }
  script << "\nunset output\n";
  return script.str();
}

/// Throws `OutputError` if gnuplot is not there or the file cannot be written.
inline void check_plot(const std::filesystem::path& path) {
  static_cast<void>(plot_detail::require_gnuplot(path));
  check_writable(path);
  plot_detail::TemporaryFolder probe;
}

/// Draws the plot into the file, whole or not at all. Throws `OutputError` if gnuplot is not there
/// or fails (with its messages) or the file cannot be written.
inline void write_plot(const Plot& plot, const std::filesystem::path& path) {
  plot_detail::draw_svg(path, [&](const auto& image) { return gnuplot_script(plot, image); });
}

}  // namespace bpm_examples
