# SPDX-License-Identifier: MIT
# Copies of the library's definitions with an error put in, for tests that must find it out. Included by
# tests/CMakeLists.txt; tests/mutants.cmake lists them.

# bpm_mutant(NAME REPLACE TEXT BY [TEXT BY...] OF HEADER DEFINITION [HEADER DEFINITION...])
#
# Writes a header NAME.hpp, to be included as "mutants/NAME.hpp", with a copy of each DEFINITION, a class or an inline
# function at the outermost level of a HEADER below include/bpm. Where a definition's name was, there is
# NAME_DEFINITION: the copies use each other, and of all else what the library has. Every TEXT must be found in the
# copies exactly once, or configuring fails; so it does, at the next build, when a header has changed.
function(bpm_mutant name)
  cmake_parse_arguments(PARSE_ARGV 1 mutant "" "" "REPLACE;OF")
  set(includes "")
  set(copies "")
  set(definitions "")
  while(mutant_OF)
    list(POP_FRONT mutant_OF header definition)
    set(file "${PROJECT_SOURCE_DIR}/include/bpm/${header}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    string(REGEX MATCH "\n[a-zA-Z][^\n]* ${definition}[ (][^\n]*" head "${text}")
    if(head STREQUAL "")
      message(FATAL_ERROR "Mutant ${name}: ${header} defines no ${definition}")
    endif()
    string(FIND "${text}" "${head}" begin)
    string(SUBSTRING "${text}" ${begin} -1 text)
    string(FIND "${text}" "\n}" end)
    math(EXPR end "${end} + 3") # with the semicolon of a class
    string(SUBSTRING "${text}" 0 ${end} text)
    string(APPEND includes "#include \"bpm/${header}\"\n")
    string(APPEND copies "${text}\n")
    list(APPEND definitions ${definition})
  endwhile()
  while(mutant_REPLACE)
    list(POP_FRONT mutant_REPLACE text by)
    string(FIND "${copies}" "${text}" first)
    string(FIND "${copies}" "${text}" last REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL last)
      message(FATAL_ERROR "Mutant ${name}: '${text}' is not there exactly once in ${definitions}")
    endif()
    string(REPLACE "${text}" "${by}" copies "${copies}")
  endwhile()
  foreach(definition IN LISTS definitions definitions) # twice: names with one character between them
    string(REGEX REPLACE "([^a-zA-Z0-9_])${definition}([^a-zA-Z0-9_])" "\\1${name}_${definition}\\2" copies "${copies}")
  endforeach()
  set(header "${BPM_MUTANTS}/mutants/${name}.hpp")
  set(old "")
  if(EXISTS "${header}")
    file(READ "${header}" old)
  endif()
  string(CONCAT new "#pragma once\n${includes}\n" "namespace bpm { inline namespace BPM_TARGET { namespace detail {\n"
         "${copies}" "}}}\n")
  if(NOT new STREQUAL old)
    file(WRITE "${header}" "${new}")
  endif()
endfunction()
