// Definitions, spelled out: slow answers that the fast ones are compared with, and verifiers of certificates.
#pragma once

#include <map>
#include <set>

#include "tests/support.hpp"

namespace planegraph::test {

/// Union-find without tricks.
class Sets {
 public:
  explicit Sets(i64 n) : of_(static_cast<std::size_t>(n)) { std::iota(of_.begin(), of_.end(), i64{0}); }
  i64 find(i64 x) {
    while (of_[x] != x) x = of_[x] = of_[of_[x]];
    return x;
  }
  bool unite(i64 a, i64 b) {
    a = find(a), b = find(b);
    of_[a] = b;
    return a != b;
  }

 private:
  std::vector<i64> of_;
};

/// The components of g without the nodes a and b (-1: none).
inline Sets components_without(const Input& g, i64 a, i64 b = -1) {
  Sets sets(g.n);
  for (i64 e = 0; e < g.m(); ++e) {
    const i64 u = g.edges[2 * e], v = g.edges[2 * e + 1];
    if (u != a && u != b && v != a && v != b) sets.unite(u, v);
  }
  return sets;
}

inline i64 count_components(const Input& g, i64 a = -1, i64 b = -1) {
  Sets sets = components_without(g, a, b);
  i64 count = 0;
  for (i64 v = 0; v < g.n; ++v) count += v != a && v != b && sets.find(v) == v;
  return count;
}

/// Pairs {a, b}, a < b, whose removal disconnects the connected graph g.
inline std::set<std::pair<i64, i64>> separation_pairs(const Input& g) {
  std::set<std::pair<i64, i64>> pairs;
  for (i64 b = 0; b < g.n; ++b)
    for (i64 a = 0; a < b; ++a)
      if (count_components(g, a, b) > 1) pairs.insert({a, b});
  return pairs;
}

inline bool is_biconnected(const Input& g) {
  if (g.n < 3 || count_components(g) != 1) return false;
  for (i64 v = 0; v < g.n; ++v)
    if (count_components(g, v) != 1) return false;
  return true;
}

inline bool is_simple(const Input& g) {
  std::set<std::pair<i64, i64>> seen;
  for (i64 e = 0; e < g.m(); ++e) {
    const auto [u, v] = std::minmax(g.edges[2 * e], g.edges[2 * e + 1]);
    if (u == v || !seen.insert({u, v}).second) return false;
  }
  return true;
}

inline bool is_triconnected(const Input& g) { return g.n >= 4 && is_simple(g) && is_biconnected(g) && separation_pairs(g).empty(); }

/// The class of each edge: two edges at a node v lie in one block exactly if their other ends are joined without v.
inline std::vector<i64> blocks_by_definition(const Input& g) {
  Sets blocks(g.m());
  for (i64 v = 0; v < g.n; ++v) {
    Sets rest = components_without(g, v);
    std::map<i64, i64> first;  // component of the other end -> edge
    for (i64 e = 0; e < g.m(); ++e) {
      const i64 a = g.edges[2 * e], b = g.edges[2 * e + 1];
      if (a != v && b != v) continue;
      const auto [it, fresh] = first.insert({rest.find(a == v ? b : a), e});
      if (!fresh) blocks.unite(e, it->second);
    }
  }
  std::vector<i64> block(static_cast<std::size_t>(g.m()));
  for (i64 e = 0; e < g.m(); ++e) block[e] = blocks.find(e);
  return block;
}

/// What is wrong with `witness` as a subdivision of K5 or K3,3 in g, or null.
inline const char* kuratowski_problem(const Input& g, const std::vector<i32>& witness) {
  std::map<i64, std::vector<i64>> at;  // node -> neighbours in the witness
  i32 last = -1;
  for (const i32 e : witness) {
    if (e <= last || e >= g.m()) return "witness: edge ids are not ascending or out of range";
    last = e;
    at[g.edges[2 * e]].push_back(g.edges[2 * e + 1]);
    at[g.edges[2 * e + 1]].push_back(g.edges[2 * e]);
  }
  std::vector<i64> branch;
  for (const auto& [v, list] : at) {
    if (list.size() < 2) return "witness: a node of degree 1";
    if (list.size() > 2) branch.push_back(v);
  }
  std::multiset<std::pair<i64, i64>> joined;
  std::size_t walked = 0;
  for (const i64 v : branch) {
    for (i64 w : at[v]) {
      i64 from = v;
      for (++walked; at[w].size() == 2; ++walked) {
        const i64 next = at[w][0] == from ? at[w][1] : at[w][0];
        from = w;
        w = next;
      }
      if (v == w) return "witness: a loop";
      if (v < w) joined.insert({v, w});
    }
  }
  if (walked != 2 * witness.size()) return "witness: an extra cycle";
  for (const auto& pair : joined)
    if (joined.count(pair) > 1) return "witness: two paths between the same branch nodes";
  const auto all_have = [&](std::size_t degree) {
    return std::all_of(branch.begin(), branch.end(), [&](i64 v) { return at[v].size() == degree; });
  };
  if (branch.size() == 5 && all_have(4)) return nullptr;
  if (branch.size() != 6 || !all_have(3)) return "witness: neither K5 nor K3,3";
  // K3,3: the three nodes joined to the first are not joined to each other (degrees then leave no other choice)
  std::vector<i64> other;
  for (const auto& [a, b] : joined) {
    if (a == branch[0]) other.push_back(b);
    if (b == branch[0]) other.push_back(a);
  }
  for (const auto& [a, b] : joined)
    if (std::count(other.begin(), other.end(), a) + std::count(other.begin(), other.end(), b) != 1) return "witness: not bipartite";
  return nullptr;
}

/// What is wrong with `next` as the rotation of a planar embedding, or null: a cyclic order of the darts of each node, and Euler's formula.
inline const char* embedding_problem(const Input& g, const std::vector<i32>& next) {
  const i64 darts = 2 * g.m();
  std::vector<i64> degree(static_cast<std::size_t>(g.n), 0);
  std::vector<u8> seen(static_cast<std::size_t>(darts), 0);
  for (i64 d = 0; d < darts; ++d) ++degree[g.edges[d]];
  for (i64 d = 0; d < darts; ++d) {
    if (next[d] < 0 || next[d] >= darts || seen[next[d]]++) return "rotation: not a permutation of the darts";
    if (g.edges[next[d]] != g.edges[d]) return "rotation: leaves the node";
  }
  std::fill(seen.begin(), seen.end(), 0);
  for (i64 d = 0; d < darts; ++d) {
    if (seen[d]) continue;
    i64 length = 0;
    for (i64 x = d; !seen[x]; x = next[x]) seen[x] = 1, ++length;
    if (length != degree[g.edges[d]]) return "rotation: more than one cycle at a node";
  }
  std::fill(seen.begin(), seen.end(), 0);
  i64 faces = 0, isolated = std::count(degree.begin(), degree.end(), 0);
  for (i64 d = 0; d < darts; ++d) {
    if (seen[d]) continue;
    ++faces;
    for (i64 x = d; !seen[x]; x = next[x ^ 1]) seen[x] = 1;
  }
  // each component with an edge has its own outer face here; genus can only make the sum smaller
  if (g.n - isolated - g.m() + faces != 2 * (count_components(g) - isolated)) return "rotation: Euler's formula fails";
  return nullptr;
}

/// Reads docs/code.md. `ok` is false if the bytes are not exactly one code.
inline Input decode(const u8* data, std::size_t size, bool& ok) {
  std::size_t at = 0;
  ok = true;
  const auto byte = [&]() -> u64 {
    if (at < size) return data[at++];
    ok = false;
    return 0;
  };
  const auto varint = [&]() {
    u64 x = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const u64 b = byte();
      x |= (b & 0x7F) << shift;
      if (b < 0x80) break;
    }
    return x;
  };
  const auto label = [&](bool is_float) {
    if (is_float) {
      u64 bits = 0;
      for (int k = 0; k < 8; ++k) bits = bits << 8 | byte();
      return static_cast<i64>(bits >> 63 ? bits ^ 0x7FFFFFFFFFFFFFFFull : bits);
    }
    const u64 x = varint();
    return static_cast<i64>((x >> 1) ^ (~(x & 1) + 1));
  };
  Input g;
  ok &= byte() == 1;
  const u64 flags = byte();
  g.node_float = flags & 1, g.edge_float = flags >> 1 & 1, g.rows_per_edge = 1 + static_cast<i32>(flags >> 2 & 1);
  g.n = static_cast<i64>(varint());
  const i64 m = static_cast<i64>(varint());
  g.node_width = static_cast<i32>(varint());
  g.edge_width = static_cast<i32>(varint());
  for (i64 k = 0; ok && k < g.n * g.node_width; ++k) g.node_rows.push_back(label(g.node_float));
  for (i64 i = 0; ok && i < g.n; ++i) {
    i64 j = i;
    for (u64 left = varint(); ok && left > 0; --left) {
      j += 1 + static_cast<i64>(varint());
      g.add(i, j);
    }
  }
  ok &= g.m() == m;
  for (i64 k = 0; ok && k < m * g.rows_per_edge * g.edge_width; ++k) g.edge_rows.push_back(label(g.edge_float));
  ok &= at == size;
  return g;
}

/// Is `name` (node of g -> node of h) an isomorphism of the labelled graphs?
inline bool is_isomorphism(const Input& g, const Input& h, const i32* name) {
  if (g.n != h.n || g.m() != h.m()) return false;
  // labels on nothing are no labels
  if ((g.n > 0 && g.node_width != h.node_width) || (g.m() > 0 && g.edge_width != h.edge_width)) return false;
  for (i64 v = 0; v < g.n; ++v) {
    if (name[v] < 0 || name[v] >= h.n) return false;
    if (!std::equal(g.node_rows.begin() + v * g.node_width, g.node_rows.begin() + (v + 1) * g.node_width,
                    h.node_rows.begin() + i64{name[v]} * h.node_width))
      return false;
  }
  using Dart = std::pair<std::pair<i64, i64>, std::vector<i64>>;
  const auto darts = [](const Input& x, auto&& rename) {
    std::vector<Dart> list;
    for (i64 d = 0; d < 2 * x.m(); ++d)
      list.push_back({{rename(x.edges[d]), rename(x.edges[d ^ 1])}, std::vector<i64>(x.dart_row(d), x.dart_row(d) + x.edge_width)});
    std::sort(list.begin(), list.end());
    return list;
  };
  return darts(g, [&](i64 v) { return i64{name[v]}; }) == darts(h, [](i64 v) { return v; });
}

/// The code of graph k and whether it decodes to an isomorphic graph under the labelling.
inline const char* code_problem(const Input& g, const Packed& packed, i64 k = 0, i64 first_node = 0) {
  const i64 from = packed.code_ptr[k], to = packed.code_ptr[k + 1];
  bool ok = false;
  const Input h = decode(packed.code.data() + from, static_cast<std::size_t>(to - from), ok);
  if (!ok) return "code: cannot be decoded";
  if ((h.n == 0 && h.node_width > 0) || (h.m() == 0 && h.edge_width > 0)) return "code: labels on nothing";
  if (!is_isomorphism(g, h, packed.labelling.data() + first_node)) return "code: decodes to another graph";
  return nullptr;
}

}  // namespace planegraph::test
