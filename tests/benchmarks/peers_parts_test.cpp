// SPDX-License-Identifier: MIT
// The parts of the peers program: its files, LIBSVM's source, children, options and tables.
#include <chrono>
#include <cmath>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "bpm/data/svmlight.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "peers/child.hpp"
#include "peers/digit_files.hpp"
#include "peers/libsvm_source.hpp"
#include "peers/options.hpp"
#include "peers/report.hpp"
#include "temporary_folder.hpp"

using namespace bpm_peers;
using Catch::Matchers::ContainsSubstring;
using examples_test::read_text;
using examples_test::TemporaryFolder;
using examples_test::write_text;
using test_support::message_of;

namespace {

PeersOptions parse(const std::vector<std::string>& words) {
  std::vector<const char*> argv{"peers"};
  for (const auto& word : words) argv.push_back(word.c_str());
  return parse_peers_options(static_cast<int>(argv.size()), argv.data());
}

ChildOutcome shell(const TemporaryFolder& folder, const std::string& text, double timeout = 60) {
  return run_child({{"/bin/sh", "-c", text}, {{"NEW_NAME", "new"}}, folder.path(), timeout}, {});
}

PeerRow done(const std::string& key, std::vector<double> trained) {
  PeerRow row;
  row.key = key;
  row.name = "a library";
  row.parameters = "a kernel";
  row.status = PeerStatus::done;
  for (const double seconds : trained) {
    PeerRun run;
    run.error_percent = 1.5;
    run.train_seconds = seconds;
    run.predict_seconds = 1;
    run.peak_memory = 3 << 20;
    row.runs.push_back(run);
  }
  return row;
}

const char* const source = R"(class SVC_Q: public Kernel {
	Qfloat *get_Q(int i, int len) const {
		if((start = cache->get_data(i,&data,len)) < len)
			for(j=start;j<len;j++)
				data[j] = 1;
	}
};
class SVR_Q: public Kernel {
	Qfloat *get_Q(int i, int len) const {
			for(j=start;j<len;j++)
	}
};
void other() { svm_predict_values(submodel, x); }
double svm_predict_values(const svm_model *model)
{
		for(i=0;i<nr_class;i++)
			start[i] = 0;
		for(i=0;i<l;i++)
			kvalue[i] = Kernel::k_function(x,model->SV[i],model->param);
}
)";

}  // namespace

TEST_CASE("peers: digits are written with unit norm and read as they were", "[benchmarks]") {
  const TemporaryFolder folder;
  bpm::LabelledData<bpm::RowMatrix<std::uint8_t>> digits;
  digits.inputs.setZero(3, 5);
  digits.inputs(0, 1) = 3;
  digits.inputs(0, 4) = 4;
  digits.inputs(2, 0) = 255;
  digits.labels = {7, 0, 9};
  const auto path = folder.path() / "digits";
  write_unit_norm(digits, path);
  CHECK(read_text(path) == "7 2:0.6 5:0.8\n0\n9 1:1\n");
  CHECK_THAT(message_of([&] { write_unit_norm(digits, folder.path() / "no" / "file"); }),
             ContainsSubstring("cannot write"));
}

TEST_CASE("peers: errors are counted against the true labels", "[benchmarks]") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "labels";
  const std::vector<int> labels{1, 2, 3, 4};
  write_text(path, "1\n2\n4\n4\n");
  CHECK(error_percent(path, labels) == 25);
  for (const char* text : {"1\n2\n3\n", "1\n2\n3\n4\n5\n", "", "1\n2\nx\n4\n"}) {
    write_text(path, text);
    CHECK_THAT(message_of([&] { static_cast<void>(error_percent(path, labels)); }),
               ContainsSubstring("labels, expected 4"));
  }
}

TEST_CASE("peers: LIBSVM's two loops get their pragmas, the others none", "[benchmarks]") {
  const std::string changed = add_openmp(source);
  CHECK_THAT(changed,
             ContainsSubstring("< len)\n#pragma omp parallel for private(j) schedule(guided)\n"
                               "\t\t\tfor(j=start;j<len;j++)\n\t\t\t\tdata"));
  CHECK_THAT(changed,
             ContainsSubstring("= 0;\n#pragma omp parallel for private(i) schedule(guided)\n"
                               "\t\tfor(i=0;i<l;i++)\n\t\t\tkvalue"));
  std::size_t count = 0;
  for (std::size_t at = changed.find("#pragma"); at != std::string::npos;
       at = changed.find("#pragma", at + 1)) {
    ++count;
  }
  CHECK(count == 2);
  CHECK(add_openmp(changed) == changed);
  const auto refusal = [](std::string text, const std::string& part, const std::string& with) {
    text.replace(text.find(part), part.size(), with);
    return message_of([&] { static_cast<void>(add_openmp(text)); });
  };
  CHECK_THAT(refusal(source, "class SVC_Q", "class C"), ContainsSubstring("class SVC_Q was not"));
  CHECK_THAT(refusal(source, "for(j=start;j<len;j++)", "while(1)"),
             ContainsSubstring("the loop over a row in SVC_Q::get_Q was not found") ||
                 ContainsSubstring("nothing was thrown"));
  CHECK_THAT(refusal(source, "kvalue", "value"),
             ContainsSubstring("the loop over kernel values in svm_predict_values was not"));
  CHECK_THAT(refusal(source, "double svm_predict_values", "double svm_p"),
             ContainsSubstring("svm_predict_values was not found"));
  CHECK(libsvm_version("#define LIBSVM_VERSION 324\n") == "3.24");
  CHECK(libsvm_version("") == "of unknown version");
}

TEST_CASE("peers: LIBSVM's source is copied, or what is missing is named", "[benchmarks]") {
  const TemporaryFolder folder;
  const auto from = folder.path() / "from";
  CHECK_THAT(message_of([&] { static_cast<void>(copy_libsvm(from, folder.path() / "to")); }),
             ContainsSubstring("svm.cpp cannot be read: --libsvm names the folder"));
  write_text(from / "svm.cpp", source);
  write_text(from / "svm.h", "#define LIBSVM_VERSION 336\n");
  write_text(from / "svm-train.c", "int main() {}\n");
  write_text(from / "svm-predict.c", "int main() {}\n");
  CHECK(copy_libsvm(from, folder.path() / "to") == "3.36");
  CHECK(read_text(from / "svm.cpp") == source);
  CHECK(read_text(folder.path() / "to" / "svm.cpp") == add_openmp(source));
}

TEST_CASE("peers: a child's output, status, time and memory", "[benchmarks]") {
  const TemporaryFolder folder;
  const ChildOutcome good = shell(folder, "echo $NEW_NAME; echo b >&2");
  CHECK(good.good());
  CHECK(good.out == "new\n");
  CHECK(good.errors == "b\n");
  CHECK(good.seconds > 0);
  CHECK(good.peak_memory > 0);
  const ChildOutcome bad = shell(folder, "echo one; echo two >&2; echo three >&2; exit 3");
  CHECK(bad.status == 3);
  CHECK(failure_text(bad) == "exit status 3: three");
  CHECK(failure_text(shell(folder, "echo one; exit 4")) == "exit status 4: one");
  CHECK(failure_text(shell(folder, "kill -9 $$")) == "ended by signal 9");
  const ChildOutcome slow = shell(folder, "sleep 60", 0.05);
  CHECK(slow.timed_out);
  CHECK_FALSE(slow.good());
  const ChildOutcome none = run_child({{"/no/such/program"}, {}, folder.path(), 60}, {});
  CHECK(none.status == 127);
  CHECK_THAT(message_of([&] {
               static_cast<void>(run_child({{"/bin/sh", "-c", "sleep 60"}, {}, folder.path(), 60},
                                           [] { return true; }));
             }),
             ContainsSubstring("stopped while sh ran"));
}

TEST_CASE("peers: options", "[benchmarks]") {
  const PeersOptions all = parse({});
  CHECK(all.train == 60000);
  CHECK(all.test == 10000);
  CHECK(all.wants("sklearn-gaussian"));
  const PeersOptions some = parse({"--only", "ours,libsvm-gaussian,liblinear", "--repeat", "3"});
  CHECK(some.repeat == 3);
  CHECK(some.wants("ours-float"));
  CHECK(some.wants("libsvm-gaussian"));
  CHECK_FALSE(some.wants("libsvm-polynomial"));
  CHECK(some.wants("liblinear"));
  CHECK_FALSE(some.wants("liblinear-validated"));
  CHECK_FALSE(some.wants("sklearn-gaussian"));
  for (const char* words : {"libsv", "", "ours,", "-"}) {
    CHECK_THAT(message_of([&] {
                 parse({"--only", words});
               }),
               ContainsSubstring("there is no peer '") || ContainsSubstring("--only"));
  }
  CHECK_THAT(message_of([] { parse({"--repeat", "0"}); }), ContainsSubstring("--repeat"));
  CHECK_THAT(message_of([] { parse({"--timeout", "0"}); }), ContainsSubstring("--timeout"));
  CHECK_THAT(message_of([] { parse({"--train", "none"}); }), ContainsSubstring("--train"));
}

TEST_CASE("peers: the table, its medians and what the others are divided by", "[benchmarks]") {
  PeersReport report;
  report.source = "somewhere";
  report.data = "drawn";
  report.train_size = 30;
  report.test_size = 20;
  report.threads = 2;
  report.repeat = 3;
  report.load = 3;
  report.rows = {done("ours-float", {1, 1, 1}), done("libsvm-polynomial", {7, 19, 9})};
  PeerRow missing;
  missing.key = "sklearn-gaussian";
  missing.message = "install it";
  report.rows.push_back(missing);
  std::ostringstream text;
  print_report(text, report);
  CHECK_THAT(text.str(), ContainsSubstring("medians of 3 runs"));
  CHECK_THAT(text.str(), ContainsSubstring("libsvm-polynomial            1.50 in train      9.00"
                                           "     1.00      10.0           3          5.00\n"));
  CHECK_THAT(text.str(), ContainsSubstring("sklearn-gaussian          missing: install it\n"));
  CHECK_THAT(text.str(), ContainsSubstring("over those of ours-float.\n"));
  CHECK_THAT(text.str(), ContainsSubstring("not idle when the run began (load average 3.0)"));
  Json json = report_json(report);
  CHECK(json["reference"] == "ours-float");
  CHECK(json["peers"][1]["train_seconds"] == 9.0);
  CHECK(json["peers"][1]["total_over_ours"] == 5.0);
  CHECK(json["peers"][1]["runs"].size() == 3);
  CHECK(json["peers"][1]["runs"][0]["read_seconds"].is_null());
  CHECK(json["peers"][2]["status"] == "missing");
  CHECK(json["peers"][2]["message"] == "install it");
  CHECK_FALSE(json["peers"][2].contains("train_seconds"));
  report.rows.push_back(done("ours-byte-normalise", {3}));
  CHECK(report.reference()->key == "ours-byte-normalise");
  report.rows = {report.rows[1]};
  CHECK(report.reference() == nullptr);
  CHECK(report_json(report)["reference"].is_null());
  const std::string script = report_figure(report).text(10, 10, "a.svg");
  CHECK_THAT(script, ContainsSubstring("set label '1.50 %' at 10,1"));
  CHECK_THAT(script, ContainsSubstring("'libsvm-polynomial' 1"));
  report.rows.clear();
  CHECK_THAT(message_of([&] { static_cast<void>(report_figure(report)); }),
             ContainsSubstring("nothing to plot"));
}
