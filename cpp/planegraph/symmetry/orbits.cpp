// The idea, the invariants and the cost are described in orbits.hpp.
#include "planegraph/symmetry/orbits.hpp"

#include <algorithm>
#include <limits>

namespace planegraph {

CentreTies centre_ties(const Parts& x, i32 b) {
  const i32 root = x.walks.block_root[b], other = x.other_centre(root);
  const auto code = [&](i32 c, i32 side) { return x.spqr.entries[x.spqr.entries[x.spqr.nodes[c].up].twin].token[side]; };
  return {code(root, 0) == code(root, 1) && code(other, 0) == code(other, 1), code(root, 0) == code(other, 0),
          code(root, 0) == code(other, 1)};
}

void Orbits::run(const Parts& x) {
  prepare(x);
  visit_roots(x);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    if (queue_[head] < x.blocks.count)
      visit_block(x, queue_[head]);
    else
      visit_cut(x, queue_[head] - x.blocks.count);
  }
}

void Orbits::prepare(const Parts& x) {
  const std::size_t darts = 2 * static_cast<std::size_t>(x.spqr.num_entries());
  num_node_orbits_ = 0;
  reflects = false;
  for (auto* v : {&group_size, &queue_, &hanging_first_}) v->clear();
  ties.clear();
  flips_.clear();
  walk_.clear();
  grow_fill(node_orbit_, x.g.n, -1);
  grow_fill(cut_first_, x.g.n, -1);
  grow(entry_key_, x.spqr.num_entries());
  grow(sorted_child, x.blocks.count);
  grow(block_first_, x.blocks.count);
  grow(group_of_block_, x.blocks.count);
  grow(group_of_cut_, x.blocks.num_cuts);
  grow(group_of_spqr_, x.spqr.count());
  grow_fill(walk_at_, x.spqr.count(), i64{-1});
  grow(least_set_, x.g.n);
  for (auto* v : {&set_, &entry_orbit_of_, &node_orbit_of_}) grow(*v, darts);
}

i32 Orbits::new_orbit(bool flips) {
  flips_.push_back(flips);
  hanging_first_.push_back(-1);
  return static_cast<i32>(flips_.size()) - 1;
}

i32 Orbits::new_group() {
  group_size.push_back(1);
  return static_cast<i32>(group_size.size()) - 1;
}

/// Gives a node its orbit, if it has none yet; a cut node that is met first here hangs below.
void Orbits::set_node(const Parts& x, i32 v, i32 orbit) {
  if (node_orbit_[v] >= 0) return;
  node_orbit_[v] = orbit;
  if (x.blocks.cut_of[v] >= 0) queue_.push_back(x.blocks.count + x.blocks.cut_of[v]);
}

void Orbits::new_node(const Parts& x, i32 v) {
  if (node_orbit_[v] < 0) set_node(x, v, num_node_orbits_++);
}

/// `ahead`: which dart of entry y is the one that its orbit has ahead. What hangs there is visited later.
void Orbits::set_key(const Parts& x, i32 y, i32 orbit, i32 ahead) {
  entry_key_[y] = 2 * orbit + ahead;
  if (x.spqr.entries[y].real < 0) spqr_queue_.push_back(x.spqr.across(y));
}

// --- the block-cut trees ---------------------------------------------------------------------------------------------

void Orbits::visit_roots(const Parts& x) {
  const Blocks& blocks = x.blocks;
  roots.clear();
  for (i32 v = 0; v < x.g.n; ++v)
    if (x.g.ptr[v] == x.g.ptr[v + 1]) roots.push_back({0, x.g.label[v], v});
  for (i32 b = 0; b < blocks.count; ++b)
    if (blocks.parent_cut[b] < 0) roots.push_back({1, x.walks.block_class[b], b});
  for (i32 c = 0; c < blocks.num_cuts; ++c)
    if (blocks.cut_parent[c] < 0) roots.push_back({2, x.walks.cut_class[c], c});
  const auto key = [](const Root& root) { return std::pair(root.kind, root.rank); };
  std::sort(roots.begin(), roots.end(), [&](const Root& a, const Root& b) { return key(a) < key(b); });
  const i32 count = static_cast<i32>(roots.size());
  const auto node_of = [&](const Root& root) { return root.kind == 0 ? root.id : blocks.cut_node[root.id]; };
  for (i32 first = 0, last = 0; first < count; first = last) {
    while (last < count && key(roots[last]) == key(roots[first])) ++last;
    if (last - first > 1) ties.push_back({Tie::kComponents, -1, first, last - first, new_group()});
    for (i32 k = first; k < last; ++k) {
      if (roots[k].kind == 1) {
        block_first_[roots[k].id] = roots[first].id;
        queue_.push_back(roots[k].id);
      } else if (k == first) {
        new_node(x, node_of(roots[k]));
      } else {
        set_node(x, node_of(roots[k]), node_orbit_[node_of(roots[first])]);
      }
    }
  }
}

void Orbits::visit_cut(const Parts& x, i32 cut) {
  const Blocks& blocks = x.blocks;
  const i32 begin = blocks.child_ptr[cut], end = blocks.child_ptr[cut + 1];
  sorted_.clear();
  for (i32 k = begin; k < end; ++k) sorted_.emplace_back(x.walks.block_class[blocks.child[k]], blocks.child[k]);
  small_sort(sorted_.begin(), sorted_.end());
  for (i32 k = begin; k < end; ++k) queue_.push_back(sorted_child[k] = sorted_[k - begin].second);
  i32& first = cut_first_[node_orbit_[blocks.cut_node[cut]]];
  if (first >= 0) {
    ++group_size[group_of_cut_[first]];
    const i32 shift = blocks.child_ptr[first] - begin;
    for (i32 k = begin; k < end; ++k) block_first_[sorted_child[k]] = block_first_[sorted_child[k + shift]];
    return;
  }
  first = cut;
  const i32 group = group_of_cut_[cut] = new_group();
  for (i32 k = begin, last = begin; k < end; k = last) {
    while (last < end && sorted_[last - begin].first == sorted_[k - begin].first)
      block_first_[sorted_child[last++]] = sorted_child[k];
    if (last - k > 1) ties.push_back({Tie::kBlocks, cut, k, last - k, group});
  }
}

void Orbits::visit_block(const Parts& x, i32 b) {
  const i32 first = block_first_[b], root = x.walks.block_root[b];
  spqr_queue_.clear();
  if (first == b)
    group_of_block_[b] = new_group();
  else
    ++group_size[group_of_block_[first]];
  if (x.hangs(root)) {
    visit_centres(x, b);
  } else if (first == b) {
    visit_root(x, b);
  } else {
    copy(x, x.walks.block_root[first], root);
  }
  if (first != b) {
    const i32 dart = x.walks.start[root].dart, model = x.walks.start[x.walks.block_root[first]].dart;
    for (const i32 way : {0, 1}) set_node(x, x.spqr.end(dart ^ way), node_orbit_[x.spqr.end(model ^ way)]);
  }
  for (std::size_t head = 0; head < spqr_queue_.size(); ++head) visit_hanging(x, spqr_queue_[head]);
}

// --- skeletons -------------------------------------------------------------------------------------------------------

/// The root of the first block of an orbit, which has one centre.
void Orbits::visit_root(const Parts& x, i32 b) {
  const i32 c = x.walks.block_root[b], type = x.spqr.nodes[c].type, group = group_of_block_[b];
  const Start start = x.walks.start[c];
  const i32 u = x.spqr.end(start.dart), v = x.spqr.end(start.dart ^ 1);
  i32 count = 2;
  if (type == kQ || type == kP) {
    new_node(x, u);
    if (start.tied) set_node(x, v, node_orbit_[u]);
    new_node(x, v);
    if (type == kQ)
      set_key(x, start.dart >> 1, new_orbit(start.tied), start.dart & 1);
    else
      bond(x, c, start.dart, start.tied, group);
  } else if (!start.tied) {
    distinct(x, c);
  } else {
    const std::span<const i32> tied = x.walks.tied_states(b);
    count = static_cast<i32>(tied.size());
    if (type == kR) reflects |= std::any_of(tied.begin(), tied.end(), [&](i32 state) { return (state ^ tied[0]) & 1; });
    if (x.walks.has_dart_orbits(b)) {
      collect(x, c, x.walks.dart_orbit);
    } else {
      separate(x, c);
      root_group_.run(x, b, lister_, [&](const Start&, const auto& darts, const auto& images) { unite(darts, images); });
      collect(x, c, set_);
    }
  }
  if (start.tied) ties.push_back({Tie::kRoot, b, 0, count, group});
}

/// Both centres are visited as hanging SPQR nodes. Each finds its key above it: at the other's end of the edge between them.
void Orbits::visit_centres(const Parts& x, i32 b) {
  const i32 root = x.walks.block_root[b], other = x.other_centre(root), first = block_first_[b];
  const i32 dart = x.walks.start[root].dart, side = dart & 1;
  i32 &key_of_root = entry_key_[x.spqr.nodes[other].up], &key_of_other = entry_key_[x.spqr.nodes[root].up];
  if (first == b) {
    const CentreTies tied = centre_ties(x, b);
    const i32 orbit = new_orbit(tied.flip);
    key_of_root = 2 * orbit + side;
    key_of_other = tied.keep ? key_of_root : tied.reverse ? key_of_root ^ 1 : 2 * new_orbit(tied.flip) + side;
    const i32 u = x.spqr.end(dart), v = x.spqr.end(dart ^ 1);
    new_node(x, u);
    if (tied.flip || tied.reverse) set_node(x, v, node_orbit_[u]);
    new_node(x, v);
    if (tied.count() > 1) ties.push_back({Tie::kCentres, b, 0, tied.count(), group_of_block_[b]});
  } else {
    const i32 model = x.walks.block_root[first], turned = (x.walks.start[model].dart & 1) ^ side;
    key_of_root = entry_key_[x.spqr.nodes[x.other_centre(model)].up] ^ turned;
    key_of_other = entry_key_[x.spqr.nodes[model].up] ^ turned;
  }
  spqr_queue_.push_back(root);
  spqr_queue_.push_back(other);
}

void Orbits::visit_hanging(const Parts& x, i32 c) {
  const SpqrNode& node = x.spqr.nodes[c];
  const i32 orbit = entry_key_[x.spqr.entries[node.up].twin] >> 1;
  if (hanging_first_[orbit] >= 0) {
    ++group_size[group_of_spqr_[hanging_first_[orbit]]];
    copy(x, hanging_first_[orbit], c);
    return;
  }
  hanging_first_[orbit] = c;
  const i32 group = group_of_spqr_[c] = new_group();
  const bool flips = flips_[orbit] != 0, mirrors = node.type == kR && node.tied;
  const Start start = this->start(x, c);
  if (mirrors) ties.push_back({Tie::kMirror, c, 0, 2, group});
  if (node.type == kR) reflects |= mirrors || (flips && node.mirror[0] != node.mirror[1]);
  if (node.type == kP) {
    bond(x, c, start.dart, flips, group);
    return;
  }
  if (!flips && !mirrors) {
    distinct(x, c);
    return;
  }
  separate(x, c);
  lister_.run(x, c, start, darts_);
  const auto unite_with = [&](const Start& image) {
    lister_.run(x, c, image, images_);
    unite(darts_, images_);
  };
  if (mirrors) unite_with({start.dart, !start.mirror, true});
  if (flips) unite_with(x.hanging_start(c, ~start.dart & 1));
  collect(x, c, set_);
}

/// The orbits of `first` along its walk become those of c along its own.
void Orbits::copy(const Parts& x, i32 first, i32 c) {
  if (walk_at_[first] < 0) {
    walk_at_[first] = static_cast<i64>(walk_.size());
    lister_.run(x, first, start(x, first), darts_);
    for (const i32 d : darts_) walk_.emplace_back(entry_key_[d >> 1] ^ (d & 1), node_orbit_[x.spqr.end(d)]);
  }
  lister_.run(x, c, start(x, c), darts_);
  auto model = walk_.begin() + walk_at_[first];
  for (const i32 d : darts_) {
    set_node(x, x.spqr.end(d), model->second);
    set_key(x, d >> 1, model->first >> 1, (model->first ^ d) & 1);
    ++model;
  }
}

/// A skeleton without symmetries.
void Orbits::distinct(const Parts& x, i32 c) {
  const SpqrNode& node = x.spqr.nodes[c];
  for (i32 y = node.first; y < node.last; ++y) {
    if (y == node.up) continue;
    set_key(x, y, new_orbit(false), 0);
    for (const i32 v : x.spqr.entries[y].end) new_node(x, v);
  }
}

/// Edges of a bond with equal tokens are one orbit. If it flips, the edges with tokens (s, t) go to those with (t, s).
void Orbits::bond(const Parts& x, i32 c, i32 dart, bool flips, i32 group) {
  lister_.sort_bond(x, c, dart);
  const auto& sorted = lister_.sorted;
  const i32 count = static_cast<i32>(sorted.size());
  for (i32 k = 0, last = 0; k < count; k = last) {
    const auto [token, d] = sorted[k];
    while (last < count && sorted[last].first == token) ++last;
    if (last - k > 1) ties.push_back({Tie::kEdges, c, k, last - k, group});
    const i32 back = x.spqr.token(d ^ 1);
    const bool seen = flips && back < token;  // those with (t, s) came before
    i32 orbit;
    if (seen) {
      const auto before = std::lower_bound(sorted.begin(), sorted.begin() + k, std::pair(back, -1));
      orbit = entry_key_[before->second >> 1] >> 1;
    } else {
      orbit = new_orbit(flips && back == token);
    }
    for (i32 j = k; j < last; ++j) set_key(x, sorted[j].second >> 1, orbit, (sorted[j].second & 1) ^ seen);
  }
}

/// Makes each dart of a skeleton a set.
void Orbits::separate(const Parts& x, i32 c) {
  const SpqrNode& node = x.spqr.nodes[c];
  for (i32 d = 2 * node.first; d < 2 * node.last; ++d) set_[d] = d;
}

/// Joins the sets of darts[i] and images[i], and of their reverses.
void Orbits::unite(const std::vector<i32>& darts, const std::vector<i32>& images) {
  for (std::size_t i = 0; i < darts.size(); ++i) {
    for (const i32 way : {0, 1}) {
      const i32 a = find(set_, darts[i] ^ way), b = find(set_, images[i] ^ way);
      set_[std::max(a, b)] = std::min(a, b);
    }
  }
}

/// Orbits of the edges and nodes of a skeleton from those of its darts: sets that are named by their first darts. Nodes are in one orbit if
/// darts that leave them are.
void Orbits::collect(const Parts& x, i32 c, std::vector<i32>& set) {
  const SpqrNode& node = x.spqr.nodes[c];
  const Entry* const entries = x.spqr.entries.data();
  for (i32 y = node.first; y < node.last; ++y)
    for (const i32 v : entries[y].end) least_set_[v] = std::numeric_limits<i32>::max();
  for (i32 y = node.first; y < node.last; ++y) {
    if (y == node.up) continue;
    for (const i32 way : {0, 1}) {
      i32& least = least_set_[entries[y].end[way]];
      least = std::min(least, find(set, 2 * y + way));
    }
  }
  for (i32 d = 2 * node.first; d < 2 * node.last; ++d) entry_orbit_of_[d] = node_orbit_of_[d] = -1;
  for (i32 y = node.first; y < node.last; ++y) {
    if (y == node.up) continue;
    const i32 one = find(set, 2 * y), two = find(set, 2 * y + 1);
    i32& orbit = entry_orbit_of_[std::min(one, two)];
    if (orbit < 0) orbit = new_orbit(one == two);
    set_key(x, y, orbit, two < one);
    for (const i32 v : entries[y].end) {
      if (node_orbit_[v] >= 0) continue;
      i32& of_node = node_orbit_of_[least_set_[v]];
      if (of_node < 0) of_node = num_node_orbits_++;
      set_node(x, v, of_node);
    }
  }
}

// --- results ---------------------------------------------------------------------------------------------------------

void Orbits::append(const Parts& x, Symmetries& out) {
  const std::size_t first_node = out.node_orbit.size(), first_edge = out.edge_orbit.size();
  resize(out.node_orbit, first_node + x.g.n);
  resize(out.edge_orbit, first_edge + x.g.m);
  i32 *const nodes = out.node_orbit.data() + first_node, *const edges = out.edge_orbit.data() + first_edge;
  for (i32 v = 0; v < x.g.n; ++v) nodes[x.g.node_of[v]] = node_orbit_[v];
  for (i32 y = 0; y < x.spqr.num_entries(); ++y)
    if (const i32 real = x.spqr.entries[y].real; real >= 0) edges[x.g.edge_of[real]] = entry_key_[y] >> 1;
  const auto by_first_appearance = [&](i32* orbits, i32 count, i32 bound) {
    grow_fill(final_, bound, -1);
    i32 next = 0;
    for (i32 k = 0; k < count; ++k) {
      i32& number = final_[orbits[k]];
      if (number < 0) number = next++;
      orbits[k] = number;
    }
  };
  by_first_appearance(nodes, x.g.n, num_node_orbits_);
  by_first_appearance(edges, x.g.m, static_cast<i32>(flips_.size()));

  struct Factor {
    bool factorial;
    i32 base, times;
  };
  std::vector<Factor> factors;
  for (const Tie& tie : ties) factors.push_back({tie.is_factorial() && tie.factor > 2, tie.factor, group_size[tie.group]});
  const auto key = [](const Factor& f) { return std::pair(f.factorial, f.base); };
  std::sort(factors.begin(), factors.end(), [&](const Factor& a, const Factor& b) { return key(a) < key(b); });
  if (out.factor_ptr.empty()) out.factor_ptr.push_back(0);
  for (std::size_t k = 0; k < factors.size(); ++k) {
    if (k > 0 && key(factors[k]) == key(factors[k - 1])) {
      out.factor_times.back() += factors[k].times;
      continue;
    }
    out.factorial.push_back(factors[k].factorial);
    out.factor_base.push_back(factors[k].base);
    out.factor_times.push_back(factors[k].times);
  }
  out.factor_ptr.push_back(static_cast<i64>(out.factor_base.size()));
  out.reflects.push_back(reflects);
}

}  // namespace planegraph
