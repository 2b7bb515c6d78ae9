// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <istream>
#include <streambuf>
#include <string>
#include <string_view>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"

/// \file
/// Where readers get their bytes from, and how they complain.

namespace bpm::detail {

/// Throws `DataError`; the parts of the message are printed one after the other.
template <class... Parts>
[[noreturn]] void data_error(const Parts&... parts) {
  throw DataError(join(parts...));
}

/// Opens a file for reading. Throws `DataError` where that fails.
[[nodiscard]] inline std::ifstream open_file(const std::filesystem::path& path) {
  // A directory opens like a file on some systems and fails only when read.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    data_error(path.string(), ": is a directory, expected a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    data_error(path.string(), ": cannot be opened for reading");
  }
  return file;
}

/// A stream buffer over bytes that lie in memory, which it does not own.
class MemoryBuffer : public std::streambuf {
 public:
  explicit MemoryBuffer(std::string_view bytes) {
    // The get area is never written to; the interface of std::streambuf just has no const.
    char* begin = const_cast<char*>(bytes.data());
    setg(begin, begin, begin + bytes.size());
  }

 protected:
  pos_type seekoff(off_type offset, std::ios_base::seekdir from,
                   std::ios_base::openmode which) override {
    const off_type size = egptr() - eback();
    off_type base = 0;
    if (from == std::ios_base::cur) {
      base = gptr() - eback();
    } else if (from == std::ios_base::end) {
      base = size;
    }
    if ((which & std::ios_base::in) == 0 || base + offset < 0 || base + offset > size) {
      return pos_type(off_type(-1));
    }
    setg(eback(), eback() + base + offset, egptr());
    return pos_type(base + offset);
  }

  pos_type seekpos(pos_type position, std::ios_base::openmode which) override {
    return seekoff(off_type(position), std::ios_base::beg, which);
  }
};

}  // namespace bpm::detail
