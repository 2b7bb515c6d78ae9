// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

/// \file
/// Cones to sample, their law by rejection or by weights, and how far a chain is from it in units
/// of the joint standard error.

namespace sampler_tests {

inline bpm::Cone cone_of(const bpm::RowMatrix<double>& kernel, std::vector<signed char> labels,
                         double tolerance = 1e-10) {
  const bpm::PrecomputedGram<double> gram(kernel);
  bpm::Cone cone = bpm::Cone(bpm::KernelVersionSpace<double>(gram, std::move(labels)), tolerance);
  cone.form_products();
  return cone;
}

/// The orthant in n dimensions.
inline bpm::Cone orthant_cone(std::ptrdiff_t n) {
  return cone_of(bpm::RowMatrix<double>::Identity(n, n),
                 std::vector<signed char>(static_cast<std::size_t>(n), 1));
}

/// m normal inputs in r dimensions; labels of a random plane, or random ones.
inline bpm::Cone random_cone(std::ptrdiff_t m, std::ptrdiff_t r, std::uint64_t seed,
                             bool separable) {
  bpm::RandomEngine engine(seed, 91);
  bpm::NormalDraws normal;
  Eigen::VectorXd teacher(r);
  for (double& value : teacher) value = normal(engine);
  bpm::RowMatrix<double> inputs(m, r);
  std::vector<signed char> labels;
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t k = 0; k < r; ++k) inputs(i, k) = normal(engine);
    const double output = separable ? inputs.row(i).dot(teacher) : normal(engine);
    labels.push_back(output > 0 ? 1 : -1);
  }
  return cone_of(inputs * inputs.transpose(), labels);
}

/// A perceptron's point inside, or where it has got after 1000 passes.
inline std::vector<double> start_in(const bpm::Cone& cone) {
  std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
  bool mistaken = true;
  for (int pass = 0; mistaken && pass < 1000; ++pass) {
    mistaken = false;
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      const double d = bpm::detail::dot(cone.row(i), x.data(), cone.stride());
      if (d <= 1e-9 && cone.row_norm(i) > 0) {
        bpm::detail::add_scaled(x.data(), 1 / cone.row_norm(i), cone.row(i), cone.stride());
        mistaken = true;
      }
    }
  }
  if (std::all_of(x.begin(), x.end(), [](double value) { return value == 0; })) x[0] = 1;
  return x;
}

/// What is compared of a point of the sphere: coordinates, their squares, the smallest and the
/// largest output in units of norm(s_i), and the number of errors.
inline std::vector<double> statistics_of(const bpm::Cone& cone, const double* x) {
  std::vector<double> d(static_cast<std::size_t>(cone.output_stride()));
  cone.outputs(x, d.data());
  std::vector<double> result;
  for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) result.push_back(x[k]);
  for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) result.push_back(x[k] * x[k]);
  double smallest = 1e300;
  double largest = -1e300;
  double errors = 0;
  for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
    const double output = d[static_cast<std::size_t>(i)];
    smallest = std::min(smallest, output / cone.row_norm(i));
    largest = std::max(largest, output / cone.row_norm(i));
    errors += output > 0 ? 0 : 1;
  }
  result.insert(result.end(), {smallest, largest, errors});
  return result;
}

/// Means and their standard errors.
struct WeightedMoments {
  std::vector<double> mean;
  std::vector<double> error;
};

/// By points uniform on the sphere, weighted by their errors (q = 0: rejection).
inline WeightedMoments weighted_moments(const bpm::Cone& cone, double noise, int count,
                                        std::uint64_t seed = 1) {
  bpm::RandomEngine engine(seed, 92);
  bpm::NormalDraws normal;
  std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
  WeightedMoments result;
  std::vector<std::vector<double>> kept;
  std::vector<double> weights;
  double total = 0;
  for (int n = 0; n < count; ++n) {
    double square = 0;
    for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) {
      double& value = x[static_cast<std::size_t>(k)];
      value = normal(engine);
      square += value * value;
    }
    for (double& value : x) value /= std::sqrt(square);
    std::vector<double> statistics = statistics_of(cone, x.data());
    const double errors = statistics.back();
    const double weight = errors == 0 ? 1.0 : std::pow(noise / (1 - noise), errors);
    if (weight < 1e-9) continue;
    total += weight;
    weights.push_back(weight);
    kept.push_back(std::move(statistics));
  }
  const std::size_t size = kept.front().size();
  result.mean.assign(size, 0.0);
  result.error.assign(size, 0.0);
  for (std::size_t n = 0; n < kept.size(); ++n) {
    for (std::size_t s = 0; s < size; ++s) result.mean[s] += weights[n] / total * kept[n][s];
  }
  for (std::size_t n = 0; n < kept.size(); ++n) {
    for (std::size_t s = 0; s < size; ++s) {
      const double off = weights[n] / total * (kept[n][s] - result.mean[s]);
      result.error[s] += off * off;
    }
  }
  for (double& error : result.error) error = std::sqrt(error);
  return result;
}

/// Goes on to the next draw, after the burn-in.
template <class Chain>
void next_draw(Chain& chain, const bpm::Cone& cone) {
  while (!chain.burn_in(cone, 1'000'000)) {
  }
  while (!chain.advance(cone, 1'000'000)) {
  }
}

/// Of a chain, by 32 batches of `draws` each. The mean comes from its sums, the rest from draws.
template <class Chain>
WeightedMoments chain_moments(const bpm::Cone& cone, const bpm::KernelGibbs& settings, int draws,
                              std::uint64_t seed = 1) {
  constexpr int batches = 32;
  Chain chain(cone, settings, start_in(cone), bpm::RandomEngine(seed, 93));
  const auto length = static_cast<std::size_t>(cone.stride());
  std::vector<double> before(length, 0.0);
  double weight = 0;
  std::vector<std::vector<double>> means;
  for (int b = 0; b < batches; ++b) {
    std::vector<double> mean;
    for (int n = 0; n < draws; ++n) {
      next_draw(chain, cone);
      const std::vector<double> here = statistics_of(cone, chain.position().data());
      mean.resize(here.size(), 0.0);
      for (std::size_t s = 0; s < here.size(); ++s) mean[s] += here[s] / draws;
    }
    std::vector<double> sum(length, 0.0);
    chain.add_sum(cone, 1.0, sum.data());
    for (std::size_t k = 0; k < static_cast<std::size_t>(cone.rank()); ++k) {
      mean[k] = (sum[k] - before[k]) / (chain.weight() - weight);
    }
    before = sum;
    weight = chain.weight();
    means.push_back(mean);
  }
  const std::size_t size = means.front().size();
  WeightedMoments result{std::vector<double>(size, 0.0), std::vector<double>(size, 0.0)};
  for (const auto& mean : means) {
    for (std::size_t s = 0; s < size; ++s) result.mean[s] += mean[s] / batches;
  }
  for (const auto& mean : means) {
    for (std::size_t s = 0; s < size; ++s) {
      const double off = mean[s] - result.mean[s];
      result.error[s] += off * off / (batches * (batches - 1.0));
    }
  }
  for (double& error : result.error) error = std::sqrt(error);
  return result;
}

/// The largest difference in units of the joint standard error. With 32 batches and a dozen
/// statistics a right chain exceeds 6 about once in ten thousand seeds.
inline double distance(const WeightedMoments& a, const WeightedMoments& b) {
  double largest = 0;
  for (std::size_t s = 0; s < a.mean.size(); ++s) {
    const double error = std::hypot(a.error[s], b.error[s]);
    largest = std::max(largest, std::abs(a.mean[s] - b.mean[s]) / (error + 1e-12));
  }
  return largest;
}

inline double largest_error(const WeightedMoments& a) {
  return *std::max_element(a.error.begin(), a.error.end() - 1);
}

inline constexpr double right_distance = 6;

}  // namespace sampler_tests
