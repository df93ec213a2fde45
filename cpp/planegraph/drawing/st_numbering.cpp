// The idea and the cost are described in st_numbering.hpp.
#include "planegraph/drawing/st_numbering.hpp"

namespace planegraph {
namespace {

/// Preorder numbers from 0, the parent of each node, and as `low` the node with the least number among its own and those of all
/// neighbours of its subtree but its parent.
struct Search {
  std::vector<i32> preorder, pre, parent, low;

  Search(const GraphView& graph, i32 s, i32 t) {
    const i32 n = static_cast<i32>(graph.num_nodes);
    const i64 ends = 2 * graph.num_edges;
    std::vector<i32> ptr(n + 2, 0), near(ends);
    for (i64 k = 0; k < ends; ++k) ++ptr[graph.edges[k] + 2];
    for (i32 v = 0; v < n; ++v) ptr[v + 2] += ptr[v + 1];
    for (i64 k = 0; k < ends; ++k) near[ptr[graph.edges[k] + 1]++] = static_cast<i32>(graph.edges[k ^ 1]);
    pre.assign(n, -1);
    parent.assign(n, -1);
    low.resize(n);
    const auto enter = [&](i32 v, i32 from) {
      pre[v] = static_cast<i32>(preorder.size());
      preorder.push_back(v);
      parent[v] = from;
      low[v] = v;
    };
    const auto lower = [&](i32 v, i32 w) {
      if (pre[w] < pre[low[v]]) low[v] = w;
    };
    std::vector<i32> cursor(ptr.begin(), ptr.end() - 1);
    enter(s, -1);
    enter(t, s);
    for (i32 v = t; v >= 0;) {
      if (cursor[v] == ptr[v + 1]) {
        if (parent[v] >= 0) lower(parent[v], low[v]);
        v = parent[v];
        continue;
      }
      const i32 w = near[cursor[v]++];
      if (pre[w] < 0) {
        enter(w, v);
        v = w;
      } else if (w != parent[v]) {
        lower(v, w);
      }
    }
  }
};

}  // namespace

i32 st_numbering(const GraphView& graph, i32 s, i32 t, std::vector<i32>& number) {
  const i32 n = static_cast<i32>(graph.num_nodes);
  const Search search(graph, s, t);
  const std::vector<i32>& order = search.preorder;
  if (static_cast<i32>(order.size()) < n) return n;
  for (i32 k = 2; k < n; ++k) {
    const i32 v = order[k], p = search.parent[v];
    if (search.pre[search.low[v]] >= search.pre[p]) return p;
  }
  std::vector<i32> before(n, -1), after(n, -1);
  std::vector<u8> low_is_after(n, 0);  // of a node: on which side of the nodes below it that return to it
  const auto link = [&](i32 a, i32 b) {
    after[a] = b;
    before[b] = a;
  };
  link(s, t);
  for (i32 k = 2; k < n; ++k) {
    const i32 v = order[k], p = search.parent[v];
    if (low_is_after[search.low[v]]) {
      const i32 next = after[p];
      link(p, v);
      if (next >= 0) link(v, next);
      low_is_after[p] = 0;
    } else {
      const i32 previous = before[p];
      link(v, p);
      if (previous >= 0) link(previous, v);
      low_is_after[p] = 1;
    }
  }
  number.resize(n);
  i32 k = 0;
  for (i32 v = s; v >= 0; v = after[v]) number[v] = k++;
  return -1;
}

}  // namespace planegraph
