// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/storage/training_file.hpp"
#include "common/machine_info.hpp"
#include "common/program.hpp"

/// \file
/// Fits whose training is saved as it goes on, in the folder of --checkpoint.

namespace bpm_examples {

/// Returns the file of the folder's training; neither need exist. Throws `UsageError` where the
/// name is that of a file, or the folder holds something else: draws in files of their own, say,
/// which earlier versions kept.
[[nodiscard]] inline std::filesystem::path training_file(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  fs::path file = folder / "training";
  if (!fs::exists(folder) || fs::exists(file)) return file;
  const std::string name = "--checkpoint: '" + folder.string() + "'";
  if (!fs::is_directory(folder)) throw UsageError(name + " is no folder");
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string other = entry.path().filename().string();
    if (other.starts_with("training.partial-")) continue;  // A save that was killed left it.
    throw UsageError(bpm::detail::join(
        name, " holds '", other,
        "' and no training; draws in files of their own are not read any more: name another "
        "folder, and the run begins anew"));
  }
  return file;
}

/// Returns the bytes of the folder's training, none where there is none; makes the folder.
[[nodiscard]] inline std::string read_training(const std::filesystem::path& folder) {
  const std::filesystem::path file = training_file(folder);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw std::runtime_error("--checkpoint: '" + folder.string() +
                             "' cannot be made a folder: " + error.message());
  }
  if (!std::filesystem::exists(file)) return {};
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw std::runtime_error(file.string() + " cannot be read");
  return bytes;
}

/// The draws of a fit, and how they are made.
struct FitParts {
  std::uint64_t draws = 0;  ///< Of the whole fit.
  std::uint64_t first = 1;  ///< Of its first part.
  /// A part of fewer seconds is followed by one of twice as many draws: what a part costs besides
  /// its draws, such as a kernel matrix, is soon little.
  double brief = 30;
};

/// Returns the machine's classifier by so many draws, bit for bit that of `fit`. It goes on from
/// the bytes of a training, where there are any, and calls save(training) after each part: a
/// process that is killed loses what it did since. The watch may stop it, as it may `fit`.
template <class Kernel, class Sampler, class Boundary, class Inputs, class Watch, class Save>
[[nodiscard]] auto fit_by_parts(const bpm::OneVsRest<Kernel, Sampler, Boundary>& machine,
                                const Inputs& inputs, std::span<const int> labels,
                                const FitParts& parts, std::string begun, const Watch& watch,
                                const Save& save) {
  bpm::FitSettings settings = machine.settings();
  const auto of = [&](std::uint64_t draws) {
    return bpm::OneVsRest(bpm::BayesPointMachine(
        machine.kernel(), machine.sampler().with_draws(draws), machine.boundary(), settings));
  };
  if (!settings.strategy) {  // That of all draws: of few a matrix would not pay.
    const std::set<int> classes(labels.begin(), labels.end());
    settings.strategy = of(parts.draws).forecast(inputs, classes.size()).strategy;
  }
  const WallTimer timer;
  std::uint64_t part = parts.first;
  const auto first = of(std::min(part, parts.draws));
  auto training = begun.empty()
                      ? first.train(inputs, labels, watch)
                      : bpm::resume(first, inputs, labels, std::as_bytes(std::span(begun)),
                                    "the training of --checkpoint");
  if (training.report().draws > parts.draws) {
    throw UsageError("--checkpoint holds " + std::to_string(training.report().draws) +
                     " draws, more than the " + std::to_string(parts.draws) +
                     " of --draws: ask for as many, or name another folder");
  }
  bool goes_on = true;
  double before = 0;
  const auto end_part = [&] {
    goes_on = !training.report().stopped;
    // Chains that were stopped have classes with more draws than others, and the part is lost.
    if (goes_on || Sampler::traits.sees == bpm::SamplerTraits::Sees::kernel_values) save(training);
    if (timer.seconds() - std::exchange(before, timer.seconds()) < parts.brief) part *= 2;
  };
  if (std::exchange(begun, {}).empty()) end_part();
  while (goes_on && training.report().draws < parts.draws) {
    try {
      training.add_draws(std::min(part, parts.draws - training.report().draws), watch);
    } catch (const bpm::Stopped&) {
      break;  // Before the first draw of this part.
    } catch (const bpm::NotSeparable&) {
      // Where one run would soften its boundary and begin again, this one begins again.
      if (!machine.settings().soft_boundary.is_automatic()) throw;
      training = of(parts.draws).train(inputs, labels, watch);
    }
    end_part();
  }
  return training.classifier();
}

}  // namespace bpm_examples
