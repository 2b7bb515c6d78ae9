// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/cluster/communicator.hpp"
#include "bpm/cluster/sharded_run.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// One-vs-rest Bayes points by permuted perceptrons for training sets that are too large for one
/// rank: each rank has some of the inputs, and all ranks work on one draw at a time. The
/// coefficients are, bit for bit, those of `OneVsRest` on the inputs of rank 0, followed by those
/// of rank 1, and so on.
///
/// All ranks know the random order and process its points in groups: each rank adds the effect of
/// new mistakes to the outputs of its own points of the group (blocks of kernel values, in
/// parallel); groups in which no output is a mistake are done; of the others the outputs, labels
/// and inputs go to one rank, in turn, which visits the points in order. The inputs of its mistakes
/// go to all ranks.
///
/// Each rank stores its inputs, its outputs and counts, 4 m bytes of the order, one group while it
/// visits it, and the inputs of the mistakes of one pass. Kernels are functions of inner products
/// or of Manhattan distances, inputs dense and row-major. Equal inputs with different labels are
/// not detected; with them a draw reaches `max_passes`.
template <class Kernel>
class ShardedOneVsRest {
 public:
  /// `settings.threads` are those of each rank; `settings.memory` has no effect, and `keep_draws`
  /// is not supported. The soft boundary must be given, and `bias` be 0. A soft boundary
  /// `per_point` is that of the rank's own points.
  explicit ShardedOneVsRest(Kernel kernel, PermutedPerceptron sampler = {},
                            FitSettings settings = {}, MPI_Comm communicator = MPI_COMM_WORLD)
      : kernel_(std::move(kernel)),
        sampler_(sampler),
        settings_(std::move(settings)),
        communicator_(communicator) {}

  /// Number of positions of the random order that one rank visits at a time; 0: 256 per rank, 16384
  /// at most. It changes the time, but no bit of the result.
  std::ptrdiff_t group = 0;

  /// Collective: fits to the inputs of all ranks. The result is the same on all of them. \throws
  /// std::invalid_argument as `OneVsRest::fit`, and if ranks differ in settings, kernels or numbers
  /// of columns, a rank has no input, the soft boundary is automatic, the bias not 0, `group` out
  /// of range, or `keep_draws` or `standardise` set.
  /// \throws NotSeparable, KernelValueError, Stopped as `OneVsRest::fit`; on all ranks.
  template <DenseInputs I, Observer O = detail::IgnoreProgress>
    requires(InnerProductKernel<Kernel> || ManhattanKernel<Kernel>)
  [[nodiscard]] Classifier<Kernel, detail::owned_inputs_t<I>> fit(const I& inputs,
                                                                  std::span<const int> labels,
                                                                  O&& observer = {},
                                                                  StopToken stop = {}) const {
    static_assert(I::IsRowMajor, "inputs of shards are row-major");
    const detail::Communicator ranks(communicator_);
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
    const std::vector<double> origin = common_origin(ranks, inputs);

    const auto usual_group = std::min<std::ptrdiff_t>(std::ptrdiff_t{256} * ranks.size(), 16384);
    std::unique_ptr<detail::ShardedRun<Kernel, I>> run;
    detail::together(ranks, [&] {
      run = std::make_unique<detail::ShardedRun<Kernel, I>>(
          ranks, kernel_, inputs, origin, classes, labels, settings_,
          detail::PerceptronLimits::of(sampler_, points), points, offset,
          group > 0 ? group : std::min(usual_group, longest_group(inputs)));
      for (std::ptrdiff_t i = 0; i < inputs.rows(); ++i) {
        detail::ensure<NotSeparable>(
            run->diagonal(i) > 0, function, ": point ", i,
            " of a rank has k(x, x) = 0, so no classifier gives it a sign; "
            "add a bias to the kernel or a soft boundary lambda > 0");
      }
    });
    const std::size_t columns = run->state().problems.size();
    RowMatrix<double> sums = RowMatrix<double>::Zero(inputs.rows(), std::ptrdiff_t(columns));
    SamplerReport report;
    SamplerReport::Perceptron& counts = report.perceptron.emplace();
    detail::ProgressThrottle throttle;
    const RandomStreams streams{settings_.seed, 0};
    for (; report.draws < sampler_.draws; ++report.draws) {
      const auto go_on = [&](double passes) {
        if (stop.stop_requested()) return false;
        if (!throttle.due()) return true;
        return detail::notify(
            observer, {.stage = "draws",
                       .fraction = (static_cast<double>(report.draws) + 1 - std::exp2(-passes)) /
                                   static_cast<double>(sampler_.draws),
                       .draws = report.draws,
                       .draws_total = sampler_.draws,
                       .passes = counts.passes,
                       .mistakes = counts.mistakes});
      };
      const detail::PerceptronOutcome outcome = run->draw(streams.stream(report.draws), go_on);
      if (outcome == detail::PerceptronOutcome::stopped) {
        report.stopped = true;
        report.reason = "stopped";
        break;
      }
      if (outcome != detail::PerceptronOutcome::consistent) {
        throw NotSeparable(detail::join(
            function,
            ": no classifier without training error was found: ", run->state().reason(report.draws),
            "; set a soft boundary lambda > 0, or raise the sampler's limits"));
      }
      for (std::size_t c = 0; c < columns; ++c) {
        const detail::PerceptronSolution part = run->solution(c);
        for (std::size_t s = 0; s < part.support.size(); ++s) {
          sums(part.support[s], std::ptrdiff_t(c)) += part.coefficients[s];
        }
        const detail::PerceptronProblem& problem = run->state().problems[c];
        counts += {problem.mistakes, problem.passes, part.errors};
      }
    }
    detail::ensure<Stopped>(report.draws > 0, function,
                            ": stopped before the first draw was finished");
    report.converged = report.draws == sampler_.draws;
    const auto totals =
        ranks.reduce(std::array<double, 2>{static_cast<double>(run->evaluations()),
                                           static_cast<double>(counts.training_errors)},
                     MPI_SUM);
    report.kernel_evaluations = static_cast<std::uint64_t>(totals[0]);
    counts.training_errors = static_cast<std::uint64_t>(totals[1]);
    auto parts = gather(ranks, inputs, offset, classes, sums / static_cast<double>(report.draws));
    parts.origin = origin;
    return Classifier(std::move(parts),
                      {.seed = settings_.seed, .chosen = settings_.chosen, .report = report});
  }

 private:
  static constexpr const char* function = "ShardedOneVsRest::fit";

  template <class I>
  void check_own(const I& inputs, std::span<const int> labels) const {
    sampler_.check_settings();
    detail::check(!settings_.keep_draws, function, "keep_draws",
                  "is true, must be false: shards keep the mean alone");
    detail::check(!settings_.standardise, function, "standardise",
                  "is true, must be false: no rank has all inputs; scale them before");
    detail::check(!settings_.soft_boundary.is_automatic(), function, "soft_boundary",
                  "is automatic, must be given: shards choose none");
    detail::check(settings_.bias == 0, function, "bias",
                  "must be 0: give shards a kernel that has it, by biased");
    detail::check(group >= 0, function, "group", "is ", group, ", must not be negative");
    detail::check(group <= longest_group(inputs), function, "group", "is ", group,
                  ", must be at most ", longest_group(inputs), ": its inputs are one message");
    detail::check(inputs.rows() > 0, function, "inputs",
                  "is empty, expected one input or more on each rank");
    detail::check_size(function, "labels", labels.size(), inputs.rows(), "one per input");
    detail::check_inputs(inputs, function);
  }

  /// Compares settings by their values, the kernel by its values on a few inputs of rank 0.
  template <class I>
  void check_ranks(const detail::Communicator& ranks, const I& inputs) const {
    using T = typename I::Scalar;
    const std::uint64_t element = sizeof(T) * (std::floating_point<T> ? 1 : 256);
    const auto agree = [&](std::string_view name, std::uint64_t word) {
      detail::check_agreement(ranks, name, word, function);
    };
    agree("element types of the inputs", element);
    agree("columns of the inputs", static_cast<std::uint64_t>(inputs.cols()));
    std::int64_t count = std::min<std::int64_t>(4, inputs.rows());
    ranks.broadcast(std::span(&count, 1), 0);
    RowMatrix<T> probes = RowMatrix<T>::Zero(count, inputs.cols());
    if (ranks.rank() == 0) probes = inputs.topRows(count);
    ranks.broadcast(std::span(probes.data(), static_cast<std::size_t>(probes.size())), 0);
    detail::WordHash kernel;
    detail::WordHash settings;
    detail::together(ranks, [&] {
      const Eigen::MatrixXd values = kernel_matrix(kernel_, probes, {.threads = 1});
      kernel.add_bytes(values.data(), static_cast<std::size_t>(values.size()) * sizeof(double));
    });
    for (const std::uint64_t word :
         {settings_.seed, sampler_.draws, sampler_.max_passes, static_cast<std::uint64_t>(group)}) {
      settings.add(word);
    }
    settings.add(sampler_.margin);
    for (const double number : settings_.soft_boundary.signature()) settings.add(number);
    agree("kernel values", kernel.value());
    agree("settings", settings.value());
  }

  /// Returns `origin_of` the inputs of all ranks.
  template <class I>
  [[nodiscard]] std::vector<double> common_origin(const detail::Communicator& ranks,
                                                  const I& inputs) const {
    if constexpr (InnerProductKernel<Kernel> && std::floating_point<typename I::Scalar>) {
      if (!detail::is_translation_invariant(kernel_)) return {};
      const detail::FeatureMoments own(inputs);
      const std::size_t columns = own.mean.size();
      const auto counts = ranks.all_gather(own.count);
      const auto means = ranks.all_gather_all(std::span<const double>(own.mean));
      const auto squares = ranks.all_gather_all(std::span<const double>(own.squares));
      detail::FeatureMoments all;
      all.mean = all.squares = std::vector<double>(columns, 0.0);
      for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        all.append(counts[rank], std::span(means).subspan(rank * columns, columns),
                   std::span(squares).subspan(rank * columns, columns));
      }
      return all.origin();
    }
    return {};
  }

  /// Returns a number of points whose inputs, outputs and labels fit a message of MPI, 2^31 bytes.
  template <class I>
  [[nodiscard]] static std::ptrdiff_t longest_group(const I& inputs) {
    constexpr std::ptrdiff_t message = std::ptrdiff_t{1} << 30U;
    constexpr std::ptrdiff_t beside_inputs = 4096;
    return std::max<std::ptrdiff_t>(
        1, message / (inputs.cols() * std::ptrdiff_t{sizeof(typename I::Scalar)} + beside_inputs));
  }

  /// Returns the parts with the support points of all ranks, those of rank 0 first, on all ranks.
  template <class I>
  [[nodiscard]] ClassifierParts<Kernel, detail::owned_inputs_t<I>> gather(
      const detail::Communicator& ranks, const I& inputs, std::int64_t offset,
      const std::vector<int>& classes, const RowMatrix<double>& means) const {
    std::vector<PointIndex> mine;
    for (std::ptrdiff_t i = 0; i < inputs.rows(); ++i) {
      if ((means.row(i).array() != 0).any()) mine.push_back(static_cast<PointIndex>(i));
    }
    const auto own_inputs = detail::select_inputs(inputs, mine);
    const auto own_means = detail::select_inputs(means, mine);
    for (PointIndex& i : mine) i += static_cast<PointIndex>(offset);
    ClassifierParts<Kernel, detail::owned_inputs_t<I>> parts{
        .kernel = kernel_,
        .inputs = {},
        .support = ranks.all_gather_all(std::span<const PointIndex>(mine)),
        .coefficients = {},
        .classes = classes,
        .threads = settings_.threads};
    const auto gather_rows = [&](const auto& own, auto& all) {
      all.resize(std::ssize(parts.support), own.cols());
      ranks.gather_items(own.data(), mine.size(),
                         static_cast<std::size_t>(own.cols()) * sizeof(*own.data()), all.data());
    };
    gather_rows(own_inputs, parts.inputs);
    gather_rows(own_means, parts.coefficients);
    return parts;
  }

  Kernel kernel_;
  PermutedPerceptron sampler_;
  FitSettings settings_;
  MPI_Comm communicator_;
};

}}  // namespace bpm
