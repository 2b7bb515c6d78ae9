// SPDX-License-Identifier: MIT
#include "bpm/data/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "catch.hpp"
#include "data.hpp"
#include "temporary_folder.hpp"

namespace {

/// One gzip member, made by zlib.
std::string pack(std::string text) {
  z_stream state{};
  REQUIRE(deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&state, static_cast<uLong>(text.size())) + 64, '\0');
  state.next_in = reinterpret_cast<Bytef*>(text.data());
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

/// Text that hardly compresses.
std::string noise(std::size_t n) {
  std::string text(n, '\0');
  unsigned state = 1;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return text;
}

const std::string two_small_labels("\0\0\x08\x01\0\0\0\x02\x05\x06", 10);
const std::string two_small_images("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x01\x02\x03\x04",
                                   20);

}  // namespace

TEST_CASE("unpack_gzip gives back what was packed") {
  for (const std::string& text :
       {std::string(), std::string("a"), noise(100000), std::string(3000000, 'x')}) {
    CHECK(bpm::detail::unpack_gzip(pack(text)) == text);
  }
}

TEST_CASE("unpack_gzip joins the members of a file and drops zero bytes after the last") {
  const std::string a = noise(5000);
  const std::string b(70000, 'b');
  CHECK(bpm::detail::unpack_gzip(pack(a) + pack(b) + pack("") + pack("end")) == a + b + "end");
  CHECK(bpm::detail::unpack_gzip(pack(a) + std::string(512, '\0')) == a);
}

TEST_CASE("unpack_gzip trusts no declared length") {
  // The length stands in the last four bytes: a small one after a large member, and a false one.
  const std::string large(1000000, 'x');
  CHECK(bpm::detail::unpack_gzip(pack(large) + pack("y")) == large + "y");
  std::string lie = pack("hello");
  lie.replace(lie.size() - 4, 4, "\xff\xff\xff\xff");
  CHECK_THROWS_WITH(bpm::detail::unpack_gzip(lie, "f"),
                    "f: byte 25: found corrupt gzip data (incorrect length check)");
}

TEST_CASE("unpack_gzip stops at a limit") {
  const std::string text(100000, 'x');
  CHECK(bpm::detail::unpack_gzip(pack(text), "f", 100000) == text);
  CHECK_THROWS_WITH(
      bpm::detail::unpack_gzip(pack(text), "f", 99999),
      Catch::Matchers::ContainsSubstring(
          ": unpacks to more than 99999 bytes, the limit; give GzipFile a larger one"));
  CHECK(bpm::detail::unpack_gzip(pack(""), "f", 0).empty());
  CHECK_THROWS_AS(bpm::detail::unpack_gzip(pack("a"), "f", 0), bpm::DataError);
}

TEST_CASE("unpack_gzip names the byte at which data ends early") {
  const std::string whole = pack(noise(1000));
  for (const std::size_t n :
       {std::size_t{2}, std::size_t{9}, std::size_t{500}, whole.size() - 8, whole.size() - 1}) {
    CHECK_THROWS_AS(bpm::detail::unpack_gzip(whole.substr(0, n)), bpm::DataError);
    CHECK_THROWS_WITH(bpm::detail::unpack_gzip(whole.substr(0, n), "f"),
                      "f: byte " + std::to_string(n) +
                          ": found the end, expected more gzip data (the file is cut short)");
  }
  const std::string second = whole + whole.substr(0, 100);
  CHECK_THROWS_WITH(bpm::detail::unpack_gzip(second, "f"),
                    "f: byte " + std::to_string(second.size()) +
                        ": found the end, expected more gzip data (the file is cut short)");
}

TEST_CASE("unpack_gzip names the byte at which data is corrupt") {
  const std::string whole = pack(noise(1000));
  std::string checksum = whole;
  checksum[whole.size() - 8] = static_cast<char>(checksum[whole.size() - 8] ^ 1);
  CHECK_THROWS_WITH(bpm::detail::unpack_gzip(checksum, "f"),
                    "f: byte " + std::to_string(whole.size() - 4) +
                        ": found corrupt gzip data (incorrect data check)");
  std::string method = whole;
  method[2] = 7;
  CHECK_THROWS_WITH(
      bpm::detail::unpack_gzip(method, "f"),
      Catch::Matchers::ContainsSubstring(": found corrupt gzip data (unknown compression method)"));
  std::string content = whole;
  content[500] = static_cast<char>(content[500] ^ 0x55);
  CHECK_THROWS_AS(bpm::detail::unpack_gzip(content), bpm::DataError);
  CHECK_THROWS_WITH(bpm::detail::unpack_gzip(whole + "tail", "f"),
                    "f: byte " + std::to_string(whole.size()) +
                        ": found other bytes after the gzip data, expected the end");
  CHECK_THROWS_WITH(bpm::detail::unpack_gzip("text", "f"),
                    "f: byte 0: found no gzip file, expected 1f 8b");
}

TEST_CASE("every reader takes packed and plain files") {
  const test_support::TemporaryFolder folder;
  const auto both = [&](const std::string& name, const std::string& content) {
    return std::vector<bpm::GzipFile>{{folder.write(name, content)},
                                      {folder.write(name + ".gz", pack(content))}};
  };
  for (const bpm::GzipFile& file : both("images", two_small_images)) {
    const auto opened = file.open();
    CHECK(opened.name == file.path.string());
    CHECK(std::string(std::istreambuf_iterator<char>(*opened.stream), {}) == two_small_images);
    const bpm::RowMatrix<std::uint8_t> images = bpm::read_idx_images(file);
    CHECK(images.rows() == 2);
    CHECK(images(1, 1) == 4);
    for (const bpm::GzipFile& labels : both("labels", two_small_labels)) {
      CHECK(bpm::read_idx_labels(labels) == std::vector<int>{5, 6});
      CHECK(bpm::read_idx_images(file, labels).labels == std::vector<int>{5, 6});
    }
  }
  for (const bpm::GzipFile& file : both("csv", "3;1;2\n")) {
    const auto data = bpm::read_table<float>(file, {.delimiter = ';',
                                                    .header = bpm::TableSettings::Header::no,
                                                    .label = bpm::TableSettings::LabelColumn::first,
                                                    .comment = '#'});
    CHECK(data.labels == std::vector<int>{3});
    CHECK(data.inputs.cols() == 2);
  }
  for (const bpm::GzipFile& file : both("svmlight", "1 2:0.5\n")) {
    CHECK(bpm::read_svmlight_dense(file).inputs(0, 1) == 0.5);
    CHECK(bpm::read_svmlight_sparse<float>(file, 7).inputs.cols() == 7);
  }
}

TEST_CASE("errors in packed files name the file and the place in the content") {
  const test_support::TemporaryFolder folder;
  const auto csv = folder.write("a.csv.gz", pack("1,1\nx,1\n"));
  CHECK_THROWS_WITH(bpm::read_table(bpm::GzipFile{csv}),
                    csv.string() + ":2: column 1: found 'x', expected a finite number");
  const auto idx = folder.write("b.gz", pack(two_small_labels.substr(0, 9)));
  CHECK_THROWS_WITH(
      bpm::read_idx_labels(bpm::GzipFile{idx}),
      idx.string() + ": byte 9: found the end, expected 2 elements, that is 8 + 2 bytes in all");
  const auto packed = pack(two_small_labels);
  const auto cut = folder.write("c.gz", packed.substr(0, packed.size() - 3));
  CHECK_THROWS_WITH(bpm::read_idx_labels(bpm::GzipFile{cut}),
                    cut.string() + ": byte " + std::to_string(packed.size() - 3) +
                        ": found the end, expected more gzip data (the file is cut short)");
  const auto images = folder.write("images.gz", pack(two_small_images));
  const auto labels = folder.write("one", std::string("\0\0\x08\x01\0\0\0\x01\x05", 9));
  CHECK_THROWS_WITH(bpm::read_idx_images(bpm::GzipFile{images}, bpm::GzipFile{labels}),
                    images.string() + " holds 2 images, " + labels.string() +
                        " holds 1 labels, expected as many labels as images");
  CHECK_THROWS_WITH(
      bpm::read_idx_images(bpm::GzipFile{images, 19}),
      Catch::Matchers::ContainsSubstring(": unpacks to more than 19 bytes, the limit;"));
  const auto absent = folder.path() / "absent.gz";
  CHECK_THROWS_WITH(bpm::GzipFile{absent}.open(),
                    absent.string() + ": cannot be opened for reading");
}

TEST_CASE("MNIST is read from its packed files") {
  const auto folder = test_support::data_dir();
  if (!folder) {
    return test_support::skip_without_data("MNIST is read from its packed files");
  }
  const auto file = [&](const std::string& name) {
    return bpm::GzipFile{*folder / "mnist" / (name + ".gz")};
  };
  const auto train =
      bpm::read_idx_images(file("train-images-idx3-ubyte"), file("train-labels-idx1-ubyte"));
  CHECK(train.inputs.rows() == 60000);
  CHECK(train.inputs.cols() == 784);
  REQUIRE(train.labels.size() == 60000);
  CHECK(std::vector<int>(train.labels.begin(), train.labels.begin() + 10) ==
        std::vector<int>{5, 0, 4, 1, 9, 2, 1, 3, 1, 4});
  CHECK(train.inputs.minCoeff() == 0);
  CHECK(train.inputs.maxCoeff() == 255);
  const auto test =
      bpm::read_idx_images(file("t10k-images-idx3-ubyte"), file("t10k-labels-idx1-ubyte"));
  CHECK(test.inputs.rows() == 10000);
  CHECK(test.inputs.cols() == 784);
  CHECK(std::count(test.labels.begin(), test.labels.end(), 7) == 1028);
}
