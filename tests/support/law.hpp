// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

/// \file
/// Version spaces whose uniform law is known, in closed form or by rejection sampling, and how far
/// from it a sample is in units of the joint standard error.

namespace law_tests {

using Numbers = std::vector<double>;
using Kernel = bpm::RowMatrix<double>;
using Gram = bpm::PrecomputedGram<double>;
using Space = bpm::KernelVersionSpace<double>;
using Labels = std::vector<signed char>;

// --- Cones ---------------------------------------------------------------------------------------

inline Labels all_positive(std::ptrdiff_t m) {
  return Labels(static_cast<std::size_t>(m), static_cast<signed char>(1));
}

inline bpm::Cone cone_of_kernel(const Kernel& kernel, const Labels& labels, Numbers lambda = {}) {
  const Gram gram(kernel);
  bpm::Cone cone =
      bpm::Cone(Space(gram, labels, std::make_shared<const Numbers>(std::move(lambda))));
  cone.form_products();
  return cone;
}

/// Inputs x_i = tilt e_1 + normal, seen by the linear kernel.
inline Kernel tilted_inputs(std::ptrdiff_t m, std::ptrdiff_t r, double tilt, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 31);
  bpm::NormalDraws normal;
  Kernel inputs(m, r);
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t k = 0; k < r; ++k) inputs(i, k) = normal(engine) + (k == 0 ? tilt : 0.0);
  }
  return inputs;
}

inline Kernel linear_kernel(const Kernel& inputs) {
  Kernel kernel = inputs * inputs.transpose();
  for (Eigen::Index i = 0; i < kernel.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) kernel(i, j) = kernel(j, i);
  }
  return kernel;
}

/// m planes in r dimensions whose normals lean to one side, so that version space is not empty (for
/// the seeds in use) and a fair share of the sphere.
inline bpm::Cone tilted_cone(std::ptrdiff_t m, std::ptrdiff_t r, double tilt, std::uint64_t seed) {
  return cone_of_kernel(linear_kernel(tilted_inputs(m, r, tilt, seed)), all_positive(m));
}

inline bpm::Cone orthant(std::ptrdiff_t n) {
  return cone_of_kernel(Kernel::Identity(n, n), all_positive(n));
}

/// Pairs of planes in orthogonal pairs of dimensions, with angles between them whose cosines are
/// given: the cone is a product of wedges.
inline bpm::Cone wedges(const Numbers& cosines) {
  const auto n = 2 * static_cast<std::ptrdiff_t>(cosines.size());
  Kernel kernel = Kernel::Identity(n, n);
  for (std::ptrdiff_t k = 0; k < n; k += 2) {
    kernel(k, k + 1) = kernel(k + 1, k) = cosines[static_cast<std::size_t>(k / 2)];
  }
  return cone_of_kernel(kernel, all_positive(n));
}

// --- Vectors -------------------------------------------------------------------------------------

inline double inner(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) sum += a[k] * b[k];
  return sum;
}
inline double norm_of(std::span<const double> a) { return std::sqrt(inner(a, a)); }
inline Numbers unit(Numbers a) {
  const double norm = norm_of(a);
  for (double& value : a) value /= norm;
  return a;
}
inline double angle(const Numbers& a, const Numbers& b) {
  Numbers difference = unit(a);
  const Numbers other = unit(b);
  for (std::size_t k = 0; k < difference.size() && k < other.size(); ++k) difference[k] -= other[k];
  return 2 * std::asin(std::min(1.0, norm_of(difference) / 2));
}
/// s_i without its padding.
inline Numbers row_of(const bpm::Cone& cone, std::ptrdiff_t i) {
  return {cone.row(i), cone.row(i) + cone.rank()};
}
/// min_i <s_i, x> / norm(s_i), by a plain sum.
inline double smallest_output(const bpm::Cone& cone, std::span<const double> x) {
  double smallest = 1e300;
  for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
    const Numbers row = row_of(cone, i);
    smallest = std::min(smallest, inner(row, x) / norm_of(row));
  }
  return smallest;
}

// --- Laws ----------------------------------------------------------------------------------------

/// Points of a cone in coordinates, `rank` each.
struct Sample {
  std::size_t rank = 0;
  std::vector<Numbers> points;
};

/// `count` uniform points: isotropic ones, those outside thrown away.
inline Sample rejection_sample(const bpm::Cone& cone, std::size_t count, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 32);
  bpm::NormalDraws normal;
  Sample sample{static_cast<std::size_t>(cone.rank()), {}};
  Numbers z(sample.rank);
  while (sample.points.size() < count) {
    for (double& value : z) value = normal(engine);
    bool inside = true;
    for (std::ptrdiff_t i = 0; inside && i < cone.points(); ++i) {
      double d = 0;
      for (std::size_t k = 0; k < sample.rank; ++k) d += cone.row(i)[k] * z[k];
      inside = d > 0;
    }
    if (inside) sample.points.push_back(unit(z));
  }
  return sample;
}

/// Means with their standard errors.
struct Moments {
  Numbers mean;
  Numbers error;
};

/// Of the columns of independent rows.
inline Moments moments_of(const std::vector<Numbers>& rows) {
  const std::size_t size = rows.front().size();
  const auto n = static_cast<double>(rows.size());
  Moments result{Numbers(size, 0.0), Numbers(size, 0.0)};
  for (const Numbers& row : rows) {
    for (std::size_t k = 0; k < size; ++k) result.mean[k] += row[k] / n;
  }
  for (const Numbers& row : rows) {
    for (std::size_t k = 0; k < size; ++k) {
      const double off = row[k] - result.mean[k];
      result.error[k] += off * off / (n * (n - 1));
    }
  }
  for (double& error : result.error) error = std::sqrt(error);
  return result;
}

/// A law that is known exactly.
inline Moments exactly(Numbers mean) {
  Numbers zero(mean.size(), 0.0);
  return {std::move(mean), std::move(zero)};
}

/// The largest difference of means in units of its standard error.
inline double deviation(const Moments& a, const Moments& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.mean.size(); ++k) {
    const double error = std::hypot(a.error[k], b.error[k]);
    worst = std::max(worst, std::abs(a.mean[k] - b.mean[k]) / error);
  }
  return worst;
}

/// What two laws are compared by: coordinates, their squares, the product of the first two, and
/// the distance to the nearest plane.
inline Numbers statistics(const bpm::Cone& cone, std::span<const double> x) {
  Numbers values;
  for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) values.push_back(x.data()[k]);
  for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) values.push_back(x.data()[k] * x.data()[k]);
  values.push_back(x[0] * x[1]);
  values.push_back(smallest_output(cone, x));
  return values;
}

inline Moments moments_of(const bpm::Cone& cone, const Sample& sample) {
  std::vector<Numbers> rows;
  for (const Numbers& point : sample.points) rows.push_back(statistics(cone, point));
  return moments_of(rows);
}

/// E norm(z) of n normals.
inline double mean_normal_norm(double n) {
  return std::numbers::sqrt2 * std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2));
}

/// A triangle on the sphere, cut out by three planes of inner unit normals n_i: by the theorem of
/// Gauss E[w] = sum_i side_i n_i / (2 area), and the area is the excess of the angles.
struct Triangle {
  double area = 0;
  Numbers mean;
};
inline Triangle triangle(const bpm::Cone& cone) {
  std::vector<Numbers> normals;
  for (std::ptrdiff_t i = 0; i < 3; ++i) normals.push_back(unit(row_of(cone, i)));
  const auto cross = [](const Numbers& a, const Numbers& b) {
    return Numbers{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  std::vector<Numbers> corners;  // Corner k lies on the other two planes, inside plane k.
  for (std::size_t k = 0; k < 3; ++k) {
    Numbers corner = unit(cross(normals[(k + 1) % 3], normals[(k + 2) % 3]));
    if (inner(corner, normals[k]) < 0) {
      for (double& value : corner) value = -value;
    }
    corners.push_back(corner);
  }
  Triangle result{-std::numbers::pi, Numbers(3, 0.0)};
  for (std::size_t k = 0; k < 3; ++k) {
    result.area += std::numbers::pi - angle(normals[(k + 1) % 3], normals[(k + 2) % 3]);
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const double side = angle(corners[(k + 1) % 3], corners[(k + 2) % 3]);
    for (std::size_t j = 0; j < 3; ++j) result.mean[j] += side * normals[k][j] / (2 * result.area);
  }
  return result;
}

// --- Distributions of one variable ---------------------------------------------------------------

/// sqrt(n m / (n + m)) times the Kolmogorov-Smirnov distance of two samples: beyond 2.7 with
/// probability 1e-6 where their law is the same.
inline double kolmogorov_smirnov(Numbers a, Numbers b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  double distance = 0;
  std::size_t j = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    while (j < b.size() && b[j] < a[i]) ++j;
    const auto below_b = static_cast<double>(j) / m;
    distance = std::max({distance, std::abs(static_cast<double>(i) / n - below_b),
                         std::abs(static_cast<double>(i + 1) / n - below_b)});
  }
  return distance * std::sqrt(n * m / (n + m));
}

inline double autocorrelation(const Numbers& series, std::size_t lag) {
  double mean = 0;
  for (const double x : series) mean += x / static_cast<double>(series.size());
  double variance = 0;
  double together = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    variance += (series[i] - mean) * (series[i] - mean);
    if (i + lag < series.size()) together += (series[i] - mean) * (series[i + lag] - mean);
  }
  return together / variance;
}

/// Every k-th value, k the smallest for which neighbours have an autocorrelation below 0.05.
inline Numbers thinned(const Numbers& series) {
  std::size_t step = 1;
  while (std::abs(autocorrelation(series, step)) >= 0.05) ++step;
  Numbers kept;
  for (std::size_t i = 0; i < series.size(); i += step) kept.push_back(series[i]);
  return kept;
}

inline Numbers projected(const std::vector<Numbers>& points, const Numbers& direction) {
  Numbers values;
  for (const Numbers& point : points) values.push_back(inner(point, direction));
  return values;
}

}  // namespace law_tests
