// SPDX-License-Identifier: MIT
#include "study.hpp"

#include <Eigen/Eigenvalues>
#include <string>
#include <vector>

#include "bpm/decision/votes.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/gaussian_process/interpolation/kernel_complexity.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm_examples {

namespace {

using Matrix = bpm::RowMatrix<double>;

bpm::EpPosterior posterior_of(const Matrix& prior, const std::vector<signed char>& signs,
                              double noise) {
  const bpm::PrecomputedGram<double> gram(prior);
  const bpm::KernelVersionSpace<double> space(gram, signs);
  return bpm::expectation_propagation(space, {.noise_deviation = noise});
}

/// The kernel of one depth on the digits.
struct Values {
  Eigen::MatrixXd gram;
  Eigen::MatrixXd cross;

  Values(const EvenOdd& digits, const SignedDigits& train, int depth, unsigned threads)
      : gram(bpm::kernel_matrix(bpm::ArcCosine(depth), train.inputs, {.threads = threads})),
        cross(bpm::kernel_matrix(bpm::ArcCosine(depth), digits.test.inputs, train.inputs,
                                 {.threads = threads})) {}
};

}  // namespace

std::vector<StudyPoint> run_study(const EvenOdd& digits, const SignedDigits& train, int depth,
                                  unsigned threads) {
  std::vector<StudyPoint> points;
  const auto add = [&](const char* what, double value, const Values& values, const Matrix& prior,
                       double noise) {
    const bpm::EpPosterior posterior = posterior_of(prior, train.signs, noise);
    const bpm::JitteredCholesky factor(values.gram);
    const std::vector<double> labels = posterior.centre_values();
    const auto error = [&](const Eigen::VectorXd& y) {
      return bpm::error_of_outputs(values.cross * factor.solve(y), digits.test.signs);
    };
    points.push_back({.what = what,
                      .value = value,
                      .log_evidence = posterior.log_evidence,
                      .centre_error = error(
                          Eigen::Map<const Eigen::VectorXd>(labels.data(), std::ssize(labels))),
                      .centroidal_error = error(train.labels()),
                      .jitter = factor.relative_jitter()});
  };
  const Values values(digits, train, depth, threads);
  for (const double noise : {0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0}) {
    add("noise", noise, values, values.gram, noise);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> spectrum(values.gram);
  for (const double power : {0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5}) {
    const Eigen::ArrayXd raised = spectrum.eigenvalues().array().max(1e-12).pow(power);
    add("power", power, values,
        spectrum.eigenvectors() * raised.matrix().asDiagonal() *
            spectrum.eigenvectors().transpose(),
        0);
  }
  for (const int layers : {1, 2, 3, 4, 5, 7, 10, 16}) {
    const Values other(digits, train, layers, threads);
    add("depth", layers, other, other.gram, 0);
  }
  return points;
}

}  // namespace bpm_examples
