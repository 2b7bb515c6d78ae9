// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/kernel_matrix.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

/// Kernels with one fault each.
struct Lopsided {
  template <class Array>
  Array from_inner_products(const Array& xz, const Array& xx, const Array& /*zz*/) const {
    return xz + xx;
  }
};
/// Symmetric on paper: the two divisions round differently when the inputs change places.
struct LopsidedInTheLastBit {
  template <class Array>
  Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    return xz / xx.sqrt() / zz.sqrt();
  }
};
/// Looks at its neighbours in the block.
struct NotPointwise {
  template <class Array>
  Array from_inner_products(const Array& xz, const Array& /*xx*/, const Array& /*zz*/) const {
    const Array shifted = xz + xz.maxCoeff() * typename Array::Scalar(1e-4);
    return shifted;
  }
};
/// Treats the last of a block apart, as a scalar tail would.
struct OtherTail {
  template <class Array>
  Array from_inner_products(const Array& xz, const Array& /*xx*/, const Array& /*zz*/) const {
    Array values = xz;
    for (Eigen::Index l = 0; l < values.size(); l += 4) {
      values[l] *= 1 + std::numeric_limits<typename Array::Scalar>::epsilon();
    }
    return values;
  }
};
/// tanh of the inner product, often used and no kernel.
struct Sigmoid {
  template <class Array>
  Array from_inner_products(const Array& xz, const Array& /*xx*/, const Array& /*zz*/) const {
    return (xz - typename Array::Scalar(1)).tanh();
  }
};
/// A form for pairs that is another function than the form for blocks.
struct TwoMinds {
  template <class Array>
  Array from_inner_products(const Array& xz, const Array& /*xx*/, const Array& /*zz*/) const {
    return xz;
  }
  template <class X, class Z>
  double operator()(const X& x, const Z& z) const {
    return static_cast<double>(x.dot(z)) + 1;
  }
};
struct LopsidedDistances {
  template <class Array>
  Array from_manhattan_distances(const Array& distance) const {
    const Array moved = distance + distance[0];
    return (-moved).exp();
  }
};

}  // namespace

TEMPLATE_TEST_CASE("the library's kernels pass", "[kernels]", float, double) {
  const auto dense = test_support::holey_inputs<TestType>(70, 21, 1);
  const auto check = [&](const auto& kernel) {
    CHECK_NOTHROW(bpm::check_kernel(kernel, dense, 60));
  };
  check(bpm::Linear{});
  check(bpm::Polynomial(5, 0.1));
  check(bpm::Gaussian::from_sigma(3));
  check(bpm::Exponential(2));
  check(bpm::ArcCosine(3));
  check(bpm::normalised(bpm::sum(bpm::Polynomial(3), bpm::Gaussian::from_gamma(0.1))));
  check(bpm::product(bpm::on_unit_inputs(bpm::Polynomial(9)), bpm::biased(bpm::ArcCosine(2))));
  check(bpm::biased(bpm::scaled(bpm::Laplacian(4), 2)));
  const bpm::SparseRowMatrix<TestType> sparse = dense.sparseView();
  CHECK_NOTHROW(bpm::check_kernel(bpm::ArcCosine(3), sparse, 60));
}

TEST_CASE("the report gives the eigenvalues of the sample", "[kernels]") {
  // Orthogonal inputs of squared norms 1, 4, 9: those are the eigenvalues.
  const Eigen::MatrixXd inputs = Eigen::Vector3d(1, 2, 3).asDiagonal();
  const bpm::KernelReport report = bpm::check_kernel(bpm::Linear{}, inputs);
  CHECK(report.points == 3);
  CHECK(std::abs(report.smallest_eigenvalue - 1) <= 1e-14);
  CHECK(std::abs(report.largest_eigenvalue - 9) <= 1e-14);
  // Every other input: 1 and 3 of 1, 2, 3, 4.
  const Eigen::MatrixXd four = Eigen::Vector4d(1, 2, 3, 4).asDiagonal();
  const bpm::KernelReport half = bpm::check_kernel(bpm::Linear{}, four, 2);
  CHECK(half.points == 2);
  CHECK(std::abs(half.largest_eigenvalue - 9) <= 1e-14);
}

TEST_CASE("a kernel that is zero everywhere is a kernel", "[kernels]") {
  const Eigen::MatrixXd inputs = Eigen::MatrixXd::Zero(4, 3);
  const bpm::KernelReport report = bpm::check_kernel(bpm::Linear{}, inputs);
  CHECK(report.smallest_eigenvalue == 0);
  CHECK(report.largest_eigenvalue == 0);
  // One input; and values whose squares would overflow.
  const std::vector<double> one{1e100};
  const auto square = [](double a, double b) { return a * b; };
  CHECK(bpm::check_kernel(square, one).largest_eigenvalue == 1e200);
}

TEST_CASE("eigenvalues of kernel matrices are not negative", "[kernels][at length]") {
  // The library's kernels on random draws, by a decomposition of our own.
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto x = test_support::normal_inputs<double>(40, 4, seed);
    const auto check = [&](const auto& kernel) {
      const Eigen::MatrixXd values = test_support::block_values(kernel, x, x);
      CHECK(values == values.transpose());
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(values);
      const double largest = solver.eigenvalues()[39];
      CHECK(solver.eigenvalues()[0] >= -1e-12 * largest);
      const bpm::KernelReport report = bpm::check_kernel(kernel, x);
      CHECK(std::abs(report.smallest_eigenvalue - solver.eigenvalues()[0]) <= 1e-12 * largest);
      CHECK(std::abs(report.largest_eigenvalue - largest) <= 1e-12 * largest);
    };
    check(bpm::Linear{});
    check(bpm::Polynomial(5));
    check(bpm::Gaussian::from_sigma(2));
    check(bpm::Laplacian(3));
    check(bpm::Exponential(3));
    check(bpm::ArcCosine(2));
    check(bpm::ArcCosine(7));
  }
}

TEST_CASE("a user's kernels on numbers and strings pass", "[kernels]") {
  const auto x = test_support::normal_inputs<double>(30, 3, 1);
  const auto rows = [](const auto& a, const auto& b) { return std::pow(a.dot(b) + 1, 2); };
  CHECK_NOTHROW(bpm::check_kernel(rows, x));
  const std::vector<std::string> words{"a", "ab", "abc", "b", "bc", "c"};
  const auto letters = [](const std::string& a, const std::string& b) {
    double common = 0;
    for (const char c : {'a', 'b', 'c'}) {
      common += static_cast<double>(a.find(c) != a.npos && b.find(c) != b.npos);
    }
    return common;
  };
  CHECK(bpm::check_kernel(letters, words).points == 6);
}

TEST_CASE("a kernel that is not symmetric is found", "[kernels]") {
  const auto x = test_support::normal_inputs<double>(40, 5, 1);
  CHECK_THROWS_AS(bpm::check_kernel(Lopsided{}, x), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::check_kernel(Lopsided{}, x),
                    ContainsSubstring("check_kernel: kernel is not symmetric: k(x_1, x_0) is"));
  CHECK_THROWS_WITH(bpm::check_kernel(LopsidedInTheLastBit{}, x),
                    ContainsSubstring("check_kernel: kernel is not symmetric"));
  const auto pairs = [](const auto& a, const auto& b) { return a(0) - 2 * b(0); };
  CHECK_THROWS_WITH(bpm::check_kernel(pairs, x), ContainsSubstring("is not symmetric"));
  // A pair kernel need only be symmetric to rounding.
  const auto nearly = [](const auto& a, const auto& b) {
    return static_cast<double>(a.dot(b)) * (1 + 1e-12 * static_cast<double>(a(0)));
  };
  CHECK_NOTHROW(bpm::check_kernel(nearly, x));
}

TEST_CASE("a kernel that changes between calls is found", "[kernels]") {
  int calls = 0;
  const auto drifting = [&](const std::string&, const std::string&) { return ++calls / 1024.0; };
  const std::vector<std::string> words{"a", "b"};
  CHECK_THROWS_WITH(bpm::check_kernel(drifting, words),
                    "check_kernel: kernel changes between calls: k(x_0, x_0) was 0.0009765625, is "
                    "0.0048828125");
  const auto x = test_support::normal_inputs<float>(40, 5, 1);
  const auto counts = [&](const auto& a, const auto& b) {
    return static_cast<double>(a.dot(b)) + 1e-9 * ++calls;
  };
  CHECK_THROWS_WITH(bpm::check_kernel(counts, x), ContainsSubstring("changes between calls"));
}

TEST_CASE("a kernel that is not pointwise is found", "[kernels]") {
  const auto x = test_support::normal_inputs<float>(40, 5, 1);
  CHECK_THROWS_AS(bpm::check_kernel(NotPointwise{}, x), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::check_kernel(NotPointwise{}, x),
                    ContainsSubstring("check_kernel: kernel is not pointwise: k(x_"));
  CHECK_THROWS_WITH(bpm::check_kernel(OtherTail{}, x), ContainsSubstring("is not pointwise"));
  CHECK_THROWS_WITH(bpm::check_kernel(LopsidedDistances{}, x),
                    ContainsSubstring("is not pointwise"));
}

TEST_CASE("a kernel with two forms that disagree is found", "[kernels]") {
  const auto x = test_support::normal_inputs<float>(10, 5, 1);
  CHECK_THROWS_WITH(bpm::check_kernel(TwoMinds{}, x),
                    ContainsSubstring("check_kernel: kernel has two forms that disagree: k(x_0, "
                                      "x_0) is"));
}

TEST_CASE("a kernel with negative eigenvalues is found", "[kernels]") {
  const auto x = test_support::normal_inputs<double>(40, 5, 1);
  CHECK_THROWS_AS(bpm::check_kernel(Sigmoid{}, x), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::check_kernel(Sigmoid{}, x),
                    ContainsSubstring("check_kernel: kernel is not positive semi-definite: the "
                                      "matrix of 40 inputs has the eigenvalue -"));
  const auto distance = [](const auto& a, const auto& b) { return (a - b).norm(); };
  CHECK_THROWS_WITH(bpm::check_kernel(distance, x),
                    ContainsSubstring("is not positive semi-definite"));
}

TEST_CASE("values that are not finite are found, with the inputs' own numbers", "[kernels]") {
  std::vector<double> numbers(100, 1.0);
  numbers[60] = 1e200;
  const auto kernel = [](double a, double b) { return a * b; };
  // Of 10 inputs, 0, 10, 20, ..., the seventh.
  CHECK_THROWS_AS(bpm::check_kernel(kernel, numbers, 10), bpm::KernelValueError);
  CHECK_THROWS_WITH(
      bpm::check_kernel(kernel, numbers, 10),
      ContainsSubstring("check_kernel: inputs 60 and 60: kernel: k(x_6, x_6) is inf"));
}

TEST_CASE("check_kernel refuses what it cannot work on", "[kernels]") {
  const Eigen::MatrixXd none(0, 3);
  CHECK_THROWS_AS(bpm::check_kernel(bpm::Linear{}, none), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::check_kernel(bpm::Linear{}, none),
                    "check_kernel: inputs is empty, must hold an input");
  Eigen::MatrixXd x = Eigen::MatrixXd::Ones(2, 2);
  CHECK_THROWS_WITH(bpm::check_kernel(bpm::Linear{}, x, 0),
                    "check_kernel: points is 0, must be positive");
  CHECK_THROWS_WITH(bpm::check_kernel(bpm::Linear{}, x, 5, 0),
                    "check_kernel: tolerance is 0, must be positive and finite");
  x(1, 0) = std::nan("");
  CHECK_THROWS_WITH(bpm::check_kernel(bpm::Linear{}, x),
                    "check_kernel: inputs row 1, column 0 is nan, must be finite");
}
