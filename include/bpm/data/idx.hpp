// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <string_view>
#include <vector>

#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"

/// \file
/// The IDX format of MNIST: bytes 00 00, the element type (08, unsigned byte, is the one read
/// here), the number of dimensions, each size as four bytes with the highest first, then the
/// elements, the last index running fastest (Y. LeCun, C. Cortes, C. Burges, "The MNIST database").
/// Compressed files are read by data/gzip.hpp.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Reads one IDX stream; offsets in messages count from where it began.
class IdxReader {
 public:
  /// Reads the header. \throws DataError.
  IdxReader(std::istream& stream, std::string_view name) : stream_(stream), name_(name) {
    std::array<std::uint8_t, 4> magic{};
    read_exactly(magic.data(), magic.size());
    ensure<DataError>(magic[0] != 0x1f || magic[1] != 0x8b, name_,
                      ": byte 0: found a gzip file, expected IDX (00 00); read it through ",
                      "GzipFile of bpm/data/gzip.hpp");
    for (std::size_t i = 0; i < 2; ++i) {
      ensure<DataError>(magic[i] == 0, name_, ": byte ", i, ": found ", int{magic[i]},
                        ", expected 0 (start of an IDX file)");
    }
    ensure<DataError>(magic[2] == 0x08, name_, ": byte 2: found element type ", int{magic[2]},
                      ", expected 8 (unsigned byte)");
    ensure<DataError>(magic[3] != 0, name_, ": byte 3: found 0 dimensions, expected 1 or more");
    // No vector can be longer than a signed count of bytes, on any machine.
    constexpr std::size_t limit = std::numeric_limits<std::ptrdiff_t>::max();
    std::size_t slice = 1;
    for (int i = 0; i < magic[3]; ++i) {
      std::array<std::uint8_t, 4> word{};
      const std::size_t start = offset_;
      read_exactly(word.data(), word.size());
      std::size_t size = 0;
      for (const std::uint8_t byte : word) {
        size = size * 256 + byte;
      }
      // Product of the nonzero sizes: an empty dimension must not hide others too large.
      ensure<DataError>(size == 0 || slice <= limit / size, name_, ": byte ", start,
                        ": found size ", size, " after ", slice,
                        " elements a slice, expected a tensor that fits in memory");
      slice *= std::max<std::size_t>(size, 1);
      count_ *= size;
      sizes_.push_back(size);
    }
    header_read_ = true;
  }

  [[nodiscard]] const std::vector<std::size_t>& sizes() const { return sizes_; }

  /// Throws unless the tensor has this many dimensions; `meaning` explains them in the message.
  void require_dimensions(std::size_t dimensions, std::string_view meaning) const {
    ensure<DataError>(sizes_.size() == dimensions, name_, ": byte 3: found ", sizes_.size(),
                      " dimensions, expected ", dimensions, " (", meaning, ")");
  }

  /// Reads the elements, the rest of the stream. `allocate(n)` must return memory for n bytes; if
  /// the stream's length is known, it is compared before the call.
  template <class Allocate>
  void read_elements(const Allocate& allocate) {
    const std::size_t left = bytes_left();
    if (left != unknown) {
      require_more(left >= count_, offset_ + left);
      read_exactly(allocate(count_), count_);
    } else {
      // A pipe may announce any size: read in pieces, so that memory grows with the bytes received.
      std::vector<std::uint8_t> arrived;
      constexpr std::size_t piece = std::size_t{1} << 20U;
      while (arrived.size() < count_) {
        const std::size_t have = arrived.size();
        const std::size_t more = std::min(piece, count_ - have);
        arrived.resize(have + more);
        read_exactly(arrived.data() + have, more);
      }
      std::copy(arrived.begin(), arrived.end(), allocate(count_));
    }
    ensure<DataError>(stream_.peek() == std::istream::traits_type::eof(), name_, ": byte ", offset_,
                      ": found further bytes, expected the end after ", count_, " elements");
  }

 private:
  static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

  void read_exactly(std::uint8_t* out, std::size_t n) {
    stream_.read(reinterpret_cast<char*>(out), std::streamsize(n));
    const std::size_t got = std::size_t(stream_.gcount());
    ensure<DataError>(!stream_.bad(), name_, ": byte ", offset_ + got, ": reading failed");
    require_more(got == n, offset_ + got);
    offset_ += n;
  }

  /// Throws, with the position `end`, unless `there`: the stream ended early.
  void require_more(bool there, std::size_t end) const {
    ensure<DataError>(there || header_read_, name_, ": byte ", end,
                      ": found the end, expected more of the IDX header");
    ensure<DataError>(there, name_, ": byte ", end, ": found the end, expected ", count_,
                      " elements, that is ", 4 + 4 * sizes_.size(), " + ", count_, " bytes in all");
  }

  [[nodiscard]] std::size_t bytes_left() {
    const std::istream::pos_type here = stream_.tellg();
    if (here == std::istream::pos_type(-1)) {
      stream_.clear();
      return unknown;
    }
    stream_.seekg(0, std::ios_base::end);
    const std::istream::pos_type end = stream_.tellg();
    stream_.clear();
    stream_.seekg(here);
    return end == std::istream::pos_type(-1) ? unknown : static_cast<std::size_t>(end - here);
  }

  std::istream& stream_;
  std::string_view name_;
  std::vector<std::size_t> sizes_;
  std::size_t count_ = 1;
  std::size_t offset_ = 0;
  bool header_read_ = false;
};

}  // namespace detail

/// Reads images, an IDX tensor of n x height x width bytes, as n rows of height * width bytes.
/// `name` begins the messages. The stream must end with the tensor.
///
/// Cost: one pass; memory for the elements once (up to thrice for a stream of unknown length).
/// \throws DataError with the byte offset where the magic number, the element type or a size is
/// wrong, the tensor has not three dimensions, the stream ends early, or bytes follow the elements.
/// Sizes are compared with the length of the stream before memory is taken.
[[nodiscard]] inline RowMatrix<std::uint8_t> read_idx_images(std::istream& stream,
                                                             std::string_view name = "IDX stream") {
  detail::IdxReader reader(stream, name);
  reader.require_dimensions(3, "images, rows, columns");
  RowMatrix<std::uint8_t> images;
  reader.read_elements([&](std::size_t) {
    const auto& sizes = reader.sizes();
    images.resize(std::ptrdiff_t(sizes[0]), std::ptrdiff_t(sizes[1] * sizes[2]));
    return images.data();
  });
  return images;
}

/// Reads images from a file: a path or `GzipFile`.
template <detail::File File>
[[nodiscard]] RowMatrix<std::uint8_t> read_idx_images(const File& file) {
  const detail::OpenFile opened = detail::open(file);
  return read_idx_images(*opened.stream, opened.name);
}

/// Returns the sizes of an IDX tensor, for images their number, rows and columns, without reading
/// the elements. \throws DataError as `read_idx_images` on errors in the header.
[[nodiscard]] inline std::vector<std::size_t> read_idx_sizes(std::istream& stream,
                                                             std::string_view name = "IDX stream") {
  return detail::IdxReader(stream, name).sizes();
}

/// Reads the sizes from a file: a path or `GzipFile`.
template <detail::File File>
[[nodiscard]] std::vector<std::size_t> read_idx_sizes(const File& file) {
  const detail::OpenFile opened = detail::open(file);
  return read_idx_sizes(*opened.stream, opened.name);
}

/// Reads labels 0 .. 255, an IDX tensor of one dimension.
/// \throws DataError as read_idx_images, and where the tensor has not one dimension.
[[nodiscard]] inline std::vector<int> read_idx_labels(std::istream& stream,
                                                      std::string_view name = "IDX stream") {
  detail::IdxReader reader(stream, name);
  reader.require_dimensions(1, "labels");
  std::vector<std::uint8_t> bytes;
  reader.read_elements([&](std::size_t n) {
    bytes.resize(n);
    return bytes.data();
  });
  return {bytes.begin(), bytes.end()};
}

/// Reads labels from a file: a path or `GzipFile`.
template <detail::File File>
[[nodiscard]] std::vector<int> read_idx_labels(const File& file) {
  const detail::OpenFile opened = detail::open(file);
  return read_idx_labels(*opened.stream, opened.name);
}

/// Reads a file of images and the file of their labels.
/// \throws DataError as read_idx_images and read_idx_labels, and where the files disagree in
/// length.
template <detail::File Images, detail::File Labels>
[[nodiscard]] LabelledData<RowMatrix<std::uint8_t>> read_idx_images(const Images& images,
                                                                    const Labels& labels) {
  const detail::OpenFile image_file = detail::open(images);
  const detail::OpenFile label_file = detail::open(labels);
  LabelledData<RowMatrix<std::uint8_t>> data{read_idx_images(*image_file.stream, image_file.name),
                                             read_idx_labels(*label_file.stream, label_file.name)};
  detail::ensure<DataError>(data.inputs.rows() == std::ssize(data.labels), image_file.name,
                            " holds ", data.inputs.rows(), " images, ", label_file.name, " holds ",
                            data.labels.size(), " labels, expected as many labels as images");
  return data;
}

}}  // namespace bpm
