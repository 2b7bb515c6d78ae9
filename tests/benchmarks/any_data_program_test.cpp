// SPDX-License-Identifier: MIT
// The program itself, with little to do.
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "program_test.hpp"

namespace any_data_program {

using namespace examples_test;

namespace {

const std::string program = BPM_ANY_DATA_PROGRAM;

}  // namespace

TEST_CASE("any_data: a table of one's own beside LIBSVM", "[benchmarks]") {
  const Alone alone;
  {
    std::ofstream file(alone.path("mine.csv"));
    bpm::RandomEngine engine(1);
    bpm::NormalDraws normal;
    file << "a,b,label\n";
    for (int i = 0; i < 90; ++i) {
      const int label = i % 3;
      file << 100 * (normal(engine) + 2.0 * label) << ',' << normal(engine) << ',' << label << '\n';
    }
  }
  std::vector<std::string> words{"--files", alone.path("mine.csv"), "--splits", "2",
                                 "--json",  alone.path("a.json")};
  if (draws_plots()) words.insert(words.end(), {"--plot", alone.path("a.svg")});
  ChildProcess child(program, words);
  REQUIRE(child.wait() == 0);
  CHECK_THAT(child.out(), ContainsSubstring("mine"));
  const Json json = Json::parse(read_text(alone.path("a.json")));
  REQUIRE(json.size() == 1);
  const Json& set = json[0];
  CHECK(set["dataset"] == "mine");
  CHECK(set["train_size"] == 54);
  CHECK(set["test_size"] == 36);
  CHECK(set["features"] == 2);
  CHECK(set["classes"] == 3);
  CHECK(set["refused"] == 0);
  // The classes lie two deviations apart: both libraries are far better than a guess.
  for (const char* key : {"first_error_percent", "chosen_error_percent", "libsvm_error_percent"}) {
    CAPTURE(key);
    CHECK(set[key].get<double>() < 45);
  }
  CHECK(set["grid_best_error_percent"].get<double>() <=
        set["first_error_percent"].get<double>() + 20);
  CHECK(
      set["difference_percent"].get<double>() ==
      Approx(set["chosen_error_percent"].get<double>() - set["libsvm_error_percent"].get<double>())
          .margin(1e-9));
  CHECK(set["log_loss_largest_class"].get<double>() == Approx(std::log(3.0)).epsilon(0.1));
  for (const char* key : {"log_loss_calibrated", "log_loss_votes", "log_loss_libsvm"}) {
    CAPTURE(key);
    CHECK(set[key].get<double>() < std::log(3.0));
  }
  CHECK(set["hard_seconds"].is_null());
  CHECK(set["linear_hard_seconds"].is_null());
  CHECK(set["linear_hard_refused"].is_null());
}

TEST_CASE("any_data: a hard boundary with the linear kernel is refused", "[benchmarks]") {
  const Alone alone;
  ChildProcess child(program, {"--datasets", "flipped", "--splits", "1", "--train", "300", "--json",
                               alone.path("a.json")});
  REQUIRE(child.wait() == 0);
  CHECK_THAT(child.out(), ContainsSubstring("linear, hard: refused"));
  const Json json = Json::parse(read_text(alone.path("a.json")));
  REQUIRE(json.size() == 1);
  CHECK(json[0]["train_size"] == 300);
  CHECK(json[0]["linear_hard_refused"] == true);
  CHECK(json[0]["linear_hard_seconds"].get<double>() > 0);
  CHECK(json[0]["hard_error_percent"].is_number());  // The Gaussian separates the same points.
}

TEST_CASE("any_data: biases are compared by splits that are named", "[benchmarks]") {
  const Alone alone;
  const auto run = [&](const std::string& splits, const std::string& first) {
    std::vector<std::string> words{
        "--datasets", "means,rare",    "--bias", "0,1",    "--splits",
        splits,       "--first-split", first,    "--json", alone.path("a.json")};
    if (draws_plots()) words.insert(words.end(), {"--plot", alone.path("a.svg")});
    ChildProcess child(program, words);
    REQUIRE(child.wait() == 0);
    CHECK_THAT(child.out(), ContainsSubstring("mean of 2"));
    return Json::parse(read_text(alone.path("a.json")));
  };
  const Json both = run("2", "51");
  const Json one = run("1", "51");
  const Json other = run("1", "52");
  REQUIRE(both.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(both[i].dump());
    CHECK(both[i]["dataset"] == (i < 2 ? "means" : "rare"));
    CHECK(both[i]["bias"] == static_cast<double>(i % 2));
    CHECK(both[i]["splits"] == 2);
    CHECK(both[i]["train_size"] == 300);
    for (const char* key : {"out_of_fold_log_loss", "chosen_error_percent"}) {
      CHECK(both[i][key].get<double>() ==
            Approx((one[i][key].get<double>() + other[i][key].get<double>()) / 2));
    }
    // The Bayes error of `means` is 16.4 %, the standard normal's tail behind 0.8 sqrt(6) / 2.
    CHECK(both[i]["chosen_error_percent"].get<double>() < 22);
    CHECK(both[i]["out_of_fold_log_loss"].get<double>() < std::log(2.0));
  }
}

TEST_CASE("any_data: a set is made again by each seed, and judged by its probabilities",
          "[benchmarks]") {
  const Alone alone;
  const auto run = [&](const std::string& seeds) {
    ChildProcess child(program, {"--datasets", "rings_4,clusters_10", "--train", "150", "--splits",
                                 "1", "--seeds", seeds, "--json", alone.path("s.json")});
    REQUIRE(child.wait() == 0);
    return Json::parse(read_text(alone.path("s.json")));
  };
  const Json first = run("1");
  const Json both = run("2");
  REQUIRE(both.size() == 2);
  for (std::size_t i = 0; i < both.size(); ++i) {
    CHECK(both[i]["train_size"] == 150);
    CHECK(both[i]["classes"] == (i == 0 ? 4 : 10));
    // The mean of two numbers is a standard error away from each.
    for (const std::string who : {"first", "chosen", "libsvm"}) {
      CAPTURE(who);
      const double apart = both[i][who + "_error_percent"].get<double>() -
                           first[i][who + "_error_percent"].get<double>();
      CHECK(first[i][who + "_se"] == 0);
      CHECK(both[i][who + "_se"].get<double>() > 0);
      CHECK(std::abs(apart) == Approx(both[i][who + "_se"].get<double>()));
    }
    for (const char* key : {"log_loss_calibrated", "log_loss_libsvm", "calibration_error",
                            "libsvm_calibration_error"}) {
      CAPTURE(key);
      CHECK(both[i][key].get<double>() > 0);
      CHECK(both[i][key] != first[i][key]);
    }
    CHECK(both[i]["calibration_error"].get<double>() < 0.15);
  }
}

TEST_CASE("any_data: where pairs of classes win, their machine is judged", "[benchmarks]") {
  const Alone alone;
  ChildProcess child(program, {"--datasets", "shells_4", "--train", "300", "--splits", "1",
                               "--seeds", "1", "--json", alone.path("s.json")});
  REQUIRE(child.wait() == 0);
  const Json shells = Json::parse(read_text(alone.path("s.json")))[0];
  // A class inside another has a much harder border against all others than against one.
  CHECK(shells["chosen_error_percent"].get<double>() <
        shells["first_error_percent"].get<double>() - 5);
}

TEST_CASE("any_data: what is refused", "[benchmarks]") {
  const Alone alone;
  check_refused(program, 2, {"--datasets", "iris"}, "'iris' is none of");
  check_refused(program, 2, {"--train", "0"}, "--train");
  check_refused(program, 2, {"--bias", "0,-1"}, "--bias");
  check_refused(program, 1, {"--datasets", "heart"}, "BPM_DATA_DIR");
  check_refused(program, 1, {"--files", alone.path("none.csv")}, "none.csv");
}

}  // namespace any_data_program
