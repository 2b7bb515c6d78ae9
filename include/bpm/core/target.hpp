// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The target: the instruction set that a unit is compiled for.
///
/// `namespace bpm { inline namespace BPM_TARGET`: the width of registers, fused and byte
/// instructions are part of every name that the linker sees. A unit compiled with `-march=native`
/// has wider registers in its panels, and other code in its inline functions, than one without.
/// With equal names the linker would keep one of two functions and the program would crash. So
/// units that call each other with the library's types, or return them, link only if their targets
/// agree. Inside a struct of the user's the linker sees no difference; there `detail::MadeFor`
/// checks. (Eigen's own types differ as well, and have one name: see docs/platforms.md.)

// This check precedes all code that an older standard would reject with thousands of errors.
#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 201709L
#error "bpm needs C++20: compile with -std=c++20 (/std:c++20), or link bpm::bpm in CMake"
#include <bpm needs C++20>  // No such file exists: compilation stops here.
#elif (defined(__GNUC__) || defined(__clang__)) && !defined(__cpp_exceptions)
#error "bpm says what is wrong by exceptions: compile without -fno-exceptions"
#include <bpm needs exceptions>
#endif

// GCC 12's intrinsics of AVX-512 initialise variables with themselves, and GCC warns of that
// wherever one is inlined, even in a user's code. This header reads them with the warning off,
// before Eigen does: headers that include Eigen include this one first.
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

/// Defined for compilers with vector types (GCC, Clang). Others use plain arrays instead; GCC and
/// Clang do so too with BPM_PLAIN_ARRAYS, which serves for tests.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(BPM_PLAIN_ARRAYS)
#define BPM_DETAIL_VECTOR_TYPES 1
#define BPM_DETAIL_ARRAYS
#define BPM_DETAIL_ARRAYS_NUMBER 0
#else
#define BPM_DETAIL_ARRAYS _plain
#define BPM_DETAIL_ARRAYS_NUMBER 1
#endif

// Each property of the target has a name and a number.
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
/// Name of the target and of the inline namespace: registers, then further instructions, such as
/// avx2_fma.
#define BPM_TARGET \
  BPM_DETAIL_JOIN(BPM_DETAIL_REGISTERS, BPM_DETAIL_FUSED, BPM_DETAIL_BYTES, BPM_DETAIL_ARRAYS)

// A function's return type is part of its name only if that type has a tag; this adds the tag.
#if defined(__GNUC__) || defined(__clang__)
namespace bpm { inline namespace BPM_TARGET __attribute__((abi_tag)) {
}}
#endif

// --- Header-only, or with bpm::compiled --------------------------------------------------------

/// Number of the target, for comparisons where a name cannot be used.
#define BPM_TARGET_NUMBER                                               \
  (1000 * BPM_DETAIL_REGISTERS_NUMBER + 100 * BPM_DETAIL_FUSED_NUMBER + \
   10 * BPM_DETAIL_BYTES_NUMBER + BPM_DETAIL_ARRAYS_NUMBER)

// BPM_COMPILED, defined for units that link bpm::compiled, is the target it was compiled for. A
// unit for another target compiles the bodies itself, as if header-only; so does the unit of
// bpm::compiled itself, which defines BPM_COMPILING.
#if defined(BPM_COMPILED) && !defined(BPM_COMPILING)
#if BPM_COMPILED == BPM_TARGET_NUMBER
#define BPM_DETAIL_BODIES_ELSEWHERE
#endif
#endif

/// 1 where this unit compiles the bodies of functions without template arguments, else 0.
#ifdef BPM_DETAIL_BODIES_ELSEWHERE
#define BPM_BODIES 0
#else
#define BPM_BODIES 1
#endif

/// First specifier of functions whose bodies are under BPM_BODIES.
#if BPM_BODIES && !defined(BPM_COMPILING)
#define BPM_INLINE inline
#else
#define BPM_INLINE
#endif
