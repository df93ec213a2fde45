// The idea, the invariants and the cost are described in pipeline.hpp.
#include "planegraph/tables/pipeline.hpp"

#include <algorithm>

#include "planegraph/planarity/planarity.hpp"

namespace planegraph {
namespace {

constexpr i64 kLarge = 1 << 14;  // nodes or edges from which on a step takes milliseconds

}  // namespace

/// All steps up to the walks.
void Pipeline::find_walks(const GraphView& view, bool nonplanar_as_set, const KeepGoing& keep_going) {
  const i64 size = std::max(view.num_nodes, view.num_edges);
  recent_ = std::max(recent_, size);
  largest_ = std::max(largest_, size);
  const auto step_done = [&] {
    if (size >= kLarge && !keep_going()) throw Cancelled();
  };
  graph_.load(view);
  step_done();
  blocks_.run(graph_);
  step_done();
  spqr_.run(graph_, blocks_);
  step_done();
  rotations_.run(graph_, spqr_);
  step_done();
  if (!rotations_.all_planar && !nonplanar_as_set) throw NotPlanar(PlanarityTest().witness(view, keep_going));
  walks_.run(graph_, blocks_, spqr_, rotations_);
  step_done();
}

void Pipeline::run(const GraphView& view, const Options& options, const KeepGoing& keep_going, Packed& out) {
  walks_.keep_ties = false;
  find_walks(view, options.nonplanar_as_set && !options.codes, keep_going);
  emitter_.run(graph_, blocks_, spqr_, rotations_, walks_, options.walks, out);
  if (!options.codes) return;
  if (out.code_ptr.empty()) out.code_ptr.push_back(0);
  coder_.append(view, graph_, emitter_.canonical, out.code);
  out.code_ptr.push_back(static_cast<i64>(out.code.size()));
}

void Pipeline::find_symmetries(const GraphView& view, bool generators, const KeepGoing& keep_going, Symmetries& out) {
  walks_.keep_ties = true;
  find_walks(view, false, keep_going);
  const Parts x{graph_, blocks_, spqr_, rotations_, walks_};
  orbits_.run(x);
  orbits_.append(x, out);
  if (generators) generators_.append(x, orbits_, keep_going, out);
}

}  // namespace planegraph
