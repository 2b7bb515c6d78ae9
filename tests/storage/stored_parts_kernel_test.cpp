// SPDX-License-Identifier: MIT
#include "bpm/storage/stored_parts.hpp"

#include <Eigen/Core>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using Catch::Matchers::ContainsSubstring;
using test_support::message_of;

namespace {

nlohmann::json json_of(const bpm::RuntimeKernel& kernel) {
  return bpm::detail::kernel_to_json(kernel);
}

bpm::RuntimeKernel kernel_of(const nlohmann::json& json) {
  return bpm::detail::kernel_from_json<bpm::RuntimeKernel>(json, "m");
}

}  // namespace

TEST_CASE("parameters of kernels are read as what they are") {
  const auto message = [](const char* json) {
    return message_of([&] {
      (void)bpm::detail::kernel_from_json<bpm::Polynomial>(nlohmann::json::parse(json), "m");
    });
  };
  CHECK(message(R"({"name":"polynomial","degree":3,"scale":1.0,"offset":1.0})") ==
        "nothing was thrown");
  CHECK(message(R"({"name":"polynomial","degree":2.9,"scale":1.0,"offset":1.0})") ==
        "m: the kernel 'polynomial' cannot be made: degree is no whole number");
  CHECK(message(R"({"name":"polynomial","degree":4294967299,"scale":1.0,"offset":1.0})") ==
        "m: the kernel 'polynomial' cannot be made: degree is 4294967299, which is out of range");
  CHECK(message(R"({"degree":3})") == "m: the kernel has no name");
  CHECK_THAT(
      message_of([&] {
        (void)bpm::detail::kernel_from_json<decltype(bpm::biased(bpm::ArcCosine(2)))>(
            nlohmann::json::parse(
                R"({"name":"biased","constant":1,"inner":{"name":"arc-cosine","depth":1001}})"),
            "m");
      }),
      ContainsSubstring("m: the kernel 'biased' cannot be made: ") &&
          ContainsSubstring("depth is 1001, must be from 1 to 1000"));
}

TEST_CASE("a RuntimeKernel is written as the kernel that it is, and read from any of them") {
  const bpm::Linear linear;
  const bpm::Gaussian bell = bpm::Gaussian::from_gamma(0.25);
  const auto same = [](const auto& kernel) {
    const nlohmann::json json = bpm::detail::kernel_to_json(kernel);
    CHECK(json_of(kernel) == json);
    CHECK(json_of(kernel_of(json)) == json);
  };
  same(linear);
  same(bpm::Polynomial(3, 0.5, 2));
  same(bell);
  same(bpm::Exponential(2));
  same(bpm::ArcCosine(4));
  same(bpm::sum(linear, bell));
  same(bpm::product(linear, bell));
  same(bpm::scaled(bell, 3));
  same(bpm::biased(bell, 3));
  same(bpm::normalised(linear));
  same(bpm::on_unit_inputs(bell));
  same(bpm::normalised(bpm::sum(bpm::biased(linear, 2), bpm::product(bell, bell))));
}

TEST_CASE("a RuntimeKernel is refused by name what it cannot be") {
  const auto refusal = [](const char* json) {
    return message_of([&] { (void)kernel_of(nlohmann::json::parse(json)); });
  };
  CHECK(refusal("3") == "m: the kernel has no name");
  CHECK(refusal(R"({"name":"laplacian","sigma":1})") ==
        "m: the kernel is 'laplacian', which a RuntimeKernel cannot be");
  CHECK_THAT(refusal(R"({"name":"biased","constant":1,"inner":{"name":"mine"}})"),
             ContainsSubstring("m: the kernel 'biased' cannot be made: ") &&
                 ContainsSubstring("the kernel is 'mine', which a RuntimeKernel cannot be"));
  nlohmann::json json = json_of(bpm::Linear{});
  for (int i = 0; i < 4; ++i) json = {{"name", "normalised"}, {"inner", json}};
  CHECK(message_of([&] { (void)kernel_of(json); }) ==
        "m: RuntimeKernel: kernel takes 121 steps a value, must take at most 100");
}

TEST_CASE("a kernel in a file is the kernel of docs/model-files.md") {
  // x = (1, 2) and z = (3, 1): <x, z> = 5, |x|^2 = 5, |z|^2 = 10, |x - z|^2 = 5, |x - z|_1 = 3.
  const bpm::RowMatrix<double> x{{1, 2}};
  const bpm::RowMatrix<double> z{{3, 1}};
  const auto value = [&](const char* text) {
    const auto json = nlohmann::json::parse(text);
    CHECK(json_of(kernel_of(json)) == json);
    return bpm::kernel_matrix(kernel_of(json), x, z)(0, 0);
  };
  CHECK(value(R"({"name":"linear"})") == Approx(5));
  CHECK(value(R"({"name":"polynomial","degree":3,"scale":2.0,"offset":3.0})") == Approx(2197));
  CHECK(value(R"({"name":"gaussian","gamma":0.1})") == Approx(std::exp(-0.5)));
  CHECK(value(R"({"name":"exponential","sigma":2.0})") == Approx(std::exp(-std::sqrt(5) / 2)));
  const double bell = std::exp(-0.5);
  const std::string parts =
      R"("first":{"name":"linear"},"second":{"name":"gaussian","gamma":0.1}})";
  CHECK(value((R"({"name":"sum",)" + parts).c_str()) == Approx(5 + bell));
  CHECK(value((R"({"name":"product",)" + parts).c_str()) == Approx(5 * bell));
  const std::string of_bell = R"("constant":3.0,"inner":{"name":"gaussian","gamma":0.1}})";
  CHECK(value((R"({"name":"biased",)" + of_bell).c_str()) == Approx(3 + bell));
  CHECK(value((R"({"name":"scaled",)" + of_bell).c_str()) == Approx(3 * bell));
  CHECK(value(R"({"name":"normalised","inner":{"name":"linear"}})") == Approx(5 / std::sqrt(50)));
  CHECK(value(R"({"name":"unit-inputs","inner":{"name":"gaussian","gamma":1.0}})") ==
        Approx(std::exp(10 / std::sqrt(50) - 2)));
  const auto laplacian = bpm::detail::kernel_from_json<bpm::Laplacian>(
      nlohmann::json::parse(R"({"name":"laplacian","sigma":2.0})"), "m");
  CHECK(bpm::kernel_matrix(laplacian, x, z)(0, 0) == Approx(std::exp(-1.5)));
  CHECK(message_of([] { (void)kernel_of(nlohmann::json::parse(R"({"name":3})")); }) ==
        "m: the kernel has no name");
}
