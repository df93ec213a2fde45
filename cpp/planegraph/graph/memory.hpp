// Working memory that only grows: each step keeps its arrays between graphs, because molecules are tiny and many.
//
// Arrays of many megabytes ask the system for huge pages before they are touched: at 10^6 nodes page faults and TLB misses would otherwise cost
// as much as the work itself.
#pragma once

#include <algorithm>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// Makes room for n entries in all, on huge pages if that is much memory.
template <class Vector>
inline void reserve(Vector& v, std::size_t n) {
  if (v.capacity() >= n) return;
  v.reserve(std::max(n, v.capacity() + v.capacity() / 2));  // geometric, so that appending stays linear
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kPage = 4096, kMuch = std::size_t{1} << 20;
  const std::size_t bytes = v.capacity() * sizeof(typename Vector::value_type);
  if (bytes < kMuch) return;
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(v.data());
  const std::uintptr_t first = (start + kPage - 1) / kPage * kPage, last = (start + bytes) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // only advice: the answer does not matter
#endif
}

/// Sets the size, like v.resize(n).
template <class Vector>
inline void resize(Vector& v, std::size_t n) {
  reserve(v, n);
  v.resize(n);
}

/// Makes room for at least n entries. Contents are whatever the last graph left there.
template <class T>
inline void grow(std::vector<T>& v, std::size_t n) {
  if (v.size() < n) resize(v, n);
}

/// Makes room for at least n entries and sets the first n to `value`.
template <class T>
inline void grow_fill(std::vector<T>& v, std::size_t n, T value) {
  if (v.size() < n) resize(v, n);
  std::fill_n(v.begin(), n, value);
}

/// Asks for the cache line of `p`, which is read soon; any address will do.
inline void prefetch(const void* p) {
#if defined(__GNUC__)
  __builtin_prefetch(p);
  asm volatile("");  // otherwise g++ 12 finds that a lambda of prefetches does nothing, and removes the call
#else
  (void)p;
#endif
}

/// Gives the memory back; for the large temporaries of one step, before the next step needs its own.
template <class T>
inline void release(std::vector<T>& v) {
  std::vector<T>().swap(v);
}

}  // namespace planegraph
