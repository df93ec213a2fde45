// Puts the results of several workers together in the order of the batch.
#pragma once

#include <functional>

#include "planegraph/tables/packed.hpp"

namespace planegraph {

/// A run of consecutive graphs of the batch and where a worker has written it.
struct Chunk {
  i64 first_graph, last_graph;  // in the batch
  int worker = 0;
  i64 local_graph = 0;  // number of graphs that the worker had written before
  i64 local_node = 0;   // number of nodes in these
};

/// Runs job(0 .. count), in any order.
using Spread = std::function<void(i64 count, const std::function<void(i64)>& job)>;

/// Completes parts[0], which holds a beginning of the batch, to the whole. Chunks tile the batch in order; `node_ptr` are the batch's node offsets.
void join(std::vector<Packed>& parts, const std::vector<Chunk>& chunks, const i64* node_ptr, const Spread& spread);

}  // namespace planegraph
