// The tables of a packed dataset as their readers see them: arrays that somebody else owns, and about which nothing is assumed.
#pragma once

#include <span>

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// Something in the tables cannot be; `what()` says what was found and where.
class DamagedTables : public std::runtime_error {
 public:
  explicit DamagedTables(const std::string& message) : std::runtime_error(message) {}
};

/// The columns of a packed dataset that a batch is made of.
struct TablesView {
  using Offsets = std::span<const i64>;
  using Column = std::span<const i32>;

  Offsets node_ptr, edge_ptr, walk_ptr, spqr_ptr, block_ptr, cut_ptr, node_spqr_ptr, node_block_ptr;
  Column edges;  // pairs
  Column walk_node, walk_edge, walk_kappa, walk_pos, walk_spqr;
  Column spqr_type, spqr_parent, spqr_theta, spqr_block, spqr_depth;
  Column block_root, block_parent_cut, block_depth;
  Column cut_node, cut_parent_block, cut_depth;
  Column node_spqr_node, node_spqr_spqr, node_block_node, node_block_block;

  i64 num_graphs() const { return static_cast<i64>(node_ptr.size()) - 1; }
};

}  // namespace planegraph
