// Weinberg's walk of an embedded rigid skeleton ("A simple and efficient algorithm for determining isomorphism of planar triply connected
// graphs", 1966): a closed walk that uses every edge once in each direction. Its code is KHC's TriCode.
//
// On reaching a new node it continues with the next dart of the rotation; on reaching an old node by a new edge it turns back at
// once; on reaching an old node by an old edge it continues with the next dart that is still unused. A walk is fixed by its first dart and by
// the sense of rotation (the embedding or its mirror image). O(|E|); nothing has to be cleared between walks.
#pragma once

#include <algorithm>

#include "planegraph/graph/memory.hpp"
#include "planegraph/planarity/rigid.hpp"

namespace planegraph {

class Weinberg {
 public:
  /// Room for nodes and edges (entries) with ids below these bounds.
  void reserve(i32 nodes, i32 edges) {
    grow(visit_, nodes);
    grow(used_, edges);
  }

  /// Calls visit(dart, kappa, first) for each dart of the walk, where kappa numbers the dart's source by first visit from 1, until
  /// visit returns false.
  template <class Visit>
  void walk(const Rigid& rigid, i32 start, bool mirror, Visit&& visit) {
    if (++id_ >= kLastId) restart();
    const u32 once = 2 * id_, twice = 2 * id_ + 1;
    i32 nodes = 0, dart = start;
    for (i32 left = rigid.num_darts; left > 0; --left) {
      Mark& source = visit_[rigid.end(dart)];
      const bool first = source.walk != id_;
      if (first) source = {id_, ++nodes};
      if (!visit(dart, source.kappa, first)) return;
      const i32 back = dart ^ 1;
      u32& edge = used_[dart >> 1];
      if (edge < once) {
        edge = once;
        dart = visit_[rigid.end(back)].walk == id_ ? back : rigid.turn(back, mirror);
      } else {
        edge = twice;
        if (left == 1) return;
        dart = rigid.turn(back, mirror);
        while (used_[dart >> 1] == twice) dart = rigid.turn(dart, mirror);
      }
    }
  }

 private:
  static constexpr u32 kLastId = 0x7FFFFFFF;
  struct Mark {
    u32 walk = 0;
    i32 kappa = 0;
  };
  void restart() {
    std::fill(visit_.begin(), visit_.end(), Mark{});
    std::fill(used_.begin(), used_.end(), 0u);
    id_ = 1;
  }

  u32 id_ = 0;
  std::vector<Mark> visit_;
  std::vector<u32> used_;
};

}  // namespace planegraph
