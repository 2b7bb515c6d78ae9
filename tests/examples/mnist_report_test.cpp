// SPDX-License-Identifier: MIT
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/decision/scores.hpp"
#include "catch.hpp"
#include "mnist/report.hpp"

using bpm_examples::MnistReport;
using bpm_examples::RejectionRow;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

MnistReport small_report() {
  MnistReport report;
  report.source = "MNIST, /data/mnist";
  report.train_size = 60000;
  report.test_size = 10000;
  report.draws_wanted = 10;
  report.draws = 10;
  report.seed = 3;
  report.threads = 2;
  report.sampler = "perceptron";
  report.kernel = "polynomial";
  report.kernel_formula = "(<x, x'> + 1)^5";
  report.input = "byte";
  report.memory = {std::size_t{2} << 30U, std::size_t{14'500'000'000}, 109'300'000, 219'520'000};
  report.strategy = "windowed";
  report.read_seconds = 0.5;
  report.train_seconds = 25.25;
  report.kernel_seconds = 20;
  report.predict_seconds = 3;
  report.peak_memory_bytes = 300U << 20U;
  report.kernel_evaluations = 1000;
  report.useful_evaluations = 900;
  report.mistakes = 131478;
  report.passes_mean = 9.25;
  report.support_union = 26123;
  report.test_error_percent = 1.5;
  report.single_draw_error_percent = 2.25;
  report.rejection = {{0, 1.52}, {1, 1.125}};
  report.rejection_gap = {{0, 1.52}, {1, 0.5}};
  report.curve = {{0, 1.52}, {0.1, 1.5}, {0.2, 1.25}};
  report.curve_gap = {{0, 1.52}, {0.1, 1.375}, {0.2, 1.25}};
  report.model_digest = "abc";
  return report;
}

}  // namespace

TEST_CASE("rejection rows count the errors left at each percent", "[examples]") {
  // 100 digits, scores 0 .. 99, errors at scores 0, 3 and 50.
  std::vector<double> scores(100);
  std::vector<bool> correct(100, true);
  for (std::size_t i = 0; i < 100; ++i) {
    scores[i] = static_cast<double>(i);
  }
  correct[0] = correct[3] = correct[50] = false;
  const auto rows = bpm_examples::rejection_rows(scores, correct);
  REQUIRE(rows.size() == 11);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double errors = k == 0 ? 3 : k <= 3 ? 2 : 1;
    CHECK(rows[k].rate_percent == static_cast<double>(k));
    CHECK(rows[k].error_percent == 100 * (errors / static_cast<double>(100 - k)));
  }
  const auto fine = bpm_examples::rejection_rows(scores, correct, 20);
  REQUIRE(fine.size() == 21);
  CHECK(fine[0].rate_percent == 0);
  CHECK(fine[1].rate_percent == 0.5);
  CHECK(fine[1].error_percent == rows[0].error_percent);
  CHECK(fine[20].rate_percent == 10);
  CHECK(fine[20].error_percent == rows[10].error_percent);
  CHECK_THROWS_AS(bpm_examples::rejection_rows({}, {}), std::invalid_argument);
}

TEST_CASE("the report as JSON has the shared keys in order", "[examples]") {
  MnistReport report = small_report();
  std::vector<std::string> keys;
  const auto json = bpm_examples::report_json(report);
  for (const auto& item : json.items()) {
    keys.push_back(item.key());
  }
  CHECK(keys == std::vector<std::string>{"data",
                                         "train_size",
                                         "test_size",
                                         "draws",
                                         "seed",
                                         "threads",
                                         "sampler",
                                         "kernel",
                                         "kernel_formula",
                                         "input",
                                         "normalise",
                                         "features",
                                         "feature_numbers",
                                         "slant_removal",
                                         "virtual_copies",
                                         "strategy",
                                         "read_seconds",
                                         "train_seconds",
                                         "kernel_seconds",
                                         "predict_seconds",
                                         "features_seconds",
                                         "peak_memory_bytes",
                                         "kernel_evaluations",
                                         "useful_evaluations",
                                         "mistakes",
                                         "passes_mean",
                                         "support_union",
                                         "points_seen",
                                         "passes",
                                         "mistakes_last_pass",
                                         "training_errors",
                                         "bounces",
                                         "steps",
                                         "standard_error",
                                         "warnings",
                                         "test_error_percent",
                                         "single_draw_error_percent",
                                         "rejection",
                                         "rejection_gap",
                                         "compression_sizes",
                                         "stable_compression_percent",
                                         "model_digest"});
  CHECK(json["data"] == "mnist");
  CHECK(json["train_size"] == 60000);
  CHECK(
      json["rejection"].dump() ==
      R"([{"rate_percent":0.0,"error_percent":1.52},{"rate_percent":1.0,"error_percent":1.125}])");
  CHECK(json["rejection_gap"][1]["error_percent"] == 0.5);
  CHECK(json["model_digest"] == "abc");
  MnistReport without_openssl = report;
  without_openssl.model_digest = "";
  CHECK(report_json(without_openssl)["model_digest"].is_null());

  report.data = "drawn";
  report.floor_seconds = 4.5;
  report.predict_floor_seconds = 0.25;
  report.lambda = 0.5;
  report.lambda_relative = 0.75;
  const auto other = bpm_examples::report_json(report);
  CHECK(other["data"] == "drawn");
  CHECK(other["floor_seconds"] == 4.5);
  CHECK(other["predict_floor_seconds"] == 0.25);
  CHECK(other["lambda"] == 0.5);
  CHECK(other["lambda_relative"] == 0.75);
}

TEST_CASE("the rejection table stands beside the paper's on MNIST only", "[examples]") {
  MnistReport report = small_report();
  std::ostringstream out;
  bpm_examples::print_rejection(out, report);
  CHECK(out.str() ==
        "rejected %   error % by largest output   by gap of the best two   paper\n"
        "         0                        1.52                     1.52    1.46\n"
        "         1                        1.12                     0.50    1.10\n");
  report.train_size = 1000;
  report.leading = bpm_examples::RejectionScore::gap;
  out.str("");
  bpm_examples::print_rejection(out, report);
  CHECK(out.str() ==
        "rejected %   error % by gap of the best two   by largest output   paper\n"
        "         0                             1.52                1.52    1.46\n"
        "         1                             0.50                1.12    1.10\n"
        "The paper's errors are for 60000 training and 10000 test digits.\n");
  report.data = "drawn";
  out.str("");
  bpm_examples::print_rejection(out, report);
  CHECK(out.str() ==
        "rejected %   error % by gap of the best two   by largest output\n"
        "         0                             1.52                1.52\n"
        "         1                             0.50                1.12\n");
}

TEST_CASE("what is about to run is printed, the data first", "[examples]") {
  MnistReport report = small_report();
  std::ostringstream out;
  bpm_examples::print_settings(out, report);
  CHECK(out.str() ==
        "data            MNIST, /data/mnist\n"
        "sizes           60000 training digits, 10000 test digits, pixels / 255\n"
        "method          perceptron, 10 draws a class, kernel (<x, x'> + 1)^5, byte inputs, seed "
        "3, threads 2\n"
        "memory          104 MiB windowed, 13.5 GiB with the whole kernel matrix (dense); budget "
        "2.0 GiB: windowed; beside it 209 MiB of inputs\n");
  report.normalise = true;
  report.lambda = 0.5;
  out.str("");
  bpm_examples::print_settings(out, report);
  CHECK(out.str().find("10000 test digits, scaled to unit norm\n") != std::string::npos);
  CHECK(out.str().find("^5, lambda 0.5, byte inputs") != std::string::npos);
  report.lambda.reset();
  report.lambda_relative = 0.25;
  out.str("");
  bpm_examples::print_settings(out, report);
  CHECK(out.str().find("^5, lambda 0.25 k(x, x), byte inputs") != std::string::npos);
}

TEST_CASE("bytes are printed with three digits", "[examples]") {
  using bpm_examples::report_detail::bytes_text;
  CHECK(bytes_text(0) == "0 bytes");
  CHECK(bytes_text(999) == "999 bytes");
  CHECK(bytes_text(1000) == "1.0 KiB");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(std::size_t{100} << 20U) == "100 MiB");
  CHECK(bytes_text(std::size_t{2} << 30U) == "2.0 GiB");
  CHECK(bytes_text(std::size_t{5} << 50U) == "5120 TiB");
}

TEST_CASE("the printed results say how it went", "[examples]") {
  MnistReport report = small_report();
  report.floor_seconds = 10.3;
  report.predict_floor_seconds = 0.75;
  std::ostringstream out;
  bpm_examples::print_results(out, report);
  std::ostringstream table;
  bpm_examples::print_rejection(table, report);
  const std::string expected =
      "time            read 0.50 s, train 25.2 s (kernel values 20.0 s, windowed), predict "
      "3.00 s\n"
      "floor           train 10.3 s, predict 0.75 s, the time of the matrix products alone at "
      "their best rate\n"
      "peak memory     300 MiB\n"
      "kernel values   1000 computed, for 900 pairs of a training and a support point\n"
      "training        131478 mistakes in all, 9.2 passes on average, 26123 support points, 0 "
      "errors left\n"
      "test error      1.50 % of the Bayes points (150 of 10000, 1.27 to 1.76 % at 95 %), "
      "2.25 % of single draws\n"
      "model digest    abc\n\n" +
      table.str();
  CHECK(out.str() == expected);
  report.model_digest = "";
  report.draws = 4;
  report.single_draw_error_percent.reset();
  out.str("");
  bpm_examples::print_results(out, report);
  CHECK_THAT(out.str(),
             StartsWith("stopped         after 4 of 10 draws; what follows is theirs\n"));
  CHECK_THAT(out.str(), ContainsSubstring("unknown (too many for the budget) of single draws\n"));
  CHECK_THAT(out.str(), ContainsSubstring("model digest    none: built without OpenSSL"));
  CHECK(bpm_examples::report_json(report)["single_draw_error_percent"].is_null());
  CHECK_FALSE(bpm_examples::report_json(report).contains("digit_seconds"));
  report.digit_seconds = 0.00025;
  CHECK(bpm_examples::report_json(report)["digit_seconds"] == 0.00025);
  out.str("");
  bpm_examples::print_results(out, report);
  CHECK_THAT(out.str(), ContainsSubstring("predict 3.00 s (one alone 0.25 ms)\n"));
}

TEST_CASE("the plot shows both scores and, on MNIST, the paper's points", "[examples]") {
  MnistReport report = small_report();
  const auto plot = bpm_examples::rejection_plot(report);
  REQUIRE(plot.series.size() == 3);
  CHECK(plot.title == "MNIST, 60000 training digits, 10 draws a class");
  CHECK(plot.series[0].x == std::vector<double>{0, 0.1, 0.2});
  CHECK(plot.series[0].y == std::vector<double>{1.52, 1.5, 1.25});
  CHECK(plot.series[1].y == std::vector<double>{1.52, 1.375, 1.25});
  CHECK(plot.series[2].reference);
  CHECK(plot.series[2].title == "Herbrich and Graepel, by largest output");
  CHECK(plot.series[2].x.size() == 11);
  CHECK(plot.series[2].y.back() == 0.11);
  CHECK_NOTHROW(bpm_examples::gnuplot_script(plot, "a.svg"));

  report.leading = bpm_examples::RejectionScore::gap;
  report.train_size = 5000;
  const auto other = bpm_examples::rejection_plot(report);
  CHECK(other.series[0].title == "rejected by gap of the best two");
  CHECK(other.series[0].y == std::vector<double>{1.52, 1.375, 1.25});
  CHECK(other.series[1].title == "rejected by largest output");
  CHECK(other.series[2].title == "Herbrich and Graepel, by largest output, 60000 digits");

  report.data = "drawn";
  const auto drawn = bpm_examples::rejection_plot(report);
  CHECK(drawn.series.size() == 2);
  CHECK(drawn.title == "Drawn digits (not MNIST), 5000 training digits, 10 draws a class");
}
