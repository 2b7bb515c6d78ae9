// SPDX-License-Identifier: MIT
// Fits machines and prints digests of what they say: header-only and with bpm::compiled these are
// the same lines.
#include <bpm/bpm.hpp>
#include <bpm/data.hpp>

#include <bit>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string_view>
#include <vector>

// What the build expects of this unit.
static_assert(BPM_BODIES == BPM_EXPECTED_BODIES);

namespace {

template <class Scalar>
struct Rings {
  bpm::RowMatrix<Scalar> inputs{120, 2};
  std::vector<int> labels;

  Rings() {
    bpm::RandomEngine engine(5, 0);
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      for (Eigen::Index j = 0; j < inputs.cols(); ++j) {
        inputs(i, j) = static_cast<Scalar>(2 * bpm::uniform_unit(engine) - 1);
      }
      const double squared = static_cast<double>(inputs.row(i).squaredNorm());
      labels.push_back(squared > 0.8 ? 2 : squared > 0.3 ? 1 : 0);
    }
  }
};

void print(std::string_view name, const Eigen::MatrixXd& values) {
  std::uint64_t digest = 14695981039346656037U;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    digest = (digest ^ std::bit_cast<std::uint64_t>(values.data()[i])) * 1099511628211U;
  }
  std::cout << name << ' ' << std::hex << digest << std::dec << '\n';
}

template <class Scalar, class Sampler>
void fit(std::string_view name, const Sampler& sampler) {
  const Rings<Scalar> data;
  const bpm::OneVsRest machine(bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.5), sampler));
  const auto fitted = machine.fit(data.inputs, data.labels);
  print(name, fitted.predict_probability(data.inputs));
}

}  // namespace

int main() {
  fit<float>("perceptron, float", bpm::PermutedPerceptron{});
  fit<double>("billiard, double", bpm::Billiard{.draws = 10});
  std::istringstream table("a,b,c\n1,2,x\n3,4,y\n");
  print("table", bpm::read_table(table).inputs);
}
