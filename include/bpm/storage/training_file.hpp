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
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/training.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/storage/model_file.hpp"
#include "bpm/storage/run_identity.hpp"
#include "bpm/storage/stored_members.hpp"
#include "bpm/storage/tensor_file.hpp"
#include "bpm/version_space/version_space.hpp"

/// \file
/// This header extends `save` to trainings, which `resume` continues: ten draws today and ten
/// tomorrow, from a file and the training set, are the twenty of one run, to the bit.
///
///     bpm::save(machine.train(inputs, labels), "ten-draws");                    // today
///     auto training = bpm::resume(machine, inputs, labels, "ten-draws");        // tomorrow
///     training.add_draws(10);
///
/// A file contains sums over draws, kept draws and positions of chains, and identifies kernel,
/// inputs, labels and settings, but does not contain the inputs.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Reads and writes the private members of trainings.
struct StoredTraining {
  template <class Sampler>
  static constexpr void require_members() {
    static_assert(HasMembers<Sampler> &&
                      (!sees_cones<Sampler> || HasMembers<typename StateOf<Sampler>::type>),
                  "a training with a sampler of one's own is saved by template <class Self, class "
                  "Visit> static void visit_members(Self&, Visit&&) of the sampler and of its "
                  "State: see bpm/core/errors.hpp");
  }

  template <class T>
  static void resolve_lambda(T& training) {
    training.fit_.problems.resolve_lambda(*training.kernel_values(),
                                          training.fit_.settings.soft_boundary,
                                          training.fit_.labels.list());
  }

  /// Returns the identity of this training's draws. `hashes`: those of the inputs. Cost: 20 m
  /// kernel values.
  template <class T>
  [[nodiscard]] static RunIdentity identity(const T& training,
                                            std::span<const std::uint64_t> hashes) {
    RunIdentity run;
    const FitSettings& settings = training.fit_.settings;
    run("number of points", training.fit_.labels.list().size());
    run("labels", training.fit_.labels.list());
    run("inputs", hashes);
    run("bias", relative_bias<decltype(training.kernel_)>(settings, "save"));
    const auto gram = training.kernel_values();
    using Value = typename std::remove_cvref_t<decltype(*gram)>::Scalar;
    BlockScratch<Value> scratch;
    std::vector<KernelVersionSpace<Value>> spaces;
    for (const auto& signs : training.fit_.problems.signs) {
      spaces.emplace_back(std::as_const(*gram), signs);
    }
    add_run(run, training.fit_.given_sampler, std::span(std::as_const(spaces)), settings.seed,
            scratch, 0, "kernel");
    run("keep_draws", settings.keep_draws);
    std::vector<double> boundary = training.fit_.given_boundary.signature();
    const auto add = [&](const auto& numbers) {
      boundary.insert(boundary.end(), numbers.begin(), numbers.end());
    };
    if (!training.fit_.given_boundary.is_automatic()) {
      // Once per subproblem, as in the files of before.
      for (std::size_t p = 0; p < training.fit_.problems.size(); ++p) {
        add(*training.fit_.problems.lambda);
      }
    } else if (const auto& choice = settings.boundary_choice) {
      add(std::array{choice->relative_lambda, choice->label_noise});
    }
    run("soft boundary", boundary);
    return run;
  }

  template <class Kernel, class Sampler, class Inputs, class Boundary>
  static void write(const Training<Kernel, Sampler, Inputs, Boundary>& training,
                    TensorFileWriter& file) {
    require_members<Sampler>();
    const auto hashes = training.unchanged_hashes("save");
    file.set("run", identity(training, hashes).text());
    Json object = Json::object();
    MemberWriter writer(object, &file);
    training.fit_.state.visit_members(training.fit_.state, writer);
    writer("boundary", training.fit_.boundary);
    // The text of a sampler's reason may have any encoding.
    file.set("training", object.dump(-1, ' ', false, Json::error_handler_t::replace));
    file.seal();
  }

  /// Reads the state of a run. \throws std::invalid_argument on numbers that no run produces.
  template <class T>
  static void read(T& training, const TensorFile& file) {
    auto& fit = training.fit_;
    const Json object = file.json_object("training");
    MemberReader reader(file.name() + ": ", &file, std::ssize(fit.labels.list()));
    reader.read_members(object, fit.state, "");
    fit.boundary.reset();
    if (object.contains("boundary")) {
      reader.read(object["boundary"], fit.boundary.emplace(), "boundary");
    }
    if constexpr (requires { fit.state.states[0].empty(); }) {
      for (std::size_t p = 0; p < fit.problems.size(); ++p) {
        check(!fit.state.states[p].empty(), "training", "states", "have none of problem ", p);
      }
    }
    if (!fit.settings.soft_boundary.is_automatic()) return;
    check(fit.boundary.has_value(), "training", "boundary", "is missing, must have been chosen");
    fit.take_boundary(*fit.boundary);
    resolve_lambda(training);
  }

  template <class Kernel, class Sampler, class Boundary, class I>
  [[nodiscard]] static auto resumed(const BayesPointMachine<Kernel, Sampler, Boundary>& machine,
                                    bool any_number, I&& inputs, LabelList labels,
                                    const TensorFile& file) {
    require_members<Sampler>();
    constexpr std::string_view function = "resume";
    check_model(file, training_kind);
    ensure<DataError>(file.text("checksum") == file.checksum(), file.name(),
                      " is damaged: its checksum is wrong");
    const std::vector<int> classes =
        check_labels(input_count(inputs), labels.list(), function, any_number);
    Training training(machine, keep_or_refer(std::forward<I>(inputs)), std::move(labels), classes,
                      function);
    const auto hashes = input_hashes(*training.inputs_);
    training.fingerprint_ = fingerprint(hashes, training.fit_.labels.list());
    if (!training.fit_.settings.soft_boundary.is_automatic()) resolve_lambda(training);
    const std::string other = identity(training, hashes).difference(RunIdentity(file.text("run")));
    ensure<DataError>(other.empty(), file.name(), " belongs to another run: other ", other,
                      "; give the data and settings of that run");
    made_of_file(file.name(), [&] { read(training, file); });
    return training;
  }
};

template <class Kernel, class Sampler, class Inputs, class Boundary>
struct StoredModel<Training<Kernel, Sampler, Inputs, Boundary>> {
  using Model = Training<Kernel, Sampler, Inputs, Boundary>;
  static constexpr std::string_view kind = training_kind;
  static void write(const Model& training, TensorFileWriter& file) {
    StoredTraining::write(training, file);
  }
  [[nodiscard]] static Model read(const TensorFile& /*file*/) {
    static_assert(!std::same_as<Model, Model>,
                  "a training is read by resume(machine, inputs, labels, file), which has its "
                  "training set and its settings");
  }
};

/// A machine that trains by draws.
template <class M>
concept DrawingMachine = M::makes_draws;

}  // namespace detail

/// Returns the training that `save` wrote to these bytes, which may be any, in the state in which
/// it was saved. `machine`, `inputs` and `labels` must be those that made it, except for the number
/// of draws and other budgets, threads, memory and strategy; it refers to lvalues. `name` is the
/// training's in messages. Cost: 20 m kernel values; where a sampler needs a factor of the kernel
/// matrix, the first draws compute it again. \throws std::invalid_argument as `train`, on inputs,
/// labels and settings. \throws DataError on bytes that are no training, or are one of another run:
/// the message names the difference. Memory is limited to a small multiple of the bytes. Sums and
/// positions that are valid but wrong make a wrong model, and perhaps an error of `add_draws`.
template <detail::DrawingMachine Machine, class I>
[[nodiscard]] auto resume(const Machine& machine, I&& inputs, detail::LabelList labels,
                          std::span<const std::byte> bytes,
                          const std::string& name = "the training") {
  const BayesPointMachine of_two(machine.kernel(), machine.sampler(), machine.boundary(),
                                 machine.settings());
  detail::check_not_standardised(machine.settings(), "resume");
  const detail::TensorFile file(bytes, name);
  return detail::StoredTraining::resumed(of_two, Machine::any_number_of_classes,
                                         std::forward<I>(inputs), std::move(labels), file);
}
/// Reads a training up to the stream's end.
template <detail::DrawingMachine Machine, class I>
[[nodiscard]] auto resume(const Machine& machine, I&& inputs, detail::LabelList labels,
                          std::istream& in, const std::string& name = "the training") {
  const std::string bytes = detail::read_all(in, name);
  return resume(machine, std::forward<I>(inputs), std::move(labels),
                std::as_bytes(std::span(bytes)), name);
}
/// Reads a training from a file. \throws DataError also if the file cannot be read.
template <detail::DrawingMachine Machine, class I>
[[nodiscard]] auto resume(const Machine& machine, I&& inputs, detail::LabelList labels,
                          const std::filesystem::path& path) {
  const detail::OpenFile file = detail::open_file(path);
  return resume(machine, std::forward<I>(inputs), std::move(labels), *file.stream, file.name);
}

}}  // namespace bpm
