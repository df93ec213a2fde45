// The idea and the cost are described in grid_layout.hpp.
#include "planegraph/drawing/grid_layout.hpp"

namespace planegraph {

void GridLayout::run(PlaneMap& map, std::vector<i32> outer, const KeepGoing& keep_going) {
  triangulation_.run(map, outer, false);
  if (!keep_going()) throw Cancelled();
  const std::size_t n = map.num_nodes;
  x.assign(n, -1);
  y.assign(n, 0);
  for (auto* array : {&offset_, &below_, &beside_}) grow_fill(*array, n, i32{-1});
  canonical_.start(map);
  i32 at = 0;
  for (const i32 dart : outer) {
    canonical_.run(map, dart);
    if (!keep_going()) throw Cancelled();
    shift();
    place(at);
    at = x[canonical_.order[1]] + 1;  // v2 is the rightmost
  }
  for (i32& v : x)
    if (v < 0) v = at++;
}

/// Heights, and the tree of offsets.
void GridLayout::shift() {
  const std::vector<i32>& order = canonical_.order;
  const i32 first = order[0], second = order[1];
  beside_[first] = second;
  offset_[first] = 0;
  offset_[second] = order.size() == 2 ? 1 : 0;
  for (std::size_t k = 2; k < order.size(); ++k) {
    const i32 v = order[k], l = canonical_.left[v], r = canonical_.right[v], covered = beside_[l];
    ++offset_[covered];
    ++offset_[r];
    i32 width = offset_[r], last = l;  // `last` of the covered nodes, l if there are none
    for (i32 u = covered; u != r; u = beside_[u]) {
      width += offset_[u];
      last = u;
    }
    offset_[v] = (width + y[r] - y[l]) / 2;
    y[v] = (width + y[r] + y[l]) / 2;
    offset_[r] = width - offset_[v];
    beside_[l] = v;
    beside_[v] = r;
    if (last != l) {
      offset_[covered] -= offset_[v];
      below_[v] = covered;
      beside_[last] = -1;
    }
  }
}

/// Adds the offsets up, from `at` for the first node.
void GridLayout::place(i32 at) {
  stack_.assign(1, {canonical_.order[0], at});
  while (!stack_.empty()) {
    const auto [v, from] = stack_.back();
    stack_.pop_back();
    x[v] = from + offset_[v];
    for (const i32 child : {beside_[v], below_[v]})
      if (child >= 0) stack_.emplace_back(child, x[v]);
  }
}

}  // namespace planegraph
