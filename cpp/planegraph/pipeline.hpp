// All steps of DESIGN section 1 for one graph after the other, with working memory that is reused.
#pragma once

#include "batch.hpp"
#include "code.hpp"
#include "emit.hpp"

namespace planegraph {

class Pipeline {
 public:
  /// Appends the result for one graph to `out`. For a large graph `keep_going` is asked between the steps.
  void run(const GraphView& view, const Options& options, const KeepGoing& keep_going, Packed& out);
  /// True once a graph (its nodes or edges) was so large that the memory should not be kept.
  bool is_large() const { return largest_ > kKeepItems; }

 private:
  static constexpr i64 kKeepItems = 1 << 17;
  i64 largest_ = 0;
  Graph graph_;
  Blocks blocks_;
  Spqr spqr_;
  Rotations rotations_;
  Walks walks_;
  Emitter emitter_;
  Coder coder_;
};

}  // namespace planegraph
