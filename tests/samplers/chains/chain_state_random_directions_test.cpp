// SPDX-License-Identifier: MIT
#include "bpm/samplers/chains/chain_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/samplers/billiard/geodesic_chain.hpp"
#include "catch.hpp"
#include "law.hpp"

using namespace law_tests;

TEST_CASE("tangent directions: orthonormal to the position, outputs their own, isotropic") {
  for (const std::ptrdiff_t rank : {2, 3, 10}) {
    const bpm::Cone cone = tilted_cone(12, rank, 2.0, 3);
    Numbers b(static_cast<std::size_t>(cone.stride()), 0.0);
    for (std::ptrdiff_t k = 0; k < rank; ++k) b[std::size_t(k)] = 1 + static_cast<double>(k);
    b = unit(b);
    Numbers d(static_cast<std::size_t>(cone.output_stride()), 0.0);
    cone.outputs(b.data(), d.data());
    bpm::detail::RandomDirections directions(16);
    bpm::RandomEngine engine(2);
    Numbers v(b.size());
    Numbers nu(d.size(), 0.0);
    double off = 0;
    std::vector<Numbers> moments;
    for (int n = 0; n < 20'000; ++n) {
      directions.tangent(cone, engine, b.data(), d.data(), v.data(), nu.data());
      off = std::max({off, std::abs(inner(b, v)), std::abs(norm_of(v) - 1)});
      for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
        off = std::max(off,
                       std::abs(inner(row_of(cone, i), v) - nu[std::size_t(i)]) / cone.row_norm(i));
      }
      Numbers products(v.begin(), v.begin() + rank);
      for (std::size_t j = 0; j < std::size_t(rank); ++j) {
        for (std::size_t k = 0; k < j; ++k) products.push_back(v[j] * v[k]);
      }
      moments.push_back(products);
    }
    INFO("rank " << rank);
    CHECK(off <= 1e-12);  // However near to the position the first vector was.
    // E v = 0, E v v' = (I - b b') / (rank - 1).
    Numbers law(static_cast<std::size_t>(rank), 0.0);
    for (std::size_t j = 0; j < std::size_t(rank); ++j) {
      for (std::size_t k = 0; k < j; ++k) {
        law.push_back(-b[j] * b[k] / static_cast<double>(rank - 1));
      }
    }
    Moments found = moments_of(moments);
    for (double& error : found.error) error += 1e-12;  // In rank 2 products are constant.
    CHECK(deviation(found, exactly(law)) < 4.5);
  }
}
