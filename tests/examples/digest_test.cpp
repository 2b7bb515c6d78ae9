// SPDX-License-Identifier: MIT
#include "common/digest.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "common/machine_info.hpp"

using bpm_examples::Coefficient;
using bpm_examples::model_digest;

namespace {

std::string sha256_of(std::string_view text) {
  return bpm_examples::sha256_hex(
      {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

}  // namespace

TEST_CASE("SHA-256 of the standard's examples", "[examples]") {
  // FIPS 180-2, appendix B.
  CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("a model's digest is that of its sorted bytes", "[examples]") {
  // (-1, 2, -2.0), (3, 258, 1.0) byte by byte.
  const std::string bytes(
      "\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xc0"
      "\x03\0\0\0\0\0\0\0\x02\x01\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f",
      48);
  const std::string expected = sha256_of(bytes);
  CHECK(model_digest({{-1, 2, -2.0}, {3, 258, 1.0}}) == expected);
  CHECK(model_digest({{3, 258, 1.0}, {-1, 2, -2.0}}) == expected);
  CHECK(model_digest({{3, 258, 1.0}, {3, 0, 0.0}, {-1, 2, -2.0}, {-1, 1, -0.0}}) == expected);
  CHECK(model_digest({{3, 258, 1.0 + 0x1p-52}, {-1, 2, -2.0}}) != expected);
  CHECK(model_digest({{3, 2, 1.0}, {-1, 258, -2.0}}) != expected);
  CHECK(model_digest({}) == sha256_of(""));
}

TEST_CASE("a coefficient that comes twice is refused", "[examples]") {
  CHECK_THROWS_AS(model_digest({{1, 5, 1.0}, {0, 5, 1.0}, {1, 5, 2.0}}), std::invalid_argument);
  CHECK_THROWS_WITH(model_digest({{1, 5, 1.0}, {0, 5, 1.0}, {1, 5, 2.0}}),
                    "model_digest: class 1, index 5 comes twice");
}

TEST_CASE("the peak of memory grows with what is touched", "[examples]") {
  const std::size_t before = bpm_examples::peak_resident_bytes();
  CHECK(before > 1U << 20U);
  std::vector<char> block(std::size_t{64} << 20U, 'x');
  const std::size_t after = bpm_examples::peak_resident_bytes();
  CHECK(block[block.size() / 2] == 'x');
  CHECK(after >= std::size_t{64} << 20U);
  CHECK(after >= before);
}

TEST_CASE("the wall timer does not run backwards", "[examples]") {
  bpm_examples::WallTimer timer;
  const double first = timer.seconds();
  const double second = timer.seconds();
  CHECK(first >= 0);
  CHECK(second >= first);
  CHECK(timer.restart() >= second);
}
