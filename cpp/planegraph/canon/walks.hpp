// Canonical codes bottom-up, and with them the choice of every canonical walk: KHC (Kukluk, Holder and Cook, 2004), whose TriCode codes a
// rigid component and whose BiCode a block, with ranks instead of nested codes (docs/design.md).
//
// Blocks are handled by height in the block-cut tree, and the SPQR nodes of all blocks of one height together by height in their SPQR trees,
// so that all subtrees of one height are ranked against each other: a rank is an integer that stands for the whole subtree.
// A non-root SPQR node is coded once for each direction of the virtual edge at which it hangs (its entry `up`); the ranks of these two codes become
// the tokens of the two darts of that edge in the parent. A root takes its smallest code over all starts. The label of a cut
// node and the classes of the blocks that hang at it make its own class, which colours it inside its parent block.
//
// Ties: equal codes mean isomorphic subtrees, hence any choice between equally good starts is fixed up to automorphisms of the whole graph.
// If an SPQR tree has two centres, the one with the smaller code becomes the root (on a tie an automorphism swaps them) and its walk
// starts at the edge between them, in the direction with the smaller pair of codes.
//
// Rigid skeletons that are not planar (only when the caller allows them) are coded as multisets of darts. Such codes are incomplete,
// so ties that depend on them prove nothing; a component with such a tie is encoded as a set too, and two centres that cannot be
// told apart get a neutral root between them: a bond of two virtual edges. The result stays invariant.
//
// O(n log n): every code is as long as its skeleton, and sorting codes of total length L costs O(L log L).
#pragma once

#include <span>

#include "planegraph/canon/ranker.hpp"
#include "planegraph/canon/refine.hpp"
#include "planegraph/planarity/rotations.hpp"

namespace planegraph {

class Walks {
 public:
  void run(const Graph& g, const Blocks& blocks, Spqr& spqr, const Rotations& rotations);

  std::vector<Start> start;      // per SPQR node, for roots
  std::vector<i32> block_root;   // per block
  std::vector<i32> block_class;  // per block: equal for isomorphic hanging subtrees
  std::vector<i32> paint;        // per node: its label, or for a child cut node num_labels + its class
  std::vector<i32> cut_class;    // per cut

  /// Set it before a run to keep, for each tied root that is a cycle or rigid, all starts that give its code (symmetry/).
  bool keep_ties = false;
  /// Of a block whose root has them: these starts as states 2 dart + mirror, where darts count from the root's first; the chosen one
  /// first. Otherwise none.
  std::span<const i32> tied_states(i32 b) const {
    return {tied_states_.data() + tied_ptr_[b].first, tied_states_.data() + tied_ptr_[b].second};
  }
  /// Of such a block: whether `dart_orbit` knows the first dart of the orbit of each dart of its root.
  bool has_dart_orbits(i32 b) const { return has_dart_orbits_[b] != 0; }
  std::vector<i32> dart_orbit;

  Colours colours(const Blocks& blocks, i32 b) const { return {paint.data(), blocks.parent_node(b)}; }
  Rigid rigid(const Blocks& blocks, const Spqr& spqr, const Rotations& rotations, i32 c) const;
  Weinberg weinberg;

 private:
  struct Context;
  void prepare(const Graph& g, const Blocks& blocks, Spqr& spqr);
  void rank_hanging(const Context& x, const i32* nodes, i32 count);
  void code_hanging(const Context& x, i32 c, i32 side);
  bool code_beginnings(const Context& x, i32 c);
  void code_roots(const Context& x, const i32* block_list, i32 count);
  void rank_cuts(const Context& x, const i32* cuts, i32 count);

  void settle_two_centres(const Context& x, i32 b);
  void add_neutral_root(const Context& x, i32 b);
  void code_root(const Context& x, i32 b, bool keep_code);
  void code_root_cycle(const Context& x, i32 c);
  void code_root_bond(const Context& x, i32 c);
  void code_root_rigid(const Context& x, i32 c, bool keep_code);
  void code_edge(const Context& x, i32 c);
  void code_cycle(const Context& x, i32 c, i32 first_dart);
  void code_bond(const Context& x, i32 c, i32 first_dart);
  void code_as_set(const Context& x, i32 c, i32 up_dart);
  bool is_tainted(const Context& x, i32 c) const;
  bool bond_is_tied(const Context& x, i32 c, i32 first_dart) const;
  void keep_cycle_ties(const Context& x, i32 c, i32 ahead, i32 back, i32 period);
  void keep_rigid_ties(const Context& x, i32 c, const Rigid& skeleton);
  Ranker ranker_;
  Refiner refiner_;
  std::vector<i32> tied_states_;
  std::vector<std::pair<i32, i32>> tied_ptr_;  // per block
  std::vector<u8> has_dart_orbits_;            // per block
  i32 next_rank_ = 0, next_block_class_ = 0, next_cut_class_ = 0;
  bool nonplanar_ = false;
  std::vector<i32> by_level_, level_ptr_;   // SPQR nodes by (level of block, height)
  std::vector<i32> centre_;                 // per block: the first of two centres, or -1
  std::vector<u8> tainted_, node_tainted_;  // incomplete codes: per SPQR node (its subtree), per node (what hangs at it)
  std::vector<i32> large_sizes_;            // of the rigid nodes of one height
  std::vector<i32> scratch_, scratch2_;
};

}  // namespace planegraph
