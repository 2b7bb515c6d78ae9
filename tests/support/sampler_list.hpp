// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"

/// \file
/// The samplers that kernels are paired with. A new sampler joins all those tests here.

namespace machine_tests {

/// A sampler of the user's own, written against the concepts alone: a perceptron in the order of
/// the points, started from a random classifier. No threads.
struct RandomStartPerceptron {
  std::uint64_t draws = 10;
  std::uint64_t max_passes = 10000;

  static constexpr bpm::SamplerTraits traits{};
  void check_settings() const {}
  [[nodiscard]] RandomStartPerceptron with_draws(std::uint64_t count) const {
    return {count, max_passes};
  }
  [[nodiscard]] bpm::MemoryNeed memory_need(const bpm::RunSize& run) const {
    return {.bytes = 2 * sizeof(double) * static_cast<std::size_t>(run.points)};
  }

  template <bpm::VersionSpace Space, class Sink>
  bpm::SamplerReport sample(std::span<const Space> spaces, bpm::RandomStreams& streams,
                            const bpm::RunControl& control, Sink&& sink) const {
    bpm::SamplerReport report{.perceptron = bpm::SamplerReport::Perceptron{}};
    bpm::detail::BlockScratch<typename Space::Scalar> scratch;
    for (std::uint64_t n = 0; n < draws; ++n) {
      if (!control.go_on({.stage = "draws", .draws = n, .draws_total = draws})) {
        report.stopped = true;
        report.reason = "stopped";
        break;
      }
      // A draw is handed over when it is there for every problem.
      std::vector<Classifier> made;
      for (const Space& space : spaces) {
        made.push_back(draw(space, streams.stream(streams.next), *report.perceptron, scratch));
        if (!made.back().consistent) {
          report.reason = "max_passes were not enough";
          return report;
        }
      }
      for (std::size_t p = 0; p < spaces.size(); ++p) {
        sink(bpm::Draw{.number = streams.next,
                       .problem = p,
                       .support = made[p].support,
                       .coefficients = made[p].alpha,
                       .outputs = made[p].outputs,
                       // Unequal weights, so that tests see whether they are used.
                       .weight = 1.0 + static_cast<double>(streams.next % 3)});
      }
      ++streams.next;
      ++report.draws;
    }
    report.converged = report.draws == draws;
    report.kernel_evaluations = scratch.evaluations;
    return report;
  }

 private:
  struct Classifier {
    bool consistent = false;
    std::vector<bpm::PointIndex> support;
    std::vector<double> alpha;
    std::vector<double> outputs;
  };

  template <class Space, class Scratch>
  Classifier draw(const Space& space, bpm::RandomEngine engine,
                  bpm::SamplerReport::Perceptron& counts, Scratch& scratch) const {
    const std::ptrdiff_t m = space.size();
    Eigen::MatrixXd alpha(m, 1);
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      alpha(i, 0) = 2 * bpm::uniform_unit(engine) - 1;
    }
    Eigen::MatrixXd outputs = space.outputs(alpha, scratch);
    Classifier made;
    for (std::uint64_t pass = 0; pass < max_passes && !made.consistent; ++pass) {
      ++counts.passes;
      made.consistent = true;
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        if (space.label(i) * outputs(i, 0) <= 0) {
          alpha(i, 0) += space.label(i);
          space.add_row(i, space.label(i),
                        std::span<double>(outputs.data(), static_cast<std::size_t>(m)), scratch);
          ++counts.mistakes;
          made.consistent = false;
        }
      }
    }
    const double norm = std::sqrt(alpha.col(0).dot(outputs.col(0)));
    alpha /= norm;
    outputs /= norm;
    made.alpha.assign(alpha.data(), alpha.data() + m);
    made.outputs.assign(outputs.data(), outputs.data() + m);
    for (std::ptrdiff_t i = 0; i < m; ++i) made.support.push_back(static_cast<bpm::PointIndex>(i));
    return made;
  }
};

/// A sampler as it is tested here: chains are short, as no good ones are needed.
template <class Sampler>
Sampler short_runs_of() {
  Sampler sampler;
  if constexpr (requires { sampler.bounces_per_draw; }) {
    sampler.bounces_per_draw = 200;
    sampler.refresh_length = 8;
    sampler.burn_in = 500;
  } else if constexpr (requires { sampler.steps_per_draw; }) {
    sampler.steps_per_draw = 50;
    sampler.burn_in = 200;
  }
  return sampler;
}

/// What one kernel is paired with; the others meet `PermutedPerceptron`, as a fit's draws know no
/// kernel.
using AllSamplers =
    std::tuple<bpm::PermutedPerceptron, RandomStartPerceptron, bpm::Billiard, bpm::KernelGibbs>;

}  // namespace machine_tests
