// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

/// \file
/// Small two-class problems, draws kept whole, and a perceptron as in a textbook to compare with.

namespace sampler_tests {

using Inputs = bpm::RowMatrix<float>;
using Labels = std::vector<signed char>;
using Lambda = std::shared_ptr<const std::vector<double>>;

/// Points uniform in the cube [-1, 1]^d.
inline Inputs random_inputs(std::ptrdiff_t m, std::ptrdiff_t d, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  Inputs inputs(m, d);
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < d; ++j) {
      inputs(i, j) = static_cast<float>(2 * bpm::uniform_unit(engine) - 1);
    }
  }
  return inputs;
}

inline Labels random_labels(std::ptrdiff_t m, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 77);
  Labels labels(static_cast<std::size_t>(m));
  for (auto& label : labels) {
    label = static_cast<signed char>(bpm::uniform_unit(engine) < 0.5 ? -1 : 1);
  }
  return labels;
}

inline Lambda random_lambda(std::ptrdiff_t m, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 78);
  auto lambda = std::make_shared<std::vector<double>>(static_cast<std::size_t>(m));
  for (double& value : *lambda) value = 0.1 + bpm::uniform_unit(engine);
  return lambda;
}

/// Any labels are separable under this kernel: random points are nearly orthogonal.
inline const auto narrow_gaussian = bpm::Gaussian::from_sigma(0.5);
using NarrowValues = bpm::detail::OnDemandGram<bpm::Gaussian, Inputs>;
using Matrix = bpm::detail::DenseGram<float>;

/// A draw with memory of its own.
struct KeptDraw {
  std::uint64_t number = 0;
  std::size_t problem = 0;
  std::vector<bpm::PointIndex> support;
  std::vector<double> coefficients;
  std::vector<double> outputs;
  double weight = 0;
  std::vector<bpm::PointIndex> left_out;
  std::vector<double> left_out_outputs;

  explicit KeptDraw(const bpm::Draw& draw)
      : number(draw.number),
        problem(draw.problem),
        support(draw.support.begin(), draw.support.end()),
        coefficients(draw.coefficients.begin(), draw.coefficients.end()),
        outputs(draw.outputs.begin(), draw.outputs.end()),
        weight(draw.weight),
        left_out(draw.left_out.begin(), draw.left_out.end()),
        left_out_outputs(draw.left_out_outputs.begin(), draw.left_out_outputs.end()) {}

  friend bool operator==(const KeptDraw&, const KeptDraw&) = default;

  /// Coefficients of all m points.
  [[nodiscard]] Eigen::VectorXd alpha() const {
    Eigen::VectorXd all = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(outputs.size()));
    for (std::size_t s = 0; s < support.size(); ++s) all[support[s]] = coefficients[s];
    return all;
  }
};

struct Outcome {
  std::vector<KeptDraw> draws;
  bpm::SamplerReport report;
  std::uint64_t next = 0;  ///< The next stream, afterwards.
};

/// Runs a sampler on problems in step.
template <class Sampler, class Space>
Outcome run_in_step(const Sampler& sampler, const std::vector<Space>& spaces,
                    const bpm::RunControl& control = {}, bpm::RandomStreams streams = {}) {
  Outcome outcome;
  outcome.report = sampler.sample(std::span<const Space>(spaces), streams, control,
                                  [&](const bpm::Draw& draw) { outcome.draws.emplace_back(draw); });
  outcome.next = streams.next;
  return outcome;
}

/// Runs a sampler on one problem.
template <class Sampler, class Space>
Outcome run(const Sampler& sampler, const Space& space, const bpm::RunControl& control = {},
            bpm::RandomStreams streams = {}) {
  Outcome outcome;
  outcome.report =
      bpm::sample_version_space(sampler, space, streams, control,
                                [&](const bpm::Draw& draw) { outcome.draws.emplace_back(draw); });
  outcome.next = streams.next;
  return outcome;
}

inline bpm::RunControl on_threads(unsigned threads) { return {{}, {}, threads}; }

/// All values of a kernel matrix, in double.
template <class Gram>
Eigen::MatrixXd values_of(const Gram& gram) {
  bpm::detail::BlockScratch<typename Gram::Scalar> scratch;
  Eigen::MatrixXd values(gram.size(), gram.size());
  for (std::ptrdiff_t i = 0; i < gram.size(); ++i) {
    const auto row = gram.row(i, scratch);
    for (std::ptrdiff_t j = 0; j < gram.size(); ++j) {
      values(i, j) = static_cast<double>(row[static_cast<std::size_t>(j)]);
    }
  }
  return values;
}

/// What a perceptron's run comes to: alpha_i = y_i counts_i and the outputs S alpha.
struct Textbook {
  std::vector<int> counts;
  Eigen::VectorXd outputs;
  std::uint64_t mistakes = 0;
  std::uint64_t passes = 0;

  [[nodiscard]] Eigen::VectorXd alpha(const Labels& labels) const {
    Eigen::VectorXd all(outputs.size());
    for (Eigen::Index i = 0; i < all.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      all[i] = counts[at] * labels[at];
    }
    return all;
  }
};

inline std::vector<int> order_of(std::ptrdiff_t m, const bpm::RandomStreams& streams,
                                 std::uint64_t draw) {
  std::vector<int> order(static_cast<std::size_t>(m));
  bpm::RandomEngine engine = streams.stream(draw);
  bpm::random_permutation(std::span<int>(order), engine);
  return order;
}

inline double lambda_at(const Lambda& lambda, int i) {
  return lambda ? (*lambda)[static_cast<std::size_t>(i)] : 0.0;
}

inline void textbook_mistake(Textbook& w, const Eigen::MatrixXd& kernel, const Labels& labels,
                             const Lambda& lambda, int i) {
  const auto at = static_cast<std::size_t>(i);
  w.outputs += labels[at] * kernel.col(i);
  w.outputs[i] += labels[at] * lambda_at(lambda, i);
  ++w.counts[at];
  ++w.mistakes;
}

/// The kernel perceptron: go through the points in `order` until a pass makes no mistake.
/// From `w` on.
inline Textbook textbook_perceptron_from(Textbook w, const Eigen::MatrixXd& kernel,
                                         const Labels& labels, const Lambda& lambda,
                                         const std::vector<int>& order, double margin = 0) {
  for (bool mistaken = true; mistaken;) {
    mistaken = false;
    ++w.passes;
    for (const int i : order) {
      if (labels[static_cast<std::size_t>(i)] * w.outputs[i] <= margin) {
        textbook_mistake(w, kernel, labels, lambda, i);
        mistaken = true;
      }
    }
  }
  return w;
}

inline Textbook textbook_perceptron(const Eigen::MatrixXd& kernel, const Labels& labels,
                                    const Lambda& lambda, const std::vector<int>& order,
                                    double margin = 0) {
  return textbook_perceptron_from(
      {std::vector<int>(labels.size(), 0), Eigen::VectorXd::Zero(kernel.rows())}, kernel, labels,
      lambda, order, margin);
}

/// Whether a draw is the textbook's classifier over its norm: the same mistake counts, hence the
/// same direction, and norm 1.
inline bool same_classifier(const KeptDraw& draw, const Textbook& textbook, const Labels& labels) {
  const Eigen::VectorXd alpha = textbook.alpha(labels);
  const double norm = std::sqrt(alpha.dot(textbook.outputs));
  const Eigen::VectorXd found = draw.alpha();
  for (Eigen::Index i = 0; i < alpha.size(); ++i) {
    const double count = found[i] * norm;
    if (std::round(count) != alpha[i] || std::abs(count - alpha[i]) > 1e-9 ||
        std::abs(draw.outputs[static_cast<std::size_t>(i)] * norm - textbook.outputs[i]) > 1e-9) {
      return false;
    }
  }
  return true;
}

/// Points with a separator of known margin under the linear kernel: y <u, x> >= margin, |u| = 1.
struct SeparableProblem {
  Inputs inputs;
  Labels labels;
  double margin;  ///< Recomputed from the inputs.
};

inline SeparableProblem separable_problem(std::ptrdiff_t m, std::ptrdiff_t d, double margin,
                                          std::uint64_t seed) {
  SeparableProblem problem{random_inputs(m, d, seed), {}, 0};
  bpm::RandomEngine engine(seed, 5);
  bpm::NormalDraws normal;
  Eigen::VectorXd u(d);
  for (Eigen::Index j = 0; j < d; ++j) u[j] = normal(engine);
  u.normalize();
  problem.margin = 1e300;
  for (Eigen::Index i = 0; i < m; ++i) {
    const double side = problem.inputs.row(i).cast<double>().dot(u) > 0 ? 1 : -1;
    problem.inputs.row(i) += (side * margin * u.transpose()).cast<float>();
    problem.labels.push_back(static_cast<signed char>(side));
    problem.margin = std::min(problem.margin, side * problem.inputs.row(i).cast<double>().dot(u));
  }
  return problem;
}

}  // namespace sampler_tests
