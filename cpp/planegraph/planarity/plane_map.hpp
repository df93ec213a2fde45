// A graph embedded in the plane, as darts and their cyclic orders; edges can be added inside faces.
//
// Dart 2e goes along edge e, dart 2e + 1 is its reverse. next[d] is the dart that follows d around their common source,
// counter-clockwise.
//
// Corners. The corner of dart d is the gap between d and next[d]; it lies in the face on the left of d. So darts stand for
// corners too: each corner of each face has exactly one. `before` leads along a face with the face on the left, backwards: from
// corner to corner clockwise (as seen from inside a bounded face). The opposite way needs the inverse of next, which nothing here
// has to keep: an edge between two corners is put in after their darts.
//
// Loops and parallel edges are darts like others.
#pragma once

#include "planegraph/graph/memory.hpp"

namespace planegraph {

struct PlaneMap {
  i32 num_nodes = 0;
  std::vector<i32> source;  // per dart
  std::vector<i32> next;    // per dart

  i32 num_darts() const { return static_cast<i32>(source.size()); }
  i32 target(i32 d) const { return source[d ^ 1]; }

  /// The dart before d along the face on the left of both; its corner is the next one clockwise.
  i32 before(i32 d) const { return next[d] ^ 1; }

  /// Adds an edge from corner p to corner q of one face, and returns its dart out of p. It splits the face: p stays in the part
  /// that goes on, clockwise, with what followed q, and its reverse is the corner after p there; q stays in the part that goes on
  /// with what followed p.
  i32 add_edge(i32 p, i32 q) {
    const i32 d = num_darts();
    source.push_back(source[p]);
    source.push_back(source[q]);
    next.push_back(next[p]);
    next.push_back(next[q]);
    next[p] = d;
    next[q] = d + 1;
    return d;
  }

  /// Makes room for all edges that a simple plane graph can have.
  void reserve_all() {
    const std::size_t most = std::max<std::size_t>(source.size(), 6 * static_cast<std::size_t>(num_nodes));
    reserve(source, most);
    reserve(next, most);
  }
};

}  // namespace planegraph
