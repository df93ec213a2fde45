// Collation: the tables of chosen graphs become one batch, a single buffer of 32-bit integers that a model can read.
//
// Input: the tables of a packed dataset (docs/arrays.md), ids local to their graph, plus the depth of each tree node (depths.hpp).
// Output: the sections of sections.hpp, ids global in the batch, -1 for "nothing".
//
//   nodes, edges   in graph order
//   darts          v -> u sorted by target u; among the darts of one target by edge, then by direction
//   blocks, cuts   in slices by depth in the block-cut tree, deepest first
//   SPQR nodes     in slices by depth in the SPQR tree, deepest first; the last slice holds the roots, in the order of the blocks
//   walk entries   sorted by the row of their SPQR node, each walk in its own order
//
// Within a slice rows are sorted by the row of their parent, so that the children of a row are contiguous; rows without a parent come
// first, and ties keep the order of the graphs and of their tables. A row without children has begin = end = 0.
//
// A capacity gives every table and slice a fixed size; what is left over is padding: ids and types -1, positions 0, offsets constant,
// begin = end = 0. A capacity holds a batch only if the last row of each table stays free (the graphs excepted).
//
// Two steps. gather() copies and shifts the rows of the chosen graphs, which lie far apart: each is touched once, and asked for ahead of
// time. fill() then sorts and transposes what lies together. Nothing is assumed about the tables: every offset, id and depth is checked
// before it is used, and DamagedTables says which is wrong. Time and memory are linear in the size of the batch; nothing is allocated
// per graph.
#pragma once

#include <array>
#include <span>

#include "planegraph/collate/sections.hpp"
#include "planegraph/graph/array.hpp"
#include "planegraph/tables/view.hpp"

namespace planegraph {

/// How large a batch is, or what a capacity offers. Slices are listed by depth, the roots first.
struct Shape {
  i64 graphs = 0, nodes = 0, edges = 0, walks = 0, node_spqr = 0, node_block = 0;
  i64 max_position = 0;     // the largest kappa, pos or theta
  std::vector<i64> spqr;    // SPQR nodes of depth 1, 2, ...; there are as many roots as blocks
  std::vector<i64> blocks;  // blocks of depth 0, 2, 4, ...; at least one entry, and one more than `cuts`
  std::vector<i64> cuts;    // cut nodes of depth 1, 3, ...

  i64 num_blocks() const;
  i64 num_cuts() const;
  i64 num_spqr() const;
};

/// Whether a batch of the shape `need` fits into `capacity`, with the last row of each table left free.
bool holds(const Shape& capacity, const Shape& need);

/// The lengths for a shape; `rows_per_edge` is the number of rows of edge features per edge: 0, 1, or 2 (one per direction).
std::array<i64, kUnits> lengths(const Shape& shape, i32 rows_per_edge);

/// The length of the whole buffer.
i64 buffer_length(const Shape& shape, i32 rows_per_edge);

/// The rows of one chosen graph in one table: where they stand there, how many they are, and the first id in the batch.
struct Rows {
  i64 from = 0;
  i32 count = 0;
  i32 at = 0;
};

struct Piece {
  i64 graph = 0;
  PerTable<Rows> rows;
};

/// The first step: the rows of the batch, one graph after another. Ids are shifted and known to be in range, positions are not negative.
struct Gathered {
  std::vector<Piece> pieces;
  Shape need;
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, file, batch) PLANEGRAPH_IF_##batch(std::span<i32> name;)
  PLANEGRAPH_SCHEMA(PLANEGRAPH_NO_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_NO_BYTES)
#undef PLANEGRAPH_COLUMN
  std::vector<i64> pool_ptr;  // if not empty: the graphs that own the nodes
  Array<i32> memory;          // of all columns
};

/// Throws DamagedTables about one entry: "graph 3: spqr_type[5] <problem>". `item` counts the rows of the batch.
[[noreturn]] void damaged(const Gathered& batch, Table table, const char* column, i64 item, const std::string& problem);

/// Offsets of equal length, and columns of equal length in each table; to be called once before the others.
void check_tables(const TablesView& tables);

/// Checks ids of graphs (std::out_of_range), offsets, ids, depths and positions. With `pool_ptr` the batch counts as pool_ptr.size() - 1
/// graphs that own the nodes between these offsets (when the tables already hold a joined batch as one graph).
Gathered gather(const TablesView& tables, std::span<const i64> ids, std::span<const i64> pool_ptr = {});

/// The second step: fills `out`, of buffer_length(shape, rows_per_edge). `shape` is batch.need or a capacity that holds it.
void fill(const Gathered& batch, const Shape& shape, i32 rows_per_edge, std::span<i32> out);

/// Copies the rows of the chosen graphs, one after another, from a matrix of bytes to another of the same width; what is left over in
/// `to` becomes zero. Graph g owns rows ptr[g] to ptr[g + 1], or row g if `ptr` is empty.
void gather_rows(std::span<const u8> from, i64 width, std::span<const i64> ptr, std::span<const i64> ids, std::span<u8> to);

}  // namespace planegraph
