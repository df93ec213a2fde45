// All steps of docs/design.md for one graph after the other, with working memory that is reused.
#pragma once

#include "planegraph/canon/code.hpp"
#include "planegraph/symmetry/generators.hpp"
#include "planegraph/tables/batch.hpp"
#include "planegraph/tables/emit.hpp"

namespace planegraph {

class Pipeline {
 public:
  /// Appends the result for one graph to `out`. For a large graph `keep_going` is asked between the steps.
  void run(const GraphView& view, const Options& options, const KeepGoing& keep_going, Packed& out);
  /// Appends the symmetries of one graph to `out`, with generators if they are wanted.
  void find_symmetries(const GraphView& view, bool generators, const KeepGoing& keep_going, Symmetries& out);
  /// Whether the working memory is worth keeping for the next batch: it is small, or graphs nearly as large came since `begin`.
  bool worth_keeping() const { return largest_ <= kSmall || recent_ >= largest_ / 4; }
  /// A new batch begins.
  void begin() { recent_ = 0; }

 private:
  static constexpr i64 kSmall = 1 << 17;
  void find_walks(const GraphView& view, bool nonplanar_as_set, const KeepGoing& keep_going);
  i64 largest_ = 0, recent_ = 0;  // nodes or edges of a graph: ever, and since `begin`
  Graph graph_;
  Blocks blocks_;
  Spqr spqr_;
  Rotations rotations_;
  Walks walks_;
  Emitter emitter_;
  Coder coder_;
  Orbits orbits_;
  Generators generators_;
};

}  // namespace planegraph
