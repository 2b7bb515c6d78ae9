// SPDX-License-Identifier: MIT
// One libFuzzer program for all doors through which bytes come in: the first byte of an input says
// which, unless BPM_FUZZ_TARGET names one. Bytes are refused by the error that the door documents,
// or taken; anything else ends the program.
//   tests/fuzz.sh MINUTES [TARGET...]

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/data/gzip.hpp"
#include "bpm/data/idx.hpp"
#include "bpm/data/svmlight.hpp"
#include "bpm/data/table.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/gaussian_process_file.hpp"
#include "bpm/storage/model_file.hpp"
#include "bpm/storage/stored_features.hpp"
#include "bpm/storage/training_file.hpp"
#include "mnist/options.hpp"
#include "resealed.hpp"

namespace {

constexpr std::size_t limit = std::size_t{64} << 20U;

void read_idx(std::string_view bytes) {
  std::istringstream stream{std::string(bytes)};
  static_cast<void>(bpm::read_idx_images(stream));
}

void read_idx_labels(std::string_view bytes) {
  std::istringstream stream{std::string(bytes)};
  static_cast<void>(bpm::read_idx_labels(stream));
}

void read_csv(std::string_view bytes) {
  std::istringstream stream{std::string(bytes)};
  static_cast<void>(bpm::read_table<float>(stream));
}

void read_svmlight(std::string_view bytes) {
  std::istringstream dense{std::string(bytes)};
  static_cast<void>(bpm::read_svmlight_dense<float>(dense, "f", 0, limit));
}

void read_sparse_svmlight(std::string_view bytes) {
  std::istringstream sparse{std::string(bytes)};
  static_cast<void>(bpm::read_svmlight_sparse(sparse));
}

void read_gzip(std::string_view bytes) {
  static_cast<void>(bpm::detail::unpack_gzip(bytes, "f", limit));
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Asks a model with inputs all one, if they have not too many columns. It may refuse them: where
/// its scaling takes them beyond float, where its numbers take outputs beyond double.
template <class Classifier, class Ask>
void ask_with_ones(const Classifier& model, const Ask& ask) {
  using Inputs = std::remove_cvref_t<decltype(model.parts().inputs)>;
  const Eigen::Index columns = model.parts().inputs.cols();
  if (bpm::DenseInputs<Inputs> && columns > 1000) return;
  Inputs queries(2, columns);
  if constexpr (bpm::DenseInputs<Inputs>) queries.setOnes();
  try {
    ask(queries);
  } catch (const std::invalid_argument&) {
  }
}

void check_finite(const Eigen::MatrixXd& values) {
  if (!values.allFinite()) __builtin_trap();
}

/// A model that was taken predicts finite numbers, or says why not; read in place, the same ones.
void load_model(std::string_view text) {
  const auto bytes = std::make_shared<const std::vector<std::byte>>(bytes_of(text));
  const auto look = [&](const auto& model) {
    ask_with_ones(model, [&]<class Inputs>(const Inputs& queries) {
      const Eigen::MatrixXd values = model.decision_values(queries);
      check_finite(values);
      if constexpr (bpm::DenseInputs<Inputs>) {
        using Mapped = bpm::Mapped<std::remove_cvref_t<decltype(model)>>;
        const bpm::detail::TensorFile file(*bytes, "the model");
        try {
          const auto mapped = bpm::detail::read_classifier<Mapped>(file, bytes);
          if (mapped.decision_values(queries) != values) __builtin_trap();
        } catch (const bpm::DataError&) {  // Arrays at odd places.
        }
      }
    });
  };
  std::visit(look, bpm::load_any(*bytes));
}

void load_posterior(std::string_view text) {
  using Model = bpm::PosteriorClassifier<bpm::RuntimeKernel, bpm::RowMatrix<float>>;
  const auto model = bpm::load<Model>(bytes_of(text));
  ask_with_ones(model, [&](const auto& queries) {
    check_finite(model.decision_values(queries));
    const auto latent = model.latent(queries);
    check_finite(latent.mean);
    check_finite(latent.variance);
    check_finite(model.predict_probability(queries));
    static_cast<void>(model.posterior().leave_one_out());
  });
}

void load_interpolator(std::string_view text) {
  using Model = bpm::InterpolatorTraining<bpm::RuntimeKernel, bpm::RowMatrix<double>>;
  const auto model = bpm::load<Model>(bytes_of(text));
  ask_with_ones(model.classifier(), [&](const auto& queries) {
    check_finite(model.classifier().decision_values(queries));
    check_finite(model.variances(queries));
    static_cast<void>(model.leave_one_out_error());
  });
}

/// A training that was taken goes on, or says why not. The input: which sampler, then of bytes of
/// an honest file where they stand, two bytes, and what they are instead; the checksum is right
/// again.
void resume_training(std::string_view changes) {
  static const auto values = [] {
    bpm::RowMatrix<double> rows(8, 8);
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) rows(i, j) = std::exp(-std::abs(i - j));
    }
    return rows;
  }();
  static const std::vector<int> labels{0, 0, 1, 0, 1, 1, 0, 1};
  const auto go_on = [&]<int number>(std::integral_constant<int, number>, const auto& sampler) {
    const bpm::BayesPointMachine machine(
        bpm::PrecomputedKernel{}, sampler,
        {.soft_boundary = bpm::SoftBoundary::relative(0.1), .threads = 1, .keep_draws = true});
    static const std::vector<std::byte> honest = bpm::model_bytes(machine.train(values, labels));
    std::vector<std::byte> bytes = honest;
    for (std::size_t k = 1; k + 2 < changes.size(); k += 3) {
      const auto place = static_cast<std::size_t>(static_cast<unsigned char>(changes[k])) * 256 +
                         static_cast<unsigned char>(changes[k + 1]);
      bytes[place % bytes.size()] = static_cast<std::byte>(changes[k + 2]);
    }
    auto training = bpm::resume(machine, values, labels, test_support::resealed(bytes));
    try {
      static_cast<void>(training.classifier());
      training.add_draws(3);
      static_cast<void>(training.classifier());
    } catch (const std::invalid_argument&) {  // Numbers that do not belong together.
    }
  };
  const unsigned which = changes.empty() ? 0 : static_cast<unsigned char>(changes[0]) % 3;
  if (which == 0) {
    go_on(std::integral_constant<int, 0>{},
          bpm::Billiard{.draws = 3, .bounces_per_draw = 10, .refresh_length = 2, .burn_in = 20});
  }
  bpm::KernelGibbs gibbs{.draws = 3, .steps_per_draw = 10, .burn_in = 20};
  if (which == 1) go_on(std::integral_constant<int, 1>{}, gibbs);
  gibbs.label_noise = 0.1;
  gibbs.directions = bpm::KernelGibbs::Direction::input;
  if (which == 2) go_on(std::integral_constant<int, 2>{}, gibbs);
}

/// What is taken makes features.
void read_features(std::string_view text) {
  const bpm::GradientFeatures gradients = bpm::gradient_features_from(text);
  if (gradients.image().size() > 10000) return;
  const bpm::RowMatrix<std::uint8_t> image =
      bpm::RowMatrix<std::uint8_t>::Constant(1, gradients.image().size(), 9);
  if (gradients(image, 1).cols() != gradients.size()) std::abort();
  if (bpm::gradient_features_from(bpm::describe(gradients)) != gradients) std::abort();
}

/// Words between zero bytes.
void parse_command_line(std::string_view bytes) {
  std::vector<std::string> words{"mnist"};
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\0', begin), bytes.size());
    words.emplace_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<const char*> argv;
  for (const std::string& word : words) {
    // Nothing is to be written.
    for (const char* file : {"--json", "--plot", "--pictures"}) {
      if (word.starts_with(file)) return;
    }
    argv.push_back(word.c_str());
  }
  static_cast<void>(bpm_examples::parse_mnist_options(static_cast<int>(argv.size()), argv.data()));
}

struct Target {
  std::string_view name;
  void (*feed)(std::string_view);
};
// One per line, as tests/fuzz.sh reads them; new ones at the end, so that the seeds stay theirs.
constexpr std::array targets{
    Target{"idx_images", read_idx},
    Target{"idx_labels", read_idx_labels},
    Target{"table", read_csv},
    Target{"svmlight", read_svmlight},
    Target{"svmlight_sparse", read_sparse_svmlight},
    Target{"gzip", read_gzip},
    Target{"features", read_features},
    Target{"model", load_model},
    Target{"command_line", parse_command_line},
    Target{"posterior", load_posterior},
    Target{"interpolator", load_interpolator},
    Target{"training", resume_training},
};

/// The one that the environment names, if it names one.
const Target* held_target() {
  const char* const name = std::getenv("BPM_FUZZ_TARGET");
  if (name == nullptr) return nullptr;
  const auto* const found = std::ranges::find(targets, std::string_view(name), &Target::name);
  if (found != targets.end()) return found;
  std::fprintf(stderr, "BPM_FUZZ_TARGET is %s, which is no target\n", name);
  std::_Exit(2);  // Without the fuzzer, which would keep an input for it.
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Target* const held = held_target();
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Target& target = held != nullptr ? *held : targets[data[0] % targets.size()];
  try {
    target.feed(bytes);
  } catch (const bpm::DataError&) {
  } catch (const bpm::KernelValueError&) {
  } catch (const bpm_examples::UsageError&) {
  } catch (const bpm_examples::HelpRequested&) {
  }
  return 0;
}
