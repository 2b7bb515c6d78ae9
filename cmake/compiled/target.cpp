// SPDX-License-Identifier: MIT
// Compiled when CMake configures, which finds in the program for which target it was compiled.
#include "bpm/core/target.hpp"

const volatile char text[] = {'b',
                              'p',
                              'm',
                              ' ',
                              't',
                              'a',
                              'r',
                              'g',
                              'e',
                              't',
                              ' ',
                              '0' + BPM_TARGET_NUMBER / 1000,
                              '0' + BPM_TARGET_NUMBER / 100 % 10,
                              '0' + BPM_TARGET_NUMBER / 10 % 10,
                              '0' + BPM_TARGET_NUMBER % 10,
                              '\n',
                              '\0'};

int main() { return text[0] == 'b' ? 0 : 1; }
