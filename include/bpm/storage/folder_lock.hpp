// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "bpm/storage/durable_file.hpp"

namespace bpm::detail {

/// One owner of a folder at a time (POSIX): the lock of a file in it, which holds the owner's name.
/// The system gives it back when the process ends, however that comes. Where the file cannot be
/// opened, or the file system has no locks, there is none: draws are written whole under names of
/// their own in any case.
class FolderLock {
 public:
  /// \throws CheckpointError that names the owner where there is one.
  explicit FolderLock(const std::filesystem::path& folder)
      : file_(::open((folder / "draws.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                     0666)) {
    if (file_.get() < 0) return;
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) {
      const std::string owner = "process " + std::to_string(::getpid()) + " on " + host();
      if (::ftruncate(file_.get(), 0) == 0) {
        static_cast<void>(write_all(file_.get(), std::as_bytes(std::span(owner))));
      }
      return;
    }
    if (errno != EWOULDBLOCK) return;
    std::array<char, 256> owner{};
    const ::ssize_t size = ::pread(file_.get(), owner.data(), owner.size(), 0);
    check_file(false, folder, "is in use by ",
               size > 0 ? std::string(owner.data(), static_cast<std::size_t>(size)) : "another",
               "; wait for it, or give another folder");
  }

 private:
  [[nodiscard]] static std::string host() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
  }

  FileDescriptor file_;
};

}  // namespace bpm::detail
