// The idea and the cost are described in canonical_order.hpp.
#include "planegraph/drawing/canonical_order.hpp"

namespace planegraph {

void CanonicalOrder::start(const PlaneMap& map) {
  const std::size_t n = map.num_nodes;
  grow_fill(state_, n, u8{kInside});
  grow_fill(chords_, n, i32{0});
  for (auto* array : {&left, &right, &to_left_}) grow(*array, n);
}

void CanonicalOrder::run(const PlaneMap& map, i32 outer) {
  first_ = map.target(outer);
  second_ = map.source[outer];
  order.clear();
  ready_.clear();
  // The contour from right to left. The outer face is on the left of its darts, so `before` runs that way. v1 and v2 are
  // neighbours, too.
  left[first_] = second_;
  right[second_] = first_;
  to_left_[first_] = outer ^ 1;
  for (i32 v = second_, d = outer; v != first_;) {
    d = map.before(d);
    const i32 u = map.source[d];
    to_left_[v] = d ^ 1;
    left[v] = u;
    right[u] = v;
    state_[v] = kNew;
    v = u;
  }
  state_[first_] = kNew;
  for (i32 v = first_;; v = right[v]) {
    count_chords(map, v);
    if (v == second_) break;
  }
  for (i32 v = first_;; v = right[v]) {
    state_[v] = kContour;
    if (chords_[v] == 0) ready_.push_back(v);
    if (v == second_) break;
  }
  for (std::size_t k = 0; k < ready_.size(); ++k) {
    const i32 v = ready_[k];
    if (state_[v] == kContour && chords_[v] == 0 && v != first_ && v != second_) take(map, v);
  }
  order.push_back(second_);
  order.push_back(first_);
  std::reverse(order.begin(), order.end());
}

/// Takes v off the contour; its neighbours inside, from left to right, come onto it.
void CanonicalOrder::take(const PlaneMap& map, i32 v) {
  const i32 l = left[v], r = right[v];
  order.push_back(v);
  state_[v] = kTaken;
  i32 previous = l, d = map.next[to_left_[v]];
  for (; map.target(d) != r; d = map.next[d]) {
    const i32 u = map.target(d);
    state_[u] = kNew;
    left[u] = previous;
    right[previous] = u;
    to_left_[u] = map.next[d ^ 1];  // the face on the left of it is the triangle of v, u and `previous`
    previous = u;
  }
  right[previous] = r;
  left[r] = previous;
  to_left_[r] = map.next[d ^ 1];
  if (previous == l) {
    if (l != first_ || r != second_) drop_chord(l, r);  // it is part of the contour now
    return;
  }
  for (i32 u = right[l]; u != r; u = right[u]) count_chords(map, u);
  for (i32 u = right[l]; u != r; u = right[u]) {
    state_[u] = kContour;
    if (chords_[u] == 0) ready_.push_back(u);
  }
}

/// Counts the chords of a new contour node, at both ends if the other end is not new.
void CanonicalOrder::count_chords(const PlaneMap& map, i32 v) {
  const i32 start = to_left_[v];
  i32 d = start;
  do {
    const i32 w = map.target(d);
    const u8 state = state_[w];
    if ((state == kNew || state == kContour) && w != left[v] && w != right[v]) {
      ++chords_[v];
      if (state == kContour) ++chords_[w];
    }
    d = map.next[d];
  } while (d != start);
}

void CanonicalOrder::drop_chord(i32 u, i32 v) {
  for (const i32 w : {u, v})
    if (--chords_[w] == 0) ready_.push_back(w);
}

}  // namespace planegraph
