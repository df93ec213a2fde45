// The whole pipeline on single graphs: codes and tables do not depend on the numbering, codes decode to the graph, tables keep their
// promises, graphs that are not planar are refused with a witness or decomposed, and deep graphs need no deep stack.
#include "tests/brute.hpp"
#include "tests/families.hpp"
#include "tests/tables.hpp"

namespace planegraph::test {
namespace {

constexpr Options kAll{false, true, true, 1};    // raise, walks, codes
constexpr Options kAsSet{true, true, false, 1};  // sets, walks

class Tester {
 public:
  Tester(Tally& tally, Random& random) : tally_(tally), random_(random) {}

  /// A planar graph as it is, under other labels, and under other numberings. `slow`: check tables and code one by one.
  void test(const Input& g, int numberings = 2, bool slow = true) {
    tally_.count_graphs();
    const Packed first = run(engine_, g, kAll);
    if (slow) {
      tally_.accept(table_problem(g, first), g);
      tally_.accept(code_problem(g, first), g);
    }
    const std::vector<i64> expected = translated(g, first);
    for (int k = 0; k < numberings; ++k) {
      const Input h = relabelled(g, random_);
      const Packed other = run(engine_, h, kAll);
      if (!tally_.check(other.code == first.code, "the code depends on the numbering", g))
        std::printf("  and %s\n", describe(h).c_str());
      tally_.check(translated(h, other) == expected, "the tables depend on the numbering", g);
    }
  }

  void test_with_labels(const Input& g) {
    test(g);
    Input h = g;
    if (h.n > 0 && random_.percent(70))
      label_nodes(h, static_cast<i32>(random_.between(1, 3)), random_.between(1, 3), random_, step());
    if (random_.percent(70))
      label_edges(h, static_cast<i32>(random_.between(1, 3)), static_cast<i32>(random_.between(1, 2)), random_.between(1, 3),
                  random_, step());
    h.node_float = random_.percent(30), h.edge_float = random_.percent(30);
    test(h);
    // one value that differs breaks symmetries without hiding them
    Input odd = g;
    if (odd.m() == 0) return;
    label_edges(odd, 1, 2, 1, random_);
    odd.edge_rows[random_.below(static_cast<i64>(odd.edge_rows.size()))] = 7;
    test(odd);
    label_nodes(odd, 1, 1, random_);
    odd.node_rows[random_.below(odd.n)] = -7;
    odd.edge_width = 0, odd.rows_per_edge = 1, odd.edge_rows.clear();
    test(odd);
  }

  /// With sets the tables are equal up to names; what is checked is that rows without names are.
  void test_nonplanar(const Input& g) {
    tally_.count_graphs();
    for (const bool walks : {false, true}) {
      try {
        run(engine_, g, {walks, walks, true, 1});
        tally_.check(false, "a graph that is not planar was not refused", g);
      } catch (const NotPlanar& error) {
        tally_.accept(kuratowski_problem(g, error.witness), g);
        tally_.check(error.graph == 0, "NotPlanar names the wrong graph", g);
      }
    }
    const Packed first = run(engine_, g, kAsSet);
    tally_.accept(table_problem(g, first), g);
    const auto rows = nameless(g, first);
    for (int k = 0; k < 2; ++k) {
      const Input h = relabelled(g, random_);
      tally_.check(nameless(h, run(engine_, h, kAsSet)) == rows, "as set: the tables depend on the numbering", g);
    }
  }

  /// Options change what is filled, never what it holds; nor does the history of the engine.
  void test_options(const Input& g) {
    const Packed all = run(engine_, g, kAll);
    Engine fresh;
    tally_.check(run(fresh, g, kAll) == all, "the result depends on earlier graphs", g);
    const Packed codes = run(engine_, g, {false, false, true, 1}), walks = run(engine_, g, {false, true, false, 1});
    const Packed as_set = run(engine_, g, {true, true, true, 1}), neither = run(engine_, g, {false, false, false, 1});
    tally_.check(codes.code == all.code && codes.labelling == all.labelling && codes.walk_node.empty(), "codes only", g);
    tally_.check(walks.walk_node == all.walk_node && walks.labelling == all.labelling && walks.code.empty(), "walks only", g);
    tally_.check(as_set == all, "nonplanar_as_set changes a planar graph", g);
    tally_.check(neither.labelling == all.labelling, "labelling only", g);
  }

  /// Labels per edge are the same as labels per dart that agree in both directions; equal labels on all are not the same as none.
  void test_equivalent_labels(Input g) {
    if (g.m() == 0) return;
    label_edges(g, static_cast<i32>(random_.between(1, 2)), 1, random_.between(1, 4), random_, step());
    Input h = g;
    h.rows_per_edge = 2;
    h.edge_rows.clear();
    for (i64 d = 0; d < 2 * g.m(); ++d) h.edge_rows.insert(h.edge_rows.end(), g.dart_row(d), g.dart_row(d) + g.edge_width);
    tally_.check(run(engine_, g, kAll).code == run(engine_, h, kAll).code, "labels per edge and per dart give different codes", g);
  }

 private:
  i64 step() {
    const std::vector<i64> steps{1, 1, 1000, i64{1} << 32, i64{1} << 60};
    return random_.pick(steps);
  }
  Tally& tally_;
  Random& random_;
  Engine engine_;
};

void test_small(Tally& tally, Random& random) {
  Tester tester(tally, random);
  for (const auto& [name, g] : families()) {
    tester.test_with_labels(g);
    tester.test_options(g);
    tester.test_equivalent_labels(g);
  }
  tally.part("families");
  for (int k = 0; k < 3000; ++k) {
    Input g;
    switch (k % 6) {
      case 0: g = random_planar(random.between(1, 25), static_cast<int>(random.between(30, 100)), random); break;
      case 1: g = random_two_centred(random); break;
      case 2: g = random_composite(random.between(2, 8), random); break;
      case 3:
        g = random.percent(50) ? random_cactus(random.between(2, 30), random) : random_tree(random.between(1, 30), random);
        break;
      case 4: g = random_biconnected(random.between(2, 6), random); break;
      default: g = copies(random_composite(random.between(1, 2), random), random.between(2, 3));
    }
    tester.test_with_labels(g);
    if (k % 5 == 0) tester.test_options(g);
    tester.test_equivalent_labels(g);
  }
  tally.part("random planar graphs");
  for (int k = 0; k < 1500; ++k) {
    Input g = relabelled(random_nonplanar_composite(random.between(1, 6), random), random);
    // symmetric pairs, so that ties meet incomplete codes
    if (k % 4 == 0) g = glued_at_edge(g, 0, g, 0, false);
    if (k % 4 == 1) g = glued_at_node(glued_at_node(path(3), 0, g, 0), 2, g, 0);
    if (k % 3 == 1) label_nodes(g, 1, 2, random);
    if (k % 3 == 2) label_edges(g, 1, 2, 2, random);
    tester.test_nonplanar(g);
  }
  tally.part("graphs that are not planar");
}

/// K2,n with paths between the poles, nested K4s, long ladders, two equal halves: the shapes that made other code slow or wrong.
void test_large(Tally& tally, Random& random) {
  Tester tester(tally, random);
  std::vector<Input> graphs{complete_bipartite(2, 500),
                            nested_k4(200),
                            ladder(500),
                            wheel(800),
                            prism(500),
                            antiprism(400),
                            bipyramid(300),
                            grid(25, 30),
                            fan(400),
                            star(1000),
                            cycle(999),
                            path(1000),
                            caterpillar(200, 3),
                            copies(complete(4), 60),
                            random_cactus(2000, random),
                            random_triangulation(1500, random),
                            random_planar(1500, 60, random)};
  const Input half = random_planar(300, 80, random);
  graphs.push_back(glued_at_edge(half, 0, half, 0, false));
  const std::vector<Input> plain = graphs;
  for (Input g : plain) {
    label_edges(g, 1, 2, 1, random);
    g.edge_rows[random.below(static_cast<i64>(g.edge_rows.size()))] = 1;
    graphs.push_back(g);
  }
  for (const Input& g : graphs) tester.test(g, 2, true);
  tally.part("large graphs");
}

void test_deep(Tally& tally, Random& random) {
  Tester tester(tally, random);
  tester.test(path(300000), 1, false);
  tester.test(star(300000), 1, false);
  tester.test(cycle(200000), 1, false);
  tester.test(ladder(100000), 1, false);
  tester.test(nested_k4(50000), 1, false);
  tester.test(caterpillar(60000, 2), 1, false);
  tester.test(complete_bipartite(2, 100000), 1, false);
  tester.test(prism(50000), 1, false);
  tester.test(wheel(100000), 1, false);
  tester.test(random_cactus(100000, random), 1, false);
  tally.part("deep graphs");
  // not planar, and deep: the witness search must not be the weak spot
  Engine engine;
  for (const Input& g : {moebius_ladder_nonplanar(20000), glued_at_node(path(100000), 99999, complete(5), 0),
                         glued_at_edge(nested_k4(10000), 0, complete_bipartite(3, 3), 0, false)}) {
    const Input h = relabelled(g, random);
    tally.count_graphs();
    try {
      run(engine, h, kAll);
      tally.check(false, "a deep graph that is not planar was not refused");
    } catch (const NotPlanar& error) {
      tally.check(kuratowski_problem(h, error.witness) == nullptr, "witness of a deep graph");
    }
    tally.check(nameless(h, run(engine, h, kAsSet)).size() > 0, "as set");
  }
  tally.part("deep graphs that are not planar");
}

}  // namespace
}  // namespace planegraph::test

int main() {
  using namespace planegraph::test;
  Tally tally("canonical");
  Random random(4);
  test_small(tally, random);
  test_large(tally, random);
  test_deep(tally, random);
  return tally.finish();
}
