// SPDX-License-Identifier: MIT
#include "bpm/data/source.hpp"

#include <cstddef>
#include <ios>
#include <istream>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <utility>

#include "catch.hpp"

namespace {

/// Gives what it has, then fails.
struct FailingDisk : std::streambuf {
  explicit FailingDisk(std::string content) : content_(std::move(content)) {
    setg(content_.data(), content_.data(), content_.data() + content_.size());
  }
  int_type underflow() override { throw std::runtime_error("disk"); }
  std::string content_;
};

}  // namespace

TEST_CASE("read_all reads what is left, however many blocks that are") {
  for (const std::size_t size : {0U, 1U, 65535U, 65536U, 65537U, 200000U}) {
    std::string content(size, 'a');
    if (size > 0) content.back() = 'z';
    std::istringstream stream("skipped" + content);
    stream.ignore(7);
    CHECK(bpm::detail::read_all(stream, "f") == content);
  }
}

TEST_CASE("read_all reports a stream that fails, and the block in which it did") {
  for (const auto& [size, found] : {std::pair(0U, "0"), std::pair(65536U, "65536")}) {
    FailingDisk disk(std::string(size, 'a'));
    std::istream stream(&disk);
    CHECK_THROWS_AS(bpm::detail::read_all(stream, "f"), bpm::DataError);
    FailingDisk again(std::string(size, 'a'));
    std::istream other(&again);
    CHECK_THROWS_WITH(bpm::detail::read_all(other, "f"),
                      std::string("f: byte ") + found + ": reading failed");
  }
  std::istringstream bad("content");
  bad.setstate(std::ios::badbit);
  CHECK_THROWS_WITH(bpm::detail::read_all(bad, "f"), "f: byte 0: reading failed");
}
