# SPDX-License-Identifier: MIT
# The example program: the same digest alone, on four ranks, sharded, and from a checkpoint, and that of mnist.
#   cmake -D "MPIRUN=<mpirun;-np;4>" -D PROGRAM=<cluster> -D MNIST=<mnist> -P cluster.cmake
cmake_minimum_required(VERSION 3.25)

unset(ENV{BPM_DATA_DIR})
set(ENV{XDG_CACHE_HOME} "${CMAKE_CURRENT_LIST_DIR}") # Without MNIST: digits are drawn.
set(folder "${CMAKE_CURRENT_BINARY_DIR}/cluster_draws")
file(REMOVE_RECURSE "${folder}")
set(digits --train 400 --test 100)
set(common ${digits} --draws 3)

function(digest name)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE errors)
  if(NOT status STREQUAL "0" OR NOT out MATCHES "model digest +([0-9a-f]+)")
    message(FATAL_ERROR "${ARGN}: ${status}\n${out}${errors}")
  endif()
  set(${name} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(${name}_text "${out}" PARENT_SCOPE)
endfunction()

digest(alone "${PROGRAM}" ${common})
digest(spread ${MPIRUN} "${PROGRAM}" ${common} --cost)
# Of other numbers of draws and ranks, and then of all draws again.
digest(part ${MPIRUN} "${PROGRAM}" ${digits} --draws 2 --checkpoint "${folder}")
digest(added "${PROGRAM}" ${common} --checkpoint "${folder}")
digest(rerun ${MPIRUN} "${PROGRAM}" ${common} --checkpoint "${folder}")
digest(sharded ${MPIRUN} "${PROGRAM}" ${common} --sharded)
digest(bytes ${MPIRUN} "${PROGRAM}" ${common} --input byte)
foreach(input float byte)
  digest(${input}_of_mnist "${MNIST}" ${common} --input ${input})
endforeach()
if(NOT float_of_mnist STREQUAL alone OR NOT byte_of_mnist STREQUAL bytes)
  message(FATAL_ERROR "digests ${alone} and ${bytes}, of mnist ${float_of_mnist} and ${byte_of_mnist}")
endif()
file(REMOVE_RECURSE "${folder}")
foreach(name spread added rerun sharded)
  if(NOT ${name} STREQUAL alone)
    message(FATAL_ERROR "${name}: digest ${${name}}, alone ${alone}")
  endif()
endforeach()
if(NOT spread_text MATCHES "measured between two ranks.*1000 ranks")
  message(FATAL_ERROR "--cost printed no table:\n${spread_text}")
endif()
if(NOT spread_text MATCHES "ranks +4, ")
  message(FATAL_ERROR "four ranks were not told:\n${spread_text}")
endif()

# All ranks fail alike: one message.
execute_process(COMMAND ${MPIRUN} "${PROGRAM}" --train 0 RESULT_VARIABLE status
                OUTPUT_VARIABLE out ERROR_VARIABLE out)
string(REGEX MATCHALL "cluster: [^\n]*--train[^\n]*" messages "${out}")
list(LENGTH messages count)
if(status STREQUAL "0" OR NOT count EQUAL 1)
  message(FATAL_ERROR "expected one message: ${status}\n${out}")
endif()
