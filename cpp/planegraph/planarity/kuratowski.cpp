// A Kuratowski subgraph, found with nothing but the planarity test.
//
// What is computed. A set of edges that is not planar, but becomes planar whichever of them is removed: by Kuratowski's theorem exactly
// a subdivision of K5 or of K3,3.
//
// Where. What makes a graph non-planar is often small: regions (regions.hpp) of growing size are tested, and the first that is not planar is
// searched. In the end the paths between branch nodes are shortened (shorten.hpp).
//
// How. Keep a set of super-edges, each a path of the input, whose graph is not planar. Call a super-edge critical if the rest
// is planar without it; it stays critical when other edges go. In each round
//   order   the edges: critical ones, then those of a breadth-first forest, then all others at random; nodes are renumbered
//           breadth-first too, for the cache;
//   cut     them to a prefix that is not planar: galloping finds one of the forest and k further edges. If k is small, that is enough;
//           otherwise binary search makes it the shortest, and its last edge is critical;
//   reduce  what is left: prune leaves, turn chains of nodes of degree 2 into single super-edges, drop loops and parallels.
// Each round shrinks the graph to a quarter, makes one edge critical or finds that the critical ones suffice, so it ends, with
// only critical edges.
//
// Cost. A forest plus k further edges reduces to fewer than 3k super-edges. Few of the long fundamental cycles of a breadth-first
// forest suffice to lose planarity, so most inputs shrink to some hundreds of super-edges after a few planarity tests of full size. Where
// one particular edge is needed, as in a planar graph plus one edge, the first rounds take O(log m) tests of full size.
// There is no better promise in general than O(log m) tests of O(m) for each critical edge that is found.
// The random order is seeded with a constant: equal input gives an equal answer.
//
// Source: K. Kuratowski (1930) for why it is right; the search is ours, in the manner of delta debugging (A. Zeller, R. Hildebrandt, 2002).
#include "planegraph/planarity/kuratowski.hpp"

#include <algorithm>

#include "planegraph/graph/random.hpp"
#include "planegraph/planarity/embedding.hpp"
#include "planegraph/planarity/regions.hpp"
#include "planegraph/planarity/shorten.hpp"

namespace planegraph {
namespace {

constexpr i32 kFirstSize = 64;  // nodes of the first regions

struct SuperEdge {
  i32 u, v;
  i32 first, last;  // its input edges: a list linked by WitnessSearch::next_input_
  bool critical;
};

class WitnessSearch {
 public:
  WitnessSearch(i32 n, i32 m, const i32* eu, const i32* ev, const KeepGoing& keep_going)
      : num_nodes_(n), next_input_(static_cast<std::size_t>(m), -1), keep_going_(keep_going) {
    edges_.reserve(static_cast<std::size_t>(m));
    for (i32 e = 0; e < m; ++e) edges_.push_back({eu[e], ev[e], e, e, false});
  }

  /// The graph must not be planar.
  std::vector<i32> run() {
    reduce();
    while (!std::all_of(edges_.begin(), edges_.end(), [](const SuperEdge& e) { return e.critical; })) {
      order_edges();
      cut_to_prefix();
      reduce();
    }
    return input_edges();
  }

 private:
  i32 num_edges() const { return static_cast<i32>(edges_.size()); }

  // ---- order

  void order_edges() {
    for (std::size_t i = edges_.size(); i > 1; --i) std::swap(edges_[i - 1], edges_[random_.below(i)]);
    // Critical edges first also puts them first in adjacency lists, so the forest prefers them a little.
    const auto forest = std::stable_partition(edges_.begin(), edges_.end(), [](const SuperEdge& e) { return e.critical; });
    num_critical_ = static_cast<i32>(forest - edges_.begin());
    find_breadth_first_forest();
    std::vector<SuperEdge> ordered(edges_.begin(), forest);
    ordered.reserve(edges_.size());
    for (const i32 e : forest_) {
      if (e >= num_critical_) ordered.push_back(edges_[e]);
    }
    num_fixed_ = static_cast<i32>(ordered.size());
    for (i32 e = num_critical_; e < num_edges(); ++e) {
      if (!in_forest_[e]) ordered.push_back(edges_[e]);
    }
    edges_.swap(ordered);
    for (SuperEdge& e : edges_) {
      e.u = number_[e.u];
      e.v = number_[e.v];
    }
  }

  /// Sets forest_ (its edges in the order of the search), in_forest_ and number_ (of the nodes, in the order of the search).
  void find_breadth_first_forest() {
    around_.run(num_nodes_, num_edges(), [&](i32 e) { return std::pair(edges_[e].u, edges_[e].v); });
    in_forest_.assign(edges_.size(), 0);
    forest_.clear();
    number_.assign(static_cast<std::size_t>(num_nodes_), -1);
    std::vector<i32> queue;
    queue.reserve(number_.size());
    const auto enter = [&](i32 v) {
      number_[v] = static_cast<i32>(queue.size());
      queue.push_back(v);
    };
    const auto start = static_cast<i32>(random_.below(number_.size()));
    for (i32 i = 0; i < num_nodes_; ++i) {
      const i32 root = i < num_nodes_ - start ? start + i : start + i - num_nodes_;
      if (number_[root] >= 0) continue;
      enter(root);
      for (std::size_t head = queue.size() - 1; head < queue.size(); ++head) {
        const i32 v = queue[head];
        for (i32 k = around_.ptr[v]; k < around_.ptr[v + 1]; ++k) {
          const i32 e = around_.edges[k], w = edges_[e].u ^ edges_[e].v ^ v;
          if (number_[w] >= 0) continue;
          enter(w);
          in_forest_[e] = 1;
          forest_.push_back(e);
        }
      }
    }
  }

  // ---- cut

  void cut_to_prefix() {
    prefix_u_.clear();
    prefix_v_.clear();
    for (const SuperEdge& e : edges_) {
      prefix_u_.push_back(e.u);
      prefix_v_.push_back(e.v);
    }
    // Prefixes below `low` are planar, the one of length `high` is not. Gallop first: short prefixes are cheap to test.
    i32 low = num_critical_, high = num_edges();
    i32 probe = num_fixed_;
    for (i32 step = 16; probe < high; step *= 4) {
      if (!prefix_is_planar(probe)) {
        high = probe;
        break;
      }
      low = probe + 1;
      if (high - probe <= step) break;
      probe += step;
    }
    const i64 further = high - num_fixed_;  // reducing a forest and so many further edges leaves fewer than three times as many
    if (12 * further < num_edges()) {
      edges_.resize(static_cast<std::size_t>(high));
      return;
    }
    while (low < high) {
      const i32 middle = low + (high - low) / 2;
      if (prefix_is_planar(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    edges_.resize(static_cast<std::size_t>(high));
    if (high > num_critical_) edges_.back().critical = true;
  }

  bool prefix_is_planar(i32 length) {
    if (!keep_going_()) throw Cancelled();
    return embedder_.run(num_nodes_, length, prefix_u_.data(), prefix_v_.data(), nullptr);
  }

  // ---- reduce

  /// Repeats while it pays: dropping parallels can make new nodes of degree 2, but peeling them off layer by layer would be quadratic.
  void reduce() {
    std::size_t before = 0;
    do {
      before = edges_.size();
      prune_leaves();
      contract_chains();
      drop_parallels();
      renumber_nodes();
    } while (8 * edges_.size() < 7 * before);
  }

  /// Removes edges that lie on no cycle and hang off; leaves degree_ and link_ (XOR of the ids of a node's edges) behind.
  void prune_leaves() {
    degree_.assign(static_cast<std::size_t>(num_nodes_), 0);
    link_.assign(static_cast<std::size_t>(num_nodes_), 0);
    used_.assign(edges_.size(), 0);
    for (i32 e = 0; e < num_edges(); ++e) {
      for (const i32 v : {edges_[e].u, edges_[e].v}) {
        ++degree_[v];
        link_[v] ^= e;
      }
    }
    for (i32 leaf = 0; leaf < num_nodes_; ++leaf) {
      for (i32 v = leaf; degree_[v] == 1;) {
        const i32 e = link_[v];
        used_[e] = 1;
        degree_[v] = 0;
        v ^= edges_[e].u ^ edges_[e].v;
        --degree_[v];
        link_[v] ^= e;
      }
    }
  }

  /// Each maximal path whose inner nodes have degree 2 becomes one edge. Loops and components that are a cycle vanish.
  void contract_chains() {
    chains_.clear();
    for (i32 e = 0; e < num_edges(); ++e) {
      if (used_[e]) continue;
      if (degree_[edges_[e].u] > 2) {
        chains_.push_back(follow_chain(edges_[e].u, e));
      } else if (degree_[edges_[e].v] > 2) {
        chains_.push_back(follow_chain(edges_[e].v, e));
      } else {
        continue;  // an inner edge: met from an end of its chain
      }
      if (chains_.back().u == chains_.back().v) chains_.pop_back();
    }
    edges_.swap(chains_);
  }

  SuperEdge follow_chain(i32 start, i32 edge) {
    SuperEdge chain = edges_[edge];
    i32 end = start;
    for (i32 e = edge;; e ^= link_[end]) {  // at a node of degree 2, the XOR of its edges turns one into the other
      used_[e] = 1;
      end ^= edges_[e].u ^ edges_[e].v;
      if (e != edge) {
        next_input_[chain.last] = edges_[e].first;
        chain.last = edges_[e].last;
        chain.critical |= edges_[e].critical;  // edges in series are critical together
      }
      if (degree_[end] > 2) break;
    }
    chain.u = std::min(start, end);
    chain.v = std::max(start, end);
    return chain;
  }

  /// Of parallel edges, one is as good as any; none of them is critical.
  void drop_parallels() {
    const auto ends = [](const SuperEdge& e) { return std::pair(e.u, e.v); };
    std::sort(edges_.begin(), edges_.end(), [&](const SuperEdge& a, const SuperEdge& b) { return ends(a) < ends(b); });
    edges_.erase(
        std::unique(edges_.begin(), edges_.end(), [&](const SuperEdge& a, const SuperEdge& b) { return ends(a) == ends(b); }),
        edges_.end());
  }

  void renumber_nodes() {
    std::vector<i32>& name = link_;  // no longer needed
    std::fill(name.begin(), name.end(), -1);
    i32 count = 0;
    for (SuperEdge& e : edges_) {
      for (i32* v : {&e.u, &e.v}) {
        if (name[*v] < 0) name[*v] = count++;
        *v = name[*v];
      }
    }
    num_nodes_ = count;
  }

  // ---- the rest

  std::vector<i32> input_edges() const {
    std::vector<i32> witness;
    for (const SuperEdge& e : edges_) {
      for (i32 i = e.first; i != e.last; i = next_input_[i]) witness.push_back(i);
      witness.push_back(e.last);
    }
    std::sort(witness.begin(), witness.end());
    return witness;
  }

  i32 num_nodes_;
  i32 num_critical_ = 0;  // edges_ starts with the critical ones,
  i32 num_fixed_ = 0;     // and continues with those of the forest up to here
  std::vector<SuperEdge> edges_, chains_;
  std::vector<i32> next_input_;
  std::vector<i32> prefix_u_, prefix_v_;
  Incidence around_;
  std::vector<i32> degree_, link_;
  std::vector<i32> forest_, number_;
  std::vector<u8> in_forest_, used_;
  Random random_;
  const KeepGoing& keep_going_;
  Embedder embedder_;
};

/// A witness of the first region that is not planar; the whole graph is the last.
std::vector<i32> witness_in_a_region(Regions& regions, Embedder& embedder, i32 n, i32 m, const i32* eu, const i32* ev,
                                     const KeepGoing& keep_going) {
  std::vector<i32> name(static_cast<std::size_t>(n), -1);
  Part part(name);
  for (i64 size = kFirstSize; 2 * size <= n; size *= Regions::kGrowth) {
    if (!keep_going()) throw Cancelled();
    regions.cut(static_cast<i32>(size));
    for (i32 r = 0; r < regions.count; ++r) {
      const i32* const edges = regions.edges.data() + regions.ptr[r];
      part.set(edges, regions.ptr[r + 1] - regions.ptr[r], eu, ev);
      if (embedder.run(part.n, part.m, part.u.data(), part.v.data(), nullptr)) continue;
      std::vector<i32> witness = WitnessSearch(part.n, part.m, part.u.data(), part.v.data(), keep_going).run();
      for (i32& e : witness) e = edges[e];
      std::sort(witness.begin(), witness.end());
      return witness;
    }
  }
  return WitnessSearch(n, m, eu, ev, keep_going).run();
}

}  // namespace

std::vector<i32> kuratowski_subgraph(i32 n, i32 m, const i32* eu, const i32* ev, const KeepGoing& keep_going) {
  const i64 too_many = 3 * i64{n} - 5;  // no planar graph has that many edges
  const i32 enough = n >= 5 && m > too_many ? static_cast<i32>(too_many) : m;
  Embedder embedder;
  if (embedder.run(n, enough, eu, ev, nullptr)) return {};
  std::vector<i32> witness;
  {
    Regions regions(n, enough, eu, ev);
    witness = witness_in_a_region(regions, embedder, n, enough, eu, ev, keep_going);
  }
  return shortened(witness, n, m, eu, ev, keep_going);
}

}  // namespace planegraph
