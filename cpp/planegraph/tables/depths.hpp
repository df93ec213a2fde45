// Depths in the trees of packed decompositions, from the parents.
//
// SPQR nodes: 0 at the root of their block's tree, the parent's + 1 below. Block-cut tree: blocks even, cut nodes odd; a root block has
// depth 0, a root cut node depth 1, a child the parent's + 1. Levels (heights) say when a node can be encoded bottom-up;
// depths make the children of one slice lie in one slice.
//
// Parents are local to their graph and may stand in any order. O(n), no recursion; DamagedTables if they are not the parents of a forest.
#pragma once

#include "planegraph/graph/array.hpp"
#include "planegraph/tables/view.hpp"

namespace planegraph {

Array<i32> spqr_depths(std::span<const i64> ptr, std::span<const i32> parent);

struct BlockCutDepths {
  Array<i32> block, cut;
};
BlockCutDepths block_cut_depths(std::span<const i64> block_ptr, std::span<const i32> block_parent_cut, std::span<const i64> cut_ptr,
                                std::span<const i32> cut_parent_block);

}  // namespace planegraph
