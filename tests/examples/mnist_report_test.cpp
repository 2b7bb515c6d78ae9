// SPDX-License-Identifier: MIT
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mnist/report.hpp"

using bpm_examples::MnistReport;
using bpm_examples::RejectionRow;

namespace {

MnistReport small_report() {
  MnistReport report;
  report.source = "MNIST, /data/mnist";
  report.train_size = 60000;
  report.test_size = 10000;
  report.draws = 10;
  report.seed = 3;
  report.threads = 2;
  report.sampler = "perceptron";
  report.kernel = "polynomial";
  report.input = "byte";
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
                                         "input",
                                         "strategy",
                                         "read_seconds",
                                         "train_seconds",
                                         "kernel_seconds",
                                         "predict_seconds",
                                         "peak_memory_bytes",
                                         "kernel_evaluations",
                                         "useful_evaluations",
                                         "mistakes",
                                         "passes_mean",
                                         "support_union",
                                         "training_errors",
                                         "test_error_percent",
                                         "single_draw_error_percent",
                                         "rejection",
                                         "rejection_gap",
                                         "model_digest"});
  CHECK(json["data"] == "mnist");
  CHECK(json["train_size"] == 60000);
  CHECK(
      json["rejection"].dump() ==
      R"([{"rate_percent":0.0,"error_percent":1.52},{"rate_percent":1.0,"error_percent":1.125}])");
  CHECK(json["rejection_gap"][1]["error_percent"] == 0.5);
  CHECK(json["model_digest"] == "abc");

  report.drawn = true;
  report.floor_seconds = 4.5;
  report.predict_floor_seconds = 0.25;
  const auto other = bpm_examples::report_json(report);
  CHECK(other["data"] == "drawn");
  CHECK(other["floor_seconds"] == 4.5);
  CHECK(other["predict_floor_seconds"] == 0.25);
}

TEST_CASE("the rejection table stands beside the paper's on MNIST only", "[examples]") {
  MnistReport report = small_report();
  std::ostringstream out;
  bpm_examples::print_rejection(out, report);
  CHECK(out.str() ==
        "rejected %   error % by largest output   by gap   paper\n"
        "         0                        1.52     1.52    1.46\n"
        "         1                        1.12     0.50    1.10\n");
  report.train_size = 1000;
  out.str("");
  bpm_examples::print_rejection(out, report);
  CHECK(out.str() ==
        "rejected %   error % by largest output   by gap   paper\n"
        "         0                        1.52     1.52    1.46\n"
        "         1                        1.12     0.50    1.10\n"
        "The paper's errors are for 60000 training and 10000 test digits.\n");
  report.drawn = true;
  out.str("");
  bpm_examples::print_rejection(out, report);
  CHECK(out.str() ==
        "rejected %   error % by largest output   by gap\n"
        "         0                        1.52     1.52\n"
        "         1                        1.12     0.50\n");
}

TEST_CASE("the printed report says what ran and how it went", "[examples]") {
  MnistReport report = small_report();
  report.floor_seconds = 10.3;
  report.predict_floor_seconds = 0.75;
  std::ostringstream out;
  bpm_examples::print_report(out, report);
  std::ostringstream table;
  bpm_examples::print_rejection(table, report);
  CHECK(out.str() ==
        "data            MNIST, /data/mnist\n"
        "sizes           60000 training digits, 10000 test digits\n"
        "method          perceptron, 10 draws a class, kernel polynomial, byte inputs, seed 3, "
        "threads 2\n"
        "time            read 0.50 s, train 25.2 s (kernel values 20.0 s, windowed), predict "
        "3.00 s\n"
        "floor           train 10.3 s, predict 0.75 s, the time of the matrix products alone at "
        "their best rate\n"
        "peak memory     300 MiB\n"
        "kernel values   1000, of them useful 900\n"
        "training        131478 mistakes in all, 9.2 passes on average, 26123 support points, 0 "
        "errors left\n"
        "test error      1.50 % of the Bayes points, 2.25 % of single draws\n"
        "model digest    abc\n\n" +
            table.str());
}

TEST_CASE("the plot shows both scores and, on MNIST, the paper's curve", "[examples]") {
  MnistReport report = small_report();
  const auto plot = bpm_examples::rejection_plot(report);
  REQUIRE(plot.series.size() == 3);
  CHECK(plot.title == "MNIST, 60000 training digits, 10 draws a class");
  CHECK(plot.series[0].y == std::vector<double>{1.52, 1.125});
  CHECK(plot.series[1].y == std::vector<double>{1.52, 0.5});
  CHECK(plot.series[2].reference);
  CHECK(plot.series[2].x.size() == 11);
  CHECK(plot.series[2].y.back() == 0.11);
  CHECK_NOTHROW(bpm_examples::gnuplot_script(plot, "a.svg"));
  report.drawn = true;
  const auto drawn = bpm_examples::rejection_plot(report);
  CHECK(drawn.series.size() == 2);
  CHECK(drawn.title == "Drawn digits (not MNIST), 60000 training digits, 10 draws a class");
}
