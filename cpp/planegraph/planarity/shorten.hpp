// Makes a Kuratowski subgraph smaller: its branch nodes stay, its paths become shorter.
//
// Each path gives way to a shortest one through nodes that the others do not use, until none changes. A search goes no further than the
// length of the path that it is for: O(n + m) each, usually far less.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// `witness`: edges of a subdivision of K5 or K3,3 in a simple graph; ascending, before and after.
std::vector<i32> shortened(const std::vector<i32>& witness, i32 n, i32 m, const i32* eu, const i32* ev,
                           const KeepGoing& keep_going);

}  // namespace planegraph
