// SPDX-License-Identifier: MIT
// The program itself, with peers that are scripts, so that nothing needs to be installed.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "program_test.hpp"

namespace peers_program {

using namespace examples_test;

namespace {

const std::string program = BPM_PEERS_PROGRAM;

using Words = std::vector<std::string>;

/// Writes the labels of a file in LIBSVM's format, for the shell: copy FROM TO.
const std::string copy =
    "copy() { while read label rest; do echo \"$label\"; done < \"$1\" > \"$2\"; }\n";

struct Stage : Alone {
  void script(const std::string& name, const std::string& text) const {
    const auto file = folder.path() / "bin" / name;
    write_text(file, "#!/bin/sh\n" + text);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string bin() const { return (folder.path() / "bin").string(); }

  /// Runs the program on 30 drawn digits, finding nothing but the scripts.
  [[nodiscard]] Json run(int status, const Words& words, const std::string& more_path = "") const {
    const WithVariable paths("PATH", bin() + more_path);
    Words all{"--train", "30", "--test", "20", "--threads", "2", "--json", path("a.json")};
    all.insert(all.end(), words.begin(), words.end());
    ChildProcess child(program, all);
    CHECK(child.wait() == status);
    printed = child.out();
    errors = child.errors();
    return Json::parse(read_text(path("a.json")));
  }
  [[nodiscard]] static Json row(const Json& json, const std::string& key) {
    for (const Json& peer : json["peers"]) {
      if (peer["key"] == key) return peer;
    }
    return {};
  }

  mutable std::string printed;
  mutable std::string errors;
};

}  // namespace

TEST_CASE("peers: ours learns the digits that the peers' files hold", "[benchmarks]") {
  const Stage stage;
  stage.script("svm-train", "for last; do :; done; echo \"$@\" > \"$last\"\n");
  stage.script("svm-predict", copy + "copy \"$1\" \"$3\"\n");
  const Json json = stage.run(0, {"--only", "ours-float,libsvm", "--repeat", "2"});
  CHECK(json["data"] == "drawn");
  CHECK(json["reference"] == "ours-float");
  const Json ours = Stage::row(json, "ours-float");
  REQUIRE(ours["status"] == "done");
  CHECK(ours["runs"].size() == 2);
  CHECK(ours["total_over_ours"] == 1.0);
  CHECK(ours["peak_memory_bytes"].get<double>() > 1e6);
  for (const char* key : {"libsvm-polynomial", "libsvm-gaussian"}) {
    const Json peer = Stage::row(json, key);
    REQUIRE(peer["status"] == "done");
    CHECK(peer["error_percent"] == 0.0);
    CHECK(peer["threads"] == 1);
    CHECK_THAT(peer["name"].get<std::string>(), ContainsSubstring("svm-train, version not told"));
    CHECK_THAT(peer["name"].get<std::string>(), ContainsSubstring("without OpenMP"));
  }
  CHECK_THAT(stage.printed, ContainsSubstring("drawn digits, NOT MNIST"));
  CHECK_THAT(stage.printed, ContainsSubstring("30 training digits, 20 test digits"));
}

TEST_CASE("peers: what is not installed is named with the way to install it", "[benchmarks]") {
  const Stage stage;
  const Json json = stage.run(
      0, {"--only", "ours-float,libsvm,liblinear,liblinear-validated,sklearn,thundersvm"});
  for (const auto& [key, part] :
       {std::pair("libsvm-polynomial", "libsvm-tools"), std::pair("liblinear", "liblinear-tools"),
        std::pair("liblinear-validated", "liblinear-tools"),
        std::pair("sklearn-gaussian", "python3-sklearn"),
        std::pair("thundersvm-polynomial", "thundersvm-train")}) {
    const Json peer = Stage::row(json, key);
    CHECK(peer["status"] == "missing");
    CHECK_THAT(peer["message"].get<std::string>(), ContainsSubstring(part));
    CHECK_THAT(stage.printed, ContainsSubstring(key));
  }
  const Json none = stage.run(1, {"--only", "liblinear"});
  CHECK_THAT(stage.errors, ContainsSubstring("peers: none of the peers is installed"));
  CHECK(Stage::row(none, "liblinear")["status"] == "missing");
}

TEST_CASE("peers: a tool that fails, hangs or writes nonsense is told in its row", "[benchmarks]") {
  const Stage stage;
  stage.script("svm-train", "echo 'out of patience' >&2; exit 3\n");
  stage.script("svm-predict", "exit 0\n");
  stage.script("liblinear-train", "exec sleep 60\n");
  stage.script("liblinear-predict", "exit 0\n");
  stage.script("thundersvm-train", "exit 0\n");
  stage.script("thundersvm-predict", "echo 1 > \"$3\"\n");
  stage.script("python3", "echo 1.0\n");
  const Json json =
      stage.run(1,
                {"--only", "libsvm-gaussian,liblinear,thundersvm-gaussian,sklearn-gaussian",
                 "--timeout", "0.5"},
                ":/usr/bin:/bin");
  CHECK(Stage::row(json, "libsvm-gaussian")["status"] == "failed");
  CHECK(Stage::row(json, "libsvm-gaussian")["message"] ==
        "svm-train: exit status 3: out of patience");
  CHECK(Stage::row(json, "liblinear")["status"] == "timeout");
  CHECK(Stage::row(json, "liblinear")["message"] ==
        "liblinear-train was ended after 0.50 s (--timeout)");
  CHECK(Stage::row(json, "thundersvm-gaussian")["message"] ==
        "its file of predictions holds 1 labels, expected 20");
  CHECK(Stage::row(json, "sklearn-gaussian")["message"] == "it did not print its times");
  CHECK_THAT(stage.errors, ContainsSubstring("peers that are there failed; the table says why"));
  CHECK_THAT(stage.printed, ContainsSubstring("failed: svm-train: exit status 3"));
  CHECK_THAT(stage.printed, ContainsSubstring("timeout: liblinear-train was ended"));
  CHECK_THAT(stage.printed, ContainsSubstring("none of ours was run"));
}

TEST_CASE("peers: LIBLINEAR's C is searched for, Python's times are taken from it",
          "[benchmarks]") {
  const Stage stage;
  // As a word: the random name of a temporary folder may begin with a C after a hyphen.
  stage.script("liblinear-train",
               "case \" $* \" in *' -C '*) echo 'Best C = 0.25  CV accuracy = 90%';; "
               "*) for last; do :; done; echo \"$@\" > \"$last\";; esac\n");
  stage.script("liblinear-predict", copy + "read words < \"$2\"; echo \"$words\" > " +
                                        stage.path("words") + "; copy \"$1\" \"$3\"\n");
  stage.script("python3", copy +
                              "case \"$2\" in *load_svm*) copy \"$6\" \"$7\"; echo noise; "
                              "echo '{\"read\": 1.0, \"train\": 2.0, \"predict\": 0.5}';; "
                              "*) echo 9.8;; esac\n");
  const Json json = stage.run(0, {"--only", "liblinear-validated,sklearn,thundersvm"});
  const Json linear = Stage::row(json, "liblinear-validated");
  REQUIRE(linear["status"] == "done");
  CHECK_THAT(linear["note"].get<std::string>(), ContainsSubstring("C = 0.25, found in"));
  CHECK(linear["runs"][0]["search_seconds"].get<double>() > 0);
  CHECK_THAT(read_text(stage.path("words")), ContainsSubstring("-c 0.25"));
  for (const char* key : {"sklearn-polynomial", "thundersvm-gaussian"}) {
    const Json peer = Stage::row(json, key);
    REQUIRE(peer["status"] == "done");
    CHECK(peer["total_seconds"] == 3.5);
    CHECK(peer["error_percent"] == 0.0);
    CHECK_THAT(peer["name"].get<std::string>(), ContainsSubstring("9.8"));
  }
}

TEST_CASE("peers: LIBSVM is built from its source, or its row says why not", "[benchmarks]") {
  const Stage stage;
  const auto source = stage.folder.path() / "libsvm";
  const Words words{"--only", "libsvm-polynomial", "--libsvm", source.string()};
  Json peer = Stage::row(stage.run(1, words, ":/usr/bin:/bin"), "libsvm-polynomial");
  CHECK(peer["status"] == "failed");
  CHECK_THAT(peer["message"].get<std::string>(), ContainsSubstring("svm.cpp cannot be read"));
  write_text(source / "svm.h", "#define LIBSVM_VERSION 399\nextern int answer();\n");
  write_text(
      source / "svm.cpp",
      "#include \"svm.h\"\nstruct SVC_Q_base {};\nclass SVC_Q : SVC_Q_base {\npublic:\n"
      "static int get_Q(int start, int len) {\nint j, sum[9];\nfor(j=start;j<len;j++)\n"
      "sum[j] = j;\nreturn sum[0];\n}\n};\n"
      "double svm_predict_values(const int *model) {\nint i, l = 9;\nint kvalue[9];\n"
      "for(i=0;i<l;i++)\nkvalue[i] = *model;\nreturn kvalue[0];\n}\n"
      "int answer() { int m = 0; return SVC_Q::get_Q(0, 9) + int(svm_predict_values(&m)); }\n");
  write_text(source / "svm-train.c",
             "#include <cstdio>\n#include \"svm.h\"\nint main(int n, char** v) {\n"
             "std::FILE* f = std::fopen(v[n - 1], \"w\"); std::fputs(\"m\", f); std::fclose(f);\n"
             "return answer(); }\n");
  write_text(
      source / "svm-predict.c",
      "#include <cstdio>\n#include <fstream>\n#include <string>\nint main(int, char** v) {\n"
      "std::ifstream in(v[1]); std::ofstream out(v[3]);\n"
      "for (std::string line; std::getline(in, line);) out << line.substr(0, 1) << '\\n'; }\n");
  const Json json = stage.run(0, words, ":/usr/bin:/bin");
  peer = Stage::row(json, "libsvm-polynomial");
  REQUIRE(peer["status"] == "done");
  CHECK(peer["threads"] == 2);
  CHECK(peer["error_percent"] == 0.0);
  CHECK_THAT(peer["name"].get<std::string>(),
             ContainsSubstring("LIBSVM 3.99 from source, OpenMP in the two loops"));
  write_text(source / "svm-predict.c", "int main() { return broken; }\n");
  peer = Stage::row(stage.run(1, words, ":/usr/bin:/bin"), "libsvm-polynomial");
  CHECK_THAT(peer["message"].get<std::string>(), ContainsSubstring("it does not compile"));
}

TEST_CASE("peers: our own program may be missing, old, broken or on other digits", "[benchmarks]") {
  const Stage stage;
  const std::string mnist = (stage.folder.path() / "bin" / "ours").string();
  const Words words{"--only", "ours-float,ours-byte", "--mnist", mnist};
  const auto results = [](int train) {
    return "while [ \"$1\" != --json ]; do [ \"$1\" = --help ] && echo --input && exit; shift; "
           "done\necho '{\"data\": \"drawn\", \"train_size\": " +
           std::to_string(train) +
           ", \"test_size\": 20, \"read_seconds\": 1, \"train_seconds\": 2, \"predict_seconds\": "
           "3, \"test_error_percent\": 4}' > \"$2\"\n";
  };
  stage.script("ours", results(30));
  Json json = stage.run(0, words);
  CHECK(Stage::row(json, "ours-byte")["total_seconds"] == 6.0);
  CHECK(json["reference"] == "ours-byte");
  stage.script("ours", results(31));
  json = stage.run(1, words);
  CHECK(Stage::row(json, "ours-float")["message"] == "it ran on other digits than the peers");
  stage.script("ours", "exit 0\n");
  json = stage.run(1, words);
  CHECK(Stage::row(json, "ours-float")["message"] == "its results have no number 'read_seconds'");
  CHECK(Stage::row(json, "ours-byte")["message"] == mnist + " has no option --input");
}

TEST_CASE("peers: what it cannot do is refused", "[benchmarks]") {
  const Stage stage;
  check_refused(program, 2, {"--only", "svmlight"}, "there is no peer 'svmlight'");
  check_refused(program, 2, {"--timeout", "never"}, "--timeout");
  check_refused(program, 1, {"--data", stage.path("none")}, "there is no folder");
  check_refused(program, 1, {"--json", stage.path("no/such/a.json")}, "cannot write");
  ChildProcess help(program, {"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), ContainsSubstring("peers --train 3000 --test 1000"));
}

}  // namespace peers_program
