// The idea, the invariants and the cost are described in forest.hpp.
#include "planegraph/graph/forest.hpp"

#include <algorithm>

#include "planegraph/graph/memory.hpp"

namespace planegraph {

void Forest::reset(i32 vertices) {
  count = vertices;
  grow_fill(degree_, count, 0);
  grow_fill(xor_, count, 0);
  grow(parent, count);
  grow_fill(height, count, 0);
  grow(order, count);
  two_centres.clear();
}

void Forest::peel() {
  i32 tail = 0;
  for (i32 v = 0; v < count; ++v)
    if (degree_[v] <= 1) order[tail++] = v;
  for (i32 head = 0; head < tail; ++head) {
    const i32 v = order[head];
    if (degree_[v] == 0) {
      parent[v] = -1;
      continue;
    }
    const i32 w = xor_[v];
    parent[v] = w;
    degree_[v] = 0;
    xor_[w] ^= v;
    if (--degree_[w] == 0) {  // w is queued already: v and w are the last two of their tree
      if (height[w] == height[v]) two_centres.emplace_back(v, w);
      continue;
    }
    if (degree_[w] == 1) {
      height[w] = height[v] + 1;
      order[tail++] = w;
    }
  }
}

}  // namespace planegraph
