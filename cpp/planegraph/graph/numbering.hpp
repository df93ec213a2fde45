// The order in which nodes are numbered: neighbours close together, because at 10^6 nodes cache misses cost several times the arithmetic.
//
// A small graph is numbered in breadth-first order. A breadth-first search of a large one would itself wait for memory at every step
// where few nodes are open (a randomly numbered cycle of 10^6 nodes: one miss after the other), and would number the rim of a wheel as the
// hub's list happens to stand. So a large graph is searched from many nodes at once, with what is needed soon fetched ahead, and nodes of
// high degree, the hubs, wait until nothing else is open. Nodes of one front then stand together, fronts of one component after another.
//
// O(n + m).
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// A neighbour in the input's own numbers, and the edge that leads there.
struct Arc {
  i32 node, edge;
};

class Numbering {
 public:
  i32 num_components = 0;
  std::vector<i32> node_of;    // new node -> input node
  std::vector<i32> component;  // per node; ascending

 protected:
  /// `ptr`, `arcs`: the neighbours of node v are arcs[ptr[v] .. ptr[v + 1]).
  void number(i32 n, const std::vector<i32>& ptr, const std::vector<Arc>& arcs);

  std::vector<i32> id_of_;  // input node -> new node

 private:
  void breadth_first(i32 n, const std::vector<i32>& ptr, const std::vector<Arc>& arcs);
  void by_fronts(i32 n, const std::vector<i32>& ptr, const std::vector<Arc>& arcs);
  i32 add_front();
  void number_fronts(i32 n);

  std::vector<i32> queue_, front_of_;  // nodes in the order in which they were reached, and by which front
  std::vector<i32> hubs_;              // places in the queue
  std::vector<i32> joined_;            // fronts as disjoint sets: joined where they met
  std::vector<i32> size_, start_;      // per front
};

}  // namespace planegraph
