// The collation: what each section promises, with and without padding, and tables with anything in them. Run it under the
// sanitizers too (make asan).
#include "planegraph/tables/returns.hpp"
#include "tests/collation.hpp"

namespace planegraph::test {
namespace {

void test_batches(Tally& tally, Random& random) {
  for (int round = 0; round < 60; ++round) {
    const std::vector<Input> graphs = mixture(random, 12);
    const Tables tables(graphs);
    check_tables(tables.view());
    const Gathered batch = gather(tables.view(), some_ids(random, 12));
    tally.count_graphs(batch.need.graphs);
    for (const i32 rows : {0, 1, 2}) {
      check_filled(tally, Filled(batch, batch.need, rows), batch.need, rows);
      const Shape roomy = with_room(batch.need, random);
      tally.check(holds(roomy, batch.need) && !holds(batch.need, roomy) && !holds(batch.need, batch.need), "holds");
      const Filled padded(batch, roomy, rows);
      check_filled(tally, padded, roomy, rows);
      const auto units = lengths(batch.need, rows);
      tally.check(std::equal(units.begin(), units.end(), padded.buffer.begin()), "counts");
    }
  }
}

/// Calls with tables that hold anything end in an error or a batch.
void test_damage(Tally& tally, Random& random) {
  i64 refused = 0, accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    static const std::vector<Input> graphs = mixture(random, 8);
    static const Tables good(graphs);
    Tables tables = good;
    damage(tables, random);
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

void test_return_probabilities_of_damaged_offsets(Tally& tally) {
  const Tables good({path(3), cycle(4)});
  for (std::size_t k = 0; k < 3; ++k)
    for (const i64 value : {i64{-1}, i64{1} << 40, INT64_MIN, INT64_MAX}) {
      Tables nodes = good, edges = good;
      nodes.node_ptr[k] = edges.edge_ptr[k] = value;
      tally.check(throws<DamagedTables>([&] { return_probabilities(edges.view(), 2); }), "edge_ptr of a random walk");
      if (k == 2 && value == i64{1} << 40) continue;  // a graph of so many nodes could be
      tally.check(throws<DamagedTables>([&] { return_probabilities(nodes.view(), 2); }), "node_ptr of a random walk");
    }
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
  test_return_probabilities_of_damaged_offsets(tally);
  test_gather_rows(tally);
  return tally.finish();
}

}  // namespace
}  // namespace planegraph::test

int main() { return planegraph::test::run_all(); }
