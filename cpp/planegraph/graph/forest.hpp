// Rooting the trees of a forest at their centres by peeling leaves.
//
// A tree is given by degree and by the XOR of the neighbours' ids: a leaf's only neighbour is then its XOR, and no adjacency
// lists are needed. Peeling round by round gives each vertex its height in the tree rooted at the centre, its parent, and an order
// in which heights never fall. A tree may have two adjacent centres; the caller decides which becomes the root.
// O(vertices).
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

class Forest {
 public:
  /// Starts a forest of `count` vertices without edges.
  void reset(i32 count);
  void add_edge(i32 a, i32 b) {
    ++degree_[a], ++degree_[b];
    xor_[a] ^= b, xor_[b] ^= a;
  }
  void peel();

  i32 count = 0;
  std::vector<i32> parent;  // -1 at a root
  std::vector<i32> height;  // leaves 0
  std::vector<i32> order;   // all vertices, heights ascending
  /// Trees with two centres: (first, second) with parent[first] == second, parent[second] == -1 and equal heights.
  std::vector<std::pair<i32, i32>> two_centres;

 private:
  std::vector<i32> degree_, xor_;
};

}  // namespace planegraph
