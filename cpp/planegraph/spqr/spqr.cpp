// The idea, the invariants and the cost are described in spqr.hpp.
#include "planegraph/spqr/spqr.hpp"

#include <algorithm>

#include "planegraph/graph/disjoint_sets.hpp"
#include "planegraph/graph/memory.hpp"

namespace planegraph {
void Spqr::run(const Graph& g, const Blocks& blocks) {
  nodes.clear();
  entries.clear();
  reserve(entries, static_cast<std::size_t>(g.m) + 16);
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
  forest.reset(count());
  for (i32 x = 0; x < num_entries(); ++x)
    if (entries[x].twin > x) forest.add_edge(owner(x), across(x));
  forest.peel();
}

/// A node whose entries will be appended next.
i32 Spqr::new_node(i32 type, i32 block) {
  nodes.push_back({type, block, num_entries(), num_entries(), -1, 0, -1, 0, {0, 0}, 0});
  return count() - 1;
}

i32 Spqr::new_entry(i32 c, i32 u, i32 v, i32 edge) {
  entries.push_back({{u, v}, {-1, -1}, edge, -1, c, 1});
  nodes[c].last = num_entries();
  return num_entries() - 1;
}

/// A block that is one edge or a cycle.
void Spqr::add_trivial(const Graph& g, i32 b, const i32* edges, i32 num_edges) {
  const i32 c = new_node(num_edges == 1 ? kQ : kS, b);
  for (i32 k = 0; k < num_edges; ++k) new_entry(c, g.end[2 * edges[k]], g.end[2 * edges[k] + 1], edges[k]);
  if (num_edges > 1) order_cycle(nodes[c].first, nodes[c].last);
}

/// Rearranges the entries [first, last) of an S node in the order of the cycle. Twins are not linked yet.
void Spqr::order_cycle(i32 first, i32 last) {
  // slot_[v]: XOR of the two entries at node v, which leads from one to the other
  for (i32 x = first; x < last; ++x) slot_[entries[x].end[0]] = slot_[entries[x].end[1]] = 0;
  for (i32 x = first; x < last; ++x) {
    slot_[entries[x].end[0]] ^= x;
    slot_[entries[x].end[1]] ^= x;
  }
  cycle_.clear();
  i32 x = first, u = entries[first].end[0];
  for (i32 k = first; k < last; ++k) {
    Entry entry = entries[x];
    entry.forward = entry.end[0] == u;
    u = entry.end[entry.forward];
    cycle_.push_back(entry);
    x = slot_[u] ^ x;
  }
  std::copy(cycle_.begin(), cycle_.end(), entries.begin() + first);
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
  const i32* node_of = blocks.nodes.data() + blocks.node_ptr[b];
  const i32 num_edges = tree_.m;

  // one SPQR node per set of merged split components; its entries are the edges that are not merged away
  const i32 parts = split_.num_components();
  const i32 first_node = count(), first_entry = num_entries();
  grow(node_of_set_, parts);
  grow_fill(fill_, parts, 0);
  const auto merged_away = [&](i32 e) {
    return e >= num_edges && set_[first_home_[e - num_edges]] == set_[second_home_[e - num_edges]];
  };
  for (i32 p = 0; p < parts; ++p) fill_[set_[p]] += split_.ptr[p + 1] - split_.ptr[p];
  for (i32 e = num_edges; e < split_.num_edges(); ++e)
    if (merged_away(e)) fill_[set_[first_home_[e - num_edges]]] -= 2;
  i32 next_entry = first_entry;
  for (i32 p = 0; p < parts; ++p) {
    if (set_[p] != p) continue;
    const i32 c = node_of_set_[p] = new_node(split_.type[p], b);
    nodes[c].first = next_entry;
    next_entry += fill_[p];
    nodes[c].last = next_entry;
    fill_[p] = nodes[c].first;  // where its next entry goes
  }
  resize(entries, next_entry);
  constexpr i32 kAhead = 16;  // edges of split components lie anywhere, so what is needed soon is fetched ahead
  const i32 last = split_.ptr[parts];
  const auto fetch_ahead = [&](i32 k) {
    if (k + 2 * kAhead >= last) return;
    if (const i32 e = split_.component_edges[k + 2 * kAhead]; e < num_edges) prefetch(&edges[e]);
    if (const i32 e = split_.component_edges[k + kAhead]; e < num_edges) prefetch(&g.end[2 * edges[e]]);
  };
  for (i32 p = 0; p < parts; ++p) {
    const i32 s = set_[p], c = node_of_set_[s];
    for (i32 k = split_.ptr[p]; k < split_.ptr[p + 1]; ++k) {
      fetch_ahead(k);
      const i32 e = split_.component_edges[k];
      if (merged_away(e)) continue;
      Entry& entry = entries[fill_[s]++];
      if (e < num_edges) {
        const i32 edge = edges[e];
        entry = {{g.end[2 * edge], g.end[2 * edge + 1]}, {-1, -1}, edge, -1, c, 1};
      } else {  // the virtual edge's id stands in `real` until twins are linked
        entry = {{node_of[split_.source(e)], node_of[split_.target(e)]}, {-1, -1}, -2 - (e - num_edges), -1, c, 1};
      }
    }
  }
  for (i32 c = first_node; c < count(); ++c)
    if (nodes[c].type == kS) order_cycle(nodes[c].first, nodes[c].last);
  link_twins(first_entry, num_entries(), split_.num_edges() - num_edges);
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
    Entry& entry = entries[x];
    if (entry.real >= -1) continue;
    const i32 v = -2 - entry.real;
    entry.real = -1;
    if (seen_at[v] < 0) {
      seen_at[v] = x;
    } else {
      entry.twin = seen_at[v];
      entries[entry.twin].twin = x;
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
  const i32 y = entries[x].twin;
  const i32 c = new_node(kP, nodes[owner(x)].block);
  for (const i32 side : {x, y}) {
    const i32 z = new_entry(c, entries[side].end[0], entries[side].end[1], -1);
    entries[z].twin = side;
    entries[side].twin = z;
  }
  return c;
}

}  // namespace planegraph
