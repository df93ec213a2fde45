// Blocks, cut nodes and the block-cut tree of each component, rooted at its centre.
//
// One depth-first search computes low points; a tree edge (p, v) opens a new block exactly when low(v) >= pre(p) (Hopcroft and
// Tarjan 1973). Blocks then follow from a scan in preorder, without a stack of edges. All leaves of a block-cut tree are blocks,
// hence its centre is unique, blocks have even heights and cut nodes odd ones.
// Isolated nodes have no block. O(n + m).
#pragma once

#include "planegraph/graph/forest.hpp"
#include "planegraph/graph/graph.hpp"

namespace planegraph {

class Blocks {
 public:
  void run(const Graph& g);

  i32 count = 0;                     // blocks
  std::vector<i32> edge_ptr, edges;  // edges of each block
  std::vector<i32> node_ptr, nodes;  // nodes of each block, in preorder of the search
  std::vector<i32> level;            // height of each block in the block-cut tree
  std::vector<i32> parent_cut;       // cut index or -1

  i32 num_cuts = 0;
  std::vector<i32> cut_node;  // node of each cut
  std::vector<i32> cut_of;    // node -> cut index or -1
  std::vector<i32> cut_level;
  std::vector<i32> cut_parent;        // block or -1
  std::vector<i32> child_ptr, child;  // child blocks of each cut

  /// Blocks and cuts (a cut c as count + c) with heights ascending.
  const std::vector<i32>& by_height() const { return forest_.order; }
  i32 num_tree_nodes() const { return count + num_cuts; }

  /// The palm tree of the search, by node: parent (-1 at a root) and the nodes with the two smallest preorder numbers among the node itself and
  /// all nodes that a frond from its subtree reaches (the node itself stands for "none").
  const std::vector<i32>& tree_parent() const { return parent_; }
  i32 low1(i32 v) const { return preorder_[low_[v]]; }
  i32 low2(i32 v) const { return preorder_[low2_[v]]; }

  /// The node at which block b hangs, or -1.
  i32 parent_node(i32 b) const { return parent_cut[b] < 0 ? -1 : cut_node[parent_cut[b]]; }

 private:
  void search(const Graph& g);
  void collect(const Graph& g);
  void root_trees();

  std::vector<i32> pre_, low_, low2_, parent_, cursor_, preorder_, block_of_, top_, stack_;
  Forest forest_;
};

}  // namespace planegraph
