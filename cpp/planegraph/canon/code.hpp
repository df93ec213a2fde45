// The canonical code: the graph, renumbered by the canonical labelling, as bytes (docs/code.md). It stands for
// KHC's code of the whole graph, and can be read back. O(n + m), plus sorting neighbours.
#pragma once

#include "planegraph/graph/array.hpp"
#include "planegraph/graph/graph.hpp"

namespace planegraph {

class Coder {
 public:
  /// Appends the code of g to `out`; canonical[v] is the canonical index of node v, `view` the input that g was loaded from.
  void append(const GraphView& view, const Graph& g, const std::vector<i32>& canonical, Array<u8>& out);

 private:
  std::vector<i32> node_at_;     // canonical index -> node
  std::vector<u64> neighbours_;  // of the node at hand: canonical index, then dart
  std::vector<u64> spare_;       // to sort very many of them
  std::vector<i32> darts_;       // i -> j with i < j, in the order of the code
};

}  // namespace planegraph
