// SPDX-License-Identifier: MIT
// The program itself: exit status, what it prints, the files it leaves.
#include <signal.h>
#include <zlib.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/machine/certificate.hpp"
#include "catch.hpp"
#include "data.hpp"
#include "program_test.hpp"

namespace fs = std::filesystem;
using bpm_examples::Json;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using examples_test::ChildProcess;
using examples_test::read_text;
using examples_test::TemporaryFolder;
using examples_test::WithVariable;
using examples_test::write_text;

namespace {

const std::string program = BPM_MNIST_PROGRAM;

using Words = std::vector<std::string>;

struct Outcome {
  int status = 0;
  std::string out;
  std::string errors;
};

Outcome run(const Words& arguments) {
  ChildProcess child(program, arguments);
  Outcome outcome;
  outcome.status = child.wait();
  outcome.out = child.out();
  outcome.errors = child.errors();
  return outcome;
}

/// A folder for a test's files, and no MNIST anywhere.
struct Alone {
  TemporaryFolder folder;
  WithVariable data{"BPM_DATA_DIR", std::nullopt};
  WithVariable cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder.path() / name).string();
  }
  [[nodiscard]] Json json(const std::string& name) const {
    return Json::parse(read_text(folder.path() / name));
  }
};

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words small{"--train", "600", "--test", "200", "--draws", "3"};

std::size_t lines_of(const std::string& text) {
  std::size_t lines = 0;
  for (const char c : text) {
    lines += c == '\n' ? 1U : 0U;
  }
  return lines;
}

/// The run fails with this status and one line that holds `part`, and prints nothing else.
void refuse(int status, const Words& arguments, const std::string& part) {
  CAPTURE(arguments);
  const Outcome outcome = run(arguments + Words{"--quiet"});
  CHECK(outcome.status == status);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.errors, StartsWith("mnist: "));
  CHECK_THAT(outcome.errors, ContainsSubstring(part));
  CHECK(lines_of(outcome.errors) == 1);
}

std::string idx(const std::vector<std::size_t>& sizes, const std::string& elements) {
  std::string text("\0\0\x08", 3);
  text += static_cast<char>(sizes.size());
  for (const std::size_t size : sizes) {
    text += std::string(2, '\0') + static_cast<char>(size / 256) + static_cast<char>(size % 256);
  }
  return text + elements;
}

/// n images, each with ink on pixels of its own; image `twin` is the same as image 0.
std::string images(std::size_t n, std::size_t twin) {
  std::string pixels(n * 784, '\0');
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t ink = i == twin ? 0 : i;
    pixels[i * 784 + 3 * ink] = '\x7f';
    pixels[i * 784 + 3 * ink + 1] = '\x40';
  }
  return idx({n, 28, 28}, pixels);
}

std::string labels(std::size_t n) {
  std::string digits;
  for (std::size_t i = 0; i < n; ++i) {
    digits += static_cast<char>(i % 10);
  }
  return idx({n}, digits);
}

/// 20 training and 10 test images.
void write_mnist(const fs::path& folder, std::size_t twin = 20) {
  write_text(folder / "train-images-idx3-ubyte", images(20, twin));
  write_text(folder / "train-labels-idx1-ubyte", labels(20));
  write_text(folder / "t10k-images-idx3-ubyte", images(10, 10));
  write_text(folder / "t10k-labels-idx1-ubyte", labels(10));
}

}  // namespace

TEST_CASE("mnist: a small run on drawn digits reports, saves and plots", "[examples]") {
  const Alone alone;
  const bool plots = !bpm_examples::plot_detail::find_program("gnuplot").empty();
  const Words plot = plots ? Words{"--plot", alone.path("a.svg")} : Words{};
  const Outcome outcome =
      run(small + Words{"--seed", "4", "--threads", "2", "--json", alone.path("a.json")} + plot);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out, StartsWith("data            drawn digits, NOT MNIST"));
  CHECK_THAT(outcome.out, ContainsSubstring("\nmemory "));
  CHECK_THAT(outcome.out, ContainsSubstring("\nrejected %   error % by largest output   by gap"));
  CHECK_THAT(outcome.out, !ContainsSubstring("paper"));
  CHECK_THAT(outcome.errors, ContainsSubstring("draws 3/3: 100 %"));
  CHECK_THAT(outcome.errors, !ContainsSubstring("\r"));

  const Json json = alone.json("a.json");
  CHECK(json["data"] == "drawn");
  CHECK(json["train_size"] == 600);
  CHECK(json["test_size"] == 200);
  CHECK(json["draws"] == 3);
  CHECK(json["seed"] == 4);
  CHECK(json["threads"] == 2);
  CHECK(json["sampler"] == "perceptron");
  CHECK(json["kernel"] == "polynomial");
  CHECK(json["input"] == "byte");
  CHECK(json["strategy"] == "dense");
  for (const char* key : {"read_seconds", "train_seconds", "predict_seconds"}) {
    CAPTURE(key);
    CHECK(json[key].get<double>() > 0);
  }
  CHECK(json["kernel_seconds"].get<double>() <= json["train_seconds"].get<double>());
  CHECK(json["peak_memory_bytes"].get<double>() > 800 * 784);
  // The matrix is symmetric: about half of its values are computed.
  CHECK(json["kernel_evaluations"].get<int>() >= 600 * 601 / 2);
  CHECK(json["useful_evaluations"].get<int>() == 600 * json["support_union"].get<int>());
  CHECK(json["support_union"].get<int>() > 100);
  CHECK(json["support_union"].get<int>() <= 600);
  CHECK(json["mistakes"].get<int>() > json["support_union"].get<int>());
  CHECK(json["passes_mean"].get<double>() >= 2);
  CHECK(json["bounces"] == 0);
  CHECK(json["steps"] == 0);
  CHECK(json["standard_error"] == 0);
  CHECK(json["training_errors"] == 0);
  // 600 digits teach something, not everything.
  CHECK(json["test_error_percent"].get<double>() > 0.5);
  CHECK(json["test_error_percent"].get<double>() < 30);
  CHECK(json["single_draw_error_percent"].get<double>() > 0.5);
  CHECK(json["single_draw_error_percent"].get<double>() < 40);
  for (const char* key : {"rejection", "rejection_gap"}) {
    REQUIRE(json[key].size() == 11);
    CHECK(json[key][0]["error_percent"] == json["test_error_percent"]);
    CHECK(json[key][10]["rate_percent"] == 10);
    CHECK(json[key][10]["error_percent"] < json[key][0]["error_percent"]);
  }
  CHECK(json["model_digest"].get<std::string>().size() == 64);
  CHECK_THAT(outcome.out, ContainsSubstring(json["model_digest"].get<std::string>()));
  if (plots) {
    CHECK_THAT(read_text(alone.folder.path() / "a.svg"),
               ContainsSubstring("Drawn digits (not MNIST), 600 training digits"));
  }
}

TEST_CASE("mnist: threads and memory do not change the model, the seed does", "[examples]") {
  const Alone alone;
  const auto run_json = [&](const Words& more) {
    const Outcome outcome = run(small + more + Words{"--quiet", "--json", alone.path("a.json")});
    CAPTURE(more, outcome.errors);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.errors.empty());
    return alone.json("a.json");
  };
  const Json one = run_json({"--threads", "1"});
  const Json two = run_json({"--threads", "2"});
  const Json windowed = run_json({"--threads", "2", "--memory", "1500k"});
  CHECK(one["threads"] == 1);
  CHECK(one["strategy"] == "dense");
  CHECK(windowed["strategy"] == "windowed");
  CHECK(windowed["kernel_evaluations"] != one["kernel_evaluations"]);
  for (const char* key :
       {"model_digest", "mistakes", "test_error_percent", "single_draw_error_percent", "rejection",
        "rejection_gap", "useful_evaluations"}) {
    CAPTURE(key);
    CHECK(one[key] == two[key]);
    CHECK(one[key] == windowed[key]);
  }
  CHECK(run_json({"--seed", "2"})["model_digest"] != one["model_digest"]);
  CHECK(run_json({"--normalise"})["model_digest"] != one["model_digest"]);
  CHECK(run_json({"--lambda", "1000"})["model_digest"] != one["model_digest"]);
}

TEST_CASE("mnist: bytes and floats, and what is counted anew", "[examples]") {
  const Alone alone;
  const auto run_json = [&](const Words& more) {
    const Outcome outcome = run(small + more + Words{"--quiet", "--json", alone.path("a.json")});
    CAPTURE(more, outcome.errors);
    REQUIRE(outcome.status == 0);
    return alone.json("a.json");
  };
  const Words unit = GENERATE(Words{}, Words{"--normalise"});
  const Json bytes = run_json(unit + Words{"--verify", "--floor"});
  const Json floats = run_json(unit + Words{"--verify", "--floor", "--input", "float"});
  CHECK(bytes["input"] == "byte");
  CHECK(floats["input"] == "float");
  // Kernel values agree to rounding, so nearly all decisions do.
  CHECK(std::abs(bytes["test_error_percent"].get<double>() -
                 floats["test_error_percent"].get<double>()) <= 2);
  CHECK(bytes["training_errors"] == 0);
  CHECK(floats["training_errors"] == 0);
  CHECK(floats["floor_seconds"].get<double>() > 0);
  CHECK(floats["predict_floor_seconds"].get<double>() > 0);
  CHECK_FALSE(run_json(unit).contains("floor_seconds"));
  const Json soft = run_json(unit + Words{"--verify", "--lambda-relative", "0.1"});
  CHECK(soft["training_errors"] == 0);
}

TEST_CASE("mnist: every kernel learns", "[examples]") {
  const Alone alone;
  const std::string kernel = GENERATE("polynomial", "gaussian", "arc-cosine", "linear");
  const Outcome outcome =
      run(small + Words{"--kernel", kernel, "--reject", "gap", "--json", alone.path("a.json")});
  CAPTURE(kernel, outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("\nrejected %   error % by gap of the best two"));
  const Json json = alone.json("a.json");
  CHECK(json["kernel"] == kernel);
  CHECK(json["training_errors"] == 0);
  CHECK(json["test_error_percent"].get<double>() < 40);
}

TEST_CASE("mnist: even and odd digits, a boundary that is chosen, a risk that is guaranteed",
          "[examples]") {
  const Alone alone;
  const Words files{"--quiet", "--json", alone.path("a.json")};
  REQUIRE(run(small + Words{"--even-odd", "--lambda", "automatic", "--verify"} + files).status ==
          0);
  Json json = alone.json("a.json");
  CHECK(json["test_error_percent"].get<double>() < 30);
  // The model is that of the lambda that it names.
  const Json& chosen = json.at("lambda_relative");
  const std::string chosen_digest = json["model_digest"];
  CHECK(json["training_errors"] == 0);
  CHECK(json["compression_sizes"].size() == 3);
  CHECK(json.at("stable_compression_percent").is_null());  // The same digits chose the boundary.
  REQUIRE(run(small + Words{"--even-odd", "--lambda-relative", chosen.dump()} + files).status == 0);
  CHECK(alone.json("a.json")["model_digest"] == chosen_digest);

  // What is printed has every digit that was asked for.
  const Outcome said =
      run(small + Words{"--risk", "20.25", "--delta", "0.125", "--json", alone.path("a.json")});
  REQUIRE(said.status == 0);
  CHECK_THAT(said.out, ContainsSubstring("at most 20.25 % of those accepted are wrong, but for a "
                                         "chance of 0.125: of the test digits "));
  json = alone.json("a.json");
  CHECK(json["train_size"] == 500);
  const Json& guaranteed = json["guaranteed"];
  CHECK(guaranteed["risk_percent"].get<double>() == Approx(20.25));
  CHECK(guaranteed["delta"] == 0.125);
  // More than a fifth is misread, so that some are rejected, and those are misread more often.
  const double error = json["test_error_percent"];
  CHECK(error > 20);
  CHECK(guaranteed["threshold"].get<double>() > 0);
  CHECK(guaranteed["coverage_percent"].get<double>() > 20);
  CHECK(guaranteed["coverage_percent"].get<double>() < 100);
  CHECK(guaranteed["calibration_coverage_percent"].get<double>() > 20);
  CHECK(guaranteed["calibration_coverage_percent"].get<double>() < 100);
  CHECK(guaranteed["error_percent"].get<double>() < error);
  // The bound by the support of the first draw, of the training digits that are left.
  const double bound = json["stable_compression_percent"];
  const auto size_of_first = json["compression_sizes"][0].get<std::uint64_t>();
  CHECK(bound > 100.0 * static_cast<double>(size_of_first) / 500);
  CHECK(bound == Approx(100 * bpm::stable_compression_bound(size_of_first, 500, 0.01)));
  // That of the mean: half of delta each, and how often the first draw differs on the test images.
  const auto apart = json["first_draw_disagreements"].get<std::uint64_t>();
  const auto images = json["test_size"].get<std::uint64_t>();
  CHECK(apart > 0);
  CHECK(json["mean_bound_percent"].get<double>() ==
        Approx(100 * std::min(1.0, bpm::stable_compression_bound(size_of_first, 500, 0.005) +
                                       bpm::binomial_upper_limit(apart, images, 0.005))));
  CHECK(json["bound_choices"] == 1);
  // With a hundred digits set aside nothing so small can be shown.
  const Outcome nothing = run(small + Words{"--risk", "0.1", "--json", alone.path("a.json")});
  REQUIRE(nothing.status == 0);
  CHECK_THAT(nothing.out, ContainsSubstring("nothing: too few digits were set aside"));
  const Json none = alone.json("a.json").at("guaranteed");
  CHECK(none.at("threshold").is_null());
  CHECK(none.at("coverage_percent") == 0);
  refuse(2, {"--lambda", "much"}, "--lambda: 'much' is no number");
  refuse(2, {"--delta", "0.1"}, "--risk");
}

TEST_CASE("mnist: gradient features and virtual examples", "[examples]") {
  const Alone alone;
  const Words files{"--quiet", "--json", alone.path("a.json")};
  REQUIRE(run(small + Words{"--features", "gradient"} + files).status == 0);
  Json json = alone.json("a.json");
  CHECK(json["features"] == "gradient");
  CHECK(json["normalise"] == true);
  CHECK(json["feature_numbers"].get<int>() > 100);
  CHECK(json["features_seconds"].get<double>() > 0);
  CHECK(json["digit_seconds"].get<double>() > 0);
  CHECK(json["points_seen"] == 600);
  CHECK(json["virtual_copies"] == 0);
  CHECK(json["training_errors"] == 0);
  const double plain = json["test_error_percent"];
  REQUIRE(run(small + files).status == 0);
  CHECK(plain < alone.json("a.json")["test_error_percent"].get<double>());

  const std::string kind = GENERATE("elastic", "shifts");
  const std::string features = GENERATE("pixels", "gradient");
  const Words copies{"--virtual", kind, "--copies", "3", "--features", features};
  REQUIRE(run(small + copies + files).status == 0);
  json = alone.json("a.json");
  CAPTURE(kind, features);
  CHECK(json["virtual_copies"] == 3);
  CHECK(json["points_seen"] == 2400);
  CHECK(json["mistakes_last_pass"] == 0);
  CHECK(json["training_errors"] == 0);  // The mean lies where all draws agree: of the originals.
  CHECK(json["passes"] == json["passes_mean"]);
  CHECK(json.contains("fresh_copies_error_percent") == (kind == "elastic"));
  // The support counts originals, of which there are 600.
  REQUIRE(json["compression_sizes"].size() == 3);
  for (const Json& size : json["compression_sizes"]) {
    CHECK(size.get<int>() > 0);
    CHECK(size.get<int>() <= 600);
  }
  CHECK(json["stable_compression_percent"].get<double>() ==
        Approx(100 * bpm::stable_compression_bound(
                         json["compression_sizes"][0].get<std::uint64_t>(), 600, 1e-5)));
  // A thousand choices of features are paid for; the mean takes half of delta, and differences.
  CHECK(json["bound_choices"] == 1000);
  CHECK(json["mean_bound_percent"].get<double>() ==
        Approx(100 * bpm::Certificate::of_first_draw(
                         json["compression_sizes"][0].get<std::uint64_t>(), 600,
                         json["first_draw_disagreements"].get<std::uint64_t>(),
                         json["test_size"].get<std::uint64_t>(), 1e-5)
                         .error));
  // 2400 points by 1, 2 and 3 threads: a window as narrow as it gets, a wider one, all values.
  const std::string digest = json["model_digest"];
  CHECK(json["strategy"] == "dense");
  for (const Words& other :
       {Words{"--threads", "1", "--memory", "2M"}, Words{"--threads", "2", "--memory", "10M"},
        Words{"--threads", "3", "--memory", "2G"}}) {
    REQUIRE(run(small + copies + other + files).status == 0);
    json = alone.json("a.json");
    CAPTURE(other, json["strategy"].get<std::string>());
    CHECK(json["model_digest"] == digest);
    CHECK((json["strategy"] == "dense") == (other.back() == "2G"));
  }
}

TEST_CASE("mnist: slant is removed before anything else, and said", "[examples]") {
  const Alone alone;
  const std::string features = GENERATE("pixels", "gradient");
  const Words files{"--features", features, "--json", alone.path("a.json")};
  REQUIRE(run(small + files + Words{"--quiet"}).status == 0);
  const Json slanted = alone.json("a.json");
  CHECK(slanted["slant_removal"] == false);
  const Outcome outcome = run(small + files + Words{"--slant-removal"});
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("slant removed, "));
  const Json upright = alone.json("a.json");
  CHECK(upright["slant_removal"] == true);
  CHECK(upright["feature_numbers"] == slanted["feature_numbers"]);
  CHECK(upright["model_digest"] != slanted["model_digest"]);
}

TEST_CASE("mnist: pictures of what was misread, by any kernel", "[examples]") {
  const Alone alone;
  if (bpm_examples::plot_detail::find_program("gnuplot").empty()) {
    refuse(1, small + Words{"--pictures", alone.path("a.svg")}, "gnuplot was not found");
    return;
  }
  const Words options = GENERATE(Words{}, Words{"--features", "gradient", "--virtual", "elastic"},
                                 Words{"--even-odd", "--input", "float"});
  CAPTURE(options);
  REQUIRE(run(small + options + Words{"--quiet", "--pictures", alone.path("a.svg")}).status == 0);
  const std::string svg = read_text(alone.folder.path() / "a.svg");
  CHECK_THAT(svg, ContainsSubstring("spoke loudest for it"));
  CHECK_THAT(svg, ContainsSubstring("read as"));
  const bool features = !options.empty() && options[0] == "--features";
  CHECK((svg.find("and its features") != std::string::npos) == features);
  refuse(1, small + Words{"--pictures", alone.path("none/a.svg")}, "none/a.svg");
  refuse(2, small + Words{"--pictures", ""}, "--pictures: the name is empty");
  const std::string same = alone.path("b.svg");
  refuse(2, small + Words{"--plot", same, "--pictures", same},
         "--plot and --pictures name the same file, ");
}

TEST_CASE("mnist: images of another size learn as well", "[examples]") {
  const Alone alone;
  // A bar of ink in row 1 + label of images of 9 x 12, with a pixel that differs.
  const auto write = [&](const std::string& name, std::size_t n) {
    std::string pixels(n * 9 * 12, '\0');
    std::string labels;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t label = i % 3;
      labels += static_cast<char>(label + 20);
      pixels.replace(i * 108 + (1 + 2 * label) * 12 + 2, 8, 8, '\x7f');
      pixels[i * 108 + i % 108] = '\x20';
    }
    write_text(alone.folder.path() / (name + "-images-idx3-ubyte"), idx({n, 9, 12}, pixels));
    write_text(alone.folder.path() / (name + "-labels-idx1-ubyte"), idx({n}, labels));
  };
  write("train", 90);
  write("t10k", 30);
  for (const std::string features : {"pixels", "gradient"}) {
    const Outcome outcome =
        run({"--data", alone.folder.path().string(), "--train", "90", "--test", "30", "--draws",
             "2", "--features", features, "--virtual", "elastic", "--json", alone.path("a.json")});
    CAPTURE(outcome.errors);
    REQUIRE(outcome.status == 0);
    CHECK_THAT(outcome.out, StartsWith("data            images of 9 x 12, "));
    const Json json = alone.json("a.json");
    CHECK(json["data"] == "images");
    CHECK(json["test_error_percent"] == 0);
  }
}

TEST_CASE("mnist: chains draw classifiers too", "[examples]") {
  const Alone alone;
  const std::string sampler = GENERATE("billiard", "gibbs");
  const auto run_json = [&](const std::string& threads) {
    const Outcome outcome = run({"--train", "100", "--test", "100", "--sampler", sampler, "--draws",
                                 "5", "--threads", threads, "--json", alone.path("a.json")});
    CAPTURE(sampler, outcome.errors);
    REQUIRE(outcome.status == 0);
    CHECK_THAT(outcome.out, ContainsSubstring(sampler + ", 5 draws a class"));
    CHECK_THAT(outcome.out, ContainsSubstring("rad from the true ones"));
    // Five draws are enough for the billiard alone.
    const std::string warning = "warning: chains have not found their centres in 1 of 1 runs";
    CHECK((outcome.errors.find(warning) != std::string::npos) == (sampler == "gibbs"));
    CHECK((outcome.out.find(warning) != std::string::npos) == (sampler == "gibbs"));
    return alone.json("a.json");
  };
  const Json json = run_json("1");
  CHECK(json["sampler"] == sampler);
  CHECK(json["draws"] == 5);
  CHECK(json["training_errors"] == 0);
  CHECK(json["passes_mean"] == 0);
  // Five draws per class, a thousand bounces or a hundred steps each.
  CHECK((json["bounces"].get<int>() >= 10 * 4000) == (sampler == "billiard"));
  CHECK((json["steps"] == 10 * 500) == (sampler == "gibbs"));
  CHECK(json["bounces"].get<int>() * json["steps"].get<int>() == 0);
  // So few draws may be too few to tell: then it is null.
  if (json["standard_error"].is_number()) {
    CHECK(json["standard_error"].get<double>() > 0);
  }
  CHECK(json["warnings"].empty() == (sampler == "billiard"));
  CHECK(json["test_error_percent"].get<double>() < 60);
  CHECK(run_json("2")["model_digest"] == json["model_digest"]);
}

TEST_CASE("mnist: chains that do not fit say what would", "[examples]") {
  const Alone alone;
  const Words large{"--train", "600", "--test", "10", "--memory", "3M"};
  refuse(1, large + Words{"--sampler", "billiard"},
         "--sampler billiard keeps matrices of N x N numbers: 600 training digits need ");
  refuse(1, large + Words{"--sampler", "gibbs"}, "; give --train N or more --memory");
  refuse(2, {"--sampler", "svm"}, "--sampler: svm not in");
  CHECK(run(large).status == 0);
}

TEST_CASE("mnist: a wrong command line ends with status 2", "[examples]") {
  const Alone alone;
  refuse(2, {"--train", "0"}, "--train: '0' is no whole number");
  refuse(2, {"--kernel", "cubic"}, "cubic not in");
  refuse(2, {"--frobnicate"}, "--frobnicate");
  refuse(2, {"--seed"}, "--seed");
  const Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK_THAT(help.out, ContainsSubstring("mnist --features gradient --virtual elastic --pictures"));
  CHECK(help.errors.empty());
}

TEST_CASE("mnist: what cannot be done ends with status 1 and loses nothing", "[examples]") {
  const Alone alone;
  refuse(1, small + Words{"--json", alone.path("none/a.json")}, "cannot write");
  refuse(1, small + Words{"--data", alone.path("none")}, "there is no folder");
  refuse(1, {"--train", "1", "--test", "1"}, "labels are all 0");
  {
    const WithVariable no_programs("PATH", alone.path("none"));
    refuse(1, small + Words{"--plot", alone.path("a.svg")}, "gnuplot was not found");
  }
  write_text(alone.folder.path() / "a.json", "old");
  refuse(1, small + Words{"--memory", "10k", "--json", alone.path("a.json")},
         "memory is 10240 bytes");
  refuse(2, small + Words{"--memory", "100k", "--verify"},
         "--verify looks at every draw, and --memory does not hold them all");
  refuse(1, small + Words{"--degree", "64", "--offset", "100"}, "must be finite");
  CHECK(read_text(alone.folder.path() / "a.json") == "old");
}

TEST_CASE("mnist: broken data files are refused by name", "[examples]") {
  const Alone alone;
  const fs::path folder = alone.folder.path() / "data";
  const Words here{"--data", folder.string(), "--train", "20", "--test", "10"};
  write_mnist(folder);
  const Outcome good = run(here);
  CHECK(good.status == 0);
  CHECK_THAT(good.out, StartsWith("data            MNIST, " + folder.string() + "\n"));
  CHECK_THAT(good.out, ContainsSubstring("paper"));

  SECTION("more digits than there are") {
    refuse(1, {"--data", folder.string()}, "--train asks for 60000 digits");
  }
  SECTION("labels of another length") {
    write_text(folder / "train-labels-idx1-ubyte", labels(19));
    refuse(1, here, "20 images, ");
  }
  SECTION("a compressed file that ends early") {
    const std::string whole = images(20, 20);
    const fs::path file = folder / "train-images-idx3-ubyte.gz";
    fs::remove(folder / "train-images-idx3-ubyte");
    ::gzFile packed = ::gzopen(file.c_str(), "wb");
    REQUIRE(packed != nullptr);
    REQUIRE(::gzwrite(packed, whole.data(), static_cast<unsigned>(whole.size())) > 0);
    REQUIRE(::gzclose(packed) == Z_OK);
    CHECK(run(here).status == 0);
    fs::resize_file(file, fs::file_size(file) / 2);
    refuse(1, here, file.string());
  }
  SECTION("equal images with different labels name the cure") {
    write_mnist(folder, 7);
    refuse(1, here, "lambda");
    CHECK(run(here + Words{"--lambda", "1"}).status == 0);
    CHECK(run(here + Words{"--lambda-relative", "0.5"}).status == 0);
  }
}

TEST_CASE("mnist: Ctrl-C ends a run with the draws that are finished", "[examples]") {
  const Alone alone;
  const Words endless{"--train", "300", "--test", "100", "--draws", "100000000"};
  ChildProcess child(program, endless + Words{"--json", alone.path("a.json")});
  // The settings are printed right before the fit begins; give it time for some draws.
  while (child.out().find("\nmemory ") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  child.send(SIGINT);
  REQUIRE(child.wait() == 130);
  if (!fs::exists(alone.folder.path() / "a.json")) {  // On a machine that is very slow.
    CHECK_THAT(child.errors(), ContainsSubstring("stopped before the first of 100000000 draws"));
    return;
  }
  const Json stopped = alone.json("a.json");
  CHECK(stopped["single_draw_error_percent"].is_null());  // So many draws are not kept.
  const std::string draws = stopped["draws"].dump();
  CHECK_THAT(child.errors(),
             ContainsSubstring("mnist: stopped after " + draws + " of 100000000 draws"));
  CHECK_THAT(child.out(), ContainsSubstring("after " + draws + " of 100000000 draws"));
  // The same as a run that was asked for so many.
  const Outcome again = run({"--train", "300", "--test", "100", "--draws", draws, "--quiet",
                             "--json", alone.path("b.json")});
  CHECK(again.status == 0);
  const Json whole = alone.json("b.json");
  CHECK(whole["model_digest"] == stopped["model_digest"]);
  CHECK(whole["mistakes"] == stopped["mistakes"]);
  CHECK(whole["test_error_percent"] == stopped["test_error_percent"]);
}

TEST_CASE("mnist: the real digits are read, and learned as the stored run did", "[examples]") {
  const auto data = test_support::data_dir();
  if (!data) {
    return test_support::skip_without_data(
        "mnist: the real digits are read, and learned as the stored run did");
  }
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "a.json").string();
  const Outcome outcome = run({"--data", data->string(), "--train", "5000", "--json", file});
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, StartsWith("data            MNIST, " + data->string()));
  const Json json = Json::parse(read_text(file));
  CHECK(json["data"] == "mnist");
  CHECK(json["training_errors"] == 0);
  const Json stored =
      Json::parse(read_text(fs::path(BPM_SOURCE_DIR) / "docs/results/mnist_5000.json"))["result"];
  // Perceptrons go the same way unless a kernel value's rounding decides a sign.
  const auto check_near = [&](const char* key, double relative, double margin) {
    CAPTURE(key);
    CHECK(json[key].get<double>() ==
          Approx(stored[key].get<double>()).epsilon(relative).margin(margin));
  };
  check_near("mistakes", 0.01, 0);
  check_near("support_union", 0.01, 0);
  check_near("test_error_percent", 0, 0.1);
  for (std::size_t k = 0; k <= 10; ++k) {
    CHECK(json["rejection"][k]["error_percent"].get<double>() ==
          Approx(stored["rejection"][k]["error_percent"].get<double>()).epsilon(0).margin(0.1));
  }
#ifdef __FMA__  // by which the stored run was made
  CHECK(json["model_digest"] == stored["model_digest"]);
#endif
}
