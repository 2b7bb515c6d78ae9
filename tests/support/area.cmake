# SPDX-License-Identifier: MIT
# How an area becomes a program with one ctest entry a test case, or a file under sanitizers. Included by tests/CMakeLists.txt.

# --- What the tables say -----------------------------------------------------------------------

# bpm_under_threads(AREA FILE...): what the thread sanitizer runs.
function(bpm_under_threads area)
  set_property(GLOBAL PROPERTY bpm_under_threads_${area} ${ARGN})
endfunction()

# bpm_not_under_addresses(AREA WHY [FILE...]): what the address sanitizer leaves out; no file: all of it.
function(bpm_not_under_addresses area why)
  set(files ${ARGN})
  if(NOT files)
    set(files "*")
  endif()
  foreach(file IN LISTS files)
    set_property(GLOBAL APPEND PROPERTY bpm_not_under_addresses_${area} ${file})
    set_property(GLOBAL PROPERTY "bpm_why_${area}/${file}" "${why}")
  endforeach()
endfunction()

# bpm_own_program(AREA NAME WHEN LEVEL FILE...): files of an area, by name or pattern, that make a program of their own,
# bpm_test_AREA_NAME.
function(bpm_own_program area name when level)
  set_property(GLOBAL APPEND PROPERTY bpm_programs_of_${area} ${name})
  set_property(GLOBAL PROPERTY bpm_program_of_${area}_${name} ${when} ${level})
  string(REPLACE "*" ".*" patterns "${ARGN}")
  set_property(GLOBAL PROPERTY bpm_files_of_${area}_${name} ${patterns})
endfunction()

# --- Which files of an area run ------------------------------------------------------------------

# Splits NAMES (files of an area without `_test.cpp`) by what this build's sanitizer leaves out.
function(bpm_choose area names chosen)
  set(kept ${names})
  if(BPM_SANITIZE MATCHES "thread")
    get_property(named GLOBAL PROPERTY bpm_under_threads_${area})
    set(kept ${named})
    set(out ${names})
    list(REMOVE_ITEM out ${named} "")
    foreach(name IN LISTS out)
      set_property(GLOBAL APPEND PROPERTY bpm_left_out "${area}/${name}: runs in one thread, or what others run")
    endforeach()
  elseif(BPM_SANITIZE MATCHES "address")
    get_property(named GLOBAL PROPERTY bpm_not_under_addresses_${area})
    foreach(name IN LISTS named)
      get_property(why GLOBAL PROPERTY "bpm_why_${area}/${name}")
      set_property(GLOBAL APPEND PROPERTY bpm_left_out "${area}/${name}: ${why}")
    endforeach()
    if("*" IN_LIST named)
      set(kept "")
      set(named "")
    endif()
    list(REMOVE_ITEM kept ${named} "")
  endif()
  foreach(name IN LISTS named)
    if(NOT name IN_LIST names)
      message(FATAL_ERROR "tests/left_out.cmake names ${area}/${name}, which is not there")
    endif()
  endforeach()
  set(${chosen} ${kept} PARENT_SCOPE)
endfunction()

# Takes out of NAMES what needs a package that was not found, by what a file includes or is called.
function(bpm_choose_found area names chosen)
  set(kept "")
  foreach(name IN LISTS names)
    file(STRINGS ${area}/${name}_test.cpp includes REGEX "^#include")
    set(missing "")
    foreach(need "zlib bpm/data/gzip" "NLopt nlopt_search" "LIBSVM common/svm" "OpenSSL common/digest|^mnist_program "
                 "nlohmann_json bpm/storage/(gaussian|mapped|member|model|stored|tensor|training)|model_mutants|resealed|places")
      string(REGEX MATCH "^[^ ]+" package "${need}")
      string(REPLACE "${package} " "" pattern "${need}")
      if("${name} ${includes}" MATCHES "${pattern}" AND NOT bpm_found_${package})
        list(APPEND missing ${package})
      endif()
    endforeach()
    if(missing)
      list(JOIN missing ", " missing)
      set_property(GLOBAL APPEND PROPERTY bpm_left_out "${area}/${name}: ${missing} was not found")
    else()
      list(APPEND kept ${name})
    endif()
  endforeach()
  set(${chosen} ${kept} PARENT_SCOPE)
endfunction()

# Ends the table: every test is in an area. Prints what this build leaves out, and leaves it in left_out.txt for
# tests/all.sh.
function(bpm_end_of_areas)
  get_property(areas GLOBAL PROPERTY bpm_areas)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "*_test.cpp")
  list(TRANSFORM sources REPLACE "/.*" "")
  foreach(area IN LISTS sources BPM_TEST_AREAS)
    if(NOT area IN_LIST areas)
      message(FATAL_ERROR "tests/${area} is no area; tests/CMakeLists.txt lists them")
    endif()
  endforeach()
  get_property(lines GLOBAL PROPERTY bpm_left_out)
  list(JOIN lines "\n" text)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/left_out.txt" "${text}\n")
  foreach(line IN LISTS lines)
    message(STATUS "Left out: ${line}")
  endforeach()
endfunction()

# --- Programs ------------------------------------------------------------------------------------

if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  set(bpm_list_arguments --list-tests --verbosity quiet)
  set(bpm_run_arguments "")
else()
  set(bpm_list_arguments --list-test-names-only)
  set(bpm_run_arguments "-w NoTests") # else a name that matches nothing would pass
endif()
set(bpm_lengths "~[at length]" "[at length]")
if(BPM_SANITIZE MATCHES "address")
  set(bpm_lengths "~[at length]")
  set_property(GLOBAL APPEND PROPERTY bpm_left_out
               "tests with the tag [at length]: numbers judged at length: the tests left in run the same code")
elseif(BPM_SANITIZE MATCHES "thread")
  set(bpm_lengths "~[at length]" "[at length][windowed]")
  set_property(GLOBAL APPEND PROPERTY bpm_left_out
               "tests with the tag [at length], but for threads that help in a draw: laws judged at length: the tests left in run the same code")
endif()

add_library(bpm_test_main STATIC support/main.cpp)
target_link_libraries(bpm_test_main PUBLIC bpm::compiled Catch2::Catch2 PRIVATE bpm_flags)
target_include_directories(bpm_test_main PUBLIC support "${CMAKE_CURRENT_BINARY_DIR}/with_mutants")
if(BPM_SANITIZE)
  target_compile_definitions(bpm_test_main PRIVATE BPM_NAME_CASES)
endif()
if(NOT MSVC)
  # Catch2's runner: half a minute to optimise, nothing gained.
  set_source_files_properties(support/main.cpp PROPERTIES COMPILE_OPTIONS -O0)
endif()

# bpm_optimise(TARGET LEVEL): the level of optimisation, and the precompiled header that was made at it. In
# Release 3 is the build type's own; elsewhere but for the address sanitizer all areas take the build type's.
function(bpm_optimise target level)
  set(option "")
  if(NOT MSVC AND level LESS 3)
    set(option -O${level})
  endif()
  set(header bpm_test_precompiled${option})
  if(NOT TARGET ${header})
    file(WRITE "${CMAKE_BINARY_DIR}/tests/precompiled.cpp" "")
    add_library(${header} OBJECT "${CMAKE_BINARY_DIR}/tests/precompiled.cpp")
    target_link_libraries(${header} PRIVATE bpm_test_main bpm_flags)
    target_compile_options(${header} PRIVATE ${option})
    target_precompile_headers(${header} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/precompiled.hpp")
  endif()
  target_compile_options(${target} PRIVATE ${option})
  if(NOT "OpenMP::OpenMP_CXX" IN_LIST ARGN) # whose option the precompiled header was made without
    target_precompile_headers(${target} REUSE_FROM ${header})
  endif()
endfunction()

# All programs of the areas, and nothing else.
add_custom_target(bpm_test_programs)

# What tests/run.sh builds of the tests, and runs: entries with the label "short".
add_custom_target(bpm_short_tests)

# bpm_run_short(TEST... [TARGETS TARGET...]): tests of this folder that tests/run.sh runs, and what they need.
function(bpm_run_short)
  cmake_parse_arguments(PARSE_ARGV 0 run "" "" "TARGETS")
  set_property(TEST ${run_UNPARSED_ARGUMENTS} APPEND PROPERTY LABELS short)
  if(run_TARGETS)
    add_dependencies(bpm_short_tests ${run_TARGETS})
  endif()
endfunction()

# The ctest entries of a program made of NAMES, asked of it once it is linked.
function(bpm_discover_tests program label when names)
  set(files "")
  if(BPM_SANITIZE)
    list(TRANSFORM names REPLACE "^.*/" "" OUTPUT_VARIABLE files)
  endif()
  set(list_file "${CMAKE_CURRENT_BINARY_DIR}/${program}.cmake")
  add_custom_command(
    TARGET ${program}
    POST_BUILD
    COMMAND
      "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${program}>" "-DLABEL=${label}" "-DWHEN=${when}"
      "-DFILES=${files}" "-DLIST_ARGUMENTS=${bpm_list_arguments}" "-DLENGTHS=${bpm_lengths}" "-DRUN_ARGUMENTS=${bpm_run_arguments}" -DSKIP_CODE=77
      "-DOUT=${list_file}" -P "${CMAKE_CURRENT_SOURCE_DIR}/support/discover.cmake"
    BYPRODUCTS "${list_file}"
    VERBATIM)
  # A program that was not built is a failure, not an area without tests.
  file(
    WRITE "${list_file}.in"
    "if(EXISTS [==[${list_file}]==])\n  include([==[${list_file}]==])\n"
    "else()\n  add_test([==[${program} not built]==] [==[${program}_not_built]==])\n"
    "  set_tests_properties([==[${program} not built]==] PROPERTIES LABELS [==[${label};${when}]==])\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${list_file}.in")
endfunction()

# A program of an area's files NAMES. Its tests' labels are its name without bpm_test_, and `when`.
function(bpm_test_program program area when level libraries names)
  set(sources "")
  foreach(name IN LISTS names)
    set(source ${area}/${name}_test.cpp)
    # NAME_program_test.cpp runs the program NAME, which it finds as BPM_NAME_PROGRAM.
    if(name MATCHES "^(.+)_program$")
      set(tested ${CMAKE_MATCH_1})
      if(NOT TARGET ${tested})
        message(STATUS "Left out: ${source}: there is no program ${tested} in this build")
        continue()
      endif()
      list(APPEND run ${tested})
      string(TOUPPER "BPM_${tested}_PROGRAM" definition)
      list(APPEND definitions "${definition}=\"$<TARGET_FILE:${tested}>\"")
    endif()
    list(APPEND sources ${source})
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_executable(${program} ${sources})
  target_link_libraries(${program} PRIVATE bpm_test_main bpm_flags)
  # (Of the program, as a file with definitions of its own is compiled alone.)
  target_compile_definitions(${program} PRIVATE ${definitions})
  foreach(library IN LISTS libraries)
    # (The library's own targets are there without their packages.)
    if(TARGET ${library} AND (NOT library STREQUAL "bpm::gzip" OR bpm_found_zlib) AND (NOT library STREQUAL "bpm::nlopt"
       OR bpm_found_NLopt) AND (NOT library STREQUAL "bpm::models" OR bpm_found_nlohmann_json))
      target_link_libraries(${program} PRIVATE ${library})
    endif()
  endforeach()
  foreach(tested IN LISTS run)
    add_dependencies(${program} ${tested})
  endforeach()
  add_dependencies(bpm_test_programs ${program})
  if(when STREQUAL "short")
    add_dependencies(bpm_short_tests ${program})
  endif()
  bpm_optimise(${program} ${level} ${libraries})
  string(REPLACE bpm_test_ "" label ${program})
  bpm_discover_tests(${program} ${label} ${when} "${names}")
endfunction()

# bpm_test_area(AREA WHEN LEVEL ADDRESS_LEVEL [LIBRARY...])
function(bpm_test_area area when level address_level)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/${area}"
       "${area}/*_test.cpp")
  if(NOT sources)
    message(FATAL_ERROR "tests/${area} holds no *_test.cpp")
  endif()
  list(FILTER sources EXCLUDE REGEX "^mpi/") # run by all ranks of a job, see cluster/CMakeLists.txt
  set_property(GLOBAL APPEND PROPERTY bpm_areas ${area})
  if(NOT sources)
    return()
  endif()
  if(BPM_TEST_AREAS AND NOT area IN_LIST BPM_TEST_AREAS)
    return()
  endif()
  foreach(needed "examples bpm_examples_common" "docs bpm_examples_common" "benchmarks benchmark_page" "openmp OpenMP::OpenMP_CXX")
    string(REPLACE " " ";" needed ${needed})
    list(GET needed 1 target)
    if(area IN_LIST needed AND NOT TARGET ${target})
      message(STATUS "Left out: tests/${area}: there is no ${target} in this build")
      return()
    endif()
  endforeach()
  list(TRANSFORM sources REPLACE "_test\\.cpp$" "")
  bpm_choose(${area} "${sources}" names)
  bpm_choose_found(${area} "${names}" names)

  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    set(level 3)
    if(BPM_SANITIZE MATCHES "address")
      set(level ${address_level})
    endif()
  endif()
  get_property(programs GLOBAL PROPERTY bpm_programs_of_${area})
  foreach(program IN LISTS programs)
    get_property(patterns GLOBAL PROPERTY bpm_files_of_${area}_${program})
    list(JOIN patterns "|" pattern)
    set(own ${names})
    list(FILTER own INCLUDE REGEX "^(${pattern})$")
    list(REMOVE_ITEM names ${own} "")
    get_property(settings GLOBAL PROPERTY bpm_program_of_${area}_${program})
    list(GET settings 0 own_when)
    set(own_level ${level})
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      list(GET settings 1 own_level)
    endif()
    bpm_test_program(bpm_test_${area}_${program} ${area} ${own_when} ${own_level} "${ARGN}" "${own}")
  endforeach()
  bpm_test_program(bpm_test_${area} ${area} ${when} ${level} "${ARGN}" "${names}")
endfunction()
