// SPDX-License-Identifier: MIT
#include "decision_boundary/figures.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "common/figure.hpp"
#include "temporary_folder.hpp"

using namespace bpm_examples;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class F>
std::vector<double> on_grid(const PlaneGrid& grid, F f) {
  std::vector<double> values;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      values.push_back(f(grid.x(column), grid.y(row)));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("decision_boundary: the contour lies where the values change sign", "[examples]") {
  const PlaneGrid grid;
  CHECK(grid.x(0) == grid.x_from);
  CHECK(std::abs(grid.x(grid.columns - 1) - grid.x_to) <= 1e-12);
  CHECK(std::abs(grid.y(grid.rows - 1) - grid.y_to) <= 1e-12);
  // A line, exactly.
  double length = 0;
  std::vector<double> last;
  for (const auto& row : figures_detail::zero_segments(
           grid, on_grid(grid, [](double x, double y) { return x + 2 * y - 0.33; }))) {
    if (!row.empty()) {
      CHECK(std::abs(row[0] + 2 * row[1] - 0.33) <= 1e-12);
      if (!last.empty()) length += std::hypot(row[0] - last[0], row[1] - last[1]);
    }
    last = row;
  }
  CHECK(std::abs(length - 7.4 * std::sqrt(1.25)) <= 1e-9);
  // A circle, to the square of the step.
  for (const auto& row : figures_detail::zero_segments(
           grid, on_grid(grid, [](double x, double y) { return x * x + y * y - 4; }))) {
    if (!row.empty()) CHECK(std::abs(std::hypot(row[0], row[1]) - 2) <= 1e-3);
  }
  CHECK(
      figures_detail::zero_segments(grid, on_grid(grid, [](double, double) { return 1; })).empty());
}

TEST_CASE("decision_boundary: a saddle's segments keep the positive corners apart", "[examples]") {
  PlaneGrid grid;
  grid.rows = 2;
  grid.columns = 2;
  grid.x_from = grid.y_from = 0;
  grid.x_to = grid.y_to = 1;
  for (const double sign : {1.0, -1.0}) {
    // Rows from below: the corners (0, 0) and (1, 1) have this sign.
    const std::vector<double> values{sign, -sign, -sign, sign};
    const auto rows = figures_detail::zero_segments(grid, values);
    REQUIRE(rows.size() == 6);
    for (const std::size_t first : {std::size_t{0}, std::size_t{3}}) {
      // Each segment cuts off one positive corner: its middle lies towards that corner.
      const double x = (rows[first][0] + rows[first + 1][0]) / 2 - 0.5;
      const double y = (rows[first][1] + rows[first + 1][1]) / 2 - 0.5;
      CHECK(sign * x * y > 0);
    }
  }
}

TEST_CASE("decision_boundary: shades are the classes' colours, paler near the boundary",
          "[examples]") {
  const auto blue = figures_detail::shade(1);
  const auto orange = figures_detail::shade(-1);
  CHECK(blue[2] > blue[0]);
  CHECK(orange[0] > orange[2]);
  CHECK(figures_detail::shade(0.1)[0] > blue[0]);
  CHECK(figures_detail::shade(7) == blue);
}

TEST_CASE("a figure's script holds data first, then the commands", "[examples]") {
  FigureScript figure;
  figure.commands() << "plot ";
  const std::string name =
      figure.add_data({{1, 0.5}, {}, {16777215, std::numeric_limits<double>::quiet_NaN()}});
  CHECK(name == "$d0");
  CHECK(figure.add_data({}) == "$d1");
  figure.commands() << name << '\n';
  const std::string text = figure.text(300, 200, "it's.svg");
  CHECK_THAT(text, ContainsSubstring("set terminal svg enhanced size 300,200"));
  CHECK_THAT(text, ContainsSubstring("set output 'it''s.svg'\n"
                                     "$d0 << END\n1 0.5\n\n16777215 NaN\nEND\n"
                                     "$d1 << END\nEND\nplot $d0\nunset output\n"));
}

TEST_CASE("a figure that gnuplot refuses is told in one line", "[examples]") {
  if (plot_detail::find_program("gnuplot").empty()) {
    WARN("gnuplot is not installed: not run");
    return;
  }
  const examples_test::TemporaryFolder folder;
  const auto path = folder.path() / "a.svg";
  FigureScript figure;
  figure.commands() << "plot nonsense(\n";
  CHECK_THROWS_AS(write_figure(figure, 100, 100, path), OutputError);
  CHECK_FALSE(std::filesystem::exists(path));
  FigureScript good;
  good.commands() << "plot " << good.add_data({{0, 0}, {1, 1}}) << " with lines\n";
  write_figure(good, 100, 100, path);
  CHECK_THAT(examples_test::read_text(path), ContainsSubstring("</svg>"));
}
