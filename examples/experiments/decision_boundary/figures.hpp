// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <locale>
#include <numbers>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/figure.hpp"
#include "experiment.hpp"

/// \file
/// The two pictures.

namespace bpm_examples {

namespace figures_detail {

inline constexpr const char* blue = "#0072B2";
inline constexpr const char* orange = "#D55E00";
inline constexpr const char* green = "#009E73";

using Rows = std::vector<std::vector<double>>;

/// Red, green and blue of a shade: white at value 0, the class's colour pale at +-1.
[[nodiscard]] inline std::array<double, 3> shade(double value) {
  const std::array<double, 3> full =
      value > 0 ? std::array{0.0, 114.0, 178.0} : std::array{213.0, 94.0, 0.0};
  const double strength = 0.10 + 0.28 * std::min(1.0, std::abs(value));
  std::array<double, 3> colour{};
  for (std::size_t k = 0; k < 3; ++k) {
    colour[k] = std::round(255 - strength * (255 - full[k]));
  }
  return colour;
}

/// The grid as an image: x, y, red, green, blue a line. Values are shaded up to their 90 % point.
[[nodiscard]] inline Rows image_rows(const PlaneGrid& grid, const std::vector<double>& values) {
  std::vector<double> sizes;
  sizes.reserve(values.size());
  for (const double value : values) sizes.push_back(std::abs(value));
  const auto place = sizes.begin() + static_cast<std::ptrdiff_t>(9 * sizes.size() / 10);
  std::nth_element(sizes.begin(), place, sizes.end());
  Rows rows;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const double value =
          values[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.columns) +
                 static_cast<std::size_t>(column)];
      const auto colour = shade(value / *place);
      rows.push_back({grid.x(column), grid.y(row), colour[0], colour[1], colour[2]});
    }
  }
  return rows;
}

/// Where the values change sign, as segments cell by cell, each followed by an empty row. Linear
/// between grid points; in a saddle, the two segments that keep the positive corners apart.
[[nodiscard]] inline Rows zero_segments(const PlaneGrid& grid, const std::vector<double>& values) {
  const auto at = [&](int row, int column) {
    return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.columns) +
                  static_cast<std::size_t>(column)];
  };
  Rows rows;
  for (int row = 0; row + 1 < grid.rows; ++row) {
    for (int column = 0; column + 1 < grid.columns; ++column) {
      // Corners in a circle, and the crossings of the sides between them.
      constexpr std::array<std::array<int, 2>, 5> corners{{{0, 0}, {0, 1}, {1, 1}, {1, 0}, {0, 0}}};
      Rows crossings;
      for (std::size_t side = 0; side < 4; ++side) {
        const auto [r0, c0] = corners[side];
        const auto [r1, c1] = corners[side + 1];
        const double from = at(row + r0, column + c0);
        const double to = at(row + r1, column + c1);
        if ((from > 0) != (to > 0)) {
          const double t = from / (from - to);
          crossings.push_back({grid.x(column + c0) * (1 - t) + grid.x(column + c1) * t,
                               grid.y(row + r0) * (1 - t) + grid.y(row + r1) * t});
        }
      }
      if (crossings.size() == 4 && at(row, column) > 0) {
        std::swap(crossings[1], crossings[3]);
      }
      for (std::size_t k = 0; k + 1 < crossings.size(); k += 2) {
        rows.insert(rows.end(), {crossings[k], crossings[k + 1], {}});
      }
    }
  }
  return rows;
}

[[nodiscard]] inline std::string fixed(double value, int digits) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

}  // namespace figures_detail

/// Figure 1 of "Robust Bayes Point Machines": the decision boundaries side by side, the sides
/// shaded by how sure the classifier is, and the training points.
[[nodiscard]] inline FigureScript boundary_figure(const BoundaryResult& result) {
  using namespace figures_detail;
  FigureScript figure;
  const PlaneGrid& grid = result.grid;
  Rows positive;
  Rows negative;
  Rows support;
  for (std::size_t i = 0; i < result.training.labels.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const std::vector<double> point{result.training.inputs(k, 0), result.training.inputs(k, 1)};
    (result.training.labels[i] > 0 ? positive : negative).push_back(point);
    if (result.svm.coefficients[k] != 0) support.push_back(point);
  }
  const std::string positive_data = figure.add_data(positive);
  const std::string negative_data = figure.add_data(negative);
  const std::string support_data = figure.add_data(support);

  auto& out = figure.commands();
  out << "set multiplot layout 1,2 margins 0.06,0.985,0.215,0.915 spacing 0.045,0\n"
      << "set xrange [" << grid.x_from << ':' << grid.x_to << "]\n"
      << "set yrange [" << grid.y_from << ':' << grid.y_to << "]\n"
      << "set border 15 linecolor rgb '#404040'\n"
      << "set tics nomirror out scale 0.6\n"
      << "set xlabel 'x_1'\n"
      << "set key at screen 0.52,0.04 center center horizontal samplen 1.6 width 2 font "
         "',13'\n";
  const auto panel = [&](const std::string& title, const std::string& y_label,
                         const std::vector<double>& values, bool svm) {
    const std::string image = figure.add_data(image_rows(grid, values));
    const std::string boundary = figure.add_data(zero_segments(grid, values));
    out << "set title " << plot_detail::gnuplot_string(title) << " font ',15' offset 0,-0.3\n"
        << "set ylabel '" << y_label << "'\n"
        << "plot " << image << " using 1:2:3:4:5 with rgbimage notitle, " << boundary
        << " using 1:2 with lines linewidth 2.6 linecolor rgb 'black' title '"
        << (svm ? "decision boundary" : "") << "', " << positive_data
        << " using 1:2 with points pointtype 7 pointsize 0.75 linecolor rgb '" << blue
        << "' title '" << (svm ? "class +1" : "") << "', " << negative_data
        << " using 1:2 with points pointtype 9 pointsize 0.85 linecolor rgb '" << orange
        << "' title '" << (svm ? "class −1" : "") << "'";
    if (svm) {
      out << ", " << support_data
          << " using 1:2 with points pointtype 6 pointsize 1.35 linewidth 1.1 linecolor rgb "
             "'#202020' title 'support vector'";
    }
    out << '\n';
  };
  const auto title = [](const std::string& name, const BoundaryClassifier& classifier) {
    return name + ":  margin " + fixed(classifier.margin, 4) + ",  " +
           fixed(100 * classifier.accuracy, 1) + " % right on new points";
  };
  panel(title("SVM", result.svm), "x_2", result.values.svm, true);
  panel(title("Bayes point", result.bayes), "", result.values.bayes, false);
  out << "unset multiplot\n";
  return figure;
}

/// A version space on the sphere, with the billiard's path, the SVM and the Bayes point.
[[nodiscard]] inline FigureScript sphere_figure(const SphereResult& result) {
  using namespace figures_detail;
  FigureScript figure;
  // What the viewer on the third axis sees of a line; what lies behind breaks it.
  const auto add_line = [](Rows& rows, const std::vector<Direction>& line) {
    for (const Direction& point : line) {
      if (point.z() >= 0) {
        rows.push_back({point.x(), point.y()});
      } else if (!rows.empty() && !rows.back().empty()) {
        rows.emplace_back();
      }
    }
    rows.emplace_back();
  };
  const auto& problem = result.problem;
  constexpr double right_angle = std::numbers::pi / 2;
  Rows planes;
  for (const Direction& input : problem.inputs)
    add_line(planes, circle_on_sphere(input, right_angle));
  std::vector<Direction> outline;
  for (std::size_t e = 0; e < problem.corners.size(); ++e) {
    const auto edge =
        great_arc(problem.corners[e], problem.corners[(e + 1) % problem.corners.size()]);
    outline.insert(outline.end(), edge.begin(), edge.end());
  }
  Rows space;
  add_line(space, outline);
  space.pop_back();
  Rows early;
  Rows late;
  for (std::size_t n = 0; n + 1 < result.path.size(); ++n) {
    Rows& rows = n + 1 < result.early ? early : late;
    add_line(rows, great_arc(result.path[n], result.path[n + 1]));
    rows.pop_back();
  }
  Rows inscribed;
  add_line(inscribed, circle_on_sphere(result.svm, result.radius));
  // The ball, lit from the upper left: discs that shrink towards the light.
  Rows discs;
  constexpr int shades = 48;
  for (int k = 0; k < shades; ++k) {
    const double t = static_cast<double>(k) / shades;
    const double level = 214 + 38 * std::sqrt(t);
    const double colour = 65536 * std::round(level) + 256 * std::round(level + 2) +
                          std::round(std::min(255.0, level + 5));
    discs.push_back({-0.30 * t, 0.34 * t, 1 - t, colour});
  }

  const std::string disc_data = figure.add_data(discs);
  const std::string plane_data = figure.add_data(planes);
  const std::string space_data = figure.add_data(space);
  const std::string late_data = figure.add_data(late);
  const std::string early_data = figure.add_data(early);
  const std::string inscribed_data = figure.add_data(inscribed);
  const std::string svm_data = figure.add_data({{result.svm.x(), result.svm.y()}});
  const std::string bayes_data = figure.add_data({{result.bayes.x(), result.bayes.y()}});
  const std::string rim_data = figure.add_data({{0, 0, 1}});
  figure.commands()
      << "unset border\nunset tics\n"
      << "set size ratio -1\n"
      << "set margins 0,0,0,0\n"
      << "set xrange [-1.04:2.30]\n"
      << "set yrange [-1.04:1.04]\n"
      << "set style fill solid 1 noborder\n"
      << "set key at graph 0.63,0.80 left top Left reverse samplen 2.2 spacing 1.45 font ',15'\n"
      << "set label 1 'A version space in three dimensions' at graph 0.63,0.875 font ',19'\n";
  constexpr std::array<const char*, 5> caption{
      "Each point of the sphere is a classifier w, each training",
      "point a plane: on one of its sides w is right about it.",
      "The ball flies on great circles, bounces off the planes,",
      "and turns at random now and then. The average of its", "path tends to the Bayes point."};
  for (std::size_t k = 0; k < caption.size(); ++k) {
    figure.commands() << "set label " << k + 2 << " '" << caption[k] << "' at graph 0.63,"
                      << 0.34 - 0.037 * static_cast<double>(k)
                      << " font ',14' textcolor rgb '#404040'\n";
  }
  figure.commands()
      << "plot " << disc_data << " using 1:2:3:4 with circles linecolor rgb variable notitle, "
      << rim_data << " using 1:2:3 with circles fillstyle empty border linecolor rgb '#909AA6' "
      << "notitle, " << plane_data
      << " using 1:2 with lines linewidth 1 linecolor rgb '#98A2AE' title 'planes ⟨w, x_i⟩ = 0 of "
         "eight training points', "
      << space_data
      << " using 1:2 with polygons fillstyle solid 1 noborder linecolor rgb '#FFF3D6' "
      << "notitle, " << late_data << " using 1:2 with lines linewidth 0.5 linecolor rgb '#9BC4DF' "
      << "notitle, " << early_data << " using 1:2 with lines linewidth 1.6 linecolor rgb '" << blue
      << "' notitle, " << space_data
      << " using 1:2 with lines linewidth 2.6 linecolor rgb '#303840' title 'version space: all "
         "eight are right', "
      << "NaN with lines linewidth 1.6 linecolor rgb '" << blue
      << "' title 'the billiard: its first " << early_bounces
      << " bounces', NaN with lines linewidth 2 linecolor rgb '#9BC4DF' title '... "
      << "and the next " << drawn_bounces - early_bounces << "', " << inscribed_data
      << " using 1:2 with lines linewidth 2.2 dashtype 2 linecolor rgb '" << orange
      << "' title 'largest circle inside', " << svm_data
      << " using 1:2 with points pointtype 2 pointsize 1.5 linewidth 3 linecolor rgb '" << orange
      << "' title 'SVM: its centre', " << bayes_data
      << " using 1:2 with points pointtype 7 pointsize 1.7 linecolor rgb 'white' notitle, "
      << bayes_data << " using 1:2 with points pointtype 7 pointsize 1.3 linecolor rgb '" << green
      << "' title 'Bayes point: centre of mass'\n";
  return figure;
}

}  // namespace bpm_examples
