// SPDX-License-Identifier: MIT
#include "bpm/images/gradient_features.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/images/deformation.hpp"
#include "bpm/images/virtual_examples.hpp"
#include "bpm/machine/labels.hpp"
#include "catch.hpp"
#include "message_of.hpp"

namespace {

using Bytes = bpm::RowMatrix<std::uint8_t>;

/// Images of soft blobs, by integers alone.
Bytes blobs(Eigen::Index count, bpm::ImageShape shape, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  Bytes images = Bytes::Zero(count, shape.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    for (int blob = 0; blob < 5; ++blob) {
      const auto y0 = static_cast<Eigen::Index>(engine() % static_cast<std::uint64_t>(shape.rows));
      const auto x0 =
          static_cast<Eigen::Index>(engine() % static_cast<std::uint64_t>(shape.columns));
      const auto height = static_cast<Eigen::Index>(60 + engine() % 195);
      const auto slope = static_cast<Eigen::Index>(5 + engine() % 30);
      for (Eigen::Index y = 0; y < shape.rows; ++y) {
        for (Eigen::Index x = 0; x < shape.columns; ++x) {
          const Eigen::Index off = (y - y0) * (y - y0) + (x - x0) * (x - x0);
          std::uint8_t& pixel = images(i, y * shape.columns + x);
          pixel = static_cast<std::uint8_t>(
              std::max<Eigen::Index>(pixel, height - std::min(height, slope * off / 4)));
        }
      }
    }
  }
  return images;
}

/// The formulas again, in plain loops.
std::vector<int> features_by_formula(const std::uint8_t* pixels, bpm::ImageShape shape,
                                     const bpm::GradientSettings& settings) {
  const auto [rows, columns] = shape;
  std::vector<long long> image(pixels, pixels + shape.size());
  const auto at = [&](const std::vector<long long>& of, Eigen::Index y, Eigen::Index x) {
    return of[static_cast<std::size_t>(std::clamp<Eigen::Index>(y, 0, rows - 1) * columns +
                                       std::clamp<Eigen::Index>(x, 0, columns - 1))];
  };
  for (int pass = 0; pass < settings.smoothing; ++pass) {
    const auto before = image;
    for (Eigen::Index y = 0; y < rows; ++y) {
      for (Eigen::Index x = 0; x < columns; ++x) {
        long long sum = 0;
        for (int v = -1; v <= 1; ++v) {
          for (int u = -1; u <= 1; ++u) {
            sum += (2 - std::abs(v)) * (2 - std::abs(u)) * at(before, y + v, x + u);
          }
        }
        image[static_cast<std::size_t>(y * columns + x)] = sum;
      }
    }
  }
  // The weight of column or row x in cell c of so many.
  const auto weight = [](Eigen::Index x, Eigen::Index c, Eigen::Index cells,
                         Eigen::Index pixel_count, Eigen::Index margin) {
    const double width = static_cast<double>(pixel_count - 2 * margin) / static_cast<double>(cells);
    const double centre = static_cast<double>(margin) + (static_cast<double>(c) + 0.5) * width;
    const double off = std::abs(static_cast<double>(x) + 0.5 - centre) / width;
    return static_cast<long long>(std::floor(32 * std::max(0.0, 1 - off) + 0.5 + 1e-9));
  };
  long long heaviest = 1;
  for (const bpm::FeatureGrid& grid : settings.grids) {
    const auto largest = [&](Eigen::Index cells, Eigen::Index pixel_count) {
      long long most = 0;
      for (Eigen::Index c = 0; c < cells; ++c) {
        long long sum = 0;
        for (Eigen::Index x = 0; x < pixel_count; ++x) {
          sum += weight(x, c, cells, pixel_count, grid.margin);
        }
        most = std::max(most, sum);
      }
      return most;
    };
    heaviest = std::max(heaviest, largest(grid.rows, rows) * largest(grid.columns, columns));
  }
  const long long most = (255LL << (4 * settings.smoothing)) * 1450;
  int shift = 0;
  while (((most >> shift) + 1) * heaviest > 0xffffffffLL) ++shift;

  const int n = settings.orientations;
  const int bends = settings.bends;
  std::vector<long long> cells;
  for (const bpm::FeatureGrid& grid : settings.grids) {
    std::vector<long long> sums(static_cast<std::size_t>(grid.rows * grid.columns * bends * n));
    for (Eigen::Index y = 0; y < rows; ++y) {
      for (Eigen::Index x = 0; x < columns; ++x) {
        const long long gx = at(image, y, x + 1) - at(image, y, x - 1);
        const long long gy = at(image, y + 1, x) - at(image, y - 1, x);
        const long long xx = at(image, y, x + 1) - 2 * at(image, y, x) + at(image, y, x - 1);
        const long long yy = at(image, y + 1, x) - 2 * at(image, y, x) + at(image, y - 1, x);
        const long long xy4 = at(image, y + 1, x + 1) - at(image, y + 1, x - 1) -
                              at(image, y - 1, x + 1) + at(image, y - 1, x - 1);
        const long long norm2 = gx * gx + gy * gy + (400LL << (8 * settings.smoothing));
        const auto norm = static_cast<long long>(std::floor(std::sqrt(static_cast<double>(norm2))));
        const long long half = 16LL * (bends - 1);
        const long long bend =
            half + std::clamp(3 * half * (2 * xx * gy * gy - xy4 * gx * gy + 2 * yy * gx * gx) /
                                  (norm2 * norm),
                              -half, half);
        for (int k = 0; k < n; ++k) {
          const double step = 2 * 3.14159265358979324 / n;
          const auto unit = [&](int j, bool of_y) {
            return std::llround(1024 * (of_y ? std::sin(step * j) : std::cos(step * j)));
          };
          const long long left = gx * unit(k + 1, true) - gy * unit(k + 1, false);
          const long long right = gy * unit(k - 1, false) - gx * unit(k - 1, true);
          const long long rounding = shift == 0 ? 0 : 1LL << (shift - 1);
          const long long part = (std::max(0LL, std::min(left, right)) + rounding) >> shift;
          const auto lower = bends == 1 ? 0 : std::min<long long>(bend / 32, bends - 2);
          const long long second = bends == 1 ? 0 : (part * (bend - 32 * lower) + 16) / 32;
          for (Eigen::Index i = 0; i < grid.rows; ++i) {
            for (Eigen::Index j = 0; j < grid.columns; ++j) {
              const long long w = weight(y, i, grid.rows, rows, grid.margin) *
                                  weight(x, j, grid.columns, columns, grid.margin);
              const auto first =
                  static_cast<std::size_t>(((i * grid.columns + j) * bends + lower) * n + k);
              sums[first] += w * (part - second);
              if (bends > 1) sums[first + static_cast<std::size_t>(n)] += w * second;
            }
          }
        }
      }
    }
    cells.insert(cells.end(), sums.begin(), sums.end());
  }
  // norm sqrt(cell / total), rounded; under the root a whole number, by a quotient of 32 bits.
  long long total = 0;
  for (const long long cell : cells) total += cell;
  int up = 0;
  int down = 0;
  while (total > 0 && (total << up) < (1LL << 31)) ++up;
  while ((total >> down) >= (1LL << 32)) ++down;
  const long long scaled_total = (total << up) >> down;
  std::vector<int> features;
  for (const long long cell : cells) {
    if (total == 0) {
      features.push_back(0);
      continue;
    }
    const auto quotient = (static_cast<std::uint64_t>(settings.norm * settings.norm) << 32U) /
                          static_cast<std::uint64_t>(scaled_total);
    const std::uint64_t square =
        (static_cast<std::uint64_t>((cell << up) >> down) * quotient) >> 32U;
    features.push_back(
        std::min(255, static_cast<int>(std::lround(std::sqrt(static_cast<double>(square))))));
  }
  return features;
}

std::vector<int> as_numbers(const Bytes& features, Eigen::Index row) {
  std::vector<int> numbers;
  for (Eigen::Index k = 0; k < features.cols(); ++k) numbers.push_back(features(row, k));
  return numbers;
}

/// The sum of the squares of all features in one direction, or of one class of bends.
template <class Wanted>
long long energy(const std::vector<int>& features, const bpm::GradientSettings& settings,
                 Wanted&& wanted) {
  long long sum = 0;
  for (std::size_t k = 0; k < features.size(); ++k) {
    const int direction = static_cast<int>(k) % settings.orientations;
    const int bend = static_cast<int>(k) / settings.orientations % settings.bends;
    if (wanted(direction, bend)) sum += static_cast<long long>(features[k]) * features[k];
  }
  return sum;
}

}  // namespace

TEST_CASE("an image without gradient has features of zero", "[images]") {
  const bpm::GradientFeatures features({5, 6}, {.grids = {{2, 3, 0}}});
  const Bytes images = Bytes::Constant(3, 30, 77);
  CHECK(features.size() == 2 * 3 * 8 * 5);
  CHECK(features(images) == Bytes::Zero(3, 240));
}

TEST_CASE("gradient features are what the formulas say", "[images]") {
  struct Case {
    bpm::ImageShape shape;
    bpm::GradientSettings settings;
  };
  const std::vector<Case> cases{
      {{28, 28}, {}},
      {{28, 28}, {.grids = {{7, 7, 0}}, .orientations = 12, .bends = 1, .smoothing = 0}},
      {{13, 21}, {.grids = {{3, 5, 1}}, .orientations = 16, .bends = 3, .smoothing = 2}},
      {{9, 8}, {.grids = {{4, 4, 0}, {2, 1, 2}}, .orientations = 4, .bends = 9, .norm = 300}},
      {{1, 7}, {.grids = {{1, 3, 0}}, .bends = 3, .smoothing = 1}},
      {{6, 1}, {.grids = {{2, 1, 0}}, .bends = 5, .smoothing = 0}},
  };
  for (const auto& [shape, settings] : cases) {
    CAPTURE(shape.rows, shape.columns);
    const Bytes images = blobs(4, shape, 7);
    const bpm::GradientFeatures gradients(shape, settings);
    const Bytes features = gradients(images);
    for (Eigen::Index i = 0; i < images.rows(); ++i) {
      CHECK(as_numbers(features, i) == features_by_formula(images.row(i).data(), shape, settings));
    }
  }
}

TEST_CASE("turned by a quarter, an image has its directions and cells turned", "[images]") {
  const bpm::ImageShape shape{20, 20};
  const bpm::GradientSettings settings{.grids = {{3, 3, 1}}, .orientations = 12, .bends = 5};
  const Bytes images = blobs(6, shape, 3);
  Bytes turned(images.rows(), images.cols());
  Bytes negative = 255 - images.array();
  for (Eigen::Index i = 0; i < images.rows(); ++i) {
    for (Eigen::Index y = 0; y < 20; ++y) {
      for (Eigen::Index x = 0; x < 20; ++x) {
        turned(i, x * 20 + 19 - y) = images(i, y * 20 + x);  // (x, y) to (-y, x).
      }
    }
  }
  const bpm::GradientFeatures gradients(shape, settings);
  const Bytes features = gradients(images);
  const Bytes of_turned = gradients(turned);
  const Bytes of_negative = gradients(negative);
  for (Eigen::Index i = 0; i < images.rows(); ++i) {
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        for (int bend = 0; bend < 5; ++bend) {
          for (int k = 0; k < 12; ++k) {
            const auto place = [&](int r, int c, int b, int d) {
              return ((r * 3 + c) * 5 + b) * 12 + d % 12;
            };
            const int here = features(i, place(row, column, bend, k));
            CHECK(of_turned(i, place(column, 2 - row, bend, k + 3)) == here);
            // Halves are rounded to one side.
            CHECK(std::abs(of_negative(i, place(row, column, 4 - bend, k + 6)) - here) <= 1);
          }
        }
      }
    }
  }
}

TEST_CASE("edges have their direction, discs their bend", "[images]") {
  const bpm::ImageShape shape{24, 24};
  const bpm::GradientSettings settings{};
  const bpm::GradientFeatures gradients(shape, settings);
  Bytes images = Bytes::Zero(3, shape.size());
  for (Eigen::Index y = 0; y < 24; ++y) {
    for (Eigen::Index x = 0; x < 24; ++x) {
      images(0, y * 24 + x) = x >= 12 ? 200 : 0;  // Brighter to the right: direction 0.
      const double r = std::hypot(static_cast<double>(y) - 11.5, static_cast<double>(x) - 11.5);
      images(1, y * 24 + x) =
          static_cast<std::uint8_t>(std::clamp(255 * (5 - r) + 128, 0.0, 255.0));
      images(2, y * 24 + x) = static_cast<std::uint8_t>(255 - images(1, y * 24 + x));
    }
  }
  const Bytes features = gradients(images);
  const auto all = [](int, int) { return true; };
  const auto edge = as_numbers(features, 0);
  CHECK(energy(edge, settings, [](int direction, int bend) {
          return direction == 0 && bend == 2;
        }) == energy(edge, settings, all));
  const auto bright = as_numbers(features, 1);
  const auto dark = as_numbers(features, 2);
  // A radius of five: 3 kappa is -0.6, between the first two classes.
  CHECK(energy(bright, settings, [](int, int bend) { return bend <= 1; }) >
        0.75 * static_cast<double>(energy(bright, settings, all)));
  CHECK(energy(dark, settings, [](int, int bend) { return bend >= 3; }) >
        0.75 * static_cast<double>(energy(dark, settings, all)));
}

TEST_CASE("features move with the image by whole cells, and hardly change with contrast",
          "[images]") {
  const bpm::ImageShape shape{30, 30};
  const bpm::GradientSettings settings{.grids = {{5, 5, 0}}};
  const Bytes small = blobs(5, {12, 12}, 11);
  Bytes images = Bytes::Zero(5, shape.size());
  Bytes moved = images;
  Bytes faint = images;
  for (Eigen::Index i = 0; i < 5; ++i) {
    for (Eigen::Index y = 0; y < 12; ++y) {
      for (Eigen::Index x = 0; x < 12; ++x) {
        const std::uint8_t pixel = small(i, y * 12 + x);
        images(i, (y + 5) * 30 + x + 5) = pixel;
        faint(i, (y + 5) * 30 + x + 5) = pixel / 2;
        moved(i, (y + 11) * 30 + x + 11) = pixel;  // A cell is six pixels wide.
      }
    }
  }
  const bpm::GradientFeatures gradients(shape, settings);
  const Bytes features = gradients(images);
  const Bytes of_moved = gradients(moved);
  const Bytes of_faint = gradients(faint);
  for (Eigen::Index i = 0; i < 5; ++i) {
    for (Eigen::Index row = 0; row < 4; ++row) {
      const Eigen::Index count = 4 * 40;
      CHECK(of_moved.row(i).segment((row + 1) * 200 + 40, count) ==
            features.row(i).segment(row * 200, count));
    }
    const auto a = features.row(i).cast<double>();
    const auto b = of_faint.row(i).cast<double>();
    CHECK(a.dot(b) > 0.9 * a.norm() * b.norm());
    CHECK(std::abs(a.norm() - 700) < 10);
  }
}

TEST_CASE("features are the same on any threads and one by one, and with every compiler",
          "[images]") {
  const bpm::ImageShape shape{28, 28};
  const Bytes images = blobs(500, shape, 1);
  Bytes all(1000, shape.size());
  const bpm::VirtualExamples examples(shape, images, bpm::Deformation{}, 9);
  examples.fill(examples.all(0, 2), all);
  const bpm::GradientFeatures gradients(shape);
  const Bytes features = gradients(all, 1);
  CHECK(features == gradients(all, 3));
  auto scratch = gradients.scratch();
  std::vector<std::uint8_t> one(static_cast<std::size_t>(gradients.size()));
  for (const Eigen::Index i : {999, 0, 500}) {
    gradients(all.row(i).data(), one.data(), scratch);
    CHECK(std::equal(one.begin(), one.end(), features.row(i).data()));
  }
  bpm::detail::WordHash hash;
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    std::uint64_t word = 0;
    for (Eigen::Index k = 0; k < features.cols(); ++k) {
      word = word * 257 + features(i, k);  // Whatever the order of bytes.
    }
    hash.add(word);
  }
  CHECK(hash.value() == 0x2c9293e73607dd0eU);
}

TEST_CASE("gradient features that cannot be are refused", "[images]") {
  using test_support::message_of;
  const auto made = [](bpm::ImageShape shape, const bpm::GradientSettings& settings) {
    return message_of([&] { static_cast<void>(bpm::GradientFeatures(shape, settings)); });
  };
  CHECK(made({0, 5}, {}) == "GradientFeatures: shape is 0 x 5, must be 1 to 4096 rows and columns");
  CHECK(made({28, 28}, {.orientations = 6}) ==
        "GradientFeatures: orientations is 6, must be 4, 8, 12 or 16");
  CHECK(made({28, 28}, {.bends = 4}) == "GradientFeatures: bends is 4, must be 1, 3, 5, 7 or 9");
  CHECK(made({28, 28}, {.smoothing = 3}) == "GradientFeatures: smoothing is 3, must be 0, 1 or 2");
  CHECK(made({28, 28}, {.norm = 0}) == "GradientFeatures: norm is 0, must be 1 to 4000");
  CHECK(made({28, 28}, {.grids = {}}) ==
        "GradientFeatures: grids has 0 entries, must have 1 to 16");
  CHECK(made({28, 28}, {.grids = std::vector<bpm::FeatureGrid>(17)}) ==
        "GradientFeatures: grids has 17 entries, must have 1 to 16");
  CHECK(made({4000, 4000}, {.grids = {{1000, 1000, 0}}, .bends = 3}) ==
        "GradientFeatures: grids make 24000000 features, must make 2^20 or fewer");
  CHECK(made({28, 28}, {.grids = {{4, 25, 2}}}) ==
        "GradientFeatures: grids has one of 4 x 25 cells, margin 2, must be 1 x 1 to as many as "
        "there are pixels inside the margin");
  CHECK(made({5, 5}, {.grids = {{1, 1, PTRDIFF_MAX}}}).find("margin 9223372036854775807") !=
        std::string::npos);
  const bpm::GradientFeatures gradients({4, 4}, {.grids = {{2, 2, 0}}});
  CHECK(message_of([&] { static_cast<void>(gradients(Bytes::Zero(2, 15))); }) ==
        "GradientFeatures: images has 15 bytes a row, expected 16 (4 x 4)");
}
