// SPDX-License-Identifier: MIT
#include "mnist/fit_each_draw.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/version_space/soft_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"
#include "message_of.hpp"

using namespace machine_tests;
using bpm_examples::DrawSet;
using bpm_examples::fit_each_draw;

namespace {

constexpr std::ptrdiff_t shared = 60;

auto each_draw_machine(std::uint64_t draws, bpm::FitSettings settings = {}) {
  return bpm::OneVsRest(bpm::BayesPointMachine(bpm::Polynomial(3),
                                               bpm::PermutedPerceptron{.draws = draws},
                                               test_support::hard(std::move(settings))));
}

/// Sixty points that all draws have, and as many of the draw's own.
DrawSet<Doubles> triangle_set(std::uint64_t draw) {
  DrawSet<Doubles> set;
  set.inputs.resize(2 * shared, 2);
  set.inputs.topRows(shared) = triangle(shared, 1);
  set.inputs.bottomRows(shared) = triangle(shared, 100 + draw);
  set.labels = three_labels(2 * shared);
  for (std::ptrdiff_t i = 0; i < 2 * shared; ++i) {
    const std::ptrdiff_t block = i < shared ? 0 : static_cast<std::ptrdiff_t>(draw) * shared;
    set.numbers.push_back(static_cast<bpm::PointIndex>(i + block));
  }
  return set;
}

}  // namespace

TEST_CASE("draws with sets of their own: the mean of consistent classifiers of norm 1") {
  const auto fitted = fit_each_draw(each_draw_machine(4, {.keep_draws = true}), triangle_set);
  CHECK(fitted.report().draws == 4);
  CHECK(fitted.report().converged);
  CHECK(fitted.report().mistaken_points.size() == 4);
  REQUIRE(fitted.parts().draw_numbers.size() == 4);
  // Each point of the support is one input of one number.
  CHECK(std::ranges::is_sorted(fitted.support(), std::ranges::less_equal()));
  std::set<std::uint64_t> owners;
  for (std::size_t s = 0; s < fitted.support().size(); ++s) {
    const std::ptrdiff_t number = fitted.support()[s];
    const std::uint64_t draw =
        number < 2 * shared ? 0 : static_cast<std::uint64_t>(number / shared - 1);
    owners.insert(draw);
    const Doubles inputs = triangle_set(draw).inputs;
    const std::ptrdiff_t row = number < shared ? number : shared + number % shared;
    CHECK(fitted.parts().inputs.row(static_cast<Eigen::Index>(s)) == inputs.row(row));
  }
  CHECK(owners.size() == 4);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(2 * shared, 3);
  const Doubles others = triangle(2 * shared, 9, 1.0);
  const Eigen::MatrixXd at_others = fitted.draw_decision_values(others);
  for (std::uint64_t j = 0; j < 4; ++j) {
    const DrawSet<Doubles> set = triangle_set(j);
    const Eigen::MatrixXd values =
        fitted.draw_decision_values(set.inputs).middleCols(static_cast<Eigen::Index>(3 * j), 3);
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      for (Eigen::Index c = 0; c < 3; ++c) {
        const double sign = set.labels[i] == fitted.classes()[c] ? 1 : -1;
        CHECK(sign * values(i, c) > 0);  // Its set's version space.
      }
    }
    sum += at_others.middleCols(static_cast<Eigen::Index>(3 * j), 3);
    // norm(w_j) = 1 by the kernel itself.
    const Doubles products = fitted.parts().inputs * fitted.parts().inputs.transpose();
    const Doubles kernel = (products.array() + 1).cube();
    for (Eigen::Index c = 0; c < 3; ++c) {
      const Eigen::VectorXd alpha =
          fitted.parts().draw_coefficients.col(static_cast<Eigen::Index>(3 * j) + c);
      CHECK(std::abs(alpha.dot(kernel * alpha) - 1) < 1e-12);
    }
  }
  CHECK((fitted.decision_values(others) - sum / 4).cwiseAbs().maxCoeff() < 1e-13);
  // The mean lies where all sets agree: in the version space of the shared points.
  CHECK(fitted.predict(triangle(shared, 1)) == three_labels(shared));
}

TEST_CASE("draws with sets of their own: all have the bias of the first set") {
  // On a line, all on one side of the origin: none but a threshold tells the classes apart.
  const auto make_set = [](std::uint64_t draw) {
    DrawSet<Doubles> set{Doubles(6, 1), {1, 1, 1, 2, 2, 2}};
    set.inputs << 1, 2, 3, 7, 8, 9;
    set.inputs.array() += 0.25 * static_cast<double>(draw);
    for (int i = 0; i < 6; ++i) {
      set.numbers.push_back(static_cast<bpm::PointIndex>(6 * draw) + i);
    }
    return set;
  };
  for (const auto& [given, units] : {std::pair{std::optional<double>{}, bpm::default_bias},
                                     std::pair{std::optional<double>{0.5}, 0.5}}) {
    const bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::hard(),
                                    .bias = given,
                                    .keep_draws = true,
                                    .chosen = true};
    const auto fitted =
        fit_each_draw(bpm::OneVsRest(bpm::BayesPointMachine(
                          bpm::Linear{}, bpm::PermutedPerceptron{.draws = 3}, settings)),
                      make_set);
    const double bias = units * make_set(0).inputs.squaredNorm() / 6;
    CHECK(std::abs(fitted.parts().bias - bias) < 1e-12 * bias);
    CHECK(fitted.notes.chosen);
    const Doubles& support = fitted.parts().inputs;
    const Doubles kernel = (support * support.transpose()).array() + bias;
    Doubles others(20, 1);
    others.col(0).setLinSpaced(0, 10);
    const Eigen::MatrixXd at_others = fitted.draw_decision_values(others);
    for (std::uint64_t j = 0; j < 3; ++j) {
      const DrawSet<Doubles> set = make_set(j);
      const Eigen::VectorXd values =
          fitted.draw_decision_values(set.inputs).col(static_cast<Eigen::Index>(j));
      CHECK((values.head(3).array() < 0).all());
      CHECK((values.tail(3).array() > 0).all());
      const Eigen::VectorXd alpha =
          fitted.parts().draw_coefficients.col(static_cast<Eigen::Index>(j));
      CHECK(std::abs(alpha.dot(kernel * alpha) - 1) < 1e-12);
    }
    CHECK((fitted.decision_values(others) - at_others.rowwise().mean()).cwiseAbs().maxCoeff() <
          1e-13);
  }
}

TEST_CASE("draws with sets of their own: the same bits by any threads, others by another seed") {
  const auto one = fit_each_draw(each_draw_machine(3, {.threads = 1}), triangle_set);
  const auto two = fit_each_draw(each_draw_machine(3, {.threads = 3}), triangle_set);
  const auto other = fit_each_draw(each_draw_machine(3, {.seed = 2}), triangle_set);
  CHECK(one.coefficients() == two.coefficients());
  CHECK(one.support() == two.support());
  CHECK((one.support() != other.support() || one.coefficients() != other.coefficients()));
  CHECK(one.notes.seed == 1);
  // Fewer draws are the first of more.
  const auto kept = fit_each_draw(each_draw_machine(3, {.keep_draws = true}), triangle_set);
  const auto first = fit_each_draw(each_draw_machine(1), triangle_set);
  const Doubles others = triangle(30, 9, 1.0);
  CHECK(
      kept.draw_decision_values(others).leftCols(3).isApprox(first.decision_values(others), 1e-13));
}

TEST_CASE("draws with sets of their own: what is wrong is named") {
  using test_support::message_of;
  const auto machine = each_draw_machine(2);
  const auto changed = [&](const std::function<void(DrawSet<Doubles>&)>& change) {
    return message_of([&] {
      static_cast<void>(fit_each_draw(machine, [&](std::uint64_t draw) {
        DrawSet<Doubles> set = triangle_set(draw);
        if (draw == 1) change(set);
        return set;
      }));
    });
  };
  CHECK(changed([](auto& set) { set.numbers.pop_back(); }) ==
        "fit_each_draw: numbers has 119 entries, expected 120 (one per input, or none)");
  CHECK(changed([](auto& set) { std::swap(set.numbers[3], set.numbers[4]); }) ==
        "fit_each_draw: numbers of draw 1 do not ascend from 0 on");
  CHECK(changed([](auto& set) { set.numbers[0] = -1; }) ==
        "fit_each_draw: numbers of draw 1 do not ascend from 0 on");
  CHECK(changed([](auto& set) {
          for (int& label : set.labels) label = label == 40 ? 41 : label;
        }) == "fit_each_draw: make_set gives draw 1 other classes than draw 0");
  CHECK(changed([](auto& set) {
          set.inputs.conservativeResize(Eigen::NoChange, 3);
          set.inputs.col(2).setZero();
        }) == "fit_each_draw: make_set gives draw 1 3 columns, draw 0 has 2");
  // A number of two inputs, both of which are needed: each is the only one of its class.
  CHECK(message_of([&] {
          static_cast<void>(fit_each_draw(machine, [](std::uint64_t draw) {
            DrawSet<Doubles> set{Doubles(2, 1), {1, 2}};
            set.inputs << 1 + static_cast<double>(draw), -1;
            return set;
          }));
        }) == "fit_each_draw: make_set gives draw 1 another input by the number 0 than draw 0");
  CHECK(message_of([] {
          static_cast<void>(
              fit_each_draw(each_draw_machine(2, {.standardise = true}), triangle_set));
        }) ==
        "fit_each_draw: standardise is true, must be false: sets differ in their means and "
        "deviations");
  CHECK(message_of([] {
          const bpm::OneVsRest automatic{bpm::BayesPointMachine(bpm::Polynomial(3))};
          static_cast<void>(fit_each_draw(automatic, triangle_set));
        }) ==
        "fit_each_draw: soft_boundary is automatic: every draw would choose another; give one, or "
        "SoftBoundary::hard()");
}

TEST_CASE("draws with sets of their own: stopped, the finished ones; before the first, an error") {
  const auto stop_at = [](std::uint64_t finished) {
    return fit_each_draw(each_draw_machine(5), triangle_set, [&](const bpm::Progress& now) {
      CHECK(now.draws_total == 5);
      return now.draws < finished;
    });
  };
  const auto stopped = stop_at(2);
  CHECK(stopped.report().stopped);
  CHECK_FALSE(stopped.report().converged);
  CHECK(stopped.report().reason == "stopped");
  CHECK(stopped.report().draws == 2);
  CHECK(stopped.coefficients() == fit_each_draw(each_draw_machine(2), triangle_set).coefficients());
  CHECK_THROWS_AS(stop_at(0), bpm::Stopped);
}
