// A Kuratowski subgraph as certificate that a graph is not planar.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// Edge ids of a subdivision of K5 or K3,3 in the given simple graph (it may be disconnected), sorted; empty if it is planar.
/// No path between two branch nodes can be replaced by a shorter one that avoids the others.
/// Asks `keep_going` before each planarity test and before each search for a shorter path.
std::vector<i32> kuratowski_subgraph(i32 n, i32 m, const i32* eu, const i32* ev, const KeepGoing& keep_going);

}  // namespace planegraph
