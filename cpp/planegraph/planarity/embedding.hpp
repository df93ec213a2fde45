// Planar embedding by the left-right method (de Fraysseix, Rosenstiehl; in the form of Brandes, "The left-right planarity test").
//
// What is computed. A rotation system: for each node the cyclic order of its darts, such that tracing faces by
// d -> next[d ^ 1] gives n - m + f = 2 in each component that has an edge; or the answer that none exists.
//
// The caller guarantees a simple graph: node ids in range, no self-loop, no parallel edge, n and m below 2^30.
//
// Cost. O(n + m) time. 28 to 44 bytes per edge plus 32 to 80 per node (more for deeper DFS trees) of working memory, which is kept: a
// second call on a graph that is not larger allocates nothing, and touches only as much of it as that graph needs. One object per thread.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

class Embedder {
 public:
  /// Embeds the simple graph with nodes 0..n-1 and edges (eu[i], ev[i]), i < m; it may be disconnected.
  /// Returns false if it is not planar. Otherwise, if `next` is not null, writes for each dart d the dart that follows it
  /// around their common source node in counter-clockwise order (a cyclic permutation of each node's darts), 2m entries.
  /// O(n + m), no recursion; working memory is kept for the next call.
  bool run(i32 n, i32 m, const i32* eu, const i32* ev, i32* next);

 private:
  // Nodes are renamed by DFS preorder ("number"), so on a path from the root numbers compare like heights. Edges are renamed by
  // their position in the lists of outgoing edges ("arc"): arcs of a node are consecutive, arcs of smaller numbers come first.
  // Arc 0 means "none".
  struct Half {  // before sorting: an entry of an adjacency list
    i32 to;      // input node; once its arc is oriented away from the list's owner: number of the target
    i32 dart;
  };
  struct OrientFrame {
    i32 node, cursor, out;  // input node; next entry to look at; where to write the next arc (out <= cursor)
    i32 low, low2;          // the two lowest return points of the tree arc into the node
  };
  struct Interval {  // return arcs on one side, linked from high to low by ref
    i32 low = 0, high = 0;
    bool empty() const { return high == 0; }
  };
  struct ConflictPair {  // return arcs of `left` and of `right` lie on different sides
    Interval left, right;
  };
  struct TestFrame {
    i32 node, arc;  // the arc being explored
    i32 low_arc;    // a return arc of the tree arc into `node` that reaches its lowest return point
    i32 bottom;     // conflict pairs on the stack before `arc` was explored
  };
  struct Corner {  // where the next darts of a node go in its circular list
    i32 tail;      // after this one: its own next arc
    i32 left;      // after this one: arcs that come back to it on the left of its current tree arc
    i32 right;     // the same on the right; it is the dart of that tree arc
  };
  struct EmbedFrame {
    i32 node, step;
  };

  void build_adjacency(i32 n, i32 m, const i32* eu, const i32* ev);
  void orient(i32 n);
  void orient_component(i32 root, i32& count);
  void sort_arcs(i32 n);
  void sort_long_lists(i32 n);
  bool test();
  bool test_component(i32 root);
  ConflictPair merge_own_pairs(i32 bottom, i32 low, i32 low_arc, bool& ok);
  bool merge_conflicting_pairs(ConflictPair merged, i32 low);
  void trim_return_arcs_to(i32 node);
  void trim(Interval& side, const Interval& other, i32 node);
  i32 highest_return_arc() const;
  void resolve_sides(i32 m);
  void embed_component(i32 root, i32* next);

  i32 nesting_depth(i32 source, i32 target) const { return target > source ? depth_[target] : 2 * target; }

  // by input node
  std::vector<i32> offset_;  // start of the adjacency list; n + 1
  std::vector<i32> number_;  // DFS number, -1 if not yet visited
  std::vector<Half> half_;   // adjacency lists; after orient(), each starts with its node's arcs
  // by DFS number
  std::vector<i32> order_;  // input node
  std::vector<i32> first_;  // first arc; n + 1
  std::vector<i32> depth_;  // nesting depth of the tree arc into the node: 2 * lowest return point (+ 1 if it has a second one)
  std::vector<Corner> corner_;
  std::vector<i32> roots_;  // one per component
  // by arc, from 1
  std::vector<i32> to_;    // number of the target: larger than the source for a tree arc, smaller for a back arc
  std::vector<i32> dart_;  // input dart in the direction of the arc
  std::vector<u32> ref_;   // 2 * (arc relative to which the side is given, 0: none) + (1: on the other side)
  // stacks
  std::vector<OrientFrame> orient_frames_;
  std::vector<TestFrame> test_frames_;
  std::vector<EmbedFrame> embed_frames_;
  std::vector<ConflictPair> pairs_;
  // only for nodes with many arcs
  std::vector<i32> long_lists_, bucket_, cursor_;
  std::vector<i32> sorted_sources_;
  std::vector<Half> sorted_halves_;
};

}  // namespace planegraph
