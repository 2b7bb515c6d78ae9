// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "networks/nero.hpp"
#include "networks/network.hpp"

namespace bpm_examples {

struct TrainingSettings {
  int epochs = 500;
  double rate = 0.01;  ///< Of the first epoch.
};

/// The rate of an epoch, 0 .. epochs - 1: falls by one factor an epoch, to 0.99^500 = 1/152 of the
/// first in all. With 500 epochs that is the factor 0.99 of the authors' notebook
/// (github.com/jxbz/bpm), from which the rate, the epochs and Nero's beta are as well.
[[nodiscard]] inline double rate_of(const TrainingSettings& settings, int epoch) {
  return settings.rate * std::pow(0.99, 500.0 * epoch / settings.epochs);
}

/// How well a network fits the labels that it was trained on.
struct Fit {
  bool stopped = false;
  double loss = 0;          ///< sqrt(mean (f - Upsilon)^2).
  double label_size = 0;    ///< sqrt(mean Upsilon^2): the loss of f = 0.
  double errors = 0;        ///< Part of the training points where f and Upsilon differ in sign.
  double mean_margin = 0;   ///< Mean of f sign(Upsilon).
  double least_margin = 0;  ///< Its minimum.
};

/// L(w) = sqrt(mean_i (f_i - Upsilon_i)^2) ("Kernel interpolation as a Bayes point machine",
/// section 6) and, in `slopes`, its derivatives (f_i - Upsilon_i) / (n L); zeros where L is zero.
template <class Vector>
typename Vector::Scalar root_mean_square_loss(const Vector& outputs, const Vector& labels,
                                              Vector& slopes) {
  using Scalar = typename Vector::Scalar;
  slopes = outputs - labels;
  const auto n = static_cast<Scalar>(outputs.size());
  const Scalar loss = std::sqrt(slopes.squaredNorm() / n);
  if (loss > Scalar{0}) slopes /= n * loss;
  return loss;
}

/// Trains the network on all inputs at once. `go_on()` is asked before each epoch; false: the
/// network stays where it is.
template <class Scalar, class Inputs, class GoOn>
Fit train_network(Network<Scalar>& network, const Inputs& inputs,
                  const typename Network<Scalar>::Vector& labels, const TrainingSettings& settings,
                  GoOn&& go_on) {
  using Vector = typename Network<Scalar>::Vector;
  Nero<Scalar> nero(network);
  typename Network<Scalar>::Activations kept;
  std::vector<typename Network<Scalar>::Matrix> gradient;
  Vector slopes;
  Fit fit;
  for (int epoch = 0; epoch < settings.epochs && !fit.stopped; ++epoch) {
    if (!go_on()) {
      fit.stopped = true;
      break;
    }
    const Vector outputs = network.forward(inputs, kept);
    root_mean_square_loss(outputs, labels, slopes);
    network.backward(inputs, slopes, kept, gradient);
    nero.step(network, gradient, rate_of(settings, epoch));
  }
  const Vector outputs = network.forward(inputs, kept);
  fit.loss = static_cast<double>(root_mean_square_loss(outputs, labels, slopes));
  fit.label_size =
      std::sqrt(static_cast<double>(labels.squaredNorm()) / static_cast<double>(labels.size()));
  const auto margins = (outputs.array() * labels.array().sign()).template cast<double>().eval();
  fit.errors = (margins <= 0).template cast<double>().mean();
  fit.mean_margin = margins.mean();
  fit.least_margin = margins.minCoeff();
  return fit;
}

}  // namespace bpm_examples
