// Planarity of a whole graph, without decomposing it: check, renumber, then one left-right test. O(n + m).
#pragma once

#include <algorithm>

#include "planegraph/graph/graph.hpp"
#include "planegraph/planarity/embedding.hpp"
#include "planegraph/planarity/kuratowski.hpp"
#include "planegraph/planarity/planar_subgraph.hpp"

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
    return of_input(kuratowski_subgraph(graph_.n, graph_.m, eu_.data(), ev_.data(), keep_going));
  }

  /// The edges that a maximal planar subgraph leaves out, in the input's numbering and sorted.
  std::vector<i32> beyond_planar(const GraphView& view, const KeepGoing& keep_going) {
    load(view);
    return of_input(edges_beyond_planar(graph_.n, graph_.m, eu_.data(), ev_.data(), keep_going));
  }

 private:
  std::vector<i32> of_input(std::vector<i32> edges) const {
    for (i32& e : edges) e = graph_.edge_of[e];
    std::sort(edges.begin(), edges.end());
    return edges;
  }

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
