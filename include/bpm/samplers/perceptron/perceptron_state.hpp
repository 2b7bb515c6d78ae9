// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/multiply_add.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm::detail {

/// The limits of one perceptron run, copied from the sampler's settings.
struct PerceptronLimits {
  std::uint64_t max_passes = 0;
  std::uint64_t max_steps = 0;     ///< Greedy order: mistakes a problem and draw.
  std::uint64_t max_mistakes = 0;  ///< A problem and draw; 0: no limit.
  double margin = 0;
};

enum class PerceptronOutcome { consistent, stopped, out_of_passes, out_of_mistakes };

/// Where one problem of one run stands.
struct PerceptronProblem {
  bool done = false;
  std::uint64_t mistakes = 0;
  std::uint64_t passes = 0;
  std::uint64_t mistakes_in_pass = 0;
};

/// The finished classifier of one problem, before it is handed to a sink.
struct PerceptronSolution {
  std::vector<PointIndex> support;
  std::vector<double> coefficients;
  Buffer<double> outputs;
  std::uint64_t errors = 0;  ///< Points with d_i <= 0, counted anew from the outputs: none.
};

/// What all ways of running C perceptrons on one permutation share. `outputs` and `counts` are
/// C x m; whether a column is a point or a position in `order` is the runner's choice.
struct PerceptronState {
  PerceptronState(std::ptrdiff_t points, std::size_t problem_count)
      : size(points),
        problems(problem_count),
        order(points),
        outputs(points * std::ssize(problems)),
        counts(points * std::ssize(problems)) {}

  /// A new permutation, w = 0.
  void start(RandomEngine engine) {
    random_permutation(order.span(), engine);
    outputs.fill(0);
    counts.fill(0);
    problems.assign(problems.size(), {});
  }

  [[nodiscard]] double* outputs_of(std::size_t c) {
    return outputs.data() + static_cast<std::ptrdiff_t>(c) * size;
  }
  [[nodiscard]] std::int32_t* counts_of(std::size_t c) {
    return counts.data() + static_cast<std::ptrdiff_t>(c) * size;
  }

  void begin_pass() {
    for (auto& problem : problems) {
      problem.mistakes_in_pass = 0;
      problem.passes += problem.done ? 0U : 1U;
    }
  }

  /// Problems without a mistake in this pass are done. True if all are.
  bool end_pass() {
    bool all = true;
    for (auto& problem : problems) {
      problem.done = problem.done || problem.mistakes_in_pass == 0;
      all = all && problem.done;
    }
    return all;
  }

  void count_mistake(std::size_t c, std::ptrdiff_t column) {
    ++counts_of(c)[column];
    ++problems[c].mistakes;
    ++problems[c].mistakes_in_pass;
  }

  [[nodiscard]] bool beyond(const PerceptronLimits& limits) const {
    return limits.max_mistakes != 0 &&
           std::any_of(problems.begin(), problems.end(), [&](const PerceptronProblem& p) {
             return p.mistakes > limits.max_mistakes;
           });
  }

  std::ptrdiff_t size;
  std::vector<PerceptronProblem> problems;
  Buffer<PointIndex> order;
  Buffer<double> outputs;
  Buffer<std::int32_t> counts;
};

/// outputs += scale * values. The scale is +1 or -1, so the product is exact and the sum is the
/// same bits whether or not the compiler fuses the two.
template <class Scalar>
inline void add_values(double* outputs, double scale, const Scalar* values, std::ptrdiff_t count) {
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    outputs[j] += scale * static_cast<double>(values[j]);
  }
}

/// w / norm(w) from counts and outputs by point; norm(w)^2 = alpha' o, summed in ascending order of
/// the points.
template <class Space>
[[nodiscard]] PerceptronSolution normalised_solution(const Space& space, const std::int32_t* counts,
                                                     Buffer<double> outputs) {
  PerceptronSolution result;
  double squared_norm = 0;
  for (std::ptrdiff_t i = 0; i < outputs.size(); ++i) {
    const bool correct = space.label(i) * outputs[i] > 0;
    result.errors += correct ? 0U : 1U;
    if (counts[i] != 0) {
      const double alpha = static_cast<double>(counts[i]) * space.label(i);
      result.support.push_back(static_cast<PointIndex>(i));
      result.coefficients.push_back(alpha);
      squared_norm = multiply_add(alpha, outputs[i], squared_norm);
    }
  }
  const double norm = std::sqrt(squared_norm);
  for (double& alpha : result.coefficients) alpha /= norm;
  for (double& output : outputs) output /= norm;
  result.outputs = std::move(outputs);
  return result;
}

}  // namespace bpm::detail
