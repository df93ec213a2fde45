// Faces, triangulations, orders and drawings against their definitions; the sweep against all pairs of edges.
#include "planegraph/drawing/grid_layout.hpp"
#include "planegraph/drawing/st_numbering.hpp"
#include "planegraph/drawing/sweep.hpp"
#include "planegraph/planarity/faces.hpp"
#include "planegraph/planarity/input_map.hpp"
#include "tests/brute.hpp"
#include "tests/families.hpp"

namespace planegraph::test {
namespace {

// ---- definitions

using Points = std::vector<std::pair<i64, i64>>;

int side(const Points& p, i64 a, i64 b, i64 c) {
  const i64 det = (p[b].first - p[a].first) * (p[c].second - p[a].second) - (p[b].second - p[a].second) * (p[c].first - p[a].first);
  return det > 0 ? 1 : det < 0 ? -1 : 0;
}

/// Whether node v, which is no end of a-b, is on it.
bool is_on(const Points& p, i64 a, i64 b, i64 v) {
  return side(p, a, b, v) == 0 && std::min(p[a], p[b]) <= p[v] && p[v] <= std::max(p[a], p[b]);
}

/// Whether edges e and f have more in common than a node at which both end.
bool conflict(const Input& g, const Points& p, i64 e, i64 f) {
  const i64 a = g.edges[2 * e], b = g.edges[2 * e + 1], c = g.edges[2 * f], d = g.edges[2 * f + 1];
  for (const auto& [x, y, u, v] :
       {std::array{a, b, c, d}, std::array{b, a, c, d}, std::array{a, b, d, c}, std::array{b, a, d, c}}) {
    if (x == u) return is_on(p, x, y, v) || is_on(p, u, v, y);
  }
  if (is_on(p, a, b, c) || is_on(p, a, b, d) || is_on(p, c, d, a) || is_on(p, c, d, b)) return true;
  return side(p, a, b, c) * side(p, a, b, d) < 0 && side(p, c, d, a) * side(p, c, d, b) < 0;
}

bool is_plane_drawing(const Input& g, const Points& p) {
  for (i64 v = 0; v < g.n; ++v) {
    for (i64 u = 0; u < v; ++u)
      if (p[u] == p[v]) return false;
    for (i64 e = 0; e < g.m(); ++e)
      if (v != g.edges[2 * e] && v != g.edges[2 * e + 1] && is_on(p, g.edges[2 * e], g.edges[2 * e + 1], v)) return false;
  }
  for (i64 e = 0; e < g.m(); ++e)
    for (i64 f = 0; f < e; ++f)
      if (conflict(g, p, e, f)) return false;
  return true;
}

Drawing read(const Input& g, const Points& p) {
  std::vector<Point> points;
  for (const auto& [x, y] : p) points.push_back({static_cast<double>(x), static_cast<double>(y)});
  return read_drawing(static_cast<i32>(g.n), static_cast<i32>(g.m()), g.edges.data(), points.data(), always);
}

/// Twice the area on the left of a closed walk.
i64 area(const PlaneMap& map, const Points& p, const Faces& faces, i32 f) {
  i64 sum = 0;
  for (i32 k = faces.ptr[f]; k < faces.ptr[f + 1]; ++k) {
    const auto &a = p[map.source[faces.darts[k]]], &b = p[map.target(faces.darts[k])];
    sum += a.first * b.second - a.second * b.first;
  }
  return sum;
}

PlaneMap map_of(const Input& g, std::vector<i32> next) {
  PlaneMap map;
  map.num_nodes = static_cast<i32>(g.n);
  map.source.assign(g.edges.begin(), g.edges.end());
  map.next = std::move(next);
  return map;
}

Input input_of(const PlaneMap& map) {
  Input g;
  g.n = map.num_nodes;
  g.edges.assign(map.source.begin(), map.source.end());
  return g;
}

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

// ---- faces

void test_faces(Tally& tally, const Input& g, const PlaneMap& map, Random& random) {
  Faces faces;
  faces.run(map);
  Components components;
  components.run(map);
  Sets sets = components_without(g, -1);
  bool same = true;
  for (i64 v = 0; v < g.n; ++v)
    for (i64 u = 0; u < v; ++u) {
      const bool both = components.of[u] >= 0 && components.of[v] >= 0;
      same &= !both || (sets.find(u) == sets.find(v)) == (components.of[u] == components.of[v]);
    }
  tally.check(same, "faces: components", g);
  bool walks = static_cast<i32>(faces.darts.size()) == map.num_darts();
  for (i32 f = 0; f < faces.count(); ++f) {
    for (i32 k = faces.ptr[f]; k < faces.ptr[f + 1]; ++k) {
      const i32 d = faces.darts[k], following = faces.darts[k + 1 < faces.ptr[f + 1] ? k + 1 : faces.ptr[f]];
      walks &= faces.of[d] == f && map.source[following] == map.target(d) && map.before(following) == d &&
               d >= faces.darts[faces.ptr[f]];
    }
  }
  tally.check(walks, "faces: not the walks with the face on the left", g);
  tally.check(planegraph::embedding_problem(map).what.empty(), "faces: an embedding is refused", g);
  if (map.num_darts() == 0) return;
  PlaneMap wrong = map;
  for (i64 k = random.between(1, 2); k > 0; --k)
    std::swap(wrong.next[random.below(map.num_darts())], wrong.next[random.below(map.num_darts())]);
  tally.check(planegraph::embedding_problem(wrong).what.empty() == (embedding_problem(g, wrong.next) == nullptr),
              "faces: Euler's formula is checked in another way", g);
}

// ---- triangulations and canonical orders

void test_triangulation(Tally& tally, const Input& g, const PlaneMap& before, std::vector<i32> outer) {
  PlaneMap map = before;
  Triangulation::connect(map, outer);
  Triangulation().run(map, outer, true);
  const Input h = input_of(map);
  tally.check(is_simple(h) && (g.n < 3 ? g.n < 2 || h.m() == 1 : h.m() == 3 * g.n - 6), "triangulation: not simple or not maximal",
              g);
  tally.check(planegraph::embedding_problem(map).what.empty(), "triangulation: no embedding", g);
  bool kept = true;
  for (i32 d = 0; d < before.num_darts(); ++d) {  // new darts left out, the old orders are there
    i32 t = map.next[d];
    while (t >= before.num_darts()) t = map.next[t];
    kept &= t == before.next[d] && map.source[d] == before.source[d];
  }
  tally.check(kept, "triangulation: the given edges or orders changed", g);
}

void test_canonical_order(Tally& tally, const Input& g, PlaneMap map, std::vector<i32> outer) {
  Triangulation().run(map, outer, false);
  CanonicalOrder canonical;
  canonical.start(map);
  Sets sets = components_without(g, -1);
  for (std::size_t c = 0; c < outer.size(); ++c) {
    canonical.run(map, outer[c]);
    const std::vector<i32>& order = canonical.order;
    i64 size = 0;
    for (i64 v = 0; v < g.n; ++v) size += sets.find(v) == sets.find(order[0]);
    tally.check(static_cast<i64>(order.size()) == size, "canonical order: not all nodes", g);
    // a node that is joined to two nodes or more, consecutive on the contour, keeps the graph biconnected, and triangles inside
    std::vector<i32> contour{order[0], order[1]};
    std::vector<u8> put(g.n, 0);
    put[order[0]] = put[order[1]] = 1;
    bool right = map.source[outer[c]] == order[1] && map.target(outer[c]) == order[0];
    for (std::size_t k = 2; k < order.size(); ++k) {
      const i32 v = order[k];
      const auto l = std::find(contour.begin(), contour.end(), canonical.left[v]);
      const auto r = std::find(contour.begin(), contour.end(), canonical.right[v]);
      if (!tally.check(l < r && r < contour.end(), "canonical order: first and last neighbour are not on the contour", g)) return;
      std::set<i32> expected(l, r + 1), found;
      for (i32 d = 0; d < map.num_darts(); ++d)
        if (map.source[d] == v && put[map.target(d)]) found.insert(map.target(d));
      right &= expected == found;
      contour.erase(l + 1, r);
      contour.insert(std::find(contour.begin(), contour.end(), canonical.right[v]), v);
      put[v] = 1;
    }
    tally.check(right, "canonical order: the neighbours before a node are not a path of the contour", g);
  }
}

// ---- drawings

void test_layout(Tally& tally, const Input& g, const PlaneMap& map, const std::vector<i32>& outer) {
  PlaneMap grown = map;
  GridLayout layout;
  layout.run(grown, outer, always);
  Points p;
  for (i64 v = 0; v < g.n; ++v) p.emplace_back(layout.x[v], layout.y[v]);
  tally.check(is_plane_drawing(g, p), "grid layout: edges cross", g);
  bool inside = true;
  for (const auto& [x, y] : p)
    inside &= x >= 0 && y >= 0 && x <= std::max<i64>(2 * g.n - 4, g.n - 1) && y <= std::max<i64>(g.n - 2, 0);
  tally.check(inside, "grid layout: out of the grid", g);
  const Drawing drawing = read(g, p);
  if (!tally.check(drawing.flaw == Drawing::kNone, "sweep: finds a flaw where none is", g)) return;
  tally.check(drawing.next == map.next, "grid layout or sweep: another embedding", g);
  Faces faces;
  faces.run(map);
  bool same = drawing.outer.size() == outer.size();
  for (std::size_t c = 0; c < outer.size() && same; ++c) same &= faces.of[outer[c]] == faces.of[drawing.outer[c]];
  tally.check(same, "grid layout or sweep: another outer face", g);
  std::vector<u8> is_outer(faces.count(), 0);
  for (const i32 d : outer) is_outer[faces.of[d]] = 1;
  bool turned = true;
  for (i32 f = 0; f < faces.count(); ++f) {
    const i64 twice = area(map, p, faces, f);
    turned &= is_outer[f] ? twice <= 0 : twice > 0;
  }
  tally.check(turned, "faces: bounded ones are not walked counter-clockwise", g);
}

void test_graph(Tally& tally, const Input& g, Random& random) {
  tally.count_graphs();
  InputMap input;
  if (!tally.check(input.run(g.view(), always), "a planar graph is refused", g)) return;
  const PlaneMap map = map_of(g, input.next_of_input(g.view()));
  tally.accept(embedding_problem(g, map.next), g);
  test_faces(tally, g, map, random);
  Faces faces;
  faces.run(map);
  Components components;
  components.run(map);
  std::vector<i32> outer = longest_faces(map, components, faces);
  for (int round = 0; round < 2; ++round) {
    test_triangulation(tally, g, map, outer);
    test_canonical_order(tally, g, map, outer);
    test_layout(tally, g, map, outer);
    for (i32& d : outer) {  // any face may be the outer one
      const i32 c = components.of[map.source[d]];
      do d = static_cast<i32>(random.below(map.num_darts()));
      while (components.of[map.source[d]] != c);
    }
  }
}

void test_graphs(Tally& tally, Random& random) {
  for (const auto& [name, g] : families()) test_graph(tally, relabelled(g, random), random);
  for (int k = 0; k < 1500; ++k) {
    const Input g = k % 3 == 0   ? random_composite(random.between(1, 6), random)
                    : k % 3 == 1 ? random_planar(random.between(3, 16), static_cast<int>(random.between(10, 100)), random)
                                 : random_tree(random.between(1, 20), random);
    test_graph(tally, relabelled(g, random), random);
  }
  for (int k = 0; k < 4; ++k)
    test_graph(tally, relabelled(random_planar(120, static_cast<int>(random.between(50, 100)), random), random), random);
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

const char* flaw_problem(const Input& g, const Points& p, const Drawing& drawing) {
  const i64 a = drawing.a, b = drawing.b;
  switch (drawing.flaw) {
    case Drawing::kNone: return is_plane_drawing(g, p) ? nullptr : "sweep: misses a flaw";
    case Drawing::kNodesMeet: return a != b && p[a] == p[b] ? nullptr : "sweep: nodes do not meet";
    case Drawing::kNodeOnEdge: {
      const i64 u = g.edges[2 * b], v = g.edges[2 * b + 1];
      return a != u && a != v && is_on(p, u, v, a) ? nullptr : "sweep: a node is on no such edge";
    }
    case Drawing::kEdgesCross: return a != b && conflict(g, p, a, b) ? nullptr : "sweep: edges do not cross";
  }
  return "sweep: no such flaw";
}

void test_sweep(Tally& tally, Random& random) {
  i64 plane = 0, flawed[4] = {};
  for (int k = 0; k < 60000; ++k) {
    tally.count_graphs();
    const Input g = relabelled(random_planar(random.between(1, 9), static_cast<int>(random.between(10, 100)), random), random);
    const i64 width = random.between(1, 12), height = random.between(0, 12);  // much is collinear, or meets
    Points p;
    for (i64 v = 0; v < g.n; ++v) p.emplace_back(random.between(-width, width), random.between(-height, height));
    const Drawing drawing = read(g, p);
    if (!tally.accept(flaw_problem(g, p, drawing), g)) continue;
    ++flawed[drawing.flaw];
    if (drawing.flaw != Drawing::kNone) continue;
    ++plane;
    tally.accept(embedding_problem(g, drawing.next), g);
    // by angle: the next dart is the first one counter-clockwise, so no other dart lies between
    bool sorted = true;
    for (i32 d = 0; d < 2 * g.m(); ++d) {
      const i64 v = g.edges[d], a = g.edges[d ^ 1], b = g.edges[drawing.next[d] ^ 1];
      for (i32 other = 0; other < 2 * g.m(); ++other) {
        const i64 c = g.edges[other ^ 1];
        if (g.edges[other] != v || other == d || other == drawing.next[d]) continue;
        const bool wide =
            side(p, v, a, b) < 0 || (side(p, v, a, b) == 0 && a != b);  // from a to b counter-clockwise it is 180 degrees or more
        const bool after_a = side(p, v, a, c) > 0, before_b = side(p, v, c, b) > 0;
        if (a == b) continue;
        sorted &= !(wide ? after_a || before_b : after_a && before_b);
      }
    }
    tally.check(sorted, "sweep: the orders are not those of the angles", g);
  }
  tally.check(plane > 3000 && flawed[1] > 300 && flawed[2] > 300 && flawed[3] > 300, "the mix of drawings is one-sided");
}

// ---- st-numberings

void test_st_numbering(Tally& tally, const Input& g, Random& random) {
  tally.count_graphs();
  const i64 s = random.below(g.n);
  i64 t = random.below(g.n - 1);
  t += t >= s;
  std::vector<i32> number;
  const i32 cut = st_numbering(g.view(), static_cast<i32>(s), static_cast<i32>(t), number);
  Input with = g;
  with.add(s, t);
  if (cut == g.n) {
    tally.check(count_components(with) > 1, "st-numbering: a connected graph is refused", g);
  } else if (cut >= 0) {
    tally.check(count_components(with, cut) > 1, "st-numbering: the node separates nothing", g);
  } else {
    bool right = number[s] == 0 && number[t] == g.n - 1;
    std::vector<u8> used(g.n, 0), low(g.n, 0), high(g.n, 0);
    for (const i32 k : number) right &= k >= 0 && k < g.n && !used[k]++;
    for (i64 e = 0; e < g.m(); ++e)
      for (const auto& [u, v] : {std::pair{g.edges[2 * e], g.edges[2 * e + 1]}, std::pair{g.edges[2 * e + 1], g.edges[2 * e]}})
        ++(number[v] < number[u] ? low : high)[u];
    for (i64 v = 0; v < g.n; ++v) right &= v == s || v == t || (low[v] && high[v]);
    tally.check(right, "st-numbering: a node has no lower or no higher neighbour", g);
  }
}

void test_st_numberings(Tally& tally, Random& random) {
  for (const auto& [name, g] : families())
    if (g.n > 1) test_st_numbering(tally, relabelled(g, random), random);
  for (int k = 0; k < 20000; ++k) {
    const Input g = k % 2 ? random_biconnected(random.between(1, 4), random)
                          : random_graph(random.between(2, 9), static_cast<int>(random.between(20, 90)), random);
    test_st_numbering(tally, relabelled(g, random), random);
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
