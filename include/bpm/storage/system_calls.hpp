// SPDX-License-Identifier: MIT
#pragma once

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <sys/locking.h>
#include <sys/stat.h>

#include <cstdlib>
#else
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "bpm/core/path_text.hpp"
#include "bpm/core/target.hpp"

/// \file
/// What the operating system does with files, once by POSIX's calls and once by those of Windows'
/// C library. Where not said otherwise they return 0, or errno's value.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// What `take_lock` came to.
enum class FileLock { taken, of_another, not_offered };

#if defined(_WIN32)

/// A new file to write; -1 where it cannot be made, or is there.
[[nodiscard]] inline int open_new(const std::filesystem::path& path) noexcept {
  return ::_wopen(path.c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT,
                  _S_IREAD | _S_IWRITE);
}
/// A file to read and write, made where it is missing; -1 where it cannot be opened.
[[nodiscard]] inline int open_or_make(const std::filesystem::path& path) noexcept {
  return ::_wopen(path.c_str(), _O_RDWR | _O_CREAT | _O_BINARY | _O_NOINHERIT,
                  _S_IREAD | _S_IWRITE);
}
inline int close_file(int file) noexcept { return ::_close(file) == 0 ? 0 : errno; }
/// How many bytes were written; -1: none.
[[nodiscard]] inline std::ptrdiff_t write_some(int file, const std::byte* bytes,
                                               std::size_t count) noexcept {
  const auto most = std::size_t{std::numeric_limits<int>::max()};
  return ::_write(file, bytes, static_cast<unsigned>(std::min(count, most)));
}
[[nodiscard]] inline int flush_file(int file) noexcept { return ::_commit(file) == 0 ? 0 : errno; }
/// Windows writes names some time later, and has no call for a folder.
inline void flush_folder(const std::filesystem::path&) noexcept {}
inline void remove_file(const std::filesystem::path& path) noexcept { ::_wunlink(path.c_str()); }
/// Of an error of the standard library: errno's value where it has one.
[[nodiscard]] inline int number_of(const std::error_code& error) noexcept {
  const std::error_condition condition = error.default_error_condition();
  return condition.category() == std::generic_category() ? condition.value() : EIO;
}
/// Gives the file the name, whatever had it.
[[nodiscard]] inline int rename_file(const std::filesystem::path& from,
                                     const std::filesystem::path& to) noexcept {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  return number_of(error);
}
/// A lock until the file is closed, which is on a byte far behind the last one: a locked byte is
/// one that no other process can read.
[[nodiscard]] inline FileLock take_lock(int file) noexcept {
  constexpr long far_behind = 1L << 30;
  if (::_lseek(file, far_behind, SEEK_SET) != far_behind) return FileLock::not_offered;
  errno = 0;
  const bool taken = ::_locking(file, _LK_NBLCK, 1) == 0;
  // Wine does not say why it refuses.
  const bool of_another = errno == EACCES || errno == EDEADLOCK || errno == 0;
  ::_lseek(file, 0, SEEK_SET);
  if (taken) return FileLock::taken;
  return of_another ? FileLock::of_another : FileLock::not_offered;
}
[[nodiscard]] inline int cut_to_nothing(int file) noexcept { return ::_chsize_s(file, 0); }
/// How many of the file's first bytes were read; -1: reading failed.
[[nodiscard]] inline std::ptrdiff_t read_first(int file, char* bytes, std::size_t count) noexcept {
  ::_lseek(file, 0, SEEK_SET);
  return ::_read(file, bytes, static_cast<unsigned>(count));
}
[[nodiscard]] inline long process_number() noexcept { return ::_getpid(); }
[[nodiscard]] inline std::string host_name() {
  const char* const name = std::getenv("COMPUTERNAME");
  return name != nullptr ? name : "an unknown host";
}
/// visit(name) for each file in the folder.
template <class Visit>
[[nodiscard]] int for_each_name(const std::filesystem::path& folder, Visit&& visit) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    visit(text_of(entry->path().filename()));
  }
  return number_of(error);
}

#else

/// A new file to write; -1 where it cannot be made, or is there.
[[nodiscard]] inline int open_new(const std::filesystem::path& path) noexcept {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}
/// A file to read and write, made where it is missing; -1 where it cannot be opened, or is a link.
[[nodiscard]] inline int open_or_make(const std::filesystem::path& path) noexcept {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
}
inline int close_file(int file) noexcept { return ::close(file) == 0 ? 0 : errno; }
/// How many bytes were written; -1: none.
[[nodiscard]] inline std::ptrdiff_t write_some(int file, const std::byte* bytes,
                                               std::size_t count) noexcept {
  return ::write(file, bytes, count);
}
[[nodiscard]] inline int flush_file(int file) noexcept { return ::fsync(file) == 0 ? 0 : errno; }
/// A name reaches the disk with its folder. Not every file system can; then it was as durable as
/// that file system makes things.
inline void flush_folder(const std::filesystem::path& folder) noexcept {
  const int file = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  static_cast<void>(::fsync(file));
  ::close(file);
}
inline void remove_file(const std::filesystem::path& path) noexcept { ::unlink(path.c_str()); }
/// Gives the file the name, whatever had it.
[[nodiscard]] inline int rename_file(const std::filesystem::path& from,
                                     const std::filesystem::path& to) noexcept {
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}
/// A lock until the file is closed.
[[nodiscard]] inline FileLock take_lock(int file) noexcept {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return FileLock::taken;
  return errno == EWOULDBLOCK ? FileLock::of_another : FileLock::not_offered;
}
[[nodiscard]] inline int cut_to_nothing(int file) noexcept {
  return ::ftruncate(file, 0) == 0 ? 0 : errno;
}
/// How many of the file's first bytes were read; -1: reading failed.
[[nodiscard]] inline std::ptrdiff_t read_first(int file, char* bytes, std::size_t count) noexcept {
  return ::pread(file, bytes, count, 0);
}
[[nodiscard]] inline long process_number() noexcept { return ::getpid(); }
[[nodiscard]] inline std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
}
/// visit(name) for each file in the folder. (Not a directory_iterator: that of libstdc++ ends the
/// program where there is no memory.)
template <class Visit>
[[nodiscard]] int for_each_name(const std::filesystem::path& folder, Visit&& visit) {
  const std::unique_ptr<::DIR, int (*)(::DIR*)> entries(
      ::opendir(folder.c_str()), [](::DIR* open) { return ::closedir(open); });
  if (entries == nullptr) return errno;
  for (;;) {
    errno = 0;
    const ::dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr) return errno;
    visit(std::string(entry->d_name));
  }
}

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
  /// Some file systems report a full disk only here.
  [[nodiscard]] int close() noexcept { return close_file(std::exchange(number_, -1)); }

 private:
  int number_;
};

}}}  // namespace bpm::detail
