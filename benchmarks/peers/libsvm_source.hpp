// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

/// \file
/// LIBSVM from its source, with the two loops in parallel that its FAQ names ("How can I use OpenMP
/// to parallelize LIBSVM on a multicore/shared-memory computer?"): the kernel values of a row in
/// SVC_Q::get_Q, and those of an input with all support vectors in svm_predict_values.

namespace bpm_peers {

/// LIBSVM's source is not what is expected; `what()` says which part.
class SourceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// svm.cpp with the two pragmas; as it is where it has pragmas of OpenMP already.
/// \throws SourceError if one of the loops is not found.
[[nodiscard]] inline std::string add_openmp(std::string source) {
  if (source.find("#pragma omp") != std::string::npos) return source;
  const auto need = [&](std::size_t place, const char* what) {
    if (place == std::string::npos) {
      throw SourceError(std::string("svm.cpp: ") + what + " was not found");
    }
    return place;
  };
  const auto insert_line = [&](std::size_t place, std::string_view line) {
    const std::size_t end = source.rfind('\n', place);
    source.insert(end == std::string::npos ? 0 : end + 1, std::string(line) + "\n");
  };
  const auto find_text = [&](std::size_t from, const std::regex& pattern) {
    std::smatch match;
    const auto start = source.cbegin() + static_cast<std::ptrdiff_t>(from);
    return std::regex_search(start, source.cend(), match, pattern)
               ? from + static_cast<std::size_t>(match.position(0))
               : std::string::npos;
  };
  // The later one first: the earlier place stays where it is.
  const std::size_t predict = need(
      find_text(0, std::regex(R"(\w\s+svm_predict_values\s*\(\s*const)")), "svm_predict_values");
  const std::size_t values = need(
      find_text(predict,
                std::regex(R"(for\s*\(\s*i\s*=\s*0\s*;\s*i\s*<\s*l\s*;\s*i\+\+\s*\)\s*kvalue)")),
      "the loop over kernel values in svm_predict_values");
  const std::size_t q_class = need(source.find("class SVC_Q"), "class SVC_Q");
  const std::size_t get_q = need(source.find("get_Q(", q_class), "SVC_Q::get_Q");
  const std::size_t row =
      need(find_text(get_q, std::regex(R"(for\s*\(\s*j\s*=\s*start\s*;\s*j\s*<\s*len)")),
           "the loop over a row in SVC_Q::get_Q");
  if (row > values) throw SourceError("svm.cpp: the loop over a row in SVC_Q::get_Q was not found");
  insert_line(values, "#pragma omp parallel for private(i) schedule(guided)");
  insert_line(row, "#pragma omp parallel for private(j) schedule(guided)");
  return source;
}

/// "3.24" from svm.h's LIBSVM_VERSION 324.
[[nodiscard]] inline std::string libsvm_version(const std::string& header) {
  std::smatch match;
  if (!std::regex_search(header, match, std::regex(R"(LIBSVM_VERSION\s+(\d+)(\d\d))"))) {
    return "of unknown version";
  }
  return match[1].str() + "." + match[2].str();
}

/// Copies what the tools need into `folder`, with the pragmas, and returns the version.
/// \throws SourceError where a file is missing or a loop is not found.
[[nodiscard]] inline std::string copy_libsvm(const std::filesystem::path& source,
                                             const std::filesystem::path& folder) {
  std::string version;
  std::filesystem::create_directories(folder);
  for (const char* name : {"svm.cpp", "svm.h", "svm-train.c", "svm-predict.c"}) {
    std::ifstream in(source / name, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in || text.empty()) {
      throw SourceError((source / name).string() +
                        " cannot be read: --libsvm names the folder of "
                        "LIBSVM's source");
    }
    if (std::string_view(name) == "svm.cpp") text = add_openmp(std::move(text));
    if (std::string_view(name) == "svm.h") version = libsvm_version(text);
    std::ofstream out(folder / name, std::ios::binary);
    if (!(out << text << std::flush)) {
      throw SourceError((folder / name).string() + " cannot be written");
    }
  }
  return version;
}

}  // namespace bpm_peers
