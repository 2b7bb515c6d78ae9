# SPDX-License-Identifier: MIT
# Rules every source keeps: licence line, length, nothing printed by the library, no random numbers
# that differ between standard libraries. cmake -D ROOT=<repository> -P sources.cmake
cmake_minimum_required(VERSION 3.25)

set(broken "")

# What may not stand in the code (comments do not count), and why.
set(printing "std::(cout|cerr|clog)|[^a-z_](v?f?printf|puts|fputs|putchar|perror)[ ]*\\(|include <iostream>")
set(unportable_random
    "std::([a-z_]+_distribution|random_device|mt19937|default_random_engine|s?rand[ ]*\\(|(ranges::)?shuffle)|[^a-z_:.>]s?rand[ ]*\\(")
set(global_state "setNbThreads|omp_set_num_threads|include <omp.h>|#[ ]*pragma omp")

set(operating_system "include <(sys/[a-z]+|unistd|fcntl|dirent|windows|io|signal)\\.h>")
set(for_include_time "template <class = void>|Dependent<")
set(cast_for_a_warning "\\.data\\(\\)@OPEN@")

function(forbid file text pattern why)
  string(REGEX MATCH "${pattern}" found "${text}")
  if(NOT found STREQUAL "")
    string(STRIP "${found}" found)
    set(broken "${broken}  ${file}: '${found}': ${why}\n" PARENT_SCOPE)
  endif()
endfunction()

file(GLOB_RECURSE files RELATIVE "${ROOT}"
     "${ROOT}/include/*.hpp" "${ROOT}/tests/*.[ch]pp" "${ROOT}/examples/*.[ch]pp"
     "${ROOT}/benchmarks/*.[ch]pp")
foreach(file IN LISTS files)
  file(READ "${ROOT}/${file}" text)
  if(NOT text MATCHES "^// SPDX-License-Identifier: MIT\n")
    string(APPEND broken "  ${file}: the first line is not the licence line\n")
  endif()
  if(file MATCHES "\\.hpp$" AND NOT text MATCHES "\n#pragma once\n")
    string(APPEND broken "  ${file}: no #pragma once\n")
  endif()
  string(REGEX REPLACE "[^\n]" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  if(lines GREATER_EQUAL 400 AND file MATCHES "^include/")
    string(APPEND broken "  ${file}: ${lines} lines; one idea a file, under 400\n")
  endif()
  string(REPLACE "[" "@OPEN@" text "${text}") # which CMake would take for a list's
  string(REGEX REPLACE "//[^\n]*" "" code "${text}")
  forbid("${file}" "${code}" "${unportable_random}" "use bpm/core/random/, the same on every library")
  if(file MATCHES "^examples/bpm/")
    forbid("${file}" "${code}" "[^_]detail::" "the command line shows that what is public suffices")
  endif()
  if(file MATCHES "^include/")
    forbid("${file}" "${code}" "${printing}" "the library prints nothing")
    forbid("${file}" "${code}" "${global_state}" "the library changes no global setting")
    forbid("${file}" "${code}" "${for_include_time}" "no templates for include time alone")
    forbid("${file}" "${code}" "${cast_for_a_warning}" "index the container itself")
    if(NOT file MATCHES "^include/bpm/storage/")
      forbid("${file}" "${code}" "${operating_system}" "the operating system is storage/'s")
    endif()
    if(file MATCHES "^include/bpm/(samplers|machine)/")
      forbid("${file}" "${code}" "requires { (sampler|s)\\." "samplers say what they do by SamplerTraits")
    endif()
    if(file MATCHES "/detail/")
      string(APPEND broken "  ${file}: a helper lies with whom it serves, no folder is called detail\n")
    endif()
  endif()
endforeach()

list(LENGTH files count)
if(count EQUAL 0)
  message(FATAL_ERROR "no source was found below ${ROOT}")
endif()
if(NOT broken STREQUAL "")
  message(FATAL_ERROR "Rules are broken:\n${broken}")
endif()
message(STATUS "${count} files keep the rules")
