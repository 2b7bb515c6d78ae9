#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tries bpm on a fresh Debian, which it makes in build/tests/fresh: a machine that has everything hides what others
# lack. A clone of HEAD is configured, built and run there with Eigen alone, with what README names, and with each
# optional package by itself; every build option is on, off, and on where it cannot be had; the package is installed
# and used. All but the installing is done by a user who may not write to the sources, has no way to be root and no
# network, at paths with blanks. Ends with ctest's closing line; 77 says that all of it was left out, and why.
#
#   ./tests/fresh.sh
set -euo pipefail
umask 022
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/packages.sh
source cmake/packages.sh
# shellcheck disable=SC1091
distribution="$(source /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_CODENAME:-}")" || distribution=""

work="$PWD/build/tests/fresh"
root="$work/root"
logs="$work/logs"
said="$logs/configure"
sources="/src/b p m"        # In the root,
build="/home/user/a build"  # and this.
jobs="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"

# The optional packages: configuring names each that is missing.
optional=(libnlopt-dev libopenmpi-dev libbenchmark-dev libdnnl-dev catch2 python3-dev)
optional_to_programs=(libsvm-dev libssl-dev gnuplot-nox) # where what README names is there

# --- The machine -----------------------------------------------------------------------------------

left_out() {
  echo "Left out: the fresh machine: $*"
  exit 77
}

# Without root it is made and entered by a user namespace.
mode=root
namespaces=(--mount --pid --fork --kill-child)
if [[ $(id -u) -ne 0 ]]; then
  mode=unshare
  namespaces+=(--map-root-user --map-auto)
fi

remove_root() {
  if [[ -e "$root" ]]; then
    unshare "${namespaces[@]}" rm -rf --one-file-system "$root"
  fi
}

# enter USER COMMAND...: in the root, in namespaces of its own, with which all that it mounted and started ends.
enter() {
  local home=/root name passed=() alone=()
  for name in http_proxy https_proxy no_proxy; do
    [[ -z "${!name:-}" ]] || passed+=("$name=${!name}")
  done
  if [[ "$1" != root ]]; then
    home="/home/$1"
    alone=(--net)
  fi
  # shellcheck disable=SC2016
  unshare "${namespaces[@]}" ${alone[0]:+"${alone[@]}"} bash -euc '
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
    mount -t proc proc "$1/proc"
    [[ -z "$3" ]] || mount --bind -o ro "$3" "$1/data"
    # Up with "lo" (SIOCSIFFLAGS), which is no network: without any interface the compilers of MPI complain.
    perl -e "socket(S, 2, 2, 0) && ioctl(S, 0x8914, \$_ = pack(q(Z16 s x22), q(lo), 0x41))"
    exec chroot --userspec="$2" "$1" "${@:4}"' enter "$root" "$1" "${BPM_DATA_DIR:-}" \
    env -i -C "$sources" PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$home" LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive BPM_NO_DOWNLOAD=1 ${passed[0]:+"${passed[@]}"} "${@:2}"
}
by_root() { enter root "$@"; }
by_user() { enter user "$@"; }

# The files of apt that offer this Debian itself, as this machine takes it.
debian_sources() {
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    if grep -qsE "^(deb .*|Suites:.*) $1(-security|-updates)?( .*|$)" "$file" && grep -qw main "$file"; then
      echo "$file"
    fi
  done
}

# With a compiler, CMake and Eigen; then a clone of HEAD.
make_root() {
  local suite=bookworm files=()
  if [[ "$distribution" == debian\ ?* ]]; then
    suite="${distribution#* }"
    mapfile -t files < <(debian_sources "$suite")
  fi
  apt-config dump | grep -E '^Acquire::(https?|Check|Retries|ForceIP)' >"$work/apt.conf" || true
  # shellcheck disable=SC2016
  mmdebstrap --mode="$mode" --variant=apt --include="g++ cmake make ninja-build libeigen3-dev" \
    --aptopt="$work/apt.conf" --dpkgopt=force-unsafe-io --skip=cleanup/apt \
    --customize-hook='chroot "$1" useradd --create-home user && mkdir "$1/src" "$1/data"' \
    --customize-hook="mkdir \"\$1$sources\"" \
    "$suite" "$root" ${files[0]:+"${files[@]}"}
  rm -rf "$work/clone"
  git clone --quiet --no-hardlinks . "$work/clone"
  tar -C "$work/clone" -c . | by_root tar -x --no-same-owner
  rm -rf "$work/clone"
}

install() { by_root apt-get install -q -y --no-install-recommends "$@"; }
remove() { by_root apt-get purge -q -y --autoremove "$@"; }

# --- Steps -----------------------------------------------------------------------------------------

steps=0
failures=()

# step TITLE COMMAND...: runs it quietly; its output is shown if it fails, and the next step comes all the same. Says
# how many seconds it took, and how many of processor time.
step() {
  local title="$1" log status spent TIMEFORMAT='%0R %0U'
  steps=$((steps + 1))
  log="$logs/$(printf '%02d' $steps)"
  shift
  set +e
  { time { (set -e; "$@") >"$log" 2>&1; }; } 2>"$logs/time"
  status=$?
  set -e
  read -r -a spent <"$logs/time"
  if [[ $status -ne 0 ]]; then
    tail -n 40 "$log"
    failures+=("$title")
    title="FAILED: $title"
  fi
  printf '%-64s %4d s, %4d s of processor time\n' "$title" "${spent[@]}"
}

# configure OPTION...: without what was found before, but with what was compiled (--fresh would delete that); what it
# says is for those below. Programs have little to do here, so that compiling is dearer than running.
configure() {
  by_user rm -f "$build/CMakeCache.txt"
  by_user cmake --preset release -B "$build" -DBPM_FAST_PROGRAMS=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 "$@" 2>&1 | tee "$said"
}
build() { by_user cmake --build "$build" --parallel "$jobs" ${1:+--target "$@"}; }
run() { by_user "$build/examples/$1" "${@:2}"; }

# named COUNT PACKAGE...: whether what configuring said names each of them so often.
named() {
  local package count status=0
  for package in "${@:2}"; do
    count="$(grep -owF -- "$package" "$said" | wc -l)" || true
    if [[ $count -ne $1 ]]; then
      echo "Configuring names $package $count times, and should $1 times"
      status=1
    fi
  done
  return $status
}

# refused WORD COMMAND...: whether the command fails and names the word.
refused() {
  local output
  if output="$("${@:2}" 2>&1)"; then
    echo "This should have failed for want of $1: ${*:2}"
    return 1
  fi
  grep -qwF -- "$1" <<<"$output" || { echo "This fails, but does not name $1: ${*:2}: $output" && return 1; }
}

# each FUNCTION: calls it with the words of each line; all lines are tried.
each() {
  local words status=0
  while read -r -a words; do
    [[ ${#words[@]} -eq 0 ]] || "$1" "${words[@]}" || { echo "WRONG: ${words[*]}" && status=1; }
  done
  return $status
}

eigen_alone() {
  configure
  named 1 libcli11-dev nlohmann-json3-dev zlib1g-dev "${optional[@]}"
  build
  run toy
}

nothing_optional() {
  configure
  named 0 libcli11-dev nlohmann-json3-dev zlib1g-dev libeigen3-dev
  named 1 "${optional[@]}" "${optional_to_programs[@]}"
}

programs() {
  run bpm --help
  run mnist --train 300 --test 200 --draws 2 2>&1 | tee "$logs/mnist"
  grep -q 'digits of its own\|drawn' "$logs/mnist"
  run cluster --train 300 --test 200 --draws 2
  if [[ -n "${BPM_DATA_DIR:-}" ]]; then
    by_user BPM_DATA_DIR=/data "$build/examples/mnist" --train 300 --test 200 --draws 2
  fi
}

# refuse_option PACKAGE OPTION: asked for by name, which its message names.
refuse_option() { refused "$1" configure "-D$2"; }
options_without_packages() {
  each refuse_option <<'END'
catch2             BPM_BUILD_TESTS=ON
zlib1g-dev         BPM_BUILD_EXAMPLES=ON
python3-dev        BPM_PYTHON=ON
zlib1g-dev         BPM_GZIP=ON
nlohmann-json3-dev BPM_MODELS=ON
libnlopt-dev       BPM_NLOPT=ON
libopenmpi-dev     BPM_MPI=ON
AUTO               BPM_MPI=MAYBE
END
}

set_options() { configure "${@/#/-D}"; }
options_on_and_off() {
  each set_options <<'END'
BPM_BUILD_TESTS=OFF
BPM_BUILD_EXAMPLES=ON
BPM_BUILD_EXAMPLES=OFF
BPM_BUILD_BENCHMARKS=OFF
BPM_BUILD_EXAMPLES=OFF BPM_BUILD_TESTS=OFF BPM_BUILD_BENCHMARKS=OFF
BPM_PYTHON=OFF
BPM_FAST_PROGRAMS=ON
BPM_NATIVE=OFF
BPM_WARNINGS_AS_ERRORS=ON
BPM_SANITIZE=address,undefined
BPM_SANITIZE=thread
BPM_COMPILED=ON
BPM_COMPILED=OFF BPM_BUILD_EXAMPLES=OFF
BPM_INSTALL=OFF
BPM_GZIP=ON
BPM_GZIP=OFF
BPM_MODELS=ON
BPM_MODELS=OFF
BPM_NLOPT=OFF
BPM_MPI=OFF
BPM_DEBIAN=OFF
BPM_DEBIAN=ON BPM_NATIVE=OFF
END
}

# Headers whose libraries are not there, and a compiler that does not know -march=native.
headers_alone() {
  local folder=/usr/local/include status=0
  by_root mkdir -p $folder/oneapi/dnnl $folder/openssl
  by_root touch $folder/{svm.h,nlopt.h,mpi.h,oneapi/dnnl/dnnl.h,openssl/evp.h}
  { configure && named 1 "${optional[@]}" "${optional_to_programs[@]}"; } || status=1
  by_root rm -r $folder/{svm.h,nlopt.h,mpi.h,oneapi,openssl}
  return $status
}
compiler_not_native() {
  local build="$build by another compiler"
  by_root tee /usr/local/bin/g++ <<<'#!/bin/sh
case "$*" in *-march=native*) echo "unrecognised -march=native" >&2; exit 1 ;; esac
exec /usr/bin/g++ "$@"'
  by_root chmod +x /usr/local/bin/g++
  configure -DCMAKE_CXX_COMPILER=/usr/local/bin/g++
  grep -q 'does not know -march=native' "$said"
  build bpm_examples_digest
}

# with_package PACKAGES OPTIONS TARGETS COMMAND...: these alone; configured, what they add is built, the command run.
with_package() {
  local packages options targets other
  read -r -a packages <<<"$1"
  read -r -a options <<<"$2"
  read -r -a targets <<<"$3"
  install "${packages[@]}"
  set_options "${options[@]}"
  named 0 "${packages[@]}"
  for other in "${optional[@]}" "${optional_to_programs[@]}"; do
    [[ " $1 " == *" $other "* ]] || named 1 "$other"
  done
  build "${targets[@]}"
  "${@:4}"
}
digest() {
  run mnist --train 300 --test 200 --draws 2 | tee "$logs/digest"
  grep -qE '[0-9a-f]{64}' "$logs/digest"
}
test_decision() {
  by_user ctest --test-dir "$build" --output-on-failure -R decision
  each set_options <<'END'
BPM_TEST_AREAS=core;data
BPM_TEST_PACKAGE=ON
BPM_SANITIZE=thread BPM_BUILD_EXAMPLES=OFF BPM_BUILD_BENCHMARKS=OFF
END
}

# --- The package, as others use it -----------------------------------------------------------------

prefix="/home/user/a prefix"

# By CMake's own generator, Make.
package_installed() {
  by_user cmake --preset package -B "$build package"
  by_user cmake --install "$build package" --prefix "$prefix"
  consume installed
}
# consume FOLDER: configures, builds and runs that one of tests/package.
consume() {
  by_user cmake --fresh -S "$sources/tests/package/$1" -B "$build $1" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_FLAGS=-O0 &&
    by_user cmake --build "$build $1" &&
    by_user "$build $1/consumer"
}
components_missing() {
  local status=0
  refused zlib1g-dev consume gzip || status=1
  refused nlohmann-json3-dev consume models || status=1
  refused libnlopt-dev consume nlopt || status=1
  refused libopenmpi-dev consume mpi || status=1
  refused DBPM_COMPILED consume compiled || status=1
  return $status
}

# --- README's first command --------------------------------------------------------------------------

first_command() {  # first_command [BPM_DATA_DIR=/data]
  by_root env "$@" ./examples/run.sh --train 2000 --draws 3 2>&1 | tee "$logs/first"
  if [[ $# -eq 0 ]]; then
    grep -q 'draws digits of its own' "$logs/first"
  else
    [[ "$(<"$logs/first")" != *"digits of its own"* ]]
  fi
}

# --- All of it ---------------------------------------------------------------------------------------

command -v git >/dev/null || left_out "git is not here"
(install_packages mmdebstrap) || left_out "mmdebstrap cannot be installed"
command -v mmdebstrap >/dev/null || left_out "mmdebstrap is not here"
unshare "${namespaces[@]}" true || left_out "unshare cannot make namespaces here"
mkdir -p "$logs"
rm -rf "${logs:?}"/*
remove_root
trap remove_root EXIT
[[ -z "$(git status --porcelain)" ]] || echo "Changes that are not committed are not tried."

step "A Debian with a compiler, CMake and Eigen" make_root
if [[ ${#failures[@]} -gt 0 ]]; then
  [[ $mode == root ]] || left_out "it cannot be made without root"
  exit 1
fi

step "Eigen alone: examples/run.sh by a user who cannot install" refused "Could not install" by_user ./examples/run.sh
step "Eigen alone: configured, each missing package named, built" eigen_alone
step "Eigen alone: options that cannot be had" options_without_packages
step "Eigen alone: the package, by Make, and a consumer" package_installed
step "Eigen alone: components that cannot be had" components_missing

step "What README names is installed" install libcli11-dev nlohmann-json3-dev zlib1g-dev
step "Nothing optional: configured, each missing package named" nothing_optional
step "Nothing optional: all targets are built" build
step "Nothing optional: programs run" programs
step "Nothing optional: an option that cannot be had" refuse_option libbenchmark-dev BPM_BUILD_BENCHMARKS=ON
step "Nothing optional: options on and off" options_on_and_off
step "Nothing optional: headers without libraries" headers_alone
step "Nothing optional: a compiler without -march=native" compiler_not_native
step "Component gzip" consume gzip
step "Component models" consume models

# alone TITLE PACKAGES OPTIONS TARGETS COMMAND...
alone() {
  local packages
  read -r -a packages <<<"$2"
  step "Alone: $1" with_package "${@:2}"
  remove "${packages[@]}" >"$logs/remove" 2>&1
}
alone "NLopt" libnlopt-dev BPM_NLOPT=ON model_selection run model_selection --train 60 --subsets 1 --quiet
alone "LIBSVM" libsvm-dev BPM_BUILD_EXAMPLES=ON decision_boundary run decision_boundary --help
alone "oneDNN" libdnnl-dev BPM_BUILD_EXAMPLES=ON mnist run mnist --train 300 --test 200 --draws 2 --floor
alone "OpenSSL" libssl-dev BPM_BUILD_EXAMPLES=ON mnist digest
alone "Google Benchmark" libbenchmark-dev BPM_BUILD_BENCHMARKS=ON bpm_benchmarks \
  by_user "$build/benchmarks/bpm_benchmarks" --benchmark_list_tests
alone "MPI" "libopenmpi-dev openmpi-bin" BPM_MPI=ON cluster \
  by_user mpirun -n 2 --oversubscribe "$build/examples/cluster" --train 300 --test 200 --draws 2
alone "Catch2" catch2 "BPM_BUILD_TESTS=ON BPM_TEST_AREAS=decision BPM_TEST_PACKAGE=OFF" bpm_test_decision test_decision
alone "Python" "python3-dev pybind11-dev" BPM_PYTHON=ON toy run toy # its module takes minutes

remove libeigen3-dev libcli11-dev nlohmann-json3-dev zlib1g-dev ninja-build >"$logs/remove" 2>&1
step "README's first command, without data" first_command
if [[ -n "${BPM_DATA_DIR:-}" ]]; then
  step "README's first command, with data" first_command BPM_DATA_DIR=/data
fi

echo
printf 'FAILED: %s\n' ${failures[0]:+"${failures[@]}"} | grep -v 'FAILED: $' || true
echo "$(((steps - ${#failures[@]}) * 100 / steps))% tests passed, ${#failures[@]} tests failed out of $steps"
[[ ${#failures[@]} -eq 0 ]]
