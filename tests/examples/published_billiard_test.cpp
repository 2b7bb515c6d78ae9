// SPDX-License-Identifier: MIT
// The published billiard against the paper's steps written plainly, and its bias.
#include "common/published_billiard.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "billiard_problems.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"
#include "law.hpp"
#include "problems.hpp"

using namespace law_tests;
using bpm_examples::PublishedChain;

namespace {

void add(Numbers& y, double scale, const Numbers& x) {
  for (std::size_t k = 0; k < y.size(); ++k) y[k] += scale * x[k];
}

/// The billiard of the paper in coordinates, every quantity computed anew at every step.
struct Plain {
  std::vector<Numbers> rows;
  bpm::RandomEngine engine;
  Numbers b;
  Numbers v;
  Numbers centre;
  double path = 0;
  std::ptrdiff_t last = -1;
  int escapes = -1;

  Plain(const bpm::Cone& cone, Numbers start, bpm::RandomEngine e) : engine(e) {
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) rows.push_back(row_of(cone, i));
    start.resize(static_cast<std::size_t>(cone.rank()));
    b = unit(start);
    new_direction();
  }

  void new_direction() {
    v.assign(b.size(), 0.0);
    for (const Numbers& row : rows) add(v, 2 * bpm::uniform_unit(engine) - 1, row);
    v = unit(v);
    if (last >= 0 && inner(v, rows[static_cast<std::size_t>(last)]) < 0) {
      for (double& value : v) value = -value;
    }
    ++escapes;
  }

  void bounce() {
    double tau = 0;
    std::ptrdiff_t hit = -1;
    while (true) {
      for (std::ptrdiff_t i = 0; i < std::ssize(rows); ++i) {
        const Numbers& row = rows[static_cast<std::size_t>(i)];
        const double t = -inner(row, b) / inner(row, v);
        if (i != last && t > 0 && (hit < 0 || t < tau)) {
          tau = t;
          hit = i;
        }
      }
      if (hit >= 0) break;
      new_direction();
    }
    Numbers there = b;
    add(there, tau, v);
    there = unit(there);
    Numbers middle = b;
    add(middle, 1.0, there);
    middle = unit(middle);
    Numbers difference = there;
    add(difference, -1.0, b);
    const double chord = norm_of(difference);
    const Numbers& normal = rows[static_cast<std::size_t>(hit)];
    add(v, -2 * inner(v, normal) / inner(normal, normal), normal);
    v = unit(v);
    b = there;
    last = hit;
    // The new centre: on the arc from the midpoint to the old one, mu times their chord away.
    const double mu = path / (path + chord);
    path += chord;
    if (mu == 0) {
      centre = middle;
      return;
    }
    const double between = angle(centre, middle);
    if (between < 1e-12) return;
    Numbers tangent = centre;
    add(tangent, -inner(centre, middle), middle);
    tangent = unit(tangent);
    const double moved = 2 * std::asin(mu * std::sin(between / 2));
    for (std::size_t k = 0; k < centre.size(); ++k) {
      centre[k] = middle[k] * std::cos(moved) + tangent[k] * std::sin(moved);
    }
  }
};

Numbers centre_of(const PublishedChain& chain, const bpm::Cone& cone) {
  Numbers x(static_cast<std::size_t>(cone.stride()), 0.0);
  chain.add_sum(cone, 1 / chain.weight(), x.data());
  return x;
}

}  // namespace

TEST_CASE("published: bounce by bounce the plain one, escapes and centre included") {
  for (const auto& [points, rank] : {std::array<std::ptrdiff_t, 2>{3, 2}, {12, 5}, {30, 20}}) {
    const bpm::Cone cone = tilted_cone(points, rank, rank > 5 ? 1.0 : 2.0, 3);
    const Numbers start = bpm::LargestMargin::find(cone).position;
    PublishedChain chain(cone, {}, start, bpm::RandomEngine(6));
    Plain plain(cone, start, bpm::RandomEngine(6));
    double off = 0;
    int compared = 0;
    // Bounces are chaotic: rounding grows until the two part.
    for (int n = 0; n < 40 && off < 1e-6; ++n) {
      chain.bounce(cone);
      plain.bounce();
      off = 0;
      for (std::size_t k = 0; k < plain.b.size(); ++k) {
        off = std::max({off, std::abs(chain.ball()[k] - plain.b[k]),
                        std::abs(chain.direction()[k] - plain.v[k]),
                        std::abs(centre_of(chain, cone)[k] - plain.centre[k])});
      }
      off = std::max(off, std::abs(chain.weight() - plain.path));
      ++compared;
    }
    INFO(points << " points, rank " << rank << ", " << compared << " bounces");
    CHECK(off < 1e-6);
    CHECK(compared == 40);
    CHECK(chain.bounces() == 40);
    CHECK(static_cast<int>(chain.refreshes()) == plain.escapes);
    CHECK(chain.refreshes() > 0);
  }
}

TEST_CASE("published: the centre is a point of the sphere inside, midpoints are inside") {
  const bpm::Cone cone = tilted_cone(12, 5, 2.0, 3);
  PublishedChain chain(cone, {}, bpm::LargestMargin::find(cone).position, bpm::RandomEngine(6));
  double off = 0;
  double lowest = 0;
  double inside = 1;
  for (int n = 0; n < 50'000; ++n) {
    chain.bounce(cone);
    off = std::max(off, std::abs(norm_of(chain.ball()) - 1));
    lowest = std::min(lowest, smallest_output(cone, chain.ball()));
    inside = std::min(inside, smallest_output(cone, chain.position()));
  }
  CHECK(off <= 1e-12);
  CHECK(lowest >= -1e-12);
  CHECK(inside >= 0);
  CHECK(std::abs(norm_of(centre_of(chain, cone)) - 1) <= 1e-14);
  CHECK(smallest_output(cone, centre_of(chain, cone)) > 0);
  Numbers alpha(static_cast<std::size_t>(cone.points()), 0.0);
  chain.add_dual_sum(cone, 1 / chain.weight(), alpha.data());
  const Numbers same = cone.coordinates(alpha);
  CHECK(angle(same, centre_of(chain, cone)) <= 1e-9);
  CHECK(chain.repairs() == 0);
}

TEST_CASE("published: one bounce in the quarter circle by hand") {
  // Start (1, 1) / sqrt 2; the ball flies to the axis and the centre is the midpoint of its arc.
  const bpm::Cone cone = orthant(2);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PublishedChain chain(cone, {}, Numbers{1, 1}, bpm::RandomEngine(seed));
    chain.bounce(cone);
    const bool first = chain.ball()[0] > 0.5;
    CHECK(std::abs(chain.ball()[first ? 0 : 1] - 1) <= 1e-14);
    CHECK(std::abs(chain.ball()[first ? 1 : 0]) <= 1e-14);
    CHECK(std::abs(chain.weight() - 2 * std::sin(std::numbers::pi / 8)) <= 1e-14);
    CHECK(std::abs(chain.midpoint()[first ? 0 : 1] - std::cos(std::numbers::pi / 8)) <= 1e-14);
  }
}

TEST_CASE("published: its centre is not the centre of mass, however many bounces") {
  // Twelve points in five dimensions, Gaussian kernel exp(-|x - x'|^2 / 2), labels of a random
  // expansion.
  // Its centre stays 0.043 rad off: 0.041 and 0.052 after 2e4 bounces (two seeds), 0.044 and 0.043
  // after 2e5.
  const Kernel inputs = [] {
    bpm::RandomEngine engine(4, 40);
    Kernel x(12, 5);
    for (Eigen::Index i = 0; i < 12; ++i) {
      for (Eigen::Index k = 0; k < 5; ++k) x(i, k) = bpm::uniform_unit(engine);
    }
    return x;
  }();
  Kernel kernel(12, 12);
  for (Eigen::Index i = 0; i < 12; ++i) {
    for (Eigen::Index j = 0; j < 12; ++j) {
      kernel(i, j) = std::exp(-(inputs.row(i) - inputs.row(j)).squaredNorm() / 2);
    }
  }
  bpm::RandomEngine engine(1, 41);
  Eigen::VectorXd alpha(12);
  for (double& value : alpha) value = 2 * bpm::uniform_unit(engine) - 1;
  const Eigen::VectorXd outputs = kernel * alpha;
  Labels labels;
  for (const double output : outputs) labels.push_back(output > 0 ? 1 : -1);
  const bpm::Cone cone = cone_of_kernel(kernel, labels);
  const Sample truth = rejection_sample(cone, 100'000, 1);
  const Moments law = moments_of(truth.points);
  REQUIRE(norm_of(law.error) / norm_of(law.mean) < 0.008);
  std::vector<double> angles;
  for (const int bounces : {20'000, 200'000}) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      PublishedChain chain(cone, {}, bpm::LargestMargin::find(cone).position,
                           bpm::RandomEngine(seed));
      for (int n = 0; n < bounces; ++n) chain.bounce(cone);
      sum += angle(centre_of(chain, cone), law.mean) / 3;
    }
    angles.push_back(sum);
  }
  INFO("angles " << angles[0] << " and " << angles[1]);
  CHECK(angles[0] > 0.01);
  CHECK(angles[1] > 0.01);
  CHECK(angles[1] > 0.5 * angles[0]);
}

TEST_CASE("published: draws come at equal lengths of chord, a copy goes on to the bit") {
  const bpm::Cone cone = tilted_cone(12, 5, 2.0, 3);
  PublishedChain chain(cone, {.bounces_per_draw = 40}, bpm::LargestMargin::find(cone).position,
                       bpm::RandomEngine(6));
  CHECK_FALSE(chain.burn_in(cone, 1000));
  PublishedChain copy = chain;
  CHECK(chain.burn_in(cone, 1000));
  while (!copy.burn_in(cone, 3)) {
  }
  CHECK(chain.burnt() == 1024);
  CHECK(chain.weight() == 0);
  for (int n = 0; n < 100; ++n) {
    while (!chain.advance(cone, 1000)) {
    }
    while (!copy.advance(cone, 7)) {
    }
  }
  CHECK(std::equal(chain.position().begin(), chain.position().end(), copy.position().begin()));
  CHECK(chain.weight() == copy.weight());
  CHECK(std::abs(static_cast<double>(chain.bounces()) / 4000.0 - 1) < 0.15);
  CHECK(chain.refresh_length() == 0);
}

TEST_CASE("published: rank 1 stands still") {
  const bpm::Cone cone = cone_of_kernel(Kernel::Constant(1, 1, 4.0), {-1});
  PublishedChain chain(cone, {}, Numbers{-1.0}, bpm::RandomEngine(1));
  CHECK(chain.burn_in(cone, 1));
  CHECK(chain.advance(cone, 1));
  chain.bounce(cone);
  CHECK(chain.position()[0] == -1);
  CHECK(centre_of(chain, cone)[0] == -1);
}

TEST_CASE("published: between planes that are nearly parallel a run ends") {
  Kernel kernel(2, 2);
  kernel << 1, 1, 1, 1 + 1e-8;
  const Problem problem(kernel, {1, 1});
  const auto report = [&] {
    bpm::RandomStreams streams;
    return bpm::sample_version_space(
        bpm_examples::PublishedBilliard{.draws = 4, .bounces_per_draw = 10}, problem.space, streams,
        bpm::RunControl{}, [](const bpm::Draw&) {});
  }();
  CHECK(report.draws == 4);
}

TEST_CASE("published: a sampler of draws inside, whose report says nothing of the error") {
  const bpm_examples::PublishedBilliard sampler{.draws = 31, .bounces_per_draw = 50};
  const sampler_tests::Outcome outcome = sampler_tests::run(sampler, easy_problem().space);
  REQUIRE(outcome.draws.size() == 31);
  CHECK(all_inside(easy_problem(), outcome.draws));
  for (std::size_t n = 0; n < 31; ++n) CHECK(outcome.draws[n].number == n);
  CHECK(outcome.next == 31);
  const bpm::SamplerReport& report = outcome.report;
  CHECK(report.draws == 31);
  CHECK(report.converged);
  CHECK_FALSE(report.stopped);
  CHECK(report.reason.empty());
  CHECK_FALSE(report.perceptron);
  CHECK(report.chains->repairs == 0);
  CHECK(report.chains->chains == 4);
  CHECK(report.chains->rank == 4);
  CHECK(report.chains->residual >= 0);
  CHECK(report.chains->residual <= 1e-10);
  CHECK(report.chains->start_margin > 0);
  CHECK(report.chains->path_length > 0);
  CHECK(report.chains->steps > 1000);
  CHECK(report.chains->steps < 2600);
  CHECK(std::isinf(report.chains->standard_error));
  CHECK(report.chains->effective_draws == 0);
  CHECK(report.chains->burn_in == 4 * 1024);
  CHECK(report.chains->refresh_length == 0);
}

TEST_CASE("published: two draws and four more are six, to the bit; so is the centre") {
  for (const unsigned chains : {1U, 2U, 3U}) {
    bpm_examples::PublishedBilliard sampler{.draws = 6, .bounces_per_draw = 30, .chains = chains};
    Continued<bpm_examples::PublishedBilliard> whole;
    whole.go_on(sampler, easy_problem().space);
    Continued<bpm_examples::PublishedBilliard> parts;
    sampler.draws = 2;
    parts.go_on(sampler, easy_problem().space);
    const std::uint64_t bounces = parts.report.chains->steps;
    parts.go_on(sampler.with_draws(4), easy_problem().space);
    CHECK(whole.draws == parts.draws);
    CHECK(whole.streams == parts.streams);
    CHECK(whole.state.centre().coefficients == parts.state.centre().coefficients);
    CHECK(whole.state.centre().norm == parts.state.centre().norm);
    CHECK(whole.report.chains->path_length == parts.report.chains->path_length);
    CHECK(whole.report.chains->start_margin == parts.report.chains->start_margin);
    CHECK(whole.report.chains->steps == bounces + parts.report.chains->steps);
  }
}

TEST_CASE("published: the same draws on one, two and three threads") {
  const bpm_examples::PublishedBilliard sampler{.draws = 20, .bounces_per_draw = 30, .chains = 3};
  const auto on = [&](unsigned threads) {
    return sampler_tests::run(sampler, easy_problem().space, sampler_tests::on_threads(threads));
  };
  const sampler_tests::Outcome one = on(1);
  for (const unsigned threads : {2U, 3U}) {
    const sampler_tests::Outcome more = on(threads);
    CHECK(one.draws == more.draws);
    CHECK(one.report.chains->steps == more.report.chains->steps);
  }
}

TEST_CASE("published: in rank 1 there is one classifier") {
  const Problem line(Kernel::Ones(3, 3), {-1, -1, -1});
  const bpm_examples::PublishedBilliard sampler{.draws = 9};
  const sampler_tests::Outcome outcome = sampler_tests::run(sampler, line.space);
  REQUIRE(outcome.draws.size() == 9);
  CHECK(all_inside(line, outcome.draws));
  CHECK(outcome.draws.front().outputs == outcome.draws.back().outputs);
  CHECK(std::abs(outcome.report.chains->mean_norm - 1) <= 1e-12);
  CHECK(outcome.report.chains->standard_error <= 1e-12);
  CHECK(outcome.report.chains->chain_angle <= 1e-12);
  CHECK(sampler_tests::run(bpm_examples::PublishedBilliard{.bounces = 5000}, line.space)
            .report.converged);
}
