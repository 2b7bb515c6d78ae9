// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"

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

/// \file
/// Files that are there whole or not at all, locks of folders, and the system calls for both.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

// What the operating system does with files, once by POSIX's calls and once by those of Windows'
// C library. Where not said otherwise they return 0, or errno's value.

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

// Files that are there whole or not at all.

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

/// One owner of a folder at a time: the lock of a file in it, which holds the owner's name.
/// The system gives it back when the process ends, however that comes. Where the file cannot be
/// opened, or the file system has no locks, there is none: draws are written whole under names of
/// their own in any case.
class FolderLock {
 public:
  /// \throws CheckpointError that names the owner where there is one.
  explicit FolderLock(const std::filesystem::path& folder)
      : file_(open_or_make(folder / "draws.lock")) {
    if (file_.get() < 0) return;
    const FileLock lock = take_lock(file_.get());
    if (lock == FileLock::taken) {
      const std::string owner =
          "process " + std::to_string(process_number()) + " on " + host_name();
      if (cut_to_nothing(file_.get()) == 0) {
        static_cast<void>(write_all(file_.get(), std::as_bytes(std::span(owner))));
      }
      return;
    }
    if (lock == FileLock::not_offered) return;
    std::array<char, 256> owner{};
    const std::ptrdiff_t size = read_first(file_.get(), owner.data(), owner.size());
    check_file(false, folder, "is in use by ",
               size > 0 ? std::string(owner.data(), static_cast<std::size_t>(size)) : "another",
               "; wait for it, or give another folder");
  }

 private:
  FileDescriptor file_;
};

}}}  // namespace bpm::detail
