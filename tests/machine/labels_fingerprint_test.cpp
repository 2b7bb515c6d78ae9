// SPDX-License-Identifier: MIT
#include "bpm/machine/labels.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

using bpm::detail::equal_groups;
using bpm::detail::input_hashes;
using Groups = std::vector<std::vector<bpm::PointIndex>>;

TEST_CASE("groups of equal inputs, whatever they are") {
  bpm::RowMatrix<double> dense(6, 3);
  dense << 1, 0, 2,  //
      3, 0, 0,       //
      1, 0, 2,       //
      0, 0, 3,       //
      3, -0.0, 0,    //
      1, 0, 2;
  const Groups expected{{0, 2, 5}, {1, 4}};
  const auto sorted = [](Groups groups) {
    std::sort(groups.begin(), groups.end());
    return groups;
  };
  CHECK(sorted(equal_groups(dense, input_hashes(dense))) == expected);
  const bpm::RowMatrix<float> floats = dense.cast<float>();
  CHECK(sorted(equal_groups(floats, input_hashes(floats))) == expected);
  const bpm::RowMatrix<int> integers = dense.cast<int>();
  CHECK(sorted(equal_groups(integers, input_hashes(integers))) == expected);
  // An explicit zero is no difference.
  bpm::SparseRowMatrix<double> sparse = dense.sparseView();
  sparse.coeffRef(2, 1) = 0;
  sparse.makeCompressed();
  CHECK(sorted(equal_groups(sparse, input_hashes(sparse))) == expected);
  const std::vector<std::string> words{"a", "b", "a", "c", "b", "a"};
  CHECK(sorted(equal_groups(words, input_hashes(words))) == expected);
}

TEST_CASE("hashes alone do not make inputs equal") {
  bpm::RowMatrix<double> inputs(3, 1);
  inputs << 1, 2, 1;
  // All hashes collide; the first of them is compared with the others.
  const std::vector<std::uint64_t> same{7, 7, 7};
  CHECK(equal_groups(inputs, same) == Groups{{0, 2}});
}

TEST_CASE("inputs that cannot be hashed have no groups") {
  struct Thing {
    int value;
  };
  const std::vector<Thing> things{{1}, {1}};
  CHECK(input_hashes(things).empty());
  CHECK(equal_groups(things, input_hashes(things)).empty());
}

TEST_CASE("a fingerprint tells training sets apart") {
  const std::vector<std::uint64_t> hashes{1, 2, 3};
  const std::vector<std::uint64_t> swapped{2, 1, 3};
  const std::vector<int> labels{1, -1, 1};
  const std::vector<int> other{1, 1, 1};
  const auto print = bpm::detail::fingerprint(hashes, labels);
  CHECK(bpm::detail::fingerprint(hashes, labels) == print);
  CHECK(bpm::detail::fingerprint(swapped, labels) != print);
  CHECK(bpm::detail::fingerprint(hashes, other) != print);
  CHECK(bpm::detail::fingerprint({}, labels) != print);
}

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
