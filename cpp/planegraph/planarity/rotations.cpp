// The idea, the invariants and the cost are described in rotations.hpp.
#include "planegraph/planarity/rotations.hpp"

#include <algorithm>

#include "planegraph/graph/memory.hpp"

namespace planegraph {

void Rotations::run(const Graph& g, const Spqr& spqr) {
  all_planar = true;
  grow_fill(planar, spqr.count(), u8{1});
  grow(local_, g.n);
  for (i32 c = 0; c < spqr.count(); ++c) {
    const SpqrNode& node = spqr.nodes[c];
    if (node.type != kR) continue;
    const i32 edges = node.size();
    const Entry* const entries = spqr.entries.data() + node.first;
    grow(turns, spqr.num_entries());
    for (auto* v : {&eu_, &ev_}) grow(*v, edges);
    grow(next_, 2 * static_cast<std::size_t>(edges));
    for (i32 k = 0; k < edges; ++k) local_[entries[k].end[0]] = local_[entries[k].end[1]] = -1;
    i32 nodes = 0;
    const auto local = [&](i32 v) {
      if (local_[v] < 0) local_[v] = nodes++;
      return local_[v];
    };
    for (i32 k = 0; k < edges; ++k) {
      eu_[k] = local(entries[k].end[0]);
      ev_[k] = local(entries[k].end[1]);
    }
    if (!embedder_.run(nodes, edges, eu_.data(), ev_.data(), next_.data())) {
      planar[c] = 0;
      all_planar = false;
      continue;
    }
    Turn* const turn = turns.data() + node.first;
    const i32 base = 2 * node.first;
    for (i32 d = 0; d < 2 * edges; ++d) {
      const i32 t = next_[d];
      turn[d >> 1].dart[d & 1] = base + t;
      turn[t >> 1].dart[2 + (t & 1)] = base + d;
    }
    if (edges > (1 << 17))
      for (auto* v : {&eu_, &ev_, &next_}) release(*v);
  }
}

}  // namespace planegraph
