// SPDX-License-Identifier: MIT
#include "contestants.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "common/program.hpp"
#include "digit_files.hpp"
#include "libsvm_source.hpp"

namespace bpm_peers {

namespace {

namespace fs = std::filesystem;
using bpm_examples::one_line;
using Words = std::vector<std::string>;

/// A kernel that support vector machines are run with, in the words of LIBSVM's tools and of
/// scikit-learn. On inputs of unit norm: (<x, x'> + 1)^5 and exp(-|x - x'|^2 / 0.6^2), the widths
/// with which our own programs run, C = 10; a large cache, so that no value is computed twice.
struct SvmKernel {
  const char* name;
  const char* text;
  Words tool;
  const char* python;
};

const std::vector<SvmKernel>& svm_kernels() {
  static const std::vector<SvmKernel> kernels{
      {"polynomial",
       "unit norm, (<x, x'> + 1)^5, C = 10",
       {"-t", "1", "-d", "5", "-g", "1", "-r", "1", "-c", "10"},
       R"("degree": 5, "gamma": 1.0, "coef0": 1.0, "C": 10.0)"},
      {"gaussian",
       "unit norm, exp(-|x - x'|^2 / 0.36), C = 10",
       {"-t", "2", "-g", "2.7777777778", "-c", "10"},
       R"("gamma": 2.7777777778, "C": 10.0)"}};
  return kernels;
}

Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::string find_program(std::string_view name) {
  return bpm_examples::plot_detail::find_program(name).string();
}

Contestant make(std::string key, std::string name, std::string parameters, int threads) {
  Contestant result;
  result.row.key = std::move(key);
  result.row.name = std::move(name);
  result.row.parameters = std::move(parameters);
  result.row.threads = threads;
  result.row.status = PeerStatus::done;
  return result;
}

Contestant absent(std::string key, PeerStatus status, std::string message) {
  Contestant result;
  result.row.key = std::move(key);
  result.row.status = status;
  result.row.message = std::move(message);
  return result;
}

/// Where a program comes from: "Debian's libsvm-tools 3.24+ds-6", or its path.
std::string origin_of(const Contest& contest, const std::string& program) {
  const std::string dpkg = find_program("dpkg-query");
  std::error_code ignored;
  const fs::path real = fs::canonical(program, ignored);
  if (!dpkg.empty()) {
    const ChildOutcome owner = contest.ask({dpkg, "-S", real.string()});
    const std::size_t colon = owner.out.find(':');
    if (owner.good() && colon != std::string::npos) {
      const std::string package = owner.out.substr(0, colon);
      const ChildOutcome version = contest.ask({dpkg, "-W", "-f", "${Version}", package});
      if (version.good()) {
        std::ifstream release("/etc/os-release");
        std::string system = "the system";
        for (std::string line; std::getline(release, line);) {
          std::smatch match;
          if (std::regex_match(line, match, std::regex(R"(NAME="?(\w+).*)"))) system = match[1];
        }
        return system + "'s package " + package + " " + one_line(version.out);
      }
    }
  }
  return program + ", version not told";
}

// --- Tools that read and write files -----------------------------------------------------------

/// A program that trains and one that tests, as LIBSVM, LIBLINEAR and ThunderSVM have them.
struct Tools {
  std::string train;
  std::string predict;
  int threads = 1;
};

PeerRun run_tools(const Contest& contest, const Tools& tools, const Words& train_options) {
  const std::string model = (contest.folder / "model").string();
  const std::string predictions = (contest.folder / "predictions").string();
  const ChildOutcome trained = contest.run(
      Words{tools.train} + train_options + Words{contest.train.string(), model}, tools.threads);
  const ChildOutcome tested =
      contest.run({tools.predict, contest.test.string(), model, predictions}, tools.threads);
  PeerRun run;
  run.train_seconds = trained.seconds;
  run.predict_seconds = tested.seconds;
  run.peak_memory = std::max(trained.peak_memory, tested.peak_memory);
  run.error_percent = error_percent(predictions, contest.test_labels);
  std::error_code ignored;
  fs::remove(model, ignored);
  fs::remove(predictions, ignored);
  return run;
}

// --- LIBSVM ------------------------------------------------------------------------------------

struct Libsvm {
  Tools tools;
  std::string name;
  PeerStatus status = PeerStatus::done;
  std::string message;
};

Libsvm build_libsvm(const Contest& contest) {
  Libsvm result;
  const fs::path folder = contest.folder / "libsvm";
  const auto fail = [&](const std::string& why) {
    result.status = PeerStatus::failed;
    result.message = one_line(why);
    return result;
  };
  std::string version;
  try {
    version = copy_libsvm(contest.options.libsvm, folder);
  } catch (const std::runtime_error& error) {
    return fail(error.what());
  }
  const char* const wanted = std::getenv("CXX");
  std::string compiler = find_program(wanted == nullptr || *wanted == '\0' ? "g++" : wanted);
  if (compiler.empty()) compiler = find_program("c++");
  if (compiler.empty()) return fail("no C++ compiler was found to build it (Debian: g++)");
  const auto compile = [&](const char* program) {
    const ChildOutcome outcome =
        contest.ask({compiler, "-O3", "-march=native", "-fopenmp", "-x", "c++", "-o",
                     (folder / program).string(), (folder / program).string() + ".c",
                     (folder / "svm.cpp").string()},
                    600);
    return outcome.good() ? std::string() : "it does not compile: " + failure_text(outcome);
  };
  for (const char* program : {"svm-train", "svm-predict"}) {
    if (const std::string why = compile(program); !why.empty()) return fail(why);
  }
  result.tools = {(folder / "svm-train").string(), (folder / "svm-predict").string(),
                  contest.options.common.threads};
  result.name = "LIBSVM " + version +
                " from source, OpenMP in the two loops that its FAQ names, -O3 -march=native";
  return result;
}

Libsvm find_libsvm(const Contest& contest) {
  if (!contest.options.libsvm.empty()) return build_libsvm(contest);
  Libsvm result;
  result.tools = {find_program("svm-train"), find_program("svm-predict"), 1};
  if (result.tools.train.empty() || result.tools.predict.empty()) {
    result.status = PeerStatus::missing;
    result.message =
        "svm-train and svm-predict were not found (Debian and Ubuntu: libsvm-tools), or give "
        "LIBSVM's source by --libsvm";
    return result;
  }
  result.name = "LIBSVM of " + origin_of(contest, result.tools.train) + ", without OpenMP";
  return result;
}

void add_libsvm(const Contest& contest, std::vector<Contestant>& contestants) {
  std::optional<Libsvm> libsvm;
  for (const SvmKernel& kernel : svm_kernels()) {
    const std::string key = std::string("libsvm-") + kernel.name;
    if (!contest.options.wants(key)) continue;
    if (!libsvm) libsvm = find_libsvm(contest);
    if (libsvm->status != PeerStatus::done) {
      contestants.push_back(absent(key, libsvm->status, libsvm->message));
      continue;
    }
    Contestant peer = make(key, libsvm->name, kernel.text, libsvm->tools.threads);
    peer.run = [&contest, tools = libsvm->tools, words = kernel.tool](std::string& /*note*/) {
      return run_tools(contest, tools, Words{"-q", "-m", "4000"} + words);
    };
    contestants.push_back(std::move(peer));
  }
}

// --- LIBLINEAR ---------------------------------------------------------------------------------

void add_liblinear(const Contest& contest, std::vector<Contestant>& contestants) {
  for (const bool validated : {false, true}) {
    const std::string key = validated ? "liblinear-validated" : "liblinear";
    if (!contest.options.wants(key)) continue;
    const Tools tools{find_program("liblinear-train"), find_program("liblinear-predict"), 1};
    if (tools.train.empty() || tools.predict.empty()) {
      contestants.push_back(absent(key, PeerStatus::missing,
                                   "liblinear-train and liblinear-predict were not found (Debian "
                                   "and Ubuntu: liblinear-tools)"));
      continue;
    }
    Contestant peer = make(key, "LIBLINEAR of " + origin_of(contest, tools.train),
                           std::string("unit norm and a constant, linear, L2 loss, dual, ") +
                               (validated ? "C by five-fold cross-validation" : "C = 1"),
                           1);
    peer.run = [&contest, tools, validated](std::string& note) {
      Words options{"-q", "-s", "1", "-B", "1"};
      std::optional<double> search;
      if (validated) {
        // The search is offered for the primal solver, which has the same minimum.
        const ChildOutcome outcome = contest.run(
            {tools.train, "-q", "-C", "-s", "2", "-B", "1", "-v", "5", contest.train.string()}, 1);
        std::smatch match;
        if (!std::regex_search(outcome.out, match, std::regex(R"(Best C = ([-+.0-9eE]+))"))) {
          throw PeerFailure(PeerStatus::failed, "its search for C printed no 'Best C'");
        }
        options = options + Words{"-c", match[1].str()};
        search = outcome.seconds;
        std::ostringstream text;
        text << "C = " << match[1].str() << ", found in " << report_detail::seconds(*search)
             << " s that are not counted";
        note = text.str();
      }
      PeerRun run = run_tools(contest, tools, options);
      run.search_seconds = search;
      return run;
    };
    contestants.push_back(std::move(peer));
  }
}

// --- Packages of Python ------------------------------------------------------------------------

/// Reads both files, fits, predicts, writes the labels, prints the seconds of each.
constexpr const char* python_program = R"(
import importlib, json, sys, time
import numpy
from sklearn.datasets import load_svmlight_file
module, options, train, test, out = sys.argv[1:]
SVC = importlib.import_module(module).SVC
start = time.perf_counter()
x, y = load_svmlight_file(train, n_features=784)
z, _ = load_svmlight_file(test, n_features=784)
x, z = x.toarray(), z.toarray()
read = time.perf_counter()
machine = SVC(**json.loads(options))
machine.fit(x, y)
fitted = time.perf_counter()
labels = machine.predict(z)
tested = time.perf_counter()
numpy.savetxt(out, labels, fmt="%d")
print(json.dumps({"read": read - start, "train": fitted - read, "predict": tested - fitted}))
)";

struct Python {
  std::string program;
  std::string version;
};

/// The first python3 of the PATH that has the module.
std::optional<Python> find_python(const Contest& contest, const std::string& module) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / "python3";
    std::error_code ignored;
    if (!fs::is_regular_file(candidate, ignored)) continue;
    const ChildOutcome outcome = contest.ask(
        {candidate.string(), "-c",
         "import " + module + " as m; print(getattr(m, '__version__', 'of unknown version'))"});
    if (outcome.good()) return Python{candidate.string(), one_line(outcome.out)};
  }
  return std::nullopt;
}

PeerRun run_python(const Contest& contest, const Python& python, const std::string& module,
                   const std::string& options, int threads) {
  const std::string predictions = (contest.folder / "predictions").string();
  const ChildOutcome outcome =
      contest.run({python.program, "-c", python_program, module, options, contest.train.string(),
                   contest.test.string(), predictions},
                  threads);
  PeerRun run;
  // Packages print on the same stream: the last line is ours.
  const std::size_t start = outcome.out.rfind('{');
  const Json times =
      start == std::string::npos ? Json() : Json::parse(outcome.out.substr(start), nullptr, false);
  if (!times.is_object() || !times.contains("predict")) {
    throw PeerFailure(PeerStatus::failed, "it did not print its times");
  }
  run.read_seconds = times["read"].get<double>();
  run.train_seconds = times["train"].get<double>();
  run.predict_seconds = times["predict"].get<double>();
  run.peak_memory = outcome.peak_memory;
  run.error_percent = error_percent(predictions, contest.test_labels);
  std::error_code ignored;
  fs::remove(predictions, ignored);
  return run;
}

void add_sklearn(const Contest& contest, std::vector<Contestant>& contestants) {
  std::optional<Python> python;
  bool looked = false;
  for (const SvmKernel& kernel : svm_kernels()) {
    const std::string key = std::string("sklearn-") + kernel.name;
    if (!contest.options.wants(key)) continue;
    if (!looked) python = find_python(contest, "sklearn");
    looked = true;
    if (!python) {
      contestants.push_back(absent(key, PeerStatus::missing,
                                   "no python3 on the PATH imports sklearn (Debian and Ubuntu: "
                                   "python3-sklearn)"));
      continue;
    }
    Contestant peer =
        make(key, "scikit-learn " + python->version + ", SVC, dense inputs", kernel.text, 1);
    const std::string options = std::string(R"({"kernel": ")") +
                                (std::string_view(kernel.name) == "polynomial" ? "poly" : "rbf") +
                                R"(", "cache_size": 4000, )" + kernel.python + "}";
    peer.run = [&contest, found = *python, options](std::string& /*note*/) {
      return run_python(contest, found, "sklearn.svm", options, contest.options.common.threads);
    };
    contestants.push_back(std::move(peer));
  }
}

void add_thundersvm(const Contest& contest, std::vector<Contestant>& contestants) {
  const int threads = contest.options.common.threads;
  const Tools tools{find_program("thundersvm-train"), find_program("thundersvm-predict"), threads};
  const bool has_tools = !tools.train.empty() && !tools.predict.empty();
  std::optional<Python> python;
  bool looked = false;
  for (const SvmKernel& kernel : svm_kernels()) {
    const std::string key = std::string("thundersvm-") + kernel.name;
    if (!contest.options.wants(key)) continue;
    if (has_tools) {
      Contestant peer =
          make(key, "ThunderSVM of " + origin_of(contest, tools.train), kernel.text, threads);
      peer.run = [&contest, tools, words = kernel.tool](std::string& /*note*/) {
        return run_tools(contest, tools,
                         Words{"-s", "0", "-o", std::to_string(tools.threads)} + words);
      };
      contestants.push_back(std::move(peer));
      continue;
    }
    if (!looked) python = find_python(contest, "thundersvm");
    looked = true;
    if (!python) {
      contestants.push_back(
          absent(key, PeerStatus::missing,
                 "neither thundersvm-train nor the Python package thundersvm was found (build "
                 "ThunderSVM from its source, without CUDA where there is none)"));
      continue;
    }
    Contestant peer = make(key, "ThunderSVM " + python->version + ", SVC", kernel.text, threads);
    const std::string options =
        std::string(R"({"kernel": ")") +
        (std::string_view(kernel.name) == "polynomial" ? "polynomial" : "rbf") +
        R"(", "n_jobs": )" + std::to_string(threads) + ", " + kernel.python + "}";
    peer.run = [&contest, found = *python, options, threads](std::string& /*note*/) {
      return run_python(contest, found, "thundersvm", options, threads);
    };
    contestants.push_back(std::move(peer));
  }
}

// --- Ours --------------------------------------------------------------------------------------

/// The program built beside this one, or the one on the PATH; empty where there is none.
std::string find_mnist(const PeersOptions& options) {
  if (!options.mnist.empty()) return options.mnist.string();
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path folder = self.parent_path();
    for (const fs::path& candidate :
         {folder / "mnist", folder.parent_path() / "examples" / "mnist"}) {
      if (fs::is_regular_file(candidate, error)) return candidate.string();
    }
  }
  return find_program("mnist");
}

PeerRun run_mnist(const Contest& contest, const std::string& program, const Words& more) {
  const PeersOptions& options = contest.options;
  const fs::path file = contest.folder / "mnist.json";
  Words words{program,
              "--train",
              std::to_string(options.train),
              "--test",
              std::to_string(options.test),
              "--threads",
              std::to_string(options.common.threads),
              "--seed",
              std::to_string(options.common.seed),
              "--quiet",
              "--json",
              file.string()};
  if (!options.common.data.empty()) words = words + Words{"--data", options.common.data.string()};
  const ChildOutcome outcome = contest.run(words + more, options.common.threads);
  const Json json = Json::parse(child_detail::read_file(file), nullptr, false);
  std::error_code ignored;
  fs::remove(file, ignored);
  const auto number = [&](const char* key) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_number()) {
      throw PeerFailure(PeerStatus::failed,
                        std::string("its results have no number '") + key + "'");
    }
    return json[key].get<double>();
  };
  PeerRun run;
  run.read_seconds = number("read_seconds");
  run.train_seconds = number("train_seconds");
  run.predict_seconds = number("predict_seconds");
  run.error_percent = number("test_error_percent");
  run.peak_memory = outcome.peak_memory;
  if (json["data"] != contest.data || number("train_size") != static_cast<double>(options.train) ||
      number("test_size") != static_cast<double>(options.test)) {
    throw PeerFailure(PeerStatus::failed, "it ran on other digits than the peers");
  }
  return run;
}

void add_ours(const Contest& contest, std::vector<Contestant>& contestants) {
  const std::string program = find_mnist(contest.options);
  std::optional<ChildOutcome> help;
  for (const bool normalise : {false, true}) {
    for (const std::string input : {"float", "byte"}) {
      const std::string key = "ours-" + input + (normalise ? "-normalise" : "");
      if (!contest.options.wants(key)) continue;
      if (program.empty()) {
        contestants.push_back(absent(key, PeerStatus::missing,
                                     "the program mnist was not found beside this one; build it, "
                                     "or name it by --mnist"));
        continue;
      }
      if (!help) help = contest.ask({program, "--help"});
      const bool has_inputs = help->out.find("--input") != std::string::npos;
      if (!has_inputs && input == "byte") {
        contestants.push_back(absent(key, PeerStatus::missing, program + " has no option --input"));
        continue;
      }
      Contestant peer =
          make(key, "bpm, permuted perceptrons, 10 draws",
               std::string(normalise ? "unit norm" : "pixels / 255") + ", (<x, x'> + 1)^5, " +
                   (input == "byte" ? "exact products of bytes" : "products of floats"),
               contest.options.common.threads);
      Words words = normalise ? Words{"--normalise"} : Words{};
      if (has_inputs) words = words + Words{"--input", input};
      peer.run = [&contest, program, words](std::string& /*note*/) {
        return run_mnist(contest, program, words);
      };
      contestants.push_back(std::move(peer));
    }
  }
}

}  // namespace

ChildOutcome Contest::run(Words words, int threads) const {
  const std::string name = fs::path(words.front()).filename().string();
  ChildCommand command;
  command.words = std::move(words);
  command.environment = {{"OMP_NUM_THREADS", std::to_string(threads)}};
  command.folder = folder;
  command.timeout = options.timeout;
  ChildOutcome outcome = run_child(command, stop);
  if (outcome.timed_out) {
    throw PeerFailure(
        PeerStatus::timed_out,
        name + " was ended after " + report_detail::seconds(options.timeout) + " s (--timeout)");
  }
  if (!outcome.good()) {
    throw PeerFailure(PeerStatus::failed, name + ": " + failure_text(outcome));
  }
  return outcome;
}

ChildOutcome Contest::ask(Words words, double timeout) const {
  ChildCommand command;
  command.words = std::move(words);
  command.folder = folder;
  command.timeout = timeout;
  return run_child(command, stop);
}

std::vector<Contestant> find_contestants(const Contest& contest) {
  std::vector<Contestant> contestants;
  add_ours(contest, contestants);
  add_libsvm(contest, contestants);
  add_liblinear(contest, contestants);
  add_sklearn(contest, contestants);
  add_thundersvm(contest, contestants);
  return contestants;
}

}  // namespace bpm_peers
