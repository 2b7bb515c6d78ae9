// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

/// \file
/// Result files, written whole or not at all. The text goes to a temporary file in the folder of
/// the target, which is renamed once everything is on disk. Whether a path can be written is found
/// out beforehand, so that no long run ends in "no such folder". A target that is no regular file
/// (/dev/stdout, a pipe) is written to directly.

namespace bpm_examples {

/// A result cannot be written; the message names the file and the reason.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace output_detail {

[[noreturn]] inline void fail(const std::filesystem::path& path, std::string_view what, int code) {
  throw OutputError("cannot write '" + path.string() + "': " + std::string(what) +
                    (code == 0 ? "" : std::string(": ") + std::strerror(code)));
}

/// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// Closes and returns 0, or the error: some file systems report a full disk only here.
  [[nodiscard]] int close() noexcept { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_;
};

/// Writes everything; returns 0 or the error.
[[nodiscard]] inline int write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ::ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// A new file beside the target, removed again unless it takes the target's place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : target_(target) {
    int fd = -1;
    for (int attempt = 0; fd < 0 && attempt < 1000; ++attempt) {
      // A short name of its own: a long target name leaves no room for a suffix.
      path_ = target.parent_path() /
              (".bpm-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp");
      fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (fd < 0 && errno != EEXIST) {
        break;
      }
    }
    if (fd < 0) {
      fail(target_, "no file can be made in its folder", errno);
    }
    ::close(fd);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) {
      ::unlink(path_.c_str());
    }
  }

  /// Writes the text, waits until it is on disk, and puts the file in the target's place.
  void replace_target(std::string_view text) {
    Descriptor file(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) {
      fail(target_, "temporary file", errno);
    }
    struct ::stat old = {};
    if (::stat(target_.c_str(), &old) == 0 && ::fchmod(file.get(), old.st_mode & 07777U) != 0) {
      fail(target_, "permissions", errno);
    }
    if (const int code = write_all(file.get(), text); code != 0) {
      fail(target_, "write", code);
    }
    if (::fsync(file.get()) != 0) {
      fail(target_, "flush", errno);
    }
    if (const int code = file.close(); code != 0) {
      fail(target_, "close", code);
    }
    if (::rename(path_.c_str(), target_.c_str()) != 0) {
      fail(target_, "rename", errno);
    }
    path_.clear();
  }

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
};

struct Target {
  std::filesystem::path path;  ///< With a link to an existing file followed.
  bool direct = false;         ///< No regular file: written to as it is.
};

/// Where the text will go; throws `OutputError` for a folder and for what cannot be looked at.
[[nodiscard]] inline Target resolve(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  if (path.empty()) {
    throw OutputError("cannot write '': the file name is empty");
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) {
    fail(path, "look-up", error.value());
  }
  if (fs::is_directory(status) || !path.has_filename()) {
    fail(path, "it is a folder", 0);
  }
  const std::string plain = fs::absolute(path).lexically_normal().string();
  const bool device = plain.starts_with("/dev/") || plain.starts_with("/proc/");
  if (fs::exists(status) && (device || !fs::is_regular_file(status))) {
    return {path, true};
  }
  return {fs::exists(status) ? fs::canonical(path) : path, false};
}

}  // namespace output_detail

/// Throws `OutputError` if the file cannot be written; leaves nothing behind.
inline void check_writable(const std::filesystem::path& path) {
  const auto target = output_detail::resolve(path);
  const bool exists = std::filesystem::exists(target.path);
  if (exists && ::access(target.path.c_str(), W_OK) != 0) {
    output_detail::fail(path, "no permission", errno);
  }
  if (!target.direct) {
    output_detail::TemporaryFile probe(target.path);
  }
}

/// Makes `text` the content of the file. Throws `OutputError`; then an older file of that name is
/// what it was.
inline void write_whole(const std::filesystem::path& path, std::string_view text) {
  const auto target = output_detail::resolve(path);
  if (!target.direct) {
    output_detail::TemporaryFile(target.path).replace_target(text);
    return;
  }
  output_detail::Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (file.get() < 0) {
    output_detail::fail(path, "open", errno);
  }
  if (const int code = output_detail::write_all(file.get(), text); code != 0) {
    output_detail::fail(path, "write", code);
  }
  if (const int code = file.close(); code != 0) {
    output_detail::fail(path, "close", code);
  }
}

}  // namespace bpm_examples
