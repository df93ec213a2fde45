// Edges that cut the faces of an embedded simple graph into triangles, without parallel edges.
//
// Face by face. First no node may be met twice: where the walk a, b, c along a face comes to a node b that it met before, the
// edge a-c cuts this corner of b off. It is not there yet, as a closed curve through b and the face separates a from c; so the
// face becomes a simple cycle. Then the cycle is cut: its node v of least degree is joined to all others, unless it is adjacent,
// outside, to one of them, w. Then no edge leads past v-w, and the two neighbours of v and w on either side can be joined to the
// nodes on the other.
//
// An outer face keeps its cycle, if it is not to be filled: all other faces are triangles then, and the graph is biconnected.
//
// Cost. Finding w marks the neighbours of v: the least degree on each face, in all at most the sum of the lesser degree over the
// edges of the result, which is linear in planar graphs (Chiba, Nishizeki 1985). The cut of a cycle is that of Hagerup and Uhrig,
// Triangulating a planar graph (1991), see G. Kant, Algorithms for drawing planar graphs (1993).
#pragma once

#include "planegraph/planarity/plane_map.hpp"

namespace planegraph {

class Triangulation {
 public:
  /// Every component of `map` that has an edge is cut; `outer` has a dart on the outer face of each. These faces are filled too
  /// if `fill_outer`; otherwise afterwards outer[c] is the dart of a corner of the simple cycle that is left. A component of two
  /// nodes stays as it is.
  void run(PlaneMap& map, std::vector<i32>& outer, bool fill_outer);

  /// Joins all components, isolated nodes among them, by edges in their outer faces.
  static void connect(PlaneMap& map, std::vector<i32>& outer);

 private:
  void simple_cycle(PlaneMap& map, i32 start);
  void cut_cycle(PlaneMap& map);
  i32 add_edge(PlaneMap& map, i32 p, i32 q);

  std::vector<i32> corners_;  // of the face at hand, clockwise
  std::vector<u8> done_;      // corners of the input
  std::vector<i32> mark_;     // per node
  std::vector<i32> degree_;
  i32 stamp_ = 0, num_input_ = 0;
};

}  // namespace planegraph
