// The packed result of decomposing many graphs: flat arrays plus offsets (docs/arrays.md).
//
// Every id is local to its graph: graph g owns rows ptr[g] .. ptr[g + 1] of a table, and ids count from 0 within that range.
// Rows are in canonical order: SPQR nodes, blocks and cut nodes stand in the order in which the canonical labelling meets them,
// so two isomorphic graphs have equal tables once node and edge ids are translated by their canonical labellings.
#pragma once

#include <span>

#include "planegraph/graph/array.hpp"
#include "planegraph/graph/types.hpp"

namespace planegraph {

struct Packed {
  // one row per walk entry (a dart of a skeleton); the dart leaves walk_node
  Array<i64> walk_ptr;
  Array<i32> walk_node;   // source node of the dart
  Array<i32> walk_edge;   // edge id, or -1 for a virtual edge
  Array<i32> walk_other;  // -1 for a real edge, else the SPQR node on the other side of the virtual edge
  Array<i32> walk_kappa;  // order of first visit of walk_node in this walk, from 1 (0: plain set)
  Array<i32> walk_pos;    // position in this walk, from 1 (0: plain set)
  Array<i32> walk_spqr;   // the SPQR node whose walk this is; ascending

  Array<i64> spqr_ptr;
  Array<i32> spqr_type;    // SpqrType
  Array<i32> spqr_set;     // 1: encoded as a plain multiset of darts (only with on_nonplanar = set)
  Array<i32> spqr_parent;  // -1 at the root of a block's SPQR tree
  Array<i32> spqr_theta;   // position in the parent's walk at which its virtual edge is met first (0 at a root)
  Array<i32> spqr_level;   // height: leaves 0
  Array<i32> spqr_block;

  Array<i64> block_ptr;
  Array<i32> block_root;        // SPQR node
  Array<i32> block_level;       // height in the block-cut tree: leaves 0
  Array<i32> block_parent_cut;  // row in the cut table, or -1

  Array<i64> cut_ptr;
  Array<i32> cut_node;
  Array<i32> cut_level;         // height in the block-cut tree
  Array<i32> cut_parent_block;  // or -1

  // incidences: node u lies in SPQR node C; node u lies in block B
  Array<i64> node_spqr_ptr;
  Array<i32> node_spqr_node, node_spqr_spqr;
  Array<i64> node_block_ptr;
  Array<i32> node_block_node, node_block_block;

  Array<i32> node_component;  // per node
  Array<i32> labelling;       // per node: its canonical index (only meaningful for planar graphs)

  Array<i64> code_ptr;  // canonical codes, if asked for
  Array<u8> code;

  /// A table of this structure: its offsets and its columns.
  struct Table {
    Array<i64> Packed::*ptr;
    std::span<Array<i32> Packed::* const> columns;
  };
  /// All tables but the codes, whose rows are bytes.
  static std::span<const Table> tables();

  /// Empties all arrays; they keep their memory.
  void clear();
  /// The memory that the arrays hold.
  std::size_t bytes() const;
};

}  // namespace planegraph
