#include "spqr.hpp"

#include <algorithm>

#include "memory.hpp"

namespace planegraph {
namespace {

/// Representative of x's set, with path halving.
i32 find(std::vector<i32>& set, i32 x) {
  while (set[x] != x) x = set[x] = set[set[x]];
  return x;
}

}  // namespace

void Spqr::run(const Graph& g, const Blocks& blocks) {
  type.clear();
  block.clear();
  entry_ptr.assign(1, 0);
  const std::size_t expected = static_cast<std::size_t>(g.m) + 16;
  end.clear(), real.clear(), twin.clear(), owner.clear(), forward.clear();
  end.reserve(2 * expected), real.reserve(expected), twin.reserve(expected), owner.reserve(expected), forward.reserve(expected);
  grow(local_, g.n);
  grow(slot_, g.n);
  for (i32 b = 0; b < blocks.count; ++b) {
    const i32* edges = blocks.edges.data() + blocks.edge_ptr[b];
    const i32 m = blocks.edge_ptr[b + 1] - blocks.edge_ptr[b];
    const i32 n = blocks.node_ptr[b + 1] - blocks.node_ptr[b];
    if (m <= n)
      add_trivial(g, b, edges, m);
    else
      add_block(g, blocks, b);
  }
  count = static_cast<i32>(type.size());
  num_entries = static_cast<i32>(real.size());
  forest.reset(count);
  for (i32 x = 0; x < num_entries; ++x)
    if (twin[x] > x) forest.add_edge(owner[x], across(x));
  forest.peel();
}

i32 Spqr::new_node(i32 kind, i32 b) {
  type.push_back(kind);
  block.push_back(b);
  return static_cast<i32>(type.size()) - 1;
}

i32 Spqr::new_entry(i32 c, i32 u, i32 v, i32 edge) {
  end.push_back(u);
  end.push_back(v);
  real.push_back(edge);
  twin.push_back(-1);
  owner.push_back(c);
  forward.push_back(1);
  return static_cast<i32>(real.size()) - 1;
}

/// A block that is one edge or a cycle.
void Spqr::add_trivial(const Graph& g, i32 b, const i32* edges, i32 num_edges) {
  const i32 c = new_node(num_edges == 1 ? kQ : kS, b);
  const i32 first = static_cast<i32>(real.size());
  for (i32 k = 0; k < num_edges; ++k) new_entry(c, g.end[2 * edges[k]], g.end[2 * edges[k] + 1], edges[k]);
  if (num_edges > 1) order_cycle(first, first + num_edges);
  entry_ptr.push_back(static_cast<i32>(real.size()));
}

/// Rearranges the entries [first, last) of an S node in the order of the cycle. Twins are not linked yet.
void Spqr::order_cycle(i32 first, i32 last) {
  // slot_[v]: XOR of the two entries at node v, which leads from one to the other
  for (i32 x = first; x < last; ++x) slot_[end[2 * x]] = slot_[end[2 * x + 1]] = 0;
  for (i32 x = first; x < last; ++x) {
    slot_[end[2 * x]] ^= x;
    slot_[end[2 * x + 1]] ^= x;
  }
  cycle_.clear();
  i32 x = first, u = end[2 * first];
  for (i32 k = first; k < last; ++k) {
    const bool along = end[2 * x] == u;
    cycle_.push_back(2 * x + (along ? 0 : 1));
    u = end[2 * x + (along ? 1 : 0)];
    x = slot_[u] ^ x;
  }
  const i32 length = last - first;
  fill_.resize(std::max<std::size_t>(fill_.size(), 3 * static_cast<std::size_t>(length)));
  for (i32 k = 0; k < length; ++k) {
    const i32 y = cycle_[k] >> 1;
    fill_[3 * k] = end[2 * y];
    fill_[3 * k + 1] = end[2 * y + 1];
    fill_[3 * k + 2] = real[y];
  }
  for (i32 k = 0; k < length; ++k) {
    end[2 * (first + k)] = fill_[3 * k];
    end[2 * (first + k) + 1] = fill_[3 * k + 1];
    real[first + k] = fill_[3 * k + 2];
    forward[first + k] = static_cast<u8>(1 - (cycle_[k] & 1));
  }
}

/// The block with its part of the palm tree of the search, in local ids: positions among the block's nodes, which stand in preorder.
void Spqr::make_palm_tree(const Graph& g, const Blocks& blocks, i32 b) {
  const i32* edges = blocks.edges.data() + blocks.edge_ptr[b];
  const i32* nodes = blocks.nodes.data() + blocks.node_ptr[b];
  const i32 n = tree_.n = blocks.node_ptr[b + 1] - blocks.node_ptr[b];
  const i32 m = tree_.m = blocks.edge_ptr[b + 1] - blocks.edge_ptr[b];
  grow(tree_.end, 2 * static_cast<std::size_t>(m));
  for (auto* v : {&tree_.parent, &tree_.low1, &tree_.low2}) grow(*v, n);
  for (i32 k = 0; k < n; ++k) local_[nodes[k]] = k;
  tree_.parent[0] = tree_.low1[0] = tree_.low2[0] = 0;  // the top: what lies above it is outside the block
  for (i32 k = 1; k < n; ++k) {
    tree_.parent[k] = local_[blocks.tree_parent()[nodes[k]]];
    tree_.low1[k] = local_[blocks.low1(nodes[k])];
    tree_.low2[k] = local_[blocks.low2(nodes[k])];
  }
  for (i32 k = 0; k < m; ++k) {
    tree_.end[2 * k] = local_[g.end[2 * edges[k]]];
    tree_.end[2 * k + 1] = local_[g.end[2 * edges[k] + 1]];
  }
}

void Spqr::add_block(const Graph& g, const Blocks& blocks, i32 b) {
  make_palm_tree(g, blocks, b);
  split_.run(tree_);
  merge_split_components();
  const i32* edges = blocks.edges.data() + blocks.edge_ptr[b];
  const i32* nodes = blocks.nodes.data() + blocks.node_ptr[b];
  const i32 num_edges = tree_.m;

  // one SPQR node per set of merged split components; its entries are the edges that are not merged away
  const i32 parts = split_.num_components();
  const i32 first_node = static_cast<i32>(type.size());
  grow_fill(node_of_set_, parts, -1);
  grow_fill(fill_, static_cast<std::size_t>(parts) + 1, 0);
  const auto merged_away = [&](i32 e) {
    return e >= num_edges && set_[first_home_[e - num_edges]] == set_[second_home_[e - num_edges]];
  };
  std::vector<i32>& entries_of = fill_;  // by set, then by new SPQR node
  for (i32 p = 0; p < parts; ++p) {
    const i32 s = set_[p];
    for (i32 k = split_.ptr[p]; k < split_.ptr[p + 1]; ++k)
      if (!merged_away(split_.component_edges[k])) ++entries_of[s];
  }
  i32 next_entry = static_cast<i32>(real.size());
  for (i32 p = 0; p < parts; ++p) {
    if (set_[p] != p) continue;
    node_of_set_[p] = new_node(split_.type[p], b);
    const i32 size = entries_of[p];
    entries_of[p] = next_entry;  // where the next entry goes
    next_entry += size;
    entry_ptr.push_back(next_entry);
  }
  end.resize(2 * static_cast<std::size_t>(next_entry));
  real.resize(next_entry);
  twin.resize(next_entry, -1);
  owner.resize(next_entry);
  forward.resize(next_entry, 1);
  for (i32 p = 0; p < parts; ++p) {
    const i32 s = set_[p];
    for (i32 k = split_.ptr[p]; k < split_.ptr[p + 1]; ++k) {
      const i32 e = split_.component_edges[k];
      if (merged_away(e)) continue;
      const i32 x = entries_of[s]++;
      owner[x] = node_of_set_[s];
      if (e < num_edges) {
        real[x] = edges[e];
        end[2 * x] = g.end[2 * edges[e]];
        end[2 * x + 1] = g.end[2 * edges[e] + 1];
      } else {
        real[x] = -2 - (e - num_edges);  // the virtual edge, until twins are linked
        end[2 * x] = nodes[split_.source(e)];
        end[2 * x + 1] = nodes[split_.target(e)];
      }
    }
  }
  const i32 after = static_cast<i32>(type.size());
  for (i32 c = first_node; c < after; ++c)
    if (type[c] == kS) order_cycle(entry_ptr[c], entry_ptr[c + 1]);
  link_twins(entry_ptr[first_node], entry_ptr[after], split_.num_edges() - num_edges);
  if (num_edges > (1 << 17)) {
    split_.release_memory();
    tree_ = PalmTree();
  }
}

/// The two entries of each virtual edge find each other; until then `real` holds -2 minus the edge.
void Spqr::link_twins(i32 first_entry, i32 last_entry, i32 num_virtual) {
  std::vector<i32>& seen_at = first_home_;  // by virtual edge: its first entry
  std::fill_n(seen_at.begin(), num_virtual, -1);
  for (i32 x = first_entry; x < last_entry; ++x) {
    if (real[x] >= -1) continue;
    const i32 v = -2 - real[x];
    real[x] = -1;
    if (seen_at[v] < 0) {
      seen_at[v] = x;
    } else {
      twin[x] = seen_at[v];
      twin[twin[x]] = x;
    }
  }
}

/// Unites split components that share a virtual edge and are both triangles or both bonds.
void Spqr::merge_split_components() {
  const i32 parts = split_.num_components();
  const i32 virtuals = split_.num_edges() - split_.num_real;
  grow(set_, parts);
  for (i32 p = 0; p < parts; ++p) set_[p] = p;
  grow_fill(first_home_, virtuals, -1);
  grow(second_home_, virtuals);
  for (i32 p = 0; p < parts; ++p) {
    for (i32 k = split_.ptr[p]; k < split_.ptr[p + 1]; ++k) {
      const i32 v = split_.component_edges[k] - split_.num_real;
      if (v < 0) continue;
      if (first_home_[v] < 0) {
        first_home_[v] = p;
        continue;
      }
      second_home_[v] = p;
      if (split_.type[p] == kR || split_.type[p] != split_.type[first_home_[v]]) continue;
      set_[find(set_, first_home_[v])] = find(set_, p);
    }
  }
  for (i32 p = 0; p < parts; ++p) set_[p] = find(set_, p);
}

i32 Spqr::split_virtual_edge(i32 x) {
  const i32 y = twin[x];
  const i32 c = new_node(kP, block[owner[x]]);
  for (const i32 side : {x, y}) {
    const i32 z = new_entry(c, end[2 * side], end[2 * side + 1], -1);
    twin[z] = side;
    twin[side] = z;
  }
  num_entries = static_cast<i32>(real.size());
  entry_ptr.push_back(num_entries);
  count = static_cast<i32>(type.size());
  return c;
}

}  // namespace planegraph
