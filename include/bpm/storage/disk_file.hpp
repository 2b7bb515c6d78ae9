// SPDX-License-Identifier: MIT
#pragma once

#if defined(_WIN32)
// Excludes unneeded parts of windows.h, and the macros min and max.
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <sys/stat.h>
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
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

/// \file
/// Files that exist as a whole or not at all, files that are read as memory, and the system calls
/// for both.

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

/// A file being written under a name that no other writer uses, beside the whole file; removed
/// unless it was renamed.
struct PartialFile {
  explicit PartialFile(const std::filesystem::path& whole) : path(whole) {
    static std::atomic<unsigned> number = 0;
    // Processes of two machines may share a number, but hardly a start in the same nanosecond.
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    // (A stream would write numbers as the program's locale does.)
    path += ".partial";
    for (const std::string& part :
         {std::to_string(process_number()), std::to_string(now), std::to_string(number++)}) {
      path += "-" + part;
    }
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  std::filesystem::path path;
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
  std::error_code error;
  std::filesystem::rename(partial.path, path, error);
  const std::error_condition condition = error.default_error_condition();
  check_step(condition.category() == std::generic_category() ? condition.value() : EIO, "rename");
  flush_folder(parent);
}

/// A file's bytes mapped into memory: the system reads a page on first access, and processes share
/// pages. Writes to the file appear in the memory, and access to a truncated part ends the process:
/// replace files by renaming, as `write_durably` does. (On Windows a mapped file can be neither
/// truncated nor replaced.)
class MappedFile {
 public:
  /// Maps a file. \throws DataError if it cannot be opened or mapped, as a folder cannot.
  explicit MappedFile(const std::filesystem::path& path) : name_(text_of(path)) { show(path); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) hide();
  }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
#if defined(_WIN32)
  struct Handle {
    explicit Handle(HANDLE opened) noexcept : value(opened) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
      if (value != nullptr && value != INVALID_HANDLE_VALUE) ::CloseHandle(value);
    }
    const HANDLE value;
  };

  void show(const std::filesystem::path& path) {
    const Handle file(::CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr,
                                    OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
    check_step(file.value != INVALID_HANDLE_VALUE);
    LARGE_INTEGER size = {};
    check_regular(::GetFileType(file.value) == FILE_TYPE_DISK &&
                  ::GetFileSizeEx(file.value, &size) != 0 &&
                  std::in_range<std::size_t>(size.QuadPart));
    size_ = static_cast<std::size_t>(size.QuadPart);
    if (size_ == 0) return;  // No system maps an empty file.
    const Handle mapping(::CreateFileMappingW(file.value, nullptr, PAGE_READONLY, 0, 0, nullptr));
    check_step(mapping.value != nullptr);
    data_ = static_cast<const std::byte*>(::MapViewOfFile(mapping.value, FILE_MAP_READ, 0, 0, 0));
    check_step(data_ != nullptr);
  }
  void hide() noexcept { ::UnmapViewOfFile(data_); }
  void check_step(bool done) const {
    ensure<DataError>(
        done, name_, ": cannot be mapped: ",
        std::system_category().message(static_cast<int>(done ? 0 : ::GetLastError())));
  }
#else
  void show(const std::filesystem::path& path) {
    // Non-blocking: a pipe opens without a writer, and is refused below.
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    check_step(file.get() >= 0);
    struct stat status = {};
    check_step(::fstat(file.get(), &status) == 0);
    check_regular(S_ISREG(status.st_mode) && std::in_range<std::size_t>(status.st_size));
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;  // No system maps an empty file.
    void* const place = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
    check_step(place != MAP_FAILED);
    data_ = static_cast<const std::byte*>(place);
  }
  void hide() noexcept { ::munmap(const_cast<std::byte*>(data_), size_); }
  void check_step(bool done) const {
    ensure<DataError>(done, name_, ": cannot be mapped: ", std::strerror(errno));
  }
#endif
  void check_regular(bool regular) const {
    ensure<DataError>(regular, name_,
                      ": cannot be mapped: it is no regular file, or longer than all memory");
  }

  std::string name_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}}}  // namespace bpm::detail
