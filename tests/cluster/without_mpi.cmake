# SPDX-License-Identifier: MIT
# The program cluster built without MPI.
#   cmake -D PROGRAM=<cluster> -P without_mpi.cmake
cmake_minimum_required(VERSION 3.25)

unset(ENV{BPM_DATA_DIR})
set(ENV{XDG_CACHE_HOME} "${CMAKE_CURRENT_LIST_DIR}") # Without MNIST: digits are drawn.
set(folder "${CMAKE_CURRENT_BINARY_DIR}/cluster_draws_without_mpi")
file(REMOVE_RECURSE "${folder}")
set(common --train 120 --test 50 --draws 2)
foreach(options "--cost" "--checkpoint;${folder}" "--checkpoint;${folder}" "--input;byte")
  execute_process(COMMAND "${PROGRAM}" ${common} ${options} RESULT_VARIABLE status
                  OUTPUT_VARIABLE out ERROR_VARIABLE errors)
  if(NOT status STREQUAL "0" OR NOT out MATCHES "built without MPI.*model digest")
    message(FATAL_ERROR "${options}: ${status}\n${out}${errors}")
  endif()
endforeach()
if(NOT EXISTS "${folder}/training")
  message(FATAL_ERROR "--checkpoint ${folder} left no training")
endif()
file(REMOVE_RECURSE "${folder}")

function(refused expected)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${ARGN} RESULT_VARIABLE status
                  OUTPUT_VARIABLE out ERROR_VARIABLE errors)
  if(status STREQUAL "0" OR NOT errors MATCHES "${expected}")
    message(FATAL_ERROR "${ARGN}: ${status}\n${out}${errors}")
  endif()
endfunction()
refused("one of 4 ranks, but built without MPI" OMPI_COMM_WORLD_SIZE=4 "${PROGRAM}" ${common})
refused("one of 3 ranks, but built without MPI" PMI_SIZE=3 "${PROGRAM}" ${common})
refused("--sharded needs MPI" "${PROGRAM}" ${common} --sharded)
