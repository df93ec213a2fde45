// The SPQR trees of all blocks of a graph.
//
// An SPQR node has a type, a block and a skeleton. Skeletons are stored as *entries*: entry x is an edge of the skeleton of its owner,
// with darts 2x (from end[0] to end[1]) and 2x + 1. A real entry names its edge and runs the same way as that edge, so dart 2x + k is
// dart 2 real + k of the graph. A virtual entry has real = -1 and a twin in the neighbouring SPQR node, with the same ends in the same order.
// The entries of one node are contiguous; those of an S node stand in the order of the cycle, and `forward` says whether the
// cycle runs along dart 2x. What belongs together lies together in memory: most skeletons have three or four edges, and
// the passes over them jump from one to the next.
//
// Split components (triconnected.hpp) become SPQR nodes by merging adjacent triangles and adjacent bonds. A block that is one edge is
// a Q node, a block that is a cycle an S node; neither needs a search. O(n + m).
#pragma once

#include "planegraph/graph/blocks.hpp"
#include "planegraph/graph/forest.hpp"
#include "planegraph/spqr/triconnected.hpp"

namespace planegraph {

/// An edge of a skeleton.
struct Entry {
  i32 end[2];
  i32 token[2];  // per dart: what a walk says about it (set by walks.hpp)
  i32 real;      // edge or -1
  i32 twin;      // entry or -1
  i32 owner;     // SPQR node
  i32 forward;   // S only: 1 if the cycle runs from end[0] to end[1]
};

/// An SPQR node. The last members, from `parent` on, are set by walks.hpp.
struct SpqrNode {
  i32 type, block;
  i32 first, last;  // entries
  i32 parent, level;
  i32 up;        // the entry at which it hangs (or, for one of two centres, the entry between them), or -1
  u8 is_set;     // encoded as a plain multiset of darts
  u8 mirror[2];  // does the walk from dart 2 up + k use the mirror image?
  u8 tied;       // hanging R: that walk and the one in the other image agree, for either dart
  i32 size() const { return last - first; }
};

class Spqr {
 public:
  void run(const Graph& g, const Blocks& blocks);

  std::vector<SpqrNode> nodes;
  std::vector<Entry> entries;
  Forest forest;  // all SPQR trees, rooted at their centres

  i32 count() const { return static_cast<i32>(nodes.size()); }
  i32 num_entries() const { return static_cast<i32>(entries.size()); }
  /// The source of a dart of an entry; the source of d ^ 1 is its target.
  i32 end(i32 d) const { return entries[d >> 1].end[d & 1]; }
  i32 token(i32 d) const { return entries[d >> 1].token[d & 1]; }
  i32 owner(i32 x) const { return entries[x].owner; }
  /// The neighbour across virtual entry x.
  i32 across(i32 x) const { return entries[entries[x].twin].owner; }
  /// Of an S node's entry: its dart along the cycle, or against it.
  i32 cycle_dart(i32 x, bool along) const { return 2 * x + (along ? 1 - entries[x].forward : entries[x].forward); }
  /// Calls visit(dart) for the darts of an S node once round the cycle, from the given one on.
  template <class Visit>
  void walk_cycle(const SpqrNode& node, i32 first_dart, Visit&& visit) const {
    const bool along = (first_dart & 1) != entries[first_dart >> 1].forward;
    i32 x = first_dart >> 1;
    for (i32 k = node.size(); k > 0; --k) {
      visit(cycle_dart(x, along));
      if (along)
        x = x + 1 == node.last ? node.first : x + 1;
      else
        x = x == node.first ? node.last - 1 : x - 1;
    }
  }
  /// The dart of a bond's entry that leaves pole u.
  i32 dart_from(i32 x, i32 u) const { return 2 * x + (entries[x].end[0] != u); }

  /// Adds a bond of two virtual edges between the owners of x and its twin; used as a neutral root (see walks.hpp). Returns its id.
  i32 split_virtual_edge(i32 x);

 private:
  void add_trivial(const Graph& g, i32 b, const i32* edges, i32 num_edges);
  void add_block(const Graph& g, const Blocks& blocks, i32 b);
  void make_palm_tree(const Graph& g, const Blocks& blocks, i32 b);
  void link_twins(i32 first_entry, i32 last_entry, i32 num_virtual);
  void merge_split_components();
  void order_cycle(i32 first, i32 last);
  i32 new_node(i32 type, i32 block);
  i32 new_entry(i32 c, i32 u, i32 v, i32 edge);

  PalmTree tree_;
  SplitComponents split_;
  std::vector<i32> local_, first_home_, second_home_, set_, fill_, node_of_set_, slot_;
  std::vector<Entry> cycle_;
};

}  // namespace planegraph
