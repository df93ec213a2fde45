// The schema: every array of a decomposition, declared once. docs/arrays.md says what each of them means.
//
// A decomposition is a set of tables. A table is a set of columns of one length, and offsets `<table>_ptr` with one entry per graph and one
// more: graph g owns rows ptr[g] .. ptr[g + 1]. Columns are int32, offsets int64; canonical codes are bytes. Ids are local to their graph.
//
// An array may live in three places, and most live in all of them:
//
//   core    the core computes it: a member of Packed (packed.hpp), and an array of the dictionary that Python gets
//   file    packed datasets keep it. What the core does not compute comes with the graphs (nodes, edges) or from their trees (depths.hpp)
//   batch   batches are made of it: a member of TablesView (view.hpp) and of Gathered (collate/collate.hpp)
//
// The schema has one line per array, in the order in which arrays are given out:
//
//   OFFSETS(table, core, file, batch)                          the offsets of a table
//   COLUMN(name, table, width, of, none, core, file, batch)    a column with `width` integers per row: ids of rows of the table `of`, or
//                                                              plain numbers; `none` says whether -1 (no id) may occur among them
//   BYTES(table, core, file, batch)                            offsets and a column of bytes that has the name of its table
//
// Everything that lists arrays expands this list: the structures above, what copies or checks them, the bindings, and
// planegraph._core.COLUMNS, which Python reads. A new column is a new line here, and the code that fills it.
#pragma once

#include <array>

#include "planegraph/graph/types.hpp"

// clang-format off: a table
#define PLANEGRAPH_SCHEMA(OFFSETS, COLUMN, BYTES)                          \
  /*                                                core file batch */     \
  OFFSETS(node,                                     no,  yes, yes)         \
  OFFSETS(edge,                                     no,  yes, yes)         \
  COLUMN(edges,            edge,       2, node,  no,  no,  yes, yes)       \
  /* one row per dart of a canonical walk */                               \
  OFFSETS(walk,                                     yes, yes, yes)         \
  COLUMN(walk_node,        walk,       1, node,  no,  yes, yes, yes)       \
  COLUMN(walk_edge,        walk,       1, edge,  yes, yes, yes, yes)       \
  COLUMN(walk_other,       walk,       1, spqr,  yes, yes, no,  no)        \
  COLUMN(walk_kappa,       walk,       1, plain, no,  yes, yes, yes)       \
  COLUMN(walk_pos,         walk,       1, plain, no,  yes, yes, yes)       \
  COLUMN(walk_spqr,        walk,       1, spqr,  no,  yes, yes, yes)       \
  /* the SPQR trees of the blocks */                                       \
  OFFSETS(spqr,                                     yes, yes, yes)         \
  COLUMN(spqr_type,        spqr,       1, plain, no,  yes, yes, yes)       \
  COLUMN(spqr_set,         spqr,       1, plain, no,  yes, yes, no)        \
  COLUMN(spqr_parent,      spqr,       1, spqr,  yes, yes, yes, yes)       \
  COLUMN(spqr_theta,       spqr,       1, plain, no,  yes, yes, yes)       \
  COLUMN(spqr_level,       spqr,       1, plain, no,  yes, yes, no)        \
  COLUMN(spqr_block,       spqr,       1, block, no,  yes, yes, yes)       \
  COLUMN(spqr_depth,       spqr,       1, plain, no,  no,  yes, yes)       \
  /* the block-cut trees of the components */                              \
  OFFSETS(block,                                    yes, yes, yes)         \
  COLUMN(block_root,       block,      1, spqr,  no,  yes, yes, yes)       \
  COLUMN(block_level,      block,      1, plain, no,  yes, yes, no)        \
  COLUMN(block_parent_cut, block,      1, cut,   yes, yes, yes, yes)       \
  COLUMN(block_depth,      block,      1, plain, no,  no,  yes, yes)       \
  OFFSETS(cut,                                      yes, yes, yes)         \
  COLUMN(cut_node,         cut,        1, node,  no,  yes, yes, yes)       \
  COLUMN(cut_level,        cut,        1, plain, no,  yes, yes, no)        \
  COLUMN(cut_parent_block, cut,        1, block, yes, yes, yes, yes)       \
  COLUMN(cut_depth,        cut,        1, plain, no,  no,  yes, yes)       \
  /* incidences: a node lies in an SPQR node, in a block */                \
  OFFSETS(node_spqr,                                yes, yes, yes)         \
  COLUMN(node_spqr_node,   node_spqr,  1, node,  no,  yes, yes, yes)       \
  COLUMN(node_spqr_spqr,   node_spqr,  1, spqr,  no,  yes, yes, yes)       \
  OFFSETS(node_block,                               yes, yes, yes)         \
  COLUMN(node_block_node,  node_block, 1, node,  no,  yes, yes, yes)       \
  COLUMN(node_block_block, node_block, 1, block, no,  yes, yes, yes)       \
  /* per node, per graph */                                                \
  COLUMN(node_component,   node,       1, plain, no,  yes, no,  no)        \
  COLUMN(labelling,        node,       1, plain, no,  yes, no,  no)        \
  BYTES(code,                                       yes, no,  no)
// clang-format on

/// PLANEGRAPH_IF_##flag(what) is `what` if the flag is yes, and nothing otherwise; PLANEGRAPH_BOOL_##flag is true or false.
#define PLANEGRAPH_IF_yes(...) __VA_ARGS__
#define PLANEGRAPH_IF_no(...)
#define PLANEGRAPH_BOOL_yes true
#define PLANEGRAPH_BOOL_no false
#define PLANEGRAPH_NO_OFFSETS(...)
#define PLANEGRAPH_NO_COLUMN(...)
#define PLANEGRAPH_NO_BYTES(...)

namespace planegraph {

#define PLANEGRAPH_OFFSETS(table, ...) table,
/// The tables of integers, in the order of the schema; `plain` is none of them: the entries of a column are plain numbers.
enum class Table : u8 { PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_NO_COLUMN, PLANEGRAPH_NO_BYTES) plain };
#undef PLANEGRAPH_OFFSETS
inline constexpr std::size_t kTables = static_cast<std::size_t>(Table::plain);

/// A value per table.
template <class T>
struct PerTable : std::array<T, kTables> {
  constexpr T& operator[](Table t) { return this->std::array<T, kTables>::operator[](static_cast<std::size_t>(t)); }
  constexpr const T& operator[](Table t) const { return this->std::array<T, kTables>::operator[](static_cast<std::size_t>(t)); }
};

/// A line of the schema as data, for those who read it at run time.
struct ArrayInfo {
  enum Kind : u8 { kOffsets, kIntegers, kBytes };
  const char* name;
  const char* table;
  Kind kind;
  i32 width;
  const char* of;  // null: no ids
  bool none, core, file, batch;
};

// clang-format off
inline constexpr ArrayInfo kSchema[] = {
#define PLANEGRAPH_PLACES(core, file, batch) PLANEGRAPH_BOOL_##core, PLANEGRAPH_BOOL_##file, PLANEGRAPH_BOOL_##batch
#define PLANEGRAPH_OFFSETS(table, core, file, batch) \
  {#table "_ptr", #table, ArrayInfo::kOffsets, 1, nullptr, false, PLANEGRAPH_PLACES(core, file, batch)},
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, file, batch)                                        \
  {#name, #table, ArrayInfo::kIntegers, width, Table::of == Table::plain ? nullptr : #of, PLANEGRAPH_BOOL_##none, \
   PLANEGRAPH_PLACES(core, file, batch)},
#define PLANEGRAPH_BYTES(table, core, file, batch) \
  PLANEGRAPH_OFFSETS(table, core, file, batch)     \
  {#table, #table, ArrayInfo::kBytes, 1, nullptr, false, PLANEGRAPH_PLACES(core, file, batch)},
    PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_BYTES)
#undef PLANEGRAPH_BYTES
#undef PLANEGRAPH_COLUMN
#undef PLANEGRAPH_OFFSETS
#undef PLANEGRAPH_PLACES
};
// clang-format on

}  // namespace planegraph
