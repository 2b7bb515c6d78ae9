// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bpm/cluster/agreement.hpp"
#include "bpm/cluster/communicator.hpp"
#include "bpm/cluster/cost_model.hpp"
#include "bpm/cluster/mpi_header.hpp"
#include "bpm/cluster/shard.hpp"
#include "bpm/cluster/sharded_run.hpp"
#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/storage/run_digest.hpp"

namespace bpm {

/// One-vs-rest Bayes points by permuted perceptrons for training sets that are too large for one
/// rank: each rank holds some of the inputs, and all work on one draw at a time. The coefficients
/// are, bit for bit, those that `OneVsRest` finds on the inputs of rank 0, followed by those of
/// rank 1, and so on.
///
/// All ranks know the random order. Its points are taken in groups: each rank adds to the outputs
/// of its own points of the group what mistakes made meanwhile change (blocks of kernel values, in
/// parallel); groups in which no output is a mistake are done, of the others the outputs, labels
/// and inputs go to one rank, in turn, which visits the points in order. The inputs of the mistakes
/// it makes go to all ranks.
///
/// Each rank holds its inputs, its outputs and counts, 4 m bytes of the order, one group where it
/// is its turn, and the inputs of the mistakes of one pass. Kernels are functions of inner products
/// or of Manhattan distances, inputs dense and row-major. Equal inputs with different labels are
/// not looked for; they make a draw run into `max_passes`.
template <class Kernel>
class ShardedOneVsRest {
 public:
  /// `settings.threads` are those of each rank; `settings.memory` is not used, `keep_draws` not
  /// offered. A soft boundary `per_point` is that of the rank's own points.
  explicit ShardedOneVsRest(Kernel kernel, PermutedPerceptron sampler = {},
                            FitSettings settings = {}, MPI_Comm communicator = MPI_COMM_WORLD)
      : kernel_(std::move(kernel)),
        sampler_(sampler),
        settings_(std::move(settings)),
        communicator_(communicator) {}

  /// Positions of the random order that one rank visits at a time; 0: 256 a rank, 16384 at most.
  /// It changes the time, and no bit of the result.
  std::ptrdiff_t group = 0;

  /// Collective: fits to the inputs of all ranks. The result is the same on all of them.
  /// \throws std::invalid_argument as `OneVsRest::fit`, and where ranks were given other settings,
  ///         kernels or numbers of columns, a rank has no input, or the order is greedy.
  /// \throws NotSeparable, KernelValueError, Stopped as `OneVsRest::fit`; on all ranks.
  template <DenseInputs I, Observer O = detail::IgnoreProgress>
    requires(InnerProductKernel<Kernel> || ManhattanKernel<Kernel>)
  [[nodiscard]] Classifier<Kernel, detail::owned_inputs_t<I>> fit(const I& inputs,
                                                                  std::span<const int> labels,
                                                                  O&& observer = {},
                                                                  std::stop_token stop = {}) const {
    static_assert(I::IsRowMajor, "inputs of shards are row-major");
    const Communicator ranks(communicator_);
    detail::together(ranks, [&] { check_own(inputs, labels); });
    const std::vector<std::int64_t> sizes = ranks.all_gather(std::int64_t{inputs.rows()});
    const std::int64_t points = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    const std::int64_t offset =
        std::accumulate(sizes.begin(), sizes.begin() + ranks.rank(), std::int64_t{0});
    const std::vector<int> mine = detail::distinct_labels(labels);
    const std::vector<int> classes =
        detail::distinct_labels(ranks.all_gather_all(std::span<const int>(mine)));
    detail::together(ranks, [&] {
      detail::check(classes.size() >= 2, function, "labels", "are all ", classes[0],
                    " on all ranks, expected two classes or more");
      detail::check(points <= std::numeric_limits<PointIndex>::max(), function, "inputs", "has ",
                    points, " entries on all ranks, must be fewer than 2^31");
    });
    check_ranks(ranks, inputs);

    std::unique_ptr<detail::Shard<Kernel, I>> shard;
    detail::together(ranks, [&] { shard = make_shard(inputs, labels, classes); });
    const detail::PerceptronLimits limits{pass_limit(points), 0, sampler_.max_mistakes,
                                          sampler_.margin};
    detail::ShardedRun<Kernel, I> run(ranks, kernel_, *shard, inputs, points, offset,
                                      group_size(ranks.size(), inputs), limits);

    const auto count = std::ssize(classes);
    std::vector<std::vector<double>> sums(
        classes.size(), std::vector<double>(static_cast<std::size_t>(inputs.rows()), 0.0));
    SamplerReport report;
    PerceptronReport& counts = report.perceptron.emplace();
    std::chrono::steady_clock::time_point told{};
    const RandomStreams streams{settings_.seed, 0};
    for (; report.draws < sampler_.draws; ++report.draws) {
      const auto go_on = [&](double passes) {
        if (stop.stop_requested()) return false;
        const auto now = std::chrono::steady_clock::now();
        if (now - told < std::chrono::milliseconds(50)) return true;
        told = now;
        const double part = 1 - std::exp2(-passes);
        return detail::notify(observer, {.stage = "draws",
                                         .fraction = (static_cast<double>(report.draws) + part) /
                                                     static_cast<double>(sampler_.draws),
                                         .draws = report.draws,
                                         .draws_total = sampler_.draws,
                                         .passes = counts.passes,
                                         .mistakes = counts.mistakes});
      };
      const detail::PerceptronOutcome outcome = run.draw(streams.stream(report.draws), go_on);
      if (outcome == detail::PerceptronOutcome::stopped) {
        report.stopped = true;
        report.reason = "stopped";
        break;
      }
      if (outcome != detail::PerceptronOutcome::consistent)
        refuse(report.draws, run.problems(), outcome);
      for (std::ptrdiff_t c = 0; c < count; ++c) {
        const double norm = run.norm(c, counts.training_errors);
        shard->add_coefficients(c, norm, sums[c]);
        counts.mistakes += run.problems().data()[c].mistakes;
        counts.passes += run.problems().data()[c].passes;
      }
    }
    if (report.draws == 0) {
      throw Stopped(detail::join(function, ": stopped before the first draw was finished"));
    }
    report.converged = report.draws == sampler_.draws;
    const auto totals = ranks.sum(std::array<double, 2>{
        static_cast<double>(shard->evaluations()), static_cast<double>(counts.training_errors)});
    report.kernel_evaluations = static_cast<std::uint64_t>(totals[0]);
    counts.training_errors = static_cast<std::uint64_t>(totals[1]);
    return gather(ranks, inputs, offset, classes, sums, report);
  }

 private:
  static constexpr const char* function = "ShardedOneVsRest::fit";

  template <class I>
  void check_own(const I& inputs, std::span<const int> labels) const {
    sampler_.check_settings();
    detail::check(sampler_.order == PerceptronOrder::permuted, function, "order",
                  "is greedy, must be permuted: in shards nobody sees all outputs");
    detail::check(!settings_.keep_draws, function, "keep_draws",
                  "is true, must be false: shards keep the mean alone");
    detail::check(group >= 0, function, "group", "is ", group, ", must not be negative");
    detail::check(group <= longest_group(inputs), function, "group", "is ", group,
                  ", must be at most ", longest_group(inputs), ": its inputs are one message");
    detail::check(inputs.rows() > 0, function, "inputs",
                  "is empty, expected one input or more on each rank");
    detail::check_size(function, "labels", labels.size(), inputs.rows(), "one per input");
    detail::check_inputs(inputs, function);
  }

  /// Settings by their values, the kernel by what it makes of a few inputs of rank 0.
  template <class I>
  void check_ranks(const Communicator& ranks, const I& inputs) const {
    using T = typename I::Scalar;
    const std::array<std::uint64_t, 1> columns{static_cast<std::uint64_t>(inputs.cols())};
    detail::check_agreement(ranks, columns, std::array<const char*, 1>{"columns of the inputs"},
                            function);
    std::int64_t count = std::min<std::int64_t>(4, inputs.rows());
    ranks.broadcast(std::span(&count, 1), 0);
    RowMatrix<T> probes = RowMatrix<T>::Zero(count, inputs.cols());
    if (ranks.rank() == 0) probes = inputs.topRows(count);
    ranks.broadcast(std::span(probes.data(), static_cast<std::size_t>(probes.size())), 0);
    detail::WordHash kernel;
    detail::WordHash settings;
    detail::together(ranks, [&] {
      const detail::PreparedInputs<RowMatrix<T>> prepared(probes);
      detail::BlockScratch<detail::kernel_scalar_t<I>> scratch;
      std::vector<PointIndex> all(static_cast<std::size_t>(count));
      std::iota(all.begin(), all.end(), PointIndex{0});
      std::vector<detail::kernel_scalar_t<I>> values(all.size() * all.size());
      detail::kernel_block(kernel_, prepared, std::span<const PointIndex>(all), prepared,
                           std::span<const PointIndex>(all), values.data(), count, scratch);
      kernel.add_bytes(values.data(), values.size() * sizeof(values[0]));
    });
    for (const std::uint64_t word : {settings_.seed, sampler_.draws, sampler_.max_passes,
                                     sampler_.max_mistakes, static_cast<std::uint64_t>(group)}) {
      settings.add(word);
    }
    settings.add(sampler_.margin);
    for (const double number : settings_.soft_boundary.signature()) settings.add(number);
    detail::check_agreement(ranks, std::array{kernel.value(), settings.value()},
                            std::array<const char*, 2>{"kernel values", "settings"}, function);
  }

  template <class I>
  [[nodiscard]] std::unique_ptr<detail::Shard<Kernel, I>> make_shard(
      const I& inputs, std::span<const int> labels, const std::vector<int>& classes) const {
    const detail::PreparedInputs<I> prepared(inputs);
    const auto diagonal = detail::kernel_diagonal(kernel_, prepared);
    std::vector<std::vector<signed char>> signs;
    std::vector<std::vector<double>> lambda;
    for (const int label : classes) {
      signs.push_back(detail::one_against_rest(labels, label));
      if (lambda.empty() || !settings_.soft_boundary.same_for_all_classes()) {
        lambda.push_back(settings_.soft_boundary.resolve(
            [&](std::ptrdiff_t i) { return diagonal[i]; }, labels, signs.back()));
      }
    }
    if (lambda[0].empty()) lambda.clear();
    for (std::ptrdiff_t i = 0; i < inputs.rows(); ++i) {
      for (std::size_t c = 0; c < std::max<std::size_t>(1, lambda.size()); ++c) {
        const double soft = lambda.empty() ? 0.0 : lambda[c].data()[i];
        if (static_cast<double>(diagonal[i]) + soft <= 0) {
          throw NotSeparable(detail::join(function, ": point ", i,
                                          " of a rank has k(x, x) = 0, so no classifier gives it "
                                          "a sign; add a bias to the kernel or a soft boundary "
                                          "lambda > 0"));
        }
      }
    }
    return std::make_unique<detail::Shard<Kernel, I>>(kernel_, inputs, std::move(signs),
                                                      std::move(lambda),
                                                      detail::thread_count(settings_.threads));
  }

  [[nodiscard]] std::uint64_t pass_limit(std::int64_t points) const {
    return sampler_.max_passes != 0
               ? sampler_.max_passes
               : std::max<std::uint64_t>(1000, 50'000'000 / static_cast<std::uint64_t>(points));
  }

  /// Points whose inputs, outputs and labels surely fit a message of MPI, 2^31 bytes.
  template <class I>
  [[nodiscard]] static std::ptrdiff_t longest_group(const I& inputs) {
    constexpr std::ptrdiff_t message = std::ptrdiff_t{1} << 30U;
    constexpr std::ptrdiff_t beside_inputs = 4096;
    return std::max<std::ptrdiff_t>(
        1, message / (inputs.cols() * std::ptrdiff_t{sizeof(typename I::Scalar)} + beside_inputs));
  }

  template <class I>
  [[nodiscard]] std::ptrdiff_t group_size(int ranks, const I& inputs) const {
    return group > 0 ? group : std::min(default_group(ranks), longest_group(inputs));
  }

  [[noreturn]] static void refuse(std::uint64_t number,
                                  const std::vector<detail::PerceptronProblem>& problems,
                                  detail::PerceptronOutcome outcome) {
    std::size_t worst = problems.size();
    for (std::size_t c = 0; c < problems.size(); ++c) {
      if (!problems[c].done &&
          (worst == problems.size() || problems[c].mistakes > problems[worst].mistakes)) {
        worst = c;
      }
    }
    const auto& problem = problems.at(worst);
    throw NotSeparable(detail::join(
        function, ": no classifier without training error was found: draw ", number, " still made ",
        problem.mistakes_in_pass, " mistakes in pass ", problem.passes, " (", problem.mistakes,
        " in all",
        outcome == detail::PerceptronOutcome::out_of_mistakes ? ", above max_mistakes"
                                                              : ", the last of max_passes",
        ", problem ", worst, "); set a soft boundary lambda > 0, or raise the sampler's limits"));
  }

  /// The support points of all ranks on all ranks.
  template <class I>
  [[nodiscard]] Classifier<Kernel, detail::owned_inputs_t<I>> gather(
      const Communicator& ranks, const I& inputs, std::int64_t offset,
      const std::vector<int>& classes, const std::vector<std::vector<double>>& sums,
      const SamplerReport& report) const {
    using T = typename I::Scalar;
    std::vector<PointIndex> mine;
    for (std::ptrdiff_t i = 0; i < inputs.rows(); ++i) {
      bool used = false;
      for (const auto& sum : sums) used = used || sum[i] != 0;
      if (used) mine.push_back(static_cast<PointIndex>(i));
    }
    const detail::owned_inputs_t<I> own = detail::select_inputs(inputs, mine);
    std::vector<double> coefficients;
    for (const PointIndex i : mine) {
      for (const auto& sum : sums) {
        coefficients.push_back(sum[i] / static_cast<double>(report.draws));
      }
    }
    for (PointIndex& i : mine) i += static_cast<PointIndex>(offset);
    std::vector<PointIndex> support = ranks.all_gather_all(std::span<const PointIndex>(mine));
    std::vector<std::size_t> lengths;
    RowMatrix<double> all(std::ssize(support), std::ssize(classes));
    ranks.gather_items(coefficients.data(), mine.size(), classes.size() * sizeof(double), lengths,
                       [&](std::size_t) { return all.data(); });
    detail::owned_inputs_t<I> rows(std::ssize(support), inputs.cols());
    ranks.gather_items(own.data(), mine.size(), static_cast<std::size_t>(inputs.cols()) * sizeof(T),
                       lengths, [&](std::size_t) { return rows.data(); });
    if (classes.size() == 2) all = all.rightCols(1).eval();
    ClassifierParts<Kernel, detail::owned_inputs_t<I>> parts{.kernel = kernel_,
                                                             .inputs = std::move(rows),
                                                             .support = std::move(support),
                                                             .coefficients = std::move(all),
                                                             .classes = classes};
    parts.threads = settings_.threads;
    parts.report = report;
    return Classifier(std::move(parts));
  }

  Kernel kernel_;
  PermutedPerceptron sampler_;
  FitSettings settings_;
  MPI_Comm communicator_;
};

}  // namespace bpm
