// Faces, triangulations, orders and drawings against their definitions; the sweep against all pairs of edges.
#include "tests/families.hpp"
#include "tests/plane.hpp"

namespace planegraph::test {
namespace {

// ---- exact arithmetic

void test_orientation(Tally& tally, Random& random) {
  const auto number = [&](int bits) { return random.between(-(i64{1} << bits), i64{1} << bits); };
  for (int k = 0; k < 200000; ++k) {
    const int bits = static_cast<int>(random.between(1, 52));
    const i64 ax = number(bits), ay = number(bits), bx = number(bits), by = number(bits);
    i64 cx = number(bits), cy = number(bits);
    if (k % 2) {  // near the line, or on it
      const i64 steps = random.between(1, 5), near = random.between(-1, 1);
      cx = ax + (bx - ax) / steps;
      cy = ay + (by - ay) / steps + near;
      if (std::abs(cx) >= i64{1} << 53 || std::abs(cy) >= i64{1} << 53) continue;
    }
    const __int128 det = __int128{bx - ax} * (cy - ay) - __int128{by - ay} * (cx - ax);
    const int expected = det > 0 ? 1 : det < 0 ? -1 : 0;
    const double scale = std::ldexp(1.0, static_cast<int>(random.between(-340, 440)));
    const auto at = [&](i64 x, i64 y) { return Point{static_cast<double>(x) * scale, static_cast<double>(y) * scale}; };
    tally.check(orientation(at(ax, ay), at(bx, by), at(cx, cy)) == expected, "orientation: wrong sign");
    tally.check(exact_determinant(at(ax, ay), at(bx, by), at(cx, cy)).sign() == expected, "orientation: wrong exact sign");
  }
}

void test_graphs(Tally& tally, Random& random) {
  for (const auto& [name, g] : families()) check_graph(tally, relabelled(g, random), random);
  for (int k = 0; k < 1500; ++k) {
    const Input g = k % 3 == 0   ? random_composite(random.between(1, 6), random)
                    : k % 3 == 1 ? random_planar(random.between(3, 16), static_cast<int>(random.between(10, 100)), random)
                                 : random_tree(random.between(1, 20), random);
    check_graph(tally, relabelled(g, random), random);
  }
  for (int k = 0; k < 4; ++k)
    check_graph(tally, relabelled(random_planar(120, static_cast<int>(random.between(50, 100)), random), random), random);
}

/// Without recursion, and in linear time.
void test_large(Tally& tally, Random& random) {
  for (const Input& g :
       {path(300000), star(300000), caterpillar(60000, 4), grid(500, 600), complete_bipartite(2, 100000), wheel(200000)}) {
    tally.count_graphs();
    const Input h = relabelled(g, random);
    InputMap input;
    tally.check(input.run(h.view(), always), "a planar graph is refused");
    Faces faces;
    faces.run(input.map);
    Components components;
    components.run(input.map);
    GridLayout layout;
    layout.run(input.map, longest_faces(input.map, components, faces), always);
    Points p(h.n);
    for (i64 v = 0; v < h.n; ++v) p[input.graph.node_of[v]] = {layout.x[v], layout.y[v]};
    tally.check(read(h, p).flaw == Drawing::kNone, "a large drawing has crossings");
  }
}

// ---- the sweep

void test_sweep(Tally& tally, Random& random) {
  i64 found[4] = {};
  for (int k = 0; k < 60000; ++k) {
    tally.count_graphs();
    const Input g = relabelled(random_planar(random.between(1, 9), static_cast<int>(random.between(10, 100)), random), random);
    const i64 width = random.between(1, 12), height = random.between(0, 12);  // much is collinear, or meets
    Points p;
    for (i64 v = 0; v < g.n; ++v) p.emplace_back(random.between(-width, width), random.between(-height, height));
    const Drawing drawing = read(g, p);
    check_drawing(tally, g, p, drawing);
    ++found[drawing.flaw];
  }
  tally.check(found[0] > 3000 && found[1] > 300 && found[2] > 300 && found[3] > 300, "the mix of drawings is one-sided");
}

// ---- st-numberings

void test_st_numberings(Tally& tally, Random& random) {
  for (const auto& [name, g] : families())
    if (g.n > 1) check_st_numbering(tally, relabelled(g, random), random);
  for (int k = 0; k < 20000; ++k) {
    const Input g = k % 2 ? random_biconnected(random.between(1, 4), random)
                          : random_graph(random.between(2, 9), static_cast<int>(random.between(20, 90)), random);
    check_st_numbering(tally, relabelled(g, random), random);
  }
}

}  // namespace
}  // namespace planegraph::test

int main() {
  using namespace planegraph::test;
  Tally tally("drawing");
  Random random(5);
  test_orientation(tally, random);
  tally.part("orientation");
  test_graphs(tally, random);
  tally.part("faces, triangulations, orders, grid layouts");
  test_large(tally, random);
  tally.part("large grid layouts");
  test_sweep(tally, random);
  tally.part("sweeps");
  test_st_numberings(tally, random);
  tally.part("st-numberings");
  return tally.finish();
}
