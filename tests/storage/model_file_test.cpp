// SPDX-License-Identifier: MIT
#include "bpm/storage/model_file.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/one_vs_one.hpp"
#include "bpm/machine/table_encoding.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "model_mutants.hpp"
#include "noisy_points.hpp"
#include "noted.hpp"
#include "places.hpp"
#include "standardising.hpp"
#include "temporary_folder.hpp"

namespace {

using bpm::BayesPointMachine;
using bpm::Classifier;
using bpm::Gaussian;
using bpm::OneVsRest;
using bpm::PermutedPerceptron;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using test_support::load_mutants;
using test_support::message_of;
using test_support::noisy_rings;
using test_support::noted;
using test_support::Places;
using test_support::standardising;
using test_support::through_bytes;
using test_support::with_first_number;
using test_support::with_metadata_text;
using test_support::with_text;
using Bytes = std::vector<std::byte>;
using Floats = bpm::RowMatrix<float>;
using Small = bpm::Classifier<bpm::Gaussian, Floats>;

/// A kernel of a user's own that cannot be stored.
struct Unnamed {
  double operator()(const std::string&, const std::string&) const { return 1; }
};

static_assert(bpm::detail::StorableKernel<Gaussian>);
static_assert(bpm::detail::StorableKernel<Places>);
static_assert(!bpm::detail::StorableKernel<Unnamed>);

/// The same classifier after a way through bytes, and a check that both agree to the bit.
template <class C, class Queries>
C there_and_back(const C& classifier, const Queries& queries) {
  const C back = through_bytes(classifier);
  CHECK(back.decision_values(queries) == classifier.decision_values(queries));
  return back;
}

/// A classifier by parts, with every input as support, as a file asks for no fit: each one would
/// compile a machine.
template <class Kernel, class I>
Classifier<Kernel, I> classifier_of(const Kernel& kernel, const I& inputs,
                                    const std::vector<int>& labels) {
  const auto m = static_cast<Eigen::Index>(labels.size());
  std::vector<bpm::PointIndex> support(labels.size());
  std::iota(support.begin(), support.end(), bpm::PointIndex{0});
  bpm::RowMatrix<double> coefficients(m, 1);
  for (Eigen::Index i = 0; i < m; ++i) {
    const double size = 1 / (1.0 + static_cast<double>(i));
    coefficients(i, 0) = labels[static_cast<std::size_t>(i)] == 0 ? -size : size;
  }
  return Classifier<Kernel, I>(bpm::ClassifierParts<Kernel, I>{.kernel = kernel,
                                                               .inputs = inputs,
                                                               .support = support,
                                                               .coefficients = coefficients,
                                                               .classes = {0, 1},
                                                               .bias = 0.3},
                               {.training_points = labels.size()});
}

/// A small model, made once.
const Small& small_model() {
  static const auto model = [] {
    const auto [inputs, labels] = noisy_rings(60, 3, 0.05);
    auto fitted =
        OneVsRest(BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 3},
                                    {.seed = 2, .keep_draws = true}))
            .fit(inputs, labels);
    fitted.notes.class_names = {"inner", "middle", "outer"};
    return fitted;
  }();
  return model;
}

Small named(std::vector<std::string> names) {
  return noted(small_model(), [&](bpm::Notes& notes) { notes.class_names = std::move(names); });
}
Small rejecting(const std::string& score, double threshold) {
  return noted(small_model(), [&](bpm::Notes& notes) { notes.rejection = {score, {threshold}}; });
}

std::string refusal_of_model(const Bytes& bytes) {
  return message_of([&] { (void)bpm::load<Small>(bytes, "m"); });
}

}  // namespace

TEST_CASE("a loaded classifier predicts to the bit, and has all its parts") {
  const auto [inputs, labels] = noisy_rings(60, 3, 0.05);
  const auto& model = small_model();
  const auto back = there_and_back(model, inputs);
  CHECK(back.predict_probability(inputs) == model.predict_probability(inputs));
  CHECK(back.predict_names(inputs) == model.predict_names(inputs));
  CHECK(back.vote_fractions(inputs) == model.vote_fractions(inputs));
  const auto& a = model.parts();
  const auto& b = back.parts();
  CHECK(b.kernel.gamma() == a.kernel.gamma());
  CHECK(b.inputs == a.inputs);
  CHECK(b.support == a.support);
  CHECK(b.coefficients == a.coefficients);
  CHECK(b.classes == a.classes);
  CHECK(b.bias == a.bias);
  CHECK(b.mean_norms == a.mean_norms);
  CHECK(b.training_margins == a.training_margins);
  CHECK(b.training_errors == a.training_errors);
  const bpm::Notes& old = model.notes;
  const bpm::Notes& kept = back.notes;
  CHECK(kept.training_seconds == old.training_seconds);
  CHECK(kept.seed == 2);
  REQUIRE(kept.boundary);
  CHECK(kept.boundary->relative_lambda == old.boundary->relative_lambda);
  REQUIRE(kept.boundary->candidates.size() == old.boundary->candidates.size());
  for (std::size_t i = 0; i < old.boundary->candidates.size(); ++i) {
    CHECK(kept.boundary->candidates[i].loss == old.boundary->candidates[i].loss);
  }
  REQUIRE(kept.report.perceptron);
  CHECK(kept.report.perceptron->mistakes == old.report.perceptron->mistakes);
  CHECK(kept.report.mistaken_points == old.report.mistaken_points);
  CHECK(kept.report.converged);
  CHECK_FALSE(kept.report.chains);
  CHECK(kept.forecast.strategy == old.forecast.strategy);
  CHECK(kept.forecast.total() == old.forecast.total());
}

TEST_CASE("a model of pairs of classes comes back") {
  const auto [inputs, labels] = noisy_rings(80, 4, 0.05);
  const auto model =
      bpm::OneVsOne(BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 3},
                                      {.seed = 2, .keep_draws = true}))
          .fit(inputs, labels);
  const auto back = there_and_back(model, inputs);
  CHECK(back.parts().one_against_one);
  CHECK(back.parts().coefficients.cols() == 6);
  CHECK(back.notes.boundary->candidates[0].one_against_one);
  CHECK(back.predict_probability(inputs) == model.predict_probability(inputs));
  CHECK(back.vote_fractions(inputs) == model.vote_fractions(inputs));
  CHECK_FALSE(small_model().parts().one_against_one);
}

TEST_CASE("every kind of inputs, kernel and sampler comes back") {
  const auto [inputs, labels] = noisy_rings(40, 2, 0.05);
  const bpm::FitSettings settings{.seed = 4};
  SECTION("double, scaled, by a billiard, with its chains") {
    const bpm::RowMatrix<double> doubles = inputs.cast<double>();
    const auto back = there_and_back(
        standardising(BayesPointMachine(bpm::biased(bpm::scaled(bpm::Laplacian(2), 3), 0.5),
                                        bpm::Billiard{.bounces = 2000}, settings))
            .fit(doubles, labels),
        doubles);
    REQUIRE(back.report().chains);
    CHECK(back.report().chains->steps > 0);
    CHECK(back.parts().standardisation->mean.size() == 2);
    CHECK(back.parts().standardisation->constant.empty());
  }
  SECTION("scaled, with columns that were constant") {
    bpm::RowMatrix<float> padded(inputs.rows(), 4);
    padded << Eigen::VectorXf::Constant(inputs.rows(), 3), inputs,
        Eigen::VectorXf::Constant(inputs.rows(), 5);
    const auto fitted =
        standardising(BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{}, settings))
            .fit(padded, labels);
    const auto back = there_and_back(fitted, padded);
    CHECK(back.parts().standardisation->constant == std::vector<Eigen::Index>{0, 3});
    // They say nothing, whatever they become.
    bpm::RowMatrix<float> other = padded;
    other.col(0).setConstant(100);
    other.col(3).setConstant(-7);
    CHECK(back.decision_values(other) == fitted.decision_values(padded));
  }
  SECTION("bytes") {
    const bpm::RowMatrix<std::uint8_t> bytes =
        (inputs.array() * 20 + 128).cwiseMin(255).cwiseMax(0).cast<std::uint8_t>();
    there_and_back(classifier_of(bpm::Polynomial(3, 1.0 / 65025), bytes, labels), bytes);
  }
  SECTION("sparse") {
    bpm::SparseRowMatrix<float> sparse = inputs.sparseView();
    sparse.conservativeResize(40, 5);
    const auto kernel =
        bpm::sum(bpm::Linear{}, bpm::product(bpm::Exponential(2), Gaussian::from_width(1)));
    there_and_back(classifier_of(kernel, sparse, labels), sparse);
  }
  SECTION("strings, a user's own kernel") {
    std::vector<std::string> words;
    for (const int label : labels) words.push_back(label == 0 ? "abc" : "xbcd");
    there_and_back(classifier_of(Places{0.5}, words, labels), words);
  }
  SECTION("a matrix of the user's") {
    const Floats values = bpm::kernel_matrix(Gaussian::from_width(1), inputs).cast<float>();
    const auto back =
        there_and_back(BayesPointMachine(bpm::PrecomputedKernel{}, PermutedPerceptron{}, settings)
                           .fit(values, labels),
                       values);
    CHECK(back.parts().inputs.cols() == 40);
  }
  SECTION("kernels of the angle") {
    there_and_back(
        classifier_of(bpm::normalised(bpm::on_unit_inputs(bpm::ArcCosine(3))), inputs, labels),
        inputs);
  }
}

TEST_CASE("files and streams hold what bytes do, and a failed save leaves the old file") {
  const test_support::TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  bpm::save(small_model(), path);
  CHECK(bpm::model_bytes(bpm::load<Small>(path)) == bpm::model_bytes(small_model()));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);

  std::stringstream stream;
  bpm::save(small_model(), stream);
  CHECK(bpm::model_bytes(bpm::load<Small>(stream)) == bpm::model_bytes(small_model()));
  stream.setstate(std::ios::badbit);
  CHECK_THROWS_AS(bpm::save(small_model(), stream), std::ios_base::failure);

  CHECK_THAT(message_of([&] { bpm::save(small_model(), folder.path() / "no" / "model"); }),
             ContainsSubstring("save: ") && ContainsSubstring("cannot be written: open: ") &&
                 ContainsSubstring("; what was there before is whole"));
  CHECK(message_of([&] { (void)bpm::load<Small>(folder.path() / "none"); }) ==
        (folder.path() / "none").string() + ": cannot be opened for reading");
  CHECK(message_of([&] { (void)bpm::load<Small>(folder.path()); }) ==
        folder.path().string() + ": is a directory, expected a file");
}

TEST_CASE("a model of another kind is refused by a sentence") {
  const Bytes bytes = bpm::model_bytes(small_model());
  CHECK(message_of([&] { (void)bpm::load<Classifier<bpm::Linear, Floats>>(bytes, "m"); }) ==
        "m: the kernel is 'gaussian', expected 'linear'");
  CHECK(message_of([&] {
          (void)bpm::load<Classifier<Gaussian, std::vector<std::string>>>(bytes, "m");
        }) == "m has inputs of the kind 'dense', expected 'strings'");
  CHECK(message_of([&] {
          (void)bpm::load<Classifier<Gaussian, bpm::RowMatrix<double>>>(bytes, "m");
        }) == "m: the array 'inputs' is of type F32, must be F64");
  CHECK(refusal_of_model(with_text(bytes, "bpm classifier", "abc classifier")) ==
        "m is no model of this library");
  CHECK_THAT(refusal_of_model(with_text(bytes, R"("format":"1")", R"("format":"2")")),
             ContainsSubstring("m is of format 2, this library reads format 1; take the library's "
                               "version that wrote it, "));
  CHECK_THAT(refusal_of_model(with_text(bytes, R"(\"gamma\":1.0)", R"(\"gamma\":-10)")),
             ContainsSubstring("m: the kernel 'gaussian' cannot be made: "));
  CHECK(
      refusal_of_model(with_text(bytes, R"(\"gamma\")", R"(\"gemma\")")).find("cannot be made: ") !=
      std::string::npos);
  CHECK(refusal_of_model(with_text(bytes, R"(\"classes\")", R"(\"klasses\")")) ==
        "m: model.classes is missing");
  CHECK(refusal_of_model(with_text(bytes, R"(\"classes\":[0,1,2])", R"(\"classes\":[0,2,1])")) ==
        "m: Classifier: classes at 2 is 1 after 2, must ascend");
  CHECK(refusal_of_model(with_text(bytes, R"(\"classes\":[0,1,2])", R"(\"classes\":[0,1.5])")) ==
        "m: model.classes at 1 is no whole number");
  CHECK(refusal_of_model(with_text(bytes, R"(\"converged\":true)", R"(\"converged\":null)")) ==
        "m: model.report.converged is no boolean");
  CHECK(refusal_of_model(
            with_text(bytes, R"(\"strategy\":\"dense\")", R"(\"strategy\":\"tense\")")) ==
        "m: model.forecast.strategy is the unknown 'tense'");
  CHECK(refusal_of_model(with_metadata_text(bytes, "model", "[]")) ==
        "m: 'model' is no JSON object");
}

TEST_CASE("a model of a user's matrix says of how many points it is") {
  const bpm::RowMatrix<double> values = bpm::RowMatrix<double>::Identity(4, 4);
  const auto model = BayesPointMachine(bpm::PrecomputedKernel{}, PermutedPerceptron{.draws = 2})
                         .fit(values, std::vector<int>{0, 1, 0, 1});
  const Bytes bytes = bpm::model_bytes(model);
  const auto refusal = [&](std::int64_t points) {
    return message_of([&] {
      (void)bpm::load<std::remove_cvref_t<decltype(model)>>(
          with_first_number(bytes, "inputs.points", points), "m");
    });
  };
  CHECK(refusal(4) == "nothing was thrown");
  CHECK(refusal(-1) == "m: the number of training points is missing");
  CHECK(refusal(std::int64_t{1} << 31U) == "m: the number of training points is missing");
}

TEST_CASE("a number of points is one, and support points are numbers that points have") {
  const bpm::RowMatrix<double> values = bpm::RowMatrix<double>::Identity(4, 4);
  const auto model = BayesPointMachine(bpm::PrecomputedKernel{}, PermutedPerceptron{.draws = 2})
                         .fit(values, std::vector<int>{0, 1, 0, 1});
  const Bytes bytes = bpm::model_bytes(model);
  const auto refusal = [](const Bytes& of) {
    return message_of([&] { (void)bpm::load<std::remove_cvref_t<decltype(model)>>(of, "m"); });
  };
  // The same file, with as many numbers of points.
  const auto with_points = [&](const std::vector<std::int64_t>& points) {
    const bpm::detail::TensorFile file(bytes, "m");
    bpm::detail::TensorFileWriter writer;
    for (const char* const key : {"kind", "format", "library", "kernel", "inputs", "model"}) {
      writer.set(key, file.text(key));
    }
    writer.keep("support", file.list<std::int64_t>("support"));
    writer.keep("coefficients", bpm::detail::read_matrix<double>(file, "coefficients"));
    writer.keep("inputs.points", points);
    return refusal(writer.bytes());
  };
  CHECK(with_points({4}) == "nothing was thrown");
  CHECK(with_points({}) == "m: the number of training points is missing");
  CHECK(with_points({4, 4}) == "m: the number of training points is missing");
  const std::int64_t beyond = std::int64_t{1} << 32U;  // 0, if it were cut.
  CHECK(refusal(with_first_number(bytes, "support", beyond)) ==
        "m: the support point 4294967296 is out of range");
}

namespace {

/// A place that takes all bytes, and says at the end that it has not kept them.
struct ForgetfulPlace : std::stringbuf {
  int sync() override { return -1; }
};

}  // namespace

TEST_CASE("a stream that fails at its end has not taken the model") {
  ForgetfulPlace place;
  std::ostream stream(&place);
  CHECK_THROWS_AS(bpm::save(small_model(), stream), std::ios_base::failure);
}

TEST_CASE("a file says which library wrote it, and older formats than the first are none") {
  const Bytes bytes = bpm::model_bytes(small_model());
  const bpm::detail::TensorFile file(bytes, "m");
  CHECK(file.text("library") == std::to_string(bpm::version_major) + "." +
                                    std::to_string(bpm::version_minor) + "." +
                                    std::to_string(bpm::version_patch));
  CHECK_THAT(refusal_of_model(with_text(bytes, R"("format":"1")", R"("format":"0")")),
             StartsWith("m is of format 0, this library reads format 1; "));
  CHECK(refusal_of_model(with_text(bytes, "bpm classifier", "bqm classifier")) ==
        "m is no model of this library");
}

TEST_CASE("the strategy windowed+rows of older models is windowed") {
  // The word that is written for the number behind the last one.
  const Bytes bytes = bpm::model_bytes(noted(small_model(), [](bpm::Notes& notes) {
    notes.forecast.strategy = static_cast<bpm::Strategy>(4);
  }));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  REQUIRE(text.find(R"(\"strategy\":\"windowed+rows\")") != std::string_view::npos);
  CHECK(bpm::load<Small>(bytes).forecast().strategy == bpm::Strategy::windowed);
}

TEST_CASE("a model of any kernel of inner products loads as one of a RuntimeKernel") {
  const auto [inputs, labels] = noisy_rings(60, 3, 0.05);
  using Runtime = Classifier<bpm::RuntimeKernel, Floats>;
  const auto runtime = bpm::load<Runtime>(bpm::model_bytes(small_model()));
  CHECK(runtime.decision_values(inputs) == small_model().decision_values(inputs));
  CHECK(bpm::model_bytes(runtime) == bpm::model_bytes(small_model()));

  // And the machine of a RuntimeKernel makes the model of the kernel that it is.
  auto fitted =
      OneVsRest(BayesPointMachine(bpm::RuntimeKernel(Gaussian::from_width(1)),
                                  PermutedPerceptron{.draws = 3}, {.seed = 2, .keep_draws = true}))
          .fit(inputs, labels);
  CHECK(fitted.parts().coefficients == small_model().parts().coefficients);
  CHECK(fitted.parts().bias == small_model().parts().bias);
  CHECK(fitted.decision_values(inputs) == small_model().decision_values(inputs));
}

TEST_CASE("load_any reads inputs of any numbers, as what they are") {
  const auto [inputs, labels] = noisy_rings(40, 2, 0.05);
  const auto check = [&](const auto& kernel, const auto& numbers) {
    const auto model = classifier_of(kernel, numbers, labels);
    const test_support::TemporaryFolder folder;
    bpm::save(model, folder.path() / "m");
    const bpm::AnyClassifier any = bpm::load_any(folder.path() / "m");
    using Owned = bpm::detail::owned_inputs_t<std::remove_cvref_t<decltype(numbers)>>;
    REQUIRE(std::holds_alternative<Classifier<bpm::RuntimeKernel, Owned>>(any));
    const auto& read = std::get<Classifier<bpm::RuntimeKernel, Owned>>(any);
    CHECK(read.decision_values(numbers).isApprox(model.decision_values(numbers), 1e-6));
    CHECK(bpm::model_bytes(read) == bpm::model_bytes(model));
  };
  check(bpm::biased(bpm::Linear{}, 2), inputs);
  check(bpm::sum(bpm::Exponential(2), bpm::on_unit_inputs(bpm::ArcCosine(2))),
        bpm::RowMatrix<double>(inputs.cast<double>()));
  check(bpm::scaled(bpm::Polynomial(3, 1.0 / 65025), 2),
        bpm::RowMatrix<std::uint8_t>((inputs.array() * 20 + 128).cast<std::uint8_t>()));
  check(bpm::normalised(bpm::Polynomial(3)), bpm::SparseRowMatrix<float>(inputs.sparseView()));
  check(bpm::product(bpm::Gaussian::from_width(2), bpm::Polynomial(2)),
        bpm::SparseRowMatrix<double>(inputs.cast<double>().sparseView()));
}

TEST_CASE("load_any refuses what it cannot be") {
  const auto [inputs, labels] = noisy_rings(40, 2, 0.05);
  const auto refusal = [](const auto& model) {
    std::stringstream stream;
    bpm::save(model, stream);
    return message_of([&] { (void)bpm::load_any(stream, "m"); });
  };
  CHECK(refusal(classifier_of(bpm::Laplacian(2), inputs, labels)) ==
        "m: the kernel is 'laplacian', which a RuntimeKernel cannot be");
  std::vector<std::string> words;
  for (const int label : labels) words.push_back(label == 0 ? "abc" : "xbcd");
  CHECK(refusal(classifier_of(Places{}, words, labels)) ==
        "m has inputs of the kind 'strings', their values of type none: only load reads it");
  CHECK(message_of([&] {
          (void)bpm::load_any(
              with_text(bpm::model_bytes(small_model()), "bpm classifier", "abc classifier"), "m");
        }) == "m is no model of this library");
}

TEST_CASE("what no JSON holds is not saved") {
  const auto endless = noted(small_model(), [](bpm::Notes& notes) {
    notes.training_seconds = -std::numeric_limits<double>::infinity();
  });
  CHECK_THAT(message_of([&] { (void)bpm::model_bytes(endless); }),
             ContainsSubstring("save: the classifier has the number -inf"));
}

TEST_CASE("notes that do not suit their model are not saved") {
  CHECK(message_of([] { (void)bpm::model_bytes(named({"inner"})); }) ==
        "save: class_names has 1 entries, expected 3 (one per class, or none)");
}

TEST_CASE("names of classes are UTF-8") {
  const auto odd = named({"a", "b", "\xff"});
  CHECK(message_of([&] { (void)bpm::model_bytes(odd); }) ==
        "save: names, words, rejection.score or inputs_made_by are not in UTF-8, must be");
}

TEST_CASE("a threshold that was chosen stays with its model") {
  const auto [inputs, labels] = noisy_rings(20, 3, 0.05, 7);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double threshold : {0.1 + 0.2, -1e-300, infinity, -infinity}) {
    const Small model = rejecting("gap", threshold);
    const Small back = there_and_back(model, inputs);
    REQUIRE(back.notes.rejection);
    CHECK(back.notes.rejection->score == "gap");
    CHECK(back.notes.rejection->rejector.threshold == threshold);
  }
  CHECK_FALSE(through_bytes(small_model()).notes.rejection);
  CHECK(message_of([] { (void)bpm::model_bytes(rejecting("\xff", 0)); }) ==
        "save: names, words, rejection.score or inputs_made_by are not in UTF-8, must be");
}

TEST_CASE("a threshold in a file that is none is refused") {
  const Bytes bytes = bpm::model_bytes(rejecting("gap", 0.125));
  const auto with_threshold = [&](std::string_view text) {
    return refusal_of_model(
        with_text(bytes, R"(\"threshold\":0.125)", R"(\"threshold\":)" + std::string(text)));
  };
  CHECK(with_threshold("0.25 ") == "nothing was thrown");
  CHECK_THAT(with_threshold("NaN  "), ContainsSubstring("m: 'model' is no JSON: "));
  CHECK_THAT(with_threshold("1e999"), ContainsSubstring("m: 'model' is no JSON: "));
  CHECK(with_threshold(R"(\"N\")") == "m: model.rejection.threshold is no number");
  CHECK(with_threshold("true ") == "m: model.rejection.threshold is no number");
  CHECK(with_threshold("[ 1 ]") == "m: model.rejection.threshold is no number");
  const auto changed = [&](std::string_view old, std::string_view text) {
    return refusal_of_model(with_text(bytes, old, text));
  };
  const std::string whole = R"({\"score\":\"gap\",\"threshold\":0.125})";
  CHECK(changed(whole, "0.125" + std::string(whole.size() - 5, ' ')) ==
        "m: model.rejection is no object");
  CHECK(changed(whole, "null" + std::string(whole.size() - 4, ' ')) ==
        "m: model.rejection is no object");
  CHECK(changed(R"(\"score\")", R"(\"scora\")") == "m: model.rejection.score is missing");
  CHECK(changed(R"(\"score\":\"gap\")", R"(\"score\":0.125  )") ==
        "m: model.rejection.score is no string");
  CHECK(changed(R"(\"score\":\"gap\")", R"(\"score\":\"\"   )") ==
        "m: Classifier: rejection does not say which score its threshold is one of");
}

TEST_CASE("a model that ends early is refused, wherever it ends") {
  const Bytes bytes = bpm::model_bytes(small_model());
  for (std::size_t size = 0; size < bytes.size(); size += size < 3000 ? 1 : 61) {
    CAPTURE(size);
    CHECK_THROWS_AS(bpm::load<Small>(std::span<const std::byte>(bytes).first(size)),
                    bpm::DataError);
  }
}

TEST_CASE("any bytes are refused or load to a classifier that predicts finite numbers") {
  const auto [inputs, labels] = noisy_rings(5, 3, 0);
  const Bytes bytes = bpm::model_bytes(small_model());
  load_mutants<Small>(bytes, 9, 4000, [&](const Small& model) {
    if (model.parts().inputs.cols() != 2) return;
    try {
      CHECK(model.decision_values(inputs).allFinite());
    } catch (const bpm::KernelValueError&) {  // Values that are too large are refused there.
    }
  });
}

namespace {

/// An input of one's own: a word and how often it stands.
struct Counted {
  std::string word;
  double times = 1;
};

/// Positive semi-definite: the product of a kernel on words and one on numbers.
struct CountedKernel {
  double operator()(const Counted& a, const Counted& b) const {
    return (a.word == b.word ? 2.0 : 1.0) * (1 + a.times * b.times);
  }
};

}  // namespace

template <>
struct bpm::StoredInput<Counted> {
  static std::string bytes(const Counted& input) {
    return std::string(static_cast<std::size_t>(input.times), '+') + input.word;
  }
  static Counted make(std::string_view bytes) {
    const std::size_t times = bytes.find_first_not_of('+');
    if (times == std::string_view::npos) throw std::invalid_argument("there is no word");
    return {std::string(bytes.substr(times)), static_cast<double>(times)};
  }
};
template <>
struct bpm::StoredKernel<CountedKernel> {
  static constexpr std::string_view name = "counted";
  static nlohmann::json parameters(const CountedKernel&) { return nlohmann::json::object(); }
  static CountedKernel make(const nlohmann::json&) { return {}; }
};

TEST_CASE("inputs of one's own type are saved by two functions") {
  const std::vector<Counted> inputs{
      {"a", 1}, {"a", 2}, {"b", 1}, {"b", 3}, {std::string("c\0d", 3), 2}};
  const std::vector<int> labels{1, 1, 2, 2, 3};
  const auto model =
      bpm::OneVsRest(BayesPointMachine(CountedKernel{}, bpm::PermutedPerceptron{}, {.seed = 1}))
          .fit(inputs, labels);
  const std::vector<std::byte> bytes = bpm::model_bytes(model);
  using Model = std::remove_cvref_t<decltype(model)>;
  const auto back = bpm::load<Model>(bytes, "m");
  CHECK(back.decision_values(inputs) == model.decision_values(inputs));
  REQUIRE(back.parts().inputs.size() == model.parts().inputs.size());
  for (std::size_t i = 0; i < back.parts().inputs.size(); ++i) {
    CHECK(back.parts().inputs[i].word == model.parts().inputs[i].word);
    CHECK(back.parts().inputs[i].times == model.parts().inputs[i].times);
  }
  // Bytes that the user's function refuses, in a file that is whole otherwise.
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = text.rfind("+++b");
  REQUIRE(at != std::string::npos);
  text[at] = text[at + 3] = '+';
  text[at + 4] = '+';
  CHECK_THAT(message_of([&] { (void)bpm::load<Model>(std::as_bytes(std::span(text)), "m"); }),
             StartsWith("m: input ") && EndsWith(": there is no word"));
  CHECK_THAT(message_of([&] { (void)bpm::load_any(bytes, "m"); }),
             ContainsSubstring("m has inputs of the kind 'own'"));
}

TEST_CASE("how inputs are made of a table stays with their model") {
  using Kind = bpm::MixedTable::Kind;
  const bpm::MixedTable table{
      .columns = {
          {.name = "age", .numbers = {1, 2, 3, 5}},
          {.name = "kind", .kind = Kind::words, .words = {"a", "b"}, .word_of = {0, 1, -1, 0}}}};
  const auto encoding = bpm::TableEncoding::of(table, bpm::TableEncoding::Missing::indicator);
  const bpm::RowMatrix<double> inputs = encoding.apply(table);
  auto model = bpm::OneVsRest(BayesPointMachine(Gaussian::from_width(1)))
                   .fit(inputs, std::vector<int>{0, 1, 0, 1});
  model.notes.encoding = encoding;
  using Model = decltype(model);
  const auto back = bpm::load<Model>(bpm::model_bytes(model), "m");
  REQUIRE(back.notes.encoding);
  CHECK(back.notes.encoding->apply(table) == inputs);
  CHECK(back.notes.encoding->feature_names() == encoding.feature_names());
  CHECK(back.notes.encoding->fills());
  CHECK(back.notes.encoding->columns[1].indicator);
  CHECK_FALSE(back.notes.encoding->columns[0].indicator);
  // So do the places of its label and of what is ignored; where there is nothing to say no key
  // does.
  const auto text_of = [](const Model& one) {
    const auto bytes = bpm::model_bytes(one);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  CHECK(text_of(model).find("_column") == std::string::npos);
  const auto changed = noted(model, [](bpm::Notes& notes) {
    notes.label_column = 0;
    notes.ignored_columns = {1, 4};
  });
  CHECK_THAT(text_of(changed), ContainsSubstring(R"(\"ignored_columns\":[1,4])") &&
                                   ContainsSubstring(R"(\"label_column\":0)"));
  const auto placed = bpm::load<Model>(bpm::model_bytes(changed), "m");
  CHECK(placed.notes.label_column == 0);
  CHECK(placed.notes.ignored_columns == std::vector<Eigen::Index>{1, 4});
  CHECK(text_of(placed) == text_of(changed));
  CHECK_FALSE(back.notes.label_column);
  CHECK(back.notes.ignored_columns.empty());
}
