// SPDX-License-Identifier: MIT
#include "bpm/data/idx.hpp"

#include <cstdint>
#include <istream>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "temporary_folder.hpp"

namespace {

std::string bytes(const std::vector<int>& values) {
  std::string out;
  for (const int value : values) {
    out += static_cast<char>(static_cast<unsigned char>(value));
  }
  return out;
}

/// Two images of 2 x 3 pixels.
const std::string two_images = bytes({0, 0, 8, 3, 0, 0, 0,   2,   0,   0,   0,   2,  0, 0, 0, 3,  //
                                      0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255});
const std::string three_labels = bytes({0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 255});

/// A tensor of any number of dimensions.
struct Tensor {
  std::vector<std::size_t> sizes;
  std::vector<std::uint8_t> bytes;
};

Tensor read_tensor(std::istream& stream, const std::string& name) {
  bpm::detail::IdxReader reader(stream, name);
  Tensor tensor{reader.sizes(), {}};
  reader.read_elements([&](std::size_t n) {
    tensor.bytes.resize(n);
    return tensor.bytes.data();
  });
  return tensor;
}

Tensor read_tensor(const std::string& content) {
  std::istringstream stream(content);
  return read_tensor(stream, "f");
}

/// A source that cannot be sought in, such as a pipe.
class Pipe : public std::streambuf {
 public:
  explicit Pipe(std::string content) : content_(std::move(content)) {
    setg(content_.data(), content_.data(), content_.data() + content_.size());
  }

 private:
  std::string content_;
};

}  // namespace

TEST_CASE("read_idx gives sizes and elements in the order of the file") {
  const Tensor tensor = read_tensor(two_images);
  CHECK(tensor.sizes == std::vector<std::size_t>{2, 2, 3});
  CHECK(tensor.bytes == std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255});
}

TEST_CASE("read_idx reads the highest byte of a size first") {
  const Tensor tensor = read_tensor(bytes({0, 0, 8, 1, 0, 1, 2, 3}) + std::string(66051, 'x'));
  CHECK(tensor.sizes == std::vector<std::size_t>{0x010203});
  CHECK(tensor.bytes.size() == 66051);
}

TEST_CASE("read_idx accepts a tensor without elements") {
  const Tensor tensor = read_tensor(bytes({0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 9}));
  CHECK(tensor.sizes == std::vector<std::size_t>{0, 9});
  CHECK(tensor.bytes.empty());
}

TEST_CASE("read_idx_images gives one image a row") {
  std::istringstream stream(two_images);
  const bpm::RowMatrix<std::uint8_t> images = bpm::read_idx_images(stream);
  REQUIRE(images.rows() == 2);
  REQUIRE(images.cols() == 6);
  CHECK(images(0, 1) == 1);
  CHECK(images(0, 5) == 5);
  CHECK(images(1, 0) == 250);
  CHECK(images(1, 5) == 255);
}

TEST_CASE("read_idx_labels gives integers 0 to 255") {
  std::istringstream stream(three_labels);
  CHECK(bpm::read_idx_labels(stream) == std::vector<int>{7, 0, 255});
}

TEST_CASE("read_idx reads from the middle of a stream and counts bytes from there") {
  std::istringstream good("junk" + three_labels);
  good.ignore(4);
  CHECK(bpm::read_idx_labels(good) == std::vector<int>{7, 0, 255});
  std::istringstream broken("junk" + three_labels.substr(0, 10));
  broken.ignore(4);
  CHECK_THROWS_WITH(bpm::read_idx_labels(broken, "f"),
                    "f: byte 10: found the end, expected 3 elements, that is 8 + 3 bytes in all");
}

TEST_CASE("read_idx reads a pipe, whose length cannot be told") {
  {
    Pipe pipe(two_images);
    std::istream stream(&pipe);
    CHECK(read_tensor(stream, "pipe").bytes == read_tensor(two_images).bytes);
  }
  {
    // Promises 2^62 elements: the error must come before the memory.
    Pipe pipe(bytes({0, 0, 8, 2, 128, 0, 0, 0, 128, 0, 0, 0, 1, 2}));
    std::istream stream(&pipe);
    CHECK_THROWS_WITH(read_tensor(stream, "pipe"),
                      "pipe: byte 14: found the end, expected 4611686018427387904 elements, that "
                      "is 12 + 4611686018427387904 bytes in all");
  }
}

TEST_CASE("read_idx reports a stream that fails, and the byte from which it was read") {
  /// Gives what it has, then fails.
  struct Broken : std::streambuf {
    explicit Broken(std::string content) : content_(std::move(content)) {
      setg(content_.data(), content_.data(), content_.data() + content_.size());
    }
    int_type underflow() override { throw std::runtime_error("disk"); }
    std::string content_;
  } broken(two_images.substr(0, 18));
  std::istream stream(&broken);
  CHECK_THROWS_WITH(bpm::read_idx_images(stream, "f"), "f: byte 16: reading failed");
}

TEST_CASE("read_idx refuses a wrong magic number") {
  CHECK_THROWS_AS(read_tensor(bytes({9, 0, 8, 1})), bpm::DataError);
  CHECK_THROWS_WITH(read_tensor(bytes({9, 0, 8, 1})),
                    "f: byte 0: found 9, expected 0 (start of an IDX file)");
  CHECK_THROWS_WITH(read_tensor(bytes({0, 200, 8, 1})),
                    "f: byte 1: found 200, expected 0 (start of an IDX file)");
  CHECK_THROWS_WITH(read_tensor(bytes({0x1f, 0x8b, 8, 0})),
                    "f: byte 0: found a gzip file, expected IDX (00 00); read it through GzipFile "
                    "of bpm/data/gzip.hpp");
}

TEST_CASE("read_idx refuses other element types and tensors without dimensions") {
  CHECK_THROWS_WITH(read_tensor(bytes({0, 0, 13, 1, 0, 0, 0, 0})),
                    "f: byte 2: found element type 13, expected 8 (unsigned byte)");
  CHECK_THROWS_WITH(read_tensor(bytes({0, 0, 8, 0, 1})),
                    "f: byte 3: found 0 dimensions, expected 1 or more");
}

TEST_CASE("read_idx names the byte at which a stream ends early") {
  CHECK_THROWS_WITH(read_tensor(""), "f: byte 0: found the end, expected more of the IDX header");
  CHECK_THROWS_WITH(read_tensor(two_images.substr(0, 3)),
                    "f: byte 3: found the end, expected more of the IDX header");
  CHECK_THROWS_WITH(read_tensor(two_images.substr(0, 9)),
                    "f: byte 9: found the end, expected more of the IDX header");
  CHECK_THROWS_WITH(
      read_tensor(two_images.substr(0, 27)),
      "f: byte 27: found the end, expected 12 elements, that is 16 + 12 bytes in all");
}

TEST_CASE("read_idx refuses bytes after the elements") {
  CHECK_THROWS_WITH(read_tensor(two_images + "x"),
                    "f: byte 28: found further bytes, expected the end after 12 elements");
}

TEST_CASE("read_idx refuses implausible sizes before it takes memory") {
  const std::vector<int> huge = {255, 255, 255, 255};
  std::vector<int> overflow = {0, 0, 8, 3};
  for (int i = 0; i < 3; ++i) {
    overflow.insert(overflow.end(), huge.begin(), huge.end());
  }
  CHECK_THROWS_WITH(read_tensor(bytes(overflow)),
                    "f: byte 8: found size 4294967295 after 4294967295 elements a slice, expected "
                    "a tensor that fits in memory");
  CHECK_THROWS_WITH(read_tensor(bytes({0, 0, 8, 2, 127, 255, 255, 255, 127, 255, 255, 255, 1})),
                    "f: byte 13: found the end, expected 4611686014132420609 elements, that is 12 "
                    "+ 4611686014132420609 bytes in all");
  // An empty first dimension does not excuse the others.
  CHECK_THROWS_WITH(
      read_tensor(bytes({0, 0, 8, 3, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255})),
      "f: byte 12: found size 4294967295 after 4294967295 elements a slice, expected "
      "a tensor that fits in memory");
}

TEST_CASE("read_idx_images and read_idx_labels refuse other numbers of dimensions") {
  std::istringstream labels(three_labels);
  CHECK_THROWS_WITH(bpm::read_idx_images(labels, "f"),
                    "f: byte 3: found 1 dimensions, expected 3 (images, rows, columns)");
  std::istringstream images(two_images);
  CHECK_THROWS_WITH(bpm::read_idx_labels(images, "f"),
                    "f: byte 3: found 3 dimensions, expected 1 (labels)");
}

TEST_CASE("IDX files are read by path and named in messages") {
  const test_support::TemporaryFolder folder;
  const auto images = folder.write("images", two_images);
  const auto labels = folder.write("labels", three_labels);
  const auto two_labels = folder.write("two", bytes({0, 0, 8, 1, 0, 0, 0, 2, 7, 1}));
  CHECK(bpm::read_idx_images(images).rows() == 2);
  CHECK(bpm::read_idx_labels(labels).size() == 3);
  const auto data = bpm::read_idx_images(images, two_labels);
  CHECK(data.inputs.rows() == 2);
  CHECK(data.labels == std::vector<int>{7, 1});
  CHECK_THROWS_WITH(bpm::read_idx_images(images, labels),
                    images.string() + " holds 2 images, " + labels.string() +
                        " holds 3 labels, expected as many labels as images");
  CHECK_THROWS_WITH(bpm::read_idx_labels(images),
                    images.string() + ": byte 3: found 3 dimensions, expected 1 (labels)");
  const auto absent = folder.path() / "absent";
  CHECK_THROWS_WITH(bpm::read_idx_images(absent),
                    absent.string() + ": cannot be opened for reading");
  CHECK_THROWS_WITH(bpm::read_idx_images(folder.path()),
                    folder.path().string() + ": is a directory, expected a file");
}
