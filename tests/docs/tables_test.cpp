// SPDX-License-Identifier: MIT
// Every table and headline figure of the documents against the run that it comes from, in
// docs/results. Not compared, because no run of ours is behind them: numbers of papers and their
// authors, volesti's row, which was measured on another day, the cost model's formulas, the times
// of orthant probabilities, sentences that explain.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "catch.hpp"
#include "common/error_limits.hpp"
#include "common/plot.hpp"
#include "page.hpp"

using namespace docs_test;

namespace {

constexpr double mebibyte = 1 << 20;

/// Mean of a number over the runs of seeds 1, 2, 3.
template <class Number>
double over_seeds(const std::string& name, Number&& number_of) {
  return (number_of(results(name)) + number_of(results(name + "_seed2")) +
          number_of(results(name + "_seed3"))) /
         3;
}

/// The limits of 95 % of an error rate that was found on so many digits, all in percent.
bpm_examples::ErrorLimits limits(double error_percent, std::uint64_t digits) {
  const bpm_examples::ErrorLimits found = bpm_examples::error_limits(
      static_cast<std::uint64_t>(std::lround(error_percent / 100 * static_cast<double>(digits))),
      digits);
  return {100 * found.low, 100 * found.high};
}

double peak_mebibytes(const Json& run) { return number(run, "peak_memory_bytes") / mebibyte; }

/// A benchmark's median over its repetitions.
Json median_of(const Json& run, const std::string& name) {
  for (const Json& one : run.at("benchmarks")) {
    if (one.at("run_name") == name && one.value("aggregate_name", "") == "median") return one;
  }
  throw std::runtime_error("no benchmark " + name);
}

double seconds_of(const Json& benchmark) {
  const std::string unit = benchmark.at("time_unit");
  return number(benchmark, "cpu_time") * (unit == "ns" ? 1e-9 : unit == "us" ? 1e-6 : 1e-3);
}

}  // namespace

TEST_CASE("results: each tells where it comes from") {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(root / "docs" / "results")) {
    if (file.path().extension() != ".json") continue;
    ++files;
    CAPTURE(file.path().string());
    const Json one = stored(file.path().stem().string());
    CHECK(std::regex_match(one.at("commit").get<std::string>(), std::regex("[0-9a-f]{40}")));
    CHECK_FALSE(one.at("compiler").get<std::string>().empty());
    CHECK_FALSE(one.at("machine").get<std::string>().empty());
    CHECK_FALSE(one.at("command").get<std::string>().empty());
    CHECK_FALSE(one.at("result").empty());
    CHECK(one.dump().find("\"/") == std::string::npos);  // No paths of the machine.
  }
  CHECK(files > 0);
}

TEST_CASE("results: what is said not to be stored is not") {
  for (const std::string& name : not_stored) {
    CAPTURE(name);
    CHECK_FALSE(std::filesystem::exists(root / "docs" / "results" / (name + ".json")));
  }
}

TEST_CASE("tables: MNIST and its rejection curve") {
  Page readme("README.md");
  Page page("docs/benchmarks.md");
  for (std::size_t k = 0; k <= 5; ++k) {
    for (const char* score : {"rejection", "rejection_gap"}) {
      const double error = over_seeds(
          "mnist", [&](const Json& run) { return number(run[score][2 * k], "error_percent"); });
      const bool largest = score == std::string("rejection");
      page.cell("| rejected |",
                largest ? "| error %, by largest output" : "| error %, by gap of the best two",
                k + 1, {error});
      if (largest && k == 5) {
        const auto [low, high] = limits(error, 9000);
        readme.sentence(
            "With the tenth of smallest outputs rejected {} % ({} to {}) of the others are wrong",
            {error, low, high});
      }
    }
  }
}

TEST_CASE("tables: reproduction, the rejection curve of the digits") {
  Page page("docs/reproduction.md");
  for (const auto& [row, score] :
       {std::pair{"| ours |", "rejection"},
        std::pair{"| ours, by the gap of the best two |", "rejection_gap"}}) {
    for (std::size_t rate = 0; rate <= 10; ++rate) {
      page.cell("| rejected, % |", row, rate + 1, {over_seeds("mnist", [&](const Json& run) {
                  return number(run[score][rate], "error_percent");
                })});
    }
  }
  page.sentence("LIBSVM's with the same kernel on images of norm 1 errs {} %",
                {number(entry(results("peers").at("peers"), {{"key", "libsvm-polynomial"}}),
                        "error_percent")});
  page.sentence(
      "all of them together take {} s here",
      {over_seeds("mnist", [](const Json& run) { return number(run, "train_seconds"); })});
}

TEST_CASE("tables: reproduction, Table 1 of the robust Bayes point machines") {
  const Json rows = results("robust_bpm");
  Page page("docs/reproduction.md");
  double least = 100;
  double most = 0;
  for (const char* set :
       {"heart", "thyroid", "diabetes", "waveform", "banana", "sonar", "ionosphere"}) {
    const Json& row = entry(rows, {{"dataset", set}});
    const auto of = [&](const char* key) { return number(row, key); };
    const std::vector<std::vector<double>> cells{
        {of("paper_svm_error_percent"), of("paper_svm_se")},
        {of("svm_error_percent"), of("svm_se")},
        {of("paper_bpm_error_percent"), of("paper_bpm_se")},
        {of("bpm_error_percent"), of("bpm_se")}};
    const std::string name = "| " + std::string(set) + " |";
    for (std::size_t k = 0; k < cells.size(); ++k) {
      page.cell("| set | SVM, paper |", name, k + 1, cells[k]);
    }
    page.cell("| set | SVM, paper |", name, 6, {of("p_value")});
    if (of("p_value") > 0.99) {  // The five that come out as in the paper.
      const double less = of("paper_bpm_error_percent") - of("bpm_error_percent");
      least = std::min(least, less);
      most = std::max(most, less);
    }
  }
  page.sentence("there our Bayes point errs {} to {} points less than the paper's", {least, most});
}

TEST_CASE("tables: reproduction, kernel interpolation and networks") {
  if (!is_stored("kernel_interpolation") || !is_stored("networks")) return;
  const Json runs = results("kernel_interpolation");
  Page page("docs/reproduction.md");
  for (const int n : {50, 100, 200, 300, 400, 500, 700, 1000}) {
    std::size_t column = 2;  // Of ours: every second one.
    for (const char* key : {"gibbs_bound_A", "rademacher", "iso_gibbs_error", "iso_bayes_error",
                            "centroidal_error"}) {
      page.cell("| n | Gibbs bound, paper |", "| " + std::to_string(n) + " |", column,
                {100 * mean(runs, {{"n", n}}, key)});
      column += 2;
    }
  }
  const Json of_networks = results("networks");
  for (const int n : {50, 100, 200, 400, 700, 1000}) {
    const Json& run = entry(of_networks, {{"n", n}});
    std::size_t column = 2;
    for (const char* key : {"network_gibbs_error", "network_bayes_error", "large_margin_error",
                            "kernel_interpolator_error"}) {
      page.cell("| n | Gibbs, paper | ours | vote, paper |", "| " + std::to_string(n) + " |",
                column, {100 * number(run, key)});
      column += 2;
    }
  }
  page.sentence(
      "ours at n = 1000: {} on average); a bound by the vote, with error bars, is {} on average "
      "there",
      {rounded_up(mean(runs, {{"n", 1000}}, "bpm_bound_A"), 2),
       rounded_up(mean(runs, {{"n", 1000}}, "bpm_bound_by_vote_certified"), 2)});
}

TEST_CASE("tables: what MNIST takes") {
  if (!is_stored("mnist_float")) return;
  Page whole("docs/benchmarks.md");
  Page page("docs/kernel-values.md");
  const Json bytes = results("mnist");
  const Json floats = results("mnist_float");
  const Json unit = results("mnist_normalise");
  const Json one_draw = results("mnist_one_draw");
  const Json one_thread = results("mnist_one_thread");
  const double one_draw_error = over_seeds(
      "mnist_one_draw", [](const Json& run) { return number(run, "test_error_percent"); });

  const char* const times = "| | bytes | float |";
  whole.cell(times, "| training, ten draws", 0,
             {one_draw_error, number(bytes, "train_seconds"), number(one_draw, "train_seconds"),
              number(floats, "train_seconds")});
  whole.cell(times, "| the same number of kernel values", 0,
             {number(bytes, "floor_seconds"), number(floats, "floor_seconds")});
  whole.cell(times, "| all 10 000 predictions |", 1, {number(bytes, "predict_seconds")});
  whole.cell(times, "| all 10 000 predictions |", 2, {number(floats, "predict_seconds")});
  whole.cell(times, "| peak memory |", 1, {peak_mebibytes(bytes)});
  whole.cell(times, "| peak memory |", 2, {peak_mebibytes(floats)});
  whole.sentence("With `--normalise` the error is {} % after {} s",
                 {number(unit, "test_error_percent"), number(unit, "train_seconds")});

  const char* const products = "| | training | the product | ratio";
  for (const auto& [row, run] : {std::pair{"| bytes |", &bytes}, std::pair{"| float |", &floats}}) {
    page.cell(products, row, 1, {number(*run, "train_seconds")});
    page.cell(products, row, 2, {number(*run, "floor_seconds")});
    page.cell(products, row, 3, {number(*run, "train_seconds") / number(*run, "floor_seconds")});
  }
  page.cell(products, "| bytes, `--normalise`, ", 0,
            {number(unit, "kernel_evaluations"), number(unit, "train_seconds"),
             number(unit, "floor_seconds"),
             number(unit, "train_seconds") / number(unit, "floor_seconds")});
  page.cell(products, "| bytes, one thread |", 1, {number(one_thread, "train_seconds")});
  page.cell(products, "| bytes, one draw |", 1,
            {number(one_draw, "train_seconds"),
             number(results("mnist_one_draw_one_thread"), "train_seconds")});
  page.sentence("ten draws of ten classes, {} kernel values",
                {number(bytes, "kernel_evaluations")});
  page.sentence("{} s against {} s of product in bytes, {} against {} in float",
                {number(bytes, "predict_seconds"), number(bytes, "predict_floor_seconds"),
                 number(floats, "predict_seconds"), number(floats, "predict_floor_seconds")});
}

TEST_CASE("tables: digits by gradient features") {
  Page page("docs/images.md");
  Page readme("README.md");
  Page instead("docs/why-not.md");
  const char* const table = "| | error % | 95 % |";
  double features_seconds = 0;
  for (const auto& [row, name] :
       {std::pair{"| `--features gradient` |", std::string("mnist_gradient")},
        std::pair{"| the same, `--virtual elastic", std::string("mnist_elastic")}}) {
    const auto mean = [&](const char* key) {
      return over_seeds(name, [&](const Json& run) { return number(run, key); });
    };
    const auto left = [&](std::size_t rate) {
      return over_seeds(name, [&](const Json& run) {
        return number(run["rejection_gap"][rate], "error_percent") *
               static_cast<double>(100 - rate);
      });
    };
    const double error = mean("test_error_percent");
    const auto [low, high] = limits(error, 10'000);
    page.cell(table, row, 1, {error});
    page.cell(table, row, 2, {low, high});
    page.cell(table, row, 3, {left(4)});
    page.cell(table, row, 4, {left(6)});
    page.cell(table, row, 5, {mean("train_seconds")});
    page.cell(table, row, 6, {mean("predict_seconds")});
    instead.cell("| | error % | train s | test s |",
                 name == "mnist_gradient" ? "| bpm on [gradient features](images.md) |"
                                          : "| bpm on gradient features, with deformed copies |",
                 0, {error, mean("train_seconds"), mean("predict_seconds")});
    if (features_seconds == 0) features_seconds = mean("features_seconds");
    page.sentence(name == "mnist_gradient" ? "One digit alone takes {} ms from its image"
                                           : "whose support is eight times as large, {} ms",
                  {1000 * mean("digit_seconds")});
    readme.sentence(
        name == "mnist_gradient"
            ? "of 640 bytes (`--features gradient`) the error is {} % ({} to {}) after {} s"
            : "with deformed copies (`--virtual elastic --draws 7`) {} % ({} "
              "to {}) after {} s",
        {error, low, high, mean("train_seconds")});
  }
  page.sentence("Times contain the features, {} s for the 70 000 digits", {features_seconds});
  const Json risk = results("mnist_elastic_risk");
  page.sentence("that accepts {} % of the test digits, {} % of these wrong",
                {number(risk["guaranteed"], "coverage_percent"),
                 number(risk["guaranteed"], "error_percent")});
  std::array<double, 4> left_by_largest{};
  std::array<double, 4> left_by_gap{};
  double wrong = 0;
  double folds = 0;
  for (const char* fold : {"1", "2", "3", "4", "5"}) {
    const Json run = results(std::string("mnist_gradient_fold") + fold);
    folds += number(run, "test_error_percent") / 5;
    wrong += 100 * number(run, "test_error_percent");
    const std::array<std::size_t, 4> rates{1, 2, 4, 6};
    for (std::size_t k = 0; k < rates.size(); ++k) {
      const auto left = [&](const char* by) {
        return number(run[by][rates[k]], "error_percent") * static_cast<double>(100 - rates[k]);
      };
      left_by_largest[k] += left("rejection");
      left_by_gap[k] += left("rejection_gap");
    }
  }
  page.cell("| features | numbers | degree |", "| the same in integers", 4, {folds});
  page.sentence(
      "at 1, 2, 4 and 6 % rejected are {}, {}, {} and {} mistakes of {} by the",
      {left_by_largest[0], left_by_largest[1], left_by_largest[2], left_by_largest[3], wrong});
  page.sentence("largest output, {}, {}, {} and {} by the gap",
                {left_by_gap[0], left_by_gap[1], left_by_gap[2], left_by_gap[3]});
}

TEST_CASE("tables: millions of digits") {
  Page page("docs/images.md");
  bpm_examples::PlotSeries seconds;
  seconds.title = "one draw of ten classes";
  for (const auto& [row, name] :
       {std::pair{"| 0 |", "mnist_gradient_one_draw"}, std::pair{"| 4 |", "mnist_elastic_one_draw"},
        std::pair{"| 17 |", "mnist_million"}, std::pair{"| 66 |", "mnist_four_million"},
        std::pair{"| 134 |", "mnist_eight_million"}}) {
    const Json run = results(name);
    const char* const table = "| `--copies` | examples |";
    page.cell(table, row, 1, {number(run, "points_seen")});
    page.cell(table, row, 2, {number(run, "passes")});
    page.cell(table, row, 3, {number(run, "mistakes")});
    page.cell(table, row, 4, {number(run, "mistakes_last_pass")});
    page.cell(table, row, 5, {number(run, "train_seconds")});
    page.cell(table, row, 6, {peak_mebibytes(run)});
    page.cell(table, row, 7, {number(run, "test_error_percent")});
    seconds.x.push_back(number(run, "points_seen"));
    seconds.y.push_back(number(run, "train_seconds"));
  }
  const double power =
      std::log(seconds.y[4] / seconds.y[2]) / std::log(seconds.x[4] / seconds.x[2]);
  page.sentence("From one million to eight time grows as m^{}", {power});
  const Json four = results("mnist_four_million");
  const double making = number(four, "features_seconds");
  page.sentence("makes 4 million in {} s and passes {} times", {making, number(four, "passes")});
  page.sentence("would add {} minutes to the {} that training takes",
                {making * (number(four, "passes") - 1) / 60, number(four, "train_seconds") / 60});
  if (std::getenv("BPM_WRITE_TABLES") != nullptr) {
    bpm_examples::Plot plot;
    plot.title = "MNIST and deformed copies: until a pass finds no mistake";
    plot.x_label = "examples";
    plot.y_label = "training (s)";
    plot.log_x = plot.log_y = true;
    plot.series.push_back(seconds);
    bpm_examples::write_plot(plot, docs_test::root / "docs" / "figures" / "millions.svg");
  }
}

TEST_CASE("tables: growth") {
  if (!is_stored("growth")) return;
  Page page("docs/kernel-values.md");
  const Json runs = results("growth");
  const auto seconds = [&](int size) {
    return number(entry(runs, {{"train_size", size}}), "train_seconds");
  };
  Page readme("README.md");
  const double power = std::log(seconds(1'000'000) / seconds(10'000)) / std::log(100.0);
  Page whole("docs/benchmarks.md");
  for (Page* shown : {&readme, &whole}) {
    shown->sentence("from 10 000 to there training time grows as m^{}", {power});
  }
  page.sentence("two threads; `growth`), as m^{}", {power});
  const char* const table = "| digits | training s |";
  for (const auto& [row, size] :
       {std::pair{"| 10 000 |", 10'000}, std::pair{"| 30 000 |", 30'000},
        std::pair{"| 100 000 |", 100'000}, std::pair{"| 300 000 |", 300'000},
        std::pair{"| 1 000 000 |", 1'000'000}}) {
    const Json& run = entry(runs, {{"train_size", size}});
    page.cell(table, row, 1, {number(run, "train_seconds")});
    page.cell(table, row, 2, {number(run, "kernel_evaluations")});
    page.cell(table, row, 3, {number(run, "mistakes")});
    page.cell(table, row, 4, {peak_mebibytes(run)});
  }
  const Json& million = entry(runs, {{"train_size", 1'000'000}});
  for (Page* shown : {&readme, &whole}) {
    shown->sentence("one draw of ten classes, take {} s and {} GiB",
                    {number(million, "train_seconds"), peak_mebibytes(million) / 1024});
  }
}

TEST_CASE("tables: truncated normals") {
  if (!is_stored("truncated_normals")) return;
  Page page("docs/kernel-interpolation.md");
  const Json runs = results("truncated_normals");
  const char* const table = "| sampler | equicorrelated |";
  const auto problems = {"equicorrelated", "equicorrelated, shifted", "mnist 500", "mnist 2000"};
  for (const auto& [row, sampler] :
       {std::pair{"| `TruncatedNormal` |", "TruncatedNormal"},
        std::pair{"| harmonic reflections |", "harmonic"}, std::pair{"| zigzag |", "zigzag"},
        std::pair{"| elliptical slice |", "slice"},
        std::pair{"| elliptical slice, one arc |", "arc"}}) {
    std::size_t column = 0;
    for (const char* const problem : problems) {
      page.cell(table, row, ++column,
                {number(entry(runs, {{"problem", problem}, {"sampler", sampler}}),
                        "smallest_effective_size_a_second")});
    }
  }
  const auto median = [&](const char* problem, const char* sampler) {
    return number(entry(runs, {{"problem", problem}, {"sampler", sampler}}),
                  "median_effective_size_a_second");
  };
  std::vector<double> harmonic, zigzag, times;
  for (const char* const problem : problems) {
    harmonic.push_back(median(problem, "harmonic"));
    zigzag.push_back(median(problem, "zigzag"));
    times.push_back(median(problem, "TruncatedNormal") / std::max(harmonic.back(), zigzag.back()));
  }
  page.sentence("harmonic reflections make {}, {}, {} and {}", harmonic);
  page.sentence("a second and zigzag {}, {}, {} and {};", zigzag);
  page.sentence("`TruncatedNormal` makes {}, {}, {} and {} times as many as the better", times);
  double least = 1000;
  double most = 0;
  for (const char* const sampler : {"slice", "arc"}) {
    for (const char* const problem : {"mnist 500", "mnist 2000"}) {
      const double z = number(entry(runs, {{"problem", problem}, {"sampler", sampler}}), "worst_z");
      least = std::min(least, z);
      most = std::max(most, z);
    }
  }
  page.sentence("the slices do not mix in this time and are {} to {} standard errors off",
                {least, most});
}

TEST_CASE("tables: beside other libraries") {
  if (!is_stored("peers")) return;
  const Json peers = results("peers").at("peers");
  const auto of = [&](const char* key) -> const Json& { return entry(peers, {{"key", key}}); };
  Page readme("README.md");
  const char* const table = "| | error % | train s | test s | memory MiB |";
  for (const auto& [row, key] :
       {std::pair{"| bpm, polynomial of degree 5, bytes |", "ours-byte-normalise"},
        std::pair{"| LIBSVM 3.24 with OpenMP, the same kernel; its times hold reading |",
                  "libsvm-polynomial"},
        std::pair{"| scikit-learn 1.2.1 `SVC`, the same kernel (one thread) |",
                  "sklearn-polynomial"},
        std::pair{"| bpm, the paper's kernel on pixels / 255, bytes |", "ours-byte"}}) {
    const auto [low, high] = limits(number(of(key), "error_percent"), 10'000);
    readme.cell(table, row, 1, {number(of(key), "error_percent"), low, high});
    readme.cell(table, row, 2, {number(of(key), "train_seconds")});
    readme.cell(table, row, 3, {number(of(key), "predict_seconds")});
    readme.cell(table, row, 4, {peak_mebibytes(of(key))});
  }
  Page coming("docs/coming-from-libsvm.md");
  const char* const digits = "| MNIST, 60 000 digits | error %";
  for (const auto& [row, key] : {std::pair{"| LIBSVM 3.24 with OpenMP", "libsvm-polynomial"},
                                 std::pair{"| bpm, bytes", "ours-byte-normalise"}}) {
    coming.cell(digits, row, 1, {number(of(key), "error_percent")});
    coming.cell(digits, row, 2, {number(of(key), "train_seconds")});
    coming.cell(digits, row, 3, {number(of(key), "predict_seconds")});
  }
  Page instead("docs/why-not.md");
  const char* const all = "| | error % | train s | test s |";
  for (const auto& [row, key] :
       {std::pair{"| bpm, polynomial of degree 5, ten draws, bytes, norm 1 |",
                  "ours-byte-normalise"},
        std::pair{"| LIBSVM 3.24 with OpenMP, the same kernel, C = 10 |", "libsvm-polynomial"},
        std::pair{"| scikit-learn's SVC, the same, one thread |", "sklearn-polynomial"}}) {
    instead.cell(all, row, 1, {number(of(key), "error_percent")});
    instead.cell(all, row, 2, {number(of(key), "train_seconds")});
    instead.cell(all, row, 3, {number(of(key), "predict_seconds")});
  }
  Page page("docs/benchmarks.md");
  for (const char* key : {"ours-float", "ours-byte", "ours-byte-normalise", "libsvm-polynomial",
                          "sklearn-polynomial"}) {
    const std::string row = "| `" + std::string(key) + "`";
    const char* const head = "| peer | error % |";
    const Json& peer = of(key);
    const Json& read = peer.at("runs").at(0).at("read_seconds");
    page.cell(head, row, 1, {number(peer, "error_percent")});
    if (read.is_number()) page.cell(head, row, 2, {read.get<double>()});
    page.cell(head, row, 3, {number(peer, "train_seconds")});
    page.cell(head, row, 4, {number(peer, "predict_seconds")});
    page.cell(head, row, 5, {peak_mebibytes(peer)});
    page.cell(head, row, 6, {number(peer, "total_over_ours")});
  }
}

TEST_CASE("tables: beside scikit-learn, from Python") {
  if (!is_stored("peers_python")) return;
  const Json result = results("peers_python");
  const Json peers = result.at("peers");
  Page page("docs/python.md");
  for (const auto& [row, key] :
       {std::pair{"| `BayesPointClassifier`, polynomial of degree 5", "ours-float"},
        std::pair{"| the same, bytes |", "ours-byte"},
        std::pair{"| the same, bytes, `unit_inputs=True` |", "ours-byte-normalise"},
        std::pair{"| scikit-learn's `SVC`, norm 1, float64 |", "sklearn-polynomial"}}) {
    const Json& peer = entry(peers, {{"key", key}});
    const char* const head = "| | error % | fit s | predict s |";
    page.cell(head, row, 1, {number(peer, "error_percent")});
    page.cell(head, row, 2, {number(peer, "train_seconds")});
    page.cell(head, row, 3, {number(peer, "predict_seconds")});
    if (std::string_view(key) == "sklearn-polynomial") continue;
    const Json& pair = entry(result.at("pairs"), {{"ours", key}});
    page.cell(head, row, 4,
              {number(pair, "only_ours_wrong"), number(pair, "only_other_wrong"),
               number(pair, "mcnemar_p")});
    if (std::string_view(key) != "ours-byte-normalise") continue;
    Page readme("README.md");
    readme.sentence("McNemar's p = {}", {number(pair, "mcnemar_p")});
    Page instead("docs/why-not.md");
    const double ours = number(pair, "only_ours_wrong");
    const double others = number(pair, "only_other_wrong");
    instead.sentence("one alone has {} digits wrong, {} against {}: McNemar's test has p = {},",
                     {ours + others, ours, others, number(pair, "mcnemar_p")});
    Page coming("docs/coming-from-libsvm.md");
    coming.sentence("McNemar's p = {} against", {number(pair, "mcnemar_p")});
  }
}

TEST_CASE("tables: any data") {
  const Json sets = results("any_data");
  Page page("docs/benchmarks.md");
  const char* const errors = "| set | first fit | best lambda";
  const char* const losses = "| set | by the slope";
  const std::vector<const char*> error_keys{"first_error_percent",  "grid_best_error_percent",
                                            "chosen_error_percent", "libsvm_error_percent",
                                            "difference_percent",   "choose_seconds",
                                            "libsvm_choose_seconds"};
  const std::vector<const char*> loss_keys{"log_loss_calibrated", "log_loss_votes",
                                           "log_loss_libsvm", "log_loss_largest_class",
                                           "slope_ratio"};
  const auto show = [&](const std::string& row, const auto& number_of, double se) {
    for (std::size_t k = 0; k < error_keys.size(); ++k) {
      std::vector<double> numbers{number_of(error_keys[k])};
      if (k == 4) numbers.push_back(se);
      page.cell(errors, row, k + 1, numbers);
    }
    for (std::size_t k = 0; k < loss_keys.size(); ++k) {
      page.cell(losses, row, k + 1, {number_of(loss_keys[k])});
    }
  };
  double variance = 0;
  for (const Json& set : sets) {
    show(
        "| " + set.at("dataset").get<std::string>() + " |",
        [&](const char* key) { return number(set, key); }, number(set, "difference_se"));
    variance += std::pow(number(set, "difference_se"), 2);
    CHECK(set.at("refused") == 0);
  }
  REQUIRE(sets.size() == 7);
  Page coming("docs/coming-from-libsvm.md");
  const Json& diabetes = entry(sets, {{"dataset", "diabetes"}});
  const char* const one_set = "| diabetes, 461 rows | error %";
  const std::pair<const char*, std::vector<const char*>> sides[] = {
      {"| LIBSVM", {"libsvm_error_percent", "log_loss_libsvm", "libsvm_choose_seconds"}},
      {"| bpm", {"chosen_error_percent", "log_loss_calibrated", "choose_seconds"}}};
  for (const auto& [row, keys] : sides) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      coming.cell(one_set, row, k + 1, {number(diabetes, keys[k])});
    }
  }
  show(
      "| mean |", [&](const char* key) { return mean(sets, Json::object(), key); },
      std::sqrt(variance) / 7);

  const auto mean_over = [&](const char* key) { return mean(sets, Json::object(), key); };
  // As Nadeau and Bengio correct 20 splits whose test part is 2/3 of the training part.
  const double corrected = std::sqrt(variance * (1 + 20 * 2.0 / 3)) / 7;
  page.sentence("3.8 times as large, that of the mean {}: {} ({})",
                {corrected, mean_over("difference_percent"), corrected});
  Page readme("README.md");
  readme.sentence(
      "{} points of error (standard error {}, corrected for shared rows {}) below LIBSVM tuned on "
      "the same widths, after {} of the time; mean log loss {}, LIBSVM's {}",
      {-mean_over("difference_percent"), std::sqrt(variance) / 7, corrected,
       mean_over("choose_seconds") / mean_over("libsvm_choose_seconds"),
       mean_over("log_loss_calibrated"), mean_over("log_loss_libsvm")});
  double ratio = 0;
  for (const Json& set : sets) {
    ratio += number(set, "log_loss_calibrated") / number(set, "log_loss_libsvm") / 7;
  }
  Page("docs/why-not.md")
      .sentence("set by set log losses are on average {} times LIBSVM's on the seven sets",
                {ratio});

  Page advice("docs/how-to.md");
  advice.sentence("seven sets: {} points of error above the best lambda known afterwards",
                  {mean_over("first_error_percent") - mean_over("grid_best_error_percent")});
  advice.sentence("tuned on the same widths, in {} of its time",
                  {mean_over("choose_seconds") / mean_over("libsvm_choose_seconds")});
  advice.sentence(
      "60 000 digits: {} %; pixels / 255, `Polynomial(5, 1.0 / 65025)`, {} %, with the boundary "
      "chosen {} %",
      {number(results("mnist_normalise"), "test_error_percent"),
       number(results("mnist"), "test_error_percent"),
       number(results("mnist_automatic"), "test_error_percent")});

  const Json made = results("any_data_made");
  const Json many = results("any_data_26");
  const char* const head = "| set | first fit | seconds | hard";
  for (const char* name : {"flipped", "noise_300", "clusters_26"}) {
    const bool of_many = name == std::string("clusters_26");
    const Json& set = entry(of_many ? many : made, {{"dataset", name}});
    const std::string row = "| " + std::string(name) + " |";
    std::size_t column = 1;
    for (const char* key :
         {"first_error_percent", "first_seconds", "hard_error_percent", "hard_seconds",
          "chosen_error_percent", "choose_seconds", "chosen_fit_seconds", "libsvm_error_percent",
          "libsvm_choose_seconds", "libsvm_fit_seconds"}) {
      if (set.at(key).is_number()) page.cell(head, row, column, {number(set, key)});
      ++column;
    }
  }
  const Json& classes_26 = entry(many, {{"dataset", "clusters_26"}});
  page.sentence(
      "Over the five sets what is chosen errs {} ({}) points more than LIBSVM, whose log loss is "
      "{} "
      "where ours is {}",
      {number(classes_26, "difference_percent"), number(classes_26, "difference_se"),
       number(classes_26, "log_loss_libsvm"), number(classes_26, "log_loss_calibrated")});
  const Json& flipped = entry(made, {{"dataset", "flipped"}});
  CHECK(flipped.at("linear_hard_refused") == true);
  page.sentence("a hard boundary is refused (`NotSeparable`) after {} s",
                {number(flipped, "linear_hard_seconds")});
}

TEST_CASE("tables: sets of other kinds") {
  const Json sets = results("any_data_kinds");
  const Json nested = results("any_data_nested");
  Page page("docs/benchmarks.md");
  CHECK(sets.size() == 10);
  CHECK(nested.size() == 2);
  Json all = sets;
  all.insert(all.end(), nested.begin(), nested.end());
  for (const Json& set : all) {
    const std::string row = "| " + set.at("dataset").get<std::string>() + " |";
    std::size_t column = 1;
    for (const char* key : {"classes", "first_error_percent", "chosen_error_percent",
                            "libsvm_error_percent", "difference_percent", "log_loss_calibrated",
                            "log_loss_libsvm", "calibration_error", "libsvm_calibration_error"}) {
      std::vector<double> numbers{number(set, key)};
      if (key == std::string("difference_percent")) {
        numbers.push_back(number(set, "difference_se"));
      }
      page.cell("| set | classes | first fit", row, column++, numbers);
    }
  }
  // Errors and log losses beside LIBSVM's over the sets of three and more classes.
  double difference = 0;
  double ratio = 0;
  double worst = 0;
  double count = 0;
  double variance = 0;
  all.push_back(entry(results("any_data_26"), {{"dataset", "clusters_26"}}));
  for (const Json& set : all) {
    if (number(set, "classes") < 3) continue;
    const double of_set = number(set, "log_loss_calibrated") / number(set, "log_loss_libsvm");
    difference += number(set, "difference_percent");
    variance += std::pow(number(set, "difference_se"), 2);
    ratio += of_set;
    worst = std::max(worst, of_set);
    ++count;
  }
  CHECK(count == 12);
  for (const char* const untuned : {"shells_4", "boxes_3"}) {
    const Json& set = entry(nested, {{"dataset", untuned}});
    CHECK(number(set, "difference_percent") > 2 * number(set, "difference_se"));
  }
  page.sentence(
      "errors lie {} points ({}) above LIBSVM's, log losses are on average {} times as large, "
      "{} at most",
      {difference / count, std::sqrt(variance) / count, ratio / count, worst});
  Page("docs/why-not.md")
      .sentence("{} times on twelve made ones of three and more classes", {ratio / count});
  const auto difference_of = [&](const char* set) {
    return -number(entry(sets, {{"dataset", set}}), "difference_percent");
  };
  page.sentence("on leaves of a tree `choose` errs {} and {} points less",
                {difference_of("tree_5"), difference_of("tree_12")});
  Page("README.md")
      .sentence(
          "On twelve made sets of three and more classes: {} points ({}) above, the ratio of "
          "log losses is {} on average",
          {difference / count, std::sqrt(variance) / count, ratio / count});
}

TEST_CASE("tables: scikit-learn's own sets") {
  const Json sets = results("why_not").at("sets");
  Page page("docs/why-not.md");
  const std::vector<std::pair<const char*, const char*>> rows{
      {"bpm", "| `BayesPointClassifier()` |"},
      {"bpm-cv", "| `BayesPointClassifierCV()` |"},
      {"svc", "| `SVC()` |"},
      {"svc-tuned", "| `SVC`, C and gamma by folds |"},
      {"boosting", "| `HistGradientBoostingClassifier()` |"},
      {"forest", "| `RandomForestClassifier(500)` |"},
      {"logistic", "| `LogisticRegression()` |"},
      {"process", "| `GaussianProcessClassifier` |"}};
  const std::tuple<const char*, const char*> tables[] = {{"| error % |", "error_percent"},
                                                         {"| log loss |", "log_loss"}};
  REQUIRE(sets.size() == 7);
  for (const auto& [head, measure] : tables) {
    std::size_t column = 0;
    for (const char* name :
         {"breast_cancer", "wine", "moons", "digits", "flipped", "classes_20", "steps"}) {
      ++column;
      for (const Json& one : entry(sets, {{"name", name}}).at("contestants")) {
        CHECK(one.at("splits").size() == 10);
        const auto row = std::find_if(rows.begin(), rows.end(),
                                      [&](const auto& of) { return one.at("key") == of.first; });
        REQUIRE(row != rows.end());
        page.cell(head, row->second, column, {number(one, measure)});
        if (std::string_view(name) == "digits") {
          page.cell("| error % |", row->second, 8, {number(one, "fit_seconds")});
        }
      }
    }
  }
  const auto of = [&](const char* name, const char* key, const char* measure) {
    return number(entry(entry(sets, {{"name", name}}).at("contestants"), {{"key", key}}), measure);
  };
  std::vector<double> defaults;
  for (const char* name : {"digits", "steps", "classes_20"}) {
    for (const char* key : {"bpm", "svc-tuned"}) defaults.push_back(of(name, key, "error_percent"));
  }
  page.sentence("on digits ({} %, {}), on steps ({}, {}) and with 20 classes that overlap ({}, {})",
                defaults);
  page.sentence("the forest errs {} %, boosting {}, bpm {}",
                {of("steps", "forest", "error_percent"), of("steps", "boosting", "error_percent"),
                 of("steps", "bpm", "error_percent")});
}

TEST_CASE("tables: the default bias") {
  const Json rows = results("any_data_bias");
  Page page("docs/benchmarks.md");
  const char* const table = "| sets | 0 | 0.1 |";
  const std::vector<double> biases{0, 0.1, 0.3, 1, 3};
  std::vector<double> losses;
  for (std::size_t k = 0; k < biases.size(); ++k) {
    const Json of_bias{{"bias", biases[k]}};
    const auto loss = [&](const char* set) {
      return mean(rows, {{"bias", biases[k]}, {"dataset", set}}, "out_of_fold_log_loss");
    };
    const double made = loss("means") + loss("covariances") + loss("rare");
    losses.push_back(mean(rows, of_bias, "out_of_fold_log_loss"));
    page.cell(table, "| the seven, mean |", k + 1, {(10 * losses.back() - made) / 7});
    for (const char* set : {"means", "covariances", "rare"}) {
      page.cell(table, "| `" + std::string(set) + "` |", k + 1, {loss(set)});
    }
    page.cell(table, "| mean of the ten |", k + 1, {losses.back()});
    page.cell(table, "| error of the ten, % |", k + 1,
              {mean(rows, of_bias, "chosen_error_percent")});
  }
  REQUIRE(rows.size() == 50);
  const auto best = std::min_element(losses.begin(), losses.end());
  CHECK(biases[static_cast<std::size_t>(best - losses.begin())] == bpm::default_bias);
}

TEST_CASE("tables: how often a certified risk is kept") {
  const Json rows = results("certified_risk");
  Page page("docs/how-to.md");
  for (const auto& [level, delta] :
       {std::pair{"| 1 %, 5 % ", 0.05}, std::pair{"| 0.5 %, 1 % ", 0.01}}) {
    const Json& one = entry(rows, {{"delta", delta}});
    for (const std::string prefix : {"", "naive_"}) {
      const auto of = [&](const char* key) { return number(one, (prefix + key).c_str()); };
      const std::string row =
          level + std::string(prefix.empty() ? "| `certify_risk` |" : "| the sample's own error |");
      const char* const table = "| risk, delta | threshold by |";
      page.cell(table, row, 1, {100 * of("returned")});
      page.cell(table, row, 2, {of("coverage_percent")});
      page.cell(table, row, 3, {100 * of("violated")});
      page.cell(table, row, 4, {100 * number(one, "violated_allowed")});
    }
    CHECK(number(one, "violated") <= number(one, "violated_allowed"));
    CHECK(number(one, "returned") >= 0.9);
    CHECK(number(one, "naive_violated") > number(one, "violated_allowed"));
  }
}

TEST_CASE("tables: the centre itself") {
  if (!is_stored("sampler_accuracy")) return;
  const Json rows = results("sampler_accuracy");
  const auto angle = [&](const char* cone, const char* method) {
    return number(entry(rows, {{"cone", cone}, {"method", method}}), "angle_median");
  };
  Page readme("README.md");
  Page page("docs/samplers.md");
  const std::vector<std::pair<const char*, const char*>> cones{{"cone_12_5", "| 12, 5 |"},
                                                               {"cone_60_5", "| 60, 5 |"},
                                                               {"cone_60_40", "| 60, 40 |"},
                                                               {"cone_400_10", "| 400, 10 |"}};
  std::vector<double> angles;
  for (const auto& [cone, row] : cones) {
    angles.push_back(angle(cone, "geodesic"));
    std::size_t column = 1;
    for (const char* method :
         {"geodesic", "geodesic_unrefreshed", "published", "kernel_gibbs", "kernel_gibbs_input"}) {
      page.cell("| cone (m, d) |", row, column++, {angle(cone, method)});
    }
  }
  readme.sentence("the billiard is, in the median of ten seeds, within {} rad of the known centre",
                  {*std::max_element(angles.begin(), angles.end())});
  const Json sooner = results("sampler_accuracy_sooner");
  std::vector<double> published;
  for (const Json* runs : {&sooner, &rows}) {
    for (const auto& [cone, row] : cones) {
      published.push_back(
          number(entry(*runs, {{"cone", cone}, {"method", "published"}}), "angle_median"));
    }
  }
  page.sentence("after 0.3 s: {}, {}, {}, {} rad; after 1 s: {}, {}, {}, {}", published);
  Page other("docs/kernel-interpolation.md");
  std::vector<double> propagation;
  for (const auto& [cone, row] : cones)
    propagation.push_back(angle(cone, "expectation_propagation"));
  other.sentence("Its centre is {}, {}, {} and {} rad off", propagation);
}

TEST_CASE("tables: against support vector machines") {
  const Json rows = results("robust_bpm");
  Page page("docs/benchmarks.md");
  std::size_t column = 1;
  for (const char* set :
       {"heart", "thyroid", "diabetes", "waveform", "banana", "sonar", "ionosphere"}) {
    const Json& row = entry(rows, {{"dataset", set}});
    CAPTURE(set);
    CHECK(row.at("splits") == 100);
    CHECK(row.at("bounces") >= 100'000);
    const char* const table = "| | heart | thyroid |";
    page.cell(table, "| Bayes point |", column,
              {number(row, "bpm_error_percent"), number(row, "bpm_se")});
    page.cell(table, "| SVM (LIBSVM) through the origin |", column,
              {number(row, "svm_error_percent"), number(row, "svm_se")});
    page.cell(table, "| SVM (LIBSVM) with a bias |", column++,
              {number(row, "svm_bias_error_percent"), number(row, "svm_bias_se")});
    // The sentence below the table, and the figures to reach.
    const double room = std::hypot(number(row, "bpm_se"), number(row, "paper_bpm_se"));
    CHECK(number(row, "bpm_error_percent") <= number(row, "paper_bpm_error_percent") + room);
    const bool tie_or_worse = set == std::string("sonar") || set == std::string("ionosphere");
    CHECK((number(row, "p_value") > 0.999) == !tie_or_worse);
  }
  const Json& banana = entry(rows, {{"dataset", "banana"}});
  page.sentence(
      "the SVM through the origin ended with training errors on {} splits, the one with a bias on "
      "{}",
      {number(banana, "svm_not_separated"), number(banana, "svm_bias_not_separated")});
  // Nadeau and Bengio: the variance of a mean over splits whose training parts share rows.
  const auto standard_errors = [&](const char* set) {
    const Json& row = entry(rows, {{"dataset", set}});
    const auto svm = row.at("svm_error_percent_of_splits").get<std::vector<double>>();
    const auto bpm = row.at("bpm_error_percent_of_splits").get<std::vector<double>>();
    const auto splits = static_cast<double>(svm.size());
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < svm.size(); ++i) {
      sum += svm[i] - bpm[i];
      squares += (svm[i] - bpm[i]) * (svm[i] - bpm[i]);
    }
    const double variance = (squares - sum * sum / splits) / (splits - 1);
    return sum / splits / std::sqrt(variance * (1 / splits + 2.0 / 3));
  };
  page.sentence(
      "the differences are {} standard errors on banana, {} on waveform, {}, {} and {} on "
      "diabetes, heart and thyroid",
      {standard_errors("banana"), standard_errors("waveform"), standard_errors("diabetes"),
       standard_errors("heart"), standard_errors("thyroid")});
}

TEST_CASE("tables: where a billiard has not found its centre") {
  const Json rows = results("robust_bpm");
  const auto error = [&](const char* set) {
    return number(entry(rows, {{"dataset", set}}), "centre_standard_error");
  };
  Page page("docs/benchmarks.md");
  page.sentence("but at {} on diabetes and at {} on banana", {error("diabetes"), error("banana")});
  for (const char* set : {"heart", "thyroid", "waveform", "sonar", "ionosphere"}) {
    CAPTURE(set);
    CHECK(error(set) < 0.1);
  }
}

TEST_CASE("tables: kernel interpolation") {
  if (!is_stored("kernel_interpolation")) return;
  Json runs = results("kernel_interpolation");
  for (const Json& run : results("kernel_interpolation_2000")) runs.push_back(run);
  Page page("docs/kernel-interpolation.md");
  for (const int n : {50, 100, 200, 300, 400, 500, 700, 1000, 2000}) {
    const auto of = [&](const char* key) { return mean(runs, {{"n", n}}, key); };
    std::size_t column = 1;
    const std::vector<std::vector<double>> numbers{
        {100 * of("centroidal_error")},
        {100 * of("centre_of_mass_error_billiard")},
        {100 * of("iso_gibbs_error")},
        {100 * of("exact_gibbs_error")},
        {100 * of("exact_bayes_error")},
        {of("complexity_A")},
        {of("log_inverse_PY_ep"), of("log_inverse_PY_nested")},
        {rounded_up(100 * of("bpm_bound_A"), 1)},
        {rounded_up(100 * of("bpm_bound_PY_certified"), 1)},
        {rounded_up(100 * of("bpm_bound_by_vote_certified"), 1)}};
    for (const auto& values : numbers) {
      page.cell("| n | centroidal |", "| " + std::to_string(n) + " |", column++, values);
    }
  }
  const auto of = [&](const char* key) { return mean(runs, {{"n", 1000}}, key); };
  Page readme("README.md");
  readme.sentence("(the theorem as its authors compute it says {})",
                  {rounded_up(largest(runs, {{"n", 1000}}, "bpm_bound_A"), 2)});
  // What is said of bounds is rounded up: means, and the largest of the five subsets.
  const auto bound = [&](const char* key) { return rounded_up(of(key), 2); };
  const auto worst = [&](const char* key) {
    return rounded_up(largest(runs, {{"n", 1000}}, key), 2);
  };
  page.sentence(
      "theorem 1 gives {} by $A$, which says nothing, as in the paper; {} by the estimate",
      {bound("bpm_bound_A"), bound("bpm_bound_PY")});
  page.sentence(
      "**{} with its error bar** ({} in the realizable form; the largest of the five with its "
      "error bar is {})",
      {bound("bpm_bound_PY_certified"), bound("bpm_bound_PY_realizable"),
       worst("bpm_bound_PY_certified")});
  page.sentence("**{} with error bars** (`VoteBound::certified`; {} on the worst of the five)",
                {bound("bpm_bound_by_vote_certified"), worst("bpm_bound_by_vote_certified")});
  const auto c_bound = [&](int n) {
    return rounded_up(mean(runs, {{"n", n}}, "exact_c_bound_certified"), 2);
  };
  page.sentence("The C-bound of the vote with error bars is {}, {}, {} and {} at n = 100",
                {c_bound(100), c_bound(200), c_bound(1000), c_bound(2000)});
  page.sentence("stages, {} on average at n = 1000", {of("log_inverse_PY_nested") / std::log(2)});
  double nearest = 100;
  double farthest = 0;
  double apart = 0;  // In errors, of expectation propagation and the billiard.
  for (const Json& run : runs) {
    if (run["n"] != 300) continue;
    nearest = std::min(nearest, 100 * number(run, "centre_of_mass_label_distance"));
    farthest = std::max(farthest, 100 * number(run, "centre_of_mass_label_distance"));
    apart = std::max(apart, 100 * std::abs(number(run, "centre_of_mass_error_ep") -
                                           number(run, "centre_of_mass_error_billiard")));
  }
  page.sentence("by {} to {} % in norm, and the errors of the two interpolators by {} points",
                {nearest, farthest, apart});
  for (const auto& [key, sentence] :
       {std::pair{"exact_bpm_bayes_disagreement", "the centre of mass, differ on {} to {} %"},
        std::pair{"iso_bpm_bayes_disagreement",
                  "The vote and the centroidal interpolator differ on {} to {} % of the digits"}}) {
    double low = 1;
    double high = 0;
    for (const int n : {50, 100, 200, 300, 400, 500, 700, 1000, 2000}) {
      low = std::min(low, mean(runs, {{"n", n}}, key));
      high = std::max(high, mean(runs, {{"n", n}}, key));
    }
    page.sentence(sentence, {100 * low, 100 * high});
  }
  page.sentence("errs more: {} against {} % at n = 1000",
                {100 * of("centre_of_mass_error_ep"), 100 * of("centroidal_error")});
}

TEST_CASE("tables: bounds to quote") {
  if (!is_stored("kernel_interpolation_bounds")) return;
  const Json runs = results("kernel_interpolation_bounds");
  const Json before = results("kernel_interpolation");
  Page page("docs/kernel-interpolation.md");
  for (const int n : {50, 100, 200, 300, 400, 500, 700, 1000}) {
    std::size_t column = 1;
    const auto show = [&](const Json& from, const char* key) {
      const double value = 100 * mean(from, {{"n", n}}, key);
      page.cell("| n | theorem 1 |", "| " + std::to_string(n) + " |", column++,
                {key == std::string("bounded_error") ? value : rounded_up(value, 1)});
    };
    show(before, "bpm_bound_PY_certified");
    show(before, "bpm_bound_by_vote_certified");
    for (const char* key : {"vote_margin_bound", "split_prior_bound", "split_prior_bound_certified",
                            "held_out_bound", "held_out_disagreement_bound", "bounded_error"}) {
      show(runs, key);
    }
  }
  const auto of = [&](const char* key) { return mean(runs, {{"n", 1000}}, key); };
  Page readme("README.md");
  const auto most = [&](const char* key) { return largest(runs, {{"n", 1000}}, key); };
  readme.sentence("the error is at most {} by a bound with error bars, {} certified",
                  {rounded_up(most("split_prior_bound"), 2),
                   rounded_up(most("split_prior_bound_certified"), 2)});
  page.sentence("the largest of the five are {}, {} and {}",
                {rounded_up(100 * most("split_prior_bound"), 1),
                 rounded_up(100 * most("split_prior_bound_certified"), 1),
                 rounded_up(100 * most("held_out_disagreement_bound"), 1)});
  // Of five machines on the same digits: limits as of one.
  const auto [low, high] = limits(100 * of("bounded_error"), 10'000);
  readme.sentence("{} where three tenths are held out first; the five err {} on average ({} to {})",
                  {rounded_up(most("held_out_disagreement_bound"), 2), of("bounded_error"),
                   low / 100, high / 100});
}

TEST_CASE("tables: the certificates of perceptrons") {
  Page page("docs/kernel-interpolation.md");
  for (const auto& [row, name] :
       {std::pair{"| ten classes, pixels |", "mnist"},
        std::pair{"| ten classes, gradient features |", "mnist_gradient"},
        std::pair{"| even against odd, pixels |", "mnist_even_odd"},
        std::pair{"| even against odd, gradient features |", "mnist_even_odd_gradient"}}) {
    if (!is_stored(name)) continue;
    const Json run = results(name);
    const auto any = run.at("support_union").get<std::uint64_t>();
    const double by_any =
        100 * bpm::stable_compression_bound(any, 60000, 0.01 / number(run, "bound_choices"));
    const std::vector<double> numbers{run.at("compression_sizes").at(0).get<double>(),
                                      rounded_up(number(run, "stable_compression_percent"), 1),
                                      static_cast<double>(any),
                                      rounded_up(by_any, 1),
                                      rounded_up(number(run, "mean_bound_percent"), 1),
                                      number(run, "test_error_percent")};
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      page.cell("| | mistaken by the first draw |", row, k + 1, {numbers[k]});
    }
  }
}

TEST_CASE("tables: the study of the tighter bound") {
  if (!is_stored("kernel_interpolation_study")) return;
  const Json study = results("kernel_interpolation_study").at(0).at("study");
  Page page("docs/kernel-interpolation.md");
  struct Table {
    const char* what;
    const char* head;
    std::vector<std::pair<const char*, const char*>> rows;  ///< Row and key.
    std::vector<double> values;
  };
  const std::vector<Table> tables{{"noise",
                                   "| deviation of the probit's noise |",
                                   {{"| log evidence |", "log_evidence"},
                                    std::pair{"| centre of mass |", "centre_of_mass_error"}},
                                   {0, 0.05, 0.1, 0.2, 0.5, 1, 2}},
                                  {"power",
                                   "| labels of N(0, K^s), s |",
                                   {{"| log evidence |", "log_evidence"},
                                    std::pair{"| their centre of mass |", "centre_of_mass_error"}},
                                   {0, 0.1, 0.25, 0.5, 0.75, 1, 1.5}},
                                  {"depth",
                                   "| depth |",
                                   {{"| log evidence |", "log_evidence"},
                                    std::pair{"| centre of mass |", "centre_of_mass_error"},
                                    std::pair{"| centroidal |", "centroidal_error"}},
                                   {1, 2, 3, 4, 5, 7, 10, 16}}};
  for (const Table& table : tables) {
    for (std::size_t k = 0; k < table.values.size(); ++k) {
      const Json& point = entry(study, {{"what", table.what}, {"value", table.values[k]}});
      for (const auto& [row, key] : table.rows) {
        const double scale = key == std::string("log_evidence") ? 1 : 100;
        page.cell(table.head, row, k + 1, {scale * number(point, key)});
      }
    }
  }
}

TEST_CASE("tables: choosing a kernel") {
  if (!is_stored("model_selection")) return;
  const Json choices = results("model_selection").at("choices");
  Page page("docs/kernel-interpolation.md");
  for (const auto& [row, criterion, search] :
       {std::tuple{"| evidence | grid |", "evidence", "grid"},
        std::tuple{"| C-bound | grid |", "c-bound", "grid"},
        std::tuple{"| evidence | BOBYQA", "evidence", "nlopt"},
        std::tuple{"| C-bound | BOBYQA", "c-bound", "nlopt"},
        std::tuple{"| the test digits themselves | grid |", "held-out", "grid"}}) {
    std::vector<double> errors;
    for (const Json& choice : choices) {
      if (choice["criterion"] == criterion && choice["search"] == search) {
        errors.push_back(100 * number(choice, "centre_of_mass_error"));
      }
    }
    REQUIRE(errors.size() == 5);
    double sum = 0;
    for (const double error : errors) sum += error;
    page.cell("| chosen by | on |", row, 1, {sum / 5});
    page.cell("| chosen by | on |", row, 2, errors);
  }
}

TEST_CASE("tables: finite networks") {
  if (!is_stored("networks")) return;
  const Json runs = results("networks");
  Page page("docs/kernel-interpolation.md");
  for (const int n : {50, 100, 200, 400, 700, 1000}) {
    const Json& run = entry(runs, {{"n", n}});
    std::size_t column = 1;
    for (const char* key : {"network_gibbs_error", "network_bayes_error", "large_margin_error",
                            "kernel_interpolator_error"}) {
      page.cell("| n | Gibbs | vote of 51 |", "| " + std::to_string(n) + " |", column++,
                {100 * number(run, key)});
    }
  }
  double least = 1;
  double most = 0;
  double seconds = 0;
  double apart = 0;
  for (const Json& run : runs) {
    const double share = number(run, "voters_without_training_error");
    least = std::min(least, share);
    most = std::max(most, share);
    seconds += number(run, "seconds");
    apart = std::max(apart, std::abs(number(run, "kernel_interpolator_error") -
                                     number(run, "balanced_kernel_interpolator_error")));
  }
  page.sentence("of the small-margin networks {} to {} % have no training error",
                {100 * least, 100 * most});
  page.sentence("The errors of the two interpolators are within {} points", {100 * apart});
  page.sentence("The default program took {} minutes on one core", {seconds / 60});
}

TEST_CASE("tables: kernel values and the product") {
  if (!is_stored("bpm_benchmarks")) return;
  const Json run = results("bpm_benchmarks");
  Page page("docs/kernel-values.md");
  for (const int rows : {1, 16, 240, 2000}) {
    std::size_t column = 1;
    for (const char* kernel :
         {"linear/float", "polynomial/float", "gaussian/float", "linear/byte", "polynomial/byte"}) {
      const Json one =
          median_of(run, "kernel_block/" + std::string(kernel) + "/" + std::to_string(rows));
      page.cell("| block | linear |", "| " + std::to_string(rows) + " x 256 |", column++,
                {number(one, "flop/s") / 1e9});
    }
  }
  const char* const product = "| Eigen, oneDNN: product of 2048 x 2048 |";
  page.cell("| block | linear |", product, 1,
            {number(median_of(run, "eigen_product/float/2048"), "flop/s") / 1e9});
  page.cell("| block | linear |", product, 4,
            {number(median_of(run, "byte_product/2048"), "flop/s") / 1e9});
  Page samplers("docs/samplers.md");
  const auto bounce = [&](const char* m) {
    return seconds_of(median_of(run, "billiard_bounce/geodesic/" + std::string(m)));
  };
  samplers.sentence("A bounce takes {} ns at m = 60, {} us at 400 and {} us at 2000",
                    {1e9 * bounce("60"), 1e6 * bounce("400"), 1e6 * bounce("2000")});
  Page processes("docs/kernel-interpolation.md");
  for (const char* n : {"300", "1000", "2000"}) {
    const Json one = median_of(run, "expectation_propagation/" + std::string(n));
    processes.cell("| n | EP, s ", "| " + std::string(n) + " |", 1, {seconds_of(one)});
    processes.cell("| n | EP, s ", "| " + std::string(n) + " |", 2, {number(one, "sweeps")});
    if (std::string_view(n) != "2000") continue;
    Page instead("docs/why-not.md");
    instead.sentence("n = 2000: {} s for one expectation propagation", {seconds_of(one)});
  }
  Page data("docs/benchmarks.md");
  const double gigabytes =
      std::stod(run["context"]["rate of a stream through 262144 KiB"].get<std::string>());
  data.sentence("matrix, {} s at the {} GB/s at which", {59 / gigabytes, gigabytes});
}

TEST_CASE("tables: what a cluster would take") {
  if (!is_stored("cluster")) return;
  const Json cost = results("cluster").at("cost");
  const Json predictions = cost.at("predictions");
  Page page("docs/distributed.md");
  page.sentence("draws over ranks {} s, predicted {} s",
                {number(cost, "measured_seconds"), number(cost, "predicted_seconds")});
  // Predicted by the rates that the table is predicted by.
  const double points_predicted = number(
      entry(predictions, {{"strategy", "sharded"}, {"points", 1e4}, {"ranks", 4.0}}), "seconds");
  const double points_measured = number(results("cluster_points").at("cost"), "measured_seconds");
  page.sentence("points over ranks {} s, predicted {} s", {points_measured, points_predicted});
  page.sentence("({} s by its own)",
                {number(results("cluster_points").at("cost"), "predicted_seconds")});
  page.sentence("the measured factors into account, {} for draws over ranks and {} for points",
                {number(cost, "measured_seconds") / number(cost, "predicted_seconds"),
                 points_measured / points_predicted});
  const double draws = number(results("cluster_bytes"), "train_seconds");
  const double alone = number(results("mnist"), "train_seconds");
  page.sentence(
      "with nothing else running: draws over ranks {} s and points over ranks {} s, the same "
      "model; "
      "one process with 2 threads (`mnist`) {} s",
      {draws, number(results("cluster_bytes_points"), "train_seconds"), alone});
  CHECK(results("cluster_bytes").at("model_digest") ==
        results("cluster_bytes_points").at("model_digest"));
  Page digits("docs/benchmarks.md");
  digits.sentence("Four MPI ranks on the two cores take {} times as long", {draws / alone});
  for (const auto& [row, points] : {std::pair{"| 10^5 |", 1e5}, std::pair{"| 10^6 |", 1e6},
                                    std::pair{"| 10^7 |", 1e7}, std::pair{"| 10^8 |", 1e8}}) {
    std::size_t column = 1;
    for (const auto& [strategy, ranks] :
         {std::pair{"spread", 1.0}, std::pair{"spread", 100.0}, std::pair{"spread", 1000.0},
          std::pair{"sharded", 100.0}, std::pair{"sharded", 1000.0}}) {
      const Json& one =
          entry(predictions, {{"strategy", strategy}, {"points", points}, {"ranks", ranks}});
      page.cell("| m | draws, 1 rank |", row, column++,
                {number(one, "seconds"), number(one, "bytes_per_rank") / mebibyte / 1024});
    }
  }
}
