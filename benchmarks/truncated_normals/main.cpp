// SPDX-License-Identifier: MIT
// Samplers of truncated normal laws: effective sample sizes a second of one core.

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bpm/gaussian_process/orthant/truncated_normal.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/program.hpp"
#include "effective_size.hpp"
#include "options.hpp"
#include "problems.hpp"
#include "rivals.hpp"

namespace {

using namespace bpm_examples;
using namespace truncated_normals;

/// Processor time of this thread, in seconds.
double cpu_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Row {
  std::string problem;
  std::string sampler;
  double seconds = 0;
  double set_up = 0;  ///< Seconds before the first step.
  ChainSummary chain{};
  double worst_z = std::numeric_limits<double>::quiet_NaN();

  [[nodiscard]] double smallest() const { return chain.effective.minCoeff() / seconds; }
};

/// The statistic that has the smallest effective size.
std::string slowest(const ChainSummary& chain) {
  Eigen::Index s = 0;
  chain.effective.minCoeff(&s);
  const Eigen::Index n = (chain.effective.size() - 3) / 2;
  if (s < n) return "coordinate " + std::to_string(s);
  if (s < 2 * n) return "square " + std::to_string(s - n);
  const char* const names[]{"log density", "largest eigenvector", "smallest eigenvector"};
  return names[s - 2 * n];
}

/// Largest distance of a mean from the closed form in standard errors: of coordinates and squares
/// each, and of the projection on the largest eigenvector. Where there is no closed form, of all
/// means from those of another sampler's chain, if there is one: a chain that has not mixed, and
/// does not know it, is far off.
double worst_z(const Problem& problem, const ChainSummary& chain, const ChainSummary* other) {
  const Eigen::Index n = problem.mean.size();
  if (!problem.truth) {
    if (other == nullptr) return std::numeric_limits<double>::quiet_NaN();
    const Eigen::ArrayXd errors = chain.errors.array().square() + other->errors.array().square();
    return ((chain.means - other->means).array().abs() / errors.sqrt()).maxCoeff();
  }
  const auto z = [&](Eigen::Index s, double truth) {
    return std::abs(chain.means[s] - truth) / chain.errors[s];
  };
  double worst = z(2 * n + 1, problem.largest.sum() * problem.truth->mean);
  for (Eigen::Index i = 0; i < n; ++i) {
    worst = std::max({worst, z(i, problem.truth->mean), z(n + i, problem.truth->square)});
  }
  return worst;
}

/// The orthant, by the library.
bpm::TruncatedNormal law_of(const Problem& problem) {
  const Eigen::Index n = problem.mean.size();
  return {problem.mean, problem.covariance, Eigen::VectorXd::Zero(n),
          Eigen::VectorXd::Constant(n, std::numeric_limits<double>::infinity())};
}

/// The library's chains, through its public door. CPU time is taken from the first draw's end to
/// the last one's.
Row run_library(const Problem& problem, const Options& options) {
  Row row{.problem = problem.name, .sampler = "TruncatedNormal"};
  const Eigen::Index n = problem.mean.size();
  const double begin = cpu_seconds();
  const bpm::TruncatedNormal law = law_of(problem);
  row.set_up = cpu_seconds() - begin;
  bpm::RandomStreams streams{.seed = options.common.seed};
  double first = 0;
  double last = 0;
  bpm::RunControl control;
  control.observer = [&](const bpm::Progress& progress) {
    if (progress.draws == 1) first = cpu_seconds();
    if (progress.draws == progress.draws_total) last = cpu_seconds();
    return true;
  };
  const auto sample = [&](std::ptrdiff_t count, std::uint64_t burn_in) {
    return law.sample(count, {.burn_in = burn_in, .chains = 1}, streams, control);
  };
  (void)sample(33, 16);
  const double each = std::max(1e-7, (last - first) / 32);
  // Chains one after the other, each of 128 MiB of draws at most.
  ChainStatistics statistics(problem);
  for (std::ptrdiff_t held = 0; row.seconds < options.seconds || held < options.draws;) {
    const double wanted =
        std::max((options.seconds - row.seconds) / each, static_cast<double>(options.draws - held));
    const double most = std::min(wanted, std::ldexp(1.0, 24) / static_cast<double>(n));
    const Eigen::MatrixXd draws =
        sample(std::max<std::ptrdiff_t>(64, static_cast<std::ptrdiff_t>(most)) + 1, 200);
    row.seconds += last - first;
    held += draws.cols() - 1;
    for (Eigen::Index j = 1; j < draws.cols(); ++j) statistics.add(draws.col(j).data());
  }
  row.chain = statistics.summary();
  return row;
}

template <class Chain>
Row run_rival(const Problem& problem, const std::string& name, const Eigen::VectorXd& start,
              const Options& options) {
  Row row{.problem = problem.name, .sampler = name};
  double begin = cpu_seconds();
  // The library's chains have the numbers of another seed.
  Chain chain(problem, start, bpm::RandomEngine(options.common.seed + 2, 0));
  row.set_up = cpu_seconds() - begin;
  for (double spent = 0; spent < 0.1 * options.seconds;) {
    begin = cpu_seconds();
    chain.step();
    spent += cpu_seconds() - begin;
  }
  ChainStatistics statistics(problem);
  for (std::ptrdiff_t held = 0; row.seconds < options.seconds || held < options.draws; ++held) {
    begin = cpu_seconds();
    chain.step();
    row.seconds += cpu_seconds() - begin;
    statistics.add(chain.position().data());
  }
  row.chain = statistics.summary();
  return row;
}

Problem make_problem(const std::string& name, const Options& options) {
  const auto points = [&](Eigen::Index own) { return options.points > 0 ? options.points : own; };
  if (name == "equicorrelated") return equicorrelated(points(1000), 0.5, 0);
  if (name == "shifted") return equicorrelated(points(1000), 0.5, 2);
  const Eigen::Index n = points(name == "digits_500" ? 500 : 2000);
  return digits(load_even_odd(options.common.data, 5000, 1, 1), n, options.common.seed);
}

Json row_json(const Row& row) {
  return {{"problem", row.problem},
          {"sampler", row.sampler},
          {"draws", row.chain.draws},
          {"seconds", row.seconds},
          {"set_up_seconds", row.set_up},
          {"smallest_effective_size_a_second", row.smallest()},
          {"median_effective_size_a_second",
           [&] {
             Eigen::VectorXd all = row.chain.effective;
             std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
             return all[all.size() / 2] / row.seconds;
           }()},
          {"slowest", slowest(row.chain)},
          {"worst_z", row.worst_z}};
}

void run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const JsonFile json(options.common.json);
  const InterruptGuard guard;
  Json list = Json::array();
  std::ostream& out = std::cout;
  if (!options.common.quiet) {
    out << std::left << std::setw(26) << "problem" << std::setw(18) << "sampler" << std::right
        << std::setw(10) << "draws" << std::setw(12) << "min ESS/s" << std::setw(12) << "median"
        << std::setw(9) << "worst z"
        << "  slowest\n";
  }
  for (const std::string& name : options.problems) {
    const Problem problem = make_problem(name, options);
    bpm::RandomStreams streams{.seed = options.common.seed + 1};
    const Eigen::VectorXd start =
        law_of(problem).sample(1, {.burn_in = 100, .chains = 1}, streams).col(0);
    std::optional<ChainSummary> reference;  // The first sampler's.
    for (const std::string& sampler : options.samplers) {
      if (guard.interrupted()) throw Interrupted("stopped before the last sampler was done");
      Row row = sampler == "TruncatedNormal" ? run_library(problem, options)
                : sampler == "harmonic"
                    ? run_rival<HarmonicReflections>(problem, sampler, start, options)
                : sampler == "zigzag" ? run_rival<Zigzag>(problem, sampler, start, options)
                : sampler == "slice"  ? run_rival<EllipticalSlice>(problem, sampler, start, options)
                                      : run_rival<EllipticalArc>(problem, sampler, start, options);
      row.worst_z = worst_z(problem, row.chain, reference ? &*reference : nullptr);
      if (!reference) reference = row.chain;
      list.push_back(row_json(row));
      if (options.common.quiet) continue;
      out << std::left << std::setw(26) << row.problem << std::setw(18) << row.sampler << std::right
          << std::setw(10) << row.chain.draws << std::setw(12) << std::setprecision(4)
          << row.smallest() << std::setw(12)
          << list.back().at("median_effective_size_a_second").get<double>() << std::setw(9)
          << std::setprecision(3) << row.worst_z << "  " << slowest(row.chain) << std::endl;
    }
  }
  json.write(list);
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
