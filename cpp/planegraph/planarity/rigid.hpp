// A rigid skeleton as the walks see it: embedded, with colours on nodes and tokens on darts.
#pragma once

#include "planegraph/spqr/spqr.hpp"

namespace planegraph {

/// Colours of the nodes of one block: `paint` stands for a node's label together with what hangs at it. The parent cut node is
/// marked: without that, a symmetry of the block that does not extend to the graph could pick the walk.
struct Colours {
  const i32* paint;
  i32 marked;  // node or -1
  i32 operator()(i32 v) const { return v == marked ? -1 - paint[v] : paint[v]; }
};

/// The darts that follow the two darts of an entry around their source nodes: [0], [1] counter-clockwise in the embedding,
/// [2], [3] in its mirror image.
struct Turn {
  i32 dart[4];
};

/// Darts first .. first + num_darts - 1 of an array of entries.
struct Rigid {
  i32 first, num_darts;
  const Entry* entries;
  const Turn* turns;
  Colours colours;
  i32 end(i32 d) const { return entries[d >> 1].end[d & 1]; }
  i32 token(i32 d) const { return entries[d >> 1].token[d & 1]; }
  i32 turn(i32 d, bool mirror) const { return turns[d >> 1].dart[(mirror ? 2 : 0) + (d & 1)]; }
};

/// Where a walk starts. `tied`: another start gives the same code.
struct Start {
  i32 dart = -1;
  bool mirror = false;
  bool tied = false;
};

}  // namespace planegraph
