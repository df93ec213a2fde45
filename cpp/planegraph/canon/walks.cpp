// The idea, the invariants and the cost are described in walks.hpp.
#include "planegraph/canon/walks.hpp"

#include <algorithm>
#include <array>

#include "planegraph/canon/rotation_of_sequence.hpp"
#include "planegraph/graph/memory.hpp"
#include "planegraph/graph/small_sort.hpp"

namespace planegraph {
namespace {

/// First entries of a code that is not the code of a single-centred component; component codes start with their SpqrType.
constexpr i32 kTwoCentres = 4, kNeutralRoot = 5, kSet = 6;

constexpr i32 kBeginning = 256;  // darts whose code usually tells two walks apart

bool is_large(const SpqrNode& node) { return node.type == kR && 2 * node.size() >= 16 * kBeginning; }

}  // namespace

struct Walks::Context {
  const Graph& g;
  const Blocks& blocks;
  Spqr& spqr;
  const Rotations& rotations;
};

void Walks::run(const Graph& g, const Blocks& blocks, Spqr& spqr, const Rotations& rotations) {
  const Context x{g, blocks, spqr, rotations};
  nonplanar_ = !rotations.all_planar;
  prepare(g, blocks, spqr);
  const std::vector<i32>& order = blocks.by_height();
  const i32 total = blocks.num_tree_nodes();
  const auto height = [&](i32 t) { return t < blocks.count ? blocks.level[t] : blocks.cut_level[t - blocks.count]; };
  for (i32 i = 0, j = 0; i < total; i = j) {
    const i32 h = height(order[i]);
    while (j < total && height(order[j]) == h) ++j;
    if (h % 2 == 1) {
      rank_cuts(x, order.data() + i, j - i);
      continue;
    }
    const i32* nodes = by_level_.data() + level_ptr_[h / 2];
    const i32* const last = by_level_.data() + level_ptr_[h / 2 + 1];
    while (nodes < last) {
      const i32* group_end = nodes + 1;
      while (group_end < last && spqr.nodes[*group_end].level == spqr.nodes[*nodes].level) ++group_end;
      rank_hanging(x, nodes, static_cast<i32>(group_end - nodes));
      nodes = group_end;
    }
    code_roots(x, order.data() + i, j - i);
  }
}

Rigid Walks::rigid(const Blocks& blocks, const Spqr& spqr, const Rotations& rotations, i32 c) const {
  const SpqrNode& node = spqr.nodes[c];
  return {2 * node.first, 2 * node.size(), spqr.entries.data(), rotations.turns.data(), colours(blocks, node.block)};
}

void Walks::prepare(const Graph& g, const Blocks& blocks, Spqr& spqr) {
  const i32 count = spqr.count();
  const Forest& forest = spqr.forest;
  next_rank_ = next_block_class_ = next_cut_class_ = 0;
  grow(start, count);
  for (i32 c = 0; c < count; ++c) {
    spqr.nodes[c].parent = forest.parent[c];
    spqr.nodes[c].level = forest.height[c];
  }
  for (i32 y = 0; y < spqr.num_entries(); ++y) {
    Entry& entry = spqr.entries[y];
    if (entry.real >= 0) {
      entry.token[0] = g.token[2 * entry.real];
      entry.token[1] = g.token[2 * entry.real + 1];
    } else if (spqr.nodes[entry.owner].parent == spqr.across(y)) {
      spqr.nodes[entry.owner].up = y;
    }
  }
  grow_fill(centre_, blocks.count, -1);
  for (const auto& [first, second] : forest.two_centres) {
    centre_[spqr.nodes[first].block] = first;
    spqr.nodes[second].up = spqr.entries[spqr.nodes[first].up].twin;
  }
  grow(block_root, blocks.count);
  grow(block_class, blocks.count);
  grow(cut_class, blocks.num_cuts);
  grow(paint, g.n);
  std::copy_n(g.label.begin(), g.n, paint.begin());
  weinberg.reserve(g.n, spqr.num_entries());
  if (keep_ties) {
    tied_states_.clear();
    grow_fill(tied_ptr_, blocks.count, std::pair<i32, i32>(0, 0));
    grow_fill(has_dart_orbits_, blocks.count, u8{0});
  }
  if (nonplanar_) {
    tainted_.assign(count, 0);
    grow_fill(node_tainted_, g.n, u8{0});
  }
  i32 levels = 0;
  for (i32 b = 0; b < blocks.count; ++b) levels = std::max(levels, blocks.level[b] / 2 + 1);
  grow_fill(level_ptr_, static_cast<std::size_t>(levels) + 2, 0);
  grow(by_level_, count);
  const auto level_of = [&](i32 c) { return blocks.level[spqr.nodes[c].block] / 2; };
  for (i32 c = 0; c < count; ++c) ++level_ptr_[level_of(c) + 2];
  for (i32 k = 0; k < levels; ++k) level_ptr_[k + 2] += level_ptr_[k + 1];
  for (i32 k = 0; k < count; ++k) {
    const i32 c = forest.order[k];
    by_level_[level_ptr_[level_of(c) + 1]++] = c;
    if (forest.parent[c] < 0) block_root[spqr.nodes[c].block] = c;
  }
}

// --- non-root SPQR nodes ---------------------------------------------------------------------------------------------

/// Codes the SPQR nodes of one height for both directions, and hands the ranks to the parents as tokens.
void Walks::rank_hanging(const Context& x, const i32* nodes, i32 count) {
  ranker_.clear();
  large_sizes_.clear();
  for (i32 k = 0; k < count; ++k)
    if (is_large(x.spqr.nodes[nodes[k]])) large_sizes_.push_back(x.spqr.nodes[nodes[k]].size());
  for (i32 k = 0; k < count; ++k) {
    const i32 c = nodes[k];
    if (x.spqr.nodes[c].up < 0) continue;
    if (nonplanar_) tainted_[c] = is_tainted(x, c);
    if (is_large(x.spqr.nodes[c]) && code_beginnings(x, c)) continue;
    code_hanging(x, c, 0);
    ranker_.close();
    code_hanging(x, c, 1);
    ranker_.close();
  }
  if (ranker_.count() == 0) return;
  const i32 base = x.g.num_tokens + next_rank_;
  next_rank_ += ranker_.finish();
  i32 code = 0;
  for (i32 k = 0; k < count; ++k) {
    const i32 c = nodes[k];
    if (x.spqr.nodes[c].up < 0) continue;
    Entry& above = x.spqr.entries[x.spqr.entries[x.spqr.nodes[c].up].twin];
    above.token[0] = base + ranker_.rank(code++);
    above.token[1] = base + ranker_.rank(code++);
  }
}

/// A large rigid node of a size that no other of this height has differs from all of them, so only its two directions need to be told
/// apart: the beginnings of its walks do, where they differ. False: nothing was coded.
bool Walks::code_beginnings(const Context& x, i32 c) {
  SpqrNode& node = x.spqr.nodes[c];
  if (!x.rotations.planar[c] || std::count(large_sizes_.begin(), large_sizes_.end(), node.size()) > 1) return false;
  Rigid skeleton = rigid(x.blocks, x.spqr, x.rotations, c);
  skeleton.num_darts = kBeginning;
  std::vector<i32>* const codes[2] = {&scratch_, &scratch2_};
  const auto ignore = [](i32) {};
  for (i32 side = 0; side < 2; ++side) {
    codes[side]->clear();
    improve_walk_code(skeleton, weinberg, 2 * node.up + side, false, *codes[side], 0, ignore);
    const int order = improve_walk_code(skeleton, weinberg, 2 * node.up + side, true, *codes[side], 0, ignore);
    if (order == 0) return false;
    node.mirror[side] = order < 0;
  }
  if (scratch_ == scratch2_) return false;
  for (const std::vector<i32>* code : codes) {
    ranker_.push(kR);
    ranker_.push(node.size());  // a full code has kappa = 1 here
    std::copy(code->begin(), code->end(), ranker_.extend(code->size()));
    ranker_.close();
  }
  return true;
}

/// The code of a subtree from the virtual edge at which it hangs, in one of its directions: TriCode where the component is rigid.
void Walks::code_hanging(const Context& x, i32 c, i32 side) {
  SpqrNode& node = x.spqr.nodes[c];
  const i32 dart = 2 * node.up + side;
  switch (node.type) {
    case kS: code_cycle(x, c, dart); break;
    case kP:
      code_bond(x, c, dart);
      if (nonplanar_ && tainted_[c] && bond_is_tied(x, c, dart)) node.is_set = 1;
      break;
    default:
      if (!x.rotations.planar[c]) {
        node.is_set = 1;
        code_as_set(x, c, dart);
        break;
      }
      ranker_.push(kR);
      const Rigid skeleton = rigid(x.blocks, x.spqr, x.rotations, c);
      const std::size_t from = ranker_.data().size();
      const auto ignore = [](i32) {};
      improve_walk_code(skeleton, weinberg, dart, false, ranker_.data(), from, ignore);
      const int order = improve_walk_code(skeleton, weinberg, dart, true, ranker_.data(), from, ignore);
      node.mirror[side] = order < 0;
      node.tied = order == 0;
      if (nonplanar_ && order == 0 && tainted_[c]) node.is_set = 1;
  }
}

/// Once round the cycle from the given dart.
void Walks::code_cycle(const Context& x, i32 c, i32 first_dart) {
  const Spqr& spqr = x.spqr;
  const SpqrNode& node = spqr.nodes[c];
  const Colours colour = colours(x.blocks, node.block);
  i32* code = ranker_.extend(1 + 2 * static_cast<std::size_t>(node.size()));
  *code++ = kS;
  spqr.walk_cycle(node, first_dart, [&](i32 d) {
    *code++ = colour(spqr.end(d));
    *code++ = spqr.token(d);
  });
}

/// The poles, then the tokens of the parallel edges in ascending order, all in the direction of the given dart.
/// A hanging bond leaves out the edge at which it hangs.
void Walks::code_bond(const Context& x, i32 c, i32 first_dart) {
  const Spqr& spqr = x.spqr;
  const SpqrNode& node = spqr.nodes[c];
  const Colours colour = colours(x.blocks, node.block);
  const i32 u = spqr.end(first_dart), v = spqr.end(first_dart ^ 1);
  for (const i32 value : {i32{kP}, colour(u), colour(v)}) ranker_.push(value);
  std::vector<i32>& code = ranker_.data();
  const std::size_t from = code.size();
  for (i32 y = node.first; y < node.last; ++y)
    if (y != node.up) code.push_back(spqr.token(spqr.dart_from(y, u)));
  small_sort(code.data() + from, code.data() + code.size());
}

/// The multiset of darts with the colours of both ends. `up_dart` is the dart at which the component hangs, or -1.
void Walks::code_as_set(const Context& x, i32 c, i32 up_dart) {
  const Spqr& spqr = x.spqr;
  const SpqrNode& node = spqr.nodes[c];
  const Colours colour = colours(x.blocks, node.block);
  std::vector<std::array<i32, 3>> darts;
  for (i32 d = 2 * node.first; d < 2 * node.last; ++d) {
    const i32 u = spqr.end(d), v = spqr.end(d ^ 1);
    const bool hangs_here = up_dart >= 0 && (d >> 1) == (up_dart >> 1);
    const i32 token = !hangs_here ? spqr.token(d) : d == up_dart ? -1 : -2;
    darts.push_back({colour(u), colour(v), token});
  }
  std::sort(darts.begin(), darts.end());
  ranker_.push(kSet);
  ranker_.push(node.type);
  for (const auto& dart : darts)
    for (const i32 value : dart) ranker_.push(value);
}

// --- roots -----------------------------------------------------------------------------------------------------------

/// KHC's BiCode: codes the SPQR roots of all blocks of one height, with a rank for each subtree below them, and ranks the blocks.
void Walks::code_roots(const Context& x, const i32* block_list, i32 count) {
  ranker_.clear();
  for (i32 k = 0; k < count; ++k) {
    code_root(x, block_list[k], count > 1);
    ranker_.close();
  }
  const i32 base = next_block_class_;
  next_block_class_ += ranker_.finish();
  for (i32 k = 0; k < count; ++k) block_class[block_list[k]] = base + ranker_.rank(k);
}

void Walks::code_root(const Context& x, i32 b, bool keep_code) {
  if (centre_[b] >= 0) {
    settle_two_centres(x, b);
    return;
  }
  const i32 c = block_root[b];
  if (nonplanar_) tainted_[c] = is_tainted(x, c);
  switch (x.spqr.nodes[c].type) {
    case kQ: code_edge(x, c); break;
    case kS: code_root_cycle(x, c); break;
    case kP: code_root_bond(x, c); break;
    default: code_root_rigid(x, c, keep_code);
  }
  if (nonplanar_ && tainted_[c] && start[c].tied) x.spqr.nodes[c].is_set = 1;
}

/// Chooses the root of a tree with two centres; its walk starts at the edge between them.
void Walks::settle_two_centres(const Context& x, i32 b) {
  Spqr& spqr = x.spqr;
  std::vector<SpqrNode>& nodes = spqr.nodes;
  const i32 first = centre_[b], second = nodes[first].parent;
  // the codes of `first`, hanging at `second`, are the tokens of the edge between them on the side of `second`
  const auto hanging = [&](i32 c, i32 side) { return spqr.entries[spqr.entries[nodes[c].up].twin].token[side]; };
  const auto smaller = [&](i32 c) { return std::min(hanging(c, 0), hanging(c, 1)); };
  const bool tainted = nonplanar_ && (tainted_[first] || tainted_[second]);
  if (tainted && smaller(first) == smaller(second)) {
    add_neutral_root(x, b);
    return;
  }
  const i32 root = smaller(first) < smaller(second) ? first : second;
  const i32 other = root == first ? second : first;
  const auto pair = [&](i32 side) { return std::pair(hanging(root, side), hanging(other, side)); };
  const i32 side = pair(1) < pair(0) ? 1 : 0;
  start[root] = {2 * nodes[root].up + side, nodes[root].mirror[side] != 0, pair(0) == pair(1)};
  nodes[root].parent = -1;
  nodes[other].parent = root;
  ++nodes[root].level;
  block_root[b] = root;
  ranker_.push(kTwoCentres);
  ranker_.push(pair(side).first);
  ranker_.push(pair(side).second);
  if (tainted) {
    tainted_[root] = 1;
    if (start[root].tied) nodes[root].is_set = 1;
  }
}

/// Two centres with equal, incomplete codes: neither may be preferred, so both hang at a bond between them.
void Walks::add_neutral_root(const Context& x, i32 b) {
  Spqr& spqr = x.spqr;
  const i32 first = centre_[b], second = spqr.nodes[first].parent, between = spqr.nodes[first].up;
  const Entry of_second = spqr.entries[between], of_first = spqr.entries[of_second.twin];  // tokens: who hangs across
  const i32 neutral = spqr.split_virtual_edge(between);
  std::vector<SpqrNode>& nodes = spqr.nodes;
  nodes[first].parent = nodes[second].parent = neutral;
  nodes[neutral].level = nodes[first].level + 1;
  nodes[neutral].is_set = 1;
  tainted_.push_back(1);
  for (i32 side = 0; side < 2; ++side) {
    spqr.entries[nodes[neutral].first].token[side] = of_first.token[side];
    spqr.entries[nodes[neutral].first + 1].token[side] = of_second.token[side];
  }
  grow(start, spqr.count());
  start[neutral] = {2 * nodes[neutral].first, false, true};
  block_root[b] = neutral;
  ranker_.push(kNeutralRoot);
  ranker_.push(std::min(of_first.token[0], of_first.token[1]));
}

void Walks::code_edge(const Context& x, i32 c) {
  const Spqr& spqr = x.spqr;
  const Colours colour = colours(x.blocks, spqr.nodes[c].block);
  const i32 ahead = 2 * spqr.nodes[c].first;
  const auto key = [&](i32 d) {
    const i32 u = spqr.end(d), v = spqr.end(d ^ 1);
    return std::array<i32, 3>{colour(u), colour(v), spqr.token(d)};
  };
  const auto one = key(ahead), other = key(ahead + 1);
  start[c] = {other < one ? ahead + 1 : ahead, false, one == other};
  ranker_.push(kQ);
  for (const i32 value : std::min(one, other)) ranker_.push(value);
}

/// The smallest of all rotations of the cycle in both directions.
void Walks::code_root_cycle(const Context& x, i32 c) {
  const Spqr& spqr = x.spqr;
  const SpqrNode& node = spqr.nodes[c];
  const Colours colour = colours(x.blocks, node.block);
  const i32 k = node.size();
  const auto forward_dart = [&](i32 i) { return spqr.cycle_dart(node.first + i, true); };
  const auto backward_dart = [&](i32 i) { return spqr.cycle_dart(node.last - 1 - i, false); };
  const auto fill = [&](std::vector<i32>& sequence, auto&& dart_at) {
    grow(sequence, 2 * static_cast<std::size_t>(k));
    for (i32 i = 0; i < k; ++i) {
      const i32 d = dart_at(i);
      sequence[2 * i] = colour(spqr.end(d));
      sequence[2 * i + 1] = spqr.token(d);
    }
  };
  fill(scratch_, forward_dart);
  fill(scratch2_, backward_dart);
  const CyclicSequence ahead{scratch_.data(), 2, k}, back{scratch2_.data(), 2, k};
  const LeastRotation a = least_rotation(ahead), z = least_rotation(back);
  const int order = compare_rotations(ahead, a.start, back, z.start);
  start[c] = {order <= 0 ? forward_dart(a.start) : backward_dart(z.start), false, order == 0 || a.period < k};
  code_cycle(x, c, start[c].dart);
  if (keep_ties && start[c].tied) keep_cycle_ties(x, c, order <= 0 ? a.start : -1, order >= 0 ? z.start : -1, a.period);
}

/// `ahead` and `back`: the entry, from the first or the last one on, at which a least walk starts in either direction, or -1.
void Walks::keep_cycle_ties(const Context& x, i32 c, i32 ahead, i32 back, i32 period) {
  const SpqrNode& node = x.spqr.nodes[c];
  const i32 k = node.size(), first = static_cast<i32>(tied_states_.size());
  const auto keep = [&](i32 from, auto&& dart_at) {
    for (i32 turn = 0; from >= 0 && turn < k; turn += period)
      tied_states_.push_back(2 * (dart_at((from + turn) % k) - 2 * node.first));
  };
  keep(ahead, [&](i32 i) { return x.spqr.cycle_dart(node.first + i, true); });
  keep(back, [&](i32 i) { return x.spqr.cycle_dart(node.last - 1 - i, false); });
  tied_ptr_[node.block] = {first, static_cast<i32>(tied_states_.size())};
}

void Walks::code_root_bond(const Context& x, i32 c) {
  const i32 dart = 2 * x.spqr.nodes[c].first;
  std::vector<i32>& code = ranker_.data();
  const std::size_t from = code.size();
  code_bond(x, c, dart);
  const std::size_t middle = code.size();
  code_bond(x, c, dart + 1);
  const auto at = [&](std::size_t k) { return code.begin() + static_cast<std::ptrdiff_t>(k); };
  const bool equal = std::equal(at(from), at(middle), at(middle));
  const bool swap = std::lexicographical_compare(at(middle), code.end(), at(from), at(middle));
  if (swap) std::copy(at(middle), code.end(), at(from));
  code.resize(middle);
  start[c] = {dart + swap, false, equal};
  if (nonplanar_ && tainted_[c] && bond_is_tied(x, c, start[c].dart)) start[c].tied = true;
}

/// KHC's TriCode of a rigid root: the smallest code of Weinberg's walk over all starts.
void Walks::code_root_rigid(const Context& x, i32 c, bool keep_code) {
  if (!x.rotations.planar[c]) {
    start[c] = {2 * x.spqr.nodes[c].first, false, true};
    x.spqr.nodes[c].is_set = 1;
    code_as_set(x, c, -1);
    return;
  }
  const Rigid skeleton = rigid(x.blocks, x.spqr, x.rotations, c);
  start[c] = refiner_.choose(skeleton, weinberg);
  if (keep_ties && start[c].tied) keep_rigid_ties(x, c, skeleton);
  if (skeleton.num_darts > (1 << 18)) refiner_.release_memory();
  if (!keep_code) return;
  ranker_.push(kR);
  improve_walk_code(skeleton, weinberg, start[c].dart, start[c].mirror, ranker_.data(), ranker_.data().size(), [](i32) {});
}

void Walks::keep_rigid_ties(const Context& x, i32 c, const Rigid& skeleton) {
  const i32 b = x.spqr.nodes[c].block, first = static_cast<i32>(tied_states_.size());
  refiner_.append_tied(tied_states_);
  tied_ptr_[b] = {first, static_cast<i32>(tied_states_.size())};
  if (!refiner_.is_stable()) return;
  grow(dart_orbit, 2 * static_cast<std::size_t>(x.spqr.num_entries()));
  refiner_.dart_orbits(skeleton, skeleton.first, dart_orbit.data() + skeleton.first);
  has_dart_orbits_[b] = 1;
}

// --- cut nodes -------------------------------------------------------------------------------------------------------

/// The class of a cut node: its label and the multiset of the classes of its child blocks. In KHC this code overrides that of the node.
void Walks::rank_cuts(const Context& x, const i32* cuts, i32 count) {
  const Blocks& blocks = x.blocks;
  ranker_.clear();
  for (i32 k = 0; k < count; ++k) {
    const i32 c = cuts[k] - blocks.count;
    std::vector<i32>& code = ranker_.data();
    code.push_back(x.g.label[blocks.cut_node[c]]);
    const std::size_t from = code.size();
    for (i32 j = blocks.child_ptr[c]; j < blocks.child_ptr[c + 1]; ++j) {
      const i32 b = blocks.child[j];
      code.push_back(block_class[b]);
      if (nonplanar_ && tainted_[block_root[b]]) node_tainted_[blocks.cut_node[c]] = 1;
    }
    small_sort(code.data() + from, code.data() + code.size());
    ranker_.close();
  }
  const i32 base = next_cut_class_;
  next_cut_class_ += ranker_.finish();
  for (i32 k = 0; k < count; ++k) {
    const i32 c = cuts[k] - blocks.count;
    cut_class[c] = base + ranker_.rank(k);
    paint[blocks.cut_node[c]] = x.g.num_labels + cut_class[c];
  }
}

// --- incomplete codes ------------------------------------------------------------------------------------------------

/// Does the code of c depend on a component that is not planar?
bool Walks::is_tainted(const Context& x, i32 c) const {
  const Spqr& spqr = x.spqr;
  const SpqrNode& node = spqr.nodes[c];
  if (node.type == kR && !x.rotations.planar[c]) return true;
  const i32 marked = x.blocks.parent_node(node.block);
  for (i32 y = node.first; y < node.last; ++y) {
    const Entry& entry = spqr.entries[y];
    if (entry.real < 0 && y != node.up && tainted_[spqr.across(y)]) return true;
    for (const i32 v : entry.end)
      if (v != marked && node_tainted_[v]) return true;
  }
  return false;
}

/// Do two parallel edges with incomplete codes look the same?
bool Walks::bond_is_tied(const Context& x, i32 c, i32 first_dart) const {
  const Spqr& spqr = x.spqr;
  const SpqrNode& node = spqr.nodes[c];
  std::vector<i32> tokens;
  for (i32 y = node.first; y < node.last; ++y)
    if (y != node.up && spqr.entries[y].real < 0 && tainted_[spqr.across(y)])
      tokens.push_back(spqr.token(spqr.dart_from(y, spqr.end(first_dart))));
  std::sort(tokens.begin(), tokens.end());
  return std::adjacent_find(tokens.begin(), tokens.end()) != tokens.end();
}

}  // namespace planegraph
