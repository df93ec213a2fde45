// Working memory that only grows: each step keeps its arrays between graphs, because molecules are tiny and many.
#pragma once

#include "types.hpp"

namespace planegraph {

/// Makes room for at least n entries. Contents are whatever the last graph left there.
template <class T>
inline void grow(std::vector<T>& v, std::size_t n) {
  if (v.size() < n) v.resize(n);
}

/// Makes room for at least n entries and sets the first n to `value`.
template <class T>
inline void grow_fill(std::vector<T>& v, std::size_t n, T value) {
  if (v.size() < n) v.resize(n);
  std::fill_n(v.begin(), n, value);
}

/// Gives the memory back; for the large temporaries of one step, before the next step needs its own.
template <class T>
inline void release(std::vector<T>& v) {
  std::vector<T>().swap(v);
}

}  // namespace planegraph
