// Disjoint sets as parent pointers.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// The representative of x's set, with path halving; set[x] == x at a representative.
inline i32 find(std::vector<i32>& set, i32 x) {
  while (set[x] != x) x = set[x] = set[set[x]];
  return x;
}

}  // namespace planegraph
