# SPDX-License-Identifier: MIT
# A sampler with a misspelt hook, and types that are wrong elsewhere, do not compile, and the compiler says why in one sentence.
#   cmake -D ROOT=<repository> -D COMPILER=<C++ compiler> -D EIGEN=<folder> -D SCRATCH=<folder> -P misspelt.cmake
cmake_minimum_required(VERSION 3.25)

# Without the bodies that bpm::compiled has, which say nothing of samplers: 3000 is x86-64's target number without flags.
set(compile "${CMAKE_COMMAND}" -E env LC_ALL=C "${COMPILER}" -std=c++20 -DBPM_COMPILED=3000 "-I${ROOT}/include" -isystem
    "${EIGEN}")
# The compiler does not show the line, which would say the sentence a second time, and does not stop early.
if(COMPILER MATCHES "clang")
  list(APPEND compile -fno-caret-diagnostics -ferror-limit=0)
else()
  list(APPEND compile -fno-diagnostics-show-caret)
endif()
file(MAKE_DIRECTORY "${SCRATCH}")
file(READ "${ROOT}/tests/static/samplers.cpp" right)

# Compiles `source`, with further options: its exit status in `result`, what the compiler says in `message`.
function(try_source source)
  file(WRITE "${SCRATCH}/source.cpp" "${source}")
  execute_process(COMMAND ${compile} ${ARGN} "${SCRATCH}/source.cpp" RESULT_VARIABLE result ERROR_VARIABLE message OUTPUT_QUIET)
  set(result ${result} PARENT_SCOPE)
  set(message "${message}" PARENT_SCOPE)
endfunction()

# An older standard is one error with its cure, and the end of it; so are exceptions that are off.
set(older -std=c++17 "bpm needs C++20: compile with -std=c++20 (/std:c++20), or link bpm::bpm in CMake")
set(silent -fno-exceptions "bpm says what is wrong by exceptions: compile without -fno-exceptions")
foreach(header bpm.hpp kernels/vector_kernels.hpp machine/bayes_point_machine.hpp)
  foreach(refused older silent)
    list(GET ${refused} 0 option)
    list(GET ${refused} 1 sentence)
    try_source("#include \"bpm/${header}\"\n" ${option} -fsyntax-only)
    string(REGEX MATCHALL "error: " errors "${message}")
    list(LENGTH errors count)
    string(FIND "${message}" "${sentence}" place)
    if(result EQUAL 0 OR place EQUAL -1 OR count GREATER 2)
      message(SEND_ERROR "${header} with ${option}: ${count} errors:\n${message}")
    endif()
  endforeach()
endforeach()

# What nearly all sources include, parsed once; none of those that lack a header lacks one that is in it.
file(WRITE "${SCRATCH}/machine.hpp" "#include \"bpm/kernels/vector_kernels.hpp\"\n#include \"bpm/machine/bayes_point_machine.hpp\"\n")
execute_process(COMMAND ${compile} -x c++-header "${SCRATCH}/machine.hpp" -o "${SCRATCH}/machine.hpp.gch" COMMAND_ERROR_IS_FATAL ANY)
list(APPEND compile -fsyntax-only -include "${SCRATCH}/machine.hpp")

try_source("${right}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "The samplers as they should be do not compile:\n${message}")
endif()

# `source` does not compile, and the compiler says `sentence`. Most are gathered, each in a namespace of its own, and
# compiled as one unit at the end, as nearly all of the time goes into the headers; others ALONE: what lacks a header,
# and what breaks more than one rule.
function(expect_sentence name source sentence)
  if("FIRST" IN_LIST ARGN AND NOT "ALONE" IN_LIST ARGN)
    message(FATAL_ERROR "${name}: what comes first is known of a unit of its own")
  endif()
  if("ALONE" IN_LIST ARGN)
    try_source("${source}")
    check_said("${name}" "${sentence}" 1)
    string(REGEX MATCH "error: [^\n]*" first "${message}")
    string(FIND "${first}" "${sentence}" place)
    if("FIRST" IN_LIST ARGN AND place EQUAL -1)
      message(SEND_ERROR "${name}: expected \"${sentence}\" first, found:\n${message}")
    endif()
    return()
  endif()
  string(REGEX MATCHALL "#include [^\n]*\n" headers "${source}")
  string(REGEX REPLACE "#include [^\n]*\n" "" body "${source}")
  set_property(GLOBAL APPEND PROPERTY headers ${headers})
  set_property(GLOBAL APPEND_STRING PROPERTY bodies "namespace ${name} {\n${body}}\n")
  set_property(GLOBAL APPEND PROPERTY cases "${name}")
  set_property(GLOBAL PROPERTY "sentence of ${name}" "${sentence}")
endfunction()

# Of the samplers `from` is to become `to`, and the compiler to say `sentence`.
function(expect from to sentence)
  string(REPLACE "${from}" "${to}" source "${right}")
  string(MAKE_C_IDENTIFIER "misspelt_${to}" name)
  expect_sentence("${name}" "${source}" "${sentence}" ${ARGN})
endfunction()

# The compiler failed, and said `sentence` at least `count` times.
function(check_said name sentence count)
  string(LENGTH "${message}" length)
  string(REPLACE "${sentence}" "" rest "${message}")
  string(LENGTH "${rest}" rest_length)
  string(LENGTH "${sentence}" sentence_length)
  math(EXPR said "(${length} - ${rest_length}) / ${sentence_length}")
  if(result EQUAL 0 OR said LESS count)
    message(SEND_ERROR "${name}: result ${result}, expected \"${sentence}\" ${count} times, found ${said} in:\n${message}")
  endif()
endfunction()

expect("traits{" "trait{" "a sampler needs static constexpr bpm::SamplerTraits traits")
expect("t draws" "t draw" "a sampler needs std::uint64_t draws")
expect("check_settings" "check_setting" "a sampler needs void check_settings() const")
expect("with_draws" "with_draw" "a sampler S needs S with_draws(std::uint64_t) const")
expect("with_label_noise" "with_noise" "a sampler S that takes label noise needs S with_label_noise(double) const")
expect("memory_need" "memory_needs" "a sampler needs bpm::MemoryNeed memory_need(const bpm::RunSize&) const")
expect("sample(std" "samples(std"
       "a sampler that sees kernel values needs bpm::SamplerReport sample(std::span<const V>, ")
expect("plan()" "plans()" "a sampler that sees a cone needs bpm::ConePlan plan() const")
foreach(hook trial\( limit_as_trials)
  string(REPLACE "trial" "tries" misspelt "${hook}")
  expect("${hook}" "${misspelt}" "a sampler S with trials needs trial(std::uint64_t) const and void limit_as_trials()")
endforeach()
# Alone, as without State what asks for its members says its sentence too.
expect("State" "Stat" "a sampler that sees a cone needs a type State, copyable and made empty" ALONE)
foreach(hook empty centre)
  expect("${hook}()" "${hook}_()"
         "the State of a sampler that sees a cone needs bool empty() const and bpm::CentreOfMass centre() const")
endforeach()
expect("sample(const" "samples(const" "a sampler that sees a cone needs bpm::SamplerReport sample(const bpm::Cone&, ")
expect("struct State {" "struct State { State(State&&);"
       "a sampler that sees a cone needs a type State, copyable and made empty")
# Fields of traits, by the names that the compilers do not know; alone, as Clang 16 crashes on what follows.
expect(".computes_blocks" ".computes_block" "'computes_block'" ALONE)
expect(".sees" ".see" "'see'" ALONE)
expect(".takes_label_noise" ".takes_noise" "'takes_noise'" ALONE)
expect(".has_trials" ".has_trial" "'has_trial'" ALONE)

# A method that has a machine of its own, without the header of that machine.
expect_sentence(expectation_propagation "#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/machine/bayes_point_machine.hpp\"
const bpm::BayesPointMachine<bpm::Linear, bpm::ExpectationPropagation> machine(bpm::Linear{});\n"
  "expectation propagation has a machine of its own: include" ALONE)

# A search for the boundary without its header; a given boundary needs no search.
set(narrow "#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/machine/bayes_point_machine.hpp\"
int fit(const bpm::RowMatrix<double>& inputs, const std::vector<int>& labels) {
  return bpm::BayesPointMachine(bpm::Linear{}BOUNDARY).fit(inputs, labels).predict(inputs)[0] +
         bpm::OneVsRest(bpm::BayesPointMachine(bpm::Linear{}BOUNDARY)).fit(inputs, labels).predict(inputs)[0];
}\n")
string(REPLACE "BOUNDARY" "" searching "${narrow}")
expect_sentence(search "${searching}" "the search for a soft boundary is in bpm/selection/automatic_boundary.hpp: include"
                ALONE)
string(REPLACE "BOUNDARY" ", bpm::SoftBoundary::relative(0.1)" given "${narrow}")
try_source("${given}")
if(NOT result EQUAL 0)
  message(SEND_ERROR "a machine with a given boundary asks for its search:\n${message}")
endif()

# A sampler of one's own that sees a cone, in a machine, without what makes the cone.
string(REPLACE "machine/run_sampler.hpp" "machine/bayes_point_machine.hpp" own "${right}")
expect_sentence(cone "#include \"bpm/kernels/vector_kernels.hpp\"
${own}
int fit(const bpm::RowMatrix<double>& inputs, const std::vector<int>& labels) {
  const bpm::BayesPointMachine machine(bpm::Linear{}, OnCone{}, bpm::SoftBoundary::relative(1));
  return machine.fit(inputs, labels).predict(inputs)[0];
}\n"
  "a machine with a sampler that sees a cone needs bpm/samplers/sample_version_space.hpp: include it" ALONE)

# Pairs of classes of what has no draws.
expect_sentence(pairs_of_posteriors "#include \"bpm/gaussian_process/expectation_propagation/machine.hpp\"
#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/machine/one_vs_one.hpp\"
const bpm::OneVsOne machine(bpm::BayesPointMachine(bpm::Linear{}, bpm::ExpectationPropagation{}));\n"
  "pairs of classes are fitted by draws, in one process")

# Folds of what has no draws.
expect_sentence(folds_of_expectation_propagation "#include \"bpm/gaussian_process/expectation_propagation/machine.hpp\"
#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/selection/cross_validate.hpp\"
const bpm::RowMatrix<double> inputs(2, 2);
const auto out = bpm::cross_validate(bpm::BayesPointMachine(bpm::Linear{}, bpm::ExpectationPropagation{}), inputs,
                                     std::vector<int>{0, 1});\n"
  "folds are for machines that sample: expectation propagation chooses by its evidence")

# Folds of what several processes run.
expect_sentence(folds_of_ranks "#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/selection/cross_validate.hpp\"
struct Together : bpm::PermutedPerceptron {
  static constexpr bpm::SamplerTraits traits{.computes_blocks = true, .collective = true};
  Together with_draws(std::uint64_t) const { return *this; }
};
const bpm::RowMatrix<double> inputs(2, 2);
const auto out = bpm::cross_validate(bpm::BayesPointMachine(bpm::Linear{}, Together{}), inputs,
                                     std::vector<int>{0, 1});\n"
  "folds and choices are made by one process: give them a machine with a PermutedPerceptron")

# What is no kernel, sampler, set of inputs, list of labels, query or machine is named before all else.
set(rows "#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/machine/bayes_point_machine.hpp\"
#include \"bpm/machine/one_vs_one.hpp\"
const bpm::RowMatrix<double> inputs(2, 2);
const std::vector<int> labels{0, 1};
const auto given = bpm::SoftBoundary::relative(0.1);
const bpm::BayesPointMachine machine(bpm::Linear{}, given);\n")
function(expect_refusal name code sentence)
  expect_sentence("${name}" "${rows}const auto it = ${code};\n" "${sentence}" ${ARGN})
endfunction()
set(no_kernel "a kernel needs double operator()(const Input&, const Input&) const, a function of two inputs of the")
set(no_sampler "the second argument is a sampler, with the traits of bpm/samplers/sampler.hpp, or a soft boundary; settings are")
set(no_labels "labels are ints, one for each input, that lie one behind the other, such as std::vector<int>: give each class")
set(no_inputs "the kernel is no function of two of these inputs: inputs are dense rows of numbers, sparse rows (row-major), or")
set(no_query "queries are of the training set's kind: dense rows of numbers, sparse rows (row-major), or a random-access range")
expect_refusal(kernel_number "bpm::BayesPointMachine(1.0, given)" "${no_kernel}")
expect_refusal(sampler_number "bpm::BayesPointMachine(bpm::Linear{}, 5)" "${no_sampler}")
expect_refusal(sampler_kernel "bpm::BayesPointMachine(bpm::Linear{}, bpm::Linear{})" "${no_sampler}")
expect_refusal(settings_second "bpm::BayesPointMachine(bpm::Linear{}, bpm::FitSettings{})" "${no_sampler}")
expect_refusal(kernel_of_many "bpm::OneVsRest(bpm::Linear{})" "OneVsRest is of a machine: BayesPointMachine(kernel)")
expect_refusal(kernel_of_pairs "bpm::OneVsOne(bpm::Linear{})" "OneVsOne is of a machine: BayesPointMachine(kernel)")
expect_refusal(labels_doubles "machine.fit(inputs, std::vector<double>{0, 1})" "${no_labels}")
expect_refusal(labels_words "bpm::OneVsRest(machine).fit(inputs, std::vector<std::string>{})" "${no_labels}")
expect_refusal(labels_of_pairs "bpm::OneVsOne(machine).fit(inputs, std::vector<long>{0, 1})" "${no_labels}")
expect_refusal(labels_of_training "machine.train(inputs, std::vector<short>{0, 1})" "${no_labels}")
expect_refusal(inputs_by_columns "machine.fit(Eigen::SparseMatrix<double>(2, 2), labels)" "${no_inputs}")
expect_refusal(inputs_number "bpm::OneVsRest(machine).fit(1.0, labels)" "${no_inputs}")
expect_refusal(inputs_complex "bpm::OneVsOne(machine).fit(Eigen::MatrixXcd(2, 2), labels)" "${no_inputs}")
expect_refusal(inputs_words "machine.fit(std::vector<std::string>(2), labels)" "${no_inputs}" ALONE FIRST)
expect_refusal(inputs_of_training "machine.train(std::vector<std::string>(2), labels)" "${no_inputs}" ALONE FIRST)
expect_refusal(matrix_of_words "bpm::BayesPointMachine(bpm::PrecomputedKernel{}, given).fit(std::vector<char>(2), labels)"
               "${no_inputs}")
expect_refusal(queries_words "machine.fit(inputs, labels).predict(std::vector<std::string>(2))" "${no_query}" ALONE FIRST)
expect_refusal(queries_sparse "machine.fit(inputs, labels).predict_probability(bpm::SparseRowMatrix<double>(2, 2))" "${no_query}"
               ALONE FIRST)

# A model has one precision.
expect_sentence(other_precision "#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/machine/bayes_point_machine.hpp\"
void ask(const bpm::Classifier<bpm::Linear, bpm::RowMatrix<float>>& model, const Eigen::MatrixXd& inputs) {
  (void)model.predict(inputs);
}\n"
  "both input sets must have the same precision: cast one of them")

# A kernel of what is none.
expect_sentence(no_kernel "#include \"bpm/machine/bayes_point_machine.hpp\"
struct Mine { double value(double, double) const; };
const bpm::BayesPointMachine machine(Mine{});\n" "${no_kernel}")
expect_sentence(no_kernel_of_interpolators "#include \"bpm/gaussian_process/interpolation/kernel_interpolator.hpp\"
struct Mine { double value(double, double) const; };
const bpm::KernelInterpolator machine(Mine{});\n" "${no_kernel}")

# The variances of a posterior are asked for without k(x, x).
expect_sentence(posterior_without_diagonal "#include \"bpm/gaussian_process/expectation_propagation/machine.hpp\"
void ask(const bpm::PosteriorClassifier<bpm::PrecomputedKernel, bpm::RowMatrix<double>>& model,
         const bpm::RowMatrix<double>& values) {
  (void)model.predict_probability(values);
}\n"
  "the variances of a posterior need k(x, x): with a PrecomputedKernel ask by PrecomputedRows{values, diagonal}")

# A model that is none, or lacks the header that knows it.
expect_sentence(stored_posterior "#include \"bpm/gaussian_process/expectation_propagation/machine.hpp\"
#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/storage/model_file.hpp\"
void keep(const bpm::PosteriorClassifier<bpm::Linear, bpm::RowMatrix<double>>& model) { bpm::save(model, \"m\"); }\n"
  "models on disk are classifiers, and with bpm/storage/gaussian_process_file.hpp" ALONE)

# What stays in the file is no model to load.
expect_sentence(loaded_in_place "#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/storage/model_file.hpp\"
const auto model =
    bpm::load<bpm::Mapped<bpm::Classifier<bpm::Linear, bpm::RowMatrix<float>>>>(std::filesystem::path(\"m\"));\n"
  "load reads models into memory of their own: one whose inputs stay in the file is opened by map")

# A sampler that does not show what going on needs, in its settings or its State.
foreach(lacks settings state)
  set(members "template <class Self, class Visit> static void visit_members(Self&, Visit&&);")
  set(of_settings "")
  set(of_state "")
  if(lacks STREQUAL settings)
    set(of_state "${members}")
  else()
    set(of_settings "${members}")
  endif()
  expect_sentence(stored_training_${lacks} "#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/samplers/billiard/billiard.hpp\"
#include \"bpm/storage/training_file.hpp\"
struct Mine : bpm::Billiard {
  struct State : bpm::CentreOfMass {
    bool empty() const;
    const bpm::CentreOfMass& centre() const;
    ${of_state}
   private:
    static void visit_members();
  };
  ${of_settings}
 private:
  static void visit_members();
};
using Training = bpm::Training<bpm::Linear, Mine, bpm::RowMatrix<double>>;
void keep(const Training& training) { bpm::save(training, \"m\"); }\n"
    "a training with a sampler of one's own is saved by template <class Self, class Visit> static void visit_members(")
endforeach()

# A training is read with its training set.
expect_sentence(loaded_training "#include \"bpm/kernels/vector_kernels.hpp\"
#include \"bpm/samplers/billiard/billiard.hpp\"
#include \"bpm/storage/training_file.hpp\"
using Training = bpm::Training<bpm::Linear, bpm::Billiard, bpm::RowMatrix<double>>;
const auto training = bpm::load<Training>(std::filesystem::path(\"t\"));\n"
  "a training is read by resume(machine, inputs, labels, file), which has its training set and its settings")

# A kernel of one's own has no name in a model file until it is given one.
expect_sentence(stored_kernel "#include \"bpm/storage/stored_parts.hpp\"
struct Mine {};
const auto json = bpm::detail::kernel_to_json(Mine{});\n"
  "a model with a kernel of one's own is saved by a specialisation of bpm::StoredKernel for it")

# All that were gathered, at once. Two samplers may lack the same: then it is said twice.
get_property(headers GLOBAL PROPERTY headers)
get_property(bodies GLOBAL PROPERTY bodies)
get_property(cases GLOBAL PROPERTY cases)
list(REMOVE_DUPLICATES headers)
list(JOIN headers "" headers)
try_source("${headers}${bodies}")
foreach(case IN LISTS cases)
  get_property(sentence GLOBAL PROPERTY "sentence of ${case}")
  set(count 0)
  foreach(other IN LISTS cases)
    get_property(others GLOBAL PROPERTY "sentence of ${other}")
    if(others STREQUAL sentence)
      math(EXPR count "${count} + 1")
    endif()
  endforeach()
  check_said("${case}" "${sentence}" ${count})
endforeach()
