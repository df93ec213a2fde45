// The idea, the invariants and the cost are described in diagnostics.hpp.
#include "planegraph/canon/diagnostics.hpp"

#include "planegraph/canon/refine.hpp"
#include "planegraph/planarity/embedding.hpp"

namespace planegraph {
namespace {

/// The map as a Rigid, with the arrays it points to.
struct OwnedRigid {
  OwnedRigid(const ColouredMap& map, const std::vector<i32>& next) : entries(map.m), turns(map.m) {
    for (i32 e = 0; e < map.m; ++e)
      entries[e] = {{map.edges[2 * e], map.edges[2 * e + 1]}, {map.dart_colours[2 * e], map.dart_colours[2 * e + 1]}, e, -1, 0, 1};
    for (i32 d = 0; d < 2 * map.m; ++d) {
      turns[d >> 1].dart[d & 1] = next[d];
      turns[next[d] >> 1].dart[2 + (next[d] & 1)] = d;
    }
    rigid = {0, 2 * map.m, entries.data(), turns.data(), {map.node_colours, -1}};
  }
  std::vector<Entry> entries;
  std::vector<Turn> turns;
  Rigid rigid;
};

}  // namespace

bool dart_classes(const ColouredMap& map, std::vector<i32>& next, std::vector<i32>& classes) {
  std::vector<i32> eu(map.m), ev(map.m);
  for (i32 e = 0; e < map.m; ++e) eu[e] = map.edges[2 * e], ev[e] = map.edges[2 * e + 1];
  next.resize(2 * static_cast<std::size_t>(map.m));
  if (!Embedder().run(map.n, map.m, eu.data(), ev.data(), next.data())) return false;
  const OwnedRigid owned(map, next);
  Refiner().classes(owned.rigid, classes);
  return true;
}

i32 chosen_start(const ColouredMap& map, const std::vector<i32>& next) {
  const OwnedRigid owned(map, next);
  Weinberg weinberg;
  weinberg.reserve(map.n, map.m);
  const Start start = Refiner().choose(owned.rigid, weinberg);
  return 2 * start.dart + (start.mirror ? 1 : 0);
}

std::vector<i32> weinberg_code(const ColouredMap& map, const std::vector<i32>& next, i32 start_dart, bool mirror) {
  const OwnedRigid owned(map, next);
  Weinberg weinberg;
  weinberg.reserve(map.n, map.m);
  std::vector<i32> code;
  improve_walk_code(owned.rigid, weinberg, start_dart, mirror, code, 0, [](i32) {});
  return code;
}

i64 plain_search(i64 num_nodes, i64 num_edges, const i64* edges) {
  const i32 n = static_cast<i32>(num_nodes);
  std::vector<i32> ptr(static_cast<std::size_t>(n) + 2, 0), list(2 * static_cast<std::size_t>(num_edges));
  for (i64 k = 0; k < 2 * num_edges; ++k) ++ptr[edges[k] + 2];
  for (i32 v = 0; v < n; ++v) ptr[v + 2] += ptr[v + 1];
  for (i64 e = 0; e < num_edges; ++e) {
    list[ptr[edges[2 * e] + 1]++] = static_cast<i32>(edges[2 * e + 1]);
    list[ptr[edges[2 * e + 1] + 1]++] = static_cast<i32>(edges[2 * e]);
  }
  std::vector<i32> cursor(ptr.begin(), ptr.begin() + n), stack;
  std::vector<u8> seen(n, 0);
  i64 reached = 0;
  for (i32 root = 0; root < n; ++root) {
    if (seen[root]) continue;
    seen[root] = 1;
    ++reached;
    stack.push_back(root);
    while (!stack.empty()) {
      const i32 v = stack.back();
      if (cursor[v] == ptr[v + 1]) {
        stack.pop_back();
        continue;
      }
      const i32 w = list[cursor[v]++];
      if (seen[w]) continue;
      seen[w] = 1;
      ++reached;
      stack.push_back(w);
    }
  }
  return reached;
}

}  // namespace planegraph
