// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "bpm/core/target.hpp"
#include "bpm/storage/durable_file.hpp"
#include "bpm/storage/system_calls.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

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
