// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The instructions that are compiled for.
///
/// `namespace bpm { inline namespace BPM_TARGET`: the width of registers, fused and byte
/// instructions are part of every name that the linker sees. A unit compiled with `-march=native`
/// has wider registers in its panels, and other code in its inline functions, than one without;
/// were the names equal, the linker would keep one of two functions and the program would crash. So
/// units that call each other with the library's types, or return them, link only where these
/// agree. Where the linker sees nothing, in a struct of the user's, `detail::MadeFor` does.
/// (Eigen's own types differ as well, and have one name: see docs/platforms.md.)

// Before anything that an older standard does not know, which would be errors by the thousand.
#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 201709L
#error "bpm needs C++20: compile with -std=c++20 (/std:c++20), or link bpm::bpm in CMake"
#include <bpm needs C++20>  // There is no such file: nothing after it is read.
#endif

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
#define BPM_DETAIL_ARRAYS_NUMBER 0
#else
#define BPM_DETAIL_ARRAYS _plain
#define BPM_DETAIL_ARRAYS_NUMBER 1
#endif

// A name and a number each.
#if defined(__AVX512F__) && defined(__AVX512BW__)
#define BPM_DETAIL_REGISTERS avx512
#define BPM_DETAIL_REGISTERS_NUMBER 8
#elif defined(__AVX512F__)
#define BPM_DETAIL_REGISTERS avx512f
#define BPM_DETAIL_REGISTERS_NUMBER 7
#elif defined(__AVX2__)
#define BPM_DETAIL_REGISTERS avx2
#define BPM_DETAIL_REGISTERS_NUMBER 6
#elif defined(__AVX__)
#define BPM_DETAIL_REGISTERS avx
#define BPM_DETAIL_REGISTERS_NUMBER 5
#elif defined(__SSE4_2__)
#define BPM_DETAIL_REGISTERS sse4
#define BPM_DETAIL_REGISTERS_NUMBER 4
#elif defined(__SSE2__) || defined(_M_X64)
#define BPM_DETAIL_REGISTERS sse2
#define BPM_DETAIL_REGISTERS_NUMBER 3
#elif defined(__ARM_NEON)
#define BPM_DETAIL_REGISTERS neon
#define BPM_DETAIL_REGISTERS_NUMBER 2
#else
#define BPM_DETAIL_REGISTERS any
#define BPM_DETAIL_REGISTERS_NUMBER 1
#endif

#if defined(__FMA__)
#define BPM_DETAIL_FUSED _fma
#define BPM_DETAIL_FUSED_NUMBER 1
#else
#define BPM_DETAIL_FUSED
#define BPM_DETAIL_FUSED_NUMBER 0
#endif

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define BPM_DETAIL_BYTES _vnni
#define BPM_DETAIL_BYTES_NUMBER 1
#elif defined(__ARM_FEATURE_DOTPROD)
#define BPM_DETAIL_BYTES _dotprod
#define BPM_DETAIL_BYTES_NUMBER 2
#else
#define BPM_DETAIL_BYTES
#define BPM_DETAIL_BYTES_NUMBER 0
#endif

#define BPM_DETAIL_JOIN_NOW(a, b, c, d) a##b##c##d
#define BPM_DETAIL_JOIN(a, b, c, d) BPM_DETAIL_JOIN_NOW(a, b, c, d)
/// The target as a name, that of the inline namespace: registers, then what else there is, such as
/// avx2_fma.
#define BPM_TARGET \
  BPM_DETAIL_JOIN(BPM_DETAIL_REGISTERS, BPM_DETAIL_FUSED, BPM_DETAIL_BYTES, BPM_DETAIL_ARRAYS)

// What a function returns is no part of its name, but where it has a tag: it then becomes one.
#if defined(__GNUC__) || defined(__clang__)
namespace bpm { inline namespace BPM_TARGET __attribute__((abi_tag)) {
}}
#endif

// --- Header-only, or with bpm::compiled --------------------------------------------------------

/// The target as a number, to be compared where a name cannot be.
#define BPM_TARGET_NUMBER                                               \
  (1000 * BPM_DETAIL_REGISTERS_NUMBER + 100 * BPM_DETAIL_FUSED_NUMBER + \
   10 * BPM_DETAIL_BYTES_NUMBER + BPM_DETAIL_ARRAYS_NUMBER)

// Who links bpm::compiled is told by BPM_COMPILED for which target it was compiled. A unit for
// another one has the bodies itself, as if it were header-only; so has the library's own unit,
// which defines BPM_COMPILING.
#if defined(BPM_COMPILED) && !defined(BPM_COMPILING)
#if BPM_COMPILED == BPM_TARGET_NUMBER
#define BPM_DETAIL_BODIES_ELSEWHERE
#endif
#endif

/// Whether this unit sees the bodies of functions that need no argument of a template.
#ifdef BPM_DETAIL_BODIES_ELSEWHERE
#define BPM_BODIES 0
#else
#define BPM_BODIES 1
#endif

/// What these functions begin with.
#if BPM_BODIES && !defined(BPM_COMPILING)
#define BPM_INLINE inline
#else
#define BPM_INLINE
#endif
