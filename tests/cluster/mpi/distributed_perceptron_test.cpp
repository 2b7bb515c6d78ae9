// SPDX-License-Identifier: MIT
// On every rank at once: each also fits alone, as one process does, and compares.
#include "bpm/cluster/distributed_perceptron.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"
#include "hard.hpp"
#include "message_of.hpp"
#include "rank_problems.hpp"

using namespace rank_tests;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;

namespace {

/// Every problem of every draw is in exactly one piece.
void check_cover(const std::vector<bpm::detail::DrawPiece>& pieces, std::uint64_t begin,
                 std::uint64_t end, std::size_t problems) {
  std::vector<int> times((end - begin) * problems, 0);
  for (const bpm::detail::DrawPiece& piece : pieces) {
    for (std::size_t c = 0; c < piece.count; ++c) {
      ++times.at((piece.number - begin) * problems + piece.first + c);
    }
  }
  for (const int count : times) CHECK(count == 1);
}

}  // namespace

TEST_CASE("draws are planned whole unless there are more workers") {
  using bpm::detail::plan_pieces;
  auto pieces = plan_pieces(5, 9, 10, 4);
  REQUIRE(pieces.size() == 4);
  CHECK(pieces[3] == bpm::detail::DrawPiece{8, 0, 10, 3});
  check_cover(pieces, 5, 9, 10);
  for (bpm::detail::DrawPiece& piece : pieces) piece.rank = 0;
  CHECK(plan_pieces(5, 9, 10, 1) == pieces);

  pieces = plan_pieces(0, 2, 10, 7);  // Four workers for draw 0, three for draw 1.
  REQUIRE(pieces.size() == 7);
  check_cover(pieces, 0, 2, 10);
  CHECK(pieces[0] == bpm::detail::DrawPiece{0, 0, 2, 0});
  CHECK(pieces[4] == bpm::detail::DrawPiece{1, 0, 3, 4});

  pieces = plan_pieces(0, 1, 3, 100);  // No more than the problems.
  CHECK(pieces.size() == 3);
  check_cover(pieces, 0, 1, 3);
}

TEST_CASE("ranks fit the model of one process, bit for bit") {
  const Problem problem = make_problem();
  for (const std::uint64_t draws : {1U, 2U, 4U, 7U}) {
    bpm::FitSettings settings = one_thread(draws);
    settings.keep_draws = draws == 7;
    if (draws == 4) settings.threads = 3;
    const bpm::PermutedPerceptron one{.draws = draws, .margin = draws == 2 ? 0.1 : 0.0};
    const auto alone = fit(one, problem, settings);
    const auto fitted = fit(bpm::DistributedPerceptron{one}, problem, settings);
    CAPTURE(draws);
    CHECK(bits_of(fitted) == bits_of(alone));
    CHECK(fitted.forecast().strategy == bpm::Strategy::windowed);
    if (draws == 2) {
      const auto dense = fit_dense(bpm::DistributedPerceptron{one}, problem);
      CHECK(dense.forecast().strategy == bpm::Strategy::dense);
      CHECK(bits_of(dense) == bits_of(fit_dense(one, problem)));
    }
    CHECK(same_on_all(bits_of(fitted)));
    CHECK(same_on_all(fitted.report().kernel_evaluations));
    if (draws == 7) {
      CHECK(fitted.draw_decision_values(problem.inputs) ==
            alone.draw_decision_values(problem.inputs));
      // Twenty rows each rank for the digest.
      CHECK(fitted.report().kernel_evaluations == alone.report().kernel_evaluations + 4 * 20 * 240);
      CHECK(fitted.report().kernel_seconds > 0);
      // Added draws, too, are those of one longer run.
      auto training = bpm::OneVsRest(bpm::BayesPointMachine(kernel, bpm::DistributedPerceptron{one},
                                                            test_support::hard(settings)))
                          .train(problem.inputs, problem.labels);
      training.add_draws(3);
      bpm::PermutedPerceptron longer = one;
      longer.draws = 10;
      CHECK(bits_of(training.classifier()) == bits_of(fit(longer, problem, settings)));
    }
  }
}

TEST_CASE("two classes, and an order of its own communicator") {
  Problem problem = make_problem();
  for (int& label : problem.labels) label = label == 4 ? 1 : -1;
  MPI_Comm reversed{};
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank(), &reversed);
  const bpm::PermutedPerceptron one{.draws = 3};
  const auto alone = fit(one, problem);
  const auto fitted = fit(bpm::DistributedPerceptron{one, reversed}, problem);
  REQUIRE(fitted.support() == alone.support());
  CHECK(bits_of(fitted) == bits_of(alone));
  MPI_Comm_free(&reversed);
}

TEST_CASE("ranks choose the same soft boundary, and none stops alone meanwhile") {
  const Problem problem = make_problem();
  const bpm::PermutedPerceptron one{.draws = 3};
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::automatic(), .threads = 1};
  const auto fit_with = [&](const auto& sampler, auto&& observer) {
    return bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler, settings))
        .fit(problem.inputs, problem.labels, observer);
  };
  const auto watch = [](const bpm::Progress&) {};
  const auto alone = fit_with(one, watch);
  const auto fitted = fit_with(bpm::DistributedPerceptron{one}, watch);
  CHECK(bits_of(fitted) == bits_of(alone));
  CHECK(fitted.notes.boundary->relative_lambda == alone.notes.boundary->relative_lambda);
  // A rank that says so once, while it computes alone, stops all when they meet.
  bool asked = false;
  bool stopped = false;
  const std::string early = message_of([&] {
    stopped = fit_with(bpm::DistributedPerceptron{{.draws = 1000}},
                       [&](const bpm::Progress& now) {
                         if (asked || rank() != 1) return true;
                         CHECK(now.stage == "choosing the soft boundary");
                         asked = true;
                         return false;
                       })
                  .report()
                  .stopped;
  });
  CHECK(asked == (rank() == 1));
  CHECK((stopped || early.find("stopped before the first draw") != std::string::npos));
  CHECK(same_text_on_all(early));
}

TEST_CASE("any rank's observer stops all") {
  const Problem problem = make_problem();
  const bpm::DistributedPerceptron sampler{{.draws = 1000}};
  const auto machine = windowed_machine(kernel, sampler);
  std::uint64_t seen = 0;
  const auto fitted = machine.fit(problem.inputs, problem.labels, [&](const bpm::Progress& now) {
    CHECK(now.draws_total == 1000);
    CHECK(now.draws >= seen);
    seen = now.draws;
    return rank() != 2 || now.draws < 8;
  });
  CHECK(fitted.report().stopped);
  CHECK(fitted.report().draws >= 8);
  CHECK(fitted.report().draws < 1000);
  CHECK(same_on_all(fitted.report().draws));
  const auto alone = fit(bpm::PermutedPerceptron{.draws = fitted.report().draws}, problem);
  CHECK(bits_of(fitted) == bits_of(alone));

  const std::string early = message_of([&] {
    static_cast<void>(machine.fit(problem.inputs, problem.labels,
                                  [&](const bpm::Progress&) { return rank() != 1; }));
  });
  CHECK_THAT(early, ContainsSubstring("stopped before the first draw") ||
                        ContainsSubstring("nothing was thrown"));
  CHECK(same_text_on_all(early));
}

TEST_CASE("what cannot be separated is the same error on all ranks") {
  Problem problem = make_problem();
  // Two points that nearly coincide, of different classes: more passes than are allowed.
  problem.inputs.row(1) = problem.inputs.row(0);
  problem.inputs(1, 0) += 1e-4F;
  problem.labels[0] = 4;
  problem.labels[1] = 5;
  for (const std::uint64_t draws : {6U, 1U}) {
    const bpm::PermutedPerceptron one{.draws = draws, .max_passes = 5};
    const std::string alone = message_of([&] { static_cast<void>(fit(one, problem)); });
    CHECK_THAT(alone, ContainsSubstring("soft boundary"));
    const bpm::DistributedPerceptron sampler{one};
    CHECK_THROWS_AS(fit(sampler, problem), bpm::NotSeparable);
    const std::string message = message_of([&] { static_cast<void>(fit(sampler, problem)); });
    CHECK(same_text_on_all(message));
    if (draws == 6) {
      CHECK(message == alone);
    } else {
      CHECK_THAT(message, ContainsSubstring("draw 0 still made") &&
                              ContainsSubstring("among problems ") && ContainsSubstring(" of 3"));
    }
  }
}

TEST_CASE("ranks that disagree are told so, all of them, at the start") {
  struct Case {
    const char* what;
    std::function<void(Problem&, bpm::FitSettings&, bpm::DistributedPerceptron&)> change;
  };
  const std::vector<Case> cases{
      {"labels", [](auto& p, auto&, auto&) { std::swap(p.labels[7], p.labels[8]); }},
      {"inputs or kernel", [](auto& p, auto&, auto&) { p.inputs(100, 3) += 1e-6F; }},
      {"soft boundary",
       [](auto&, auto& s, auto&) { s.soft_boundary = bpm::SoftBoundary::uniform(0.5); }},
      {"seed", [](auto&, auto& s, auto&) { s.seed = 9; }},
      {"margin", [](auto&, auto&, auto& d) { d.margin = 0.25; }},
      {"draws", [](auto&, auto&, auto& d) { d.draws = 3; }},
      {"max_passes", [](auto&, auto&, auto& d) { d.max_passes = 77; }},
      {"number of points",
       [](auto& p, auto&, auto&) {
         p.inputs = Inputs(p.inputs.topRows(200));
         p.labels.resize(200);
       }},
  };
  const std::vector<int> labels = make_problem().labels;
  for (const Case& one : cases) {
    CAPTURE(one.what);
    Problem problem = make_problem();
    bpm::FitSettings settings = one_thread();
    bpm::DistributedPerceptron sampler{{.draws = 2}};
    if (rank() == 2) one.change(problem, settings, sampler);
    const auto call = [&] { static_cast<void>(fit(sampler, problem, settings)); };
    CHECK_THROWS_AS(call(), std::invalid_argument);
    const std::string message = message_of(call);
    CHECK_THAT(message, ContainsSubstring(one.what) &&
                            ContainsSubstring("of rank 2 differ from those of rank 0"));
    CHECK(same_text_on_all(message));
  }

  // Another kernel on the same inputs.
  const Problem problem = make_problem();
  const auto other = bpm::Gaussian::from_sigma(rank() == 1 ? 0.41 : 0.4);
  const auto machine = windowed_machine(other, bpm::DistributedPerceptron{{.draws = 2}});
  const std::string message =
      message_of([&] { static_cast<void>(machine.fit(problem.inputs, problem.labels)); });
  CHECK_THAT(message, ContainsSubstring("inputs or kernel of rank 1 differ from those of rank 0"));
}

TEST_CASE("bad settings on one rank are an error of all") {
  const Problem problem = make_problem();
  bpm::DistributedPerceptron sampler{{.draws = 2}};
  const bpm::detail::OnDemandGram<bpm::Gaussian, Inputs> gram(kernel, problem.inputs);
  std::vector<signed char> signs(240, 1);
  const bpm::KernelVersionSpace<Inputs::Scalar> space(gram, signs);
  if (rank() == 3) sampler.margin = -1;
  const auto call = [&](auto&& sink) {
    bpm::RandomStreams streams;
    return bpm::sample_version_space(sampler, space, streams, bpm::RunControl{}, sink);
  };
  const std::string message = message_of([&] { call([](const bpm::Draw&) {}); });
  CHECK_THAT(message, ContainsSubstring("margin is -1"));
  CHECK(same_text_on_all(message));
  sampler.margin = 0;

  // As a plain sampler: the draws of one process.
  double sum = 0;
  const bpm::SamplerReport report = call([&](const bpm::Draw& draw) { sum += draw.outputs[5]; });
  CHECK(report.converged);
  double expected = 0;
  bpm::RandomStreams streams;
  static_cast<void>(bpm::sample_version_space(
      bpm::PermutedPerceptron{.draws = 2}, space, streams, bpm::RunControl{},
      [&](const bpm::Draw& d) { expected += d.outputs[5]; }));
  CHECK(sum == expected);
}

TEST_CASE("an error in one rank's draw is thrown on all ranks") {
  const Problem problem = make_problem();
  // Rank 1 alone meets a kernel that fails once training is on its way.
  int calls = 0;
  const auto fragile = [&](const auto& a, const auto& b) {
    if (rank() == 1 && ++calls > 5000) throw std::runtime_error("the file behind it is gone");
    return std::exp(-static_cast<double>((a - b).squaredNorm()) / 0.32);
  };
  const auto machine = windowed_machine(fragile, bpm::DistributedPerceptron{{.draws = 8}});
  const auto call = [&] {
    calls = 0;
    static_cast<void>(machine.fit(problem.inputs, problem.labels));
  };
  CHECK_THROWS_AS(call(), bpm::RankError);
  CHECK(message_of(call) == "rank 1: the file behind it is gone");
}

TEST_CASE("memory that a run says it takes covers the sums and messages") {
  const bpm::DistributedPerceptron sampler{{.draws = 4}};
  const auto plain = static_cast<const bpm::PermutedPerceptron&>(sampler);
  CHECK(sampler.memory_need({1000, 10, 2, 4}).bytes ==
        plain.memory_need({1000, 10, 2, 4}).bytes + 14 * 8 * 1000);
}
