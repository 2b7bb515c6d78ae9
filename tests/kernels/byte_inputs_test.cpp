// SPDX-License-Identifier: MIT
#include "bpm/kernels/kernel.hpp"

#include <limits>

#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

TEST_CASE("numbers that are bytes become bytes", "[kernels]") {
  bpm::RowMatrix<float> numbers(2, 3);
  numbers << 0, 1, 255, 17, 128, 200;
  CHECK(bpm::are_bytes(numbers));
  CHECK(bpm::to_bytes(numbers).cast<float>() == numbers);
  // Pixels / 255, in float and double.
  const bpm::RowMatrix<float> fractions = numbers / 255;
  CHECK_FALSE(bpm::are_bytes(fractions));
  CHECK(bpm::are_bytes(fractions, 255));
  CHECK(bpm::to_bytes(fractions, 255).cast<float>() == numbers);
  const Eigen::MatrixXd columns = numbers.cast<double>() / 255;
  CHECK(bpm::to_bytes(columns, 255).cast<float>() == numbers);
  for (int byte = 0; byte < 256; ++byte) {
    const Eigen::MatrixXf one = Eigen::MatrixXf::Constant(1, 1, static_cast<float>(byte) / 255);
    CHECK(bpm::to_bytes(one, 255)(0, 0) == byte);
  }
}

TEST_CASE("numbers that are no bytes are refused by name", "[kernels]") {
  const auto refuse = [](double value, const char* shown) {
    bpm::RowMatrix<double> numbers = bpm::RowMatrix<double>::Zero(3, 4);
    numbers(1, 2) = value;
    CHECK_FALSE(bpm::are_bytes(numbers));
    CHECK(message_of([&] { (void)bpm::to_bytes(numbers); }) ==
          std::string("to_bytes: inputs row 1, column 2 is ") + shown +
              ", times 1 it is no whole number from 0 to 255; leave the inputs as they are");
  };
  refuse(256, "256");
  refuse(-1, "-1");
  refuse(0.5, "0.5");
  refuse(std::numeric_limits<double>::quiet_NaN(), "nan");
  refuse(std::numeric_limits<double>::infinity(), "inf");
  const bpm::RowMatrix<double> zero = bpm::RowMatrix<double>::Zero(1, 1);
  CHECK(message_of([&] { (void)bpm::to_bytes(zero, 0); }) ==
        "to_bytes: scale is 0, must be positive and finite");
}
