// SPDX-License-Identifier: MIT
#include "bpm/machine/fingerprint.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

TEST_CASE("a hash of words depends on every bit, on their order and their number") {
  using bpm::detail::WordHash;
  std::set<std::uint64_t> seen;
  const auto fresh = [&](const std::vector<std::uint64_t>& words) {
    WordHash hash;
    for (const std::uint64_t word : words) hash.add(word);
    return seen.insert(hash.value()).second;
  };
  CHECK(fresh({}));
  CHECK(fresh({0}));
  CHECK(fresh({0, 0}));
  CHECK(fresh({1, 2, 3, 4, 5}));
  CHECK(fresh({5, 2, 3, 4, 1}));
  CHECK(fresh({1, 2, 3, 5, 4}));
  for (unsigned bit = 0; bit < 64; ++bit) CHECK(fresh({std::uint64_t{1} << bit, 7, 7}));

  const std::string bytes = "eleven byte";
  WordHash a;
  a.add_bytes(bytes.data(), bytes.size());
  WordHash b;
  b.add_bytes(bytes.data(), bytes.size() - 1);
  CHECK(a.value() != b.value());
}
