// The SPQR trees of all blocks of a graph.
//
// An SPQR node has a type, a block and a skeleton. Skeletons are stored as *entries*: entry x is an edge of the skeleton of owner[x],
// with darts 2x (from end[2x] to end[2x + 1]) and 2x + 1. A real entry names its edge and runs the same way as that edge, so dart 2x + k is
// dart 2 real[x] + k of the graph. A virtual entry has real[x] = -1 and a twin in the neighbouring SPQR node, with the same ends in the same order.
// The entries of node c are entry_ptr[c] .. entry_ptr[c + 1]; those of an S node stand in the order of the cycle, and forward[x] says
// whether the cycle runs along dart 2x.
//
// Split components (triconnected.hpp) become SPQR nodes by merging adjacent triangles and adjacent bonds. A block that is one edge is
// a Q node, a block that is a cycle an S node; neither needs a search. O(n + m).
#pragma once

#include "blocks.hpp"
#include "forest.hpp"
#include "triconnected.hpp"

namespace planegraph {

class Spqr {
 public:
  void run(const Graph& g, const Blocks& blocks);

  i32 count = 0;  // SPQR nodes
  std::vector<i32> type, block, entry_ptr;
  i32 num_entries = 0;
  std::vector<i32> end;    // per dart of an entry
  std::vector<i32> real;   // per entry: edge or -1
  std::vector<i32> twin;   // per entry: entry or -1
  std::vector<i32> owner;  // per entry
  std::vector<u8> forward; // per entry of an S node
  Forest forest;           // all SPQR trees, rooted at their centres

  i32 size(i32 c) const { return entry_ptr[c + 1] - entry_ptr[c]; }
  /// The neighbour of c across virtual entry x.
  i32 across(i32 x) const { return owner[twin[x]]; }

  /// Adds a bond of two virtual edges between the owners of x and twin[x]; used as a neutral root (see walks.hpp). Returns its id.
  i32 split_virtual_edge(i32 x);

 private:
  void add_trivial(const Graph& g, i32 b, const i32* edges, i32 num_edges);
  void add_block(const Graph& g, const Blocks& blocks, i32 b);
  void make_palm_tree(const Graph& g, const Blocks& blocks, i32 b);
  void link_twins(i32 first_entry, i32 last_entry, i32 num_virtual);
  void merge_split_components();
  void order_cycle(i32 first, i32 last);
  i32 new_node(i32 kind, i32 b);
  i32 new_entry(i32 c, i32 u, i32 v, i32 edge);

  PalmTree tree_;
  SplitComponents split_;
  std::vector<i32> local_, first_home_, second_home_, set_, fill_, node_of_set_, slot_;
  std::vector<i32> cycle_;
};

}  // namespace planegraph
