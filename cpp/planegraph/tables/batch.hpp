// The batch driver: decomposes and canonises an array of graphs, or finds their symmetries, on a pool of threads.
//
// The result does not depend on the number of threads. The calling thread works too; with threads == 1 it is the only one.
// If graphs are bad, the error of the one with the smallest index is thrown.
#pragma once

#include <memory>

#include "planegraph/symmetry/symmetries.hpp"
#include "planegraph/tables/packed.hpp"
#include "planegraph/tables/shelf.hpp"

namespace planegraph {

struct BatchView {
  i64 num_graphs = 0;
  const i64* node_ptr = nullptr;  // num_graphs + 1
  const i64* edge_ptr = nullptr;  // num_graphs + 1
  const i64* edges = nullptr;     // pairs of node ids local to the graph
  LabelView node_labels;          // one row per node of the batch
  LabelView edge_labels;
  i32 rows_per_edge = 1;
};

/// Graph k of a batch whose offsets were checked. A graph without nodes (edges) has no node (edge) labels, whatever the others have.
GraphView graph_view(const BatchView& batch, i64 k);

struct Options {
  bool nonplanar_as_set = false;  // else NotPlanar is thrown
  bool walks = true;              // fill the tables
  bool codes = false;             // fill code and code_ptr; labelling is always filled. A graph that is not planar throws.
  int threads = 1;
};

class Pipeline;

/// Keeps the working memory of its threads between runs; that of large graphs only while graphs nearly as large follow. May be used by several threads at once, and by the child of a fork, whatever they were doing.
class Engine {
 public:
  Engine();
  ~Engine();
  /// `poll` is called on the calling thread between chunks of small graphs and between the steps of a large one; returning false
  /// ends the run with Cancelled.
  /// The offsets must have been checked by `check_batch`.
  Packed run(const BatchView& batch, const Options& options, const KeepGoing& poll);
  /// The symmetries of all graphs; a graph that is not planar throws.
  Symmetries symmetries(const BatchView& batch, bool generators, int threads, const KeepGoing& poll);

 private:
  std::unique_ptr<Pipeline> borrow();
  void give_back(std::unique_ptr<Pipeline> pipeline);
  Packed borrow_part();
  void give_back(Packed part);
  Shelf<Pipeline> idle_;
  Shelf<Packed> parts_;  // empty, with their memory
};

/// Throws InvalidGraph unless the offsets start at 0, never fall, and end at the given totals.
void check_batch(const BatchView& batch, i64 total_nodes, i64 total_edges);

}  // namespace planegraph
