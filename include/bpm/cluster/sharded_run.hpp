// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/cluster/agreement.hpp"
#include "bpm/cluster/communicator.hpp"
#include "bpm/cluster/group_walk.hpp"
#include "bpm/cluster/mistake_list.hpp"
#include "bpm/cluster/shard.hpp"
#include "bpm/core/check.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm::detail {

/// One draw after the other, all ranks on each: every rank brings the outputs of its points of a
/// group up to date, one rank visits the group's points, and its mistakes go to all.
template <class Kernel, InputSet I>
class ShardedRun {
 public:
  using T = typename I::Scalar;

  ShardedRun(const Communicator& ranks, const Kernel& kernel, Shard<Kernel, I>& shard,
             const I& inputs, std::ptrdiff_t points, std::ptrdiff_t offset, std::ptrdiff_t group,
             const PerceptronLimits& limits)
      : ranks_(ranks),
        kernel_(kernel),
        shard_(shard),
        inputs_(inputs),
        offset_(offset),
        group_(group),
        limits_(limits),
        order_(points) {}

  /// Collective. `go_on(passes)` is asked on every rank at most every 50 ms; any false stops all.
  template <class GoOn>
  PerceptronOutcome draw(RandomEngine engine, GoOn&& go_on) {
    random_permutation(order_.span(), engine);
    shard_.start(order_.span(), offset_, group_);
    mistakes_.clear();
    problems_.assign(static_cast<std::size_t>(shard_.problems()), {});
    done_.assign(problems_.size(), 0);
    for (std::uint64_t pass = 0; pass < limits_.max_passes; ++pass) {
      for (auto& problem : problems_) {
        problem.mistakes_in_pass = 0;
        problem.passes += problem.done ? 0U : 1U;
      }
      mistakes_.forget(shard_.seen_by_all());
      if (!this->pass(static_cast<double>(pass), go_on)) return PerceptronOutcome::stopped;
      bool all = true;
      for (std::size_t c = 0; c < problems_.size(); ++c) {
        problems_[c].done = problems_[c].done || problems_[c].mistakes_in_pass == 0;
        done_[c] = problems_[c].done ? 1 : 0;
        all = all && problems_[c].done;
      }
      if (all) return PerceptronOutcome::consistent;
      for (const auto& problem : problems_) {
        if (limits_.max_mistakes != 0 && problem.mistakes > limits_.max_mistakes) {
          return PerceptronOutcome::out_of_mistakes;
        }
      }
    }
    return PerceptronOutcome::out_of_passes;
  }

  [[nodiscard]] const std::vector<PerceptronProblem>& problems() const { return problems_; }

  /// Collective: norm(w) of problem c. The terms are added in the order of the points, so the sum
  /// goes from rank to rank.
  [[nodiscard]] double norm(std::ptrdiff_t c, std::uint64_t& errors) {
    double sum = 0;
    if (ranks_.rank() > 0) ranks_.receive(std::span(&sum, 1), ranks_.rank() - 1);
    sum = shard_.squared_norm(c, sum, errors);
    if (ranks_.rank() + 1 < ranks_.size()) {
      ranks_.send(std::span<const double>(&sum, 1), ranks_.rank() + 1);
    }
    ranks_.broadcast(std::span(&sum, 1), ranks_.size() - 1);
    return std::sqrt(sum);
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  /// False: stopped.
  template <class GoOn>
  bool pass(double number, GoOn& go_on) {
    constexpr std::ptrdiff_t farthest = 64;
    std::ptrdiff_t look = 1;
    for (std::ptrdiff_t g = 0; g < shard_.groups();) {
      const std::ptrdiff_t end = std::min(shard_.groups(), g + look);
      std::int64_t first = none;
      try {
        for (std::ptrdiff_t h = g; h < end; ++h) {
          shard_.catch_up(h, mistakes_);
          if (first == none) first = shard_.first_mistake(h, done_, limits_.margin, none);
        }
      } catch (...) {
        error_ = plain_error(std::current_exception());
      }
      const double part = static_cast<double>(g) / static_cast<double>(shard_.groups());
      const bool stop = !go_on(number + part);
      const auto all = ranks_.smallest(std::array<std::int64_t, 3>{
          first, stop ? -1 : 0, error_.kind != ErrorKind::none ? -1 : 0});
      if (all[2] != 0) fail_together();
      if (all[1] != 0) return false;
      if (all[0] == none) {  // No mistake in any of these groups, so none changed what follows.
        g = end;
        look = std::min(2 * look, farthest);
        continue;
      }
      const std::ptrdiff_t h = static_cast<std::ptrdiff_t>(all[0]) / group_;
      walk(h);
      g = h + 1;
      look = 1;
    }
    return true;
  }

  /// Collective: group h, whose outputs lack no mistake, is visited by one rank; the ranks take
  /// turns.
  void walk(std::ptrdiff_t h) {
    const int walker = static_cast<int>(h % ranks_.size());
    std::vector<std::size_t> starts;
    const std::vector<std::byte> parts = ranks_.gather_bytes(pack(h), walker, starts);
    std::vector<std::byte> message;
    try {
      if (ranks_.rank() == walker) {
        PointGroup<T> group = unpack(h, parts);
        message = pack_mistakes(walk_group(kernel_, group, done_, limits_.margin, shard_.scratch()),
                                group);
      } else if (h + 1 < shard_.groups()) {
        shard_.catch_up(h + 1, mistakes_);  // With what is known; it waits otherwise.
      }
    } catch (...) {
      error_ = plain_error(std::current_exception());  // Another rank's comes up at the next group.
    }
    std::int64_t size = error_.kind == ErrorKind::none ? std::ssize(message) : -1;
    ranks_.broadcast(std::span(&size, 1), walker);
    if (size < 0) fail_together();
    message.resize(static_cast<std::size_t>(size));
    ranks_.broadcast(std::span(message), walker);
    take_mistakes(message);
  }

  [[noreturn]] void fail_together() const {
    together(ranks_, [&] {
      if (error_.kind != ErrorKind::none) throw_plain(error_, ranks_.rank());
    });
    throw RankError("an error of a rank got lost");
  }

  template <class Value>
  static void put(std::vector<std::byte>& bytes, const Value* values, std::size_t count) {
    const auto* const from = reinterpret_cast<const std::byte*>(values);
    bytes.insert(bytes.end(), from, from + count * sizeof(Value));
  }
  template <class Value>
  static std::vector<Value> take(const std::byte*& from, std::size_t count) {
    std::vector<Value> values(count);
    std::memcpy(values.data(), from, count * sizeof(Value));
    from += count * sizeof(Value);
    return values;
  }

  template <class Value>
  static Value take_one(const std::byte*& from) {
    Value value;
    std::memcpy(&value, from, sizeof(Value));
    from += sizeof(Value);
    return value;
  }

  /// This rank's points of a group: for each its position, outputs, labels, lambda and input.
  [[nodiscard]] std::vector<std::byte> pack(std::ptrdiff_t h) const {
    std::vector<std::byte> bytes;
    const auto [first, last] = shard_.columns(h);
    const auto of_a_point = sizeof(PointIndex) +
                            static_cast<std::size_t>(shard_.problems()) * (2 * sizeof(double) + 1) +
                            static_cast<std::size_t>(inputs_.cols()) * sizeof(T);
    bytes.reserve(static_cast<std::size_t>(last - first) * of_a_point);
    RowMatrix<T> input(1, inputs_.cols());
    for (std::ptrdiff_t column = first; column < last; ++column) {
      const PointIndex position = shard_.position(column);
      put(bytes, &position, 1);
      for (std::ptrdiff_t c = 0; c < shard_.problems(); ++c) {
        const double output = shard_.output(c, column);
        const double lambda = shard_.lambda(c, shard_.point(column));
        const signed char sign = shard_.sign(c, column);
        put(bytes, &output, 1);
        put(bytes, &sign, 1);
        if (shard_.has_lambda()) put(bytes, &lambda, 1);
      }
      input = inputs_.row(shard_.point(column));
      put(bytes, input.data(), static_cast<std::size_t>(input.size()));
    }
    return bytes;
  }

  [[nodiscard]] PointGroup<T> unpack(std::ptrdiff_t h, const std::vector<std::byte>& parts) const {
    const std::ptrdiff_t begin = h * group_;
    const std::ptrdiff_t n = std::min(group_, order_.size() - begin);
    const auto problems = shard_.problems();
    PointGroup<T> group;
    group.first = static_cast<PointIndex>(begin);
    group.inputs.resize(n, inputs_.cols());
    group.outputs.resize(static_cast<std::size_t>(n * problems));
    group.labels.resize(group.outputs.size());
    if (shard_.has_lambda()) group.lambda.resize(group.outputs.size());
    const std::byte* from = parts.data();
    const std::byte* const end = from + parts.size();
    while (from != end) {
      const std::ptrdiff_t i = take_one<PointIndex>(from) - begin;
      for (std::ptrdiff_t c = 0; c < problems; ++c) {
        group.outputs[c * n + i] = take_one<double>(from);
        group.labels[c * n + i] = take_one<signed char>(from);
        if (shard_.has_lambda()) group.lambda[c * n + i] = take_one<double>(from);
      }
      const auto bytes = static_cast<std::size_t>(inputs_.cols()) * sizeof(T);
      std::memcpy(group.inputs.data() + i * inputs_.cols(), from, bytes);
      from += bytes;
    }
    return group;
  }

  [[nodiscard]] static std::vector<std::byte> pack_mistakes(const GroupMistakes& made,
                                                            const PointGroup<T>& group) {
    std::vector<std::byte> bytes;
    const std::array<std::uint64_t, 2> sizes{made.positions.size(), made.updates.size()};
    put(bytes, sizes.data(), 2);
    put(bytes, made.positions.data(), made.positions.size());
    put(bytes, made.counts.data(), made.counts.size());
    put(bytes, made.updates.data(), made.updates.size());
    const auto columns = group.inputs.cols();
    for (const PointIndex position : made.positions) {
      put(bytes, group.inputs.data() + (position - group.first) * columns,
          static_cast<std::size_t>(columns));
    }
    return bytes;
  }

  void take_mistakes(const std::vector<std::byte>& message) {
    const std::byte* from = message.data();
    const auto sizes = take<std::uint64_t>(from, 2);
    const auto positions = take<PointIndex>(from, sizes[0]);
    const auto counts = take<std::int32_t>(from, sizes[0]);
    const auto updates = take<MistakeUpdate>(from, sizes[1]);
    const auto inputs = take<T>(from, sizes[0] * static_cast<std::size_t>(inputs_.cols()));
    std::size_t next = 0;
    for (std::size_t e = 0; e < positions.size(); ++e) {
      const auto part = std::span(updates).subspan(next, static_cast<std::size_t>(counts[e]));
      shard_.count(positions[e], part);
      for (const MistakeUpdate& update : part) {
        auto& problem = problems_[update.problem];
        ++problem.mistakes;
        ++problem.mistakes_in_pass;
      }
      next += part.size();
    }
    mistakes_.append(positions, counts, updates, inputs.data(), inputs_.cols());
  }

  const Communicator& ranks_;
  const Kernel& kernel_;
  Shard<Kernel, I>& shard_;
  const I& inputs_;
  std::ptrdiff_t offset_;
  std::ptrdiff_t group_;
  PerceptronLimits limits_;
  Buffer<PointIndex> order_;
  MistakeList<T> mistakes_;
  std::vector<PerceptronProblem> problems_;
  std::vector<char> done_;
  PlainError error_;
};

}  // namespace bpm::detail
