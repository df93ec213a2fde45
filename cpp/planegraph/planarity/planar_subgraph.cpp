// A maximal planar subgraph by repairing small regions first, then larger ones, then the whole graph.
//
// What is computed. A set of edges to leave out. What is kept is planar, and with any edge that is left out it is not. The fewest such
// edges are NP-hard to find; there are few where what makes the graph non-planar is local (a bridge over a road), or comes from few edges.
//
// How. The graph is cut into regions (regions.hpp) of growing size. In each that is not planar:
//   repair   while it is small. A Kuratowski subgraph must lose an edge; all of its edges would do for itself. So look at the balls around it,
//            of growing radius, and keep those of its edges whose removal makes the whole ball planar. The last of them is left out.
//   extend   otherwise. Edges with a short detour, a way around between their ends, come first. Those without would stand in the way of
//            many others; they wait until the rest is there. Galloping and binary search find the first edge that cannot be added, then the next.
// For each edge left out by `repair` its Kuratowski subgraph is kept as a proof: as long as the other edges of that subgraph stay, it cannot
// be put back. Edges whose proof breaks, because a later edge of it was left out too, are tried again at the end.
//
// Cost. O(n + m) for each of log n sizes; for an edge that is left out, small tests if a region shows it, and otherwise O(log m) tests of the
// whole graph, O(1) of them if most long edges are left out. There is no better promise than O(m) tests for graphs far from planar.
//
// Source: ours. Deleting by witnesses is folklore; for what is known of the problem, P. C. Liu and R. C. Geldmacher (1979).
#include "planegraph/planarity/planar_subgraph.hpp"

#include <algorithm>
#include <numeric>

#include "planegraph/planarity/embedding.hpp"
#include "planegraph/planarity/kuratowski.hpp"
#include "planegraph/planarity/regions.hpp"

namespace planegraph {
namespace {

constexpr i32 kFirstSize = 256;  // nodes of the first regions
constexpr int kLooks = 1024;     // edges that the search for a detour looks at
constexpr i32 kFar = 1 << 30;
constexpr i32 kSmall = 1 << 14;            // edges of a region that is repaired
constexpr i32 kLargestBall = 1 << 11;      // edges
constexpr i32 kCandidates = 256;           // edges of a long witness that are looked at
constexpr i64 kRepairWork = i64{1} << 18;  // edges of a region times repairs; then it is far from planar, and extending is faster

class PlanarSubgraph {
 public:
  PlanarSubgraph(i32 n, i32 m, const i32* eu, const i32* ev, const KeepGoing& keep_going)
      : n_(n), m_(m), eu_(eu), ev_(ev), keep_going_(keep_going), regions_(n, m, eu, ev), out_(m, 0), near_(n, 0), place_(m),
        name_(n, -1), part_(name_), trial_(name_), ball_(name_) {}

  std::vector<i32> run() {
    if (embedder_.run(n_, m_, eu_, ev_, nullptr)) return {};
    for (i64 size = kFirstSize; 2 * size <= n_; size *= Regions::kGrowth) {
      regions_.cut(static_cast<i32>(size));
      for (i32 r = 0; r < regions_.count; ++r) {
        std::vector<i32> edges(regions_.edges.begin() + regions_.ptr[r], regions_.edges.begin() + regions_.ptr[r + 1]);
        make_planar(std::move(edges));
      }
    }
    const std::vector<i32> unproven = unproven_;  // what the whole graph rejects is proven by that
    std::vector<i32> all(m_);
    std::iota(all.begin(), all.end(), 0);
    make_planar(std::move(all));
    put_back(unproven);
    std::vector<i32> left_out;
    for (i32 e = 0; e < m_; ++e)
      if (out_[e]) left_out.push_back(e);
    return left_out;
  }

 private:
  struct Proof {
    i32 edge;
    std::vector<i32> witness;  // with the edge
  };

  void make_planar(std::vector<i32> edges) {
    std::erase_if(edges, [&](i32 e) { return out_[e] != 0; });
    if (is_planar(edges)) return;
    if (static_cast<i64>(edges.size()) <= kSmall && repair(edges)) return;
    const std::size_t num_short = sort_by_detour(edges);
    const std::vector<i32> rejected = extend({}, edges, num_short);
    for (const i32 e : rejected) out_[e] = 1;
    unproven_.insert(unproven_.end(), rejected.begin(), rejected.end());
  }

  // ---- long edges

  /// The number of edges of a shortest way around an edge: kFar if none shows up soon, 0 if there is none, as around a dead end.
  i32 detour(i32 edge) {
    const auto degree = [&](i32 v) { return regions_.around.ptr[v + 1] - regions_.around.ptr[v]; };
    i32 from = eu_[edge], to = ev_[edge];
    if (degree(to) < degree(from)) std::swap(from, to);  // away from hubs
    const i32 length = search_detour(from, to, edge);
    const bool dead_end = length == kFar && search_detour(to, from, edge) == 0;
    for (const i32 v : reached_) near_[v] = 0;
    reached_.clear();
    return dead_end ? 0 : length;
  }

  /// Leaves what it has seen in reached_ and near_.
  i32 search_detour(i32 from, i32 to, i32 edge) {
    for (const i32 v : reached_) near_[v] = 0;
    reached_.assign(1, from);
    near_[from] = 1;
    int looks = 0;
    i32 depth = 0;
    for (std::size_t head = 0; head < reached_.size();) {
      ++depth;
      for (const std::size_t end = reached_.size(); head < end; ++head) {
        const i32 v = reached_[head];
        for (i32 k = regions_.around.ptr[v]; k < regions_.around.ptr[v + 1]; ++k) {
          if (++looks > kLooks) return kFar;
          const i32 e = regions_.around.edges[k], w = eu_[e] ^ ev_[e] ^ v;
          if (e == edge || out_[e] || near_[w]) continue;
          if (w == to) return depth;
          near_[w] = 1;
          reached_.push_back(w);
        }
      }
    }
    return 0;
  }

  /// Short detours first; returns how many edges have one.
  std::size_t sort_by_detour(std::vector<i32>& edges) {
    std::vector<std::pair<i32, i32>> keyed;
    keyed.reserve(edges.size());
    for (const i32 e : edges) keyed.emplace_back(detour(e), e);
    std::sort(keyed.begin(), keyed.end());
    std::size_t num_short = 0;
    for (std::size_t k = 0; k < keyed.size(); ++k) {
      edges[k] = keyed[k].second;
      num_short += keyed[k].first < kFar;
    }
    return num_short;
  }

  bool is_planar(const std::vector<i32>& edges) {
    part_.set(edges.data(), static_cast<i32>(edges.size()), eu_, ev_);
    return passes(part_, part_.m);
  }

  bool passes(const Part& part, std::size_t length) {
    if (!keep_going_()) throw Cancelled();
    return embedder_.run(part.n, static_cast<i32>(length), part.u.data(), part.v.data(), nullptr);
  }

  // ---- repair

  /// False if the region is far from planar; all that was left out is then back.
  bool repair(std::vector<i32> edges) {
    const std::size_t before = proofs_.size();
    i64 work = 0;
    do {
      work += static_cast<i64>(edges.size());
      if (work > kRepairWork) {
        for (; proofs_.size() > before; proofs_.pop_back()) out_[proofs_.back().edge] = 0;
        return false;
      }
      std::vector<i32> witness = witness_of_part(edges);
      const i32 worst = worst_of(witness);
      out_[worst] = 1;
      std::erase(edges, worst);
      proofs_.push_back({worst, std::move(witness)});
    } while (!is_planar(edges));
    prove_again(before, edges);
    return true;
  }

  /// In a region that is now planar: what has lost its proof to a later repair gets another one, or is put back.
  void prove_again(std::size_t first, std::vector<i32>& edges) {
    for (std::size_t k = proofs_.size(); k-- > first;) {
      Proof& proof = proofs_[k];
      if (!is_broken(proof)) continue;
      edges.push_back(proof.edge);
      if (is_planar(edges)) {
        out_[proof.edge] = 0;
        proofs_.erase(proofs_.begin() + static_cast<std::ptrdiff_t>(k));
      } else {
        proof.witness = witness_of_part(edges);
        edges.pop_back();
      }
    }
  }

  bool is_broken(const Proof& proof) const {
    return std::any_of(proof.witness.begin(), proof.witness.end(), [&](i32 e) { return out_[e] != 0 && e != proof.edge; });
  }

  /// The part is that of these edges, and not planar.
  std::vector<i32> witness_of_part(const std::vector<i32>& edges) {
    std::vector<i32> witness = kuratowski_subgraph(part_.n, part_.m, part_.u.data(), part_.v.data(), keep_going_);
    for (i32& e : witness) e = edges[e];
    return witness;
  }

  /// Of the edges of a Kuratowski subgraph, one whose removal makes the largest neighbourhood planar.
  i32 worst_of(const std::vector<i32>& witness) {
    std::vector<i32> candidates = witness, nodes, inside;
    sort_by_detour(candidates);
    const auto enter = [&](i32 v) {
      if (near_[v]) return;
      near_[v] = 1;
      nodes.push_back(v);
    };
    for (const i32 e : witness) enter(eu_[e]), enter(ev_[e]);
    if (candidates.size() > kCandidates) candidates.erase(candidates.begin(), candidates.end() - kCandidates);
    std::size_t inner = 0, size = 0;  // nodes whose edges were followed, edges of the last ball
    while (candidates.size() > 1) {
      inside.clear();
      for (const i32 v : nodes) {
        for_each_kept(v, [&](i32 e, i32 w) {
          if (near_[w] && v < w) inside.push_back(e);
        });
      }
      if (inside.size() == size || (size > 0 && inside.size() > kLargestBall)) break;
      size = inside.size();
      std::vector<i32> still;
      ball_.set(inside.data(), static_cast<i32>(size), eu_, ev_);
      for (std::size_t k = 0; k < size; ++k) place_[inside[k]] = static_cast<i32>(k);
      for (const i32 e : candidates)
        if (passes_without(place_[e])) still.push_back(e);
      if (still.empty()) break;
      candidates.swap(still);
      const std::size_t end = nodes.size();
      for (; inner < end; ++inner) for_each_kept(nodes[inner], [&](i32, i32 w) { enter(w); });
    }
    for (const i32 v : nodes) near_[v] = 0;
    return candidates.back();
  }

  template <class Visit>
  void for_each_kept(i32 v, Visit visit) const {
    for (i32 k = regions_.around.ptr[v]; k < regions_.around.ptr[v + 1]; ++k) {
      const i32 e = regions_.around.edges[k];
      if (!out_[e]) visit(e, eu_[e] ^ ev_[e] ^ v);
    }
  }

  bool passes_without(i32 k) {
    const i32 last = ball_.m - 1;
    const auto swap = [&] {
      std::swap(ball_.u[k], ball_.u[last]);
      std::swap(ball_.v[k], ball_.v[last]);
    };
    swap();
    const bool planar = passes(ball_, last);
    swap();
    return planar;
  }

  // ---- extend

  /// Adds edges to planar ones, each if it can be, and returns the others. `step`: how many may be tried at once at first.
  std::vector<i32> extend(const std::vector<i32>& kept, const std::vector<i32>& edges, std::size_t step) {
    std::vector<i32> order = kept, rejected;
    order.insert(order.end(), edges.begin(), edges.end());
    part_.set(order.data(), static_cast<i32>(order.size()), eu_, ev_);
    trial_ = part_;
    // The first `good` places of the trial hold edges that go together; the next to try are order[next], order[next + 1], ...
    std::size_t good = kept.size(), next = good, since = good;  // since: where the last edge was rejected
    const auto place_up_to = [&](std::size_t end) {
      std::copy(part_.u.begin() + next, part_.u.begin() + end, trial_.u.begin() + good);
      std::copy(part_.v.begin() + next, part_.v.begin() + end, trial_.v.begin() + good);
      return good + (end - next);
    };
    step = std::max<std::size_t>(step, 1);
    while (next < order.size()) {
      std::size_t low = next, high = std::min(next + step, order.size());
      if (passes(trial_, place_up_to(high))) {
        good += high - next;
        next = high;
        step *= 2;
        continue;
      }
      while (high - low > 1) {  // edges before `low` can be added, those before `high` cannot
        const std::size_t middle = low + (high - low) / 2;
        (passes(trial_, place_up_to(middle)) ? low : high) = middle;
      }
      good = place_up_to(low);
      rejected.push_back(order[low]);
      step = std::max<std::size_t>((low - since) / 2, 1);
      next = since = high;
    }
    return rejected;
  }

  // ---- proofs

  /// Tries edges again that have no proof, or a proof that broke.
  void put_back(std::vector<i32> edges) {
    for (const Proof& proof : proofs_)
      if (is_broken(proof)) edges.push_back(proof.edge);
    if (edges.empty()) return;
    std::vector<i32> kept;
    for (i32 e = 0; e < m_; ++e)
      if (!out_[e]) kept.push_back(e);
    for (const i32 e : edges) out_[e] = 0;
    for (const i32 e : extend(kept, edges, 1)) out_[e] = 1;
  }

  i32 n_, m_;
  const i32 *eu_, *ev_;
  const KeepGoing& keep_going_;
  Regions regions_;
  std::vector<u8> out_;  // per edge: left out
  std::vector<Proof> proofs_;
  std::vector<i32> unproven_;
  std::vector<u8> near_;  // per node: in the ball, or reached by a search
  std::vector<i32> reached_;
  std::vector<i32> place_;  // per edge: place in the ball
  std::vector<i32> name_;   // per node, for parts
  Part part_, trial_, ball_;
  Embedder embedder_;
};

}  // namespace

std::vector<i32> edges_beyond_planar(i32 n, i32 m, const i32* eu, const i32* ev, const KeepGoing& keep_going) {
  return PlanarSubgraph(n, m, eu, ev, keep_going).run();
}

}  // namespace planegraph
