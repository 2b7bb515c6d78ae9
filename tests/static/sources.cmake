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
  string(REGEX REPLACE "//[^\n]*" "" code "${text}")
  forbid("${file}" "${code}" "${unportable_random}" "use bpm/random/, the same on every library")
  if(file MATCHES "^include/")
    forbid("${file}" "${code}" "${printing}" "the library prints nothing")
    forbid("${file}" "${code}" "${global_state}" "the library changes no global setting")
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
