# SPDX-License-Identifier: MIT
# bpm.hpp includes every header that needs nothing but Eigen, and no other, but those of gaussian_process/, which
# have an umbrella of their own.
#   cmake -D ROOT=<repository> -D OPTIONAL_HEADERS=<list> -P umbrella.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE headers RELATIVE "${ROOT}" "${ROOT}/include/bpm/*.hpp")
list(REMOVE_ITEM headers include/bpm/bpm.hpp include/bpm/gaussian_process.hpp ${OPTIONAL_HEADERS})

# An umbrella and the headers that belong there.
function(check_umbrella name)
  file(STRINGS "${ROOT}/include/bpm/${name}" included REGEX "^#include [<\"]bpm/")
  list(TRANSFORM included REPLACE "^#include [<\"](bpm/[^>\"]*)[>\"].*" "include/\\1")
  set(missing ${ARGN})
  list(REMOVE_ITEM missing ${included})
  set(foreign ${included})
  list(REMOVE_ITEM foreign ${ARGN})
  if(missing OR foreign OR NOT included)
    list(JOIN missing "\n    " missing)
    list(JOIN foreign "\n    " foreign)
    message(FATAL_ERROR "${name}\n  lacks:\n    ${missing}\n  should not include:\n    ${foreign}")
  endif()
  list(LENGTH included count)
  message(STATUS "${name} includes all its ${count} headers")
endfunction()

set(of_processes ${headers})
list(FILTER of_processes INCLUDE REGEX "/gaussian_process/")
list(FILTER headers EXCLUDE REGEX "/gaussian_process/")
check_umbrella(bpm.hpp ${headers})
# core/target.hpp reads GCC's intrinsics before Eigen does, without its warnings of them.
check_umbrella(gaussian_process.hpp include/bpm/core/target.hpp ${of_processes})
