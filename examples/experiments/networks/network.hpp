// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <numbers>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/kernel.hpp"
#include "common/check.hpp"

/// \file
/// Multi-layer perceptrons with one output and no biases, and their gradient.

namespace bpm_examples {

struct NetworkShape {
  Eigen::Index inputs = 0;  ///< Numbers of an input, d0.
  Eigen::Index width = 0;   ///< Neurons of each hidden layer.
  int depth = 0;            ///< Weight matrices, L.
};

/// Takes a neuron's weights to mean zero and norm one, the constraint under which Nero trains
/// ("Learning by turning"). Returns false, and leaves the row at mean zero, where it is
/// constant: then there is no direction to keep.
template <class Row>
bool balance(Row&& row) {
  using Scalar = typename std::decay_t<Row>::Scalar;
  row.array() -= row.mean();
  const Scalar norm = row.norm();
  if (!(norm > Scalar{0})) {
    return false;
  }
  row /= norm;
  return true;
}

/// f(x) = W_L phi(W_{L-1} ... phi(W_1 x)) with phi(t) = sqrt(2) max(0, t), weight matrices W_1 of
/// width x d0, W_2 .. W_{L-1} of width x width, W_L of 1 x width; each row is one neuron.
///
/// A relu halves the second moment of a symmetric number, the root of two restores it: with rows of
/// norm one and |x|^2 = d0 a neuron's input is of order one at a random start. Wide random networks
/// with independent normal weights of variance 1 / fan-in are a Gaussian process whose covariance
/// is the arc-cosine kernel of depth L, k(x, x) = 1 ("Kernel interpolation as a Bayes point
/// machine", section 6). Balanced rows do not see the mean of their inputs; their limit is another
/// kernel, see BalancedArcCosine in interpolator.hpp. Rows of norm one fix the scale of the
/// weights, so that |f| is a normalised margin (section 4.2).
template <class Scalar_>
class Network {
 public:
  using Scalar = Scalar_;
  using Matrix = bpm::RowMatrix<Scalar>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  /// Independent normal weights, each row then balanced.
  /// \throws std::invalid_argument unless inputs and width are 2 or more (a row of one weight has
  /// no balanced form but zero) and depth is 2 or more.
  Network(const NetworkShape& shape, bpm::RandomEngine& engine) {
    check(shape.inputs >= 2, "Network: inputs is ", shape.inputs, ", must be 2 or more");
    check(shape.width >= 2, "Network: width is ", shape.width, ", must be 2 or more");
    check(shape.depth >= 2, "Network: depth is ", shape.depth, ", must be 2 or more");
    bpm::NormalDraws normal;
    for (int layer = 0; layer < shape.depth; ++layer) {
      Matrix matrix(layer + 1 < shape.depth ? shape.width : 1,
                    layer > 0 ? shape.width : shape.inputs);
      for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        do {
          for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
            matrix(i, j) = static_cast<Scalar>(normal(engine));
          }
        } while (!balance(matrix.row(i)));
      }
      weights_.push_back(std::move(matrix));
    }
  }

  [[nodiscard]] std::vector<Matrix>& weights() noexcept { return weights_; }
  [[nodiscard]] const std::vector<Matrix>& weights() const noexcept { return weights_; }

  /// What `forward` keeps for `backward`: the hidden layers' outputs, one row per input.
  struct Activations {
    std::vector<Matrix> hidden;
    Matrix delta;     ///< Scratch of `backward`.
    Matrix previous;  ///< Scratch of `backward`.
  };

  /// f of every row of `inputs` (n x d0).
  template <class Inputs>
  [[nodiscard]] Vector forward(const Inputs& inputs, Activations& kept) const {
    const std::size_t layers = weights_.size() - 1;
    kept.hidden.resize(layers);
    for (std::size_t l = 0; l < layers; ++l) {
      Matrix& out = kept.hidden[l];
      out.resize(inputs.rows(), weights_[l].rows());
      if (l == 0) {
        out.noalias() = inputs * weights_[l].transpose();
      } else {
        out.noalias() = kept.hidden[l - 1] * weights_[l].transpose();
      }
      out = gain * out.array().max(Scalar{0});
    }
    return kept.hidden.back() * weights_.back().row(0).transpose();
  }

  /// The gradient of a loss with respect to all weights, from its derivatives with respect to the
  /// outputs that `forward` gave for the same inputs. `gradient` takes the weights' shapes. At
  /// exactly 0 the derivative of relu is taken as 0.
  template <class Inputs>
  void backward(const Inputs& inputs, const Vector& slopes, Activations& kept,
                std::vector<Matrix>& gradient) const {
    const std::size_t last = weights_.size() - 1;
    gradient.resize(weights_.size());
    gradient[last].noalias() = slopes.transpose() * kept.hidden[last - 1];
    Matrix& delta = kept.delta;
    delta.noalias() = slopes * weights_[last].row(0);
    for (std::size_t l = last; l-- > 0;) {
      delta = (kept.hidden[l].array() > Scalar{0}).select(gain * delta.array(), Scalar{0});
      if (l == 0) {
        gradient[l].noalias() = delta.transpose() * inputs;
      } else {
        gradient[l].noalias() = delta.transpose() * kept.hidden[l - 1];
        kept.previous.noalias() = delta * weights_[l];
        delta.swap(kept.previous);
      }
    }
  }

  /// f of every row, in blocks, so that memory stays small however many inputs there are.
  template <class Inputs>
  [[nodiscard]] Vector outputs(const Inputs& inputs) const {
    constexpr Eigen::Index block = 512;
    Vector all(inputs.rows());
    Activations scratch;
    for (Eigen::Index begin = 0; begin < inputs.rows(); begin += block) {
      const Eigen::Index count = std::min(block, inputs.rows() - begin);
      all.segment(begin, count) = forward(inputs.middleRows(begin, count), scratch);
    }
    return all;
  }

 private:
  static constexpr Scalar gain = std::numbers::sqrt2_v<Scalar>;

  std::vector<Matrix> weights_;
};

}  // namespace bpm_examples
