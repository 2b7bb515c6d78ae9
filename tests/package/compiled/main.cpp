// SPDX-License-Identifier: MIT
// A machine is fitted by what bpm::compiled has ready.
#include <bpm/bpm.hpp>

#include <vector>

static_assert(!BPM_BODIES, "the consumer compiles for other instructions than bpm::compiled");

int main() {
  bpm::RowMatrix<float> inputs(4, 1);
  inputs << 0.0F, 1.0F, 10.0F, 11.0F;
  const std::vector<int> labels{1, 1, 2, 2};
  const bpm::BayesPointMachine machine(bpm::Gaussian::from_sigma(1.0));
  return machine.fit(inputs, labels).predict(inputs) == labels ? 0 : 1;
}
