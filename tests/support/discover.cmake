# SPDX-License-Identifier: MIT
# Run after a test program is linked: asks it for its test cases and writes one ctest entry each, or one for each of FILES,
# names without `_test.cpp`, where these are given: under sanitizers programs start slowly.
# Catch2's own script for version 2 loses tests whose names hold brackets or semicolons, and all of
# them when the program crashes; this one stops instead.
#
# Cases with the tag [at length] are left to tests/all.sh: their label is `long` in the place of `short`. LENGTHS says
# which of the two kinds this build runs, by their tags.
#
#   cmake -D PROGRAM= -D LABEL= -D WHEN= -D FILES= -D LIST_ARGUMENTS= -D LENGTHS= -D RUN_ARGUMENTS= -D SKIP_CODE= -D OUT=
#     -P this
cmake_minimum_required(VERSION 3.25)

# The names of the cases that a pattern chooses, a line each.
function(list_cases pattern names)
  execute_process(
    COMMAND "${PROGRAM}" ${LIST_ARGUMENTS} ${ARGN} "${pattern}"
    OUTPUT_VARIABLE output
    ERROR_VARIABLE errors
    RESULT_VARIABLE result)
  if(NOT result STREQUAL "0")
    message(FATAL_ERROR "${PROGRAM} could not list its tests (${result}):\n${output}${errors}")
  endif()
  set(${names} "${output}" PARENT_SCOPE)
endfunction()

# How many lines of a text are not empty. (No list, as names may hold brackets and semicolons.)
function(count_lines text count)
  string(REGEX REPLACE "[^\n]+" "x" text "${text}")
  string(REPLACE "\n" "" text "${text}")
  string(LENGTH "${text}" length)
  set(${count} ${length} PARENT_SCOPE)
endfunction()

# Adds an entry that runs what a pattern chooses.
function(add_entry name when pattern)
  string(APPEND script
         "add_test([==[${LABEL}: ${name}]==] [==[${PROGRAM}]==] [==[${pattern}]==] ${RUN_ARGUMENTS} ${ARGN})\n"
         "set_tests_properties([==[${LABEL}: ${name}]==] PROPERTIES LABELS [==[${LABEL};${when}]==] "
         "SKIP_RETURN_CODE ${SKIP_CODE} TIMEOUT 600)\n")
  set(script "${script}" PARENT_SCOPE)
endfunction()

set(script "")
set(count 0)
foreach(length IN LISTS LENGTHS)
  list_cases("${length}" names)
  set(when "${WHEN}")
  set(at_length "")
  if(length MATCHES "^\\[at length\\]")
    set(when long)
    set(at_length ", at length")
  endif()

  # Catch takes a file's name for a tag. What no file has, such as cases of headers, would be left out.
  if(FILES)
    set(in_files 0)
    foreach(file IN LISTS FILES)
      set(pattern "[#${file}_test]${length}")
      list_cases("${pattern}" cases --filenames-as-tags)
      count_lines("${cases}" cases)
      if(cases)
        add_entry("${file}${at_length}" "${when}" "${pattern}" --filenames-as-tags)
        math(EXPR in_files "${in_files} + ${cases}")
      endif()
    endforeach()
    count_lines("${names}" cases)
    if(NOT cases EQUAL in_files)
      message(FATAL_ERROR "${PROGRAM} holds ${cases} tests, its files ${in_files}")
    endif()
    math(EXPR count "${count} + ${cases}")
    continue()
  endif()

  while(NOT names STREQUAL "")
    string(FIND "${names}" "\n" end)
    if(end EQUAL -1)
      string(LENGTH "${names}" end)
      string(APPEND names "\n")
    endif()
    string(SUBSTRING "${names}" 0 ${end} name)
    math(EXPR next "${end} + 1")
    string(SUBSTRING "${names}" ${next} -1 names)
    string(STRIP "${name}" name)
    if(name STREQUAL "")
      continue()
    endif()

    # What Catch would read as a pattern or a tag.
    set(pattern "${name}")
    foreach(special "\\" "\"" "," "[" "]")
      string(REPLACE "${special}" "\\${special}" pattern "${pattern}")
    endforeach()
    add_entry("${name}" "${when}" "${pattern}")
    math(EXPR count "${count} + 1")
  endwhile()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} holds no test")
endif()
file(WRITE "${OUT}" "${script}")
