// Makes a Kuratowski subgraph smaller: its branch nodes stay, its paths become shorter.
//
// Each path gives way to a shortest one through nodes that the others do not use, until none changes. A search goes no further than the
// length of the path that it is for: O(n + m) each, usually far less.
#pragma once

#include "planegraph/planarity/regions.hpp"

namespace planegraph {

/// `witness`: edges of a subdivision of K5 or K3,3 in the graph that `graph` was made of; ascending, before and after.
std::vector<i32> shortened(const std::vector<i32>& witness, const Regions& graph, i32 n, const i32* eu, const i32* ev);

}  // namespace planegraph
