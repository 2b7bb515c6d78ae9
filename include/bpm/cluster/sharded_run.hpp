// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "bpm/cluster/byte_stream.hpp"
#include "bpm/cluster/communicator.hpp"
#include "bpm/cluster/shard.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/samplers/perceptron/windowed_perceptron.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Draws made one after the other by all ranks together: every rank updates the outputs of its
/// points of a group, one rank visits the group's points, and its mistakes go to all.
template <class Kernel, InputSet I>
class ShardedRun {
 public:
  using T = typename I::Scalar;

  ShardedRun(const Communicator& ranks, const Kernel& kernel, Shard<Kernel, I>& shard,
             std::ptrdiff_t points, std::ptrdiff_t offset, std::ptrdiff_t group,
             const PerceptronLimits& limits)
      : ranks_(ranks),
        kernel_(kernel),
        shard_(shard),
        offset_(offset),
        group_(group),
        limits_(limits),
        order_(points) {}

  /// Collective: makes a draw. Every rank calls `go_on(passes)`; if one returns false, all stop.
  template <class GoOn>
  PerceptronOutcome draw(RandomEngine engine, GoOn&& go_on) {
    random_permutation(order_.span(), engine);
    shard_.start(order_.span(), offset_, group_);
    mistakes_.clear();
    inputs_.clear();
    return shard_.passes().run(limits_, [&](std::uint64_t number) {
      mistakes_.forget(shard_.seen_by_all());
      inputs_.forget(shard_.seen_by_all());
      return pass(static_cast<double>(number), go_on);
    });
  }

  /// Collective: returns this rank's part of problem c's w / norm(w). The sum of the norm's terms
  /// goes from rank to rank, in the order of the points.
  [[nodiscard]] PerceptronSolution solution(std::size_t c) {
    double squared_norm = 0;
    if (ranks_.rank() > 0) ranks_.receive(std::span(&squared_norm, 1), ranks_.rank() - 1);
    PerceptronSolution part = shard_.solution(c, squared_norm);
    if (ranks_.rank() + 1 < ranks_.size()) {
      ranks_.send(std::span<const double>(&squared_norm, 1), ranks_.rank() + 1);
    }
    ranks_.broadcast(std::span(&squared_norm, 1), ranks_.size() - 1);
    for (double& alpha : part.coefficients) alpha /= std::sqrt(squared_norm);
    return part;
  }

  [[nodiscard]] std::uint64_t evaluations() const {
    return shard_.evaluations() + workspace_.scratch.evaluations;
  }

 private:
  using GroupSpace = KernelVersionSpace<kernel_scalar_t<RowMatrix<T>>>;
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  /// Makes one pass; returns false if stopped.
  template <class GoOn>
  bool pass(double number, GoOn& go_on) {
    constexpr std::ptrdiff_t farthest = 64;
    std::ptrdiff_t look = 1;
    for (std::ptrdiff_t g = 0; g < shard_.groups();) {
      const std::ptrdiff_t end = std::min(shard_.groups(), g + look);
      std::int64_t first = none;
      try {
        for (std::ptrdiff_t h = g; h < end; ++h) {
          shard_.catch_up(h, mistakes_, inputs_);
          if (first == none) first = shard_.first_mistake(h, limits_.margin, none);
        }
      } catch (...) {
        error_ = plain_error(std::current_exception());
      }
      const double part = static_cast<double>(g) / static_cast<double>(shard_.groups());
      const bool stop = !go_on(number + part);
      const auto all = ranks_.reduce(
          std::array<std::int64_t, 3>{first, stop ? -1 : 0, error_ ? -1 : 0}, MPI_MIN);
      if (all[2] != 0) fail_together();
      if (all[1] != 0) return false;
      if (all[0] == none) {  // None of these groups has a mistake, so none changed what follows.
        g = end;
        look = std::min(2 * look, farthest);
        continue;
      }
      const std::ptrdiff_t h = static_cast<std::ptrdiff_t>(all[0]) / group_;
      visit(h);
      g = h + 1;
      look = 1;
    }
    return true;
  }

  /// Collective: one rank visits group h, whose outputs include all mistakes; the ranks take turns.
  void visit(std::ptrdiff_t h) {
    const int visitor = static_cast<int>(h % ranks_.size());
    const std::vector<std::byte> parts = ranks_.gather_bytes(shard_.pack(h), visitor);
    std::vector<std::byte> message;
    try {
      if (ranks_.rank() == visitor) {
        message = visit_points(h, parts);
      } else if (h + 1 < shard_.groups()) {
        shard_.catch_up(h + 1, mistakes_, inputs_);  // Applies known mistakes instead of waiting.
      }
    } catch (...) {
      error_ = plain_error(std::current_exception());  // Others surface at the next group.
    }
    std::int64_t size = error_ ? -1 : std::ssize(message);
    ranks_.broadcast(std::span(&size, 1), visitor);
    if (size < 0) fail_together();
    message.resize(static_cast<std::size_t>(size));
    ranks_.broadcast(std::span(message), visitor);
    take_mistakes(message);
  }

  [[noreturn]] void fail_together() const {
    together(ranks_, [&] {
      if (error_) throw_plain(error_, ranks_.rank());
    });
    throw RankError("an error of a rank got lost");
  }

  /// Visits once the points of group h, which all ranks have sent; returns the mistakes as bytes.
  [[nodiscard]] std::vector<std::byte> visit_points(std::ptrdiff_t h,
                                                    const std::vector<std::byte>& parts) {
    const std::ptrdiff_t begin = h * group_;
    const std::ptrdiff_t n = std::min(group_, order_.size() - begin);
    const std::size_t problems = shard_.problems().size();
    RowMatrix<T> inputs(n, columns());
    std::vector<double> outputs(problems * static_cast<std::size_t>(n));
    std::vector<std::vector<signed char>> labels(problems, std::vector<signed char>(n));
    std::vector<std::vector<double>> lambda(problems, std::vector<double>(n));
    ByteReader from(parts);
    while (!from.done()) {
      PointIndex i = 0;
      from.take(i);
      i -= static_cast<PointIndex>(begin);
      for (std::size_t c = 0; c < problems; ++c) {
        from.take(outputs[c * static_cast<std::size_t>(n) + i]);
        from.take(labels[c][i]);
        from.take(lambda[c][i]);
      }
      from.take_all(row_of(inputs, i));
    }
    const OnDemandGram<Kernel, RowMatrix<T>> gram(kernel_, inputs, shard_.origin());
    std::vector<GroupSpace> spaces;
    for (std::size_t c = 0; c < problems; ++c) {
      spaces.emplace_back(gram, std::move(labels[c]),
                          std::make_shared<const std::vector<double>>(std::move(lambda[c])));
    }
    WindowedPerceptron<typename GroupSpace::Scalar> perceptron{std::span<const GroupSpace>(spaces)};
    PerceptronState& state = perceptron.state();
    std::iota(state.order.begin(), state.order.end(), PointIndex{0});
    state.start();
    std::copy(outputs.begin(), outputs.end(), state.outputs.begin());
    for (std::size_t c = 0; c < problems; ++c) state.passes[c].done = shard_.passes()[c].done;
    perceptron.begin();
    ThreadPool alone{1};
    perceptron.pass(limits_.margin, std::span(&workspace_, 1), 0, alone,
                    [](double) { return true; });

    ByteWriter message;
    const auto& made = perceptron.mistakes();
    message.put(made.end());
    for (std::int64_t e = 0; e < made.end(); ++e) {
      message.put(static_cast<PointIndex>(begin + made[e]));
      message.put(std::uint64_t{made.updates(e).size()});
      message.put_all(made.updates(e));
      message.put_all(row_of(inputs, made[e]));
    }
    return message.bytes();
  }

  void take_mistakes(const std::vector<std::byte>& message) {
    ByteReader from(message);
    std::int64_t count = 0;
    from.take(count);
    RowMatrix<T> inputs(count, columns());
    std::vector<MistakeUpdate> updates;
    for (std::int64_t e = 0; e < count; ++e) {
      PointIndex position = 0;
      std::uint64_t size = 0;
      from.take(position);
      from.take(size);
      from.take_all(updates, size);
      from.take_all(row_of(inputs, e));
      shard_.count(position, updates);
      mistakes_.add(position);
      for (const MistakeUpdate& update : updates) mistakes_.add_update(update);
    }
    inputs_.append(inputs.data(), count, columns(), shard_.origin());
  }

  [[nodiscard]] std::ptrdiff_t columns() const { return shard_.inputs().cols(); }
  [[nodiscard]] static std::span<T> row_of(RowMatrix<T>& inputs, std::ptrdiff_t i) {
    return {inputs.data() + i * inputs.cols(), static_cast<std::size_t>(inputs.cols())};
  }

  const Communicator& ranks_;
  const Kernel& kernel_;
  Shard<Kernel, I>& shard_;
  std::ptrdiff_t offset_;
  std::ptrdiff_t group_;
  PerceptronLimits limits_;
  Buffer<PointIndex> order_;
  MistakeList<PointIndex> mistakes_;
  MistakenInputs<T> inputs_;  ///< Inputs of the mistakes.
  WindowWorkspace<typename GroupSpace::Scalar> workspace_;
  PlainError error_;
};

}}}  // namespace bpm::detail
