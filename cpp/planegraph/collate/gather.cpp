// The first step of the collation (collate.hpp): copy and shift the rows of the chosen graphs, check them, measure the batch.
//
// The rows of one graph are a few cache lines in each of some twenty columns, each on another page. Waiting for them one after another
// would cost as much as everything else, so they are asked for some graphs ahead, and read once.
#include <algorithm>
#include <cstring>

#include "planegraph/collate/collate.hpp"

namespace planegraph {
namespace {

constexpr i64 kMost = INT32_MAX;
constexpr std::size_t kAhead = 4;  // graphs

/// The offsets and the columns that a batch is made of.
struct Offsets {
  TablesView::Offsets TablesView::* from;
  Table table;
  const char* name;
};
struct Column {
  TablesView::Column TablesView::* from;
  std::span<i32> Gathered::* to;
  const char* name;
  Table table;
  const char* table_name;
  i32 width;
  Table of;
  bool none;
};
#define PLANEGRAPH_OFFSETS(table, core, file, batch) \
  PLANEGRAPH_IF_##batch({&TablesView::table##_ptr, Table::table, #table "_ptr"}, )
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, file, batch) \
  PLANEGRAPH_IF_##batch(                                                   \
      {&TablesView::name, &Gathered::name, #name, Table::table, #table, width, Table::of, PLANEGRAPH_BOOL_##none}, )
constexpr Offsets kOffsets[] = {PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_NO_COLUMN, PLANEGRAPH_NO_BYTES)};
constexpr Column kColumns[] = {PLANEGRAPH_SCHEMA(PLANEGRAPH_NO_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_NO_BYTES)};
#undef PLANEGRAPH_COLUMN
#undef PLANEGRAPH_OFFSETS

/// The rows of each table, of its shortest column; that of the nodes has none that would tell.
PerTable<i64> table_rows(const TablesView& t) {
  PerTable<i64> rows;
  rows.fill(INT64_MAX);
  for (const Column& c : kColumns) rows[c.table] = std::min(rows[c.table], static_cast<i64>((t.*c.from).size()) / c.width);
  return rows;
}

/// The rows of one graph, to stand after those that the batch has already.
Rows take(std::span<const i64> ptr, i64 graph, i64 table_rows, i64& used, const char* name) {
  const i64 from = ptr[graph], to = ptr[graph + 1];
  if (from < 0 || to < from || to > table_rows)
    throw DamagedTables("graph " + std::to_string(graph) + ": " + name + " gives it the rows " + std::to_string(from) + " to " +
                        std::to_string(to) + " of " + std::to_string(table_rows) + ". The tables are damaged");
  if (to - from > kMost - used)
    throw std::length_error(std::string("the batch is too large: ") + name + " would exceed 2^31 - 1 rows");
  const Rows rows{from, static_cast<i32>(to - from), static_cast<i32>(used)};
  used += to - from;
  return rows;
}

/// The rows of the chosen graphs, one piece for each; returns how many the batch has of each table.
PerTable<i64> take_graphs(const TablesView& t, std::span<const i64> ids, std::vector<Piece>& pieces) {
  const PerTable<i64> table = table_rows(t);
  PerTable<i64> used{};
  pieces.reserve(ids.size());
  for (const i64 id : ids) {
    if (id < 0 || id >= t.num_graphs())
      throw std::out_of_range("graph " + std::to_string(id) + " of a dataset of " + std::to_string(t.num_graphs()));
    Piece& p = pieces.emplace_back();
    p.graph = id;
    for (const Offsets& o : kOffsets) p.rows[o.table] = take(t.*o.from, id, table[o.table], used[o.table], o.name);
    if (2 * used[Table::edge] > kMost) throw std::length_error("the batch is too large: it would have more than 2^31 - 1 darts");
  }
  return used;
}

// ---- copying and shifting ----------------------------------------------------------------------------------------------------

void allocate(Gathered& batch, const PerTable<i64>& rows) {
  i64 length = 0;
  for (const Column& c : kColumns) length += c.width * rows[c.table];
  batch.memory.resize(static_cast<std::size_t>(length));
  i32* at = batch.memory.data();
  for (const Column& c : kColumns) {
    batch.*c.to = {at, static_cast<std::size_t>(c.width * rows[c.table])};
    at += c.width * rows[c.table];
  }
}

inline void prefetch(const i32* first, i64 count) {
#if defined(__GNUC__)
  constexpr i64 kLine = 64 / sizeof(i32);
  for (i64 k = 0; k < count; k += kLine) __builtin_prefetch(first + k);
  if (count > 0) __builtin_prefetch(first + count - 1);
#else
  (void)first, (void)count;
#endif
}

/// Copies the entries of one graph; adds to each id the first of its graph. False if one is out of range. -1 stays, where it may occur.
inline bool copy_ids(const i32* from, i64 count, i32* to, const Rows& of, bool none) {
  const u32 limit = static_cast<u32>(of.count) + none, shift = static_cast<u32>(of.at);
  u32 bad = 0;
  if (none) {
    for (i64 k = 0; k < count; ++k) {
      const u32 id = static_cast<u32>(from[k]);
      bad |= id + 1 >= limit;
      to[k] = static_cast<i32>(from[k] < 0 ? id : id + shift);
    }
  } else {
    for (i64 k = 0; k < count; ++k) {
      const u32 id = static_cast<u32>(from[k]);
      bad |= id >= limit;
      to[k] = static_cast<i32>(id + shift);
    }
  }
  return bad == 0;
}

[[noreturn]] void wrong_id(const Gathered& batch, const Piece& p, const Column& c, const i32* from) {
  const u32 none = c.none ? 1 : 0, limit = static_cast<u32>(p.rows[c.of].count) + none;
  i64 k = 0;
  while (static_cast<u32>(from[k]) + none < limit) ++k;
  damaged(batch, c.table, c.name, p.rows[c.table].at + k / c.width,
          "is " + std::to_string(from[k]) + "; expected " + (c.none ? "-1 or " : "") + "an id below " +
              std::to_string(p.rows[c.of].count) + ", which is how many the graph has");
}

void copy_column(const TablesView& t, Gathered& batch, const Column& c) {
  const i32* column = (t.*c.from).data();
  i32* to = (batch.*c.to).data();
  const std::size_t graphs = batch.pieces.size();
  for (std::size_t g = 0; g < graphs; ++g) {
    if (g + kAhead < graphs) {
      const Rows& later = batch.pieces[g + kAhead].rows[c.table];
      prefetch(column + c.width * later.from, c.width * i64{later.count});
    }
    const Piece& p = batch.pieces[g];
    const i32* from = column + c.width * p.rows[c.table].from;
    const i64 count = c.width * i64{p.rows[c.table].count};
    if (c.of == Table::plain)
      std::copy_n(from, count, to);
    else if (!copy_ids(from, count, to, p.rows[c.of], c.none))
      wrong_id(batch, p, c, from);
    to += count;
  }
}

// ---- measuring ---------------------------------------------------------------------------------------------------------------

/// The histogram of depths first, first + step, ... (step 1 or 2); a tree of the batch is at most as deep as it has nodes.
std::vector<i64> count_depths(const Gathered& batch, std::span<const i32> depth, Table table, const char* column, i32 first,
                              i32 step, i64 tree_nodes) {
  std::vector<i64> widths;
  for (std::size_t k = 0; k < depth.size(); ++k) {
    if (depth[k] < first || depth[k] > tree_nodes || ((depth[k] - first) & (step - 1)) != 0)
      damaged(batch, table, column, static_cast<i64>(k),
              "is " + std::to_string(depth[k]) + "; expected a depth from " + std::to_string(first) + " in steps of " +
                  std::to_string(step));
    const std::size_t level = static_cast<std::size_t>((depth[k] - first) >> (step - 1));
    if (level >= widths.size()) widths.resize(level + 1, 0);
    ++widths[level];
  }
  return widths;
}

/// Positions, and types of SPQR nodes, in their ranges. Models have tables with a row for each position: no walk is longer than all together.
void check_values(Gathered& batch) {
  const auto check = [&](std::span<const i32> column, Table table, const char* name, i32 limit) {
    i32 low = 0, high = 0;
    for (const i32 value : column) low = std::min(low, value), high = std::max(high, value);
    if (low < 0 || high > limit) {
      const i64 item = std::find(column.begin(), column.end(), low < 0 ? low : high) - column.begin();
      damaged(batch, table, name, item, "is " + std::to_string(column[item]) + "; expected 0 to " + std::to_string(limit));
    }
    return high;
  };
  const i32 last = static_cast<i32>(batch.need.walks);
  check(batch.spqr_type, Table::spqr, "spqr_type", 3);
  batch.need.max_position =
      std::max({check(batch.walk_kappa, Table::walk, "walk_kappa", last), check(batch.walk_pos, Table::walk, "walk_pos", last),
                check(batch.spqr_theta, Table::spqr, "spqr_theta", last)});
}

void measure_trees(Gathered& batch, const PerTable<i64>& n) {
  Shape& need = batch.need;
  std::vector<i64> depths = count_depths(batch, batch.spqr_depth, Table::spqr, "spqr_depth", 0, 1, n[Table::spqr]);
  need.blocks = count_depths(batch, batch.block_depth, Table::block, "block_depth", 0, 2, n[Table::block] + n[Table::cut]);
  need.cuts = count_depths(batch, batch.cut_depth, Table::cut, "cut_depth", 1, 2, n[Table::block] + n[Table::cut]);
  const i64 roots = depths.empty() ? 0 : depths[0];
  if (roots != n[Table::block])
    throw DamagedTables("the chosen graphs have " + std::to_string(n[Table::block]) + " blocks, but " + std::to_string(roots) +
                        " roots of SPQR trees. The tables are damaged");
  if (depths.size() > 1) need.spqr.assign(depths.begin() + 1, depths.end());
  const std::size_t cut_levels = std::max(need.cuts.size(), need.blocks.empty() ? 0 : need.blocks.size() - 1);
  need.cuts.resize(cut_levels, 0);
  need.blocks.resize(cut_levels + 1, 0);
}

void set_graphs(Gathered& batch, std::span<const i64> pool_ptr) {
  Shape& need = batch.need;
  need.graphs = static_cast<i64>(batch.pieces.size());
  if (!pool_ptr.empty()) {
    if (pool_ptr.front() != 0 || pool_ptr.back() != need.nodes || !std::is_sorted(pool_ptr.begin(), pool_ptr.end()))
      throw std::invalid_argument("pool_ptr must rise from 0 to the number of nodes, " + std::to_string(need.nodes));
    batch.pool_ptr.assign(pool_ptr.begin(), pool_ptr.end());
    need.graphs = static_cast<i64>(pool_ptr.size()) - 1;
  }
  if (need.graphs >= kMost) throw std::length_error("the batch is too large: it would have more than 2^31 - 2 graphs");
}

}  // namespace

void damaged(const Gathered& batch, Table table, const char* column, i64 item, const std::string& problem) {
  const auto after = [&](const Piece& p) { return p.rows[table].at + i64{p.rows[table].count} > item; };
  const Piece& p = *std::find_if(batch.pieces.begin(), batch.pieces.end(), after);
  throw DamagedTables("graph " + std::to_string(p.graph) + ": " + column + "[" + std::to_string(item - p.rows[table].at) + "] " +
                      problem + ". The tables are damaged");
}

void check_tables(const TablesView& t) {
  for (const Offsets& o : kOffsets)
    if ((t.*o.from).empty() || (t.*o.from).size() != t.node_ptr.size())
      throw DamagedTables("all offsets must have one entry per graph and one more. The tables are damaged");
  const PerTable<i64> rows = table_rows(t);
  for (const Column& c : kColumns)
    if (static_cast<i64>((t.*c.from).size()) != c.width * rows[c.table])
      throw DamagedTables(std::string("the columns of table ") + c.table_name + " differ in length. The tables are damaged");
}

Gathered gather(const TablesView& t, std::span<const i64> ids, std::span<const i64> pool_ptr) {
  Gathered batch;
  const PerTable<i64> n = take_graphs(t, ids, batch.pieces);
  allocate(batch, n);
  for (const Column& column : kColumns) copy_column(t, batch, column);
  batch.need.nodes = n[Table::node];
  batch.need.edges = n[Table::edge];
  batch.need.walks = n[Table::walk];
  batch.need.node_spqr = n[Table::node_spqr];
  batch.need.node_block = n[Table::node_block];
  set_graphs(batch, pool_ptr);
  measure_trees(batch, n);
  check_values(batch);
  return batch;
}

void gather_rows(std::span<const u8> from, i64 width, std::span<const i64> ptr, std::span<const i64> ids, std::span<u8> to) {
  const i64 rows = width == 0 ? 0 : static_cast<i64>(from.size()) / width;
  const i64 graphs = ptr.empty() ? rows : static_cast<i64>(ptr.size()) - 1;
  std::size_t at = 0;
  for (const i64 id : ids) {
    if (id < 0 || id >= graphs)
      throw std::out_of_range("graph " + std::to_string(id) + " of a dataset of " + std::to_string(graphs));
    const i64 first = ptr.empty() ? id : ptr[id], last = ptr.empty() ? id + 1 : ptr[id + 1];
    if (first < 0 || last < first || last > rows)
      throw DamagedTables("graph " + std::to_string(id) + ": its features are rows " + std::to_string(first) + " to " +
                          std::to_string(last) + " of " + std::to_string(rows) + ". The tables are damaged");
    const std::size_t bytes = static_cast<std::size_t>((last - first) * width);
    if (bytes > to.size() - at) throw std::invalid_argument("the features of the chosen graphs do not fit into the given array");
    if (bytes > 0) std::memcpy(to.data() + at, from.data() + first * width, bytes);
    at += bytes;
  }
  std::fill(to.begin() + at, to.end(), u8{0});
}

}  // namespace planegraph
