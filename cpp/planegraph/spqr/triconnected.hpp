// Split components of a biconnected graph: bonds of three edges, triangles and triconnected graphs.
//
// The path search of Hopcroft and Tarjan ("Dividing a graph into triconnected components", 1973) with the corrections of
// Gutwenger and Mutzel ("A linear time implementation of SPQR-trees", 2001). In short: the depth-first search that found the block gives a
// palm tree of tree arcs and fronds; the out-lists are sorted so that each arc leads to its lowest return point first (`sort_out_lists`), nodes are
// renumbered so that later children have smaller numbers (`renumber`), and a last search (`search_paths`) finds separation pairs. Edges whose
// search is complete wait on `estack_`; `tstack_` holds triples (h, a, b): {a, b} may be a pair of type 2 that cuts off the
// nodes a .. h. When a pair is found, its component is taken from `estack_` and replaced by a virtual edge.
//
// Invariants: a tree arc goes from a smaller to a larger number, a frond the other way; the components' edges are contiguous in
// `component_edges`; each virtual edge stands in exactly two components, first in the one for which it was made.
// The caller guarantees: simple, biconnected, at least three nodes. O(n + m) but for sorting the out-list of each node (m log degree).
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// A biconnected graph with a palm tree. Node ids are preorder numbers of the search; low1 and low2 are the two smallest ids among
/// the node itself and all that fronds from its subtree reach.
struct PalmTree {
  i32 n = 0, m = 0;
  std::vector<i32> end;     // end[2e], end[2e + 1]: the ends of edge e
  std::vector<i32> parent;  // of node 0 anything
  std::vector<i32> low1, low2;
};

class SplitComponents {
 public:
  void run(const PalmTree& tree);

  i32 num_real = 0;  // edges below this id are real
  i32 num_edges() const { return static_cast<i32>(edge_.size()); }
  i32 num_components() const { return static_cast<i32>(type.size()); }
  std::vector<i32> type;  // kS, kP or kR
  std::vector<i32> ptr;   // component c owns component_edges[ptr[c] .. ptr[c + 1])
  std::vector<i32> component_edges;
  /// Ends of any edge, real or virtual, in the caller's node ids.
  i32 source(i32 e) const { return node_at_[edge_[e].source]; }
  i32 target(i32 e) const { return node_at_[edge_[e].target]; }

  /// Gives large arrays back once the result has been read.
  void release_memory();

 private:
  struct Edge {
    i32 source, target;  // numbers from 1, see `renumber`
    bool is_tree() const { return source < target; }
  };
  struct Triple {
    i32 h, a, b;
  };
  struct OutEdge {
    i32 key, edge, target;  // target by preorder; an arc if it is larger than the source
  };

  void sort_out_lists(const PalmTree& tree);
  void renumber(const PalmTree& tree);
  void collect_fronds();
  void fetch_near(i32 k) const;
  void search_paths();
  void start_path(i32 low, i32 h, i32 b);
  void type_two_pairs(i32 v, i32& w);
  void type_one_pair(i32 v, i32 w, bool another_arc_waits);

  void open_component() { opened_ = static_cast<i32>(component_edges.size()); }
  void take(i32 e) { component_edges.push_back(e); }
  i32 close_component(i32 type, i32 source, i32 target);
  void take_from_stack();
  i32 bond(i32 e, i32 f, i32 source, i32 target);
  i32 new_edge(i32 source, i32 target);

  i32 high(i32 v);
  void leave_high(i32 e);

  i32 n_ = 0, m_ = 0, opened_ = 0;
  // by preorder number
  std::vector<i32> out_ptr1_, size1_, number_;
  std::vector<OutEdge> out1_;
  // path search, indexed by final number 1..n
  std::vector<i32> node_at_, father_, lowpt1_, lowpt2_, size_, degree_, tree_arc_;
  std::vector<i32> out_ptr_, out_, cursor_;
  std::vector<Edge> edge_;
  std::vector<i32> estack_;
  std::vector<Triple> tstack_;
  // fronds entering each node, in the order in which the search meets them: lists with lazy deletion
  struct HighItem {
    i32 source, next;
    bool alive;
  };
  std::vector<i32> high_head_, high_tail_, high_of_;  // per node, per node, per edge
  std::vector<HighItem> high_items_;
};

}  // namespace planegraph
