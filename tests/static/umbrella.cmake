# SPDX-License-Identifier: MIT
# bpm.hpp includes every header that needs nothing but Eigen, and no other.
#   cmake -D ROOT=<repository> -D OPTIONAL_HEADERS=<list> -P umbrella.cmake
cmake_minimum_required(VERSION 3.25)

file(STRINGS "${ROOT}/include/bpm/bpm.hpp" included REGEX "^#include [<\"]bpm/")
list(TRANSFORM included REPLACE "^#include [<\"](bpm/[^>\"]*)[>\"].*" "include/\\1")

file(GLOB_RECURSE headers RELATIVE "${ROOT}" "${ROOT}/include/bpm/*.hpp")
list(REMOVE_ITEM headers include/bpm/bpm.hpp ${OPTIONAL_HEADERS})

set(missing ${headers})
list(REMOVE_ITEM missing ${included})
set(foreign ${included})
list(REMOVE_ITEM foreign ${headers})
if(missing OR foreign)
  list(JOIN missing "\n    " missing)
  list(JOIN foreign "\n    " foreign)
  message(FATAL_ERROR "bpm.hpp\n  lacks:\n    ${missing}\n  should not include:\n    ${foreign}")
endif()
list(LENGTH headers count)
message(STATUS "bpm.hpp includes all ${count} headers")
