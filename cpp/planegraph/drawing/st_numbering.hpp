// st-numberings: s comes first, t last, and every other node has a neighbour before it and one after it.
//
// There is one if and only if the graph with the edge s-t is biconnected (Lempel, Even, Cederbaum 1967). A depth-first search
// from s visits t first. Then the nodes are put into a list in preorder, each beside its parent: before it or after it, on the
// side where its lowest point is, which a sign at each node remembers (R. E. Tarjan, Two streamlined depth-first search
// algorithms, 1986).
//
// O(n + m), no recursion. The graph need not be planar.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// Writes the position of each node into `number` and returns -1; if the graph with s-t is not biconnected, returns a node that
/// separates it, or num_nodes if it is not connected. Edges are pairs of different nodes in range, and so is (s, t).
i32 st_numbering(const GraphView& graph, i32 s, i32 t, std::vector<i32>& number);

}  // namespace planegraph
