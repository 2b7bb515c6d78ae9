// SPDX-License-Identifier: MIT
#include "bpm/kernels/compose.hpp"

#include <Eigen/Core>

#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

using bpm::Linear;
using bpm::detail::can_be_linear;
using bpm::detail::linear_form;
using test_support::distance_from_formula;
using test_support::unit;

namespace {

/// The form against the kernel on a pair of inputs.
template <class Kernel>
void check_form(const Kernel& kernel) {
  const Eigen::RowVector3d x(1, -2, 3);
  const Eigen::RowVector3d z(0.5, 4, 1);
  const auto form = linear_form(kernel);
  REQUIRE(form.has_value());
  const double product = x.dot(z) / (form->unit ? x.norm() * z.norm() : 1);
  CHECK(form->factor * product + form->constant == Catch::Detail::Approx(kernel(x, z)));
  CHECK(form->unit == (std::abs(kernel(2 * x, z) - kernel(x, z)) < 1e-12));
}

}  // namespace

TEST_CASE("kernels that are linear in their inputs have the form of one") {
  check_form(Linear{});
  check_form(bpm::biased(Linear{}, 0.5));
  check_form(bpm::scaled(bpm::biased(bpm::scaled(Linear{}, 3), 0.5), 7));
  check_form(bpm::on_unit_inputs(Linear{}));
  check_form(bpm::biased(bpm::on_unit_inputs(bpm::biased(Linear{}, 2)), 1));
  check_form(bpm::normalised(bpm::scaled(Linear{}, 3)));
  check_form(bpm::RuntimeKernel(Linear{}));
  check_form(bpm::RuntimeKernel(bpm::on_unit_inputs(bpm::scaled(Linear{}, 3))));
  check_form(bpm::biased(bpm::RuntimeKernel(bpm::biased(Linear{}, 2)), 1));
}

TEST_CASE("others have none") {
  STATIC_REQUIRE_FALSE(can_be_linear<bpm::Gaussian>);
  STATIC_REQUIRE_FALSE(can_be_linear<decltype(bpm::biased(bpm::Polynomial(2)))>);
  CHECK_FALSE(linear_form(bpm::Polynomial(2)).has_value());
  CHECK_FALSE(linear_form(bpm::RuntimeKernel(bpm::Polynomial(2))).has_value());
  CHECK_FALSE(
      linear_form(bpm::biased(bpm::RuntimeKernel(bpm::Gaussian::from_width(1)), 1)).has_value());
  CHECK_FALSE(linear_form(bpm::RuntimeKernel(bpm::sum(Linear{}, bpm::Gaussian::from_width(1))))
                  .has_value());
  // The norm of an input with its bias is no norm of the input.
  CHECK_FALSE(linear_form(bpm::normalised(bpm::biased(Linear{}, 1))).has_value());
}

TEMPLATE_TEST_CASE("the linear kernel is the inner product", "[kernels]", float, double) {
  CHECK(distance_from_formula<TestType>(bpm::Linear{}, [](const auto& x, const auto& z) {
          return x.dot(z);
        }) <= 10 * unit<TestType>);
}
