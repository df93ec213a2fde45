#include "pipeline.hpp"

#include <algorithm>

#include "kuratowski.hpp"

namespace planegraph {
namespace {

std::vector<i32> witness(const GraphView& view) {
  std::vector<i32> eu(view.num_edges), ev(view.num_edges);
  for (i64 e = 0; e < view.num_edges; ++e) {
    eu[e] = static_cast<i32>(view.edges[2 * e]);
    ev[e] = static_cast<i32>(view.edges[2 * e + 1]);
  }
  return kuratowski_subgraph(static_cast<i32>(view.num_nodes), static_cast<i32>(view.num_edges), eu.data(), ev.data());
}

}  // namespace

void Pipeline::run(const GraphView& view, const Options& options, Packed& out) {
  largest_ = std::max({largest_, view.num_nodes, view.num_edges});
  graph_.load(view);
  blocks_.run(graph_);
  spqr_.run(graph_, blocks_);
  rotations_.run(graph_, spqr_);
  if (!rotations_.all_planar && (options.codes || !options.nonplanar_as_set)) throw NotPlanar(witness(view));
  walks_.run(graph_, blocks_, spqr_, rotations_);
  emitter_.run(graph_, blocks_, spqr_, rotations_, walks_, options.walks, out);
  if (!options.codes) return;
  if (out.code_ptr.empty()) out.code_ptr.push_back(0);
  coder_.append(view, graph_, emitter_.canonical, out.code);
  out.code_ptr.push_back(static_cast<i64>(out.code.size()));
}

}  // namespace planegraph
