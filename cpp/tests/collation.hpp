// What the tests of the collation share: tables that own their arrays, buffers by section, and what each section promises.
#pragma once

#include <map>

#include "planegraph/collate/collate.hpp"
#include "planegraph/tables/depths.hpp"
#include "tests/families.hpp"

// where an array of the schema lies: in the core's result or beside it
#define PLANEGRAPH_OF_yes(name) packed.name
#define PLANEGRAPH_OF_no(name) name

namespace planegraph::test {

/// The tables of a batch, owned and with depths.
struct Tables {
  std::vector<i64> node_ptr, edge_ptr;
  std::vector<i32> edges;
  Packed packed;
  Array<i32> spqr_depth, block_depth, cut_depth;

  explicit Tables(const std::vector<Input>& graphs) {
    const Batch batch(graphs);
    Engine engine;
    packed = engine.run(batch.view(), {true, true, false, 1}, always);
    node_ptr = batch.node_ptr;
    edge_ptr = batch.edge_ptr;
    edges.assign(batch.all.edges.begin(), batch.all.edges.end());
    spqr_depth = spqr_depths(packed.spqr_ptr, packed.spqr_parent);
    BlockCutDepths tree = block_cut_depths(packed.block_ptr, packed.block_parent_cut, packed.cut_ptr, packed.cut_parent_block);
    block_depth = std::move(tree.block);
    cut_depth = std::move(tree.cut);
  }

  TablesView view() const {
    TablesView t;
#define PLANEGRAPH_OFFSETS(table, core, file, batch) PLANEGRAPH_IF_##batch(t.table##_ptr = PLANEGRAPH_OF_##core(table##_ptr);)
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, file, batch) \
  PLANEGRAPH_IF_##batch(t.name = PLANEGRAPH_OF_##core(name);)
    PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_NO_BYTES)
#undef PLANEGRAPH_COLUMN
#undef PLANEGRAPH_OFFSETS
    return t;
  }

  /// All columns, for damaging them.
  std::vector<std::span<i32>> columns() {
    std::vector<std::span<i32>> all;
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, file, batch) \
  PLANEGRAPH_IF_##batch(all.push_back(PLANEGRAPH_OF_##core(name));)
    PLANEGRAPH_SCHEMA(PLANEGRAPH_NO_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_NO_BYTES)
#undef PLANEGRAPH_COLUMN
    return all;
  }
  /// The offsets of all tables but the nodes, whose rows no column bounds.
  std::vector<std::span<i64>> offsets() {
    std::vector<std::span<i64>> all;
#define PLANEGRAPH_OFFSETS(table, core, file, batch) \
  PLANEGRAPH_IF_##batch(if (Table::table != Table::node) all.push_back(PLANEGRAPH_OF_##core(table##_ptr));)
    PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_NO_COLUMN, PLANEGRAPH_NO_BYTES)
#undef PLANEGRAPH_OFFSETS
    return all;
  }
};

/// A filled buffer by the names of its sections.
struct Filled {
  std::vector<i32> buffer;
  std::map<std::string, std::span<const i32>> section;

  Filled(const Gathered& batch, const Shape& shape, i32 rows) : buffer(static_cast<std::size_t>(buffer_length(shape, rows)), -77) {
    fill(batch, shape, rows, buffer);
    const auto units = lengths(shape, rows);
    std::size_t at = kUnits;
    for (const Section& s : kSections) {
      const std::size_t length = static_cast<std::size_t>(s.length(units, rows));
      section[s.name] = {buffer.data() + at, length};
      at += length;
    }
  }
  std::span<const i32> operator[](const char* name) const { return section.at(name); }
};

inline std::vector<Input> mixture(Random& random, int count) {
  std::vector<Input> graphs;
  for (int k = 0; k < count; ++k) {
    switch (random.below(7)) {
      case 0: graphs.push_back(Input{}); break;
      case 1: graphs.push_back(path(random.between(1, 9))); break;
      case 2: graphs.push_back(random_cactus(random.between(2, 20), random)); break;
      case 3: graphs.push_back(random_planar(random.between(3, 30), 60, random)); break;
      case 4: graphs.push_back(random_two_centred(random)); break;
      case 5: graphs.push_back(complete(static_cast<i32>(random.between(3, 6)))); break;
      default: graphs.push_back(random_composite(random.between(1, 5), random));
    }
  }
  return graphs;
}

inline std::vector<i64> some_ids(Random& random, i64 graphs) {
  std::vector<i64> ids(static_cast<std::size_t>(random.between(1, 12)));
  for (i64& id : ids) id = random.below(graphs);
  return ids;
}

inline Shape with_room(Shape shape, Random& random) {
  for (i64* size :
       {&shape.graphs, &shape.nodes, &shape.edges, &shape.walks, &shape.node_spqr, &shape.node_block, &shape.max_position})
    *size += random.between(1, 6);
  for (i64 more = random.below(3); more > 0; --more) shape.blocks.push_back(0), shape.cuts.push_back(0);
  for (i64 more = random.below(3); more > 0; --more) shape.spqr.push_back(0);
  for (auto* widths : {&shape.spqr, &shape.blocks, &shape.cuts})
    for (i64& width : *widths) width += random.between(1, 4);
  return shape;
}

/// ptr and items are the transpose of key.
inline bool transposed(std::span<const i32> ptr, std::span<const i32> items, std::span<const i32> key) {
  std::vector<i32> seen(key.size(), 0);
  for (std::size_t k = 0; k + 1 < ptr.size(); ++k)
    for (i32 i = ptr[k]; i < ptr[k + 1]; ++i) {
      if (key[items[i]] != static_cast<i32>(k) || (i > ptr[k] && items[i] <= items[i - 1])) return false;
      ++seen[items[i]];
    }
  for (std::size_t i = 0; i < key.size(); ++i)
    if (seen[i] != (key[i] >= 0)) return false;
  return true;
}

/// Children of a row are its rows begin .. end, and nobody else's.
inline bool children_match(std::span<const i32> begin, std::span<const i32> end, std::span<const i32> parent) {
  i64 children = 0;
  for (std::size_t row = 0; row < begin.size(); ++row)
    for (i32 child = begin[row]; child < end[row]; ++child, ++children)
      if (parent[child] != static_cast<i32>(row)) return false;
  return children == std::count_if(parent.begin(), parent.end(), [](i32 p) { return p >= 0; });
}

/// What each section of a filled buffer promises.
inline void check_filled(Tally& tally, const Filled& s, const Shape& shape, i32 rows) {
  tally.check(std::find(s.buffer.begin(), s.buffer.end(), -77) == s.buffer.end(), "an entry was not written");
  tally.check(transposed(s["node_walk_ptr"], s["node_walk"], s["walk_node"]), "node_walk");
  std::vector<i32> darts(s["dart_target"].size());
  std::iota(darts.begin(), darts.end(), 0);
  tally.check(transposed(s["dart_ptr"], darts, s["dart_target"]), "darts sorted by target");
  if (rows > 0) {
    tally.check(transposed(s["row_dart_ptr"], s["row_dart"], s["dart_row"]), "row_dart");
    tally.check(transposed(s["row_walk_ptr"], s["row_walk"], s["walk_row"]), "row_walk");
  }
  tally.check(children_match(s["spqr_begin"], s["spqr_end"], s["spqr_parent"]), "children of SPQR nodes");
  tally.check(children_match(s["block_begin"], s["block_end"], s["cut_parent"]), "children of blocks");
  tally.check(children_match(s["cut_begin"], s["cut_end"], s["block_parent"]), "children of cut nodes");
  const std::size_t root = static_cast<std::size_t>(shape.num_spqr() - shape.num_blocks());
  for (i64 b = 0; b < shape.num_blocks(); ++b) {  // a block is real if and only if its root is, and they have nodes in common
    const bool real = s["block_node_ptr"][b + 1] > s["block_node_ptr"][b];
    tally.check(real == (s["spqr_type"][root + b] >= 0) && s["spqr_parent"][root + b] == -1, "roots in the order of blocks");
    if (!real) continue;
    const auto nodes = s["block_node"].subspan(s["block_node_ptr"][b], s["block_node_ptr"][b + 1] - s["block_node_ptr"][b]);
    const i32 node = s["spqr_node"][s["spqr_node_ptr"][root + b]];
    tally.check(std::find(nodes.begin(), nodes.end(), node) != nodes.end(), "the root of another block");
  }
  for (std::size_t d = 0; d < s["dart_source"].size() && s["dart_source"][d] >= 0; ++d) {
    const i32 back = s["dart_reverse"][d];
    tally.check(s["dart_reverse"][back] == static_cast<i32>(d) && s["dart_source"][back] == s["dart_target"][d], "dart_reverse");
    tally.check(s["node_graph"][s["dart_source"][d]] == s["node_graph"][s["dart_target"][d]], "a dart between graphs");
  }
}

/// One to three entries of the columns or offsets become anything.
inline void damage(Tables& tables, Random& random) {
  static const std::vector<i64> values{-2147483648LL, -2, -1, 0, 1, 2, 3, 10, 100, 2147483647LL};
  for (i64 changes = random.between(1, 3); changes > 0; --changes) {
    if (random.percent(80)) {
      const auto column = random.pick(tables.columns());
      if (!column.empty()) column[random.below(static_cast<i64>(column.size()))] = static_cast<i32>(random.pick(values));
    } else {
      const auto ptr = random.pick(tables.offsets());
      ptr[random.below(static_cast<i64>(ptr.size()))] = random.pick(values);
    }
  }
}

}  // namespace planegraph::test
