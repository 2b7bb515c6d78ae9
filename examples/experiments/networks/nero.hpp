// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <vector>

#include "networks/network.hpp"

namespace bpm_examples {

/// Nero, the neuronal rotator (Y. Liu, J. Bernstein, M. Meister, Y. Yue, "Learning by turning:
/// neural architecture aware optimisation", ICML 2021): each neuron's weights w, a row of a weight
/// matrix of mean zero and norm one, turn by the same relative amount a step,
///
///     w <- w - rate |w| g / sqrt(v),   then mean zero and norm one again,
///
/// with g the row of the gradient and v the running mean of |g|^2, v <- beta v + (1 - beta) |g|^2,
/// divided by 1 - beta^t in step t for its start at zero. The size of the loss therefore does not
/// matter, only that of `rate`. A neuron that has had no gradient yet stays.
template <class Scalar>
class Nero {
 public:
  using Matrix = typename Network<Scalar>::Matrix;

  explicit Nero(const Network<Scalar>& network, double beta = 0.999) : beta_(beta) {
    for (const Matrix& matrix : network.weights()) {
      squares_.emplace_back(Eigen::VectorXd::Zero(matrix.rows()));
    }
  }

  void step(Network<Scalar>& network, const std::vector<Matrix>& gradient, double rate) {
    power_ *= beta_;
    for (std::size_t l = 0; l < squares_.size(); ++l) {
      Matrix& matrix = network.weights()[l];
      for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        const auto g = gradient[l].row(i);
        double& v = squares_[l][i];
        v = beta_ * v + (1 - beta_) * static_cast<double>(g.squaredNorm());
        if (!(v > 0)) {
          continue;
        }
        auto w = matrix.row(i);
        const double length = static_cast<double>(w.norm());
        w -= static_cast<Scalar>(rate * length / std::sqrt(v / (1 - power_))) * g;
        balance(w);
      }
    }
  }

 private:
  double beta_;
  double power_ = 1;  ///< beta^t.
  std::vector<Eigen::VectorXd> squares_;
};

}  // namespace bpm_examples
