// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <tuple>

#include "common/program.hpp"
#include "model.hpp"

namespace bpm_examples {

namespace {

/// Whether two names are of one file; standard input and output, devices and pipes are none.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  if (a.empty() || b.empty() || a == "-" || b == "-") return false;
  std::error_code unknown;
  if (fs::exists(a, unknown) && fs::exists(b, unknown)) {
    return fs::is_regular_file(a, unknown) && fs::equivalent(a, b, unknown);
  }
  const auto whole = [&](const fs::path& path) {
    return fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  };
  return whole(a) == whole(b);
}

/// Refuses to write `file` where one of `read` is. (A label may be the name of a column.)
void check_not_read(const std::string& file, const std::vector<std::string>& read) {
  for (const std::string& other : read) {
    std::error_code unknown;
    if (std::filesystem::exists(other, unknown) && same_file(file, other)) {
      throw UsageError("'" + file + "' is to be read and written: name another file");
    }
  }
}

/// Refuses to write the results where a file of `read` is, one that `written` says will be written,
/// or any model.
void check_results(const CommonOptions& common, const std::vector<std::string>& read,
                   const std::vector<std::string>& written) {
  const std::string json = common.json.string();
  const std::string plot = common.plot.string();
  for (const std::string& file : {json, plot}) {
    check_not_read(file, read);
    for (const std::string& other : written) {
      if (same_file(file, other) || (!file.empty() && file == other)) {
        throw UsageError("'" + file + "' is named twice: name another file");
      }
    }
    if (file != "-" && is_model_file(file)) {
      throw UsageError("'" + file + "' is a model, which results would replace: name another file");
    }
  }
}

/// A share of one: 0.01, or 1%. Throws `std::invalid_argument` unless it lies between 0 and 1.
[[nodiscard]] double parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const double number =
      parse_real(percent ? text.substr(0, text.size() - 1) : text, 0, percent ? 100 : 1);
  const double share = percent ? number / 100 : number;
  if (share <= 0 || share >= 1) {
    throw std::invalid_argument("'" + std::string(text) +
                                "' is no share between 0 and 1, such as 0.01 or 1%");
  }
  return share;
}

/// A share of all, or CLASS=SHARE.
[[nodiscard]] std::pair<std::string, double> parse_class_share(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos) return {"", parse_share(text)};
  if (equals == 0) throw std::invalid_argument("has no class before =");
  return {text.substr(0, equals), parse_share(std::string_view(text).substr(equals + 1))};
}

[[nodiscard]] std::vector<double> parse_reals(std::string_view text, double low, double high) {
  std::vector<double> numbers;
  for (;;) {
    const std::size_t comma = text.find(',');
    numbers.push_back(parse_real(text.substr(0, comma), low, high));
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

CLI::Option* add_share_option(CLI::App& app, const std::string& name, std::optional<double>& share,
                              const std::string& description) {
  return app.add_option_function<std::string>(
      name,
      [&share, name](const std::string& text) {
        try {
          share = parse_share(text);
        } catch (const std::invalid_argument& error) {
          throw CLI::ValidationError(name, error.what());
        }
      },
      description);
}

CLI::Option* add_text_option(CLI::App& app, const std::string& name, const std::string& description,
                             const std::function<void(const std::string&)>& take) {
  return app.add_option_function<std::string>(
      name,
      [name, take](const std::string& text) {
        try {
          take(text);
        } catch (const std::invalid_argument& error) {
          throw CLI::ValidationError(name, error.what());
        }
      },
      description);
}

CLI::Option* add_choice_option(CLI::App& app, const std::string& name, std::string& value,
                               const std::string& description,
                               const std::vector<std::string>& choices) {
  std::string type;
  for (const std::string& choice : choices) type += (type.empty() ? "" : "|") + choice;
  return app.add_option(name, value, description)
      ->check(CLI::IsMember(choices).description(""))
      ->type_name(type);
}

void add_reading(CLI::App& app, CommonOptions& common, ReadOptions& read, std::size_t& memory,
                 const std::string& label) {
  app.set_help_flag("--help,-h", "Print this and exit");
  app.add_option("--label", read.label, label)->type_name("COLUMN|last|first");
  add_choice_option(app, "--header", read.header,
                    "Whether a table's first line names its columns (default: auto)",
                    {"yes", "no", "auto"});
  app.add_option("--ignore", read.ignored,
                 "Columns of a table that are no features: names or numbers, with commas between")
      ->type_name("COLUMN[,...]");
  add_text_option(app, "--decimal", "The sign before decimals in a table (default: .)",
                  [&read](const std::string& text) {
                    if (text != "," && text != ".") {
                      throw std::invalid_argument("'" + text + "' is neither , nor .");
                    }
                    read.decimal = text[0];
                  })
      ->type_name(".|,");
  add_text_option(
      app, "--missing-words",
      "Fields of a table that mean a missing value, beside none, ?, NA, N/A, #N/A, NaN, "
      "null and \\N, and of numbers ., - and None",
      [&read](const std::string& text) {
        std::istringstream list(text);
        for (std::string word; std::getline(list, word, ',');) {
          read.missing_words.push_back(word);
        }
      })
      ->type_name("WORD[,...]");
  add_choice_option(app, "--format", read.format,
                    "Of DATA: tables, LIBSVM's index:value lines, IDX images (default: auto)",
                    {"csv", "libsvm", "idx", "auto"});
  add_threads_option(app, common);
  add_bytes_option(app, "--memory", memory,
                   "Working memory beside the data: digits with k, M or G (default: 1G)");
  app.add_flag("--quiet,-q", common.quiet, "No progress, no report");
}

/// What LIBSVM's users may type and what to type instead.
[[nodiscard]] const char* cure_of(char flag) {
  switch (flag) {
    case 's':
      return "-s: every model here is a classifier; leave it out";
    case 'c':
      return "-c: there is no C; leave it out and the soft boundary is chosen, or use "
             "--soft-boundary NUMBER, which is larger where C is smaller";
    case 'n':
      return "-n: there is no nu; leave it out and the soft boundary is chosen, or use "
             "--soft-boundary NUMBER";
    case 'p':
      return "-p: this is no regression; leave it out";
    case 'e':
      return "-e: there is no tolerance; use --draws N for a better model";
    case 'h':
      return "-h: there is no shrinking to turn off; leave it out";
    case 'm':
      return "-m: use --memory, in bytes, such as --memory 100M";
    default:
      return nullptr;
  }
}

/// The words with LIBSVM's `-wLABEL W` made `--class-weights LABEL=W`. Throws `UsageError` for its
/// flags that mean nothing here.
[[nodiscard]] std::vector<std::string> translated(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool flag = word.size() >= 2 && word[0] == '-' && word[1] != '-';
    // An option's value is no flag, whatever it begins with.
    const bool value = !words.empty() && words.back().starts_with("--") &&
                       words.back().find('=') == std::string::npos && words.back() != "--quiet" &&
                       words.back() != "--standardise" && words.back() != "--no-standardise" &&
                       words.back() != "--normalise" && words.back() != "--resume" &&
                       words.back() != "--weights-only" && words.back() != "--help";
    if (flag && !value) {
      // svm-train's -h has a number behind it.
      const char* cure = word == "-h" && i + 1 == argc ? nullptr : cure_of(word[1]);
      if (cure != nullptr) throw UsageError(cure);
      if (word[1] == 'w') {
        if (word.size() == 2 || i + 1 == argc) {
          throw UsageError("-w: write -wLABEL WEIGHT, such as -w1 10, or --class-weights 1=10");
        }
        words.push_back("--class-weights");
        words.push_back(word.substr(2) + "=" + argv[++i]);
        continue;
      }
    }
    words.push_back(word);
  }
  return words;
}

/// As `parse_options`, of words without the program's name.
void parse_words(CLI::App& app, const std::vector<std::string>& words, const char* name) {
  std::vector<const char*> argv{name};
  for (const std::string& word : words) argv.push_back(word.c_str());
  parse_options(app, static_cast<int>(argv.size()), argv.data());
  for (const CLI::Option* option : app.get_options()) {
    if (std::ranges::count(option->results(), std::string()) > 0) {
      throw UsageError(option->get_name() + ": is empty");
    }
  }
}

/// CLASS=NUMBER,...; `form` says so where it is not.
[[nodiscard]] std::vector<std::pair<std::string, double>> parse_weights(const std::string& text,
                                                                        const char* form) {
  std::vector<std::pair<std::string, double>> weights;
  std::string_view rest = text;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t equals = part.rfind('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw std::invalid_argument("'" + std::string(part) + "' is no " + form);
    }
    weights.emplace_back(part.substr(0, equals), parse_real(part.substr(equals + 1), 1e-9, 1e9));
    if (comma == std::string_view::npos) return weights;
    rest.remove_prefix(comma + 1);
  }
}

void check_given(const CLI::App& app, const char* name, bool allowed, const std::string& why) {
  if (app.get_option(name)->count() > 0 && !allowed) throw UsageError(std::string(name) + why);
}

/// Options of one kernel beside another, LIBSVM's beside ours.
void check_kernel_options(const CLI::App& app, const TrainOptions& options, bool typed) {
  if (options.libsvm) {
    for (const char* ours : {"--kernel", "--degree", "--offset", "--width", "--depth"}) {
      check_given(app, ours, false,
                  " and LIBSVM's -t -d -g -r both say the kernel: take one or the other");
    }
    check_given(app, "-d", typed && options.libsvm->type == 1, " is of the polynomial: give -t 1");
    check_given(app, "-r", typed && options.libsvm->type == 1, " is of the polynomial: give -t 1");
    check_given(app, "-g", options.libsvm->type != 0, " is not of -t 0, the linear kernel");
    return;
  }
  const auto of = [&](const char* option, const char* kernel) {
    check_given(app, option, options.kernel == kernel,
                std::string(" is of --kernel ") + kernel + ", not of " + options.kernel);
  };
  of("--degree", "polynomial");
  of("--offset", "polynomial");
  of("--width", "gaussian");
  of("--depth", "arc-cosine");
}

void check_train_options(const CLI::App& app, TrainOptions& options) {
  const std::string& sampler = options.sampler;
  if (options.only_cross_validate && app.get_option("--folds")->count() > 0) {
    throw UsageError("-v and --folds both say how many folds: take one");
  }
  if (!options.choosing && !options.only_cross_validate && options.model.empty()) {
    throw UsageError("MODEL is missing: name the file to write");
  }
  if (sampler == "ep") {
    check_given(app, "--draws", false, " is of samplers; --sampler ep makes no draws");
    check_given(app, "--checkpoint", false, " is of samplers; --sampler ep keeps nothing to go on");
    if (options.choosing) check_given(app, "--by", false, ": --sampler ep chooses by the evidence");
    if (options.folds > 0) {
      throw UsageError("--sampler ep has no folds: it chooses by the evidence");
    }
  }
  if (options.resume && options.checkpoint.empty()) {
    throw UsageError("--resume needs the folder of the run: --checkpoint DIR --resume");
  }
  const bool held_out = !options.held_out_file.empty() || options.held_out_share > 0;
  if (options.risk && !held_out) {
    throw UsageError(
        "--risk needs data that train nothing: --held-out FILE, or a share such as --held-out 0.2");
  }
  check_given(app, "--held-out", options.risk.has_value(), " is for --risk R: give both");
  if (held_out &&
      (options.held_out_file == options.data || same_file(options.held_out_file, options.data))) {
    throw UsageError("--held-out: '" + options.held_out_file +
                     "' is the file that trains: a guarantee needs rows that train nothing, such "
                     "as a share of it, --held-out 0.2");
  }
  check_given(app, "--delta", options.risk.has_value(), " is for --risk R: give both");
  if (options.model.empty()) {
    const std::string cure = options.only_cross_validate ? "leave -v out" : "name the MODEL";
    check_given(app, "--risk", false, " puts a threshold into a model: " + cure);
    check_given(app, "--checkpoint", false, " is for a model's draws: " + cure);
  }
  if (options.soft_boundary == std::vector<double>{0} &&
      (options.balanced || !options.class_weights.empty())) {
    throw UsageError(
        "--class-weights say how far rows may lie on the wrong side, --soft-boundary hard that "
        "none "
        "may: take one or the other");
  }
  for (std::size_t i = 0; i < options.class_weights.size(); ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      if (options.class_weights[i].first == options.class_weights[other].first) {
        throw UsageError("--class-weights: two weights for '" + options.class_weights[i].first +
                         "'");
      }
    }
  }
  if (options.balanced && !options.class_weights.empty()) {
    throw UsageError("--class-weights: balanced, or weights by class, not both");
  }
  if (!options.choosing) {
    const auto one = [](std::size_t count, const char* name) {
      if (count > 1) {
        throw UsageError(std::string(name) + ": several to choose from are for bpm choose");
      }
    };
    one(options.degrees.size(), "--degree");
    one(options.widths.size(), "--width");
    one(options.depths.size(), "--depth");
    one(options.soft_boundary.size(), "--soft-boundary");
  }
  if (!options.choosing) {
    check_given(app, "--plot", options.soft_boundary.empty() && !options.only_cross_validate,
                " draws what was tried for the soft boundary: leave that automatic");
  }
  check_results(options.common, {options.data, options.held_out_file, options.read.label},
                {options.model});
  if (same_file(options.model, options.data)) {
    throw UsageError("MODEL is DATA, '" + options.data + "': name another file");
  }
}

/// What is in the place of MODEL is another, or nothing yet: no table that was meant to be DATA.
void check_model_writable(const TrainOptions& options) {
  namespace fs = std::filesystem;
  const std::string& model = options.model;
  if (is_model_file(options.data)) {
    throw UsageError("DATA comes first, then MODEL: '" + options.data + "' is a model");
  }
  if (model.empty() || model == "-") return;
  check_writable(model);
  std::error_code unknown;
  if (fs::is_regular_file(model, unknown) && fs::file_size(model, unknown) > 0 &&
      !is_model_file(model)) {
    throw UsageError("DATA comes first, then MODEL: '" + model +
                     "' is there, is no model, and would be lost; name another file");
  }
}

}  // namespace

TrainOptions parse_train_options(int argc, const char* const* argv, bool choosing) {
  TrainOptions options;
  options.choosing = choosing;
  CLI::App app{
      choosing
          ? "Chooses kernel and soft boundary by how well machines of a part of the rows predict "
            "the others; trains on all of DATA if MODEL is named."
          : "Trains a Bayes point machine on DATA, a table (CSV), LIBSVM's format or IDX images, "
            "gzipped or not, - for standard input, and writes MODEL."};
  app.add_option("DATA", options.data, "The training set")->required()->type_name("");
  app.add_option("MODEL", options.model, "The file to write; - for standard output")->type_name("");
  add_reading(app, options.common, options.read, options.memory,
              "The labels' column by name or number from 1 (default: last); of IDX images the file "
              "of the labels");
  app.add_option("--categories", options.read.categories,
                 "Columns of a table that hold words, each of which becomes a column of 0 and 1: "
                 "names or numbers; auto: all with a field that is no number")
      ->type_name("COLUMN[,...]|auto");
  std::string missing;
  add_choice_option(app, "--missing", missing,
                    "What becomes of missing values of a table: the mean of the column, or that "
                    "and a column that says where (default: error)",
                    {"error", "mean", "indicator"});
  add_choice_option(app, "--kernel", options.kernel,
                    "Kernel (default: gaussian; of sparse rows linear)",
                    {"gaussian", "polynomial", "arc-cosine", "linear"});
  const std::string several = choosing ? "; several with commas" : "";
  add_text_option(
      app, "--degree", "Polynomial: (<x, x'> + C)^D (default: 5" + several + ")",
      [&](const std::string& text) { options.degrees = parse_whole_list<int>(text, 1, 64); })
      ->type_name("D");
  add_real_option(app, "--offset", options.offset, "Polynomial: (<x, x'> + C)^D (default: 1)", 0,
                  1e15)
      ->type_name("C");
  add_text_option(app, "--width",
                  choosing
                      ? "Gaussian: exp(-|x - x'|^2 / W^2) (default: 1/4, 1/2, 1 and 2 times "
                        "the median distance, and beyond where an end is best" +
                            several + ")"
                      : "Gaussian: exp(-|x - x'|^2 / W^2) (default: 0.7 of the median distance, "
                        "half or twice of it, and beyond where that is best)",
                  [&](const std::string& text) { options.widths = parse_reals(text, 1e-9, 1e9); })
      ->type_name("W");
  add_text_option(
      app, "--depth",
      "Arc-cosine: layers of the network, 1: the cosine (default: 2" + several + ")",
      [&](const std::string& text) { options.depths = parse_whole_list<int>(text, 1, 1000); })
      ->type_name("L");
  app.add_flag("--normalise", options.normalise, "The kernel sees each row scaled to norm 1");
  bool standardise = false;
  app.add_flag("--standardise,!--no-standardise", standardise,
               "Scale every column to mean 0 and deviation 1, of new rows by the same numbers, or "
               "do not (default: of tables what says more of rows left out)");
  add_choice_option(app, "--sampler", options.sampler,
                    "How the Bayes point is found (default: perceptron; the others keep matrices "
                    "of rows x rows numbers)",
                    {"perceptron", "billiard", "gibbs", "ep"});
  std::uint64_t draws = 0;
  add_whole_option(app, "--draws", draws,
                   "Classifiers to draw (default: 10, of up to 3000 rows 30, of chains 100)", 1,
                   1'000'000'000);
  add_text_option(
      app, "--soft-boundary",
      "How far rows may lie on the wrong side, in units of k(x, x) (default: "
      "automatic" +
          several + ")",
      [&](const std::string& text) {
        options.soft_boundary.clear();
        if (text == "automatic") return;
        try {
          options.soft_boundary =
              text == "hard" ? std::vector<double>{0} : parse_reals(text, 0, 1e6);
        } catch (const std::invalid_argument& error) {
          throw std::invalid_argument(std::string(error.what()) + "; or write automatic, or hard");
        }
        if (!std::ranges::is_sorted(options.soft_boundary)) {
          throw std::invalid_argument("'" + text + "' does not ascend");
        }
      })
      ->type_name("automatic|hard|NUMBER");
  double bias = 0;
  add_real_option(
      app, "--bias", bias,
      "Constant beside the kernel, in units of the mean k(x, x) (default: 0, 0.3 or 1, "
      "chosen; with ep, or a NUMBER for --soft-boundary in train, 1, of sparse rows 0.3)",
      0, 1e9)
      ->type_name("B");
  app.add_flag("--many-classes", options.many_classes,
               "Train more than 20 classes of fewer than ten rows each, which are refused as they "
               "look like a quantity");
  app.add_option_function<std::vector<std::string>>(
         "--class-weights",
         [&](const std::vector<std::string>& texts) {
           try {
             for (const std::string& text : texts) {
               if (text == "balanced") {
                 options.balanced = true;
                 continue;
               }
               for (auto& weight :
                    parse_weights(text, "CLASS=WEIGHT; write balanced, or such as yes=10,no=1")) {
                 options.class_weights.push_back(std::move(weight));
               }
             }
           } catch (const std::invalid_argument& error) {
             throw CLI::ValidationError("--class-weights", error.what());
           }
         },
         "Rows of a class weigh so much: balanced, or such as yes=10,no=1 (LIBSVM's -wLABEL W too)")
      ->type_name("CLASS=W,...")
      ->allow_extra_args(false);
  add_whole_option(app, "--folds", options.folds,
                   choosing ? "Parts that are left out in turn (default: 5)"
                            : "Judge by so many parts that are left out in turn, and calibrate "
                              "probabilities by them",
                   2, 1000);
  add_text_option(app, "--risk",
                  "Put a threshold into the model above which at most this share is wrong, 0.01 "
                  "or 1%; of what is called a class, such as yes=1%",
                  [&](const std::string& text) {
                    std::tie(options.risk_class, options.risk) = parse_class_share(text);
                  })
      ->type_name("[CLASS=]R");
  std::optional<double> delta;
  add_share_option(app, "--delta", delta,
                   "The chance that the guarantee of --risk does not hold (default: 0.01)")
      ->type_name("D");
  add_text_option(
      app, "--held-out",
      "What --risk is shown on: a file, or a share of DATA that then trains nothing",
      [&](const std::string& text) {
        try {
          options.held_out_share = parse_share(text);
        } catch (const std::invalid_argument&) {
          if (text.empty() || text.find_first_not_of("+-.0123456789%eE") == std::string::npos) {
            throw;  // A number, but no share.
          }
          options.held_out_file = text;
        }
      })
      ->type_name("FILE|SHARE");
  app.add_option("--checkpoint", options.checkpoint,
                 "Save the training in this folder as it goes on")
      ->type_name("DIR");
  app.add_flag("--resume", options.resume, "Begin with what the folder of --checkpoint holds");
  app.add_flag("--weights-only", options.weights_only,
               "Of a linear kernel: a small model, one number per feature and class");
  add_seed_option(app, options.common);
  add_json_option(app, options.common);
  add_plot_option(app, options.common);

  add_whole_option(app, "--features", options.read.sparse_columns,
                   "Of LIBSVM's format: how many features there are (default: the largest index)",
                   1, 2147483647);
  std::string by;
  if (choosing) {
    add_choice_option(app, "--by", by, "What is to be small out of fold (default: log-loss)",
                      {"error", "log-loss"});
  }

  LibsvmKernel libsvm;
  const std::string svm = "LIBSVM's flags";
  auto* type = add_whole_option(app, "-t", libsvm.type,
                                "Kernel: 0 linear, 1 polynomial, 2 Gaussian (3 is refused)", 0, 3)
                   ->group(svm);
  add_whole_option(app, "-d", libsvm.degree, "Of -t 1, (g <x, x'> + r)^d (default: 3)", 1, 64)
      ->group(svm);
  double gamma = 0;
  add_real_option(app, "-g", gamma, "Of -t 1 and exp(-g |x - x'|^2) (default: 1 / features)", 1e-15,
                  1e15)
      ->group(svm);
  add_real_option(app, "-r", libsvm.offset, "Of -t 1 (default: 0)", 0, 1e15)->group(svm);
  std::size_t parts = 0;
  add_whole_option(app, "-v", parts, "Cross-validate with N folds; no model is written", 2, 1000)
      ->group(svm);
  int probabilities = 1;
  add_whole_option(app, "-b", probabilities,
                   "Changes nothing: there are probabilities where the boundary is automatic", 0, 1)
      ->group(svm);
  app.footer(
      choosing
          ? "Examples:\n"
            "  bpm choose flowers.csv --standardise\n"
            "  bpm choose flowers.csv chosen.model --kernel polynomial --degree 1,2,3 --folds 10"
          : "Examples:\n"
            "  bpm train flowers.csv flowers.model --label kind --standardise\n"
            "  bpm train flowers.csv flowers.model --standardise --risk 10% --held-out 0.4");

  parse_words(app, translated(argc, argv), argv[0]);
  const auto given = [&app](const char* name) { return app.get_option(name)->count() > 0; };
  if (given("--draws")) options.draws = draws;
  if (given("--bias")) options.bias = bias;
  if (given("--standardise")) options.standardise = standardise;
  options.by_error = by == "error";
  using Missing = bpm::TableEncoding::Missing;
  options.read.missing = missing == "mean"        ? Missing::mean
                         : missing == "indicator" ? Missing::indicator
                                                  : Missing::error;
  options.kernel_given = given("--kernel") || given("--width");
  if (delta) options.delta = *delta;
  if (given("-v")) {
    options.only_cross_validate = true;
    options.model.clear();  // As svm-train does.
  }
  if (type->count() > 0 || given("-g") || given("-d") || given("-r")) {
    if (libsvm.type == 3) {
      throw UsageError(
          "-t 3: the sigmoid is no positive semi-definite kernel; use -t 2, or "
          "--kernel arc-cosine, a network's kernel");
    }
    if (given("-g")) libsvm.gamma = gamma;
    options.libsvm = libsvm;
  }
  if (given("-v")) options.folds = parts;
  // Of equals the widest is chosen, which is the last.
  const auto ascending = [](auto& values) {
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
  };
  ascending(options.widths);
  ascending(options.degrees);
  ascending(options.depths);
  check_kernel_options(app, options, type->count() > 0);
  check_train_options(app, options);
  check_model_writable(options);
  return options;
}

namespace {

[[nodiscard]] RejectOption parse_reject(const std::string& text) {
  using By = RejectOption::By;
  if (text == "risk") return {By::risk, 0};
  const std::size_t equals = text.find('=');
  const std::string what = text.substr(0, equals);
  if (equals == std::string::npos || (what != "rate" && what != "error")) {
    throw std::invalid_argument("'" + text + "' is none of rate=R, error=E and risk");
  }
  return {what == "rate" ? By::rate : By::error, parse_share(text.substr(equals + 1))};
}

}  // namespace

PredictOptions parse_predict_options(int argc, const char* const* argv, bool evaluating) {
  PredictOptions options;
  CLI::App app{evaluating ? "Judges MODEL by the labels of DATA: errors, rejection, and how good "
                            "its probabilities are."
                          : "Predicts the rows of DATA by MODEL: CSV with a line a row, the label "
                            "and the probability of each class."};
  app.add_option("MODEL", options.model, "The model's file; - for standard input")
      ->required()
      ->type_name("");
  app.add_option("DATA", options.data, "The rows; - for standard input")->required()->type_name("");
  if (!evaluating) {
    app.add_option("OUT", options.out, "The file to write (default: -, standard output)")
        ->type_name("");
  }
  add_reading(app, options.common, options.read, options.memory,
              evaluating
                  ? "The labels' column by name or number from 1 (default: last, or where "
                    "the model knows that it stood); of IDX images the file of the labels"
                  : "The labels' column, which is no feature (default: where the model knows that "
                    "it stood, else every column is one)");
  add_text_option(app, "--reject",
                  "Leave undecided: a share of rows; as many as bring the share of errors that the "
                  "probabilities expect to E; or what the guaranteed risk of training asks for",
                  [&](const std::string& text) { options.reject = parse_reject(text); })
      ->type_name("rate=R|error=E|risk");
  add_text_option(app, "--threshold",
                  "Of two classes: say CLASS (default: the second) where its probability is P or "
                  "more, else the other",
                  [&](const std::string& text) {
                    std::tie(options.threshold.class_name, options.threshold.probability) =
                        parse_class_share(text);
                  })
      ->type_name("[CLASS=]P");
  add_text_option(app, "--costs",
                  "Of two classes: what it costs to say CLASS of a row of the other, such as "
                  "yes=1,no=5; what is said costs least by the probabilities",
                  [&](const std::string& text) {
                    options.threshold.costs =
                        parse_weights(text, "CLASS=COST; write such as yes=1,no=5");
                  })
      ->type_name("CLASS=C,CLASS=D");
  if (!evaluating) {
    app.add_option("--keep", options.read.kept,
                   "Columns of a table to copy beside the answers: names or numbers, with commas "
                   "between")
        ->type_name("COLUMN[,...]");
  }
  int probabilities = 1;
  add_whole_option(app, "-b", probabilities,
                   "LIBSVM's; changes nothing: there are probabilities where the model has them", 0,
                   1);
  if (evaluating) {
    add_json_option(app, options.common);
    add_plot_option(app, options.common);
  }
  app.footer(evaluating
                 ? "Examples:\n"
                   "  bpm evaluate flowers.model more-flowers.csv\n"
                   "  bpm evaluate flowers.model more-flowers.csv --reject risk --json e.json"
                 : "Examples:\n"
                   "  bpm predict flowers.model unlabelled.csv predictions.csv\n"
                   "  bpm predict flowers.model more-flowers.csv --label kind --reject "
                   "rate=10%");
  const std::vector<std::string> words(argv + 1, argv + argc);
  parse_words(app, words, argv[0]);
  options.threads_given = app.get_option("--threads")->count() > 0;
  const ThresholdOption& threshold = options.threshold;
  if (threshold.probability && !threshold.costs.empty()) {
    throw UsageError("--threshold and --costs both say when a class is said: take one");
  }
  if (!threshold.costs.empty() &&
      (threshold.costs.size() != 2 || threshold.costs[0].first == threshold.costs[1].first)) {
    throw UsageError("--costs: name both classes once, such as yes=1,no=5");
  }
  if ((threshold.probability || !threshold.costs.empty()) &&
      options.reject.by == RejectOption::By::risk) {
    throw UsageError(
        "--reject risk: the guarantee is of the model's own labels, leave out --threshold and "
        "--costs");
  }
  if (options.model == "-" && options.data == "-") {
    throw UsageError("MODEL and DATA are both -: one of them must be a file");
  }
  const std::vector<std::string> read{options.model, options.data, options.read.label};
  check_results(options.common, read, {});
  check_not_read(options.out, read);
  if (!is_model_file(options.model) && is_model_file(options.data)) {
    throw UsageError("MODEL comes first, then DATA: '" + options.data + "' is a model, '" +
                     options.model + "' is none");
  }
  if (is_model_file(options.out)) {
    throw UsageError("'" + options.out +
                     "' is a model, which predictions would replace: name another file");
  }
  if (options.out != "-") check_writable(options.out);
  return options;
}

InfoOptions parse_info_options(int argc, const char* const* argv) {
  InfoOptions options;
  CLI::App app{"Says what MODEL is: its kernel, classes, and how it was trained."};
  app.set_help_flag("--help,-h", "Print this and exit");
  app.add_option("MODEL", options.model, "The model's file; - for standard input")
      ->required()
      ->type_name("");
  app.add_flag("--quiet,-q", options.common.quiet, "No report");
  add_json_option(app, options.common);
  app.footer(
      "Examples:\n"
      "  bpm info flowers.model\n"
      "  bpm info flowers.model --quiet --json info.json");
  const std::vector<std::string> words(argv + 1, argv + argc);
  parse_words(app, words, argv[0]);
  check_results(options.common, {options.model}, {});
  return options;
}

std::string overview() {
  return "Bayes point machines on files.\n"
         "Usage: bpm COMMAND [OPTIONS] ...\n\n"
         "  bpm train DATA MODEL          train on a table, LIBSVM's format or IDX images\n"
         "  bpm choose DATA [MODEL]       choose kernel and soft boundary, and train\n"
         "  bpm predict MODEL DATA [OUT]  labels and probabilities as CSV\n"
         "  bpm evaluate MODEL DATA       errors, rejection, calibration\n"
         "  bpm info MODEL                what a model is\n\n"
         "bpm help COMMAND shows a command's options and examples, bpm --version the version.\n"
         "Exit status: 0 done, 1 not done, 2 the command line is not understood,\n"
         "130 stopped by Ctrl-C (a model of the draws so far is written), 141 nobody read on.\n";
}

}  // namespace bpm_examples
