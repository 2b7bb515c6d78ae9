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
/// Files that exist as a whole or not at all, locks of folders, and the system calls for both.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

// File operations of the system, once by POSIX and once by Windows' C library. Unless stated
// otherwise they return 0, or errno's value.

/// Result of `take_lock`.
enum class FileLock { taken, of_another, not_offered };

#if defined(_WIN32)

/// Opens a new file to write; returns -1 if it cannot be made, or exists.
[[nodiscard]] inline int open_new(const std::filesystem::path& path) noexcept {
  return ::_wopen(path.c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT,
                  _S_IREAD | _S_IWRITE);
}
/// Opens a file to read and write, made if missing; returns -1 if it cannot be opened.
[[nodiscard]] inline int open_or_make(const std::filesystem::path& path) noexcept {
  return ::_wopen(path.c_str(), _O_RDWR | _O_CREAT | _O_BINARY | _O_NOINHERIT,
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
/// Returns errno's value for an error of the standard library, EIO if it has none.
[[nodiscard]] inline int number_of(const std::error_code& error) noexcept {
  const std::error_condition condition = error.default_error_condition();
  return condition.category() == std::generic_category() ? condition.value() : EIO;
}
/// Renames the file, and replaces any file of the new name.
[[nodiscard]] inline int rename_file(const std::filesystem::path& from,
                                     const std::filesystem::path& to) noexcept {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  return number_of(error);
}
/// Locks the file until it is closed, by a byte far behind the last one: no other process can read
/// a locked byte.
[[nodiscard]] inline FileLock take_lock(int file) noexcept {
  constexpr long far_behind = 1L << 30;
  if (::_lseek(file, far_behind, SEEK_SET) != far_behind) return FileLock::not_offered;
  errno = 0;
  const bool taken = ::_locking(file, _LK_NBLCK, 1) == 0;
  // Wine gives no reason for its refusal.
  const bool of_another = errno == EACCES || errno == EDEADLOCK || errno == 0;
  ::_lseek(file, 0, SEEK_SET);
  if (taken) return FileLock::taken;
  return of_another ? FileLock::of_another : FileLock::not_offered;
}
[[nodiscard]] inline int cut_to_nothing(int file) noexcept { return ::_chsize_s(file, 0); }
/// Reads the file's first bytes and returns their number; -1: reading failed.
[[nodiscard]] inline std::ptrdiff_t read_first(int file, char* bytes, std::size_t count) noexcept {
  ::_lseek(file, 0, SEEK_SET);
  return ::_read(file, bytes, static_cast<unsigned>(count));
}
[[nodiscard]] inline long process_number() noexcept { return ::_getpid(); }
[[nodiscard]] inline std::string host_name() {
  const char* const name = std::getenv("COMPUTERNAME");
  return name != nullptr ? name : "an unknown host";
}
/// Calls visit(name) for each file in the folder.
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

/// Opens a new file to write; returns -1 if it cannot be made, or exists.
[[nodiscard]] inline int open_new(const std::filesystem::path& path) noexcept {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}
/// Opens a file to read and write, made if missing; returns -1 if that fails, or it is a link.
[[nodiscard]] inline int open_or_make(const std::filesystem::path& path) noexcept {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
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
/// Locks the file until it is closed.
[[nodiscard]] inline FileLock take_lock(int file) noexcept {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return FileLock::taken;
  return errno == EWOULDBLOCK ? FileLock::of_another : FileLock::not_offered;
}
[[nodiscard]] inline int cut_to_nothing(int file) noexcept {
  return ::ftruncate(file, 0) == 0 ? 0 : errno;
}
/// Reads the file's first bytes and returns their number; -1: reading failed.
[[nodiscard]] inline std::ptrdiff_t read_first(int file, char* bytes, std::size_t count) noexcept {
  return ::pread(file, bytes, count, 0);
}
[[nodiscard]] inline long process_number() noexcept { return ::getpid(); }
[[nodiscard]] inline std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
}
/// Calls visit(name) for each file in the folder. (A directory_iterator of libstdc++ would end the
/// program if memory runs out.)
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
  /// Closes the file now: some file systems report a full disk only here.
  [[nodiscard]] int close() noexcept { return close_file(std::exchange(number_, -1)); }

 private:
  int number_;
};

// Files that exist as a whole or not at all.

/// Throws a CheckpointError about a file, or folder, unless `holds`.
template <class... What>
void check_file(bool holds, const std::filesystem::path& path, const What&... what) {
  ensure<CheckpointError>(holds, "checkpoint: ", text_of(path), " ", what...);
}

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
/// \throws CheckpointError if that cannot be done; the message begins with `what` and ends with
///         `cure`.
inline void write_pieces_durably(const std::filesystem::path& path,
                                 std::span<const std::span<const std::byte>> pieces,
                                 std::string_view what, std::string_view cure) {
  // Allocates before the file exists, so that an exception leaves no file.
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

/// Writes one piece durably.
inline void write_durably(const std::filesystem::path& path, std::span<const std::byte> bytes,
                          std::string_view what = "checkpoint",
                          std::string_view cure = ", and a rerun goes on from it") {
  write_pieces_durably(path, std::span(&bytes, 1), what, cure);
}

/// Returns at most `most` first bytes of a file. \throws CheckpointError if it cannot be read.
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

/// Exclusive ownership of a folder: the lock of a file in it, which contains the owner's name. The
/// system releases it however the process ends. Where the file cannot be opened, or the file system
/// has no locks, there is no lock: draws are written whole, each under its own name, in any case.
class FolderLock {
 public:
  /// Locks the folder. \throws CheckpointError that names the owner if it is locked already.
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
