// Straight-line drawings without crossings on the integer grid, by shifting.
//
// The nodes of a component come in canonical order. v1 and v2 start at (0, 0). Each further node is put above the path of the
// contour that it covers, where the lines of slope 1 through its first neighbour there and of slope -1 through its last meet;
// before, the nodes that it covers move to the right by 1, and those on the right of them by 2. All edges of the contour keep
// slopes 1 or -1 but for v1-v2, so the meeting point is on the grid. x is kept as an offset to the parent in a binary tree, so
// that a subtree moves by one addition (de Fraysseix, Pach, Pollack 1990; in linear time by Chrobak and Payne 1995).
//
// A component of n >= 3 nodes takes 2n - 4 by n - 2; components stand side by side in the order of their outer darts, isolated
// nodes last. All of it is at most 2n - 4 by n - 2 (n >= 3).
//
// O(n + m), no recursion.
#pragma once

#include "planegraph/drawing/canonical_order.hpp"
#include "planegraph/drawing/triangulate.hpp"

namespace planegraph {

class GridLayout {
 public:
  /// Draws the map with its cyclic orders; `outer` has a dart on the outer face of each component that has an edge. Adds the
  /// edges that triangulate it to the map.
  void run(PlaneMap& map, std::vector<i32> outer, const KeepGoing& keep_going);

  std::vector<i32> x, y;  // per node

 private:
  void shift();
  void place(i32 at);

  Triangulation triangulation_;
  CanonicalOrder canonical_;
  std::vector<i32> offset_;  // x less that of the parent
  std::vector<i32> below_,
      beside_;  // the children: the first node that a node covers, and the next on the contour or of what the parent covers
  std::vector<std::pair<i32, i32>> stack_;
};

}  // namespace planegraph
