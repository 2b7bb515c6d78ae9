// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/images/image_shape.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Features of one-channel images: sums of gradients by direction and bend in each cell (after N.
/// Dalal, B. Triggs, CVPR 2005). The image is smoothed; cross products divide its gradient,
/// differences of neighbours, between the two nearest directions, and the curvature of the line of
/// equal brightness (`scaled_curvature`) divides it between two classes of bends; then follow sums
/// over triangular cells, square roots, one norm, and rounding to bytes. All in integers: the same
/// bytes with every compiler. An image without gradient has zeros. Cost: 20 us for 28 x 28 pixels.
class GradientFeatures {
 public:
  /// \throws std::invalid_argument on an image without pixels or with a side above 4096, and on
  ///         settings out of range.
  explicit GradientFeatures(ImageShape image, GradientSettings settings = {})
      : image_(image), settings_(std::move(settings)) {
    const char* const name = "GradientFeatures";
    detail::check_shape(name, image_);
    const int n = settings_.orientations;
    detail::check(n >= 4 && n <= 16 && n % 4 == 0, name, "orientations", "is ", n,
                  ", must be 4, 8, 12 or 16");
    const int bends = settings_.bends;
    detail::check(bends >= 1 && bends <= 9 && bends % 2 == 1, name, "bends", "is ", bends,
                  ", must be 1, 3, 5, 7 or 9");
    detail::check(settings_.smoothing >= 0 && settings_.smoothing <= 2, name, "smoothing", "is ",
                  settings_.smoothing, ", must be 0, 1 or 2");
    detail::check(settings_.norm >= 1 && settings_.norm <= 4000, name, "norm", "is ",
                  settings_.norm, ", must be 1 to 4000");
    detail::check(!settings_.grids.empty() && settings_.grids.size() <= 16, name, "grids", "has ",
                  settings_.grids.size(), " entries, must have 1 to 16");
    // In doubles, which hold sums of products of any sides.
    double features = 0;
    for (const FeatureGrid& grid : settings_.grids) {
      const Eigen::Index side = std::min(image_.rows, image_.columns);
      detail::check(grid.margin >= 0 && grid.margin < side && grid.rows >= 1 && grid.columns >= 1 &&
                        grid.rows <= image_.rows - 2 * grid.margin &&
                        grid.columns <= image_.columns - 2 * grid.margin,
                    name, "grids", "has one of ", grid.rows, " x ", grid.columns, " cells, margin ",
                    grid.margin,
                    ", must be 1 x 1 to as many as there are pixels inside the margin");
      features += static_cast<double>(grid.rows) * static_cast<double>(grid.columns) * n * bends;
    }
    constexpr double most_features = 1 << 20;
    detail::check(features <= most_features, name, "grids", "make ", features,
                  " features, must make 2^20 or fewer");
    plan();
  }

  /// The shape of the images.
  [[nodiscard]] const ImageShape& image() const noexcept { return image_; }
  /// The settings of the features.
  [[nodiscard]] const GradientSettings& settings() const noexcept { return settings_; }

  /// Number of features of an image.
  [[nodiscard]] Eigen::Index size() const noexcept { return size_; }

  /// Memory for the work on one image; each thread needs one.
  class Scratch {
    friend class GradientFeatures;
    std::vector<std::int32_t> smooth, half, down, across;
    std::vector<std::uint32_t> row, cells;
  };

  /// Returns memory for images of this shape.
  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    const auto pixels = static_cast<std::size_t>(image_.size());
    s.smooth.resize(pixels);
    s.half.resize(pixels);
    s.across.resize(static_cast<std::size_t>(image_.columns));
    s.down.resize(static_cast<std::size_t>(image_.columns));
    s.row.resize(row_size_);
    s.cells.resize(cells_size_);
    return s;
  }

  /// Computes the features of one image, from `image().size()` bytes to `size()` bytes.
  void operator()(const std::uint8_t* pixels, std::uint8_t* features, Scratch& scratch) const {
    smooth(pixels, scratch);
    lanes_ == 8 ? pool<8>(scratch) : pool<16>(scratch);
    round(scratch, features);
  }

  /// Returns the features of images, one per row, on `threads` threads (0: as many as the machine
  /// runs). \throws std::invalid_argument on rows of another length, or `threads` above 4096.
  [[nodiscard]] RowMatrix<std::uint8_t> operator()(const RowMatrix<std::uint8_t>& images,
                                                   unsigned threads = 0) const {
    detail::check_images("GradientFeatures", images, image_);
    const unsigned workers = detail::image_workers(threads, images.rows(), "GradientFeatures");
    RowMatrix<std::uint8_t> features(images.rows(), size_);
    std::vector<Scratch> memory(workers, scratch());
    detail::for_each_image(workers, images.rows(), [&](unsigned worker, Eigen::Index i) {
      (*this)(images.row(i).data(), features.row(i).data(), memory[worker]);
    });
    return features;
  }

  /// Returns whether both make the same features of an image.
  friend bool operator==(const GradientFeatures& a, const GradientFeatures& b) {
    return a.image_ == b.image_ && a.settings_ == b.settings_;
  }

 private:
  static constexpr int weight_one = 32;  ///< Weight of a pixel at the centre of a cell.
  static constexpr int max_lanes = 16;
  static constexpr int bend_one = 32;  ///< Weight of a gradient in one class of bends alone.

  /// Returns how many numbers a cell takes in memory.
  [[nodiscard]] int cell_size() const { return settings_.bends * lanes_; }

  /// Weights of a pixel's row or column in the cells: `here` in `cell`, `next` in the one after.
  struct Share {
    std::uint32_t cell;
    std::uint32_t here;
    std::uint32_t next;
  };
  struct Grid {
    std::vector<Share> down, across;
    std::size_t row_begin;  ///< Begin of the grid in Scratch::row.
    std::size_t row_size;   ///< Numbers in a row of cells, with one more cell, never read.
    std::size_t begin;      ///< Begin of the grid in Scratch::cells.
  };

  /// Returns weights by triangles about the centres of `cells` equal parts of the pixels inside the
  /// margin; a triangle is two parts wide.
  [[nodiscard]] static std::vector<Share> shares(Eigen::Index pixels, Eigen::Index cells,
                                                 Eigen::Index margin) {
    std::vector<Share> result;
    const Eigen::Index inside = pixels - 2 * margin;
    for (Eigen::Index x = 0; x < pixels; ++x) {
      // In units of 1 / (2 cells) pixel, a part is 2 `inside` wide.
      const Eigen::Index at = (2 * (x - margin) + 1) * cells;
      const auto weight = [&](Eigen::Index cell) {
        const Eigen::Index width = 2 * inside;
        const Eigen::Index distance = std::abs(at - (2 * cell + 1) * inside);
        return static_cast<std::uint32_t>(distance >= width || cell >= cells
                                              ? 0
                                              : (2 * weight_one * (width - distance) + width) /
                                                    (2 * width));
      };
      const Eigen::Index first =
          std::clamp<Eigen::Index>((at - inside) / (2 * inside), 0, cells - 1);
      result.push_back({static_cast<std::uint32_t>(first), weight(first), weight(first + 1)});
    }
    return result;
  }

  void plan() {
    lanes_ = settings_.orientations <= 8 ? 8 : 16;
    // 1024 times the sine of multiples of 1/48 turn.
    constexpr std::array<int, 13> sine{0,   134, 265, 392, 512,  623, 724,
                                       812, 887, 946, 989, 1015, 1024};
    const auto sine_of = [&](int step) {
      const int turn = ((step % 48) + 48) % 48;
      const int half = turn % 24;
      const int value = sine[static_cast<std::size_t>(half <= 12 ? half : 24 - half)];
      return turn < 24 ? value : -value;
    };
    const int step = 48 / settings_.orientations;
    for (int k = 0; k < settings_.orientations; ++k) {
      const auto lane = static_cast<std::size_t>(k);
      after_x_[lane] = sine_of(step * (k + 1) + 12);
      after_y_[lane] = sine_of(step * (k + 1));
      before_x_[lane] = sine_of(step * (k - 1) + 12);
      before_y_[lane] = sine_of(step * (k - 1));
    }
    size_ = 0;
    row_size_ = cells_size_ = 0;
    std::uint64_t heaviest = 1;
    for (const FeatureGrid& cells : settings_.grids) {
      Grid grid;
      grid.down = shares(image_.rows, cells.rows, cells.margin);
      grid.across = shares(image_.columns, cells.columns, cells.margin);
      grid.row_begin = row_size_;
      grid.row_size = static_cast<std::size_t>((cells.columns + 1) * cell_size());
      grid.begin = cells_size_;
      row_size_ += grid.row_size;
      cells_size_ += grid.row_size * static_cast<std::size_t>(cells.rows + 1);
      size_ += cells.rows * cells.columns * settings_.orientations * settings_.bends;
      heaviest = std::max(heaviest,
                          weight_of(grid.down, cells.rows) * weight_of(grid.across, cells.columns));
      grids_.push_back(std::move(grid));
    }
    // The largest part of a gradient in a bin, with room for the rounding of the table.
    const std::uint64_t most = (std::uint64_t{255} << (4 * settings_.smoothing)) * 1450;
    shift_ = 0;
    while (((most >> shift_) + 1) * heaviest > 0xffffffffU) ++shift_;
  }

  /// Returns the largest sum of a cell's weights.
  [[nodiscard]] static std::uint64_t weight_of(const std::vector<Share>& parts,
                                               Eigen::Index cells) {
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(cells + 1));
    for (const Share& part : parts) {
      sums[part.cell] += part.here;
      sums[part.cell + 1] += part.next;
    }
    return *std::max_element(sums.begin(), sums.end());
  }

  /// Computes the smoothed image times 16^passes, with its edge repeated outside.
  void smooth(const std::uint8_t* pixels, Scratch& s) const {
    const Eigen::Index rows = image_.rows;
    const Eigen::Index columns = image_.columns;
    std::copy_n(pixels, image_.size(), s.smooth.data());
    for (int pass = 0; pass < settings_.smoothing; ++pass) {
      for (Eigen::Index y = 0; y < rows; ++y) {
        const std::int32_t* const middle = s.smooth.data() + y * columns;
        const std::int32_t* const above = y > 0 ? middle - columns : middle;
        const std::int32_t* const below = y + 1 < rows ? middle + columns : middle;
        std::int32_t* const out = s.half.data() + y * columns;
        for (Eigen::Index x = 0; x < columns; ++x) out[x] = above[x] + 2 * middle[x] + below[x];
      }
      for (Eigen::Index y = 0; y < rows; ++y) {
        const std::int32_t* const in = s.half.data() + y * columns;
        std::int32_t* const out = s.smooth.data() + y * columns;
        if (columns == 1) {
          out[0] = 4 * in[0];
          continue;
        }
        out[0] = 3 * in[0] + in[1];
        for (Eigen::Index x = 1; x + 1 < columns; ++x) out[x] = in[x - 1] + 2 * in[x] + in[x + 1];
        out[columns - 1] = in[columns - 2] + 3 * in[columns - 1];
      }
    }
  }

  /// Computes gradients, divides them between directions and sums them in cells.
  template <int lanes>
  void pool(Scratch& s) const {
    const Eigen::Index rows = image_.rows;
    const Eigen::Index columns = image_.columns;
    std::fill(s.cells.begin(), s.cells.end(), 0U);
    const std::int32_t half = shift_ == 0 ? 0 : std::int32_t{1} << (shift_ - 1);
    for (Eigen::Index y = 0; y < rows; ++y) {
      const std::int32_t* const middle = s.smooth.data() + y * columns;
      const std::int32_t* const above = y > 0 ? middle - columns : middle;
      const std::int32_t* const below = y + 1 < rows ? middle + columns : middle;
      std::int32_t* const down = s.down.data();
      std::int32_t* const across = s.across.data();
      std::int32_t any = 0;
      for (Eigen::Index x = 0; x < columns; ++x) {
        down[x] = below[x] - above[x];
        any |= down[x];
      }
      across[0] = columns > 1 ? middle[1] - middle[0] : 0;
      any |= across[0];
      for (Eigen::Index x = 1; x + 1 < columns; ++x) {
        across[x] = middle[x + 1] - middle[x - 1];
        any |= across[x];
      }
      if (columns > 1) across[columns - 1] = middle[columns - 1] - middle[columns - 2];
      any |= across[columns - 1];
      if (any == 0) continue;

      std::fill(s.row.begin(), s.row.end(), 0U);
      for (Eigen::Index x = 0; x < columns; ++x) {
        const std::int32_t gx = across[x];
        const std::int32_t gy = down[x];
        if ((gx | gy) == 0) continue;
        // With unit vectors d_k, g = a d_k + b d_(k+1) in the sector between them, where a and b
        // are cross products; in any other sector a bin has a negative cross product.
        std::uint32_t parts[2 * std::size_t(lanes)];
        for (std::size_t k = 0; k < lanes; ++k) {
          const std::int32_t left = gx * after_y_[k] - gy * after_x_[k];
          const std::int32_t right = gy * before_x_[k] - gx * before_y_[k];
          parts[k] =
              static_cast<std::uint32_t>((std::max(0, std::min(left, right)) + half) >> shift_);
        }
        if (settings_.bends == 1) {
          add_parts<lanes>(s, x, 0, parts);
          continue;
        }
        // Divides the gradient between two classes, adjacent in memory. The class of bend, in units
        // of 1 / bend_one: 3 kappa, clamped to +-1, spans all classes.
        const int most = bend_one * (settings_.bends - 1) / 2;
        const int bend = most + detail::scaled_curvature({above, middle, below}, x, columns, gx, gy,
                                                         settings_.smoothing, 3 * most, most);
        const int lower = std::min(bend / bend_one, settings_.bends - 2);
        const auto upper = static_cast<std::uint32_t>(bend - lower * bend_one);
        for (int k = 0; k < lanes; ++k) {
          parts[lanes + k] = (parts[k] * upper + bend_one / 2) / bend_one;
          parts[k] -= parts[lanes + k];
        }
        add_parts<2 * lanes>(s, x, lower * lanes, parts);
      }
      for (const Grid& grid : grids_) {
        const Share share = grid.down[static_cast<std::size_t>(y)];
        const std::uint32_t* const from = s.row.data() + grid.row_begin;
        std::uint32_t* const to = s.cells.data() + grid.begin + share.cell * grid.row_size;
        std::uint32_t* const next = to + grid.row_size;
        for (std::size_t i = 0; i < grid.row_size; ++i) to[i] += share.here * from[i];
        for (std::size_t i = 0; i < grid.row_size; ++i) next[i] += share.next * from[i];
      }
    }
  }

  /// Adds a pixel's numbers to the cells of its row, from number `first` of a cell on.
  template <int count>
  void add_parts(Scratch& s, Eigen::Index x, int first, const std::uint32_t* parts) const {
    for (const Grid& grid : grids_) {
      const Share share = grid.across[static_cast<std::size_t>(x)];
      std::uint32_t* const cell = s.row.data() + grid.row_begin +
                                  share.cell * static_cast<std::size_t>(cell_size()) + first;
      std::uint32_t* const next = cell + cell_size();
      for (int k = 0; k < count; ++k) cell[k] += share.here * parts[k];
      for (int k = 0; k < count; ++k) next[k] += share.next * parts[k];
    }
  }

  /// Computes norm sqrt(cell / sum of all cells), rounded to bytes.
  void round(Scratch& s, std::uint8_t* features) const {
    const std::size_t n = static_cast<std::size_t>(settings_.orientations);
    const std::size_t lanes = static_cast<std::size_t>(lanes_);
    // Cells and directions beyond the last have sums of 0.
    const std::uint64_t total = std::accumulate(s.cells.begin(), s.cells.end(), std::uint64_t{0});
    if (total == 0) {
      std::fill_n(features, size_, std::uint8_t{0});
      return;
    }
    // Fractions of the total in units of 2^-32 / 2^(shift of total), at least 31 bits of them.
    const int width = static_cast<int>(std::bit_width(total));
    const int up = std::max(0, 32 - width);
    const int down = std::max(0, width - 32);
    const auto square =
        static_cast<std::uint64_t>(settings_.norm) * static_cast<std::uint64_t>(settings_.norm);
    const std::uint64_t factor = (square << 32U) / ((total << up) >> down);
    for (std::size_t g = 0; g < grids_.size(); ++g) {
      for (Eigen::Index i = 0; i < settings_.grids[g].rows; ++i) {
        // The classes of bends of a row's cells lie one after the other.
        const std::uint32_t* at =
            s.cells.data() + grids_[g].begin + std::size_t(i) * grids_[g].row_size;
        const std::uint32_t* const end = at + grids_[g].row_size - cell_size();
        for (; at < end; at += lanes) {
          for (std::size_t k = 0; k < lanes; ++k) {
            const std::uint64_t cell = (std::uint64_t{at[k]} << up) >> down;
            const std::uint64_t x = std::min<std::uint64_t>((cell * factor) >> 32U, 65280);
            // sqrt(x) rounds to r where r (r - 1) < x <= r (r + 1).
            std::uint32_t root = 0;
            for (std::uint32_t bit = 128; bit > 0; bit /= 2) {
              const std::uint32_t more = root + bit;
              root = more * (more - 1) < x ? more : root;
            }
            if (k < n) *features++ = static_cast<std::uint8_t>(root);
          }
        }
      }
    }
  }

  ImageShape image_;
  GradientSettings settings_;
  int lanes_ = 8;
  int shift_ = 0;
  Eigen::Index size_ = 0;
  std::size_t row_size_ = 0;
  std::size_t cells_size_ = 0;
  std::vector<Grid> grids_;
  std::array<std::int32_t, max_lanes> after_x_{}, after_y_{}, before_x_{}, before_y_{};
};

}}  // namespace bpm
