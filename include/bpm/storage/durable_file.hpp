// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <sys/stat.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

/// \file
/// Files that exist as a whole or not at all, and the system calls for them.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

// File operations of the system, once by POSIX and once by Windows' C library. Unless stated
// otherwise they return 0, or errno's value.

#if defined(_WIN32)

/// Opens a new file to write; returns -1 if it cannot be made, or exists.
[[nodiscard]] inline int open_new(const std::filesystem::path& path) noexcept {
  return ::_wopen(path.c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT,
                  _S_IREAD | _S_IWRITE);
}
inline int close_file(int file) noexcept { return ::_close(file) == 0 ? 0 : errno; }
/// Writes and returns the number of bytes written; -1: error.
[[nodiscard]] inline std::ptrdiff_t write_some(int file, const std::byte* bytes,
                                               std::size_t count) noexcept {
  const auto most = std::size_t{std::numeric_limits<int>::max()};
  return ::_write(file, bytes, static_cast<unsigned>(std::min(count, most)));
}
[[nodiscard]] inline int flush_file(int file) noexcept { return ::_commit(file) == 0 ? 0 : errno; }
/// Does nothing: Windows writes names some time later, and has no call for a folder.
inline void flush_folder(const std::filesystem::path&) noexcept {}
inline void remove_file(const std::filesystem::path& path) noexcept { ::_wunlink(path.c_str()); }
/// Renames the file, and replaces any file of the new name. Returns EIO for an error without errno.
[[nodiscard]] inline int rename_file(const std::filesystem::path& from,
                                     const std::filesystem::path& to) noexcept {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  const std::error_condition condition = error.default_error_condition();
  return condition.category() == std::generic_category() ? condition.value() : EIO;
}
[[nodiscard]] inline long process_number() noexcept { return ::_getpid(); }

#else

/// Opens a new file to write; returns -1 if it cannot be made, or exists.
[[nodiscard]] inline int open_new(const std::filesystem::path& path) noexcept {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}
inline int close_file(int file) noexcept { return ::close(file) == 0 ? 0 : errno; }
/// Writes and returns the number of bytes written; -1: error.
[[nodiscard]] inline std::ptrdiff_t write_some(int file, const std::byte* bytes,
                                               std::size_t count) noexcept {
  return ::write(file, bytes, count);
}
[[nodiscard]] inline int flush_file(int file) noexcept { return ::fsync(file) == 0 ? 0 : errno; }
/// Writes the names in a folder to the disk. Some file systems cannot; there a name is as durable
/// as the file system makes it.
inline void flush_folder(const std::filesystem::path& folder) noexcept {
  const int file = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  static_cast<void>(::fsync(file));
  ::close(file);
}
inline void remove_file(const std::filesystem::path& path) noexcept { ::unlink(path.c_str()); }
/// Renames the file, and replaces any file of the new name.
[[nodiscard]] inline int rename_file(const std::filesystem::path& from,
                                     const std::filesystem::path& to) noexcept {
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}
[[nodiscard]] inline long process_number() noexcept { return ::getpid(); }

#endif

/// An open file, closed at the end of its scope.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) close_file(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  /// Closes the file now: some file systems report a full disk only here.
  [[nodiscard]] int close() noexcept { return close_file(std::exchange(number_, -1)); }

 private:
  int number_;
};

// Files that exist as a whole or not at all.

/// Returns a name in the file's folder that no other writer uses.
[[nodiscard]] inline std::filesystem::path partial_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> number = 0;
  std::filesystem::path partial = path;
  // Processes of two machines may share a number, but hardly a start in the same nanosecond.
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  partial += ".partial-" + std::to_string(process_number()) + "-" + std::to_string(now) + "-" +
             std::to_string(number++);
  return partial;
}

/// A file being written, which the destructor removes unless it was renamed.
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

/// Writes the pieces, one after the other, as the content of the file: to a temporary file beside
/// it, to the disk, and then renames that. Whatever fails, and wherever the process is killed, the
/// name refers to the old or the new content; with two writers at once, to that of one of them. It
/// refuses a device, pipe or socket, which a file would replace.
///
/// \throws CheckpointError if that cannot be done.
inline void write_durably(const std::filesystem::path& path,
                          std::span<const std::span<const std::byte>> pieces) {
  // Allocates before the file exists, so that an exception leaves no file.
  const std::string name = text_of(path);
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code unknown;
  ensure<CheckpointError>(!std::filesystem::is_other(std::filesystem::status(path, unknown)),
                          "save: ", name, " is a device, a pipe or a socket, expected a file");
  const PartialFile partial(path);
  const auto check_step = [&](int code, std::string_view step) {
    ensure<CheckpointError>(code == 0, "save: ", name, " cannot be written: ", step, ": ",
                            std::strerror(code), "; what was there before is whole");
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

}}}  // namespace bpm::detail
