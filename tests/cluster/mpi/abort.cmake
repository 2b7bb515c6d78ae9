# SPDX-License-Identifier: MIT
# One rank alone throws: the job must end, with a message, and soon.
#   cmake -D "MPIRUN=<mpirun;-np;4>" -D PROGRAM=<bpm_mpi_tests> -P abort.cmake
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${MPIRUN} "${PROGRAM}" "[.abort]" RESULT_VARIABLE status
                OUTPUT_VARIABLE out ERROR_VARIABLE out TIMEOUT 60)
if(NOT status MATCHES "^[1-9][0-9]*$"
   OR NOT "${out}" MATCHES "rank 2 of 4 failed, and the job ends: out of memory")
  message(FATAL_ERROR "the job did not end as it should: ${status}\n${out}")
endif()
