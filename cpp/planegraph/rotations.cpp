#include "rotations.hpp"

#include <algorithm>

#include "memory.hpp"

namespace planegraph {

void Rotations::run(const Graph& g, const Spqr& spqr) {
  all_planar = true;
  grow_fill(planar, spqr.count, u8{1});
  grow(local_, g.n);
  for (i32 c = 0; c < spqr.count; ++c) {
    if (spqr.type[c] != kR) continue;
    const i32 first = spqr.entry_ptr[c], edges = spqr.size(c);
    grow(next, 2 * static_cast<std::size_t>(spqr.num_entries));
    grow(prev, 2 * static_cast<std::size_t>(spqr.num_entries));
    grow(eu_, edges);
    grow(ev_, edges);
    for (i32 d = 2 * first; d < 2 * (first + edges); ++d) local_[spqr.end[d]] = -1;
    i32 nodes = 0;
    const auto local = [&](i32 v) {
      if (local_[v] < 0) local_[v] = nodes++;
      return local_[v];
    };
    for (i32 k = 0; k < edges; ++k) {
      eu_[k] = local(spqr.end[2 * (first + k)]);
      ev_[k] = local(spqr.end[2 * (first + k) + 1]);
    }
    i32* const turn = next.data() + 2 * static_cast<std::size_t>(first);
    if (!embedder_.run(nodes, edges, eu_.data(), ev_.data(), turn)) {
      planar[c] = 0;
      all_planar = false;
      continue;
    }
    for (i32 d = 0; d < 2 * edges; ++d) {
      turn[d] += 2 * first;
      prev[turn[d]] = 2 * first + d;
    }
  }
}

}  // namespace planegraph
