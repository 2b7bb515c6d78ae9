# SPDX-License-Identifier: MIT
# What our own tests, examples and benchmarks are compiled with. Never installed, never exported.

include(CheckCXXCompilerFlag)

# bpm_flags: warnings, the machine at hand and sanitizers.
add_library(bpm_flags INTERFACE)

if(MSVC)
  target_compile_options(bpm_flags INTERFACE /W4 /permissive- $<$<BOOL:${BPM_WARNINGS_AS_ERRORS}>:/WX>)
else()
  set(bpm_warnings -Wall -Wextra -Wpedantic -Wfloat-conversion -Wshadow)
  if(BPM_WARNINGS_AS_ERRORS)
    list(APPEND bpm_warnings -Werror)
  endif()
  # Warnings of GCC 12 and older that are known to be wrong: its AVX-512 header initialises variables
  # with themselves; comparing or joining strings and vectors is taken for an overlap or an overrun.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND bpm_warnings -Wno-uninitialized -Wno-maybe-uninitialized -Wno-restrict
         -Wno-stringop-overread)
  endif()
  target_compile_options(bpm_flags INTERFACE ${bpm_warnings})
endif()

# bpm_program_flags: what examples and benchmarks take beside, where only their working is looked at.
add_library(bpm_program_flags INTERFACE)
if(NOT BPM_FAST_PROGRAMS AND NOT MSVC)
  target_compile_options(bpm_program_flags INTERFACE -O1)
endif()

# bpm_precompile_program(PROGRAM): where programs are compiled to be tested, what all of them parse is parsed once.
function(bpm_precompile_program program)
  if(BPM_FAST_PROGRAMS OR MSVC)
    return()
  endif()
  if(NOT TARGET bpm_program_precompiled)
    file(WRITE "${CMAKE_BINARY_DIR}/program_precompiled.cpp" "")
    add_library(bpm_program_precompiled OBJECT "${CMAKE_BINARY_DIR}/program_precompiled.cpp")
    target_link_libraries(bpm_program_precompiled PRIVATE bpm_examples_common bpm_flags bpm_program_flags)
    target_precompile_headers(
      bpm_program_precompiled PRIVATE <CLI/CLI.hpp> <Eigen/Dense> <nlohmann/json.hpp> <algorithm> <cmath> <filesystem>
      <fstream> <functional> <map> <memory> <optional> <span> <sstream> <stdexcept> <string> <thread> <vector>)
  endif()
  target_precompile_headers(${program} REUSE_FROM bpm_program_precompiled)
endfunction()

if(BPM_NATIVE)
  check_cxx_compiler_flag(-march=native BPM_HAS_MARCH_NATIVE)
  if(BPM_HAS_MARCH_NATIVE)
    target_compile_options(bpm_flags INTERFACE -march=native)
  else()
    message(WARNING "BPM_NATIVE: ${CMAKE_CXX_COMPILER} does not know -march=native; ignored")
  endif()
endif()

if(BPM_SANITIZE)
  target_compile_options(bpm_flags INTERFACE -fsanitize=${BPM_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
  target_link_options(bpm_flags INTERFACE -fsanitize=${BPM_SANITIZE})
endif()

# bpm::compiled as our own programs are; where these are compiled to be tested it is optimised all the same, which their
# running gains. (Not linked with bpm_flags, which is never exported.)
if(TARGET bpm_compiled)
  target_compile_options(bpm_compiled PRIVATE $<TARGET_PROPERTY:bpm_flags,INTERFACE_COMPILE_OPTIONS>)
  if(NOT BPM_FAST_PROGRAMS AND NOT MSVC AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(bpm_compiled PRIVATE -O2)
  endif()
endif()
