// The idea and the cost are described in regions.hpp.
#include "planegraph/planarity/regions.hpp"

#include <algorithm>

#include "planegraph/graph/random.hpp"

namespace planegraph {

Regions::Regions(i32 n, i32 m, const i32* eu, const i32* ev) : n_(n), m_(m), eu_(eu), ev_(ev) {
  around.run(n, m, [&](i32 e) { return std::pair(eu[e], ev[e]); });
}

void Regions::cut(i32 size) {
  of.assign(n_, -1);
  queue_.clear();
  count = 0;
  Random random(static_cast<u64>(size));
  const auto seed = [&](i32 v) {
    if (of[v] >= 0) return;
    of[v] = count++;
    queue_.push_back(v);
  };
  for (i32 k = 0; k < n_ / size; ++k) seed(static_cast<i32>(random.below(static_cast<u64>(n_))));
  spread(0);
  for (i32 v = 0; v < n_; ++v) {
    if (of[v] >= 0) continue;
    const std::size_t head = queue_.size();
    seed(v);
    spread(head);
  }
  ptr.assign(static_cast<std::size_t>(count) + 2, 0);
  edges.resize(m_);
  const auto inside = [&](i32 e) { return of[eu_[e]] == of[ev_[e]]; };
  for (i32 e = 0; e < m_; ++e)
    if (inside(e)) ++ptr[of[eu_[e]] + 2];
  for (i32 r = 0; r < count; ++r) ptr[r + 2] += ptr[r + 1];
  for (i32 e = 0; e < m_; ++e)
    if (inside(e)) edges[ptr[of[eu_[e]] + 1]++] = e;
}

void Regions::spread(std::size_t head) {
  for (; head < queue_.size(); ++head) {
    const i32 v = queue_[head];
    for (i32 k = around.ptr[v]; k < around.ptr[v + 1]; ++k) {
      const i32 e = around.edges[k], w = eu_[e] ^ ev_[e] ^ v;
      if (of[w] >= 0) continue;
      of[w] = of[v];
      queue_.push_back(w);
    }
  }
}

void Part::set(const i32* edges, i32 count, const i32* eu, const i32* ev) {
  n = 0;
  m = count;
  u.resize(count);
  v.resize(count);
  nodes_.clear();
  std::vector<i32>& name = *name_;
  const auto named = [&](i32 node) {
    if (name[node] < 0) {
      name[node] = n++;
      nodes_.push_back(node);
    }
    return name[node];
  };
  for (i32 k = 0; k < count; ++k) {
    u[k] = named(eu[edges[k]]);
    v[k] = named(ev[edges[k]]);
  }
  for (const i32 node : nodes_) name[node] = -1;
}

}  // namespace planegraph
