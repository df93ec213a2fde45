// The left-right planarity test with embedding, iterative.
//
// 1. Orient. A DFS turns the graph into tree arcs (away from the root) and back arcs (to an ancestor). A return arc of a tree
//    arc e = (u, v) is a back arc from below v to a proper ancestor of v; return points are their targets. DFS numbers of
//    ancestors compare like their heights, so numbers serve for both.
// 2. Sort. The arcs of each node by nesting depth: by lowest return point, and at equal ones those with only that
//    return point below the node first, so that what must be nested inside comes later.
// 3. Test. G is planar if and only if the back arcs can be split into left and right such that, for any two arcs e1, e2 out of a
//    node, all return arcs of e1 ending above lowpt(e2) are on one side and all return arcs of e2 ending above lowpt(e1) on the other.
//    A second DFS collects these constraints. `pairs_` holds pairs of intervals of return arcs of the current DFS path; two
//    arcs of an interval are on the same side, the two intervals of a pair on different ones, different pairs are independent.
//    Pairs are nested: higher on the stack means higher return points. Constraints on arcs that left the stack live on in `ref_`:
//    the side of an arc relative to another one.
// 4. Embed. Sides resolved, the order around a node is: the dart to its parent; left arcs, deepest nesting first; right arcs,
//    deepest last. Back arcs that arrive from below tree arc t stand directly before t (left) or after it (right), on both sides
//    the one met last by the DFS comes first.
//
// Invariants of the test: the lowest pair pushed while exploring an arc e holds only arcs that return to lowpt(e), so it conflicts
// with no later arc of the same node, and merging never reaches below the pairs of e.
//
// Cost. Every step is linear: an arc enters and leaves intervals once, ref chains are walked once, short lists are sorted by
// insertion and long ones together by counting. What counts at 10^6 nodes are cache misses, hence one renaming of nodes and arcs
// into DFS order after step 1; steps 2 to 4 then read arcs nearly in sequence, and input order is met again only when `next` is written.
//
// Source: U. Brandes, The left-right planarity test (2009), after H. de Fraysseix, P. Ossona de Mendez, P. Rosenstiehl,
// Tremaux trees and planarity (2006).
#include "planegraph/planarity/embedding.hpp"

#include <algorithm>
#include <array>

namespace planegraph {
namespace {

constexpr i32 kShortList = 24;  // lists up to this length are sorted by insertion

/// Makes room for `size` entries. Contents are not kept; spare room makes slowly growing inputs cheap.
template <class T>
void make_room(std::vector<T>& array, i64 size) {
  const auto wanted = static_cast<std::size_t>(size);
  if (array.size() >= wanted) return;
  const std::size_t grown = std::max(wanted, array.size() + array.size() / 2);
  array.clear();
  array.resize(grown);
}

void insert_after(i32* next, i32 position, i32 dart) {
  next[dart] = next[position];
  next[position] = dart;
}

}  // namespace

bool Embedder::run(i32 n, i32 m, const i32* eu, const i32* ev, i32* next) {
  if (m == 0) return true;
  if (n >= 3 && m > 3 * i64{n} - 6) return false;
  build_adjacency(n, m, eu, ev);
  orient(n);
  sort_arcs(n);
  if (!test()) return false;
  if (next == nullptr) return true;
  resolve_sides(m);
  make_room(corner_, n);
  for (const i32 root : roots_) embed_component(root, next);
  return true;
}

// ---- 1. orient

void Embedder::build_adjacency(i32 n, i32 m, const i32* eu, const i32* ev) {
  make_room(offset_, i64{n} + 1);
  make_room(half_, 2 * i64{m});
  i32* const offset = offset_.data();
  std::fill_n(offset, n + 1, 0);
  for (i32 e = 0; e < m; ++e) {
    ++offset[eu[e]];
    ++offset[ev[e]];
  }
  for (i32 v = 1; v <= n; ++v) offset[v] += offset[v - 1];
  // Filled from the back, the ends of the lists become their starts and each list keeps the order of the input.
  for (i32 e = m - 1; e >= 0; --e) {
    half_[--offset[eu[e]]] = {ev[e], 2 * e};
    half_[--offset[ev[e]]] = {eu[e], 2 * e + 1};
  }
}

void Embedder::orient(i32 n) {
  make_room(number_, n);
  make_room(order_, n);
  make_room(first_, i64{n} + 1);
  make_room(depth_, n);
  std::fill_n(number_.data(), n, -1);
  roots_.clear();
  i32 count = 0;
  for (i32 v = 0; v < n; ++v) {
    if (number_[v] >= 0) continue;
    roots_.push_back(count);
    orient_component(v, count);
  }
}

/// Numbers the component of `root`, moves the arcs of each of its nodes to the front of its adjacency list, and leaves their
/// count in first_ and the nesting depths of tree arcs in depth_.
void Embedder::orient_component(i32 root, i32& count) {
  const i32* const offset = offset_.data();
  i32* const number = number_.data();
  Half* const half = half_.data();
  orient_frames_.clear();
  i32 parent = -1;
  OrientFrame f{root, offset[root], offset[root], count, count};
  i32 self = count, end = offset[root + 1];
  order_[count] = root;
  number[root] = count++;
  for (;;) {
    while (f.cursor < end) {
      const Half h = half[f.cursor++];
      const i32 target = number[h.to];
      if (target < 0) {
        half[f.out++] = {count, h.dart};
        orient_frames_.push_back(f);
        parent = f.node;
        f = {h.to, offset[h.to], offset[h.to], self, self};
        self = count;
        end = offset[h.to + 1];
        order_[count] = h.to;
        number[h.to] = count++;
      } else if (target < self && h.to != parent) {  // else the arc comes from there
        half[f.out++] = {target, h.dart};
        if (target < f.low) {
          f.low2 = f.low;
          f.low = target;
        } else if (target > f.low) {
          f.low2 = std::min(f.low2, target);
        }
      }
    }
    first_[self] = f.out - offset[f.node];
    if (orient_frames_.empty()) return;
    const i32 child = self, low = f.low, low2 = f.low2;
    f = orient_frames_.back();
    orient_frames_.pop_back();
    parent = orient_frames_.empty() ? -1 : orient_frames_.back().node;
    self = number[f.node];
    end = offset[f.node + 1];
    depth_[child] = 2 * low + (low2 < self ? 1 : 0);
    if (low < f.low) {
      f.low2 = std::min(f.low, low2);
      f.low = low;
    } else {
      f.low2 = std::min(f.low2, low > f.low ? low : low2);
    }
  }
}

// ---- 2. sort

/// Renames edges to arcs: lists in order of their node's number, each sorted by nesting depth.
void Embedder::sort_arcs(i32 n) {
  i32 arcs = 1;  // arc 0 is "none"
  for (i32 v = 0; v < n; ++v) arcs += first_[v];
  make_room(to_, arcs);
  make_room(dart_, arcs);
  make_room(ref_, arcs);
  std::fill_n(ref_.data(), arcs, 0U);
  i32* const to = to_.data();
  i32* const dart = dart_.data();
  to[0] = -1;  // below every return point, so "none" never conflicts
  long_lists_.clear();
  std::array<i32, kShortList> depths;
  i32 start = 1;
  for (i32 v = 0; v < n; ++v) {
    const Half* const list = half_.data() + offset_[order_[v]];
    const i32 length = first_[v];
    first_[v] = start;
    if (length > kShortList) {
      long_lists_.push_back(v);
    } else {
      for (i32 i = 0; i < length; ++i) {
        const i32 depth = nesting_depth(v, list[i].to);
        i32 j = i;
        for (; j > 0 && depths[j - 1] > depth; --j) {
          depths[j] = depths[j - 1];
          to[start + j] = to[start + j - 1];
          dart[start + j] = dart[start + j - 1];
        }
        depths[j] = depth;
        to[start + j] = list[i].to;
        dart[start + j] = list[i].dart;
      }
    }
    start += length;
  }
  first_[n] = start;
  if (!long_lists_.empty()) sort_long_lists(n);
}

/// One counting sort by nesting depth for all long lists, then a stable distribution to their nodes.
void Embedder::sort_long_lists(i32 n) {
  i32 total = 0;
  for (const i32 v : long_lists_) total += first_[v + 1] - first_[v];
  make_room(bucket_, 2 * i64{n} + 1);
  make_room(cursor_, n);
  make_room(sorted_sources_, total);
  make_room(sorted_halves_, total);
  std::fill_n(bucket_.data(), 2 * i64{n} + 1, 0);
  const auto for_each_half = [&](auto&& visit) {
    for (const i32 v : long_lists_) {
      const Half* const list = half_.data() + offset_[order_[v]];
      for (i32 i = 0; i < first_[v + 1] - first_[v]; ++i) visit(v, list[i]);
    }
  };
  for_each_half([&](i32 v, Half h) { ++bucket_[nesting_depth(v, h.to) + 1]; });
  for (i32 d = 1; d < 2 * n; ++d) bucket_[d] += bucket_[d - 1];
  for_each_half([&](i32 v, Half h) {
    const i32 position = bucket_[nesting_depth(v, h.to)]++;
    sorted_sources_[position] = v;
    sorted_halves_[position] = h;
  });
  for (const i32 v : long_lists_) cursor_[v] = first_[v];
  for (i32 i = 0; i < total; ++i) {
    const i32 arc = cursor_[sorted_sources_[i]]++;
    to_[arc] = sorted_halves_[i].to;
    dart_[arc] = sorted_halves_[i].dart;
  }
}

// ---- 3. test

bool Embedder::test() {
  pairs_.clear();
  for (const i32 root : roots_) {
    if (!test_component(root)) return false;
  }
  return true;
}

bool Embedder::test_component(i32 root) {
  const i32* const to = to_.data();
  const i32* const first = first_.data();
  test_frames_.clear();
  TestFrame f{root, first[root], 0, 0};
  i32 end = first[root + 1];
  for (;;) {
    while (f.arc < end) {
      const i32 target = to[f.arc];
      if (target > f.node) {
        f.bottom = static_cast<i32>(pairs_.size());
        test_frames_.push_back(f);
        f = {target, first[target], 0, 0};
        end = first[target + 1];
        continue;
      }
      const ConflictPair own{{}, {f.arc, f.arc}};
      if (f.arc == first[f.node]) {
        f.low_arc = f.arc;
        pairs_.push_back(own);
      } else if (target == depth_[f.node] >> 1) {
        ref_[f.arc] = 2 * static_cast<u32>(f.low_arc);  // returns to the lowest point: any side that low_arc is on
      } else if (!merge_conflicting_pairs(own, target)) {
        return false;
      }
      ++f.arc;
    }
    if (test_frames_.empty()) return true;
    const i32 low = depth_[f.node] >> 1, low_arc = f.low_arc;
    f = test_frames_.back();
    test_frames_.pop_back();
    end = first[f.node + 1];
    trim_return_arcs_to(f.node);
    if (low < f.node) {  // the tree arc has return arcs above this node; its side is that of the highest of them
      ref_[f.arc] = 2 * static_cast<u32>(highest_return_arc());
      if (f.arc == first[f.node]) {
        f.low_arc = low_arc;
      } else {
        bool ok = true;
        const ConflictPair merged = merge_own_pairs(f.bottom, depth_[f.node] >> 1, f.low_arc, ok);
        if (!ok || !merge_conflicting_pairs(merged, low)) return false;
      }
    }
    ++f.arc;
  }
}

/// All return arcs of an arc e_i (the pairs above `bottom`) go to one side, the right one. Those that reach only the lowest
/// return point `low` of the parent arc bind nobody else: they follow `low_arc` and leave the stack.
Embedder::ConflictPair Embedder::merge_own_pairs(i32 bottom, i32 low, i32 low_arc, bool& ok) {
  ConflictPair merged;
  while (static_cast<i32>(pairs_.size()) > bottom) {
    ConflictPair pair = pairs_.back();
    pairs_.pop_back();
    if (!pair.left.empty()) std::swap(pair.left, pair.right);
    if (!pair.left.empty()) {
      ok = false;
      return merged;
    }
    if (to_[pair.right.low] > low) {
      if (merged.right.empty()) {
        merged.right.high = pair.right.high;
      } else {
        ref_[merged.right.low] = 2 * static_cast<u32>(pair.right.high);
      }
      merged.right.low = pair.right.low;
    } else {
      ref_[pair.right.low] = 2 * static_cast<u32>(low_arc);
    }
  }
  return merged;
}

/// Return arcs of earlier arcs that end above `low`, the lowest return point of e_i, must be on the left of those of e_i.
bool Embedder::merge_conflicting_pairs(ConflictPair merged, i32 low) {
  const auto conflicting = [&](const Interval& interval) { return to_[interval.high] > low; };
  while (!pairs_.empty()) {
    ConflictPair pair = pairs_.back();
    if (!conflicting(pair.left) && !conflicting(pair.right)) break;
    pairs_.pop_back();
    if (conflicting(pair.right)) std::swap(pair.left, pair.right);
    if (conflicting(pair.right)) return false;
    ref_[merged.right.low] = 2 * static_cast<u32>(pair.right.high);
    if (pair.right.low != 0) merged.right.low = pair.right.low;
    if (merged.left.empty()) {
      merged.left.high = pair.left.high;
    } else {
      ref_[merged.left.low] = 2 * static_cast<u32>(pair.left.high);
    }
    merged.left.low = pair.left.low;
  }
  if (!merged.left.empty() || !merged.right.empty()) pairs_.push_back(merged);
  return true;
}

/// Return arcs end at `node`: the DFS goes back over it, so from here on they constrain nothing.
void Embedder::trim_return_arcs_to(i32 node) {
  const auto ends_here = [&](const Interval& interval) { return interval.low == 0 || to_[interval.low] == node; };
  // Intervals reach down to their low arc: if that ends here, all of them do.
  while (!pairs_.empty() && ends_here(pairs_.back().left) && ends_here(pairs_.back().right)) {
    const i32 left = pairs_.back().left.low;
    if (left != 0) ref_[left] |= 1U;
    pairs_.pop_back();
  }
  if (pairs_.empty()) return;
  trim(pairs_.back().left, pairs_.back().right, node);
  trim(pairs_.back().right, pairs_.back().left, node);
}

void Embedder::trim(Interval& side, const Interval& other, i32 node) {
  while (side.high != 0 && to_[side.high] == node) side.high = static_cast<i32>(ref_[side.high] >> 1);
  if (side.high != 0 || side.low == 0) return;
  ref_[side.low] = 2 * static_cast<u32>(other.low) + 1U;  // emptied: remember that it is opposite to what stays
  side.low = 0;
}

i32 Embedder::highest_return_arc() const {
  const ConflictPair& pair = pairs_.back();
  return to_[pair.left.high] > to_[pair.right.high] ? pair.left.high : pair.right.high;
}

// ---- 4. embed

/// Turns relative sides into absolute ones (ref_ becomes 0: right, 1: left). Chains are walked to their end and back,
/// turning the references round on the way out, so each is walked once and no stack is needed.
void Embedder::resolve_sides(i32 m) {
  u32* const ref = ref_.data();
  for (i32 arc = 1; arc <= m; ++arc) {
    auto here = static_cast<u32>(arc);
    u32 previous = 0;
    while (ref[here] > 1U) {
      const u32 reference = ref[here];
      ref[here] = 2 * previous + (reference & 1U);
      previous = here;
      here = reference >> 1;
    }
    u32 side = ref[here];
    while (previous != 0) {
      const u32 reference = ref[previous];
      side ^= reference & 1U;
      ref[previous] = side;
      previous = reference >> 1;
    }
  }
}

/// A third DFS, in the order of the embedding. Circular lists grow by insertion after known darts only, so they are singly linked.
void Embedder::embed_component(i32 root, i32* next) {
  const i32* const first = first_.data();
  Corner* const corner = corner_.data();
  embed_frames_.clear();
  EmbedFrame f{root, 0};
  corner[root].tail = -1;
  i32 begin = first[root], degree = first[root + 1] - begin;
  for (;;) {
    while (f.step < 2 * degree) {
      // Steps run down the list for left arcs, then up again for right arcs.
      const bool left = f.step < degree;
      const i32 arc = left ? begin + degree - 1 - f.step : begin + f.step - degree;
      ++f.step;
      if ((ref_[arc] == 1U) != left) continue;
      const i32 dart = dart_[arc], target = to_[arc], back = dart ^ 1;
      Corner& here = corner[f.node];
      if (here.tail < 0) {  // first dart of a root: there is no dart to a parent to start from
        next[dart] = dart;
        here.tail = dart;
      } else {
        insert_after(next, here.tail, dart);
      }
      if (target > f.node) {
        here = {dart, here.tail, dart};
        embed_frames_.push_back(f);
        f = {target, 0};
        begin = first[target];
        degree = first[target + 1] - begin;
        next[back] = back;
        corner[target].tail = back;
        continue;
      }
      here.tail = dart;
      Corner& there = corner[target];
      insert_after(next, left ? there.left : there.right, back);
      if (!left && there.tail == there.right) {           // first one on the right: the list now ends here
        if (there.left == there.tail) there.left = back;  // at the first tree arc of a root, "before" is "at the end"
        there.tail = back;
      }
    }
    if (embed_frames_.empty()) return;
    f = embed_frames_.back();
    embed_frames_.pop_back();
    begin = first[f.node];
    degree = first[f.node + 1] - begin;
  }
}

}  // namespace planegraph
