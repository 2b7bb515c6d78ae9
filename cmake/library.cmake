# SPDX-License-Identifier: MIT
# The library's targets: bpm::bpm (all headers that need only Eigen), bpm::gzip (zlib as well),
# bpm::models (nlohmann_json as well), bpm::nlopt (NLopt as well) and bpm::mpi (MPI as well).
# Nothing here adds a flag: what a consumer compiles with is the consumer's business.

if(NOT TARGET Eigen3::Eigen)
  find_package(Eigen3 3.4 REQUIRED NO_MODULE)
endif()
find_package(Threads REQUIRED)

file(
  GLOB_RECURSE bpm_headers CONFIGURE_DEPENDS
  RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/include/bpm/*.hpp")

# Headers with a dependency of their own are in no umbrella and belong to a target of their own.
set(bpm_gzip_headers include/bpm/data/gzip.hpp)
set(bpm_models_headers include/bpm/storage/gaussian_process_file.hpp include/bpm/storage/member_reader.hpp
                       include/bpm/storage/mapped_file.hpp include/bpm/storage/model_file.hpp
                       include/bpm/storage/stored_features.hpp include/bpm/storage/stored_inputs.hpp
                       include/bpm/storage/stored_kernel.hpp
                       include/bpm/storage/stored_members.hpp include/bpm/storage/tensor_checksum.hpp
                       include/bpm/storage/tensor_file.hpp
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

target_link_libraries(bpm_gzip INTERFACE bpm ZLIB::ZLIB)
if(BPM_GZIP AND NOT TARGET ZLIB::ZLIB)
  find_package(ZLIB REQUIRED)
endif()

target_link_libraries(bpm_models INTERFACE bpm nlohmann_json::nlohmann_json)
if(BPM_MODELS AND NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json REQUIRED)
endif()

target_link_libraries(bpm_nlopt INTERFACE bpm NLopt::nlopt)
if(BPM_NLOPT AND NOT TARGET NLopt::nlopt)
  find_package(NLopt QUIET)
  if(NOT TARGET NLopt::nlopt)
    message(STATUS "NLopt was not found (Debian and Ubuntu: libnlopt-dev): bpm::nlopt is left out")
  endif()
endif()

target_link_libraries(bpm_mpi INTERFACE bpm MPI::MPI_CXX)
if(BPM_MPI AND NOT TARGET MPI::MPI_CXX)
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT TARGET MPI::MPI_CXX)
    message(STATUS "MPI was not found (Debian and Ubuntu: libopenmpi-dev openmpi-bin): bpm::mpi is left out")
  endif()
endif()
