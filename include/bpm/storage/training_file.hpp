// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/automatic_boundary.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/machine/fit_steps.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/training.hpp"
#include "bpm/samplers/chains/stored_chain.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/storage/json_fields.hpp"
#include "bpm/storage/model_file.hpp"
#include "bpm/storage/run_digest.hpp"
#include "bpm/storage/stored_members.hpp"
#include "bpm/storage/tensor_file.hpp"
#include "bpm/version_space/version_space.hpp"

/// \file
/// With this header `save` takes trainings, and `resume` goes on from them: ten draws today and ten
/// tomorrow, from a file and the training set, are the twenty that one run would have made, to the
/// bit.
///
///     bpm::save(machine.train(inputs, labels), "ten-draws");                    // today
///     auto training = bpm::resume(machine, inputs, labels, "ten-draws");        // tomorrow
///     training.add_draws(10);
///
/// A file holds sums over draws, kept draws and where chains stand; not the inputs, and of kernel,
/// labels and settings what tells them from others.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// What draws of a sampler depend on, by name.
struct SettingsWriter {
  Json& object;
  template <class Setting>
  void operator()(const char* name, const Setting& setting) {
    if constexpr (std::is_enum_v<Setting>) {
      object[name] = static_cast<int>(setting);
    } else {
      object[name] = to_json_value(setting);
    }
  }
};

/// Sees the members of trainings.
struct StoredTraining {
  template <class Sampler>
  static constexpr void require_members() {
    constexpr bool state = [] {
      if constexpr (sees_cones<Sampler>) {
        return HasMembers<typename Sampler::State>;
      } else {
        return true;
      }
    }();
    static_assert(HasMembers<Sampler> && state,
                  "a training with a sampler of one's own is saved by template <class Self, class "
                  "Visit> static void visit_members(Self&, Visit&&) of the sampler and of its "
                  "State: see bpm/samplers/chains/stored_chain.hpp");
  }

  template <class Sampler>
  [[nodiscard]] static Json settings_of(const Sampler& sampler) {
    Json settings = Json::object();
    Sampler::visit_members(sampler, SettingsWriter{settings});
    if constexpr (sees_cones<Sampler>) {
      settings["name"] = std::string(sampler.plan().name);
    } else {
      settings["name"] =
          std::derived_from<Sampler, PermutedPerceptron> ? "PermutedPerceptron" : "sampler";
    }
    return settings;
  }

  /// Calls look(kernel values) with values of this kernel, one by one.
  template <class T, class Kernel, class Look>
  static void look_at_values(const T& training, const Kernel& kernel, Look&& look) {
    MemoryForecast nothing_kept = training.forecast_;
    nothing_kept.strategy = Strategy::windowed;
    nothing_kept.kept_rows = 0;
    static_cast<void>(with_kernel_values(kernel, *training.inputs_, nothing_kept, RunControl{},
                                         look, [](const auto&) { return SamplerReport{}; }));
  }

  template <class T>
  static void resolve_lambda(T& training) {
    look_at_values(training, with_bias(training.kernel_, training.bias_), [&](const auto& gram) {
      training.problems_.resolve_lambda(gram, training.settings_.soft_boundary,
                                        training.labels_.list());
    });
  }

  /// What tells the draws of this training from others'; hashes of what is large. `hashes`: of the
  /// inputs. Cost: 20 m kernel values.
  template <class T>
  [[nodiscard]] static Json identity(const T& training, std::span<const std::uint64_t> hashes) {
    Json run = Json::object();
    const std::span<const int> labels = training.labels_.list();
    run["points"] = labels.size();
    run["labels"] = fingerprint({}, labels);
    run["inputs"] = fingerprint(hashes, {});
    look_at_values(training, training.kernel_, [&]<class Value>(const Gram<Value>& gram) {
      BlockScratch<Value> scratch;
      run["kernel"] =
          digest_of_kernel(KernelVersionSpace(gram, training.problems_.signs[0]), scratch);
    });
    run["bias"] = training.bias_;
    WordHash boundary;
    for (const double number : training.given_boundary_.signature()) boundary.add(number);
    if (training.given_boundary_.is_automatic()) {
      if (const auto& choice = training.settings_.boundary_choice) {
        boundary.add(choice->relative_lambda);
        boundary.add(choice->label_noise);
      }
    } else {
      for (const auto& lambda : training.problems_.lambda) {
        for (const double number : *lambda) boundary.add(number);
      }
    }
    run["soft_boundary"] = boundary.value();
    run["seed"] = training.settings_.seed;
    run["keep_draws"] = training.settings_.keep_draws;
    run["sampler"] = settings_of(training.given_sampler_);
    return run;
  }

  /// \throws DataError where two runs differ, by the first thing in which they do.
  static void check_identity(const Json& mine, const Json& theirs, const std::string& name) {
    struct Part {
      const char* key;
      const char* word;
      bool shown;
    };
    constexpr std::array parts{Part{"points", "number of points", true},
                               Part{"labels", "labels", false},
                               Part{"inputs", "inputs", false},
                               Part{"kernel", "kernel", false},
                               Part{"bias", "bias", true},
                               Part{"soft_boundary", "soft boundary", false},
                               Part{"seed", "seed", true},
                               Part{"keep_draws", "keep_draws", true}};
    const auto compare = [&](const Json& here, const Json& there, const std::string& key,
                             const std::string& word, bool shown) {
      ensure<DataError>(there.is_object() && there.contains(key), name, ": run.", key,
                        " is missing");
      if (here[key] == there[key]) return;
      throw DataError(
          join(name, " belongs to another run: other ", word,
               shown ? join(" (", there[key].dump(), " there, ", here[key].dump(), " here)") : "",
               "; give the data and settings of that run"));
    };
    for (const Part& part : parts) compare(mine, theirs, part.key, part.word, part.shown);
    ensure<DataError>(theirs.contains("sampler"), name, ": run.sampler is missing");
    compare(mine["sampler"], theirs["sampler"], "name", "sampler", true);
    for (const auto& [key, value] : mine["sampler"].items()) {
      compare(mine["sampler"], theirs["sampler"], key, key, value.is_primitive());
    }
  }

  /// What a run has left.
  template <class Self, class Visit>
  static void visit(Self& training, Visit&& visit) {
    visit_members_of(training.state_, visit);
    visit("boundary", training.boundary_);
  }

  template <class T>
  static void write(const T& training, TensorFileWriter& file) {
    const auto hashes = training.unchanged_hashes("save");
    file.set("run", identity(training, hashes).dump());
    Json object = Json::object();
    visit(training, MemberWriter(file, "", object));
    // A sampler's reason may be in any letters.
    file.set("training", object.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  /// \throws std::invalid_argument on numbers that no run leaves.
  template <class T>
  static void read(T& training, const Json& object, const TensorFile& file) {
    const auto points = static_cast<std::ptrdiff_t>(training.labels_.list().size());
    visit(training, MemberReader(file, "", object, points));
    const auto& state = training.state_;
    const std::size_t problems = training.problems_.size();
    check_size("training", "states", state.states.size(), problems, "one a binary subproblem");
    check_size("training", "streams", state.streams.size(), problems, "one a binary subproblem");
    for (std::size_t p = 0; p < problems; ++p) {
      check(state.streams[p].seed == training.settings_.seed, "training", "streams",
            "have another seed, ", state.streams[p].seed);
      check_counted("streams", state.streams[p].next);
      check(state.means[p].count() > 0, "training", "means", "have no draw");
      if constexpr (requires { state.states[p].empty(); }) {
        check(!state.states[p].empty(), "training", "states", "have none of problem ", p);
      }
    }
  }

  template <class T>
  static void take_boundary(T& training) {
    const bool chooses = training.settings_.soft_boundary.is_automatic();
    check(training.boundary_.has_value() == chooses, "training", "boundary",
          chooses ? "is missing, must have been chosen" : "is there, but was not to be chosen");
    if (!chooses) return;
    static_cast<void>(begun_choice(
        *training.boundary_,
        std::remove_cvref_t<decltype(training.sampler_)>::traits.takes_label_noise, "training"));
    training.take_boundary();
    resolve_lambda(training);
  }

  template <class Kernel, class Sampler, class I>
  [[nodiscard]] static auto resumed(const BayesPointMachine<Kernel, Sampler>& machine,
                                    bool any_number, I&& inputs, LabelList labels,
                                    const TensorFile& file) {
    require_members<Sampler>();
    constexpr std::string_view function = "resume";
    check_model(file, training_kind);
    const auto json = [&](const char* key) {
      return parse_json(file.text(key), join(file.name(), ": '", key, "'"));
    };
    return with_training_set(
        machine, any_number, std::forward<I>(inputs), labels.list(), function,
        [&]<class T>(std::type_identity<T>, auto kept, std::vector<int> classes) {
          T training(machine.kernel(), machine.sampler(), machine.settings(), std::move(kept),
                     std::move(labels), std::move(classes), function);
          const auto hashes = input_hashes(*training.inputs_);
          training.fingerprint_ = fingerprint(hashes, training.labels_.list());
          training.begin();
          if (!training.settings_.soft_boundary.is_automatic()) resolve_lambda(training);
          check_identity(identity(training, hashes), json("run"), file.name());
          try {
            read(training, json("training"), file);
            take_boundary(training);
          } catch (const std::invalid_argument& error) {
            throw DataError(join(file.name(), ": ", error.what()));
          }
          return training;
        });
  }
};

template <class Kernel, class Sampler, class Inputs>
struct StoredModel<Training<Kernel, Sampler, Inputs>> {
  using Model = Training<Kernel, Sampler, Inputs>;
  static constexpr bool known = true;
  static constexpr std::string_view kind = training_kind;

  static void write(const Model& training, TensorFileWriter& file) {
    StoredTraining::require_members<Sampler>();
    StoredTraining::write(training, file);
  }
  [[nodiscard]] static Model read(const TensorFile& /*file*/) {
    static_assert(!std::same_as<Model, Model>,
                  "a training is read by resume(machine, inputs, labels, file), which has its "
                  "training set and its settings");
  }
};

template <class Kernel, class Sampler>
[[nodiscard]] const auto& machine_of_two(const BayesPointMachine<Kernel, Sampler>& machine) {
  return machine;
}
template <class Kernel, class Sampler>
[[nodiscard]] const auto& machine_of_two(const OneVsRest<Kernel, Sampler>& machine) {
  return machine.machine();
}
/// What trains by draws.
template <class M>
concept DrawingMachine = requires(const M& machine) { machine_of_two(machine); };

}  // namespace detail

/// The training that `save` has put into these bytes, which may be any: as if it had never been
/// elsewhere. `machine`, `inputs` and `labels` are those that made it, but for the number of draws
/// and other budgets, threads, memory and strategy; those given as lvalues are referred to. `name`
/// stands in messages. Cost: 20 m kernel values; the first draws after it factor the kernel matrix
/// again where a sampler needs that.
/// \throws std::invalid_argument as `train`, on inputs, labels and settings.
/// \throws DataError on bytes that are no training, or are one of another run: the message says in
///         what it differs. No more memory is taken than a small multiple of the bytes. Sums and
///         positions that are sound but wrong make a wrong model, and perhaps an error of
///         `add_draws`.
template <detail::DrawingMachine Machine, class I>
[[nodiscard]] auto resume(const Machine& machine, I&& inputs, detail::LabelList labels,
                          std::span<const std::byte> bytes,
                          const std::string& name = "the training") {
  const auto& of_two = detail::machine_of_two(machine);
  constexpr bool any_number = !std::same_as<Machine, std::remove_cvref_t<decltype(of_two)>>;
  const detail::TensorFile file(bytes, name);
  return detail::StoredTraining::resumed(of_two, any_number, std::forward<I>(inputs),
                                         std::move(labels), file);
}
/// To the stream's end.
template <detail::DrawingMachine Machine, class I>
[[nodiscard]] auto resume(const Machine& machine, I&& inputs, detail::LabelList labels,
                          std::istream& in, const std::string& name = "the training") {
  const std::string bytes = detail::read_all(in, name);
  return resume(machine, std::forward<I>(inputs), std::move(labels),
                std::as_bytes(std::span(bytes)), name);
}
/// \throws DataError also where the file cannot be read.
template <detail::DrawingMachine Machine, class I>
[[nodiscard]] auto resume(const Machine& machine, I&& inputs, detail::LabelList labels,
                          const std::filesystem::path& path) {
  const detail::OpenFile file = detail::open_file(path);
  return resume(machine, std::forward<I>(inputs), std::move(labels), *file.stream, file.name);
}

}}  // namespace bpm
