// SPDX-License-Identifier: MIT
#include "bpm/storage/run_digest.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/radial.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"

namespace {

using Inputs = bpm::RowMatrix<float>;
using Gram = bpm::detail::OnDemandGram<bpm::Gaussian, Inputs>;

Inputs some_inputs() {
  Inputs inputs(37, 3);
  for (Eigen::Index i = 0; i < inputs.size(); ++i) {
    inputs.data()[i] = static_cast<float>((i * 29) % 31) / 16.0F;
  }
  return inputs;
}

template <class G>
bpm::detail::RunDigest digest(const G& gram, const std::vector<signed char>& labels,
                              const std::vector<double>& lambda = {},
                              const bpm::PermutedPerceptron& sampler = {}, std::uint64_t seed = 1) {
  const bpm::KernelVersionSpace<typename G::Scalar> space(
      gram, labels, std::make_shared<const std::vector<double>>(lambda));
  bpm::detail::BlockScratch<typename G::Scalar> scratch;
  return bpm::detail::run_digest(sampler, std::span(&space, 1), {seed, 0}, scratch);
}

}  // namespace

TEST_CASE("a digest tells data and settings apart, and says which") {
  const Inputs inputs = some_inputs();
  const auto kernel = bpm::Gaussian::from_sigma(1.0);
  const Gram gram(kernel, inputs);
  std::vector<signed char> labels(37, 1);
  labels[4] = -1;
  const bpm::detail::RunDigest plain = digest(gram, labels);
  CHECK(plain == digest(gram, labels));
  // However the values are kept, and however many draws are made of them.
  CHECK(plain == digest(bpm::detail::DenseGram<float>(gram, 1), labels));
  CHECK(plain == digest(gram, labels, {}, {.draws = 3, .max_passes = 9, .max_mistakes = 8}));

  std::set<bpm::detail::RunDigest> seen{plain};
  const auto differs = [&](const bpm::detail::RunDigest& other, std::size_t part) {
    CHECK(seen.insert(other).second);
    for (std::size_t p = 0; p < plain.size(); ++p) {
      CAPTURE(bpm::detail::run_digest_parts.at(p));
      CHECK((other.at(p) == plain.at(p)) == (p != part));
    }
  };
  std::vector<signed char> other_labels = labels;
  other_labels[36] = -1;
  differs(digest(gram, other_labels), 2);
  std::vector<double> lambda(37, 0.0);
  lambda[20] = 0.5;
  const bpm::detail::RunDigest soft = digest(gram, labels, lambda);
  CHECK(soft[3] != plain[3]);
  CHECK(soft[2] == plain[2]);
  differs(digest(Gram(bpm::Gaussian::from_sigma(1.001), inputs), labels), 4);
  for (const Eigen::Index place : {0L, 50L, 110L}) {
    Inputs other = inputs;
    other.data()[place] += 1e-3F;
    differs(digest(Gram(kernel, other), labels), 4);
  }
  differs(digest(gram, labels, {}, {}, 2), 5);
  differs(digest(gram, labels, {}, {.margin = 0.5}), 5);
  differs(digest(gram, labels, {}, {.order = bpm::PermutedPerceptron::Order::greedy}), 5);

  const Inputs fewer = inputs.topRows(30);
  CHECK(digest(Gram(kernel, fewer), std::vector<signed char>(30, 1))[1] != plain[1]);
  const bpm::RowMatrix<double> exact = inputs.cast<double>();
  CHECK(digest(bpm::detail::OnDemandGram<bpm::Gaussian, bpm::RowMatrix<double>>(kernel, exact),
               labels)[0] != plain[0]);
}
