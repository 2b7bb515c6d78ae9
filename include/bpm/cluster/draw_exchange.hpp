// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "bpm/cluster/byte_stream.hpp"
#include "bpm/cluster/communicator.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/perceptron/draw_pieces.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A piece of a draw and the rank that makes it.
struct OwnedPiece {
  DrawPiece piece;
  int owner = 0;
};

/// Delivers the draws of all ranks to the sinks of all ranks, in the order of the draws.
///
/// Coefficients, which are few, go to all ranks. Outputs are m numbers per problem and draw: rank r
/// receives those of its range of the points and adds them in the order of the draws, and at the
/// end the sums are gathered: each rank sends and receives its share of all outputs once instead of
/// all of them. The additions of a point happen on one rank in the order of a single process.
class DrawExchange {
 public:
  using Finished = std::map<DrawPiece, FinishedPiece>;

  DrawExchange(const Communicator& ranks, std::ptrdiff_t points, std::size_t problems, bool sums)
      : ranks_(ranks), points_(points), problems_(problems), reduces_(sums) {
    if (reduces_) {
      sums_.assign(problems_ * static_cast<std::size_t>(length(ranks_.rank())), 0.0);
    }
  }

  /// Collective: delivers draws. `pieces`: all pieces of some draws, in order; `mine` has those of
  /// this rank, which are removed.
  template <class Sink>
  void deliver(std::span<const OwnedPiece> pieces, Finished& mine,
               SamplerReport::Perceptron& report, Sink& sink) {
    const std::vector<std::byte> packed = pack(pieces, mine);
    std::vector<std::size_t> lengths;
    const std::vector<std::byte> all =
        ranks_.all_gather_all(std::span<const std::byte>(packed), &lengths);
    std::vector<ByteReader> readers;  // One reader per rank, each read front to back.
    std::size_t place = 0;
    for (const std::size_t length : lengths) {
      readers.emplace_back(std::span(all).subspan(place, length));
      place += length;
    }
    PerceptronSolution solution;
    for (const auto& [piece, owner] : pieces) {
      ByteReader& from = readers[owner];
      SamplerReport::Perceptron counts;
      from.take(counts);
      report += counts;
      for (std::size_t c = 0; c < piece.count; ++c) {
        std::uint64_t count = 0;
        from.take(count);
        from.take_all(solution.support, count);
        from.take_all(solution.coefficients, count);
        from.take(count);
        from.take_all(solution.left_out, count);
        from.take_all(solution.left_out_outputs, count);
        if (!reduces_) {
          if (owner == ranks_.rank()) solution.outputs = mine.at(piece).solutions[c].outputs;
          solution.outputs.resize(static_cast<std::size_t>(points_));
          ranks_.broadcast(std::span(solution.outputs), owner);
        }
        sink(Draw{.number = piece.number,
                  .problem = piece.first + c,
                  .support = solution.support,
                  .coefficients = solution.coefficients,
                  .outputs = solution.outputs,
                  .part = reduces_ ? DrawPart::coefficients : DrawPart::whole,
                  .left_out = solution.left_out,
                  .left_out_outputs = solution.left_out_outputs});
      }
    }
    for (std::size_t c = 0; reduces_ && c < problems_; ++c) reduce(c, pieces, mine);
    for (const OwnedPiece& owned : pieces) mine.erase(owned.piece);
  }

  /// Collective: gives the sums of the outputs to the sink.
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

  /// Returns counts and coefficients of this rank's pieces.
  [[nodiscard]] std::vector<std::byte> pack(std::span<const OwnedPiece> pieces,
                                            const Finished& mine) const {
    ByteWriter packed;
    for (const OwnedPiece& owned : pieces) {
      if (owned.owner != ranks_.rank()) continue;
      const FinishedPiece& made = mine.at(owned.piece);
      packed.put(made.counts);
      for (const PerceptronSolution& solution : made.solutions) {
        packed.put(std::uint64_t{solution.support.size()});
        packed.put_all(solution.support);
        packed.put_all(solution.coefficients);
        packed.put(std::uint64_t{solution.left_out.size()});
        packed.put_all(solution.left_out);
        packed.put_all(solution.left_out_outputs);
      }
    }
    return packed.bytes();
  }

  /// Adds the outputs of problem c, in the order of the draws, to the sums of this rank's points.
  void reduce(std::size_t c, std::span<const OwnedPiece> pieces, const Finished& mine) {
    const std::ptrdiff_t width = length(ranks_.rank());
    std::vector<int> owners;  // Ranks of the draws, in order.
    std::vector<const double*> outputs;
    for (const auto& [piece, owner] : pieces) {
      if (c < piece.first || c >= piece.first + piece.count) continue;
      owners.push_back(owner);
      if (owner == ranks_.rank()) {
        outputs.push_back(mine.at(piece).solutions[c - piece.first].outputs.data());
      }
    }
    std::vector<double> send;
    send.reserve(outputs.size() * static_cast<std::size_t>(points_));
    std::vector<int> send_counts;
    std::vector<int> receive_counts;
    for (int r = 0; r < ranks_.size(); ++r) {
      for (const double* values : outputs) {
        send.insert(send.end(), values + start(r), values + start(r + 1));
      }
      send_counts.push_back(
          Communicator::count_of(outputs.size() * static_cast<std::uint64_t>(length(r))));
      receive_counts.push_back(Communicator::count_of(
          static_cast<std::uint64_t>(std::count(owners.begin(), owners.end(), r) * width)));
    }
    const std::vector<double> received = ranks_.exchange(send, send_counts, receive_counts);
    std::vector<const double*> from(1, received.data());
    for (const int count : receive_counts) from.push_back(from.back() + count);
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
  std::vector<double> sums_;  ///< Sums for this rank's range of the points, problem after problem.
};

}}}  // namespace bpm::detail
