// SPDX-License-Identifier: MIT
// The promise of same bits in a program built with OpenMP, where Eigen splits its products among
// threads, and inside a parallel region, where it does not.

#include <omp.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "same_bits.hpp"

using test_support::bits_that_differ;
using test_support::rough_inputs;

namespace {

template <class T>
long all_kernels(Eigen::Index m, Eigen::Index d) {
  const auto inputs = rough_inputs<T>(m, d, 1);
  const bpm::SparseRowMatrix<T> sparse = inputs.sparseView();
  const auto user = [](const auto& x, const auto& z) { return std::exp(x.dot(z) / 100); };
  return bits_that_differ(bpm::Polynomial(5, 0.1), inputs, 20) +
         bits_that_differ(bpm::Gaussian::from_sigma(2), inputs, 20) +
         bits_that_differ(bpm::ArcCosine(2), inputs, 20) +
         bits_that_differ(bpm::Laplacian(3), inputs, 20) +
         bits_that_differ(bpm::Polynomial(5, 0.1), sparse, 20) + bits_that_differ(user, inputs, 20);
}

/// The whole matrix of one set.
template <class T>
bpm::RowMatrix<T> whole_matrix(const bpm::RowMatrix<T>& inputs, unsigned threads) {
  const bpm::detail::OnDemandGram<bpm::Gaussian, bpm::RowMatrix<T>> source(
      bpm::Gaussian::from_sigma(2), inputs);
  const bpm::detail::DenseGram<T> gram(source, threads);
  bpm::detail::BlockScratch<T> scratch;
  bpm::RowMatrix<T> values(gram.size(), gram.size());
  for (std::ptrdiff_t i = 0; i < gram.size(); ++i) {
    const auto row = gram.row(i, scratch);
    std::copy(row.begin(), row.end(), values.row(i).begin());
  }
  return values;
}

}  // namespace

TEMPLATE_TEST_CASE("same bits with OpenMP, all sizes to 200", "[openmp][bits]", float, double) {
  const int before = Eigen::nbThreads();
  const int omp_before = omp_get_max_threads();
  CHECK(all_kernels<TestType>(200, 21) == 0);
  // The library leaves the program's settings alone.
  CHECK(Eigen::nbThreads() == before);
  CHECK(omp_get_max_threads() == omp_before);
}

TEMPLATE_TEST_CASE("same bits inside a parallel region", "[openmp][bits]", float, double) {
  long count = 0;
  int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : count, threads)
  {
    count += all_kernels<TestType>(60, 16);
    threads += 1;
  }
  CHECK(count == 0);
  CHECK(threads >= 1);
}

TEMPLATE_TEST_CASE("inside and outside a parallel region: one matrix", "[openmp][bits]", float,
                   double) {
  const auto inputs = rough_inputs<TestType>(150, 33, 2);
  const bpm::RowMatrix<TestType> outside = whole_matrix(inputs, 1);
  int different = static_cast<int>(whole_matrix(inputs, 3) != outside);
#pragma omp parallel num_threads(2) reduction(+ : different)
  {
    different += static_cast<int>(whole_matrix(inputs, 1) != outside);
    different += static_cast<int>(whole_matrix(inputs, 2) != outside);
  }
  CHECK(different == 0);
}
