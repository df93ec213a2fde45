#include "walks.hpp"

#include <algorithm>

#include "memory.hpp"
#include "rotation_of_sequence.hpp"

namespace planegraph {
namespace {

/// First entries of a code that is not the code of a single-centred component; component codes start with their SpqrType.
constexpr i32 kTwoCentres = 4, kNeutralRoot = 5, kSet = 6;

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
      while (group_end < last && level[*group_end] == level[*nodes]) ++group_end;
      rank_hanging(x, nodes, static_cast<i32>(group_end - nodes));
      nodes = group_end;
    }
    code_roots(x, order.data() + i, j - i);
  }
}

Rigid Walks::rigid(const Graph& g, const Blocks& blocks, const Spqr& spqr, const Rotations& rotations, i32 c) const {
  return {2 * spqr.entry_ptr[c], 2 * spqr.size(c), spqr.end.data(), rotations.next.data(), rotations.prev.data(), token.data(),
          colours(g, blocks, spqr.block[c])};
}

void Walks::prepare(const Graph& g, const Blocks& blocks, const Spqr& spqr) {
  const i32 count = spqr.count;
  const Forest& forest = spqr.forest;
  next_rank_ = next_block_class_ = next_cut_class_ = 0;
  parent.assign(forest.parent.begin(), forest.parent.begin() + count);
  level.assign(forest.height.begin(), forest.height.begin() + count);
  up.assign(count, -1);
  is_set.assign(count, 0);
  grow(start, count);
  grow_fill(mirror, 2 * static_cast<std::size_t>(count), u8{0});
  grow(token, 2 * static_cast<std::size_t>(spqr.num_entries));
  for (i32 y = 0; y < spqr.num_entries; ++y) {
    if (spqr.real[y] >= 0) {
      token[2 * y] = g.token[2 * spqr.real[y]];
      token[2 * y + 1] = g.token[2 * spqr.real[y] + 1];
    } else {
      token[2 * y] = token[2 * y + 1] = -1;
      if (parent[spqr.owner[y]] == spqr.across(y)) up[spqr.owner[y]] = y;
    }
  }
  grow_fill(centre_, blocks.count, -1);
  for (const auto& [first, second] : forest.two_centres) {
    centre_[spqr.block[first]] = first;
    up[second] = spqr.twin[up[first]];
  }
  grow(block_root, blocks.count);
  grow(block_class, blocks.count);
  grow(cut_class, blocks.num_cuts);
  grow_fill(hang, g.n, 0);
  weinberg.reserve(g.n, spqr.num_entries);
  if (nonplanar_) {
    tainted_.assign(count, 0);
    grow_fill(node_tainted_, g.n, u8{0});
  }
  i32 levels = 0;
  for (i32 b = 0; b < blocks.count; ++b) levels = std::max(levels, blocks.level[b] / 2 + 1);
  grow_fill(level_ptr_, static_cast<std::size_t>(levels) + 2, 0);
  grow(by_level_, count);
  const auto level_of = [&](i32 c) { return blocks.level[spqr.block[c]] / 2; };
  for (i32 c = 0; c < count; ++c) ++level_ptr_[level_of(c) + 2];
  for (i32 k = 0; k < levels; ++k) level_ptr_[k + 2] += level_ptr_[k + 1];
  for (i32 k = 0; k < count; ++k) {
    const i32 c = forest.order[k];
    by_level_[level_ptr_[level_of(c) + 1]++] = c;
    if (parent[c] < 0) block_root[spqr.block[c]] = c;
  }
}

// --- non-root SPQR nodes ---------------------------------------------------------------------------------------------

/// Codes the SPQR nodes of one height for both directions, and hands the ranks to the parents as tokens.
void Walks::rank_hanging(const Context& x, const i32* nodes, i32 count) {
  ranker_.clear();
  for (i32 k = 0; k < count; ++k) {
    const i32 c = nodes[k];
    if (up[c] < 0) continue;
    if (nonplanar_) tainted_[c] = is_tainted(x, c);
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
    if (up[c] < 0) continue;
    const i32 y = x.spqr.twin[up[c]];
    token[2 * y] = base + ranker_.rank(code++);
    token[2 * y + 1] = base + ranker_.rank(code++);
  }
}

void Walks::code_hanging(const Context& x, i32 c, i32 side) {
  const i32 dart = 2 * up[c] + side;
  switch (x.spqr.type[c]) {
    case kS:
      code_cycle(x, c, dart);
      break;
    case kP:
      code_bond(x, c, dart);
      if (nonplanar_ && tainted_[c] && bond_is_tied(x, c, dart)) is_set[c] = 1;
      break;
    default:
      if (!x.rotations.planar[c]) {
        is_set[c] = 1;
        code_as_set(x, c, dart);
        break;
      }
      ranker_.push(kR);
      const Rigid skeleton = rigid(x.g, x.blocks, x.spqr, x.rotations, c);
      const std::size_t from = ranker_.data().size();
      const auto ignore = [](i32) {};
      improve_walk_code(skeleton, weinberg, dart, false, ranker_.data(), from, ignore);
      const int order = improve_walk_code(skeleton, weinberg, dart, true, ranker_.data(), from, ignore);
      mirror[2 * c + side] = order < 0;
      if (nonplanar_ && order == 0 && tainted_[c]) is_set[c] = 1;
  }
}

/// Once round the cycle from the given dart.
void Walks::code_cycle(const Context& x, i32 c, i32 first_dart) {
  const Spqr& spqr = x.spqr;
  const Colours paint = colours(x.g, x.blocks, spqr.block[c]);
  const i32 first = spqr.entry_ptr[c], last = spqr.entry_ptr[c + 1];
  const bool along = (first_dart & 1) != spqr.forward[first_dart >> 1];
  ranker_.push(kS);
  i32 y = first_dart >> 1;
  for (i32 k = first; k < last; ++k) {
    const i32 d = 2 * y + (along ? 1 - spqr.forward[y] : spqr.forward[y]);
    push_colour(paint, spqr.end[d]);
    ranker_.push(token[d]);
    if (along)
      y = y + 1 == last ? first : y + 1;
    else
      y = y == first ? last - 1 : y - 1;
  }
}

/// The poles, then the tokens of the parallel edges in ascending order, all in the direction of the given dart.
/// A hanging bond leaves out the edge at which it hangs.
void Walks::code_bond(const Context& x, i32 c, i32 first_dart) {
  const Spqr& spqr = x.spqr;
  const Colours paint = colours(x.g, x.blocks, spqr.block[c]);
  const i32 u = spqr.end[first_dart];
  ranker_.push(kP);
  push_colour(paint, u);
  push_colour(paint, spqr.end[first_dart ^ 1]);
  std::vector<i32>& code = ranker_.data();
  const std::size_t from = code.size();
  for (i32 y = spqr.entry_ptr[c]; y < spqr.entry_ptr[c + 1]; ++y)
    if (y != up[c]) code.push_back(token[2 * y + (spqr.end[2 * y] != u)]);
  std::sort(code.begin() + static_cast<std::ptrdiff_t>(from), code.end());
}

/// The multiset of darts with the colours of both ends. `up_dart` is the dart at which the component hangs, or -1.
void Walks::code_as_set(const Context& x, i32 c, i32 up_dart) {
  const Spqr& spqr = x.spqr;
  const Colours paint = colours(x.g, x.blocks, spqr.block[c]);
  ranker_.push(kSet);
  ranker_.push(x.spqr.type[c]);
  std::vector<i32>& code = ranker_.data();
  std::vector<std::vector<i32>> tuples;
  for (i32 d = 2 * spqr.entry_ptr[c]; d < 2 * spqr.entry_ptr[c + 1]; ++d) {
    const i32 u = spqr.end[d], v = spqr.end[d ^ 1];
    const i32 own = d == up_dart ? -1 : d == (up_dart ^ 1) && up_dart >= 0 ? -2 : token[d];
    tuples.push_back({paint.first(u), paint.second(u), paint.first(v), paint.second(v), own});
  }
  std::sort(tuples.begin(), tuples.end());
  for (const auto& tuple : tuples) code.insert(code.end(), tuple.begin(), tuple.end());
}

// --- roots -----------------------------------------------------------------------------------------------------------

/// Codes the SPQR roots of all blocks of one height and ranks the blocks.
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
  switch (x.spqr.type[c]) {
    case kQ:
      code_edge(x, c);
      break;
    case kS:
      code_root_cycle(x, c);
      break;
    case kP:
      code_root_bond(x, c);
      break;
    default:
      code_root_rigid(x, c, keep_code);
  }
  if (nonplanar_ && tainted_[c] && start[c].tied) is_set[c] = 1;
}

/// Chooses the root of a tree with two centres; its walk starts at the edge between them.
void Walks::settle_two_centres(const Context& x, i32 b) {
  Spqr& spqr = x.spqr;
  const i32 first = centre_[b], second = parent[first];
  // the codes of `first`, hanging at `second`, are the tokens of the edge between them on the side of `second`
  const auto hanging = [&](i32 c, i32 side) { return token[2 * spqr.twin[up[c]] + side]; };
  const auto smaller = [&](i32 c) { return std::min(hanging(c, 0), hanging(c, 1)); };
  const i32 root = smaller(first) < smaller(second) ? first : second;
  const i32 other = root == first ? second : first;
  const bool tainted = nonplanar_ && (tainted_[first] || tainted_[second]);
  if (tainted && smaller(first) == smaller(second)) {
    ranker_.push(kNeutralRoot);
    for (const i32 c : {first, second}) ranker_.push(smaller(c));
    const i32 codes[2][2] = {{hanging(first, 0), hanging(first, 1)}, {hanging(second, 0), hanging(second, 1)}};
    const i32 neutral = spqr.split_virtual_edge(up[first]);
    parent[first] = parent[second] = neutral;
    parent.push_back(-1);
    level.push_back(level[first] + 1);
    up.push_back(-1);
    is_set.push_back(1);
    tainted_.push_back(1);
    grow(start, spqr.count);
    grow(mirror, 2 * static_cast<std::size_t>(spqr.count));
    grow(token, 2 * static_cast<std::size_t>(spqr.num_entries));
    for (i32 k = 0; k < 2; ++k)
      for (i32 side = 0; side < 2; ++side) token[2 * (spqr.entry_ptr[neutral] + k) + side] = codes[k][side];
    start[neutral] = {2 * spqr.entry_ptr[neutral], false, true};
    block_root[b] = neutral;
    return;
  }
  const auto pair = [&](i32 side) { return std::pair(hanging(root, side), hanging(other, side)); };
  const i32 side = pair(1) < pair(0) ? 1 : 0;
  start[root] = {2 * up[root] + side, mirror[2 * root + side] != 0, pair(0) == pair(1)};
  parent[root] = -1;
  parent[other] = root;
  ++level[root];
  block_root[b] = root;
  ranker_.push(kTwoCentres);
  ranker_.push(pair(side).first);
  ranker_.push(pair(side).second);
  if (tainted) {
    tainted_[root] = 1;
    if (start[root].tied) is_set[root] = 1;
  }
}

void Walks::code_edge(const Context& x, i32 c) {
  const Spqr& spqr = x.spqr;
  const Colours paint = colours(x.g, x.blocks, spqr.block[c]);
  const i32 y = spqr.entry_ptr[c], u = spqr.end[2 * y], v = spqr.end[2 * y + 1];
  const auto less = [](i32 a, i32 b) { return a < b ? -1 : a > b ? 1 : 0; };
  int order = less(paint.first(u), paint.first(v));
  if (order == 0) order = less(paint.second(u), paint.second(v));
  if (order == 0) order = less(token[2 * y], token[2 * y + 1]);
  const i32 d = 2 * y + (order > 0);
  start[c] = {d, false, order == 0};
  ranker_.push(kQ);
  push_colour(paint, spqr.end[d]);
  push_colour(paint, spqr.end[d ^ 1]);
  ranker_.push(token[d]);
}

/// The smallest of all rotations of the cycle in both directions.
void Walks::code_root_cycle(const Context& x, i32 c) {
  const Spqr& spqr = x.spqr;
  const Colours paint = colours(x.g, x.blocks, spqr.block[c]);
  const i32 first = spqr.entry_ptr[c], k = spqr.size(c);
  const auto forward_dart = [&](i32 i) { return 2 * (first + i) + 1 - spqr.forward[first + i]; };
  const auto fill = [&](std::vector<i32>& sequence, auto&& dart_at) {
    grow(sequence, 3 * static_cast<std::size_t>(k));
    for (i32 i = 0; i < k; ++i) {
      const i32 d = dart_at(i);
      sequence[3 * i] = paint.first(spqr.end[d]);
      sequence[3 * i + 1] = paint.second(spqr.end[d]);
      sequence[3 * i + 2] = token[d];
    }
  };
  const auto backward_dart = [&](i32 i) { return forward_dart(k - 1 - i) ^ 1; };
  fill(scratch_, forward_dart);
  fill(scratch2_, backward_dart);
  const CyclicSequence ahead{scratch_.data(), 3, k}, back{scratch2_.data(), 3, k};
  const LeastRotation a = least_rotation(ahead), z = least_rotation(back);
  const int order = compare_rotations(ahead, a.start, back, z.start);
  const bool use_ahead = order <= 0;
  start[c] = {use_ahead ? forward_dart(a.start) : backward_dart(z.start), false, order == 0 || a.repeats};
  code_cycle(x, c, start[c].dart);
}

void Walks::code_root_bond(const Context& x, i32 c) {
  const i32 y = x.spqr.entry_ptr[c];
  std::vector<i32>& code = ranker_.data();
  const std::size_t from = code.size();
  code_bond(x, c, 2 * y);
  const std::size_t middle = code.size();
  code_bond(x, c, 2 * y + 1);
  const auto at = [&](std::size_t k) { return code.begin() + static_cast<std::ptrdiff_t>(k); };
  const bool equal = std::equal(at(from), at(middle), at(middle));
  const bool swap = std::lexicographical_compare(at(middle), code.end(), at(from), at(middle));
  if (swap) std::copy(at(middle), code.end(), at(from));
  code.resize(middle);
  start[c] = {2 * y + swap, false, equal};
  if (nonplanar_ && tainted_[c] && bond_is_tied(x, c, start[c].dart)) start[c].tied = true;
}

void Walks::code_root_rigid(const Context& x, i32 c, bool keep_code) {
  if (!x.rotations.planar[c]) {
    start[c] = {2 * x.spqr.entry_ptr[c], false, true};
    is_set[c] = 1;
    code_as_set(x, c, -1);
    return;
  }
  const Rigid skeleton = rigid(x.g, x.blocks, x.spqr, x.rotations, c);
  start[c] = refiner_.choose(skeleton, weinberg);
  if (skeleton.num_darts > (1 << 18)) refiner_.release_memory();
  if (!keep_code) return;
  ranker_.push(kR);
  improve_walk_code(skeleton, weinberg, start[c].dart, start[c].mirror, ranker_.data(), ranker_.data().size(), [](i32) {});
}

// --- cut nodes -------------------------------------------------------------------------------------------------------

/// The class of a cut node is the multiset of the classes of its child blocks.
void Walks::rank_cuts(const Context& x, const i32* cuts, i32 count) {
  const Blocks& blocks = x.blocks;
  ranker_.clear();
  for (i32 k = 0; k < count; ++k) {
    const i32 c = cuts[k] - blocks.count;
    std::vector<i32>& code = ranker_.data();
    const std::size_t from = code.size();
    for (i32 j = blocks.child_ptr[c]; j < blocks.child_ptr[c + 1]; ++j) {
      const i32 b = blocks.child[j];
      code.push_back(block_class[b]);
      if (nonplanar_ && tainted_[block_root[b]]) node_tainted_[blocks.cut_node[c]] = 1;
    }
    std::sort(code.begin() + static_cast<std::ptrdiff_t>(from), code.end());
    ranker_.close();
  }
  const i32 base = next_cut_class_;
  next_cut_class_ += ranker_.finish();
  for (i32 k = 0; k < count; ++k) {
    const i32 c = cuts[k] - blocks.count;
    cut_class[c] = base + ranker_.rank(k);
    hang[blocks.cut_node[c]] = 1 + cut_class[c];
  }
}

// --- incomplete codes ------------------------------------------------------------------------------------------------

/// Does the code of c depend on a component that is not planar?
bool Walks::is_tainted(const Context& x, i32 c) const {
  const Spqr& spqr = x.spqr;
  if (spqr.type[c] == kR && !x.rotations.planar[c]) return true;
  const i32 marked = x.blocks.parent_node(spqr.block[c]);
  for (i32 y = spqr.entry_ptr[c]; y < spqr.entry_ptr[c + 1]; ++y) {
    if (spqr.real[y] < 0 && y != up[c] && tainted_[spqr.across(y)]) return true;
    for (const i32 v : {spqr.end[2 * y], spqr.end[2 * y + 1]})
      if (v != marked && node_tainted_[v]) return true;
  }
  return false;
}

/// Do two parallel edges with incomplete codes look the same?
bool Walks::bond_is_tied(const Context& x, i32 c, i32 first_dart) const {
  const Spqr& spqr = x.spqr;
  const i32 u = spqr.end[first_dart];
  scratch_.clear();
  for (i32 y = spqr.entry_ptr[c]; y < spqr.entry_ptr[c + 1]; ++y)
    if (y != up[c] && spqr.real[y] < 0 && tainted_[spqr.across(y)]) scratch_.push_back(token[2 * y + (spqr.end[2 * y] != u)]);
  std::sort(scratch_.begin(), scratch_.end());
  return std::adjacent_find(scratch_.begin(), scratch_.end()) != scratch_.end();
}

}  // namespace planegraph
