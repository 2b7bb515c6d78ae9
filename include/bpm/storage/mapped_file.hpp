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
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#endif

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"
#include "bpm/storage/durable_file.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

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
