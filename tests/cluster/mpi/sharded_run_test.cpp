// SPDX-License-Identifier: MIT
#include "bpm/cluster/sharded_run.hpp"

#include <cstddef>

#include "catch.hpp"

namespace {

using Mistaken = bpm::detail::MistakenInputs<float>;
constexpr std::ptrdiff_t depth = Mistaken::depth;

/// Input n is (n, -n).
bpm::RowMatrix<float> rows(std::ptrdiff_t first, std::ptrdiff_t count) {
  bpm::RowMatrix<float> inputs(count, 2);
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    inputs.row(i) << static_cast<float>(first + i), -static_cast<float>(first + i);
  }
  return inputs;
}

void check_blocks(const Mistaken& inputs) {
  for (const Mistaken::Block& block : inputs.blocks()) {
    REQUIRE(block.prepared != nullptr);
    for (std::ptrdiff_t i = 0; i < block.count; ++i) {
      CHECK(block.inputs(i, 0) == static_cast<float>(block.first + i));
      CHECK(block.inputs(i, 1) == -static_cast<float>(block.first + i));
      CHECK(block.prepared->row(i)[0] == block.inputs(i, 0));
    }
  }
}

}  // namespace

TEST_CASE("inputs of mistakes fill blocks in their order, and whole blocks are forgotten") {
  Mistaken inputs;
  const auto append = [&](std::ptrdiff_t first, std::ptrdiff_t count) {
    inputs.append(rows(first, count).data(), count, 2);
  };
  append(0, 1);
  append(1, 0);
  append(1, depth - 2);
  REQUIRE(inputs.blocks().size() == 1);
  CHECK(inputs.blocks()[0].count == depth - 1);
  append(depth - 1, 2 * depth + 2);  // Ends the first, fills two, begins a fourth.
  REQUIRE(inputs.blocks().size() == 4);
  CHECK(inputs.blocks()[2].first == 2 * depth);
  CHECK(inputs.blocks()[3].count == 1);
  check_blocks(inputs);

  inputs.forget(depth - 1);  // Its last mistake is still wanted.
  CHECK(inputs.blocks().size() == 4);
  inputs.forget(2 * depth + 5);
  REQUIRE(inputs.blocks().size() == 2);
  CHECK(inputs.blocks()[0].first == 2 * depth);
  inputs.forget(3 * depth + 1);  // A block that is not full stays for what comes.
  REQUIRE(inputs.blocks().size() == 1);
  append(3 * depth + 1, 3);
  CHECK(inputs.blocks()[0].count == 4);
  check_blocks(inputs);

  inputs = {};
  append(0, 2);
  CHECK(inputs.blocks()[0].first == 0);
  check_blocks(inputs);
}
