// The sections of a batch, declared once: what its buffer of 32-bit integers holds, and in which order (collate.hpp says how rows stand).
//
// The buffer begins with `counts`, the real length of each unit. Every section follows, without gaps: a number of entries for each row of a
// *space*. A space is something that rows of a batch are counted and ordered in, such as nodes, or walk entries sorted by node; spaces that
// hold the same rows in another order share a unit. What the entries are:
//
//   offsets   where the items of a row begin in the target space; one entry more than rows
//   id        a row of the target space, or -1
//   first     the first row of the target space that belongs to this row, 0 if there is none
//   end       one behind the last of these
//   position  a position in a walk, from 1
//   type      a SpqrType
//
// In padding ids and types are -1, and everything else is 0 or, for offsets, constant. Sections marked `rows` are empty in batches without
// edge features.
//
// Everything that lists sections expands these lists: the filler, buffer_length, and planegraph._core.SPACES and SECTIONS, which Python reads.
#pragma once

#include <array>

#include "planegraph/tables/schema.hpp"

// X(space, unit); the first space of each unit comes in the order of `counts`
#define PLANEGRAPH_SPACES(X) \
  X(graph, graphs)           \
  X(node, nodes)             \
  X(dart, darts)             \
  X(row, rows)               \
  X(walk, walks)             \
  X(spqr, spqr)              \
  X(block, blocks)           \
  X(cut, cuts)               \
  X(node_spqr, node_spqr)    \
  X(node_block, node_block)  \
  X(node_walk, walks)        \
  X(row_walk, walks)         \
  X(spqr_node, node_spqr)    \
  X(block_node, node_block)

// X(name, space, content, target or `none`, rows: only with edge features)
#define PLANEGRAPH_SECTIONS(X)                      \
  X(node_ptr, graph, offsets, node, no)             \
  X(node_graph, node, id, graph, no)                \
  X(dart_ptr, node, offsets, dart, no)              \
  X(dart_source, dart, id, node, no)                \
  X(dart_target, dart, id, node, no)                \
  X(dart_reverse, dart, id, dart, no)               \
  X(dart_row, dart, id, row, yes)                   \
  X(row_dart_ptr, row, offsets, dart, yes)          \
  X(row_dart, dart, id, dart, yes)                  \
  X(walk_ptr, spqr, offsets, walk, no)              \
  X(walk_spqr, walk, id, spqr, no)                  \
  X(walk_node, walk, id, node, no)                  \
  X(walk_kappa, walk, position, none, no)           \
  X(walk_pos, walk, position, none, no)             \
  X(walk_row, walk, id, row, yes)                   \
  X(node_walk_ptr, node, offsets, node_walk, no)    \
  X(node_walk, node_walk, id, walk, no)             \
  X(row_walk_ptr, row, offsets, row_walk, yes)      \
  X(row_walk, row_walk, id, walk, yes)              \
  X(spqr_type, spqr, type, none, no)                \
  X(spqr_theta, spqr, position, none, no)           \
  X(spqr_parent, spqr, id, spqr, no)                \
  X(spqr_begin, spqr, first, spqr, no)              \
  X(spqr_end, spqr, end, spqr, no)                  \
  X(node_spqr_ptr, node, offsets, node_spqr, no)    \
  X(node_spqr, node_spqr, id, spqr, no)             \
  X(spqr_node_ptr, spqr, offsets, spqr_node, no)    \
  X(spqr_node, spqr_node, id, node, no)             \
  X(block_parent, block, id, cut, no)               \
  X(block_begin, block, first, cut, no)             \
  X(block_end, block, end, cut, no)                 \
  X(cut_parent, cut, id, block, no)                 \
  X(cut_begin, cut, first, block, no)               \
  X(cut_end, cut, end, block, no)                   \
  X(cut_node, cut, id, node, no)                    \
  X(node_cut, node, id, cut, no)                    \
  X(node_block_ptr, node, offsets, node_block, no)  \
  X(node_block, node_block, id, block, no)          \
  X(block_node_ptr, block, offsets, block_node, no) \
  X(block_node, block_node, id, node, no)

namespace planegraph {

/// What rows are counted as; the order is that of `counts`.
enum class Unit : u8 { graphs, nodes, darts, rows, walks, spqr, blocks, cuts, node_spqr, node_block };
inline constexpr std::size_t kUnits = 10;

#define PLANEGRAPH_SPACE(space, unit) space,
enum class Space : u8 { PLANEGRAPH_SPACES(PLANEGRAPH_SPACE) none };
#undef PLANEGRAPH_SPACE

struct SpaceInfo {
  const char* name;
  Unit unit;
  const char* unit_name;
};
inline constexpr SpaceInfo kSpaces[] = {
#define PLANEGRAPH_SPACE(space, unit) {#space, Unit::unit, #unit},
    PLANEGRAPH_SPACES(PLANEGRAPH_SPACE)
#undef PLANEGRAPH_SPACE
};
static_assert([] {
  for (std::size_t k = 0; k < kUnits; ++k)
    if (static_cast<std::size_t>(kSpaces[k].unit) != k) return false;
  return true;
}());

/// What the entries of a section are, see above.
enum class Content : u8 { offsets, id, first, end, position, type };

struct Section {
  const char* name;
  Space space;
  Content content;
  const char* content_name;
  Space target;
  bool with_rows_only;

  constexpr Unit unit() const { return kSpaces[static_cast<std::size_t>(space)].unit; }
  /// Entries beyond one per row.
  constexpr i32 extra() const { return content == Content::offsets ? 1 : 0; }
  i64 length(const std::array<i64, kUnits>& lengths, i32 rows_per_edge) const {
    return with_rows_only && rows_per_edge == 0 ? 0 : lengths[static_cast<std::size_t>(unit())] + extra();
  }
};
inline constexpr Section kSections[] = {
#define PLANEGRAPH_SECTION(name, space, content, target, rows) \
  {#name, Space::space, Content::content, #content, Space::target, PLANEGRAPH_BOOL_##rows},
    PLANEGRAPH_SECTIONS(PLANEGRAPH_SECTION)
#undef PLANEGRAPH_SECTION
};

}  // namespace planegraph
