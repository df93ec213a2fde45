// The idea, the invariants and the cost are described in blocks.hpp.
#include "planegraph/graph/blocks.hpp"

#include <algorithm>

#include "planegraph/graph/memory.hpp"

namespace planegraph {

void Blocks::run(const Graph& g) {
  search(g);
  collect(g);
  root_trees();
}

/// Depth-first search from every unvisited node: preorder numbers and the two lowest points.
void Blocks::search(const Graph& g) {
  const i32 n = g.n;
  grow_fill(pre_, n, -1);
  grow(low_, n);
  grow(low2_, n);
  grow(parent_, n);
  grow(cursor_, n);
  grow(preorder_, n);
  grow(stack_, n);
  i32 clock = 0;
  for (i32 root = 0; root < n; ++root) {
    if (pre_[root] >= 0) continue;
    i32 depth = 0;
    const auto enter = [&](i32 v, i32 parent) {
      pre_[v] = low_[v] = low2_[v] = clock;
      preorder_[clock++] = v;
      parent_[v] = parent;
      cursor_[v] = g.ptr[v];
      stack_[depth++] = v;
    };
    enter(root, -1);
    while (depth > 0) {
      const i32 v = stack_[depth - 1];
      const i32 last = g.ptr[v + 1];
      const i32 p = parent_[v];
      i32 low = low_[v], low2 = low2_[v], child = -1;
      i32 k = cursor_[v];
      for (; k < last; ++k) {
        const i32 w = g.end[g.out[k] ^ 1];
        if (pre_[w] < 0) {
          child = w;
          ++k;
          break;
        }
        const i32 number = pre_[w];
        if (w == p || number >= low2 || number == low) continue;
        if (number < low) {
          low2 = low;
          low = number;
        } else {
          low2 = number;
        }
      }
      cursor_[v] = k;
      low_[v] = low;
      low2_[v] = low2;
      if (child >= 0) {
        enter(child, v);
      } else {
        --depth;
        if (p < 0) continue;
        if (low < low_[p]) {
          low2_[p] = std::min(low_[p], low2);
          low_[p] = low;
        } else {
          low2_[p] = std::min(low2_[p], low == low_[p] ? low2 : low);
        }
      }
    }
  }
}

void Blocks::collect(const Graph& g) {
  const i32 n = g.n, m = g.m;
  grow(block_of_, n);
  grow(top_, n);
  grow_fill(cut_of, n, -1);
  grow(cut_node, n);
  count = num_cuts = 0;
  // block_of_[v]: the block of the tree edge into v; top_[b]: the node of block b nearest to the root of the search
  for (i32 i = 0; i < n; ++i) {
    const i32 v = preorder_[i], p = parent_[v];
    if (p < 0) {
      block_of_[v] = -1;
    } else if (low_[v] >= pre_[p]) {
      block_of_[v] = count;
      top_[count++] = p;
    } else {
      block_of_[v] = block_of_[p];
    }
  }
  // a node is a cut node if it is the top of a block and lies in one more
  for (i32 b = 0; b < count; ++b) {
    const i32 t = top_[b];
    if (parent_[t] >= 0 || cut_of[t] == -2) {
      if (cut_of[t] < 0) {
        cut_of[t] = num_cuts;
        cut_node[num_cuts++] = t;
      }
    } else if (cut_of[t] == -1) {
      cut_of[t] = -2;  // a root seen once
    }
  }
  for (i32 b = 0; b < count; ++b)
    if (cut_of[top_[b]] == -2) cut_of[top_[b]] = -1;

  grow_fill(edge_ptr, static_cast<std::size_t>(count) + 2, 0);
  grow(edges, m);
  const auto block_of_edge = [&](i32 e) {
    const i32 u = g.end[2 * e], v = g.end[2 * e + 1];
    return block_of_[pre_[u] > pre_[v] ? u : v];
  };
  for (i32 e = 0; e < m; ++e) ++edge_ptr[block_of_edge(e) + 2];
  for (i32 b = 0; b < count; ++b) edge_ptr[b + 2] += edge_ptr[b + 1];
  for (i32 e = 0; e < m; ++e) edges[edge_ptr[block_of_edge(e) + 1]++] = e;

  grow_fill(node_ptr, static_cast<std::size_t>(count) + 2, 0);
  grow(nodes, static_cast<std::size_t>(n) + count);
  for (i32 b = 0; b < count; ++b) node_ptr[b + 2] = 1;
  for (i32 v = 0; v < n; ++v)
    if (block_of_[v] >= 0) ++node_ptr[block_of_[v] + 2];
  for (i32 b = 0; b < count; ++b) node_ptr[b + 2] += node_ptr[b + 1];
  for (i32 b = 0; b < count; ++b) nodes[node_ptr[b + 1]++] = top_[b];
  for (i32 i = 0; i < n; ++i) {
    const i32 v = preorder_[i];
    if (block_of_[v] >= 0) nodes[node_ptr[block_of_[v] + 1]++] = v;
  }
}

void Blocks::root_trees() {
  forest_.reset(count + num_cuts);
  for (i32 c = 0; c < num_cuts; ++c)
    if (block_of_[cut_node[c]] >= 0) forest_.add_edge(block_of_[cut_node[c]], count + c);
  for (i32 b = 0; b < count; ++b)
    if (cut_of[top_[b]] >= 0) forest_.add_edge(b, count + cut_of[top_[b]]);
  forest_.peel();

  grow(level, count);
  grow(parent_cut, count);
  grow(cut_level, num_cuts);
  grow(cut_parent, num_cuts);
  grow_fill(child_ptr, static_cast<std::size_t>(num_cuts) + 2, 0);
  grow(child, count);
  for (i32 b = 0; b < count; ++b) {
    level[b] = forest_.height[b];
    parent_cut[b] = forest_.parent[b] < 0 ? -1 : forest_.parent[b] - count;
    if (parent_cut[b] >= 0) ++child_ptr[parent_cut[b] + 2];
  }
  for (i32 c = 0; c < num_cuts; ++c) {
    cut_level[c] = forest_.height[count + c];
    cut_parent[c] = forest_.parent[count + c];
    child_ptr[c + 2] += child_ptr[c + 1];
  }
  for (i32 b = 0; b < count; ++b)
    if (parent_cut[b] >= 0) child[child_ptr[parent_cut[b] + 1]++] = b;
}

}  // namespace planegraph
