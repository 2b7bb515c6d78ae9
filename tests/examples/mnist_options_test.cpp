// SPDX-License-Identifier: MIT
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bpm/decision/scores.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "mnist/options.hpp"

using bpm_examples::MnistOptions;
using Catch::Matchers::ContainsSubstring;

namespace {

MnistOptions parse_mnist(const std::vector<std::string>& words) {
  std::vector<const char*> argv{"mnist"};
  for (const auto& word : words) {
    argv.push_back(word.c_str());
  }
  return bpm_examples::parse_mnist_options(static_cast<int>(argv.size()), argv.data());
}

/// The kernel that it is; throws where it is another.
template <class Kernel>
Kernel kernel_as(const bpm::RuntimeKernel& kernel) {
  std::optional<Kernel> found;
  kernel.visit([&]<class Found>(const Found& one) {
    if constexpr (std::same_as<Found, Kernel>) found = one;
  });
  return found.value();
}

}  // namespace

TEST_CASE("without options the experiment is the paper's", "[examples]") {
  const MnistOptions options = parse_mnist({});
  CHECK(options.train == 60000);
  CHECK(options.test == 10000);
  CHECK(options.draws == 10);
  CHECK(options.common.seed == 1);
  CHECK(options.memory == std::size_t{2} << 30U);
  CHECK_FALSE(options.normalise);
  CHECK(options.bytes);
  CHECK_FALSE(options.floor);
  CHECK_FALSE(options.verify);
  CHECK(options.reject == bpm_examples::RejectionScore::largest);
  const auto kernel = kernel_as<bpm::Polynomial>(options.make_kernel());
  CHECK(kernel.degree() == 5);
  CHECK(kernel.scale() == 1);
  CHECK(kernel.offset() == 1);
  CHECK(options.kernel_formula() == "(<x, x'> + 1)^5");
}

TEST_CASE("every kernel takes its own parameters", "[examples]") {
  const auto polynomial = parse_mnist({"--degree", "9", "--offset", "0.5"});
  CHECK(kernel_as<bpm::Polynomial>(polynomial.make_kernel()).degree() == 9);
  CHECK(kernel_as<bpm::Polynomial>(polynomial.make_kernel()).offset() == 0.5);
  CHECK(polynomial.kernel_formula() == "(<x, x'> + 0.5)^9");

  const auto gaussian = parse_mnist({"--kernel", "gaussian", "--width", "2"});
  CHECK(kernel_as<bpm::Gaussian>(gaussian.make_kernel()).gamma() == 0.25);
  CHECK(gaussian.kernel_formula() == "exp(-|x - x'|^2 / 2^2)");
  CHECK(parse_mnist({"--kernel", "gaussian"}).gaussian_width() == 6);
  CHECK(parse_mnist({"--kernel", "gaussian", "--normalise"}).gaussian_width() == 0.6);

  const auto arc_cosine = parse_mnist({"--kernel", "arc-cosine", "--depth", "7"});
  CHECK(kernel_as<bpm::ArcCosine>(arc_cosine.make_kernel()).depth() == 7);
  CHECK(arc_cosine.kernel_formula() == "arc-cosine of depth 7");

  const auto linear = parse_mnist({"--kernel=linear"});
  CHECK_NOTHROW(kernel_as<bpm::Linear>(linear.make_kernel()));
  CHECK(linear.kernel_formula() == "<x, x'>");
}

TEST_CASE("the other options are taken", "[examples]") {
  const auto options = parse_mnist({"--train", "7", "--test", "8", "--draws", "9", "--normalise",
                                    "--lambda", "0.5", "--memory", "3M", "--reject", "gap"});
  CHECK(options.train == 7);
  CHECK(options.test == 8);
  CHECK(options.draws == 9);
  CHECK(options.normalise);
  CHECK(options.lambda == 0.5);
  CHECK_FALSE(options.lambda_relative.has_value());
  CHECK(options.memory == std::size_t{3} << 20U);
  CHECK(options.reject == bpm_examples::RejectionScore::gap);
  CHECK(parse_mnist({"--lambda-relative", "0"}).lambda_relative == 0.0);
  CHECK_FALSE(parse_mnist({"--input", "float"}).bytes);
  CHECK(parse_mnist({"--input", "byte"}).bytes);
  CHECK_FALSE(parse_mnist({"--sampler", "billiard"}).bytes);
  CHECK(parse_mnist({"--floor"}).floor);
  CHECK(parse_mnist({"--verify"}).verify);

  const std::vector<int> labels{3, 4};
  const auto diagonal = [](std::ptrdiff_t i) { return i == 0 ? 2.0 : 4.0; };
  CHECK(options.soft_boundary().resolve(diagonal, labels) == std::vector<double>{0.5, 0.5});
  CHECK(parse_mnist({"--lambda-relative", "0.5"}).soft_boundary().resolve(diagonal, labels) ==
        std::vector<double>{1, 2});
  CHECK(parse_mnist({}).soft_boundary().resolve(diagonal, labels).empty());
}

TEST_CASE("options that make no sense are refused by name", "[examples]") {
  const auto refuse = [](const std::vector<std::string>& words, const std::string& part) {
    CAPTURE(words);
    CHECK_THROWS_AS(parse_mnist(words), bpm_examples::UsageError);
    CHECK_THROWS_WITH(parse_mnist(words), ContainsSubstring(part));
  };
  refuse({"--train", "0"}, "--train: '0' is no whole number from 1 to 999999999");
  refuse({"--test", "-1"}, "--test: '-1' is no whole number");
  refuse({"--draws", "0"}, "--draws: '0' is no whole number");
  refuse({"--kernel", "cubic"}, "cubic not in {polynomial,gaussian,arc-cosine,linear}");
  refuse({"--degree", "65"}, "--degree: '65' is no whole number from 1 to 64");
  refuse({"--offset", "-1"}, "--offset: '-1' is no number");
  refuse({"--kernel", "gaussian", "--width", "0"}, "--width: '0' is no number");
  refuse({"--kernel", "arc-cosine", "--depth", "0"}, "--depth: '0' is no whole number");
  refuse({"--lambda", "-0.5"}, "--lambda: '-0.5' is no number");
  refuse({"--lambda", "nan"}, "--lambda: 'nan' is no number");
  refuse({"--lambda", "1", "--lambda-relative", "1"}, "excludes --lambda");
  refuse({"--memory", "2T"}, "--memory: '2T' is no number of bytes");
  refuse({"--reject", "best"}, "best not in {largest,gap}");
  refuse({"--sampler", "coin"}, "coin not in {perceptron,billiard,gibbs}");
  refuse({"--input", "double"}, "double not in {float,byte}");
  refuse({"--sampler", "gibbs", "--input", "byte"},
         "--input byte belongs to --sampler perceptron, not to gibbs");
  refuse({"digits"}, "digits");
  refuse({"--width", "2"}, "--width belongs to --kernel gaussian, not to polynomial");
  refuse({"--depth", "2"}, "--depth belongs to --kernel arc-cosine, not to polynomial");
  refuse({"--kernel", "linear", "--degree", "2"},
         "--degree belongs to --kernel polynomial, not to linear");
  refuse({"--kernel", "gaussian", "--offset", "2"},
         "--offset belongs to --kernel polynomial, not to gaussian");
}

TEST_CASE("the help of mnist shows two examples", "[examples]") {
  CHECK_THROWS_AS(parse_mnist({"--help"}), bpm_examples::HelpRequested);
  CHECK_THROWS_WITH(
      parse_mnist({"--help"}),
      ContainsSubstring(
          "mnist --features gradient --virtual elastic --pictures a.svg\n  mnist --normalise"));
}

TEST_CASE("gradient features have a kernel of their own, virtual examples and folds their limits",
          "[examples]") {
  const MnistOptions gradient = parse_mnist({"--features", "gradient"});
  CHECK(gradient.image.gradient);
  CHECK(gradient.normalise);
  CHECK(gradient.degree > 5);
  CHECK(gradient.image.copies == 0);
  CHECK(parse_mnist({"--features", "gradient", "--degree", "3"}).degree == 3);
  CHECK(parse_mnist({"--features", "pixels"}).degree == 5);

  CHECK(parse_mnist({"--virtual", "elastic"}).image.copies == 4);
  const MnistOptions shifts = parse_mnist({"--virtual", "shifts", "--copies", "24"});
  CHECK(shifts.image.copies_by == "shifts");
  CHECK(shifts.image.copies == 24);
  const auto refused = [](const std::vector<std::string>& words, const std::string& what) {
    CHECK_THROWS_WITH(parse_mnist(words), ContainsSubstring(what));
  };
  refused({"--virtual", "shifts", "--copies", "25"}, "there are 24 shifts");
  refused({"--copies", "3"}, "--virtual");
  refused({"--virtual", "rotations"}, "rotations");
  refused({"--features", "edges"}, "edges");
  for (const std::vector<std::string>& other : std::vector<std::vector<std::string>>{
           {"--sampler", "billiard"}, {"--input", "float"}, {"--lambda", "automatic"}}) {
    std::vector<std::string> words{"--virtual", "elastic"};
    words.insert(words.end(), other.begin(), other.end());
    refused(words, "--virtual belongs to --sampler perceptron");
  }
  refused({"--virtual", "elastic", "--verify"}, "--verify looks at one training set");

  const MnistOptions fold = parse_mnist({"--validate", "3"});
  CHECK(fold.fold == 3);
  CHECK(fold.train == 40000);
  CHECK(fold.test == 10000);
  refused({"--validate", "6"}, "--validate");
  refused({"--validate", "1", "--train", "100"}, "without --train and --test");
  refused({"--validate", "1", "--risk", "1"}, "--risk");
}
