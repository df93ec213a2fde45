// The first step of the collation (collate.hpp): copy and shift the rows of the chosen graphs, check them, measure the batch.
//
// The rows of one graph are a few cache lines in each of some twenty columns, each on a page of its own. Waiting for them one after another
// would cost as much as everything else, so they are asked for some graphs ahead, and read once.
#include <algorithm>
#include <cstring>

#include "planegraph/collate/collate.hpp"

namespace planegraph {
namespace {

constexpr i64 kMost = INT32_MAX;
constexpr std::size_t kAhead = 4;  // graphs

/// A column of 32-bit integers: of which table, and what its entries are: plain values (`of` is null), or ids, -1 among them or not.
struct Column {
  TablesView::Column TablesView::*from;
  std::span<i32> Gathered::*to;
  Rows Piece::*table;
  const char* name;
  Rows Piece::*of = nullptr;
  bool none = false;
  i32 width = 1;
};

#define PLANEGRAPH_COLUMN(name, table) &TablesView::name, &Gathered::name, &Piece::table, #name
constexpr Column kColumns[] = {
    {PLANEGRAPH_COLUMN(edges, edge), &Piece::node, false, 2},
    {PLANEGRAPH_COLUMN(walk_node, walk), &Piece::node},
    {PLANEGRAPH_COLUMN(walk_edge, walk), &Piece::edge, true},
    {PLANEGRAPH_COLUMN(walk_kappa, walk)},
    {PLANEGRAPH_COLUMN(walk_pos, walk)},
    {PLANEGRAPH_COLUMN(walk_spqr, walk), &Piece::spqr},
    {PLANEGRAPH_COLUMN(spqr_type, spqr)},
    {PLANEGRAPH_COLUMN(spqr_parent, spqr), &Piece::spqr, true},
    {PLANEGRAPH_COLUMN(spqr_theta, spqr)},
    {PLANEGRAPH_COLUMN(spqr_block, spqr), &Piece::block},
    {PLANEGRAPH_COLUMN(spqr_depth, spqr)},
    {PLANEGRAPH_COLUMN(block_root, block), &Piece::spqr},
    {PLANEGRAPH_COLUMN(block_parent_cut, block), &Piece::cut, true},
    {PLANEGRAPH_COLUMN(block_depth, block)},
    {PLANEGRAPH_COLUMN(cut_node, cut), &Piece::node},
    {PLANEGRAPH_COLUMN(cut_parent_block, cut), &Piece::block, true},
    {PLANEGRAPH_COLUMN(cut_depth, cut)},
    {PLANEGRAPH_COLUMN(node_spqr_node, node_spqr), &Piece::node},
    {PLANEGRAPH_COLUMN(node_spqr_spqr, node_spqr), &Piece::spqr},
    {PLANEGRAPH_COLUMN(node_block_node, node_block), &Piece::node},
    {PLANEGRAPH_COLUMN(node_block_block, node_block), &Piece::block},
};
#undef PLANEGRAPH_COLUMN

void same_length(const char* table, std::initializer_list<std::size_t> sizes) {
  for (const std::size_t size : sizes)
    if (size != *sizes.begin())
      throw DamagedTables(std::string("the columns of table ") + table + " differ in length. The tables are damaged");
}

/// The rows of one graph, to stand after those that the batch has already.
Rows take(std::span<const i64> ptr, i64 graph, i64 table_rows, i64& used, const char* name) {
  const i64 from = ptr[graph], to = ptr[graph + 1];
  if (from < 0 || to < from || to > table_rows)
    throw DamagedTables("graph " + std::to_string(graph) + ": " + name + " gives it the rows " + std::to_string(from) + " to " +
                        std::to_string(to) + " of " + std::to_string(table_rows) + ". The tables are damaged");
  if (to - from > kMost - used) throw std::length_error(std::string("the batch is too large: ") + name + " would exceed 2^31 - 1 rows");
  const Rows rows{from, static_cast<i32>(to - from), static_cast<i32>(used)};
  used += to - from;
  return rows;
}

/// How many rows the batch has of each table.
struct Totals {
  i64 node = 0, edge = 0, walk = 0, spqr = 0, block = 0, cut = 0, node_spqr = 0, node_block = 0;
};

Piece take_graph(const TablesView& t, i64 graph, Totals& used) {
  const auto size = [](auto column) { return static_cast<i64>(column.size()); };
  Piece p;
  p.graph = graph;
  p.node = take(t.node_ptr, graph, INT64_MAX, used.node, "node_ptr");
  p.edge = take(t.edge_ptr, graph, size(t.edges) / 2, used.edge, "edge_ptr");
  p.walk = take(t.walk_ptr, graph, size(t.walk_node), used.walk, "walk_ptr");
  p.spqr = take(t.spqr_ptr, graph, size(t.spqr_type), used.spqr, "spqr_ptr");
  p.block = take(t.block_ptr, graph, size(t.block_root), used.block, "block_ptr");
  p.cut = take(t.cut_ptr, graph, size(t.cut_node), used.cut, "cut_ptr");
  p.node_spqr = take(t.node_spqr_ptr, graph, size(t.node_spqr_node), used.node_spqr, "node_spqr_ptr");
  p.node_block = take(t.node_block_ptr, graph, size(t.node_block_node), used.node_block, "node_block_ptr");
  if (2 * used.edge > kMost) throw std::length_error("the batch is too large: it would have more than 2^31 - 1 darts");
  return p;
}

Totals take_graphs(const TablesView& t, std::span<const i64> ids, std::vector<Piece>& pieces) {
  Totals used;
  pieces.reserve(ids.size());
  for (const i64 id : ids) {
    if (id < 0 || id >= t.num_graphs())
      throw std::out_of_range("graph " + std::to_string(id) + " of a dataset of " + std::to_string(t.num_graphs()));
    pieces.push_back(take_graph(t, id, used));
  }
  return used;
}

// ---- copying and shifting ----------------------------------------------------------------------------------------------------

void allocate(Gathered& batch, const Totals& n) {
  const auto rows = [&](Rows Piece::*table) {
    return table == &Piece::edge     ? n.edge
           : table == &Piece::walk   ? n.walk
           : table == &Piece::spqr   ? n.spqr
           : table == &Piece::block  ? n.block
           : table == &Piece::cut    ? n.cut
           : table == &Piece::node_spqr ? n.node_spqr
                                     : n.node_block;
  };
  i64 length = 0;
  for (const Column& c : kColumns) length += c.width * rows(c.table);
  batch.memory.resize(static_cast<std::size_t>(length));
  i32* at = batch.memory.data();
  for (const Column& c : kColumns) {
    batch.*c.to = {at, static_cast<std::size_t>(c.width * rows(c.table))};
    at += c.width * rows(c.table);
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
  const u32 none = c.none ? 1 : 0, limit = static_cast<u32>((p.*c.of).count) + none;
  i64 k = 0;
  while (static_cast<u32>(from[k]) + none < limit) ++k;
  damaged(batch, c.table, c.name, (p.*c.table).at + k / c.width,
          "is " + std::to_string(from[k]) + "; expected " + (c.none ? "-1 or " : "") + "an id below " + std::to_string((p.*c.of).count) +
              ", which is how many the graph has");
}

void copy_column(const TablesView& t, Gathered& batch, const Column& c) {
  const i32* column = (t.*c.from).data();
  i32* to = (batch.*c.to).data();
  const std::size_t graphs = batch.pieces.size();
  for (std::size_t g = 0; g < graphs; ++g) {
    if (g + kAhead < graphs) {
      const Rows& later = batch.pieces[g + kAhead].*c.table;
      prefetch(column + c.width * later.from, c.width * i64{later.count});
    }
    const Piece& p = batch.pieces[g];
    const i32* from = column + c.width * (p.*c.table).from;
    const i64 count = c.width * i64{(p.*c.table).count};
    if (c.of == nullptr)
      std::copy_n(from, count, to);
    else if (!copy_ids(from, count, to, p.*c.of, c.none))
      wrong_id(batch, p, c, from);
    to += count;
  }
}

// ---- measuring ---------------------------------------------------------------------------------------------------------------

/// The histogram of depths first, first + step, ... (step 1 or 2); a tree of the batch is at most as deep as it has nodes.
std::vector<i64> count_depths(const Gathered& batch, std::span<const i32> depth, Rows Piece::*table, const char* column, i32 first,
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
  const auto check = [&](std::span<const i32> column, Rows Piece::*table, const char* name, i32 limit) {
    i32 low = 0, high = 0;
    for (const i32 value : column) low = std::min(low, value), high = std::max(high, value);
    if (low < 0 || high > limit) {
      const i64 item = std::find(column.begin(), column.end(), low < 0 ? low : high) - column.begin();
      damaged(batch, table, name, item, "is " + std::to_string(column[item]) + "; expected 0 to " + std::to_string(limit));
    }
    return high;
  };
  const i32 last = static_cast<i32>(batch.need.walks);
  check(batch.spqr_type, &Piece::spqr, "spqr_type", 3);
  batch.need.max_position = std::max({check(batch.walk_kappa, &Piece::walk, "walk_kappa", last),
                                      check(batch.walk_pos, &Piece::walk, "walk_pos", last),
                                      check(batch.spqr_theta, &Piece::spqr, "spqr_theta", last)});
}

void measure_trees(Gathered& batch, const Totals& n) {
  Shape& need = batch.need;
  std::vector<i64> depths = count_depths(batch, batch.spqr_depth, &Piece::spqr, "spqr_depth", 0, 1, n.spqr);
  need.blocks = count_depths(batch, batch.block_depth, &Piece::block, "block_depth", 0, 2, n.block + n.cut);
  need.cuts = count_depths(batch, batch.cut_depth, &Piece::cut, "cut_depth", 1, 2, n.block + n.cut);
  const i64 roots = depths.empty() ? 0 : depths[0];
  if (roots != n.block)
    throw DamagedTables("the chosen graphs have " + std::to_string(n.block) + " blocks, but " + std::to_string(roots) +
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

void damaged(const Gathered& batch, Rows Piece::*table, const char* column, i64 item, const std::string& problem) {
  const auto after = [&](const Piece& p) { return (p.*table).at + i64{(p.*table).count} > item; };
  const Piece& p = *std::find_if(batch.pieces.begin(), batch.pieces.end(), after);
  throw DamagedTables("graph " + std::to_string(p.graph) + ": " + column + "[" + std::to_string(item - (p.*table).at) + "] " + problem +
                      ". The tables are damaged");
}

void check_tables(const TablesView& t) {
  const std::size_t graphs = t.node_ptr.size();
  for (const auto& ptr : {t.node_ptr, t.edge_ptr, t.walk_ptr, t.spqr_ptr, t.block_ptr, t.cut_ptr, t.node_spqr_ptr, t.node_block_ptr})
    if (ptr.empty() || ptr.size() != graphs)
      throw DamagedTables("all offsets must have one entry per graph and one more. The tables are damaged");
  if (t.edges.size() % 2 != 0) throw DamagedTables("edges must be pairs of nodes. The tables are damaged");
  same_length("walk", {t.walk_node.size(), t.walk_edge.size(), t.walk_kappa.size(), t.walk_pos.size(), t.walk_spqr.size()});
  same_length("spqr", {t.spqr_type.size(), t.spqr_parent.size(), t.spqr_theta.size(), t.spqr_block.size(), t.spqr_depth.size()});
  same_length("block", {t.block_root.size(), t.block_parent_cut.size(), t.block_depth.size()});
  same_length("cut", {t.cut_node.size(), t.cut_parent_block.size(), t.cut_depth.size()});
  same_length("node_spqr", {t.node_spqr_node.size(), t.node_spqr_spqr.size()});
  same_length("node_block", {t.node_block_node.size(), t.node_block_block.size()});
}

Gathered gather(const TablesView& t, std::span<const i64> ids, std::span<const i64> pool_ptr) {
  Gathered batch;
  const Totals n = take_graphs(t, ids, batch.pieces);
  allocate(batch, n);
  for (const Column& column : kColumns) copy_column(t, batch, column);
  batch.need.nodes = n.node;
  batch.need.edges = n.edge;
  batch.need.walks = n.walk;
  batch.need.node_spqr = n.node_spqr;
  batch.need.node_block = n.node_block;
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
    if (id < 0 || id >= graphs) throw std::out_of_range("graph " + std::to_string(id) + " of a dataset of " + std::to_string(graphs));
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
