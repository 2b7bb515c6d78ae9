# SPDX-License-Identifier: MIT
# Installs the headers and a relocatable package: find_package(bpm 0.2 [COMPONENTS compiled gzip models nlopt mpi]), or
# pkg-config bpm.

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev) # which is libbpm-dev in debian.cmake
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(bpm_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/bpm")

# Consumers with CMake 3.16 to 3.22 know no file sets: they get the include directory.
install(TARGETS bpm EXPORT bpm-targets FILE_SET HEADERS INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT bpm-targets NAMESPACE bpm:: DESTINATION "${bpm_package_dir}")
foreach(part gzip models nlopt mpi)
  install(TARGETS bpm_${part} EXPORT bpm-${part}-targets FILE_SET HEADERS)
  install(EXPORT bpm-${part}-targets NAMESPACE bpm:: DESTINATION "${bpm_package_dir}")
endforeach()
# A library for some instructions; without it the package is for any machine.
set(bpm_for_any_machine ARCH_INDEPENDENT)
if(BPM_COMPILED)
  install(TARGETS bpm_compiled EXPORT bpm-compiled-targets COMPONENT compiled)
  install(EXPORT bpm-compiled-targets NAMESPACE bpm:: DESTINATION "${bpm_package_dir}" COMPONENT compiled)
  set(bpm_for_any_machine "")
endif()

configure_package_config_file(
  cmake/bpm-config.cmake.in "${PROJECT_BINARY_DIR}/bpm-config.cmake"
  INSTALL_DESTINATION "${bpm_package_dir}"
  NO_SET_AND_CHECK_MACRO)
# While the major version is 0, a new minor version may change interfaces.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/bpm-config-version.cmake"
  COMPATIBILITY SameMinorVersion
  ${bpm_for_any_machine})
install(FILES "${PROJECT_BINARY_DIR}/bpm-config.cmake"
              "${PROJECT_BINARY_DIR}/bpm-config-version.cmake"
        DESTINATION "${bpm_package_dir}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_DATADIR}")
  set(bpm_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH bpm_pc_up "/prefix/${CMAKE_INSTALL_DATADIR}/pkgconfig" "/prefix")
  set(bpm_pc_prefix "\${pcfiledir}/${bpm_pc_up}")
endif()
set(bpm_pc_include "\${prefix}")
cmake_path(APPEND bpm_pc_include "${CMAKE_INSTALL_INCLUDEDIR}")
configure_file(cmake/bpm.pc.in "${PROJECT_BINARY_DIR}/bpm.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/bpm.pc" DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")
# (Debian's packages have one each, in a place of its own.)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT licence)
