// Symmetries: generators are automorphisms and have the orbits, small orders are those of a count by backtracking, nothing depends on
// the numbering or on the number of threads, generators are sparse, and deep graphs need no deep stack.
#include <cmath>

#include "tests/families.hpp"
#include "tests/symmetries.hpp"

namespace planegraph::test {
namespace {

class Tester {
 public:
  Tester(Tally& tally, Random& random) : tally_(tally), random_(random) {}

  void test(const Input& g) {
    tally_.count_graphs();
    const Symmetries found = symmetries(engine_, g);
    tally_.accept(symmetry_problem(g, found), g);
    if (g.n <= 8) tally_.check(order_of(found) == CountAutomorphisms(g).run(), "the order is not that of a count", g);
    const Input h = relabelled(g, random_);
    tally_.check(nameless(h, symmetries(engine_, h)) == nameless(g, found), "symmetries depend on the numbering", g);
  }

  void test_with_labels(const Input& g) {
    test(g);
    Input h = g;
    if (h.n > 0 && random_.percent(50)) label_nodes(h, 1, random_.between(1, 2), random_);
    if (random_.percent(70)) label_edges(h, 1, static_cast<i32>(random_.between(1, 2)), random_.between(1, 2), random_);
    test(h);
    if (g.m() == 0) return;
    Input odd = g;
    label_edges(odd, 1, 2, 1, random_);
    odd.edge_rows[random_.below(static_cast<i64>(odd.edge_rows.size()))] = 7;
    test(odd);
  }

  /// Without recursion, and with at most n log2 n moves.
  void test_deep(const Input& g) {
    tally_.count_graphs();
    const Input h = relabelled(g, random_);
    const double most = static_cast<double>(h.n) * std::log2(static_cast<double>(h.n));
    const Symmetries found = symmetries(engine_, h);
    tally_.check(static_cast<double>(found.move_node.size()) <= most, "generators move too many nodes");
    const auto used = [](const Array<i32>& orbit) { return orbit.empty() ? 0 : *std::max_element(orbit.begin(), orbit.end()) + 1; };
    tally_.check(used(found.node_orbit) <= h.n && used(found.edge_orbit) <= h.m(), "too many orbits");
  }

 private:
  Tally& tally_;
  Random& random_;
  Engine engine_;
};

void test_small(Tally& tally, Random& random) {
  Tester tester(tally, random);
  for (const auto& [name, g] : families()) tester.test_with_labels(g);
  tally.part("families");
  for (int k = 0; k < 4000; ++k) {
    switch (k % 8) {
      case 0:
        tester.test_with_labels(random_planar(random.between(1, 25), static_cast<int>(random.between(30, 100)), random));
        break;
      case 1: tester.test_with_labels(random_two_centred(random)); break;
      case 2: tester.test_with_labels(random_composite(random.between(2, 6), random)); break;
      case 3: tester.test_with_labels(random_cactus(random.between(2, 30), random)); break;
      case 4: tester.test_with_labels(random_tree(random.between(1, 30), random)); break;
      case 5: tester.test_with_labels(random_biconnected(random.between(2, 6), random)); break;
      case 6:
        tester.test_with_labels(random_planar(random.between(1, 8), static_cast<int>(random.between(30, 100)), random));
        break;
      default: tester.test_with_labels(copies(random_composite(random.between(1, 2), random), random.between(2, 3)));
    }
  }
  tally.part("random planar graphs");
}

void test_batches(Tally& tally, Random& random) {
  std::vector<Input> graphs;
  for (int k = 0; k < 2000; ++k) graphs.push_back(random_planar(random.between(0, 20), 60, random));
  const Batch batch(graphs);
  Engine engine;
  const Symmetries one = engine.symmetries(batch.view(), true, 1, always), many = engine.symmetries(batch.view(), true, 3, always);
  for (i64 k = 0; k < batch.size(); ++k)
    tally.accept(symmetry_problem(graphs[k], one, k, batch.node_ptr[k], batch.edge_ptr[k]), graphs[k]);
  tally.check(one.node_orbit == many.node_orbit && one.edge_orbit == many.edge_orbit && one.reflects == many.reflects,
              "orbits depend on the threads");
  tally.check(one.factor_ptr == many.factor_ptr && one.factor_base == many.factor_base, "factors depend on the threads");
  tally.check(one.move_ptr == many.move_ptr && one.move_image == many.move_image, "generators depend on the threads");
  const Symmetries empty = engine.symmetries(Batch().view(), true, 2, always);
  tally.check(empty.factor_ptr.size() == 1 && empty.generator_ptr.size() == 1 && empty.move_ptr.size() == 1, "an empty batch");
  tally.count_graphs(batch.size());
  tally.part("batches");
}

void test_deep(Tally& tally, Random& random) {
  Tester tester(tally, random);
  tester.test_deep(path(300000));
  tester.test_deep(star(300000));
  tester.test_deep(cycle(200000));
  tester.test_deep(ladder(100000));
  tester.test_deep(nested_k4(50000));
  tester.test_deep(caterpillar(60000, 2));
  tester.test_deep(complete_bipartite(2, 100000));
  tester.test_deep(prism(50000));
  tester.test_deep(wheel(100000));
  tester.test_deep(random_cactus(100000, random));
  tester.test_deep(random_tree(100000, random));
  tester.test_deep(copies(complete(4), 20000));
  tally.part("deep graphs");
}

}  // namespace
}  // namespace planegraph::test

int main() {
  using namespace planegraph::test;
  Tally tally("symmetries");
  Random random(8);
  test_small(tally, random);
  test_batches(tally, random);
  test_deep(tally, random);
  return tally.finish();
}
