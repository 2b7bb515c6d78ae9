// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The instructions that are compiled for.
///
/// `namespace bpm { inline namespace BPM_TARGET`: the width of registers, fused and byte
/// instructions are part of every name that the linker sees. A unit compiled with `-march=native`
/// has wider registers in its panels, and other code in its inline functions, than one without;
/// were the names equal, the linker would keep one of two functions and the program would crash. So
/// units that call each other with the library's types link only where these agree. (Eigen's own
/// types differ as well, and have one name: see docs/platforms.md.)

#include "bpm/core/standard.hpp"  // Before anything that an older standard does not know.

// GCC 12's intrinsics of AVX-512 initialise variables with themselves, and it warns of that
// wherever one is inlined, whoever's the code is. So they are read here, where it does not, before
// Eigen reads them: headers that include Eigen include this one first.
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

/// Compilers with vector types (GCC, Clang). Others take plain arrays in their place; so do these
/// with BPM_PLAIN_ARRAYS, by which that can be tried.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(BPM_PLAIN_ARRAYS)
#define BPM_DETAIL_VECTOR_TYPES 1
#define BPM_DETAIL_ARRAYS
#else
#define BPM_DETAIL_ARRAYS _plain
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__)
#define BPM_DETAIL_REGISTERS avx512
#elif defined(__AVX512F__)
#define BPM_DETAIL_REGISTERS avx512f
#elif defined(__AVX2__)
#define BPM_DETAIL_REGISTERS avx2
#elif defined(__AVX__)
#define BPM_DETAIL_REGISTERS avx
#elif defined(__SSE4_2__)
#define BPM_DETAIL_REGISTERS sse4
#elif defined(__SSE2__) || defined(_M_X64)
#define BPM_DETAIL_REGISTERS sse2
#elif defined(__ARM_NEON)
#define BPM_DETAIL_REGISTERS neon
#else
#define BPM_DETAIL_REGISTERS any
#endif

#if defined(__FMA__)
#define BPM_DETAIL_FUSED _fma
#else
#define BPM_DETAIL_FUSED
#endif

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define BPM_DETAIL_BYTES _vnni
#elif defined(__ARM_FEATURE_DOTPROD)
#define BPM_DETAIL_BYTES _dotprod
#else
#define BPM_DETAIL_BYTES
#endif

#define BPM_DETAIL_JOIN_NOW(a, b, c, d) a##b##c##d
#define BPM_DETAIL_JOIN(a, b, c, d) BPM_DETAIL_JOIN_NOW(a, b, c, d)
#define BPM_TARGET \
  BPM_DETAIL_JOIN(BPM_DETAIL_REGISTERS, BPM_DETAIL_FUSED, BPM_DETAIL_BYTES, BPM_DETAIL_ARRAYS)
