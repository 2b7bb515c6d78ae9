// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/storage/checkpoint_error.hpp"
#include "bpm/storage/durable_file.hpp"
#include "bpm/storage/run_digest.hpp"

namespace bpm {

/// One problem of a finished draw, as it is kept.
struct StoredSolution {
  std::vector<PointIndex> support;
  std::vector<double> coefficients;
  std::vector<double> outputs;
};

/// Some of the problems of one draw: what is worked on, and kept, at a time.
struct DrawPiece {
  std::uint64_t number = 0;  ///< The stream of the draw.
  std::size_t first = 0;     ///< Its first problem here.
  std::size_t count = 0;     ///< How many.

  friend auto operator<=>(const DrawPiece&, const DrawPiece&) = default;
};

/// A finished piece with what it cost.
struct StoredPiece {
  DrawPiece piece;
  std::vector<StoredSolution> solutions;  ///< One a problem.
  std::uint64_t mistakes = 0;
  std::uint64_t passes = 0;
  std::uint64_t training_errors = 0;
};

/// Finished draws in a folder, a file a piece, so that a run that ended early can go on from them.
///
/// A file is written beside its place, flushed to the disk and renamed: it is there whole or not at
/// all, and a disk that fills spoils nothing that was there before. It holds a magic word, a
/// version, the byte order, the digest of data and settings, sizes, costs, and a problem after the
/// other its coefficients and outputs (8 m bytes a problem), and ends with a checksum. Files of
/// other programs in the folder are left alone.
class DrawStore {
 public:
  /// Makes the folder where it is missing.
  /// \throws CheckpointError if the path is a file, or a folder cannot be made there.
  DrawStore(std::filesystem::path folder, const RunDigest& digest, std::ptrdiff_t points)
      : folder_(std::move(folder)), digest_(digest), points_(points) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    std::error_code unreadable;
    if (!std::filesystem::is_directory(folder_, unreadable)) {
      if (!error) error = unreadable;
      throw CheckpointError(detail::join("checkpoint: ", folder_.string(),
                                         " is no folder and cannot be made one",
                                         error ? ": " + error.message() : std::string()));
    }
  }

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  /// The pieces that are there, in order, after a look at the head of each.
  /// \throws CheckpointError on a file that is no checkpoint, or one of other data or settings.
  [[nodiscard]] std::vector<DrawPiece> list() const {
    std::vector<DrawPiece> pieces;
    std::error_code error;
    const std::filesystem::directory_iterator entries(folder_, error);
    if (error) {
      throw CheckpointError(
          detail::join("checkpoint: ", folder_.string(), " cannot be read: ", error.message()));
    }
    for (const auto& entry : entries) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
      const Head head = check_head(entry.path(), detail::read_bytes(entry.path(), sizeof(Head)));
      const DrawPiece piece{head.number, static_cast<std::size_t>(head.first),
                            static_cast<std::size_t>(head.count)};
      if (path_of(piece).filename() != name) {
        throw CheckpointError(detail::join("checkpoint: ", entry.path().string(), " holds draw ",
                                           head.number, ": it was renamed"));
      }
      pieces.push_back(piece);
    }
    std::sort(pieces.begin(), pieces.end());
    return pieces;
  }

  /// \throws CheckpointError if it cannot be written; what was there before is whole.
  void write(const StoredPiece& stored) const {
    std::vector<std::byte> bytes;
    const auto put = [&](const void* data, std::size_t size) {
      const auto* from = static_cast<const std::byte*>(data);
      bytes.insert(bytes.end(), from, from + size);
    };
    Head head{};
    head.parts = digest_.parts();
    head.points = static_cast<std::uint64_t>(points_);
    head.number = stored.piece.number;
    head.first = stored.piece.first;
    head.count = stored.piece.count;
    head.mistakes = stored.mistakes;
    head.passes = stored.passes;
    head.training_errors = stored.training_errors;
    put(&head, sizeof head);
    for (const StoredSolution& solution : stored.solutions) {
      const std::uint64_t support = solution.support.size();
      put(&support, sizeof support);
      put(solution.support.data(), support * sizeof(PointIndex));
      put(solution.coefficients.data(), support * sizeof(double));
      put(solution.outputs.data(), solution.outputs.size() * sizeof(double));
    }
    const std::uint64_t sum = checksum(bytes);
    put(&sum, sizeof sum);
    detail::write_durably(path_of(stored.piece), bytes);
  }

  /// \throws CheckpointError if the file is missing, damaged, or of other data or settings.
  [[nodiscard]] StoredPiece read(const DrawPiece& piece) const {
    const std::filesystem::path path = path_of(piece);
    const std::vector<std::byte> bytes = detail::read_bytes(path, static_cast<std::size_t>(-1));
    const Head head = check_head(path, bytes);
    const auto damaged = [&](const char* what) {
      throw CheckpointError(detail::join("checkpoint: ", path.string(), " is damaged: ", what,
                                         "; remove it, and its draw is made again"));
    };
    if (bytes.size() < sizeof(Head) + sizeof(std::uint64_t)) damaged("it ends too early");
    std::uint64_t sum = 0;
    std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
    const auto body = std::span(bytes).first(bytes.size() - sizeof sum);
    if (sum != checksum(body)) damaged("its checksum is wrong, or it ends too early");
    std::size_t place = sizeof(Head);
    const auto take = [&](void* data, std::size_t size) {
      if (size > body.size() - place) damaged("it ends too early");
      std::memcpy(data, body.data() + place, size);
      place += size;
    };
    StoredPiece stored{piece, {}, head.mistakes, head.passes, head.training_errors};
    for (std::size_t c = 0; c < piece.count; ++c) {
      StoredSolution solution;
      std::uint64_t support = 0;
      take(&support, sizeof support);
      if (support > static_cast<std::uint64_t>(points_)) damaged("it has too many support points");
      solution.support.resize(support);
      solution.coefficients.resize(support);
      solution.outputs.resize(static_cast<std::size_t>(points_));
      take(solution.support.data(), support * sizeof(PointIndex));
      take(solution.coefficients.data(), support * sizeof(double));
      take(solution.outputs.data(), solution.outputs.size() * sizeof(double));
      stored.solutions.push_back(std::move(solution));
    }
    if (place != body.size()) damaged("it is too long");
    return stored;
  }

  [[nodiscard]] std::filesystem::path path_of(const DrawPiece& piece) const {
    return folder_ / (prefix + std::to_string(piece.number) + "-" + std::to_string(piece.first) +
                      "-" + std::to_string(piece.count) + suffix);
  }

 private:
  inline static const std::string prefix = "draw-";
  inline static const std::string suffix = ".bpm";

  struct Head {
    std::array<char, 8> magic{'B', 'P', 'M', 'D', 'R', 'A', 'W', '\n'};
    std::uint32_t version = 1;
    std::uint32_t byte_order = 0x01020304;
    RunDigest::Parts parts{};
    std::uint64_t points = 0;
    std::uint64_t number = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t mistakes = 0;
    std::uint64_t passes = 0;
    std::uint64_t training_errors = 0;
  };
  static_assert(std::is_trivially_copyable_v<Head>);

  [[nodiscard]] static std::uint64_t checksum(std::span<const std::byte> bytes) {
    detail::WordHash hash;
    hash.add_bytes(bytes.data(), bytes.size());
    hash.add(std::uint64_t{bytes.size()});
    return hash.value();
  }

  [[nodiscard]] Head check_head(const std::filesystem::path& path,
                                std::span<const std::byte> bytes) const {
    const auto refuse = [&](const auto&... why) {
      throw CheckpointError(detail::join("checkpoint: ", path.string(), " ", why...));
    };
    Head head;
    const Head expected;
    if (bytes.size() < sizeof head) refuse("is damaged: it ends within its head; remove it");
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.magic != expected.magic) refuse("is no checkpoint: it begins otherwise");
    if (head.byte_order != expected.byte_order) refuse("was written in another byte order");
    if (head.version != expected.version) {
      refuse("has format ", head.version, ", expected ", expected.version);
    }
    const RunDigest::Parts mine = digest_.parts();
    for (std::size_t p = 0; p < mine.size(); ++p) {
      if (head.parts[p] != mine[p]) {
        refuse("belongs to another run: other ", RunDigest::part_names[p],
               "; give another folder, or the data and settings of that run");
      }
    }
    if (head.points != static_cast<std::uint64_t>(points_)) {
      refuse("is of ", head.points, " points, expected ", points_);
    }
    return head;
  }

  std::filesystem::path folder_;
  RunDigest digest_;
  std::ptrdiff_t points_;
};

}  // namespace bpm
