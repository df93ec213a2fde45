// The idea, the invariants and the cost are described in graph.hpp.
#include "planegraph/graph/graph.hpp"

#include <algorithm>
#include <limits>

#include "planegraph/graph/memory.hpp"

namespace planegraph {
namespace {

constexpr i64 kMaxItems = i64{1} << 28;   // 4m states of the dart refinement must fit 32 bits
constexpr i64 kMaxTokens = i64{1} << 30;  // leaves room for the ranks of virtual edges above the tokens

std::string edge_text(const GraphView& view, i64 e) {
  return "edge " + std::to_string(e) + " = (" + std::to_string(view.edges[2 * e]) + ", " + std::to_string(view.edges[2 * e + 1]) +
         ")";
}

}  // namespace

void Graph::load(const GraphView& view) {
  check_ids(view);
  n = static_cast<i32>(view.num_nodes);
  m = m_all = static_cast<i32>(view.num_edges);
  build_input_lists(view);
  number(n, in_ptr_, in_arcs_);
  number_edges(view);
  add_copies();
  build_lists();
  rank_node_labels(view.node_labels);
  rank_edge_labels(view);
}

void Graph::check_ids(const GraphView& view) const {
  if (view.num_nodes < 0 || view.num_nodes > kMaxItems)
    throw InvalidGraph("the number of nodes must be between 0 and 2^28, found " + std::to_string(view.num_nodes));
  if (view.num_edges < 0 || view.num_edges > kMaxItems)
    throw InvalidGraph("the number of edges must be between 0 and 2^28, found " + std::to_string(view.num_edges));
  const u64 bound = static_cast<u64>(view.num_nodes);
  for (i64 e = 0; e < view.num_edges; ++e) {
    const i64 u = view.edges[2 * e], v = view.edges[2 * e + 1];
    if (static_cast<u64>(u) >= bound || static_cast<u64>(v) >= bound)
      throw InvalidGraph(edge_text(view, e) + " names a node outside 0 .. " + std::to_string(view.num_nodes - 1));
    if (u == v) throw InvalidGraph(edge_text(view, e) + " is a self-loop; remove it");
  }
}

void Graph::build_input_lists(const GraphView& view) {
  grow_fill(in_ptr_, static_cast<std::size_t>(n) + 2, i32{0});
  grow(in_arcs_, 2 * static_cast<std::size_t>(m));
  for (i64 k = 0; k < 2 * static_cast<i64>(m); ++k) ++in_ptr_[view.edges[k] + 2];
  for (i32 v = 0; v < n; ++v) in_ptr_[v + 2] += in_ptr_[v + 1];
  for (i32 e = 0; e < m; ++e) {
    const i32 u = static_cast<i32>(view.edges[2 * i64{e}]), v = static_cast<i32>(view.edges[2 * i64{e} + 1]);
    in_arcs_[in_ptr_[u + 1]++] = {v, e};
    in_arcs_[in_ptr_[v + 1]++] = {u, e};
  }
}

/// Numbers each edge when its lower end is met, and refuses or sets aside parallel edges.
void Graph::number_edges(const GraphView& view) {
  constexpr i32 kAhead = 8;  // nodes by which memory is fetched ahead: the input's own numbers lead anywhere
  grow(edge_of, m);
  grow(end, 2 * static_cast<std::size_t>(m));
  grow_fill(seen_, n, i32{-1});
  if (view.multigraph) grow(first_, n);
  copies_.clear();
  i32 edges = 0;
  for (i32 u = 0; u < n; ++u) {
    if (u + 3 * kAhead < n) {
      prefetch(&in_ptr_[node_of[u + 3 * kAhead]]);
      prefetch(in_arcs_.data() + in_ptr_[node_of[u + 2 * kAhead]]);
      const i32 soon = node_of[u + kAhead];
      for (i32 k = in_ptr_[soon]; k < std::min(in_ptr_[soon + 1], in_ptr_[soon] + 4); ++k) prefetch(&id_of_[in_arcs_[k].node]);
    }
    const i32 input = node_of[u];
    for (i32 k = in_ptr_[input]; k < in_ptr_[input + 1]; ++k) {
      const Arc arc = in_arcs_[k];
      const i32 v = id_of_[arc.node];
      if (seen_[v] == u) {
        if (!view.multigraph) refuse_parallel(view, input, arc);
        if (v > u) copies_.push_back({first_[v], arc.edge});
        continue;
      }
      seen_[v] = u;
      if (v < u) continue;
      if (view.multigraph) first_[v] = edges;
      end[2 * edges] = u;
      end[2 * edges + 1] = v;
      edge_of[edges++] = arc.edge;
    }
  }
}

/// Gives copies the numbers after those of the edges.
void Graph::add_copies() {
  parallel.clear();
  if (copies_.empty()) return;
  m = m_all - static_cast<i32>(copies_.size());
  parallel.assign(m_all, -1);
  i32 e = m;
  for (const Copy& copy : copies_) {
    edge_of[e] = copy.edge;
    end[2 * e] = end[2 * copy.of];
    end[2 * e + 1] = end[2 * copy.of + 1];
    parallel[e] = parallel[copy.of];
    parallel[copy.of] = e++;
  }
}

void Graph::refuse_parallel(const GraphView& view, i32 u, const Arc& arc) {
  i64 first = 0;  // the other copy
  while (first == arc.edge || !((view.edges[2 * first] == u && view.edges[2 * first + 1] == arc.node) ||
                                (view.edges[2 * first + 1] == u && view.edges[2 * first] == arc.node)))
    ++first;
  throw InvalidGraph(edge_text(view, std::max<i64>(first, arc.edge)) + " repeats " +
                     edge_text(view, std::min<i64>(first, arc.edge)) + "; give each undirected edge once and no parallel edges");
}

void Graph::build_lists() {
  grow_fill(ptr, static_cast<std::size_t>(n) + 2, i32{0});
  grow(out, 2 * static_cast<std::size_t>(m));
  for (i32 d = 0; d < 2 * m; ++d) ++ptr[end[d] + 2];
  for (i32 v = 0; v < n; ++v) ptr[v + 2] += ptr[v + 1];
  for (i32 d = 0; d < 2 * m; ++d) out[ptr[end[d] + 1]++] = d;
}

/// Order-preserving ranks of label rows, in input order; returns a bound above all ranks.
i64 Graph::rank_rows(const LabelView& labels, i64 count, std::vector<i64>& rank) {
  grow(rank, count);
  const i64* rows = labels.rows;
  if (labels.width == 0 || count == 0) {
    std::fill_n(rank.begin(), count, i64{0});
    return 1;
  }
  if (labels.width == 1) {  // small integers serve as they are
    const auto [low, high] = std::minmax_element(rows, rows + count);
    const u64 range = static_cast<u64>(*high) - static_cast<u64>(*low);
    if (range < static_cast<u64>(kMaxTokens)) {
      for (i64 i = 0; i < count; ++i) rank[i] = rows[i] - *low;
      return static_cast<i64>(range) + 1;
    }
  }
  grow(order_, count);
  for (i64 i = 0; i < count; ++i) order_[i] = static_cast<i32>(i);
  const i64 width = labels.width;
  const auto row = [&](i32 i) { return rows + i * width; };
  const auto less = [&](i32 a, i32 b) { return std::lexicographical_compare(row(a), row(a) + width, row(b), row(b) + width); };
  std::sort(order_.begin(), order_.begin() + count, less);
  i64 next = 0;
  for (i64 i = 0; i < count; ++i) {
    if (i > 0 && less(order_[i - 1], order_[i])) ++next;
    rank[order_[i]] = next;
  }
  return next + 1;
}

void Graph::rank_node_labels(const LabelView& labels) {
  grow(label, n);
  num_labels = 1;
  if (labels.width == 0) {
    std::fill_n(label.begin(), n, 0);
    return;
  }
  num_labels = static_cast<i32>(rank_rows(labels, n, rank_));
  for (i32 v = 0; v < n; ++v) label[v] = static_cast<i32>(rank_[node_of[v]]);
}

void Graph::rank_edge_labels(const GraphView& view) {
  grow(token, 2 * static_cast<std::size_t>(m_all));
  num_tokens = 1;
  if (view.edge_labels.width == 0) {
    std::fill_n(token.begin(), 2 * static_cast<std::size_t>(m_all), 0);
    return;
  }
  const i64 per_edge = view.rows_per_edge;
  i64 bound = rank_rows(view.edge_labels, per_edge * m_all, rank_);
  bool one_way = per_edge == 1;
  if (!one_way) {
    one_way = true;
    for (i64 e = 0; e < m_all && one_way; ++e) one_way = rank_[2 * e] == rank_[2 * e + 1];
  }
  if (one_way) {  // both darts of every edge alike: the same tokens, however the labels were given
    for (i32 e = 0; e < m_all; ++e) token[2 * e] = token[2 * e + 1] = static_cast<i32>(rank_[per_edge * edge_of[e]]);
    num_tokens = static_cast<i32>(bound);
    return;
  }
  // A token is the pair (own label, label of the reverse), so that a walk that uses one dart of an edge still sees both.
  grow(pair_, 2 * static_cast<std::size_t>(m_all));
  for (i64 d = 0; d < 2 * i64{m_all}; ++d) pair_[d] = rank_[d] * bound + rank_[d ^ 1];
  const i64* pairs = pair_.data();
  LabelView view_of_pairs{pairs, 1, false};
  if (bound * bound >= kMaxTokens) {
    bound = rank_rows(view_of_pairs, 2 * i64{m_all}, rank_);
    // rank_rows may keep sparse values; they are below kMaxTokens either way
    num_tokens = static_cast<i32>(bound);
    pairs = rank_.data();
  } else {
    num_tokens = static_cast<i32>(bound * bound);
  }
  for (i32 e = 0; e < m_all; ++e) {
    const i64 d = 2 * i64{edge_of[e]};
    const bool same_way = view.edges[d] == node_of[end[2 * e]];
    token[2 * e] = static_cast<i32>(pairs[same_way ? d : d + 1]);
    token[2 * e + 1] = static_cast<i32>(pairs[same_way ? d + 1 : d]);
  }
}

}  // namespace planegraph
