// The edges around each node, as one array with offsets.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

struct Incidence {
  std::vector<i32> ptr, edges;  // edges of node v, ascending: edges[ptr[v] .. ptr[v + 1])

  /// `ends(e)` is the pair of the ends of edge e. O(n + m).
  template <class Ends>
  void run(i32 n, i32 m, Ends ends) {
    ptr.assign(static_cast<std::size_t>(n) + 1, 0);
    edges.resize(2 * static_cast<std::size_t>(m));
    for (i32 e = 0; e < m; ++e) {
      const auto [u, v] = ends(e);
      ++ptr[u];
      ++ptr[v];
    }
    for (i32 v = 1; v <= n; ++v) ptr[v] += ptr[v - 1];
    for (i32 e = m - 1; e >= 0; --e) {
      const auto [u, v] = ends(e);
      edges[--ptr[u]] = e;
      edges[--ptr[v]] = e;
    }
  }
};

}  // namespace planegraph
