// The idea, the invariants and the cost are described in generators.hpp.
#include "planegraph/symmetry/generators.hpp"

#include <algorithm>

namespace planegraph {

void Generators::append(const Parts& x, const Orbits& orbits, const KeepGoing& keep_going, Symmetries& out) {
  constexpr std::size_t kManyMoves = 1 << 16;
  if (out.generator_ptr.empty()) out.generator_ptr.push_back(0);
  grow_fill(last_moved_, x.g.n, 0);
  number_ = 0;
  std::size_t asked = out.move_node.size();
  for (const Tie& tie : orbits.ties) {
    append_of(x, orbits, tie, out);
    if (out.move_node.size() - asked < kManyMoves) continue;
    asked = out.move_node.size();
    if (!keep_going()) throw Cancelled();
  }
  out.generator_ptr.push_back(static_cast<i64>(out.move_ptr.size()) - 1);
}

void Generators::append_of(const Parts& x, const Orbits& orbits, const Tie& tie, Symmetries& out) {
  const i32 last = tie.first + tie.factor;
  switch (tie.kind) {
    case Tie::kComponents:
      for (i32 k = tie.first + 1; k < last; ++k) {
        const i32 from = orbits.roots[k - 1].id, to = orbits.roots[k].id, kind = orbits.roots[k].kind;
        begin(true);
        if (kind == 1)
          stack_.push_back({Pair::kBlock, from, to, {}, {}});
        else
          move(x, kind == 0 ? from : x.blocks.cut_node[from], kind == 0 ? to : x.blocks.cut_node[to], -1);
        finish(x, orbits, out);
      }
      break;
    case Tie::kBlocks:
      for (i32 k = tie.first + 1; k < last; ++k) {
        begin(true);
        stack_.push_back({Pair::kBlock, orbits.sorted_child[k - 1], orbits.sorted_child[k], {}, {}});
        finish(x, orbits, out);
      }
      break;
    case Tie::kEdges: {
      lister_.sort_bond(x, tie.id, orbits.start(x, tie.id).dart);
      const std::vector<std::pair<i32, i32>> run(lister_.sorted.begin() + tie.first, lister_.sorted.begin() + last);
      const auto start = [&](i32 d) { return x.hanging_start(x.spqr.across(d >> 1), d & 1); };
      for (i32 k = 1; k < tie.factor; ++k) {
        const i32 before = run[k - 1].second, d = run[k].second;
        begin(true);
        stack_.push_back(skeletons(x.spqr.across(before >> 1), start(before), x.spqr.across(d >> 1), start(d)));
        finish(x, orbits, out);
      }
      break;
    }
    case Tie::kMirror: {
      const Start start = orbits.start(x, tie.id);
      begin(false);
      stack_.push_back(skeletons(tie.id, start, tie.id, {start.dart, !start.mirror, true}));
      finish(x, orbits, out);
      break;
    }
    case Tie::kRoot: {
      const i32 root = x.walks.block_root[tie.id], type = x.spqr.nodes[root].type;
      const Start start = x.walks.start[root];
      std::vector<Start> images;
      if (type == kQ || type == kP)
        images.push_back({start.dart ^ 1, false, true});
      else
        root_group_.run(x, tie.id, lister_, [&](const Start& image, const auto&, const auto&) { images.push_back(image); });
      for (const Start& image : images) {
        begin(false);
        stack_.push_back(skeletons(root, start, root, image));
        finish(x, orbits, out);
      }
      break;
    }
    case Tie::kCentres: {
      const CentreTies tied = centre_ties(x, tie.id);
      const i32 root = x.walks.block_root[tie.id], other = x.other_centre(root), side = x.walks.start[root].dart & 1;
      if (tied.flip) {
        begin(false);
        stack_.push_back(flipped(x, root, side));
        stack_.push_back(flipped(x, other, side));
        finish(x, orbits, out);
      }
      if (tied.keep || tied.reverse) {
        const i32 image = tied.keep ? side : 1 - side;
        begin(false);
        stack_.push_back(skeletons(root, x.hanging_start(root, side), other, x.hanging_start(other, image)));
        stack_.push_back(skeletons(other, x.hanging_start(other, side), root, x.hanging_start(root, image)));
        finish(x, orbits, out);
      }
    }
  }
}

/// The hanging node c, from one direction of its virtual edge to the other; by a reflection if there is a choice.
Generators::Pair Generators::flipped(const Parts& x, i32 c, i32 side) {
  const Start start = x.hanging_start(c, side);
  Start image = x.hanging_start(c, 1 - side);
  if (x.spqr.nodes[c].tied) image.mirror = !start.mirror;
  return skeletons(c, start, c, image);
}

/// A new generator. `both_ways`: what is paired is exchanged.
void Generators::begin(bool both_ways) {
  ++number_;
  both_ways_ = both_ways;
}

/// Follows the pairs on the stack down to the leaves, and writes the generator.
void Generators::finish(const Parts& x, const Orbits& orbits, Symmetries& out) {
  while (!stack_.empty()) {
    const Pair pair = stack_.back();
    stack_.pop_back();
    if (pair.kind == Pair::kSkeleton) {
      move_skeleton(x, pair);
    } else if (pair.kind == Pair::kBlock) {
      move_block(x, pair);
    } else {
      const i32 first = x.blocks.child_ptr[pair.from], image = x.blocks.child_ptr[pair.to];
      for (i32 k = x.blocks.child_ptr[pair.from + 1] - first; k-- > 0;)
        stack_.push_back({Pair::kBlock, orbits.sorted_child[first + k], orbits.sorted_child[image + k], {}, {}});
    }
  }
  std::sort(moves_.begin(), moves_.end());
  for (const auto& [node, image] : moves_) {
    out.move_node.push_back(node);
    out.move_image.push_back(image);
  }
  out.move_ptr.push_back(static_cast<i64>(out.move_node.size()));
  moves_.clear();
}

/// Node v goes to w, with what hangs there unless that is where the block at hand hangs.
void Generators::move(const Parts& x, i32 v, i32 w, i32 parent_node) {
  if (v == w || last_moved_[v] == number_) return;
  last_moved_[v] = number_;
  moves_.emplace_back(x.g.node_of[v], x.g.node_of[w]);
  if (both_ways_) moves_.emplace_back(x.g.node_of[w], x.g.node_of[v]);
  if (x.blocks.cut_of[v] >= 0 && v != parent_node) stack_.push_back({Pair::kCut, x.blocks.cut_of[v], x.blocks.cut_of[w], {}, {}});
}

void Generators::move_block(const Parts& x, const Pair& pair) {
  const i32 from = x.walks.block_root[pair.from], to = x.walks.block_root[pair.to];
  const Start start = x.walks.start[from], image = x.walks.start[to];
  stack_.push_back(skeletons(from, start, to, image));
  if (!x.hangs(from)) return;
  const i32 a = x.other_centre(from), b = x.other_centre(to);
  stack_.push_back(skeletons(a, x.hanging_start(a, start.dart & 1), b, x.hanging_start(b, image.dart & 1)));
}

void Generators::move_skeleton(const Parts& x, const Pair& pair) {
  const Spqr& spqr = x.spqr;
  const i32 parent_node = x.blocks.parent_node(spqr.nodes[pair.from].block);
  lister_.run(x, pair.from, pair.start, darts_);
  lister_.run(x, pair.to, pair.image, images_);
  for (const i32 way : {0, 1}) move(x, spqr.end(pair.start.dart ^ way), spqr.end(pair.image.dart ^ way), parent_node);
  for (std::size_t i = 0; i < darts_.size(); ++i) {
    const i32 d = darts_[i], e = images_[i];
    move(x, spqr.end(d), spqr.end(e), parent_node);
    if (spqr.entries[d >> 1].real >= 0 || d == e) continue;
    const i32 child = spqr.across(d >> 1), image = spqr.across(e >> 1);
    if (child == image)
      stack_.push_back(flipped(x, child, d & 1));
    else
      stack_.push_back(skeletons(child, x.hanging_start(child, d & 1), image, x.hanging_start(image, e & 1)));
  }
}

}  // namespace planegraph
