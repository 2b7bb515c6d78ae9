// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/storage/durable_file.hpp"

namespace bpm::detail {

/// A file's bytes where the system shows them as memory (POSIX): nothing is read before it is
/// looked at, and processes share what was. Who writes into the file writes into what is seen, and
/// a file cut short ends the process that looks: replace files by renaming, as `write_durably`
/// does.
class MappedFile {
 public:
  /// \throws DataError where the file cannot be opened or shown, a folder among them.
  explicit MappedFile(const std::filesystem::path& path) : name_(path.string()) {
    // Not blocking: a pipe is opened without anyone who writes, and refused below.
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    check_step(file.get() >= 0);
    struct stat status = {};
    check_step(::fstat(file.get(), &status) == 0);
    ensure<DataError>(S_ISREG(status.st_mode) && std::in_range<std::size_t>(status.st_size), name_,
                      ": cannot be mapped: it is no regular file, or longer than all memory");
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;  // No system maps nothing.
    void* const place = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
    check_step(place != MAP_FAILED);
    data_ = static_cast<const std::byte*>(place);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  void check_step(bool done) const {
    ensure<DataError>(done, name_, ": cannot be mapped: ", std::strerror(errno));
  }

  std::string name_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace bpm::detail
