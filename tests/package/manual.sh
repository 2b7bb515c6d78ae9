#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The manual page has the options of --help, all of them and no other, and bash completes them.
#   manual.sh PROGRAM FOLDER        the folder of bpm.1 and bpm.bash
set -euo pipefail

# The options that a text names, long and of one letter, a line each.
options() {
  grep -oE -- "(^|[[:space:],({'])(--[a-z][a-z-]*|-[a-z])($|[^a-z-])" | grep -oE -- '-[a-z-]+' | sort -u
}
help() {
  "$1" --help
  local command
  for command in train choose predict evaluate info; do "$1" "$command" --help; done
}
# Each option is followed by one blank more, since two that touch would share the one between.
diff <(help "$1" | sed 's/[,{ ]/& /g' | options) <(sed 's/\\-/-/g; s/\\fR//g; s/[, ]/& /g' "$2/bpm.1" | options)

if command -v man >/dev/null; then
  [[ -z "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$2/bpm.1" 2>&1 >/dev/null)" ]]
fi

# completions WORD...: what is offered for the last of them.
completions() {
  COMP_WORDS=("$program" "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _bpm
  echo "${COMPREPLY[*]}"
}
program="$1"
# shellcheck source=/dev/null
source "$2/bpm.bash"
[[ "$(completions '')" == "train choose predict evaluate info help --help --version" ]]
[[ "$(completions help e)" == "evaluate" ]]
[[ "$(completions predict --re)" == "--reject" ]]
[[ "$(completions train --standardise --no)" == "--normalise --no-standardise" ]]
[[ "$(completions train --kernel '')" == "gaussian polynomial arc-cosine linear" ]]
[[ -z "$(completions train --seed '')" ]]
