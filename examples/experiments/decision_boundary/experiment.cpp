// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"
#include "common/billiard_chain.hpp"
#include "common/svm.hpp"

namespace bpm_examples {

namespace {

/// Streams of random numbers of the seed.
enum Stream : std::uint64_t {
  training_data,
  test_data,
  boundary_billiard,
  sphere_billiard,
  sphere_path
};

bpm::Cone cone_of(const bpm::RowMatrix<double>& kernel, const std::vector<int>& labels) {
  const bpm::PrecomputedGram<double> gram(kernel);
  const bpm::KernelVersionSpace space(gram, {labels.begin(), labels.end()});
  bpm::Cone cone = bpm::Cone(space);
  cone.form_products();
  return cone;
}

/// Coordinates of the SVM's solution, or, where single precision has put it outside, of the
/// library's own search.
std::vector<double> start_of(const bpm::Cone& cone, const SvmClassifier& svm) {
  return svm.margin > 0 ? cone.coordinates({svm.coefficients.data(),
                                            static_cast<std::size_t>(svm.coefficients.size())})
                        : bpm::LargestMargin::find(cone).position;
}

/// The centre of mass of version space, after a burn-in that chooses the refresh length.
bpm::CentreOfMass find_centre(const bpm::Cone& cone, std::span<const double> start,
                              std::uint64_t bounces, bpm::RandomEngine engine) {
  BilliardChain chain(cone, {}, start, engine);
  while (!chain.burn_in(cone, 100000)) {
  }
  for (std::uint64_t n = 0; n < bounces; ++n) chain.bounce(cone);
  return chain.centre(cone);
}

BoundaryClassifier evaluate(const Eigen::VectorXd& coefficients, const Eigen::VectorXd& outputs,
                            const ToyData& training, const bpm::RowMatrix<double>& test_values,
                            const ToyData& test) {
  const double norm = std::sqrt(coefficients.dot(outputs));
  BoundaryClassifier result;
  result.coefficients = coefficients / norm;
  result.margin = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < training.labels.size(); ++i) {
    result.margin =
        std::min(result.margin, training.labels[i] * outputs[static_cast<Eigen::Index>(i)] / norm);
  }
  const Eigen::VectorXd values = test_values * result.coefficients;
  double right = 0;
  for (std::size_t i = 0; i < test.labels.size(); ++i) {
    right += test.labels[i] * values[static_cast<Eigen::Index>(i)] > 0 ? 1 : 0;
  }
  result.accuracy = right / static_cast<double>(test.labels.size());
  return result;
}

}  // namespace

BoundaryResult run_boundary(const BoundaryOptions& options) {
  const auto engine = [&](Stream stream) { return bpm::RandomEngine(options.common.seed, stream); };
  BoundaryResult result;
  result.training = draw_crescents(options.train, engine(training_data));
  const ToyData test = draw_crescents(10000, engine(test_data));
  result.test_size = test.inputs.rows();

  const auto& [inputs, labels] = result.training;
  const auto gaussian = bpm::Gaussian::from_width(kernel_width);
  const bpm::KernelMatrixSettings settings{.threads =
                                               static_cast<unsigned>(options.common.threads)};
  const bpm::RowMatrix<double> kernel = bpm::kernel_matrix(gaussian, inputs, settings);
  const SvmClassifier svm = train_svm(kernel, labels, {.bias = SvmBias::none});
  result.support_vectors = svm.support_vectors;
  const bpm::Cone cone = cone_of(kernel, labels);
  const bpm::CentreOfMass centre =
      find_centre(cone, start_of(cone, svm), options.bounces, engine(boundary_billiard));

  const bpm::RowMatrix<double> test_values =
      bpm::kernel_matrix(gaussian, test.inputs, inputs, settings);
  const Eigen::Index m = inputs.rows();
  const Eigen::VectorXd alpha = Eigen::VectorXd::Map(centre.coefficients.data(), m);
  const Eigen::VectorXd outputs = Eigen::VectorXd::Map(centre.outputs.data(), m);
  result.svm =
      evaluate(svm.coefficients, kernel * svm.coefficients, result.training, test_values, test);
  result.bayes = evaluate(alpha, outputs, result.training, test_values, test);
  const double cosine = svm.coefficients.dot(outputs) / (svm.norm * centre.norm);
  result.angle = std::acos(std::clamp(cosine, -1.0, 1.0));

  const PlaneGrid& grid = result.grid;
  bpm::RowMatrix<double> points(grid.rows * grid.columns, 2);
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      points.row(row * grid.columns + column) << grid.x(column), grid.y(row);
    }
  }
  const Eigen::MatrixXd grid_kernel = bpm::kernel_matrix(gaussian, points, inputs, settings);
  const auto values_of = [&](const BoundaryClassifier& classifier) {
    const Eigen::VectorXd values = grid_kernel * classifier.coefficients;
    return std::vector<double>(values.begin(), values.end());
  };
  result.values = {values_of(result.svm), values_of(result.bayes)};
  return result;
}

SphereResult run_sphere(const BoundaryOptions& options) {
  SphereResult result;
  result.problem = make_sphere_problem();
  const auto& problem = result.problem;
  const auto m = static_cast<Eigen::Index>(problem.inputs.size());
  bpm::RowMatrix<double> inputs(m, 3);
  for (Eigen::Index i = 0; i < m; ++i) inputs.row(i) = problem.inputs[std::size_t(i)];
  const bpm::RowMatrix<double> kernel = inputs * inputs.transpose();
  // From dual coefficients to the classifier itself: w = sum_i alpha_i x_i.
  const auto direction = [&](const Eigen::VectorXd& alpha) {
    return Direction(inputs.transpose() * alpha).normalized();
  };

  const SvmClassifier svm =
      train_svm(kernel, problem.labels, {.bias = SvmBias::none, .tolerance = 1e-6});
  result.svm = direction(svm.coefficients);
  result.radius = std::asin(svm.margin);
  const bpm::Cone cone = cone_of(kernel, problem.labels);
  const std::vector<double> start = start_of(cone, svm);
  const bpm::RandomEngine engine(options.common.seed, sphere_billiard);
  const bpm::CentreOfMass centre = find_centre(cone, start, options.bounces, engine);
  result.bayes = direction(Eigen::VectorXd::Map(centre.coefficients.data(), m));
  result.centre = polygon_centre(problem.corners);

  // Between bounces the ball flies on great circles; where it takes a new direction on the way, the
  // turn lies where the circle it left on meets the one it arrives on.
  BilliardChain chain(cone, {}, start, bpm::RandomEngine(options.common.seed, sphere_path));
  const auto in_space = [&](const std::vector<double>& coordinates) {
    Eigen::VectorXd alpha = Eigen::VectorXd::Zero(m);
    cone.add_dual_coefficients(coordinates.data(), 1, alpha.data());
    return direction(alpha);
  };
  result.path.push_back(result.svm);
  for (int n = 0; n < drawn_bounces; ++n) {
    const Direction from = in_space(chain.position(cone));
    const Direction left = in_space(chain.direction(cone));
    const std::uint64_t turns = chain.refreshes();
    chain.bounce(cone);
    const Direction to = in_space(chain.position(cone));
    if (chain.refreshes() > turns) {
      const auto plane = std::min_element(
          problem.inputs.begin(), problem.inputs.end(),
          [&](const auto& a, const auto& b) { return std::abs(a.dot(to)) < std::abs(b.dot(to)); });
      const Direction away = in_space(chain.direction(cone));
      const Direction arrived = away - 2 * away.dot(*plane) * *plane;
      Direction turn = from.cross(left).cross(to.cross(arrived)).normalized();
      if (turn.dot(from + to) < 0) turn = -turn;
      // Where it turned more than once between two bounces, the circles meet elsewhere.
      bool inside = true;
      for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
        inside = inside && problem.labels[i] * problem.inputs[i].dot(turn) > 0;
      }
      if (inside) result.path.push_back(turn);
    }
    result.path.push_back(to);
    if (n + 1 == early_bounces) result.early = result.path.size();
  }
  return result;
}

}  // namespace bpm_examples
