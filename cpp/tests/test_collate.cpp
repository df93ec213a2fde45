// The collation: what each section promises, with and without padding, and tables with anything in them. Run it under the
// sanitizers too (make asan).
#include <map>

#include "families.hpp"
#include "planegraph/depths.hpp"

namespace planegraph::test {
namespace {

/// The tables of a batch, owned and with depths.
struct Tables {
  std::vector<i64> node_ptr, edge_ptr;
  std::vector<i32> edges;
  Packed packed;
  Array<i32> spqr_depth;
  BlockCutDepths tree;

  explicit Tables(const std::vector<Input>& graphs) {
    const Batch batch(graphs);
    Engine engine;
    packed = engine.run(batch.view(), {true, true, false, 1}, always);
    node_ptr = batch.node_ptr;
    edge_ptr = batch.edge_ptr;
    edges.assign(batch.all.edges.begin(), batch.all.edges.end());
    spqr_depth = spqr_depths(packed.spqr_ptr, packed.spqr_parent);
    tree = block_cut_depths(packed.block_ptr, packed.block_parent_cut, packed.cut_ptr, packed.cut_parent_block);
  }

  TablesView view() const {
    const Packed& p = packed;
    TablesView t;
    t.node_ptr = node_ptr, t.edge_ptr = edge_ptr, t.edges = edges;
    t.walk_ptr = p.walk_ptr, t.spqr_ptr = p.spqr_ptr, t.block_ptr = p.block_ptr, t.cut_ptr = p.cut_ptr;
    t.node_spqr_ptr = p.node_spqr_ptr, t.node_block_ptr = p.node_block_ptr;
    t.walk_node = p.walk_node, t.walk_edge = p.walk_edge, t.walk_kappa = p.walk_kappa, t.walk_pos = p.walk_pos, t.walk_spqr = p.walk_spqr;
    t.spqr_type = p.spqr_type, t.spqr_parent = p.spqr_parent, t.spqr_theta = p.spqr_theta, t.spqr_block = p.spqr_block;
    t.spqr_depth = spqr_depth;
    t.block_root = p.block_root, t.block_parent_cut = p.block_parent_cut, t.block_depth = tree.block;
    t.cut_node = p.cut_node, t.cut_parent_block = p.cut_parent_block, t.cut_depth = tree.cut;
    t.node_spqr_node = p.node_spqr_node, t.node_spqr_spqr = p.node_spqr_spqr;
    t.node_block_node = p.node_block_node, t.node_block_block = p.node_block_block;
    return t;
  }

  /// All columns, for damaging them.
  std::vector<std::span<i32>> columns() {
    Packed& p = packed;
    return {edges,         p.walk_node,       p.walk_edge,        p.walk_kappa,     p.walk_pos,       p.walk_spqr,       p.spqr_type,
            p.spqr_parent, p.spqr_theta,      p.spqr_block,       spqr_depth,       p.block_root,     p.block_parent_cut, tree.block,
            p.cut_node,    p.cut_parent_block, tree.cut,          p.node_spqr_node, p.node_spqr_spqr, p.node_block_node, p.node_block_block};
  }
  std::vector<std::span<i64>> offsets() {
    Packed& p = packed;
    return {edge_ptr, p.walk_ptr, p.spqr_ptr, p.block_ptr, p.cut_ptr, p.node_spqr_ptr, p.node_block_ptr};
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
    for (const Section& s : sections()) {
      const std::size_t length = static_cast<std::size_t>(s.length(units, rows));
      section[s.name] = {buffer.data() + at, length};
      at += length;
    }
  }
  std::span<const i32> operator[](const char* name) const { return section.at(name); }
};

std::vector<Input> mixture(Random& random, int count) {
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

std::vector<i64> some_ids(Random& random, i64 graphs) {
  std::vector<i64> ids(static_cast<std::size_t>(random.between(1, 12)));
  for (i64& id : ids) id = random.below(graphs);
  return ids;
}

Shape with_room(Shape shape, Random& random) {
  for (i64* size : {&shape.graphs, &shape.nodes, &shape.edges, &shape.walks, &shape.node_spqr, &shape.node_block, &shape.max_position})
    *size += random.between(1, 6);
  for (i64 more = random.below(3); more > 0; --more) shape.blocks.push_back(0), shape.cuts.push_back(0);
  for (i64 more = random.below(3); more > 0; --more) shape.spqr.push_back(0);
  for (auto* widths : {&shape.spqr, &shape.blocks, &shape.cuts})
    for (i64& width : *widths) width += random.between(1, 4);
  return shape;
}

/// ptr and items are the transpose of key.
bool transposed(std::span<const i32> ptr, std::span<const i32> items, std::span<const i32> key) {
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
bool children_match(std::span<const i32> begin, std::span<const i32> end, std::span<const i32> parent) {
  i64 children = 0;
  for (std::size_t row = 0; row < begin.size(); ++row)
    for (i32 child = begin[row]; child < end[row]; ++child, ++children)
      if (parent[child] != static_cast<i32>(row)) return false;
  return children == std::count_if(parent.begin(), parent.end(), [](i32 p) { return p >= 0; });
}

void check_batch(Tally& tally, const Filled& s, const Shape& shape, i32 rows) {
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

void test_batches(Tally& tally, Random& random) {
  for (int round = 0; round < 60; ++round) {
    const std::vector<Input> graphs = mixture(random, 12);
    const Tables tables(graphs);
    check_tables(tables.view());
    const Gathered batch = gather(tables.view(), some_ids(random, 12));
    tally.count_graphs(batch.need.graphs);
    for (const i32 rows : {0, 1, 2}) {
      check_batch(tally, Filled(batch, batch.need, rows), batch.need, rows);
      const Shape roomy = with_room(batch.need, random);
      tally.check(holds(roomy, batch.need) && !holds(batch.need, roomy) && !holds(batch.need, batch.need), "holds");
      const Filled padded(batch, roomy, rows);
      check_batch(tally, padded, roomy, rows);
      const auto units = lengths(batch.need, rows);
      tally.check(std::equal(units.begin(), units.end(), padded.buffer.begin()), "counts");
    }
  }
}

/// Calls with tables that hold anything end in an error or a batch.
void test_damage(Tally& tally, Random& random) {
  i64 refused = 0, accepted = 0;
  const std::vector<i64> values{-2147483648LL, -2, -1, 0, 1, 2, 3, 10, 100, 2147483647LL};
  for (int round = 0; round < 4000; ++round) {
    static const std::vector<Input> graphs = mixture(random, 8);
    static const Tables good(graphs);
    Tables tables = good;
    for (i64 changes = random.between(1, 3); changes > 0; --changes) {
      if (random.percent(80)) {
        const auto column = random.pick(tables.columns());
        if (!column.empty()) column[random.below(static_cast<i64>(column.size()))] = static_cast<i32>(random.pick(values));
      } else {
        const auto ptr = random.pick(tables.offsets());
        ptr[random.below(static_cast<i64>(ptr.size()))] = random.pick(values);
      }
    }
    try {
      const Gathered batch = gather(tables.view(), some_ids(random, 8));
      Filled(batch, batch.need, static_cast<i32>(random.below(3)));
      Filled(batch, with_room(batch.need, random), static_cast<i32>(random.below(3)));
      ++accepted;
    } catch (const DamagedTables&) {
      ++refused;
    }
  }
  tally.check(refused > 500 && accepted > 500, "damage was not tried in earnest");
}

template <class Error, class Call>
bool throws(Call call) {
  try {
    call();
  } catch (const Error&) {
    return true;
  }
  return false;
}

void test_bad_calls(Tally& tally) {
  const Tables tables({path(3), cycle(4)});
  const TablesView t = tables.view();
  for (const i64 id : {i64{-1}, i64{2}, INT64_MAX})
    tally.check(throws<std::out_of_range>([&] { gather(t, std::vector<i64>{0, id}); }), "bad ids");
  for (const std::vector<i64>& pool : {std::vector<i64>{0, 3}, {1, 7}, {0, 5, 4, 7}})
    tally.check(throws<std::invalid_argument>([&] { gather(t, std::vector<i64>{0, 1}, pool); }), "bad pool_ptr");
  const Gathered batch = gather(t, std::vector<i64>{0, 1}, std::vector<i64>{0, 1, 1, 7});
  tally.check(batch.need.graphs == 3, "pooled graphs");
  std::vector<i32> small(10);
  tally.check(throws<std::invalid_argument>([&] { fill(batch, batch.need, 0, small); }), "a buffer that is too small");
  TablesView cut = t;
  cut.walk_node = cut.walk_node.first(2);
  tally.check(throws<DamagedTables>([&] { check_tables(cut); }), "columns of different length");
  const std::vector<i64> ptr{0, 1};
  for (const i32 parent : {0, -2, 5})
    tally.check(throws<DamagedTables>([&] { spqr_depths(ptr, std::vector<i32>{parent}); }), "parents that are none");
}

void test_gather_rows(Tally& tally) {
  const std::vector<u8> from{1, 2, 3, 4, 5, 6};
  const std::vector<i64> ptr{0, 1, 3}, ids{1, 0, 1};
  std::vector<u8> to(12, 9);
  gather_rows(from, 2, ptr, ids, to);
  tally.check(to == std::vector<u8>{3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 0, 0}, "rows of graphs");
  std::vector<u8> single(6, 9);
  gather_rows(from, 2, {}, std::vector<i64>{2, 0}, single);
  tally.check(single == std::vector<u8>{5, 6, 1, 2, 0, 0}, "one row per graph");
  tally.check(throws<std::out_of_range>([&] { gather_rows(from, 2, ptr, std::vector<i64>{2}, to); }), "bad id");
  tally.check(throws<DamagedTables>([&] { gather_rows(from, 2, std::vector<i64>{0, 9}, std::vector<i64>{0}, to); }), "bad offsets");
  tally.check(throws<std::invalid_argument>([&] { gather_rows(from, 2, ptr, ids, std::span(to).first(4)); }), "too little room");
}

int run_all() {
  Tally tally("collate");
  Random random(7);
  test_batches(tally, random);
  tally.part("sections");
  test_damage(tally, random);
  tally.part("damaged tables");
  test_bad_calls(tally);
  test_gather_rows(tally);
  return tally.finish();
}

}  // namespace
}  // namespace planegraph::test

int main() { return planegraph::test::run_all(); }
