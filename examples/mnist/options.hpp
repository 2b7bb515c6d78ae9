// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/version_space/soft_boundary.hpp"
#include "common/mnist_data.hpp"
#include "common/options.hpp"
#include "common/program.hpp"
#include "features.hpp"
#include "report.hpp"

/// \file
/// The command line of the mnist program.

namespace bpm_examples {

/// What the command line says. The defaults are the experiment of "Large Scale Bayes Point
/// Machines", section 4.
struct MnistOptions {
  CommonOptions common;
  Eigen::Index train = mnist_train_size;
  Eigen::Index test = mnist_test_size;
  std::string sampler = "perceptron";
  std::uint64_t draws = 10;
  std::string kernel = "polynomial";
  int degree = 5;  ///< With gradient features 15.
  double offset = 1;
  std::optional<double> width;  ///< Absent: one that suits the inputs.
  int depth = 3;
  bool normalise = false;  ///< With gradient features always.
  std::optional<double> lambda;
  std::optional<double> lambda_relative;
  bool lambda_automatic = false;
  bool even_odd = false;
  std::optional<double> risk;  ///< A share, to be guaranteed with 1 - delta.
  double delta = 0.01;
  std::size_t memory = std::size_t{2} << 30U;
  bool bytes = true;  ///< Inputs are the images' bytes, not floats.
  ImageOptions image;
  int fold = 0;  ///< 1 to 5: judged by other training digits.
  bool floor = false;
  bool verify = false;
  RejectionScore reject = RejectionScore::largest;
  std::string pictures;  ///< File to draw digits in; empty: none.

  /// The width of the Gaussian. Digits of pixels / 255 lie about 10 apart, those of unit norm 1.
  [[nodiscard]] double gaussian_width() const { return width.value_or(normalise ? 0.6 : 6.0); }

  [[nodiscard]] bpm::SoftBoundary soft_boundary() const {
    return lambda_automatic  ? bpm::SoftBoundary::automatic()
           : lambda          ? bpm::SoftBoundary::uniform(*lambda)
           : lambda_relative ? bpm::SoftBoundary::relative(*lambda_relative)
                             : bpm::SoftBoundary::hard();
  }

  [[nodiscard]] bpm::RuntimeKernel make_kernel() const {
    if (kernel == "polynomial") {
      return bpm::Polynomial(degree, 1, offset);
    }
    if (kernel == "gaussian") {
      return bpm::Gaussian::from_width(gaussian_width());
    }
    if (kernel == "arc-cosine") {
      return bpm::ArcCosine(depth);
    }
    return bpm::Linear();
  }

  /// For the screen and the file of results.
  [[nodiscard]] std::string kernel_formula() const {
    std::ostringstream text;
    if (kernel == "polynomial") {
      text << "(<x, x'> + " << offset << ")^" << degree;
    } else if (kernel == "gaussian") {
      text << "exp(-|x - x'|^2 / " << gaussian_width() << "^2)";
    } else if (kernel == "arc-cosine") {
      text << "arc-cosine of depth " << depth;
    } else {
      text << "<x, x'>";
    }
    return text.str();
  }
};

/// Reads the command line. Throws as `parse_options`, and `UsageError` for an option of another
/// kernel than the chosen one.
[[nodiscard]] inline MnistOptions parse_mnist_options(int argc, const char* const* argv) {
  MnistOptions options;
  CLI::App app{
      "Bayes point machines on handwritten digits: permuted kernel perceptrons or Markov chains, "
      "ten "
      "classes one against the rest, error and rejection curve on the test digits. Without MNIST "
      "at hand it draws digits of its own and says so."};
  add_digit_count_options(app, options.train, options.test);
  app.add_option(
         "--sampler", options.sampler,
         "How classifiers are drawn (default: perceptron). The chains of billiard and gibbs "
         "keep matrices of N x N numbers: give --train N, a few thousand, or much --memory")
      ->check(CLI::IsMember({"perceptron", "billiard", "gibbs"}).description(""))
      ->type_name("perceptron|billiard|gibbs");
  auto* draws = add_whole_option(app, "--draws", options.draws,
                                 "Classifiers a class to draw (default: 10, of chains 100)", 1,
                                 1'000'000'000);
  app.add_option("--kernel", options.kernel, "Kernel (default: polynomial)")
      ->check(CLI::IsMember({"polynomial", "gaussian", "arc-cosine", "linear"}).description(""))
      ->type_name("polynomial|gaussian|arc-cosine|linear");
  auto* degree = add_whole_option(
                     app, "--degree", options.degree,
                     "Polynomial: (<x, x'> + C)^D (default: 5, with --features gradient 15)", 1, 64)
                     ->type_name("D");
  auto* offset = add_real_option(app, "--offset", options.offset,
                                 "Polynomial: (<x, x'> + C)^D (default: 1)", 0, 1e15)
                     ->type_name("C");
  double width_value = 0;
  auto* width = add_real_option(app, "--width", width_value,
                                "Gaussian: exp(-|x - x'|^2 / W^2) (default: 6, with --normalise "
                                "0.6)",
                                1e-6, 1e6)
                    ->type_name("W");
  auto* depth =
      add_whole_option(app, "--depth", options.depth,
                       "Arc-cosine: layers of the network, 1: the cosine (default: 3)", 1, 1000)
          ->type_name("L");
  app.add_flag("--normalise", options.normalise,
               "Scale each digit to unit norm (default: pixels / 255; features always)");
  std::string lambda_text;
  double relative_value = 0;
  auto* lambda =
      app.add_option("--lambda", lambda_text,
                     "Soft boundary: adds L to k(x, x) in training; automatic: chosen by "
                     "folds (default: hard boundaries)")
          ->type_name("L|automatic");
  auto* relative = add_real_option(app, "--lambda-relative", relative_value,
                                   "Soft boundary: adds L k(x, x) instead", 0, 1e6)
                       ->type_name("L")
                       ->excludes(lambda);
  app.add_flag("--even-odd", options.even_odd, "Two classes: even digits and odd ones");
  double risk_percent = 0;
  auto* risk = add_real_option(app, "--risk", risk_percent,
                               "Set the last sixth of the training digits aside, and guarantee by "
                               "them that of the accepted digits at most so many percent are wrong",
                               1e-6, 99.999999)
                   ->type_name("PERCENT");
  add_real_option(app, "--delta", options.delta, "With --risk: but for this chance (default: 0.01)",
                  1e-12, 0.999999)
      ->type_name("D")
      ->needs(risk);
  add_bytes_option(app, "--memory", options.memory,
                   "Working memory beside the inputs, with k, M or G (default: 2G)");
  std::string features = "pixels";
  app.add_option("--features", features,
                 "What kernels see of an image: its pixels, or how much gradient of each direction "
                 "there is in each cell (default: pixels)")
      ->check(CLI::IsMember({"pixels", "gradient"}).description(""))
      ->type_name("pixels|gradient");
  app.add_flag("--slant-removal", options.image.upright,
               "Set every image upright before anything looks at it");
  auto* copies_by =
      app.add_option(
             "--virtual", options.image.copies_by,
             "Train on copies of every digit as well, shifted by a pixel or deformed, every "
             "draw on copies of its own (default: none)")
          ->check(CLI::IsMember({"shifts", "elastic"}).description(""))
          ->type_name("shifts|elastic");
  auto* copies =
      add_whole_option(app, "--copies", options.image.copies,
                       "With --virtual: copies of a digit in a draw (default: 4)", 1, 1'000'000)
          ->needs(copies_by);
  auto* fold = add_whole_option(app, "--validate", options.fold,
                                "Judge by block FOLD of 10000 among the first 50000 training "
                                "digits, and train on the other 40000: for choices, which the test "
                                "digits must not see",
                                1, 5)
                   ->type_name("FOLD")
                   ->excludes(risk);
  std::string input;
  app.add_option("--input", input,
                 "What kernels are computed from: the images' bytes, by exact integer products, or "
                 "floats (default: byte, of chains float)")
      ->check(CLI::IsMember({"float", "byte"}).description(""))
      ->type_name("float|byte");
  app.add_flag("--floor", options.floor,
               "Measure the machine's rate of matrix products, and show the least time that the "
               "kernel values could take");
  app.add_flag("--verify", options.verify,
               "Count the training errors of every single draw anew, from its coefficients");
  std::string reject = "largest";
  app.add_option("--reject", reject,
                 "Score to reject by that is shown first: the largest output, or the gap of the "
                 "best two (default: largest)")
      ->check(CLI::IsMember({"largest", "gap"}).description(""))
      ->type_name("largest|gap");
  app.add_option("--pictures", options.pictures,
                 "Draw the surest mistakes and the digits that are rejected first, with the "
                 "training digits that spoke for and against them")
      ->type_name("FILE.svg");
  add_common_options(app, options.common,
                     {"mnist --features gradient --virtual elastic --pictures a.svg",
                      "mnist --normalise --json a.json --plot a.svg"});
  parse_options(app, argc, argv);

  const auto only_for = [&](const CLI::Option* option, const char* kernel) {
    if (option->count() > 0 && options.kernel != kernel) {
      throw UsageError(option->get_name() + " belongs to --kernel " + kernel + ", not to " +
                       options.kernel);
    }
  };
  only_for(degree, "polynomial");
  only_for(offset, "polynomial");
  only_for(width, "gaussian");
  only_for(depth, "arc-cosine");
  options.image.gradient = features == "gradient";
  if (options.image.gradient) {
    options.normalise = true;
    if (degree->count() == 0) options.degree = 15;
  }
  if (copies_by->count() > 0) {
    if (copies->count() == 0) options.image.copies = 4;
    if (options.sampler != "perceptron" || input == "float" || lambda_text == "automatic") {
      throw UsageError(
          "--virtual belongs to --sampler perceptron, --input byte, and a lambda that "
          "is not chosen");
    }
    if (options.verify) {
      throw UsageError("--verify looks at one training set, with --virtual every draw has its own");
    }
    if (options.image.copies_by == "shifts" && options.image.copies > 24) {
      throw UsageError("--copies: there are 24 shifts by up to two pixels");
    }
  }
  if (fold->count() > 0) {
    if (app.get_option("--train")->count() + app.get_option("--test")->count() > 0) {
      throw UsageError(
          "--validate takes 40000 training digits and judges 10000: without --train "
          "and --test");
    }
    options.train = 40000;
    options.test = 10000;
  }
  if (draws->count() == 0 && options.sampler != "perceptron") {
    options.draws = 100;
  }
  options.bytes = input.empty() ? options.sampler == "perceptron" : input == "byte";
  if (options.bytes && options.sampler != "perceptron") {
    throw UsageError("--input byte belongs to --sampler perceptron, not to " + options.sampler +
                     ", which works on a matrix of floats");
  }
  if (width->count() > 0) {
    options.width = width_value;
  }
  if (lambda_text == "automatic") {
    options.lambda_automatic = true;
  } else if (lambda->count() > 0) {
    try {
      options.lambda = parse_real(lambda_text, 0, 1e30);
    } catch (const std::invalid_argument& error) {
      throw UsageError(std::string("--lambda: ") + error.what());
    }
  }
  if (risk->count() > 0) {
    options.risk = risk_percent / 100;
    if (options.train < 12) throw UsageError("--risk: --train must be 12 or more");
  }
  if (relative->count() > 0) {
    options.lambda_relative = relative_value;
  }
  options.reject = reject == "gap" ? RejectionScore::gap : RejectionScore::largest;
  return options;
}

}  // namespace bpm_examples
