// What only tests and benchmarks ask of the core.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// A coloured graph that is meant to be 3-connected and planar; dart_colours has 2m entries.
struct ColouredMap {
  i32 n, m;
  const i32* edges;  // pairs
  const i32* node_colours;
  const i32* dart_colours;
};

/// The rotation `next` of an embedding (2m entries) and the stable class of each state 2d + mirrored (4m entries).
/// Returns false if the graph is not planar.
bool dart_classes(const ColouredMap& map, std::vector<i32>& next, std::vector<i32>& classes);

/// The start that the walk of a rigid root would take: 2d + mirrored.
i32 chosen_start(const ColouredMap& map, const std::vector<i32>& next);

/// The code of Weinberg's walk from one start, with kappa and dart colour for each dart and the node's colour at its first visit.
std::vector<i32> weinberg_code(const ColouredMap& map, const std::vector<i32>& next, i32 start_dart, bool mirror);

/// Builds adjacency lists and runs one depth-first search over them: the least that any of our steps can cost. Returns the
/// number of nodes reached, so that the work cannot be optimised away.
i64 plain_search(i64 num_nodes, i64 num_edges, const i64* edges);

}  // namespace planegraph
