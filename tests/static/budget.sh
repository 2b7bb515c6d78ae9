#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares what the library weighs with the ceilings of budget.txt, and fails above one.
#   ./tests/static/budget.sh                               lines and headers
#   ./tests/static/budget.sh program COMPILER OBJECT DUMP  README's program: its object file, and what
#                                                          GCC's -fdump-lang-class wrote of it
#   ./tests/static/budget.sh time CXX EIGEN_FOLDER SECONDS  how many reference compiles SECONDS are; never fails
# COMPILER is named as in budget.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
budget=tests/static/budget.txt

# Of all headers, and of README's include: "figure NAME LINES HEADERS", and "largest NAME LINES FILE" of each file.
count_lines() {
  find include/bpm -name '*.hpp' | sort | xargs awk '
    FILENAME == "README.md" {
      if (match($0, /^#include <bpm\/[^>]*>/)) queue[++queued] = "include/" substr($0, RSTART + 10, RLENGTH - 11)
      next
    }
    FNR == 1 { lines[FILENAME] = 0 }
    /^[ \t]*#[ \t]*include[ \t]*["<]bpm\// {
      split($0, part, /["<>]/)
      includes[FILENAME] = includes[FILENAME] " include/" part[2]
    }
    !/^[ \t]*(\/\/|$)/ { ++lines[FILENAME] }
    function add(name, file) {
      total[name] += lines[file]
      ++headers[name]
      print "largest", name, lines[file], file
    }
    END {
      for (file in lines) {
        n = split(file, part, "/")
        add(n == 3 ? "." : part[3], file)
        add("whole", file)
      }
      for (i = 1; i <= queued; ++i) {
        file = queue[i]
        if (file in seen) continue
        seen[file] = 1
        if (!(file in lines)) { print "missing", file; continue }
        add("README-include", file)
        n = split(includes[file], part, " ")
        for (j = 1; j <= n; ++j) queue[++queued] = part[j]
      }
      for (name in total) print "figure", name, total[name], headers[name]
    }' README.md
}

# Of README's program the same: bytes of functions and tables, and classes by the outermost operation.
count_program() {  # count_program OBJECT DUMP
  size "$1" | awk 'NR == 2 { print "figure README-object", $1 + $2 }'
  nm -CS --defined-only "$1" | awk 'length($2) == 16 && $3 !~ /[bB]/ { print $2, $0 }' | sort -r | sed -n 1,5p |
    while read -r bytes _ _ _ name; do echo "largest README-object $((16#$bytes)) $name"; done
  # Classes within DenseBase, such as DenseBase<...>::IvcRowType, are none of their own.
  awk '/^Class Eigen::DenseBase</ && !seen[$0]++ {
      depth = 0
      for (i = 1; i <= length($0); ++i) {
        c = substr($0, i, 1)
        if (c == "<") ++depth
        else if (c == ">" && --depth == 0) break
      }
      if (i < length($0)) next
      ++count
      split($0, part, /[<>,]/)
      ++kinds[part[2]]
    }
    END {
      print "figure README-classes", count + 0
      for (kind in kinds) print "largest README-classes", kinds[kind], kind
    }' "$2"
}

# Prints the table of the figures on stdin, fails above a ceiling.
compare() {
  awk '
    function start(figure) { return int(1.02 * figure + 0.5) }  # where a ceiling begins
    function row(name, unit, figure, ceiling) {
      note = ""
      if (figure > ceiling) note = ": ABOVE"
      else if (figure < 0.95 * ceiling && start(figure) < ceiling) note = ": lower the ceiling to " start(figure)
      printf "%-18s %7d %7d %s%s\n", name, figure, ceiling, unit, note
      if (figure <= ceiling) return
      broken = broken sprintf("\n%s: %d %s, the ceiling is %d. The largest of it:\n", name, figure, unit, ceiling)
      for (i = 1; i <= 5; ++i) {
        best = 0
        for (k = 1; k <= n; ++k)
          if (owner[k] == name && !((k, unit) in told) && (best == 0 || amount[k] > amount[best])) best = k
        if (best == 0) break
        broken = broken sprintf("  %7d %s\n", amount[best], substr(what[best], 1, 110))
        told[best, unit] = 1
      }
    }
    FNR == NR {
      if ($0 ~ /^#/ || NF == 0 || $1 == "compiler") next
      name[++names] = $1
      first[$1] = $2
      second[$1] = $3
      if (NF == 3 && $1 != "whole" && $1 != "README-include") { sum1 += $2; sum2 += $3 }
      next
    }
    $1 == "figure" { figure1[$2] = $3; figure2[$2] = $4; next }
    $1 == "largest" {
      owner[++n] = $2
      amount[n] = $3
      sub(/^largest [^ ]+ [^ ]+ /, "")
      what[n] = $0
      next
    }
    $1 == "missing" { broken = broken "\nREADME.md includes " $2 ", which is not there.\n" }
    END {
      print "what                figure ceiling"
      for (at = 1; at <= names; ++at) {
        it = name[at]
        if ((it in figure1) && figure2[it] != "") {
          row(it, "lines", figure1[it], first[it])
          row(it, "headers", figure2[it], second[it])
        } else if (it in figure1) {
          row(it, it == "README-object" ? "bytes" : "classes", figure1[it], first[it])
        } else if (second[it] != "" && ("whole" in figure1)) {
          broken = broken "\n" it " has a ceiling, and no header is there.\n"
        }
      }
      for (it in figure1)
        if (!(it in first)) broken = broken "\n" it " has no ceiling: give it one, taken from its neighbours.\n"
      if (sum1 > first["whole"] || sum2 > second["whole"])
        broken = broken sprintf("\nThe areas may have %d lines and %d headers together, the whole %d and %d.\n",
          sum1, sum2, first["whole"], second["whole"])
      if (broken == "") exit 0
      print broken
      print "Make it smaller, or raise its ceiling in tests/static/budget.txt and lower a neighbour\047s by as much."
      exit 1
    }' "$budget" -
}

case "${1:-lines}" in
  lines) count_lines | compare ;;
  program)
    of="$(sed -n 's/^compiler  *//p' "$budget")"
    if [[ "$2" != "$of" ]]; then
      echo "By $2; the ceilings are of $of, so these are compared with nothing:"
      count_program "$3" "$4" | sed -n 's/^figure //p'
      exit 0
    fi
    count_program "$3" "$4" | compare
    ;;
  time)
    scratch="$(mktemp -d)"
    trap 'rm -rf "$scratch"' EXIT
    TIMEFORMAT='%U %S'
    compile=("$2" -std=c++20 -O2 -isystem "$3" -c tests/static/reference.cpp -o "$scratch/reference.o")
    if { time CCACHE_DISABLE=1 "${compile[@]}" 2>"$scratch/errors"; } 2>"$scratch/time"; then
      awk -v seconds="$4" -v ceiling="$(sed -n 's|^tests/run.sh  *||p' "$budget")" '{
        one = $1 + $2 + 1e-3
        printf "tests/run.sh took %.0f s of processor time: ", seconds
        printf "%.0f reference compiles of %.1f s (budget.txt: %d).\n", seconds / one, one, ceiling
      }' "$scratch/time"
    else
      echo "tests/run.sh took $4 s of processor time; tests/static/reference.cpp did not compile."
    fi
    ;;
  *)
    sed -n '3,8s/^# \{0,1\}//p' tests/static/budget.sh >&2
    exit 2
    ;;
esac
