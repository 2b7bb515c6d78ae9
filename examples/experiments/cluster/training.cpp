// SPDX-License-Identifier: MIT
#include "training.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/training_file.hpp"
#include "common/checkpoint.hpp"
#include "common/digest.hpp"
#include "common/machine_info.hpp"
#include "common/pixels.hpp"
#include "common/program.hpp"
#ifdef BPM_CLUSTER_MPI
#include "bpm/cluster/distributed_perceptron.hpp"
#include "bpm/cluster/sharded_one_vs_rest.hpp"
#endif

namespace bpm_examples {

namespace {

/// Calls `body(inputs, test_inputs, kernel)` with the digits and the kernel (<x, x'> + 1)^5 of
/// pixels / 255 in the form that --input asks for: the kernels of `mnist`, whose models these are.
template <class Body>
auto with_inputs(const ClusterOptions& options, const Digits& digits, Eigen::Index begin,
                 Eigen::Index count, Body&& body) {
  const bpm::Polynomial kernel(5, 1, 1);
  const bpm::RowMatrix<std::uint8_t> train = digits.train.inputs.middleRows(begin, count);
  if (options.input == "byte") {
    return body(train, digits.test.inputs, PixelKernel<bpm::Polynomial>{kernel, false});
  }
  const int threads = options.common.threads;
  return body(scale_pixels(train, false, threads), scale_pixels(digits.test.inputs, false, threads),
              kernel);
}

/// Kernel values are computed when needed: on a cluster nobody should compute all of them alone.
template <class Kernel, class Sampler>
auto windowed_machine(const Kernel& kernel, const Sampler& sampler, const ClusterOptions& options) {
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::hard(), .bias = 0};
  settings.seed = options.common.seed;
  settings.threads = static_cast<unsigned>(options.common.threads);
  settings.memory = std::numeric_limits<std::size_t>::max();
  settings.strategy = bpm::Strategy::windowed;
  return bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler, settings));
}

/// Returns the text of the first rank on all ranks.
[[nodiscard]] std::string shared_by_ranks(std::string text) {
#ifdef BPM_CLUSTER_MPI
  std::uint64_t size = text.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  text.resize(size);
  constexpr std::uint64_t most = std::uint64_t{1} << 30U;
  for (std::uint64_t at = 0; at < size; at += most) {
    MPI_Bcast(text.data() + at, static_cast<int>(std::min(most, size - at)), MPI_BYTE, 0,
              MPI_COMM_WORLD);
  }
#endif
  return text;
}

/// Collective: fits, in parts with one draw a thread where the first rank keeps the training, which
/// is that of all ranks, in a folder.
template <class Machine, class Inputs>
[[nodiscard]] auto fit_together(const Machine& machine, const ClusterOptions& options,
                                const ClusterJob& job, const Inputs& inputs,
                                std::span<const int> labels,
                                const std::function<bool(const bpm::Progress&)>& progress) {
  if (options.checkpoint.empty()) return machine.fit(inputs, labels, progress);
  const bool first = job.rank() == 0;
  std::string begun;
  std::string error;
  try {
    if (first) begun = read_training(options.checkpoint);
  } catch (const std::exception& found) {
    error = found.what();
  }
  // All ranks end by the error of the first.
  if (const std::string shared = shared_by_ranks(error); !shared.empty()) throw UsageError(shared);
  const FitParts parts{.draws = options.draws,
                       .first = static_cast<std::uint64_t>(job.size()) *
                                static_cast<std::uint64_t>(std::max(1, options.common.threads)),
                       .brief = 0};  // All ranks make the same parts, whatever their clocks.
  return fit_by_parts(machine, inputs, labels, parts, shared_by_ranks(std::move(begun)), progress,
                      [&](const auto& training) {
                        if (first) bpm::save(training, training_file(options.checkpoint));
                      });
}

template <class Fitted>
void describe(const Fitted& fitted, ClusterRun& run) {
  const bpm::SamplerReport& report = fitted.report();
  run.draws = report.draws;
  run.kernel_evaluations = report.kernel_evaluations;
  run.mistakes = report.perceptron->mistakes;
  run.passes_mean = static_cast<double>(report.perceptron->passes) /
                    (static_cast<double>(report.draws) * static_cast<double>(fitted.columns()));
  run.support = fitted.support().size();
  run.model_digest = digest_of(fitted);
}

}  // namespace

ClusterRun train_on_cluster(const ClusterOptions& options, const ClusterJob& job,
                            const Digits& digits,
                            const std::function<bool(const bpm::Progress&)>& progress) {
  const Eigen::Index m = digits.train.inputs.rows();
  const Eigen::Index begin = options.sharded ? m * job.rank() / job.size() : 0;
  const Eigen::Index end = options.sharded ? m * (job.rank() + 1) / job.size() : m;
  const auto labels =
      std::span<const int>(digits.train.labels)
          .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  return with_inputs(
      options, digits, begin, end - begin,
      [&](const auto& inputs, const auto& test, const auto& kernel) {
        ClusterRun run;
        WallTimer timer;
        const auto finish = [&](const auto& fitted) {
          run.train_seconds = timer.restart();
          describe(fitted, run);
          if (job.rank() == 0) {
            timer.restart();
            run.test_error_percent =
                100 * bpm::error_rate(digits.test.labels, fitted.predict(test));
            run.predict_seconds = timer.seconds();
          }
        };
        const bpm::PermutedPerceptron draws{.draws = options.draws};
#ifdef BPM_CLUSTER_MPI
        if (options.sharded) {
          bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::hard(), .bias = 0};
          settings.seed = options.common.seed;
          settings.threads = static_cast<unsigned>(options.common.threads);
          finish(bpm::ShardedOneVsRest(kernel, draws, settings).fit(inputs, labels, progress));
        } else {
          const auto machine = windowed_machine(kernel, bpm::DistributedPerceptron{draws}, options);
          finish(fit_together(machine, options, job, inputs, labels, progress));
        }
#else
        finish(fit_together(windowed_machine(kernel, draws, options), options, job, inputs, labels,
                            progress));
#endif
        return run;
      });
}

LoadSample sample_load(const ClusterOptions& options, const Digits& digits, Eigen::Index points) {
  return with_inputs(
      options, digits, 0, points,
      [&](const auto& inputs, const auto& /*test*/, const auto& kernel) {
        const bpm::PermutedPerceptron sampler{.draws = 1};
        const auto fitted = windowed_machine(kernel, sampler, options)
                                .fit(inputs, std::span<const int>(digits.train.labels)
                                                 .first(static_cast<std::size_t>(points)));
        const auto m = static_cast<double>(points);
        return LoadSample{m, static_cast<double>(fitted.report().kernel_evaluations) / m};
      });
}

MeasuredRates measure_rates(const ClusterOptions& options, const ClusterJob& job,
                            const Digits& digits) {
  MeasuredRates measured;
  const Eigen::Index count = std::min<Eigen::Index>(digits.train.inputs.rows(), 4096);
#ifdef BPM_CLUSTER_MPI
  const auto meet = [] { MPI_Barrier(MPI_COMM_WORLD); };
#else
  const auto meet = [] {};
#endif
  with_inputs(
      options, digits, 0, count, [&](const auto& inputs, const auto& /*test*/, const auto& kernel) {
        const bpm::KernelMatrixSettings settings{.threads =
                                                     static_cast<unsigned>(options.common.threads)};
        const auto rows = inputs.topRows(std::min<Eigen::Index>(count, 960)).eval();
        double values = 0;
        meet();
        const WallTimer timer;
        while (timer.seconds() < 0.5) {
          values += static_cast<double>(bpm::kernel_matrix(kernel, rows, inputs, settings).size());
        }
        measured.rates.kernel_values_per_second = values / timer.seconds();
        return 0;
      });
  {
    std::vector<double> outputs(256, 0.0);
    std::vector<float> row(256, 1.0F);
    meet();
    const WallTimer timer;
    double additions = 0;
    while (timer.seconds() < 0.1) {
      for (int repeat = 0; repeat < 1000; ++repeat) {
        for (std::size_t j = 0; j < outputs.size(); ++j) {
          outputs[j] += 1.0 * static_cast<double>(row[j]);
        }
        row[static_cast<std::size_t>(repeat) % 256] += static_cast<float>(outputs[0] > 1e300);
      }
      additions += 1000.0 * 256;
    }
    measured.rates.additions_per_second =
        additions / timer.seconds() * static_cast<double>(options.common.threads);
  }
  {
    std::vector<bpm::PointIndex> order(1'000'000);
    bpm::RandomEngine engine(1);
    meet();
    const WallTimer timer;
    bpm::random_permutation(std::span(order), engine);
    measured.rates.shuffle_seconds_per_point = timer.seconds() / static_cast<double>(order.size());
  }
#ifdef BPM_CLUSTER_MPI
  if (job.size() > 1) {
    const auto ping_pong = [&](int numbers, int times) {
      std::vector<double> values(static_cast<std::size_t>(numbers), 1.0);
      meet();
      const WallTimer timer;
      for (int i = 0; i < times && job.rank() < 2; ++i) {
        for (int message = 0; message < 2; ++message) {
          if (job.rank() == message) {
            MPI_Send(values.data(), numbers, MPI_DOUBLE, 1 - message, 0, MPI_COMM_WORLD);
          } else {
            MPI_Recv(values.data(), numbers, MPI_DOUBLE, message, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
          }
        }
      }
      const double seconds = timer.seconds() / (2 * times);
      meet();
      return seconds;
    };
    static_cast<void>(ping_pong(1, 50));
    double latency = ping_pong(1, 500);
    double slope = ping_pong(1 << 20, 10) / (8.0 * (1 << 20));
    std::array<double, 2> both{latency, slope};
    MPI_Bcast(both.data(), 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    measured.rates.latency_seconds = both[0];
    measured.rates.bytes_per_second = 1 / both[1];
    measured.messages_measured = true;
    // The slowest rank is waited for.
    for (double* rate :
         {&measured.rates.kernel_values_per_second, &measured.rates.additions_per_second}) {
      MPI_Allreduce(MPI_IN_PLACE, rate, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    }
  }
#else
  static_cast<void>(job);
#endif
  return measured;
}

}  // namespace bpm_examples
