#pragma once

/**
 * Marks a hot function to be compiled twice, for any x86-64 and for AVX2, with the choice made when the addon loads.
 * Both versions do the same operations in the same order (see -ffp-contract in CMakeLists.txt), so their results are
 * equal to the bit. Elsewhere the plain version is the only one.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(TRUNKLINE_ONE_VERSION)
#define TRUNKLINE_HOT __attribute__((target_clones("default", "avx2")))
#else
#define TRUNKLINE_HOT
#endif

/** A helper of a hot function must be inlined, or the AVX2 version would call its plain version. */
#define TRUNKLINE_INLINE __attribute__((always_inline)) inline
