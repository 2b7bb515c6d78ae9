# SPDX-License-Identifier: MIT
# Compiles what the documentation shows. Every ```cpp block of a page becomes a piece of one program:
# a block with a main() stands alone, one that starts with struct goes before main, others into a
# function of their own, in order. HEADER is included in the place of bpm/machine.hpp.
#   cmake -DPAGE=... -DOUT=... [-DHEADER=...] -P snippets.cmake

file(READ "${PAGE}" text)
# Semicolons and brackets would be read as list syntax.
string(REPLACE ";" "@SEMICOLON@" text "${text}")
string(REPLACE "[" "@OPEN@" text "${text}")
string(REPLACE "]" "@CLOSE@" text "${text}")
string(REGEX MATCHALL "\n```cpp\n[^`]*\n```" blocks "${text}")

set(whole "")
set(before "")
set(functions "")
set(calls "")
set(number 0)
foreach(block IN LISTS blocks)
  string(REGEX REPLACE "^\n```cpp\n" "" block "${block}")
  string(REGEX REPLACE "\n```$" "\n" block "${block}")
  math(EXPR number "${number} + 1")
  if(block MATCHES "int main\\(")
    string(APPEND whole "${block}")
  elseif(block MATCHES "^struct ")
    string(APPEND before "${block}\n")
  else()
    string(APPEND functions "void piece_${number}() {\n${block}}\n\n")
    string(APPEND calls "  piece_${number}()@SEMICOLON@\n")
  endif()
endforeach()
if(number EQUAL 0)
  message(FATAL_ERROR "${PAGE} shows no \`\`\`cpp block")
endif()

set(headers "#include <algorithm>\n#include <cmath>\n#include <iostream>\n#include <limits>\n#include <string>\n#include <vector>\n#include <bpm/bpm.hpp>\n#include <bpm/data.hpp>\n#include <bpm/gaussian_process.hpp>\n#include <bpm/images.hpp>\n")
if(whole STREQUAL "")
  set(program "${headers}\n${before}\nnamespace {\n${functions}}  // namespace\n\nint main() {\n${calls}}\n")
else()
  set(program "${whole}")
endif()
string(REPLACE "@SEMICOLON@" ";" program "${program}")
string(REPLACE "@OPEN@" "[" program "${program}")
string(REPLACE "@CLOSE@" "]" program "${program}")
if(HEADER)
  string(REPLACE "<bpm/machine.hpp>" "\"${HEADER}\"" program "${program}")
endif()
file(WRITE "${OUT}" "${program}")
