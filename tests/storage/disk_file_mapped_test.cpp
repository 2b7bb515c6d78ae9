// SPDX-License-Identifier: MIT
#include "bpm/storage/disk_file.hpp"

#include <sys/stat.h>

#include <Eigen/Core>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/storage/model_file.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "noted.hpp"
#include "temporary_folder.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using test_support::message_of;
using test_support::TemporaryFolder;

constexpr Eigen::Index mapped_points = 1100;  // Three blocks of support points.

/// Inputs of 0 to 255, and a classifier of three classes on them.
template <class Scalar>
bpm::RowMatrix<Scalar> mapped_inputs(Eigen::Index rows, Eigen::Index features, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::RowMatrix<Scalar> inputs(rows, features);
  for (Scalar& x : inputs.reshaped()) x = static_cast<Scalar>(bpm::uniform_below(engine, 256U));
  return inputs;
}
template <class Scalar, class Kernel>
bpm::Classifier<Kernel, bpm::RowMatrix<Scalar>> mapped_example(
    const Kernel& kernel, Eigen::Index features, const std::vector<double>& origin = {}) {
  bpm::ClassifierParts<Kernel, bpm::RowMatrix<Scalar>> parts{
      kernel, mapped_inputs<Scalar>(mapped_points, features, 1), {}, {}, {3, 5, 7}};
  for (int i = 0; i < mapped_points; ++i) parts.support.push_back(2 * i);
  parts.coefficients = mapped_inputs<double>(mapped_points, 3, 2).array() - 127.5;
  parts.origin = origin;
  return bpm::Classifier<Kernel, bpm::RowMatrix<Scalar>>(std::move(parts));
}

/// Saved and mapped, the classifier answers to the bit what it did; on any number of threads.
template <class Scalar, class Kernel>
void check_mapped(const Kernel& kernel, Eigen::Index features,
                  const std::vector<double>& origin = {}) {
  CAPTURE(features);
  using Model = bpm::Classifier<Kernel, bpm::RowMatrix<Scalar>>;
  const TemporaryFolder folder;
  const auto path = folder.path() / "model";
  const Model model = mapped_example<Scalar>(kernel, features, origin);
  bpm::save(model, path);
  const auto queries = mapped_inputs<Scalar>(300, features, 3);
  const Eigen::MatrixXd expected = model.decision_values(queries);
  for (const unsigned threads : {1U, 4U}) {
    auto parts = bpm::map<Model>(path).parts();
    parts.threads = threads;
    const bpm::Mapped<Model> mapped(std::move(parts));
    CHECK(mapped.decision_values(queries) == expected);
    CHECK(mapped.decision_values(queries.topRows(1).eval()) == expected.topRows(1));
  }
  const bpm::Mapped<Model> mapped = bpm::map<Model>(path);
  // Asked for the first time by several at once.
  std::vector<Eigen::MatrixXd> answers(4);
  {
    std::vector<std::jthread> askers;
    for (Eigen::MatrixXd& answer : answers) {
      askers.emplace_back([&] { answer = mapped.decision_values(queries.topRows(40).eval()); });
    }
  }
  for (const Eigen::MatrixXd& answer : answers) CHECK(answer == expected.topRows(40));
  std::atomic<std::ptrdiff_t> rows = 0;
  mapped.visit_values(queries, "here",
                      [&](unsigned, std::ptrdiff_t, std::ptrdiff_t count, const auto*,
                          const auto*) { rows += count; });
  CHECK(rows == 300);
  const bpm::RowMatrix<Scalar> none(0, features);
  const Eigen::MatrixXd empty = mapped.decision_values(none);
  CHECK(empty.rows() == 0);
  CHECK(empty.cols() == 3);
  CHECK(mapped.predict(none).empty());
  CHECK(mapped.with_slope(1).predict_probability(none).rows() == 0);
  CHECK(bpm::model_bytes(mapped) == bpm::model_bytes(model));
}

using FloatModel = bpm::Classifier<bpm::Gaussian, bpm::RowMatrix<float>>;

FloatModel float_model() { return mapped_example<float>(bpm::Gaussian::from_width(200), 5); }

std::string mapped_refusal(const std::filesystem::path& path) {
  return message_of([&] { (void)bpm::map<FloatModel>(path); });
}

}  // namespace

TEST_CASE("a mapped model answers what the saved one does, bit for bit") {
  for (const Eigen::Index features : {5, 16, 32}) {  // Rows that are copied, and that are not.
    check_mapped<float>(bpm::Gaussian::from_width(200), features);
    check_mapped<double>(bpm::Polynomial(3, 1e-4), features);
    const std::vector<double> origin(static_cast<std::size_t>(features), 127.1);
    check_mapped<float>(bpm::Gaussian::from_width(200), features, origin);
    check_mapped<std::uint8_t>(bpm::Gaussian::from_width(200), features);
    check_mapped<float>(bpm::biased(bpm::Laplacian(500), 0.5), features);  // By no inner products.
  }
}

TEST_CASE("a mapped model answers queries of other numbers") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model";
  const auto bytes = mapped_example<std::uint8_t>(bpm::Gaussian::from_width(200), 7);
  bpm::save(bytes, path);
  const auto queries = mapped_inputs<float>(9, 7, 4);
  CHECK(bpm::map<std::remove_cvref_t<decltype(bytes)>>(path).decision_values(queries) ==
        bytes.decision_values(queries));
  const auto floats = mapped_example<float>(bpm::Gaussian::from_width(200), 7);
  bpm::save(floats, path);
  const bpm::RowMatrix<std::uint8_t> pixels = queries.cast<std::uint8_t>();
  CHECK(bpm::map<std::remove_cvref_t<decltype(floats)>>(path).decision_values(pixels) ==
        floats.decision_values(pixels));
}

TEST_CASE("a mapped model outlives its file's name and the variable that it came in") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model";
  const FloatModel model = float_model();
  bpm::save(model, path);
  auto mapped = std::make_unique<bpm::Mapped<FloatModel>>(bpm::map<FloatModel>(path));
  const auto copy = mapped->with_slope(2);
  mapped.reset();
  bpm::save(test_support::noted(model,
                                [](bpm::Notes& notes) {
                                  notes.class_names = {"a", "b", "c"};
                                }),
            path);
  std::filesystem::remove(path);
  const auto queries = mapped_inputs<float>(4, 5, 3);
  CHECK(copy.decision_values(queries) == model.decision_values(queries));
}

TEST_CASE("numbers that are not finite are refused when a query comes to them, as load does") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model";
  std::vector<std::byte> bytes = bpm::model_bytes(float_model());
  // The last array: the inputs' last row but one is in the third block.
  const float infinite = std::numeric_limits<float>::infinity();
  std::memcpy(bytes.data() + bytes.size() - 7 * sizeof(float), &infinite, sizeof infinite);
  folder.write("model", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const std::string expected =
      path.string() + ": Classifier: inputs row 1098, column 3 is inf, must be finite";
  CHECK(message_of([&] { (void)bpm::load<FloatModel>(path); }) == expected);
  const auto mapped = bpm::map<FloatModel>(path);
  const auto queries = mapped_inputs<float>(2, 5, 3);
  for (int time = 0; time < 2; ++time) {
    CHECK_THROWS_AS(mapped.decision_values(queries), bpm::DataError);
    CHECK(message_of([&] { (void)mapped.decision_values(queries); }) == expected);
  }
}

TEST_CASE("a view of the caller's own is refused as an argument") {
  bpm::RowMatrix<float> inputs = mapped_inputs<float>(3, 2, 1);
  using View = Eigen::Map<const bpm::RowMatrix<float>>;
  inputs(1, 0) = std::numeric_limits<float>::quiet_NaN();
  const bpm::Classifier<bpm::Gaussian, View> classifier({bpm::Gaussian::from_width(1),
                                                         View(inputs.data(), 3, 2),
                                                         {0, 1, 2},
                                                         bpm::RowMatrix<double>::Ones(3, 1),
                                                         {-1, 1}});
  const bpm::RowMatrix<float> query = mapped_inputs<float>(1, 2, 2);
  CHECK_THROWS_AS(classifier.decision_values(query), std::invalid_argument);
  CHECK(message_of([&] { (void)classifier.decision_values(query); }) ==
        "Classifier: inputs row 1, column 0 is nan, must be finite");
  inputs(1, 0) = 0;
  CHECK(classifier.decision_values(query).allFinite());
}

TEST_CASE("what is no file, or no model, is not mapped") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model";
  CHECK(mapped_refusal(path) == path.string() + ": cannot be mapped: No such file or directory");
  CHECK(mapped_refusal(folder.path()) ==
        folder.path().string() +
            ": cannot be mapped: it is no regular file, or longer than all memory");
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(mapped_refusal(pipe) ==
        pipe.string() + ": cannot be mapped: it is no regular file, or longer than all memory");
  std::ofstream(path).flush();
  CHECK(mapped_refusal(path) == path.string() + " is no model: it has 0 bytes");
  CHECK(bpm::detail::MappedFile(path).bytes().empty());
}

TEST_CASE("arrays that lie at odd places are loaded, not mapped") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model";
  const FloatModel model = float_model();
  std::vector<std::byte> bytes = bpm::model_bytes(model);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  ++length;
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(7 + length), std::byte{' '});
  folder.write("model", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  CHECK(bpm::model_bytes(bpm::load<FloatModel>(path)) == bpm::model_bytes(model));
  CHECK(mapped_refusal(path) ==
        path.string() +
            ": the array 'inputs' cannot be read in place: its numbers do not lie as "
            "this machine has them; take load");
}

TEST_CASE("map refuses what load refuses, by the same words") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model";
  const std::vector<std::byte> bytes = bpm::model_bytes(float_model());
  const auto queries = mapped_inputs<float>(2, 5, 3);
  bpm::RandomEngine engine(4);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> other = bytes;
    other[bpm::uniform_below(engine, round % 2 == 0 ? 2000U : std::uint32_t(other.size()))] =
        static_cast<std::byte>(bpm::uniform_below(engine, 256U));
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(other.data()), std::ssize(other))
        .flush();
    CAPTURE(round);
    const auto answer = [&](const auto& read) {
      return message_of([&] { (void)read().decision_values(queries); });
    };
    const std::string loaded = answer([&] { return bpm::load<FloatModel>(path); });
    const std::string mapped = answer([&] { return bpm::map<FloatModel>(path); });
    CHECK(mapped == loaded);
    refused += loaded == "nothing was thrown" ? 0 : 1;
  }
  CHECK(refused > 30);
  CHECK(refused < 270);
}

TEST_CASE("a mapped file is given back with the last who sees it") {
  const TemporaryFolder folder;
  const auto path = folder.write("bytes", std::string(5000, 'x'));
  const auto is_mapped = [&] {
    std::ifstream maps("/proc/self/maps");
    const std::string all{std::istreambuf_iterator<char>(maps), {}};
    return all.find(path.string()) != std::string::npos;
  };
  {
    const bpm::detail::MappedFile file(path);
    REQUIRE(file.bytes().size() == 5000);
    CHECK(file.bytes()[4999] == std::byte{'x'});
    if (!is_mapped()) return;  // No system of such a list.
  }
  CHECK_FALSE(is_mapped());
}
