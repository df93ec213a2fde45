// Graphs to test on: named families and random generators. All are planar unless their name says otherwise.
#pragma once

#include <array>
#include <map>

#include "tests/brute.hpp"

namespace planegraph::test {

using Named = std::pair<std::string, Input>;

inline Input path(i64 n) {
  Input g;
  g.n = n;
  for (i64 v = 1; v < n; ++v) g.add(v - 1, v);
  return g;
}

inline Input cycle(i64 n) {
  Input g = path(n);
  g.add(n - 1, 0);
  return g;
}

inline Input star(i64 n) {
  Input g;
  g.n = n;
  for (i64 v = 1; v < n; ++v) g.add(0, v);
  return g;
}

inline Input complete(i64 n) {
  Input g;
  g.n = n;
  for (i64 v = 0; v < n; ++v)
    for (i64 u = 0; u < v; ++u) g.add(u, v);
  return g;
}

inline Input complete_bipartite(i64 a, i64 b) {
  Input g;
  g.n = a + b;
  for (i64 u = 0; u < a; ++u)
    for (i64 v = 0; v < b; ++v) g.add(u, a + v);
  return g;
}

inline Input wheel(i64 spokes) {
  Input g = cycle(spokes);
  g.n = spokes + 1;
  for (i64 v = 0; v < spokes; ++v) g.add(v, spokes);
  return g;
}

inline Input fan(i64 k) {
  Input g = path(k);
  g.n = k + 1;
  for (i64 v = 0; v < k; ++v) g.add(v, k);
  return g;
}

inline Input bipyramid(i64 k) {
  Input g = wheel(k);
  g.n = k + 2;
  for (i64 v = 0; v < k; ++v) g.add(v, k + 1);
  return g;
}

inline Input grid(i64 rows, i64 columns) {
  Input g;
  g.n = rows * columns;
  for (i64 r = 0; r < rows; ++r) {
    for (i64 c = 0; c < columns; ++c) {
      if (c > 0) g.add(r * columns + c - 1, r * columns + c);
      if (r > 0) g.add((r - 1) * columns + c, r * columns + c);
    }
  }
  return g;
}

inline Input ladder(i64 rungs) { return grid(2, rungs); }

inline Input prism(i64 k) {
  Input g;
  g.n = 2 * k;
  for (i64 v = 0; v < k; ++v) {
    g.add(v, (v + 1) % k);
    g.add(k + v, k + (v + 1) % k);
    g.add(v, k + v);
  }
  return g;
}

inline Input antiprism(i64 k) {
  Input g = prism(k);
  for (i64 v = 0; v < k; ++v) g.add(v, k + (v + 1) % k);
  return g;
}

inline Input moebius_ladder_nonplanar(i64 k) {
  Input g = cycle(2 * k);
  for (i64 v = 0; v < k; ++v) g.add(v, v + k);
  return g;
}

inline Input petersen_nonplanar() {
  Input g;
  g.n = 10;
  for (i64 v = 0; v < 5; ++v) {
    g.add(v, (v + 1) % 5);
    g.add(5 + v, 5 + (v + 2) % 5);
    g.add(v, 5 + v);
  }
  return g;
}

inline Input dodecahedron() {  // the generalised Petersen graph GP(10, 2)
  Input g;
  g.n = 20;
  for (i64 v = 0; v < 10; ++v) {
    g.add(v, (v + 1) % 10);
    g.add(10 + v, 10 + (v + 2) % 10);
    g.add(v, 10 + v);
  }
  return g;
}

inline Input icosahedron() {
  Input g = antiprism(5);
  g.n = 12;
  for (i64 v = 0; v < 5; ++v) {
    g.add(v, 10);
    g.add(5 + v, 11);
  }
  return g;
}

/// Each edge replaced by a path of two, and a new triangle in each face: K4, octahedron or icosahedron become geodesic spheres.
inline Input subdivided_triangulation(const Input& g, const std::vector<std::array<i64, 3>>& faces) {
  Input h;
  std::map<std::pair<i64, i64>, i64> middle;
  h.n = g.n;
  for (i64 e = 0; e < g.m(); ++e) {
    const i64 u = g.edges[2 * e], v = g.edges[2 * e + 1];
    h.add(u, h.n);
    h.add(h.n, v);
    middle[{std::min(u, v), std::max(u, v)}] = h.n++;
  }
  for (const auto& f : faces) {
    i64 x[3];
    for (int k = 0; k < 3; ++k) x[k] = middle.at({std::min(f[k], f[(k + 1) % 3]), std::max(f[k], f[(k + 1) % 3])});
    for (int k = 0; k < 3; ++k) h.add(x[k], x[(k + 1) % 3]);
  }
  return h;
}

inline Input geodesic_octahedron() {
  const Input g = bipyramid(4);
  std::vector<std::array<i64, 3>> faces;
  for (i64 v = 0; v < 4; ++v)
    for (i64 pole = 4; pole < 6; ++pole) faces.push_back({v, (v + 1) % 4, pole});
  return subdivided_triangulation(g, faces);
}

/// K4s, each with one edge replaced by the next (the published code is exponential here).
inline Input nested_k4(i64 depth) {
  Input g;
  g.n = 2;
  i64 u = 0, v = 1;
  for (i64 k = 0; k < depth; ++k) {
    const i64 a = g.n++, b = g.n++;
    g.add(u, a), g.add(u, b), g.add(v, a), g.add(v, b);
    if (k == 0) g.add(u, v);
    if (k + 1 == depth) g.add(a, b);
    u = a, v = b;
  }
  return g;
}

/// Cycles of random lengths, glued at nodes.
inline Input random_cactus(i64 n, Random& random) {
  Input g;
  g.n = 1;
  while (g.n < n) {
    const i64 at = random.below(g.n), length = random.between(2, 6);
    i64 last = at;
    for (i64 k = 1; k < length; ++k) {
      g.add(last, g.n);
      last = g.n++;
    }
    if (length > 2) g.add(last, at);
  }
  return g;
}

inline Input random_tree(i64 n, Random& random) {
  Input g;
  g.n = n;
  for (i64 v = 1; v < n; ++v) g.add(random.below(v), v);
  return g;
}

inline Input caterpillar(i64 spine, i64 legs) {
  Input g = path(spine);
  for (i64 v = 0; v < spine; ++v)
    for (i64 k = 0; k < legs; ++k) g.add(v, g.n++);
  return g;
}

/// Two graphs side by side.
inline Input disjoint(const Input& a, const Input& b) {
  Input g = a;
  for (const i64 v : b.edges) g.edges.push_back(v + a.n);
  g.n += b.n;
  return g;
}

inline Input copies(const Input& a, i64 k) {
  Input g;
  for (i64 i = 0; i < k; ++i) g = disjoint(g, a);
  return g;
}

/// Node y of b becomes node x of a.
inline Input glued_at_node(const Input& a, i64 x, const Input& b, i64 y) {
  Input g = a;
  for (const i64 v : b.edges) g.edges.push_back(v == y ? x : v < y ? a.n + v : a.n + v - 1);
  g.n += b.n - 1;
  return g;
}

/// Edge f of b is put on edge e of a and vanishes there; edge e stays only if `keep`. If b has two edges or more, the result is simple.
inline Input glued_at_edge(const Input& a, i64 e, const Input& b, i64 f, bool keep) {
  const i64 s = b.edges[2 * f], t = b.edges[2 * f + 1];
  Input g = a;
  if (!keep) g.edges.erase(g.edges.begin() + 2 * e, g.edges.begin() + 2 * e + 2);
  std::vector<i64> name(static_cast<std::size_t>(b.n), -1);
  name[s] = a.edges[2 * e];
  name[t] = a.edges[2 * e + 1];
  for (i64& v : name)
    if (v < 0) v = g.n++;
  for (i64 k = 0; k < b.m(); ++k)
    if (k != f) g.add(name[b.edges[2 * k]], name[b.edges[2 * k + 1]]);
  return g;
}

/// A random triangulation of the sphere with n >= 3 nodes: nodes put into random faces, then random flips.
inline Input random_triangulation(i64 n, Random& random, int flips_per_node = 3) {
  std::map<std::pair<i64, i64>, i64> third;  // the face to the left of dart u -> v is u, v, third
  const auto face = [&](i64 a, i64 b, i64 c) { third[{a, b}] = c, third[{b, c}] = a, third[{c, a}] = b; };
  std::vector<std::array<i64, 3>> faces{{0, 1, 2}, {0, 2, 1}};
  face(0, 1, 2), face(0, 2, 1);
  for (i64 v = 3; v < n; ++v) {
    const std::size_t k = static_cast<std::size_t>(random.below(static_cast<i64>(faces.size())));
    const auto [a, b, c] = faces[k];
    faces[k] = {a, b, v};
    faces.push_back({b, c, v});
    faces.push_back({c, a, v});
    face(a, b, v), face(b, c, v), face(c, a, v);
  }
  std::vector<std::pair<i64, i64>> edges;
  for (const auto& [dart, w] : third)
    if (dart.first < dart.second) edges.push_back(dart);
  for (i64 k = 0; n > 3 && k < flips_per_node * n; ++k) {
    auto& edge = edges[static_cast<std::size_t>(random.below(static_cast<i64>(edges.size())))];
    const auto [u, v] = edge;
    const i64 a = third[{u, v}], b = third[{v, u}];
    if (a == b || third.count({a, b})) continue;
    third.erase({u, v}), third.erase({v, u});
    face(a, u, b), face(a, b, v);
    edge = {a, b};
  }
  Input g;
  g.n = n;
  for (const auto& [u, v] : edges) g.add(u, v);
  return g;
}

/// Each edge of g kept with the given chance.
inline Input thinned(const Input& g, int percent, Random& random) {
  Input h;
  h.n = g.n;
  for (i64 e = 0; e < g.m(); ++e)
    if (random.percent(percent)) h.add(g.edges[2 * e], g.edges[2 * e + 1]);
  return h;
}

inline Input random_planar(i64 n, int percent, Random& random) {
  if (n < 3) return path(n);
  return thinned(random_triangulation(n, random), percent, random);
}

inline Input random_graph(i64 n, int percent, Random& random) { return thinned(complete(n), percent, random); }

/// A small biconnected planar graph.
inline Input random_piece(Random& random) {
  switch (random.below(9)) {
    case 0: return cycle(random.between(3, 6));
    case 1: return complete(4);
    case 2: return wheel(random.between(4, 6));
    case 3: return prism(random.between(3, 5));
    case 4: return complete_bipartite(2, random.between(2, 5));
    case 5: return ladder(random.between(2, 5));
    case 6: return bipyramid(random.between(3, 5));
    case 7: return antiprism(random.between(3, 4));
    default: return random_triangulation(random.between(4, 9), random);
  }
}

/// Pieces glued at edges: biconnected, with an SPQR tree of several nodes.
inline Input random_biconnected(i64 pieces, Random& random) {
  Input g = random_piece(random);
  for (i64 k = 1; k < pieces; ++k) {
    const Input piece = random_piece(random);
    g = glued_at_edge(g, random.below(g.m()), piece, random.below(piece.m()), random.percent(50));
  }
  return g;
}

/// Pieces glued at edges and nodes, with some disjoint ones and some isolated nodes.
inline Input random_composite(i64 pieces, Random& random) {
  Input g = random_piece(random);
  for (i64 k = 1; k < pieces; ++k) {
    const Input piece = random.percent(15) ? path(2) : random_piece(random);
    const i64 way = random.below(10);
    if (way < 5 && piece.m() > 1)
      g = glued_at_edge(g, random.below(g.m()), piece, random.below(piece.m()), random.percent(50));
    else if (way < 9)
      g = glued_at_node(g, random.below(g.n), piece, random.below(piece.n));
    else
      g = disjoint(g, piece);
    if (random.percent(3)) ++g.n;
  }
  return g;
}

/// Two equal halves glued at an edge, so that the SPQR tree has two centres that may or may not be alike.
inline Input random_two_centred(Random& random) {
  const Input half = random_biconnected(random.between(1, 3), random);
  const i64 e = random.below(half.m());
  return glued_at_edge(half, e, half, random.percent(50) ? e : random.below(half.m()), random.percent(30));
}

inline bool is_bridge(const Input& g, i64 e) {
  Input h = g;
  h.edges.erase(h.edges.begin() + 2 * e, h.edges.begin() + 2 * e + 2);
  return count_components(h) > count_components(g);
}

inline Input random_nonplanar_composite(i64 pieces, Random& random) {
  const auto core = [&]() -> Input {
    switch (random.below(4)) {
      case 0: return complete(5);
      case 1: return complete_bipartite(3, 3);
      case 2: return petersen_nonplanar();
      default: return moebius_ladder_nonplanar(random.between(3, 6));
    }
  };
  Input g = random_composite(pieces, random);
  for (i64 k = random.between(1, 3); k > 0; --k) {
    const Input piece = core();
    if (g.m() > 0 && random.percent(60)) {
      const i64 e = random.below(g.m());
      // in place of a bridge, a K5 would lack an edge that nothing stands for
      g = glued_at_edge(g, e, piece, random.below(piece.m()), is_bridge(g, e) || random.percent(50));
    } else {
      g = glued_at_node(g, random.below(g.n), piece, random.below(piece.n));
    }
  }
  return g;
}

/// Rigid planar graphs with many symmetries.
inline std::vector<Named> rigid_families() {
  std::vector<Named> all{{"K4", complete(4)},
                         {"cube", prism(4)},
                         {"octahedron", bipyramid(4)},
                         {"dodecahedron", dodecahedron()},
                         {"icosahedron", icosahedron()},
                         {"geodesic octahedron", geodesic_octahedron()}};
  for (const i64 k : {3, 5, 6, 7, 12, 25}) {
    all.emplace_back("prism " + std::to_string(k), prism(k));
    all.emplace_back("antiprism " + std::to_string(k), antiprism(k));
    all.emplace_back("wheel " + std::to_string(k), wheel(k));
    all.emplace_back("bipyramid " + std::to_string(k), bipyramid(k));
  }
  return all;
}

/// Every named family in a small size.
inline std::vector<Named> families() {
  std::vector<Named> all = rigid_families();
  const auto add = [&](const char* name, Input g) { all.emplace_back(name, std::move(g)); };
  add("empty", Input{});
  for (i64 n : {1, 2, 3, 4, 9}) add("path", path(n));
  for (i64 n : {3, 4, 5, 8}) add("cycle", cycle(n));
  for (i64 n : {3, 4, 10}) add("star", star(n));
  for (i64 n : {2, 3, 4, 9}) add("K2,n", complete_bipartite(2, n));
  for (i64 n : {2, 3, 4, 9}) add("ladder", ladder(n));
  for (i64 n : {2, 3, 4, 9}) add("fan", fan(n));
  for (i64 n : {1, 2, 3, 4, 5, 12}) add("nested K4", nested_k4(n));
  add("grid", grid(4, 5));
  add("caterpillar", caterpillar(6, 2));
  add("isolated nodes", copies(path(1), 5));
  add("copies of K4", copies(complete(4), 4));
  add("copies of a molecule", copies(glued_at_node(cycle(6), 0, path(3), 0), 3));
  add("K4 minus an edge", glued_at_edge(cycle(3), 0, cycle(3), 0, true));
  add("two K4 at an edge", glued_at_edge(complete(4), 0, complete(4), 0, true));
  add("two K4 at an edge that is gone", glued_at_edge(complete(4), 0, complete(4), 0, false));
  add("two K4 at a node", glued_at_node(complete(4), 0, complete(4), 0));
  return all;
}

}  // namespace planegraph::test
