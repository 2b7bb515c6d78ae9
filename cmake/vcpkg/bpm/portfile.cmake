# SPDX-License-Identifier: MIT
# An overlay port of the clone that it lies in: vcpkg install --classic bpm --overlay-ports=cmake/vcpkg

get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release) # headers, the same ones for debugging
vcpkg_check_features(
  OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES
    gzip BPM_GZIP
    models BPM_MODELS
    nlopt BPM_NLOPT)
# (MPI is found by those who use it.)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DBPM_BUILD_TESTS=OFF -DBPM_BUILD_EXAMPLES=OFF -DBPM_BUILD_BENCHMARKS=OFF -DBPM_PYTHON=OFF -DBPM_MPI=OFF
          ${FEATURE_OPTIONS})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/bpm)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/cmake" "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
