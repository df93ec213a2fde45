// The input graph as a plane map in the core's own numbers, where neighbours stand close together, and the way back. O(n + m).
#pragma once

#include "planegraph/graph/graph.hpp"
#include "planegraph/planarity/embedding.hpp"
#include "planegraph/planarity/plane_map.hpp"

namespace planegraph {

class InputMap {
 public:
  /// False if the graph is not planar. Throws InvalidGraph like every use of the core. Labels are ignored.
  bool run(GraphView view, const KeepGoing& keep_going);

  PlaneMap map;
  Graph graph;  // node_of and component, by the map's nodes

  /// map.next in the input's darts: dart 2e goes along edge e in its direction in the input.
  std::vector<i32> next_of_input(const GraphView& view) const;

 private:
  Embedder embedder_;
};

}  // namespace planegraph
