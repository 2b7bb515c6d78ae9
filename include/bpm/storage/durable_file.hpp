// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/path_text.hpp"
#include "bpm/core/target.hpp"
#include "bpm/storage/system_calls.hpp"

/// \file
/// Files that are there whole or not at all.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Throws a CheckpointError about a file, or folder, unless `holds`.
template <class... What>
void check_file(bool holds, const std::filesystem::path& path, const What&... what) {
  ensure<CheckpointError>(holds, "checkpoint: ", text_of(path), " ", what...);
}

/// A name beside the file's that no other writer takes.
[[nodiscard]] inline std::filesystem::path partial_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> number = 0;
  std::filesystem::path partial = path;
  // Processes of two machines may have one number; they do not begin in one nanosecond.
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  partial += ".partial-" + std::to_string(process_number()) + "-" + std::to_string(now) + "-" +
             std::to_string(number++);
  return partial;
}

/// A file in the making, which is removed unless it took its name: after that there is none.
struct PartialFile {
  explicit PartialFile(const std::filesystem::path& whole) : path(partial_name(whole)) {}
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() { remove_file(path); }
  const std::filesystem::path path;
};

[[nodiscard]] inline int write_all(int file, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const std::ptrdiff_t written = write_some(file, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Makes the pieces, one after the other, the content of the file: they go to a file beside it, to
/// the disk, and then take the name. Whatever goes wrong, and wherever the process is killed, the
/// name stands for the old content or for the new one; of two writers at a time, for what one of
/// them wrote. What is no file is refused: it would be replaced by one.
///
/// \throws CheckpointError if that cannot be done; the message begins with `what` and ends with
///         `cure`.
inline void write_pieces_durably(const std::filesystem::path& path,
                                 std::span<const std::span<const std::byte>> pieces,
                                 std::string_view what, std::string_view cure) {
  // Memory is taken before the file is made: whatever is thrown between, it does not stay.
  const std::string name = text_of(path);
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code unknown;
  ensure<CheckpointError>(!std::filesystem::is_other(std::filesystem::status(path, unknown)), what,
                          ": ", name, " is a device, a pipe or a socket, expected a file");
  const PartialFile partial(path);
  const auto check_step = [&](int code, std::string_view step) {
    ensure<CheckpointError>(code == 0, what, ": ", name, " cannot be written: ", step, ": ",
                            std::strerror(code), "; what was there before is whole", cure);
  };
  {
    FileDescriptor file(open_new(partial.path));
    check_step(file.get() < 0 ? errno : 0, "open");
    for (const auto piece : pieces) check_step(write_all(file.get(), piece), "write");
    check_step(flush_file(file.get()), "flush");
    check_step(file.close(), "close");
  }
  check_step(rename_file(partial.path, path), "rename");
  flush_folder(parent);
}

/// The same of one piece.
inline void write_durably(const std::filesystem::path& path, std::span<const std::byte> bytes,
                          std::string_view what = "checkpoint",
                          std::string_view cure = ", and a rerun goes on from it") {
  write_pieces_durably(path, std::span(&bytes, 1), what, cure);
}

/// \throws CheckpointError if the file cannot be read.
[[nodiscard]] inline std::vector<std::byte> read_bytes(const std::filesystem::path& path,
                                                       std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  check_file(file && !error, path, "cannot be read");
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uintmax_t>(size, most)));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  check_file(!file.fail(), path, "cannot be read");
  return bytes;
}

}}}  // namespace bpm::detail
