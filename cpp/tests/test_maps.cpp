// Planarity with its certificates, and the canonical start of a rigid map against Weinberg's walk from every start.
#include "planegraph/canon/diagnostics.hpp"
#include "planegraph/planarity/embedding.hpp"
#include "planegraph/planarity/kuratowski.hpp"
#include "planegraph/planarity/planar_subgraph.hpp"
#include "tests/brute.hpp"
#include "tests/families.hpp"

namespace planegraph::test {
namespace {

// ---- planarity: every answer has a certificate, so no oracle is needed

class PlanarityTester {
 public:
  explicit PlanarityTester(Tally& tally) : tally_(tally) {}

  void test(const Input& g) {
    tally_.count_graphs();
    std::vector<i32> eu, ev, next(static_cast<std::size_t>(2 * g.m()), -1);
    for (i64 e = 0; e < g.m(); ++e) {
      eu.push_back(static_cast<i32>(g.edges[2 * e]));
      ev.push_back(static_cast<i32>(g.edges[2 * e + 1]));
    }
    const i32 n = static_cast<i32>(g.n), m = static_cast<i32>(g.m());
    const bool planar = embedder_.run(n, m, eu.data(), ev.data(), next.data());
    tally_.check(planar == embedder_.run(n, m, eu.data(), ev.data(), nullptr), "the answer depends on `next`", g);
    const std::vector<i32> witness = kuratowski_subgraph(n, m, eu.data(), ev.data(), [] { return true; });
    test_subgraph(g, eu, ev, planar);
    ++(planar ? planar_ : nonplanar_);
    if (planar) {
      tally_.accept(embedding_problem(g, next), g);
      tally_.check(witness.empty(), "a planar graph with a witness", g);
    } else {
      tally_.accept(kuratowski_problem(g, witness), g);
    }
  }
  /// What is kept is planar, and with any edge that is left out it is not.
  void test_subgraph(const Input& g, const std::vector<i32>& eu, const std::vector<i32>& ev, bool planar) {
    const i32 n = static_cast<i32>(g.n), m = static_cast<i32>(g.m());
    const std::vector<i32> left_out = edges_beyond_planar(n, m, eu.data(), ev.data(), [] { return true; });
    tally_.check(left_out.empty() == planar, "edges are left out of a planar graph, or none of another", g);
    std::vector<i32> ku, kv;
    for (i32 e = 0; e < m; ++e) {
      if (std::binary_search(left_out.begin(), left_out.end(), e)) continue;
      ku.push_back(eu[e]);
      kv.push_back(ev[e]);
    }
    const i32 kept = static_cast<i32>(ku.size());
    tally_.check(embedder_.run(n, kept, ku.data(), kv.data(), nullptr), "what is kept is not planar", g);
    for (std::size_t k = 0; k < left_out.size() && k < 20; ++k) {
      std::vector<i32> more_u = ku, more_v = kv;
      more_u.push_back(eu[left_out[k]]);
      more_v.push_back(ev[left_out[k]]);
      tally_.check(!embedder_.run(n, kept + 1, more_u.data(), more_v.data(), nullptr), "an edge can be put back", g);
    }
  }

  i64 planar() const { return planar_; }
  i64 nonplanar() const { return nonplanar_; }

 private:
  Tally& tally_;
  Embedder embedder_;
  i64 planar_ = 0, nonplanar_ = 0;
};

void test_planarity(Tally& tally, Random& random) {
  PlanarityTester tester(tally);
  for (const auto& [name, g] : families()) tester.test(g);
  for (const i64 k : {3, 4, 5, 9}) tester.test(moebius_ladder_nonplanar(k));
  for (const i64 k : {5, 6, 9}) tester.test(complete(k));
  tester.test(complete_bipartite(3, 3));
  tester.test(petersen_nonplanar());
  for (int k = 0; k < 6000; ++k) {
    Input g;
    switch (k % 4) {
      case 0: g = random_graph(random.between(5, 12), static_cast<int>(random.between(20, 80)), random); break;
      case 1: g = random_nonplanar_composite(random.between(1, 4), random); break;
      case 2: g = random_composite(random.between(1, 8), random); break;
      default: {  // a planar graph and an edge or two more
        g = random_planar(random.between(5, 40), static_cast<int>(random.between(50, 100)), random);
        for (i64 more = random.below(3); more > 0; --more) {
          g.add(random.below(g.n), random.below(g.n));
          if (!is_simple(g)) g.edges.resize(g.edges.size() - 2);
        }
      }
    }
    tester.test(relabelled(g, random));
  }
  for (int k = 0; k < 20; ++k) {
    Input g = random_planar(random.between(1000, 4000), static_cast<int>(random.between(60, 100)), random);
    tester.test(relabelled(g, random));
    g = glued_at_edge(g, 0, complete(5), 0, false);
    tester.test(relabelled(g, random));
  }
  tally.check(tester.planar() > 2000 && tester.nonplanar() > 2000, "the mix of graphs is one-sided");
}

// ---- rigid maps

/// A rigid map with small colours.
struct Map {
  Input g;
  std::vector<i32> edges, nodes, darts;

  explicit Map(const Input& input) : g(input), edges(input.edges.begin(), input.edges.end()) {
    nodes.assign(static_cast<std::size_t>(g.n), 0);
    darts.assign(edges.size(), 0);
    if (g.node_width) nodes.assign(g.node_rows.begin(), g.node_rows.end());
    for (std::size_t d = 0; d < darts.size() && g.edge_width; ++d) darts[d] = static_cast<i32>(*g.dart_row(static_cast<i64>(d)));
  }
  ColouredMap view() const { return {static_cast<i32>(g.n), static_cast<i32>(g.m()), edges.data(), nodes.data(), darts.data()}; }
};

/// Few colours, so that symmetries survive; values are not negative.
Input coloured(Input g, Random& random) {
  if (random.percent(50)) {
    label_nodes(g, 1, 1, random);
    for (i64 k = random.below(3); k > 0; --k) g.node_rows[random.below(g.n)] = random.between(1, 2);
  }
  if (random.percent(50)) {
    label_edges(g, 1, static_cast<i32>(random.between(1, 2)), 1, random);
    for (i64 k = random.below(3); k > 0; --k)
      g.edge_rows[random.below(static_cast<i64>(g.edge_rows.size()))] = random.between(1, 2);
  }
  return g;
}

/// Classes of states are classes of codes; relabelled maps start with equal codes.
void test_map(Tally& tally, const Input& input, Random& random) {
  tally.count_graphs();
  const Map map(input);
  std::vector<i32> next, classes;
  if (!tally.check(dart_classes(map.view(), next, classes), "a planar map is called nonplanar", input)) return;
  tally.accept(embedding_problem(input, next), input);
  std::map<std::vector<i32>, i32> class_of_code;
  std::map<i32, int> used;
  bool same = true;
  for (std::size_t s = 0; s < classes.size(); ++s) {
    const auto [it, fresh] = class_of_code.insert({weinberg_code(map.view(), next, static_cast<i32>(s / 2), s % 2), classes[s]});
    same &= it->second == classes[s] && (!fresh || used[classes[s]]++ == 0);
  }
  tally.check(same, "refine: classes are not the classes of Weinberg codes", input);

  const Input other_input = relabelled(input, random);
  const Map other(other_input);
  std::vector<i32> other_next, other_classes;
  dart_classes(other.view(), other_next, other_classes);
  const i32 a = chosen_start(map.view(), next), b = chosen_start(other.view(), other_next);
  tally.check(weinberg_code(map.view(), next, a / 2, a % 2) == weinberg_code(other.view(), other_next, b / 2, b % 2),
              "refine: the chosen start depends on the numbering", input);
}

/// A triangulation or its 3-connected subgraph.
Input random_rigid(i64 n, Random& random) {
  Input g = random_triangulation(n, random, static_cast<int>(random.below(5)));
  for (i64 tries = random.below(n); tries > 0; --tries) {
    Input h = g;
    const i64 e = random.below(h.m());
    h.edges.erase(h.edges.begin() + 2 * e, h.edges.begin() + 2 * e + 2);
    if (is_triconnected(h)) g = h;
  }
  return g;
}

void test_refine(Tally& tally, Random& random) {
  for (const auto& [name, g] : rigid_families()) {
    test_map(tally, g, random);
    for (int k = 0; k < 10; ++k) test_map(tally, coloured(g, random), random);
  }
  for (int k = 0; k < 5000; ++k) test_map(tally, coloured(random_rigid(random.between(4, 10), random), random), random);
  for (int k = 0; k < 60; ++k) test_map(tally, coloured(random_rigid(random.between(20, 40), random), random), random);
  // long enough that stages 2 and 3 decide, and symmetric but for one defect
  for (const i64 k : {40, 61}) {
    for (Input g : {prism(k), antiprism(k), bipyramid(k)}) {
      test_map(tally, g, random);
      label_nodes(g, 1, 1, random);
      g.node_rows[random.below(k)] = 1;
      test_map(tally, g, random);
      label_edges(g, 1, 2, 1, random);
      g.edge_rows[random.below(2 * k)] = 1;
      test_map(tally, g, random);
    }
  }
}

}  // namespace
}  // namespace planegraph::test

int main() {
  using namespace planegraph::test;
  Tally tally("maps");
  Random random(3);
  test_planarity(tally, random);
  tally.part("planarity");
  test_refine(tally, random);
  tally.part("rigid maps");
  return tally.finish();
}
