// A decomposed graph with its canonical walks, as the search for symmetries sees it, and walks in the form in which they are compared.
//
// An automorphism takes walks to walks that look the same, position by position. So where two walks agree (walks.hpp), pairing their darts
// is an isomorphism of skeletons, and pairing the subtrees at their virtual edges and cut nodes in the same way extends it to the graph.
#pragma once

#include "planegraph/canon/walks.hpp"
#include "planegraph/graph/small_sort.hpp"

namespace planegraph {

struct Parts {
  const Graph& g;
  const Blocks& blocks;
  const Spqr& spqr;
  const Rotations& rotations;
  Walks& walks;

  /// Does the SPQR node hang at a virtual edge, or is it one of two centres?
  bool hangs(i32 c) const { return spqr.nodes[c].up >= 0; }
  /// The canonical start of a hanging SPQR node in one direction of its virtual edge.
  Start hanging_start(i32 c, i32 side) const {
    const SpqrNode& node = spqr.nodes[c];
    return {2 * node.up + side, node.mirror[side] != 0, false};
  }
  /// The other one of two centres.
  i32 other_centre(i32 root) const { return spqr.across(spqr.nodes[root].up); }
};

/// Lists the darts of walks, each edge once, in the direction of its first use, but for the edge at which a node hangs. Sources of these
/// darts, and the ends of the first dart, are all nodes of the skeleton.
class WalkLister {
 public:
  void run(const Parts& x, i32 c, const Start& start, std::vector<i32>& darts) {
    const SpqrNode& node = x.spqr.nodes[c];
    darts.clear();
    switch (node.type) {
      case kQ: darts.push_back(start.dart); break;
      case kS:
        x.spqr.walk_cycle(node, start.dart, [&](i32 d) {
          if ((d >> 1) != node.up) darts.push_back(d);
        });
        break;
      case kP:
        sort_bond(x, c, start.dart);
        for (const auto& [token, d] : sorted) darts.push_back(d);
        break;
      default: {
        grow(used_, x.spqr.num_entries());
        for (i32 y = node.first; y < node.last; ++y) used_[y] = y == node.up;
        const Rigid skeleton = x.walks.rigid(x.blocks, x.spqr, x.rotations, c);
        x.walks.weinberg.walk(skeleton, start.dart, start.mirror, [&](i32 d, i32, bool) {
          u8& used = used_[d >> 1];
          if (!used) darts.push_back(d);
          used = 1;
          return true;
        });
      }
    }
  }

  /// The edges of a bond, but for the one at which it hangs, as (token, dart from the source of `dart`), ascending.
  void sort_bond(const Parts& x, i32 c, i32 dart) {
    const SpqrNode& node = x.spqr.nodes[c];
    const i32 u = x.spqr.end(dart);
    sorted.clear();
    for (i32 y = node.first; y < node.last; ++y) {
      if (y == node.up) continue;
      const i32 d = x.spqr.dart_from(y, u);
      sorted.emplace_back(x.spqr.token(d), d);
    }
    small_sort(sorted.begin(), sorted.end());
  }

  std::vector<std::pair<i32, i32>> sorted;

 private:
  std::vector<u8> used_;  // per entry
};

}  // namespace planegraph
