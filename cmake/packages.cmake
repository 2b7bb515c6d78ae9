# SPDX-License-Identifier: MIT
# Options that may be AUTO, and every package that can be left out: each is looked for once, here.

# bpm_option(NAME WHAT): AUTO builds what can be built, ON is an error where a package is missing, OFF looks for none.
# AUTO is the default where bpm is the top project, OFF elsewhere.
function(bpm_option name what)
  set(default OFF)
  if(PROJECT_IS_TOP_LEVEL)
    set(default AUTO)
  endif()
  set(${name} ${default} CACHE STRING "${what}: AUTO, ON or OFF")
  set_property(CACHE ${name} PROPERTY TYPE STRING)
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${${name}}" value)
  if(value MATCHES "^(ON|YES|TRUE|Y|1)$")
    set(value ON)
  elseif(value MATCHES "^(OFF|NO|FALSE|N|0)$")
    set(value OFF)
  elseif(NOT value STREQUAL "AUTO")
    message(FATAL_ERROR "${name} is '${${name}}', must be AUTO, ON or OFF")
  endif()
  set(${name} ${value} PARENT_SCOPE)
endfunction()

bpm_option(BPM_BUILD_TESTS "Build the tests")
bpm_option(BPM_BUILD_EXAMPLES "Build the example programs")
bpm_option(BPM_BUILD_BENCHMARKS "Build the benchmarks")
bpm_option(BPM_PYTHON "Build the Python package")
bpm_option(BPM_GZIP "Find zlib for bpm::gzip in this build")
bpm_option(BPM_MODELS "Find nlohmann_json for bpm::models in this build")
bpm_option(BPM_NLOPT "Find NLopt for bpm::nlopt in this build")
bpm_option(BPM_MPI "Find MPI for bpm::mpi in this build")

# bpm_package(NAME DEBIAN PACKAGES TARGET TARGET [FIND ARGUMENT...] [NEEDED_BY {OPTION WHAT}...] [USED_BY {OPTION WHAT}...])
#
# Sets bpm_found_NAME, by find_package(ARGUMENT...) unless TARGET is there already, where one of the options is not
# OFF. If the package is missing that is an error where an option of NEEDED_BY is ON; else one line says WHAT is left
# out. (A macro: what find_package sets is the caller's.)
macro(bpm_package name)
  cmake_parse_arguments(bpm_package "" "DEBIAN;TARGET" "FIND;NEEDED_BY;USED_BY" ${ARGN})
  set(bpm_found_${name} FALSE)
  set(bpm_package_on "")
  set(bpm_package_left_out "")
  foreach(bpm_package_kind NEEDED_BY USED_BY)
    while(bpm_package_${bpm_package_kind})
      list(POP_FRONT bpm_package_${bpm_package_kind} bpm_package_option bpm_package_what)
      if(${bpm_package_option})
        list(APPEND bpm_package_left_out "${bpm_package_what}")
        if(bpm_package_kind STREQUAL "NEEDED_BY" AND ${bpm_package_option} STREQUAL "ON")
          set(bpm_package_on ${bpm_package_option})
        endif()
      endif()
    endwhile()
  endforeach()
  if(bpm_package_left_out)
    set(bpm_package_why "was not found")
    set(bpm_package_found TRUE)
    if(bpm_package_FIND)
      list(GET bpm_package_FIND 0 bpm_package_module)
      # A target alone proves nothing: FindMPI makes its own before it knows whether there is an MPI.
      if(NOT TARGET ${bpm_package_TARGET} OR (DEFINED ${bpm_package_module}_FOUND AND NOT ${bpm_package_module}_FOUND))
        find_package(${bpm_package_FIND} QUIET)
        set(bpm_package_found ${${bpm_package_module}_FOUND})
        if(NOT bpm_package_found AND ${bpm_package_module}_CONSIDERED_VERSIONS)
          list(JOIN ${bpm_package_module}_CONSIDERED_VERSIONS ", " bpm_package_why)
          set(bpm_package_why "is here in a version that will not do (${bpm_package_why})")
        endif()
      endif()
    endif()
    if(bpm_package_found AND TARGET ${bpm_package_TARGET})
      set(bpm_found_${name} TRUE)
    elseif(bpm_package_on)
      message(FATAL_ERROR "${name} ${bpm_package_why} (Debian and Ubuntu: ${bpm_package_DEBIAN}), and ${bpm_package_on} is ON. "
                          "Install it, or configure with -D${bpm_package_on}=AUTO, which leaves out what needs it, or OFF.")
    else()
      list(JOIN bpm_package_left_out "; " bpm_package_left_out)
      message(STATUS "${name} ${bpm_package_why} (Debian and Ubuntu: ${bpm_package_DEBIAN}). Left out: ${bpm_package_left_out}")
    endif()
  endif()
endmacro()

# bpm_library(NAME TARGET HEADER LIBRARY): a library without a package of CMake's own: both its parts, or no target.
macro(bpm_library name target header library)
  find_path(${name}_INCLUDE_DIR ${header} PATH_SUFFIXES libsvm)
  find_library(${name}_LIBRARY ${library})
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
  if(${name}_INCLUDE_DIR AND ${name}_LIBRARY)
    add_library(${target} INTERFACE)
    target_include_directories(${target} SYSTEM INTERFACE "${${name}_INCLUDE_DIR}")
    target_link_libraries(${target} INTERFACE "${${name}_LIBRARY}" ${CMAKE_DL_LIBS})
  endif()
endmacro()

# --- The library itself -------------------------------------------------------------------------

if(NOT TARGET Eigen3::Eigen)
  find_package(Eigen3 3.4 QUIET NO_MODULE)
  if(NOT Eigen3_FOUND)
    list(JOIN Eigen3_CONSIDERED_VERSIONS ", " bpm_other_eigen)
    message(FATAL_ERROR "Eigen 3.4 was not found (Debian and Ubuntu: libeigen3-dev); other versions that are here: ${bpm_other_eigen}.")
  endif()
endif()
find_package(Threads REQUIRED)

# --- The tests, and the Python package: all or nothing -------------------------------------------

bpm_package(Catch2 DEBIAN catch2 TARGET Catch2::Catch2 FIND Catch2 NEEDED_BY BPM_BUILD_TESTS "the tests")
if(NOT bpm_found_Catch2)
  set(BPM_BUILD_TESTS OFF)
endif()

bpm_package(Python3 DEBIAN "python3-dev pybind11-dev" TARGET Python3::Module
            FIND Python3 COMPONENTS Interpreter Development.Module
            NEEDED_BY BPM_PYTHON "the Python package")
if(bpm_found_Python3)
  set(PYTHON_EXECUTABLE "${Python3_EXECUTABLE}") # which pybind11 of old looks at
  bpm_package(pybind11 DEBIAN pybind11-dev TARGET pybind11::module FIND pybind11 2.10 CONFIG
              NEEDED_BY BPM_PYTHON "the Python package")
endif()
if(NOT bpm_found_pybind11)
  set(BPM_PYTHON OFF)
endif()

# --- What the programs of examples/ and most of benchmarks/ share --------------------------------

set(bpm_programs BPM_BUILD_EXAMPLES
    "the programs of examples/ but for toy, strings, reject, billiard, probabilities and interpolate")
if(BPM_BUILD_EXAMPLES)
  list(APPEND bpm_programs BPM_BUILD_BENCHMARKS "benchmark_page, peers, any_data and truncated_normals")
endif()
bpm_package(zlib DEBIAN zlib1g-dev TARGET ZLIB::ZLIB FIND ZLIB
            NEEDED_BY BPM_GZIP "bpm::gzip" ${bpm_programs} BPM_BUILD_TESTS "tests that need it")
bpm_package(nlohmann_json DEBIAN nlohmann-json3-dev TARGET nlohmann_json::nlohmann_json FIND nlohmann_json
            NEEDED_BY BPM_MODELS "bpm::models" ${bpm_programs} BPM_BUILD_TESTS "tests that need it"
                      BPM_PYTHON "the Python package")
if(NOT bpm_found_nlohmann_json)
  set(BPM_PYTHON OFF)
endif()
set(bpm_fuzzer "")
if(BPM_SANITIZE MATCHES "address")
  set(bpm_fuzzer USED_BY BPM_BUILD_TESTS "the fuzzer")
endif()
bpm_package(CLI11 DEBIAN libcli11-dev TARGET CLI11::CLI11 FIND CLI11 NEEDED_BY ${bpm_programs} ${bpm_fuzzer})
set(bpm_found_programs FALSE)
if(BPM_BUILD_EXAMPLES AND bpm_found_zlib AND bpm_found_nlohmann_json AND bpm_found_CLI11)
  set(bpm_found_programs TRUE)
endif()

# --- What some programs have beside --------------------------------------------------------------

set(bpm_without_nlopt "bpm::nlopt")
set(bpm_without_mpi "bpm::mpi")
if(bpm_found_programs)
  string(APPEND bpm_without_nlopt ", model_selection")
  string(APPEND bpm_without_mpi ", cluster on more than one rank")
endif()
bpm_package(NLopt DEBIAN libnlopt-dev TARGET NLopt::nlopt FIND NLopt NEEDED_BY BPM_NLOPT "${bpm_without_nlopt}")
bpm_package(MPI DEBIAN "libopenmpi-dev openmpi-bin" TARGET MPI::MPI_CXX FIND MPI COMPONENTS CXX
            NEEDED_BY BPM_MPI "${bpm_without_mpi}")
bpm_package(benchmark DEBIAN libbenchmark-dev TARGET benchmark::benchmark FIND benchmark
            NEEDED_BY BPM_BUILD_BENCHMARKS "bpm_benchmarks")
if(BPM_BUILD_EXAMPLES OR BPM_BUILD_BENCHMARKS)
  # (oneDNN's own package would ask for OpenCL, which is not needed.)
  bpm_library(oneDNN bpm_onednn oneapi/dnnl/dnnl.h dnnl)
endif()
bpm_package(oneDNN DEBIAN libdnnl-dev TARGET bpm_onednn
            USED_BY BPM_BUILD_EXAMPLES "mnist --floor of bytes" BPM_BUILD_BENCHMARKS "the floor of bytes in bpm_benchmarks")
if(bpm_found_programs)
  bpm_package(OpenSSL DEBIAN libssl-dev TARGET OpenSSL::Crypto FIND OpenSSL COMPONENTS Crypto
              USED_BY BPM_BUILD_EXAMPLES "the model digest of mnist and cluster")
  bpm_library(LIBSVM bpm_libsvm svm.h svm)
  bpm_package(LIBSVM DEBIAN libsvm-dev TARGET bpm_libsvm
              USED_BY BPM_BUILD_EXAMPLES "bpm_convergence, decision_boundary, label_noise, robust_bpm"
                      BPM_BUILD_BENCHMARKS "any_data")
  find_program(BPM_GNUPLOT gnuplot)
  mark_as_advanced(BPM_GNUPLOT)
  if(NOT BPM_GNUPLOT)
    message(STATUS "gnuplot was not found (Debian and Ubuntu: gnuplot-nox). Programs look for it when they run with --plot")
  endif()
endif()
