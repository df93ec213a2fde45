// The idea and the cost are described in triangulate.hpp.
#include "planegraph/drawing/triangulate.hpp"

namespace planegraph {

void Triangulation::run(PlaneMap& map, std::vector<i32>& outer, bool fill_outer) {
  map.reserve_all();
  const i32 num_darts = num_input_ = map.num_darts();
  grow_fill(done_, num_darts, u8{0});
  grow_fill(mark_, map.num_nodes, i32{0});
  grow_fill(degree_, map.num_nodes, i32{0});
  stamp_ = 0;
  for (i32 d = 0; d < num_darts; ++d) ++degree_[map.source[d]];
  for (i32& start : outer) {
    simple_cycle(map, start);
    start = corners_[0];
    if (fill_outer) cut_cycle(map);
  }
  // a face that was not cut yet has only corners of the input
  for (i32 start = 0; start < num_darts; ++start) {
    if (done_[start]) continue;
    simple_cycle(map, start);
    cut_cycle(map);
  }
}

i32 Triangulation::add_edge(PlaneMap& map, i32 p, i32 q) {
  ++degree_[map.source[p]];
  ++degree_[map.source[q]];
  return map.add_edge(p, q);
}

/// Walks the face of corner `start` and cuts corners off until it is a simple cycle.
void Triangulation::simple_cycle(PlaneMap& map, i32 start) {
  const auto finish = [&](i32 corner) {
    if (corner < num_input_) done_[corner] = 1;
  };
  ++stamp_;
  corners_.assign(1, start);
  mark_[map.source[start]] = stamp_;
  finish(start);
  i32 corner = map.before(start);
  while (corner != start) {
    finish(corner);
    i32& mark = mark_[map.source[corner]];
    if (mark != stamp_) {
      mark = stamp_;
      corners_.push_back(corner);
      corner = map.before(corner);
    } else {
      const i32 after = map.before(corner), kept = add_edge(map, corners_.back(), after) ^ 1;
      finish(after);
      if (after == start) start = corners_[0] = kept;
      corner = kept;
    }
  }
}

/// Cuts the simple cycle of `corners_` into triangles.
void Triangulation::cut_cycle(PlaneMap& map) {
  const std::size_t k = corners_.size();
  if (k < 4) return;
  const auto node = [&](std::size_t i) { return map.source[corners_[i]]; };
  std::size_t least = 0;
  for (std::size_t i = 1; i < k; ++i)
    if (degree_[node(i)] < degree_[node(least)]) least = i;
  std::rotate(corners_.begin(), corners_.begin() + static_cast<std::ptrdiff_t>(least), corners_.end());
  ++stamp_;
  const i32 first = corners_[0];
  i32 d = first;
  do {
    mark_[map.target(d)] = stamp_;
    d = map.next[d];
  } while (d != first);
  std::size_t chord = 2;
  while (chord < k - 1 && mark_[node(chord)] != stamp_) ++chord;
  if (chord == k - 1) {
    for (std::size_t i = 2; i < k - 1; ++i) add_edge(map, first, corners_[i]);
    return;
  }
  i32 corner = corners_[1];
  for (std::size_t i = k - 1; i > chord; --i) corner = add_edge(map, corner, corners_[i]);
  for (std::size_t i = 2; i < chord; ++i) add_edge(map, corners_[chord + 1], corners_[i]);
}

void Triangulation::connect(PlaneMap& map, std::vector<i32>& outer) {
  map.reserve_all();
  std::vector<u8> used(map.num_nodes, 0);
  for (const i32 v : map.source) used[v] = 1;
  struct Place {
    i32 node, corner;  // -1: the node has no dart yet
  };
  std::vector<Place> places;
  for (const i32 corner : outer) places.push_back({map.source[corner], corner});
  for (i32 v = 0; v < map.num_nodes; ++v)
    if (!used[v]) places.push_back({v, -1});
  for (std::size_t c = 1; c < places.size(); ++c) {
    for (Place* const place : {&places[c - 1], &places[c]}) {
      const i32 d = map.num_darts();
      map.source.push_back(place->node);
      if (place->corner < 0) {
        map.next.push_back(d);
        place->corner = d;
      } else {
        map.next.push_back(map.next[place->corner]);
        map.next[place->corner] = d;
      }
    }
  }
  outer.clear();
  if (map.num_darts() > 0) outer.push_back(places[0].corner);
}

}  // namespace planegraph
