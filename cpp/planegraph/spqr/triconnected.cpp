// The idea, the invariants and the cost are described in triconnected.hpp.
#include "planegraph/spqr/triconnected.hpp"

#include <algorithm>

#include "planegraph/graph/memory.hpp"
#include "planegraph/graph/small_sort.hpp"

namespace planegraph {

void SplitComponents::run(const PalmTree& tree) {
  n_ = tree.n;
  m_ = num_real = tree.m;
  type.clear();
  ptr.assign(1, 0);
  component_edges.clear();
  sort_out_lists(tree);
  renumber(tree);
  collect_fronds();
  search_paths();
  for (const i32 e : estack_) take(e);
  type.push_back(estack_.size() > 3 ? kR : kS);
  ptr.push_back(static_cast<i32>(component_edges.size()));
}

void SplitComponents::release_memory() {
  for (auto* v : {&out_ptr1_, &size1_, &number_, &node_at_, &father_, &lowpt1_, &lowpt2_, &size_, &degree_, &tree_arc_, &out_ptr_,
                  &out_, &cursor_, &estack_, &high_head_, &high_tail_, &high_of_, &component_edges})
    release(*v);
  release(out1_);
  release(edge_);
  release(tstack_);
  release(high_items_);
}

/// Orders the out-edges of each node by the value phi of the papers: lowest return point first; for equal ones, arcs that also
/// return elsewhere below v, then the frond, then arcs that do not.
void SplitComponents::sort_out_lists(const PalmTree& tree) {
  grow_fill(out_ptr1_, static_cast<std::size_t>(n_) + 2, 0);
  grow(out1_, m_);
  const i32* const end = tree.end.data();
  const auto is_arc = [&](i32 top, i32 bottom) { return tree.parent[bottom] == top; };
  for (i32 e = 0; e < m_; ++e) {
    const auto [top, bottom] = std::minmax(end[2 * e], end[2 * e + 1]);
    ++out_ptr1_[(is_arc(top, bottom) ? top : bottom) + 2];
  }
  for (i32 v = 0; v < n_; ++v) out_ptr1_[v + 2] += out_ptr1_[v + 1];
  for (i32 e = 0; e < m_; ++e) {
    const auto [top, bottom] = std::minmax(end[2 * e], end[2 * e + 1]);
    if (is_arc(top, bottom))
      out1_[out_ptr1_[top + 1]++] = {3 * tree.low1[bottom] + (tree.low2[bottom] < top ? 0 : 2), e, bottom};
    else
      out1_[out_ptr1_[bottom + 1]++] = {3 * top + 1, e, top};
  }
  const auto less = [](const OutEdge& x, const OutEdge& y) { return x.key < y.key; };
  for (i32 v = 0; v < n_; ++v) {
    OutEdge* const first = out1_.data() + out_ptr1_[v];
    OutEdge* const last = out1_.data() + out_ptr1_[v + 1];
    small_sort(first, last, less);
  }
}

/// Numbers the nodes from 1 so that the first child of a node gets the largest numbers of its subtree, and moves everything to
/// the new numbers.
void SplitComponents::renumber(const PalmTree& tree) {
  const std::size_t size = static_cast<std::size_t>(n_) + 2;
  for (auto* v : {&number_, &node_at_, &father_, &lowpt1_, &lowpt2_, &size_, &tree_arc_}) grow(*v, size);
  grow_fill(degree_, size, 0);
  grow_fill(size1_, n_, 1);
  grow(out_ptr_, size);
  grow(out_, m_);
  for (i32 v = n_ - 1; v > 0; --v) size1_[tree.parent[v]] += size1_[v];
  edge_.clear();
  reserve(edge_, static_cast<std::size_t>(m_) + m_ / 8 + 16);
  edge_.resize(m_);
  number_[0] = 1;
  for (i32 v = 0; v < n_; ++v) {
    i32 next = number_[v] + 1;
    for (i32 k = out_ptr1_[v + 1] - 1; k >= out_ptr1_[v]; --k) {
      const i32 w = out1_[k].target;
      if (w < v) continue;  // a frond
      number_[w] = next;
      next += size1_[w];
    }
    const i32 x = number_[v];
    node_at_[x] = v;
    father_[x] = v == 0 ? 0 : number_[tree.parent[v]];
    lowpt1_[x] = number_[tree.low1[v]];
    lowpt2_[x] = number_[tree.low2[v]];
    size_[x] = size1_[v];
    out_ptr_[x + 1] = out_ptr1_[v + 1] - out_ptr1_[v];
  }
  out_ptr_[1] = 0;
  for (i32 x = 1; x <= n_; ++x) out_ptr_[x + 1] += out_ptr_[x];
  for (i32 v = 0; v < n_; ++v) {
    const i32 x = number_[v];
    i32 k = out_ptr_[x];
    degree_[x] += out_ptr1_[v + 1] - out_ptr1_[v];
    for (i32 j = out_ptr1_[v]; j < out_ptr1_[v + 1]; ++j) {
      const i32 e = out1_[j].edge, y = number_[out1_[j].target];
      edge_[e] = {x, y};
      ++degree_[y];
      if (x < y) tree_arc_[y] = e;
      out_[k++] = e;
    }
  }
}

/// Searches along the sorted lists and collects the fronds entering each node in the order in which they are met.
void SplitComponents::collect_fronds() {
  const std::size_t size = static_cast<std::size_t>(n_) + 2;
  grow_fill(high_head_, size, -1);
  grow(high_tail_, size);
  reserve(high_of_, static_cast<std::size_t>(m_) + m_ / 8 + 16);
  high_of_.assign(m_, -1);
  high_items_.clear();
  reserve(high_items_, static_cast<std::size_t>(m_) - n_ + 1);
  grow(cursor_, size);
  std::copy_n(out_ptr_.begin(), n_ + 1, cursor_.begin());
  for (i32 v = 1; v != 0;) {
    if (cursor_[v] == out_ptr_[v + 1]) {
      v = father_[v];
      continue;
    }
    fetch_near(cursor_[v]);
    const i32 e = out_[cursor_[v]++];
    const i32 w = edge_[e].target;
    if (w > v) {
      v = w;
      continue;
    }
    const i32 item = static_cast<i32>(high_items_.size());
    high_items_.push_back({v, -1, true});
    high_of_[e] = item;
    (high_head_[w] < 0 ? high_head_[w] : high_items_[high_tail_[w]].next) = item;
    high_tail_[w] = item;
  }
}

/// Asks for edges that are needed soon: those of a node of high degree lie anywhere, and its children are visited in falling order.
inline void SplitComponents::fetch_near(i32 k) const {
  constexpr i32 kAhead = 8;
  if (k + kAhead < m_) prefetch(&edge_[out_[k + kAhead]]);
  if (k >= kAhead) prefetch(&edge_[out_[k - kAhead]]);
}

/// The source of the first frond entering v that is still in the graph, or 0.
i32 SplitComponents::high(i32 v) {
  i32& head = high_head_[v];
  while (head >= 0 && !high_items_[head].alive) head = high_items_[head].next;
  return head < 0 ? 0 : high_items_[head].source;
}

void SplitComponents::leave_high(i32 e) {
  if (high_of_[e] >= 0) high_items_[high_of_[e]].alive = false;
}

i32 SplitComponents::new_edge(i32 source, i32 target) {
  edge_.push_back({source, target});
  high_of_.push_back(-1);
  return static_cast<i32>(edge_.size()) - 1;
}

/// Ends the open component with a new virtual edge, which is returned. A component that is not a bond is a triangle or rigid.
i32 SplitComponents::close_component(i32 kind, i32 source, i32 target) {
  const i32 e = new_edge(source, target);
  take(e);
  const i32 edges = static_cast<i32>(component_edges.size()) - opened_;
  type.push_back(kind == kP ? kP : edges > 3 ? kR : kS);
  ptr.push_back(static_cast<i32>(component_edges.size()));
  return e;
}

/// A bond of e, f and a new virtual edge, which is returned.
i32 SplitComponents::bond(i32 e, i32 f, i32 source, i32 target) {
  open_component();
  take(e);
  take(f);
  return close_component(kP, source, target);
}

/// Moves the top edge of the stack into the open component.
void SplitComponents::take_from_stack() {
  const i32 e = estack_.back();
  estack_.pop_back();
  --degree_[edge_[e].source];
  --degree_[edge_[e].target];
  leave_high(e);
  take(e);
}

/// A new path starts at v and returns to `low`: triples that it crosses merge into one, or the path gets its own triple (h, low, b).
void SplitComponents::start_path(i32 low, i32 h, i32 b) {
  if (tstack_.back().a <= low) {
    tstack_.push_back({h, low, b});
    return;
  }
  i32 highest = h;
  while (tstack_.back().a > low) {
    highest = std::max(highest, tstack_.back().h);
    b = tstack_.back().b;
    tstack_.pop_back();
  }
  tstack_.push_back({highest, low, b});
}

void SplitComponents::search_paths() {
  estack_.clear();
  tstack_.assign(1, Triple{0, 0, 0});  // a = 0 marks the end of a stack
  std::copy_n(out_ptr_.begin(), n_ + 1, cursor_.begin());
  i32 v = 1;
  while (true) {
    if (cursor_[v] < out_ptr_[v + 1]) {
      const i32 k = cursor_[v];
      fetch_near(k);
      const i32 e = out_[k], w = edge_[e].target;
      const bool starts_path = v == 1 || k > out_ptr_[v];
      if (edge_[e].is_tree()) {
        if (starts_path) {
          start_path(lowpt1_[w], w + size_[w] - 1, v);
          tstack_.push_back({0, 0, 0});
        }
        v = w;  // the father's cursor moves on when we come back
      } else {
        if (starts_path) start_path(w, v, v);
        estack_.push_back(e);
        ++cursor_[v];
      }
      continue;
    }
    if (v == 1) break;
    // back over the tree arc into v; father_ may have changed for nodes below, never for v itself
    i32 w = v;
    v = father_[w];
    const i32 k = cursor_[v]++;
    estack_.push_back(tree_arc_[w]);
    type_two_pairs(v, w);
    type_one_pair(v, w, k + 1 < out_ptr_[v + 1]);
    if (v == 1 || k > out_ptr_[v]) {  // the arc had started a path
      while (tstack_.back().a != 0) tstack_.pop_back();
      tstack_.pop_back();
    }
    while (tstack_.back().a != 0 && tstack_.back().a != v && tstack_.back().b != v && high(v) > tstack_.back().h)
      tstack_.pop_back();
  }
}

void SplitComponents::type_two_pairs(i32 v, i32& w) {
  if (v == 1) return;
  while (true) {
    const Triple top = tstack_.back();
    // w has only the arc from v and one arc to a child: the child's arc is the second on the stack
    const i32 below = estack_.size() > 1 ? estack_[estack_.size() - 2] : -1;
    const bool chain = degree_[w] == 2 && below >= 0 && edge_[below].source == w && edge_[below].is_tree();
    if (top.a != v && !chain) return;
    if (top.a == v && father_[top.b] == v) {
      tstack_.pop_back();
      continue;
    }
    i32 b, parallel = -1, virtual_edge;
    open_component();
    if (chain) {
      b = edge_[below].target;
      take_from_stack();
      take_from_stack();
      virtual_edge = close_component(kS, v, b);
      if (!estack_.empty()) {
        const Edge& next = edge_[estack_.back()];
        if (next.source == b && next.target == v) {
          parallel = estack_.back();
          estack_.pop_back();
        }
      }
    } else {
      b = top.b;
      tstack_.pop_back();
      const auto inside = [&](i32 x) { return v <= x && x <= top.h; };
      while (!estack_.empty()) {
        const i32 e = estack_.back();
        const Edge& edge = edge_[e];
        if (!inside(edge.source) || !inside(edge.target)) break;
        if ((edge.source == v && edge.target == b) || (edge.source == b && edge.target == v)) {
          parallel = e;
          estack_.pop_back();
        } else {
          take_from_stack();
        }
      }
      virtual_edge = close_component(kR, v, b);
    }
    if (parallel >= 0) {
      leave_high(parallel);
      virtual_edge = bond(parallel, virtual_edge, v, b);
      --degree_[v];
      --degree_[b];
    }
    estack_.push_back(virtual_edge);
    ++degree_[v];
    ++degree_[b];
    father_[b] = v;
    tree_arc_[b] = virtual_edge;
    w = b;
  }
}

void SplitComponents::type_one_pair(i32 v, i32 w, bool another_arc_waits) {
  const i32 low = lowpt1_[w];
  if (!(lowpt2_[w] >= v && low < v && (father_[v] != 1 || another_arc_waits))) return;
  const auto inside = [&](i32 x) { return w <= x && x < w + size_[w]; };
  open_component();
  while (!estack_.empty()) {
    const Edge& edge = edge_[estack_.back()];
    if (!inside(edge.source) && !inside(edge.target)) break;
    take_from_stack();
  }
  i32 virtual_edge = close_component(kR, v, low);
  if (!estack_.empty()) {
    const i32 e = estack_.back();
    const Edge edge = edge_[e];
    if ((edge.source == v && edge.target == low) || (edge.source == low && edge.target == v)) {
      estack_.pop_back();
      --degree_[v];
      --degree_[low];
      virtual_edge = bond(e, virtual_edge, v, low);
      high_of_[virtual_edge] = high_of_[e];  // takes the place of the frond it is parallel to
    }
  }
  if (low != father_[v]) {
    estack_.push_back(virtual_edge);
    ++degree_[v];
    ++degree_[low];
    if (high_of_[virtual_edge] < 0 && high(low) < v) {
      high_of_[virtual_edge] = static_cast<i32>(high_items_.size());
      high_items_.push_back({v, high_head_[low], true});
      high_head_[low] = high_of_[virtual_edge];
    }
  } else {
    tree_arc_[v] = bond(virtual_edge, tree_arc_[v], low, v);
  }
}

}  // namespace planegraph
