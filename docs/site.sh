#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the site in a folder: these pages, the reference of all headers, and the page on which a digit is drawn.
#
#   ./docs/site.sh OUT
#   ./docs/site.sh --install   installs what that needs, which it else does itself, and makes nothing
#
# Any server of files shows it: python3 -m http.server --directory OUT. The page's machine is trained on MNIST,
# found as the programs find it (BPM_DATA_DIR, else a cache folder), and compiled by Clang for WebAssembly; where
# either is not there, the site is made without that page, and says so. Formulas are drawn by KaTeX, of npm; without
# it they stay TeX.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=cmake/packages.sh
source "$root/cmake/packages.sh"

if [[ $# -ne 1 || ("$1" == -* && "$1" != --install) ]]; then
  sed -n '3,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  [[ "${1:-}" == -h || "${1:-}" == --help ]] && exit 0
  exit 2
fi
if [[ "$1" != --install ]]; then
  mkdir -p "$1"
  out="$(cd "$1" && pwd)"
  # What was there is deleted in the end: only a site of before, which has this mark.
  mark="$out/.bpm-site"
  if [[ ! -e "$mark" && -n "$(ls -A "$out")" ]]; then
    say "$out is not empty, and no site that this script has made"
    exit 1
  fi
fi
# BPM_SITE_WORK: the folder of a test, which works there and neither installs nor fetches anything.
test="${BPM_SITE_WORK:-}"
work="${test:-$root/build/site}"
mkdir -p "$work"
if [[ "$1" != --install && "$(cd "$work" && pwd)/" == "$out"/* ]]; then
  say "$out holds $work, where the site is made: take another folder"
  exit 2
fi

# run TITLE COMMAND...: quietly; what it said is shown if it fails.
run() {
  local title="$1"
  shift
  say "$title"
  if ! "$@" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    return 1
  fi
}

# need "COMMAND..." PACKAGE...: installs what is missing of the packages; a test only looks for the commands. (In a
# shell of its own: install_packages ends it where a package cannot be had.)
need() {
  if [[ -z "$test" ]]; then
    (install_packages "${@:2}")
    return
  fi
  local command commands missing=()
  read -r -a commands <<<"$1"
  for command in "${commands[@]}"; do
    command -v "$command" >/dev/null || missing+=("$command")
  done
  [[ ${#missing[@]} -eq 0 ]] || { say "Not found: ${missing[*]}" && return 1; }
}

need "mkdocs doxygen python3" mkdocs mkdocs-material doxygen python3 || exit "$([[ -n "$test" ]] && echo 77 || echo 1)"

# --- Formulas --------------------------------------------------------------------------------------

katex_package="katex@0.19.1"
katex="$root/build/site/${katex_package/@/-}"

fetch_katex() {
  local part="$work/katex.part"
  rm -rf "$part"
  mkdir -p "$part"
  (cd "$part" && npm pack --silent "$katex_package" >/dev/null && tar -xzf ./*.tgz --strip-components=1) && mv "$part" "$katex"
}

install_for_formulas() {
  command -v node >/dev/null || need node nodejs || return 1
  if [[ ! -d "$katex" ]]; then
    [[ -z "$test" ]] || { say "Not found: KaTeX" && return 1; }
    command -v npm >/dev/null || need npm npm || return 1
    run "Fetching KaTeX ..." fetch_katex || return 1
  fi
}

# --- The page on which a digit is drawn --------------------------------------------------------------

clang=22
# What Clang needs beside itself for WebAssembly: C and C++ libraries, in an npm package.
sysroot_package="@yowasp/clang@22.0.0-git20542-10"
sysroot="$root/build/site/sysroot-$clang"

fetch_sysroot() {
  local part="$work/sysroot.part"
  rm -rf "$part"
  mkdir -p "$part"
  (cd "$part" &&
    npm pack --silent "$sysroot_package" >/dev/null &&
    tar -xzf ./*.tgz package/gen/llvm-resources.tar &&
    tar -xf package/gen/llvm-resources.tar include lib &&
    rm -rf package ./*.tgz) &&
    rm -rf "$sysroot" && mv "$part" "$sysroot"
}

# The page's machine: no threads, no exceptions that are caught, 128-bit registers.
compile_page() {
  local eigen libraries="$sysroot/lib/wasm32-wasip1"
  eigen="$(dirname "$(find /usr/include /usr/local/include -path '*/Eigen/Dense' -print -quit)")"
  "clang++-$clang" --target=wasm32-wasip1 --sysroot="$sysroot" -std=c++20 -O3 -msimd128 -fexceptions -DNDEBUG \
    -isystem "$root/include" -isystem "${eigen%/Eigen}" -Wall -Wextra -Werror \
    -c "$root/examples/page/page.cpp" -o "$work/page.o" &&
    "wasm-ld-$clang" --entry=_initialize --gc-sections --strip-all -O2 "$libraries/crt1-reactor.o" "$work/page.o" \
      -L "$libraries" -lc++ -lc++abi -lc "$sysroot/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a" \
      -o "$work/page.wasm" &&
    wasm-opt -O3 --all-features "$work/page.wasm" -o "$work/page/page.wasm"
}

# BPM_PAGE_MODEL: the program, where it is built already.
make_model() {
  if [[ -n "${BPM_PAGE_MODEL:-}" ]]; then
    "$BPM_PAGE_MODEL" "$work/page" --quiet
    return
  fi
  (cd "$root" &&
    cmake --preset release -DBPM_BUILD_EXAMPLES=ON -DBPM_BUILD_TESTS=OFF -DBPM_BUILD_BENCHMARKS=OFF \
      -DBPM_FAST_PROGRAMS=ON &&
    cmake --build --preset release --target page_model) &&
    "$root/build/release/examples/page_model" "$work/page" --quiet
}

# Packed: not every server does that, and the page unpacks them.
pack() {
  local file
  for file in digits.model test.digits page.wasm; do
    gzip -9 --no-name --stdout "$work/page/$file" >"$work/page/part" && mv "$work/page/part" "$work/page/$file" || return 1
  done
}

install_for_page() {
  need "clang++-$clang wasm-ld-$clang wasm-opt" "clang-$clang" "lld-$clang" binaryen g++ cmake ninja-build libeigen3-dev \
    libcli11-dev nlohmann-json3-dev zlib1g-dev || return 1
  if [[ ! -d "$sysroot" ]]; then
    [[ -z "$test" ]] || { say "Not found: the libraries for WebAssembly" && return 1; }
    command -v npm >/dev/null || need npm npm || return 1
    run "Fetching the libraries for WebAssembly ..." fetch_sysroot || return 1
  fi
}
if [[ "$1" == --install ]]; then
  installed=0
  install_for_formulas || installed=1
  install_for_page || installed=1
  exit $installed
fi

make_page() {
  rm -rf "$work/page"
  mkdir -p "$work/page"
  install_for_page || return 1
  run "Compiling the page's machine ..." compile_page || return 1
  run "Training the page's machine ..." make_model || return 1
  pack && cp "$root"/examples/page/*.{html,css,js} "$work/page/"
}

page=yes
make_page || page=no

# --- The reference ---------------------------------------------------------------------------------

make_reference() {
  rm -rf "$work/reference"
  # Its first page, and a way back to the others.
  cat >"$work/first.dox" <<'END'
/** \mainpage The headers
Every public name by kind: <a href="annotated.html">classes</a>, <a href="concepts.html">concepts</a>, <a href="namespacebpm.html">functions</a>. By
<a href="files.html">folder</a>, each with an idea of its own: <a href="../docs/architecture.html">architecture</a>.
`#include <bpm/machine.hpp>` is what a first program needs, `<bpm/bpm.hpp>` all samplers, choices and bounds;
`<bpm/gaussian_process.hpp>`, `<bpm/data.hpp>` and `<bpm/images.hpp>` are doors of their own. */
/** \namespace bpm
Everything that users write. */
END
  (cd "$work" && doxygen -l first.xml >/dev/null &&
    sed -i 's|<navindex>|<navindex><tab type="user" url="../index.html" title="Pages"/>|' first.xml)
  (cd "$root" && { cat docs/Doxyfile && printf '%s\n' "OUTPUT_DIRECTORY = \"$work\"" "INPUT += \"$work/first.dox\"" \
    "LAYOUT_FILE = \"$work/first.xml\"" "GENERATE_TAGFILE = \"$work/reference.tags\"" \
    "PROJECT_NUMBER = $(awk '/^#define BPM_VERSION_[A-Z]+ [0-9]+$/ { v = v (v == "" ? "" : ".") $3 } END { print v }' \
      include/bpm/version.hpp)"; } | doxygen -) || return 1
  # Doxygen links to a list of nested classes that it leaves out where all of them are private.
  local page_of
  for page_of in "$work"/reference/*.html; do
    if grep -q 'href="#nested-classes"' "$page_of" && ! grep -q 'name="nested-classes"' "$page_of"; then
      sed -i 's,<a href="#nested-classes">Classes</a> &#124;,,' "$page_of"
    fi
  done
}
run "Making the reference ..." make_reference

# --- The pages -------------------------------------------------------------------------------------

formulas=("$katex")
install_for_formulas || formulas=()

# As in the repository, so that the same links lead on.
make_pages() {
  local pages="$work/pages"
  rm -rf "$pages" "$work/html"
  mkdir -p "$pages/docs"
  cp "$root"/{README,CHANGELOG,CONTRIBUTING}.md "$root/LICENSE" "$pages/"
  cp -r "$root"/docs/*.md "$root/docs/figures" "$root/docs/results" "$pages/docs/"
  cp "$root/docs/site.css" "$pages/"
  python3 "$root/docs/site.py" "$root" "$pages" "$work/reference.tags" "$page" "$work/mkdocs.yml" &&
    mkdocs build --quiet --config-file "$work/mkdocs.yml" --site-dir "$work/html" &&
    python3 "$root/docs/formulas.py" "$work/html" "${formulas[@]}"
}
run "Making the pages ..." make_pages

find "$out" -mindepth 1 -delete
touch "$mark"
cp -r "$work/html/." "$out/"
# Its addresses would be those of a host that is not known here.
rm -f "$out"/sitemap.xml*
cp -r "$work/reference" "$out/"
# What browsers ask a server for where a page does not say.
cp "$out/assets/images/favicon.png" "$out/favicon.ico"
if [[ $page == yes ]]; then
  cp -r "$work/page" "$out/"
else
  say "The site has no page to draw a digit on: see above."
fi
[[ ${#formulas[@]} -gt 0 ]] || say "The site's formulas are TeX, not drawn: see above."
