# SPDX-License-Identifier: MIT
# Run after a test program is linked: asks it for its test cases and writes one ctest entry each.
# Catch2's own script for version 2 loses tests whose names hold brackets or semicolons, and all of
# them when the program crashes; this one stops instead.
#
# Cases with the tag [at length] are left to tests/all.sh: their label is `long` in the place of `short`. LENGTHS says
# which of the two kinds this build runs, by their tags.
#
#   cmake -D PROGRAM= -D LABEL= -D WHEN= -D LIST_ARGUMENTS= -D LENGTHS= -D RUN_ARGUMENTS= -D SKIP_CODE= -D OUT= -P this
cmake_minimum_required(VERSION 3.25)

set(script "")
set(count 0)
foreach(length IN LISTS LENGTHS)
  execute_process(
    COMMAND "${PROGRAM}" ${LIST_ARGUMENTS} "${length}"
    OUTPUT_VARIABLE names
    ERROR_VARIABLE errors
    RESULT_VARIABLE result)
  if(NOT result STREQUAL "0")
    message(FATAL_ERROR "${PROGRAM} could not list its tests (${result}):\n${names}${errors}")
  endif()
  set(when "${WHEN}")
  if(length STREQUAL "[at length]")
    set(when long)
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
    string(APPEND script
           "add_test([==[${LABEL}: ${name}]==] [==[${PROGRAM}]==] [==[${pattern}]==] ${RUN_ARGUMENTS})\n"
           "set_tests_properties([==[${LABEL}: ${name}]==] PROPERTIES LABELS [==[${LABEL};${when}]==] "
           "SKIP_RETURN_CODE ${SKIP_CODE} TIMEOUT 600)\n")
    math(EXPR count "${count} + 1")
  endwhile()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} holds no test")
endif()
file(WRITE "${OUT}" "${script}")
