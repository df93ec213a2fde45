// What symmetries must be, spelled out: generators are automorphisms, and orbits are theirs.
#pragma once

#include "tests/brute.hpp"

namespace planegraph::test {

/// Numbers by first appearance of the sets of 0 .. n - 1.
inline std::vector<i32> numbered(Sets& sets, i64 n) {
  std::map<i64, i32> number;
  std::vector<i32> result;
  for (i64 k = 0; k < n; ++k) result.push_back(number.insert({sets.find(k), static_cast<i32>(number.size())}).first->second);
  return result;
}

/// What is wrong with the symmetries of graph k, or null.
inline const char* symmetry_problem(const Input& g, const Symmetries& s, i64 k = 0, i64 first_node = 0, i64 first_edge = 0) {
  Sets nodes(g.n), edges(g.m());
  std::map<std::pair<i64, i64>, i64> edge_at;
  for (i64 e = 0; e < g.m(); ++e) edge_at[std::minmax(g.edges[2 * e], g.edges[2 * e + 1])] = e;
  for (i64 j = s.generator_ptr[k]; j < s.generator_ptr[k + 1]; ++j) {
    std::vector<i32> image(static_cast<std::size_t>(g.n));
    std::iota(image.begin(), image.end(), 0);
    if (s.move_ptr[j] == s.move_ptr[j + 1]) return "symmetries: the identity as a generator";
    for (i64 i = s.move_ptr[j]; i < s.move_ptr[j + 1]; ++i) {
      const i32 v = s.move_node[i];
      if (v < 0 || v >= g.n) return "symmetries: a generator moves no node";
      if (i > s.move_ptr[j] && s.move_node[i - 1] >= v) return "symmetries: moved nodes are not ascending";
      if (s.move_image[i] == v) return "symmetries: a moved node stays";
      image[v] = s.move_image[i];
    }
    if (std::set<i32>(image.begin(), image.end()).size() != image.size()) return "symmetries: not a permutation";
    if (!is_isomorphism(g, g, image.data())) return "symmetries: a generator is no automorphism";
    for (i64 v = 0; v < g.n; ++v) nodes.unite(v, image[v]);
    for (i64 e = 0; e < g.m(); ++e) edges.unite(e, edge_at.at(std::minmax<i64>(image[g.edges[2 * e]], image[g.edges[2 * e + 1]])));
  }
  const auto equal = [](const std::vector<i32>& expected, const Array<i32>& found, i64 first) {
    return std::equal(expected.begin(), expected.end(), found.begin() + first);
  };
  if (!equal(numbered(nodes, g.n), s.node_orbit, first_node)) return "symmetries: orbits of nodes are not those of the generators";
  if (!equal(numbered(edges, g.m()), s.edge_orbit, first_edge))
    return "symmetries: orbits of edges are not those of the generators";
  for (i64 f = s.factor_ptr[k]; f < s.factor_ptr[k + 1]; ++f) {
    if (s.factor_base[f] < (s.factorial[f] ? 3 : 2) || s.factor_times[f] < 1) return "symmetries: an odd factor";
    if (f > s.factor_ptr[k] && std::pair(s.factorial[f], s.factor_base[f]) <= std::pair(s.factorial[f - 1], s.factor_base[f - 1]))
      return "symmetries: factors are not ascending";
  }
  return nullptr;
}

/// All that does not depend on the numbering: factors, `reflects`, and the sizes of orbits.
inline auto nameless(const Input& g, const Symmetries& s) {
  const auto sizes = [](const Array<i32>& orbit) {
    std::map<i32, i64> size;
    for (const i32 o : orbit) ++size[o];
    std::multiset<i64> result;
    for (const auto& [o, count] : size) result.insert(count);
    return result;
  };
  return std::tuple(g.n, s.factorial, s.factor_base, s.factor_times, s.reflects, sizes(s.node_orbit), sizes(s.edge_orbit));
}

/// The number of automorphisms, node by node with backtracking. Only for small graphs.
class CountAutomorphisms {
 public:
  explicit CountAutomorphisms(const Input& g) : g_(g), image_(static_cast<std::size_t>(g.n), -1), used_(image_.size(), 0) {
    for (i64 d = 0; d < 2 * g.m(); ++d)
      dart_[{g.edges[d], g.edges[d ^ 1]}] = std::vector<i64>(g.dart_row(d), g.dart_row(d) + g.edge_width);
  }
  i64 run(i64 v = 0) {
    if (v == g_.n) return 1;
    i64 count = 0;
    for (i64 w = 0; w < g_.n; ++w) {
      if (used_[w] || !fits(v, w)) continue;
      image_[v] = w, used_[w] = 1;
      count += run(v + 1);
      used_[w] = 0;
    }
    return count;
  }

 private:
  bool fits(i64 v, i64 w) {
    const auto row = [&](i64 x) { return g_.node_rows.begin() + x * g_.node_width; };
    if (!std::equal(row(v), row(v) + g_.node_width, row(w))) return false;
    const auto same = [&](i64 a, i64 b, i64 c, i64 d) {
      const auto one = dart_.find({a, b}), two = dart_.find({c, d});
      return one == dart_.end() || two == dart_.end() ? (one == dart_.end()) == (two == dart_.end()) : one->second == two->second;
    };
    for (i64 u = 0; u < v; ++u)
      if (!same(u, v, image_[u], w) || !same(v, u, w, image_[u])) return false;
    return true;
  }
  const Input& g_;
  std::map<std::pair<i64, i64>, std::vector<i64>> dart_;
  std::vector<i64> image_;
  std::vector<u8> used_;
};

/// The order, where it is small.
inline i64 order_of(const Symmetries& s) {
  i64 order = 1;
  for (std::size_t f = 0; f < s.factor_base.size(); ++f)
    for (i32 times = 0; times < s.factor_times[f]; ++times)
      for (i64 k = s.factorial[f] ? 2 : s.factor_base[f]; k <= s.factor_base[f]; ++k) order *= k;
  return order;
}

inline Symmetries symmetries(Engine& engine, const Input& g, int threads = 1) {
  const std::vector<Input> one{g};
  const Batch batch(one);
  return engine.symmetries(batch.view(), true, threads, always);
}

}  // namespace planegraph::test
