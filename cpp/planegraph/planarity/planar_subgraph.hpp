// A maximal planar subgraph: a few edges left out, such that the rest is planar and none of them can be put back.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// The edges to leave out of a simple graph, ascending; none if it is planar. Asks `keep_going` before planarity tests.
std::vector<i32> edges_beyond_planar(i32 n, i32 m, const i32* eu, const i32* ev, const KeepGoing& keep_going);

}  // namespace planegraph
