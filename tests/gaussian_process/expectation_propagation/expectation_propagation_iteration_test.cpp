// SPDX-License-Identifier: MIT
// One sweep by blocks is one sweep point by point; factors and marginals are those of the sites.
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "catch.hpp"
#include "law.hpp"
#include "naive_ep.hpp"

using namespace law_tests;
using namespace ep_tests;
using Iteration = bpm::detail::EpIteration;

namespace {

bpm::Cone labelled_cone(std::ptrdiff_t m, std::ptrdiff_t r) {
  const Kernel inputs = tilted_inputs(m, r, 0.3, 2);
  Labels labels;
  for (Eigen::Index i = 0; i < m; ++i) labels.push_back(inputs(i, 0) > 0 ? 1 : -1);
  return cone_of_kernel(linear_kernel(inputs), labels);
}

}  // namespace

TEST_CASE("EP: after one sweep the sites are those of the book, whatever the block") {
  for (const std::ptrdiff_t rank : {12, 300}) {
    const bpm::Cone cone = labelled_cone(150, rank);
    REQUIRE(cone.rank() == std::min<std::ptrdiff_t>(rank, 150));
    NaiveEp naive{signed_covariance(cone), 0.0};
    naive.run(1);
    for (const std::ptrdiff_t block : {1, 7, 64, 200}) {
      Iteration iteration(cone, 0.0, block);
      iteration.sweep(1.0);
      double worst = 0;
      for (std::ptrdiff_t i = 0; i < 150; ++i) {
        // In units of the marginal: by the book, small sites are differences of large numbers.
        const double variance = naive.covariance(i, i);
        const auto site = iteration.site(i);
        worst = std::max({worst, std::abs(site.precision - naive.precision[i]) * variance,
                          std::abs(site.shift - naive.shift[i]) * std::sqrt(variance)});
      }
      CAPTURE(rank, block);
      CHECK(worst < 1e-8);
      CHECK(iteration.refused() == 0);
      CHECK(iteration.thin() == -1);
    }
  }
}

TEST_CASE("EP: factor, mean, marginals and a second sweep from the covariance made anew") {
  const bpm::Cone cone = labelled_cone(150, 300);
  NaiveEp naive{signed_covariance(cone), 0.4};
  naive.run(1);
  Iteration iteration(cone, 0.4);
  iteration.sweep(1.0);
  REQUIRE(iteration.factorise());
  Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(150, 150);
  for (std::ptrdiff_t i = 0; i < 150; ++i) {
    const Eigen::Map<const Eigen::VectorXd> s(cone.row(i), 150);
    precision += iteration.site(i).precision * s * s.transpose();
  }
  const bpm::EpPosterior found = iteration.posterior();
  const Eigen::MatrixXd lower = found.precision_factor.triangularView<Eigen::Lower>();
  CHECK((lower * lower.transpose() - precision).cwiseAbs().maxCoeff() <
        1e-12 * precision.cwiseAbs().maxCoeff());
  for (std::size_t i = 0; i < 150; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    CHECK(found.outputs[i] == Approx(naive.mean[k]).epsilon(1e-9));
    CHECK(found.variances[i] == Approx(naive.covariance(k, k)).epsilon(1e-9));
  }
  CHECK(found.log_evidence == Approx(naive.log_evidence()).epsilon(1e-10));
  iteration.invert();
  iteration.sweep(1.0);
  NaiveEp twice{signed_covariance(cone), 0.4};
  twice.run(2);
  for (std::ptrdiff_t i = 0; i < 150; ++i) {
    CHECK(iteration.site(i).precision == Approx(twice.precision[i]).epsilon(1e-8));
  }
  // Half of a step is half of the difference: all but the first point see other sites.
  Iteration half(cone, 0.4);
  half.sweep(0.5);
  Iteration whole(cone, 0.4);
  whole.sweep(1.0);
  CHECK(half.site(0).precision == Approx(0.5 * whole.site(0).precision).epsilon(1e-13));
}
