// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/samplers/perceptron/draw_pieces.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/byte_stream.hpp"
#include "bpm/storage/durable_file.hpp"
#include "bpm/storage/run_identity.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Finished draws in a folder, one file per piece, from which an interrupted run can continue.
///
/// Each file is written under another name, flushed to the disk and renamed: it exists as a whole
/// or not at all, and a full disk damages no earlier file. It contains a magic word, a version, the
/// byte order, sizes, costs, the identity of the run, and for each problem the coefficients (12
/// bytes each) and outputs (8 m bytes); it ends with a checksum. Files of other programs in the
/// folder are ignored.
class DrawStore {
 public:
  /// Makes the folder if it is missing. Each lambda that was chosen, not given, has a subfolder for
  /// its draws. \throws CheckpointError if the path is a file, or a folder cannot be made there.
  DrawStore(std::filesystem::path folder, RunIdentity run, std::ptrdiff_t points,
            const std::optional<double>& chosen_lambda = {});

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  /// Returns the stored pieces in order, after a check of each file's head.
  /// \throws CheckpointError on a file that is no checkpoint, or one of other data or settings.
  [[nodiscard]] std::vector<DrawPiece> list() const;

  /// Writes a piece. \throws CheckpointError if it cannot be written; an earlier file stays whole.
  void write(const FinishedPiece& finished) const;

  /// Reads a piece. \throws CheckpointError if the file is missing, damaged, or of another run.
  [[nodiscard]] FinishedPiece read(const DrawPiece& piece) const;

  /// Returns functions that read and write pieces in this store, which must outlive them.
  [[nodiscard]] PieceKeeper keeper() const;

  [[nodiscard]] std::filesystem::path path_of(const DrawPiece& piece) const {
    return folder_ / (prefix + std::to_string(piece.number) + "-" + std::to_string(piece.first) +
                      "-" + std::to_string(piece.count) + suffix);
  }

 private:
  inline static const std::string prefix = "draw-";
  inline static const std::string suffix = ".bpm";

  struct Head {
    std::array<char, 8> magic{'B', 'P', 'M', 'D', 'R', 'A', 'W', '\n'};
    std::uint32_t version = 3;
    std::uint32_t byte_order = 0x01020304;
    std::uint64_t run_bytes = 0;
    std::uint64_t number = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    SamplerReport::Perceptron counts{};
  };
  static_assert(std::is_trivially_copyable_v<Head>);
  static constexpr std::size_t longest_run = 4096;  ///< Most bytes of an identity.

  [[nodiscard]] static std::uint64_t checksum(std::span<const std::byte> bytes) {
    WordHash hash;
    hash.add_bytes(bytes.data(), bytes.size());
    hash.add(std::uint64_t{bytes.size()});
    return hash.value();
  }

  [[nodiscard]] Head check_head(const std::filesystem::path& path,
                                std::span<const std::byte> bytes) const;

  std::filesystem::path folder_;
  RunIdentity run_;
  std::ptrdiff_t points_;
};

#if BPM_BODIES

BPM_INLINE DrawStore::DrawStore(std::filesystem::path folder, RunIdentity run,
                                std::ptrdiff_t points, const std::optional<double>& chosen_lambda)
    : folder_(std::move(folder)), run_(std::move(run)), points_(points) {
  if (chosen_lambda) {
    std::array<char, 32> digits{};  // The shortest digits that identify the number.
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *chosen_lambda);
    folder_ /= "lambda-" + std::string(digits.data(), end.ptr);
  }
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  std::error_code unreadable;
  if (!std::filesystem::is_directory(folder_, unreadable)) {
    if (!error) error = unreadable;
    check_file(false, folder_, "is no folder and cannot be made one",
               error ? ": " + error.message() : std::string());
  }
}

BPM_INLINE std::vector<DrawPiece> DrawStore::list() const {
  std::vector<DrawPiece> pieces;
  const int error = for_each_name(folder_, [&](const std::string& name) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return;
    const std::filesystem::path path = folder_ / name;
    const Head head = check_head(path, read_bytes(path, sizeof(Head) + longest_run));
    const DrawPiece piece{head.number, static_cast<std::size_t>(head.first),
                          static_cast<std::size_t>(head.count)};
    check_file(path_of(piece).filename() == name, path, "holds draw ", head.number,
               ": it was renamed");
    pieces.push_back(piece);
  });
  check_file(error == 0, folder_, "cannot be read: ", std::strerror(error));
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

BPM_INLINE void DrawStore::write(const FinishedPiece& finished) const {
  ByteWriter bytes;
  bytes.put(Head{.run_bytes = run_.text().size(),
                 .number = finished.piece.number,
                 .first = finished.piece.first,
                 .count = finished.piece.count,
                 .counts = finished.counts});
  bytes.put_all(run_.text());
  for (const PerceptronSolution& solution : finished.solutions) {
    bytes.put(std::uint64_t{solution.support.size()});
    bytes.put_all(solution.support);
    bytes.put_all(solution.coefficients);
    bytes.put_all(solution.outputs);
    bytes.put(std::uint64_t{solution.left_out.size()});
    bytes.put_all(solution.left_out);
    bytes.put_all(solution.left_out_outputs);
  }
  bytes.put(checksum(bytes.bytes()));
  write_durably(path_of(finished.piece), bytes.bytes());
}

BPM_INLINE FinishedPiece DrawStore::read(const DrawPiece& piece) const {
  const std::filesystem::path path = path_of(piece);
  const std::vector<std::byte> bytes = read_bytes(path, static_cast<std::size_t>(-1));
  const Head head = check_head(path, bytes);
  const auto sound = [&](bool holds, const char* damage) {
    check_file(holds, path, "is damaged: ", damage, "; remove it, and its draw is made again");
  };
  constexpr const char* short_of_it = "it ends too early";
  std::uint64_t sum = 0;
  sound(bytes.size() >= sizeof(Head) + run_.text().size() + sizeof sum, short_of_it);
  const auto body = std::span(bytes).first(bytes.size() - sizeof sum);
  ByteReader(std::span(bytes).last(sizeof sum)).take(sum);
  sound(sum == checksum(body), "its checksum is wrong, or it ends too early");
  ByteReader from(body.subspan(sizeof(Head) + run_.text().size()));
  FinishedPiece finished{piece, {}, head.counts};
  const auto points = static_cast<std::uint64_t>(points_);
  for (std::size_t c = 0; c < piece.count; ++c) {
    PerceptronSolution solution;
    std::uint64_t support = 0;
    sound(from.take(support), short_of_it);
    sound(support <= points, "it has too many support points");
    sound(from.take_all(solution.support, support) &&
              from.take_all(solution.coefficients, support) &&
              from.take_all(solution.outputs, points),
          short_of_it);
    std::uint64_t left_out = 0;
    sound(from.take(left_out), short_of_it);
    sound(left_out <= points, "it leaves too many points out");
    sound(from.take_all(solution.left_out, left_out) &&
              from.take_all(solution.left_out_outputs, left_out),
          short_of_it);
    // A correct checksum does not exclude contents crafted to have it.
    const auto ascend = [&](const std::vector<PointIndex>& list) {
      return std::adjacent_find(list.begin(), list.end(), std::greater_equal<>{}) == list.end() &&
             (list.empty() ||
              (list.front() >= 0 && static_cast<std::uint64_t>(list.back()) < points));
    };
    sound(ascend(solution.support), "its support points do not ascend, or are none");
    sound(ascend(solution.left_out), "its points left out do not ascend, or are none");
    for (const auto* list :
         {&solution.coefficients, &solution.outputs, &solution.left_out_outputs}) {
      for (const double number : *list) {
        sound(std::isfinite(number), "it has numbers that are not finite");
      }
    }
    finished.solutions.push_back(std::move(solution));
  }
  sound(from.done(), "it is too long");
  return finished;
}

BPM_INLINE PieceKeeper DrawStore::keeper() const {
  return {[this](const DrawPiece& piece) { return read(piece); },
          [this](const FinishedPiece& piece) { write(piece); }};
}

BPM_INLINE DrawStore::Head DrawStore::check_head(const std::filesystem::path& path,
                                                 std::span<const std::byte> bytes) const {
  Head head;
  const Head expected;
  check_file(bytes.size() >= sizeof head, path, "is damaged: it ends within its head; remove it");
  std::memcpy(&head, bytes.data(), sizeof head);
  check_file(head.magic == expected.magic, path, "is no checkpoint: it begins otherwise");
  check_file(head.byte_order == expected.byte_order, path, "was written in another byte order");
  check_file(head.version == expected.version, path, "has format ", head.version, ", expected ",
             expected.version);
  const auto run = bytes.subspan(sizeof head);
  check_file(head.run_bytes <= std::min(run.size(), longest_run), path,
             "is damaged: it ends within its head; remove it");
  const std::string text(reinterpret_cast<const char*>(run.data()), head.run_bytes);
  const std::string other = run_.difference(RunIdentity(text));
  check_file(other.empty(), path, "belongs to another run: other ", other,
             "; give another folder, or the data and settings of that run");
  return head;
}

#endif

}  // namespace detail

/// Permuted perceptrons that save each finished draw in a folder: a run that was interrupted, by a
/// stop, an error or the end of its process, continues there when it is started again on the same
/// data with the same settings, and gives the model of the uninterrupted run bit for bit. The
/// number of draws may change, and so may threads and byte budget. Where lambda is chosen, the
/// draws of each candidate have a subfolder.
///
///     const bpm::CheckpointedPerceptron sampler{{.draws = 10}, "draws"};
///     const auto fitted = bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler)).fit(x, labels);
///
/// In the report, mistakes and passes count all draws, kernel evaluations only this run's.
struct CheckpointedPerceptron : PermutedPerceptron {
  /// Traits of the base class, and `keeps_draws`.
  static constexpr SamplerTraits traits{.name = PermutedPerceptron::traits.name,
                                        .computes_blocks = true,
                                        .keeps_draws = true,
                                        .has_trials = true};

  std::filesystem::path checkpoint;  ///< Folder of the draws, made if it is missing.

  /// Draws as `PermutedPerceptron::sample`, and saves each draw.
  /// \throws CheckpointError if a draw cannot be written, the folder holds draws of another run, or
  ///         another fit is at work in it.
  template <VersionSpace Space, detail::DrawSink Sink>
  SamplerReport sample(std::span<const Space> spaces, RandomStreams& streams,
                       const RunControl& control, Sink&& sink) const {
    check_settings();
    const char* const function = "CheckpointedPerceptron";
    detail::check_spaces(spaces, function);
    detail::check(!checkpoint.empty(), function, "checkpoint",
                  "is empty, expected the name of a folder");
    detail::BlockScratch<typename Space::Scalar> scratch;
    detail::RunIdentity run;
    detail::add_run(run, *this, spaces, streams.seed, scratch, control.left_out_draws);
    const detail::DrawStore store(checkpoint, std::move(run), spaces[0].size(),
                                  control.chosen_lambda);
    const detail::FolderLock lock(store.folder());
    const detail::PieceTasks tasks(
        detail::plan_pieces(streams.next, streams.next + draws, spaces.size(), store.list(), 1));
    SamplerReport report = detail::with_kernel_spaces(spaces, [&](auto shared) {
      return detail::sample_pieces(detail::PerceptronLimits::of(*this, shared[0].size()), shared,
                                   streams, tasks, control, std::ref(sink), store.keeper());
    });
    report.kernel_evaluations += scratch.evaluations;
    return report;
  }

  /// Returns a copy with this number of draws.
  [[nodiscard]] CheckpointedPerceptron with_draws(std::uint64_t count) const {
    return {PermutedPerceptron::with_draws(count), checkpoint};
  }

  /// Returns `PermutedPerceptron::memory_need` plus the memory of files being written.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    MemoryNeed need = PermutedPerceptron::memory_need(run);
    const std::size_t file = run.problems * static_cast<std::size_t>(run.points) *
                             (2 * sizeof(double) + sizeof(PointIndex));
    // A plan of all draws, twice while it grows; no memory has 2^40 of them.
    need.bytes +=
        static_cast<std::size_t>(std::min<std::uint64_t>(draws, std::uint64_t{1} << 40U) * 2 *
                                 (sizeof(detail::PieceTask) + sizeof(detail::DrawPiece)));
    need.bytes +=
        2 * file *
        detail::draws_at_once({.threads = run.threads, .draws_at_once = run.draws_at_once}, draws);
    return need;
  }
};

}}  // namespace bpm
