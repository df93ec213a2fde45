// Planar embedding by the left-right method (de Fraysseix, Rosenstiehl; in the form of Brandes, "The left-right planarity test").
#pragma once

#include "types.hpp"

namespace planegraph {

class Embedder {
 public:
  /// Embeds the simple graph with nodes 0..n-1 and edges (eu[i], ev[i]), i < m; it may be disconnected.
  /// Returns false if it is not planar. Otherwise, if `next` is not null, writes for each dart d the dart that follows it
  /// around their common source node in counter-clockwise order (a cyclic permutation of each node's darts), 2m entries.
  /// O(n + m), no recursion; working memory is kept for the next call.
  bool run(i32 n, i32 m, const i32* eu, const i32* ev, i32* next);
};

}  // namespace planegraph
