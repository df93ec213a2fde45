// Planar embeddings of all rigid skeletons of a graph, as rotations of entry darts.
//
// A 3-connected planar graph has one embedding up to mirror image (Whitney), so `next` and its inverse `prev` are the two
// candidates for Weinberg's walk. O(entries).
#pragma once

#include "embedding.hpp"
#include "spqr.hpp"

namespace planegraph {

class Rotations {
 public:
  void run(const Graph& g, const Spqr& spqr);

  bool all_planar = true;
  std::vector<u8> planar;       // per SPQR node
  std::vector<i32> next, prev;  // per dart of an entry of a planar R node: next dart around its source

 private:
  Embedder embedder_;
  std::vector<i32> local_, eu_, ev_;
};

}  // namespace planegraph
