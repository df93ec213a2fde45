// Faces of an embedded graph, and what must hold for an embedding to be one.
//
// A face is a closed walk of darts with the face on its left; a dart lies on one face. Bounded faces of a drawing are walked
// counter-clockwise, outer ones clockwise. Each component has its own faces, an outer one among them; a node without edges has
// none.
//
// O(n + m).
#pragma once

#include "planegraph/planarity/plane_map.hpp"

namespace planegraph {

struct Faces {
  /// Faces are numbered by their smallest darts, and start with them.
  void run(const PlaneMap& map);

  i32 count() const { return static_cast<i32>(ptr.size()) - 1; }
  std::vector<i32> ptr;    // face f has darts[ptr[f] .. ptr[f + 1])
  std::vector<i32> darts;  // in the order of the walk
  std::vector<i32> of;     // per dart
};

/// A number in 0 .. count - 1 for the component of each node that has an edge, ascending with the smallest nodes; -1 for other
/// nodes.
struct Components {
  void run(const PlaneMap& map);

  i32 count = 0;
  std::vector<i32> of;
};

/// A dart of the longest face of each component; of the first such face if there are several.
std::vector<i32> longest_faces(const PlaneMap& map, const Components& components, const Faces& faces);

/// What is wrong with map.next as the embedding of map.source in the plane: every node must have one cyclic order, and every
/// component must have Euler's n - m + f = 2. `what` is empty if nothing is; "{}" stands for `node` in it.
struct EmbeddingProblem {
  std::string what;
  i32 node = -1;
};

EmbeddingProblem embedding_problem(const PlaneMap& map);

}  // namespace planegraph
