// Planar embeddings of all rigid skeletons of a graph, as turns of entry darts.
//
// A 3-connected planar graph has one embedding up to mirror image (Whitney), so the turns and their inverses are the two
// candidates for Weinberg's walk. O(entries).
#pragma once

#include "planegraph/planarity/embedding.hpp"
#include "planegraph/planarity/rigid.hpp"

namespace planegraph {

class Rotations {
 public:
  void run(const Graph& g, const Spqr& spqr);

  bool all_planar = true;
  std::vector<u8> planar;   // per SPQR node
  std::vector<Turn> turns;  // per entry of a planar R node

 private:
  Embedder embedder_;
  std::vector<i32> local_, eu_, ev_, next_;
};

}  // namespace planegraph
