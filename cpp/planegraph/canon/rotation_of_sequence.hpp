// The least rotation of a cyclic sequence of items, each a few integers wide, in linear time.
#pragma once

#include <algorithm>

#include "planegraph/graph/types.hpp"

namespace planegraph {

struct CyclicSequence {
  const i32* data;
  i32 width, length;
  /// Compares item i (mod length) with item j of `other`.
  int compare(i32 i, const CyclicSequence& other, i32 j) const {
    const i32* a = data + width * (i < length ? i : i - length);
    const i32* b = other.data + width * (j < other.length ? j : j - other.length);
    for (i32 k = 0; k < width; ++k)
      if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
  }
};

struct LeastRotation {
  i32 start;
  i32 period;  // rotating by it changes nothing; the length if nothing shorter does
};

/// Two candidate starts i < j run against each other; a mismatch after k items rules out k + 1 starts at once.
inline LeastRotation least_rotation(const CyclicSequence& s) {
  i32 i = 0, j = 1, k = 0;
  while (i < s.length && j < s.length && k < s.length) {
    const int order = s.compare(i + k, s, j + k);
    if (order == 0) {
      ++k;
      continue;
    }
    (order > 0 ? i : j) += k + 1;
    if (i == j) ++j;
    k = 0;
  }
  // all starts between i and j were ruled out, so no shorter rotation leads from one least rotation to another
  return {std::min(i, j), k == s.length && s.length > 1 ? std::max(i, j) - std::min(i, j) : s.length};
}

/// Compares two sequences of equal length, rotated to the given starts.
inline int compare_rotations(const CyclicSequence& a, i32 i, const CyclicSequence& b, i32 j) {
  for (i32 k = 0; k < a.length; ++k)
    if (const int order = a.compare(i + k, b, j + k)) return order;
  return 0;
}

}  // namespace planegraph
