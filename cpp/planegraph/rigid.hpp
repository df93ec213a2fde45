// A rigid skeleton as the walks see it: embedded, with colours on nodes and tokens on darts.
#pragma once

#include "types.hpp"

namespace planegraph {

/// Colours of the nodes of one block. The parent cut node is marked: without that, a symmetry of the block that does not extend
/// to the graph could pick the walk. A node's colour is (label, marked?) and the class of what hangs at it.
struct Colours {
  const i32* label;
  const i32* hang;
  i32 marked;  // node or -1
  i32 first(i32 v) const { return 2 * label[v] + (v == marked); }
  i32 second(i32 v) const { return v == marked ? 0 : hang[v]; }
};

/// Darts first .. first + num_darts - 1; end, next, prev and token are indexed by dart.
struct Rigid {
  i32 first, num_darts;
  const i32* end;
  const i32* next;  // counter-clockwise
  const i32* prev;  // clockwise: the rotation of the mirror image
  const i32* token;
  Colours colours;
  const i32* rotation(bool mirror) const { return mirror ? prev : next; }
};

/// Where a walk starts. `tied`: another start gives the same code.
struct Start {
  i32 dart = -1;
  bool mirror = false;
  bool tied = false;
};

}  // namespace planegraph
