// Orbits of nodes and edges, and where symmetries come from: the ties.
//
// Top-down through the block-cut trees and the SPQR trees. Components, child blocks of cut nodes of one orbit, and SPQR nodes at virtual edges of
// one orbit are images of each other as soon as their codes are equal. So the skeletons of a graph fall into orbits too, and the first of
// an orbit stands for all: each of its edges gets a new orbit, these are joined where symmetries of the skeleton tie its walks, and later ones
// copy the orbits along their walks. A skeleton has these symmetries:
//
//   - a root: the starts that give its code (of a rigid one, the class of the start; of a cycle, rotations and reflections),
//   - a hanging rigid node: the reflection that fixes the virtual edge, if the walks in both images agree,
//   - a bond: any permutation of edges with equal tokens,
//   - and the flip of a hanging node, if the virtual edge has its two darts in one orbit; that belongs to what lies above.
//
// In the same way equal components, equal child blocks of a cut node, and two equal centres may be exchanged. Each of these is a *tie*. The
// group is the product of the ties of all skeletons: those of the first of each orbit, as often as the orbit has members.
//
// The orbit of an entry has one of the entry's two darts `ahead`: entry_key[y] = 2 orbit + k says that it is dart 2y + k.
// O(n + m), plus sorting siblings and the disjoint sets of tied walks.
#pragma once

#include "planegraph/symmetry/root_group.hpp"
#include "planegraph/symmetry/symmetries.hpp"

namespace planegraph {

/// A source of symmetries; `factor`, or its factorial, of them for each member of an orbit.
struct Tie {
  enum Kind : u8 {
    kComponents,  // equal components, roots first .. first + factor
    kBlocks,      // equal child blocks of cut `id`, sorted_child[first ..]
    kEdges,       // equal edges of bond `id`, from the first-th on in the order of its walk
    kMirror,      // hanging rigid node `id`
    kRoot,        // the starts of the root of block `id`
    kCentres,     // the two centres of block `id`
  };
  Kind kind;
  i32 id, first, factor;
  i32 group;  // index of group_size
  bool is_factorial() const { return kind <= kEdges; }
};

/// Which symmetries two centres have: flip both, or exchange them, with the darts of the edge between them kept or reversed.
struct CentreTies {
  bool flip, keep, reverse;
  i32 count() const { return 1 + flip + keep + reverse; }
};
CentreTies centre_ties(const Parts& x, i32 b);

class Orbits {
 public:
  /// A component: an isolated node (kind 0), or the block (1) or cut (2) that is the root of its block-cut tree.
  struct Root {
    i32 kind, rank, id;
  };

  void run(const Parts& x);
  /// Appends orbits, factors and `reflects` in the numbers of the input.
  void append(const Parts& x, Symmetries& out);

  std::vector<Root> roots;  // equal ones stand together
  std::vector<Tie> ties;
  std::vector<i32> group_size;    // members of the orbit of a skeleton or cut
  std::vector<i32> sorted_child;  // the child blocks of each cut, as in Blocks, by class
  bool reflects = false;

  /// The canonical direction of a hanging SPQR node, which equal ones share.
  i32 side(const Parts& x, i32 c) const { return entry_key_[x.spqr.entries[x.spqr.nodes[c].up].twin] & 1; }
  Start start(const Parts& x, i32 c) const { return x.hangs(c) ? x.hanging_start(c, side(x, c)) : x.walks.start[c]; }

 private:
  void prepare(const Parts& x);
  void visit_roots(const Parts& x);
  void visit_cut(const Parts& x, i32 cut);
  void visit_block(const Parts& x, i32 b);
  void visit_root(const Parts& x, i32 b);
  void visit_centres(const Parts& x, i32 b);
  void visit_hanging(const Parts& x, i32 c);
  void copy(const Parts& x, i32 first, i32 c);
  void distinct(const Parts& x, i32 c);
  void bond(const Parts& x, i32 c, i32 dart, bool flips, i32 group);
  void separate(const Parts& x, i32 c);
  void unite(const std::vector<i32>& darts, const std::vector<i32>& images);
  void collect(const Parts& x, i32 c, std::vector<i32>& set);
  void set_key(const Parts& x, i32 y, i32 orbit, i32 ahead);
  void set_node(const Parts& x, i32 v, i32 orbit);
  void new_node(const Parts& x, i32 v);
  i32 new_orbit(bool flips);
  i32 new_group();

  i32 num_node_orbits_ = 0;
  std::vector<i32> node_orbit_, entry_key_;
  std::vector<u8> flips_;           // per orbit of entries: are both darts in one orbit?
  std::vector<i32> hanging_first_;  // per orbit of entries: the first SPQR node that hangs there
  std::vector<i32> cut_first_;      // per orbit of nodes
  std::vector<i32> block_first_;    // per block: the first of its orbit
  std::vector<i32> group_of_block_, group_of_cut_, group_of_spqr_;
  std::vector<i32> queue_, spqr_queue_;  // blocks and, above them, cuts; SPQR nodes of one block
  std::vector<std::pair<i32, i32>> sorted_;
  // the walks of first members: where they begin, and for each dart twice its orbit plus 1 if it runs against the orbit's, and its source's orbit
  std::vector<i64> walk_at_;  // per SPQR node, -1 before there was a copy
  std::vector<std::pair<i32, i32>> walk_;
  WalkLister lister_;
  RootGroup root_group_;
  std::vector<i32> darts_, images_;
  std::vector<i32> set_;                             // darts as disjoint sets
  std::vector<i32> least_set_;                       // per node: the least set among the darts that leave it
  std::vector<i32> entry_orbit_of_, node_orbit_of_;  // per set
  std::vector<i32> final_;                           // number of an orbit by first appearance
};

}  // namespace planegraph
