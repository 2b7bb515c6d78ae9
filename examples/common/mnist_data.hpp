// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/data/gzip.hpp"
#include "bpm/data/idx.hpp"
#include "bpm/data/source.hpp"
#include "bpm/images/image_shape.hpp"
#include "drawn_digits.hpp"

/// \file
/// Digits for the programs: MNIST where it is found, else drawn ones, which never pass for MNIST.

namespace bpm_examples {

/// The four files of MNIST.
struct MnistFiles {
  std::filesystem::path folder;
  std::filesystem::path train_images;
  std::filesystem::path train_labels;
  std::filesystem::path test_images;
  std::filesystem::path test_labels;
};

/// Training and test digits, or other one-channel images in files of the same names, one a row of
/// bytes, and where they come from.
struct Digits {
  bpm::LabelledData<bpm::RowMatrix<std::uint8_t>> train;
  bpm::LabelledData<bpm::RowMatrix<std::uint8_t>> test;
  bpm::ImageShape shape{digit_side, digit_side};
  bool drawn = false;
  std::string source;  ///< One line for the screen.

  /// "mnist", "drawn", or "images" where they have not the shape or the classes of MNIST.
  [[nodiscard]] const char* name() const noexcept {
    if (drawn) return "drawn";
    const auto is_digit = [](int label) { return label <= 9; };
    return shape == bpm::ImageShape{digit_side, digit_side} &&
                   std::ranges::all_of(train.labels, is_digit)
               ? "mnist"
               : "images";
  }
};

inline constexpr Eigen::Index mnist_train_size = 60000;
inline constexpr Eigen::Index mnist_test_size = 10000;

namespace mnist_detail {

/// The file, plain or with ".gz", with "-" or "." before "idx", as it is found in the wild.
[[nodiscard]] inline std::filesystem::path find_file(const std::filesystem::path& folder,
                                                     const std::string& stem,
                                                     const std::string& type) {
  for (const char* suffix : {"", ".gz"}) {
    for (const char* joint : {"-", "."}) {
      auto candidate = folder / std::string(stem).append(joint).append(type).append(suffix);
      std::error_code ignored;
      if (std::filesystem::is_regular_file(candidate, ignored)) {
        return candidate;
      }
    }
  }
  return {};
}

[[nodiscard]] inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Where a cache of downloads lies by the XDG convention; empty where there is no home.
[[nodiscard]] inline std::filesystem::path cache_folder() {
  const std::filesystem::path cache = environment("XDG_CACHE_HOME");
  if (cache.is_absolute()) {
    return cache / "bpm";
  }
  const std::filesystem::path home = environment("HOME");
  return home.empty() ? std::filesystem::path() : home / ".cache" / "bpm";
}

/// Keeps the first `count`. Throws where there are fewer.
inline void take_first(bpm::LabelledData<bpm::RowMatrix<std::uint8_t>>& digits, Eigen::Index count,
                       const std::string& option, const std::filesystem::path& images) {
  if (count > digits.inputs.rows()) {
    throw std::invalid_argument(option + " asks for " + std::to_string(count) + " digits, " +
                                images.string() + " holds " + std::to_string(digits.inputs.rows()));
  }
  if (count < digits.inputs.rows()) {
    digits.inputs = bpm::RowMatrix<std::uint8_t>(digits.inputs.topRows(count));
    digits.labels.resize(static_cast<std::size_t>(count));
  }
}

/// The shape of the images in a file.
[[nodiscard]] inline bpm::ImageShape shape_of(const std::filesystem::path& images) {
  const auto sizes = bpm::read_idx_sizes(bpm::GzipFile{images});
  return {static_cast<Eigen::Index>(sizes.at(1)), static_cast<Eigen::Index>(sizes.at(2))};
}

}  // namespace mnist_detail

/// MNIST in the folder's subfolder mnist/ or in the folder itself; absent unless all four files are
/// there.
[[nodiscard]] inline std::optional<MnistFiles> mnist_in(const std::filesystem::path& folder) {
  for (const auto& place : {folder / "mnist", folder}) {
    MnistFiles files{place, mnist_detail::find_file(place, "train-images", "idx3-ubyte"),
                     mnist_detail::find_file(place, "train-labels", "idx1-ubyte"),
                     mnist_detail::find_file(place, "t10k-images", "idx3-ubyte"),
                     mnist_detail::find_file(place, "t10k-labels", "idx1-ubyte")};
    if (!files.train_images.empty() && !files.train_labels.empty() && !files.test_images.empty() &&
        !files.test_labels.empty()) {
      return files;
    }
  }
  return std::nullopt;
}

/// Where the programs look for data: `data`, what --data named, and nowhere else if it is given;
/// else the folder of the environment's BPM_DATA_DIR, then ${XDG_CACHE_HOME:-~/.cache}/bpm.
/// Throws `std::invalid_argument` if --data names no folder.
[[nodiscard]] inline std::vector<std::filesystem::path> data_places(
    const std::filesystem::path& data) {
  if (!data.empty()) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(data, ignored)) {
      throw std::invalid_argument("--data: there is no folder '" + data.string() + "'");
    }
    return {data};
  }
  std::vector<std::filesystem::path> places;
  if (auto named = mnist_detail::environment("BPM_DATA_DIR"); !named.empty()) {
    places.emplace_back(std::move(named));
  }
  if (auto cache = mnist_detail::cache_folder(); !cache.empty()) {
    places.push_back(std::move(cache));
  }
  return places;
}

/// The first `train` training and the first `test` test digits of MNIST (none: the files of these
/// are not opened), if it is found in `data_places(data)`; else as many drawn digits. The drawn
/// ones do not depend on a program's seed: runs with different seeds see the same data. Where
/// BPM_DATA_DIR names a folder without MNIST, a line on standard error says so. Throws
/// `std::invalid_argument` for a count out of range or above what the files hold, or a folder
/// `data` that is not there or without MNIST, and `bpm::DataError` for files that are no images and
/// labels, or images of different shapes.
[[nodiscard]] inline Digits load_digits(const std::filesystem::path& data,
                                        Eigen::Index train = mnist_train_size,
                                        Eigen::Index test = mnist_test_size, int threads = 1) {
  // Far beyond any training set, so that the test digits do not depend on its size.
  constexpr std::uint64_t first_test_digit = 1'000'000'000;
  constexpr std::uint64_t drawing_seed = 1;
  const auto check_count = [&](Eigen::Index count, Eigen::Index least, const char* option) {
    if (count < least || count >= static_cast<Eigen::Index>(first_test_digit)) {
      throw std::invalid_argument(std::string(option) + " is " + std::to_string(count) +
                                  ", must be from 1 to 999999999");
    }
  };
  check_count(train, 1, "--train");
  check_count(test, 0, "--test");
  Digits digits;
  std::string searched;
  for (const auto& place : data_places(data)) {
    if (const auto files = mnist_in(place)) {
      digits.train = bpm::read_idx_images(bpm::GzipFile{files->train_images},
                                          bpm::GzipFile{files->train_labels});
      digits.shape = mnist_detail::shape_of(files->train_images);
      mnist_detail::take_first(digits.train, train, "--train", files->train_images);
      digits.source = (std::string(digits.name()) == "mnist"
                           ? "MNIST, "
                           : "images of " + std::to_string(digits.shape.rows) + " x " +
                                 std::to_string(digits.shape.columns) + ", ") +
                      files->folder.string();
      if (test == 0) return digits;
      digits.test = bpm::read_idx_images(bpm::GzipFile{files->test_images},
                                         bpm::GzipFile{files->test_labels});
      if (const auto shape = mnist_detail::shape_of(files->test_images); shape != digits.shape) {
        throw bpm::DataError(files->test_images.string() + ": images of " +
                             std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
                             ", the training images have " + std::to_string(digits.shape.rows) +
                             " x " + std::to_string(digits.shape.columns));
      }
      mnist_detail::take_first(digits.test, test, "--test", files->test_images);
      return digits;
    }
    if (!data.empty()) {
      throw std::invalid_argument("--data: MNIST is not in '" + place.string() +
                                  "' nor in a folder mnist there: all of train-images-idx3-ubyte, "
                                  "train-labels-idx1-ubyte and the two of t10k, packed or not");
    }
    if (place == mnist_detail::environment("BPM_DATA_DIR")) {
      std::cerr << "BPM_DATA_DIR: MNIST is not in '" << place.string()
                << "'; going on as if it were unset\n";
    }
    searched += (searched.empty() ? "" : ", ") + place.string();
  }
  digits.drawn = true;
  digits.source = "drawn digits, NOT MNIST (not found in: " +
                  (searched.empty() ? "no folder known" : searched) + ")";
  auto drawn_train = draw_digits(train, drawing_seed, 0, threads);
  digits.train = {std::move(drawn_train.images), std::move(drawn_train.labels)};
  if (test == 0) return digits;
  auto drawn_test = draw_digits(test, drawing_seed, first_test_digit, threads);
  digits.test = {std::move(drawn_test.images), std::move(drawn_test.labels)};
  return digits;
}

/// Of the first 50 000 training digits block `fold`, 1 to 5, of 10 000 in the place of test digits,
/// and the other 40 000 to train with. Neither the last 10 000 nor the test digits are looked at.
/// Throws as `load_digits`.
[[nodiscard]] inline Digits load_fold(const std::filesystem::path& data, int fold, int threads) {
  constexpr Eigen::Index block = 10000;
  constexpr Eigen::Index blocks = 5;
  Digits all = load_digits(data, blocks * block, 0, threads);
  const Eigen::Index begin = (fold - 1) * block;
  Digits digits;
  digits.drawn = all.drawn;
  digits.source = all.source;
  digits.shape = all.shape;
  digits.test.inputs = all.train.inputs.middleRows(begin, block);
  digits.train.inputs.resize((blocks - 1) * block, all.train.inputs.cols());
  digits.train.inputs << all.train.inputs.topRows(begin),
      all.train.inputs.bottomRows((blocks - 1) * block - begin);
  const auto first = all.train.labels.begin() + begin;
  digits.test.labels.assign(first, first + block);
  all.train.labels.erase(first, first + block);
  digits.train.labels = std::move(all.train.labels);
  return digits;
}

}  // namespace bpm_examples
