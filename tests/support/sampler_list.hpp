// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"

/// \file
/// The samplers that every kernel is paired with. A new sampler joins all those tests here.

namespace machine_tests {

/// A sampler of the user's own, written against the concepts alone: a perceptron in the order of
/// the points, started from a random classifier. One problem at a time, no threads.
struct RandomStartPerceptron {
  std::uint64_t draws = 10;
  std::uint64_t max_passes = 10000;

  template <bpm::VersionSpace Space, bpm::DrawSink Sink>
  bpm::SamplerReport sample(const Space& space, bpm::RandomStreams& streams,
                            const bpm::RunControl& control, Sink&& sink) const {
    bpm::SamplerReport report;
    bpm::detail::BlockScratch<typename Space::Scalar> scratch;
    const std::ptrdiff_t m = space.size();
    for (std::uint64_t n = 0; n < draws; ++n) {
      if (!control.go_on({.stage = "draws", .draws = n, .draws_total = draws})) {
        report.stopped = true;
        report.reason = "stopped";
        break;
      }
      bpm::RandomEngine engine = streams.stream(streams.next);
      Eigen::MatrixXd alpha(m, 1);
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        alpha(i, 0) = 2 * bpm::uniform_unit(engine) - 1;
      }
      Eigen::MatrixXd outputs = space.outputs(alpha, scratch);
      bool consistent = false;
      for (std::uint64_t pass = 0; pass < max_passes && !consistent; ++pass) {
        ++report.passes;
        consistent = true;
        for (std::ptrdiff_t i = 0; i < m; ++i) {
          if (space.label(i) * outputs(i, 0) <= 0) {
            alpha(i, 0) += space.label(i);
            space.add_row(i, space.label(i),
                          std::span<double>(outputs.data(), static_cast<std::size_t>(m)), scratch);
            ++report.mistakes;
            consistent = false;
          }
        }
      }
      if (!consistent) {
        report.reason = "max_passes were not enough";
        break;
      }
      const double norm = std::sqrt(alpha.col(0).dot(outputs.col(0)));
      alpha /= norm;
      outputs /= norm;
      std::vector<bpm::PointIndex> support;
      for (std::ptrdiff_t i = 0; i < m; ++i) support.push_back(static_cast<bpm::PointIndex>(i));
      const auto size = static_cast<std::size_t>(m);
      sink(bpm::Draw{.number = streams.next,
                     .problem = 0,
                     .support = support,
                     .coefficients = {alpha.data(), size},
                     .outputs = {outputs.data(), size},
                     // Unequal weights, so that tests see whether they are used.
                     .weight = 1.0 + static_cast<double>(streams.next % 3)});
      ++streams.next;
      ++report.draws;
    }
    report.converged = report.draws == draws;
    report.kernel_evaluations = scratch.evaluations;
    return report;
  }
};

/// Short runs of the samplers of chains: what is tested here does not need good ones.
struct QuickBilliard : bpm::Billiard {
  QuickBilliard() {
    bounces_per_draw = 200;
    refresh_length = 8;
    burn_in = 500;
  }
};
struct QuickGibbs : bpm::KernelGibbs {
  QuickGibbs() {
    steps_per_draw = 50;
    burn_in = 200;
  }
};

using AllSamplers =
    std::tuple<bpm::PermutedPerceptron, RandomStartPerceptron, QuickBilliard, QuickGibbs>;

}  // namespace machine_tests
