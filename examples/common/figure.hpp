// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "plot.hpp"

/// \file
/// Figures that are more than one line plot: gnuplot programs of a program's own, data within.

namespace bpm_examples {

/// A gnuplot program in the making. Blocks of data come first in the text, whatever the order of
/// the calls: gnuplot cannot read them between `set multiplot` and `unset multiplot`.
class FigureScript {
 public:
  FigureScript() {
    blocks_.imbue(std::locale::classic());
    blocks_.precision(9);
    commands_.imbue(std::locale::classic());
    commands_.precision(9);
  }

  /// Rows of numbers under a name for `plot`: "$d0", "$d1", ... An empty row breaks the line; a
  /// number that is not finite is missing.
  std::string add_data(const std::vector<std::vector<double>>& rows) {
    std::string name = "$d" + std::to_string(count_++);
    blocks_ << name << " << END\n";
    for (const auto& row : rows) {
      for (std::size_t k = 0; k < row.size(); ++k) {
        blocks_ << (k > 0 ? " " : "");
        plot_detail::print_number(blocks_, row[k]);
      }
      blocks_ << '\n';
    }
    blocks_ << "END\n";
    return name;
  }

  /// The commands, in order.
  [[nodiscard]] std::ostream& commands() noexcept { return commands_; }

  /// All of it, for an image of `width` x `height` pixels at `output`.
  [[nodiscard]] std::string text(int width, int height, const std::filesystem::path& output) const {
    std::ostringstream script;
    script << "set encoding utf8\n"
           << "set terminal svg enhanced size " << width << ',' << height
           << " font 'sans-serif,14' linewidth 1 background rgb 'white'\n"
           << "set output " << plot_detail::gnuplot_string(output.string()) << '\n'
           << blocks_.str() << commands_.str() << "unset output\n";
    return script.str();
  }

 private:
  std::ostringstream blocks_;
  std::ostringstream commands_;
  std::size_t count_ = 0;
};

/// Draws the figure into the file, whole or not at all. Throws `OutputError` as `write_plot`.
inline void write_figure(const FigureScript& figure, int width, int height,
                         const std::filesystem::path& path) {
  plot_detail::draw_svg(path, [&](const auto& image) { return figure.text(width, height, image); });
}

}  // namespace bpm_examples
