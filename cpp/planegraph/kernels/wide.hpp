// PLANEGRAPH_WIDE before a function: compiled once per vector width, the best one chosen when the library is loaded.
// PLANEGRAPH_INLINE before what it calls: that must become part of it, or it stays narrow.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PLANEGRAPH_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PLANEGRAPH_WIDE
#endif

#if defined(__GNUC__)
#define PLANEGRAPH_INLINE [[gnu::always_inline]] inline
#else
#define PLANEGRAPH_INLINE inline
#endif
