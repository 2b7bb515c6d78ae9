// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

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
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"

/// \file
/// Files that are there whole or not at all (POSIX).

namespace bpm::detail {

/// An open file, closed at the end of its scope.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  /// 0, or the error: some file systems report a full disk only here.
  [[nodiscard]] int close() noexcept {
    return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno;
  }

 private:
  int number_;
};

/// Throws a CheckpointError about a file, or folder, unless `holds`.
template <class... What>
void check_file(bool holds, const std::filesystem::path& path, const What&... what) {
  ensure<CheckpointError>(holds, "checkpoint: ", path.string(), " ", what...);
}

/// A name beside the file's that no other writer takes.
[[nodiscard]] inline std::filesystem::path partial_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> number = 0;
  std::filesystem::path partial = path;
  // Processes of two machines may have one number; they do not begin in one nanosecond.
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  partial += ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(now) + "-" +
             std::to_string(number++);
  return partial;
}

/// A file in the making, which is removed unless it took its name: after that there is none.
struct PartialFile {
  explicit PartialFile(const std::filesystem::path& whole) : path(partial_name(whole)) {}
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() { ::unlink(path.c_str()); }
  const std::filesystem::path path;
};

[[nodiscard]] inline int write_all(int file, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(file, bytes.data(), bytes.size());
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
  const std::string name = path.string();
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
    FileDescriptor file(
        ::open(partial.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    check_step(file.get() < 0 ? errno : 0, "open");
    for (const auto piece : pieces) check_step(write_all(file.get(), piece), "write");
    check_step(::fsync(file.get()) != 0 ? errno : 0, "flush");
    check_step(file.close(), "close");
  }
  check_step(::rename(partial.path.c_str(), path.c_str()) != 0 ? errno : 0, "rename");
  // The name itself reaches the disk with its folder. Not every file system can; then it was as
  // durable as that file system makes things.
  const FileDescriptor folder(::open(parent.c_str(), O_RDONLY | O_CLOEXEC));
  if (folder.get() >= 0) static_cast<void>(::fsync(folder.get()));
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

}  // namespace bpm::detail
