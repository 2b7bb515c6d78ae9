# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Completes in bash bpm's commands, their options and the words that an option takes, as --help says them; else files.

_bpm() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}" words
  if [[ $COMP_CWORD -eq 1 ]]; then
    words="train choose predict evaluate info help --help --version"
  elif [[ "${COMP_WORDS[1]}" == help ]]; then
    words="train choose predict evaluate info"
  else
    words="$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --help 2>/dev/null | awk -v word="$word" -v before="$before" '
      /^  -/ {
        sub(/\{.*/, "", $1)
        count = split($1, names, ",")
        for (i = 1; i <= count; ++i) if (word ~ /^-/) print names[i]
        count = split($2, values, "|")
        for (i = 1; i <= count; ++i) if ($1 == before && word !~ /^-/ && values[i] ~ /^[a-z-]+$/) print values[i]
      }')"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _bpm bpm
