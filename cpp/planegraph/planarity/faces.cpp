// The idea and the cost are described in faces.hpp.
#include "planegraph/planarity/faces.hpp"

#include "planegraph/graph/disjoint_sets.hpp"

namespace planegraph {

void Faces::run(const PlaneMap& map) {
  const i32 num_darts = map.num_darts();
  ptr.assign(1, 0);
  resize(darts, num_darts);
  of.clear();
  reserve(of, num_darts);
  of.resize(num_darts, -1);
  i32 end = 0;
  for (i32 start = 0; start < num_darts; ++start) {
    if (of[start] >= 0) continue;
    const i32 first = end, face = count();
    i32 d = start;
    do {
      of[d] = face;
      darts[end++] = d;
      d = map.before(d);
    } while (d != start);
    std::reverse(darts.begin() + first + 1, darts.begin() + end);
    ptr.push_back(end);
  }
}

void Components::run(const PlaneMap& map) {
  const i32 n = map.num_nodes, num_darts = map.num_darts();
  of.resize(n);
  for (i32 v = 0; v < n; ++v) of[v] = v;
  for (i32 d = 0; d < num_darts; d += 2) {
    const i32 a = find(of, map.source[d]), b = find(of, map.source[d + 1]);
    of[std::max(a, b)] = std::min(a, b);  // so pointers lead to smaller nodes
  }
  std::vector<u8> used(n, 0);
  for (i32 d = 0; d < num_darts; ++d) used[map.source[d]] = 1;
  std::vector<i32> number(n, -1);
  count = 0;
  for (i32 v = 0; v < n; ++v) {
    if (of[v] == v) {
      if (used[v]) number[v] = count++;
    } else {
      of[v] = of[of[v]];  // the smaller node points to its root already
    }
  }
  for (i32 v = 0; v < n; ++v) of[v] = number[of[v]];
}

std::vector<i32> longest_faces(const PlaneMap& map, const Components& components, const Faces& faces) {
  std::vector<i32> best(components.count, -1), length(components.count, 0);
  for (i32 f = 0; f < faces.count(); ++f) {
    const i32 dart = faces.darts[faces.ptr[f]], c = components.of[map.source[dart]];
    const i32 size = faces.ptr[f + 1] - faces.ptr[f];
    if (size <= length[c]) continue;
    length[c] = size;
    best[c] = dart;
  }
  return best;
}

namespace {

/// Whether each node has all its darts in one cycle.
EmbeddingProblem rotation_problem(const PlaneMap& map) {
  const i32 num_darts = map.num_darts();
  const auto name = [](i32 d) { return "dart " + std::to_string(d); };
  std::vector<u8> seen(num_darts, 0);
  for (i32 d = 0; d < num_darts; ++d) {
    const i32 t = map.next[d];
    if (t < 0 || t >= num_darts) return {name(t) + " follows " + name(d) + ", but does not exist"};
    if (map.source[t] != map.source[d])
      return {name(t) + " follows " + name(d) + " around node {}, but leaves another node", map.source[d]};
    if (seen[t]++) return {name(t) + " follows two darts around node {}", map.source[d]};
  }
  std::vector<u8> done(map.num_nodes, 0);
  for (i32 start = 0; start < num_darts; ++start) {
    if (!seen[start]) continue;
    const i32 v = map.source[start];
    if (done[v]++) return {"the darts around node {} form more than one cycle", v};
    for (i32 d = start; seen[d]; d = map.next[d]) seen[d] = 0;
  }
  return {};
}

}  // namespace

EmbeddingProblem embedding_problem(const PlaneMap& map) {
  EmbeddingProblem problem = rotation_problem(map);
  if (!problem.what.empty()) return problem;
  Faces faces;
  faces.run(map);
  Components components;
  components.run(map);
  std::vector<i64> euler(components.count, 0);
  std::vector<i32> some_node(components.count, -1);
  for (i32 v = 0; v < map.num_nodes; ++v) {
    const i32 c = components.of[v];
    if (c < 0) continue;
    ++euler[c];
    if (some_node[c] < 0) some_node[c] = v;
  }
  for (i32 d = 0; d < map.num_darts(); d += 2) --euler[components.of[map.source[d]]];
  for (i32 f = 0; f < faces.count(); ++f) ++euler[components.of[map.source[faces.darts[faces.ptr[f]]]]];
  for (i32 c = 0; c < components.count; ++c) {
    if (euler[c] == 2) continue;
    return {"nodes - edges + faces is " + std::to_string(euler[c]) +
                ", not 2, in the component of node {}: no drawing in the plane has these cyclic orders",
            some_node[c]};
  }
  return {};
}

}  // namespace planegraph
