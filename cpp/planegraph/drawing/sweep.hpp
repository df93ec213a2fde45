// Reads a straight-line drawing: the cyclic orders of its edges, or where it goes wrong.
//
// A line sweeps over the plane from left to right (at equal x upwards) and keeps the edges that it meets from bottom to top. Two
// edges that cross are neighbours there before they do, so whenever two edges become neighbours they are compared; the first flaw
// ends the sweep (Shamos and Hoey 1976). At a node, the edges that end there stand together; those that begin are sorted by
// angle. Both lists are its cyclic order. The only arithmetic is `orientation`, which is exact.
//
// O((n + m) log n).
#pragma once

#include "planegraph/drawing/orientation.hpp"
#include "planegraph/graph/types.hpp"

namespace planegraph {

struct Drawing {
  enum Flaw : i32 {
    kNone,
    kNodesMeet,   // nodes a and b are at one point
    kNodeOnEdge,  // node a is on edge b, which is not its own
    kEdgesCross,  // edges a and b cross, or leave a node in one direction
  };
  Flaw flaw = kNone;
  i32 a = -1, b = -1;
  std::vector<i32> next;  // per dart, counter-clockwise
  std::vector<i32>
      outer;  // of each component that has an edge a dart with its outer face on the left; in the order of the smallest nodes
};

/// Edges are pairs of different nodes in range, without parallels; coordinates are finite and in the range that `orientation`
/// asks for.
Drawing read_drawing(i32 num_nodes, i32 num_edges, const i64* edges, const Point* points, const KeepGoing& keep_going);

}  // namespace planegraph
