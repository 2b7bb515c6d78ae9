// SPDX-License-Identifier: MIT
#include "common/mnist_data.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "data.hpp"
#include "temporary_folder.hpp"

namespace fs = std::filesystem;
using bpm_examples::load_digits;
using examples_test::TemporaryFolder;
using examples_test::WithVariable;
using examples_test::write_text;

namespace {

std::string big_endian(std::size_t value) {
  std::string bytes;
  for (unsigned int shift = 32; shift > 0; shift -= 8) {
    bytes += static_cast<char>(value >> (shift - 8) & 0xffU);
  }
  return bytes;
}

std::string images(std::size_t n, std::size_t side) {
  std::string text("\0\0\x08\x03", 4);
  text += big_endian(n) + big_endian(side) + big_endian(side);
  for (std::size_t i = 0; i < n * side * side; ++i) {
    text += static_cast<char>(i * 31 % 251);
  }
  return text;
}

std::string labels(std::size_t n, std::size_t first) {
  std::string text("\0\0\x08\x01", 4);
  text += big_endian(n);
  for (std::size_t i = 0; i < n; ++i) {
    text += static_cast<char>(i == 0 ? first : i % 10);
  }
  return text;
}

/// Four files in the form of MNIST with five training and three test images.
void write_mnist(const fs::path& folder, std::size_t side = 28, std::size_t first_label = 7) {
  write_text(folder / "train-images-idx3-ubyte", images(5, side));
  write_text(folder / "train-labels.idx1-ubyte", labels(5, first_label));
  write_text(folder / "t10k-images-idx3-ubyte", images(3, side));
  write_text(folder / "t10k-labels-idx1-ubyte", labels(3, 4));
}

}  // namespace

TEST_CASE("MNIST is found in the folder or below it", "[examples]") {
  const TemporaryFolder folder;
  const bool below = GENERATE(true, false);
  const fs::path place = below ? folder.path() / "mnist" : folder.path();
  write_mnist(place);
  const auto digits = load_digits(folder.path(), 4, 3);
  CHECK_FALSE(digits.drawn);
  CHECK(std::string(digits.name()) == "mnist");
  CHECK(digits.source == "MNIST, " + place.string());
  CHECK(digits.train.labels == std::vector<int>{7, 1, 2, 3});
  CHECK(digits.test.labels == std::vector<int>{4, 1, 2});
  REQUIRE(digits.train.inputs.rows() == 4);
  REQUIRE(digits.train.inputs.cols() == 784);
  CHECK(int{digits.train.inputs(1, 2)} == (784 + 2) * 31 % 251);
}

TEST_CASE("the environment and the cache are searched when --data is not given", "[examples]") {
  const TemporaryFolder named;
  const TemporaryFolder cache;
  const WithVariable variable("BPM_DATA_DIR", named.path().string());
  const WithVariable xdg("XDG_CACHE_HOME", cache.path().string());
  CHECK(bpm_examples::data_places("") == std::vector<fs::path>{named.path(), cache.path() / "bpm"});
  CHECK(load_digits("", 2, 2).drawn);
  write_mnist(cache.path() / "bpm" / "mnist");
  CHECK(load_digits("", 2, 2).source == "MNIST, " + (cache.path() / "bpm" / "mnist").string());
  write_mnist(named.path() / "mnist");
  CHECK(load_digits("", 2, 2).source == "MNIST, " + (named.path() / "mnist").string());

  const WithVariable none("BPM_DATA_DIR", std::nullopt);
  const WithVariable no_xdg("XDG_CACHE_HOME", std::nullopt);
  const WithVariable home("HOME", "/home/of/nobody");
  CHECK(bpm_examples::data_places("") == std::vector<fs::path>{"/home/of/nobody/.cache/bpm"});
}

TEST_CASE("digits are drawn where MNIST is not found, and it is said", "[examples]") {
  const TemporaryFolder folder;
  write_mnist(folder.path());
  fs::remove(folder.path() / "t10k-labels-idx1-ubyte");
  // A folder that was named by --data is the last word.
  CHECK_THROWS_WITH(load_digits(folder.path(), 20, 10),
                    "--data: MNIST is not in '" + folder.path().string() +
                        "' nor in a folder mnist there: all of train-images-idx3-ubyte, "
                        "train-labels-idx1-ubyte and the two of t10k, packed or not");
  const WithVariable variable("BPM_DATA_DIR", folder.path().string());
  const WithVariable xdg("XDG_CACHE_HOME", std::nullopt);
  const WithVariable home("HOME", std::nullopt);
  std::ostringstream said;
  const auto digits = [&] {
    struct Screen {
      std::streambuf* buffer;
      ~Screen() { std::cerr.rdbuf(buffer); }
    } const screen{std::cerr.rdbuf(said.rdbuf())};
    return load_digits("", 20, 10);
  }();
  CHECK(said.str() == "BPM_DATA_DIR: MNIST is not in '" + folder.path().string() +
                          "'; going on as if it were unset\n");
  CHECK(digits.drawn);
  CHECK(std::string(digits.name()) == "drawn");
  CHECK(digits.source == "drawn digits, NOT MNIST (not found in: " + folder.path().string() + ")");
  CHECK(digits.train.inputs.rows() == 20);
  CHECK(digits.train.inputs.cols() == 784);
  CHECK(digits.train.labels.size() == 20);
  CHECK(digits.test.inputs.rows() == 10);
  // More training digits: the first stay, the test digits stay.
  const auto more = load_digits("", 25, 10);
  CHECK(more.train.inputs.topRows(20) == digits.train.inputs);
  CHECK(more.test.inputs == digits.test.inputs);
  CHECK(more.test.labels == digits.test.labels);
}

TEST_CASE("digits that cannot be had are refused", "[examples]") {
  const TemporaryFolder folder;
  const std::string none = (folder.path() / "none").string();
  CHECK_THROWS_AS(load_digits(none, 1, 1), std::invalid_argument);
  CHECK_THROWS_WITH(load_digits(none, 1, 1), "--data: there is no folder '" + none + "'");
  CHECK_THROWS_WITH(load_digits(folder.path(), 0, 1), "--train is 0, must be from 1 to 999999999");
  CHECK_THROWS_WITH(load_digits(folder.path(), 1, -5), "--test is -5, must be from 1 to 999999999");

  write_mnist(folder.path());
  const std::string at = folder.path().string();
  CHECK_THROWS_WITH(load_digits(folder.path(), 6, 1),
                    "--train asks for 6 digits, " + at + "/train-images-idx3-ubyte holds 5");
  CHECK_THROWS_WITH(load_digits(folder.path(), 5, 4),
                    "--test asks for 4 digits, " + at + "/t10k-images-idx3-ubyte holds 3");
  write_text(folder.path() / "t10k-images-idx3-ubyte", images(3, 10));
  CHECK_THROWS_AS(load_digits(folder.path(), 1, 1), bpm::DataError);
  CHECK_THROWS_WITH(load_digits(folder.path(), 1, 1),
                    at +
                        "/t10k-images-idx3-ubyte: images of 10 x 10, the training images have 28 x "
                        "28");
}

TEST_CASE("images that are no digits have a name of their own", "[examples]") {
  const TemporaryFolder folder;
  write_mnist(folder.path(), 10);
  const auto small = load_digits(folder.path(), 5, 3);
  CHECK(std::string(small.name()) == "images");
  CHECK(small.source == "images of 10 x 10, " + folder.path().string());
  CHECK(small.shape == bpm::ImageShape{10, 10});
  CHECK(small.train.inputs.cols() == 100);
  write_mnist(folder.path(), 28, 26);
  CHECK(std::string(load_digits(folder.path(), 5, 3).name()) == "images");
  // Without test digits their files are not opened.
  fs::resize_file(folder.path() / "t10k-images-idx3-ubyte", 3);
  CHECK(load_digits(folder.path(), 5, 0).test.inputs.rows() == 0);
  CHECK_THROWS_AS(load_digits(folder.path(), 5, 1), bpm::DataError);
}

TEST_CASE("a fold is a block of the first 50000 training digits, and the rest of them trains",
          "[examples]") {
  const auto data = test_support::data_dir();
  if (!data) {
    return test_support::skip_without_data(
        "a fold is a block of the first 50000 training digits, and the rest of them trains");
  }
  const auto all = load_digits(*data, 50000, 0);
  for (const int fold : {1, 3, 5}) {
    const auto digits = bpm_examples::load_fold(*data, fold, 1);
    REQUIRE(digits.train.inputs.rows() == 40000);
    REQUIRE(digits.train.labels.size() == 40000);
    const Eigen::Index begin = (fold - 1) * 10000;
    CHECK(digits.test.inputs == all.train.inputs.middleRows(begin, 10000));
    CHECK(digits.train.inputs.topRows(begin) == all.train.inputs.topRows(begin));
    CHECK(digits.train.inputs.bottomRows(40000 - begin) ==
          all.train.inputs.bottomRows(40000 - begin));
    std::vector<int> labels = digits.train.labels;
    labels.insert(labels.begin() + begin, digits.test.labels.begin(), digits.test.labels.end());
    CHECK(labels == all.train.labels);
  }
}

TEST_CASE("the digits of MNIST are read", "[examples]") {
  const auto data = test_support::data_dir();
  if (!data) {
    return test_support::skip_without_data("the digits of MNIST are read");
  }
  const auto digits = load_digits(*data);
  CHECK_FALSE(digits.drawn);
  REQUIRE(digits.train.inputs.rows() == 60000);
  REQUIRE(digits.test.inputs.rows() == 10000);
  // The well-known beginnings and class sizes.
  CHECK(std::vector<int>(digits.train.labels.begin(), digits.train.labels.begin() + 8) ==
        std::vector<int>{5, 0, 4, 1, 9, 2, 1, 3});
  CHECK(std::vector<int>(digits.test.labels.begin(), digits.test.labels.begin() + 5) ==
        std::vector<int>{7, 2, 1, 0, 4});
  CHECK(std::count(digits.train.labels.begin(), digits.train.labels.end(), 1) == 6742);
  CHECK(std::count(digits.test.labels.begin(), digits.test.labels.end(), 5) == 892);
}
