# SPDX-License-Identifier: MIT
"""Builds the wheel of a clone, from within this folder: python3 -m build --wheel --no-isolation

CMake compiles the module, for any x86-64 as for any other processor: nothing in a wheel may be for
the machine at hand. CMAKE_ARGS adds to its options.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

LIBRARY = Path(__file__).resolve().parent.parent.parent
BUILD = LIBRARY / "build" / "wheel"  # Nothing is left beside the sources.
BUILD.mkdir(parents=True, exist_ok=True)


def version() -> str:
    text = (LIBRARY / "include/bpm/version.hpp").read_text()
    return ".".join(re.findall(r"#define BPM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


class BuildByCMake(build_ext):
    def build_extension(self, extension: Extension) -> None:
        build = Path(self.build_temp).resolve()
        others = ("BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_BENCHMARKS", "GZIP", "NLOPT", "MPI")
        options = [
            "-DBPM_PYTHON=ON",
            "-DBPM_NATIVE=OFF",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DPython3_EXECUTABLE={sys.executable}",
            *(f"-DBPM_{other}=OFF" for other in others),
            *shlex.split(os.environ.get("CMAKE_ARGS", "")),
        ]
        subprocess.run(["cmake", "-S", LIBRARY, "-B", build, *options], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "bpm_python"], check=True)
        target = Path(self.get_ext_fullpath(extension.name))
        (module,) = (build / "python/bpm").glob(f"_native.*{target.suffix}")
        target.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(module, target)


setup(
    version=version(),
    ext_modules=[Extension("bpm._native", [])],
    cmdclass={"build_ext": BuildByCMake},
    options={"build": {"build_base": str(BUILD)}, "egg_info": {"egg_base": str(BUILD)}},
)
