#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the wheel without a network, from a copy of what it needs, installs it in a fresh environment and runs a
# program there.
#   wheel.sh PYTHON SOURCE FOLDER COMPILER
set -eu
rm -rf "$3"
mkdir -p "$3/source/examples"
for part in CMakeLists.txt LICENSE cmake include; do cp -R "$2/$part" "$3/source/"; done
cp -R "$2/examples/python" "$3/source/examples/"
cd "$3"

# It is for any machine; little is optimised, as it is only looked at whether it works.
CXX="$4" CMAKE_ARGS="-DBPM_FAST_PROGRAMS=OFF" PYTHONPATH='' \
  "$1" -m build --wheel --no-isolation --outdir . source/examples/python
"$1" -m venv --system-site-packages environment
environment/bin/python -m pip install --quiet --no-index --no-deps ./bpm-*.whl
environment/bin/python -B "$(dirname "$0")/program.py" "$3/environment"
