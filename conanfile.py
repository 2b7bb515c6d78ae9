# SPDX-License-Identifier: MIT
"""Conan recipe. The version is read from include/bpm/version.hpp, where it stands once."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class BpmConan(ConanFile):
    name = "bpm"
    description = "Bayes point machines: header-only C++20 on Eigen"
    license = "MIT"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"gzip": [True, False], "models": [True, False], "nlopt": [True, False], "mpi": [True, False]}
    default_options = {"gzip": False, "models": False, "nlopt": False, "mpi": False}
    exports = "include/bpm/version.hpp"
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "LICENSE"
    no_copy_source = True

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "bpm", "version.hpp"))
        parts = re.findall(r"^#define BPM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M)
        self.version = ".".join(parts)

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        self.requires("eigen/3.4.0", transitive_headers=True)
        if self.options.gzip:
            self.requires("zlib/[>=1.2.11 <2]", transitive_headers=True)
        if self.options.models:
            self.requires("nlohmann_json/[>=3.10 <4]", transitive_headers=True)
        if self.options.nlopt:
            self.requires("nlopt/[>=2.7 <3]", transitive_headers=True)
        if self.options.mpi:
            self.requires("openmpi/[>=4.1 <5]", transitive_headers=True)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for name in ("BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_BENCHMARKS", "PYTHON"):
            toolchain.cache_variables[f"BPM_{name}"] = False
        toolchain.cache_variables["BPM_GZIP"] = bool(self.options.gzip)
        toolchain.cache_variables["BPM_MODELS"] = bool(self.options.models)
        toolchain.cache_variables["BPM_NLOPT"] = bool(self.options.nlopt)
        toolchain.cache_variables["BPM_MPI"] = False  # Headers only: the consumer finds it.
        toolchain.generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        core = self.cpp_info.components["bpm"]
        core.set_property("cmake_target_name", "bpm::bpm")
        core.requires = ["eigen::eigen"]
        if self.settings.os in ("Linux", "FreeBSD"):
            core.system_libs = ["pthread"]
        if self.options.gzip:
            gzip = self.cpp_info.components["gzip"]
            gzip.set_property("cmake_target_name", "bpm::gzip")
            gzip.requires = ["bpm", "zlib::zlib"]
        if self.options.models:
            models = self.cpp_info.components["models"]
            models.set_property("cmake_target_name", "bpm::models")
            models.requires = ["bpm", "nlohmann_json::nlohmann_json"]
        if self.options.nlopt:
            nlopt = self.cpp_info.components["nlopt"]
            nlopt.set_property("cmake_target_name", "bpm::nlopt")
            nlopt.requires = ["bpm", "nlopt::nlopt"]
        if self.options.mpi:
            mpi = self.cpp_info.components["mpi"]
            mpi.set_property("cmake_target_name", "bpm::mpi")
            mpi.requires = ["bpm", "openmpi::openmpi"]
