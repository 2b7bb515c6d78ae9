// SPDX-License-Identifier: MIT
// The program bpm: its commands on files of all formats, what it refuses, Ctrl-C.
#include <signal.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/data/gzip.hpp"
#include "bpm/data/table.hpp"
#include "bpm/version.hpp"
#include "catch.hpp"
#include "program_test.hpp"

namespace command_line_program {

using namespace examples_test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

const std::string bpm_program = BPM_COMMAND_LINE_PROGRAM;

/// Rows of three kinds around points of their own, which lie far apart: who errs is wrong.
struct Flowers {
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> kinds;
  const std::vector<std::string> names{"iris, blue", "rose", "tulip"};

  Flowers(std::size_t count, std::uint64_t seed, double spread = 0.5) {
    bpm::RandomEngine engine(seed);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t kind = i % 3;
      const auto noise = [&] { return spread * (2 * bpm::uniform_unit(engine) - 1); };
      rows.push_back({4.0 * static_cast<double>(kind == 0) + noise(),
                      4.0 * static_cast<double>(kind == 1) + noise(), noise()});
      kinds.push_back(kind);
    }
  }

  /// A table with a header, the kind last; `stretch`: of the first column.
  [[nodiscard]] std::string csv(bool labelled = true, double stretch = 1) const {
    std::ostringstream text;
    text.precision(17);
    text << "length,width,height" << (labelled ? ",kind" : "") << '\n';
    for (std::size_t i = 0; i < rows.size(); ++i) {
      text << stretch * rows[i][0] << ',' << rows[i][1] << ',' << rows[i][2];
      if (labelled) text << ",\"" << names[kinds[i]] << '"';
      text << '\n';
    }
    return text.str();
  }
  [[nodiscard]] std::string libsvm() const {
    std::ostringstream text;
    text.precision(17);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      text << kinds[i];
      for (std::size_t j = 0; j < 3; ++j) text << ' ' << j + 1 << ':' << rows[i][j];
      text << '\n';
    }
    return text.str();
  }
};

struct BpmOutcome {
  int status = 0;
  std::string out;
  std::string errors;
};

BpmOutcome run_bpm(const std::vector<std::string>& words) {
  ChildProcess child(bpm_program, words);
  BpmOutcome outcome;
  outcome.status = child.wait();
  outcome.out = child.out();
  outcome.errors = child.errors();
  return outcome;
}

/// A command of the shell, in the folder, which finds bpm by its name.
BpmOutcome run_shell(const std::filesystem::path& folder, const std::string& command) {
  const std::string place = std::filesystem::path(bpm_program).parent_path().string();
  ChildProcess child("/bin/sh", {"-c", "cd '" + folder.string() + "' && PATH='" + place +
                                           "':\"$PATH\" && " + command});
  BpmOutcome outcome;
  outcome.status = child.wait();
  outcome.out = child.out();
  outcome.errors = child.errors();
  return outcome;
}

/// Flowers to train on, others to judge by, and a folder for what is made of them.
struct Garden : Alone {
  Flowers flowers{240, 1};
  Flowers others{150, 2};

  Garden() {
    write("flowers.csv", flowers.csv());
    write("more-flowers.csv", others.csv());
    write("unlabelled.csv", others.csv(false));
  }
  void write(const std::string& name, const std::string& text) const {
    write_text(folder.path() / name, text);
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    return read_text(folder.path() / name);
  }
  [[nodiscard]] Json json(const std::string& name) const { return Json::parse(text(name)); }
  /// The command with --quiet and --json; what is in that.
  Json made(std::vector<std::string> words) const {
    words.insert(words.end(), {"--quiet", "--json", path("made.json")});
    CAPTURE(words);
    const BpmOutcome outcome = run_bpm(words);
    CAPTURE(outcome.errors);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.empty());
    return json("made.json");
  }
  [[nodiscard]] std::string predicted(const std::string& model, const std::string& file,
                                      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"predict", path(model), path(file), "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    const BpmOutcome outcome = run_bpm(words);
    CAPTURE(outcome.errors);
    REQUIRE(outcome.status == 0);
    return outcome.out;
  }
};

std::size_t count_lines(const std::string& text) {
  std::size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1U : 0U;
  return lines;
}

}  // namespace

TEST_CASE("bpm: a table with a header and words, from the file to judged predictions",
          "[examples]") {
  const Garden garden;
  const Json trained = garden.made({"train", garden.path("flowers.csv"), garden.path("a.model"),
                                    "--label", "kind", "--standardise"});
  CHECK(trained["train_size"] == 240);
  CHECK(trained["features"] == 3);
  CHECK(trained["classes"] == 3);
  CHECK(trained["kernel"] == "gaussian");
  CHECK(trained["sampler"] == "perceptron");
  CHECK(trained["soft_boundary_automatic"] == true);
  CHECK(trained["draws"] == 30);
  CHECK(trained["training_error_percent"] == 0);
  CHECK(trained["out_of_fold_error_percent"] == 0);
  CHECK(trained["out_of_fold_log_loss"].get<double>() > 0);
  CHECK(trained["warnings"].empty());
  CHECK(trained["model_bytes"] == std::filesystem::file_size(garden.path("a.model")));
  CHECK(trained["peak_memory_bytes"] > 0);
  CHECK(trained["train_seconds"] > 0);

  // Predictions come as a table, which our own reader understands.
  std::istringstream csv(garden.predicted("a.model", "unlabelled.csv"));
  const auto table = bpm::read_table<double>(csv, "predictions",
                                             {.label = bpm::TableSettings::LabelColumn::first});
  CHECK(table.feature_names == garden.flowers.names);
  REQUIRE(table.inputs.rows() == 150);
  for (Eigen::Index i = 0; i < table.inputs.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    Eigen::Index most = 0;
    table.inputs.row(i).maxCoeff(&most);
    CHECK(static_cast<std::size_t>(most) == garden.others.kinds[row]);
    CHECK(table.class_names[static_cast<std::size_t>(table.labels[row])] ==
          garden.flowers.names[garden.others.kinds[row]]);
    CHECK(table.inputs.row(i).sum() == Approx(1).margin(1e-5));
  }

  const Json judged =
      garden.made({"evaluate", garden.path("a.model"), garden.path("more-flowers.csv")});
  CHECK(judged["n"] == 150);
  CHECK(judged["error_percent"] == 0);
  CHECK(judged["coverage_percent"] == 100);
  CHECK(judged["accepted_error_percent"] == 0);
  CHECK(judged["confusion"]["classes"] == Json(garden.flowers.names));
  CHECK(judged["confusion"]["counts"] == Json{{50, 0, 0}, {0, 50, 0}, {0, 0, 50}});
  CHECK(judged["rejection_gap"].size() == 11);
  CHECK(judged["rejection_gap"][10]["rate_percent"] == 10);
  // Of the probabilities that were printed.
  double loss = 0;
  double brier = 0;
  double doubt = 0;  // All are right: every bin of the reliability diagram says 1 - p.
  for (Eigen::Index i = 0; i < table.inputs.rows(); ++i) {
    const auto kind = static_cast<Eigen::Index>(garden.others.kinds[static_cast<std::size_t>(i)]);
    loss -= std::log(table.inputs(i, kind)) / 150;
    doubt += (1 - table.inputs(i, kind)) / 150;
    for (Eigen::Index c = 0; c < 3; ++c) {
      const double away = table.inputs(i, c) - (c == kind ? 1 : 0);
      brier += away * away / 150;
    }
  }
  CHECK(judged["log_loss"].get<double>() == Approx(loss).epsilon(1e-3));
  CHECK(judged["brier"].get<double>() == Approx(brier).epsilon(1e-3));
  CHECK(judged["calibration_error"].get<double>() == Approx(doubt).epsilon(1e-3));
  CHECK(judged["predict_seconds"] > 0);

  const Json info = garden.made({"info", garden.path("a.model")});
  CHECK(info["classes"] == Json(garden.flowers.names));
  CHECK(info["features"] == 3);
  CHECK(info["standardised"] == true);
  CHECK(info["calibrated"] == true);
  CHECK(info["kernel_formula"] == trained["kernel_formula"]);
  CHECK(info["soft_boundary"] == trained["soft_boundary"]);
  CHECK(info["draws"] == 30);
}

TEST_CASE("bpm: the examples of --help run as they stand", "[examples]") {
  const Garden garden;
  // So many rows that a risk can be shown.
  garden.write("flowers.csv", Flowers(600, 1).csv());
  std::size_t examples = 0;
  for (const char* command : {"train", "choose", "predict", "evaluate", "info"}) {
    const BpmOutcome help = run_bpm({command, "--help"});
    CHECK(help.status == 0);
    CHECK(help.errors.empty());
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  bpm ")) continue;
      CAPTURE(line);
      ++examples;
      const BpmOutcome outcome = run_shell(garden.folder.path(), line);
      CAPTURE(outcome.errors);
      CHECK(outcome.status == 0);
    }
  }
  CHECK(examples == 10);
}

TEST_CASE("bpm: help is had by any of its words", "[examples]") {
  const std::string all = run_bpm({"--help"}).out;
  CHECK_THAT(all, ContainsSubstring("bpm train DATA MODEL"));
  const auto check_same = [](const std::vector<std::string>& words, const std::string& text) {
    CAPTURE(words);
    const BpmOutcome outcome = run_bpm(words);
    CHECK(outcome.status == 0);
    CHECK(outcome.errors.empty());
    CHECK(outcome.out == text);
  };
  check_same({"-h"}, all);
  check_same({"help"}, all);
  for (const char* command : {"train", "choose", "predict", "evaluate", "info"}) {
    const std::string text = run_bpm({command, "--help"}).out;
    CHECK_THAT(text, ContainsSubstring("Examples:"));
    check_same({"help", command}, text);
    check_same({command, "-h"}, text);
  }
  check_refused(bpm_program, 2, {"help", "frobnicate"}, "'frobnicate' is none of train, choose");
}

TEST_CASE("bpm: the same rows in any format are the same model", "[examples]") {
  const Garden garden;
  garden.write("flowers.txt", garden.flowers.libsvm());
  garden.write("others.txt", garden.others.libsvm());
  gzFile packed = ::gzopen(garden.path("flowers.gz").c_str(), "wb");
  const std::string rows = garden.flowers.libsvm();
  ::gzwrite(packed, rows.data(), static_cast<unsigned>(rows.size()));
  ::gzclose(packed);
  garden.made({"train", garden.path("flowers.csv"), garden.path("csv.model")});
  garden.made({"train", garden.path("flowers.txt"), garden.path("txt.model")});
  garden.made({"train", garden.path("flowers.gz"), garden.path("gz.model")});
  CHECK(run_shell(garden.folder.path(), "cat flowers.gz | bpm train - - -q > pipe.model").status ==
        0);
  const auto probabilities = [](std::string csv) {
    // The labels are words there, and numbers here.
    std::string rest;
    std::istringstream lines(csv);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) rest += line.substr(line.rfind(',', line.rfind(',') - 1));
    return rest;
  };
  const std::string expected = probabilities(garden.predicted("csv.model", "unlabelled.csv"));
  for (const char* model : {"txt.model", "gz.model", "pipe.model"}) {
    CHECK(probabilities(garden.predicted(model, "others.txt")) == expected);
  }
  const BpmOutcome piped =
      run_shell(garden.folder.path(), "cat txt.model | bpm predict - others.txt - -q");
  CHECK(probabilities(piped.out) == expected);
}

TEST_CASE("bpm: whole numbers up to 255 are bytes, few entries are sparse, IDX files have labels",
          "[examples]") {
  const Garden garden;
  std::string pixels;
  std::string digits;
  std::string text;
  for (std::size_t i = 0; i < 120; ++i) {
    const std::size_t digit = i % 2;
    digits += static_cast<char>(digit);
    text += std::to_string(digit);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t ink = (k / 2 == digit ? 200 : 10) + (7 * i + 3 * k) % 40;
      pixels += static_cast<char>(ink);
      text += " " + std::to_string(k + 1) + ":" + std::to_string(ink);
    }
    text += "\n";
  }
  const auto head = [](const std::vector<char>& sizes) {
    std::string bytes("\0\0\x08", 3);
    bytes += static_cast<char>(sizes.size());
    for (const char size : sizes) bytes += std::string(3, '\0') + size;
    return bytes;
  };
  garden.write("train-images-idx3-ubyte", head({120, 2, 2}) + pixels);
  garden.write("train-labels-idx1-ubyte", head({120}) + digits);
  garden.write("pixels.txt", text);
  const Json idx =
      garden.made({"train", garden.path("train-images-idx3-ubyte"), garden.path("idx.model")});
  CHECK(idx["input"] == "byte");
  CHECK(idx["training_error_percent"] == 0);
  CHECK(garden.made({"train", garden.path("pixels.txt"), garden.path("txt.model")})["input"] ==
        "byte");
  const std::string expected = garden.predicted("idx.model", "train-images-idx3-ubyte");
  CHECK(garden.predicted("txt.model", "pixels.txt") == expected);
  CHECK(garden.predicted("idx.model", "pixels.txt") == expected);
  CHECK(garden.made({"evaluate", garden.path("idx.model"), garden.path("train-images-idx3-ubyte"),
                     "--label", garden.path("train-labels-idx1-ubyte")})["error_percent"] == 0);

  // Two words of 1000 a row, of one half or the other.
  std::string words;
  for (std::size_t i = 0; i < 100; ++i) {
    const std::size_t first = 1 + 500 * (i % 2);
    words += (i % 2 == 0 ? "-1 " : "+1 ") + std::to_string(first) + ":1.5 " +
             std::to_string(first + 1 + i % 7) + ":0.5\n";
  }
  garden.write("words.txt", words + "-1 1000:0.25\n+1 999:0.5\n");
  const Json sparse = garden.made({"train", garden.path("words.txt"), garden.path("s.model")});
  CHECK(sparse["input"] == "sparse");
  CHECK(sparse["features"] == 1000);
  CHECK(sparse["kernel"] == "linear");  // By the rows, where no option says it.
  for (const std::vector<std::string>& said :
       {std::vector<std::string>{"--kernel", "gaussian"}, {"--width", "2"}, {"-t", "2"}}) {
    std::vector<std::string> command{"train", garden.path("words.txt"), garden.path("g.model")};
    command.insert(command.end(), said.begin(), said.end());
    CHECK(garden.made(command)["kernel"] == "gaussian");
  }
  const Json chosen = garden.made({"choose", garden.path("words.txt"), garden.path("c.model")});
  CHECK(chosen["kernel"] == "linear");
  CHECK(chosen["kernels"] == 3);  // Two Gaussians beside.
  garden.write("three.txt", "0 1:1.5 3:0.5\n0 501:1.5 503:0.5\n");
  const std::string labels = garden.predicted("s.model", "three.txt");
  CHECK_THAT(labels, StartsWith("label,-1,1\n-1,"));
  CHECK_THAT(labels, ContainsSubstring("\n1,"));
}

TEST_CASE("bpm: columns of any scale are standardised alike, and words keep their meaning",
          "[examples]") {
  const Garden garden;
  garden.write("wide.csv", garden.flowers.csv(true, 1024));  // Exact in binary.
  garden.write("wide-others.csv", garden.others.csv(false, 1024));
  garden.made({"train", garden.path("flowers.csv"), garden.path("a.model"), "--standardise"});
  garden.made({"train", garden.path("wide.csv"), garden.path("b.model"), "--standardise"});
  CHECK(garden.predicted("b.model", "wide-others.csv") ==
        garden.predicted("a.model", "unlabelled.csv"));
  const Json plain =
      garden.made({"train", garden.path("wide.csv"), garden.path("c.model"), "--no-standardise"});
  REQUIRE(plain["warnings"].size() == 1);
  CHECK(plain["standardised"] == false);
  CHECK_THAT(plain["warnings"][0].get<std::string>(), ContainsSubstring("--standardise"));

  // A file of one kind, whose word would be another number by itself.
  garden.write("tulips.csv", "length,width,height,kind\n0,0,0,tulip\n0.1,0.1,0,tulip\n");
  const Json tulips = garden.made({"evaluate", garden.path("a.model"), garden.path("tulips.csv")});
  CHECK(tulips["error_percent"] == 0);
  CHECK(tulips["confusion"]["counts"][2][2] == 2);
  garden.write("daisies.csv", "length,width,height,kind\n0,0,0,daisy\n0.1,0.1,0,tulip\n");
  check_refused(bpm_program, 1, {"evaluate", garden.path("a.model"), garden.path("daisies.csv")},
                "found the label 'daisy', the model knows iris, blue, rose, tulip");
}

TEST_CASE("bpm: every sampler, and a choice among kernels", "[examples]") {
  const Garden garden;
  for (const char* sampler : {"perceptron", "billiard", "gibbs", "ep"}) {
    std::vector<std::string> words{"train",
                                   garden.path("flowers.csv"),
                                   garden.path("m.model"),
                                   "--sampler",
                                   sampler,
                                   "--soft-boundary",
                                   "0.1"};
    if (std::string(sampler) != "ep") words.insert(words.end(), {"--draws", "20", "--folds", "3"});
    CAPTURE(sampler);
    const Json json = garden.made(words);
    CHECK(json["sampler"] == sampler);
    CHECK(json["soft_boundary"] == 0.1);
    CHECK(json["soft_boundary_automatic"] == false);
    CHECK(json["training_error_percent"] == 0);
    // Folds find probabilities where nothing was chosen; expectation propagation has its own.
    const Json judged =
        garden.made({"evaluate", garden.path("m.model"), garden.path("more-flowers.csv")});
    CHECK(judged["error_percent"] == 0);
    CHECK(judged["log_loss"].get<double>() < 0.5);
    // Classes and probabilities do not depend on the threads of prediction.
    const std::string answers = garden.predicted("m.model", "unlabelled.csv");
    CHECK(garden.predicted("m.model", "unlabelled.csv", {"--threads", "3"}) == answers);
    CHECK_THAT(answers, StartsWith("label,\"iris, blue\",rose,tulip\n"));
  }
  const Json given = garden.made(
      {"train", garden.path("flowers.csv"), garden.path("m.model"), "--soft-boundary", "hard"});
  CHECK(given["soft_boundary"] == 0);
  CHECK(given["out_of_fold_log_loss"].is_null());
  CHECK_THAT(garden.predicted("m.model", "unlabelled.csv"), StartsWith("label\n"));

  for (const char* sampler : {"perceptron", "ep"}) {
    const Json choice =
        garden.made({"choose", garden.path("flowers.csv"), garden.path("c.model"), "--width",
                     "0.01,3", "--soft-boundary", "0.1,1", "--sampler", sampler});
    CAPTURE(sampler);
    // Two widths, two boundaries; the best width again with two other biases, and by pairs.
    REQUIRE(choice["candidates"].size() == (std::string(sampler) == "ep" ? 4U : 10U));
    // A width at which no row is like another says nothing of new ones.
    CHECK(choice["candidates"][choice["best"].get<std::size_t>()]["kernel"] == 1);
    CHECK_THAT(choice["kernel_formula"].get<std::string>(), ContainsSubstring("/ 3^2"));
    CHECK(garden.made({"evaluate", garden.path("c.model"),
                       garden.path("more-flowers.csv")})["error_percent"] == 0);
  }
}

TEST_CASE("bpm: rejection by rate, by expected error, and by a guaranteed risk", "[examples]") {
  const Garden garden;
  // Two kinds that lie across each other: some rows cannot be told.
  garden.write("near.csv", Flowers(900, 3, 3.0).csv());
  garden.write("near-others.csv", Flowers(500, 4, 3.0).csv());
  const Json trained = garden.made({"train", garden.path("near.csv"), garden.path("a.model"),
                                    "--risk", "10%", "--delta", "0.05", "--held-out", "0.4"});
  CHECK(trained["train_size"] == 540);
  REQUIRE(trained["guaranteed"]["threshold"].is_number());
  CHECK(trained["guaranteed"]["held_out"] == 360);
  CHECK(trained["guaranteed"]["delta"] == 0.05);

  const auto judged = [&](const char* reject) {
    return garden.made(
        {"evaluate", garden.path("a.model"), garden.path("near-others.csv"), "--reject", reject});
  };
  const Json rate = judged("rate=0.1");
  CHECK(rate["coverage_percent"] == 90);
  CHECK(rate["accepted_error_percent"] == rate["rejection_gap"][10]["error_percent"]);
  const Json risk = judged("risk");
  CHECK(risk["error_percent"].get<double>() > 10);
  CHECK(risk["accepted_error_percent"].get<double>() <= 10);
  CHECK(risk["coverage_percent"].get<double>() > 20);
  const Json error = judged("error=5%");
  CHECK(error["coverage_percent"].get<double>() < 100);
  CHECK(error["accepted_error_percent"].get<double>() < rate["error_percent"].get<double>());

  const std::string csv =
      garden.predicted("a.model", "near-others.csv", {"--label", "kind", "--reject", "rate=10%"});
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  CHECK_THAT(line, Catch::Matchers::EndsWith(",rejected"));
  std::size_t rejected = 0;
  while (std::getline(lines, line)) rejected += line.back() == '1' ? 1U : 0U;
  CHECK(rejected == 50);

  // A kind that only the rows held out have is an error there, and no reason to stop.
  garden.write("rare.csv", garden.text("near.csv") + "0,0,0,daisy\n");
  const Json rare = garden.made({"train", garden.path("rare.csv"), garden.path("c.model"), "--risk",
                                 "0.3", "--held-out", "0.9", "--seed", "2"});
  CHECK(rare["classes"] == 3);
  CHECK(rare["guaranteed"]["held_out"] == 811);

  // Too few rows to show it: the model says so and accepts nothing.
  const Json none = garden.made({"train", garden.path("near.csv"), garden.path("b.model"), "--risk",
                                 "0.001", "--held-out", garden.path("near-others.csv")});
  CHECK(none["train_size"] == 900);
  CHECK(none["guaranteed"]["threshold"].is_null());
  CHECK_THAT(none["warnings"].back().get<std::string>(), ContainsSubstring("no threshold keeps"));
  const Json nothing = garden.made(
      {"evaluate", garden.path("b.model"), garden.path("near-others.csv"), "--reject", "risk"});
  CHECK(nothing["coverage_percent"] == 0);
  CHECK(nothing["accepted_error_percent"].is_null());

  // Where probabilities accept few, the command that fits them better is named.
  const auto noted = [&](const char* reject) {
    return run_bpm({"evaluate", garden.path("b.model"), garden.path("near-others.csv"), "--reject",
                    reject})
        .errors;
  };
  const std::string note = noted("error=0.01%");
  CHECK_THAT(note, StartsWith("bpm: note: --reject error accepts "));
  CHECK_THAT(note, ContainsSubstring(" % of the rows; if bpm train made the model, one of bpm "
                                     "choose may accept more\n"));
  CHECK(noted("error=30%").empty());
  CHECK(noted("rate=90%").empty());
}

TEST_CASE("bpm: a guarantee that the largest class keeps alone is said to be so", "[examples]") {
  const Garden garden;
  // One row in twenty is rare: 5 % of 600 held out, so that 8 % are shown and 6 % are not.
  std::string table;
  bpm::RandomEngine engine(5);
  for (std::size_t i = 0; i < 1200; ++i) {
    const bool rare = i % 20 == 0;
    table += std::to_string(bpm::uniform_unit(engine) + (rare ? 0.9 : 0)) + "," +
             (rare ? "yes\n" : "no\n");
  }
  garden.write("rare.csv", table);
  const auto said = [&](const std::string& risk) {
    const Json json =
        garden.made({"train", garden.path("rare.csv"), garden.path("r.model"), "--soft-boundary",
                     "1", "--risk", risk + "%", "--held-out", "0.5"});
    return std::ranges::count(json["warnings"],
                              Json("always saying no keeps the risk at " + risk +
                                   " % as well, of all rows: a smaller --risk says more"));
  };
  CHECK(said("8") == 1);
  CHECK(said("6") == 0);
}

TEST_CASE("bpm: what a part judged is said to be of smaller machines", "[examples]") {
  const Garden garden;
  // Stripes, a tenth of them wrong.
  std::string table;
  bpm::RandomEngine engine(5);
  for (int i = 0; i < 4600; ++i) {
    const double x = 4 * bpm::uniform_unit(engine);
    const bool up = (static_cast<int>(x) % 2 == 0) != (bpm::uniform_unit(engine) < 0.1);
    table += std::to_string(x) + (up ? ",up\n" : ",down\n");
    if (i == 3499) garden.write("some.csv", table);
  }
  garden.write("many.csv", table);
  const auto said = [&](const char* file) {
    return run_bpm({"train", garden.path(file), garden.path("s.model"), "--bias", "1", "--draws",
                    "2", "--no-standardise"})
        .out;
  };
  CHECK_THAT(said("some.csv"),
             ContainsSubstring(
                 " of 3500 rows, by machines of 2400, by which it was chosen: optimistic\n") ||
                 ContainsSubstring(
                     " of 3500 rows, by machines of 2399, by which it was chosen: optimistic\n"));
  CHECK_THAT(said("many.csv"),
             ContainsSubstring(
                 " of 4600 rows, by machines of 2399: the model of all errs less as a rule\n"));
}

TEST_CASE("bpm: images held out have labels of their own", "[examples]") {
  const Garden garden;
  const auto write_images = [&](const std::string& name, char count, bool swapped) {
    std::string pixels;
    std::string labels;
    for (char i = 0; i < count; ++i) {
      pixels += i % 2 == 0 ? std::string("\0\xf0", 2) : std::string("\xf0\0", 2);
      labels += static_cast<char>((i % 2 == 0) != swapped ? 1 : 0);
    }
    const std::string sizes = std::string(3, '\0') + count;
    const std::string width = std::string("\0\0\0\1\0\0\0\2", 8);
    garden.write(name + "-images", std::string("\0\0\x08\x03", 4) + sizes + width + pixels);
    garden.write(name + "-labels", std::string("\0\0\x08\x01", 4) + sizes + labels);
  };
  write_images("train", 60, false);
  write_images("others", 60, true);  // As many, and all of the other class.
  const Json json = garden.made({"train", garden.path("train-images"), garden.path("a.model"),
                                 "--label", garden.path("train-labels"), "--risk", "0.3", "--delta",
                                 "0.1", "--held-out", garden.path("others-images")});
  CHECK(json["training_error_percent"] == 0);
  CHECK(json["guaranteed"]["held_out"] == 60);
  CHECK(json["guaranteed"]["threshold"].is_null());  // All are wrong.
}

TEST_CASE("bpm: plots", "[examples]") {
  if (!draws_plots()) return;
  const Garden garden;
  garden.write("near.csv", Flowers(300, 3, 3.0).csv());
  garden.made({"train", garden.path("near.csv"), garden.path("a.model"), "--plot",
               garden.path("train.svg")});
  CHECK_THAT(garden.text("train.svg"), ContainsSubstring("log loss out of fold"));
  CHECK_THAT(garden.text("train.svg"), ContainsSubstring(">taken<"));
  garden.made({"choose", garden.path("near.csv"), "--width", "1.5,2.5", "--plot",
               garden.path("choose.svg")});
  // A line for each width and bias that was tried, and what was taken.
  for (const char* title :
       {"/ 1.5^2), bias 1<", "/ 2.5^2), bias 1<", "bias 0<", "bias 0.3<", ">taken<"}) {
    CHECK_THAT(garden.text("choose.svg"), ContainsSubstring(title));
  }
  garden.made({"evaluate", garden.path("a.model"), garden.path("near.csv"), "--plot",
               garden.path("evaluate.svg")});
  CHECK_THAT(garden.text("evaluate.svg"), ContainsSubstring("error of the accepted (%)"));
  CHECK_THAT(garden.text("evaluate.svg"), ContainsSubstring("share that is right"));
  CHECK_THAT(garden.text("evaluate.svg"), ContainsSubstring("precision, recall, F1"));
  CHECK_THAT(garden.text("evaluate.svg"), ContainsSubstring("iris, blue"));
  CHECK(garden.text("evaluate.svg").find("ROC") == std::string::npos);
  std::string two = "length,width,kind\n";
  for (std::size_t i = 0; i < 100; ++i) {
    two +=
        std::to_string(0.01 * static_cast<double>(i)) + ",0.5," + (i * i % 7 < 3 ? "a_1\n" : "b\n");
  }
  garden.write("two.csv", two);
  garden.made({"train", garden.path("two.csv"), garden.path("b.model")});
  garden.made({"evaluate", garden.path("b.model"), garden.path("two.csv"), "--plot",
               garden.path("two.svg")});
  CHECK_THAT(garden.text("two.svg"), ContainsSubstring("area under the ROC curve"));
  CHECK_THAT(garden.text("two.svg"), ContainsSubstring("a_1"));
}

TEST_CASE("bpm: many rows are floats, unless they lie far from the origin", "[examples]") {
  const Garden garden;
  Flowers many(5000, 7);
  garden.write("many.csv", many.csv());
  for (auto& row : many.rows) row[0] += 2000;  // Years.
  garden.write("years.csv", many.csv());
  const std::vector<std::string> once{"--soft-boundary", "1", "--draws", "1", "--width", "3"};
  const auto trained = [&](const char* file) {
    std::vector<std::string> words{"train", garden.path(file), garden.path("a.model")};
    words.insert(words.end(), once.begin(), once.end());
    return garden.made(words);
  };
  const Json floats = trained("many.csv");
  CHECK(floats["input"] == "float");
  CHECK(floats["training_error_percent"] == 0);
  CHECK(trained("years.csv")["input"] == "double");
  // Seconds since 1970: floats, 64 seconds apart, could not say which of these rows is which, which
  // is seen before they are scaled.
  for (auto& row : many.rows) row[0] = 1.7e9 + 50 * (row[0] - 2000);
  garden.write("seconds.csv", many.csv());
  const Json scaled = garden.made({"train", garden.path("seconds.csv"), garden.path("a.model"),
                                   "--standardise", "--soft-boundary", "1", "--draws", "1"});
  CHECK(scaled["input"] == "double");
  const Json same = garden.made({"evaluate", garden.path("a.model"), garden.path("seconds.csv")});
  CHECK(same["error_percent"] == scaled["training_error_percent"]);
}

TEST_CASE("bpm: weights of classes hold on to the rare one", "[examples]") {
  const Garden garden;
  std::string text;
  bpm::RandomEngine engine(5);
  for (std::size_t i = 0; i < 400; ++i) {
    const bool rare = i % 8 == 0;
    text += std::to_string(bpm::uniform_unit(engine) + (rare ? 0.6 : 0)) + "," +
            (rare ? "yes\n" : "no\n");
  }
  garden.write("rare.csv", text);
  const auto missed = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"train", garden.path("rare.csv"), garden.path("r.model"),
                                   "--soft-boundary", "1"};
    words.insert(words.end(), more.begin(), more.end());
    garden.made(words);
    return garden
        .made({"evaluate", garden.path("r.model"),
               garden.path("rare.csv")})["confusion"]["counts"][1][0]
        .get<int>();
  };
  const int plain = missed({});
  const int weighed = missed({"--class-weights", "yes=7,no=0.5"});
  CHECK(weighed < plain);
  CHECK(missed({"-wyes", "7", "-wno", "0.5"}) == weighed);
  check_refused(
      bpm_program, 1,
      {"train", garden.path("rare.csv"), garden.path("q.model"), "--class-weights", "maybe=2"},
      "has no class 'maybe' for --class-weights");
}

TEST_CASE("bpm: figures are of the labels that the model gives", "[examples]") {
  const Garden garden;
  const auto table = [](std::uint64_t seed) {
    std::string text = "x,y,kind\n";
    bpm::RandomEngine engine(seed);
    bpm::NormalDraws normal;
    for (int i = 0; i < 600; ++i) {
      const bool rare = i % 10 == 0;
      text += std::to_string(normal(engine) + (rare ? 0.8 : 0)) + "," +
              std::to_string(normal(engine)) + (rare ? ",b\n" : ",a\n");
    }
    return text;
  };
  garden.write("t.csv", table(1));
  garden.write("more.csv", table(2));
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"train", garden.path("t.csv"), garden.path("t.model")};
    words.insert(words.end(), more.begin(), more.end());
    return garden.made(words);
  };
  const auto error = [&](const char* file) {
    return garden.made({"evaluate", garden.path("t.model"), garden.path(file)})["error_percent"]
        .get<double>();
  };
  // Calibrating by folds moves no labels of a weighted boundary.
  static_cast<void>(train({"--class-weights", "b=30", "--soft-boundary", "0.1"}));
  const std::string without = garden.predicted("t.model", "more.csv", {"--label", "kind"});
  const Json folds = train({"--class-weights", "b=30", "--soft-boundary", "0.1", "--folds", "5"});
  const std::string with = garden.predicted("t.model", "more.csv", {"--label", "kind"});
  const auto labels = [](const std::string& predictions) {
    std::string only;
    std::istringstream lines(predictions);
    for (std::string line; std::getline(lines, line);) only += line.substr(0, line.find(','));
    return only;
  };
  CHECK(labels(with) == labels(without));
  CHECK_THAT(labels(with), ContainsSubstring("b"));
  CHECK(folds["training_error_percent"].get<double>() == Approx(error("t.csv")));
  // A machine of four fifths of the rows errs as often on the others, within 4 standard errors.
  CHECK(std::abs(folds["out_of_fold_error_percent"].get<double>() - error("more.csv")) < 11);
  const Json chosen = train({"--class-weights", "b=30"});
  CHECK(std::abs(chosen["out_of_fold_error_percent"].get<double>() - error("more.csv")) < 9);
  CHECK(error("more.csv") > 15);
  // Without weights offsets move labels, of the training rows as well.
  const Json plain = train({"--soft-boundary", "0.1", "--folds", "5"});
  CHECK(plain["training_error_percent"].get<double>() == Approx(error("t.csv")));
  const BpmOutcome said = run_bpm({"train", garden.path("t.csv"), garden.path("t.model"),
                                   "--sampler", "ep", "--class-weights", "balanced"});
  CHECK_THAT(said.errors, ContainsSubstring("the probabilities are of the weighted classes"));
}

TEST_CASE("bpm: a label is not ignored, a name is one column's, a word may look like a number",
          "[examples]") {
  const Garden garden;
  std::string table = "x,y,kind,flag\n";
  std::string twice = "x,x,kind\n";
  std::string words = "x,y,kind\n";
  std::string ones = words;
  std::string tiny = words;
  std::string copies = words;
  bpm::RandomEngine engine(3);
  for (int i = 0; i < 120; ++i) {
    const std::string x = std::to_string(bpm::uniform_unit(engine) + (i % 2 == 0 ? 0.7 : 0));
    const std::string y = std::to_string(bpm::uniform_unit(engine));
    const std::string kind = i % 2 == 0 ? "1" : "0";
    table += x + "," + y + "," + kind + "," + (i % 3 == 0 ? "8" : "9") + "\n";
    twice += x + "," + y + "," + kind + "\n";
    words += x + "," + y + (i % 2 == 0 ? ",01\n" : ",2x\n");
    if (i % 2 == 0) ones += x + "," + y + ",01\n";
    tiny += x + "e-200," + y + "," + kind + "\n";
    copies += (i < 60 ? x + "," + y : "0.5," + std::to_string(i % 5)) + "," + kind + "\n";
  }
  garden.write("t.csv", table);
  garden.write("twice.csv", twice);
  garden.write("words.csv", words);
  garden.write("ones.csv", ones);
  garden.write("tiny.csv", tiny);
  garden.write("copies.csv", copies);
  const Json made =
      garden.made({"train", garden.path("t.csv"), garden.path("t.model"), "--ignore", "flag"});
  CHECK(made["features"] == 2);
  const auto error = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"evaluate", garden.path("t.model"), garden.path("t.csv")};
    all.insert(all.end(), more.begin(), more.end());
    return garden.made(all)["error_percent"].get<double>();
  };
  CHECK(error({"--ignore", "flag"}) == error({"--label", "kind"}));
  CHECK(error({"--ignore", "flag"}) < 40);
  const BpmOutcome other = run_bpm({"evaluate", garden.path("t.model"), garden.path("t.csv")});
  CHECK_THAT(other.errors, ContainsSubstring("the label is in column 4 ('flag'), the last"));
  check_refused(bpm_program, 1,
                {"train", garden.path("t.csv"), garden.path("t.model"), "--ignore", "kind",
                 "--label", "kind"},
                "found the label in column 3, which is ignored");

  const BpmOutcome named = run_bpm({"train", garden.path("twice.csv"), garden.path("n.model")});
  CHECK_THAT(named.errors, ContainsSubstring("two columns have the name 'x'"));
  CHECK(run_bpm({"evaluate", garden.path("n.model"), garden.path("twice.csv")}).status == 0);

  garden.made({"train", garden.path("words.csv"), garden.path("w.model")});
  CHECK(run_bpm({"evaluate", garden.path("w.model"), garden.path("ones.csv")}).status == 0);

  garden.made({"train", garden.path("tiny.csv"), garden.path("y.model")});
  check_refused(bpm_program, 1,
                {"train", garden.path("tiny.csv"), garden.path("y.model"), "--standardise"},
                "deviation of 0 in column 1");

  const BpmOutcome copied = run_bpm({"train", garden.path("copies.csv"), garden.path("c.model")});
  CHECK_THAT(
      copied.errors,
      ContainsSubstring("55 of the 120 rows repeat the numbers of others: if they are copies"));
  CHECK(run_bpm({"train", garden.path("twice.csv"), garden.path("c.model")})
            .errors.find("numbers of others") == std::string::npos);
}

TEST_CASE("bpm: LIBSVM's flags mean what they mean there", "[examples]") {
  const Garden garden;
  garden.write("flowers.txt", garden.flowers.libsvm());
  const auto formula = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words{"train", garden.path("flowers.txt"), garden.path("a.model")};
    words.insert(words.end(), flags.begin(), flags.end());
    return garden.made(words)["kernel_formula"].get<std::string>();
  };
  CHECK(formula({"-t", "0"}) == "<x, x'>");
  CHECK(formula({"-t", "1"}) == "(0.333333 <x, x'> + 0)^3");
  CHECK(formula({"-t", "1", "-d", "2", "-g", "0.5", "-r", "1", "-b", "1"}) ==
        "(0.5 <x, x'> + 1)^2");
  CHECK(formula({"-t", "2", "-g", "0.25", "-b", "0"}) == "exp(-|x - x'|^2 / 2^2)");
  CHECK(formula({"-g", "0.25"}) == "exp(-|x - x'|^2 / 2^2)");
  // Three features: 1 / 3 is a width of the root of three.
  CHECK(formula({"-t", "2"}) == "exp(-|x - x'|^2 / 1.73205^2)");

  const Json folds =
      garden.made({"train", garden.path("flowers.txt"), garden.path("v.model"), "-v", "5"});
  CHECK(folds["out_of_fold_error_percent"] == 0);
  CHECK(folds["model_bytes"].is_null());
  CHECK_FALSE(std::filesystem::exists(garden.path("v.model")));
}

TEST_CASE("bpm: what cannot be understood is refused in one line, and nothing is written",
          "[examples]") {
  const Garden garden;
  garden.write("rows.txt", garden.flowers.libsvm());
  garden.write("full/draw", "another's");
  REQUIRE(
      run_shell(garden.folder.path(), "bpm train flowers.csv m -q --soft-boundary hard").status ==
      0);
  const std::vector<std::string> train{
      "--frobnicate",
      "--kernel cubic",
      "--kernel",
      "--sampler svm",
      "--degree 3",
      "--kernel polynomial --degree 0",
      "--kernel polynomial --degree 2.5",
      "--kernel polynomial --degree 1,2",
      "--kernel polynomial --offset -1",
      "--kernel polynomial --width 2",
      "--kernel linear --offset 2",
      "--width 0",
      "--width 1,2",
      "--depth 2",
      "--kernel arc-cosine --depth 0",
      "--draws 0",
      "--draws 1e3",
      "--sampler ep --draws 10",
      "--sampler ep --checkpoint c",
      "--sampler ep --folds 5",
      "--soft-boundary soft",
      "--soft-boundary -1",
      "--soft-boundary 0.1,1",
      "--bias -1",
      "--class-weights yes",
      "--class-weights yes=0",
      "--class-weights yes=1,yes=2",
      "--class-weights balanced --class-weights yes=2",
      "--folds 1",
      "--folds 5 -v 5",
      "--risk 0.01",
      "--risk 1 --held-out 0.2",
      "--risk 0.01 --held-out 2",
      "--held-out 0.2",
      "--delta 0.1",
      "--resume",
      "--checkpoint full",
      "--checkpoint flowers.csv",
      "--checkpoint ''",
      "--label ''",
      "--seed -1",
      "--threads 0",
      "--memory 1.5G",
      "--label 0",
      "--header no --label kind",
      "--header maybe",
      "--format xml",
      "--json new",
      "--json a.json --plot a.json",
      "-s 0",
      "-c 10",
      "-n 0.5",
      "-p 0.1",
      "-e 0.001",
      "-h 0",
      "-m 100",
      "-t 3",
      "-t 4",
      "-t 2 -d 3",
      "-t 0 -g 1",
      "-t 2 --width 2",
      "-b 2",
      "-v 1",
      "-w 1",
      "-w1",
      "-g 0",
      "another",
  };
  std::vector<std::string> lines{"",
                                 "frobnicate",
                                 "Train flowers.csv new",
                                 "train",
                                 "train flowers.csv",
                                 "train flowers.csv flowers.csv",
                                 "train rows.txt new --label kind",
                                 "train rows.txt new --header yes",
                                 "choose",
                                 "choose flowers.csv --risk 0.1 --held-out 0.2",
                                 "choose flowers.csv --checkpoint c",
                                 "choose flowers.csv --soft-boundary 1,0.1",
                                 "predict",
                                 "predict m",
                                 "predict m flowers.csv new another",
                                 "predict m flowers.csv --reject some",
                                 "predict m flowers.csv --reject rate=2",
                                 "predict m flowers.csv --reject error=",
                                 "predict m unlabelled.csv new --reject error=0.1",
                                 "predict m unlabelled.csv new --reject risk",
                                 "predict - -",
                                 "predict '' flowers.csv",
                                 "predict m flowers.csv m",
                                 "predict m flowers.csv --seed 3",
                                 "evaluate m",
                                 "evaluate m flowers.csv --json flowers.csv",
                                 "evaluate m flowers.csv --plot",
                                 "info",
                                 "info m more",
                                 "info m --json"};
  for (const std::string& options : train) lines.push_back("train flowers.csv new " + options);
  CHECK(lines.size() >= 60);
  const std::size_t files = garden.folder.count();
  for (const std::string& line : lines) {
    CAPTURE(line);
    const BpmOutcome outcome = run_shell(garden.folder.path(), "bpm " + line);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CAPTURE(outcome.errors);
    CHECK(count_lines(outcome.errors) == 1);
    CHECK_THAT(outcome.errors, StartsWith("bpm"));
    CHECK_THAT(outcome.errors, ContainsSubstring("--help shows the options)"));
    CHECK(garden.folder.count() == files);
  }
}

TEST_CASE("bpm: what cannot be done ends with status 1 and what to do", "[examples]") {
  const Garden garden;
  REQUIRE(run_shell(garden.folder.path(), "bpm train flowers.csv m -q").status == 0);
  const auto refuse = [&](const std::string& line, const std::string& part) {
    CAPTURE(line);
    const BpmOutcome outcome = run_shell(garden.folder.path(), "bpm " + line + " -q");
    CHECK(outcome.status == 1);
    CHECK(count_lines(outcome.errors) == 1);
    CHECK_THAT(outcome.errors, ContainsSubstring(part));
    CHECK_FALSE(std::filesystem::exists(garden.path("new")));
  };
  refuse("train nothing.csv new", "nothing.csv: cannot be opened for reading");
  refuse("train flowers.csv new --format idx", "expected 0 (start of an IDX file)");
  refuse("train flowers.csv new --memory 1000", "(here: a larger --memory)");
  refuse("train flowers.csv new --held-out 0.001 --risk 0.1", "leaves none to train");
  garden.write("no-names.csv", "4,0,0,rose\n0,4,0,rose\n");
  refuse("predict m no-names.csv new", "if that column is the label, name it by --label");
  refuse("predict flowers.csv flowers.csv new", "flowers.csv");
  garden.write("two.csv", "length,width\n1,2\n");
  refuse("predict m two.csv new", "found no column 'height', expected one of 'length', 'width'");
  garden.write("three.csv", "1,2\n3,4\n");
  refuse("predict m three.csv new", "found 2 features, the model has 3");
  garden.write("four.csv", "1,2,3,4\n5,6,7,8\n");
  refuse("predict m four.csv new", "if one column is the label, name it by --label");
  garden.write("equal.csv", "1,1,a\n1,1,b\n1,1,a\n1,1,b\n1,1,b\n");
  refuse("train equal.csv new", "give --width W");
  garden.write("same.csv", "0,0,a\n0,0,b\n1,1,a\n1,2,b\n");
  refuse("train same.csv new --soft-boundary hard --width 1",
         "(here: leave --soft-boundary automatic, or give a larger number)");
  // A posterior that is damaged is no reason to go on without it.
  REQUIRE(run_shell(garden.folder.path(), "bpm train flowers.csv ep --sampler ep -q").status == 0);
  std::string bytes = read_text(garden.path("ep"));
  const std::size_t mean = bytes.find("posterior.0.mean");
  REQUIRE(mean != std::string::npos);
  bytes.replace(mean, 16, "posterior.0.MEAN");
  garden.write("ep", bytes);
  refuse("predict ep unlabelled.csv new", "posterior.0.mean");
}

TEST_CASE("bpm: Ctrl-C ends with the model so far, kill with none, --resume with that of one run",
          "[examples]") {
  const Garden garden;
  garden.write("near.csv", Flowers(600, 6, 3.0).csv());
  const std::string folder = garden.path("draws");
  for (const char* sampler : {"perceptron", "billiard"}) {
    std::vector<std::string> words{"train",
                                   garden.path("near.csv"),
                                   garden.path("whole.model"),
                                   "--soft-boundary",
                                   "0.3",
                                   "--sampler",
                                   sampler,
                                   "--draws",
                                   "200",
                                   "--threads",
                                   "1",
                                   "--quiet"};
    CHECK(run_bpm(words).status == 0);
    words.insert(words.end(), {"--checkpoint", folder});
    for (const int signal : {SIGINT, SIGKILL}) {
      CAPTURE(sampler, signal);
      words[2] = garden.path("cut.model");
      std::filesystem::remove(garden.path("cut.model"));
      {
        ChildProcess child(bpm_program, words);
        // Once draws are kept, or the run has ended, which it may.
        for (int wait = 0; wait < 30000 && !std::filesystem::exists(garden.path("cut.model"));
             ++wait) {
          if (std::filesystem::exists(folder) && !std::filesystem::is_empty(folder)) break;
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        child.send(signal);
        const int status = child.wait();
        CAPTURE(child.errors());
        CHECK((status == (signal == SIGINT ? 130 : 1000 + SIGKILL) || status == 0));
        if (status == 130) CHECK_THAT(child.errors(), ContainsSubstring("stopped "));
      }
      std::vector<std::string> again = words;
      again.push_back("--resume");
      again[2] = garden.path("resumed.model");
      CHECK(run_bpm(again).status == 0);
      CHECK(garden.predicted("resumed.model", "unlabelled.csv") ==
            garden.predicted("whole.model", "unlabelled.csv"));
      // What it has kept is of that many draws, of these data and settings.
      CHECK(run_bpm(words).status == 2);
      again[8] = "100";
      CHECK(run_bpm(again).status == 2);
      again[8] = "200";
      again[4] = "0.4";
      const BpmOutcome other = run_bpm(again);
      CHECK(other.status == 1);
      CHECK_THAT(other.errors,
                 ContainsSubstring("the training of --checkpoint belongs to another run: other "));
      std::filesystem::remove_all(folder);
    }
  }
  // Single draws, which earlier versions kept, are not taken for a training.
  garden.write("old/draw-0-0-3.bpm", "x");
  const BpmOutcome old = run_bpm({"train", garden.path("near.csv"), garden.path("new.model"),
                                  "--quiet", "--checkpoint", garden.path("old"), "--resume"});
  CHECK(old.status == 2);
  CHECK_THAT(old.errors, ContainsSubstring("holds 'draw-0-0-3.bpm' and no training; draws in files "
                                           "of their own are not read any more: name another"));
}

TEST_CASE("bpm: a table's columns are matched by the names that the model keeps", "[examples]") {
  const Garden garden;
  const Json trained =
      garden.made({"train", garden.path("flowers.csv"), garden.path("a.model"), "--label", "kind"});
  CHECK(trained["columns"] == Json({"length", "width", "height"}));
  const Json straight = garden.made(
      {"evaluate", garden.path("a.model"), garden.path("more-flowers.csv"), "--label", "kind"});
  REQUIRE(straight["error_percent"] == 0);
  // The same rows with their columns in another order, and one that no one knows.
  std::ostringstream text;
  text.precision(17);
  text << "height,kind,length,colour,width\n";
  for (std::size_t i = 0; i < garden.others.rows.size(); ++i) {
    const auto& row = garden.others.rows[i];
    text << row[2] << ",\"" << garden.others.names[garden.others.kinds[i]] << "\"," << row[0]
         << ",red," << row[1] << '\n';
  }
  garden.write("other-order.csv", text.str());
  const BpmOutcome outcome =
      run_bpm({"evaluate", garden.path("a.model"), garden.path("other-order.csv"), "--label",
               "kind", "--quiet", "--json", garden.path("order.json")});
  CHECK(outcome.status == 0);
  CHECK(outcome.errors ==
        "bpm: note: " + garden.path("other-order.csv") +
            ": the columns are in another order, and matched by name\nbpm: note: " +
            garden.path("other-order.csv") +
            ": 1 of 5 columns are not among the features, and skipped\n");
  CHECK(garden.json("order.json")["error_percent"] == 0);
  CHECK(garden.json("order.json")["log_loss"] == straight["log_loss"]);
  // What is missing is an error; without a header columns are what they are by position.
  garden.write("missing.csv", "length,height\n1,2\n");
  const BpmOutcome missing =
      run_bpm({"predict", garden.path("a.model"), garden.path("missing.csv")});
  CHECK(missing.status == 1);
  CHECK_THAT(missing.errors, ContainsSubstring("found no column 'width'"));
  garden.write("plain.csv", "4,0,0\n0,4,0\n");
  const BpmOutcome plain = run_bpm({"predict", garden.path("a.model"), garden.path("plain.csv")});
  CHECK(plain.status == 0);
  CHECK_THAT(plain.errors, ContainsSubstring("has no header, columns are taken by position"));
  // Columns that are no features are left out of training as well.
  const Json ignoring =
      garden.made({"train", garden.path("other-order.csv"), garden.path("b.model"), "--label",
                   "kind", "--ignore", "colour,3"});
  CHECK(ignoring["columns"] == Json({"height", "width"}));
}

TEST_CASE("bpm: a guarantee needs rows that train nothing", "[examples]") {
  const Garden garden;
  const auto held_out = [&](const std::string& file) {
    return run_bpm({"train", garden.path("flowers.csv"), garden.path("a.model"), "--label", "kind",
                    "--risk", "10%", "--held-out", file, "--quiet"});
  };
  const BpmOutcome same = held_out(garden.path("flowers.csv"));
  CHECK(same.status == 2);
  CHECK_THAT(same.errors, ContainsSubstring("is the file that trains"));
  std::filesystem::create_symlink(garden.path("flowers.csv"), garden.path("link.csv"));
  CHECK(held_out(garden.path("link.csv")).status == 2);
  garden.write("copy.csv", garden.flowers.csv());
  const BpmOutcome copied = held_out(garden.path("copy.csv"));
  CHECK(copied.status == 1);
  CHECK_THAT(copied.errors,
             ContainsSubstring("240 of the 240 rows held out are rows that train as well"));
  CHECK_FALSE(std::filesystem::exists(garden.path("a.model")));
  // A few rows in both are said, and no error.
  const std::string few = garden.flowers.csv().substr(0, garden.flowers.csv().find('\n', 60) + 1);
  garden.write("few.csv", few + garden.others.csv().substr(garden.others.csv().find('\n') + 1));
  const BpmOutcome some = held_out(garden.path("few.csv"));
  CHECK(some.status == 0);
  CHECK_THAT(some.errors, ContainsSubstring("1 of the 151 rows held out are rows that train"));
  CHECK_THAT(some.errors, ContainsSubstring("holds if that is chance, not if they are copies"));

  // In a table of few values rows are equal by chance, in the file as between files.
  const auto discrete = [](std::uint64_t seed) {
    bpm::RandomEngine engine(seed);
    std::string text = "a,b,kind\n";
    for (std::size_t i = 0; i < 300; ++i) {
      const auto a = static_cast<int>(4 * bpm::uniform_unit(engine));
      const auto b = static_cast<int>(4 * bpm::uniform_unit(engine));
      text += std::to_string(a) + "," + std::to_string(b) + (a > 1 ? ",yes\n" : ",no\n");
    }
    return text;
  };
  garden.write("few-values.csv", discrete(1));
  garden.write("as-few.csv", discrete(2));
  const auto chance = [&](const std::string& held) {
    return run_bpm({"train", garden.path("few-values.csv"), garden.path("b.model"), "--risk", "10%",
                    "--held-out", held, "--quiet"});
  };
  const BpmOutcome natural = chance(garden.path("as-few.csv"));
  CHECK(natural.status == 0);
  CHECK_THAT(natural.errors, ContainsSubstring("300 of the 300 rows held out"));
  const BpmOutcome share = chance("0.5");
  CHECK(share.status == 0);
  CHECK_THAT(share.errors, ContainsSubstring("150 of the 150 rows held out"));
  // Sparse rows, the copy as bytes or not.
  std::string wide;
  std::string other;
  for (std::size_t i = 0; i < 60; ++i) {
    const std::string row = (i % 2 == 0 ? "0 1:" : "1 2:") + std::to_string(i + 1) + " 9000:3\n";
    wide += row;
    other += row;
  }
  garden.write("wide.txt", wide);
  garden.write("other.txt", other + "0 5:0.5\n");
  check_refused(bpm_program, 1,
                {"train", garden.path("wide.txt"), garden.path("c.model"), "--risk", "10%",
                 "--held-out", garden.path("other.txt"), "--quiet"},
                "60 of the 61 rows held out are rows that train as well");
}

TEST_CASE("bpm: features that training has not seen are ignored, and counted", "[examples]") {
  const Garden garden;
  garden.write("train.txt", garden.flowers.libsvm());
  garden.write("more.txt", "0 1:4 7:1 9:2\n1 2:4\n");
  garden.made({"train", garden.path("train.txt"), garden.path("a.model")});
  const BpmOutcome outcome =
      run_bpm({"evaluate", garden.path("a.model"), garden.path("more.txt"), "--quiet"});
  CHECK(outcome.status == 0);
  CHECK(outcome.errors == "bpm: note: " + garden.path("more.txt") +
                              ": 2 values are of features beyond the 3 expected, and ignored\n");
  const Json wide =
      garden.made({"train", garden.path("train.txt"), garden.path("b.model"), "--features", "20"});
  CHECK(wide["features"] == 20);
  const BpmOutcome table =
      run_shell(garden.folder.path(), "bpm train flowers.csv b.model --label kind --features 20");
  CHECK(table.status == 2);
  CHECK_THAT(table.errors, ContainsSubstring("--features is of LIBSVM's format; 'flowers.csv' is "
                                             "read in the format csv"));
  // A column that was left out in training is named by what leaves it out.
  garden.write("id.csv", "1,0.1,a\n2,0.2,a\n3,0.8,b\n4,0.9,b\n");
  garden.write("no-id.csv", "0.1,a\n0.2,a\n0.8,b\n0.9,b\n");
  REQUIRE(run_shell(garden.folder.path(), "bpm train no-id.csv c.model").status == 0);
  CHECK_THAT(run_shell(garden.folder.path(), "bpm evaluate c.model id.csv").errors,
             ContainsSubstring("found 2 features, the model has 1; leave out by --ignore what was "
                               "left out in training"));
  // Of a part of the rows the report says so, and risks have the digits that were asked for.
  const BpmOutcome held = run_shell(
      garden.folder.path(),
      "bpm train flowers.csv d.model --label kind --held-out 0.5 --risk 40.124% --delta 0.404%");
  CHECK_THAT(held.out, ContainsSubstring("flowers.csv without the rows held out: "));
  CHECK_THAT(held.out, ContainsSubstring("at most 40.124 % of what is accepted, unless a 0.404 %"));
}

TEST_CASE("bpm: the report says on how many rows it was judged", "[examples]") {
  const Garden garden;
  const Json trained =
      garden.made({"train", garden.path("flowers.csv"), garden.path("a.model"), "--label", "kind"});
  CHECK(trained["judged_rows"] == 240);
  CHECK(trained["probability_rows"] == 240);
  CHECK(trained["offsets"].size() == 3);
  CHECK(trained["standardised"] == false);
  const BpmOutcome said =
      run_bpm({"train", garden.path("flowers.csv"), garden.path("a.model"), "--label", "kind"});
  CHECK_THAT(said.out,
             ContainsSubstring("judged on all rows, by which it was chosen: optimistic\n"));
  const BpmOutcome version = run_bpm({"--version"});
  CHECK(version.status == 0);
  CHECK_THAT(version.out, StartsWith("bpm 0."));
  const BpmOutcome out = run_bpm({"info", garden.path("a.model"), "--json", "-"});
  CHECK(Json::parse(out.out)["features"] == 3);
}

TEST_CASE("bpm: widths beyond the end are tried while they are better, and errors may judge",
          "[examples]") {
  const Garden garden;
  const Json chosen = garden.made(
      {"choose", garden.path("flowers.csv"), garden.path("a.model"), "--label", "kind"});
  std::set<std::size_t> tried;
  for (const Json& one : chosen["candidates"]) tried.insert(one["kernel"].get<std::size_t>());
  const auto best =
      chosen["candidates"][chosen["best"].get<std::size_t>()]["kernel"].get<std::size_t>();
  CHECK(tried.size() >= 4);
  CHECK(chosen["kernels"] == tried.size());
  // The best is no end of what was tried, unless it is the last of ten widths.
  CHECK((best > *tried.begin() || best == 0));
  CHECK((best < *tried.rbegin() || best == 9));
  const Json by_error = garden.made({"choose", garden.path("flowers.csv"), garden.path("b.model"),
                                     "--label", "kind", "--by", "error"});
  CHECK(by_error["out_of_fold_error_percent"] <= chosen["out_of_fold_error_percent"]);
}

TEST_CASE("bpm: --json - is standard output, and nothing else is there", "[examples]") {
  const Garden garden;
  for (const char* line : {"train flowers.csv m --json -", "choose flowers.csv --width 3 --json -",
                           "evaluate m more-flowers.csv --json -", "info m --json -"}) {
    CAPTURE(line);
    const BpmOutcome outcome = run_shell(garden.folder.path(), std::string("bpm ") + line);
    CHECK(outcome.status == 0);
    CHECK(Json::parse(outcome.out).is_object());
    CHECK_FALSE(std::filesystem::exists(garden.path("-")));
  }
  const BpmOutcome piped =
      run_shell(garden.folder.path(), "cat flowers.csv | bpm train - n --json -");
  CHECK(Json::parse(piped.out)["train_size"] == 240);
  check_refused(bpm_program, 2, {"train", garden.path("flowers.csv"), "-", "--json", "-"},
                "named twice");
}

TEST_CASE("bpm: --version", "[examples]") {
  const BpmOutcome outcome = run_bpm({"--version"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "bpm " + std::to_string(bpm::version_major) + "." +
                           std::to_string(bpm::version_minor) + "." +
                           std::to_string(bpm::version_patch) + "\n");
}

TEST_CASE("bpm: numbers as labels of a table need no names", "[examples]") {
  const Garden garden;
  std::string text = "length,width,kind\n";
  for (std::size_t i = 0; i < 60; ++i) {
    text += std::to_string(3.0 * static_cast<double>(i % 2) + 0.01 * static_cast<double>(i)) +
            ",0.5," + (i % 2 == 0 ? "4\n" : "7\n");
  }
  garden.write("numbers.csv", text);
  CHECK(garden.made({"train", garden.path("numbers.csv"), garden.path("a.model")})["classes"] == 2);
  CHECK_THAT(garden.predicted("a.model", "numbers.csv", {"--label", "kind"}),
             StartsWith("label,4,7\n4,"));
}

TEST_CASE("bpm: classes named as columns of the predictions leave these readable", "[examples]") {
  const Garden garden;
  std::string text = "length,width,kind\n";
  for (std::size_t i = 0; i < 60; ++i) {
    const std::vector<std::string> kinds{"label", "rejected", "leaf"};
    text += std::to_string(static_cast<double>(4 * (i % 3)) + 0.01 * static_cast<double>(i)) +
            ",0.5," + kinds[i % 3] + "\n";
  }
  garden.write("words.csv", text);
  garden.made({"train", garden.path("words.csv"), garden.path("a.model")});
  const std::string csv =
      garden.predicted("a.model", "words.csv", {"--label", "kind", "--reject", "rate=10%"});
  CHECK_THAT(csv, StartsWith("label,P(label),leaf,P(rejected),rejected\nlabel,"));
  std::istringstream in(csv);
  CHECK(bpm::read_table<double>(in, "p", {.label = "label"}).class_names ==
        std::vector<std::string>{"label", "leaf", "rejected"});
}

TEST_CASE("bpm: a column named by a year is found by its name", "[examples]") {
  const Garden garden;
  std::string text = "2019,2020,kind,2021\n";
  for (std::size_t i = 0; i < 60; ++i) {
    text += std::to_string(0.5 + static_cast<double>(4 * (i % 2))) + ",0.5," +
            std::to_string(i % 7) + "," + (i % 2 == 0 ? "a\n" : "b\n");
  }
  garden.write("years.csv", text);
  const Json json =
      garden.made({"train", garden.path("years.csv"), garden.path("a.model"), "--label", "2021"});
  CHECK(json["features"] == 3);
  CHECK(json["classes"] == 2);
  check_refused(bpm_program, 1,
                {"train", garden.path("years.csv"), garden.path("b.model"), "--label", "2022"},
                "and no column has the name '2022'");
  // The column is there by its name, and what is wrong is said of it.
  garden.write("few.csv", "2019,width\n0,2.5\n1,\n");
  check_refused(bpm_program, 1,
                {"train", garden.path("few.csv"), garden.path("b.model"), "--label", "2019",
                 "--header", "yes"},
                ":3: column 2 ('width'): found the missing value");
}

TEST_CASE("bpm: a reader who has read enough hears nothing", "[examples]") {
  const Garden garden;
  std::string text = "length,width,height\n";
  for (std::size_t i = 0; i < 20000; ++i) text += "0.5,0.25,0.125\n";  // More than a pipe holds.
  garden.write("many.csv", text);
  garden.made({"train", garden.path("flowers.csv"), garden.path("a.model")});
  const BpmOutcome head = run_shell(
      garden.folder.path(), "{ bpm predict a.model many.csv; echo $? > status; } | head -1");
  CHECK(head.status == 0);
  CHECK(count_lines(head.out) == 1);
  CHECK(head.errors.empty());
  CHECK(garden.text("status") == "141\n");
}

TEST_CASE("bpm: arguments in another order are told apart before anything is lost", "[examples]") {
  const Garden garden;
  const std::string table = garden.text("flowers.csv");
  garden.made({"train", garden.path("flowers.csv"), garden.path("a.model")});
  const std::string model = garden.text("a.model");
  const auto refused = [&](const std::vector<std::string>& words, const std::string& part) {
    CAPTURE(words);
    check_refused(bpm_program, 2, words, part);
    CHECK(garden.text("flowers.csv") == table);
    CHECK(garden.text("a.model") == model);
  };
  const std::string a = garden.path("a.model");
  const std::string rows = garden.path("flowers.csv");
  refused({"train", a, rows}, "DATA comes first, then MODEL: '" + a + "' is a model");
  refused({"train", garden.path("more-flowers.csv"), rows}, "is no model, and would be lost");
  // Tensors of others lie in files of the same layout.
  const std::string header = R"({"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})";
  garden.write("others", static_cast<char>(header.size()) + std::string(7, '\0') + header + "abc");
  refused({"train", rows, garden.path("others")}, "is no model, and would be lost");
  refused({"predict", rows, a}, "MODEL comes first, then DATA");
  refused({"evaluate", rows, a}, "MODEL comes first, then DATA");
  refused({"predict", a, garden.path("unlabelled.csv"), a}, "is to be read and written");
  garden.made({"train", rows, garden.path("b.model")});
  refused({"predict", garden.path("b.model"), rows, a}, "is a model, which predictions would");
  // A model is made again in its place.
  garden.made({"train", rows, garden.path("b.model"), "--seed", "2"});
}

TEST_CASE("bpm: no file is read and written, by whatever name", "[examples]") {
  const Garden garden;
  garden.made({"train", garden.path("flowers.csv"), garden.path("a.model")});
  const std::string table = garden.text("flowers.csv");
  const std::string held_out = garden.text("more-flowers.csv");
  const std::string model = garden.text("a.model");
  const std::vector<std::pair<const char*, const char*>> cases{
      {"predict a.model flowers.csv ./flowers.csv", "is to be read and written"},
      {"evaluate a.model flowers.csv --json ./flowers.csv", "is to be read and written"},
      {"evaluate a.model flowers.csv --plot ./flowers.csv", "is to be read and written"},
      {"evaluate a.model flowers.csv --json b --plot ./b", "name the same file"},
      {"train flowers.csv b.model --json ./b.model", "is named twice"},
      {"train flowers.csv ./flowers.csv", "MODEL is DATA"},
      {"train flowers.csv b.model --risk 9% --held-out more-flowers.csv --json ./more-flowers.csv",
       "is to be read and written"},
      {"train flowers.csv b.model --json a.model", "is a model, which results would replace"},
      {"info a.model --json ./a.model", "is to be read and written"}};
  for (const auto& [line, part] : cases) {
    CAPTURE(line);
    const BpmOutcome outcome = run_shell(garden.folder.path(), std::string("bpm ") + line);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.errors, ContainsSubstring(part));
  }
  CHECK(garden.text("flowers.csv") == table);
  CHECK(garden.text("more-flowers.csv") == held_out);
  CHECK(garden.text("a.model") == model);
}

TEST_CASE("bpm: options that contradict each other are refused", "[examples]") {
  const Garden garden;
  const auto refused = [&](const std::string& words, const std::string& part) {
    CAPTURE(words);
    const BpmOutcome outcome = run_shell(garden.folder.path(), "bpm " + words);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.errors, ContainsSubstring(part));
  };
  refused("train flowers.csv a.model -v 5 --sampler ep", "--sampler ep has no folds");
  refused("choose flowers.csv --sampler ep --by error",
          "--by: --sampler ep chooses by the evidence");
  refused("train flowers.csv a.model --soft-boundary hard --class-weights balanced",
          "take one or the other");
  refused("train flowers.csv a.model -v 5 --risk 9% --held-out 0.2", "leave -v out");
  // Of equals the widest is chosen, in whatever order they are given.
  const auto widths = [&](const std::string& list) {
    const BpmOutcome outcome =
        run_shell(garden.folder.path(), "bpm choose flowers.csv --width " + list + " --json -");
    return Json::parse(outcome.out)["candidates"].size();
  };
  CHECK(widths("2,1,2") == widths("1,2"));
}

TEST_CASE("bpm: a row may begin as a comment does, and a feature is no label", "[examples]") {
  const Garden garden;
  std::string table = "colour,size,kind\n";
  std::string shuffled = "kind,size,colour\n";
  for (int i = 0; i < 40; ++i) {
    const std::string colour = i % 2 == 0 ? "#ff0000" : "blue";
    const std::string size = std::to_string(i % 7);
    const std::string kind = i % 2 == 0 ? "warm" : "cold";
    table += colour + "," + size + "," + kind + "\n";
    shuffled += kind + "," + size + "," + colour + "\n";
  }
  garden.write("h.csv", table);
  garden.write("s.csv", shuffled);
  const Json made =
      garden.made({"train", garden.path("h.csv"), garden.path("h.model"), "--categories", "auto"});
  CHECK(made["train_size"] == 40);
  const BpmOutcome said = run_bpm({"predict", garden.path("h.model"), garden.path("h.csv")});
  CHECK(std::ranges::count(said.out, '\n') == 41);
  // The last column of this file is a feature of the model; one is none.
  const BpmOutcome found = run_bpm({"evaluate", garden.path("h.model"), garden.path("s.csv")});
  CHECK(found.status == 0);
  CHECK_THAT(found.errors, ContainsSubstring("the label is in column 1 ('kind')"));
  CHECK(found.out ==
        run_bpm({"evaluate", garden.path("h.model"), garden.path("s.csv"), "--label", "kind"}).out);
  garden.write("t.csv", "name,kind,size,colour\na,warm,1,#ff0000\n");
  check_refused(bpm_program, 1, {"evaluate", garden.path("h.model"), garden.path("t.csv")},
                "which is one of the features, expected it in another; name it by --label");
  // A comment has other fields than a row.
  garden.write("c.csv", "# by hand\n" + table + "# the end\n");
  const BpmOutcome commented = run_bpm({"predict", garden.path("h.model"), garden.path("c.csv")});
  CHECK(commented.status == 1);  // Its colours are rows, and so are its comments.
  garden.write("d.csv", "# by hand\ncolour,size,kind\nblue,1,cold\n# the end\nblue,3,cold\n");
  const BpmOutcome skipped = run_bpm({"predict", garden.path("h.model"), garden.path("d.csv")});
  CHECK(std::ranges::count(skipped.out, '\n') == 3);
  CHECK_THAT(skipped.errors, ContainsSubstring("2 lines begin with '#', and are skipped"));
  // A word where training had numbers: what training alone can do is not advised.
  garden.write("w.csv", "colour,size,kind\nblue,large,cold\n");
  const BpmOutcome word = run_bpm({"predict", garden.path("h.model"), garden.path("w.csv")});
  CHECK(word.status == 1);
  CHECK_THAT(word.errors, ContainsSubstring("as in the rows that trained"));
  CHECK(word.errors.find("--categories") == std::string::npos);
  garden.write("m.csv", "colour,size,kind\nblue,NA,cold\n");
  const BpmOutcome missing = run_bpm({"predict", garden.path("h.model"), garden.path("m.csv")});
  CHECK_THAT(missing.errors, ContainsSubstring("no row that trained missed one"));
  CHECK(missing.errors.find("--missing") == std::string::npos);
  // A time of day is no feature of LIBSVM's format.
  garden.write("time.csv", "2020-01-01 12:00,0.1,a\n2020-01-02 13:00,0.2,b\n");
  CHECK_THAT(run_bpm({"train", garden.path("time.csv"), garden.path("x.model")}).errors,
             ContainsSubstring("found '2020-01-01 12:00', expected a finite number"));
}

TEST_CASE("bpm: what is held out is read before the training", "[examples]") {
  const Garden garden;
  garden.write("novel.csv", "kind,width,length,height,more\nnovel,1,2,3,4\n");
  const BpmOutcome outcome =
      run_bpm({"train", garden.path("flowers.csv"), garden.path("x.model"), "--label", "kind",
               "--risk", "9%", "--held-out", garden.path("novel.csv")});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.errors,
             ContainsSubstring("found the label 'novel', which no row that trains has"));
  CHECK_THAT(outcome.errors, ContainsSubstring("are not among the features, and skipped"));
  CHECK(outcome.errors.find("kernel matrix") == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(garden.path("x.model")));
  // Classes that are numbers may be named as LIBSVM's files write them.
  garden.write("w.svm", "+1 1:1\n-1 1:2\n+1 1:1.5\n-1 1:2.5\n+1 1:0.5\n-1 1:3\n");
  CHECK(run_bpm({"train", garden.path("w.svm"), garden.path("w.model"), "--class-weights", "+1=2"})
            .status == 0);
}

TEST_CASE("bpm: columns that were judged as they are bring no warning of their scales",
          "[examples]") {
  const Garden garden;
  // The large column decides; standardised, nine of noise would be as large.
  std::string table = "x,a,b,c,d,e,f,g,h,i,kind\n";
  bpm::RandomEngine random(1, 1);
  for (int i = 0; i < 120; ++i) {
    table += std::to_string(100 * i);
    for (int j = 0; j < 9; ++j) table += "," + std::to_string(bpm::uniform_unit(random));
    table += i / 30 % 2 == 0 ? ",up\n" : ",down\n";
  }
  garden.write("t.csv", table);
  const auto trained = [&](const std::string& more) {
    return run_shell(garden.folder.path(), "bpm train t.csv t.model " + more).errors;
  };
  CHECK_THAT(trained("--no-standardise"), ContainsSubstring("differ in scale"));
  CHECK(trained("").find("differ in scale") == std::string::npos);
}

TEST_CASE("bpm: --reject error=E goes by the label that is said", "[examples]") {
  const Garden garden;
  std::string table = "x,kind\n";
  for (int i = 0; i < 200; ++i) {
    // Near the middle either may be.
    const bool up = i >= 100 ? (i > 130 || i % 3 != 0) : (i > 70 && i % 3 == 0);
    table += std::to_string(i) + "," + (up ? "up" : "down") + "\n";
  }
  garden.write("t.csv", table);
  garden.made({"train", garden.path("t.csv"), garden.path("t.model"), "--class-weights", "up=20"});
  const BpmOutcome outcome = run_bpm({"predict", garden.path("t.model"), garden.path("t.csv"),
                                      "--label", "kind", "--reject", "error=10%"});
  std::istringstream lines(outcome.out);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "label,down,up,rejected");
  double wrong = 0;
  int accepted = 0;
  int unlikely = 0;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string label;
    std::string down;
    std::string up;
    std::string rejected;
    std::getline(fields, label, ',');
    std::getline(fields, down, ',');
    std::getline(fields, up, ',');
    std::getline(fields, rejected, ',');
    const double p = std::stod(label == "up" ? up : down);
    unlikely += p < 0.5 ? 1 : 0;
    if (rejected == "1") continue;
    ++accepted;
    wrong += 1 - p;
  }
  CHECK(unlikely > 0);  // Otherwise nothing is shown.
  CHECK(accepted > 0);
  CHECK(wrong <= 0.1 * accepted + 1e-4);
}

TEST_CASE("bpm: train judges the same rows whatever the memory, or is refused", "[examples]") {
  const Garden garden;
  const auto model_of = [&](const std::string& memory) {
    garden.made({"train", garden.path("flowers.csv"), garden.path(memory), "--memory", memory});
    return garden.predicted(memory, "more-flowers.csv", {"--label", "kind"});
  };
  CHECK(model_of("2M") == model_of("1G"));
  const auto refused = [&](const std::string& more, const std::string& message) {
    const BpmOutcome outcome =
        run_shell(garden.folder.path(), "bpm train flowers.csv new -q --memory " + more);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.errors, ContainsSubstring(message));
    CHECK_FALSE(std::filesystem::exists(garden.path("new")));
  };
  const std::string needed = "flowers.csv: memory is 1382399 bytes, 240 points need 1382400";
  refused("1382399", needed);                            // Whether to standardise,
  refused("1382399 --no-standardise", needed);           // the bias,
  refused("1382399 --no-standardise --bias 1", needed);  // the width,
  refused("900000 --no-standardise --bias 1 --width 2",
          " to choose the soft boundary; raise memory");
  CHECK(run_shell(garden.folder.path(),
                  "bpm train flowers.csv new -q --memory 1382399 --no-standardise "
                  "--soft-boundary 0.01")
            .status == 0);
}

TEST_CASE("bpm: what no machine can be of is said in the words of the file", "[examples]") {
  const Garden garden;
  const auto refused = [&](const std::string& line, const std::string& message) {
    CAPTURE(line);
    const BpmOutcome outcome = run_shell(garden.folder.path(), "bpm " + line + " -q");
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.errors, ContainsSubstring(": " + message));
    CHECK(outcome.errors.find("::") == std::string::npos);
  };
  const std::string head = "length,width,kind\n";
  garden.write("one.csv", head + "1.5,2,rose\n2,1,rose\n3,1,rose\n");
  refused("train one.csv new",
          "one.csv: all 3 rows that train are of the class 'rose', expected two classes or more; "
          "--label names the labels' column");
  garden.write("row.csv", head + "1.5,2,rose\n");
  refused("train row.csv new", "row.csv: has 1 row that trains, of the class 'rose', expected two");
  garden.write("two.csv", head + "1.5,2,rose\n2,1,iris\n");
  refused("choose two.csv",
          "two.csv: has 0 rows that are not alone in their class, too few for 5 folds");
  garden.write("same.csv", head + "0,0,a\n0.5,0.5,a\n0.5,0.5,b\n1,2,b\n");
  refused("train same.csv new --soft-boundary hard --width 1",
          "same.csv: rows 2 and 3 are equal inputs with different labels");
  refused("train flowers.csv new --memory 100", "flowers.csv: memory is 100 bytes");
  refused("train flowers.csv new --kernel polynomial --degree 60 --offset 1e15",
          "flowers.csv: k(x_0, x_0) is inf");
  // Where the kernel sees directions the cure is none of those that scale.
  garden.write("zero.csv", head + "1,2,a\n0,0,a\n2,1,b\n3,1,b\n");
  refused("train zero.csv new --normalise",
          "zero.csv: row 2 is all zeros, which has no direction; leave the row out, or leave out "
          "--normalise");
  refused(
      "train zero.csv new --kernel arc-cosine",
      "zero.csv: row 2 is all zeros, which has no direction; leave the row out, or take another "
      "kernel");
  garden.write("angles.csv", head + "1,2,a\n1,3,a\n2,1,b\n3,1,b\n");
  REQUIRE(run_shell(garden.folder.path(), "bpm train angles.csv m --normalise -q").status == 0);
  refused("predict m zero.csv new", "zero.csv: ");
  CHECK_THAT(run_shell(garden.folder.path(), "bpm predict m zero.csv").errors,
             ContainsSubstring("(here: row 2 is all zeros; where the model's kernel sees "
                               "directions, leave it out)"));
}

TEST_CASE("bpm: folds judge and calibrate what train fits, whatever its boundary", "[examples]") {
  const Garden garden;
  garden.write("near.csv", Flowers(400, 3, 3.0).csv());
  garden.write("near-others.csv", Flowers(1500, 4, 3.0).csv());
  const auto loss = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"train", garden.path("near.csv"), garden.path("a.model")};
    words.insert(words.end(), more.begin(), more.end());
    garden.made(words);
    return garden
        .made({"evaluate", garden.path("a.model"), garden.path("near-others.csv")})["log_loss"]
        .get<double>();
  };
  const std::string plain = garden.path("plain.model");
  garden.made({"train", garden.path("near.csv"), plain});
  const Json folds =
      garden.made({"train", garden.path("near.csv"), garden.path("folds.model"), "--folds", "4"});
  // Every fold chooses its own boundary: the rows that judge have chosen nothing.
  CHECK(folds["judged_rows"] == 400);
  CHECK(folds["probability_rows"] == 400);
  CHECK(folds["offsets"].size() == 3);
  CHECK(garden.text("folds.model") != garden.text("plain.model"));
  const BpmOutcome said = run_shell(garden.folder.path(), "bpm train near.csv b.model --folds 4");
  CHECK_THAT(
      said.out,
      ContainsSubstring("judged on all rows, by which columns and bias were chosen: optimistic\n"));
  CHECK_THAT(
      run_shell(garden.folder.path(), "bpm train near.csv b.model --folds 4 --standardise --bias 1")
          .out,
      ContainsSubstring("judged on all rows\n"));
  // As good as what a fit finds by itself, with a boundary given or not.
  const double automatic = loss({});
  CHECK(loss({"--folds", "4"}) < automatic + 0.02);
  CHECK(loss({"--folds", "4", "--soft-boundary", "1"}) < automatic + 0.05);
}

TEST_CASE("bpm: choose says what it took of the boundaries given, and why", "[examples]") {
  const Garden garden;
  garden.write("near.csv", Flowers(400, 3, 3.0).csv());
  const std::vector<std::string> words{
      "choose", garden.path("near.csv"), garden.path("a.model"), "--width",
      "3",      "--soft-boundary",       "0.001,0.3,1"};
  const Json json = garden.made(words);
  const BpmOutcome said = run_bpm(words);
  REQUIRE(json["soft_boundary"] != 0.001);  // Or the first is taken, which proves nothing.
  std::ostringstream line;
  line << "soft boundary " << json["soft_boundary"].get<double>() << " k(x, x), chosen of those";
  CHECK_THAT(said.out, ContainsSubstring(line.str()));
  CHECK_THAT(said.out, ContainsSubstring("by which it was chosen: optimistic"));
  // The model has the probabilities that were found.
  const Json judged = garden.made({"evaluate", garden.path("a.model"), garden.path("near.csv")});
  CHECK(judged["log_loss"].is_number());
  // Of losses that are the same to a tenth of their standard error the star is at the softest.
  const auto star = [&](const std::string& boundaries, const char* seed) {
    const std::string table = run_bpm({"choose", "--seed", seed, garden.path("near.csv"), "--width",
                                       "3", "--bias", "1", "--soft-boundary", boundaries})
                                  .out;
    std::istringstream lines(table);
    double least = 1e9;
    double starred = 0;
    std::string text;
    std::getline(lines, text);
    while (std::getline(lines, text) && !text.starts_with("data")) {
      if (text.find("exp(") == std::string::npos || text.find("not ") < 10) continue;
      const double loss = std::stod(text.substr(3));
      least = std::min(least, loss);
      if (text[1] == '*') starred = loss;
    }
    const bool explained = table.find(" * no worse than the smallest") != std::string::npos;
    CHECK(explained == (starred > least));
    return explained;
  };
  int explained = 0;
  for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
    explained += star("0.3,0.3001,0.3002,0.3003", seed) ? 1 : 0;
  }
  CHECK(explained > 0);
  CHECK_FALSE(star("0.001,0.3", "1"));
}

TEST_CASE("bpm: choose prints the ten best and the choice, its results have all", "[examples]") {
  const Garden garden;
  garden.write("near.csv", Flowers(200, 3, 3.0).csv());
  const BpmOutcome said = run_bpm({"choose", garden.path("near.csv"), "--width", "1,3",
                                   "--no-standardise", "--json", garden.path("c.json")});
  const Json json = garden.json("c.json");
  std::vector<double> losses;
  for (const Json& one : json["candidates"]) {
    CHECK_THAT(one["kernel_formula"].get<std::string>(),
               ContainsSubstring(one["kernel"] == 0 ? "/ 1^2)" : "/ 3^2)"));
    if (one["log_loss"].is_number()) losses.push_back(one["log_loss"]);
  }
  std::ranges::sort(losses);
  REQUIRE(losses.size() > 11);
  const double chosen = json["candidates"][json["best"].get<std::size_t>()]["log_loss"];
  std::istringstream lines(said.out);
  std::string line;
  std::getline(lines, line);
  CHECK_THAT(line, ContainsSubstring("log loss   error   soft boundary"));
  std::vector<double> printed;
  std::vector<double> starred;
  while (std::getline(lines, line) && line.find("the best of") == std::string::npos) {
    (line[1] == '*' ? starred : printed).push_back(std::stod(line.substr(3)));
  }
  CHECK(line == "   the best of " + std::to_string(json["candidates"].size()) +
                    ", all of which --json FILE has");
  REQUIRE(starred.size() == 1);
  CHECK(starred[0] == Approx(chosen).epsilon(1e-3));
  printed.push_back(starred[0]);
  std::ranges::sort(printed);
  REQUIRE(printed.size() >= 10);
  CHECK(printed.size() == (chosen > losses[9] ? 11 : 10));
  for (std::size_t i = 0; i < 10; ++i) CHECK(printed[i] == Approx(losses[i]).epsilon(1e-3));
}

TEST_CASE("bpm: choose says on how many rows a neighbour was better", "[examples]") {
  const Garden garden;
  // Cells of a grid, labelled by their half of it but for 7 %: 2400 rows, in half of the
  // cells, know the halves; from 8000 the narrow kernel knows the cells too.
  constexpr int side = 60;
  bpm::RandomEngine engine(2);
  std::vector<bool> cells;
  for (int c = 0; c < side * side; ++c) {
    cells.push_back((2 * (c % side) < side) != (bpm::uniform_unit(engine) < 0.07));
  }
  std::string table;
  for (int i = 0; i < 40000; ++i) {
    const double x = side * bpm::uniform_unit(engine);
    const double y = side * bpm::uniform_unit(engine);
    const auto cell = static_cast<std::size_t>(x) + side * static_cast<std::size_t>(y);
    table += std::to_string(x) + "," + std::to_string(y) + (cells[cell] ? ",a\n" : ",b\n");
  }
  garden.write("cells.csv", table);
  const BpmOutcome said =
      run_bpm({"choose", garden.path("cells.csv"), "--width", "15,0.7", "--soft-boundary", "0.1",
               "--bias", "1", "--no-standardise", "--memory", "2G"});
  CHECK_THAT(said.out, ContainsSubstring(
                           " * better than its neighbours by two standard errors when they were "
                           "judged once more, on 1600 rows of a larger part\n"));
}

TEST_CASE("bpm: evaluate has precision, recall and F1 of each class, of two the ROC curve's area",
          "[examples]") {
  const Garden garden;
  garden.write("near.csv", Flowers(400, 3, 3.0).csv());
  garden.write("near-others.csv", Flowers(500, 4, 3.0).csv());
  garden.made({"train", garden.path("near.csv"), garden.path("a.model")});
  const Json three =
      garden.made({"evaluate", garden.path("a.model"), garden.path("near-others.csv")});
  CHECK(three["auc"].is_null());
  REQUIRE(three["per_class"].size() == 3);
  const Json& counts = three["confusion"]["counts"];
  for (std::size_t c = 0; c < 3; ++c) {
    double row = 0;
    double column = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      row += counts[c][k].get<double>();
      column += counts[k][c].get<double>();
    }
    const double both = counts[c][c].get<double>();
    const Json& one = three["per_class"][c];
    CHECK(one["label"] == garden.flowers.names[c]);
    CHECK(one["support"] == row);
    CHECK(one["recall"].get<double>() == Approx(both / row));
    CHECK(one["precision"].get<double>() == Approx(both / column));
    CHECK(one["f1"].get<double>() == Approx(2 * both / (row + column)));
  }

  // Two classes: the area is the share of pairs that the probabilities put in order.
  std::string text = "length,width,kind\n";
  std::vector<bool> yes;
  bpm::RandomEngine engine(9);
  for (std::size_t i = 0; i < 300; ++i) {
    yes.push_back(i % 3 == 0);
    text += std::to_string(bpm::uniform_unit(engine) + (yes.back() ? 0.4 : 0)) + "," +
            std::to_string(bpm::uniform_unit(engine)) + (yes.back() ? ",yes\n" : ",no\n");
  }
  garden.write("two.csv", text);
  for (const char* sampler : {"perceptron", "ep"}) {
    garden.made({"train", garden.path("two.csv"), garden.path("b.model"), "--sampler", sampler});
    const Json two = garden.made({"evaluate", garden.path("b.model"), garden.path("two.csv")});
    std::istringstream csv(garden.predicted("b.model", "two.csv", {"--label", "kind"}));
    const auto table = bpm::read_table<double>(csv, "p", {.label = "label"});
    double pairs = 0;
    double right = 0;
    for (std::size_t i = 0; i < yes.size(); ++i) {
      for (std::size_t j = 0; j < yes.size(); ++j) {
        if (!yes[i] || yes[j]) continue;
        const double above = table.inputs(static_cast<Eigen::Index>(i), 1);
        const double below = table.inputs(static_cast<Eigen::Index>(j), 1);
        ++pairs;
        right += above > below ? 1 : above == below ? 0.5 : 0;
      }
    }
    CAPTURE(sampler);
    CHECK(two["auc"].get<double>() == Approx(right / pairs).margin(1e-3));
    CHECK(two["auc"].get<double>() < 0.99);
    CHECK(two["per_class"][1]["label"] == "yes");
  }
  const BpmOutcome said = run_bpm({"evaluate", garden.path("b.model"), garden.path("two.csv")});
  CHECK_THAT(said.out, ContainsSubstring("ROC curve     area 0."));
  CHECK_THAT(said.out, ContainsSubstring("precision"));
}

TEST_CASE("bpm: rows of standard input are answered as they come in", "[examples]") {
  const Garden garden;
  garden.made({"train", garden.path("flowers.csv"), garden.path("m"), "--label", "kind"});
  // Lines come one by one, each when those before are answered, as a program asks that waits.
  const std::string script = R"sh(
    mkfifo in; : > out; bpm predict m - -q $options < in > out 2> errors & exec 3> in
    wanted=0
    while IFS= read -r line; do
      printf '%s\n' "$line" >&3
      case "$line" in [0-9]*) wanted=$((wanted + 1));; esac
      [ $wanted -lt $from ] && continue
      tries=0
      while [ "$(grep -c '^[irt"]' out)" -lt $wanted ]; do
        tries=$((tries + 1)); [ $tries -gt 1000 ] && exit 7; sleep 0.02
      done
    done < rows
    exec 3>&-; wait $!; status=$?; rm in; exit $status)sh";
  const auto asked = [&](const std::string& rows, const std::string& options, int from) {
    garden.write("rows", rows);
    const BpmOutcome outcome = run_shell(
        garden.folder.path(), "options='" + options + "'; from=" + std::to_string(from) + script);
    CAPTURE(outcome.errors, garden.text("errors"), garden.text("out"));
    CHECK(outcome.status == 0);
    return garden.text("out");
  };
  const std::string names = "length,width,height\n";
  const std::string numbers = "4,0,0\n0,4,0\n\n0,0,0.1\n1,1.5,0\n2,0.5,0\n";
  const auto whole = [&](const std::string& rows, const std::vector<std::string>& options = {}) {
    garden.write("whole", rows);
    return garden.predicted("m", "whole", options);
  };
  const std::string answers = whole(names + numbers);
  CHECK(count_lines(answers) == 6);
  CHECK(asked(names + numbers, "", 1) == answers);
  // Whether the first line has names the second line says, or the user.
  CHECK(asked(numbers, "", 2) == answers);
  CHECK(asked(numbers, "--header no", 1) == answers);
  CHECK(asked("# of today\n" + names + "# and of\n" + numbers, "", 1) == answers);
  CHECK(asked("height,width,length\n0,0,4\n0.5,1,1\n", "", 1) ==
        whole("height,width,length\n0,0,4\n0.5,1,1\n"));
  // Names of rows without a name of their own are seen by two rows.
  const std::string from_r = "length width height\n1 4 0 0\n2 0 4 0\n3 1 1.5 0\n";
  CHECK(asked(from_r, "", 2) == whole(from_r));
  const std::string arff =
      "% From\n% another\n% program.\n@relation r\n@attribute length numeric\n@attribute width "
      "numeric\n@attribute height "
      "numeric\n@data\n";
  CHECK(asked(arff + numbers, "", 1) == answers);
  CHECK(asked("sep=;\nlength;width;height\n4;0;0\n0;4;0\n", "", 1) ==
        whole(names + "4,0,0\n0,4,0\n"));
  CHECK(asked("0 1:4 2:0 3:0\n0 1:0 2:4 3:0\n0 3:0.1\n0 1:1 2:1.5\n0 1:2 2:0.5\n", "", 1) ==
        answers);
  CHECK(asked(names + numbers, "--keep height,length", 1000) ==
        whole(names + numbers, {"--keep", "height,length"}));

  // A whole file at once, in blocks; packed; and into a file.
  std::string many = names;
  for (int i = 0; i < 50000; ++i) {
    many += std::to_string(i % 5) + "." + std::to_string(i % 7) + "," + std::to_string(i % 4) +
            ",0.125\n";
  }
  const std::string expected = whole(many);
  CHECK(count_lines(expected) == 50001);
  const auto piped = [&](const std::string& command) {
    const BpmOutcome outcome = run_shell(garden.folder.path(), command);
    CHECK(outcome.errors.empty());
    return outcome.out;
  };
  CHECK(piped("bpm predict m - < whole") == expected);
  CHECK(piped("cat whole | bpm predict m -") == expected);
  CHECK(piped("gzip -c whole | bpm predict m -") == expected);
  CHECK(piped("cat whole | bpm predict m - new && cat new") == expected);
  CHECK(piped("cat whole | bpm predict m - --reject rate=10%") ==
        whole(many, {"--reject", "rate=10%"}));

  // Lines and rows of messages are those of the whole.
  garden.write("bad", many + "1,2,x\n");
  const BpmOutcome bad = run_shell(garden.folder.path(), "bpm predict m - < bad > new");
  CHECK(bad.status == 1);
  CHECK_THAT(bad.errors,
             StartsWith("bpm predict: standard input:50002: column 3 ('height'): found 'x'"));
  CHECK(count_lines(bad.errors) == 1);
  const BpmOutcome empty = run_shell(garden.folder.path(), "bpm predict m - < /dev/null");
  CHECK(empty.status == 1);
  CHECK_THAT(empty.errors, ContainsSubstring("standard input:0: found the end"));
  garden.made({"train", garden.path("flowers.csv"), garden.path("n"), "--normalise"});
  garden.write("zero", many + "0,0,0\n");
  const BpmOutcome zero = run_shell(garden.folder.path(), "bpm predict n - < zero > new");
  CHECK(zero.status == 1);
  CHECK_THAT(zero.errors, ContainsSubstring("row 50001 is all zeros"));
}

TEST_CASE("bpm: blank rows of one column are answered in their place", "[examples]") {
  const Garden garden;
  std::string text = "width,kind\n";
  for (int i = 0; i < 60; ++i)
    text += (i % 10 == 5 ? "" : std::to_string(i % 2 + 0.01 * i)) + (i % 2 == 0 ? ",a\n" : ",b\n");
  garden.write("one.csv", text);
  garden.made({"train", garden.path("one.csv"), garden.path("m"), "--missing", "mean"});
  garden.write("rows.csv", "width\n0.1\n\n1.1\n\n\n0.2\n\n");
  const std::string answers = garden.predicted("m", "rows.csv");
  CHECK(count_lines(answers) == 7);
  CHECK(run_shell(garden.folder.path(),
                  "{ while IFS= read -r line; do echo \"$line\"; sleep 0.1; done < rows.csv; } | "
                  "bpm predict m -")
            .out == answers);
}

TEST_CASE("bpm: columns are kept beside the answers", "[examples]") {
  const Garden garden;
  garden.made({"train", garden.path("flowers.csv"), garden.path("m")});
  garden.write(
      "ids.csv",
      "id,length,width,rose,height,label\n\"a, 1\",4,0,x,0,7\n007,0,4,,0,7\nNo 3,0,0,z,0,8\n");
  const std::string plain = garden.predicted("m", "ids.csv");
  const std::string kept = garden.predicted("m", "ids.csv", {"--keep", "label,id,4,width"});
  std::istringstream lines(kept);
  std::istringstream answers(plain);
  for (const char* begin :
       {"kept label,id,kept rose,width,", "7,\"a, 1\",x,0,", "7,007,,4,", "8,No 3,z,0,"}) {
    std::string line;
    std::string answer;
    REQUIRE(std::getline(lines, line));
    REQUIRE(std::getline(answers, answer));
    CHECK(line == begin + answer);
  }
  // Without names by number, which names them.
  garden.write("plain.csv", "17,4,0,0\n18,0,4,0\n");
  CHECK_THAT(garden.predicted("m", "plain.csv", {"--keep", "1", "--ignore", "1"}),
             StartsWith("column 1,label,\"iris, blue\",rose,tulip\n17,"));
  const auto refused = [&](const std::vector<std::string>& more, int status, const char* part) {
    std::vector<std::string> words{"predict", garden.path("m")};
    words.insert(words.end(), more.begin(), more.end());
    check_refused(bpm_program, status, words, part);
  };
  refused({garden.path("ids.csv"), "--keep", "name"}, 1,
          "ids.csv: has no column 'name' for --keep");
  refused({garden.path("ids.csv"), "--keep", "7"}, 1, "ids.csv: has no column 7 for --keep");
  refused({garden.path("ids.csv"), "--keep", "0"}, 2, "--keep: columns count from 1, '0' is none");
  garden.write("rows.txt", garden.others.libsvm());
  refused({garden.path("rows.txt"), "--keep", "1"}, 2, "--keep is of tables");
}

namespace {

/// Yes and no that lie across each other, a third yes, as many as `count`.
std::string yes_and_no(std::size_t count, std::uint64_t seed) {
  std::string text = "length,width,kind\n";
  bpm::RandomEngine engine(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const bool yes = i % 3 == 0;
    text += std::to_string(bpm::uniform_unit(engine) + (yes ? 0.6 : 0)) + "," +
            std::to_string(bpm::uniform_unit(engine)) + (yes ? ",yes\n" : ",no\n");
  }
  return text;
}

}  // namespace

TEST_CASE("bpm: a class is said from a probability on, or as costs ask", "[examples]") {
  const Garden garden;
  garden.write("two.csv", yes_and_no(300, 9));
  garden.write("others.csv", yes_and_no(400, 10));
  for (const char* sampler : {"perceptron", "ep"}) {
    garden.made({"train", garden.path("two.csv"), garden.path("m"), "--sampler", sampler});
    const auto said = [&](const std::vector<std::string>& options) {
      return garden.predicted("m", "others.csv", options);
    };
    CHECK(said({"--threshold", "0.2"}) == said({"--threshold", "yes=20%"}));
    CHECK(said({"--costs", "yes=1,no=4"}) == said({"--threshold", "0.2"}));
    CHECK(said({"--costs", "no=2,yes=0.5"}) == said({"--threshold", "no=0.8"}));
    std::istringstream csv(said({"--threshold", "0.2"}));
    const auto table = bpm::read_table<double>(csv, "p", {.label = "label"});
    std::size_t wrong_yes = 0;
    std::size_t wrong_no = 0;
    std::size_t yes = 0;
    for (std::size_t i = 0; i < 400; ++i) {
      const bool is_yes = table.class_names[static_cast<std::size_t>(table.labels[i])] == "yes";
      CHECK(is_yes == (table.inputs(static_cast<Eigen::Index>(i), 1) >= 0.2));
      yes += is_yes ? 1U : 0U;
      wrong_yes += is_yes && i % 3 != 0 ? 1U : 0U;
      wrong_no += !is_yes && i % 3 == 0 ? 1U : 0U;
    }
    const Json judged = garden.made(
        {"evaluate", garden.path("m"), garden.path("others.csv"), "--costs", "yes=1,no=4"});
    CHECK(judged["threshold"]["class"] == "yes");
    CHECK(judged["threshold"]["probability"] == Approx(0.2));
    CHECK(judged["confusion"]["counts"][0][1] == wrong_yes);
    CHECK(judged["confusion"]["counts"][1][0] == wrong_no);
    CHECK(judged["cost"].get<double>() ==
          Approx(static_cast<double>(wrong_yes + 4 * wrong_no) / 400));
    const Json own = garden.made({"evaluate", garden.path("m"), garden.path("others.csv")});
    CHECK(own["cost"].is_null());
    CHECK(own.find("threshold") == own.end());
    CHECK(own["auc"] == judged["auc"]);
    CHECK(own["confusion"]["counts"][0][1] < wrong_yes);
    // The least certain are those of the largest expected cost.
    std::istringstream rejecting(said({"--threshold", "0.2", "--reject", "rate=25%"}));
    const auto rejected = bpm::read_table<double>(rejecting, "p", {.label = "label"});
    double least_rejected = 1;
    double most_accepted = 0;
    for (Eigen::Index i = 0; i < 400; ++i) {
      const double probability = rejected.inputs(i, 1);  // Of yes.
      const double cost = std::min(1 - probability, 4 * probability);
      if (rejected.inputs(i, 2) == 1) {
        least_rejected = std::min(least_rejected, cost);
      } else {
        most_accepted = std::max(most_accepted, cost);
      }
    }
    CHECK(rejected.inputs.col(2).sum() == 100);
    CHECK(most_accepted <= least_rejected + 1e-4);
  }
  const BpmOutcome report =
      run_bpm({"evaluate", garden.path("m"), garden.path("others.csv"), "--costs", "yes=1,no=4"});
  CHECK_THAT(report.out,
             ContainsSubstring("threshold     says yes from a probability of 0.2 on\n"));
  CHECK_THAT(report.out, ContainsSubstring(" a row\n"));

  garden.made({"train", garden.path("two.csv"), garden.path("h"), "--soft-boundary", "1"});
  garden.made({"train", garden.path("flowers.csv"), garden.path("three")});
  const auto refuse = [&](const char* model, const std::vector<std::string>& options,
                          const char* part) {
    for (const char* command : {"predict", "evaluate"}) {
      std::vector<std::string> words{command, garden.path(model), garden.path("others.csv")};
      if (std::string(model) == "three") words[2] = garden.path("more-flowers.csv");
      words.insert(words.end(), options.begin(), options.end());
      check_refused(bpm_program, 2, words, part);
    }
  };
  refuse("h", {"--threshold", "0.3"},
         "--threshold: the model has no probabilities; train it with --folds 5");
  refuse("h", {"--costs", "yes=1,no=2"}, "--costs: the model has no probabilities");
  refuse("three", {"--threshold", "0.3"}, "--threshold is of two classes, the model has 3");
  refuse("m", {"--threshold", "maybe=0.3"},
         "--threshold: the model has no class 'maybe', it has no and yes");
  refuse("m", {"--costs", "yes=1,maybe=3"}, "--costs: the model has no class 'maybe'");
  refuse("m", {"--threshold", "1.5"}, "--threshold: '1.5' is no number from 0 to 1");
  refuse("m", {"--costs", "3,4"}, "--costs: '3' is no CLASS=COST; write such as yes=1,no=5");
  refuse("m", {"--costs", "yes=3"}, "--costs: name both classes once");
  refuse("m", {"--costs", "yes=3,yes=4"}, "--costs: name both classes once");
  refuse("m", {"--costs", "yes=3,no=4", "--threshold", "0.2"},
         "--threshold and --costs both say when a class is said");
  refuse("m", {"--threshold", "0.2", "--reject", "risk"},
         "--reject risk: the guarantee is of the model's own labels");
}

TEST_CASE("bpm: evaluate counts what is wrong of what is accepted, for all and each class",
          "[examples]") {
  const Garden garden;
  garden.write("two.csv", yes_and_no(300, 9));
  garden.write("others.csv", yes_and_no(400, 10));
  garden.made({"train", garden.path("two.csv"), garden.path("m")});
  const Json judged = garden.made({"evaluate", garden.path("m"), garden.path("others.csv")});
  CHECK(judged["largest_class"]["label"] == "no");
  CHECK(judged["largest_class"]["error_percent"].get<double>() == Approx(100.0 * 134 / 400));
  REQUIRE(judged["thresholds"].size() == 10);
  CHECK(judged["thresholds"][0]["accepted"] == 400);
  CHECK(judged["thresholds"][0]["error_percent"] == judged["error_percent"]);
  for (std::size_t k = 0; k < 10; ++k) {
    const Json& line = judged["thresholds"][k];
    const std::vector<int> rates{0, 1, 2, 5, 10, 20, 30, 50, 75, 90};
    CHECK(line["accepted"] == 400 - 4 * rates[k]);
    // The same rows as predict accepts.
    std::vector<std::string> options;
    if (k > 0) options = {"--reject", "rate=" + std::to_string(rates[k]) + "%"};
    std::istringstream csv(garden.predicted("m", "others.csv", options));
    const auto table = bpm::read_table<double>(csv, "p", {.label = "label"});
    std::vector<double> said{0, 0};
    std::vector<double> wrong{0, 0};
    for (std::size_t i = 0; i < 400; ++i) {
      if (k > 0 && table.inputs(static_cast<Eigen::Index>(i), 2) == 1) continue;
      const bool yes = table.class_names[static_cast<std::size_t>(table.labels[i])] == "yes";
      said[yes ? 1 : 0] += 1;
      wrong[yes ? 1 : 0] += yes != (i % 3 == 0) ? 1 : 0;
    }
    CHECK(line["error_percent"].get<double>() ==
          Approx(100 * (wrong[0] + wrong[1]) / (said[0] + said[1])));
    for (std::size_t c = 0; c < 2; ++c) {
      CHECK(line["said"][c]["label"] == (c == 0 ? "no" : "yes"));
      CHECK(line["said"][c]["accepted"] == said[c]);
      if (said[c] > 0)
        CHECK(line["said"][c]["error_percent"].get<double>() == Approx(100 * wrong[c] / said[c]));
    }
  }
  const std::string report = run_bpm({"evaluate", garden.path("m"), garden.path("others.csv")}).out;
  CHECK_THAT(report, ContainsSubstring("\n   100.00 %"));
  CHECK_THAT(report, ContainsSubstring("said no   said yes\n"));
  CHECK_THAT(report, ContainsSubstring("\n   saying no of every row: 33.50 % wrong\n"));
  // Where nothing is learnt, no line is better than the largest class.
  std::string noise = "length,kind\n";
  bpm::RandomEngine engine(3);
  for (int i = 0; i < 200; ++i)
    noise += std::to_string(bpm::uniform_unit(engine)) + (i % 4 == 0 ? ",yes\n" : ",no\n");
  garden.write("noise.csv", noise);
  garden.made({"train", garden.path("noise.csv"), garden.path("n")});
  const std::string learnt = run_bpm({"evaluate", garden.path("n"), garden.path("noise.csv")}).out;
  CHECK_THAT(learnt, ContainsSubstring("\n * 100.00 %"));
  CHECK_THAT(learnt,
             ContainsSubstring("\n * no better than saying no of every row: 25.00 % wrong\n"));
}

TEST_CASE("bpm: a guaranteed risk of what is called one class", "[examples]") {
  const Garden garden;
  garden.write("two.csv", yes_and_no(3000, 9));
  garden.write("others.csv", yes_and_no(3000, 10));
  const BpmOutcome trained =
      run_bpm({"train", garden.path("two.csv"), garden.path("m"), "--risk", "yes=10%", "--held-out",
               "0.5", "--json", garden.path("t.json")});
  REQUIRE(trained.status == 0);
  CHECK_THAT(trained.out,
             ContainsSubstring(" % of what is called yes of 1500 rows held out accepted, "));
  const Json guaranteed = garden.json("t.json")["guaranteed"];
  CHECK(guaranteed["class"] == "yes");
  REQUIRE(guaranteed["threshold"].is_number());
  CHECK_THAT(run_bpm({"info", garden.path("m")}).out,
             ContainsSubstring("rows called yes with a gap below "));
  // All that is called no is accepted; of what is called yes at most a tenth is wrong.
  std::istringstream csv(garden.predicted("m", "others.csv", {"--reject", "risk"}));
  const auto table = bpm::read_table<double>(csv, "p", {.label = "label"});
  double yes = 0;
  double accepted = 0;
  double wrong = 0;
  double wrong_rejected = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    const bool rejected = table.inputs(static_cast<Eigen::Index>(i), 2) == 1;
    if (table.class_names[static_cast<std::size_t>(table.labels[i])] == "no") {
      CHECK_FALSE(rejected);
      continue;
    }
    yes += 1;
    accepted += rejected ? 0 : 1;
    (rejected ? wrong_rejected : wrong) += i % 3 == 0 ? 0 : 1;
  }
  CHECK(accepted > 0.3 * yes);
  CHECK(accepted < yes);
  CHECK(wrong <= 0.1 * accepted);
  CHECK(wrong + wrong_rejected > 0.1 * yes);  // Or nothing had to be rejected.
  std::ostringstream counted;
  counted << ": " << wrong << " of " << accepted << ", ";
  const std::string judged =
      run_bpm({"evaluate", garden.path("m"), garden.path("others.csv"), "--reject", "risk"}).out;
  const std::size_t line = judged.find("\n   said yes");
  REQUIRE(line != std::string::npos);
  CHECK_THAT(judged.substr(line, judged.find('\n', line + 1) - line),
             ContainsSubstring(counted.str()));
  // Too few rows that are called it, or none.
  const BpmOutcome few = run_bpm({"train", garden.path("two.csv"), garden.path("f"), "--risk",
                                  "yes=0.1%", "--held-out", "0.5"});
  CHECK(few.status == 0);
  CHECK_THAT(few.errors, ContainsSubstring("every row called yes will be rejected"));
  garden.write("none.csv", "length,width,kind\n0.01,0.5,no\n0.02,0.4,no\n");
  const Json none = garden.made({"train", garden.path("two.csv"), garden.path("g"), "--risk",
                                 "yes=10%", "--held-out", garden.path("none.csv")});
  CHECK(none["guaranteed"]["threshold"].is_null());
  check_refused(bpm_program, 1,
                {"train", garden.path("two.csv"), garden.path("new"), "--risk", "maybe=10%",
                 "--held-out", "0.5", "-q"},
                "has no class 'maybe' for --risk");
  // Of all that is said it is as it was.
  CHECK(garden
            .made({"train", garden.path("two.csv"), garden.path("a"), "--risk", "30%", "--held-out",
                   "0.5"})["guaranteed"]["class"]
            .is_null());
}

TEST_CASE("bpm: a class that is never found is named, and what finds it", "[examples]") {
  const Garden garden;
  std::string text = "length,width,kind\n";
  bpm::RandomEngine engine(5);
  for (std::size_t i = 0; i < 400; ++i) {
    text += std::to_string(bpm::uniform_unit(engine)) + "," +
            std::to_string(bpm::uniform_unit(engine)) + (i % 40 == 0 ? ",rare\n" : ",usual\n");
  }
  garden.write("rare.csv", text);
  const Json json = garden.made(
      {"train", garden.path("rare.csv"), garden.path("a.model"), "--soft-boundary", "3"});
  bool named = false;
  for (const Json& warning : json["warnings"]) {
    named = named || warning.get<std::string>() ==
                         "class rare: never predicted on the rows that train, of which it is 2.50 "
                         "%: --class-weights balanced may hold on to it";
  }
  CHECK(named);
  const BpmOutcome judged = run_bpm({"evaluate", garden.path("a.model"), garden.path("rare.csv")});
  CHECK(judged.errors ==
        "bpm: warning: class rare: none of its 10 rows is found; train with --class-weights "
        "balanced\n");
}

TEST_CASE("bpm: a width that is none of the rows' is said in one line", "[examples]") {
  const Garden garden;
  const Json json =
      garden.made({"train", garden.path("flowers.csv"), garden.path("a.model"), "--width", "5000"});
  REQUIRE_FALSE(json["warnings"].empty());
  const auto warning = json["warnings"][0].get<std::string>();
  CHECK_THAT(warning, StartsWith("the width 5000 is far from the rows' median distance "));
  CHECK_THAT(warning, ContainsSubstring(": leave --width out"));
}

TEST_CASE("bpm: a threshold of another score is not applied", "[examples]") {
  const Garden garden;
  garden.write("near.csv", Flowers(900, 3, 3.0).csv());
  garden.made({"train", garden.path("near.csv"), garden.path("a.model"), "--risk", "10%",
               "--held-out", "0.5"});
  CHECK_THAT(garden.predicted("a.model", "unlabelled.csv", {"--reject", "risk"}),
             ContainsSubstring(",rejected\n"));
  std::string model = garden.text("a.model");
  const std::size_t score = model.find("gap\\\"");
  REQUIRE(score != std::string::npos);
  model.replace(score, 3, "top");
  garden.write("b.model", model);
  for (const char* command : {"predict", "evaluate"}) {
    check_refused(
        bpm_program, 2,
        {command, garden.path("b.model"), garden.path("more-flowers.csv"), "--reject", "risk"},
        "--reject risk: the model's threshold is of the score 'top', of which bpm knows nothing");
  }
}

namespace {

/// Travellers: words, percentages, truths and missing ages; who pays more, and sits in the front,
/// is served.
std::string travellers(std::size_t count, std::uint64_t seed, bool reversed = false) {
  bpm::RandomEngine engine(seed, 0);
  const auto uniform = [&] { return bpm::uniform_unit(engine); };
  std::string csv =
      reversed ? "served,alone,rebate,age,fare,seat\n" : "seat,fare,age,rebate,alone,served\n";
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::string> seats{"front", "middle", "rear"};
    const auto seat = static_cast<std::size_t>(3 * uniform());
    const double fare = 1000 * uniform();
    const double age = 20 + 50 * uniform();
    const double rebate = 100 * uniform();
    const bool alone = uniform() < 0.5;
    const bool served = fare / 1000 + (1 - static_cast<double>(seat)) + (alone ? 0.2 : 0) > 0.6;
    std::vector<std::string> fields{seats[seat],
                                    std::to_string(fare),
                                    uniform() < 0.2 ? "NA" : std::to_string(age),
                                    std::to_string(static_cast<int>(rebate)) + "%",
                                    alone ? "TRUE" : "FALSE",
                                    served ? "yes" : "no"};
    if (reversed) std::ranges::reverse(fields);
    for (std::size_t f = 0; f < fields.size(); ++f) csv += (f == 0 ? "" : ",") + fields[f];
    csv += '\n';
  }
  return csv;
}

}  // namespace

TEST_CASE("bpm: tables of words, percentages and missing values as they are", "[examples]") {
  const Garden garden;
  garden.write("a.csv", travellers(300, 1));
  garden.write("b.csv", travellers(300, 2));
  garden.write("c.csv", travellers(300, 2, true));
  const std::string model = garden.path("t.model");
  check_refused(bpm_program, 1, {"train", garden.path("a.csv"), model},
                "column 1 ('seat'): found 'front', expected a finite number; --categories auto "
                "makes a column of each word");
  check_refused(bpm_program, 1, {"train", garden.path("a.csv"), model, "--categories", "seat"},
                "column 3 ('age'): found the missing value 'NA', expected a value; --missing mean "
                "or indicator fills it");
  check_refused(bpm_program, 2, {"train", garden.path("a.csv"), model, "--missing", "median"},
                "--missing");
  const Json trained =
      garden.made({"train", garden.path("a.csv"), model, "--categories", "auto", "--missing",
                   "indicator", "--risk", "20%", "--held-out", "0.4"});
  CHECK(trained["train_size"] == 180);
  CHECK(trained["columns"] == Json({"seat=front", "seat=middle", "seat=rear", "fare", "age",
                                    "age is missing", "rebate", "alone"}));
  CHECK(trained["standardised"] == true);  // Fares are of another size than all else.
  CHECK_THAT(run_bpm({"info", model}).out,
             ContainsSubstring(", of 5 columns, 1 of words, which may miss values\n"));
  CHECK(garden.made({"info", model})["columns"] == trained["columns"]);
  const Json as_trained = garden.made({"evaluate", model, garden.path("b.csv")});
  CHECK(as_trained["error_percent"].get<double>() < 12);
  // Another order of columns, by their names.
  const Json reversed = garden.made({"evaluate", model, garden.path("c.csv"), "--label", "served"});
  CHECK(reversed["error_percent"] == as_trained["error_percent"]);
  CHECK(reversed["log_loss"].get<double>() == Approx(as_trained["log_loss"].get<double>()));
  // Ages that are filled by the mean alone, columns of words by their number.
  CHECK(garden.made({"train", garden.path("a.csv"), model, "--categories", "1", "--missing",
                     "mean"})["features"] == 7);
  // A word that training has not seen has no category.
  garden.write("d.csv", "seat,fare,age,rebate,alone\nroof,10,30,5%,true\n");
  const BpmOutcome outcome = run_bpm({"predict", model, garden.path("d.csv"), "--quiet"});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.errors, ContainsSubstring("feature 1 ('seat'): 1 row has a word that training "
                                               "has not seen, such as 'roof', and no category"));
}

TEST_CASE("bpm: a decimal comma is read when it is said, and suggested when not", "[examples]") {
  const Garden garden;
  std::string table = garden.flowers.csv();
  std::ranges::replace(table, ',', ';');
  garden.write("point.csv", table);
  std::ranges::replace(table, '.', ',');
  garden.write("comma.csv", table);
  check_refused(bpm_program, 1, {"train", garden.path("comma.csv"), garden.path("a.model")},
                "--decimal , reads it");
  check_refused(bpm_program, 2,
                {"train", garden.path("comma.csv"), garden.path("a.model"), "--decimal", ";"},
                "';' is neither , nor .");
  garden.made({"train", garden.path("comma.csv"), garden.path("a.model"), "--decimal", ","});
  garden.made({"train", garden.path("point.csv"), garden.path("b.model")});
  CHECK(garden.predicted("a.model", "unlabelled.csv") ==
        garden.predicted("b.model", "unlabelled.csv"));
}

TEST_CASE("bpm: standardising is judged by the smaller log loss, and decided by a flag",
          "[examples]") {
  const Garden garden;
  garden.write("wide.csv", garden.flowers.csv(true, 1024));
  const auto standardised = [&](const char* file, const std::vector<std::string>& flags) {
    std::vector<std::string> words{"train", garden.path(file), garden.path("a.model")};
    words.insert(words.end(), flags.begin(), flags.end());
    return garden.made(words)["standardised"].get<bool>();
  };
  CHECK(standardised("wide.csv", {}));
  CHECK_FALSE(standardised("wide.csv", {"--no-standardise"}));
  CHECK(standardised("flowers.csv", {"--standardise"}));
  // A width, and LIBSVM's numbers, are of columns as they are.
  CHECK_FALSE(standardised("wide.csv", {"--width", "1"}));
  CHECK_FALSE(standardised("wide.csv", {"-t", "2"}));
  const BpmOutcome said =
      run_bpm({"train", garden.path("wide.csv"), garden.path("a.model"), "--label", "kind"});
  CHECK_THAT(said.out, ContainsSubstring("columns       standardised: log loss ") &&
                           ContainsSubstring(", as they are log loss ") &&
                           ContainsSubstring(", out of fold on 240 rows\n"));
  // The widths that choose prints are of such columns.
  const BpmOutcome chosen = run_bpm({"choose", garden.path("wide.csv")});
  CHECK_THAT(chosen.out, ContainsSubstring("columns       standardised: log loss "));
  CHECK(garden.made({"choose", garden.path("wide.csv")})["standardised"] == true);
}

TEST_CASE("bpm: train chooses the bias by a part, and says which", "[examples]") {
  const Garden garden;
  // Two classes on either side of 5, which no linear kernel tells apart without a constant.
  std::ostringstream text;
  bpm::RandomEngine engine(3);
  for (int i = 0; i < 200; ++i) {
    const double x = 4 + 2 * bpm::uniform_unit(engine);
    text << x << ',' << bpm::uniform_unit(engine) << ',' << (x > 5 ? "far" : "near") << '\n';
  }
  garden.write("sides.csv", text.str());
  const auto bias_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "train",  garden.path("sides.csv"), garden.path("a.model"), "--kernel",
        "linear", "--no-standardise"};
    words.insert(words.end(), more.begin(), more.end());
    return garden.made(words);
  };
  const Json chosen = bias_of({});
  CHECK(chosen["relative_bias"].get<double>() > 0);
  CHECK(chosen["out_of_fold_error_percent"].get<double>() < 10);
  const Json none = bias_of({"--bias", "0"});
  CHECK(none["relative_bias"] == 0);
  CHECK(none["out_of_fold_error_percent"].get<double>() >
        chosen["out_of_fold_error_percent"].get<double>() + 5);
  // What is chosen is the machine that has this bias.
  std::ostringstream number;
  number << chosen["relative_bias"].get<double>();
  static_cast<void>(bias_of({}));
  const std::string by_choice = garden.predicted("a.model", "sides.csv", {"--label", "last"});
  static_cast<void>(bias_of({"--bias", number.str()}));
  const std::string given = garden.predicted("a.model", "sides.csv", {"--label", "last"});
  CHECK(by_choice == given);
  // A boundary that is given keeps its bits, and evidence is of one bias.
  CHECK(bias_of({"--soft-boundary", "1"})["relative_bias"].is_null());
  CHECK(bias_of({"--sampler", "ep"})["relative_bias"].is_null());
  const BpmOutcome flat = run_bpm({"train", garden.path("sides.csv"), garden.path("a.model"),
                                   "--bias", "0", "--kernel", "linear"});
  CHECK(flat.out.find("bias") == std::string::npos);
  const BpmOutcome said = run_bpm({"train", garden.path("sides.csv"), garden.path("a.model"),
                                   "--kernel", "linear", "--no-standardise"});
  CHECK_THAT(said.out, ContainsSubstring("kernel        <x, x'>, bias " + number.str() +
                                         " k(x, x), chosen\nsoft boundary"));
}

TEST_CASE("bpm: of a linear kernel the weights alone are a small model", "[examples]") {
  const Garden garden;
  // Sparse by a last column of ones.
  const auto with_ones = [](const Flowers& flowers) {
    std::string text;
    for (const char c : flowers.libsvm()) text += c == '\n' ? " 90:1\n" : std::string(1, c);
    return text;
  };
  garden.write("flowers.txt", with_ones(garden.flowers));
  garden.write("more-flowers.txt", with_ones(garden.others));
  const std::string whole = garden.path("whole.model");
  const std::string small = garden.path("small.model");
  // Without a bias a row for each class is all.
  for (const std::string type : {".csv", ".txt"}) {
    for (const std::string bias : {"0", "0.3"}) {
      CAPTURE(type, bias);
      const auto trained = [&](const std::string& model, std::vector<std::string> more) {
        more.insert(more.begin(), {"train", garden.path("flowers" + type), model, "--kernel",
                                   "linear", "--no-standardise", "--bias", bias});
        return garden.made(more);
      };
      const Json all = trained(whole, {});
      const Json weights = trained(small, {"--weights-only"});
      CHECK(weights["support"].get<int>() == (bias == "0" ? 3 : 4));
      CHECK(all["support"].get<int>() > 4);
      const auto judged = [&](const std::string& model) {
        return garden.made({"evaluate", model, garden.path("more-flowers" + type)});
      };
      const Json by_support = judged(whole);
      const Json by_weights = judged(small);
      CHECK(by_support["error_percent"] == by_weights["error_percent"]);
      CHECK(std::abs(by_support["log_loss"].get<double>() - by_weights["log_loss"].get<double>()) <
            1e-9);
    }
  }
  const auto refused = [&](const std::vector<std::string>& more, const std::string& part) {
    std::vector<std::string> line{"train", garden.path("flowers.csv"), small, "--weights-only"};
    line.insert(line.end(), more.begin(), more.end());
    check_refused(bpm_program, 2, line, part);
  };
  refused({}, "--kernel linear alone has weights");
  refused({"--kernel", "linear", "--normalise"}, "leave out --normalise");
  refused({"--kernel", "linear", "--sampler", "ep"}, "has variances beside its weights");
}

TEST_CASE("bpm: one class against one where a class lies inside another", "[examples]") {
  const Garden garden;
  const auto rings = [](std::size_t count, std::uint64_t seed) {
    bpm::RandomEngine engine(seed);
    bpm::NormalDraws normal;
    std::ostringstream text;
    text << "x,y,noise,more,ring\n";
    for (std::size_t i = 0; i < count; ++i) {
      const double x = normal(engine);
      const double y = normal(engine);
      const double radius =
          (1 + static_cast<double>(i % 4) + 0.2 * normal(engine)) / std::hypot(x, y);
      text << radius * x << ',' << radius * y << ',' << normal(engine) << ',' << normal(engine)
           << ",ring " << i % 4 << '\n';
    }
    return text.str();
  };
  garden.write("rings.csv", rings(600, 1));
  garden.write("other-rings.csv", rings(900, 2));
  const Json made = garden.made({"train", garden.path("rings.csv"), garden.path("r.model")});
  CHECK(made["one_against_one"] == true);
  CHECK(garden.made({"info", garden.path("r.model")})["one_against_one"] == true);
  CHECK_THAT(run_bpm({"info", garden.path("r.model")}).out,
             ContainsSubstring(", one class against one, "));
  const Json judged =
      garden.made({"evaluate", garden.path("r.model"), garden.path("other-rings.csv")});
  CHECK(judged["log_loss"] < 0.9 * std::log(4));
  // Against the rest alone where a folder keeps the draws: worse.
  const Json rest = garden.made({"train", garden.path("rings.csv"), garden.path("rest.model"),
                                 "--checkpoint", garden.path("draws")});
  CHECK(rest["one_against_one"] == false);
  CHECK(garden.made({"evaluate", garden.path("rest.model"),
                     garden.path("other-rings.csv")})["log_loss"] > judged["log_loss"]);
  // What is chosen is marked, fitted or not.
  const BpmOutcome chosen = run_bpm({"choose", garden.path("rings.csv"), "--json",
                                     garden.path("c.json"), "--kernel", "gaussian"});
  REQUIRE(chosen.status == 0);
  CHECK_THAT(chosen.out, ContainsSubstring(", one class against one\n"));
  const Json list = garden.json("c.json");
  CHECK(list["one_against_one"] == true);
  CHECK(list["candidates"][list["best"].get<std::size_t>()]["one_against_one"] == true);
  CHECK(garden.made({"train", garden.path("flowers.csv"),
                     garden.path("f.model")})["one_against_one"] == false);
}

namespace {

/// 60 rows of two features and a kind, which the first feature tells: fields between `mark`.
std::string two_kinds(const std::string& mark, const std::string& end = "\n",
                      bool numbered = false) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    if (numbered) text += '"' + std::to_string(i + 1) + '"' + mark;
    text += std::to_string(i % 2 + 0.25 + 0.004 * i) + mark + std::to_string(0.01 * (i * 7 % 60)) +
            mark + (i % 2 == 0 ? "elm" : "oak") + end;
  }
  return text;
}

}  // namespace

TEST_CASE("bpm: tables as other programs write them", "[examples]") {
  const Garden garden;
  const auto numbers_of = [&](const std::string& name) {
    const Json made = garden.made({"train", garden.path(name), garden.path(name + ".model")});
    CHECK(made["train_size"] == 60);
    CHECK(made["features"] == 2);
    CHECK(made["classes"] == 2);
    const BpmOutcome asked =
        run_bpm({"evaluate", garden.path(name + ".model"), garden.path(name), "--json", "-"});
    CHECK(asked.status == 0);
    return std::pair(Json::parse(asked.out)["error_percent"].get<double>(),
                     Json::parse(asked.out)["log_loss"].get<double>());
  };
  garden.write("plain.csv", "len,wid,kind\n" + two_kinds(","));
  const auto plain = numbers_of("plain.csv");
  CHECK(plain.first == 0);
  garden.write("excel.csv", "sep=;\nlen;wid;kind\n" + two_kinds(";"));
  garden.write("mac.csv", "len,wid,kind\r" + two_kinds(",", "\r"));
  garden.write("bars.csv", "len|wid|kind\n" + two_kinds("|"));
  garden.write("r.txt", "\"len\" \"wid\" \"kind\"\n" + two_kinds(" ", "\n", true));
  garden.write("leaves.arff",
               "% two kinds\n@RELATION leaves\n@attribute 'len' numeric\n@attribute wid REAL\n"
               "@attribute kind {elm, oak}\n\n@data\n% rows\n" +
                   two_kinds(","));
  for (const std::string name : {"excel.csv", "mac.csv", "bars.csv", "r.txt", "leaves.arff"}) {
    CAPTURE(name);
    CHECK(numbers_of(name) == plain);
  }
  // The columns are known by the names of the attributes, the label's among them or not.
  CHECK(count_lines(garden.predicted("leaves.arff.model", "leaves.arff")) == 61);
  // Blank fields behind all others, comments and rows of numbers are no sign of R.
  garden.write("comment.txt", "# one two\n" + two_kinds(" "));
  CHECK(numbers_of("comment.txt") == plain);
  const auto ragged = [&](const std::string& text) {
    garden.write("ragged.txt", text);
    check_refused(bpm_program, 1, {"train", garden.path("ragged.txt"), garden.path("n.model")},
                  "expected 3 as in line 1");
  };
  ragged("1 2 0\n1 2 3 0\n1 3 3 1\n");
  ragged("a,b,k\n1,2,0,\n1,3,1,\n");
  // Attributes of words are that; a sparse row of ARFF is none of a table.
  garden.write("words.arff",
               "@relation w\n@attribute bark {'smooth bark',\"rough\"}\n@attribute x real\n"
               "@attribute k {a,b}\n@data\n'smooth bark',1,a\nrough,2,b\n'smooth bark',3,a\n"
               "rough,2,b\n?,4,a\n");
  CHECK(garden.made({"train", garden.path("words.arff"), garden.path("w.model"), "--missing",
                     "mean"})["features"] == 3);
  const auto refused = [&](const std::string& text, const std::string& part,
                           const std::vector<std::string>& more = {}) {
    garden.write("refused.csv", text);
    std::vector<std::string> words{"train", garden.path("refused.csv"), garden.path("n.model")};
    words.insert(words.end(), more.begin(), more.end());
    check_refused(bpm_program, 1, words, part);
  };
  refused("@relation w\n@attribute a real\n@attribute k {a,b}\n@data\n{0 1, 1 b}\n",
          "refused.csv:5: found a sparse row of ARFF, expected a value of each attribute; write it "
          "in LIBSVM's format");
  refused("@relation w\n@attribute a\n@data\n1\n",
          "refused.csv:2: found an attribute of ARFF without a type, expected one");
  refused("@relation w\n@attribute a real\n1,2\n",
          "refused.csv:3: found the end of an ARFF file, expected @attribute and @data");
  refused("\xff\xfe" + std::string("a\0,\0", 4),
          "found text in UTF-16, expected UTF-8: save it so, or convert it by iconv");
  // Names above missing numbers, dates, thousands, words among numbers.
  refused("age,height,kind\n,,yes\n20,150,no\n21,151,yes\n",
          "; if the first line holds names, say --header yes");
  std::string dates;
  for (int i = 1; i < 29; ++i) {
    dates += "2021-03-" + std::to_string(i) + " 00:00:00\t0.5\t" + std::to_string(i % 2) + "\n";
  }
  refused(dates, "expected a finite number; --ignore leaves the column out");
  refused("income;age;k\n1,252;46;no\n950;27;yes\n12,252,000.5;20;no\n",
          "; the commas of this column stand between thousands: take them out");
  refused("income;age;k\n1.252,5;46;no\n950;27;yes\n",
          "; the points of this column stand between thousands: take them out", {"--decimal", ","});
  const std::string words = "x,k\n1,a\n2,b\nunknown,a\n4,b\n";
  refused(words,
          "found 'unknown', expected a finite number; 3 fields of this column are numbers: if the "
          "word means that a value is missing, name it by --missing-words, and --missing mean "
          "or indicator fills it");
  garden.write("words.csv", words);
  CHECK(garden.made({"train", garden.path("words.csv"), garden.path("w.model"), "--missing", "mean",
                     "--missing-words", "unknown,none at all"})["train_size"] == 4);
  const BpmOutcome taken =
      run_bpm({"train", garden.path("words.csv"), garden.path("w.model"), "--categories", "auto"});
  CHECK_THAT(
      taken.errors,
      ContainsSubstring("feature 1 ('x') holds 3 numbers of 4, and is taken for words because "
                        "of 'unknown'; if that means a missing value, say --missing-words"));
  garden.write("decimals.csv", "x;k\n1,252;a\n950;b\n2,252;a\n800;b\n");
  CHECK_THAT(
      run_bpm({"train", garden.path("decimals.csv"), garden.path("w.model"), "--decimal", ","})
          .errors,
      ContainsSubstring("column 1: every comma has three digits behind it, as those between "
                        "thousands, and is read as a decimal sign"));
  // LIBSVM's format.
  refused("-1 0:0.5 1:2\n1 0:1.5 1:3\n", "writes them so by zero_based=False");
  refused("spam 1:0.5 2:2\nham 1:1.5\n", "expected an integer label; give each class a number");
  refused("1:0.5 2:2\n1:1.5\n", "put any number, such as 0, before each row");
}

TEST_CASE("bpm: labels with zeros in front are codes, and integers of a model read them",
          "[examples]") {
  const Garden garden;
  std::string codes;
  std::string integers;
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i % 2 + 0.01 * i) + ',';
    codes += number + (i % 2 == 0 ? "01" : "2") + '\n';
    integers += number + (i % 2 == 0 ? "1" : "2") + '\n';
  }
  garden.write("codes.csv", codes);
  garden.write("integers.csv", integers);
  for (const std::string name : {"codes", "integers"}) {
    garden.made({"train", garden.path(name + ".csv"), garden.path(name + ".model")});
    for (const std::string asked : {"codes", "integers"}) {
      CAPTURE(name, asked);
      CHECK(garden.made({"evaluate", garden.path(name + ".model"),
                         garden.path(asked + ".csv")})["error_percent"] == 0);
    }
  }
  CHECK_THAT(garden.predicted("codes.model", "codes.csv", {"--label", "last"}),
             StartsWith("label,01,2\n01,"));
}

TEST_CASE("bpm: as many answers as rows of one column, blank ones among them", "[examples]") {
  const Garden garden;
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += std::to_string(i) + (i < 15 ? ",a\n" : ",b\n");
  garden.write("one.csv", "x,k\n" + rows);
  garden.write("ask.csv", "x\n1\n\n29\n\n28\n");
  garden.made({"train", garden.path("one.csv"), garden.path("filled.model"), "--missing", "mean"});
  const std::string answers = garden.predicted("filled.model", "ask.csv");
  CHECK(std::ranges::count(answers, '\n') == 6);
  garden.made({"train", garden.path("one.csv"), garden.path("plain.model")});
  check_refused(bpm_program, 1, {"predict", garden.path("plain.model"), garden.path("ask.csv")},
                "ask.csv:3: column 1 ('x'): found the missing value ''");
}

TEST_CASE("bpm: a quantity for a label is refused before the work, or noted", "[examples]") {
  const Garden garden;
  std::string values;
  for (int i = 0; i < 200; ++i) {
    values += std::to_string(0.01 * (i * 37 % 200)) + ',' + std::to_string(3 * (i % 100)) + '\n';
  }
  garden.write("values.csv", values);
  check_refused(
      bpm_program, 1, {"train", garden.path("values.csv"), garden.path("v.model")},
      "values.csv: found 100 classes in 200 rows, expected ten rows of a class and more; is "
      "the label a quantity (regression is not here), or another column (--label)? "
      "--many-classes goes on");
  const std::vector<std::string> soft{"--soft-boundary", "100", "--draws", "1"};
  std::vector<std::string> words{"train", garden.path("values.csv"), garden.path("v.model"),
                                 "--many-classes"};
  words.insert(words.end(), soft.begin(), soft.end());
  const BpmOutcome allowed = run_bpm(words);
  CHECK(allowed.status == 0);
  // One line for all classes that are never predicted.
  CHECK(count_lines(allowed.errors.substr(allowed.errors.find("never predicted"))) <= 3);
  CHECK_THAT(allowed.errors, ContainsSubstring(" of 100 classes are never predicted"));
  std::string names = "x,k\n";
  for (int i = 0; i < 60; ++i) {
    names += std::to_string(i) + ",id" + std::to_string(i % 30) + '\n';
  }
  garden.write("names.csv", names);
  check_refused(
      bpm_program, 1, {"train", garden.path("names.csv"), garden.path("v.model")},
      "of a class and more; is the label another column (--label)? --many-classes goes on");
  std::string counts;
  for (int i = 0; i < 300; ++i) {
    counts += std::to_string(i % 30 + 0.01 * i) + ',' + std::to_string(i % 30) + '\n';
  }
  garden.write("counts.csv", counts);
  words[1] = garden.path("counts.csv");
  words.erase(words.begin() + 3);
  CHECK_THAT(run_bpm(words).errors,
             ContainsSubstring("found 30 classes in 300 rows, all whole numbers: of a quantity, "
                               "classes do not know the order"));
}

namespace {

/// Rows of the label, two features and a number of the row between them, without names.
std::string label_first(int count, bool label = true, bool id = true, bool header = false) {
  std::string rows =
      header ? std::string(label ? "kind," : "") + "len," + (id ? "id," : "") + "wid\n" : "";
  for (int i = 0; i < count; ++i) {
    const int kind = i % 2;
    if (label) rows += std::to_string(kind) + ',';
    rows += std::to_string(kind + 0.01 * (i * 7 % 30)) + ',';
    if (id) rows += std::to_string(i * 37 % 100) + ',';
    rows += std::to_string(i * 3 % 7 % 2) + '\n';
  }
  return rows;
}

}  // namespace

TEST_CASE("bpm: where there are no names, label and ignored columns are those of training",
          "[examples]") {
  const Garden garden;
  garden.write("train.csv", label_first(60, true, false));
  garden.write("test.csv", label_first(40, true, false));
  garden.write("asked.csv", label_first(40, false, false));
  const auto evaluated = [&](const std::string& model, const std::string& file,
                             const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"evaluate", garden.path(model), garden.path(file),
                                   "--quiet",  "--json",           garden.path("said.json")};
    words.insert(words.end(), more.begin(), more.end());
    const BpmOutcome outcome = run_bpm(words);
    CAPTURE(file, more, outcome.errors);
    REQUIRE(outcome.status == 0);
    CHECK(garden.json("said.json")["error_percent"] == 0);
    return outcome.errors;
  };
  const std::string first = "as in training the label is in column 1\n";
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"--no-standardise"},
                                               {"--sampler", "ep"},
                                               {"--kernel", "linear", "--weights-only"},
                                               {"--folds", "5"}}) {
    CAPTURE(more);
    std::vector<std::string> words{"train", garden.path("train.csv"), garden.path("m"), "--label",
                                   "first"};
    words.insert(words.end(), more.begin(), more.end());
    garden.made(words);
    CHECK_THAT(evaluated("m", "test.csv"), ContainsSubstring("test.csv: " + first));
    CHECK(evaluated("m", "test.csv", {"--label", "1"}).empty());
    const std::string predicted = garden.predicted("m", "asked.csv");
    CHECK(predicted == garden.predicted("m", "test.csv"));
    CHECK(predicted == garden.predicted("m", "test.csv", {"--label", "first"}));
  }
  // What is given wins, be it wrong.
  const BpmOutcome last = run_bpm({"evaluate", garden.path("m"), garden.path("test.csv"), "--label",
                                   "last", "--json", "-", "--quiet"});
  CHECK(Json::parse(last.out)["error_percent"] > 20);
  // Of another width the file is none of training's.
  garden.write("wide.csv", "0,1,2,3\n1,2,3,4\n");
  for (const std::string command : {"evaluate", "predict"}) {
    check_refused(bpm_program, 1, {command, garden.path("m"), garden.path("wide.csv")},
                  "wide.csv: found 4 columns, expected 3 as in training, where the label is in "
                  "column 1; say by --label and --ignore what is no feature");
  }
  garden.write("empty.csv", "");
  garden.write("bars.csv", "0/1/2\n");
  garden.write("odd.csv", "sep=\"\n0,1,2\n");
  const auto unread = [&](const std::string& file, const std::string& part) {
    check_refused(bpm_program, 1, {"evaluate", garden.path("m"), garden.path(file)}, part);
  };
  unread("empty.csv", "found the end, expected a line of data");
  unread("bars.csv", "found 1 field, expected 2 or more");
  unread("odd.csv", "delimiter must be neither a double quote nor a line end");
  // The first line may be as long as it likes.
  std::string wide;
  for (int i = 0; i < 24; ++i) {
    wide += std::to_string(i % 2);
    for (int c = 0; c < 9000; ++c) wide += ',' + std::to_string(i % 2 + 0.01 * (i * c % 30));
    wide += '\n';
  }
  garden.write("long.csv", wide);
  garden.made({"train", garden.path("long.csv"), garden.path("l"), "--label", "1"});
  CHECK_THAT(evaluated("l", "long.csv"), ContainsSubstring(first));
  // Names that the model has not are no reason to forget the label.
  garden.write("named.csv", label_first(40, true, false, true));
  CHECK_THAT(evaluated("m", "named.csv"), ContainsSubstring(first));
  garden.made({"train", garden.path("named.csv"), garden.path("n"), "--label", "kind"});
  CHECK_THAT(evaluated("n", "test.csv"), ContainsSubstring(first));
  CHECK(evaluated("n", "named.csv") ==
        "bpm: note: " + garden.path("named.csv") +
            ": the label is in column 1 ('kind'), the only one that is no feature\n");
  // Where labels are not needed they may be missing.
  garden.write("unknown.csv", "?,0.1,1\n?,1.1,0\n");
  CHECK(count_lines(garden.predicted("m", "unknown.csv")) == 3);
}

TEST_CASE("bpm: what a model says of columns without names, and where it says nothing",
          "[examples]") {
  const Garden garden;
  const auto trained = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> words{"train", garden.path(file), garden.path("m")};
    words.insert(words.end(), more.begin(), more.end());
    garden.made(words);
    return garden.text("m");
  };
  const auto info = [&] {
    const BpmOutcome said = run_bpm({"info", garden.path("m")});
    REQUIRE(said.status == 0);
    return std::pair(said.out, garden.made({"info", garden.path("m")}));
  };
  garden.write("first.csv", label_first(60));
  trained("first.csv", {"--label", "1", "--ignore", "3"});
  CHECK_THAT(info().first, ContainsSubstring("without names the label is in column 1, column 3 is "
                                             "ignored\n"));
  CHECK(info().second["label_column"] == 1);
  CHECK(info().second["ignored_columns"] == Json({3}));
  // Of the label in the last column that is used only the ignored ones are kept, of one in the
  // last of all, however that is said, nothing.
  const std::string swapped = trained("first.csv", {"--ignore", "1,3", "--label", "last"});
  CHECK(swapped.find(R"(\"ignored_columns\":[0,2])") != std::string::npos);
  CHECK(swapped.find("label_column") == std::string::npos);
  CHECK(info().second["label_column"] == 4);
  CHECK_THAT(info().first, ContainsSubstring("without names the label is in column 4, columns 1, 3 "
                                             "are ignored\n"));
  // What stands before the times that it took.
  const auto before_times = [](const std::string& model) {
    const std::size_t at = model.find(R"(\"report\")");
    REQUIRE(at != std::string::npos);
    return model.substr(8, at - 8);
  };
  const std::string usual = before_times(trained("first.csv", {}));
  CHECK(usual.find("ignored_columns") == std::string::npos);
  CHECK(usual.find("label_column") == std::string::npos);
  CHECK(info().second["label_column"].is_null());
  CHECK(info().second["ignored_columns"] == Json::array());
  CHECK(info().first.find("without names") == std::string::npos);
  for (const std::string last : {"last", "4"}) {
    CHECK((before_times(trained("first.csv", {"--label", last})) == usual));
  }
}

TEST_CASE("bpm: ignored columns may be left out of a file without names, or the label",
          "[examples]") {
  const Garden garden;
  garden.write("train.csv", label_first(60));
  garden.write("whole.csv", label_first(40));
  garden.write("no-id.csv", label_first(40, true, false));
  garden.write("no-label.csv", label_first(40, false));
  garden.write("features.csv", label_first(40, false, false));
  garden.made({"train", garden.path("train.csv"), garden.path("m"), "--label", "first", "--ignore",
               "3", "--categories", "4"});
  const auto asked = [&](const std::string& command, const std::string& file,
                         const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{command, garden.path("m"), garden.path(file), "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    if (command == "evaluate") words.insert(words.end(), {"--json", "-"});
    BpmOutcome outcome = run_bpm(words);
    CAPTURE(command, file, more, outcome.errors);
    REQUIRE(outcome.status == 0);
    if (command == "evaluate") CHECK(Json::parse(outcome.out)["error_percent"] == 0);
    return outcome;
  };
  const std::string features = asked("predict", "features.csv").out;
  CHECK(count_lines(features) == 41);
  const auto predicted = [&](const std::string& file, const std::string& note,
                             const std::vector<std::string>& more = {}) {
    const BpmOutcome outcome = asked("predict", file, more);
    CHECK(outcome.out == features);
    CHECK_THAT(outcome.errors, ContainsSubstring(note));
  };
  const std::string whole =
      "whole.csv: as in training the label is in column 1, column 3 is "
      "ignored\n";
  CHECK_THAT(asked("evaluate", "whole.csv").errors, ContainsSubstring(whole));
  predicted("whole.csv", whole);
  CHECK_THAT(asked("evaluate", "no-id.csv").errors,
             ContainsSubstring("no-id.csv: has the columns of training without those ignored: the "
                               "label is in column 1\n"));
  // One column fewer may be the label or the one ignored.
  for (const std::string file : {"no-id.csv", "no-label.csv"}) {
    check_refused(bpm_program, 1, {"predict", garden.path("m"), garden.path(file)},
                  file +
                      ": found 3 columns, which are those of training without the label or without "
                      "the one ignored; say --ignore 2 where the label is missing, --label 1 where "
                      "it is not");
  }
  predicted("no-label.csv", "", {"--ignore", "2"});
  predicted("no-id.csv", "", {"--label", "1"});
  // What is said wins, and the model has the rest.
  CHECK_THAT(asked("evaluate", "whole.csv", {"--label", "first"}).errors,
             ContainsSubstring("whole.csv: as in training column 3 is ignored\n"));
  CHECK_THAT(asked("evaluate", "whole.csv", {"--ignore", "3"}).errors,
             ContainsSubstring("whole.csv: as in training the label is in column 1\n"));
  predicted("whole.csv", "whole.csv: as in training column 3 is ignored\n", {"--label", "1"});
  predicted("whole.csv", whole, {"--ignore", "3"});
  predicted("whole.csv", "", {"--ignore", "1,3"});
  CHECK(asked("evaluate", "whole.csv", {"--ignore", "3", "--label", "1"}).errors ==
        asked("evaluate", "no-id.csv", {"--label", "1"}).errors);
  check_refused(bpm_program, 1,
                {"evaluate", garden.path("m"), garden.path("whole.csv"), "--label", "3"},
                "whole.csv:1: found 3 features, expected 2");
  check_refused(bpm_program, 1, {"evaluate", garden.path("m"), garden.path("features.csv")},
                "features.csv: found 2 columns, expected 4 as in training, where the label is in "
                "column 1, column 3 is ignored; say by --label and --ignore what is no feature");
  // Beside each other either is the same column; two ignored ones are not one label.
  garden.made(
      {"train", garden.path("train.csv"), garden.path("m"), "--label", "1", "--ignore", "2"});
  CHECK_THAT(
      asked("predict", "no-label.csv").errors,
      ContainsSubstring("no-label.csv: has the columns of training without the label: column "
                        "1 is ignored\n"));
  garden.made(
      {"train", garden.path("train.csv"), garden.path("m"), "--label", "1", "--ignore", "3,4"});
  CHECK_THAT(asked("predict", "no-label.csv").errors,
             ContainsSubstring("no-label.csv: has the columns of training without the label: "
                               "columns 2, 3 are ignored\n"));
  garden.write("short.csv", "0,0.1\n1,1.1\n");
  CHECK_THAT(asked("predict", "short.csv").errors,
             ContainsSubstring("short.csv: has the columns of training without those ignored: the "
                               "label is in column 1\n"));
}

}  // namespace command_line_program
