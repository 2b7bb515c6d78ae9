// SPDX-License-Identifier: MIT
#include "bpm/storage/gaussian_process_file.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bpm/gaussian_process/interpolation/kernel_complexity.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "model_mutants.hpp"
#include "noisy_points.hpp"
#include "noted.hpp"
#include "standardising.hpp"
#include "temporary_folder.hpp"

namespace {

using bpm::Gaussian;
using Bytes = std::vector<std::byte>;
using Floats = bpm::RowMatrix<float>;
using Posterior = bpm::PosteriorClassifier<Gaussian, Floats>;
using Training = bpm::InterpolatorTraining<Gaussian, Floats>;
using Plain = bpm::Classifier<Gaussian, Floats>;
using test_support::load_mutants;
using test_support::message_of;
using test_support::noisy_rings;
using test_support::standardising;
using test_support::through_bytes;
using test_support::with_first_number;
using test_support::with_metadata_text;
using test_support::with_text;

/// Three columns of a posterior, made once.
const Posterior& small_posterior() {
  static const auto model = [] {
    const auto [inputs, labels] = noisy_rings(40, 3, 0.05);
    auto posterior = bpm::OneVsRest(bpm::BayesPointMachine(Gaussian::from_width(1),
                                                           bpm::ExpectationPropagation{}))
                         .fit(inputs, labels);
    posterior.notes.class_names = {"inner", "middle", "outer"};
    return posterior;
  }();
  return model;
}
const Training& small_training() {
  static const auto model = [] {
    const auto [inputs, labels] = noisy_rings(30, 3, 0.05);
    return bpm::KernelInterpolator(Gaussian::from_width(1), {.noise_variance = 0.1})
        .train(inputs, labels);
  }();
  return model;
}

/// The same posterior after a way through bytes, and a check that both agree to the bit.
template <class C, class Queries>
C posterior_there_and_back(const C& model, const Queries& queries) {
  const C back = through_bytes(model);
  CHECK(back.predict_probability(queries) == model.predict_probability(queries));
  for (std::size_t c = 0; c < static_cast<std::size_t>(model.columns()); ++c) {
    const auto expected = model.latent(queries, c);
    const auto found = back.latent(queries, c);
    CHECK(found.mean == expected.mean);
    CHECK(found.variance == expected.variance);
    CHECK(found.probability == expected.probability);
    CHECK(back.log_evidence(c) == model.log_evidence(c));
  }
  return back;
}
template <class T, class Queries>
T training_there_and_back(const T& training, const Queries& queries) {
  const T back = through_bytes(training);
  CHECK(back.variances(queries) == training.variances(queries));
  CHECK(back.classifier().decision_values(queries) ==
        training.classifier().decision_values(queries));
  return back;
}

/// What `load` says of an honest file whose array `key` begins with other values.
template <class Model, class T>
std::string refusal_with(const Bytes& bytes, const std::string& key, T first) {
  return message_of([&] { (void)bpm::load<Model>(with_first_number(bytes, key, first), "m"); });
}

}  // namespace

TEST_CASE("a loaded posterior classifier predicts to the bit, and has all its parts") {
  const auto [inputs, labels] = noisy_rings(50, 3, 0.05, 7);
  const Posterior& model = small_posterior();
  const Posterior back = posterior_there_and_back(model, inputs);
  CHECK(back.predict_names(inputs) == model.predict_names(inputs));
  CHECK(back.notes.training_points == 40);
  const Posterior told = posterior_there_and_back(
      test_support::noted(model, [](bpm::Notes& notes) { notes.inputs_made_by = "by hand"; }),
      inputs);
  CHECK(told.notes.inputs_made_by == "by hand");
  for (std::size_t c = 0; c < 3; ++c) {
    const bpm::EpPosterior& a = model.posterior(c);
    const bpm::EpPosterior& b = back.posterior(c);
    CHECK(b.noise_deviation == a.noise_deviation);
    CHECK(b.mean == a.mean);
    CHECK(b.coefficients == a.coefficients);
    CHECK(b.outputs == a.outputs);
    CHECK(b.variances == a.variances);
    CHECK(b.site_precision == a.site_precision);
    CHECK(b.site_shift == a.site_shift);
    CHECK(b.pivots == a.pivots);
    CHECK(b.signs == a.signs);
    CHECK(b.pivot_factor == a.pivot_factor);
    CHECK(b.sweeps == a.sweeps);
    CHECK(b.change == a.change);
    CHECK(b.damping == a.damping);
    CHECK(b.leave_one_out().probability == a.leave_one_out().probability);
  }
}

TEST_CASE("a file says whether it holds posteriors") {
  const Bytes bytes = bpm::model_bytes(small_posterior());
  CHECK(bpm::is_posterior_model(bytes));
  const Plain& plain = small_posterior();
  CHECK_FALSE(bpm::is_posterior_model(bpm::model_bytes(plain)));
  // The classifier is whole, the posterior is not: no classifier without it is taken for the model.
  const Bytes broken = with_text(bytes, "posterior.1.mean", "posterior.1.MEAN");
  CHECK(bpm::is_posterior_model(broken));
  CHECK_NOTHROW((void)bpm::load<Plain>(broken));
  CHECK_THROWS_AS(bpm::load<Posterior>(broken), bpm::DataError);
  CHECK(message_of([] { (void)bpm::is_posterior_model(Bytes(3), "m"); }).starts_with("m"));
  CHECK(message_of([&] {
          (void)bpm::is_posterior_model(with_text(bytes, "bpm posterior", "abc posterior"), "m");
        }) == "m is no model of this library");
}

TEST_CASE("a rejection stays with a posterior") {
  const Posterior back =
      through_bytes(test_support::noted(small_posterior(), [](bpm::Notes& notes) {
        notes.rejection = {"largest probability", {0.75}};
      }));
  REQUIRE(back.notes.rejection);
  CHECK(back.notes.rejection->rejector.threshold == 0.75);
  CHECK(back.log_evidence(2) == small_posterior().log_evidence(2));
}

TEST_CASE("a posterior of every kind of inputs comes back") {
  const auto [inputs, labels] = noisy_rings(40, 2, 0.05);
  const bpm::ExpectationPropagation method{.noise_deviation = 0.5};
  SECTION("double, scaled") {
    const bpm::RowMatrix<double> doubles = inputs.cast<double>();
    const auto fitted =
        standardising(bpm::BayesPointMachine(bpm::Polynomial(3), method)).fit(doubles, labels);
    CHECK(posterior_there_and_back(fitted, doubles).parts().standardisation.has_value());
  }
  SECTION("sparse") {
    const bpm::SparseRowMatrix<float> sparse = inputs.sparseView();
    posterior_there_and_back(bpm::BayesPointMachine(bpm::Polynomial(2), method).fit(sparse, labels),
                             sparse);
  }
  SECTION("a matrix of the user's") {
    const bpm::RowMatrix<double> values = bpm::kernel_matrix(Gaussian::from_width(1), inputs);
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(40);
    posterior_there_and_back(
        bpm::BayesPointMachine(bpm::PrecomputedKernel{}, method).fit(values, labels),
        bpm::PrecomputedRows<double>{values, ones});
  }
  SECTION("a kernel that is known when the program runs") {
    const auto fitted = bpm::BayesPointMachine(Gaussian::from_width(1), method).fit(inputs, labels);
    using Runtime = bpm::PosteriorClassifier<bpm::RuntimeKernel, Floats>;
    const auto back = bpm::load<Runtime>(bpm::model_bytes(fitted));
    CHECK(back.predict_probability(inputs) == fitted.predict_probability(inputs));
  }
}

TEST_CASE("a loaded interpolator knows of its training set what it knew, to the bit") {
  const auto [inputs, labels] = noisy_rings(50, 3, 0.05, 7);
  const Training& training = small_training();
  const Training back = training_there_and_back(training, inputs);
  CHECK(back.leave_one_out_outputs() == training.leave_one_out_outputs());
  CHECK(back.leave_one_out_error() == training.leave_one_out_error());
  CHECK(back.training_outputs() == training.training_outputs());
  CHECK(back.norms_squared() == training.norms_squared());
  CHECK(back.log_determinant() == training.log_determinant());
  CHECK(back.noise_variance() == 0.1);
  CHECK(back.jitter() == training.jitter());
  CHECK(back.values() == training.values());
  CHECK(back.factor().relative_jitter() == training.factor().relative_jitter());
  CHECK(back.factor().rcond() == training.factor().rcond());
  CHECK(back.factor().llt().rcond() == Approx(training.factor().rcond()).epsilon(1e-12));
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(back.signs(c) == training.signs(c));
    CHECK(bpm::KernelComplexity(back.factor().llt(), back.signs(c)).value() ==
          bpm::KernelComplexity(training.factor().llt(), training.signs(c)).value());
  }
}

TEST_CASE("an interpolator with a jitter, and one of the user's matrix, come back") {
  const auto [inputs, labels] = noisy_rings(40, 2, 0.0);
  SECTION("jitter") {
    const bpm::RowMatrix<double> doubles = inputs.cast<double>();
    const auto training =
        bpm::KernelInterpolator(Gaussian::from_width(30),
                                {.noise_variance = 1e-15, .jitter = {.largest_jitter = 1e-3}})
            .train(doubles, labels);
    CHECK(training.jitter() > 0);
    CHECK(training_there_and_back(training, doubles).jitter() == training.jitter());
  }
  SECTION("a matrix of the user's") {
    const bpm::RowMatrix<double> values = bpm::kernel_matrix(bpm::ArcCosine(2), inputs);
    const Eigen::VectorXd diagonal = values.diagonal();
    training_there_and_back(bpm::KernelInterpolator(bpm::PrecomputedKernel{}).train(values, labels),
                            bpm::PrecomputedRows<double>{values, diagonal});
  }
}

TEST_CASE("models of any kind load as their classifiers, classifiers as no other kind") {
  const auto [inputs, labels] = noisy_rings(20, 3, 0.05, 7);
  const Bytes posterior = bpm::model_bytes(small_posterior());
  const Bytes interpolator = bpm::model_bytes(small_training());
  CHECK(bpm::load<Plain>(posterior).decision_values(inputs) ==
        small_posterior().decision_values(inputs));
  CHECK(bpm::load<Plain>(interpolator).decision_values(inputs) ==
        small_training().classifier().decision_values(inputs));
  CHECK(std::visit([](const auto& any) { return any.classes(); }, bpm::load_any(posterior)) ==
        small_posterior().classes());

  const Bytes plain = bpm::model_bytes(small_training().classifier());
  CHECK(bpm::model_bytes(bpm::load<Plain>(interpolator)) == plain);
  CHECK(message_of([&] { (void)bpm::load<Posterior>(plain, "m"); }) ==
        "m is a bpm classifier, expected a bpm posterior classifier");
  CHECK(message_of([&] { (void)bpm::load<Training>(posterior, "m"); }) ==
        "m is a bpm posterior classifier, expected a bpm interpolator");
  CHECK(message_of([&] { (void)bpm::load<Posterior>(interpolator, "m"); }) ==
        "m is a bpm interpolator, expected a bpm posterior classifier");

  const test_support::TemporaryFolder folder;
  bpm::save(small_posterior(), folder.path() / "p");
  CHECK(bpm::model_bytes(bpm::load<Posterior>(folder.path() / "p")) == posterior);
  std::stringstream stream;
  bpm::save(small_training(), stream);
  CHECK(bpm::model_bytes(bpm::load<Training>(stream)) == interpolator);
}

TEST_CASE("numbers of a posterior that do not fit together are refused by a sentence") {
  const Bytes bytes = bpm::model_bytes(small_posterior());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refusal = [&](const char* key, auto first) {
    return refusal_with<Posterior>(bytes, key, first);
  };
  const std::string begin = "m: PosteriorClassifier: ";
  CHECK(refusal("posterior.0.mean", nan) == begin + "mean at 0 is nan, must be finite");
  CHECK(refusal("posterior.1.coefficients", nan) ==
        begin + "coefficients at 0 is nan, must be finite");
  CHECK(refusal("posterior.2.outputs", nan) == begin + "outputs at 0 is nan, must be finite");
  CHECK(refusal("posterior.0.variances", -1.0) ==
        begin + "variances is -1, must be finite and not negative");
  CHECK(refusal("posterior.0.site_precision", nan) ==
        begin + "site_precision at 0 is nan, must be finite");
  CHECK(refusal("posterior.0.site_shift", nan) == begin + "site_shift at 0 is nan, must be finite");
  CHECK(refusal("posterior.0.precision_factor", -1.0) ==
        begin + "precision_factor at 0, 0 is -1, must be positive");
  CHECK(refusal("posterior.0.pivot_factor", nan) ==
        begin + "pivot_factor at 0, 0 is nan, must be positive");
  CHECK(refusal("posterior.0.signs", std::int64_t{0}) ==
        begin + "signs at 0 is 0, must be 1 or -1");
  CHECK(refusal("posterior.0.signs", std::int64_t{200}) ==
        "m: the array 'posterior.0.signs' holds 200, which is out of range");
  CHECK(refusal("posterior.0.pivots", std::int64_t{40}) ==
        begin + "pivots have the point 40, must be below 40");
  CHECK(refusal("posterior.0.pivots", std::int64_t{-1}) ==
        begin + "pivots have the point -1, must be below 40");

  const auto changed = [&](std::string_view old, std::string_view text) {
    return message_of([&] { (void)bpm::load<Posterior>(with_text(bytes, old, text), "m"); });
  };
  CHECK(changed(R"(\"damping\":1.0)", R"(\"damping\":1.5)") ==
        begin + "damping is 1.5, must be above 0 and at most 1");
  CHECK(changed(R"(\"noise_deviation\":0.0)", R"(\"noise_deviation\":-.5)")
            .find("m: 'posteriors' is no JSON: ") == 0);
  CHECK(changed(R"(\"noise_deviation\":0.0)", R"(\"noise_deviation\":-19)") ==
        begin + "noise_deviation is -19, must be finite and not negative");
  CHECK(changed(R"(\"sweeps\")", R"(\"sweeqs\")") == "m: posterior.0.sweeps is missing");
  CHECK(changed(R"("posteriors":)", R"("posteriora":)") == "m has no 'posteriors'");
  CHECK(changed(R"("posterior.1.signs")", R"("posterior.1.sings")") ==
        "m has no array 'posterior.1.signs'");
  CHECK(message_of([&] {
          (void)bpm::load<Posterior>(with_metadata_text(bytes, "posteriors", "{}"), "m");
        }) == "m: posteriors is no list");
}

TEST_CASE("a posterior is made of parts that fit together, or not at all") {
  const Plain classifier(small_posterior().parts());
  const auto refusal = [&](auto change) {
    std::vector<bpm::EpPosterior> parts;
    for (std::size_t c = 0; c < 3; ++c) parts.push_back(small_posterior().posterior(c));
    change(parts);
    return message_of([&] { (void)Posterior(classifier, parts); });
  };
  using Parts = std::vector<bpm::EpPosterior>;
  const std::string begin = "PosteriorClassifier: ";
  CHECK(refusal([](Parts& p) { p.pop_back(); }) ==
        begin + "posteriors has 2 entries, expected 3 (one per column)");
  CHECK(refusal([](Parts& p) { p[1].pivots.clear(); }) ==
        begin + "pivots are none, must be one or more");
  CHECK_THAT(refusal([](Parts& p) { p[1].mean.pop_back(); }),
             Catch::Matchers::ContainsSubstring(begin + "mean has ") &&
                 Catch::Matchers::ContainsSubstring(" (one per pivot)"));
  CHECK(refusal([](Parts& p) { p[1].variances.pop_back(); }) ==
        begin + "variances has 39 entries, expected 40 (one per point)");
  CHECK(refusal([](Parts& p) { p[1].signs.pop_back(); }) ==
        begin + "signs has 39 entries, expected 40 (one per point)");
  CHECK_THAT(refusal([](Parts& p) { p[1].pivot_factor.resize(1, 2); }),
             Catch::Matchers::ContainsSubstring(begin + "pivot_factor is 1 x 2, expected "));
  CHECK(refusal([](Parts& p) { p[0].log_evidence = -std::numeric_limits<double>::infinity(); }) ==
        begin + "log_evidence is -inf, must be finite");
  CHECK(refusal([](Parts& p) { p[0].change = -1; }) ==
        begin + "change is -1, must be finite and not negative");
}

TEST_CASE("numbers of an interpolator that do not fit together are refused by a sentence") {
  const Bytes bytes = bpm::model_bytes(small_training());
  CHECK(refusal_with<Training>(bytes, "interpolator.values", 0.0) ==
        "m: InterpolatorTraining: values at 0, 0 is 0, must be finite and not 0");
  CHECK(refusal_with<Training>(bytes, "interpolator.factor", 0.0) ==
        "m: JitteredCholesky::from_factor: factor at 0, 0 is 0, must be positive");
  const auto changed = [&](std::string_view old, std::string_view text) {
    return message_of([&] { (void)bpm::load<Training>(with_text(bytes, old, text), "m"); });
  };
  CHECK(changed(R"(\"jitter\":0.0)", R"(\"jitter\":-19)") ==
        "m: JitteredCholesky::from_factor: jitter is -19, must be finite and not negative");
  CHECK(changed(R"(\"relative_jitter\":0.0)", R"(\"relative_jitter\":-19)") ==
        "m: JitteredCholesky::from_factor: relative_jitter is -19, must be finite and not "
        "negative");
  CHECK(changed(R"(\"noise_variance\":0.1)", R"(\"noise_variance\":-19)") ==
        "m: InterpolatorTraining: noise_variance is -19, must be finite and not negative");
  CHECK(changed(R"(\"rcond\")", R"(\"rkond\")") == "m: interpolator.rcond is missing");

  const auto factor = std::make_shared<const bpm::JitteredCholesky>(small_training().factor());
  const auto refusal = [&](const Eigen::MatrixXd& values, auto made_with) {
    return message_of(
        [&] { (void)Training(0.1, values, made_with, small_training().classifier()); });
  };
  CHECK_NOTHROW(Training(0.1, small_training().values(), factor, small_training().classifier()));
  CHECK(refusal(Eigen::MatrixXd::Ones(29, 3), factor) ==
        "InterpolatorTraining: values has 29 entries, expected 30 (rows: one per support point)");
  CHECK(refusal(Eigen::MatrixXd::Ones(30, 1), factor) ==
        "InterpolatorTraining: values has 1 entries, expected 3 (columns: as the classifier)");
  CHECK(refusal(Eigen::MatrixXd::Ones(30, 3),
                std::make_shared<const bpm::JitteredCholesky>(Eigen::MatrixXd::Identity(4, 4))) ==
        "InterpolatorTraining: factor has 4 entries, expected 30 (rows: one per support point)");
  CHECK(message_of([] {
          (void)bpm::JitteredCholesky::from_factor(Eigen::MatrixXd(0, 0), 0, 0, 1);
        }) == "JitteredCholesky::from_factor: factor is empty, must have one row or more");
  CHECK(message_of([] {
          (void)bpm::JitteredCholesky::from_factor(Eigen::MatrixXd::Ones(2, 3), 0, 0, 1);
        }) == "JitteredCholesky::from_factor: factor is 2 x 3, expected 2 x 2");
  CHECK(message_of([] {
          (void)bpm::JitteredCholesky::from_factor(Eigen::MatrixXd::Ones(2, 2), 0, 0, -1);
        }) == "JitteredCholesky::from_factor: rcond is -1, must lie in [0, 1]");
  CHECK(refusal(small_training().values(), std::shared_ptr<const bpm::JitteredCholesky>()) ==
        "InterpolatorTraining: factor is missing");
}

TEST_CASE("factors that are nearly singular give no answer in the place of a wrong one") {
  const Floats inputs = noisy_rings(5, 3, 0).inputs;
  const Eigen::MatrixXd tiny = 1e-308 * Eigen::MatrixXd::Identity(30, 30);
  const Training training(0.1, small_training().values(),
                          std::make_shared<const bpm::JitteredCholesky>(
                              bpm::JitteredCholesky::from_factor(tiny, 0, 0, 1)),
                          small_training().classifier());
  CHECK_THROWS_AS(training.variances(inputs), bpm::KernelValueError);
  CHECK(message_of([&] { (void)training.variances(inputs); }) ==
        "InterpolatorTraining::variances: a variance is beyond double");

  std::vector<bpm::EpPosterior> parts;
  for (std::size_t c = 0; c < 3; ++c) parts.push_back(small_posterior().posterior(c));
  parts[1].pivot_factor.diagonal().setConstant(1e-308);
  const Posterior posterior(Plain(small_posterior().parts()), parts);
  CHECK_THROWS_AS(posterior.latent(inputs), bpm::KernelValueError);
  CHECK(message_of([&] { (void)posterior.latent(inputs); }) ==
        "PosteriorClassifier::latent: a variance is beyond double");
  CHECK(message_of([&] { (void)posterior.predict_probability(inputs); }) ==
        "PosteriorClassifier::predict_probability: a variance is beyond double");
  const Eigen::Index rank = parts[1].rank();
  CHECK(message_of([&] {
          (void)parts[1].predict(Eigen::MatrixXd::Ones(rank, 1), Eigen::VectorXd::Ones(1));
        }) == "EpPosterior::predict: a variance is beyond double");
  auto large = small_posterior().parts();
  large.coefficients.setConstant(1e308);
  parts[1] = small_posterior().posterior(1);
  CHECK(message_of([&] { (void)Posterior(Plain(large), parts).latent(inputs); }) ==
        "PosteriorClassifier::latent: a sum over the support points is beyond double; scale the "
        "inputs, or normalise the kernel");
  bpm::EpPosterior& first = parts[0];
  first.site_precision[3] = 1 / first.variances[3];
  CHECK(message_of([&] {
          (void)first.leave_one_out();
        }).find("EpPosterior::leave_one_out: site_precision at 3 is ") == 0);
}

TEST_CASE("any bytes are refused or load to a posterior or an interpolator that is whole") {
  const Floats inputs = noisy_rings(5, 3, 0).inputs;
  const auto guarded = [&](auto ask) {
    try {
      ask();
    } catch (const bpm::KernelValueError&) {  // Values that are too large are refused there.
    }
  };
  load_mutants<Posterior>(bpm::model_bytes(small_posterior()), 9, 3000,
                          [&](const Posterior& model) {
                            if (model.parts().inputs.cols() != 2) return;
                            guarded([&] {
                              const auto latent = model.latent(inputs);
                              CHECK(latent.mean.allFinite());
                              CHECK(latent.variance.minCoeff() >= 0);
                            });
                          });
  load_mutants<Training>(bpm::model_bytes(small_training()), 10, 3000,
                         [&](const Training& training) {
                           if (training.classifier().parts().inputs.cols() != 2) return;
                           guarded([&] {
                             CHECK(training.classifier().decision_values(inputs).allFinite());
                             const Eigen::VectorXd variances = training.variances(inputs);
                             CHECK(variances.minCoeff() >= 0);
                           });
                         });
}

TEST_CASE("a posterior or an interpolator that ends early is refused") {
  const Bytes posterior = bpm::model_bytes(small_posterior());
  const Bytes interpolator = bpm::model_bytes(small_training());
  for (std::size_t size = 0; size < posterior.size(); size += 211) {
    CHECK_THROWS_AS(bpm::load<Posterior>(std::span(posterior).first(size)), bpm::DataError);
  }
  for (std::size_t size = 0; size < interpolator.size(); size += 211) {
    CHECK_THROWS_AS(bpm::load<Training>(std::span(interpolator).first(size)), bpm::DataError);
  }
}
