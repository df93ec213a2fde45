// Cuts a graph into connected regions: what makes a large graph non-planar is often small, and a region of some hundred nodes shows it.
//
// Seeds are drawn among the nodes, and every node joins the seed that a breadth-first search from all of them at once brings first;
// components without a seed are regions too. Another size draws other seeds, so that what lies on a border once does not lie on one again.
// The seeds are those of a fixed random sequence: equal input gives equal regions. O(n + m) for each cut.
#pragma once

#include "planegraph/graph/types.hpp"
#include "planegraph/planarity/incidence.hpp"

namespace planegraph {

class Regions {
 public:
  static constexpr i32 kGrowth = 8;  // from one size to the next

  /// A simple graph; the arrays of the ends must stay until the last cut.
  Regions(i32 n, i32 m, const i32* eu, const i32* ev);

  /// Into about n / size regions.
  void cut(i32 size);

  i32 count = 0;
  std::vector<i32> of;          // region of each node
  std::vector<i32> ptr, edges;  // edges with both ends in region r: edges[ptr[r] .. ptr[r + 1])

  Incidence around;  // of the whole graph

 private:
  void spread(std::size_t head);

  i32 n_, m_;
  const i32 *eu_, *ev_;
  std::vector<i32> queue_;
};

/// Some edges of a graph, as a small graph.
class Part {
 public:
  /// Nodes are named by an array that calls of `set` share; it starts with -1 for each node of the graph.
  explicit Part(std::vector<i32>& name) : name_(&name) {}

  void set(const i32* edges, i32 count, const i32* eu, const i32* ev);

  i32 n = 0, m = 0;
  std::vector<i32> u, v;  // ends of each edge, in the part's nodes

 private:
  std::vector<i32>* name_;
  std::vector<i32> nodes_;
};

}  // namespace planegraph
