// SPDX-License-Identifier: MIT
#include "bpm/storage/training_file.hpp"

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"
#include "resealed.hpp"
#include "temporary_folder.hpp"

namespace training_file_tests {

using bpm::BayesPointMachine;
using bpm::Billiard;
using bpm::FitSettings;
using bpm::Gaussian;
using bpm::KernelGibbs;
using bpm::OneVsRest;
using bpm::PermutedPerceptron;
using bpm::SoftBoundary;
using Bytes = std::vector<std::byte>;
using Floats = bpm::RowMatrix<float>;
using test_support::message_of;
using test_support::noisy_rings;
using test_support::noisy_stripes;
using test_support::resealed;

const Gaussian kernel = Gaussian::from_width(1);

/// Short burn-ins, and few steps a draw: what goes on does not depend on their length.
const Billiard quick_billiard{.bounces_per_draw = 20, .refresh_length = 2, .burn_in = 50};
const KernelGibbs quick_gibbs{.steps_per_draw = 10, .burn_in = 50};

/// All that is told of two fits but for times, threads and memory.
template <class C, class I>
void check_same_model(const C& found, const C& expected, const I& inputs) {
  const auto& a = found.parts();
  const auto& b = expected.parts();
  CHECK(a.coefficients == b.coefficients);
  CHECK(a.support == b.support);
  CHECK(found.decision_values(inputs) == expected.decision_values(inputs));
  CHECK(a.mean_norms == b.mean_norms);
  CHECK(a.training_margins == b.training_margins);
  CHECK(a.training_errors == b.training_errors);
  CHECK(a.draw_numbers == b.draw_numbers);
  CHECK(a.draw_weights == b.draw_weights);
  CHECK(a.draw_coefficients == b.draw_coefficients);
  CHECK(found.notes.warnings.size() == expected.notes.warnings.size());
  CHECK(a.bias == b.bias);
  CHECK(a.slope == b.slope);
  CHECK(found.notes.seed == expected.notes.seed);
  CHECK(found.notes.report.draws == expected.notes.report.draws);
  CHECK(found.notes.report.converged == expected.notes.report.converged);
  CHECK(found.notes.report.mistaken_points == expected.notes.report.mistaken_points);
  REQUIRE(found.notes.report.perceptron.has_value() ==
          expected.notes.report.perceptron.has_value());
  if (found.notes.report.perceptron) {
    CHECK(found.notes.report.perceptron->mistakes == expected.notes.report.perceptron->mistakes);
    CHECK(found.notes.report.perceptron->passes == expected.notes.report.perceptron->passes);
  }
  REQUIRE(found.notes.report.chains.has_value() == expected.notes.report.chains.has_value());
  if (found.notes.report.chains) {
    CHECK(found.notes.report.chains->steps == expected.notes.report.chains->steps);
    CHECK(found.notes.report.chains->standard_error ==
          expected.notes.report.chains->standard_error);
    CHECK(found.notes.report.chains->effective_draws ==
          expected.notes.report.chains->effective_draws);
    CHECK(found.notes.report.chains->chain_angle == expected.notes.report.chains->chain_angle);
    CHECK(found.notes.report.chains->burn_in == expected.notes.report.chains->burn_in);
    CHECK(found.notes.report.chains->start_margin == expected.notes.report.chains->start_margin);
  }
  REQUIRE(found.notes.boundary.has_value() == expected.notes.boundary.has_value());
  if (found.notes.boundary) {
    CHECK(found.notes.boundary->relative_lambda == expected.notes.boundary->relative_lambda);
    CHECK(found.notes.boundary->label_noise == expected.notes.boundary->label_noise);
    CHECK(found.notes.boundary->raised == expected.notes.boundary->raised);
    CHECK(found.notes.boundary->candidates.size() == expected.notes.boundary->candidates.size());
  }
}

/// The machine with so many draws.
template <class Kernel, class Sampler>
auto machine_of(std::uint64_t draws, const Kernel& k, const Sampler& sampler,
                const FitSettings& settings) {
  Sampler with = sampler;
  with.draws = draws;
  return OneVsRest(BayesPointMachine(k, with, settings));
}

/// Draws by parts, each in a training that comes from the bytes of the one before, are those of one
/// run.
template <class Kernel, class Sampler, class I>
void check_parts(const std::vector<std::uint64_t>& parts, const Kernel& k, const Sampler& sampler,
                 const FitSettings& settings, const I& inputs, const std::vector<int>& labels) {
  const auto first = machine_of(parts[0], k, sampler, settings);
  Bytes bytes = bpm::model_bytes(first.train(inputs, labels));
  std::uint64_t all = parts[0];
  for (std::size_t n = 1; n < parts.size(); ++n) {
    auto training = bpm::resume(first, inputs, labels, bytes);
    CHECK(bpm::model_bytes(training) == bytes);
    training.add_draws(parts[n]);
    bytes = bpm::model_bytes(training);
    all += parts[n];
  }
  check_same_model(bpm::resume(first, inputs, labels, bytes).classifier(),
                   machine_of(all, k, sampler, settings).fit(inputs, labels), inputs);
}

/// Every sampler by name and value.
template <class Use>
void for_each_sampler(const Use& use) {
  use("perceptron", PermutedPerceptron{});
  use("billiard", quick_billiard);
  use("gibbs", quick_gibbs);
  KernelGibbs along = quick_gibbs;
  along.directions = KernelGibbs::Direction::input;
  use("gibbs along inputs", along);
}

/// The bytes with other numbers in an array, from `place` on.
template <class T>
Bytes with_numbers(Bytes bytes, const std::string& key, const std::vector<T>& numbers,
                   std::size_t place = 0) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const auto header = nlohmann::json::parse(
      std::string(reinterpret_cast<const char*>(bytes.data()) + sizeof length, length));
  const std::size_t begin = header.at(key).at("data_offsets").at(0);
  std::memcpy(bytes.data() + sizeof length + length + begin + place * sizeof(T), numbers.data(),
              numbers.size() * sizeof(T));
  return resealed(std::move(bytes));
}
template <class T>
Bytes with_first(Bytes bytes, const std::string& key, T first, std::size_t place = 0) {
  return with_numbers(std::move(bytes), key, std::vector<T>{first}, place);
}
/// The bytes with another `key` of `__metadata__`.
Bytes with_metadata(const Bytes& bytes, const char* key,
                    const std::function<void(nlohmann::json&)>& change) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  auto header = nlohmann::ordered_json::parse(
      std::string(reinterpret_cast<const char*>(bytes.data()) + sizeof length, length));
  auto value = nlohmann::json::parse(header["__metadata__"][key].get<std::string>());
  change(value);
  header["__metadata__"][key] = value.dump();
  const std::string text = header.dump();
  Bytes other(sizeof length + text.size());
  const std::uint64_t size = text.size();
  std::memcpy(other.data(), &size, sizeof size);
  std::memcpy(other.data() + sizeof size, text.data(), text.size());
  other.insert(other.end(), bytes.begin() + std::ptrdiff_t(sizeof length + length), bytes.end());
  return resealed(std::move(other));
}

const auto& ring_points() {
  static const auto points = noisy_rings(24, 2, 0.0);
  return points;
}
const FitSettings kept_hard{.soft_boundary = SoftBoundary::hard(), .keep_draws = true};

/// A random walk on the sphere that goes where it likes: a sampler of a user's.
struct Walk {
  struct State {
    Eigen::VectorXd x;
    std::vector<double> sum;
    bpm::RandomEngine engine{1};
    std::uint64_t steps = 0;
    bpm::CentreOfMass mass;
    [[nodiscard]] bool empty() const { return x.size() == 0; }
    [[nodiscard]] const bpm::CentreOfMass& centre() const { return mass; }
    template <class Self, class Visit>
    static void visit_members(Self& self, Visit&& visit) {
      visit("x", self.x);
      visit("sum", self.sum);
      visit("engine", self.engine);
      visit("steps", self.steps);
      visit("mass", self.mass);
    }
  };
  std::uint64_t draws = 4;
  double step = 0.1;
  static constexpr bpm::SamplerTraits traits{.sees = bpm::SamplerTraits::Sees::cone};
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("step", self.step);
  }
  void check_settings() const {}
  [[nodiscard]] Walk with_draws(std::uint64_t count) const { return {count, step}; }
  [[nodiscard]] bpm::MemoryNeed memory_need(const bpm::RunSize&) const { return {}; }
  [[nodiscard]] bpm::ConePlan plan() const {
    return {.name = "Walk", .draws = draws, .may_be_outside = true};
  }
  template <class Sink>
  bpm::SamplerReport sample(const bpm::Cone& cone, std::span<const double> start,
                            bpm::RandomStreams& streams, const bpm::RunControl&, Sink&& sink,
                            State& state) const {
    const std::ptrdiff_t m = cone.points();
    if (state.empty()) {
      state.x = Eigen::Map<const Eigen::VectorXd>(start.data(), std::ssize(start));
      state.sum.assign(start.size(), 0.0);
      state.engine = streams.stream(17);
    }
    std::vector<bpm::PointIndex> support;
    for (std::ptrdiff_t i = 0; i < m; ++i) support.push_back(bpm::PointIndex(i));
    const auto describe = [&](const double* x, double scale) {
      bpm::CentreOfMass to{std::vector<double>(support.size()), std::vector<double>(support.size()),
                           1};
      cone.add_dual_coefficients(x, scale, to.coefficients.data());
      cone.outputs(x, to.outputs.data());
      for (std::ptrdiff_t i = 0; i < m; ++i) to.outputs[i] *= scale * cone.label(i);
      return to;
    };
    bpm::SamplerReport report;
    for (; report.draws < draws; ++report.draws) {
      bpm::NormalDraws normal;
      for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) state.x[k] += step * normal(state.engine);
      state.x.normalize();
      for (std::size_t k = 0; k < state.sum.size(); ++k) state.sum[k] += state.x[Eigen::Index(k)];
      ++state.steps;
      const auto draw = describe(state.x.data(), 1);
      sink(bpm::Draw{streams.next++, 0, support, draw.coefficients, draw.outputs});
    }
    state.mass = describe(state.sum.data(), 1 / static_cast<double>(state.steps));
    report.converged = true;
    return report;
  }
};

/// One that does not keep where it stands.
struct Forgetful : Walk {
  [[nodiscard]] Forgetful with_draws(std::uint64_t count) const {
    Forgetful other = *this;
    other.draws = count;
    return other;
  }
  template <class Sink>
  bpm::SamplerReport sample(const bpm::Cone& cone, std::span<const double> start,
                            bpm::RandomStreams& streams, const bpm::RunControl& control,
                            Sink&& sink, State& state) const {
    bpm::SamplerReport report =
        Walk::sample(cone, start, streams, control, std::forward<Sink>(sink), state);
    state.x.resize(0);
    return report;
  }
};

TEST_CASE("ten draws today and ten tomorrow are twenty at once, for every sampler and boundary") {
  for (const int classes : {2, 3}) {
    const auto [inputs, labels] = noisy_rings(30, classes, 0.0);
    for (const bool keep : {false, true}) {
      for (const auto& boundary : {SoftBoundary::hard(), SoftBoundary::relative(0.1)}) {
        for_each_sampler([&, &x = inputs, &y = labels](const char* name, const auto& sampler) {
          CAPTURE(name, classes, keep);
          check_parts({10, 10}, kernel, sampler,
                      {.soft_boundary = boundary, .seed = 3, .keep_draws = keep}, x, y);
        });
      }
    }
  }
}

TEST_CASE("an automatic boundary stays as it was chosen, also tomorrow", "[at length]") {
  for (const int classes : {2, 3}) {
    const auto [inputs, labels] = noisy_stripes(36, classes, 0.15);
    const FitSettings settings{.keep_draws = classes == 3};
    const Gaussian wide = Gaussian::from_width(2);
    CAPTURE(classes);
    check_parts({10, 10}, wide, PermutedPerceptron{}, settings, inputs, labels);
    check_parts({10, 10}, wide, quick_billiard, settings, inputs, labels);
    check_parts({10, 10}, wide, quick_gibbs, settings, inputs, labels);
    // Class weights, for which a sampler of label noise chooses lambda.
    const FitSettings weighted{.soft_boundary =
                                   SoftBoundary::automatic().with_class_weights({{0, 2.0}})};
    check_parts({3, 2}, wide, quick_gibbs, weighted, inputs, labels);
  }
}

TEST_CASE("label noise goes on, by any way of averaging") {
  const auto [inputs, labels] = noisy_rings(40, 2, 0.1);
  for (const bool isotropic : {true, false}) {
    KernelGibbs sampler = quick_gibbs;
    sampler.label_noise = 0.05;
    sampler.directions =
        isotropic ? KernelGibbs::Direction::isotropic : KernelGibbs::Direction::input;
    check_parts({10, 10}, kernel, sampler, kept_hard, inputs, labels);
    sampler.rao_blackwell = false;
    check_parts({10, 10}, kernel, sampler, {}, inputs, labels);
  }
}

TEST_CASE(
    "saved again and again, with chains that have no draw yet, and with more than batches hold") {
  const auto& [inputs, labels] = ring_points();
  for_each_sampler([&, &x = inputs, &y = labels](const char* name, const auto& sampler) {
    CAPTURE(name);
    check_parts({5, 5, 10}, kernel, sampler, kept_hard, x, y);
    check_parts({1, 1, 1, 7}, kernel, sampler, kept_hard, x, y);
  });
  Billiard three = quick_billiard;
  three.chains = 3;
  check_parts({1, 1, 200, 40}, kernel, three, kept_hard, inputs, labels);
  KernelGibbs seven = quick_gibbs;
  seven.chains = 7;
  check_parts({2, 300, 40}, kernel, seven, kept_hard, inputs, labels);
  // The refresh length is chosen, as in a first fit; or there is none.
  check_parts({4, 6}, kernel, Billiard{.bounces_per_draw = 20}, kept_hard, inputs, labels);
  Billiard straight = quick_billiard;
  straight.refresh_length = std::numeric_limits<double>::infinity();
  check_parts({4, 6}, kernel, straight, kept_hard, inputs, labels);
}

TEST_CASE("a version space of one dimension, a matrix of the user's, other inputs go on") {
  Eigen::VectorXd line = Eigen::VectorXd::LinSpaced(12, -1, 1);
  const bpm::RowMatrix<double> inputs = line;
  std::vector<int> labels;
  for (int i = 0; i < 12; ++i) labels.push_back(line[i] > 0 ? 1 : -1);
  const FitSettings plain{.soft_boundary = SoftBoundary::hard(), .bias = 0.0};
  for_each_sampler([&](const char* name, const auto& sampler) {
    CAPTURE(name);
    check_parts({3, 4}, bpm::Linear{}, sampler, plain, inputs, labels);
  });
  KernelGibbs noisy = quick_gibbs;
  noisy.label_noise = 0.2;
  check_parts({3, 4}, bpm::Linear{}, noisy, plain, inputs, labels);

  const auto& [points, rings] = ring_points();
  const bpm::RowMatrix<double> values = bpm::kernel_matrix(kernel, points);
  check_parts({3, 4}, bpm::PrecomputedKernel{}, quick_billiard,
              FitSettings{.soft_boundary = SoftBoundary::per_class({{0, 0.1}, {1, 0.2}})}, values,
              rings);
  // Of a kernel and inputs of one's own nothing is in the file.
  const std::vector<std::string> words{"aab", "aba", "xyx", "yyx", "aaa", "yxy"};
  const auto shared = [](const std::string& a, const std::string& b) {
    double count = 1;
    for (const char c : a) count += static_cast<double>(std::count(b.begin(), b.end(), c));
    return count;
  };
  check_parts({3, 4}, shared, PermutedPerceptron{}, kept_hard, words, {1, 1, 2, 2, 1, 2});
  const bpm::SparseRowMatrix<float> sparse = points.sparseView();
  check_parts({3, 4}, bpm::Polynomial(6), quick_gibbs, FitSettings{}, sparse, rings);
}

TEST_CASE("a sampler of the user's goes on by the members that it shows") {
  const auto& [inputs, labels] = ring_points();
  check_parts({4, 6}, kernel, Walk{}, kept_hard, inputs, labels);
  const BayesPointMachine machine(kernel, Walk{}, kept_hard);
  const BayesPointMachine other(kernel, Walk{.step = 0.2}, kept_hard);
  const Bytes bytes = bpm::model_bytes(machine.train(inputs, labels));
  CHECK(message_of([&, &x = inputs, &y = labels] { (void)bpm::resume(other, x, y, bytes, "t"); }) ==
        "t belongs to another run: other step (0.1 there, 0.2 here); give the data and settings of "
        "that run");
  const BayesPointMachine forgets(kernel, Forgetful{}, kept_hard);
  const Bytes without_state = bpm::model_bytes(forgets.train(inputs, labels));
  CHECK(message_of([&, &x = inputs, &y = labels] {
          (void)bpm::resume(forgets, x, y, without_state, "t");
        }) == "t: training: states have none of problem 0");
}

TEST_CASE("a training goes on from a file, a stream, with inputs that are kept") {
  const auto& [inputs, labels] = ring_points();
  const auto two = machine_of(2, kernel, quick_billiard, kept_hard);
  const auto five = machine_of(5, kernel, quick_billiard, kept_hard).fit(inputs, labels);
  const test_support::TemporaryFolder folder;
  const auto training = two.train(inputs, labels);
  bpm::save(training, folder.path() / "two-draws");
  auto kept =
      bpm::resume(two, Floats(inputs), std::vector<int>(labels), folder.path() / "two-draws");
  kept.add_draws(3);
  check_same_model(kept.classifier(), five, inputs);
  // The machine for two classes, other draws, threads and strategy: the same run.
  std::stringstream stream;
  bpm::save(training, stream);
  FitSettings other = kept_hard;
  other.threads = 1;
  other.strategy = bpm::Strategy::dense;
  other.memory = std::size_t{1} << 29U;
  Billiard by_clock = quick_billiard;
  by_clock.seconds = 100;
  auto again = bpm::resume(BayesPointMachine(kernel, by_clock, other), inputs, labels, stream);
  again.add_draws(3);
  check_same_model(again.classifier(), five, inputs);
  // A machine whose boundary is given, not searched for: the same run.
  stream.clear();
  stream.seekg(0);
  auto given =
      bpm::resume(BayesPointMachine(kernel, quick_billiard, SoftBoundary::hard(), kept_hard),
                  inputs, labels, stream);
  given.add_draws(3);
  check_same_model(given.classifier(), five, inputs);
  CHECK(message_of([&, &x = inputs, &y = labels] {
          (void)bpm::resume(two, x, y, folder.path() / "none");
        }).find("cannot be opened for reading") != std::string::npos);
}

TEST_CASE("a training of another run is refused, by what is different") {
  const auto& [inputs, labels] = ring_points();
  const BayesPointMachine machine(kernel, quick_gibbs, kept_hard);
  const Bytes bytes = bpm::model_bytes(machine.train(inputs, labels));
  const auto refusal = [&](const auto& other, const Floats& x, const std::vector<int>& y) {
    return message_of([&] { (void)bpm::resume(other, x, y, bytes, "t"); });
  };
  const auto differs = [](const std::string& what) {
    return "t belongs to another run: other " + what + "; give the data and settings of that run";
  };
  const auto with = [&](auto change) {
    KernelGibbs sampler = quick_gibbs;
    FitSettings settings = kept_hard;
    change(sampler, settings);
    return refusal(BayesPointMachine(kernel, sampler, settings), inputs, labels);
  };
  CHECK(with([](auto&, auto&) {}) == "nothing was thrown");
  CHECK(refusal(machine, inputs.topRows(23), {labels.begin(), labels.end() - 1}) ==
        differs("number of points (24 there, 23 here)"));
  std::vector<int> swapped = labels;
  std::swap(swapped[0], swapped[1]);
  CHECK(refusal(machine, inputs, swapped) == differs("labels"));
  Floats moved = inputs;
  moved(7, 1) = std::nextafter(moved(7, 1), 100.0F);
  CHECK(refusal(machine, moved, labels) == differs("inputs"));
  CHECK(refusal(BayesPointMachine(Gaussian::from_width(1.01), quick_gibbs, kept_hard), inputs,
                labels) == differs("kernel"));
  CHECK(with([](auto&, auto& s) { s.bias = 0.5; }) == differs("bias (1.0 there, 0.5 here)"));
  CHECK(with([](auto&, auto& s) { s.soft_boundary = SoftBoundary::uniform(0.5); }) ==
        differs("soft boundary"));
  CHECK(with([](auto&, auto& s) { s.soft_boundary = SoftBoundary::automatic(); }) ==
        differs("soft boundary"));
  CHECK(with([](auto&, auto& s) { s.seed = 2; }) == differs("seed (1 there, 2 here)"));
  CHECK(with([](auto&, auto& s) { s.keep_draws = false; }) ==
        differs("keep_draws (true there, false here)"));
  CHECK(refusal(BayesPointMachine(kernel, quick_billiard, kept_hard), inputs, labels) ==
        differs("sampler (\"KernelGibbs\" there, \"Billiard\" here)"));
  CHECK(refusal(BayesPointMachine(kernel, PermutedPerceptron{}, kept_hard), inputs, labels) ==
        differs("sampler (\"KernelGibbs\" there, \"PermutedPerceptron\" here)"));
  CHECK(with([](auto& g, auto&) { g.steps_per_draw = 11; }) ==
        differs("steps_per_draw (10 there, 11 here)"));
  CHECK(with([](auto& g, auto&) { g.chains = 3; }) == differs("chains (4 there, 3 here)"));
  CHECK(with([](auto& g, auto&) { g.label_noise = 0.25; }) ==
        differs("label_noise (0.0 there, 0.25 here)"));
  CHECK(with([](auto& g, auto&) { g.directions = KernelGibbs::Direction::input; }) ==
        differs("directions (0 there, 1 here)"));
  CHECK(with([](auto& g, auto&) { g.rao_blackwell = false; }) ==
        differs("rao_blackwell (true there, false here)"));
  CHECK(with([](auto& g, auto&) { g.burn_in = 51; }) == differs("burn_in (50 there, 51 here)"));
  CHECK(with([](auto& g, auto&) { g.start = KernelGibbs::Start::perceptron; }) ==
        differs("start (0 there, 1 here)"));
  CHECK(with([](auto& g, auto&) { g.start_coefficients.assign(24, 1.0); }) ==
        differs("start_coefficients"));
  CHECK(with([](auto& g, auto&) { g.factor_tolerance = 0.5; }) ==
        differs("factor_tolerance (0.0 there, 0.5 here)"));

  // Boundaries that are given point by point, or begin otherwise.
  const auto boundary_refusal = [&, &x = inputs, &y = labels](const FitSettings& one,
                                                              const FitSettings& another) {
    const Bytes of_one = bpm::model_bytes(BayesPointMachine(kernel, quick_gibbs, one).train(x, y));
    return message_of([&] {
      (void)bpm::resume(BayesPointMachine(kernel, quick_gibbs, another), x, y, of_one, "t");
    });
  };
  std::vector<double> lambda(24, 0.1);
  const FitSettings per_point{.soft_boundary = SoftBoundary::per_point(lambda)};
  lambda[23] = 0.2;
  const FitSettings another{.soft_boundary = SoftBoundary::per_point(lambda)};
  CHECK(boundary_refusal(per_point, another) == differs("soft boundary"));
  CHECK(boundary_refusal(per_point, per_point) == "nothing was thrown");
  const FitSettings begun{.boundary_choice = bpm::BoundaryChoice{.label_noise = 0.1}};
  const FitSettings begun_elsewhere{.boundary_choice = bpm::BoundaryChoice{.label_noise = 0.2}};
  CHECK(boundary_refusal(begun, begun_elsewhere) == differs("soft boundary"));
  CHECK(boundary_refusal(begun, begun) == "nothing was thrown");

  // What `train` refuses as well.
  CHECK(refusal(machine, inputs, {1, 2}) ==
        "resume: labels has 2 entries, expected 24 (one per input)");
  std::vector<int> three = labels;
  three[0] = 7;
  CHECK(refusal(machine, inputs, three) ==
        "resume: labels have 3 classes, expected two; use OneVsRest for more");
}

TEST_CASE("a training is no classifier, and a classifier no training") {
  const auto& [inputs, labels] = ring_points();
  const BayesPointMachine machine(kernel, PermutedPerceptron{}, kept_hard);
  auto x = inputs;
  const auto training = machine.train(x, labels);
  using Plain = bpm::Classifier<Gaussian, Floats>;
  const Bytes bytes = bpm::model_bytes(training);
  CHECK(message_of([&] { (void)bpm::load<Plain>(bytes, "t"); }) ==
        "t is a bpm training, expected a bpm classifier");
  CHECK(message_of([&] { (void)bpm::load_any(bytes, "t"); }) ==
        "t is a bpm training, expected a bpm classifier");
  const Bytes plain = bpm::model_bytes(training.classifier());
  CHECK(message_of([&, &y = labels] { (void)bpm::resume(machine, x, y, plain, "c"); }) ==
        "c is a bpm classifier, expected a bpm training");
  x(3, 0) += 1;
  CHECK(message_of([&] { (void)bpm::model_bytes(training); }) ==
        "save: inputs or labels differ from the training set, must be the same");
}

TEST_CASE("numbers that no run leaves are refused by a sentence") {
  const auto& [inputs, labels] = ring_points();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refusal_by = [&, &x = inputs, &y = labels](const auto& machine, const Bytes& bytes) {
    return message_of([&] {
      auto training = bpm::resume(machine, x, y, bytes, "t");
      training.add_draws(1);
    });
  };
  const BayesPointMachine billiard(kernel, quick_billiard, kept_hard);
  const BayesPointMachine gibbs(kernel, quick_gibbs, kept_hard);
  const Bytes of_billiard = bpm::model_bytes(billiard.train(inputs, labels));
  const Bytes of_gibbs = bpm::model_bytes(gibbs.train(inputs, labels));
  const std::string chain = "states.0.chains.1.";
  const auto array = [&](const std::string& key, auto first, std::size_t place = 0) {
    return refusal_by(billiard, with_first(of_billiard, key, first, place));
  };
  const auto member = [&](const std::function<void(nlohmann::json&)>& change) {
    return refusal_by(billiard, with_metadata(of_billiard, "training", change));
  };
  const auto of_chain = [&](const char* key, const nlohmann::json& value) {
    return member([&](auto& t) { t["states"][0]["chains"][1][key] = value; });
  };

  // Sums and kept draws.
  CHECK(array("means.0.coefficients", nan) ==
        "t: means.0.coefficients at 0 is nan, must be finite");
  CHECK(array("means.0.kept.0.support", std::int64_t{24}) ==
        "t: means.0.kept.0.support hold a point that is out of range");
  CHECK(array("means.0.kept.0.support", std::int64_t{1} << 40U) ==
        "t: the array 'means.0.kept.0.support' holds 1099511627776, which is out of range");
  CHECK(array("means.0.kept.0.support", std::int64_t{-1}) ==
        "t: means.0.kept.0.support hold a point that is out of range");
  CHECK(array("means.0.kept.0.support", std::int64_t{0}, 1) ==
        "t: means.0.kept.0.support hold a point that is out of range");
  CHECK(array("means.0.kept.0.coefficients", nan) ==
        "t: means.0.kept.0.coefficients at 0 is nan, must be finite");
  CHECK(member([](auto& t) { t["means"][0]["kept"][3]["weight"] = -1; }) ==
        "t: means.0.kept.3.weight is -1, must be positive and finite");
  CHECK(member([](auto& t) { t["means"][0]["weight"] = 0.0; }) ==
        "t: means.0.weight is 0, must be positive and finite");
  CHECK(member([](auto& t) { t["means"].push_back(t["means"][0]); }) ==
        "t: means has 2 entries, expected 1");
  CHECK(member([](auto& t) { t["means"] = 1; }) == "t: means is no list");
  CHECK(member([](auto& t) { t = 1; }) == "t: 'training' is no JSON object");
  CHECK(member([](auto& t) { t["means"][0] = 1; }) == "t: means.0 is no object");
  CHECK(member([](auto& t) { t.erase("means"); }) == "t: means is missing");
  CHECK(member([](auto& t) { t["seconds"] = "x"; }) == "t: seconds is no number");
  CHECK(member([](auto& t) { t["streams"][0]["next"] = ~std::uint64_t{0}; }) ==
        "t: streams.0.next is 18446744073709551615, which nothing has counted");
  CHECK(member([](auto& t) { t["streams"].clear(); }) == "t: streams has 0 entries, expected 1");
  CHECK(member([](auto& t) { t["states"].clear(); }) == "t: states has 0 entries, expected 1");
  CHECK(member([](auto& t) {
          t["boundary"] = {{"relative_lambda", 1}};
        }).find("t: boundary.") == 0);

  // Chains, before their cone is there.
  CHECK(member([](auto& t) { t["states"][0]["rank"] = 0; }) ==
        "t: states.0.rank is 0, must be from 1 to 24");
  CHECK(member([](auto& t) { t["states"][0]["draws"] = ~std::uint64_t{0}; }) ==
        "t: states.0.draws is 18446744073709551615, which nothing has counted");
  CHECK(member([](auto& t) { t["states"][0]["chains"].clear(); }) ==
        "t: chain: batches are of 4 chains, there are 0, must be from 1 to 1024");
  CHECK(member([](auto& t) { t["states"][0]["series"].clear(); }) ==
        "t: chain: series are of 0 chains, there are 4");
  CHECK(member([](auto& t) { t["states"][0]["series"][0]["spacing"] = 0; }) ==
        "t: states.0.series.0.spacing is 0, must be from 1 to 4.611686018e+18");
  CHECK(array("states.0.series.0.values", nan) ==
        "t: states.0.series.0.values at 0 is nan, must be finite");
  CHECK(member([](auto& t) { t["states"][0]["batches"][0]["spacing"] = 0; }) ==
        "t: states.0.batches.0.spacing is 0, must be from 1 to 4.611686018e+18");
  CHECK(member([](auto& t) {
          t["states"][0]["rank"] = 3;
        }).find(" (rows in whole registers of this program)") != std::string::npos);
  CHECK(array("states.0.batches.0.weights", nan) ==
        "t: states.0.batches.0.weights at 0 is nan, must be finite");
  CHECK(array("states.0.centre.outputs", nan) ==
        "t: states.0.centre.outputs at 0 is nan, must be finite");
  CHECK(array(chain + "position", nan) ==
        "t: states.0.chains.1.position at 0 is nan, must be finite");
  CHECK(array(chain + "jumps.sums", nan) ==
        "t: states.0.chains.1.jumps.sums at 0 is nan, must be finite");
  CHECK(array(chain + "outputs", nan) ==
        "t: states.0.chains.1.outputs at 0 is nan, must be finite");
  CHECK(of_chain("facet_index", 24) ==
        "t: states.0.chains.1.facet_index is 24, must be from 0 to 23");
  CHECK(of_chain("facet_index", -1) ==
        "t: states.0.chains.1.facet_index is -1, must be from 0 to 23");
  CHECK(of_chain("spacing", 0) == "t: states.0.chains.1.spacing is 0, must be positive and finite");
  CHECK(of_chain("spacing", nullptr) ==
        "t: states.0.chains.1.spacing is inf, must be positive and finite");
  CHECK(of_chain("bounces", ~std::uint64_t{0}) ==
        "t: states.0.chains.1.bounces is 18446744073709551615, which nothing has counted");
  CHECK(of_chain("burn_in", {{"refresh_length", 0}}) ==
        "t: states.0.chains.1.burn_in.refresh_length is 0, must be from 0.001 to inf");
  CHECK(member([](auto& t) { t["states"][0]["chains"][1]["directions"]["block"]["next"] = 17; }) ==
        "t: states.0.chains.1.directions.block.next is 17, must be from 0 to 16");

  // When they meet it.
  CHECK(array(chain + "inside", 3.0).find("chain: position has a square of ") == 0);

  const auto of_gibbs_chain = [&](const char* key, const nlohmann::json& value) {
    return refusal_by(gibbs, with_metadata(of_gibbs, "training", [&](auto& t) {
                        t["states"][0]["chains"][1][key] = value;
                      }));
  };
  CHECK(of_gibbs_chain("steps_to_settle", -1) ==
        "t: states.0.chains.1.steps_to_settle is -1, which nothing has counted");
  CHECK(of_gibbs_chain("steps", ~std::uint64_t{0}) ==
        "t: states.0.chains.1.steps is 18446744073709551615, which nothing has counted");
  CHECK(of_gibbs_chain("normal", {{"spare", 0}, {"has_spare", 1}}) ==
        "t: states.0.chains.1.normal.has_spare is no boolean");
  CHECK(refusal_by(gibbs, with_first(of_gibbs, chain + "position", 3.0))
            .find("chain: position has a square of ") == 0);
  const std::array<std::uint64_t, 4> zeros{};
  CHECK(refusal_by(gibbs, with_first(of_gibbs, chain + "engine", zeros)) ==
        "t: the array 'states.0.chains.1.engine' is no state of a random engine");
}

TEST_CASE("numbers behind the end of a row count for nothing") {
  const auto [inputs, labels] = noisy_rings(21, 2, 0.0);  // Of 21 points no register ends there.
  const BayesPointMachine machine(kernel, quick_billiard, kept_hard);
  const Bytes bytes = bpm::model_bytes(machine.train(inputs, labels));
  REQUIRE(bpm::detail::padded<double>(21) > 21);
  auto honest = bpm::resume(machine, inputs, labels, bytes);
  // Taken for the output of a point, it would be the nearest plane.
  const Bytes other = with_first(bytes, "states.0.chains.0.outputs", -1e9, 21);
  REQUIRE(other != bytes);
  auto changed = bpm::resume(machine, inputs, labels, other);
  CHECK(bpm::model_bytes(changed) == bytes);
  honest.add_draws(5);
  changed.add_draws(5);
  check_same_model(changed.classifier(), honest.classifier(), inputs);
}

TEST_CASE("a chain outside its version space does not go on, a ball does from where it began") {
  const auto& [inputs, labels] = ring_points();
  const BayesPointMachine gibbs(kernel, quick_gibbs, kept_hard);
  const Bytes bytes = bpm::model_bytes(gibbs.train(inputs, labels));
  const auto times = [&, &x = inputs, &y = labels](double factor, const auto& machine,
                                                   const Bytes& honest,
                                                   const std::vector<std::string>& keys) {
    Bytes other = honest;
    const bpm::detail::TensorFile file(honest, "t");
    for (const std::string& key : keys) {
      auto numbers = file.list<double>("states.0.chains.0." + key);
      for (double& number : numbers) number *= factor;
      other = with_numbers(other, "states.0.chains.0." + key, numbers);
    }
    return message_of([&] {
      auto training = bpm::resume(machine, x, y, other, "t");
      training.add_draws(20);
      CHECK(training.classifier().report().draws >= 20);
    });
  };
  CHECK(times(-1, gibbs, bytes, {"position"}).find("chain: position has the signed output -") == 0);
  const BayesPointMachine billiard(kernel, quick_billiard, kept_hard);
  const Bytes of_billiard = bpm::model_bytes(billiard.train(inputs, labels));
  CHECK(times(-1, billiard, of_billiard, {"inside"})
            .find("chain: position has the signed output -") == 0);
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"position", "direction", "outputs"},
        {"position", "outputs"},
        {"position"},
        {"direction"},
        {"outputs"},
        {"rest", "jumps.sums"}}) {
    for (const double factor : {-1.0, 0.0, 1e-9, 1e9, 1e100}) {
      CAPTURE(keys, factor);
      CHECK(times(factor, billiard, of_billiard, keys) == "nothing was thrown");
    }
  }
  // Of the rest of a ball any number is taken.
  for (const char* key : {"facet_towards", "facet_distance", "until_refresh", "path", "spacing"}) {
    for (const double number : {1e-300, 1000.0, 1e300}) {
      const Bytes other = with_metadata(
          of_billiard, "training", [&](auto& t) { t["states"][0]["chains"][1][key] = number; });
      CAPTURE(key, number);
      CHECK(message_of([&, &x = inputs, &y = labels] {
              bpm::resume(billiard, x, y, other, "t").add_draws(20);
            }) == "nothing was thrown");
    }
  }
}

TEST_CASE("a choice of the boundary is there where it was to be made") {
  const auto [inputs, labels] = noisy_stripes(40, 2, 0.1);
  const BayesPointMachine machine(kernel, PermutedPerceptron{});
  const Bytes bytes = bpm::model_bytes(machine.train(inputs, labels));
  const auto refusal = [&, &x = inputs, &y = labels](const auto& change) {
    return message_of(
        [&] { (void)bpm::resume(machine, x, y, with_metadata(bytes, "training", change), "t"); });
  };
  using Json = nlohmann::json;
  CHECK(refusal([](Json& t) { t.erase("boundary"); }) ==
        "t: training: boundary is missing, must have been chosen");
  CHECK(refusal([](Json& t) { t["boundary"]["relative_lambda"] = 1e101; }) ==
        "t: SoftBoundary::relative: factor is 1e+101, must be below 1e+100");
}

TEST_CASE("a choice that a run began with is of that run, and none standardises") {
  const auto& [inputs, labels] = ring_points();
  const auto begun = [](double lambda) {
    return BayesPointMachine(
        kernel, PermutedPerceptron{.draws = 1},
        FitSettings{.boundary_choice = bpm::BoundaryChoice{.relative_lambda = lambda}});
  };
  const Bytes bytes = bpm::model_bytes(begun(0.1).train(inputs, labels));
  const auto refusal = [&, &x = inputs, &y = labels](const auto& machine) {
    return message_of([&] { (void)bpm::resume(machine, x, y, bytes, "t"); });
  };
  CHECK(refusal(begun(0.1)) == "nothing was thrown");
  CHECK(refusal(begun(0.2)).starts_with("t belongs to another run: other soft boundary; "));
  FitSettings scaled = begun(0.1).settings();
  scaled.standardise = true;
  CHECK(refusal(BayesPointMachine(kernel, PermutedPerceptron{.draws = 1}, scaled))
            .starts_with("resume: standardise is true, must be false of a training: "));
}

TEST_CASE("damage of a training is noticed") {
  const auto& [inputs, labels] = ring_points();
  const BayesPointMachine machine(kernel, quick_billiard, kept_hard);
  const Bytes bytes = bpm::model_bytes(machine.train(inputs, labels));
  const auto refusal = [&, &x = inputs, &y = labels](const Bytes& other) {
    return message_of([&] { (void)bpm::resume(machine, x, y, other, "t"); });
  };
  CHECK(refusal(bytes) == "nothing was thrown");
  Bytes other = bytes;
  other.back() ^= std::byte{1};
  CHECK(refusal(other) == "t is damaged: its checksum is wrong");
  CHECK(refusal(resealed(other)) != "t is damaged: its checksum is wrong");
  // A name, a shape, a string.
  const auto with = [&](std::string_view old, std::string_view text) {
    Bytes changed = bytes;
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t place = all.find(old);
    REQUIRE(place != std::string_view::npos);
    std::memcpy(changed.data() + place, text.data(), text.size());
    return refusal(changed);
  };
  CHECK(with("means.0.outputs", "means.0.outputz") == "t is damaged: its checksum is wrong");
  CHECK(with("\"shape\":[24]", "\"shape\":[4,6]") != "nothing was thrown");
  CHECK(with("\"format\":\"2\"", "\"format\":\"1\"")
            .find("t is of format 1, this library reads format 2; take the library's version") ==
        0);
  CHECK(with("seed: 1", "seed: 2") == "t is damaged: its checksum is wrong");
}

TEST_CASE("changed bytes of a training are refused, or go on without harm") {
  bpm::RowMatrix<double> inputs = noisy_stripes(9, 2, 0.0).inputs.cast<double>();
  const std::vector<int> labels = noisy_stripes(9, 2, 0.0).labels;
  bpm::RandomEngine engine(5);
  for_each_sampler([&](const char* name, const auto& sampler) {
    CAPTURE(name);
    const auto machine = machine_of(3, kernel, sampler, kept_hard);
    const Bytes bytes = bpm::model_bytes(machine.train(inputs, labels));
    int refused = 0;
    int loaded = 0;
    for (int round = 0; round < 400; ++round) {
      Bytes other = bytes;
      if (round % 40 == 0) other.resize(bpm::uniform_below(engine, std::uint32_t(other.size())));
      const std::string_view meant = "0123456789-+.eE{}[]\",:ntf";
      for (std::uint32_t n = bpm::uniform_below(engine, 3U); n < 3 && !other.empty(); ++n) {
        other[bpm::uniform_below(engine, std::uint32_t(other.size()))] =
            static_cast<std::byte>(bpm::uniform_below(engine, 2U) == 0
                                       ? bpm::uniform_below(engine, 256U)
                                       : std::uint32_t(meant[bpm::uniform_below(engine, 25U)]));
      }
      try {  // As damage leaves it: only what changes nothing is taken.
        const auto training = bpm::resume(machine, inputs, labels, other);
        CHECK(bpm::model_bytes(training) == bytes);
      } catch (const bpm::DataError&) {
      }
      try {  // As somebody leaves it who wants it read.
        auto training = bpm::resume(machine, inputs, labels, resealed(other));
        ++loaded;
        try {
          (void)training.classifier();
          training.add_draws(2);
        } catch (const std::invalid_argument&) {  // Numbers that do not belong together.
        }
      } catch (const bpm::DataError&) {
        ++refused;
      }
    }
    CHECK(refused > 20);
    CHECK(loaded > 20);
  });
}

}  // namespace training_file_tests
