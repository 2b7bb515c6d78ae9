// SPDX-License-Identifier: MIT
// Sums over ranks are made in the order in which one process makes them: numbers of which every
// other order gives another sum.
#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "bpm/cluster/draw_exchange.hpp"
#include "bpm/cluster/sharded_one_vs_rest.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "hard.hpp"
#include "rank_problems.hpp"

using namespace rank_tests;

TEST_CASE("outputs are added in the order of the draws, whichever rank made them") {
  namespace detail = bpm::detail;
  // At 2^54 adding 1 is lost. Three draws of ranks 2, 3 and 0; eight points, two per rank.
  constexpr double big = 0x1p54;
  const std::vector<std::vector<double>> outputs{{big, big, 1, -big, 1, 3, big, 0.5},
                                                 {1, -big, big, 1, -big, big, -big, big},
                                                 {-big, 1, -big, big, big, -big, 0.5, -big}};
  const std::vector<double> expected{0, 1, 0, 0, 0, 4, 0.5, 0};
  const std::vector<int> owners{2, 3, 0};
  const detail::Communicator ranks(MPI_COMM_WORLD);
  for (const std::size_t batch : {3U, 2U, 1U}) {  // Draws delivered together.
    CAPTURE(batch);
    std::map<detail::DrawPiece, detail::FinishedPiece> mine;
    std::vector<detail::OwnedPiece> pieces;
    for (std::size_t n = 0; n < owners.size(); ++n) {
      const detail::DrawPiece piece{n, 0, 1};
      pieces.push_back({piece, owners[n]});
      if (owners[n] == rank()) mine[piece] = {piece, {{{}, {}, outputs[n]}}};
    }
    detail::DrawExchange exchange(ranks, 8, 1, true);
    bpm::SamplerReport::Perceptron report;
    std::vector<double> sums;
    const auto sink = [&](const bpm::Draw& draw) {
      sums.assign(draw.outputs.begin(), draw.outputs.end());
    };
    const std::span<const detail::OwnedPiece> all(pieces);
    for (std::size_t n = 0; n < owners.size(); n += batch) {
      exchange.deliver(all.subspan(n, std::min(batch, owners.size() - n)), mine, report, sink);
    }
    CHECK(mine.empty());
    exchange.finish(0, sink);
    CHECK(sums == expected);
  }
}

TEST_CASE("norms of shards are summed in the order of the points, from rank to rank") {
  // Orthogonal inputs: every point is one mistake, w = sum_i y_i x_i, norm(w)^2 = sum_i |x_i|^2. In
  // order the ones are lost one by one beside 2^54; added up by rank they would not be.
  constexpr std::ptrdiff_t each = 3;
  bpm::RowMatrix<double> inputs = bpm::RowMatrix<double>::Zero(each, 4 * each);
  std::vector<int> labels;
  for (std::ptrdiff_t i = 0; i < each; ++i) {
    inputs(i, each * rank() + i) = rank() == 0 && i == 0 ? 0x1p27 : 1.0;
    labels.push_back(i % 2 == 0 ? 1 : -1);
  }
  const auto fitted =
      bpm::ShardedOneVsRest(bpm::Linear(), {.draws = 1}, test_support::hard(one_thread()))
          .fit(inputs, labels);
  REQUIRE(fitted.support().size() == 4 * each);
  for (std::ptrdiff_t s = 0; s < 4 * each; ++s) {
    CHECK(fitted.coefficients()(s, 0) == (s % each % 2 == 0 ? 0x1p-27 : -0x1p-27));
  }
}
