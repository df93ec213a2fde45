// Top-down: fixes the walks that were chosen, numbers the nodes canonically and writes the tables.
//
// Components in canonical order; in each, the block-cut tree breadth-first from its root, child blocks of a cut node by class, child cut
// nodes of a block in the order in which its walks first visit them; in each block, the SPQR tree breadth-first from its root, children in
// the order in which the parent's walk meets their virtual edges. A child's walk starts with the dart that its parent's walk meets first,
// and theta is that position. Nodes are numbered by first visit. Every rule depends on invariants and earlier choices only, so
// the tables are canonical up to automorphism. O(n + m) but for sorting siblings.
#pragma once

#include "planegraph/canon/walks.hpp"
#include "planegraph/tables/packed.hpp"

namespace planegraph {

class Emitter {
 public:
  /// Appends one graph to `out`; the tables only if `tables` is set, the labelling always.
  void run(const Graph& g, const Blocks& blocks, Spqr& spqr, const Rotations& rotations, Walks& walks, bool tables, Packed& out);

  std::vector<i32> canonical;  // node -> canonical index

 private:
  struct Context;
  /// Where the next rows go; null without tables.
  struct Columns {
    i32 *walk_node, *walk_edge, *walk_other, *walk_kappa, *walk_pos, *walk_spqr;
    i32 *node_spqr_node, *node_spqr_spqr, *node_block_node, *node_block_block;
  };
  struct Root {
    i32 kind, rank, id;  // kind 0: isolated node, 1: block, 2: cut node
  };
  void reserve_rows(const Context& x);
  void order_components(const Context& x);
  void emit_cut(const Context& x, i32 cut);
  void emit_block(const Context& x, i32 b);
  void emit_walk(const Context& x, i32 c);
  void emit_cycle(const Context& x, i32 c, i32 dart);
  void emit_bond(const Context& x, i32 c, i32 dart);
  void emit_edge(const Context& x, i32 c, i32 dart);
  void emit_set(const Context& x, i32 c);
  void put(const Context& x, i32 row, i32 dart, i32 kappa, i32 position, bool first_visit);
  void meet(i32 neighbour, i32 side, i32 position);
  void number(const Context& x, i32 node);

  i32 next_number_ = 0;
  i32 b_ = 0, next_block_row_ = 0, next_cut_row_ = 0, next_spqr_row_ = 0;
  i64 spqr_at_ = 0;
  Columns at_{};
  std::vector<Root> roots_;
  std::vector<i32> queue_, spqr_queue_;
  std::vector<i32> spqr_row_, theta_, side_, block_row_, cut_row_, last_block_, last_spqr_, component_row_;
  std::vector<std::pair<i32, i32>> sorted_;
};

}  // namespace planegraph
