// What docs/arrays.md promises of the tables of one graph, checked directly; and tables translated by the canonical labelling.
#pragma once

#include <map>
#include <set>

#include "tests/brute.hpp"

namespace planegraph::test {

/// Checks the rows of graph k of a packed result. Each check returns what is wrong, or null.
class TableCheck {
 public:
  TableCheck(const Input& g, const Packed& p, i64 k = 0, i64 first_node = 0) : g_(g), p_(p), k_(k), node0_(first_node) {}

  const char* problem() {
    for (const auto& table : Packed::tables())
      for (const auto column : table.columns)
        if (static_cast<i64>((p_.*column).size()) != (p_.*table.ptr).back()) return "tables: a column has the wrong length";
    for (const auto check :
         {&TableCheck::nodes, &TableCheck::trees, &TableCheck::walks, &TableCheck::theta, &TableCheck::incidences})
      if (const char* found = (this->*check)()) return found;
    return nullptr;
  }

 private:
  struct Rows {
    i64 from, size;
  };
  Rows rows(const Array<i64>& ptr) const { return {ptr[k_], ptr[k_ + 1] - ptr[k_]}; }

  const char* nodes() {
    std::vector<u8> seen(static_cast<std::size_t>(g_.n), 0);
    for (i64 v = 0; v < g_.n; ++v) {
      const i32 x = p_.labelling[node0_ + v];
      if (x < 0 || x >= g_.n || seen[x]++) return "labelling: not a permutation";
    }
    Sets sets = components_without(g_, -1);
    std::map<i64, i32> row;
    std::set<i32> used;
    for (i64 v = 0; v < g_.n; ++v) {
      const i32 c = p_.node_component[node0_ + v];
      const auto [it, fresh] = row.insert({sets.find(v), c});
      if (it->second != c || (fresh && !used.insert(c).second)) return "node_component: not the components";
    }
    if (!used.empty() && (*used.begin() != 0 || *used.rbegin() + 1 != static_cast<i32>(used.size())))
      return "node_component: not 0 .. k";
    num_components_ = static_cast<i64>(used.size());
    return nullptr;
  }

  /// Heights, parents that come earlier, and neighbours that may not touch.
  const char* trees() {
    const Rows spqr = rows(p_.spqr_ptr), block = rows(p_.block_ptr), cut = rows(p_.cut_ptr);
    const auto S = [&](const Array<i32>& column, i64 row) { return column[spqr.from + row]; };
    const auto B = [&](const Array<i32>& column, i64 row) { return column[block.from + row]; };
    const auto C = [&](const Array<i32>& column, i64 row) { return column[cut.from + row]; };
    std::vector<i32> height(static_cast<std::size_t>(spqr.size), 0);
    for (i64 c = spqr.size - 1; c >= 0; --c) {
      const i32 type = S(p_.spqr_type, c), parent = S(p_.spqr_parent, c), b = S(p_.spqr_block, c);
      if (type < 0 || type > 3 || b < 0 || b >= block.size || parent < -1 || parent >= c) return "spqr: value out of range";
      if (S(p_.spqr_level, c) != height[c]) return "spqr_level: not the height";
      if (parent < 0 ? B(p_.block_root, b) != c : S(p_.spqr_block, parent) != b) return "spqr: parent in another block";
      if (parent < 0) continue;
      height[parent] = std::max(height[parent], height[c] + 1);
      const bool neutral = S(p_.spqr_set, parent) && S(p_.spqr_parent, parent) < 0;
      if (type == kQ || S(p_.spqr_type, parent) == kQ) return "spqr: Q in a larger tree";
      if (type != kR && type == S(p_.spqr_type, parent) && !neutral) return "spqr: S-S or P-P";
    }
    // blocks and cut nodes; a block-cut tree has few levels of rows, so look upwards from each
    std::vector<i32> block_height(static_cast<std::size_t>(block.size), 0), cut_height(static_cast<std::size_t>(cut.size), 0);
    i64 roots = 0;
    for (i64 b = 0; b < block.size; ++b) {
      const i32 parent = B(p_.block_parent_cut, b);
      if (parent < -1 || parent >= cut.size || B(p_.block_root, b) < 0 || B(p_.block_root, b) >= spqr.size)
        return "block: out of range";
      roots += parent < 0;
      if (parent >= 0) cut_height[parent] = std::max(cut_height[parent], B(p_.block_level, b) + 1);
    }
    for (i64 c = 0; c < cut.size; ++c) {
      const i32 parent = C(p_.cut_parent_block, c), v = C(p_.cut_node, c);
      if (v < 0 || v >= g_.n || parent < -1 || parent >= block.size) return "cut: out of range";
      if (C(p_.cut_level, c) != cut_height[c] || cut_height[c] % 2 == 0) return "cut_level: not the height";
      roots += parent < 0;
      if (parent >= 0) block_height[parent] = std::max(block_height[parent], C(p_.cut_level, c) + 1);
    }
    for (i64 b = 0; b < block.size; ++b)
      if (B(p_.block_level, b) != block_height[b]) return "block_level: not the height";
    std::vector<u8> touched(static_cast<std::size_t>(g_.n), 0);
    for (const i64 v : g_.edges) touched[v] = 1;
    if (roots + std::count(touched.begin(), touched.end(), 0) != num_components_) return "block-cut: not one root per component";
    return nullptr;
  }

  const char* walks() {
    const Rows spqr = rows(p_.spqr_ptr), walk = rows(p_.walk_ptr);
    walk_start_.assign(static_cast<std::size_t>(spqr.size) + 1, 0);
    std::vector<i32> home(static_cast<std::size_t>(g_.m()), -1);
    i64 at = 0;
    for (i64 c = 0; c < spqr.size; ++c) {
      walk_start_[c] = at;
      while (at < walk.size && p_.walk_spqr[walk.from + at] == c) ++at;
      if (const char* found = one_walk(c, walk.from + walk_start_[c], at - walk_start_[c], home)) return found;
    }
    walk_start_[spqr.size] = at;
    if (at != walk.size) return "walk_spqr: not ascending runs";
    if (std::count(home.begin(), home.end(), -1) > 0) return "walk: a real edge is in no skeleton";
    return nullptr;
  }

  const char* one_walk(i64 c, i64 from, i64 size, std::vector<i32>& home) {
    const Rows spqr = rows(p_.spqr_ptr);
    const i32 type = p_.spqr_type[spqr.from + c];
    const bool set = p_.spqr_set[spqr.from + c] != 0, once = type == kS && !set, pairs = type == kP || set;
    if (size < 2 || (type == kQ && size != 2) || (once && size < 3) || (type == kP && size < (set ? 4 : 6)) ||
        (type == kR && size < 12))
      return "walk: too short";
    std::map<i32, i32> kappa;
    std::map<i32, int> uses;
    for (i64 k = 0; k < size; ++k) {
      const i64 row = from + k;
      const i32 v = p_.walk_node[row], e = p_.walk_edge[row], other = p_.walk_other[row];
      if (v < 0 || v >= g_.n || e < -1 || e >= g_.m() || other < -1 || other >= spqr.size || (e < 0) == (other < 0))
        return "walk: out of range";
      const i32 visit = kappa.insert({v, static_cast<i32>(kappa.size()) + 1}).first->second;
      if (p_.walk_kappa[row] != (set ? 0 : visit)) return "walk_kappa: not the order of first visits";
      if (p_.walk_pos[row] != (set ? 0 : type == kP ? k / 2 + 1 : k + 1)) return "walk_pos: wrong";
      const i64 mate = pairs ? from + (k ^ 1) : from + (k + 1) % size;
      const i32 w = p_.walk_node[mate];
      if (v == w) return "walk: does not move";
      if (pairs && (p_.walk_edge[mate] != e || p_.walk_other[mate] != other)) return "walk: rows do not pair up";
      if (e >= 0) {
        if (std::minmax<i64>(v, w) != std::minmax(g_.edges[2 * e], g_.edges[2 * e + 1])) return "walk: not along its edge";
        ++uses[e];
        if (home[e] >= 0 && home[e] != c) return "walk: a real edge in two skeletons";
        home[e] = static_cast<i32>(c);
      } else {
        const bool child = p_.spqr_parent[spqr.from + other] == c, parent = p_.spqr_parent[spqr.from + c] == other;
        if (!child && !parent) return "walk_other: no neighbour in the tree";
      }
    }
    for (const auto& [e, count] : uses)
      if (count != (once ? 1 : 2)) return "walk: a real edge is used the wrong number of times";
    if (type == kP && kappa.size() != 2) return "walk: a bond with more than two poles";
    if (once && static_cast<i64>(kappa.size()) != size) return "walk: a cycle that meets itself";
    return nullptr;
  }

  const char* theta() {
    const Rows spqr = rows(p_.spqr_ptr), walk = rows(p_.walk_ptr);
    std::vector<i64> first(static_cast<std::size_t>(spqr.size), -1);  // where a child is met first
    for (i64 k = walk.size - 1; k >= 0; --k) {
      const i32 other = p_.walk_other[walk.from + k];
      if (other >= 0 && p_.spqr_parent[spqr.from + other] == p_.walk_spqr[walk.from + k]) first[other] = k;
    }
    for (i64 c = 0; c < spqr.size; ++c) {
      const i32 parent = p_.spqr_parent[spqr.from + c];
      if (parent >= 0 && first[c] < 0) return "theta: the parent does not meet its child";
      if (p_.spqr_theta[spqr.from + c] != (parent < 0 ? 0 : p_.walk_pos[walk.from + first[c]]))
        return "theta: not the first meeting";
      if (parent < 0 || p_.spqr_set[spqr.from + parent] || p_.spqr_set[spqr.from + c]) continue;
      const i64 mine = walk.from + walk_start_[c];
      if (p_.walk_other[mine] != parent || p_.walk_node[mine] != p_.walk_node[walk.from + first[c]])
        return "theta: the child's walk does not start with the dart that the parent meets";
    }
    return nullptr;
  }

  const char* incidences() {
    const Rows spqr = rows(p_.spqr_ptr), walk = rows(p_.walk_ptr), ns = rows(p_.node_spqr_ptr), nb = rows(p_.node_block_ptr);
    std::set<std::pair<i32, i32>> in_spqr, in_block, listed_spqr, listed_block;
    for (i64 k = walk.from; k < walk.from + walk.size; ++k) {
      in_spqr.insert({p_.walk_node[k], p_.walk_spqr[k]});
      in_block.insert({p_.walk_node[k], p_.spqr_block[spqr.from + p_.walk_spqr[k]]});
    }
    for (i64 k = ns.from; k < ns.from + ns.size; ++k) listed_spqr.insert({p_.node_spqr_node[k], p_.node_spqr_spqr[k]});
    for (i64 k = nb.from; k < nb.from + nb.size; ++k) listed_block.insert({p_.node_block_node[k], p_.node_block_block[k]});
    if (static_cast<i64>(in_spqr.size()) != ns.size || listed_spqr != in_spqr) return "node_spqr: not the incidences";
    if (static_cast<i64>(in_block.size()) != nb.size || listed_block != in_block) return "node_block: not the incidences";
    return nullptr;
  }

  const Input& g_;
  const Packed& p_;
  i64 k_, node0_, num_components_ = 0;
  std::vector<i64> walk_start_;
};

inline const char* table_problem(const Input& g, const Packed& packed, i64 k = 0, i64 first_node = 0) {
  return TableCheck(g, packed, k, first_node).problem();
}

/// All tables of a single graph as one sequence, nodes and edges named by the canonical labelling: equal for isomorphic graphs.
inline std::vector<i64> translated(const Input& g, const Packed& p) {
  const auto node = [&](i32 v) { return v < 0 ? i64{-1} : i64{p.labelling[v]}; };
  const auto edge = [&](i32 e) {
    if (e < 0) return i64{-1};
    const i64 a = node(static_cast<i32>(g.edges[2 * i64{e}])), b = node(static_cast<i32>(g.edges[2 * i64{e} + 1]));
    return std::min(a, b) * g.n + std::max(a, b);
  };
  std::vector<i64> all;
  for (const auto& table : Packed::tables()) {
    all.insert(all.end(), (p.*table.ptr).begin(), (p.*table.ptr).end());
    for (const auto column : table.columns) {
      const bool of_nodes = column == &Packed::walk_node || column == &Packed::cut_node || column == &Packed::node_spqr_node ||
                            column == &Packed::node_block_node;
      for (const i32 x : p.*column) all.push_back(of_nodes ? node(x) : column == &Packed::walk_edge ? edge(x) : x);
    }
  }
  std::vector<i64> component(static_cast<std::size_t>(g.n));
  for (i64 v = 0; v < g.n; ++v) component[p.labelling[v]] = p.node_component[v];
  all.insert(all.end(), component.begin(), component.end());
  all.insert(all.end(), p.code.begin(), p.code.end());
  return all;
}

/// What stays when components are encoded as sets and the labelling means nothing: rows without names, as a multiset.
inline std::vector<std::vector<i64>> nameless(const Input& g, const Packed& p) {
  std::vector<std::vector<i64>> rows;
  for (std::size_t k = 0; k < p.walk_node.size(); ++k) {
    const i32 c = p.walk_spqr[k], e = p.walk_edge[k], parent = p.spqr_parent[c];
    const i32 b = p.spqr_block[c];
    std::vector<i64> row{p.walk_kappa[k],
                         p.walk_pos[k],
                         p.spqr_type[c],
                         p.spqr_set[c],
                         p.spqr_level[c],
                         p.spqr_theta[c],
                         parent < 0 ? -1 : p.spqr_type[parent],
                         p.block_level[b],
                         e < 0 ? p.spqr_type[p.walk_other[k]] : -1};
    row.insert(row.end(), g.node_rows.begin() + i64{p.walk_node[k]} * g.node_width,
               g.node_rows.begin() + (i64{p.walk_node[k]} + 1) * g.node_width);
    if (e >= 0) {
      const i64 d = 2 * i64{e} + (g.edges[2 * i64{e}] == p.walk_node[k] ? 0 : 1);
      row.insert(row.end(), g.dart_row(d), g.dart_row(d) + g.edge_width);
    }
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace planegraph::test
