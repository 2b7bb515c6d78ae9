// SPDX-License-Identifier: MIT
// One libFuzzer program for all doors through which bytes come in: the first byte of an input says
// which. Bytes are refused by the error that the door documents, or taken; anything else ends the
// program.
//   tests/fuzz.sh MINUTES

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/word_hash.hpp"
#include "bpm/data/gzip.hpp"
#include "bpm/data/idx.hpp"
#include "bpm/data/svmlight.hpp"
#include "bpm/data/table.hpp"
#include "bpm/storage/draw_store.hpp"
#include "bpm/storage/model_file.hpp"
#include "mnist/options.hpp"

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

/// The body of a file of draws, under a head and before a checksum that are right.
void read_draws(std::string_view bytes) {
  static constexpr std::ptrdiff_t points = 5;
  static constexpr bpm::detail::DrawPiece piece{0, 0, 2};
  static const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("bpm_fuzz_" + std::to_string(::getpid()));
  static const bpm::detail::DrawStore store(folder, {1, 2, 3, 4, 5, 6}, points);
  static const std::string head = [] {
    store.write(
        {piece,
         {{{0}, {1}, std::vector<double>(points, 1)}, {{}, {}, std::vector<double>(points, 1)}},
         {}});
    std::ifstream in(store.path_of(piece), std::ios::binary);
    std::string file{std::istreambuf_iterator<char>(in), {}};
    // What follows the head: of two solutions the support's size, five outputs, one support point;
    // the checksum.
    const std::size_t body = 2 * 8 + 2 * points * 8 + 4 + 8;
    return file.substr(0, file.size() - body - 8);
  }();
  std::string file = head + std::string(bytes);
  bpm::detail::WordHash hash;
  hash.add_bytes(file.data(), file.size());
  hash.add(std::uint64_t{file.size()});
  const std::uint64_t sum = hash.value();
  file.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  std::ofstream(store.path_of(piece), std::ios::binary) << file;
  static_cast<void>(store.read(piece));
}

/// A model that was taken predicts finite numbers, or says why not; read in place, the same ones.
void load_model(std::string_view text) {
  const std::vector<std::byte> bytes(std::as_bytes(std::span(text)).begin(),
                                     std::as_bytes(std::span(text)).end());
  const auto any = bpm::load_any(bytes);
  std::visit(
      [&](const auto& model) {
        using Inputs = std::remove_cvref_t<decltype(model.parts().inputs)>;
        const Eigen::Index columns = model.parts().inputs.cols();
        if (bpm::DenseInputs<Inputs> && columns > 1000) return;
        Inputs questions(2, columns);
        if constexpr (bpm::DenseInputs<Inputs>) questions.setOnes();
        try {
          const Eigen::MatrixXd values = model.decision_values(questions);
          if (!values.allFinite()) __builtin_trap();
          if constexpr (bpm::DenseInputs<Inputs>) {
            using Mapped = bpm::Mapped<std::remove_cvref_t<decltype(model)>>;
            const bpm::detail::TensorFile file(bytes, "the model");
            try {
              const auto mapped = bpm::detail::read_classifier<Mapped>(file, nullptr);
              if (mapped.decision_values(questions) != values) __builtin_trap();
            } catch (const bpm::DataError&) {  // Arrays at odd places.
            }
          }
        } catch (const std::invalid_argument&) {  // Questions that its scaling takes beyond float.
        }
      },
      any);
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
    if (word.starts_with("--json") || word.starts_with("--plot")) return;
    argv.push_back(word.c_str());
  }
  static_cast<void>(bpm_examples::parse_mnist_options(static_cast<int>(argv.size()), argv.data()));
}

constexpr std::array doors{read_idx,      read_idx_labels,      read_csv,
                           read_svmlight, read_sparse_svmlight, read_gzip,
                           read_draws,    load_model,           parse_command_line};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    doors[data[0] % doors.size()](bytes);
  } catch (const bpm::DataError&) {
  } catch (const bpm::CheckpointError&) {
  } catch (const bpm::KernelValueError&) {
  } catch (const bpm_examples::UsageError&) {
  } catch (const bpm_examples::HelpRequested&) {
  }
  return 0;
}
