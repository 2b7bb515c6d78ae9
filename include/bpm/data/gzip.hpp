// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "bpm/core/target.hpp"
#include "bpm/data/idx.hpp"
#include "bpm/data/source.hpp"
#include "bpm/data/svmlight.hpp"
#include "bpm/data/table.hpp"

/// \file
/// Opt-in (needs zlib, so bpm.hpp leaves it out): every reader for files that may be compressed.
/// `read_idx_images(GzipFile{path})` reads a plain file or a gzip file (RFC 1952), told apart by
/// the first two bytes, 1f 8b; the name of the file does not matter.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

[[nodiscard]] inline bool begins_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

/// Unpacks gzip data of one or more members and returns it; zero bytes may follow the last member.
/// `name` begins the messages.
///
/// Cost: one pass, about 5 ns per unpacked byte; memory for up to four times the unpacked size, or
/// eight times the packed one: it ignores the length that a file declares.
/// \throws DataError with the byte offset in the packed data where it ends early, is corrupt (the
/// checksum included), is followed by anything else, or unpacks to more than `limit` bytes.
[[nodiscard]] inline std::string unpack_gzip(std::string_view packed,
                                             std::string_view name = "gzip data",
                                             std::size_t limit = default_limit) {
  ensure<DataError>(begins_gzip(packed), name, ": byte 0: found no gzip file, expected 1f 8b");
  z_stream state{};
  // 15: the largest window; 16: gzip headers and checksums.
  if (inflateInit2(&state, 15 + 16) != Z_OK) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&state, &inflateEnd);
  // One byte more than the limit makes longer data detectable.
  const std::size_t most = limit + (limit < std::numeric_limits<std::size_t>::max() ? 1 : 0);
  std::string out(std::min(8 * packed.size() + 4096, most), '\0');
  std::size_t in = 0;
  std::size_t have = 0;
  for (;;) {
    if (have == out.size()) {
      out.resize(std::min(out.size() + out.size() / 2 + 4096, most));
    }
    // zlib counts in unsigned int, so long data takes several calls.
    constexpr std::size_t longest = std::numeric_limits<uInt>::max();
    const std::size_t offered = std::min(packed.size() - in, longest);
    const std::size_t room = std::min(out.size() - have, longest);
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
    state.avail_in = static_cast<uInt>(offered);
    state.next_out = reinterpret_cast<Bytef*>(out.data() + have);
    state.avail_out = static_cast<uInt>(room);
    const int status = inflate(&state, Z_NO_FLUSH);
    in += offered - state.avail_in;
    have += room - state.avail_out;
    ensure<DataError>(have <= limit, name, ": byte ", in, ": unpacks to more than ", limit,
                      " bytes, the limit; give GzipFile a larger one");
    if (status == Z_STREAM_END) {
      const std::string_view rest = packed.substr(in);
      if (rest.find_first_not_of('\0') == std::string_view::npos) {
        out.resize(have);
        return out;
      }
      ensure<DataError>(begins_gzip(rest), name, ": byte ", in,
                        ": found other bytes after the gzip data, expected the end");
      inflateReset(&state);
      continue;
    }
    ensure<DataError>(status != Z_DATA_ERROR, name, ": byte ", in, ": found corrupt gzip data (",
                      state.msg != nullptr ? state.msg : "no details", ")");
    if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    }
    ensure<DataError>(in < packed.size() || state.avail_out == 0, name, ": byte ", in,
                      ": found the end, expected more gzip data (the file is cut short)");
  }
}

}  // namespace detail

/// A file that readers unpack if it is compressed. They accept it in place of a path; places in
/// their messages are those of the unpacked content.
struct GzipFile {
  std::filesystem::path path;                 ///< Packed or plain; its first bytes decide.
  std::size_t limit = detail::default_limit;  ///< Most bytes it may unpack to: 1 GiB.

  /// Opens and unpacks it. \throws DataError as `unpack_gzip`, and where the file cannot be read.
  [[nodiscard]] detail::OpenFile open() const {
    detail::OpenFile file = detail::open_file(path);
    std::string bytes = detail::read_all(*file.stream, file.name);
    if (detail::begins_gzip(bytes)) bytes = detail::unpack_gzip(bytes, file.name, limit);
    file.stream = std::make_unique<std::istringstream>(std::move(bytes));
    return file;
  }
};

}}  // namespace bpm
