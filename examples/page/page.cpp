// SPDX-License-Identifier: MIT
// The page's machine: what JavaScript calls, compiled to WebAssembly (docs/site.sh says how).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <typeinfo>
#include <vector>

#include "digits.hpp"

#define BPM_PAGE_EXPORT(name) extern "C" __attribute__((export_name(#name), used))

namespace {

constexpr std::size_t canvas_side = 140;

/// Read by JavaScript, field by field: see machine.js.
struct Answer {
  double score = 0;
  std::array<double, 10> probabilities{};
  std::int32_t label = -1;  ///< -1: nothing is drawn.
  std::int32_t second = -1;
  std::array<digit_page::Voice, digit_page::voices> for_it{};  ///< Part 0: none.
  std::array<digit_page::Voice, digit_page::voices> against_it{};
  std::array<std::uint8_t, digit_page::pixels> image{};  ///< As the machine sees it.
};

std::vector<char> file;
std::array<std::uint8_t, canvas_side * canvas_side> canvas;
std::optional<digit_page::Model> model;
std::optional<bpm::GradientFeatures> features;
Answer answer;

}  // namespace

/// Memory for a model's file of so many bytes.
BPM_PAGE_EXPORT(file_memory) char* file_memory(std::size_t size) {
  file.resize(size);
  return file.data();
}

/// Makes the machine of the file in memory; returns its number of support points.
BPM_PAGE_EXPORT(read_model) int read_model() {
  model = digit_page::from_file(file);
  features.emplace(digit_page::shape);
  std::vector<char>().swap(file);
  return static_cast<int>(model->pictures.rows());
}

/// 140 x 140 grey levels, 255 where the line is, row after row.
BPM_PAGE_EXPORT(canvas_memory) std::uint8_t* canvas_memory() { return canvas.data(); }

BPM_PAGE_EXPORT(classify) const Answer* classify() {
  answer = {};
  answer.image = digit_page::centred(canvas, canvas_side);
  if (std::ranges::all_of(answer.image, [](std::uint8_t grey) { return grey == 0; })) {
    return &answer;
  }
  digit_page::Bytes image(1, static_cast<Eigen::Index>(digit_page::pixels));
  std::ranges::copy(answer.image, image.data());
  const digit_page::Verdict verdict = digit_page::judge(*model, (*features)(image, 1));
  answer.score = verdict.score;
  answer.probabilities = verdict.probabilities;
  answer.label = verdict.label;
  answer.second = verdict.second;
  std::ranges::copy(verdict.for_it, answer.for_it.begin());
  std::ranges::copy(verdict.against_it, answer.against_it.begin());
  return &answer;
}

/// 28 x 28 grey levels of a support point.
BPM_PAGE_EXPORT(picture) const std::uint8_t* picture(int support) {
  return model->pictures.row(support).data();
}
BPM_PAGE_EXPORT(picture_label) int picture_label(int support) {
  return model->labels[static_cast<std::size_t>(support)];
}

// There is no unwinding here: an exception hands its message to JavaScript, which throws it away
// together with this instance.
extern "C" {
__attribute__((import_module("page"), import_name("failed"), noreturn)) void page_failed(
    const char* message);
// What the compiler calls at a `throw`; every exception of the library is a std::exception, whose
// part stands first.
void* __cxa_allocate_exception(std::size_t size) noexcept { return std::malloc(size); }
void __cxa_free_exception(void* exception) noexcept { std::free(exception); }
[[noreturn]] void __cxa_throw(void* exception, std::type_info* /*type*/, void (* /*end*/)(void*)) {
  page_failed(static_cast<std::exception*>(exception)->what());
}
}
