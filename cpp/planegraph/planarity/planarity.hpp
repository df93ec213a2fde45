// Planarity of a whole graph, without decomposing it: check, renumber, then one left-right test. O(n + m).
#pragma once

#include <algorithm>

#include "planegraph/graph/graph.hpp"
#include "planegraph/planarity/embedding.hpp"
#include "planegraph/planarity/kuratowski.hpp"

namespace planegraph {

class PlanarityTest {
 public:
  /// Throws InvalidGraph like every use of the core. Labels are ignored.
  bool is_planar(const GraphView& view) {
    load(view);
    return embedder_.run(graph_.n, graph_.m, eu_.data(), ev_.data(), nullptr);
  }

  /// Edge ids, in the input's numbering and sorted, of a subdivision of K5 or K3,3; empty if the graph is planar.
  std::vector<i32> witness(const GraphView& view, const KeepGoing& keep_going) {
    load(view);
    std::vector<i32> edges = kuratowski_subgraph(graph_.n, graph_.m, eu_.data(), ev_.data(), keep_going);
    for (i32& e : edges) e = graph_.edge_of[e];
    std::sort(edges.begin(), edges.end());
    return edges;
  }

 private:
  void load(GraphView view) {
    view.node_labels = view.edge_labels = {};
    graph_.load(view);
    eu_.resize(graph_.m);
    ev_.resize(graph_.m);
    for (i32 e = 0; e < graph_.m; ++e) {
      eu_[e] = graph_.end[2 * e];
      ev_[e] = graph_.end[2 * e + 1];
    }
  }

  Graph graph_;
  Embedder embedder_;
  std::vector<i32> eu_, ev_;
};

}  // namespace planegraph
