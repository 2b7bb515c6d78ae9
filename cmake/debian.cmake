# SPDX-License-Identifier: MIT
# Debian packages by CPack: libbpm-dev, which is the library, bpm, which is the command line, where it is built,
# and python3-bpm where the Python package is.

# (Those of a test go nowhere.)
if(BPM_NATIVE AND NOT BPM_BUILD_TESTS)
  message(FATAL_ERROR "BPM_DEBIAN: packages are for any machine: configure with -DBPM_NATIVE=OFF, as the preset debian does")
endif()

if(NOT BPM_INSTALL)
  message(FATAL_ERROR "BPM_DEBIAN: a package holds what is installed: configure with -DBPM_INSTALL=ON")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "${BPM_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_COMPONENTS_ALL "")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(bpm_debian "${PROJECT_BINARY_DIR}/debian")
string(TIMESTAMP bpm_debian_date "%a, %d %b %Y %H:%M:%S +0000" UTC)

# Packs FILE, without the time that would make every package another.
function(bpm_gzip file)
  execute_process(COMMAND gzip -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# bpm_debian_package(COMPONENT NAME SECTION SUMMARY DESCRIPTION): what all packages have. Debian asks each for a licence
# and a changelog of its own.
macro(bpm_debian_package component name section summary description)
  string(TOUPPER ${component} bpm_upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${bpm_upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${bpm_upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${bpm_upper}_DESCRIPTION "${summary}\n${description}")
  file(WRITE "${bpm_debian}/${name}/changelog"
       "${name} (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * What changed stands in the sources' CHANGELOG.md.\n\n"
       " -- ${BPM_MAINTAINER}  ${bpm_debian_date}\n")
  bpm_gzip("${bpm_debian}/${name}/changelog")
  install(FILES "${bpm_debian}/${name}/changelog.gz" DESTINATION share/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES LICENSE DESTINATION share/doc/${name} RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

bpm_debian_package(
  dev libbpm-dev libdevel "Bayes point machines in C++ (headers)"
  "A header-only C++20 library on Eigen. It classifies with the centre of mass
of version space, gives probabilities and rejects what is uncertain.")
set(CPACK_DEBIAN_DEV_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4)")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libnlopt-dev, mpi-default-dev, nlohmann-json3-dev, zlib1g-dev")

if(TARGET command_line)
  bpm_debian_package(
    command_line bpm science "Bayes point machines on the command line"
    "Makes a classifier of a table, a file of LIBSVM or images, chooses how soft
its boundary is, gives calibrated probabilities and rejects what is uncertain.")
  set(CPACK_DEBIAN_COMMAND_LINE_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_COMMAND_LINE_PACKAGE_CONFLICTS bpm-tools) # which has another /usr/bin/bpm
  set(CPACK_DEBIAN_COMMAND_LINE_PACKAGE_SUGGESTS gnuplot-nox)
  configure_file(examples/bpm/bpm.1 "${bpm_debian}/bpm.1" COPYONLY)
  bpm_gzip("${bpm_debian}/bpm.1")
  install(FILES "${bpm_debian}/bpm.1.gz" DESTINATION share/man/man1 COMPONENT command_line EXCLUDE_FROM_ALL)
endif()

if(BPM_PYTHON)
  bpm_debian_package(
    python python3-bpm python "Bayes point machines for scikit-learn"
    "Classifiers with scikit-learn's conventions: fit, predict, predict_proba, and
rejection at a guaranteed risk.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  # Debian has one Python 3, whose next version does not load the module.
  math(EXPR bpm_next_minor "${Python3_VERSION_MINOR} + 1")
  # scikit-learn as examples/python/pyproject.toml has it.
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${bpm_next_minor}), python3-numpy, python3-scipy"
      "python3-sklearn (>= 1.2), python3-sklearn (<< 1.6)")
  list(JOIN CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS ", " CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS)
endif()

# What Debian's own programs are linked with.
foreach(target command_line bpm_python)
  if(TARGET ${target})
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,--as-needed)
  endif()
endforeach()

include(CPack)
