// SPDX-License-Identifier: MIT
#include <utility>
#include <vector>

#include "held.hpp"

void make(Held& held) {
  Held::Inputs inputs(6, 1);
  inputs << 0, 1, 2, 7, 8, 9;
  const bpm::BayesPointMachine machine(bpm::Gaussian::from_sigma(1), bpm::PermutedPerceptron{},
                                       {.soft_boundary = bpm::SoftBoundary::hard()});
  held.training.emplace(machine.train(std::move(inputs), std::vector{0, 0, 0, 1, 1, 1}));
  held.classifier.emplace(held.training->classifier());
  held.values = Held::Inputs::Identity(6, 6);
  held.gram.emplace(held.values);
}
