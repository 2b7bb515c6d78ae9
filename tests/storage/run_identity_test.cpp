// SPDX-License-Identifier: MIT
#include "bpm/storage/run_identity.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"

namespace {

using Inputs = bpm::RowMatrix<float>;
using Gram = bpm::detail::OnDemandGram<bpm::Gaussian, Inputs>;

Inputs some_inputs() {
  Inputs inputs(37, 3);
  for (Eigen::Index i = 0; i < inputs.size(); ++i) {
    inputs.data()[i] = static_cast<float>((i * 29) % 31) / 16.0F;
  }
  return inputs;
}

template <class G>
bpm::detail::RunIdentity identity(const G& gram, const std::vector<signed char>& labels,
                                  const std::vector<double>& lambda = {},
                                  const bpm::PermutedPerceptron& sampler = {},
                                  std::uint64_t seed = 1, std::uint64_t left_out = 0) {
  using VersionSpace = bpm::KernelVersionSpace<typename G::Scalar>;
  const VersionSpace space(gram, labels, std::make_shared<const std::vector<double>>(lambda));
  bpm::detail::BlockScratch<typename G::Scalar> scratch;
  bpm::detail::RunIdentity run;
  bpm::detail::add_run(run, sampler, std::span<const VersionSpace>(&space, 1), seed, scratch,
                       left_out);
  return run;
}

struct NestedSettings {
  double width = 0;
  std::optional<int> perhaps;
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("width", self.width, bpm::detail::Bound::positive);
    visit("perhaps", self.perhaps);
  }
};

}  // namespace

TEST_CASE("an identity tells data and settings apart, and says which") {
  const Inputs inputs = some_inputs();
  const auto kernel = bpm::Gaussian::from_sigma(1.0);
  const Gram gram(kernel, inputs);
  std::vector<signed char> labels(37, 1);
  labels[4] = -1;
  const bpm::detail::RunIdentity plain = identity(gram, labels);
  const auto same = [&](const bpm::detail::RunIdentity& other) {
    return plain.text() == other.text() && plain.difference(other).empty();
  };
  CHECK(same(identity(gram, labels)));
  // The last lines are those of every stored run of perceptrons.
  CHECK(plain.text().ends_with("\nmargin: 0.0\norder: 0\n"));
  // However the values are kept, and however many draws are made of them.
  CHECK(same(identity(bpm::detail::DenseGram<float>(gram, 1), labels)));
  CHECK(same(identity(gram, labels, {}, {.draws = 3, .max_passes = 9})));

  std::set<std::string> seen{plain.text()};
  const auto differs = [&](const bpm::detail::RunIdentity& other, const std::string& what) {
    CHECK(seen.insert(other.text()).second);
    CHECK(plain.difference(other) == what);
    const auto mine = plain.parts();
    const auto theirs = other.parts();
    REQUIRE(mine.size() == theirs.size());
    int different = 0;
    for (std::size_t p = 0; p < mine.size(); ++p) different += mine[p] != theirs[p] ? 1 : 0;
    CHECK(different == 1);
  };
  std::vector<signed char> other_labels = labels;
  other_labels[36] = -1;
  differs(identity(gram, other_labels), "labels");
  std::vector<double> lambda(37, 0.0);
  lambda[20] = 0.5;
  CHECK(plain.difference(identity(gram, labels, lambda)) == "soft boundary");
  differs(identity(Gram(bpm::Gaussian::from_sigma(1.001), inputs), labels), "inputs or kernel");
  for (const Eigen::Index place : {0L, 50L, 110L}) {
    Inputs other = inputs;
    other.data()[place] += 1e-3F;
    differs(identity(Gram(kernel, other), labels), "inputs or kernel");
  }
  differs(identity(gram, labels, {}, {}, 2), "seed (2 there, 1 here)");
  differs(identity(gram, labels, {}, {.margin = 0.5}), "margin (0.5 there, 0.0 here)");
  differs(identity(gram, labels, {}, {}, 1, 5),
          "number of draws that leave points out (5 there, 0 here)");

  const Inputs fewer = inputs.topRows(30);
  CHECK(plain.difference(identity(Gram(kernel, fewer), std::vector<signed char>(30, 1))) ==
        "number of points (30 there, 37 here)");
  const bpm::RowMatrix<double> exact = inputs.cast<double>();
  using Doubles = bpm::detail::OnDemandGram<bpm::Gaussian, bpm::RowMatrix<double>>;
  CHECK(plain.difference(identity(Doubles(kernel, exact), labels)) == "byte order or format");
}

TEST_CASE("values of an identity are texts that tell them from all others, or hashes") {
  const auto text = [](const auto& value) {
    bpm::detail::RunIdentity run;
    run("v", value);
    return run.text();
  };
  CHECK(text(true) == "v: true\n");
  CHECK(text(-3) == "v: -3\n");
  CHECK(text(1.0) == "v: 1.0\n");
  CHECK(text(0.1) == "v: 0.1\n");
  CHECK(text(std::nextafter(0.1, 1)) == "v: 0.10000000000000002\n");
  CHECK(text(std::string("word")) == "v: \"word\"\n");
  const std::string list = text(std::vector{1.0, 2.0});
  CHECK(list.starts_with("v: #"));
  CHECK(text(std::vector{1.0, 2.5}) != list);
  CHECK(text(std::vector{1.0, 2.0, 0.0}) != list);
  CHECK(text(std::vector<std::string>{"ab", "c"}) != text(std::vector<std::string>{"a", "bc"}));
}

TEST_CASE("settings of settings, and bounds that only reading asks for") {
  const auto text = [](const NestedSettings& one) {
    bpm::detail::RunIdentity run;
    NestedSettings::visit_members(one, run);
    return run.text();
  };
  CHECK(text({0.5, {}}) == "width: 0.5\nperhaps: none\n");
  CHECK(text({0.5, 3}) == "width: 0.5\nperhaps: 3\n");
  const auto hash = [](const auto& value) {
    bpm::detail::RunIdentity run;
    run("all", value);
    return run.text();
  };
  CHECK(hash(NestedSettings{0.5, 3}).starts_with("all: #"));
  CHECK(hash(NestedSettings{0.5, 3}) == hash(NestedSettings{0.5, 3}));
  CHECK(hash(NestedSettings{0.5, 3}) != hash(NestedSettings{0.5, {}}));
  CHECK(hash(NestedSettings{0.5, 3}) != hash(NestedSettings{0.25, 3}));
  CHECK(hash(std::vector{NestedSettings{0.5, 3}}) != hash(std::vector{NestedSettings{0.25, 3}}));
}

TEST_CASE("what is no identity, or lacks a part, is another one") {
  bpm::detail::RunIdentity run;
  run("first", 1);
  run("second", std::vector{1.0});
  const auto difference = [&](std::string text) {
    return run.difference(bpm::detail::RunIdentity(std::move(text)));
  };
  CHECK(difference(run.text()).empty());
  CHECK(difference("") == "first");
  CHECK(difference("first: 2\n") == "first (2 there, 1 here)");
  CHECK(difference("first: 1\n") == "second");
  CHECK(difference("first") == "first ( there, 1 here)");
  CHECK(difference("\n: \n:: :\n") == "first");
  CHECK(difference(run.text() + "more: 1\n") == "settings");
}

TEST_CASE("an identity sees the diagonal, groups of 16, and four points with all") {
  // 37 points, whose value of one pair is another: of 0, 9, 18 and 27 with any.
  std::vector<int> points(37);
  std::iota(points.begin(), points.end(), 0);
  const std::vector<signed char> labels(37, 1);
  const auto of_pair = [&](int i, int j) {
    const auto kernel = [i, j](int a, int b) {
      const bool there = (a == i && b == j) || (a == j && b == i);
      return std::exp(-0.1 * std::abs(a - b)) + (there ? 1e-9 : 0.0);
    };
    using Values =
        bpm::detail::OnDemandGram<std::remove_const_t<decltype(kernel)>, std::vector<int>>;
    return identity(Values(kernel, points), labels);
  };
  const bpm::detail::RunIdentity plain = of_pair(-1, -1);
  const std::vector<std::pair<int, int>> seen{{0, 0},   {36, 36}, {0, 15}, {16, 31},
                                              {32, 36}, {0, 36},  {9, 20}, {9, 36},
                                              {18, 2},  {18, 36}, {27, 5}, {27, 36}};
  for (const auto& [i, j] : seen) {
    CAPTURE(i, j);
    CHECK(plain.difference(of_pair(i, j)) == "inputs or kernel");
  }
}
