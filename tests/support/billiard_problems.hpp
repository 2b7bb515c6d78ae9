// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "law.hpp"
#include "problems.hpp"

/// \file
/// Version spaces for runs of `Billiard`.

namespace law_tests {

/// Keeps the kernel values that a version space refers to.
struct Problem {
  Kernel kernel;
  Gram gram;
  Space space;

  Problem(Kernel values, Labels labels, const Numbers& lambda = {})
      : kernel(std::move(values)),
        gram(kernel),
        space(gram, std::move(labels), std::make_shared<const Numbers>(lambda)) {}
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  ~Problem() = default;
};

inline Kernel gaussian_kernel(const Kernel& inputs, double gamma) {
  Kernel kernel(inputs.rows(), inputs.rows());
  for (Eigen::Index i = 0; i < kernel.rows(); ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      kernel(i, j) = kernel(j, i) =
          std::exp(-gamma * (inputs.row(i) - inputs.row(j)).squaredNorm());
    }
  }
  return kernel;
}

/// Labels by the sign of the first coordinate less `offset`.
inline Labels labels_by_first(const Kernel& inputs, double offset = 0) {
  Labels labels;
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    labels.push_back(inputs(i, 0) > offset ? 1 : -1);
  }
  return labels;
}

/// 20 points in 4 dimensions, linearly separable through the origin.
inline const Problem& easy_problem() {
  static const Kernel inputs = tilted_inputs(20, 4, 0.3, 3);
  static const Problem problem(linear_kernel(inputs), labels_by_first(inputs));
  return problem;
}

inline sampler_tests::Outcome run(const bpm::Billiard& sampler, const Problem& problem,
                                  const bpm::RunControl& control = {},
                                  bpm::RandomStreams streams = {}) {
  return sampler_tests::run(sampler, problem.space, control, streams);
}

/// Runs that go on from one another.
template <class Sampler = bpm::Billiard>
struct Continued {
  std::vector<sampler_tests::KeptDraw> draws;
  typename Sampler::State state;
  bpm::RandomStreams streams;
  bpm::SamplerReport report;

  void go_on(const Sampler& sampler, const Space& space, const bpm::RunControl& control = {}) {
    report = bpm::sample_version_space(
        sampler, space, streams, control, [&](const bpm::Draw& draw) { draws.emplace_back(draw); },
        state);
  }
};

/// What a run throws, or "nothing thrown".
inline std::string message_of(const bpm::Billiard& sampler, const Space& space) {
  try {
    (void)sampler_tests::run(sampler, space);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

/// Whether draws are inside: outputs recomputed from the coefficients by a plain product agree, and
/// those handed over are on the right side; norm 1.
inline bool all_inside(const Problem& problem, const std::vector<sampler_tests::KeptDraw>& draws,
                       double tolerance = 1e-9) {
  const double scale = std::sqrt(problem.kernel.diagonal().maxCoeff());
  for (const sampler_tests::KeptDraw& draw : draws) {
    const Eigen::VectorXd alpha = draw.alpha();
    Eigen::VectorXd outputs = problem.kernel * alpha;
    for (Eigen::Index i = 0; i < outputs.size(); ++i) {
      outputs[i] += problem.space.lambda(i) * alpha[i];
      const double given = draw.outputs[static_cast<std::size_t>(i)];
      if (!(given * problem.space.label(i) > 0) ||
          !(std::abs(given - outputs[i]) <= tolerance * scale)) {
        return false;
      }
    }
    if (!(std::abs(alpha.dot(outputs) - 1) <= tolerance)) {
      return false;
    }
  }
  return true;
}

}  // namespace law_tests
