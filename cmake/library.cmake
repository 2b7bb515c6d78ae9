# SPDX-License-Identifier: MIT
# The library's targets: bpm::bpm (all headers that need only Eigen), bpm::gzip (zlib as well),
# bpm::models (nlohmann_json as well), bpm::nlopt (NLopt as well) and bpm::mpi (MPI as well); and where it is asked for
# bpm::compiled, a static library of what else every program compiles for itself.
# Nothing here adds a flag: what a consumer compiles with is the consumer's business.

file(
  GLOB_RECURSE bpm_headers CONFIGURE_DEPENDS
  RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/include/bpm/*.hpp")

# Headers with a dependency of their own are in no umbrella and belong to a target of their own.
set(bpm_gzip_headers include/bpm/data/gzip.hpp)
set(bpm_models_headers include/bpm/storage/gaussian_process_file.hpp include/bpm/storage/model_file.hpp
                       include/bpm/storage/stored_features.hpp include/bpm/storage/stored_members.hpp
                       include/bpm/storage/stored_parts.hpp include/bpm/storage/tensor_file.hpp
                       include/bpm/storage/training_file.hpp)
set(bpm_nlopt_headers include/bpm/gaussian_process/selection/nlopt_search.hpp)
file(
  GLOB_RECURSE bpm_mpi_headers CONFIGURE_DEPENDS
  RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/include/bpm/cluster/*.hpp")
set(bpm_optional_headers ${bpm_gzip_headers} ${bpm_models_headers} ${bpm_nlopt_headers} ${bpm_mpi_headers})
list(REMOVE_ITEM bpm_headers ${bpm_optional_headers})

add_library(bpm INTERFACE)
add_library(bpm::bpm ALIAS bpm)
target_sources(bpm INTERFACE FILE_SET HEADERS BASE_DIRS include FILES ${bpm_headers})
target_compile_features(bpm INTERFACE cxx_std_20)
target_link_libraries(bpm INTERFACE Eigen3::Eigen Threads::Threads)

foreach(part gzip models nlopt mpi)
  add_library(bpm_${part} INTERFACE)
  add_library(bpm::${part} ALIAS bpm_${part})
  set_target_properties(bpm_${part} PROPERTIES EXPORT_NAME ${part})
  target_sources(bpm_${part} INTERFACE FILE_SET HEADERS BASE_DIRS include FILES
                                       ${bpm_${part}_headers})
endforeach()
# For a consumer's compiler our headers are a system's: its warnings are for the consumer's own code. (Installed,
# they are that by themselves.)
if(NOT PROJECT_IS_TOP_LEVEL)
  set_target_properties(bpm bpm_gzip bpm_models bpm_nlopt bpm_mpi PROPERTIES SYSTEM ON)
endif()

# The packages of these are found by packages.cmake, or by who links them.
target_link_libraries(bpm_gzip INTERFACE bpm ZLIB::ZLIB)
target_link_libraries(bpm_models INTERFACE bpm nlohmann_json::nlohmann_json)
target_link_libraries(bpm_nlopt INTERFACE bpm NLopt::nlopt)
target_link_libraries(bpm_mpi INTERFACE bpm MPI::MPI_CXX)

# bpm::compiled, also where our own programs link it. Which instructions it is compiled for is asked of the compiler,
# with the flags that are set by now; a unit with other flags finds that in BPM_COMPILED and is header-only.
if(BPM_COMPILED OR BPM_BUILD_TESTS OR BPM_BUILD_EXAMPLES OR BPM_BUILD_BENCHMARKS)
  set(bpm_compiled_options "")
  if(BPM_NATIVE AND NOT MSVC)
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-march=native BPM_HAS_MARCH_NATIVE)
    if(BPM_HAS_MARCH_NATIVE)
      set(bpm_compiled_options -march=native)
    endif()
  endif()
  get_directory_property(bpm_directory_options COMPILE_OPTIONS)
  # try_compile takes flags alone. What is left out can only make a unit header-only that need not be.
  string(REGEX REPLACE "\\$<\\$<COMPILE_LANGUAGE:CXX>:([^<>]*)>" "\\1" bpm_directory_options "${bpm_directory_options}")
  list(TRANSFORM bpm_directory_options REPLACE "^SHELL:" "")
  string(REPLACE " " ";" bpm_directory_options "${bpm_directory_options}")
  list(FILTER bpm_directory_options EXCLUDE REGEX "[<>]")
  if(NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_TRY_COMPILE_CONFIGURATION "${CMAKE_BUILD_TYPE}")
  endif()
  try_compile(
    bpm_found_target "${PROJECT_BINARY_DIR}/bpm_target" "${PROJECT_SOURCE_DIR}/cmake/compiled/target.cpp"
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/include"
    COMPILE_DEFINITIONS ${bpm_directory_options} ${bpm_compiled_options}
    COPY_FILE "${PROJECT_BINARY_DIR}/bpm_target/program"
    CXX_STANDARD 20
    OUTPUT_VARIABLE bpm_target_output)
  unset(CMAKE_TRY_COMPILE_CONFIGURATION)
  if(NOT bpm_found_target)
    message(FATAL_ERROR "bpm::compiled: the compiler cannot compile C++20 with the flags '${bpm_directory_options} ${bpm_compiled_options}':\n${bpm_target_output}")
  endif()
  file(STRINGS "${PROJECT_BINARY_DIR}/bpm_target/program" bpm_target REGEX "bpm target [0-9]+")
  string(REGEX MATCH "[0-9]+$" bpm_target "${bpm_target}")

  add_library(bpm_compiled STATIC cmake/compiled/bodies.cpp cmake/compiled/machines.cpp cmake/compiled/samplers.cpp)
  add_library(bpm::compiled ALIAS bpm_compiled)
  set_target_properties(bpm_compiled PROPERTIES EXPORT_NAME compiled POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  target_link_libraries(bpm_compiled PUBLIC bpm)
  target_compile_definitions(bpm_compiled PUBLIC BPM_COMPILED=${bpm_target})
  target_compile_options(bpm_compiled PRIVATE ${bpm_compiled_options})
endif()
