// What this is for is said in input_map.hpp.
#include "planegraph/planarity/input_map.hpp"

namespace planegraph {

bool InputMap::run(GraphView view, const KeepGoing& keep_going) {
  view.node_labels = view.edge_labels = {};
  graph.load(view);
  if (!keep_going()) throw Cancelled();
  const std::size_t m = graph.m;
  std::vector<i32> eu(m), ev(m);
  for (std::size_t e = 0; e < m; ++e) {
    eu[e] = graph.end[2 * e];
    ev[e] = graph.end[2 * e + 1];
  }
  map.num_nodes = graph.n;
  map.source.assign(graph.end.begin(), graph.end.begin() + 2 * m);
  map.next.resize(2 * m);
  if (!embedder_.run(graph.n, graph.m, eu.data(), ev.data(), map.next.data())) return false;
  if (!keep_going()) throw Cancelled();
  return true;
}

std::vector<i32> InputMap::next_of_input(const GraphView& view) const {
  const i32 num_darts = map.num_darts();
  std::vector<i32> name(num_darts), next(num_darts);
  for (i32 d = 0; d < num_darts; d += 2) {
    const i32 input = 2 * graph.edge_of[d >> 1];
    const i32 turned =
        view.edges[input] == graph.node_of[map.source[d]] ? 0 : 1;  // the core turns edges from lower to higher nodes
    name[d] = input + turned;
    name[d + 1] = input + 1 - turned;
  }
  for (i32 d = 0; d < num_darts; ++d) next[name[d]] = name[map.next[d]];
  return next;
}

}  // namespace planegraph
