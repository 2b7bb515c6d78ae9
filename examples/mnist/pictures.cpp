// SPDX-License-Identifier: MIT
#include "pictures.hpp"

#include <array>
#include <cmath>
#include <iomanip>
#include <numbers>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

#include "common/figure.hpp"

namespace bpm_examples {

namespace {

/// Room for a line of text below an image, and between images, in pixels of these.
constexpr Eigen::Index text_room = 9;
constexpr Eigen::Index gap = 4;
/// Room for what is said of a digit, beside it.
constexpr Eigen::Index words = 48;
/// How much larger than the images the one with features is drawn.
constexpr Eigen::Index scale = 4;

/// The page's images as one, and the texts upon it.
class Page {
 public:
  Page(Eigen::Index rows, Eigen::Index columns)
      : ink_(bpm::RowMatrix<double>::Zero(rows, columns)) {}

  void add_image(const std::vector<std::uint8_t>& image, const bpm::ImageShape& shape,
                 Eigen::Index x, Eigen::Index y) {
    for (Eigen::Index r = 0; r < shape.rows; ++r) {
      for (Eigen::Index c = 0; c < shape.columns; ++c) {
        ink_(y + r, x + c) = image[static_cast<std::size_t>(r * shape.columns + c)];
      }
    }
  }

  void add_text(FigureScript& figure, const std::string& text, double x, double y,
                std::string_view colour = "#000000") const {
    figure.commands() << "set label " << plot_detail::gnuplot_string(text) << " at " << x << ','
                      << y << " front noenhanced font ',11' textcolor rgb '" << colour << "'\n";
  }

  [[nodiscard]] std::string data(FigureScript& figure) const {
    std::vector<std::vector<double>> rows;
    for (const auto& row : ink_.rowwise()) rows.emplace_back(row.begin(), row.end());
    return figure.add_data(rows);
  }

 private:
  bpm::RowMatrix<double> ink_;
};

std::string rounded(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << value;
  return text.str();
}

/// Colours from one way of bending to the other.
std::string colour_of(int bend, int bends) {
  constexpr std::array<std::string_view, 5> five{"#0072B2", "#56B4E9", "#808080", "#E69F00",
                                                 "#D55E00"};
  const int place = bends == 1 ? 2 : (4 * bend + (bends - 1) / 2) / (bends - 1);
  return std::string(five[static_cast<std::size_t>(place)]);
}

/// What the kernel sees of an image: in each cell a ray for each direction of the gradient, as long
/// as its feature is large, beside one another the classes of bends. Returns the commands' part.
std::string rays_of(FigureScript& figure, const bpm::GradientFeatures& gradients,
                    const std::vector<std::uint8_t>& image, Eigen::Index x0, Eigen::Index y0) {
  std::vector<std::uint8_t> features(static_cast<std::size_t>(gradients.size()));
  auto scratch = gradients.scratch();
  gradients(image.data(), features.data(), scratch);
  const bpm::GradientSettings& settings = gradients.settings();
  const bpm::FeatureGrid& grid = settings.grids.front();
  const bpm::ImageShape& shape = gradients.image();
  const double high =
      static_cast<double>(shape.rows - 2 * grid.margin) / static_cast<double>(grid.rows);
  const double wide =
      static_cast<double>(shape.columns - 2 * grid.margin) / static_cast<double>(grid.columns);
  constexpr auto zoom = static_cast<double>(scale);
  const double longest = *std::ranges::max_element(features);
  std::vector<std::vector<std::vector<double>>> rays(static_cast<std::size_t>(settings.bends));
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < grid.rows; ++i) {
    for (Eigen::Index j = 0; j < grid.columns; ++j) {
      const double x = static_cast<double>(grid.margin) + (static_cast<double>(j) + 0.5) * wide;
      const double y = static_cast<double>(grid.margin) + (static_cast<double>(i) + 0.5) * high;
      for (int bend = 0; bend < settings.bends; ++bend) {
        for (int k = 0; k < settings.orientations; ++k) {
          const double length =
              0.5 * std::min(wide, high) * features[at++] / std::max(longest, 1.0);
          const double turn = (k + 0.12 * (bend - (settings.bends - 1) / 2.0)) * 2 *
                              std::numbers::pi / settings.orientations;
          rays[static_cast<std::size_t>(bend)].push_back(
              {static_cast<double>(x0) + zoom * x, static_cast<double>(y0) + zoom * y,
               zoom * length * std::cos(turn), zoom * length * std::sin(turn)});
        }
      }
    }
  }
  std::string commands;
  for (int bend = 0; bend < settings.bends; ++bend) {
    commands += ", " + figure.add_data(rays[static_cast<std::size_t>(bend)]) +
                " using 1:2:3:4 with vectors nohead linewidth 1.5 linecolor rgb '" +
                colour_of(bend, settings.bends) + "'";
  }
  return commands;
}

}  // namespace

void write_pictures(const std::vector<JudgedDigit>& digits, const bpm::ImageShape& shape,
                    const std::optional<bpm::GradientFeatures>& features,
                    const std::filesystem::path& path) {
  std::size_t voices = 0;
  for (const JudgedDigit& digit : digits) {
    voices = std::max({voices, digit.for_it.size(), digit.against_it.size()});
  }
  const Eigen::Index step = std::max<Eigen::Index>(shape.columns + gap, 32);
  const Eigen::Index line = std::max<Eigen::Index>(shape.rows, 16) + text_room;
  const Eigen::Index head = 2 * text_room;
  const auto voices_room = static_cast<Eigen::Index>(voices) * step;
  const Eigen::Index first_voice = step + words;
  const Eigen::Index drawn = features && !digits.empty() ? scale * shape.rows + 2 * text_room : 0;
  const Eigen::Index width = std::max(first_voice + 2 * voices_room + gap,
                                      drawn > 0 ? 2 * scale * shape.columns + step + 2 * gap : 0);
  const Eigen::Index height = head + std::ssize(digits) * line + drawn + gap;
  Page page(height, width);
  FigureScript figure;
  page.add_text(figure, "spoke loudest for it", static_cast<double>(first_voice), text_room);
  page.add_text(figure, "and against it", static_cast<double>(first_voice + voices_room + gap),
                text_room);
  Eigen::Index y = head;
  for (const JudgedDigit& digit : digits) {
    page.add_image(digit.image, shape, gap, y);
    const auto below = static_cast<double>(y + shape.rows) + 0.5 * text_room;
    const bool wrong = digit.decided != digit.label;
    page.add_text(figure, "no. " + std::to_string(digit.number), gap, below, "#606060");
    page.add_text(
        figure, "read as " + std::to_string(digit.decided) + ": " + rounded(digit.decided_output),
        static_cast<double>(step), static_cast<double>(y) + 8, wrong ? "#D55E00" : "#000000");
    page.add_text(figure,
                  digit.other == digit.label || !wrong
                      ? (wrong ? "it is " : "second ") + std::to_string(digit.other) + ": " +
                            rounded(digit.other_output)
                      : "it is " + std::to_string(digit.label) + ", unknown",
                  static_cast<double>(step), static_cast<double>(y) + 17);
    const auto show = [&](const std::vector<Voice>& some, Eigen::Index x) {
      for (const Voice& voice : some) {
        page.add_image(voice.image, shape, x, y);
        page.add_text(figure, std::to_string(voice.label) + ": " + rounded(voice.part),
                      static_cast<double>(x), below, "#606060");
        x += step;
      }
    };
    show(digit.for_it, first_voice);
    show(digit.against_it, first_voice + voices_room + gap);
    y += line;
  }
  std::string rays;
  if (drawn > 0) {
    y += text_room;
    page.add_text(
        figure,
        "The first of them, and its features: how much gradient of each direction there is "
        "in each cell, by how edges bend",
        gap, static_cast<double>(y - text_room / 2));
    std::vector<std::uint8_t> large(static_cast<std::size_t>(scale * scale * shape.size()));
    for (Eigen::Index r = 0; r < scale * shape.rows; ++r) {
      for (Eigen::Index c = 0; c < scale * shape.columns; ++c) {
        large[static_cast<std::size_t>(r * scale * shape.columns + c)] =
            digits[0].image[static_cast<std::size_t>(r / scale * shape.columns + c / scale)];
      }
    }
    page.add_image(large, {scale * shape.rows, scale * shape.columns}, gap, y);
    rays = rays_of(figure, *features, digits[0].image, gap + scale * shape.columns + step, y);
  }
  figure.commands() << "unset border\nunset tics\nunset key\nunset colorbox\n"
                    << "set palette gray negative\nset cbrange [0:255]\n"
                    << "set margins 0, 0, 0, 0\nset size ratio -1\n"
                    << "set xrange [0:" << width << "]\nset yrange [" << height << ":0]\n";
  const std::string data = page.data(figure);
  figure.commands() << "plot " << data << " matrix using ($1 + 0.5):($2 + 0.5):3 with image" << rays
                    << '\n';
  const double zoom = 2;
  write_figure(figure, static_cast<int>(zoom * static_cast<double>(width)),
               static_cast<int>(zoom * static_cast<double>(height)), path);
}

}  // namespace bpm_examples
