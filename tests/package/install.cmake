# SPDX-License-Identifier: MIT
# Installs the build BUILD into PREFIX by way of another folder: the package must survive a move.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}.first")
# Of a build without the command line, as tests/run.sh makes, what the library is.
if(EXISTS "${BUILD}/examples/bpm")
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}.first" COMMAND_ERROR_IS_FATAL ANY)
else()
  foreach(component IN ITEMS dev compiled licence)
    execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}.first" --component ${component}
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()
file(RENAME "${PREFIX}.first" "${PREFIX}")
