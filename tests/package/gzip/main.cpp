// SPDX-License-Identifier: MIT
#include <bpm/data/gzip.hpp>

#include <zlib.h>

int main() { return zlibVersion()[0] == ZLIB_VERSION[0] ? 0 : 1; }
