// Random walks that come back: for each node the probability to be there again after 1, 2, ... steps.
//
// Probabilities are whole multiples of 2^-62. A node's share for a neighbour is rounded down, sums of shares are exact, so the result does
// not depend on the order of nodes and edges. O(steps * n * m) for a graph of n nodes and m edges, less where walks do not get far.
#pragma once

#include "planegraph/graph/array.hpp"
#include "planegraph/tables/view.hpp"

namespace planegraph {

/// (nodes of all graphs, steps), row by row. A node without neighbours never comes back. DamagedTables if offsets or edges cannot be.
Array<float> return_probabilities(const TablesView& tables, i64 steps);

}  // namespace planegraph
