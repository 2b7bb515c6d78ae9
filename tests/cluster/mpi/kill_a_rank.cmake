# SPDX-License-Identifier: MIT
# Kills a rank in the middle of a run; the job must end, and a rerun must go on from what it kept.
#   cmake -D "MPIRUN=<mpirun;-np;4>" -D PROGRAM=<bpm_mpi_tests> -D FOLDER=<to work in> -P kill_a_rank.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")
set(ENV{BPM_RANKS_FOLDER} "${FOLDER}")

execute_process(COMMAND ${MPIRUN} "${PROGRAM}" "[.victim]" RESULT_VARIABLE status
                OUTPUT_VARIABLE out ERROR_VARIABLE out TIMEOUT 60)
if(status STREQUAL "0" OR NOT "${out}" MATCHES "signal 9")
  message(FATAL_ERROR "the job did not end by the kill: ${status}\n${out}")
endif()
if(NOT EXISTS "${FOLDER}/training")
  message(FATAL_ERROR "no training was kept\n${out}")
endif()

execute_process(COMMAND ${MPIRUN} "${PROGRAM}" "[.rerun]" RESULT_VARIABLE status
                OUTPUT_VARIABLE out ERROR_VARIABLE out TIMEOUT 60)
file(REMOVE_RECURSE "${FOLDER}")
if(NOT status STREQUAL "0" OR NOT "${out}" MATCHES "All tests passed")
  message(FATAL_ERROR "the rerun failed: ${status}\n${out}")
endif()
