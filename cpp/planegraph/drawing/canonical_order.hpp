// Canonical orders of plane graphs whose inner faces are triangles.
//
// An order v1, v2, ..., vn such that v1-v2 is an edge of the outer face and, for each k > 2, the graph of the first k nodes is
// biconnected, has v1-v2 on its outer face, and v(k) too; so the neighbours of v(k) before it are consecutive nodes, at least
// two, of the path from v1 to v2 on the outer face of the graph of the first k - 1, the contour (de Fraysseix, Pach, Pollack
// 1990; for outer faces of any length, as here, G. Kant 1996).
//
// How. Backwards: take any contour node other than v1 and v2 without chords, edges to contour nodes that are not next to it.
// There is always one, below an innermost chord. Its other neighbours come onto the contour, and the chords that they bring are
// counted.
//
// The caller guarantees a simple graph, a component of at least three nodes whose outer face is a simple cycle and whose other
// faces are triangles. O(n + m), no recursion.
#pragma once

#include "planegraph/planarity/plane_map.hpp"

namespace planegraph {

class CanonicalOrder {
 public:
  /// Before the first of the components of a map.
  void start(const PlaneMap& map);
  /// Orders a component: `outer` is a dart on its outer face, from v2 to v1.
  void run(const PlaneMap& map, i32 outer);

  std::vector<i32> order;        // the nodes of the component
  std::vector<i32> left, right;  // per node but v1, v2: its first and last neighbour on the contour when it is put on it

 private:
  enum State : u8 { kInside, kNew, kContour, kTaken };

  void take(const PlaneMap& map, i32 v);
  void count_chords(const PlaneMap& map, i32 v);
  void drop_chord(i32 u, i32 v);

  std::vector<u8> state_;
  std::vector<i32> to_left_;  // per contour node: its dart to the left neighbour, the first inside in counter-clockwise order
  std::vector<i32> chords_;   // per contour node
  std::vector<i32> ready_;    // contour nodes that had no chord when they were put here
  i32 first_ = -1, second_ = -1;
};

}  // namespace planegraph
