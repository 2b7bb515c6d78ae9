// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "bpm/cluster/communicator.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/draw_store.hpp"

namespace bpm::detail {

/// A piece of a draw and the rank that makes it.
struct OwnedPiece {
  DrawPiece piece;
  int owner = 0;
};

/// Brings the draws that ranks have made to the sinks of all ranks, in the order of the draws.
///
/// Coefficients, which are few, go to everyone. Outputs are m numbers a problem and draw: rank r
/// gets those of its range of the points, adds them in the order of the draws, and at the end the
/// sums are gathered: each rank sends and receives its share of all outputs once instead of all of
/// them. Additions of a point happen on one rank in the order in which one process does them.
class DrawExchange {
 public:
  DrawExchange(const Communicator& ranks, std::ptrdiff_t points, std::size_t problems, bool sums)
      : ranks_(ranks), points_(points), problems_(problems), reduces_(sums) {
    if (reduces_) {
      sums_.assign(problems_ * static_cast<std::size_t>(length(ranks_.rank())), 0.0);
    }
  }

  /// Collective. `pieces`: all pieces of some draws, in order; `mine` holds those of this rank,
  /// which are taken out.
  template <class Sink>
  void deliver(std::span<const OwnedPiece> pieces, std::map<DrawPiece, StoredPiece>& mine,
               PerceptronReport& report, Sink& sink) {
    const std::vector<std::uint64_t> packed = pack(pieces, mine);
    std::vector<std::size_t> counts;
    const std::vector<std::uint64_t> all =
        ranks_.all_gather_all(std::span<const std::uint64_t>(packed), &counts);
    std::vector<std::size_t> place(counts.size(), 0);  // Where each rank's part is read next.
    for (std::size_t r = 1; r < counts.size(); ++r) place[r] = place[r - 1] + counts[r - 1];
    std::vector<double> outputs(reduces_ ? 0 : static_cast<std::size_t>(points_));
    std::vector<PointIndex> support;
    std::vector<double> coefficients;
    for (const OwnedPiece& owned : pieces) {
      const std::uint64_t* from = all.data() + place[static_cast<std::size_t>(owned.owner)];
      report.mistakes += from[0];
      report.passes += from[1];
      report.training_errors += from[2];
      from += 3;
      for (std::size_t c = 0; c < owned.piece.count; ++c) {
        const std::size_t count = *from++;
        support.resize(count);
        coefficients.resize(count);
        std::memcpy(support.data(), from, count * sizeof(PointIndex));
        from += (count + 1) / 2;
        std::memcpy(coefficients.data(), from, count * sizeof(double));
        from += count;
        if (!reduces_) {
          if (owned.owner == ranks_.rank()) outputs = mine.at(owned.piece).solutions[c].outputs;
          ranks_.broadcast(std::span(outputs), owned.owner);
        }
        sink(Draw{.number = owned.piece.number,
                  .problem = owned.piece.first + c,
                  .support = support,
                  .coefficients = coefficients,
                  .outputs = outputs,
                  .part = reduces_ ? DrawPart::coefficients : DrawPart::whole});
      }
      place[static_cast<std::size_t>(owned.owner)] = static_cast<std::size_t>(from - all.data());
    }
    if (reduces_) {
      for (std::size_t c = 0; c < problems_; ++c) reduce(c, pieces, mine);
    }
    for (const OwnedPiece& owned : pieces) mine.erase(owned.piece);
  }

  /// Collective: hands over the sums of the outputs.
  template <class Sink>
  void finish(std::uint64_t first_number, Sink& sink) {
    const auto mine = static_cast<std::size_t>(reduces_ ? length(ranks_.rank()) : 0);
    for (std::size_t c = 0; reduces_ && c < problems_; ++c) {
      const std::vector<double> outputs =
          ranks_.all_gather_all(std::span<const double>(sums_).subspan(c * mine, mine));
      sink(Draw{.number = first_number,
                .problem = c,
                .support = {},
                .coefficients = {},
                .outputs = outputs,
                .part = DrawPart::outputs});
    }
  }

 private:
  [[nodiscard]] std::ptrdiff_t start(int rank) const { return points_ * rank / ranks_.size(); }
  [[nodiscard]] std::ptrdiff_t length(int rank) const { return start(rank + 1) - start(rank); }

  /// Costs and coefficients of this rank's pieces, in words.
  [[nodiscard]] std::vector<std::uint64_t> pack(
      std::span<const OwnedPiece> pieces, const std::map<DrawPiece, StoredPiece>& mine) const {
    std::vector<std::uint64_t> packed;
    for (const OwnedPiece& owned : pieces) {
      if (owned.owner != ranks_.rank()) continue;
      const StoredPiece& made = mine.at(owned.piece);
      packed.insert(packed.end(), {made.mistakes, made.passes, made.training_errors});
      for (const StoredSolution& solution : made.solutions) {
        const std::size_t count = solution.support.size();
        packed.push_back(count);
        const std::size_t at = packed.size();
        packed.resize(at + (count + 1) / 2 + count);
        std::memcpy(packed.data() + at, solution.support.data(), count * sizeof(PointIndex));
        std::memcpy(packed.data() + at + (count + 1) / 2, solution.coefficients.data(),
                    count * sizeof(double));
      }
    }
    return packed;
  }

  void reduce(std::size_t c, std::span<const OwnedPiece> pieces,
              const std::map<DrawPiece, StoredPiece>& mine) {
    const auto size = static_cast<std::size_t>(ranks_.size());
    std::vector<std::ptrdiff_t> count(size, 0);  // Solutions of problem c a rank.
    std::vector<const double*> outputs;
    std::vector<int> owners;  // Of the draws, in order.
    for (const OwnedPiece& owned : pieces) {
      if (c < owned.piece.first || c >= owned.piece.first + owned.piece.count) continue;
      owners.push_back(owned.owner);
      ++count[owned.owner];
      if (owned.owner == ranks_.rank()) {
        outputs.push_back(mine.at(owned.piece).solutions[c - owned.piece.first].outputs.data());
      }
    }
    std::vector<double> send;
    send.reserve(outputs.size() * static_cast<std::size_t>(points_));
    std::vector<int> send_counts(size);
    std::vector<int> receive_counts(size);
    const std::ptrdiff_t width = length(ranks_.rank());
    for (int r = 0; r < ranks_.size(); ++r) {
      for (const double* values : outputs) {
        send.insert(send.end(), values + start(r), values + start(r + 1));
      }
      send_counts[r] =
          Communicator::count_of(outputs.size() * static_cast<std::uint64_t>(length(r)));
      receive_counts[r] = Communicator::count_of(static_cast<std::uint64_t>(count[r] * width));
    }
    const std::vector<double> received = ranks_.exchange(send, send_counts, receive_counts);
    std::vector<const double*> from(size);
    const double* next = received.data();
    for (std::size_t r = 0; r < size; ++r) {
      from[r] = next;
      next += receive_counts[r];
    }
    double* const sums = sums_.data() + static_cast<std::ptrdiff_t>(c) * width;
    for (const int owner : owners) {
      const double*& values = from[owner];
      for (std::ptrdiff_t i = 0; i < width; ++i) sums[i] += values[i];
      values += width;
    }
  }

  const Communicator& ranks_;
  std::ptrdiff_t points_;
  std::size_t problems_;
  bool reduces_;
  std::vector<double> sums_;  ///< Of this rank's range of the points, a problem after the other.
};

}  // namespace bpm::detail
