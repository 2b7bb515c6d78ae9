# SPDX-License-Identifier: MIT
# Runs the programs ONE and OTHER, which must print the same lines.
cmake_minimum_required(VERSION 3.25)

foreach(program ONE OTHER)
  execute_process(COMMAND "${${program}}" OUTPUT_VARIABLE ${program}_lines COMMAND_ERROR_IS_FATAL ANY)
endforeach()
if(ONE_lines STREQUAL "" OR NOT ONE_lines STREQUAL OTHER_lines)
  message(FATAL_ERROR "${ONE} prints:\n${ONE_lines}\n${OTHER} prints:\n${OTHER_lines}")
endif()
message(STATUS "Both print:\n${ONE_lines}")
