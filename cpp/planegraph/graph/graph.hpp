// The input, checked and renumbered (steps "check" and "components").
//
// Nodes are renumbered so that neighbours stand close together (numbering.hpp), and edges in the order in which their first ends follow.
// All later steps work in the new numbers; `node_of` and `edge_of` lead back.
//
// Labels become small integers: `label[v]` orders the node labels of this graph, `token[d]` the pairs (label of dart d, label of its
// reverse). Later choices may depend on their values, so these are functions of the labelled graph alone: not of the order of the input, and
// not of whether equal labels of two darts were given once or twice.
//
// Parallel edges, where they are allowed, are one edge to all later steps but the SPQR trees: the first of them is among the m edges, and
// `parallel` leads from it to the others.
//
// O(n + m), plus sorting the labels where they are wide.
#pragma once

#include "planegraph/graph/numbering.hpp"

namespace planegraph {

class Graph : public Numbering {
 public:
  /// Throws InvalidGraph for a self-loop, a parallel edge (unless the view allows them) or an id out of range.
  void load(const GraphView& view);

  i32 n = 0, m = 0;
  i32 m_all = 0;              // with the copies m, m + 1, ... of parallel edges; these have `edge_of`, `end` and `token` only
  i32 num_tokens = 1;         // tokens are in [0, num_tokens)
  i32 num_labels = 1;         // labels are in [0, num_labels)
  std::vector<i32> edge_of;   // new edge -> input edge
  std::vector<i32> end;       // end[d]: source of dart d, so end[d ^ 1] is its target; end[2e] < end[2e + 1]
  std::vector<i32> ptr, out;  // darts leaving node v: out[ptr[v] .. ptr[v + 1])
  std::vector<i32> label;     // per node
  std::vector<i32> token;     // per dart
  std::vector<i32> parallel;  // per edge and copy: another copy or -1; empty if no edges are parallel

 private:
  void check_ids(const GraphView& view) const;
  void build_input_lists(const GraphView& view);
  void number_edges(const GraphView& view);
  void add_copies();
  [[noreturn]] static void refuse_parallel(const GraphView& view, i32 u, const Arc& arc);
  void build_lists();
  void rank_node_labels(const LabelView& labels);
  void rank_edge_labels(const GraphView& view);
  i64 rank_rows(const LabelView& labels, i64 count, std::vector<i64>& rank);

  std::vector<i32> in_ptr_;
  std::vector<Arc> in_arcs_;
  std::vector<i32> seen_;  // per node: the last node whose neighbours included it
  struct Copy {
    i32 of, edge;  // an edge of ours, and one of the input that is parallel to it
  };
  std::vector<i32> first_;  // multigraphs, per node: the edge to it from the node at hand
  std::vector<Copy> copies_;
  std::vector<i64> rank_, pair_;
  std::vector<i32> order_;
};

}  // namespace planegraph
