// SPDX-License-Identifier: MIT
#include "bpm/machine/fit_warnings.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "noisy_points.hpp"
#include "standardising.hpp"

using bpm::BayesPointMachine;
using bpm::FitSettings;
using bpm::FitWarning;
using bpm::Gaussian;
using bpm::OneVsRest;
using bpm::SoftBoundary;
using Kind = bpm::FitWarning::Kind;

namespace {

template <class Fitted>
std::vector<Kind> kinds(const Fitted& fitted) {
  std::vector<Kind> found;
  for (const FitWarning& warning : fitted.notes.warnings) found.push_back(warning.kind);
  return found;
}

bool has(const std::vector<Kind>& found, Kind kind) {
  return std::find(found.begin(), found.end(), kind) != found.end();
}

/// A sampler of a user's, as in docs/how-to.md: perceptrons over the points in their order, one
/// pass and no more, each from another first point.
struct SinglePass {
  std::uint64_t draws = 20;

  static constexpr bpm::SamplerTraits traits{.admits_training_errors = true,
                                             .computes_blocks = true};
  void check_settings() const {}
  SinglePass with_draws(std::uint64_t count) const { return {count}; }
  bpm::MemoryNeed memory_need(const bpm::RunSize&) const { return {}; }

  template <bpm::VersionSpace Space, class Sink>
  bpm::SamplerReport sample(std::span<const Space> spaces, bpm::RandomStreams& streams,
                            const bpm::RunControl&, Sink&& sink) const {
    bpm::SamplerReport report{.converged = true};
    const Space& space = spaces.front();
    const auto m = static_cast<std::size_t>(space.size());
    for (; report.draws < draws; ++report.draws, ++streams.next) {
      bpm::RandomEngine engine = streams.stream(streams.next);
      const std::size_t first = bpm::uniform_below(engine, static_cast<std::uint32_t>(m));
      typename Space::Scratch scratch;
      std::vector<double> alpha(m, 0.0);
      std::vector<double> outputs(m, 0.0);
      std::vector<bpm::PointIndex> support(m);
      double squared = 0;
      for (std::size_t step = 0; step < m; ++step) {
        const std::size_t i = (first + step) % m;
        const auto point = static_cast<std::ptrdiff_t>(i);
        if (space.label(point) * outputs[i] > 0) continue;
        alpha[i] += space.label(point);
        space.add_row(point, space.label(point), outputs, scratch);
      }
      for (std::size_t i = 0; i < m; ++i) squared += alpha[i] * outputs[i];
      for (std::size_t i = 0; i < m; ++i) {
        support[i] = static_cast<bpm::PointIndex>(i);
        alpha[i] /= std::sqrt(squared);
        outputs[i] /= std::sqrt(squared);
      }
      sink(bpm::Draw{streams.next, 0, support, alpha, outputs});
    }
    return report;
  }
};

/// n points of two classes in turn, and a mean that gets n / 2 of them wrong.
struct HalfWrong {
  std::vector<int> labels;
  bpm::detail::Subproblems problems;
  std::vector<bpm::detail::DrawMean> means;
  std::vector<std::size_t> own;

  explicit HalfWrong(int n)
      : labels(labels_of(n)), problems({0, 1}, labels), own{static_cast<std::size_t>(n) / 2} {
    problems.lambda = std::make_shared<const std::vector<double>>();
    std::vector<double> outputs;
    for (int i = 0; i < n; ++i) outputs.push_back((i % 2 == 1) == (i < n / 2) ? 1.0 : -1.0);
    means.emplace_back(n, false);
    means[0].set_centre(
        {.coefficients = std::vector<double>(outputs.size(), 0.0), .outputs = outputs});
  }
  static std::vector<int> labels_of(int n) {
    std::vector<int> result;
    for (int i = 0; i < n; ++i) result.push_back(i % 2);
    return result;
  }
  [[nodiscard]] std::vector<FitWarning> warnings(double of_draws, std::vector<double> shifts = {},
                                                 bool weighted = false) const {
    return bpm::detail::fit_warnings(problems, means, own, of_draws, std::nullopt, labels, shifts,
                                     weighted);
  }
};

}  // namespace

TEST_CASE("a Bayes point that is worse than its draws is said to be so", "[machine]") {
  // On a line, with a few points far out and no pattern: a draw says one class to all, and their
  // mean the class of the few large outputs.
  bpm::RandomEngine engine(46, 0);
  bpm::NormalDraws normal;
  bpm::RowMatrix<double> inputs(50, 1);
  std::vector<int> labels(50);
  for (int i = 0; i < 50; ++i) {
    inputs(i, 0) = std::exp(2 * normal(engine));
    labels[i] = bpm::uniform_below(engine, std::uint32_t{5}) == 0 ? 1 : 0;
  }
  const auto fitted =
      BayesPointMachine(bpm::Linear{}, SinglePass{}, {.seed = 1, .bias = 1}).fit(inputs, labels);
  REQUIRE(has(kinds(fitted), Kind::worse_than_its_draws));
  const FitWarning& warning = fitted.notes.warnings.front();
  CHECK(warning.found > 2 * warning.compared);
  CHECK(warning.found > warning.compared + 2 * warning.standard_error);
  CHECK(warning.found == static_cast<double>(fitted.training_errors()) / 50);
}

TEST_CASE("a width that is not of the inputs that are fitted is said, with its cure",
          "[machine][at length]") {
  auto points = test_support::noisy_rings(120, 3, 0.1);
  bpm::RowMatrix<float> raw = points.inputs;
  raw.col(0) *= 1000;  // In a unit of its own: all distances are of this column.
  // As the how-to's table was read: the median of the raw inputs, for standardised ones.
  const auto wrong =
      test_support::standardising(OneVsRest(BayesPointMachine(Gaussian::from_median(raw))));
  const auto fitted = wrong.fit(raw, points.labels);
  REQUIRE(has(kinds(fitted), Kind::width_far_from_distances));
  const FitWarning& warning = fitted.notes.warnings.front();
  const bpm::RowMatrix<float> scaled = bpm::Standardisation::of(raw).apply(raw);
  CHECK(warning.found == Approx(bpm::median_distance(raw)));
  CHECK(warning.compared == Approx(bpm::median_distance(scaled)));
  CHECK(warning.found > 100 * warning.compared);
  CHECK(warning.what() ==
        "the Gaussian's width is far from the distances of the inputs that were fitted: take "
        "Gaussian::from_median of these inputs, where a machine standardises of "
        "Standardisation::of(inputs).apply(inputs)");
  const auto right =
      test_support::standardising(OneVsRest(BayesPointMachine(Gaussian::from_median(scaled))));
  const auto cured = right.fit(raw, points.labels);
  CHECK_FALSE(has(kinds(cured), Kind::width_far_from_distances));
  CHECK(cured.training_errors() < fitted.training_errors());
  // In the other direction, of a kernel known at run time, and of expectation propagation.
  const bpm::RuntimeKernel narrow(Gaussian::from_median(scaled, 0.02));
  CHECK(has(kinds(OneVsRest(BayesPointMachine(narrow)).fit(scaled, points.labels)),
            Kind::width_far_from_distances));
  const OneVsRest by_evidence(
      BayesPointMachine(Gaussian::from_median(scaled, 100), bpm::ExpectationPropagation{}));
  CHECK(has(kinds(by_evidence.fit(scaled, points.labels)), Kind::width_far_from_distances));
  // Widths that choosing tries have none; nor have other kernels.
  for (const double factor : {0.05, 0.25, 1.0, 4.0}) {
    CHECK_FALSE(has(kinds(OneVsRest(BayesPointMachine(Gaussian::from_median(scaled, factor)))
                              .fit(scaled, points.labels)),
                    Kind::width_far_from_distances));
  }
  CHECK_FALSE(has(kinds(OneVsRest(BayesPointMachine(bpm::Linear{})).fit(raw, points.labels)),
                  Kind::width_far_from_distances));
}

TEST_CASE("a column in units of its own is named, and silent once it is standardised",
          "[machine]") {
  const auto [inputs, labels] = test_support::noisy_rings(120, 2, 0.05);
  bpm::RowMatrix<double> wide(inputs.rows(), inputs.cols() + 2);
  wide.leftCols(inputs.cols()) = inputs.cast<double>();
  wide.col(inputs.cols()).setConstant(3);  // Of no unit at all.
  for (Eigen::Index i = 0; i < wide.rows(); ++i) {
    wide(i, inputs.cols() + 1) = static_cast<double>(i);  // The number of a row.
  }
  const OneVsRest machine(BayesPointMachine(Gaussian::from_median(wide)));
  const auto fitted = machine.fit(wide, labels);
  const auto& warnings = fitted.notes.warnings;
  const auto found = std::ranges::find(warnings, Kind::columns_differ_in_scale, &FitWarning::kind);
  REQUIRE(found != warnings.end());
  CHECK(found->label == static_cast<int>(inputs.cols()) + 1);
  CHECK(found->found == Approx(std::sqrt((120.0 * 120 - 1) / 12)));
  CHECK(found->compared < found->found / 10);
  CHECK(found->what().find("standardise") != std::string_view::npos);
  CHECK(has(
      kinds(OneVsRest(BayesPointMachine(Gaussian::from_median(wide), bpm::ExpectationPropagation{}))
                .fit(wide, labels)),
      Kind::columns_differ_in_scale));
  CHECK_FALSE(has(kinds(test_support::standardising(machine).fit(wide, labels)),
                  Kind::columns_differ_in_scale));
  // Nine times as much is no other unit.
  wide.col(inputs.cols() + 1) = 9 * wide.col(0);
  CHECK_FALSE(has(kinds(machine.fit(wide, labels)), Kind::columns_differ_in_scale));
}

TEST_CASE("labels without any pattern are said to be so", "[machine]") {
  const auto points = test_support::noisy_stripes(200, 2, 0.5, 3);
  const auto fitted = BayesPointMachine(Gaussian::from_width(3)).fit(points.inputs, points.labels);
  CHECK(has(kinds(fitted), Kind::no_better_than_largest_class));
  const FitWarning& warning = fitted.notes.warnings.back();
  CHECK(warning.found + 2 * warning.standard_error > warning.compared);
  CHECK(warning.what().find("hardly better") == 0);
  // Without folds the draws' errors on the training set tell, where lambda lets them be many.
  const auto soft = BayesPointMachine(Gaussian::from_width(50), {},
                                      {.soft_boundary = SoftBoundary::relative(100)})
                        .fit(points.inputs, points.labels);
  CHECK(has(kinds(soft), Kind::no_better_than_largest_class));
  // So do those of chains; but not where label noise lets them err.
  const FitSettings softly{.soft_boundary = SoftBoundary::relative(100)};
  const auto by_chains =
      BayesPointMachine(Gaussian::from_width(50), bpm::Billiard{.draws = 20}, softly)
          .fit(points.inputs, points.labels);
  CHECK(has(kinds(by_chains), Kind::no_better_than_largest_class));
  const auto clear = test_support::noisy_stripes(200, 2, 0.05, 3);
  const bpm::KernelGibbs gibbs{.draws = 20, .label_noise = 0.3};
  const auto noisy =
      BayesPointMachine(Gaussian::from_width(1), gibbs, {.soft_boundary = SoftBoundary::hard()})
          .fit(clear.inputs, clear.labels);
  CHECK(noisy.report().chains->mean_errors > 20);
  CHECK(noisy.notes.warnings.empty());
}

TEST_CASE("a class that is never predicted is named", "[machine]") {
  auto points = test_support::noisy_stripes(200, 2, 0.0, 3);
  for (int i = 0; i < 200; ++i) points.labels[i] = 0;
  for (int i = 0; i < 3; ++i) points.labels[i * 60] = 7;
  const auto fitted = BayesPointMachine(Gaussian::from_width(50), {},
                                        {.soft_boundary = SoftBoundary::relative(1000)})
                          .fit(points.inputs, points.labels);
  REQUIRE(has(kinds(fitted), Kind::class_never_predicted));
  for (const FitWarning& warning : fitted.notes.warnings) {
    if (warning.kind == Kind::class_never_predicted) {
      CHECK(warning.label == 7);
      CHECK(warning.compared == Approx(3.0 / 200));
    }
  }
}

TEST_CASE("a Bayes point that is worse than its draws, on numbers of its own", "[machine]") {
  const HalfWrong points(20);
  const auto found = [&](double of_draws) { return points.warnings(of_draws); };
  // 0.5 with a standard error of 0.11: above twice 0.2 and 0.2 + 0.22, not above twice 0.3.
  REQUIRE(found(4).size() == 1);
  CHECK(found(4)[0].kind == Kind::worse_than_its_draws);
  CHECK(found(4)[0].found == 0.5);
  CHECK(found(4)[0].compared == 0.2);
  CHECK(found(4)[0].standard_error == Approx(std::sqrt(0.25 / 20)));
  for (const FitWarning& warning : found(6)) CHECK(warning.kind != Kind::worse_than_its_draws);

  // Labels are taken from shifted outputs: 2 above, none is of the first class. Draws that err as
  // often as the larger class would, 10 of 20, are no better; with class weights that says nothing.
  const auto kinds_of = [&](std::vector<double> shifts, bool weighted) {
    std::vector<Kind> all;
    for (const FitWarning& one : points.warnings(10, std::move(shifts), weighted)) {
      all.push_back(one.kind);
    }
    return all;
  };
  CHECK(kinds_of({}, false) == std::vector{Kind::no_better_than_largest_class});
  CHECK(kinds_of({2}, false) ==
        std::vector{Kind::class_never_predicted, Kind::no_better_than_largest_class});
  CHECK(kinds_of({2}, true) == std::vector{Kind::class_never_predicted});
}

TEST_CASE("by how much a Bayes point is worse than its draws before that is said", "[machine]") {
  // Half of 200 points wrong, a standard error of 0.035: draws that err at 0.3 are far better, but
  // not by half; by half at 0.24.
  const HalfWrong points(200);
  const auto said = [&](double of_draws) {
    const auto all = points.warnings(of_draws);
    return std::ranges::find(all, Kind::worse_than_its_draws, &FitWarning::kind) != all.end();
  };
  CHECK(said(48));
  CHECK_FALSE(said(60));
}

TEST_CASE("out of fold no better than the largest class: within two standard errors", "[machine]") {
  // A log loss of 0.15 with a standard error of 0.01: up to 0.17 of the shares that is no better,
  // whatever the errors.
  const auto said = [](double of_shares, double error = 0.3) {
    bpm::BoundaryChoice choice{
        .relative_lambda = 0.1, .points = 3000, .largest_class = 0.96, .loss_of_shares = of_shares};
    choice.candidates.push_back({.relative_lambda = 0.1,
                                 .consistent = true,
                                 .loss = 0.15,
                                 .standard_error = 0.01,
                                 .slope = 1,
                                 .error = error});
    return bpm::detail::no_better_out_of_fold(choice);
  };
  REQUIRE(said(0.169, 0.01));
  CHECK(said(0.169)->found == 0.15);
  CHECK(said(0.169)->compared == 0.169);
  CHECK(said(0.169)->standard_error == 0.01);
  CHECK(said(0.161));
  CHECK_FALSE(said(0.171));
  CHECK_FALSE(said(0.178, 0.04));
  // A choice of before, that does not know.
  CHECK_FALSE(said(0));
}

TEST_CASE("a rare class that is known by its odds, not found, is not for nothing", "[machine]") {
  // One in twenty: nearly half where the first number is large, none elsewhere. Always saying the
  // common class errs no more than anyone can.
  bpm::RandomEngine engine(5);
  bpm::RowMatrix<double> inputs(1500, 2);
  std::vector<int> labels(1500);
  for (int i = 0; i < 1500; ++i) {
    inputs.row(i) << bpm::uniform_unit(engine), bpm::uniform_unit(engine);
    labels[static_cast<std::size_t>(i)] =
        inputs(i, 0) > 0.88 && bpm::uniform_unit(engine) < 0.42 ? 1 : 0;
  }
  const auto fitted = BayesPointMachine(Gaussian::from_width(0.3)).fit(inputs, labels);
  const auto& boundary = fitted.notes.boundary;
  REQUIRE(boundary);
  const double rare = static_cast<double>(std::ranges::count(labels, 1)) / 1500;
  CHECK(boundary->largest_class == Approx(1 - rare));
  CHECK(boundary->loss_of_shares ==
        Approx(-rare * std::log(rare) - (1 - rare) * std::log(1 - rare)));
  CHECK_FALSE(has(kinds(fitted), Kind::no_better_than_largest_class));
  // By errors it would be.
  const auto* taken = bpm::detail::candidate_taken(*boundary);
  REQUIRE(taken != nullptr);
  CHECK(taken->error + 2 * bpm::detail::error_of_share(taken->error, 1500) > rare);
  // The same labels in another order are of no pattern.
  std::vector<int> mixed(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) mixed[i] = labels[(i * 7 + 700) % labels.size()];
  CHECK(has(kinds(BayesPointMachine(Gaussian::from_width(0.3)).fit(inputs, mixed)),
            Kind::no_better_than_largest_class));
}

TEST_CASE("the scale of a column is held against the lower median of all", "[machine]") {
  // Columns of +-1, +-1, +-8 and +-15: the lower middle one is 1, the upper 8.
  bpm::RowMatrix<double> inputs(10, 4);
  for (int i = 0; i < 10; ++i) inputs.row(i) << 1, 1, 8, 15;
  for (int i = 0; i < 10; i += 2) inputs.row(i) *= -1;
  std::vector<FitWarning> warnings;
  bpm::detail::warn_of_units(bpm::Linear{}, inputs, {}, warnings);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].label == 3);
  CHECK(warnings[0].found == Approx(15));
  CHECK(warnings[0].compared == Approx(1));
}

TEST_CASE("how wide a Gaussian may be, by the median distance of the inputs", "[machine]") {
  // Two points one apart: widths of a 30th and of 30, with another warning of 8, are the limits.
  const bpm::RowMatrix<double> inputs{{0, 0}, {0, 1}};
  const auto warnings = [&](double width, bool another = false) {
    std::vector<FitWarning> found(another ? 1 : 0, {.kind = Kind::class_never_predicted});
    bpm::detail::warn_of_width(Gaussian::from_width(width), inputs, found);
    return found;
  };
  CHECK(warnings(29.9).empty());
  CHECK(warnings(1 / 29.9).empty());
  for (const double width : {30.1, 1 / 30.1}) {
    REQUIRE(warnings(width).size() == 1);
    CHECK(warnings(width)[0].kind == Kind::width_far_from_distances);
    CHECK(warnings(width)[0].found == Approx(width));
    CHECK(warnings(width)[0].compared == Approx(1));
  }
  CHECK(warnings(8.1).empty());
  CHECK(warnings(7.9, true).size() == 1);
  REQUIRE(warnings(8.1, true).size() == 2);
  CHECK(warnings(8.1, true)[0].kind == Kind::width_far_from_distances);  // The cause goes first.
}

namespace {

/// A column of +-deviation about a mean, which is all that there is to know of it.
template <class T>
[[nodiscard]] bpm::RowMatrix<T> two_valued(
    Eigen::Index rows, const std::vector<std::pair<double, double>>& means_and_deviations) {
  bpm::RowMatrix<T> inputs(rows, static_cast<Eigen::Index>(means_and_deviations.size()));
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index c = 0; c < inputs.cols(); ++c) {
      const auto& [mean, deviation] = means_and_deviations[static_cast<std::size_t>(c)];
      inputs(i, c) = static_cast<T>(i % 2 == 0 ? mean + deviation : mean - deviation);
    }
  }
  return inputs;
}

template <class Kernel, class I>
[[nodiscard]] std::vector<FitWarning> warnings_of_units(const Kernel& kernel, const I& inputs,
                                                        std::vector<double> origin = {}) {
  std::vector<FitWarning> warnings;
  bpm::detail::warn_of_units(kernel, inputs, origin, warnings);
  return warnings;
}

}  // namespace

TEST_CASE("inputs are far from the origin where rounding is a tenth of what tells them apart",
          "[machine]") {
  // Of +-1 about m: m^2 + 1 times 2^-23 is a tenth of 1 at m = 915.9.
  const auto column = [](double mean) { return two_valued<float>(6, {{mean, 1}}); };
  const bpm::Polynomial cubic(3);
  CHECK(warnings_of_units(cubic, column(915)).empty());
  REQUIRE(warnings_of_units(cubic, column(917)).size() == 1);
  const FitWarning far = warnings_of_units(cubic, column(-917)).at(0);
  CHECK(far.kind == Kind::far_from_origin);
  CHECK(far.found == Approx(std::sqrt(917.0 * 917 + 1)));
  CHECK(far.compared == Approx(1));
  CHECK(warnings_of_units(cubic, two_valued<float>(2, {{917, 1}})).size() == 1);
  // What tells two columns apart are both: 4 + 1.
  const FitWarning both = warnings_of_units(cubic, two_valued<float>(6, {{3000, 2}, {0, 1}})).at(0);
  CHECK(both.found == Approx(std::sqrt(3000.0 * 3000 + 5)));
  CHECK(both.compared == Approx(std::sqrt(5)));
  // Seen from their mean they are near; from its mirror image twice as far.
  CHECK(warnings_of_units(cubic, column(917), {917}).empty());
  CHECK(warnings_of_units(cubic, column(917), {-917}).at(0).found ==
        Approx(std::sqrt(1834.0 * 1834 + 1)));
  // In double, and of a linear kernel, whose sums are of doubles: m^2 times 2^-52.
  CHECK(warnings_of_units(cubic, two_valued<double>(6, {{2.1e7, 1}})).empty());
  CHECK(warnings_of_units(cubic, two_valued<double>(6, {{2.2e7, 1}})).size() == 1);
  CHECK(warnings_of_units(bpm::Linear{}, column(917)).empty());
  CHECK(warnings_of_units(bpm::Linear{}, two_valued<double>(6, {{2.2e7, 1}})).size() == 1);
  // A Gaussian tells apart what its width does: 1586^2 times 2^-23 is 0.3, a tenth of 1.73^2.
  CHECK(warnings_of_units(Gaussian::from_width(1.75), column(1586)).empty());
  REQUIRE(warnings_of_units(Gaussian::from_width(1.7), column(1586)).size() == 1);
  CHECK(warnings_of_units(Gaussian::from_width(1.7), column(1586))[0].compared == Approx(1.7));
  // Two clusters, and an origin in the middle of both.
  const auto clusters = two_valued<float>(6, {{500, 917}});
  CHECK(warnings_of_units(Gaussian::from_width(1), clusters, {500}).at(0).found == Approx(917));
}

TEST_CASE("a column is in units of its own from ten times the middle deviation on", "[machine]") {
  const auto warnings = [](const std::vector<std::pair<double, double>>& columns) {
    return warnings_of_units(bpm::Linear{}, two_valued<double>(6, columns));
  };
  CHECK(warnings({{0, 9.9}, {5, 1}}).empty());
  REQUIRE(warnings({{0, 10.1}, {5, 1}}).size() == 1);
  const FitWarning wide = warnings({{5, 1}, {0, 10.1}, {0, 0.5}})[0];
  CHECK(wide.kind == Kind::columns_differ_in_scale);
  CHECK(wide.label == 1);
  CHECK(wide.found == Approx(10.1));
  CHECK(wide.compared == Approx(1));
  CHECK(warnings({{0, 10.1}, {5, 1}})[0].label == 0);
  // Constant columns have no unit; one column has nothing beside it.
  CHECK(warnings({{3, 0}, {4, 0}, {7, 0}, {0, 8}, {0, 1}}).empty());
  CHECK(warnings({{3, 0}, {0, 8}}).empty());
  CHECK(warnings({{0, 1000}}).empty());
}

TEST_CASE("units are taken from 2000 rows at most, evenly spread", "[machine]") {
  // A number far out in the second row is seen where all rows are looked at.
  const auto seen = [](Eigen::Index rows) {
    bpm::RowMatrix<double> inputs(rows, 2);
    for (Eigen::Index i = 0; i < rows; ++i) inputs.row(i).setConstant(i / 2 % 2 == 0 ? 1 : -1);
    inputs(1, 1) = 1e4;
    return warnings_of_units(bpm::Linear{}, inputs).size() == 1;
  };
  CHECK(seen(1999));
  CHECK(seen(2000));
  CHECK_FALSE(seen(2001));
}

TEST_CASE("the limit of R-hat is by the halves of all chains, and 1.2 at least", "[machine]") {
  const auto limit = [](std::uint64_t draws, unsigned chains) {
    bpm::SamplerReport report{.draws = draws, .chains = bpm::ChainReport{.chains = chains}};
    report.chains->r_hat = 100;
    std::vector<FitWarning> warnings;
    bpm::detail::warn_of_chains(report, warnings);
    REQUIRE(warnings.size() == 1);
    report.chains->r_hat = warnings[0].compared;
    std::vector<FitWarning> at_limit;
    bpm::detail::warn_of_chains(report, at_limit);
    CHECK(at_limit.empty());
    return warnings[0].compared;
  };
  // Two chains of 32 draws: four halves of 16, and the chi-squared law of three degrees of freedom
  // exceeds 25.90 once in 100 000; four chains, seven degrees, 35.26. (Its quantiles are Wilson's
  // and Hilferty's, right to a twentieth.)
  CHECK(limit(64, 2) == Approx(std::sqrt(1 + (2 * 25.90 / 3 - 1) / 16)).epsilon(0.015));
  CHECK(limit(128, 4) == Approx(std::sqrt(1 + (2 * 35.26 / 7 - 1) / 16)).epsilon(0.015));
  CHECK(limit(100'000, 4) == 1.2);
}

TEST_CASE("chains that tell of different laws are said, good ones are not",
          "[machine][at length]") {
  const auto points = test_support::noisy_rings(300, 2, 0.0, 3);
  const auto warned = [&](const auto& sampler) {
    const auto fitted =
        BayesPointMachine(Gaussian::from_width(1.0), sampler,
                          {.soft_boundary = bpm::SoftBoundary::relative(0.1), .threads = 1})
            .fit(points.inputs, points.labels);
    const auto& all = fitted.notes.warnings;
    const auto one = std::ranges::find(all, Kind::chains_disagree, &FitWarning::kind);
    if (one == all.end()) return false;
    CHECK(one->found == fitted.report().chains->r_hat);
    CHECK(one->found > one->compared);
    CHECK(one->what() ==
          "the sampler's chains tell of different laws: make more draws, or more steps from one to "
          "the next");
    return true;
  };
  CHECK(warned(bpm::Billiard{.draws = 400, .bounces_per_draw = 1, .chains = 4, .burn_in = 1}));
  CHECK_FALSE(warned(bpm::Billiard{.draws = 400, .bounces_per_draw = 1000, .chains = 4}));
  CHECK_FALSE(warned(bpm::KernelGibbs{.draws = 400, .steps_per_draw = 2000, .chains = 4}));
  CHECK_FALSE(warned(bpm::Billiard{}));
  // A hundred draws of Gibbs are half a radian from the centre here.
  CHECK(warned(bpm::KernelGibbs{}));
  // Too few draws to tell.
  CHECK_FALSE(warned(bpm::Billiard{.draws = 60, .bounces_per_draw = 1, .chains = 4, .burn_in = 1}));
}

TEST_CASE("short runs of good chains are not said to disagree; chains that do not move are",
          "[machine][at length]") {
  // R-hat of few independent draws is large by chance: of six classes, each judged at 20 points.
  const auto points = test_support::noisy_rings(120, 6, 0.0, 5);
  int said = 0;
  int above = 0;
  for (const auto& [draws, chains] : {std::pair{32U, 2U}, {40U, 2U}, {100U, 2U}, {100U, 4U}}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const auto fitted =
          OneVsRest(
              BayesPointMachine(
                  Gaussian::from_width(1.0), bpm::Billiard{.draws = draws, .chains = chains},
                  {.soft_boundary = bpm::SoftBoundary::relative(0.1), .seed = seed, .threads = 1}))
              .fit(points.inputs, points.labels);
      const auto& all = fitted.notes.warnings;
      said += std::ranges::find(all, Kind::chains_disagree, &FitWarning::kind) != all.end() ? 1 : 0;
      above += fitted.report().chains->r_hat > 1.2 ? 1 : 0;
    }
  }
  CHECK(said == 0);
  CHECK(above > 5);  // A limit of 1.2 alone would say so.
  bpm::SamplerReport report{.draws = 64, .chains = bpm::ChainReport{.chains = 2}};
  std::vector<FitWarning> warnings;
  bpm::detail::warn_of_chains(report, warnings);
  CHECK(warnings.empty());  // Not known.
  report.chains->r_hat = std::numeric_limits<double>::infinity();
  bpm::detail::warn_of_chains(report, warnings);
  CHECK(warnings.size() == 1);
}

TEST_CASE("a hundred good data sets raise no warning", "[machine][at length]") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const int classes = seed % 2 == 0 ? 2 : 3;
    const auto points = seed % 4 < 2 ? test_support::noisy_stripes(150, classes, 0.1, seed)
                                     : test_support::noisy_rings(150, classes, 0.1, seed);
    const auto fitted = OneVsRest(BayesPointMachine(Gaussian::from_width(1.5),
                                                    bpm::PermutedPerceptron{}, {.threads = 1}))
                            .fit(points.inputs, points.labels);
    CHECK(fitted.notes.warnings.empty());
  }
}
