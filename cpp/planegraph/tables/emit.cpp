// The idea, the invariants and the cost are described in emit.hpp.
#include "planegraph/tables/emit.hpp"

#include <algorithm>

#include "planegraph/graph/memory.hpp"
#include "planegraph/graph/small_sort.hpp"

namespace planegraph {

struct Emitter::Context {
  const Graph& g;
  const Blocks& blocks;
  Spqr& spqr;
  const Rotations& rotations;
  Walks& walks;
  bool tables;
  Packed& out;
};

void Emitter::run(const Graph& g, const Blocks& blocks, Spqr& spqr, const Rotations& rotations, Walks& walks, bool tables,
                  Packed& out) {
  const Context x{g, blocks, spqr, rotations, walks, tables, out};
  grow_fill(canonical, g.n, -1);
  grow_fill(last_block_, g.n, -1);
  grow_fill(last_spqr_, g.n, -1);
  grow_fill(spqr_row_, spqr.count(), -1);
  grow(theta_, spqr.count());
  grow(side_, spqr.count());
  grow(block_row_, blocks.count);
  grow(cut_row_, blocks.num_cuts);
  grow(component_row_, g.num_components);
  next_number_ = next_block_row_ = next_cut_row_ = next_spqr_row_ = 0;
  if (tables) reserve_rows(x);
  order_components(x);
  i32 row = 0;
  for (const Root& root : roots_) {
    if (root.kind == 0) {
      canonical[root.id] = next_number_++;
      component_row_[g.component[root.id]] = row++;
      continue;
    }
    queue_.clear();
    queue_.push_back(root.kind == 1 ? root.id : blocks.count + root.id);
    const i32 a_node = root.kind == 1 ? blocks.nodes[blocks.node_ptr[root.id]] : blocks.cut_node[root.id];
    component_row_[g.component[a_node]] = row++;
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      if (queue_[head] < blocks.count)
        emit_block(x, queue_[head]);
      else
        emit_cut(x, queue_[head] - blocks.count);
    }
  }
  const std::size_t base = out.labelling.size();
  resize(out.labelling, base + g.n);
  for (i32 v = 0; v < g.n; ++v) out.labelling[base + g.node_of[v]] = canonical[v];
  if (!tables) return;
  resize(out.node_component, base + g.n);
  for (i32 v = 0; v < g.n; ++v) out.node_component[base + g.node_of[v]] = component_row_[g.component[v]];
  // these two tables were reserved by an upper bound
  const i64 incidences = at_.node_spqr_node - out.node_spqr_node.data(), walk = at_.walk_node - out.walk_node.data();
  for (const auto column : Packed::columns(Table::node_spqr)) (out.*column).resize(incidences);
  out.node_spqr_ptr.push_back(incidences);
  for (const auto column : Packed::columns(Table::walk)) (out.*column).resize(walk);
  out.walk_ptr.push_back(walk);
}

/// Makes room for the rows whose number is known beforehand. Node-SPQR incidences are at most as many as walk entries.
void Emitter::reserve_rows(const Context& x) {
  Packed& out = x.out;
  const Spqr& spqr = x.spqr;
  i64 walk = 0;
  for (const SpqrNode& node : spqr.nodes) walk += node.type == kS ? node.size() : 2 * i64{node.size()};
  if (!x.rotations.all_planar) walk = 2 * i64{spqr.num_entries()};  // cycles may be sets
  for (const auto& table : Packed::tables())
    if ((out.*table.ptr).empty()) (out.*table.ptr).push_back(0);
  const auto resize_all = [&](Packed::Columns columns, i64 rows) {
    for (const auto column : columns) resize(out.*column, static_cast<std::size_t>(rows));
  };
  const i64 walk_at = out.walk_ptr.back(), node_spqr_at = out.node_spqr_ptr.back(), node_block_at = out.node_block_ptr.back();
  const i64 block_at = out.block_ptr.back(), cut_at = out.cut_ptr.back();
  spqr_at_ = out.spqr_ptr.back();
  resize_all(Packed::columns(Table::walk), walk_at + walk);
  resize_all(Packed::columns(Table::spqr), spqr_at_ + spqr.count());
  out.spqr_ptr.push_back(spqr_at_ + spqr.count());
  // nodes in skeletons: k for a cycle, 2 for a bond; a rigid skeleton has fewer nodes than edges
  i64 incidences = 0;
  for (const SpqrNode& node : spqr.nodes) incidences += node.type == kP || node.type == kQ ? 2 : node.size();
  resize_all(Packed::columns(Table::node_spqr), node_spqr_at + incidences);
  const i64 in_blocks = x.blocks.count == 0 ? 0 : x.blocks.node_ptr[x.blocks.count];
  resize_all(Packed::columns(Table::node_block), node_block_at + in_blocks);
  out.node_block_ptr.push_back(node_block_at + in_blocks);
  resize_all(Packed::columns(Table::block), block_at + x.blocks.count);
  resize_all(Packed::columns(Table::cut), cut_at + x.blocks.num_cuts);
  out.block_ptr.push_back(block_at + x.blocks.count);
  out.cut_ptr.push_back(cut_at + x.blocks.num_cuts);
  at_ = {out.walk_node.data() + walk_at,
         out.walk_edge.data() + walk_at,
         out.walk_other.data() + walk_at,
         out.walk_kappa.data() + walk_at,
         out.walk_pos.data() + walk_at,
         out.walk_spqr.data() + walk_at,
         out.node_spqr_node.data() + node_spqr_at,
         out.node_spqr_spqr.data() + node_spqr_at,
         out.node_block_node.data() + node_block_at,
         out.node_block_block.data() + node_block_at};
}

void Emitter::order_components(const Context& x) {
  roots_.clear();
  for (i32 v = 0; v < x.g.n; ++v)
    if (x.g.ptr[v] == x.g.ptr[v + 1]) roots_.push_back({0, x.g.label[v], v});
  for (i32 b = 0; b < x.blocks.count; ++b)
    if (x.blocks.parent_cut[b] < 0) roots_.push_back({1, x.walks.block_class[b], b});
  for (i32 c = 0; c < x.blocks.num_cuts; ++c)
    if (x.blocks.cut_parent[c] < 0) roots_.push_back({2, x.walks.cut_class[c], c});
  std::sort(roots_.begin(), roots_.end(),
            [](const Root& a, const Root& b) { return std::pair(a.kind, a.rank) < std::pair(b.kind, b.rank); });
}

/// Gives a node its canonical index at its first visit; a cut node that is met first here is a child of this block.
inline void Emitter::number(const Context& x, i32 v) {
  if (canonical[v] >= 0) return;
  canonical[v] = next_number_++;
  if (x.blocks.cut_of[v] >= 0) queue_.push_back(x.blocks.count + x.blocks.cut_of[v]);
}

/// The SPQR node across a virtual edge joins the queue when the edge is met first.
inline void Emitter::meet(i32 neighbour, i32 side, i32 position) {
  if (spqr_row_[neighbour] >= 0) return;  // met before, or the parent
  spqr_row_[neighbour] = next_spqr_row_++;
  theta_[neighbour] = position;
  side_[neighbour] = side;
  spqr_queue_.push_back(neighbour);
}

/// One entry of the walk in the given row of the SPQR table.
inline void Emitter::put(const Context& x, i32 row, i32 dart, i32 kappa, i32 position, bool first_visit) {
  const Entry& entry = x.spqr.entries[dart >> 1];
  const i32 v = entry.end[dart & 1];
  if (first_visit) number(x, v);
  i32 edge = -1, other = -1;
  if (entry.real < 0) {
    const i32 neighbour = x.spqr.entries[entry.twin].owner;
    meet(neighbour, dart & 1, position);
    other = spqr_row_[neighbour];
  } else {
    edge = x.g.edge_of[entry.real];
  }
  if (!x.tables) return;
  const i32 node = x.g.node_of[v];
  *at_.walk_node++ = node;
  *at_.walk_edge++ = edge;
  *at_.walk_other++ = other;
  *at_.walk_kappa++ = kappa;
  *at_.walk_pos++ = position;
  *at_.walk_spqr++ = row;
  if (!first_visit) return;
  *at_.node_spqr_node++ = node;
  *at_.node_spqr_spqr++ = row;
  if (last_block_[v] == b_) return;
  last_block_[v] = b_;
  *at_.node_block_node++ = node;
  *at_.node_block_block++ = block_row_[b_];
}

void Emitter::emit_cut(const Context& x, i32 cut) {
  const Blocks& blocks = x.blocks;
  const i32 v = blocks.cut_node[cut];
  if (canonical[v] < 0) canonical[v] = next_number_++;  // the root of its component
  const i32 row = cut_row_[cut] = next_cut_row_++;
  if (x.tables) {
    const i64 at = x.out.cut_ptr[x.out.cut_ptr.size() - 2] + row;
    x.out.cut_node[at] = x.g.node_of[v];
    x.out.cut_level[at] = blocks.cut_level[cut];
    x.out.cut_parent_block[at] = blocks.cut_parent[cut] < 0 ? -1 : block_row_[blocks.cut_parent[cut]];
  }
  sorted_.clear();
  for (i32 k = blocks.child_ptr[cut]; k < blocks.child_ptr[cut + 1]; ++k)
    sorted_.emplace_back(x.walks.block_class[blocks.child[k]], blocks.child[k]);
  small_sort(sorted_.begin(), sorted_.end());
  for (const auto& [rank, b] : sorted_) queue_.push_back(b);
}

void Emitter::emit_block(const Context& x, i32 b) {
  b_ = b;
  const i32 row = block_row_[b] = next_block_row_++;
  const i32 root = x.walks.block_root[b];
  spqr_queue_.clear();
  spqr_queue_.push_back(root);
  spqr_row_[root] = next_spqr_row_++;
  theta_[root] = 0;
  if (x.tables) {
    const i64 at = x.out.block_ptr[x.out.block_ptr.size() - 2] + row;
    x.out.block_root[at] = spqr_row_[root];
    x.out.block_level[at] = x.blocks.level[b];
    x.out.block_parent_cut[at] = x.blocks.parent_cut[b] < 0 ? -1 : cut_row_[x.blocks.parent_cut[b]];
  }
  // SPQR nodes by which memory is fetched ahead: children are met in canonical order, not in ours
  constexpr std::size_t kAhead = 8;
  for (std::size_t head = 0; head < spqr_queue_.size(); ++head) {
    if (head + 2 * kAhead < spqr_queue_.size()) {
      prefetch(&x.spqr.nodes[spqr_queue_[head + 2 * kAhead]]);
      prefetch(x.spqr.entries.data() + x.spqr.nodes[spqr_queue_[head + kAhead]].first);
    }
    const i32 c = spqr_queue_[head];
    emit_walk(x, c);
    if (!x.tables) continue;
    Packed& out = x.out;
    const i64 at = spqr_at_ + spqr_row_[c];
    const SpqrNode& node = x.spqr.nodes[c];
    out.spqr_type[at] = node.type;
    out.spqr_set[at] = node.is_set;
    out.spqr_parent[at] = node.parent < 0 ? -1 : spqr_row_[node.parent];
    out.spqr_theta[at] = theta_[c];
    out.spqr_level[at] = node.level;
    out.spqr_block[at] = row;
  }
}

void Emitter::emit_walk(const Context& x, i32 c) {
  Walks& walks = x.walks;
  const SpqrNode& node = x.spqr.nodes[c];
  if (node.is_set) {
    emit_set(x, c);
    return;
  }
  const bool root = node.parent < 0;
  const i32 dart = root ? walks.start[c].dart : 2 * node.up + side_[c];
  switch (node.type) {
    case kS: emit_cycle(x, c, dart); break;
    case kP: emit_bond(x, c, dart); break;
    case kQ: emit_edge(x, c, dart); break;
    default: {
      const bool mirror = root ? walks.start[c].mirror : node.mirror[side_[c]] != 0;
      const Rigid skeleton = walks.rigid(x.blocks, x.spqr, x.rotations, c);
      const i32 row = spqr_row_[c];
      i32 position = 0;
      walks.weinberg.walk(skeleton, dart, mirror, [&](i32 d, i32 kappa, bool first) {
        put(x, row, d, kappa, ++position, first);
        return true;
      });
    }
  }
}

void Emitter::emit_cycle(const Context& x, i32 c, i32 dart) {
  const i32 row = spqr_row_[c];
  i32 k = 0;
  x.spqr.walk_cycle(x.spqr.nodes[c], dart, [&](i32 d) {
    ++k;
    put(x, row, d, k, k, true);
  });
}

/// The edge at which the bond hangs first, then the others by token.
void Emitter::emit_bond(const Context& x, i32 c, i32 dart) {
  const Spqr& spqr = x.spqr;
  const SpqrNode& node = spqr.nodes[c];
  const i32 u = spqr.end(dart);
  sorted_.clear();
  for (i32 y = node.first; y < node.last; ++y) {
    const i32 d = spqr.dart_from(y, u);
    sorted_.emplace_back(y == node.up ? -1 : spqr.token(d), d);
  }
  small_sort(sorted_.begin(), sorted_.end());
  const i32 row = spqr_row_[c];
  i32 position = 0;
  for (const auto& [token, d] : sorted_) {
    ++position;
    for (i32 way = 0; way < 2; ++way) put(x, row, d ^ way, 1 + way, position, position == 1);
  }
}

void Emitter::emit_edge(const Context& x, i32 c, i32 dart) {
  for (i32 way = 0; way < 2; ++way) put(x, spqr_row_[c], dart ^ way, 1 + way, 1 + way, true);
}

/// All darts, without positions. A child whose two directions cannot be distinguished becomes a set too.
void Emitter::emit_set(const Context& x, i32 c) {
  Spqr& spqr = x.spqr;
  for (i32 y = spqr.nodes[c].first; y < spqr.nodes[c].last; ++y) {
    const Entry& entry = spqr.entries[y];
    if (entry.real < 0 && spqr_row_[spqr.across(y)] < 0) {
      if (entry.token[0] == entry.token[1]) spqr.nodes[spqr.across(y)].is_set = 1;
      meet(spqr.across(y), entry.token[1] < entry.token[0], 0);
    }
    for (i32 side = 0; side < 2; ++side) {
      const i32 v = entry.end[side];
      const bool first = last_spqr_[v] != c;
      last_spqr_[v] = c;
      put(x, spqr_row_[c], 2 * y + side, 0, 0, first);
    }
  }
}

}  // namespace planegraph
